"""The best cut of a column whose keys are in order, with the costs of many cuts computed at a time.

    keys       3·b  3·f  7·a  8·c  8·d  8·g  20·e       a key: a code, and in the last bits which row has it
    weights    1    2    3    4    5    6                what lies left of a cut, up to here
    costs      –    …    …    –    –    …                a cut is looked at where the code changes

The rows are passed once for the sums; the costs, with their divisions, follow for many cuts at a time, and the least is
taken. Where a node looks at all of its columns, their cuts stand one after the other and are compared as if they were
those of one column (``best_cut_of_sorted_columns``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit_forceinline, njit_no_refcount
from eigenwood.core.bits import add_member, is_member
from eigenwood.core.distinct import splitmix64
from eigenwood.core.tree.criteria import (
    GINI,
    part_with,
    squared_sides,
    tie_of,
    write_entropy_costs,
    write_gini_costs,
    write_pair_costs,
    write_regression_costs,
    x_log_x,
)
from eigenwood.core.tree.split.gap import leaves_nothing
from eigenwood.core.tree.split.sizes import AT_A_TIME, FEW_AT_A_TIME, PLACE, PLACE_BITS

NONE, UNCLEAR = -1, -2  # no column can be cut; it cannot be told without looking at the columns one by one
EQUAL, APART = 0.5, 4.0  # times what makes two cuts equal: all cuts this near count as equal if no other is so far


class CutLimits(NamedTuple):
    """Which cuts of a column in order are allowed: after the keys from ``first`` to before ``last``, if both sides are
    heavy enough.
    """

    first: int
    last: int
    min_weight: float


class ScanTargets(NamedTuple):
    """What a scan reads of the rows of a small node, by their places."""

    class_codes: np.ndarray
    weighted_residuals: np.ndarray
    weights: np.ndarray


@njit_forceinline
def code_in(key):
    """Return the code of a key."""
    return np.int64(key >> PLACE_BITS)


@njit_forceinline
def weight_at_cut(keys, j, a):
    """Return the weight on the left of a cut after a key, and none where no cut can be made: the code is the same."""
    return a if (keys[j] ^ keys[j + 1]) > PLACE else 0.0


@njit_no_refcount
def padded(n, at_a_time):
    """Return how many cuts are computed where ``n`` are wanted."""
    return (n + at_a_time - 1) & ~(at_a_time - 1)


@njit_no_refcount
def cut_numbers(keys, limits, targets, total, stats, cuts):
    """Return the least cost of a cut of a regression target, and its place; ``total`` is the sum of its residuals."""
    lefts, parts, costs, weight, n = cuts.lefts, cuts.parts, cuts.costs, stats.weight, limits.last
    write_lefts(keys, n, targets.weighted_residuals, targets.weights, 0, lefts, parts)
    if write_regression_costs(lefts, parts, padded(n, AT_A_TIME), n, weight, total, costs) > 0:
        for j in range(n):
            if lefts[j] != 0.0:
                costs[j] = squared_sides(parts[j], lefts[j], total - parts[j], weight - lefts[j])
    return least_cut(limits, weight, tie_of(stats), lefts, costs)


@njit_no_refcount
def cut_pair(keys, limits, targets, total, stats, cuts):
    """Return the least cost of a cut of two classes, and its place."""
    class_codes, weights, lefts, parts = targets.class_codes, targets.weights, cuts.lefts, cuts.parts
    a = b = 0.0
    for j in range(limits.last):
        p = keys[j] & PLACE
        a += weights[p]
        b += weights[p] * class_codes[p]
        lefts[j], parts[j] = weight_at_cut(keys, j, a), b
    write_pair_costs(lefts, parts, padded(limits.last, FEW_AT_A_TIME), total[0], total[1], cuts.costs)
    return least_cut(limits, total[0] + total[1], tie_of(stats), lefts, cuts.costs)


@njit_no_refcount
def cut_classes(keys, n, skipped, limits, targets, total, stats, criterion, logs, cuts):
    """Return the least cost of a cut of several classes, and its place: as a row goes to the left, one part changes on
    each side. The first of the ``n`` keys, which are ``skipped``, have the same code as the next one.
    """
    class_codes, weights, left = targets.class_codes, targets.weights, cuts.left
    lefts, parts, rests, costs, weight = cuts.lefts, cuts.parts, cuts.rests, cuts.costs, stats.weight
    write_left(keys, n, skipped, class_codes, weights, total, left)
    a = part = rest = 0.0
    for k in range(total.size):
        a += left[k]
        part = part_with(part, left[k], criterion, logs)
        rest = part_with(rest, total[k] - left[k], criterion, logs)
    keys, last = keys[skipped:], limits.last - skipped
    if criterion == GINI:
        pass_classes(keys, last, targets, total, (a, part, rest), cuts)
        write_gini_costs(lefts, parts, rests, padded(last, FEW_AT_A_TIME), weight, costs)
    else:
        pass_entropies(keys, last, targets, total, (a, part + rest), logs, cuts)
        write_entropy_costs(lefts, parts, last, weight, logs, costs)
    limits = CutLimits(max(limits.first - skipped, 0), last, limits.min_weight)
    cost, place = least_cut(limits, weight, tie_of(stats), lefts, costs)
    return cost, place + skipped if place != NONE else NONE


@njit_no_refcount
def write_left(keys, n, skipped, class_codes, weights, total, left):
    """Write the weights of the classes of the first keys, which are ``skipped``: what the others leave. Those are often
    fewer, and since weights are whole, nothing is lost.
    """
    for k in range(total.size):
        left[k] = total[k] if skipped > 0 else 0.0
    for j in range(skipped if skipped > 0 else n, n):
        p = keys[j] & PLACE
        left[class_codes[p]] -= weights[p]


@njit_no_refcount
def pass_classes(keys, last, targets, total, begun, cuts):
    """Write the weight on the left of each cut, and the sum of the squared weights of the classes on both sides.

    ``begun`` has the same before the first cut; ``cuts.left`` has the weights of the classes.
    """
    class_codes, weights, left = targets.class_codes, targets.weights, cuts.left
    lefts, parts, rests = cuts.lefts, cuts.parts, cuts.rests
    a, part, rest = begun
    for j in range(last):
        p = keys[j] & PLACE
        k, w = class_codes[p], weights[p]
        before = left[k]
        left[k] = before + w
        a += w
        part += w * (2.0 * before + w)
        rest -= w * (2.0 * (total[k] - before) - w)
        lefts[j], parts[j], rests[j] = weight_at_cut(keys, j, a), part, rest


@njit_no_refcount
def pass_entropies(keys, last, targets, total, begun, logs, cuts):
    """Write the weight on the left of each cut, and Σ x log x of the classes on both sides together.

    ``begun`` has the same before the first cut; ``cuts.left`` has the weights of the classes.
    """
    class_codes, weights, left = targets.class_codes, targets.weights, cuts.left
    lefts, parts = cuts.lefts, cuts.parts
    a, both = begun
    for j in range(last):
        p = keys[j] & PLACE
        k, w = class_codes[p], weights[p]
        before, after = left[k], left[k] + w
        left[k] = after
        a += w
        gone = x_log_x(before, logs) + x_log_x(total[k] - before, logs)
        both += x_log_x(after, logs) + x_log_x(total[k] - after, logs) - gone
        lefts[j], parts[j] = weight_at_cut(keys, j, a), both


@njit_no_refcount
def least_cut(limits, weight, tie, lefts, costs):
    """Return the least cost of a cut that is allowed, and its place: of equal ones the first."""
    first, last, min_weight = limits
    if first == 0 and min_weight <= 0.0:
        place = clear_cut(costs, last, tie)
        if place != UNCLEAR:
            return (costs[place], place) if place != NONE else (np.inf, NONE)
    best, bar, place = np.inf, np.inf, NONE
    for j in range(first, last):
        if costs[j] < bar and min(lefts[j], weight - lefts[j]) >= min_weight:
            best, bar, place = costs[j], costs[j] - tie, j
    return best, place


@njit_no_refcount
def clear_cut(costs, n, tie):
    """Return the place of the least cost, unless it depends on the order in which costs are compared."""
    least = least_of(costs, n)
    return first_near(costs, 0, n, least + EQUAL * tie, least + APART * tie) if least < np.inf else NONE


@njit_no_refcount
def least_of(costs, n):
    """Return the least cost; four are compared at a time, so that none waits for the one before it."""
    a = b = c = d = np.inf
    for j in range(0, n - 3, 4):
        a, b, c, d = min(a, costs[j]), min(b, costs[j + 1]), min(c, costs[j + 2]), min(d, costs[j + 3])
    for j in range(n & ~3, n):
        a = min(a, costs[j])
    return min(min(a, b), min(c, d))


@njit_no_refcount
def best_cut_of_sorted_columns(order, constant, feature_keys, start, n, targets, total, stats, cuts):
    """Return the least cost of a cut of any column, the column, and the place among its keys, which are in order.

    No row may be missing, and nothing be heeded but the cost. Cuts are equal as they are where columns are looked at
    one by one, each against the best so far; where that could depend on their order the column is ``UNCLEAR``. Columns
    that do not vary are added to the constant ones.
    """
    n_cuts, n_all, tie, lefts, parts, costs = n - 1, 0, tie_of(stats), cuts.lefts, cuts.parts, cuts.costs
    residuals, weights = targets.weighted_residuals, targets.weights
    for at in range(order.shape[0]):
        if is_member(constant, at):
            continue
        if code_in(order[at, start]) == code_in(order[at, start + n_cuts]):
            add_member(constant, at)
            continue
        write_lefts(order[at, start : start + n], n_cuts, residuals, weights, n_all, lefts, parts)
        n_all += n_cuts
    if n_all == 0:
        return np.inf, NONE, 0
    if write_regression_costs(lefts, parts, padded(n_all, AT_A_TIME), n_all, stats.weight, total, costs) > 0:
        return np.inf, UNCLEAR, 0
    least = least_of(costs, n_all)
    if leaves_nothing(least, stats, tie):
        return np.inf, UNCLEAR, 0
    best, place, cost, least_key, n_all = NONE, 0, least, np.uint64(0), 0
    for at in range(order.shape[0]):
        if is_member(constant, at):
            continue
        j = first_near(costs, n_all, n_all + n_cuts, least + EQUAL * tie, least + APART * tie)
        if j == UNCLEAR:
            return np.inf, UNCLEAR, 0
        if j != NONE:
            key = splitmix64(stats.seed ^ feature_keys[at])
            if best == NONE or key < least_key:
                best, place, cost, least_key = at, j - n_all, costs[j], key
        n_all += n_cuts
    return cost, best, place


@njit_no_refcount
def write_lefts(keys, n_cuts, weighted_residuals, weights, at, lefts, parts):
    """Write the weights and weighted distances left of each cut, from ``at`` on; no weight where none can be made."""
    a = x = 0.0
    for j in range(n_cuts):
        p = keys[j] & PLACE
        a += weights[p]
        x += weighted_residuals[p]
        lefts[at + j], parts[at + j] = weight_at_cut(keys, j, a), x


@njit_no_refcount
def first_near(costs, begin, end, near, far):
    """Return the place of the first cost up to ``near``; ``UNCLEAR`` if one lies between that and ``far``."""
    found = NONE
    for j in range(begin, end):
        if costs[j] <= far:
            if costs[j] > near:
                return UNCLEAR
            found = j if found == NONE else found
    return found
