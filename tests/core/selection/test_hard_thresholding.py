"""Hard thresholding: never below the best of all subsets, mostly there; steps go down; exchanges are exact."""

from __future__ import annotations

import numpy as np
import pytest

from eigenwood.core.selection.hard_thresholding import (
    best_exchange,
    best_subset,
    correlations,
    descended,
    design_of,
    least_squares,
    scaled_columns,
    stepped,
)
from eigenwood.proofs.best_subset import Regression, Stated, gain_of_exchange, lower_bound, regression_of
from tests.naive import best_subset as naive


def problem(seed, n_rows=40, n_columns=9, noise=1.0):
    """Return correlated columns, a target that depends on four of them, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) + 0.8 * rng.normal(size=(n_rows, 1)) + 5.0
    y = X[:, :4] @ [1.0, -1.0, 2.0, 0.5] + noise * rng.normal(size=n_rows)
    return X, y, rng.integers(1, 4, n_rows).astype(float)


def as_regression(design):
    root = np.sqrt(design.weights)
    return Regression(design.X, design.mean, root, design.scale, root * design.target)


@pytest.mark.parametrize("block_numbers", [1, 40, 10_000])
def test_a_regression_is_that_of_the_matrix_however_few_rows_are_made_at_a_time(monkeypatch, block_numbers):
    monkeypatch.setattr("eigenwood.proofs.best_subset.BLOCK_NUMBERS", block_numbers)
    monkeypatch.setattr("eigenwood.core.selection.hard_thresholding.BLOCK_NUMBERS", block_numbers)
    rng = np.random.default_rng(3)
    X, y, weights, left = rng.normal(size=(30, 7)) + 5.0, rng.normal(size=30), rng.random(30), rng.normal(size=(2, 30))
    X[:, 4] = 2.0
    A = np.sqrt(weights)[:, None] * (X - np.average(X, axis=0, weights=weights))
    A /= np.where(np.arange(7) == 4, 1.0, np.linalg.norm(A, axis=0))
    regression = regression_of(X, y, weights, True)
    np.testing.assert_allclose(regression.columns(np.arange(7)), A, atol=1e-13)
    np.testing.assert_allclose(regression.products(left), left @ A, atol=1e-13)
    design, _ = design_of(X, y, weights, True)
    np.testing.assert_allclose(design.scale[:4], regression.norms[:4])
    assert design.scale[4] == 1.0


def stated_of(here, n_columns):
    coef = np.zeros(n_columns)
    coef[here.support] = here.coef
    return Stated(here.support, coef, here.residual, np.array([here.residual]))


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_of_all_subsets(seed, centred):
    X, y, w = problem(seed)
    design, _ = design_of(X, y, w, centred)
    for k in (1, 2, 3):
        starts = [correlations(design, design.target), np.arange(9.0)]
        fit = best_subset(design, k, starts, 50)
        least, support = naive.best_subset(X, y, w, k, centred)
        assert fit.best.residual == pytest.approx(least, rel=1e-8)
        assert tuple(fit.best.support) == support
        assert (np.diff(fit.path) < 0.0).all()


@pytest.mark.parametrize("seed", range(4))
def test_an_exchange_is_the_best_of_all(seed):
    X, y, w = problem(seed)
    design, _ = design_of(X, y, w, True)
    here = least_squares(design, np.array([2, 5, 7]))
    products = correlations(design, scaled_columns(design, here.support).T)
    place, column, decrease = best_exchange(design, here, products)
    least = naive.best_exchange(X, y, w, (2, 5, 7))
    assert here.residual - decrease == pytest.approx(least, rel=1e-9)
    support = [*np.delete(here.support, place), column]
    assert naive.residual(X, y, w, support) == pytest.approx(least, rel=1e-9)
    assert gain_of_exchange(as_regression(design), here.support, np.sqrt(w) * here.rest) == pytest.approx(decrease)


def test_a_step_goes_down_or_there_is_none():
    X, y, w = problem(1)
    design, _ = design_of(X, y, w, True)
    fit = descended(design, 3, np.arange(9.0), 50)
    assert stepped(design, fit.best) is None
    assert (np.diff(fit.path) < 0.0).all()


def test_correlations_are_products_with_scaled_columns():
    X, y, w = problem(2)
    design, y_mean = design_of(X, y, w, True)
    A = scaled_columns(design, np.arange(9))
    np.testing.assert_allclose(w @ A, 0.0, atol=1e-12)
    np.testing.assert_allclose(w @ A**2, 1.0)
    np.testing.assert_allclose(correlations(design, y), A.T @ (w * y), atol=1e-9)
    assert y_mean == pytest.approx(np.average(y, weights=w))


def test_a_column_that_does_not_vary_is_never_chosen():
    X, y, w = problem(3)
    X[:, 4] = 1e6
    design, _ = design_of(X, y, w, True)
    fit = best_subset(design, 4, [correlations(design, design.target)], 50)
    assert 4 not in fit.best.support


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n_rows", "n_columns"), [(40, 9), (12, 9), (8, 9)])
def test_no_subset_leaves_less_than_the_lower_bound(seed, n_rows, n_columns):
    """With more rows than columns the search ends, and the bound is the best residual."""
    X, y, w = problem(seed, n_rows, n_columns, noise=3.0)
    design, _ = design_of(X, y, w, True)
    for support in ((0, 1), (5, 6)):
        here = least_squares(design, np.array(support))
        bound, what = lower_bound(as_regression(design), stated_of(here, 9))
        least, best = naive.best_subset(X, y, w, 2)
        size = np.linalg.norm(least_squares(design, np.array(best)).coef)
        if what == "of any k columns":
            assert bound == pytest.approx(least, rel=1e-6)
        elif size <= np.linalg.norm(here.coef):
            assert bound <= least * (1.0 + 1e-9)
        assert 0.0 <= bound <= here.residual * (1.0 + 1e-9)


def test_a_search_that_is_cut_short_still_gives_a_bound(monkeypatch):
    X, y, w = problem(0, 60, 14, noise=4.0)
    design, _ = design_of(X, y, w, True)
    here = least_squares(design, np.array([9, 10, 11]))
    stated = stated_of(here, 14)
    bounds = []
    for most in (1, 5, 50, 5000):
        monkeypatch.setattr("eigenwood.proofs.best_subset.MOST_SUBSETS", most)
        bounds.append(lower_bound(as_regression(design), stated)[0])
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1]
    assert bounds[-1] == pytest.approx(naive.best_subset(X, y, w, 3)[0], rel=1e-6)
