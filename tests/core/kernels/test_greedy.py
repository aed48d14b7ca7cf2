"""Landmarks by what they explain: as the definition chooses them, with less error than drawn ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.kernels import greedy
from eigenwood.core.kernels.blocks import gram_symmetric
from eigenwood.core.kernels.functions import RBF, Kernel
from eigenwood.core.kernels.greedy import greedy_landmarks, order_by_gain
from eigenwood.core.kernels.low_rank import Rank, given_pivots, random_pivots, ranked_pivots
from eigenwood.core.kernels.matrix import kernel_matrix
from tests.naive import greedy as naive

KERNEL = Kernel(RBF, 0.3)


def rows(seed: int, n_rows: int = 90) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n_rows, 3))


def error_after(steps) -> float:
    *_, last = steps
    return last.result.trace_error()


@pytest.mark.parametrize("panel", [1, 5, 32])
@pytest.mark.parametrize("seed", range(3))
def test_the_order_is_that_of_the_definition(seed, panel, monkeypatch):
    monkeypatch.setattr(greedy, "PANEL", panel)
    K = kernel_matrix(rows(seed), KERNEL)
    *_, drawn = random_pivots(K, Rank(24), seed)
    places, gains = order_by_gain(drawn.result, 90, 16, n_threads=2)
    chosen, expected = naive.greedy_landmarks(gram_symmetric(rows(seed), KERNEL), drawn.result.pivots, 16)
    assert_array_equal(drawn.result.pivots[places], chosen)
    assert_allclose(gains, expected, rtol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gains_of_all_rows_are_what_the_trace_loses(dtype):
    K = kernel_matrix(rows(3).astype(dtype), KERNEL)
    ranking = greedy_landmarks(K, 12, seed=0)
    *_, found = given_pivots(K, ranking.rows, Rank(12))
    assert_allclose(-np.diff(found.result.errors), ranking.gains, rtol=1e-3 if dtype == np.float32 else 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_chosen_rows_leave_less_than_drawn_ones(seed, monkeypatch):
    """Also where only some rows are sampled."""
    monkeypatch.setattr(greedy, "FEWEST_SAMPLED", 400)
    K, rank = kernel_matrix(rows(seed, 1200), KERNEL), Rank(60)
    chosen = error_after(ranked_pivots(K, greedy_landmarks(K, 60, seed), rank, seed))
    assert chosen < error_after(random_pivots(K, rank, seed))


def test_rows_that_no_sampled_row_stands_for_are_drawn(monkeypatch):
    """Ten rows far from all others and from each other, of which a sample of 300 among 3,000 has one or two."""
    monkeypatch.setattr(greedy, "FEWEST_SAMPLED", 300)
    X = rows(5, 3000)
    X[:, 1:] *= 0.01
    X[:10] = 100.0 * np.arange(1, 31).reshape(10, 3)
    K = kernel_matrix(X, KERNEL)
    ranking = greedy_landmarks(K, 60, 0)
    *_, last = ranked_pivots(K, ranking, Rank(60), seed=0)
    assert np.isin(np.arange(10), ranking.rows).sum() < 5
    assert np.isin(np.arange(10), last.result.pivots).all()


@pytest.mark.parametrize("n_threads", [2, 8])
def test_threads_change_no_bit(n_threads):
    K = kernel_matrix(rows(0, 1500), KERNEL)
    alone, beside = greedy_landmarks(K, 50, 0), greedy_landmarks(K, 50, 0, n_threads)
    assert_array_equal(alone.rows, beside.rows)
    assert_array_equal(alone.gains, beside.gains)


def test_a_kernel_of_few_columns_has_few_landmarks():
    X = np.repeat(rows(0, 4), 50, axis=0)
    assert greedy_landmarks(kernel_matrix(X, KERNEL), 20, seed=0).rows.size == 4


def test_a_matrix_in_hand_gives_the_same_landmarks(monkeypatch):
    monkeypatch.setattr(greedy, "FEWEST_SAMPLED", 50)
    X = rows(1)
    of_rows = greedy_landmarks(kernel_matrix(X, KERNEL), 10, seed=0)
    in_hand = greedy_landmarks(kernel_matrix(gram_symmetric(X, KERNEL), None), 10, seed=0)
    assert_array_equal(of_rows.rows, in_hand.rows)
