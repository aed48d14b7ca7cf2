"""Loadings: the numbers of the axes, the largest first, and how many are not shown."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.decomposition import PCA

import eigenwood.plots as plots
from eigenwood.errors import InputError
from eigenwood.plots.loadings import MOST_FEATURES, loadings_figure, loadings_table

AXES = np.array([[0.1, -0.9, 0.4], [0.5, 0.2, -0.3]])


def test_features_stand_by_their_size_on_the_first_component():
    figure = loadings_figure(AXES, ["a", "b", "c"], [0.7, 0.2])
    (heat,) = figure.data
    assert np.array(heat.z).tolist() == [[-0.9, 0.2], [0.4, -0.3], [0.1, 0.5]]
    assert list(figure.layout.yaxis.ticktext) == ["b", "c", "a"]
    assert list(figure.layout.xaxis.ticktext) == ["<b>PC1</b><br>70.0 %", "<b>PC2</b><br>20.0 %"]
    assert heat.texttemplate == "%{z:.3f}"
    assert (heat.zmin, heat.zmax) == (-0.9, 0.9)


@pytest.mark.parametrize(("n_features", "said"), [(30, []), (31, ["1 feature"]), (1234, ["1,204 features"])])
def test_what_is_left_out_is_counted(n_features, said):
    axes = np.random.default_rng(0).normal(size=(2, n_features))
    figure = loadings_figure(axes, [f"x{j}" for j in range(n_features)])
    assert np.shape(figure.data[0].z) == (MOST_FEATURES, 2)
    assert [note.text for note in figure.layout.annotations] == [
        f"{features} with smaller loadings on PC1 left out" for features in said
    ]
    assert np.abs(figure.data[0].z[-1][0]) == np.sort(np.abs(axes[0]))[-30]


def test_features_of_one_name_and_long_names_keep_their_lines():
    figure = loadings_figure(AXES, ["same", "same", "<i>" + 60 * "long"])
    assert len(set(figure.data[0].y)) == 3
    assert figure.layout.yaxis.ticktext[1].startswith("&lt;i&gt;long")
    assert figure.layout.yaxis.ticktext[1].endswith("…")


def test_the_table_has_every_feature_in_its_place():
    table = loadings_table(AXES, ["a", "b", "c"])
    assert isinstance(table, pa.Table)
    assert table.column_names == ["feature", "PC1", "PC2"]
    assert table["feature"].to_pylist() == ["a", "b", "c"]
    np.testing.assert_array_equal(np.array([table["PC1"], table["PC2"]]), AXES)


def test_the_model_hands_on_its_axes_and_names():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 4)) * [1, 4, 2, 3], columns=list("abcd"))
    model = PCA(3).fit(X)
    figure = plots.loadings(model, n_components=2)
    order = np.argsort(-np.abs(model.components_[0]))
    np.testing.assert_array_equal(figure.data[0].z, model.components_[:2, order].T)
    assert list(figure.layout.yaxis.ticktext) == ["abcd"[j] for j in order]
    assert np.shape(plots.loadings(model).data[0].z) == (4, 3)


@pytest.mark.parametrize("n_components", [0, 1.5, True])
def test_a_number_of_components_that_is_none_is_refused(n_components):
    model = PCA(2).fit(np.eye(3))
    with pytest.raises(InputError, match=r"^plots\.loadings: n_components must be an integer above 0; got "):
        plots.loadings(model, n_components=n_components)
