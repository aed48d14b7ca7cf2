"""A table of numbers on a grid, packed as bytes, multiplies as the table does."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.spectral import packed_quantized
from eigenwood.core.spectral.centred import Centred, normal_by_columns
from eigenwood.core.spectral.packed_quantized import normal_of_packed_quantized, pack_quantized
from eigenwood.core.spectral.quantized import UniformGrid
from tests.core.spectral.cases import DTYPES, THREADS, some_weights
from tests.naive import pca as naive

SHAPES = ((1, 1), (1, 40), (4, 64), (5, 65), (11, 200), (3, 129))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(packed_quantized, "packed_width", lambda n_rows, itemsize: 64)
    monkeypatch.setattr(packed_quantized, "BLOCKS_AT_ONCE", 2)


def example(seed, shape, dtype, low=-1.0, step=0.5, n_levels=3):
    """Return A as the core has it, and A made by loops."""
    rng = np.random.default_rng(seed)
    X = (low + step * rng.integers(0, n_levels, size=shape)).astype(dtype)
    weights = some_weights(shape[0], seed=seed)
    middle, scale = naive.mean(X, weights), rng.uniform(0.5, 2.0, shape[1])
    return Centred(X, np.sqrt(weights), middle, scale), naive.centred(X, weights, middle, scale)


@pytest.mark.parametrize("n_vectors", [1, 4, 5])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_it_multiplies_as_the_table_does(shape, dtype, n_vectors):
    A, whole = example(2, shape, dtype)
    B = np.random.default_rng(n_vectors).normal(size=(shape[0], n_vectors))
    got, expected = normal_of_packed_quantized(pack_quantized(A, UniformGrid(-1.0, 0.5)), B), whole @ (whole.T @ B)
    assert got.dtype == np.float64
    within = (3e-6 if dtype == np.float32 else 1e-12) * max(1.0, np.abs(expected).max())
    assert_allclose(got, expected, atol=within)
    assert_allclose(got, normal_by_columns(A, B), atol=within)


def test_a_mean_far_from_zero_costs_no_digits():
    A, whole = example(3, (9, 100), np.float32, low=1000.0, step=1.0)
    B = np.random.default_rng(0).normal(size=(9, 2))
    got = normal_of_packed_quantized(pack_quantized(A, UniformGrid(1000.0, 1.0)), B)
    assert_allclose(got, whole @ (whole.T @ B), atol=1e-4)


@pytest.mark.parametrize("value", [0.25, np.nan, np.inf, 1e30])
@pytest.mark.parametrize("place", [(0, 0), (4, 63), (10, 199)])
def test_a_number_beside_its_step_is_noticed(value, place):
    A, _ = example(4, (11, 200), np.float64)
    assert pack_quantized(A, UniformGrid(-1.0, 0.5)) is not None
    A.X[place] = value
    assert pack_quantized(A, UniformGrid(-1.0, 0.5)) is None


def test_a_number_too_far_from_its_column_is_noticed():
    A, _ = example(5, (11, 20), np.float64, low=0.0, step=1.0)
    A.X[3, 3] = 128.0
    assert pack_quantized(A, UniformGrid(0.0, 1.0)) is not None  # the column's mean is nearer to 1 than to 0
    A.X[3, 3] = 200.0
    assert pack_quantized(A, UniformGrid(0.0, 1.0)) is None


def test_the_bits_are_the_same_for_any_number_of_threads():
    A, _ = example(6, (9, 1000), np.float32)
    B = np.random.default_rng(0).normal(size=(9, 6))
    grid = UniformGrid(-1.0, 0.5)
    one, *others = (normal_of_packed_quantized(pack_quantized(A, grid, n), B, n) for n in THREADS)
    for other in others:
        assert_array_equal(other, one)
