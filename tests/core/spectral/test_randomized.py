"""Randomised subspace iteration: exact where the rank is low, close where the spectrum falls, and always honest."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.extmath import randomized_svd

from eigenwood.core.spectral.pairs import Wanted, symmetric_pairs
from eigenwood.core.spectral.randomized import randomized_steps
from tests.core.spectral.cases import (
    assert_honest,
    assert_orthonormal,
    assert_same_span,
    rotation,
    with_spectrum,
)

FALLING = 0.6 ** np.arange(60.0)


def steps_of(M, count, n_oversamples=5, n_iter=4, seed=0):
    return list(randomized_steps(lambda B: M @ B, len(M), count, n_oversamples, n_iter, seed))


@pytest.mark.parametrize("n_iter", [0, 1, 5])
def test_a_product_more_than_iterations_and_the_last_says_so(n_iter):
    steps = steps_of(with_spectrum(FALLING), 3, n_iter=n_iter)
    assert [step.last for step in steps] == [False] * n_iter + [True]
    assert all(step.whole for step in steps)
    assert all(step.block.shape == (60, 8) for step in steps)


@pytest.mark.parametrize("size", [1, 3, 9])
def test_no_more_columns_than_the_matrix_has(size):
    M = with_spectrum(1.0 + np.arange(size)[::-1])
    pairs = steps_of(M, size, n_oversamples=10, n_iter=0)[-1].pairs()
    assert_allclose(pairs.values, np.arange(size, 0, -1), atol=1e-12)  # the block is all of the space
    assert_orthonormal(pairs.vectors)


@pytest.mark.parametrize("rank", [1, 3, 8])
def test_exact_after_one_iteration_where_the_block_holds_the_rank(rank):
    values = np.zeros(60)
    values[:rank] = np.arange(rank, 0, -1.0)
    M = with_spectrum(values)
    pairs = steps_of(M, rank, n_oversamples=2, n_iter=1)[-1].pairs()
    assert_allclose(pairs.values, values[:rank], atol=1e-11)
    assert_same_span(pairs.vectors, symmetric_pairs(M, Wanted(rank)).vectors, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_close_where_the_spectrum_falls(seed):
    M = with_spectrum(FALLING, seed)
    pairs = steps_of(M, 4, n_oversamples=6, n_iter=6, seed=seed)[-1].pairs()
    assert_allclose(pairs.values, FALLING[:4], rtol=1e-9)
    assert_same_span(pairs.vectors, symmetric_pairs(M, Wanted(4)).vectors, atol=1e-6)


def test_as_close_as_scikit_learn():
    """Scikit-learn multiplies once more with A at the end, so it is half a step ahead of as many iterations."""
    A = rotation(60, 1) * np.sqrt(0.9 ** np.arange(60.0))
    M, errors = A @ A.T, {"ours, 3": [], "theirs, 4": [], "ours, 5": []}
    for seed in range(8):
        errors["ours, 3"].append(steps_of(M, 5, n_iter=3, seed=seed)[-1].pairs().values)
        errors["ours, 5"].append(steps_of(M, 5, n_iter=5, seed=seed)[-1].pairs().values)
        errors["theirs, 4"].append(randomized_svd(A, 5, n_oversamples=5, n_iter=4, random_state=seed)[1] ** 2)
    off = {name: np.abs(np.array(values) - 0.9 ** np.arange(5.0)).mean() for name, values in errors.items()}
    assert off["ours, 5"] < off["theirs, 4"] < off["ours, 3"]


@pytest.mark.parametrize(
    "values", [FALLING, np.ones(60), 0.99 ** np.arange(60.0), np.zeros(60)], ids=["a", "b", "c", "d"]
)
def test_what_every_step_says_is_true(values):
    """Residuals are those of the pairs, Ritz values are never too large, and each product brings them up."""
    M = with_spectrum(values)
    before = np.zeros(4)
    for step in steps_of(M, 4):
        pairs = step.pairs()
        assert_honest(M, pairs, atol=1e-12)
        assert_orthonormal(pairs.vectors)
        assert (np.diff(pairs.values) <= 1e-14).all()
        assert (pairs.values <= values[:4] + 1e-12).all()
        assert (pairs.values >= before - 1e-12).all()
        before = pairs.values


def test_a_flat_spectrum_is_not_passed_off_as_exact():
    """With few iterations the pairs of a flat spectrum are bad, and the residuals say so."""
    pairs = steps_of(with_spectrum(0.99 ** np.arange(200.0)), 4, n_iter=2)[-1].pairs()
    assert pairs.residuals().max() > 0.05


def test_the_seed_decides_the_bits():
    M = with_spectrum(FALLING)
    one, same, other = (steps_of(M, 3, seed=seed)[-1].pairs() for seed in (1, 1, 2))
    for a, b in zip(one, same, strict=True):
        assert_array_equal(a, b)
    assert not np.array_equal(one.vectors, other.vectors)
