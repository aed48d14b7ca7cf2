"""The best cut of one column, from the sums of its codes.

    codes that occur      3    7    8   20   ▒▒          ▒▒: missing
    rows                  5    2    9    4    1
    a cut after 7         └─left─┘ └─right─┘  right, or left: both are tried

One pass over the codes finds the cut with the least cost of its two sides.

By the error and the absolute error there is often nothing to gain wherever a column is cut: most rows change nothing
in who is in the majority, or in the median. The first of such cuts would take one row off, and the next question
another one. So there a ``second`` cost decides: that of gini, or of the squared error.
"""

from __future__ import annotations

import math

import numpy as np

from eigenwood.compiling import njit_no_refcount
from eigenwood.core.bits import ONE
from eigenwood.core.tree.adding import code_of
from eigenwood.core.tree.impurity import (
    ABSOLUTE_ERROR,
    ERROR,
    GINI,
    SQUARED_ERROR,
    is_classifying,
    part_with,
    side_cost,
    squared_part,
)

TIE = 1e-11  # of the node's own cost: splits closer than this are equal
ROUNDING = 1e-15  # of a node's cost where that is much more than its impurity (Poisson)
LEAST_SHARE = 1e-12  # of a node's amounts that each side must have where a mean of 0 is not allowed (Poisson)


@njit_no_refcount
def tie_of(node):
    """Return how close the costs of two cuts must be to be equal: what rounding may do to them."""
    return max(TIE * node.weight * node.impurity, ROUNDING * abs(node.cost))


@njit_no_refcount
def second_tie_of(node, criterion):
    """Return the same for the second cost, in its units."""
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
def keeps_order(left_value, right_value, sign, lower, upper):
    """Return whether two values rise (or fall) as wanted and lie between the bounds."""
    if min(left_value, right_value) < lower or max(left_value, right_value) > upper:
        return False
    return (left_value - right_value) * sign <= 0.0


@njit_no_refcount
def is_free(rule, sign):
    """Return whether every cut is allowed."""
    return rule.min_leaf == 1 and rule.min_leaf_weight == 0.0 and sign == 0


@njit_no_refcount
def gini_pair(a, b, c, d):
    """Return the cost of two sides with a, b and c, d of two classes: w(1 - Σp²) is 2 a b / (a + b)."""
    return 2.0 * (a * b * (c + d) + c * d * (a + b)) / ((a + b) * (c + d))


@njit_no_refcount
def line_cost(sums, line, total, starts, criterion, logs):
    """Return the cost of one line of the sums against all the others."""
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
def best_class_cut(sums, order, first, last, left, total, node, starts, rule, sign, unit, logs):
    """Return the least cost of a cut after one of the places ``first`` to ``last`` of ``order``, its second cost (0 if
    there is none) and that place.

    ``left`` are the sums of what goes left in any case, followed by its rows and all rows; it is overwritten.
    ``logs`` has x log₂ x of whole numbers, or is empty.
    """
    criterion, n_sums = rule.criterion, total.size
    lower, upper, min_leaf, min_weight = node.lower, node.upper, rule.min_leaf, rule.min_leaf_weight
    free, tie, second_tie = is_free(rule, sign), tie_of(node), second_tie_of(node, criterion)
    best, least_second, place = np.inf, 0.0, -1
    n_left, n_all = left[n_sums], left[n_sums + 1]
    n_outputs = starts.size - 1
    left_weight = right_weight = 0.0
    for p in range(last + 1):
        line, found = order[p], 0.0
        n_left += sums[line, n_sums]
        for o in range(n_outputs):
            left_weight = right_weight = left_part = right_part = 0.0
            for k in range(starts[o], starts[o + 1]):
                a = left[k] + sums[line, k]
                b = total[k] - a
                left[k] = a
                left_weight += a
                right_weight += b
                left_part = part_with(left_part, a, criterion, logs)
                right_part = part_with(right_part, b, criterion, logs)
            found += side_cost(left_weight, left_part, criterion, logs)
            found += side_cost(right_weight, right_part, criterion, logs)
        if found <= (best + tie) * n_outputs and p >= first:
            second = 0.0
            if criterion == ERROR and gains_nothing(found / n_outputs, node, tie):
                second = gini_of_sides(left, total, starts)
            if not is_less(found / n_outputs, second, best, least_second, tie, second_tie):
                continue
            if not free:
                n_here = left_weight if unit else n_left
                if n_here < min_leaf or n_all - n_here < min_leaf:
                    continue
                if left_weight < min_weight or right_weight < min_weight:
                    continue
                if sign != 0 and not keeps_order(
                    left[1] / left_weight, (total[1] - left[1]) / right_weight, sign, lower, upper
                ):
                    continue
            best, least_second, place = found / n_outputs, second, p
    return best, least_second, place


@njit_no_refcount
def best_amount_cut(sums, order, first, last, left, total, node, rule, sign, known_costs):
    """Return the same for amounts; ``costs`` has the cost of every cut, or is empty where the sums tell it."""
    criterion, n_outputs = rule.criterion, total.size - 1
    costs, lefts, rights = known_costs
    lower, upper, min_leaf, min_weight = node.lower, node.upper, rule.min_leaf, rule.min_leaf_weight
    free, tie, second_tie = is_free(rule, sign), tie_of(node), second_tie_of(node, criterion)
    best, least_second, place = np.inf, 0.0, -1
    n_left, n_all = left[1 + n_outputs], left[2 + n_outputs]
    for p in range(last + 1):
        line = order[p]
        n_left += sums[line, 1 + n_outputs]
        for k in range(1 + n_outputs):
            left[k] += sums[line, k]
        a = left[0]
        b = total[0] - a
        found = costs[p] if costs.size > 0 else 0.0
        if criterion == SQUARED_ERROR:
            for o in range(n_outputs):
                found -= squared_part(left[1 + o], a) + squared_part(total[1 + o] - left[1 + o], b)
        elif criterion != ABSOLUTE_ERROR:
            for o in range(n_outputs):
                x = left[1 + o]
                y = total[1 + o] - x
                least = LEAST_SHARE * total[1 + o]  # not 0: the sums are rounded
                found -= x * math.log(x / a) + y * math.log(y / b) if x > least and y > least else -np.inf
        if found <= (best + tie) * n_outputs and p >= first:
            second = 0.0
            if criterion == ABSOLUTE_ERROR and gains_nothing(found / n_outputs, node, tie):
                second = squared_error_of_sides(left, total, n_outputs)
            if not is_less(found / n_outputs, second, best, least_second, tie, second_tie):
                continue
            if not free:
                if n_left < min_leaf or n_all - n_left < min_leaf or a < min_weight or b < min_weight:
                    continue
                if sign != 0 and not keeps_order(
                    lefts[p] if costs.size > 0 else left[1] / a + node.centre,
                    rights[p] if costs.size > 0 else (total[1] - left[1]) / b + node.centre,
                    sign,
                    lower,
                    upper,
                ):
                    continue
            best, least_second, place = found / n_outputs, second, p
    return best, least_second, place


@njit_no_refcount
def random_place(order, n_numbers, first_code, meaning, slot_code, common, first_value, lows, highs, draw):
    """Return the last place that lies below a random threshold between the least and the greatest value."""
    low = lows[first_value + code_of(order[0], first_code, meaning, slot_code, common)]
    high = highs[first_value + code_of(order[n_numbers - 1], first_code, meaning, slot_code, common)]
    share = np.float64(draw >> np.uint64(11)) / 9007199254740992.0  # 53 random bits
    threshold = low * (1.0 - share) + high * share
    for place in range(n_numbers - 2):
        if highs[first_value + code_of(order[place + 1], first_code, meaning, slot_code, common)] > threshold:
            return place
    return max(n_numbers - 2, 0)


@njit_no_refcount
def best_of_sums(
    sums,
    order,
    n_order,
    has_missing,
    at,
    draw,
    right_costs,
    left_costs,
    total,
    n_rows,
    starts,
    rule,
    sign,
    node,
    logs,
    unit,
    left,
):
    """Return the cost, the place and the side of the missing values of one feature's best cut.

    ``at`` is the only place to be looked at, or -1. The missing values are the last line of ``order``; they go right,
    then left, or as a random bit says. ``right_costs`` and ``left_costs`` are for the absolute error.
    """
    classifying, n_sums = is_classifying(rule.criterion), total.size
    first, last, first_side, last_side = 0, n_order - 2, 0, int(has_missing and n_order > 2)
    if at >= 0:
        first = last = at
        first_side = last_side = int(draw & ONE) if last_side == 1 else 0
    best, least_second, place, missing_left = np.inf, 0.0, -1, -1
    tie, second_tie = tie_of(node), second_tie_of(node, rule.criterion)
    for side in range(first_side, last_side + 1):
        for k in range(n_sums + 1):
            left[k] = sums[order[n_order - 1], k] if side == 1 else 0.0
        left[n_sums + 1] = n_rows
        if side == 1:
            last = min(last, n_order - 3)
        if classifying:
            found, second, cut = best_class_cut(
                sums, order, first, last, left, total, node, starts, rule, sign, unit, logs
            )
        elif side == 1:
            found, second, cut = best_amount_cut(sums, order, first, last, left, total, node, rule, sign, left_costs)
        else:
            found, second, cut = best_amount_cut(sums, order, first, last, left, total, node, rule, sign, right_costs)
        if side == first_side or is_less(found, second, best, least_second, tie, second_tie):
            best, least_second, place, missing_left = found, second, cut, side if has_missing else -1
    return best, place, missing_left
