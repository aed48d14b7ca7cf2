"""Biplots: what the two scalings promise holds, and the figure says which of them it is."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import eigenwood.plots as plots
from eigenwood.data import datasets
from eigenwood.errors import InputError
from eigenwood.plots.biplot import arrow_factor, biplot_coordinates, biplot_figure

SHARES = (0.6, 0.3)


def plane(n_rows=30, seed=0):
    """Rows in four columns that lie in a plane, so that two components hold all of them."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, 2)) @ rng.normal(size=(2, 4)) + [5.0, -3.0, 0.0, 100.0]


def points_and_arrows(figure):
    """Return the points as drawn, and the arrows as they are before they are made longer."""
    points, _, heads = figure.data
    return np.column_stack([points.x, points.y]), np.array(heads.customdata)


def columns_of(figure):
    return list(figure.data[-1].text)


def in_order(figure, names):
    """Return the arrows in the order of the columns."""
    _, arrows = points_and_arrows(figure)
    return arrows[[columns_of(figure).index(name) for name in names]]


NAMES = ["x0", "x1", "x2", "x3"]


@pytest.mark.parametrize("whiten", [False, True])
def test_form_keeps_the_distances_between_rows(whiten):
    X = plane()
    points, _ = points_and_arrows(plots.biplot(PCA(2, whiten=whiten).fit(X), X, "form"))
    np.testing.assert_allclose(pdist(points), pdist(X))


@pytest.mark.parametrize("whiten", [False, True])
def test_inner_products_of_arrows_are_covariances(whiten):
    X = plane()
    figure = plots.biplot(PCA(2, whiten=whiten).fit(X), X, "covariance")
    arrows = in_order(figure, NAMES)
    np.testing.assert_allclose(arrows @ arrows.T, np.cov(X.T), atol=1e-12)
    np.testing.assert_allclose(np.cov(points_and_arrows(figure)[0].T), np.eye(2), atol=1e-12)


@pytest.mark.parametrize("scaling", ["form", "covariance"])
def test_a_point_times_an_arrow_is_the_centred_number(scaling):
    X = plane()
    figure = plots.biplot(PCA(2).fit(X), X, scaling)
    np.testing.assert_allclose(points_and_arrows(figure)[0] @ in_order(figure, NAMES).T, X - X.mean(axis=0), atol=1e-10)


def test_a_component_without_variance_puts_its_points_at_zero():
    points, arrows = biplot_coordinates(np.array([[2.0, 1e-16]]), np.eye(2), np.array([4.0, 1e-30]), "covariance")
    assert points.tolist() == [[1.0, 0.0]]
    np.testing.assert_allclose(arrows, [[2.0, 0.0], [0.0, 1e-15]])


@pytest.mark.parametrize(
    ("scaling", "words"),
    [
        ("form", "<b>Form biplot</b>: distances between points are distances between rows"),
        ("covariance", "<b>Covariance biplot</b>: inner products of arrows are covariances of columns"),
    ],
)
def test_the_title_names_the_scaling_and_the_factor(scaling, words):
    figure = biplot_figure(np.eye(2) * 8, np.eye(2) * 0.5, SHARES, ["a", "b"], scaling, axes=(1, 4))
    text = figure.layout.title.text
    assert text.startswith(words)
    assert "as far as PC2 and PC5 show them" in text
    assert text.endswith("The lengths of arrows are multiplied by 16.")
    assert figure.layout.xaxis.title.text == "PC2 (60.0 %)"


@pytest.mark.parametrize("seed", range(5))
def test_all_arrows_are_longer_by_the_factor_that_is_said(seed):
    rng = np.random.default_rng(seed)
    figure = biplot_figure(
        rng.normal(size=(9, 2)) * 10.0 ** rng.integers(-5, 6), rng.normal(size=(5, 2)), SHARES, list("abcde"), "form"
    )
    said = float(re.search(r"multiplied by (\S+)\.", figure.layout.title.text).group(1).replace(",", ""))
    _, shafts, heads = figure.data
    tips = np.column_stack([heads.x, heads.y])
    np.testing.assert_allclose(tips, said * np.array(heads.customdata))
    np.testing.assert_array_equal(np.column_stack([shafts.x, shafts.y])[1::3], tips)
    np.testing.assert_array_equal(np.column_stack([shafts.x, shafts.y])[0::3], 0.0)
    np.testing.assert_allclose(np.deg2rad(heads.marker.angle), np.arctan2(tips[:, 0], tips[:, 1]))


def test_arrows_stay_among_the_points_and_can_be_seen():
    points, arrows = np.array([[100.0, 1.0], [-60.0, -40.0]]), np.array([[0.6, 0.8], [0.8, -0.6]])
    assert arrow_factor(points, arrows) == 50.0
    on_a_line = np.array([[100.0, 1e-14], [-60.0, 0.0]])
    assert arrow_factor(on_a_line, arrows) == pytest.approx(30.0)
    assert arrow_factor(np.zeros((3, 2)), arrows) == 1.0


def test_only_the_longest_of_many_arrows_are_named():
    angles = np.linspace(0.1, 6.2, 60)
    lengths = 1.0 + np.arange(60) / 10
    arrows = lengths[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    names = [f"c{j}" for j in range(60)]
    figure = biplot_figure(np.eye(2), arrows, SHARES, names, "form", most=7)
    _, pale_heads, _, _, heads = figure.data
    assert list(heads.text) == [f"c{j}" for j in range(59, 52, -1)]
    assert set(pale_heads.text) == set(names[:53])
    assert [note.text for note in figure.layout.annotations] == list(heads.text)
    assert figure.layout.title.text.endswith("7 of 60 carry their names, all show them on hover.")


def test_names_that_have_no_room_are_counted_out():
    arrows = np.column_stack([np.ones(20), np.linspace(0, 0.01, 20)])
    figure = biplot_figure(np.eye(2), arrows, SHARES, [f"a long name {j}" for j in range(20)], "form")
    n_named = len(figure.layout.annotations)
    assert 1 <= n_named < 20
    assert f" {n_named} of 20 carry their names" in figure.layout.title.text


@pytest.mark.parametrize("scale", [False, True])
def test_scaled_columns_are_said(scale):
    X = plane()
    model = PCA(2).fit(X)
    model.scale = scale
    assert ("Columns are scaled." in plots.biplot(model, X).layout.title.text) == scale


def test_the_origin_is_in_the_frame():
    figure = biplot_figure(np.full((3, 2), 50.0), np.array([[1.0, 1.0]]), SHARES, ["a"], "form")
    assert figure.layout.xaxis.range[0] < 0.0 < 50.0 < figure.layout.xaxis.range[1]
    assert figure.layout.yaxis.scaleanchor == "x"


def test_foods_and_countries_have_their_names():
    data = datasets.load("uk_foods")
    X, countries = pd.DataFrame(data.X, columns=list(data.feature_names)), data.row_labels["country"]
    figure = plots.biplot(PCA().fit(X), X, names=countries, colour=list(countries))
    texts = {note.text for note in figure.layout.annotations}
    assert texts >= {*countries, "Fresh potatoes", "Soft drinks", "Fresh fruit", "Alcoholic drinks"}
    assert set(columns_of(figure)) == set(data.feature_names)
    assert [trace.name for trace in figure.data[:4]] == sorted(countries)


def test_a_pipeline_knows_the_names_of_its_columns_unless_a_step_gives_none():
    X = pd.DataFrame(plane(), columns=list("abcd"))
    named = make_pipeline(StandardScaler(), PCA(2)).fit(X)
    assert set(columns_of(plots.biplot(named, X))) == set("abcd")
    nameless = make_pipeline(FunctionTransformer(np.asarray), PCA(2)).fit(X)
    assert set(columns_of(plots.biplot(nameless, X))) == set(NAMES)


def test_another_scaling_is_refused():
    X = plane()
    with pytest.raises(InputError, match=r"^plots\.biplot: scaling must be 'form' or 'covariance'; got 'x'\.$"):
        plots.biplot(PCA(2).fit(X), X, "x")


def test_axes_beyond_the_components_are_refused():
    X = plane()
    with pytest.raises(InputError, match=r"^plots\.biplot: axes must be two different integers from 0 to 1; got"):
        plots.biplot(PCA(2).fit(X), X, axes=(0, 2))
