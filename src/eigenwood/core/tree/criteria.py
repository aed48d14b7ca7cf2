"""How mixed a set of rows is, from a few sums (the kernel lecture and the boosting and SVM lecture).

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

from eigenwood.compiling import njit, njit_no_refcount
from eigenwood.core.sorting import sorted_order
from eigenwood.core.tree.types import GrowthParams, Target

GINI, ENTROPY, ERROR, SQUARED_ERROR, POISSON, ABSOLUTE_ERROR = range(6)  # in model files: never renumber
CLASS_CRITERIA = (GINI, ENTROPY, ERROR)
SMALLEST, LARGEST = 1e-280, 1e300
LEAST_SHARE = 1e-12  # of a node's amounts that each side must have where a mean of 0 is not allowed (Poisson)
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
        elif criterion == SQUARED_ERROR:
            total -= squared_part(sums[1 + o], sums[0])
        elif criterion == POISSON:  # whose mean is above 0
            total -= sums[1 + o] * math.log(sums[1 + o] / sums[0]) if sums[1 + o] > 0.0 else -np.inf
        else:
            return np.nan
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
def amount_impurity(y, weights, centre, criterion):
    """Return the impurity of rows with these amounts in one output, around their mean or median."""
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
            return np.nan
    return max(total / weight, 0.0)


@njit(error_model="numpy")
def amount_loss(value, amount, criterion):
    """Return how far off a value is: squared, absolute, or half the Poisson deviance."""
    if criterion == SQUARED_ERROR:
        return (value - amount) * (value - amount)
    if criterion == ABSOLUTE_ERROR:
        return abs(value - amount)
    if criterion == POISSON:
        return value - amount + (amount * np.log(amount / value) if amount > 0.0 else 0.0)
    return np.nan


@njit(error_model="numpy")
def cost_of_two_means(x, a, y, b, criterion):
    """Return the cost of two sides whose amounts have the sums x and y and the weights a and b, but for a constant.

    The absolute error does not follow from sums: it adds nothing here.
    """
    if criterion == SQUARED_ERROR:
        return -(squared_part(x, a) + squared_part(y, b))
    if criterion == POISSON:
        least = LEAST_SHARE * (x + y)  # not 0: the sums are rounded
        return -(x * math.log(x / a) + y * math.log(y / b)) if x > least and y > least else np.inf
    if criterion == ABSOLUTE_ERROR:
        return 0.0
    return np.nan


@njit
def spread_of_two_means(left_share, left_mean, right_share, right_mean, mean, criterion):
    """Return what two parts with means of their own add to the impurity of the whole; medians do not add up."""
    if criterion == SQUARED_ERROR:
        return left_share * right_share * (left_mean - right_mean) ** 2
    if criterion == POISSON:
        return left_share * poisson_deviation(left_mean, mean) + right_share * poisson_deviation(right_mean, mean)
    return np.nan


@njit
def poisson_deviation(part, mean):
    """Return what a part with its own mean adds to the Poisson impurity of the whole.

    The mean of the whole is 0 beside a part above 0 only if the share of that part is lost in rounding.
    """
    return part * np.log(part / mean) if part > 0.0 and mean > 0.0 else 0.0


def impurity_of_shares(value, output_start, criterion: int) -> np.ndarray:
    """Return the impurity of each node from its shares of the classes, averaged over the outputs."""
    first = output_start[:-1]
    if criterion == GINI:
        each = 1.0 - np.add.reduceat(value * value, first, axis=1)
    elif criterion == ENTROPY:
        each = -np.add.reduceat(value * np.log2(np.where(value > 0.0, value, 1.0)), first, axis=1)
    elif criterion == ERROR:
        each = 1.0 - np.maximum.reduceat(value, first, axis=1)
    else:
        each = np.full((value.shape[0], first.size), np.nan)
    return np.maximum(each.mean(axis=1), 0.0) + 0.0


@njit(error_model="numpy")
def weighted_median(y, weights):
    """Return the amount with half the weight on either side; between two such amounts, the middle."""
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
def write_amount_costs(lefts, parts, n_padded, n, weight, total, costs):
    """Write what the cuts of amounts cost, without end where nothing lies left; return for how many of the first ``n``
    this way is not exact enough (``squared_sides``).
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
