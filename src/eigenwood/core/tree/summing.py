"""The best cut of a column of numbers that has few codes for its rows: added up by code, and passed once.

    code                  0     1     2     3     4
    sums of the classes   4|1   0|0   0|2   9|0   2|2
    a cut after 2         └─── left ────┘ └─ right ─┘

This is the way of most large nodes. There must be one output, nothing to heed but the cost, and no missing value.
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit_no_refcount
from eigenwood.core.tree.adding import code_at
from eigenwood.core.tree.cutting import gini_pair, tie_of
from eigenwood.core.tree.impurity import ENTROPY, GINI, SQUARED_ERROR, part_with, squared_sides, x_log_x

SPREAD = 4  # sums for each row, up to which rows are added up


@njit_no_refcount
def cut_of_sums(
    columns, table, at, width, rows, own, n, labels, amounts, weights, total, left, sums, node, criterion, logs
):
    """Return the least cost of a cut, the codes on both sides of it (equal ones if the column does not vary), and -1
    for the side of missing rows. The column has ``width`` codes; ``sums`` are all zero before and after. Codes are read
    from the ``table`` of the rows at hand, where they are ``own``, or from the ``columns`` if that is empty.
    """
    n_sums, tie = total.size, tie_of(node)
    if criterion == SQUARED_ERROR:
        add_amounts(columns, table, at, rows, own, n, amounts, weights, sums)
    else:
        add_classes(columns, table, at, rows, own, n, labels, weights, n_sums, sums)
    first, last = next_code(sums, 0, width, n_sums), last_code(sums, width, n_sums)
    if criterion == SQUARED_ERROR:
        cost, place = summed_amounts(sums, first, last, node.weight, total[1], tie)
    elif criterion == GINI and n_sums == 2:
        cost, place = summed_pair(sums, first, last, total[0], total[1], tie)
    else:
        cost, place = summed_classes(sums, first, last, total, left, node.weight, tie, criterion, logs)
    above = next_code(sums, place + 1, width, n_sums) if last > first else place
    for i in range(first * n_sums, (last + 1) * n_sums):
        sums[i] = 0.0
    return cost, place, above, -1


@njit_no_refcount
def two_sides_cost(a, b, left_part, right_part, criterion, logs):
    """Return the cost of two sides of weights a and b, from the parts of their classes; one division is enough."""
    if criterion == ENTROPY:
        return x_log_x(a, logs) + x_log_x(b, logs) - left_part - right_part
    return a + b - (left_part * b + right_part * a) / (a * b)


@njit_no_refcount
def add_amounts(columns, table, at, rows, own, n, amounts, weights, sums):
    """Add weights and weighted amounts up by code."""
    for i in range(n):
        c = np.uint64(2 * code_at(columns, table, at, rows[i], own[i]))
        weight = weights[i] if weights.size > 0 else 1.0
        sums[c] += weight
        sums[c + np.uint64(1)] += weight * amounts[i, 0]


@njit_no_refcount
def add_classes(columns, table, at, rows, own, n, labels, weights, n_classes, sums):
    """Add the weights of the classes up by code."""
    for i in range(n):
        code = code_at(columns, table, at, rows[i], own[i])
        # without a sign: Numba need not ask whether a place is counted from the end
        sums[np.uint64(n_classes * code + labels[i, 0])] += weights[i] if weights.size > 0 else 1.0


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
def summed_amounts(sums, first, last, weight, total, tie):
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
    """Return the same for two classes."""
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
    """Return the same for several classes."""
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
