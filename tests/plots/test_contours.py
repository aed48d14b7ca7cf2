"""Components of two features as contours, and images of several tables side by side."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigenwood.plots as plots
from eigenwood import PCA, KernelPCA
from eigenwood.errors import InputError
from eigenwood.plots.contours import GRID, PER_ROW, plane_around


def rows(n_rows=30):
    return np.random.default_rng(0).normal(size=(n_rows, 2))


def test_contours_are_the_scores_of_the_grid():
    X, y = rows(), np.arange(30) % 2
    model = KernelPCA(4, kernel="rbf", gamma=0.5).fit(X)
    figure = plots.contours(model, X, y)
    contours = [trace for trace in figure.data if trace.type == "contour"]
    _, places = plane_around(X)
    for i, contour in enumerate(contours):
        np.testing.assert_allclose(np.array(contour.z).ravel(), model.transform(places)[:, i], atol=1e-6)
        assert contour.zmax == -contour.zmin == pytest.approx(np.abs(contour.z).max(), rel=1e-6)
    assert len(contours) == 4 > PER_ROW
    assert [trace.name for trace in figure.data if trace.showlegend] == ["0", "1"]
    assert figure.layout.annotations[0].text.startswith("PC1 (")


def test_rows_and_grid_are_in_the_plane():
    X = rows()
    frame, places = plane_around(X)
    assert places.shape == (GRID**2, 2)
    assert (frame.low < X.min(axis=0)).all()
    assert (X.max(axis=0) < frame.high).all()


def test_frames_and_pipelines_and_a_linear_one():
    frame = pd.DataFrame(rows(), columns=["across", "up"])
    model = make_pipeline(StandardScaler(), PCA(2)).fit(frame)
    figure = plots.contours(model, frame, n_components=1)
    assert len(figure.data) == 2
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("across", "up")


def test_scores_of_a_kernel_pca():
    X = np.random.default_rng(1).normal(size=(20, 5))
    model = KernelPCA(3, kernel="rbf").fit(X)
    points = plots.scores(model, X, axes=(1, 2)).data[0]
    np.testing.assert_allclose(points.x, model.transform(X)[:, 1])


def test_images_side_by_side():
    tables = {"clean": np.eye(4), "noisy": np.eye(4) + 0.5, "kernel": np.eye(4)}
    figure = plots.side_by_side(tables, (2, 2), n=3)
    assert [note.text for note in figure.layout.annotations] == ["clean", "noisy", "kernel"]
    assert len(figure.data) == 9
    assert {(trace.zmin, trace.zmax) for trace in figure.data} == {(0.0, 1.0)}
    np.testing.assert_array_equal(np.array(figure.data[4].z).ravel(), tables["noisy"][1])


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (lambda: plots.contours(KernelPCA(2).fit(np.eye(3)), np.eye(3)), "X must have 2 features"),
        (lambda: plots.contours(StandardScaler(), rows()), "must be a fitted PCA"),
        (lambda: plots.loadings(KernelPCA(2).fit(rows())), "must be a fitted PCA"),
        (lambda: plots.side_by_side({}, (1, 1)), "at least 1 table"),
        (lambda: plots.side_by_side({"a": [[1.0]], "b": [[1.0, 2.0]]}, (1, 1)), "must have the same shape"),
    ],
)
def test_what_cannot_be_drawn_is_said(asked, words):
    with pytest.raises(InputError, match=words):
        asked()
