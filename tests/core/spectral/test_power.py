"""Power iteration with deflation: the lecture's, equal to its plain loops and to LAPACK."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.spectral.pairs import Wanted, symmetric_pairs, with_null_pairs
from eigenwood.core.spectral.power import LOOKS, PowerRule, power_steps
from tests.core.spectral.cases import assert_honest, assert_orthonormal, assert_same_span, true_residuals, with_spectrum
from tests.naive import pca as naive

TOL = 1e-11
LECTURE = np.array([[1.5, 0.5], [0.5, 1.5]])
FALLING = 0.7 ** np.arange(15.0)


def steps_of(M, wanted, tol=TOL, max_iter=5000, seed=0):
    return list(power_steps(lambda B: M @ B, len(M), wanted, float(np.trace(M)), PowerRule(tol, max_iter, seed)))


def pairs_of(M, wanted, **options):
    return steps_of(M, wanted, **options)[-1].pairs()


@pytest.mark.parametrize("count", [1, 2])
def test_the_lectures_matrix(count):
    pairs = pairs_of(LECTURE, Wanted(count))
    assert_allclose(pairs.values, [2.0, 1.0][:count], atol=1e-12)
    assert_allclose(np.abs(pairs.vectors), np.sqrt(0.5), atol=1e-10)  # axes at 45°
    assert_allclose(np.abs(np.sum(pairs.vectors * np.linalg.eigh(LECTURE)[1][:, ::-1][:, :count], axis=0)), 1.0)


@pytest.mark.parametrize("theta", [0.1, 0.5, 0.9])
def test_two_unit_normals_with_a_covariance(theta):
    pairs = pairs_of(np.array([[1.0, theta], [theta, 1.0]]), Wanted(2))
    assert_allclose(pairs.values, [1.0 + theta, 1.0 - theta], atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_equals_plain_loops_and_lapack(seed):
    M = with_spectrum(FALLING, seed)
    pairs = pairs_of(M, Wanted(5), seed=seed)
    values, vectors = naive.power_iteration(M, 5)
    assert_allclose(pairs.values, values, atol=1e-10)
    assert_allclose(np.abs(np.sum(pairs.vectors * vectors, axis=0)), 1.0, atol=1e-8)
    assert_allclose(pairs.values, symmetric_pairs(M, Wanted(5)).values, atol=1e-10)
    assert_orthonormal(pairs.vectors)


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_what_is_nothing_depends_on_the_unit(unit):
    M = unit * with_spectrum([3.0, 2.0, 1e-3, 0.0, 0.0])
    assert_allclose(pairs_of(M, Wanted(5)).values, unit * np.array([3.0, 2.0, 1e-3]), rtol=1e-6)


@pytest.mark.parametrize(
    "values", [[1.0] * 6, [5.0, 5.0, 1.0, 1.0], [3.0, 2.0, 0.0, 0.0, 0.0], [0.0] * 4, [2.0], [0.0]]
)
def test_multiple_and_zero_eigenvalues(values):
    M = with_spectrum(values)
    pairs = with_null_pairs(pairs_of(M, Wanted(len(values))), len(values), 1e-13)
    assert_allclose(pairs.values, values, atol=1e-10)
    assert_orthonormal(pairs.vectors, atol=1e-10)
    assert (true_residuals(M, pairs) <= 2e-10).all()


@pytest.mark.parametrize("max_iter", [2, 5000])
def test_directions_without_variance_are_not_searched_one_by_one(max_iter):
    """Where three products in a row are only rounding, so are all others."""
    M = np.diag(np.append([4.0, 4.0, 4.0], np.zeros(97)))
    steps = steps_of(M, Wanted(99), max_iter=max_iter)
    assert steps[-1].last
    assert not steps[-1].is_cut
    assert_allclose(steps[-1].values, 4.0)
    assert steps[-1].n_products <= 3 * 2 + LOOKS


@pytest.mark.parametrize("small", [1e-9, 1e-12])
def test_a_small_variance_is_not_nothing(small):
    M = with_spectrum(np.append([4.0, 2.0], np.append(np.full(30, small), np.zeros(60))))
    assert steps_of(M, Wanted(40))[-1].values.size > 30


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_share_of_the_trace(share):
    M = with_spectrum(FALLING)
    expected = 1 + int((np.cumsum(FALLING) <= share * FALLING.sum()).sum())
    pairs = pairs_of(M, Wanted(15, share))
    assert_allclose(pairs.values, FALLING[:expected], atol=1e-9)


def test_a_share_that_takes_all():
    assert pairs_of(np.eye(4), Wanted(4, 0.99)).values.size == 4


def test_what_every_step_says_is_true():
    M = with_spectrum(FALLING)
    steps = steps_of(M, Wanted(3))
    assert [step.n_products for step in steps] == list(range(1, len(steps) + 1))
    assert [step.last for step in steps] == [False] * (len(steps) - 1) + [True]
    assert [step.values.size for step in steps if step.whole] == [1, 2, 3]
    for step in steps:
        pairs = step.pairs()
        assert_honest(M, pairs, atol=1e-12)
        assert_orthonormal(pairs.vectors, atol=1e-10)
        assert (np.diff(pairs.values) <= 1e-14).all()
        assert not step.whole or pairs.residuals().max() <= TOL


@pytest.mark.parametrize("max_iter", [1, 3])
def test_no_more_products_for_a_component_than_allowed(max_iter):
    M = with_spectrum(0.99 ** np.arange(15.0))
    steps = steps_of(M, Wanted(4), max_iter=max_iter)
    assert steps[-1].n_products == 4 * max_iter
    assert steps[-1].is_cut
    pairs = steps[-1].pairs()
    assert pairs.residuals().max() > 1e-3  # far from settled, and it says so
    assert_honest(M, pairs, atol=1e-12)


def test_close_values_found_in_the_other_order_are_put_in_order():
    """Stopped early, the second component may have more variance than the first; pairs come largest first."""
    M = np.diag([1.0, 1.0001, 0.5])
    found = [steps_of(M, Wanted(3), max_iter=2, seed=seed)[-1] for seed in range(20)]
    assert any((np.diff(step.values) > 0).any() for step in found)
    for step in found:
        pairs = step.pairs()
        assert (np.diff(pairs.values) <= 0).all()
        assert_allclose(np.einsum("ij,ij->j", pairs.vectors, M @ pairs.vectors), pairs.values, atol=1e-12)


def test_the_products_it_takes_follow_the_ratio_of_the_eigenvalues():
    """The lecture: the error falls like (λ₂/λ₁)ᵗ."""
    n_products = {}
    for ratio in (0.5, 0.9):
        M = with_spectrum([1.0, ratio, 0.1, 0.05])
        n_products[ratio] = np.median([steps_of(M, Wanted(1), seed=seed)[-1].n_products for seed in range(9)])
    expected = np.log(0.5) / np.log(0.9)
    assert 0.7 * expected < n_products[0.9] / n_products[0.5] < 1.4 * expected


@pytest.mark.parametrize("tol", [1e-3, 1e-8])
def test_a_small_component_does_not_wait_for_what_the_large_ones_left(tol):
    """These are off by ``tol``, and what is left of them stays in every product beside them."""
    M = with_spectrum([4000.0, 240.0, 4.7, 1.5, 0.0, 0.0])
    steps = steps_of(M, Wanted(6), tol=tol)
    assert steps[-1].n_products < 300
    assert_allclose(steps[-1].pairs().values[:4], [4000.0, 240.0, 4.7, 1.5], rtol=1e-3, atol=4000.0 * tol)


def test_the_seed_decides_the_bits():
    M = with_spectrum(FALLING)
    one, same, other = (pairs_of(M, Wanted(3), seed=seed) for seed in (1, 1, 2))
    for a, b in zip(one, same, strict=True):
        assert_array_equal(a, b)
    assert not np.array_equal(one.vectors, other.vectors)
    assert_same_span(one.vectors, other.vectors, atol=1e-9)
