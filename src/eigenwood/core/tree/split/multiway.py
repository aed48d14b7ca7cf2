"""What is left of the rows after each branch of a question that has many.

    rows, by category   ▓▓▓▓▓▓▓▓│░░░│▓▓▓▓▓│░░░░
    rests                       └ 1 ─────────┘      what is known of the links of its chain (see ``types``)
                                    └ 2 ─────┘

They are added up from the last branch to the first, so that the work grows with the rows, not with rows times branches.
``ends[p]`` is where branch p begins among the rows, and the rest p with it.
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit, njit_refcount
from eigenwood.core.sorting import sorted_order
from eigenwood.core.tree.criteria import ABSOLUTE_ERROR, HALF, SQUARED_ERROR, cost, deviation
from eigenwood.core.tree.split.absolute_error import absolute_error, add, first_above


@njit(error_model="numpy")
def weight_at(weights, row):
    """Return the weight of a row."""
    return weights[row] if weights.size > 0 else 1.0


@njit(error_model="numpy")
def heaviest_branch(weights, rows, ends):
    """Return the first of the branches than which none is heavier."""
    heaviest, most = 0, -1.0
    for p in range(ends.size - 1):
        own = 0.0
        for i in range(ends[p], ends[p + 1]):
            own += weight_at(weights, rows[i])
        if own > most:
            heaviest, most = p, own
    return heaviest


@njit_refcount
def write_class_rests(target, rows, ends, criterion, span, value, impurity, weight):
    """Write the shares of the classes, the impurity and the weight of the rests; that of rest p is row p - 1."""
    starts, n_rests = target.starts, weight.size
    sums = np.zeros(starts[-1])
    for p in range(n_rests + 1, 0, -1):
        for i in range(ends[p], ends[p + 1]):
            for o in range(starts.size - 1):
                sums[starts[o] + target.class_codes[rows[i], o]] += weight_at(target.weights, rows[i])
        if p > n_rests:
            continue  # the last branch is no rest: there is nothing to ask
        weight[p - 1], n_present = sums[: starts[1]].sum(), 0
        for k in range(sums.size):
            n_present += sums[k] > 0.0
            value[p - 1, k] = sums[k] / weight[p - 1]
        if span.lower > -np.inf or span.upper < np.inf:
            value[p - 1, 1] = min(max(value[p - 1, 1], span.lower), span.upper)
            value[p - 1, 0] = 1.0 - value[p - 1, 1]
        pure = n_present == starts.size - 1
        impurity[p - 1] = 0.0 if pure else max(cost(sums, starts, criterion) / weight[p - 1], 0.0)


@njit_refcount
def write_regression_rests(target, rows, ends, criterion, span, value, impurity, weight):
    """Write the means or medians of y of the rests, how far they are from these, and the weights."""
    n_rests, n_outputs = weight.size, target.y.shape[1]
    middles, spreads, n_pure = np.empty(n_rests + 2), np.empty(n_rests + 2), np.zeros(n_rests, dtype=np.int64)
    impurity[:] = 0.0
    for o in range(n_outputs):
        y = target.y[:, o][rows]
        weights = target.weights[rows] if target.weights.size > 0 else target.weights
        if criterion == ABSOLUTE_ERROR:
            write_medians(y, weights, ends, middles, spreads)
        else:
            write_means(y, weights, ends, criterion, middles, spreads)
        least = greatest = y[-1]
        for p in range(n_rests + 1, 0, -1):
            for i in range(ends[p], ends[p + 1]):
                least, greatest = min(least, y[i]), max(greatest, y[i])
            if p <= n_rests:
                n_pure[p - 1] += least == greatest
                middle = least if least == greatest else middles[p]
                value[p - 1, o] = min(max(middle, span.lower), span.upper)
                impurity[p - 1] += max(spreads[p], 0.0) / n_outputs
    total = 0.0
    for p in range(n_rests + 1, 0, -1):
        for i in range(ends[p], ends[p + 1]):
            total += weight_at(target.weights, rows[i])
        if p <= n_rests:
            weight[p - 1] = total
            impurity[p - 1] = 0.0 if n_pure[p - 1] == n_outputs else impurity[p - 1]


@njit(error_model="numpy")
def write_means(y, weights, ends, criterion, means, spreads):
    """Write the mean of each rest and its impurity, joined from those of its branches.

    Deviations are taken from the mean of a branch and between two means, and squares of y counted from one of
    them: so nothing is lost in the difference of large sums.
    """
    total, mean, spread, base = 0.0, 0.0, 0.0, y[-1] if criterion == SQUARED_ERROR else 0.0
    for p in range(ends.size - 2, 0, -1):
        own, own_mean, own_spread = 0.0, 0.0, 0.0
        for i in range(ends[p], ends[p + 1]):
            own += weight_at(weights, i)
            own_mean += weight_at(weights, i) * (y[i] - base)
        own_mean /= own
        for i in range(ends[p], ends[p + 1]):
            own_spread += weight_at(weights, i) * deviation(y[i] - base, own_mean, criterion)
        both, apart = total + own, own_mean - mean
        joined = mean + own / both * apart if total > 0.0 else own_mean
        if criterion == SQUARED_ERROR:
            spread += own_spread + total * (own / both) * apart * apart
        else:
            spread += (
                own_spread + total * deviation(mean, joined, criterion) + own * deviation(own_mean, joined, criterion)
            )
        total, mean = both, joined
        means[p], spreads[p] = base + mean, spread / total


@njit(error_model="numpy")
def write_medians(y, weights, ends, medians, spreads):
    """Write the median of each rest and its absolute error, from Fenwick trees (see ``absolute_error.py``)."""
    by_size, n = sorted_order(y), y.size
    ranks, ordered = np.empty(n, dtype=np.int64), np.empty((n, 1))
    for i in range(n):
        ranks[by_size[i]] = i
        ordered[i, 0] = y[by_size[i]] - y[by_size[n // 2]]
    weight_tree, y_tree, total = np.zeros(n + 1), np.zeros(n + 1), 0.0
    for p in range(ends.size - 2, 0, -1):
        for i in range(ends[p], ends[p + 1]):
            total += weight_at(weights, i)
            add(weight_tree, y_tree, ranks[i], weight_at(weights, i), ordered[ranks[i], 0])
        low = y[by_size[first_above(weight_tree, 0.5 * total * (1.0 - HALF))]]
        high = y[by_size[first_above(weight_tree, 0.5 * total * (1.0 + HALF))]]
        medians[p] = 0.5 * (low + high) if low < high else low
        spreads[p] = absolute_error(weight_tree, y_tree, ordered, 0) / total
