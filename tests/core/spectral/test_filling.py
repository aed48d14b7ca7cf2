"""Missing values: filled by what the components say, again and again; the error on what is observed never rises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.spectral.filling import column_means, low_rank_values, observed_scores, with_means
from tests.core.spectral.cases import DTYPES, rotation, some_weights
from tests.naive import pca as naive


def low_rank(seed, n_rows=40, n_columns=7, rank=2, noise=0.0, holes=0.15, mean=3.0):
    """Return the whole table, and the same with holes; no row and no column is without a value."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, rank)) @ rng.normal(size=(rank, n_columns)) + mean
    X += noise * rng.normal(size=X.shape)
    missing = rng.random(X.shape) < holes
    missing[:, 0] &= np.arange(n_rows) > 3
    missing[np.arange(n_rows), rng.integers(n_columns, size=n_rows)] = False
    missing[:n_columns] &= ~np.eye(n_columns, dtype=bool)
    return X, np.where(missing, np.nan, X)


def components_of(X, count, weights=None):
    """Return the mean and the leading components, by the SVD of NumPy."""
    weights = np.ones(len(X)) if weights is None else weights
    middle = np.average(X, axis=0, weights=weights)
    return middle, np.linalg.svd(np.sqrt(weights)[:, None] * (X - middle), full_matrices=False)[2][:count]


def rounds(X, count, n_rounds, weights=None):
    """Yield the mean, the components and the filled table of each round."""
    weights = np.ones(len(X)) if weights is None else weights
    holes = np.nonzero(np.isnan(X))
    filled = with_means(X, column_means(X, weights))
    for _ in range(n_rounds):
        middle, V = components_of(filled, count, weights)
        yield middle, V, filled
        filled = filled.copy()
        filled[holes] = low_rank_values(filled, holes, middle, np.ones(X.shape[1]), V)


# ---- the parts, by plain loops -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(3))
def test_means_of_what_is_observed(seed, dtype):
    X = low_rank(seed)[1].astype(dtype)
    weights = some_weights(40, seed=seed)
    means = column_means(X, weights)
    for j in range(7):
        seen = ~np.isnan(X[:, j])
        assert_allclose(means[j], naive.mean(X[seen][:, [j]], weights[seen])[0], rtol=1e-12)
    filled = with_means(X, means)
    assert filled.dtype == dtype
    assert_array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])
    assert_allclose(filled[np.isnan(X)], means[np.nonzero(np.isnan(X))[1]], rtol=1e-6)
    assert np.isnan(X).any()  # X itself has its holes still


def test_a_column_without_values_has_mean_zero():
    X = np.array([[np.nan, 1.0], [np.nan, 3.0]])
    assert_array_equal(column_means(X, np.ones(2)), [0.0, 2.0])


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_values_in_holes_equal_the_reconstruction(seed, scaled):
    _, X = low_rank(seed, noise=0.3)
    filled = with_means(X, column_means(X, np.ones(len(X))))
    scale = np.linspace(0.5, 2.0, 7) if scaled else np.ones(7)
    middle, V = components_of(filled / scale, 2)
    holes = np.nonzero(np.isnan(X))
    got = low_rank_values(filled, holes, middle * scale, scale, V)
    whole = naive.reconstruction(filled / scale, middle, V) * scale
    assert_allclose(got, whole[holes], atol=1e-12)


def test_rows_are_filled_in_any_order_of_the_holes():
    _, X = low_rank(1, noise=0.3)
    filled = with_means(X, column_means(X, np.ones(len(X))))
    middle, V = components_of(filled, 2)
    rows, columns = np.nonzero(np.isnan(X))
    order = np.random.default_rng(0).permutation(rows.size)
    straight = low_rank_values(filled, (rows, columns), middle, np.ones(7), V)
    assert_allclose(
        low_rank_values(filled, (rows[order], columns[order]), middle, np.ones(7), V), straight[order], atol=1e-13
    )


# ---- scores by least squares -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_scores_equal_the_normal_equations(seed):
    _, X = low_rank(seed, noise=0.5, holes=0.3)
    V = rotation(7, seed)[:2]
    scale, middle = np.linspace(0.5, 2.0, 7), np.nanmean(X, axis=0)
    enough = (~np.isnan(X)).sum(axis=1) >= 3
    assert np.isnan(X[enough]).any()
    expected = [naive.observed_score(row, V) for row in (X[enough] - middle) / scale]
    assert_allclose(observed_scores(X[enough], middle, scale, V), expected, atol=1e-10)


def test_scores_of_whole_rows_are_the_projection():
    X, _ = low_rank(4, noise=0.5)
    middle, V = components_of(X, 3)
    assert_allclose(observed_scores(X, middle, np.ones(7), V), (X - middle) @ V.T, atol=1e-12)


def test_scores_of_rows_in_the_span_do_not_see_the_holes():
    whole, X = low_rank(5)
    middle, V = components_of(whole, 2)
    enough = (~np.isnan(X)).sum(axis=1) >= 2
    assert_allclose(observed_scores(X[enough], middle, np.ones(7), V), ((whole - middle) @ V.T)[enough], atol=1e-8)


def test_a_row_without_values_has_scores_of_zero():
    assert_array_equal(
        observed_scores(np.full((2, 5), np.nan), np.ones(5), np.ones(5), rotation(5)[:2]), np.zeros((2, 2))
    )


def test_a_row_with_fewer_values_than_components_has_the_shortest_scores():
    V = rotation(5)[:3]
    row = np.array([[np.nan, 2.0, np.nan, np.nan, np.nan]])
    [scores] = observed_scores(row, np.zeros(5), np.ones(5), V)
    assert_allclose(scores @ V[:, 1], 2.0)
    assert_allclose(scores, V[:, 1] * 2.0 / (V[:, 1] @ V[:, 1]))


# ---- the iteration -----------------------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 4), is_weighted=st.booleans())
def test_the_error_on_what_is_observed_never_rises(seed, count, is_weighted):
    _, X = low_rank(seed, noise=0.5, holes=0.3)
    weights = some_weights(len(X), seed=seed) if is_weighted else np.ones(len(X))
    seen = ~np.isnan(X)
    errors = []
    for middle, V, filled in rounds(X, count, 12, weights):
        fit = middle + (filled - middle) @ V.T @ V
        errors.append(float((weights[:, None] * np.where(seen, X - fit, 0.0) ** 2).sum()))
    assert (np.diff(errors) <= 1e-9 * errors[0]).all()
    assert errors[-1] < errors[0]


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_rows_of_low_rank_are_recovered(seed, rank):
    whole, X = low_rank(seed, n_rows=60, rank=rank)
    *_, (middle, V, filled) = rounds(X, rank, 400)
    holes = np.isnan(X)
    means = with_means(X, column_means(X, np.ones(len(X))))
    assert np.abs(means - whole)[holes].max() > 0.5  # the means, where it began, are far off
    assert np.abs(filled - whole)[holes].max() < 1e-2
    assert_allclose(observed_scores(X, middle, np.ones(7), V), (filled - middle) @ V.T, atol=0.02)  # where it ends
