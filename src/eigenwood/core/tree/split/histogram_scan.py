"""The best cut of one column, from the sums of its codes.

    codes that occur      3    7    8   20   ▒▒          ▒▒: missing
    rows                  5    2    9    4    1
    a cut after 7         └─left─┘ └─right─┘  right, or left: both are tried

One pass over the codes finds the cut with the least cost of its two sides.

By the error and the absolute error there is often nothing to gain wherever a column is cut: most rows change nothing
in who is in the majority, or in the median. The first of such cuts would take one row off, and the next question
another one. So there a ``second`` cost decides: that of gini, or of the squared error.

A column of numbers with few codes for its rows, where there is one output, nothing to heed but the cost and no missing
value, is added up and passed in one go (``best_cut_of_histogram``): this is the way of most large nodes.

    code                  0     1     2     3     4
    sums of the classes   4|1   0|0   0|2   9|0   2|2
    a cut after 2         └─── left ────┘ └─ right ─┘
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit_no_refcount
from eigenwood.core.bits import ONE
from eigenwood.core.tree.criteria import (
    ABSOLUTE_ERROR,
    ERROR,
    GINI,
    SQUARED_ERROR,
    cost_of_two_means,
    gains_nothing,
    gini_of_sides,
    gini_pair,
    is_classifying,
    is_less,
    part_with,
    second_tie_of,
    side_cost,
    squared_error_of_sides,
    squared_sides,
    tie_of,
    two_sides_cost,
)
from eigenwood.core.tree.split.histogram import code_at, code_of


@njit_no_refcount
def keeps_order(left_value, right_value, sign, lower, upper):
    """Return whether two values rise (or fall) as wanted and lie between the bounds."""
    if min(left_value, right_value) < lower or max(left_value, right_value) > upper:
        return False
    return (left_value - right_value) * sign <= 0.0


@njit_no_refcount
def is_unconstrained(params, sign):
    """Return whether every cut is allowed."""
    return params.min_samples_leaf == 1 and params.min_weight_leaf == 0.0 and sign == 0


class HistogramColumn(NamedTuple):
    """The codes of the first rows of a node in one column, to be added up."""

    columns: np.ndarray  # (n_columns, n_rows) a table by column …
    table: np.ndarray  # … or, if this is not empty, (n, n_columns) one of the rows at hand
    at: int  # which column
    width: int  # how many codes it has
    rows: np.ndarray  # the rows in ``columns``
    own: np.ndarray  # the same rows in ``table``
    n_rows: int


@njit_no_refcount
def best_class_cut(order, first, last, rules, unit):
    """Return the least cost of a cut after one of the places ``first`` to ``last`` of the bins, its second cost (0 if
    there is none) and that place.

    What goes left in any case stands in ``order.left``, which is overwritten. ``unit`` says that all weights are 1.
    """
    sums, bins, total, left = order.sums, order.bins, order.total, order.left
    params, node, starts, sign, logs = rules.params, rules.stats, rules.starts, rules.sign, rules.logs
    criterion, n_sums = params.criterion, total.size
    lower, upper, min_samples_leaf, min_weight = node.lower, node.upper, params.min_samples_leaf, params.min_weight_leaf
    free, tie, second_tie = is_unconstrained(params, sign), tie_of(node), second_tie_of(node, criterion)
    best, least_second, place = np.inf, 0.0, -1
    n_left, n_all = left[n_sums], left[n_sums + 1]
    n_outputs = starts.size - 1
    left_weight = right_weight = 0.0
    for p in range(last + 1):
        own_bin, found = bins[p], 0.0
        n_left += sums[own_bin, n_sums]
        for o in range(n_outputs):
            left_weight = right_weight = left_part = right_part = 0.0
            for k in range(starts[o], starts[o + 1]):
                a = left[k] + sums[own_bin, k]
                b = total[k] - a
                left[k] = a
                left_weight += a
                right_weight += b
                left_part = part_with(left_part, a, criterion, logs)
                right_part = part_with(right_part, b, criterion, logs)
            found += side_cost(left_weight, left_part, criterion, logs)
            found += side_cost(right_weight, right_part, criterion, logs)
        if found <= (best + tie) * n_outputs and p >= first:
            second = 0.0
            if criterion == ERROR and gains_nothing(found / n_outputs, node, tie):
                second = gini_of_sides(left, total, starts)
            if not is_less(found / n_outputs, second, best, least_second, tie, second_tie):
                continue
            if not free:
                n_here = left_weight if unit else n_left
                if n_here < min_samples_leaf or n_all - n_here < min_samples_leaf:
                    continue
                if left_weight < min_weight or right_weight < min_weight:
                    continue
                if sign != 0 and not keeps_order(
                    left[1] / left_weight, (total[1] - left[1]) / right_weight, sign, lower, upper
                ):
                    continue
            best, least_second, place = found / n_outputs, second, p
    return best, least_second, place


@njit_no_refcount
def best_regression_cut(order, first, last, rules, known_costs):
    """Return the least cost of a cut for a regression criterion, its second cost and its place.

    ``known_costs`` are those of all cuts for the absolute error, and empty otherwise.
    """
    sums, bins, total, left = order.sums, order.bins, order.total, order.left
    params, node, sign = rules.params, rules.stats, rules.sign
    criterion, n_outputs = params.criterion, total.size - 1
    costs, lefts, rights = known_costs
    lower, upper, min_samples_leaf, min_weight = node.lower, node.upper, params.min_samples_leaf, params.min_weight_leaf
    free, tie, second_tie = is_unconstrained(params, sign), tie_of(node), second_tie_of(node, criterion)
    best, least_second, place = np.inf, 0.0, -1
    n_left, n_all = left[1 + n_outputs], left[2 + n_outputs]
    for p in range(last + 1):
        own_bin = bins[p]
        n_left += sums[own_bin, 1 + n_outputs]
        for k in range(1 + n_outputs):
            left[k] += sums[own_bin, k]
        a = left[0]
        b = total[0] - a
        found = costs[p] if costs.size > 0 else 0.0
        for o in range(n_outputs):
            found += cost_of_two_means(left[1 + o], a, total[1 + o] - left[1 + o], b, criterion)
        if found <= (best + tie) * n_outputs and p >= first:
            second = 0.0
            if criterion == ABSOLUTE_ERROR and gains_nothing(found / n_outputs, node, tie):
                second = squared_error_of_sides(left, total, n_outputs)
            if not is_less(found / n_outputs, second, best, least_second, tie, second_tie):
                continue
            if not free:
                if n_left < min_samples_leaf or n_all - n_left < min_samples_leaf or a < min_weight or b < min_weight:
                    continue
                if sign != 0 and not keeps_order(
                    lefts[p] if costs.size > 0 else left[1] / a + node.centre,
                    rights[p] if costs.size > 0 else (total[1] - left[1]) / b + node.centre,
                    sign,
                    lower,
                    upper,
                ):
                    continue
            best, least_second, place = found / n_outputs, second, p
    return best, least_second, place


@njit_no_refcount
def random_place(order, n_numbers, first_code, bin_of_code, sparse_code, common, first_value, lows, highs, draw):
    """Return the last place that lies below a random threshold between the least and the greatest value."""
    low = lows[first_value + code_of(order[0], first_code, bin_of_code, sparse_code, common)]
    high = highs[first_value + code_of(order[n_numbers - 1], first_code, bin_of_code, sparse_code, common)]
    share = np.float64(draw >> np.uint64(11)) / 9007199254740992.0  # 53 random bits
    threshold = low * (1.0 - share) + high * share
    for place in range(n_numbers - 2):
        if highs[first_value + code_of(order[place + 1], first_code, bin_of_code, sparse_code, common)] > threshold:
            return place
    return max(n_numbers - 2, 0)


@njit_no_refcount
def best_cut_of_sums(order, n_rows, has_missing, at, draw, known_costs, rules, unit):
    """Return the cost, the place and the side of the missing values of one feature's best cut.

    ``at`` is the only place to be looked at, or -1. The missing values are the last bin; they go right, then left, or
    as a random bit says. ``known_costs`` are for the absolute error, with the missing values right and left.
    """
    sums, bins, n_bins, total, left = order
    params, node = rules.params, rules.stats
    right_costs, left_costs = known_costs
    classifying, n_sums = is_classifying(params.criterion), total.size
    first, last, first_side, last_side = 0, n_bins - 2, 0, int(has_missing and n_bins > 2)
    if at >= 0:
        first = last = at
        first_side = last_side = int(draw & ONE) if last_side == 1 else 0
    best, least_second, place, missing_left = np.inf, 0.0, -1, -1
    tie, second_tie = tie_of(node), second_tie_of(node, params.criterion)
    for side in range(first_side, last_side + 1):
        for k in range(n_sums + 1):
            left[k] = sums[bins[n_bins - 1], k] if side == 1 else 0.0
        left[n_sums + 1] = n_rows
        if side == 1:
            last = min(last, n_bins - 3)
        if classifying:
            found, second, cut = best_class_cut(order, first, last, rules, unit)
        elif side == 1:
            found, second, cut = best_regression_cut(order, first, last, rules, left_costs)
        else:
            found, second, cut = best_regression_cut(order, first, last, rules, right_costs)
        if side == first_side or is_less(found, second, best, least_second, tie, second_tie):
            best, least_second, place, missing_left = found, second, cut, side if has_missing else -1
    return best, place, missing_left


@njit_no_refcount
def best_cut_of_histogram(column, targets, total, left, sums, node, criterion, logs):
    """Return the least cost of a cut, the codes on both sides of it (equal ones if the column does not vary), and -1
    for the side of missing rows. ``sums`` are all zero before and after.
    """
    n_sums, tie, width = total.size, tie_of(node), column.width
    if criterion == SQUARED_ERROR:
        add_targets(column, targets, sums)
    else:
        add_classes(column, targets, n_sums, sums)
    first, last = next_code(sums, 0, width, n_sums), last_code(sums, width, n_sums)
    if criterion == SQUARED_ERROR:
        cost, place = summed_targets(sums, first, last, node.weight, total[1], tie)
    elif criterion == GINI and n_sums == 2:
        cost, place = summed_pair(sums, first, last, total[0], total[1], tie)
    else:
        cost, place = summed_classes(sums, first, last, total, left, node.weight, tie, criterion, logs)
    above = next_code(sums, place + 1, width, n_sums) if last > first else place
    for i in range(first * n_sums, (last + 1) * n_sums):
        sums[i] = 0.0
    return cost, place, above, -1


@njit_no_refcount
def add_targets(column, targets, sums):
    """Add weights and weighted y up by code."""
    columns, table, at, rows, own, y, weights = (
        column.columns, column.table, column.at, column.rows, column.own, targets.y, targets.weights,
    )  # fmt: skip
    for i in range(column.n_rows):
        c = np.uint64(2 * code_at(columns, table, at, rows[i], own[i]))
        weight = weights[i] if weights.size > 0 else 1.0
        sums[c] += weight
        sums[c + np.uint64(1)] += weight * y[i, 0]


@njit_no_refcount
def add_classes(column, targets, n_classes, sums):
    """Add the weights of the classes up by code."""
    columns, table, at, rows, own = column.columns, column.table, column.at, column.rows, column.own
    class_codes, weights = targets.class_codes, targets.weights
    for i in range(column.n_rows):
        code = code_at(columns, table, at, rows[i], own[i])
        # without a sign: Numba need not ask whether a place is counted from the end
        sums[np.uint64(n_classes * code + class_codes[i, 0])] += weights[i] if weights.size > 0 else 1.0


@njit_no_refcount
def next_code(sums, first, width, n_sums):
    """Return the first code from ``first`` on that occurs."""
    i = first * n_sums
    while sums[i] <= 0.0 and i < width * n_sums - 1:
        i += 1
    return i // n_sums


@njit_no_refcount
def last_code(sums, width, n_sums):
    """Return the last code that occurs."""
    i = width * n_sums - 1
    while sums[i] == 0.0 and i > 0:
        i -= 1
    return i // n_sums


@njit_no_refcount
def summed_targets(sums, first, last, weight, total, tie):
    """Return the least cost of a cut, and the last code on the left of it."""
    best, bar, place, a, x = np.inf, np.inf, first, 0.0, 0.0
    for c in range(first, last):
        if sums[2 * c] == 0.0:
            continue
        a += sums[2 * c]
        x += sums[2 * c + 1]
        found = squared_sides(x, a, total - x, weight - a)
        if found < bar:
            best, bar, place = found, found - tie, c
    return best, place


@njit_no_refcount
def summed_pair(sums, first, last, total_a, total_b, tie):
    """Return the least cost of a cut of two classes, and the last code on the left of it."""
    best, bar, place, a, b = np.inf, np.inf, first, 0.0, 0.0
    for c in range(first, last):
        a += sums[2 * c]
        b += sums[2 * c + 1]
        found = gini_pair(a, b, total_a - a, total_b - b)
        if found < bar:
            best, bar, place = found, found - tie, c
    return best, place


@njit_no_refcount
def summed_classes(sums, first, last, total, left, weight, tie, criterion, logs):
    """Return the least cost of a cut of several classes, and the last code on the left of it."""
    best, bar, place, n_classes = np.inf, np.inf, first, total.size
    for k in range(n_classes):
        left[k] = 0.0
    for c in range(first, last):
        a, here, left_part, right_part = 0.0, 0.0, 0.0, 0.0
        for k in range(n_classes):
            own = sums[np.uint64(n_classes * c + k)]
            here += own
            left[k] += own
            a += left[k]
            left_part = part_with(left_part, left[k], criterion, logs)
            right_part = part_with(right_part, total[k] - left[k], criterion, logs)
        if here > 0.0:
            found = two_sides_cost(a, weight - a, left_part, right_part, criterion, logs)
            if found < bar:
                best, bar, place = found, found - tie, c
    return best, place
