"""The approximate Gram matrix is that of rows rounded to bytes, and near the exact one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.spectral import bytes as of_bytes
from eigenwood.core.spectral.centred import Centred
from eigenwood.core.spectral.gram import gram_of
from eigenwood.core.spectral.int8_gram import BLOCKS_AT_ONCE, LARGEST, int8_grams
from tests.core.spectral.cases import DTYPES, THREADS, some_weights, table
from tests.naive import pca as naive

BLOCK_CODES = 64
SHAPES = ((1, 3), (2, 64), (5, 65), (9, 300), (70, 70), (4, 64 * BLOCKS_AT_ONCE + 1))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(of_bytes, "BLOCK_CODES", BLOCK_CODES)


def example(seed, shape, dtype, mean=3.0):
    """Return A as the core has it, and A made by loops."""
    X, weights = table(seed, *shape, dtype, mean), some_weights(shape[0], seed=seed)
    middle = naive.mean(X, weights)
    scale = np.random.default_rng(seed).uniform(0.5, 2.0, shape[1])
    return Centred(X, np.sqrt(weights), middle, scale), naive.centred(X, weights, middle, scale)


def last_gram(A, n_threads=1):
    *_, (gram, n_columns) = int8_grams(A, n_threads)
    assert n_columns == A.X.shape[1]
    return gram


def rounded(A):
    """Return A with every block of a row rounded to whole multiples of a 127th of its largest entry."""
    out = np.empty_like(A)
    for i in range(A.shape[0]):
        for start in range(0, A.shape[1], BLOCK_CODES):
            block = A[i, start : start + BLOCK_CODES]
            unit = np.abs(block).max() / LARGEST
            out[i, start : start + BLOCK_CODES] = np.round(block / unit) * unit if unit > 0 else 0.0
    return out


def most_beside(A):
    """Return by how much the products of rounded rows may differ from those of the rows."""
    total = np.zeros((A.shape[0], A.shape[0]))
    for start in range(0, A.shape[1], BLOCK_CODES):
        block = np.abs(A[:, start : start + BLOCK_CODES])
        half, sums = block.max(axis=1) / LARGEST / 2.0, block.sum(axis=1)
        total += np.outer(half, sums) + np.outer(sums, half) + block.shape[1] * np.outer(half, half)
    return total


@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_the_product_of_rounded_rows(shape):
    A, whole = example(1, shape, np.float64)
    assert_allclose(last_gram(A), rounded(whole) @ rounded(whole).T, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_near_the_exact_one(shape, dtype):
    A, whole = example(2, shape, dtype)
    assert (np.abs(last_gram(A) - gram_of(A, slice(0, shape[1]))) <= 1.01 * most_beside(whole) + 1e-4).all()


def test_rows_of_zeros_and_equal_numbers():
    X = np.array([[0.0] * 70, [2.0] * 70, [-2.0] * 70])
    gram = last_gram(Centred(X, np.ones(3), np.zeros(70), np.ones(70)))
    assert_allclose(gram, X @ X.T, rtol=1e-12)


def test_it_grows_by_columns():
    A, _ = example(4, (6, 3 * BLOCKS_AT_ONCE * BLOCK_CODES - 5), np.float64)
    seen = [(gram.copy(), n) for gram, n in int8_grams(A)]
    assert [n for _, n in seen] == [256, 512, 763]
    first = Centred(A.X[:, :256].copy(), A.roots, A.mean[:256], A.scale[:256])
    assert_array_equal(seen[0][0], last_gram(first))


def test_the_bits_are_the_same_for_any_number_of_threads():
    A, _ = example(5, (130, 700), np.float32)
    one, *others = (last_gram(A, n_threads) for n_threads in THREADS)
    for other in others:
        assert_array_equal(other, one)
