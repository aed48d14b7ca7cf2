"""Categories have no order of their own: they are put in one before they are cut.

By the share of the second class, by the mean, or, where there is more than one number to say what a category is like,
along the first principal component of the table of those numbers. For two classes, for squared errors and for Poisson's
the best of all subsets is a cut of that order (Breiman et al. 1984, Fisher 1958, Chou 1991); for more classes
(Coppersmith, Hong and Hosking 1999) and for absolute errors it is nearly so.
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.sorting import sorted_order
from eigenwood.core.tree.criteria import ABSOLUTE_ERROR, cost, is_classifying


@njit(error_model="numpy")
def sort_categories(order, n_order, sums, starts, classifying, total, weight):
    """Put the categories in the order in which they are cut."""
    keys = np.empty(n_order)
    if total.size == 2:
        for i in range(n_order):
            all_weight = sums[order[i], 0] + (sums[order[i], 1] if classifying else 0.0)
            keys[i] = sums[order[i], 1] / all_weight
    else:
        write_component(keys, order, sums, starts, classifying, total, weight)
    by_key, before = sorted_order(keys), order[:n_order].copy()
    for i in range(n_order):
        order[i] = before[by_key[i]]


@njit(error_model="numpy")
def write_component(keys, order, sums, starts, classifying, total, weight):
    """Write the places of the categories along the first principal component of what they are like."""
    first = 0 if classifying else 1
    n_order, n_numbers, n_weights = keys.size, total.size - first, starts[1] if classifying else 1
    table, scatter = np.empty((n_order, n_numbers)), np.zeros((n_numbers, n_numbers))
    for i in range(n_order):
        own = 0.0
        for k in range(n_weights):
            own += sums[order[i], k]
        for k in range(n_numbers):
            table[i, k] = sums[order[i], first + k] / own - total[first + k] / weight
        for k in range(n_numbers):
            for j in range(n_numbers):
                scatter[k, j] += own * table[i, k] * table[i, j]
    direction = np.linalg.eigh(scatter)[1][:, -1].copy()
    largest = 0
    for k in range(n_numbers):
        if abs(direction[k]) > (1.0 + 1e-9) * abs(direction[largest]):
            largest = k
    sign = -1.0 if direction[largest] < 0.0 else 1.0  # a sign that does not depend on the machine's LAPACK
    for i in range(n_order):
        keys[i] = 0.0
        for k in range(n_numbers):
            keys[i] += sign * table[i, k] * direction[k]


@njit(error_model="numpy")
def multiway_cost(order, n_order, sums, n_sums, starts, params, unit):
    """Return the cost of one branch for each category, or infinity when one of them would be too small."""
    total, n_first = 0.0, starts[1] if is_classifying(params.criterion) else 1
    for i in range(n_order):
        line, weight = order[i], 0.0
        for k in range(n_first):
            weight += sums[line, k]
        n_rows = weight if unit else sums[line, n_sums]
        if n_rows < params.min_samples_leaf or weight < params.min_weight_leaf:
            return np.inf
        if params.criterion != ABSOLUTE_ERROR:
            total += cost(sums[line], starts, params.criterion)
    return total
