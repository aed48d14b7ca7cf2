"""What is known of a node before it is split: weight, impurity and value of its rows, and whether it stays a leaf."""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit_no_refcount, njit_refcount
from eigenwood.core.sorting import sorted_order
from eigenwood.core.tree.criteria import (
    ABSOLUTE_ERROR,
    SQUARED_ERROR,
    cost,
    regression_impurity,
    squared_part,
    tie_of,
    weighted_median,
)
from eigenwood.core.tree.types import NodeRows, NodeStats
from eigenwood.core.tree.workspace import MANY, TURNS

DECREASE_ROUNDING = 1e-15  # a decrease may fall short of the wanted one by this, or by what makes two cuts equal


@njit_no_refcount
def sample_of(room, rows):
    """Return the rows of a node with the beginning of a sample of at least as many: where their targets are."""
    n = rows.size
    return NodeRows(
        rows,
        room.class_codes[: min(n, room.class_codes.shape[0])],
        room.y[: min(n, room.y.shape[0])],
        room.weights[: min(n, room.weights.size)],
        room.ranks[: min(n, room.ranks.shape[0])],
        room.ordered[: min(n, room.ordered.shape[0])],
    )


@njit_no_refcount
def fill_sample(sample, target):
    """Write the targets of the rows of a sample, and the ranks of y if there is room for them."""
    gather(
        target.class_codes, target.y, target.weights, sample.rows, sample.class_codes, sample.y, sample.weights
    )  # fmt: skip
    if sample.ranks.shape[0] > 0:
        write_ranks(sample.y, sample.ranks, sample.ordered)


@njit_refcount
def write_ranks(y, ranks, ordered):
    """Write the places of y by size, and y in that order, for each output.

    One in the middle is taken off them, so that no error is lost in the difference of large sums.
    """
    for o in range(y.shape[1]):
        by_size = sorted_order(y[:, o].copy())
        middle = y[by_size[by_size.size // 2], o]
        for i in range(y.shape[0]):
            ranks[by_size[i], o] = i
            ordered[i, o] = y[by_size[i], o] - middle


@njit_no_refcount
def gather(all_class_codes, all_y, all_weights, rows, class_codes, y, weights):
    """Write the targets of some rows."""
    for i in range(weights.size):
        weights[i] = all_weights[np.uint64(rows[i])]
    for i in range(class_codes.shape[0]):
        for o in range(class_codes.shape[1]):
            class_codes[i, o] = all_class_codes[np.uint64(rows[i]), o]
    for i in range(y.shape[0]):
        for o in range(y.shape[1]):
            y[i, o] = all_y[np.uint64(rows[i]), o]


@njit_no_refcount
def class_node_stats(class_codes, weights, starts, criterion, sums, span, value):
    """Return what is known of a node, and whether it is pure; its ``value`` is the shares of the classes."""
    sums[:] = 0.0
    for o in range(starts.size - 1):
        first = starts[o]
        for i in range(class_codes.shape[0]):
            sums[first + class_codes[i, o]] += weights[i] if weights.size > 0 else 1.0
    return class_node_stats_of_sums(sums, starts, criterion, span, value)


@njit_no_refcount
def class_node_stats_of_sums(sums, starts, criterion, span, value):
    """Return what is known of a node with these weights of the classes, and whether it is pure."""
    n_sums, weight = sums.size, 0.0
    for k in range(starts[1]):
        weight += sums[k]
    n_present = 0
    for k in range(n_sums):
        n_present += sums[k] > 0.0
        value[k] = sums[k] / weight
    if span.lower > -np.inf or span.upper < np.inf:
        value[1] = min(max(value[1], span.lower), span.upper)
        value[0] = 1.0 - value[1]
    pure, total = n_present == starts.size - 1, cost(sums, starts, criterion)
    impurity = 0.0 if pure else max(total / weight, 0.0)
    return NodeStats(impurity, weight, total, 0.0, span.lower, span.upper, span.seed), pure


@njit_no_refcount
def regression_node_stats(y, weights, starts, criterion, sums, span, value):
    """Return what is known of a regression tree's node, and whether it is pure; its ``value`` is a mean or median."""
    if criterion == SQUARED_ERROR:
        return squared_error_node_stats(y, weights, sums, span, value)
    n_outputs, weight, impurity, pure = y.shape[1], total_weight(weights, y.shape[0]), 0.0, True
    sums[0] = weight
    for o in range(n_outputs):
        total, least, greatest = sum_and_range(y[:, o], weights)
        pure = pure and least == greatest
        middle = least if least == greatest else total / weight
        if criterion == ABSOLUTE_ERROR:
            middle = median_of(y[:, o], weights)
        impurity += regression_impurity(y[:, o], weights, middle, criterion) / n_outputs
        sums[1 + o], value[o] = total, min(max(middle, span.lower), span.upper)
    impurity = 0.0 if pure else impurity
    total = weight * impurity if criterion == ABSOLUTE_ERROR else cost(sums, starts, criterion)
    return NodeStats(impurity, weight, total, 0.0, span.lower, span.upper, span.seed), pure


@njit_no_refcount
def squared_error_node_stats(y, weights, sums, span, value):
    """Return what is known of a node by the squared error, and whether it is pure; its ``value`` is the mean of y.

    The mean is taken off y, so that no gain is lost in the difference of large sums.
    """
    n_outputs, weight, impurity, pure, centre = y.shape[1], total_weight(weights, y.shape[0]), 0.0, True, 0.0
    sums[0], total_cost = weight, 0.0
    for o in range(n_outputs):
        total, least, greatest = sum_and_range(y[:, o], weights)
        pure = pure and least == greatest
        middle = least if least == greatest else total / weight
        centre, squares, total = middle, 0.0, 0.0
        for i in range(y.shape[0]):
            own, rest = weights[i] if weights.size > 0 else 1.0, y[i, o] - centre
            y[i, o] = rest
            total += own * rest
            squares += own * rest * rest
        # the mean was rounded: what it left is small, and known exactly
        impurity += max(squares - squared_part(total, weight), 0.0) / weight / n_outputs
        middle += total / weight
        total_cost -= squared_part(total, weight)
        sums[1 + o], value[o] = total, min(max(middle, span.lower), span.upper)
    impurity = 0.0 if pure else impurity
    return NodeStats(impurity, weight, total_cost / n_outputs, centre, span.lower, span.upper, span.seed), pure


@njit_no_refcount
def total_weight(weights, n_rows):
    """Return the weight of a node with these weights, or of so many rows if there are none."""
    if weights.size == 0:
        return float(n_rows)
    total = 0.0
    for i in range(n_rows):
        total += weights[i]
    return total


@njit_no_refcount
def sum_and_range(y, weights):
    """Return the weighted sum of y, the least and the greatest."""
    total, least, greatest = 0.0, y[0], y[0]
    for i in range(y.size):
        total += y[i] * (weights[i] if weights.size > 0 else 1.0)
        least, greatest = min(least, y[i]), max(greatest, y[i])
    return total, least, greatest


@njit_refcount
def median_of(y, weights):
    """Return the median of a y that is not contiguous."""
    return weighted_median(y.copy(), weights)


@njit_no_refcount
def weight_of(weights, rows):
    """Return the weight of some rows."""
    if weights.size == 0:
        return float(rows.size)
    total = 0.0
    for row in rows:
        total += weights[row]
    return total


@njit_refcount
def value_of(target, rows, criterion):
    """Return the mean (or median) of y, or the share of the second class, of some rows."""
    if criterion == ABSOLUTE_ERROR:
        weights = target.weights[rows] if target.weights.size > 0 else target.weights
        return weighted_median(target.y[rows, 0], weights)
    total, weight = 0.0, 0.0
    for row in rows:
        w = target.weights[row] if target.weights.size > 0 else 1.0
        weight += w
        total += w * (target.class_codes[row, 0] if target.class_codes.shape[0] > 0 else target.y[row, 0])
    return total / weight


@njit_no_refcount
def stays_leaf(stats, span, params):
    """Return whether a node that is not pure is left alone whatever could be asked of it."""
    n_rows = span.end - span.start
    if (
        stats.impurity <= params.max_leaf_impurity
        or span.depth >= params.max_depth
        or n_rows < params.min_samples_split
    ):
        return True
    return stats.weight < 2.0 * params.min_weight_leaf


@njit_no_refcount
def add_class_codes(class_codes, weights, n, partial_totals, total):
    """Add the whole weights of the classes up, in turns on different lines: a sum is not to wait for the one before."""
    n_turns = TURNS if n > MANY else 1
    for t in range(n_turns):
        for k in range(total.size):
            partial_totals[t, k] = 0.0
    for i in range(n):
        partial_totals[np.uint64(i & (n_turns - 1)), class_codes[i, 0]] += weights[i]
    for k in range(total.size):
        total[k] = 0.0
        for t in range(n_turns):
            total[k] += partial_totals[t, k]


@njit_no_refcount
def gains_little(cost, stats, params):
    """Return whether a split decreases the impurity by less than is wanted."""
    rounding = max(DECREASE_ROUNDING, tie_of(stats) / params.total_weight)
    return (stats.cost - cost) / params.total_weight + rounding < params.min_decrease
