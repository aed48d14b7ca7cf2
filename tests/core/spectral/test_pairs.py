"""Eigenpairs: how many, in which order, at right angles, with which signs, and what stands for the null space."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.spectral import pairs as pairs_of_core
from eigenwood.core.spectral.pairs import (
    MANY,
    Pairs,
    Wanted,
    chosen_count,
    count_for_share,
    orthonormal,
    signed,
    straightened,
    symmetric_pairs,
    with_null_directions,
    with_null_pairs,
)
from tests.core.spectral.cases import (
    THREADS,
    assert_honest,
    assert_orthonormal,
    assert_same_span,
    rotation,
    true_residuals,
    with_spectrum,
)
from tests.naive import pca as naive

FALLING = 2.0 ** -np.arange(12.0)


# ---- how many ----------------------------------------------------------------------------------------------------


@given(
    values=st.lists(st.integers(0, 9), min_size=1, max_size=8),
    more=st.integers(0, 9),
    share=st.floats(0.01, 0.99),
)
def test_the_fewest_that_hold_more_than_the_share(values, more, share):
    values = np.sort(np.array(values, dtype=float))[::-1]
    trace = values.sum() + more
    enough = [k for k in range(1, values.size + 1) if values[:k].sum() > share * trace]
    assert count_for_share(values, share, trace) == (enough[0] if enough else None)


def test_a_share_that_is_met_exactly_is_not_exceeded():
    assert count_for_share(np.array([5.0, 3.0, 2.0]), 0.5, 10.0) == 2
    assert count_for_share(np.array([5.0, 3.0, 2.0]), 0.8, 10.0) == 3


def test_all_pairs_where_rounding_keeps_the_share_out_of_reach():
    assert chosen_count(np.array([3.0, 1.0]), Wanted(2, 0.99), 5.0) == 2
    assert chosen_count(np.array([3.0, 1.0, -1e-17]), Wanted(3, 0.5), 4.0) == 1
    assert chosen_count(np.array([3.0, 1.0]), Wanted(7), 4.0) == 2


# ---- the pairs of a matrix in hand -------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3, 4, 11, 12])  # some of them below MANY, some above
@pytest.mark.parametrize("seed", range(2))
def test_equals_power_iteration_and_lapack(seed, count):
    M = with_spectrum(FALLING, seed)
    pairs = symmetric_pairs(M, Wanted(count))
    assert pairs.values.size == count
    assert pairs.vectors.shape == (12, count)
    expected, vectors = naive.power_iteration(M, count)
    assert_allclose(pairs.values, expected, atol=1e-11)
    assert_allclose(np.abs(np.sum(pairs.vectors * vectors, axis=0)), 1.0, atol=1e-8)
    assert_allclose(pairs.values, np.linalg.eigvalsh(M)[::-1][:count], atol=1e-13)
    assert_orthonormal(pairs.vectors)


def test_both_ways_through_lapack_are_tried():
    assert 1 < MANY * 12 < 12


@pytest.mark.parametrize("share", [0.3, 0.5, 0.75, 0.9, 0.9999999])
def test_a_share_of_the_trace(share):
    M = with_spectrum(FALLING)
    pairs = symmetric_pairs(M, Wanted(12, share))
    held = np.cumsum(FALLING) / FALLING.sum()
    assert pairs.values.size == 1 + int((held <= share).sum())
    assert pairs.values.sum() > share * np.trace(M)
    assert pairs.values[:-1].sum() <= share * np.trace(M)


@pytest.mark.parametrize("values", [[0.0], [3.0], [1.0] * 6, [4.0, 4.0, 1.0, 1.0, 0.0], [2.0, 0.0, 0.0, 0.0]])
def test_multiple_and_zero_eigenvalues(values):
    M = with_spectrum(values)
    pairs = symmetric_pairs(M, Wanted(len(values)))
    assert_allclose(pairs.values, values, atol=1e-14)
    assert_orthonormal(pairs.vectors)
    assert_allclose(true_residuals(M, pairs), 0.0, atol=1e-13)


def glued(n_copies, glue):
    """Return Wilkinson's matrix of 21 rows so many times, glued at the corners."""
    diagonal = np.tile(np.abs(np.arange(-10.0, 11.0)), n_copies)
    beside = np.ones(diagonal.size - 1)
    beside[20::21] = glue
    return np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("glue", [0.0, 1e-14, 1e-8, 1e-2])
@pytest.mark.parametrize("count", [1, 5, 20, 63])
def test_clusters_that_are_hard_to_tell_apart(count, glue, is_turned):
    M = glued(3, glue)
    if is_turned:
        Q = rotation(63)
        M = Q @ M @ Q.T
        M = (M + M.T) / 2.0
    pairs = symmetric_pairs(M, Wanted(count))
    assert_allclose(pairs.values, np.linalg.eigvalsh(M)[::-1][:count], atol=1e-12)
    assert_orthonormal(pairs.vectors, atol=1e-11)
    assert_honest(M, pairs, atol=1e-12)
    assert (pairs.residuals() <= 1e-12 * 63).all()


@pytest.mark.parametrize("size", [1, 2, 3])
def test_small_matrices_and_shares(size):
    M = with_spectrum(np.arange(size, 0, -1.0))
    for count in range(1, size + 1):
        assert_allclose(symmetric_pairs(M, Wanted(count)).values, np.arange(size, size - count, -1.0), atol=1e-13)
        share = (np.arange(size, 0, -1.0)[:count].sum() - 0.5) / np.trace(M)
        pairs = symmetric_pairs(M, Wanted(size, share))
        assert pairs.values.size == count
        assert pairs.vectors.shape == (size, count)
        assert_allclose(true_residuals(M, pairs), 0.0, atol=1e-13)


def test_no_pairs():
    pairs = symmetric_pairs(with_spectrum(FALLING), Wanted(0))
    assert (pairs.values.shape, pairs.vectors.shape, pairs.residuals().shape) == ((0,), (12, 0), (0,))


@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_matrices_of_any_size(factor):
    M = with_spectrum(FALLING) * factor
    pairs = symmetric_pairs(M, Wanted(3))
    assert_allclose(pairs.values / factor, FALLING[:3], rtol=1e-12)
    assert_orthonormal(pairs.vectors)


@pytest.mark.parametrize("count", [2, 12])
def test_reported_residuals_are_the_true_ones(count):
    M = with_spectrum(FALLING) * 1e6
    pairs = symmetric_pairs(M, Wanted(count))
    assert_honest(M, pairs, atol=1e-9)
    assert (pairs.residuals() <= 1e-8).all()


def test_the_lectures_matrix():
    pairs = symmetric_pairs(np.array([[1.5, 0.5], [0.5, 1.5]]), Wanted(2))
    assert_allclose(pairs.values, [2.0, 1.0])
    assert_allclose(np.abs(pairs.vectors), np.sqrt(0.5))


def test_the_matrix_is_not_written_to():
    M = with_spectrum(FALLING)
    before = M.copy()
    symmetric_pairs(M, Wanted(3))
    symmetric_pairs(M, Wanted(12, 0.5))
    assert_array_equal(M, before)


# ---- right angles and signs --------------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 9), data=st.data())
def test_orthonormal_columns_span_what_the_columns_before_did(seed, size, data):
    count = data.draw(st.integers(1, size))
    vectors = np.random.default_rng(seed).normal(size=(size, count))
    Q = orthonormal(vectors)
    assert_orthonormal(Q, atol=1e-12)
    R = Q.T @ vectors
    assert_allclose(np.tril(R, -1), 0.0, atol=1e-12)  # column j is made of the columns up to j
    assert (R.diagonal() > 0).all()
    assert_allclose(Q @ R, vectors, atol=1e-12)


def test_orthonormal_columns_stay_as_they_are():
    Q = rotation(7)[:, :4]
    assert_allclose(orthonormal(Q), Q, atol=1e-14)


@pytest.mark.parametrize("skew", [0.0, 1e-12, 1e-6, 1e-3, 0.1, 1.0])
@pytest.mark.parametrize("lengths", ["equal", "falling", "tiny"])
@pytest.mark.parametrize("seed", range(2))
def test_columns_are_straightened_as_by_a_factorisation(seed, lengths, skew):
    """Nearly at right angles or not at all, of one length or of many."""
    factors = {"equal": np.ones(6), "falling": 0.5 ** np.arange(6.0), "tiny": 1e-3 ** np.arange(6.0)}[lengths]
    Q = rotation(30, seed)[:, :6]
    vectors = (Q + skew * np.random.default_rng(seed).normal(size=Q.shape)) * factors
    V = straightened(vectors)
    assert_orthonormal(V, atol=1e-13)
    expected = orthonormal(vectors)
    assert_same_span(V, expected, atol=1e-9)
    assert_allclose(V, expected, atol=10.0 * skew + 1e-13)  # each column stays where it was, but for the angles


@pytest.mark.parametrize("length", [1e-3, 1e-5, 1e-8])
def test_a_short_column_does_not_turn_the_long_ones(length):
    """It is mostly rounding, and may lean to any side; the others are as good as they are long."""
    Q = rotation(30)[:, :6]
    vectors = Q.copy()
    vectors[:, 5] = length * (Q[:, 5] + 5e-3 * Q[:, 0] - 4e-3 * Q[:, 2])
    V = straightened(vectors)
    assert_orthonormal(V, atol=1e-12)
    assert_allclose(V[:, :5], Q[:, :5], atol=1e-8 + length * 1e-2)


def test_no_columns_are_straight():
    assert straightened(np.empty((5, 0))).shape == (5, 0)


def test_straightened_columns_have_the_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(pairs_of_core, "PRODUCT_ROWS", 7)
    vectors = rotation(30)[:, :4] + 1e-4 * np.random.default_rng(0).normal(size=(30, 4))
    one, *others = (straightened(vectors, n_threads) for n_threads in THREADS)
    assert_orthonormal(one, atol=1e-13)
    for other in others:
        assert_array_equal(other, one)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(seed=st.integers(0, 2**32 - 1))
def test_the_largest_entry_of_a_component_is_positive(dtype, seed):
    components = np.random.default_rng(seed).normal(size=(4, 5)).astype(dtype)
    chosen = signed(components)
    assert chosen.dtype == dtype
    for v, old in zip(chosen, components, strict=True):
        assert v[np.abs(v).argmax()] > 0
        assert (v == old).all() or (v == -old).all()
    assert_array_equal(signed(-components), chosen)


def test_signs_of_ties_and_zeros():
    assert_array_equal(signed(np.array([[-0.5, 0.5], [0.5, -0.5], [0.0, 0.0]])), [[0.5, -0.5], [0.5, -0.5], [0.0, 0.0]])


# ---- the null space ----------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 12), data=st.data())
def test_null_directions_are_at_right_angles_to_all(seed, size, data):
    n_given = data.draw(st.integers(0, size))
    count = data.draw(st.integers(n_given, size))
    given_vectors = rotation(size, seed)[:, :n_given]
    vectors = with_null_directions(given_vectors, count)
    assert vectors.shape == (size, count)
    assert_orthonormal(vectors, atol=1e-10)
    assert_array_equal(vectors[:, :n_given], given_vectors)


@pytest.mark.parametrize("seed", range(5))
def test_null_directions_follow_from_the_space_alone(seed):
    vectors = rotation(8, seed)[:, :3]
    turned = vectors @ rotation(3, seed + 1)
    assert_allclose(with_null_directions(turned, 8)[:, 3:], with_null_directions(vectors, 8)[:, 3:], atol=1e-12)


def test_null_directions_are_axes_where_these_are_free():
    assert_allclose(with_null_directions(np.empty((3, 0)), 3), np.eye(3))
    second = np.eye(4)[:, [1]]
    assert_allclose(with_null_directions(second, 4), np.eye(4)[:, [1, 0, 2, 3]])


def test_a_null_direction_that_no_axis_is_close_to():
    """The last direction is (1, …, 1)/√400: every axis is far from it, so the bar is lowered until one passes."""
    size = 400
    ones = np.full((size, 1), size**-0.5)
    others = with_null_directions(ones, size)[:, 1:]
    vectors = with_null_directions(others, size)
    assert_orthonormal(vectors, atol=1e-10)
    assert_allclose(np.abs(vectors[:, -1]), size**-0.5, atol=1e-10)


def test_null_pairs_take_the_place_of_rounding():
    M = with_spectrum([4.0, 1.0, 0.0, 0.0, 0.0])
    exact = symmetric_pairs(M, Wanted(4))
    rounded = exact._replace(values=np.array([4.0, 1.0, 3e-16, -2e-16]))
    pairs = with_null_pairs(rounded, 5, nothing=1e-15)
    assert_array_equal(pairs.values, [4.0, 1.0, 0.0, 0.0, 0.0])
    assert_array_equal(pairs.residuals()[:2], exact.residuals()[:2])
    assert_orthonormal(pairs.vectors)
    assert_array_equal(pairs.vectors[:, :2], exact.vectors[:, :2])
    assert_allclose(pairs.residuals()[2:], 4e-15)  # as long as what was called nothing
    assert (true_residuals(M, pairs)[2:] <= pairs.residuals()[2:] + 1e-14).all()
    assert_same_span(pairs.vectors, np.eye(5))


def test_pairs_that_are_real_stay_as_they_are():
    exact = symmetric_pairs(with_spectrum(FALLING), Wanted(12))
    pairs = with_null_pairs(exact, 4, nothing=1e-12)
    for got, whole, first in zip(pairs, exact, exact.first(4), strict=True):
        assert_array_equal(got, whole[..., :4])
        assert_array_equal(got, first)


def test_a_matrix_of_zeros_has_the_axes():
    pairs = with_null_pairs(Pairs(np.zeros(2), rotation(3)[:, :2], np.zeros((3, 2))), 3, nothing=1e-15)
    assert_array_equal(pairs.values, np.zeros(3))
    assert_array_equal(pairs.vectors, np.eye(3))
