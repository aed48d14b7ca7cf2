"""How mixed a set of rows is, from a few sums (the kernel lecture and the boosting and SVM lecture).

A set of rows is described by a vector of sums that can be added and subtracted:

    classification     [weight of class 0, weight of class 1, …]     outputs one after the other
    regression         [weight, Σ w y of output 0, Σ w y of output 1, …]

``cost`` is weight x impurity, up to a constant that does not depend on how the rows are divided; so the split with
the least cost of its two sides is the one with the highest gain. With p the shares of the classes and ȳ the mean:

    gini 1 - Σp²     entropy -Σ p log₂ p     error 1 - max p
    squared error Σw(y-ȳ)²/W     poisson Σw y log(y/ȳ)/W     absolute error Σw|y-median|/W

Every criterion stands here twice: as branches of kernels, and in plain NumPy at the end of the file. Proofs compute
with the plain formulas, so a wrong kernel cannot certify its own trees. See docs/design/adding-a-criterion.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from eigenwood.compiling import njit, njit_no_refcount
from eigenwood.core.sorting import sorted_order
from eigenwood.core.tree.types import GrowthParams, Target

GINI, ENTROPY, ERROR, SQUARED_ERROR, POISSON, ABSOLUTE_ERROR = range(6)  # in model files: never renumber
CLASS_CRITERIA = (GINI, ENTROPY, ERROR)
POSITIVE_MEANS = (POISSON,)  # criteria of regression for y of at least 0, and for no mean of 0
SMALLEST, LARGEST = 1e-280, 1e300
LEAST_SHARE = 1e-12  # of the sum of a node's y that each side must have where a mean of 0 is not allowed
HALF = 1e-12  # a sum of weights this close to the half is the half, in whatever order they were added


@njit(error_model="numpy")
def is_classifying(criterion):
    """Return whether the criterion speaks of classes."""
    return criterion in CLASS_CRITERIA


@njit(error_model="numpy")
def cost(sums, starts, criterion):
    """Return weight x impurity, averaged over the outputs; for regression without the part that is constant."""
    n_outputs = starts.size - 1
    total = 0.0
    for o in range(n_outputs):
        if is_classifying(criterion):
            total += class_cost(sums, starts[o], starts[o + 1], criterion)
        else:
            total -= mean_part(sums[1 + o], sums[0], criterion)
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
    if criterion == ERROR:
        return max(part, weight)
    return np.nan


@njit(error_model="numpy")
def side_cost(weight, part, criterion, logs):
    """Return weight x impurity of rows of some weight, from ``part_with`` of their classes."""
    if criterion == GINI:
        return weight - part / weight
    if criterion == ENTROPY:
        return x_log_x(weight, logs) - part
    if criterion == ERROR:
        return weight - part
    return np.nan


@njit(error_model="numpy")
def x_log_x(x, logs):
    """Return x log₂ x, from the table of whole numbers if there is one."""
    if logs.size > 0:
        return logs[np.uint32(x)]  # a place without a sign: Numba need not ask whether it is counted from the end
    return x * math.log2(x) if x > 0.0 else 0.0


@njit(error_model="numpy")
def mean_part(total, weight, criterion):
    """Return W φ(S/W) of rows with Σw = W and Σwy = S.

    φ is y² (squared error) or y log y (Poisson); the impurity of rows is the mean of their φ(y), less φ of their mean.
    """
    if criterion == SQUARED_ERROR:
        return squared_part(total, weight)
    if criterion == POISSON:
        return total * math.log(total / weight) if total > 0.0 else -np.inf
    return np.nan


@njit(error_model="numpy")
def squared_part(total, weight):
    """Return (Σwy)²/Σw; a side so light beside the other that its weight is lost in rounding has none."""
    return total * total / weight if weight > 0.0 else 0.0


@njit(error_model="numpy")
def squared_sides(x, a, y, b):
    """Return the cost of two sides with Σwy = x and y, and with the weights a and b.

    One division is enough, where its parts are numbers with all their digits.
    """
    product, parts = a * b, x * x * b + y * y * a
    if product > SMALLEST and parts < LARGEST:
        return -parts / product
    return -squared_part(x, a) - squared_part(y, b)


@njit(error_model="numpy")
def regression_impurity(y, weights, centre, criterion):
    """Return the impurity of rows with such y in one output, around their mean or median."""
    total, weight = 0.0, 0.0
    for i in range(y.size):
        w = weights[i] if weights.size > 0 else 1.0
        weight += w
        if criterion == SQUARED_ERROR:
            total += w * (y[i] - centre) * (y[i] - centre)
        elif criterion == ABSOLUTE_ERROR:
            total += w * abs(y[i] - centre)
        elif criterion == POISSON:
            total += w * y[i] * math.log(y[i] / centre) if y[i] > 0.0 else 0.0
        else:
            total += w * deviation(y[i], centre, criterion)
    return max(total / weight, 0.0)


@njit(error_model="numpy")
def deviation(y, mean, criterion):
    """Return how far y is from a mean: φ(y) - φ(ȳ) - φ'(ȳ)(y - ȳ), so that weighted deviations of rows from their own
    mean add up to weight x impurity. (Poisson's leaves out y - ȳ, which adds up to 0 there.)

    A mean is 0 beside a y above 0 only if the share of that y was lost in rounding.
    """
    if criterion == SQUARED_ERROR:
        return (y - mean) * (y - mean)
    if criterion == POISSON:
        return y * math.log(y / mean) if y > 0.0 and mean > 0.0 else 0.0
    return np.nan


@njit(error_model="numpy")
def regression_loss(value, y, criterion):
    """Return how far off a value is: squared, absolute, or half the Poisson deviance."""
    if criterion == SQUARED_ERROR:
        return (value - y) * (value - y)
    if criterion == ABSOLUTE_ERROR:
        return abs(value - y)
    if criterion == POISSON:
        return value - y + (y * np.log(y / value) if y > 0.0 else 0.0)
    return deviation(y, value, criterion)


@njit(error_model="numpy")
def cost_of_two_means(x, a, y, b, criterion):
    """Return the cost of two sides with Σwy = x and y and with the weights a and b, but for a constant.

    The absolute error does not follow from sums: it adds nothing here.
    """
    if criterion == ABSOLUTE_ERROR:
        return 0.0
    if criterion in POSITIVE_MEANS:
        least = LEAST_SHARE * (x + y)  # not 0: the sums are rounded
        if x <= least or y <= least:
            return np.inf
    return -(mean_part(x, a, criterion) + mean_part(y, b, criterion))


@njit(error_model="numpy")
def spread_of_two_means(left_share, left_mean, right_share, right_mean, mean, criterion):
    """Return what two parts with means of their own add to the impurity of the whole; medians do not add up."""
    if criterion == SQUARED_ERROR:
        return left_share * right_share * (left_mean - right_mean) ** 2
    return left_share * deviation(left_mean, mean, criterion) + right_share * deviation(right_mean, mean, criterion)


@njit(error_model="numpy")
def weighted_median(y, weights):
    """Return the y with half the weight on either side; between two such, the middle."""
    order = sorted_order(y)
    half = 0.0 if weights.size > 0 else 0.5 * order.size
    for w in weights:
        half += 0.5 * w
    below = 0.0
    for i in range(order.size):
        below += weights[order[i]] if weights.size > 0 else 1.0
        if below > half * (1.0 + HALF):
            return y[order[i]]
        if below >= half * (1.0 - HALF) and i + 1 < order.size:
            return 0.5 * (y[order[i]] + y[order[i + 1]])
    return y[order[-1]]


MOST_LOGS = 1 << 22  # counts whose logarithms are kept


def log_table(target: Target, params: GrowthParams) -> np.ndarray:
    """Return x log₂ x for all counts that may occur, if the criterion asks for it and there are only counts."""
    most = target.class_codes.shape[0] if target.weights.size == 0 else float(target.weights.sum())
    if params.criterion != ENTROPY or not params.integer_weights or most > MOST_LOGS:
        return np.empty(0)
    counts = np.arange(int(most) + 1)
    return counts * np.log2(np.maximum(counts, 1))


TIE = 1e-11  # of the node's own cost: splits closer than this are equal
COST_ROUNDING = 1e-15  # of a node's cost where that is much more than its impurity (Poisson)


@njit_no_refcount
def tie_of(node):
    """Return how close the costs of two cuts must be to be equal: what rounding may do to them."""
    return max(TIE * node.weight * node.impurity, COST_ROUNDING * abs(node.cost))


@njit_no_refcount
def second_tie_of(node, criterion):
    """Return how close the second costs of two cuts must be to be equal, in their units."""
    return tie_of(node) * node.impurity if criterion == ABSOLUTE_ERROR else tie_of(node)


@njit_no_refcount
def gains_nothing(found, node, tie):
    """Return whether a cut costs as much as the node itself."""
    return found >= node.cost - tie


@njit_no_refcount
def is_less(found, second, best, least_second, tie, second_tie):
    """Return whether a cut costs less than the best one so far, or as much and less by the second cost."""
    return found < best - tie or (found <= best + tie and second < least_second - second_tie)


@njit_no_refcount
def gini_of_sides(left, total, starts):
    """Return the cost by gini of what goes left and of the rest, averaged over the outputs."""
    found, n_outputs = 0.0, starts.size - 1
    for o in range(n_outputs):
        a = b = left_squares = right_squares = 0.0
        for k in range(starts[o], starts[o + 1]):
            rest = total[k] - left[k]
            a += left[k]
            b += rest
            left_squares += left[k] * left[k]
            right_squares += rest * rest
        found += a - left_squares / a + b - right_squares / b
    return found / n_outputs


@njit_no_refcount
def squared_error_of_sides(left, total, n_outputs):
    """Return the cost by the squared error, but for a constant: how far the means of the sides are apart."""
    a = left[0]
    b, found = total[0] - a, 0.0
    if a > 0.0 and b > 0.0:  # not so light beside the other side that its weight is lost in rounding
        for o in range(n_outputs):
            apart = left[1 + o] / a - (total[1 + o] - left[1 + o]) / b
            found -= a / total[0] * b * apart * apart
    return found / n_outputs


@njit_no_refcount
def gini_pair(a, b, c, d):
    """Return the cost of two sides with a, b and c, d of two classes: w(1 - Σp²) is 2 a b / (a + b)."""
    return 2.0 * (a * b * (c + d) + c * d * (a + b)) / ((a + b) * (c + d))


@njit_no_refcount
def bin_cost(sums, line, total, starts, criterion, logs):
    """Return the cost of one bin against all the others."""
    if criterion == GINI and total.size == 2:
        a, b = sums[line, 0], sums[line, 1]
        return gini_pair(a, b, total[0] - a, total[1] - b)
    found, n_outputs = 0.0, starts.size - 1
    for o in range(n_outputs):
        left_weight = right_weight = left_part = right_part = 0.0
        for k in range(starts[o], starts[o + 1]):
            a = sums[line, k]
            b = total[k] - a
            left_weight += a
            right_weight += b
            left_part = part_with(left_part, a, criterion, logs)
            right_part = part_with(right_part, b, criterion, logs)
        found += side_cost(left_weight, left_part, criterion, logs)
        found += side_cost(right_weight, right_part, criterion, logs)
    return found / n_outputs


@njit_no_refcount
def has_exact_row_updates(criterion, integer_weights, n_outputs):
    """Return whether the rows can go from side to side: the parts of uneven weights would be lost in rounding."""
    if n_outputs > 1:
        return False
    return criterion == SQUARED_ERROR or (integer_weights and criterion in (GINI, ENTROPY))


@njit_no_refcount
def two_sides_cost(a, b, left_part, right_part, criterion, logs):
    """Return the cost of two sides of weights a and b, from the parts of their classes; one division is enough."""
    if criterion == ENTROPY:
        return x_log_x(a, logs) + x_log_x(b, logs) - left_part - right_part
    if criterion == GINI:
        return a + b - (left_part * b + right_part * a) / (a * b)
    return np.nan


@njit_no_refcount
def write_regression_costs(lefts, parts, n_padded, n, weight, total, costs):
    """Write what cuts cost by the squared error, infinity where nothing lies left; return for how many of the first
    ``n`` this way is not exact enough (``squared_sides``).
    """
    n_odd = 0
    for j in range(n_padded):
        a, x = lefts[j], parts[j]
        b, y = weight - a, total - x
        product, squares = a * b, x * x * b + y * y * a
        costs[j] = -squares / product if a != 0.0 else np.inf
        n_odd += (j < n) & (a != 0.0) & ((product <= SMALLEST) | (squares >= LARGEST) | (squares != squares))
    return n_odd


@njit_no_refcount
def write_pair_costs(lefts, parts, n_padded, total_a, total_b, costs):
    """Write what the cuts of two classes cost."""
    for j in range(n_padded):
        b = parts[j]
        a = lefts[j] - b
        costs[j] = gini_pair(a, b, total_a - a, total_b - b) if lefts[j] != 0.0 else np.inf


@njit_no_refcount
def write_gini_costs(lefts, parts, rests, n_padded, weight, costs):
    """Write what the cuts of several classes cost by gini."""
    for j in range(n_padded):
        a, b = lefts[j], weight - lefts[j]
        costs[j] = a + b - (parts[j] * b + rests[j] * a) / (a * b) if a != 0.0 else np.inf


@njit_no_refcount
def write_entropy_costs(lefts, parts, n, weight, logs, costs):
    """Write what the cuts of several classes cost by entropy; the parts are those of both sides together."""
    for j in range(n):
        cost = x_log_x(lefts[j], logs) + x_log_x(weight - lefts[j], logs) - parts[j]
        costs[j] = cost if lefts[j] != 0.0 else np.inf


# ---- the formulas in plain NumPy: for stored trees, and for proofs ------------------------------------------------

# (shares of the classes of all outputs, where each output begins) -> the impurity of each output
SHARE_IMPURITIES: dict[int, Callable] = {
    GINI: lambda shares, first: 1.0 - np.add.reduceat(shares * shares, first, axis=1),
    ENTROPY: lambda shares, first: (
        -np.add.reduceat(shares * np.log2(np.where(shares > 0.0, shares, 1.0)), first, axis=1)
    ),
    ERROR: lambda shares, first: 1.0 - np.maximum.reduceat(shares, first, axis=1),
}


def no_part(weight, total) -> np.ndarray:
    """Return that sums do not tell the impurity."""
    return np.full(np.shape(total), np.nan)


class RegressionFormulas(NamedTuple):
    """A criterion of regression, in plain NumPy."""

    loss: Callable  # (y, values): how far off values are; the mean loss of rows at their mean is their impurity
    part: Callable = no_part  # (W, S): W φ(S/W), see ``mean_part``; there is none for medians


def poisson_loss(y, values) -> np.ndarray:
    """Return half the Poisson deviance; infinity where the value is 0 and y is not."""
    ratio = np.divide(y, values, out=np.full(np.broadcast(y, values).shape, np.inf), where=values > 0.0)
    return values - y + xlogy(y, ratio)


def poisson_part(weight, total) -> np.ndarray:
    """Return S log(S/W); not a number where the mean is 0, which is not allowed."""
    return np.where(total > 0.0, total * np.log(np.where(total > 0.0, total, 1.0) / weight), np.nan)


REGRESSION_FORMULAS = {
    SQUARED_ERROR: RegressionFormulas(
        loss=lambda y, values: (y - values) ** 2,
        part=lambda weight, total: total**2 / weight,
    ),
    POISSON: RegressionFormulas(loss=poisson_loss, part=poisson_part),
    ABSOLUTE_ERROR: RegressionFormulas(loss=lambda y, values: abs(y - values)),
}


def impurity_of_shares(shares, output_start, criterion: int) -> np.ndarray:
    """Return the impurity of each node from its shares of the classes, averaged over the outputs."""
    each = SHARE_IMPURITIES[criterion](shares, output_start[:-1])
    return np.maximum(each.mean(axis=1), 0.0) + 0.0
