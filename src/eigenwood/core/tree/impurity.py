"""How mixed a set of rows is, from a few sums (deck C and E).

A set of rows is described by a vector of sums that can be added and subtracted:

    classification     [weight of class 0, weight of class 1, …]     outputs one after the other
    regression         [weight, Σ w y of output 0, Σ w y of output 1, …]

``cost`` is weight x impurity, up to a constant that does not depend on how the rows are divided; so the split with
the least cost of its two sides is the one with the highest gain. With p the shares of the classes and ȳ the mean:

    gini 1 - Σp²     entropy -Σ p log₂ p     error 1 - max p
    squared error Σw(y-ȳ)²/W     poisson Σw y log(y/ȳ)/W     absolute error Σw|y-median|/W
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from eigenwood.core.sorting import sorted_order

GINI, ENTROPY, ERROR, SQUARED_ERROR, POISSON, ABSOLUTE_ERROR = range(6)


@njit(cache=True, nogil=True, error_model="numpy")
def is_classifying(criterion):
    """Return whether the criterion speaks of classes."""
    return criterion <= ERROR


@njit(cache=True, nogil=True, error_model="numpy")
def cost(sums, starts, criterion):
    """Return weight x impurity, averaged over the outputs; for regression without the part that is constant."""
    n_outputs = starts.size - 1
    total = 0.0
    for o in range(n_outputs):
        if is_classifying(criterion):
            total += class_cost(sums, starts[o], starts[o + 1], criterion)
        elif criterion == SQUARED_ERROR:
            total -= sums[1 + o] * sums[1 + o] / sums[0]
        elif sums[1 + o] > 0.0:
            total -= sums[1 + o] * math.log(sums[1 + o] / sums[0])
        else:
            return np.inf  # a Poisson mean is above 0
    return total / n_outputs


@njit(cache=True, nogil=True, error_model="numpy")
def class_cost(sums, first, last, criterion):
    """Return weight x impurity of one output."""
    total, part = 0.0, 0.0
    if criterion == GINI:
        for k in range(first, last):
            total += sums[k]
            part += sums[k] * sums[k]
        return total - part / total
    if criterion == ENTROPY:
        for k in range(first, last):
            if sums[k] > 0.0:
                total += sums[k]
                part += sums[k] * math.log2(sums[k])
        return max(total * math.log2(total) - part, 0.0)
    for k in range(first, last):
        total += sums[k]
        part = max(part, sums[k])
    return total - part


@njit(cache=True, nogil=True, error_model="numpy")
def amount_impurity(amounts, weights, centre, criterion):
    """Return the impurity of rows with these amounts in one output, around their mean or median."""
    total, weight = 0.0, 0.0
    for i in range(amounts.size):
        w = weights[i] if weights.size > 0 else 1.0
        weight += w
        if criterion == SQUARED_ERROR:
            total += w * (amounts[i] - centre) * (amounts[i] - centre)
        elif criterion == ABSOLUTE_ERROR:
            total += w * abs(amounts[i] - centre)
        elif amounts[i] > 0.0:
            total += w * amounts[i] * math.log(amounts[i] / centre)
    return max(total / weight, 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def weighted_median(amounts, weights):
    """Return the amount with half the weight on either side; between two such amounts, the middle."""
    order = sorted_order(amounts)
    half = 0.0 if weights.size > 0 else 0.5 * order.size
    for w in weights:
        half += 0.5 * w
    below = 0.0
    for i in range(order.size):
        below += weights[order[i]] if weights.size > 0 else 1.0
        if below > half:
            return amounts[order[i]]
        if below == half and i + 1 < order.size:
            return 0.5 * (amounts[order[i]] + amounts[order[i + 1]])
    return amounts[order[-1]]
