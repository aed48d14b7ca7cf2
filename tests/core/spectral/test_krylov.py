"""Block Lanczos: the pairs LAPACK finds, from fewer products, with residuals that are true after every one of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.linalg import eigsh

from eigenwood.core.spectral import krylov
from eigenwood.core.spectral.krylov import KrylovRule, krylov_steps
from eigenwood.core.spectral.pairs import Wanted, symmetric_pairs
from tests.core.spectral.cases import assert_honest, assert_orthonormal, assert_same_span, true_residuals, with_spectrum
from tests.naive import pca as naive

TOL = 1e-10
RULE = KrylovRule(tol=TOL, block=4, capacity=60, seed=0)
FALLING = 0.8 ** np.arange(40.0)


class Counted:
    """An operator that counts the columns it was multiplied with."""

    def __init__(self, M):
        self.M, self.n_columns = M, 0

    def __call__(self, B):
        self.n_columns += B.shape[1]
        return self.M @ B


def steps_of(M, wanted, rule=RULE):
    return krylov_steps(lambda B: M @ B, len(M), wanted, float(np.trace(M)), rule)


def last_step(M, wanted, rule=RULE, most=2000):
    """Return the last step; fail rather than run for ever."""
    for number, step in enumerate(steps_of(M, wanted, rule)):
        assert number < most, "does not settle"
        if step.last:
            return step
    raise AssertionError("ended without a last step")


def assert_found(M, step, count):
    """The step has the leading pairs of M, and says the truth about them."""
    pairs = step.pairs()
    true = np.linalg.eigvalsh(M)[::-1]
    scale = max(true[0], 0.0)
    assert pairs.values.shape == pairs.residuals().shape == (count,)
    assert pairs.vectors.shape == (len(M), count)
    assert_allclose(pairs.values, true[:count], atol=10 * TOL * scale + 1e-13)
    assert_orthonormal(pairs.vectors, atol=1e-10)
    assert (true_residuals(M, pairs) <= 2 * TOL * scale + 1e-13).all()


# ---- equal to LAPACK, to ARPACK and to the textbook --------------------------------------------------------------


@pytest.mark.parametrize("block", [1, 3, 8])
@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("seed", range(2))
def test_equals_lapack_and_arpack(seed, count, block):
    M = with_spectrum(FALLING, seed)
    step = last_step(M, Wanted(count), RULE._replace(block=block, seed=seed))
    assert_found(M, step, count)
    assert_same_span(step.pairs().vectors, symmetric_pairs(M, Wanted(count)).vectors, atol=1e-8)
    assert_allclose(step.pairs().values, eigsh(M, k=count)[0][::-1], atol=1e-9)


def test_equals_power_iteration():
    M = with_spectrum(FALLING)
    values, vectors = naive.power_iteration(M, 3)
    pairs = last_step(M, Wanted(3)).pairs()
    assert_allclose(pairs.values, values, atol=1e-9)
    assert_allclose(np.abs(np.sum(pairs.vectors * vectors, axis=0)), 1.0, atol=1e-8)


@pytest.mark.parametrize("decay", [0.05, 0.2, 0.3, 0.5, 0.7])
@pytest.mark.parametrize(("count", "block"), [(1, 8), (9, 15), (19, 25), (45, 32), (60, 32)])
def test_steep_spectra_in_wide_blocks(decay, count, block):
    """The columns of a product are then of very different lengths; the short ones too must stand at right angles."""
    M = with_spectrum(decay ** np.arange(66.0))
    for step in steps_of(M, Wanted(count), RULE._replace(block=block, capacity=66)):
        assert_orthonormal(step.basis, atol=1e-11)
    assert_found(M, step, count)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 14),
    block=st.integers(1, 5),
    count=st.integers(1, 14),
    rank=st.integers(0, 14),
)
def test_any_size_rank_block_and_count(seed, size, block, count, rank):
    values = np.where(np.arange(size) < rank, 0.7 ** np.arange(size), 0.0)
    M = with_spectrum(values, seed)
    step = last_step(M, Wanted(min(count, size)), RULE._replace(block=block))
    assert_found(M, step, min(count, size))


@pytest.mark.parametrize("count", [1, 40])
def test_more_pairs_than_the_matrix_has(count):
    M = np.array([[2.5]])
    step = last_step(M, Wanted(count))
    assert_allclose(step.pairs().values, [2.5])
    assert_allclose(np.abs(step.pairs().vectors), [[1.0]])
    assert step.n_products == 1


@pytest.mark.parametrize("wanted", [Wanted(2), Wanted(6, 0.5)], ids=str)
def test_a_matrix_of_zeros(wanted):
    step = last_step(np.zeros((6, 6)), wanted)
    assert_allclose(step.pairs().values, 0.0)
    assert_orthonormal(step.pairs().vectors)


# ---- multiple eigenvalues ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 4, 9, 30])
@pytest.mark.parametrize("block", [1, 4])
def test_the_identity(block, count):
    M = np.eye(30)
    assert_found(M, last_step(M, Wanted(count), RULE._replace(block=block)), count)


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ([5.0] * 3 + [1.0] * 27, 3),  # as often as there are columns in a block, or less
        ([5.0] * 4 + [1.0] * 26, 6),
        ([5.0] * 8 + [1.0] * 22, 8),  # more often: the first blocks can hold only four of the eight
        ([5.0] * 12 + [1.0] * 18, 8),
        ([5.0] * 12 + [1.0] * 18, 14),
        ([9.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0] + [1.0] * 23, 7),
        (list(np.repeat([9.0, 5.0, 2.0], 10)), 25),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_repeated_eigenvalues_are_all_found(values, count, seed):
    M = with_spectrum(values, seed)
    assert_found(M, last_step(M, Wanted(count), RULE._replace(seed=seed)), count)


@pytest.mark.parametrize("capacity", [14, 18, 30])
def test_repeated_eigenvalues_are_all_found_after_restarts(capacity):
    M = with_spectrum([5.0] * 7 + list(0.95 ** np.arange(53.0)))
    assert_found(M, last_step(M, Wanted(7), RULE._replace(capacity=capacity)), 7)


# ---- rank and restarts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [0, 1, 3, 4, 9])
@pytest.mark.parametrize("count", [2, 6, 12])
def test_matrices_of_low_rank(rank, count):
    values = np.zeros(50)
    values[:rank] = 1.0 + np.arange(rank)[::-1]
    M = with_spectrum(values)
    assert_found(M, last_step(M, Wanted(count)), count)


@pytest.mark.parametrize("capacity", [10, 14, 20, 33])
@pytest.mark.parametrize("count", [1, 3, 5])
def test_a_basis_that_is_let_go_again_and_again(capacity, count):
    M = with_spectrum(0.97 ** np.arange(80.0))
    rule = RULE._replace(capacity=capacity)
    step = last_step(M, Wanted(count), rule)
    assert step.n_products > capacity  # it did restart
    assert step.basis.shape[1] <= capacity
    assert_found(M, step, count)


def test_a_large_basis_needs_fewer_products_than_a_small_one():
    M = with_spectrum(0.97 ** np.arange(80.0))
    small, large = (last_step(M, Wanted(3), RULE._replace(capacity=c)).n_products for c in (12, 60))
    assert large < small


# ---- what a step says is true ------------------------------------------------------------------------------------


@pytest.mark.parametrize("capacity", [12, 60])
@pytest.mark.parametrize("wanted", [Wanted(5), Wanted(60, 0.4)], ids=str)
def test_residuals_and_counts_are_true_after_every_product(wanted, capacity):
    M = with_spectrum(0.95 ** np.arange(60.0))
    true = np.linalg.eigvalsh(M)[::-1]
    operator, n_steps = Counted(M), 0
    rule = RULE._replace(capacity=capacity)
    for step in krylov_steps(operator, 60, wanted, float(np.trace(M)), rule):
        n_steps += 1
        assert step.n_products == operator.n_columns
        pairs = step.pairs()
        assert_honest(M, pairs)
        assert_allclose(step.residuals[: pairs.values.size], pairs.residuals(), atol=1e-12)
        assert_orthonormal(pairs.vectors, atol=1e-11)
        assert (np.diff(step.values) <= 1e-14).all()
        assert (step.values <= true[: step.values.size] + 1e-12).all()  # Ritz values are never too large
        if n_steps == 200:
            break
    assert n_steps > 3
    assert step.last or wanted.share is not None


@pytest.mark.parametrize("tol", [1e-1, 1e-3])
def test_residuals_are_true_also_where_copies_are_looked_for(tol):
    M = with_spectrum([5.0] * 9 + list(0.9 ** np.arange(51.0)))
    for step in steps_of(M, Wanted(9), RULE._replace(tol=tol)):
        assert_honest(M, step.pairs())
    assert step.last


def test_steps_are_whole_and_only_the_last_is_last():
    steps = [(step.whole, step.last) for step in steps_of(with_spectrum(FALLING), Wanted(3))]
    assert len(steps) > 2
    assert steps == [(True, False)] * (len(steps) - 1) + [(True, True)]


def test_pairs_of_a_step_belong_to_the_caller():
    *_, step = steps_of(with_spectrum(FALLING), Wanted(2))
    pairs = step.pairs()
    pairs.values[:], pairs.residual_vectors[:], pairs.vectors[:] = -1.0, -1.0, -1.0
    assert (step.pairs().values > 0).all()


def test_the_seed_decides_the_bits():
    M = with_spectrum(FALLING)
    one, same, other = (last_step(M, Wanted(3), RULE._replace(seed=seed)).pairs() for seed in (1, 1, 2))
    for a, b in zip(one, same, strict=True):
        assert_array_equal(a, b)
    assert not np.array_equal(one.vectors, other.vectors)


def test_a_loose_tolerance_takes_fewer_products():
    M = with_spectrum(0.97 ** np.arange(80.0))
    products = {}
    for tol in (1e-2, 1e-6, 1e-12):
        step = last_step(M, Wanted(4), RULE._replace(tol=tol, capacity=80))
        assert (true_residuals(M, step.pairs()) <= 1.01 * tol + 1e-14).all()
        products[tol] = step.n_products
    assert products[1e-2] < products[1e-6] < products[1e-12]


# ---- a share of the trace ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("decay", [0.7, 0.9])
def test_a_share_finds_the_right_count_without_computing_all(decay, share):
    values = decay ** np.arange(300.0)
    M = with_spectrum(values)
    expected = 1 + int((np.cumsum(values) <= share * values.sum()).sum())
    step = last_step(M, Wanted(300, share), RULE._replace(block=8, capacity=300))
    assert_found(M, step, expected)
    assert step.n_products <= 150


def test_a_share_with_repeated_eigenvalues():
    M = with_spectrum([6.0] * 6 + [1.0] * 24)  # trace 60; five of the six hold 30
    assert_found(M, last_step(M, Wanted(30, 0.49)), 5)
    assert_found(M, last_step(M, Wanted(30, 0.51)), 6)


@pytest.mark.parametrize("rank", [1, 3])
def test_a_share_close_to_all_of_a_matrix_of_low_rank(rank):
    M = with_spectrum([1.0] * rank + [0.0] * 20)
    assert_found(M, last_step(M, Wanted(20 + rank, 0.999)), rank)


def test_a_share_that_takes_all():
    M = np.eye(20)
    assert_found(M, last_step(M, Wanted(20, 0.99)), 20)


def test_a_short_column_beside_a_long_one_is_orthogonal_to_the_basis():
    """What rounding leaves along the basis is little beside the long column, but not beside the short one."""
    rng = np.random.default_rng(0)
    whole = np.linalg.qr(rng.normal(size=(30, 7)))[0]
    basis, (long, short) = whole[:, :5], whole[:, 5:].T
    Q, _ = krylov._block_and_factor(np.column_stack([long, 1e-6 * short + 1e-12 * basis[:, 0]]), basis, 1.0)
    assert_allclose(np.hstack([basis, Q]).T @ np.hstack([basis, Q]), np.eye(7), atol=1e-12)


def test_fewer_looks_find_the_same_pairs():
    M = with_spectrum(0.93 ** np.arange(120.0))
    often, seldom = (list(steps_of(M, Wanted(5), RULE._replace(between=share))) for share in (0.0, 0.5))
    assert len(seldom) < len(often)
    assert_allclose(seldom[-1].values[:5], often[-1].values[:5], atol=1e-12)
    assert seldom[-1].n_products <= 1.5 * often[-1].n_products + RULE.block
    assert_honest(M, seldom[-1].pairs())


@pytest.mark.parametrize("wanted", [Wanted(6), Wanted(120, 0.6)])
@pytest.mark.parametrize("loss", [0.05, 1e-2])
def test_no_more_is_lost_than_may_be(wanted, loss):
    M = with_spectrum(0.97 ** np.arange(120.0))
    exact, rough = last_step(M, wanted), last_step(M, wanted, RULE._replace(loss=loss))
    assert rough.n_products < exact.n_products
    best, held = np.linalg.eigvalsh(M)[::-1][: rough.count].sum(), rough.values[: rough.count].sum()
    assert (1.0 - loss) * best <= held <= best + 1e-12
    assert rough.residuals[: rough.count].sum() <= loss * held


def test_numbers_in_another_unit_change_no_bit():
    M = with_spectrum(0.9 ** np.arange(90.0))
    one, other = (last_step(unit * M, Wanted(4)) for unit in (1.0, 2.0**120))
    assert_array_equal(2.0**120 * one.values, other.values)
    assert_array_equal(one.pairs().vectors, other.pairs().vectors)
