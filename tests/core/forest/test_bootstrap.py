"""Rows drawn with replacement: against a plain loop, and against chance."""

import numpy as np
import pytest
from scipy.stats import chisquare

from eigenwood.core.distinct import splitmix64
from eigenwood.core.forest.bootstrap import GOLDEN, Bootstrap, drawn_counts, drawn_rows

NO_WEIGHTS = np.empty(0)
MASK = (1 << 64) - 1


def naive_counts(seed, n_draws, weights):
    """Walk along the stretches of the rows for every draw."""
    counts, state = [0] * len(weights), int(splitmix64(np.uint64(seed)))
    for _ in range(n_draws):
        state = (state + int(GOLDEN)) & MASK
        point = (int(splitmix64(np.uint64(state))) >> 11) / 2**53 * sum(weights)
        row = 0
        while row < len(weights) - 1 and point >= sum(weights[: row + 1]):
            row += 1
        counts[row] += 1
    return counts


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weights", [[1.0] * 7, [1.0, 2.0, 1.0, 4.0], [0.25, 0.5, 8.0]], ids=str)
def test_equals_the_plain_loop(seed, weights):
    ends = NO_WEIGHTS if set(weights) == {1.0} else np.cumsum(weights)
    assert drawn_counts(np.uint64(seed), 50, ends, len(weights)).tolist() == naive_counts(seed, 50, weights)


def test_weights_of_one_are_no_weights():
    for seed in range(5):
        plain = drawn_counts(np.uint64(seed), 1000, NO_WEIGHTS, 100)
        np.testing.assert_array_equal(drawn_counts(np.uint64(seed), 1000, np.arange(1.0, 101.0), 100), plain)


def test_a_row_of_weight_three_is_three_rows_side_by_side():
    for seed in range(5):
        apart = drawn_counts(np.uint64(seed), 60, NO_WEIGHTS, 6)
        joined = drawn_counts(np.uint64(seed), 60, np.cumsum([1.0, 3.0, 2.0]), 3)
        np.testing.assert_array_equal(np.add.reduceat(apart, [0, 1, 4]), joined)


def test_more_draws_begin_with_the_same():
    few, many = (drawn_counts(np.uint64(3), n_draws, NO_WEIGHTS, 20) for n_draws in (40, 100))
    assert (few <= many).all()
    assert (few.sum(), many.sum()) == (40, 100)


@pytest.mark.parametrize("weights", [np.ones(50), np.arange(1.0, 51.0)], ids=["even", "uneven"])
def test_rows_come_as_often_as_they_weigh(weights):
    counts = sum(drawn_counts(np.uint64(seed), 200, np.cumsum(weights), 50) for seed in range(200))
    assert chisquare(counts, weights / weights.sum() * counts.sum()).pvalue > 1e-3


def test_a_third_of_the_rows_is_left_out():
    shares = [(drawn_counts(np.uint64(seed), 1000, NO_WEIGHTS, 1000) == 0).mean() for seed in range(50)]
    assert np.mean(shares) == pytest.approx(np.exp(-1), abs=0.005)
    assert len(set(shares)) > 10


def test_seeds_that_are_neighbours_draw_other_rows():
    draws = {drawn_counts(np.uint64(seed), 30, NO_WEIGHTS, 30).tobytes() for seed in range(100)}
    assert len(draws) == 100


def test_a_weight_beside_which_others_are_nothing():
    counts = drawn_counts(np.uint64(0), 100, np.cumsum([1e-300, 1.0, 1e-300]), 3)
    assert counts.tolist() == [0, 100, 0]


@pytest.mark.parametrize("weights", [np.ones(9), np.arange(1.0, 10.0)], ids=["even", "uneven"])
def test_many_trees_draw_what_each_draws_alone(weights):
    ends, places = NO_WEIGHTS if (weights == 1.0).all() else np.cumsum(weights), np.random.default_rng(0).permutation(9)
    seeds = np.array([3, 5, 2**63], dtype=np.uint64)
    rows, counts, starts = drawn_rows(seeds, Bootstrap(20, ends, places))
    assert (starts[0], starts[-1]) == (0, rows.size)
    for t, seed in enumerate(seeds):
        alone = np.empty(9, dtype=np.int64)
        alone[places] = drawn_counts(seed, 20, ends, 9)
        own = slice(starts[t], starts[t + 1])
        np.testing.assert_array_equal(rows[own], np.flatnonzero(alone))
        np.testing.assert_array_equal(counts[own], alone[alone > 0])
