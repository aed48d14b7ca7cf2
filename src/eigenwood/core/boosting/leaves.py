"""Order statistics of what is left in a leaf, and values that keep in order where a feature is monotone.

An order statistic does not know the bounds of its leaf, which were in gradients. So for every question about a monotone
feature, from the last to the first, the values of both parts are cut off at the middle of where they overlap:

    left part     1   4   6                 1   4   5
    right part            4   7                     5   7           values between 4 and 6 overlap
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit_no_refcount, njit_refcount
from eigenwood.core.boosting.types import FEATURE, LEFT, RIGHT, VALUE

LOW, HIGH, LEAST, MOST = range(4)  # where the values of a node's leaves are cut off, and the least and the most of them
HALF = 1e-12  # a sum of weights this close to the wanted share is the share, in whatever order they were added


@njit_refcount
def leaf_quantile(values, weights, share):
    """Return the value with so much of the weight at or below it; between two such values, the middle.

    Values and weights, of which there are none if all are 1, are left in the order of the values.
    """
    if weights.size > 0:
        order = np.argsort(values, kind="mergesort")
        values[:], weights[:] = values[order], weights[order]
    else:
        values.sort()
    total = weights.sum() if weights.size > 0 else np.float64(values.size)
    wanted, up_to = share * total, 0.0
    for i in range(values.size):
        up_to += weights[i] if weights.size > 0 else 1.0
        if abs(up_to - wanted) <= HALF * total and i + 1 < values.size:
            return 0.5 * (values[i] + values[i + 1])
        if up_to > wanted:
            return values[i]
    return values[-1]


@njit_no_refcount
def keep_in_order(whole, real, n_nodes, monotonic_cst, limits):
    """Cut off the values of a tree's leaves where they are not in the order of a monotone feature."""
    for node in range(n_nodes - 1, -1, -1):  # children before parents
        own = limits[node]
        own[LOW], own[HIGH] = -np.inf, np.inf
        if whole[node, LEFT] < 0:
            own[LEAST] = own[MOST] = real[node, VALUE]
            continue
        left, right = limits[whole[node, LEFT]], limits[whole[node, RIGHT]]
        sign = monotonic_cst[whole[node, FEATURE]]
        if sign > 0:
            cut_overlap(left, right)
        elif sign < 0:
            cut_overlap(right, left)
        own[LEAST], own[MOST] = min(left[LEAST], right[LEAST]), max(left[MOST], right[MOST])
    for node in range(n_nodes):
        own = limits[node]
        if whole[node, LEFT] < 0:
            real[node, VALUE] = min(max(real[node, VALUE], own[LOW]), own[HIGH])
        else:
            narrow(limits[whole[node, LEFT]], own)
            narrow(limits[whole[node, RIGHT]], own)


@njit_no_refcount
def cut_overlap(lower, upper):
    """Write where the values of two parts are cut off, so that all of the lower part are below those of the upper."""
    if lower[MOST] > upper[LEAST]:
        middle = 0.5 * (lower[MOST] + upper[LEAST])
        lower[HIGH] = lower[MOST] = upper[LOW] = upper[LEAST] = middle
        lower[LEAST], upper[MOST] = min(lower[LEAST], middle), max(upper[MOST], middle)


@njit_no_refcount
def narrow(child, parent):
    """Cut off the values of a child where those of its parent are."""
    child[LOW] = min(max(child[LOW], parent[LOW]), parent[HIGH])
    child[HIGH] = min(max(child[HIGH], parent[LOW]), parent[HIGH])
