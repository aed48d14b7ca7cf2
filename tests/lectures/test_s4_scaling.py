"""S4 (decks A, B): scaling changes the answer, and when PCA fails: unscaled, non-orthogonal, non-linear."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_wine
from sklearn.neighbors import NearestNeighbors

from eigenwood import PCA, PolynomialExpansion


def nearest_is_alike(points, labels):
    """Return the share of points whose nearest other point has their label."""
    nearest = NearestNeighbors(n_neighbors=1).fit(points).kneighbors(return_distance=False)[:, 0]
    return float(np.mean(labels[nearest] == labels))


def degrees_between(axes, lines):
    return np.degrees(np.arccos(np.clip(np.abs(axes @ lines.T), 0.0, 1.0)))


def best_cut(values, labels):
    """Return the largest share of points that one threshold puts right."""
    shares = [np.mean((values <= cut) == labels) for cut in values]
    return float(max(*shares, *(1.0 - share for share in shares)))


# ---- scaling changes the answer ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def people():
    """Heights in metres and weights in kilograms."""
    rng = np.random.default_rng(0)
    height = 1.7 + 0.1 * rng.standard_normal(200)
    return np.column_stack([height, 22.0 * height**2 + 8.0 * rng.standard_normal(200)])


def test_the_unit_of_a_column_decides_which_way_the_axis_points(people):
    """The ensembles lecture, figure 3: metres make the axis that of weight, millimetres that of height."""
    in_metres, in_millimetres = (PCA(1).fit(people * [unit, 1.0]).components_[0] for unit in (1.0, 1000.0))
    assert_allclose(in_metres, [0.0, 1.0], atol=0.02)
    assert_allclose(in_millimetres, [1.0, 0.0], atol=0.1)


def test_scaled_columns_have_no_unit(people):
    """Two columns of equal variance: (1, 1)/√2, as in S2, and 1 ± the correlation."""
    for unit in (1.0, 1000.0):
        model = PCA(scale=True).fit(people * [unit, 1.0])
        correlation = np.corrcoef(people.T)[0, 1]
        assert_allclose(model.components_[0], np.full(2, np.sqrt(0.5)), atol=1e-12)
        assert_allclose(model.explained_variance_ratio_, [(1 + correlation) / 2, (1 - correlation) / 2], rtol=1e-10)


# ---- when PCA fails ----------------------------------------------------------------------------------------------


def test_it_fails_where_columns_are_not_scaled():
    """Wines, 13 measurements, proline in hundreds: 99.8 % "explained" by one column.

    Nearest wine of the same cultivar on two components: 71.9 % unscaled, 94.9 % scaled.
    """
    wine = load_wine()
    raw, scaled = (PCA(2, scale=scale).fit(wine.data) for scale in (False, True))
    assert wine.feature_names[np.abs(raw.components_[0]).argmax()] == "proline"
    assert np.abs(raw.components_[0]).max() > 0.999
    assert raw.explained_variance_ratio_[0] == pytest.approx(0.998, abs=5e-4)
    assert scaled.explained_variance_ratio_[0] == pytest.approx(0.362, abs=5e-4)
    assert np.abs(scaled.components_[0]).max() < 0.5
    assert nearest_is_alike(raw.transform(wine.data), wine.target) < 0.74
    assert nearest_is_alike(scaled.transform(wine.data), wine.target) > 0.93


@pytest.mark.parametrize(("angle", "off"), [(90, 0), (60, 30), (30, 15)])
def test_it_fails_where_the_structure_is_not_orthogonal(angle, off):
    """Points along two lines. At right angles the axes are the lines; otherwise the first lies between the two."""
    t = np.linspace(-1.0, 1.0, 41)
    lines = np.array([[1.0, 0.0], [np.cos(np.radians(angle)), np.sin(np.radians(angle))]])
    longer = 1.0 if off else 2.0  # two lines of equal length at right angles have no first axis
    X = np.vstack([np.outer(longer * t, lines[0]), np.outer(t, lines[1])])
    axes = PCA().fit(X).components_
    assert_allclose(degrees_between(axes, lines), [[off, angle - off], [90 - off, 90 - angle + off]], atol=1e-5)


def test_it_fails_where_the_structure_is_not_linear():
    """The PCA and boosting lecture: "it does not do much when every direction has similar variance".

    Two rings of radius 1 and 3. Each component holds one half, and no cut along an axis puts more than 69.5 % of the
    points right. After the quadratic expansion a component is (x² + y²)/√2, and one cut separates the rings.
    """
    turn = 2.0 * np.pi * np.arange(100) / 100
    ring = np.column_stack([np.cos(turn), np.sin(turn)])
    X, is_outer = np.vstack([ring, 3.0 * ring]), np.repeat([False, True], 100)
    flat = PCA().fit(X)
    assert_allclose(flat.explained_variance_ratio_, [0.5, 0.5], rtol=1e-10)
    assert all(best_cut(scores, is_outer) < 0.7 for scores in flat.transform(X).T)

    expanded = PolynomialExpansion(degree=2).fit(X).transform(X)
    bent = PCA(3).fit(expanded)
    assert best_cut(bent.transform(expanded)[:, 2], is_outer) == 1.0
