"""The SVD of A: the pairs of AᵀA, with the digits that forming AᵀA would lose."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.spectral.full import svd_pairs
from tests.core.spectral.cases import assert_honest, assert_orthonormal, rotation
from tests.naive import pca as naive


@pytest.mark.parametrize("shape", [(1, 1), (9, 4), (4, 9), (6, 6), (1, 5), (5, 1)])
def test_equals_the_pairs_of_the_product(shape):
    A = np.random.default_rng(0).normal(size=shape)
    pairs = svd_pairs(A)
    least = min(shape)
    assert pairs.vectors.shape == (shape[1], least)
    assert_allclose(pairs.values, np.linalg.eigvalsh(A.T @ A)[::-1][:least], atol=1e-12)
    assert_allclose(pairs.values, np.linalg.eigvalsh(naive.gram(A))[::-1][:least], atol=1e-12)
    assert_orthonormal(pairs.vectors)
    assert_honest(A.T @ A, pairs, atol=1e-12)
    assert (pairs.residuals() <= 1e-12 * pairs.values[0]).all()


def test_equals_power_iteration():
    A = np.random.default_rng(1).normal(size=(20, 4)) * [4.0, 3.0, 2.0, 1.0]
    values, vectors = naive.power_iteration(A.T @ A, 4)
    pairs = svd_pairs(A)
    assert_allclose(pairs.values, values, rtol=1e-9)
    assert_allclose(np.abs(np.sum(pairs.vectors * vectors, axis=0)), 1.0, atol=1e-8)


def test_small_singular_values_keep_their_digits():
    s = np.array([1.0, 1e-4, 1e-10])
    A = (rotation(8)[:, :3] * s) @ rotation(3, 1).T
    assert_allclose(svd_pairs(A).values, s**2, rtol=1e-4)
    lost = np.linalg.eigvalsh(A.T @ A)[::-1]
    assert abs(lost[2] / s[2] ** 2 - 1.0) > 1.0  # AᵀA has nothing left of the last: this test can fail


def test_a_matrix_is_not_written_to():
    A = np.random.default_rng(2).normal(size=(7, 3))
    before = A.copy()
    svd_pairs(A)
    assert_array_equal(A, before)
