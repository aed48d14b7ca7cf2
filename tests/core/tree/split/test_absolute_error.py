"""The absolute error of every cut: the rows on both sides, their medians, and how far they are off."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.tree.split.absolute_error import add, cut_costs, first_above, rows_by_bin
from tests.core.tree import cases
from tests.naive import tree as naive


def lined_rows(seed, n_outputs=1, ties=True):
    """Rows on a few lines, the order in which the lines are cut, and their amounts and weights."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(2, 40))
    _, bins = np.unique(rng.integers(12, size=n_rows), return_inverse=True)
    order = rng.permutation(bins.max() + 1)
    y = cases.counts(rng, n_rows, n_outputs) if ties else cases.real_targets(rng, n_rows, n_outputs)
    return bins, order, y, cases.weights(rng, n_rows)


def ranked(y):
    """The place of each amount among the amounts by size, and these."""
    order = np.argsort(y, axis=0, kind="stable")
    return np.argsort(order, axis=0), np.take_along_axis(y, order, axis=0)


def error_of_both_sides(bins, left_lines, y, w):
    is_left = np.isin(bins, left_lines)
    return sum(
        w[side].sum() * naive.absolute_error(y[side, o], w[side])
        for side in (is_left, ~is_left)
        for o in range(y.shape[1])
        if side.any()
    )


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_equals_the_textbook(seed, weighted, n_outputs, ties):
    bins, order, y, w = lined_rows(seed, n_outputs, ties)
    w = w if weighted else np.ones(len(y))
    found = cut_costs(bins, order, *ranked(y), w if weighted else np.empty(0), False)
    expected = [error_of_both_sides(bins, order[: place + 1], y, w) for place in range(order.size)]
    assert_allclose(found[:-1], expected[:-1], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_the_last_line_may_go_left_in_any_case(seed, weighted):
    bins, order, y, w = lined_rows(seed)
    w = w if weighted else np.ones(len(y))
    found = cut_costs(bins, order, *ranked(y), w if weighted else np.empty(0), True)
    expected = [error_of_both_sides(bins, [order[-1], *order[: place + 1]], y, w) for place in range(order.size - 2)]
    assert_allclose(found[: order.size - 2], expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_a_weight_is_the_row_given_again(seed):
    bins, order, y, _ = lined_rows(seed)
    times = np.random.default_rng(seed).integers(1, 4, size=len(y))
    weighted = cut_costs(bins, order, *ranked(y), times.astype(float), False)
    repeated = cut_costs(np.repeat(bins, times), order, *ranked(np.repeat(y, times, axis=0)), np.empty(0), False)
    assert_allclose(weighted, repeated, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_rows_stand_in_the_order_of_their_lines(seed):
    bins, order, _, _ = lined_rows(seed)
    rows, ends = rows_by_bin(bins, order)
    assert_array_equal(np.sort(rows), np.arange(bins.size))
    for place, line in enumerate(order):
        assert_array_equal(rows[ends[place] : ends[place + 1]], np.flatnonzero(bins == line))


@pytest.mark.parametrize("n_rows", [1, 2, 5, 8, 13, 24])
def test_the_place_above_a_bar_is_found_wherever_it_is(n_rows):
    w = np.random.default_rng(n_rows).integers(1, 4, size=n_rows).astype(float)
    weight_tree, y_tree = np.zeros(n_rows + 1), np.zeros(n_rows + 1)
    for rank in range(n_rows):
        add(weight_tree, y_tree, rank, w[rank], 1.0)
    for bar in np.arange(0.0, w.sum(), 0.5):
        assert first_above(weight_tree, bar) == np.argmax(np.cumsum(w) > bar)
