"""Products both ways are those of the table, made entry by entry."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.spectral import packed as packing
from eigenwood.core.spectral.centred import Centred, normal_by_columns
from eigenwood.core.spectral.packed import (
    LEAST_WIDTH,
    MOST_WIDTH,
    feature_space_lengths,
    packed_width,
    products_both_ways,
)
from tests.core.spectral.cases import DTYPES, THREADS, some_weights, table
from tests.naive import pca as naive

SHAPES = ((1, 1), (1, 40), (4, 16), (5, 17), (6, 31), (11, 33), (3, 64))  # rows in fours and not, blocks whole and not


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(packing, "MOST_WIDTH", LEAST_WIDTH)


def example(seed, shape, dtype, away=3.0):
    """Return A as the core has it, and A made by loops."""
    X, weights = table(seed, *shape, dtype, away), some_weights(shape[0], seed=seed)
    middle = naive.mean(X, weights)
    scale = np.random.default_rng(seed).uniform(0.5, 2.0, shape[1])
    return Centred(X, np.sqrt(weights), middle, scale), naive.centred(X, weights, middle, scale)


@pytest.mark.parametrize("n_rows", [1, 100, 255, 256, 2504, 10**6])
def test_a_block_is_some_lanes_wide(n_rows, monkeypatch):
    monkeypatch.undo()
    width = packed_width(n_rows)
    assert LEAST_WIDTH <= width <= MOST_WIDTH
    assert width % LEAST_WIDTH == 0
    assert width <= packed_width(max(n_rows - 1, 1))


@pytest.mark.parametrize("n_vectors", [1, 4, 6, packing.FEW_VECTORS + 1])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_both_products_are_those_of_the_table(shape, dtype, n_vectors):
    A, whole = example(4, shape, dtype)
    B = np.random.default_rng(n_vectors).normal(size=(shape[0], n_vectors))
    images, product = products_both_ways(A, B)
    assert (images.dtype, product.dtype) == (dtype, np.float64)
    within = 3e-6 if dtype == np.float32 else 1e-12
    for got, expected in ((images, whole.T @ B), (product, whole @ (whole.T @ B))):
        assert_allclose(got, expected, atol=within * max(1.0, np.abs(expected).max()))
    lengths = np.linalg.norm(whole.T @ B, axis=0)
    assert_allclose(feature_space_lengths(A, B), lengths, atol=within * max(1.0, lengths.max()))


@pytest.mark.parametrize("n_vectors", [1, packing.FEW_VECTORS + 1])
def test_what_float32_cuts_off_a_large_mean_is_taken_off_as_well(n_vectors):
    A, whole = example(6, (11, 33), np.float32, away=3000.0)
    B = 1.0 + np.random.default_rng(n_vectors).random(size=(11, n_vectors))
    images, product = products_both_ways(A, B)
    for got, expected in ((images, whole.T @ B), (product, whole @ (whole.T @ B))):
        assert_allclose(got, expected, atol=3e-6 * np.abs(expected).max())


@pytest.mark.parametrize("n_vectors", [3, packing.FEW_VECTORS + 1])
def test_both_products_have_the_same_bits_for_any_number_of_threads(n_vectors):
    A, _ = example(5, (9, 300), np.float32)
    B = np.random.default_rng(0).normal(size=(9, n_vectors))
    one, *others = ((*products_both_ways(A, B, n), feature_space_lengths(A, B, n)) for n in THREADS)
    for other in others:
        for got, expected in zip(other, one, strict=True):
            assert_array_equal(got, expected)


@pytest.mark.parametrize("n_vectors", [1, packing.FEW_VECTORS + 1])
def test_long_sums_beside_a_giant_number_do_not_drift(n_vectors):
    """All other rows have the same small number in its column; in one long float32 sum each is rounded the same way."""
    n = 3000
    X = np.zeros((n, 5), dtype=np.float32)
    X[3, 2] = 1e6
    A = Centred(X, np.ones(n), X.mean(axis=0, dtype=np.float64), np.ones(5))
    B = np.full((n, n_vectors), -1.0 / n)
    B[3] += 1.0
    images, product = products_both_ways(A, B)
    exact = (X - A.mean).T @ B
    assert_allclose(images[2], exact[2], rtol=1e-6)
    assert_allclose(product[3], ((X - A.mean) @ exact)[3], rtol=1e-6)
    assert_allclose(normal_by_columns(A, B)[3], product[3], rtol=1e-6)
