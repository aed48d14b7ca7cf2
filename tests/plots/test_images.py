"""Components as images, and images put together from the first of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigenwood.plots as plots
from eigenwood import PCA as Ours
from eigenwood.data.blocks import blocks
from eigenwood.errors import InputError
from eigenwood.plots.images import DIVERGING, PER_LINE, SHADES, component_images_figure, reconstruction_figure

SHAPE = (2, 3)


def pictures(n_rows=12, seed=0):
    return np.random.default_rng(seed).normal(size=(n_rows, 6)) * [1, 2, 3, 4, 5, 6] + 10.0


def words(figure):
    return [note.text for note in figure.layout.annotations]


def images(figure):
    return [np.array(trace.z) for trace in figure.data]


def test_components_are_images_with_zero_in_the_middle_of_the_scale():
    axes = np.arange(12.0).reshape(2, 6) - 3.0
    figure = component_images_figure(axes, SHAPE, [0.5, 0.25])
    np.testing.assert_array_equal(images(figure), axes.reshape(2, 2, 3))
    assert words(figure) == ["PC1 (50.0 %)", "PC2 (25.0 %)"]
    assert [(trace.zmin, trace.zmax) for trace in figure.data] == [(-3.0, 3.0), (-8.0, 8.0)]
    assert {trace.colorscale[0][1] for trace in figure.data} == {DIVERGING[0][1]}


def test_the_mean_comes_first_in_shades_of_grey():
    figure = component_images_figure(np.eye(6)[:2], SHAPE, [0.5, 0.25], mean=np.arange(6.0))
    np.testing.assert_array_equal(images(figure)[0], [[0, 1, 2], [3, 4, 5]])
    assert words(figure)[0] == "mean"
    assert (figure.data[0].zmin, figure.data[0].zmax) == (0.0, 5.0)
    assert figure.data[0].colorscale[1][1] == SHADES[1][1]


def test_images_stand_upright_with_square_pixels():
    figure = component_images_figure(np.eye(6)[:2], SHAPE, [0.5, 0.25])
    for axis in figure.select_yaxes():
        assert axis.autorange == "reversed"
        assert axis.scaleanchor == axis.anchor


def test_lines_are_filled_one_after_the_other():
    figure = component_images_figure(np.eye(9), (3, 3), [0.1] * 9)
    tops = sorted({axis.domain[1] for axis in figure.select_yaxes()}, reverse=True)
    assert len(tops) == 2
    assert figure.data[PER_LINE].xaxis == f"x{PER_LINE + 1}"
    assert figure.layout[f"yaxis{PER_LINE + 1}"].domain[1] == tops[1]


def test_each_original_stands_before_its_reconstructions():
    originals, at_2, at_9 = pictures(2), pictures(2, 1), pictures(2, 2)
    figure = reconstruction_figure(originals, {2: at_2, 9: at_9}, SHAPE)
    rows = [originals[0], at_2[0], at_9[0], originals[1], at_2[1], at_9[1]]
    np.testing.assert_array_equal(images(figure), np.reshape(rows, (6, 2, 3)))
    assert words(figure) == ["original", "k = 2", "k = 9"]
    assert {(trace.zmin, trace.zmax) for trace in figure.data} == {(originals.min(), originals.max())}


def test_the_model_hands_on_its_axes_and_its_mean():
    X = pictures()
    model = PCA(4).fit(X)
    found = images(plots.component_images(model, SHAPE, n=3))
    np.testing.assert_array_equal(found, [one.reshape(SHAPE) for one in (model.mean_, *model.components_[:3])])
    assert len(images(plots.component_images(model, SHAPE))) == 5


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_the_first_components_reconstruct_as_a_smaller_model_would(whiten, scaled):
    X = pictures()

    def model(k):
        pca = PCA(k, whiten=whiten, svd_solver="full")
        return (make_pipeline(StandardScaler(), pca) if scaled else pca).fit(X)

    found = images(plots.reconstructions(model(5), X, SHAPE, ks=(1, 3), n=4))
    for i in range(4):
        np.testing.assert_array_equal(found[3 * i], X[i].reshape(SHAPE))
        for place, k in ((1, 1), (2, 3)):
            smaller = model(k)
            kept = smaller.inverse_transform(smaller.transform(X))[i]
            np.testing.assert_allclose(found[3 * i + place], kept.reshape(SHAPE))


def test_without_numbers_some_are_shown_and_all_components_at_last():
    X = pictures()
    assert words(plots.reconstructions(PCA(6).fit(X), X, SHAPE)) == ["original", "k = 2", "k = 6"]
    assert words(plots.reconstructions(PCA(2).fit(X), X, SHAPE)) == ["original", "k = 2"]
    assert len(plots.reconstructions(PCA(6).fit(X), X, SHAPE).data) == 6 * 3


@pytest.mark.parametrize("kind", [pd.DataFrame, sparse.csr_array, np.ndarray.tolist])
def test_rows_come_in_any_form(kind):
    X = pictures()
    model = PCA(6).fit(kind(X) if kind is pd.DataFrame else X)
    figure = plots.reconstructions(model, kind(X), SHAPE, ks=[6], n=2)
    np.testing.assert_allclose(images(figure), np.repeat(X[:2].reshape(2, 2, 3), 2, axis=0))


@pytest.mark.parametrize("shape", [(2, 2), (6,), 6, (1, 2, 3), (2.0, 3.0), (-2, -3)])
def test_a_shape_that_does_not_match_is_refused(shape):
    X = pictures()
    model = PCA(2).fit(X)
    for who, call in (
        ("component_images", lambda: plots.component_images(model, shape)),
        ("reconstructions", lambda: plots.reconstructions(model, X, shape)),
    ):
        with pytest.raises(InputError) as caught:
            call()
        sentence = f"plots.{who}: image_shape must be (height, width) with height x width = 6; got {shape!r}."
        assert str(caught.value) == sentence


@pytest.mark.parametrize(("ks", "got"), [((1, 3), "3"), ((0,), "0"), ((1.5,), r"1\.5"), ((), r"\(\)")])
def test_more_components_than_there_are_cannot_be_used(ks, got):
    X = pictures()
    with pytest.raises(InputError, match=rf"^plots\.reconstructions: ks must be integers from 1 to 2; got {got}\.$"):
        plots.reconstructions(PCA(2).fit(X), X, SHAPE, ks=ks)


@pytest.mark.parametrize("block_rows", [2, 50])
def test_of_blocks_the_first_rows_are_shown(block_rows):
    X = np.random.default_rng(0).normal(size=(20, 6))
    model = Ours(4).fit(X)
    streamed = plots.reconstructions(model, blocks(X, block_rows=block_rows), (2, 3), n=5)
    whole = plots.reconstructions(model, X, (2, 3), n=5)
    for one, other in zip(streamed.data, whole.data, strict=True):
        np.testing.assert_allclose(one.z, other.z)
