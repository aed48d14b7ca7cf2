"""The kernel functions on tiles, and the lectures' widths."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood import gamma_from_s, gamma_from_sigma
from eigenwood.core.kernels.exponential import new_bits
from eigenwood.core.kernels.functions import (
    KERNELS,
    POLYNOMIAL,
    RBF,
    SIGMOID,
    Kernel,
    absolute_distances,
    finish_dense_strips,
    finish_polynomial,
    finish_rbf,
    finish_sigmoid,
    laplacian,
    scaled_distances,
)
from tests.naive import kernels as naive

DTYPES = (np.float32, np.float64)
TOLERANCE = {np.float32: 2e-6, np.float64: 1e-13}


def pairs(seed, dtype, n_features=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(6, n_features)).astype(dtype), rng.normal(size=(5, n_features)).astype(dtype)


def squared(X):
    return (X.astype(np.float64) ** 2).sum(axis=1).astype(X.dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(3))
def test_tiles_equal_the_textbook(seed, dtype):
    X, Z = pairs(seed, dtype)
    near = TOLERANCE[dtype]

    tile = X @ Z.T
    finish_polynomial(tile, Kernel(POLYNOMIAL, gamma=0.7, coef0=0.4, degree=3))
    expected = naive.gram(X, Z, lambda x, z: naive.polynomial(x, z, 0.7, 0.4, 3))
    assert_allclose(tile, expected, atol=near * np.abs(expected).max())

    tile = X @ Z.T
    finish_sigmoid(tile, Kernel(SIGMOID, gamma=0.7, coef0=-0.4))
    assert_allclose(tile, naive.gram(X, Z, lambda x, z: naive.sigmoid(x, z, 0.7, -0.4)), atol=near)

    tile = X @ Z.T
    finish_rbf(tile, X, Z, squared(X), squared(Z), Kernel(RBF, 0.7))
    assert_allclose(tile, naive.gram(X, Z, lambda x, z: naive.rbf(x, z, 0.7)), atol=near)

    assert_allclose(laplacian(X, Z, 0.7), naive.gram(X, Z, lambda x, z: naive.laplacian(x, z, 0.7)), atol=near)


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_polynomial_of_whole_numbers_is_exact(degree):
    tile = np.array([[2.0, -3.0]])
    finish_polynomial(tile, Kernel(POLYNOMIAL, gamma=2.0, coef0=1.0, degree=degree))
    assert_array_equal(tile, [[5.0**degree, (-5.0) ** degree]])


def test_distances_are_never_below_zero():
    products = np.array([1.0000001])
    scaled_distances(products, 3.0, np.ones(1), 3.0)
    assert products[0] == 0.0


def test_only_pairs_that_are_too_close_are_repaired():
    X, Z = np.array([[0.0], [0.0]]), np.array([[1.0], [2.0]])
    products = np.zeros((2, 2))  # as if the norms were known, and the products not
    close = np.array([1.0, -np.inf]), np.array([-np.inf, 0.5])
    finish_dense_strips(products, X, Z, np.full(2, 0.1), np.full(2, 0.2), 1.0, *close, new_bits(products.dtype), 0.0)
    assert_allclose(products, np.exp([[-1.0, -4.0], [-0.3, -4.0]]), rtol=1e-15)


def test_absolute_distances_in_several_strips():
    X, Z = pairs(0, np.float64, n_features=20_000)  # a strip holds one row of Z
    expected = [[np.abs(X[0] - z).sum() for z in Z]]
    assert_allclose(absolute_distances(X[:1], Z), expected, rtol=1e-12)


def test_the_widths_of_the_lectures():
    X, Z = pairs(3, np.float64)
    difference = ((X[0] - Z[0]) ** 2).sum()
    s, sigma = 1.7, 0.6
    assert naive.rbf(X[0], Z[0], gamma_from_s(s)) == pytest.approx(np.exp(-difference / s**2))
    assert naive.rbf(X[0], Z[0], gamma_from_sigma(sigma)) == pytest.approx(np.exp(-difference / (2 * sigma**2)))
    assert gamma_from_s(np.sqrt(2) * sigma) == pytest.approx(gamma_from_sigma(sigma))


def test_names_and_codes_are_one_to_one():
    assert len(set(KERNELS.values())) == len(KERNELS) == 5
    assert KERNELS["rbf"] == RBF
