"""The best cut of one column of numbers, from its rows in the order of their codes.

Where a node has few rows for each code, adding them up costs more than it saves. The rows are put in order (a few by
insertion, many by counting) and go from right to left one by one; the parts of the impurity change in one place.

    code      3  3  7  8  8  8 20 ▒▒          ▒▒: missing, the last code there is
    class     a  b  a  b  b  a  b  a
              └left─┘ └─── right ───┘         a cut is looked at where the code changes
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit_no_refcount
from eigenwood.core.bits import ONE, taken_out, word_count
from eigenwood.core.tree.criteria import (
    GINI,
    SQUARED_ERROR,
    gini_pair,
    part_with,
    side_cost,
    squared_sides,
    tie_of,
    x_log_x,
)
from eigenwood.core.tree.split.histogram_scan import is_unconstrained, keeps_order
from eigenwood.core.tree.split.sizes import FEW_BITS, FEW_ROWS

# of a cut: what lies left of it (all, its part of the impurity, the second class), what it costs, and where it is
WEIGHT, PART, RIGHT_PART, SECOND, COST, PLACE = range(6)


class SortedColumn(NamedTuple):
    """The rows of a node in the order of their codes in one column, those with a missing number last."""

    keys: np.ndarray  # the codes …
    places: np.ndarray  # … and the places of their rows
    n_rows: int
    n_numbers: int  # rows with a number
    cuts: np.ndarray  # (6, n_rows) room for the cuts: WEIGHT … PLACE


@njit_no_refcount
def order_by_insertion(columns, at, rows, keys, places):
    """Write the codes of a column in order, and the places of their rows, by insertion."""
    for i in range(rows.size):
        key, j = (np.int32(columns[at, rows[i]]) << FEW_BITS) | i, i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key
    for j in range(rows.size):
        places[j] = keys[j] & (FEW_ROWS - 1)
        keys[j] >>= FEW_BITS


@njit_no_refcount
def order_by_counting(columns, at, n_codes, rows, counts, bits, bins, keys, places):
    """Write the codes of a column in order, and the places of their rows, by counting.

    ``counts`` and ``bits`` are all zero before and after.
    """
    for i in range(rows.size):
        code = columns[at, rows[i]]
        counts[code] += 1
        bits[code >> 6] |= ONE << np.uint64(code & 63)
    n_bins, place = taken_out(bits, word_count(n_codes), bins), 0
    for p in range(n_bins):
        n_here = counts[bins[p]]
        counts[bins[p]] = place
        place += n_here
    for i in range(rows.size):
        code = columns[at, rows[i]]
        j = counts[code]
        counts[code] = j + 1
        keys[j], places[j] = code, i
    for p in range(n_bins):
        counts[bins[p]] = 0


@njit_no_refcount
def number_count(keys, n_rows, missing_key):
    """Return how many of the rows have a number: the missing ones come last."""
    n_numbers = n_rows
    while n_numbers > 0 and keys[n_numbers - 1] == missing_key:
        n_numbers -= 1
    return n_numbers


@njit_no_refcount
def best_cut_of_sorted_rows(column, targets, total, left, rules):
    """Return the least cost of a cut, the place of the last number that goes left, and the side of the missing rows."""
    n_missing, missing_left = column.n_rows - column.n_numbers, -1
    best, place = cut_of_order(column, 0, targets, total, left, rules)
    if n_missing > 0:
        missing_left = 0
        if column.keys[0] != column.keys[column.n_numbers - 1]:
            found, at = cut_of_order(column, n_missing, targets, total, left, rules)
            if found < best - tie_of(rules.stats):
                best, place, missing_left = found, at, 1
    return best, place, missing_left


@njit_no_refcount
def cut_of_order(column, n_first, targets, total, left, rules):
    """Return the least cost of a cut and its place, when the last ``n_first`` rows go left before all others.

    The rows are passed once for the sums and parts of each cut; the costs, with their divisions, are then computed
    for many cuts at a time.
    """
    n_rows, n_numbers, cuts = column.n_rows, column.n_numbers, column.cuts
    params, node, sign, logs = rules.params, rules.stats, rules.sign, rules.logs
    criterion, pair = params.criterion, params.criterion == GINI and total.size == 2
    # the last number is cut off only from missing ones on the other side
    n_cuts = n_numbers if n_first == 0 and n_numbers < n_rows else n_numbers - 1
    if criterion == SQUARED_ERROR:
        n = pass_targets(column, n_first, n_cuts, targets)
        write_regression_costs(cuts, n, node.weight, total[1])
    elif pair:
        n = pass_pair(column, n_first, n_cuts, targets)
        write_pair_costs(cuts, n, total[0], total[1])
    else:
        n = pass_classes(column, n_first, n_cuts, targets, total, left, criterion, logs)
        write_class_costs(cuts, n, node.weight, criterion, logs)
    free, tie, best, place = is_unconstrained(params, sign), tie_of(node), np.inf, -1
    valued = PART if criterion == SQUARED_ERROR or pair else SECOND
    for p in range(n):
        if cuts[COST, p] < best - tie:
            j = int(cuts[PLACE, p])
            if not free and not is_allowed(cuts[WEIGHT, p], cuts[valued, p], n_first + j + 1, n_rows, total, rules):
                continue
            best, place = cuts[COST, p], j
    return best, place


@njit_no_refcount
def is_allowed(left_weight, left_sum, n_left, n_rows, total, rules):
    """Return whether both sides of a cut are large enough and their values (of the second class) in the right order."""
    params, node, sign = rules.params, rules.stats, rules.sign
    right_weight = node.weight - left_weight
    if n_left < params.min_samples_leaf or n_rows - n_left < params.min_samples_leaf:
        return False
    if left_weight < params.min_weight_leaf or right_weight < params.min_weight_leaf:
        return False
    if sign == 0:
        return True
    left_value, right_value = left_sum / left_weight, (total[1] - left_sum) / right_weight
    return keeps_order(left_value + node.centre, right_value + node.centre, sign, node.lower, node.upper)


@njit_no_refcount
def is_cut(keys, j, n_numbers, step, n_first):
    """Return whether the code changes after a row, so that a cut can be made there."""
    return step >= n_first and (j + 1 >= n_numbers or keys[j] != keys[j + 1])


@njit_no_refcount
def pass_targets(column, n_first, n_cuts, targets):
    """Write the weight and the weighted y on the left of each cut, and return their number."""
    keys, places, _, n_numbers, cuts = column
    y, weights = targets.y, targets.weights
    n, left_weight, left_part = 0, 0.0, 0.0
    for step in range(n_first + n_cuts):
        j = n_numbers + step if step < n_first else step - n_first
        weight = weights[places[j]] if weights.size > 0 else 1.0
        left_weight += weight
        left_part += weight * y[places[j], 0]
        cuts[WEIGHT, n], cuts[PART, n], cuts[PLACE, n] = left_weight, left_part, j
        n += is_cut(keys, j, n_numbers, step, n_first)
    return n


@njit_no_refcount
def pass_pair(column, n_first, n_cuts, targets):
    """Write the weight and that of the second class on the left of each cut, and return their number."""
    keys, places, _, n_numbers, cuts = column
    class_codes, weights = targets.class_codes, targets.weights
    n, left_weight, left_part = 0, 0.0, 0.0
    for step in range(n_first + n_cuts):
        j = n_numbers + step if step < n_first else step - n_first
        weight = weights[places[j]] if weights.size > 0 else 1.0
        left_weight += weight
        left_part += weight * class_codes[places[j], 0]
        cuts[WEIGHT, n], cuts[PART, n], cuts[PLACE, n] = left_weight, left_part, j
        n += is_cut(keys, j, n_numbers, step, n_first)
    return n


@njit_no_refcount
def pass_classes(column, n_first, n_cuts, targets, total, left, criterion, logs):
    """Write the weight and the parts of both sides of each cut, and return their number."""
    keys, places, _, n_numbers, cuts = column
    class_codes, weights = targets.class_codes, targets.weights
    n, left_weight, left_part, right_part = 0, 0.0, 0.0, 0.0
    for k in range(total.size):
        left[k] = 0.0
        right_part = part_with(right_part, total[k], criterion, logs)
    for step in range(n_first + n_cuts):
        j = n_numbers + step if step < n_first else step - n_first
        k = class_codes[places[j], 0]
        weight = weights[places[j]] if weights.size > 0 else 1.0
        before = left[k]
        rest = total[k] - before
        left[k] = before + weight
        left_weight += weight
        if criterion == GINI:
            left_part += weight * (2.0 * before + weight)
            right_part -= weight * (2.0 * rest - weight)
        else:
            left_part += x_log_x(before + weight, logs) - x_log_x(before, logs)
            right_part += x_log_x(rest - weight, logs) - x_log_x(rest, logs)
        cuts[WEIGHT, n], cuts[PART, n], cuts[RIGHT_PART, n] = left_weight, left_part, right_part
        cuts[SECOND, n], cuts[PLACE, n] = left[1], j
        n += is_cut(keys, j, n_numbers, step, n_first)
    return n


@njit_no_refcount
def write_regression_costs(cuts, n, weight, total):
    """Write what the cuts cost by the squared error."""
    for p in range(n):
        a, x = cuts[WEIGHT, p], cuts[PART, p]
        cuts[COST, p] = squared_sides(x, a, total - x, weight - a)


@njit_no_refcount
def write_pair_costs(cuts, n, total_a, total_b):
    """Write what the cuts of two classes cost."""
    for p in range(n):
        b = cuts[PART, p]
        a = cuts[WEIGHT, p] - b
        cuts[COST, p] = gini_pair(a, b, total_a - a, total_b - b)


@njit_no_refcount
def write_class_costs(cuts, n, weight, criterion, logs):
    """Write what the cuts of several classes cost."""
    for p in range(n):
        left_weight = cuts[WEIGHT, p]
        left_cost = side_cost(left_weight, cuts[PART, p], criterion, logs)
        cuts[COST, p] = left_cost + side_cost(weight - left_weight, cuts[RIGHT_PART, p], criterion, logs)
