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

from eigenwood.compiling import njit
from eigenwood.core.sorting import sorted_order

GINI, ENTROPY, ERROR, SQUARED_ERROR, POISSON, ABSOLUTE_ERROR = range(6)
SMALLEST, LARGEST = 1e-280, 1e300
HALF = 1e-12  # a sum of weights this close to the half is the half, in whatever order they were added


@njit(error_model="numpy")
def is_classifying(criterion):
    """Return whether the criterion speaks of classes."""
    return criterion <= ERROR


@njit(error_model="numpy")
def cost(sums, starts, criterion):
    """Return weight x impurity, averaged over the outputs; for regression without the part that is constant."""
    n_outputs = starts.size - 1
    total = 0.0
    for o in range(n_outputs):
        if is_classifying(criterion):
            total += class_cost(sums, starts[o], starts[o + 1], criterion)
        elif criterion == SQUARED_ERROR:
            total -= squared_part(sums[1 + o], sums[0])
        elif sums[1 + o] > 0.0:
            total -= sums[1 + o] * math.log(sums[1 + o] / sums[0])
        else:
            return np.inf  # a Poisson mean is above 0
    return total / n_outputs


@njit(error_model="numpy")
def class_cost(sums, first, last, criterion):
    """Return weight x impurity of one output."""
    weight, part, logs = 0.0, 0.0, sums[:0]  # no table of logarithms
    for k in range(first, last):
        weight += sums[k]
        part = part_with(part, sums[k], criterion, logs)
    return max(side_cost(weight, part, criterion, logs), 0.0)


@njit(error_model="numpy")
def part_with(part, weight, criterion, logs):
    """Return Σa² (gini), Σ a log₂ a (entropy) or max a (error) of the classes' weights a, with one class more."""
    if criterion == GINI:
        return part + weight * weight
    if criterion == ENTROPY:
        return part + x_log_x(weight, logs)
    return max(part, weight)


@njit(error_model="numpy")
def side_cost(weight, part, criterion, logs):
    """Return weight x impurity of rows of some weight, from ``part_with`` of their classes."""
    if criterion == GINI:
        return weight - part / weight
    if criterion == ENTROPY:
        return x_log_x(weight, logs) - part
    return weight - part


@njit(error_model="numpy")
def x_log_x(x, logs):
    """Return x log₂ x, from the table of whole numbers if there is one."""
    if logs.size > 0:
        return logs[np.uint32(x)]  # a place without a sign: Numba need not ask whether it is counted from the end
    return x * math.log2(x) if x > 0.0 else 0.0


@njit(error_model="numpy")
def squared_part(total, weight):
    """Return (Σwy)²/Σw; a side so light beside the other that its weight is lost in rounding has none."""
    return total * total / weight if weight > 0.0 else 0.0


@njit(error_model="numpy")
def squared_sides(x, a, y, b):
    """Return the cost of two sides whose amounts have the sums x and y and the weights a and b.

    One division is enough, where its parts are numbers with all their digits.
    """
    product, parts = a * b, x * x * b + y * y * a
    if product > SMALLEST and parts < LARGEST:
        return -parts / product
    return -squared_part(x, a) - squared_part(y, b)


@njit(error_model="numpy")
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


@njit(error_model="numpy")
def weighted_median(amounts, weights):
    """Return the amount with half the weight on either side; between two such amounts, the middle."""
    order = sorted_order(amounts)
    half = 0.0 if weights.size > 0 else 0.5 * order.size
    for w in weights:
        half += 0.5 * w
    below = 0.0
    for i in range(order.size):
        below += weights[order[i]] if weights.size > 0 else 1.0
        if below > half * (1.0 + HALF):
            return amounts[order[i]]
        if below >= half * (1.0 - HALF) and i + 1 < order.size:
            return 0.5 * (amounts[order[i]] + amounts[order[i + 1]])
    return amounts[order[-1]]
