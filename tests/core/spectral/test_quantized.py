"""Moments of numbers on a uniform grid: without rounding, and only where all numbers lie on it."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.spectral import bytes as of_bytes
from eigenwood.core.spectral import moments as sums_of_rows
from eigenwood.core.spectral import quantized
from eigenwood.core.spectral.moments import _dense_moments, moments_of
from eigenwood.core.spectral.quantized import UniformGrid, about_mean, grid_of, quantized_moments
from tests.core.spectral.cases import DTYPES, THREADS

SCALES = ((0.0, 1.0), (0.0, 1.0 / 255.0), (-3.0, 0.5), (1e6, 1.0), (0.1, 0.1))


@pytest.fixture(autouse=True)
def small_tables(monkeypatch):
    """Let small tables take this way, in several blocks."""
    monkeypatch.setattr(of_bytes, "BLOCK_CODES", 64)
    monkeypatch.setattr(quantized, "LEAST_VALUES", 1)
    monkeypatch.setattr(quantized, "FEWEST_COLUMNS", 1)
    monkeypatch.setattr(quantized, "ROWS_AT_ONCE", 16)
    monkeypatch.setattr(quantized, "TURNED_ROWS", 8)
    monkeypatch.setattr(sums_of_rows, "multiplies_bytes", lambda: True)


def on_grid(seed, shape, scale=(0.0, 1.0), n_levels=256, dtype=np.float64):
    codes = np.random.default_rng(seed).integers(0, n_levels, size=shape)
    codes[0, 0], codes[-1, -1] = 0, n_levels - 1
    return codes, (scale[0] + scale[1] * codes).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_levels", [2, 3, 256])
@pytest.mark.parametrize("scale", SCALES)
def test_the_grid_is_found(scale, n_levels, dtype):
    if dtype == np.float32 and scale[0] == 1e6:
        scale = (1e4, 1.0)
    _, X = on_grid(0, (60, 40), scale, n_levels, dtype)
    grid = grid_of(X)
    assert_allclose(grid, scale, rtol=1e-6, atol=1e-9)


def test_numbers_beside_levels_have_no_grid():
    assert grid_of(np.random.default_rng(0).normal(size=(50, 20))) is None
    assert grid_of(np.full((50, 20), 3.0)) is None
    assert grid_of(np.tile([0.0, 1.0, 2.5], (20, 5))) is None
    assert grid_of(np.tile([0.0, 1.0, 257.0], (20, 5))) is None
    assert grid_of(np.tile([0.0, 1.0, np.nan], (20, 5))) is None
    assert grid_of(np.tile([0.0, 1.0, np.inf], (20, 5))) is None


def test_small_tables_are_not_worth_it(monkeypatch):
    _, X = on_grid(0, (60, 40))
    monkeypatch.setattr(quantized, "LEAST_VALUES", X.size + 1)
    assert grid_of(X) is None
    monkeypatch.setattr(quantized, "LEAST_VALUES", X.size)
    assert grid_of(X) is not None


@pytest.mark.parametrize("n_rows", [1, 2, 63, 64, 65, 300, 521])
@pytest.mark.parametrize("n_columns", [1, 7, 70])
def test_the_sums_are_those_of_the_numbers(n_rows, n_columns):
    codes, X = on_grid(n_rows, (n_rows, n_columns), (-3.0, 0.5))
    sums = quantized_moments(X, UniformGrid(-3.0, 0.5))
    assert_allclose(sums.mean, X.mean(axis=0), rtol=1e-14, atol=1e-14)
    centred = X - X.mean(axis=0)
    assert_allclose(sums.scatter, centred.T @ centred, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", SCALES[:3])
def test_moments_take_this_way_and_agree_with_the_other(scale, dtype):
    _, X = on_grid(1, (400, 12), scale, 200, dtype)
    got, expected = moments_of(X, np.ones(400)), _dense_moments(X, np.ones(400), 1)
    assert (got.n_rows, got.weight) == (400, 400.0)
    within = 3e-6 if dtype == np.float32 else 1e-12
    assert_allclose(got.mean, expected.mean, rtol=within, atol=within)
    assert_allclose(got.scatter, expected.scatter, rtol=within, atol=within * expected.scatter.max())


def test_they_are_nearer_to_the_truth_than_float32_is():
    codes, X = on_grid(2, (5000, 8), (100.0, 0.25), 9, np.float32)
    truth = 0.0625 * np.cov(codes.T, ddof=0) * 5000
    got, other = moments_of(X, np.ones(5000)), _dense_moments(X, np.ones(5000), 1)
    error, other_error = (np.abs(m.scatter - truth).max() / truth.max() for m in (got, other))
    assert error <= 1e-14 < other_error


def test_a_constant_column_has_no_variance_at_all():
    codes, X = on_grid(3, (777, 5), (0.0, 1.0 / 255.0))
    X[:, 2] = 77.0 / 255.0
    scatter = quantized_moments(X, UniformGrid(0.0, 1.0 / 255.0)).scatter
    assert not scatter[2].any()
    assert not scatter[:, 2].any()


@pytest.mark.parametrize("value", [0.5, -1.0, 256.0, np.nan, np.inf, 1e300])
@pytest.mark.parametrize("place", [(0, 0), (150, 3), (299, 6)])
def test_one_number_beside_its_step_is_noticed(value, place):
    _, X = on_grid(4, (300, 7))
    X[place] = value
    assert quantized_moments(X, UniformGrid(0.0, 1.0)) is None


def test_moments_of_a_table_with_one_number_beside_its_step_are_right(monkeypatch):
    _, X = on_grid(5, (300, 7))
    X[5, 2] = 0.5
    monkeypatch.setattr(quantized, "SAMPLE_ROWS", 3)  # the sample does not see it
    assert grid_of(X) is not None
    centred = X - X.mean(axis=0)
    assert_allclose(moments_of(X, np.ones(300)).scatter, centred.T @ centred, rtol=1e-10, atol=1e-8)


def test_beside_a_large_offset_rounding_hides_no_numbers(monkeypatch):
    """At ten million float32 numbers are integers: 1 is within their rounding of a grid of step 2, but not on it."""
    X = np.float32(1e7) + np.random.default_rng(5).integers(0, 2, size=(300, 7)).astype(np.float32)
    X[::100] = np.float32(1e7) + np.array([0, 2, 4, 6, 4, 2, 0], dtype=np.float32)
    monkeypatch.setattr(quantized, "SAMPLE_ROWS", 3)  # the sample sees even numbers alone
    centred = X - X.mean(axis=0, dtype=np.float64)
    assert_allclose(moments_of(X, np.ones(300)).scatter, centred.T @ centred, rtol=1e-6, atol=1e-4)


def test_the_sums_need_no_second_matrix():
    _, X = on_grid(9, (70, 400))
    quantized_moments(X, UniformGrid(0.0, 1.0))
    tracemalloc.start()
    quantized_moments(X, UniformGrid(0.0, 1.0))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.5 * 8 * 400**2


def test_weighted_rows_take_the_other_way():
    _, X = on_grid(6, (100, 7))
    weights = np.linspace(0.5, 2.0, 100)
    mean = np.average(X, axis=0, weights=weights)
    assert_allclose(moments_of(X, weights).scatter, (X - mean).T @ ((X - mean) * weights[:, None]), rtol=1e-10)


def test_the_bits_are_the_same_for_any_number_of_threads():
    _, X = on_grid(7, (700, 90), (0.0, 1.0 / 255.0), dtype=np.float32)
    one, *others = (quantized_moments(X, grid_of(X), n_threads) for n_threads in THREADS)
    for other in others:
        assert_array_equal(other.scatter, one.scatter)
        assert_array_equal(other.mean, one.mean)


def test_the_mean_is_taken_off_without_rounding():
    codes = np.random.default_rng(8).integers(0, 256, size=(1000, 4)).astype(float)
    got = about_mean(codes.T @ codes, codes.sum(axis=0), 1000)
    exact = [
        [sum(1000 * int(a) * int(b) for a, b in zip(x, y, strict=True)) - int(x.sum()) * int(y.sum()) for y in codes.T]
        for x in codes.T
    ]
    assert_allclose(got, np.array(exact, dtype=float) / 1000, rtol=1e-15)
