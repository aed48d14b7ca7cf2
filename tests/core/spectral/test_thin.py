"""Thin columns: the moments are those of plain loops, whichever columns stand apart."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.spectral import moments, thin
from eigenwood.core.spectral.moments import moments_of
from eigenwood.core.spectral.thin import FEWEST_THIN, THIN, count_changes, thin_columns, thin_entries
from tests.core.spectral.cases import DTYPES, THREADS, some_weights, table
from tests.naive import pca as naive


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(moments, "BLOCK_VALUES", 200)
    monkeypatch.setattr(moments, "FEWEST_ROWS", 20)
    monkeypatch.setattr(thin, "FEWEST_THIN", 1)


def with_thin_columns(seed, dtype, n_rows=70, usual=0.0):
    """Return rows with dense, thin and constant columns; some of the thin ones begin with a rare value."""
    rng = np.random.default_rng(seed)
    X = table(seed, n_rows, 9, dtype, mean=3.0)
    for j in (1, 2, 5, 8):
        X[:, j] = usual
        rare = rng.random(n_rows) < 0.06
        X[rare, j] = rng.normal(size=rare.sum()) + usual
    X[:, 6] = 7.0
    X[0, 8] = usual + 2.0
    return X


@pytest.mark.parametrize("usual", [0.0, 2.5])
@pytest.mark.parametrize("kind", ["ones", "fractions"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_moments_with_thin_columns_are_those_of_plain_loops(dtype, kind, usual):
    for seed in range(3):
        X = with_thin_columns(seed, dtype, usual=usual)
        weights = some_weights(X.shape[0], kind, seed)
        found, expected = moments_of(X, weights), naive.scatter(X, weights)
        within = 3e-6 if dtype == np.float32 else 1e-12
        assert_allclose(found.mean, naive.mean(X, weights), rtol=within, atol=within)
        assert_allclose(found.scatter, expected, atol=within * np.abs(expected).max())


def test_it_matters_which_columns_stand_apart_only_in_the_last_digits(monkeypatch):
    X, weights = with_thin_columns(4, np.float64), np.ones(70)
    apart = moments_of(X, weights)
    monkeypatch.setattr(thin, "FEWEST_THIN", 100)
    together = moments_of(X, weights)
    assert not np.array_equal(apart.scatter, together.scatter)  # or nothing stood apart
    assert_allclose(apart.scatter, together.scatter, atol=1e-12 * np.abs(together.scatter).max())
    assert_allclose(apart.mean, together.mean, rtol=1e-14)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_same_bits_for_any_number_of_threads(dtype):
    X, weights = with_thin_columns(5, dtype, n_rows=300), some_weights(300)
    one, *others = (moments_of(X, weights, n_threads) for n_threads in THREADS)
    for other in others:
        assert_array_equal(other.scatter, one.scatter)
        assert_array_equal(other.mean, one.mean)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("row", [0, 1, 69])
@pytest.mark.parametrize("column", [1, 3, 6])
def test_what_is_no_number_shows_in_the_mean(column, row, value):
    X = with_thin_columns(6, np.float64)
    X[row, column] = value
    mean = moments_of(X, np.ones(70)).mean
    assert_array_equal(np.isfinite(mean), np.arange(9) != column)


def test_which_columns_are_thin(monkeypatch):
    counts = np.full(200, 1000)
    counts[:FEWEST_THIN], counts[100:] = THIN * 1000, 0
    assert_array_equal(thin_columns(counts, 1000), np.arange(FEWEST_THIN))
    counts[0] += 1
    monkeypatch.setattr(thin, "FEWEST_THIN", FEWEST_THIN)
    assert thin_columns(counts, 1000).size == 0


def test_entries_are_what_differs_from_the_first_row():
    X = with_thin_columns(7, np.float64)
    roots, counts, columns = np.sqrt(some_weights(70)), np.zeros(9, dtype=np.int32), np.array([1, 2, 5])
    count_changes(X, 10, 60, 0, counts)
    assert_array_equal(counts, (X[10:60] != X[10]).sum(axis=0))
    found = thin_entries(X, roots, slice(10, 60), 0, columns, counts)
    rows = np.repeat(np.arange(50), np.diff(found.start))
    spread = np.zeros((50, 3))
    spread[rows, found.of] = found.values
    assert_array_equal(spread, roots[10:60, None] * (X[10:60, columns] - X[10, columns]))
    assert_allclose(found.sums, (roots[10:60, None] * spread).sum(axis=0))
