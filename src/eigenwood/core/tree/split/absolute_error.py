"""The absolute error of every cut: sums cannot tell a median, so the rows are visited one by one.

The y seen so far stand in a Fenwick tree, in the order of their size. Adding a row and finding the median are
log n steps each, and the sums below and above the median give the error:

    Σ w |y - m|  =  m W(≤ m) - S(≤ m)  +  S(> m) - m W(> m)
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.tree.criteria import ABSOLUTE_ERROR, regression_impurity, weighted_median


@njit(error_model="numpy")
def cut_costs(bins, order, ranks, ordered, weights, last_goes_left):
    """Return the absolute error of both sides for the cut after each place of ``order``, summed over the outputs.

    ``bins`` has the bin of each row, ``order`` the bins in the order in which they are cut, ``ranks`` the place of
    each row's y among ``ordered``, y by size. The last bin of ``order`` may go left in any case.
    """
    n_rows, n_outputs = ranks.shape
    sequence = order.copy()
    if last_goes_left:
        for p in range(order.size):
            sequence[p] = order[p - 1]
    rows, ends = rows_by_bin(bins, sequence)
    costs = np.zeros(order.size)
    for o in range(n_outputs):
        weight_tree, y_tree = np.zeros(n_rows + 1), np.zeros(n_rows + 1)
        for p in range(order.size):
            for at in range(ends[p], ends[p + 1]):
                i = rows[at]
                weight = weights[i] if weights.size > 0 else 1.0
                add(weight_tree, y_tree, ranks[i, o], weight, ordered[ranks[i, o], o])
            costs[p] += absolute_error(weight_tree, y_tree, ordered, o)
        weight_tree, y_tree = np.zeros(n_rows + 1), np.zeros(n_rows + 1)
        for p in range(order.size - 1, 0, -1):
            for at in range(ends[p], ends[p + 1]):
                i = rows[at]
                weight = weights[i] if weights.size > 0 else 1.0
                add(weight_tree, y_tree, ranks[i, o], weight, ordered[ranks[i, o], o])
            costs[p - 1] += absolute_error(weight_tree, y_tree, ordered, o)
    return costs[1:] if last_goes_left else costs


@njit(error_model="numpy")
def bin_costs(bins, order, y, weights):
    """Return the absolute error of each bin by itself, summed over the bins and averaged over the outputs."""
    rows, ends = rows_by_bin(bins, order)
    total = 0.0
    for p in range(order.size):
        own = rows[ends[p] : ends[p + 1]]
        own_weights = weights[own] if weights.size > 0 else weights
        weight = own_weights.sum() if weights.size > 0 else float(own.size)
        for o in range(y.shape[1]):
            some = y[own, o]
            median = weighted_median(some, own_weights)
            total += weight * regression_impurity(some, own_weights, median, ABSOLUTE_ERROR)
    return total / y.shape[1]


@njit(error_model="numpy")
def cut_medians(bins, order, y, weights, last_goes_left):
    """Return the medians of both sides for the cut after each place of ``order``, for one output."""
    n_cuts = order.size - 1 - int(last_goes_left)
    is_left = np.zeros(bins.size, dtype=np.bool_)
    lefts, rights = np.empty(n_cuts), np.empty(n_cuts)
    if last_goes_left:
        is_left |= bins == order[-1]
    for p in range(n_cuts):
        is_left |= bins == order[p]
        own_left = weights[is_left] if weights.size > 0 else weights
        own_right = weights[~is_left] if weights.size > 0 else weights
        lefts[p] = weighted_median(y[is_left, 0], own_left)
        rights[p] = weighted_median(y[~is_left, 0], own_right)
    return lefts, rights


@njit(error_model="numpy")
def rows_by_bin(bins, sequence):
    """Return the rows in the order of their bins in ``sequence``, and where each bin begins and ends."""
    widest = 0
    for line in sequence:
        widest = max(widest, line)
    place = np.zeros(widest + 1, dtype=np.int64)
    for i in range(bins.size):
        place[bins[i]] += 1
    ends = np.zeros(sequence.size + 1, dtype=np.int64)
    for p in range(sequence.size):
        ends[p + 1] = ends[p] + place[sequence[p]]
        place[sequence[p]] = ends[p]
    rows = np.empty(bins.size, dtype=np.int64)
    for i in range(bins.size):
        rows[place[bins[i]]] = i
        place[bins[i]] += 1
    return rows, ends


@njit(error_model="numpy")
def add(weight_tree, y_tree, rank, weight, y):
    """Add one row to the Fenwick trees."""
    i = rank + 1
    while i < weight_tree.size:
        weight_tree[i] += weight
        y_tree[i] += weight * y
        i += i & -i


@njit(error_model="numpy")
def absolute_error(weight_tree, y_tree, ordered, o):
    """Return Σ w |y - median| of the rows in the trees."""
    total_weight, total_y = up_to(weight_tree, weight_tree.size - 1), up_to(y_tree, y_tree.size - 1)
    step = 1
    while 2 * step < weight_tree.size:
        step *= 2
    place, weight, low_y = 0, 0.0, 0.0
    while step > 0:
        if place + step < weight_tree.size and weight + weight_tree[place + step] < 0.5 * total_weight:
            place += step
            weight += weight_tree[place]
            low_y += y_tree[place]
        step //= 2
    median = ordered[min(place, ordered.shape[0] - 1), o]
    return median * weight - low_y + (total_y - low_y) - median * (total_weight - weight)


@njit(error_model="numpy")
def first_above(weight_tree, bar):
    """Return the first place up to which the weights add up to more than ``bar``."""
    step, place, weight = 1, 0, 0.0
    while 2 * step < weight_tree.size:
        step *= 2
    while step > 0:
        if place + step < weight_tree.size and weight + weight_tree[place + step] <= bar:
            place += step
            weight += weight_tree[place]
        step //= 2
    return min(place, weight_tree.size - 2)


@njit(error_model="numpy")
def up_to(tree, i):
    """Return the sum of the first i places of a Fenwick tree."""
    total = 0.0
    while i > 0:
        total += tree[i]
        i -= i & -i
    return total
