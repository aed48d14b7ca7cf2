"""The best question to ask of the rows of one node.

For every feature the rows are added up by code (a histogram), the codes that occur are put in order, and the cut with
the least cost of its two sides is found in one pass. A set of bits remembers which codes occur, so the work grows
with the rows of the node and not with the codes of the column: a node of twenty rows is as exact as the root.

    codes that occur      3    7    8   20   ▒▒          ▒▒: missing
    rows                  5    2    9    4    1
    a cut after 7         └─left─┘ └─right─┘  right, or left: both are tried

Categories are put in order first: by the share of the second class, by the mean, or, where there is more than one
number to say what a category is like, along the first principal component of the table of those numbers. For two
classes and for regression the best of all subsets is a cut of that order (Breiman et al. 1984, Fisher 1958); for
more classes it is nearly so (Coppersmith, Hong and Hosking 1999).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from eigenwood.core.bits import ONE, taken_out, word_count
from eigenwood.core.distinct import mixed
from eigenwood.core.sorting import sorted_order
from eigenwood.core.tree.absolute import cut_costs, cut_medians, line_costs
from eigenwood.core.tree.binning import CATEGORY
from eigenwood.core.tree.impurity import ABSOLUTE_ERROR, ENTROPY, GINI, SQUARED_ERROR, cost, is_classifying

FEW_ROWS = 32  # up to so many rows, sorting them is cheaper than adding them up by code
TIE = 1e-11  # of the node's own cost: splits closer than this are equal
ROUNDING = 1e-15  # of a node's cost where that is much more than its impurity (Poisson)
LEAST_SHARE = 1e-12  # of a node's amounts that each side must have where a mean of 0 is not allowed (Poisson)


class Rule(NamedTuple):
    """How a tree is grown."""

    criterion: int
    max_depth: int
    min_split: int  # rows
    min_leaf: int  # rows
    min_leaf_weight: float
    min_decrease: float
    uncertainty: float  # a node with at most this impurity is left alone
    max_features: int
    at_random: bool  # one random cut for each feature instead of the best
    multiway: bool  # one branch for each category
    total_weight: float  # of all rows, for ``min_decrease``


class Bench(NamedTuple):
    """Sums by code, all zero between two uses; the last column counts rows.

    The thin columns share ``slot_sums``, whose last line is for the common code of the feature at hand.
    """

    sums: np.ndarray  # (n_codes, n_sums + 1)
    bits: np.ndarray  # which codes occur
    slot_sums: np.ndarray  # (n_slots + 1, n_sums + 1)
    slot_bits: np.ndarray


class Sample(NamedTuple):
    """The rows of a node, and their targets one after the other."""

    rows: np.ndarray
    labels: np.ndarray  # (n_rows, n_outputs), empty for amounts
    amounts: np.ndarray  # (n_rows, n_outputs), empty for classes
    weights: np.ndarray  # empty when all are 1
    ranks: np.ndarray  # of the amounts, and the amounts by size: for the absolute error
    ordered: np.ndarray


class Node(NamedTuple):
    """What is known of a node before it is split, beside the sums of its rows."""

    impurity: float
    weight: float
    cost: float
    centre: float  # what was taken off the amounts
    lower: float  # its rows' values must lie between these (monotonic constraints)
    upper: float
    seed: np.uint64


class Split(NamedTuple):
    """A cut: the first ``place + 1`` of the codes that occur go left."""

    cost: float
    candidate: int  # column, or n_columns + group of slots; -1 when there is none
    feature: int | np.integer
    place: int
    missing_left: int  # 1, 0, or -1 where no value is missing
    gap: float  # between the two sides, in ranks, as a share of all


@njit(cache=True, nogil=True, error_model="numpy")
def tie_of(node):
    """Return how close the costs of two cuts must be to be equal: what rounding may do to them."""
    return max(TIE * node.weight * node.impurity, ROUNDING * abs(node.cost))


@njit(cache=True, nogil=True, error_model="numpy")
def new_bench(codes, n_sums):
    """Return room for the nodes of a coded table."""
    n_codes = 0
    for i in range(codes.feature.size):
        n_codes = max(n_codes, codes.start[i + 1] - codes.start[i])
    n_slots = codes.slot_feature.size
    return Bench(
        np.zeros((n_codes, n_sums + 1)),
        np.zeros(word_count(n_codes), dtype=np.uint64),
        np.zeros((n_slots + 1, n_sums + 1)),
        np.zeros(word_count(n_slots), dtype=np.uint64),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def add_up_classes(columns, at, rows, labels, weights, starts, sums, bits):
    """Add the class weights of the rows of a node up by the codes of column ``at``; ``bits`` tells which occur."""
    n_outputs, n_sums = starts.size - 1, sums.shape[1] - 1
    if weights.size == 0 and n_outputs == 1:
        for i in range(rows.size):
            code = columns[at, rows[i]]
            sums[code, labels[i, 0]] += 1.0
            bits[code >> 6] |= ONE << np.uint64(code & 63)
        return
    for i in range(rows.size):
        code = columns[at, rows[i]]
        bits[code >> 6] |= ONE << np.uint64(code & 63)
        weight = weights[i] if weights.size > 0 else 1.0
        for o in range(n_outputs):
            sums[code, starts[o] + labels[i, o]] += weight
        sums[code, n_sums] += 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def add_up_amounts(columns, at, rows, amounts, weights, sums, bits):
    """Add the weights and weighted amounts of the rows of a node up by the codes of column ``at``."""
    n_outputs = amounts.shape[1]
    for i in range(rows.size):
        code = columns[at, rows[i]]
        bits[code >> 6] |= ONE << np.uint64(code & 63)
        weight = weights[i] if weights.size > 0 else 1.0
        sums[code, 0] += weight
        for o in range(n_outputs):
            sums[code, 1 + o] += weight * amounts[i, o]
        sums[code, 1 + n_outputs] += 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def add_up_slots(entry_start, entries, rows, labels, amounts, weights, starts, sums, bits):
    """Add the rows of a node up by the slots of all thin columns."""
    n_outputs, n_sums, classifying = starts.size - 1, sums.shape[1] - 1, labels.shape[0] > 0
    for i in range(rows.size):
        weight = weights[i] if weights.size > 0 else 1.0
        for e in range(entry_start[rows[i]], entry_start[rows[i] + 1]):
            slot = entries[e]
            bits[slot >> 6] |= ONE << np.uint64(slot & 63)
            sums[slot, n_sums] += 1.0
            if classifying:
                for o in range(n_outputs):
                    sums[slot, starts[o] + labels[i, o]] += weight
            else:
                sums[slot, 0] += weight
                for o in range(n_outputs):
                    sums[slot, 1 + o] += weight * amounts[i, o]


@njit(cache=True, nogil=True, error_model="numpy")
def cleared(sums, lines, n_lines):
    """Set some lines of the sums back to zero."""
    for i in range(n_lines):
        for k in range(sums.shape[1]):
            sums[lines[i], k] = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def groups_of(slots, n_present, slot_feature):
    """Return where the slots of each feature begin among those that occur, and where the last ones end."""
    group = np.empty(n_present + 1, dtype=np.int64)
    n_groups = 0
    for i in range(n_present):
        if i == 0 or slot_feature[slots[i]] != slot_feature[slots[i - 1]]:
            group[n_groups] = i
            n_groups += 1
    group[n_groups] = n_present
    return group[: n_groups + 1]


@njit(cache=True, nogil=True, error_model="numpy")
def ordered_slots(slots, first, last, slot_code, common_code, n_rows, total, sums, order):
    """Write the lines of one feature to ``order``, and return their number.

    They are ``slots[first:last]`` and the common code, if it occurs: it has what the rare ones leave, and stands on
    the last line of the sums.
    """
    common, n_sums = sums.shape[0] - 1, total.size
    for k in range(n_sums):
        sums[common, k] = total[k]
    sums[common, n_sums] = n_rows
    for i in range(first, last):
        for k in range(n_sums + 1):
            sums[common, k] -= sums[slots[i], k]
    n_order, placed = 0, sums[common, n_sums] == 0.0
    for i in range(first, last):
        if not placed and slot_code[slots[i]] > common_code:
            order[n_order] = common
            n_order += 1
            placed = True
        order[n_order] = slots[i]
        n_order += 1
    if not placed:
        order[n_order] = common
        n_order += 1
    return n_order


@njit(cache=True, nogil=True, error_model="numpy")
def keeps_order(left_value, right_value, sign, lower, upper):
    """Return whether two values rise (or fall) as wanted and lie between the bounds."""
    if min(left_value, right_value) < lower or max(left_value, right_value) > upper:
        return False
    return (left_value - right_value) * sign <= 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def is_free(rule, sign):
    """Return whether every cut is allowed."""
    return rule.min_leaf == 1 and rule.min_leaf_weight == 0.0 and sign == 0


@njit(cache=True, nogil=True, error_model="numpy")
def gini_pair(a, b, c, d):
    """Return the cost of two sides with a, b and c, d of two classes: w(1 - Σp²) is 2 a b / (a + b)."""
    return 2.0 * (a * b * (c + d) + c * d * (a + b)) / ((a + b) * (c + d))


@njit(cache=True, nogil=True, error_model="numpy")
def best_gini_cut(sums, order, n_order, total_a, total_b, tie):
    """Return the least cost of a cut and its place, for two classes and nothing to heed."""
    best, place = np.inf, -1
    a = b = 0.0
    for p in range(n_order - 1):
        a += sums[order[p], 0]
        b += sums[order[p], 1]
        found = gini_pair(a, b, total_a - a, total_b - b)
        if found < best - tie:
            best, place = found, p
    return best, place


@njit(cache=True, nogil=True, error_model="numpy")
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
            if criterion == GINI:
                left_part += a * a
                right_part += b * b
            elif criterion == ENTROPY:
                left_part += x_log_x(a, logs)
                right_part += x_log_x(b, logs)
            else:
                left_part = max(left_part, a)
                right_part = max(right_part, b)
        if criterion == GINI:
            found += left_weight - left_part / left_weight + right_weight - right_part / right_weight
        elif criterion == ENTROPY:
            found += x_log_x(left_weight, logs) - left_part + x_log_x(right_weight, logs) - right_part
        else:
            found += left_weight - left_part + right_weight - right_part
    return found / n_outputs


@njit(cache=True, nogil=True, error_model="numpy")
def best_class_cut(sums, order, first, last, left, total, node, starts, rule, sign, unit, logs):
    """Return the least cost of a cut after one of the places ``first`` to ``last`` of ``order``, and that place.

    ``left`` are the sums of what goes left in any case, followed by its rows and all rows; it is overwritten.
    ``logs`` has x log₂ x of whole numbers, or is empty.
    """
    criterion, n_sums = rule.criterion, total.size
    lower, upper, min_leaf, min_weight = node.lower, node.upper, rule.min_leaf, rule.min_leaf_weight
    free, tie = is_free(rule, sign), tie_of(node)
    best, place = np.inf, -1
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
                if criterion == GINI:
                    left_part += a * a
                    right_part += b * b
                elif criterion == ENTROPY:
                    left_part += x_log_x(a, logs)
                    right_part += x_log_x(b, logs)
                else:
                    left_part = max(left_part, a)
                    right_part = max(right_part, b)
            if criterion == GINI:
                found += left_weight - left_part / left_weight + right_weight - right_part / right_weight
            elif criterion == ENTROPY:
                found += x_log_x(left_weight, logs) - left_part + x_log_x(right_weight, logs) - right_part
            else:
                found += left_weight - left_part + right_weight - right_part
        if found < (best - tie) * n_outputs and p >= first:
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
            best, place = found / n_outputs, p
    return best, place


@njit(cache=True, nogil=True, error_model="numpy")
def x_log_x(x, logs):
    """Return x log₂ x, from the table if there is one."""
    if logs.size > 0:
        return logs[int(x)]
    return x * math.log2(x) if x > 0.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def best_amount_cut(sums, order, first, last, left, total, node, rule, sign, known_costs):
    """Return the same for amounts; ``costs`` has the cost of every cut, or is empty where the sums tell it."""
    criterion, n_outputs = rule.criterion, total.size - 1
    costs, lefts, rights = known_costs
    lower, upper, min_leaf, min_weight = node.lower, node.upper, rule.min_leaf, rule.min_leaf_weight
    free, tie = is_free(rule, sign), tie_of(node)
    best, place = np.inf, -1
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
                x = left[1 + o]
                y = total[1 + o] - x
                found -= x * x / a + y * y / b
        elif criterion != ABSOLUTE_ERROR:
            for o in range(n_outputs):
                x = left[1 + o]
                y = total[1 + o] - x
                least = LEAST_SHARE * total[1 + o]  # not 0: the sums are rounded
                found -= x * math.log(x / a) + y * math.log(y / b) if x > least and y > least else -np.inf
        if found < (best - tie) * n_outputs and p >= first:
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
            best, place = found / n_outputs, p
    return best, place


@njit(cache=True, nogil=True, error_model="numpy")
def best_of_few(columns, at, rows, labels, amounts, weights, total, criterion, logs, room, left, order, tie):
    """Return the codes that occur, the least cost of a cut and its place, for a node of a few rows.

    The rows are sorted by insertion and visited one by one: no sums to fill and to clear. For one output and the
    criteria whose parts change in one place when a row goes from right to left.
    """
    n_rows = rows.size
    for i in range(n_rows):
        code, j = columns[at, rows[i]], i
        while j > 0 and room[j - 1, 0] > code:
            room[j, 0], room[j, 1] = room[j - 1, 0], room[j - 1, 1]
            j -= 1
        room[j, 0], room[j, 1] = code, i
    if room[0, 0] == room[n_rows - 1, 0]:
        return 1, np.inf, -1
    best, place, n_order = np.inf, -1, 0
    left_weight = left_part = right_part = right_weight = 0.0
    for k in range(total.size):
        left[k] = 0.0
        if criterion == GINI:
            right_part += total[k] * total[k]
        elif criterion == ENTROPY:
            right_part += x_log_x(total[k], logs)
        if criterion != SQUARED_ERROR:
            right_weight += total[k]
    if criterion == SQUARED_ERROR:
        right_weight, right_part = total[0], total[1]
    for i in range(n_rows - 1):
        row = room[i, 1]
        w = weights[row] if weights.size > 0 else 1.0
        left_weight += w
        right_weight -= w
        if criterion == SQUARED_ERROR:
            left_part += w * amounts[row, 0]
            right_part -= w * amounts[row, 0]
        else:
            k = labels[row, 0]
            before, rest = left[k], total[k] - left[k]
            left[k] = before + w
            if criterion == GINI:
                left_part += w * (2.0 * before + w)
                right_part -= w * (2.0 * rest - w)
            else:
                left_part += x_log_x(before + w, logs) - x_log_x(before, logs)
                right_part += x_log_x(rest - w, logs) - x_log_x(rest, logs)
        if room[i, 0] == room[i + 1, 0]:
            continue
        if criterion == SQUARED_ERROR:
            found = -(left_part * left_part / left_weight + right_part * right_part / right_weight)
        elif criterion == GINI:
            found = left_weight - left_part / left_weight + right_weight - right_part / right_weight
        else:
            found = x_log_x(left_weight, logs) - left_part + x_log_x(right_weight, logs) - right_part
        if found < best - tie:
            best, place = found, n_order
        order[n_order] = room[i, 0]
        n_order += 1
    order[n_order] = room[n_rows - 1, 0]
    return n_order + 1, best, place


@njit(cache=True, nogil=True, error_model="numpy")
def sort_categories(order, n_order, sums, starts, classifying, total, weight):
    """Put the categories in the order in which they are cut."""
    keys = np.empty(n_order)
    if total.size == 2:
        for i in range(n_order):
            whole = sums[order[i], 0] + (sums[order[i], 1] if classifying else 0.0)
            keys[i] = sums[order[i], 1] / whole
    else:
        write_component(keys, order, sums, starts, classifying, total, weight)
    by_key, before = sorted_order(keys), order[:n_order].copy()
    for i in range(n_order):
        order[i] = before[by_key[i]]


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def multiway_cost(order, n_order, sums, n_sums, starts, rule, unit):
    """Return the cost of one branch for each category, or infinity when one of them would be too small."""
    total, n_first = 0.0, starts[1] if is_classifying(rule.criterion) else 1
    for i in range(n_order):
        line, weight = order[i], 0.0
        for k in range(n_first):
            weight += sums[line, k]
        n_rows = weight if unit else sums[line, n_sums]
        if n_rows < rule.min_leaf or weight < rule.min_leaf_weight:
            return np.inf
        if rule.criterion != ABSOLUTE_ERROR:
            total += cost(sums[line], starts, rule.criterion)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def code_of(line, first_code, meaning, slot_code, common):
    """Return the feature's code behind a line of the sums; ``first_code`` is -1 for a thin column."""
    if first_code >= 0:
        return meaning[first_code + line]
    return slot_code[line] if line < slot_code.size else common


@njit(cache=True, nogil=True, error_model="numpy")
def best_of_feature(
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
    best, place, missing_left = np.inf, -1, -1
    for side in range(first_side, last_side + 1):
        for k in range(n_sums + 1):
            left[k] = sums[order[n_order - 1], k] if side == 1 else 0.0
        left[n_sums + 1] = n_rows
        if side == 1:
            last = min(last, n_order - 3)
        if classifying:
            found, cut = best_class_cut(sums, order, first, last, left, total, node, starts, rule, sign, unit, logs)
        elif side == 1:
            found, cut = best_amount_cut(sums, order, first, last, left, total, node, rule, sign, left_costs)
        else:
            found, cut = best_amount_cut(sums, order, first, last, left, total, node, rule, sign, right_costs)
        if side == first_side or found < best - tie_of(node):
            best, place, missing_left = found, cut, side if has_missing else -1
    return best, place, missing_left


@njit(cache=True, nogil=True, error_model="numpy")
def key_of(seed, feature):
    """Return 64 random bits for a feature at a node."""
    return mixed(seed ^ mixed(np.uint64(feature + 1)))


@njit(cache=True, nogil=True, error_model="numpy")
def is_better(cost, gap, feature, best, tie, seed):
    """Return whether a cut costs less than the best so far; of equal ones that with the wider gap is better.

    In a small node many features are equally good. A cut through a wide gap is far from the rows on either side, so
    new rows fall on the right one; to prefer, say, the first feature makes trees that are measurably worse. Where the
    gaps are equal too, a draw decides.
    """
    if cost < best.cost - tie or best.feature < 0:
        return cost < np.inf
    if cost > best.cost + tie or gap < best.gap:
        return False
    return gap > best.gap or key_of(seed, feature) < key_of(seed, best.feature)


@njit(cache=True, nogil=True, error_model="numpy")
def gap_of(order, place, n_order, first_code, meaning, slot_code, common, n_values):
    """Return how many of a column's values lie between the two sides of a cut, as a share of all."""
    if place < 0 or place + 1 >= n_order or n_values == 0:
        return 0.0
    below = code_of(order[place], first_code, meaning, slot_code, common)
    above = code_of(order[place + 1], first_code, meaning, slot_code, common)
    return (above - below) / n_values


@njit(cache=True, nogil=True, error_model="numpy")
def drawn_order(column_feature, slot_feature, slots, group, seed):
    """Return the candidates in a random order that follows from their features: not from how the table is kept."""
    n_columns = column_feature.size
    keys = np.empty(n_columns + group.size - 1)
    for i in range(keys.size):
        feature = column_feature[i] if i < n_columns else slot_feature[slots[group[i - n_columns]]]
        keys[i] = key_of(seed + ONE, feature) >> np.uint64(11)
    return sorted_order(keys)


@njit(cache=True, nogil=True, error_model="numpy")
def has_parts(criterion, unit):
    """Return whether ``best_of_few`` can follow the criterion; differences of uneven weights would cancel."""
    return unit and criterion in (GINI, ENTROPY, SQUARED_ERROR)


@njit(cache=True, nogil=True, error_model="numpy")
def find_split(codes, features, sample, total, starts, signs, rule, node, only, logs, bench):
    """Return the best split of a node and the codes that occur there, in the order in which they are cut.

    ``total`` are the sums of its rows; ``only`` names the feature to be asked, or is -1.
    """
    rows, labels, amounts, weights = sample.rows, sample.labels, sample.amounts, sample.weights
    classifying, unit = is_classifying(rule.criterion), weights.size == 0
    sums, bits, slot_sums, slot_bits = bench.sums, bench.bits, bench.slot_sums, bench.slot_bits
    columns, column_feature, column_start = codes.columns, codes.feature, codes.start
    slot_feature, slot_code, meaning, kinds = codes.slot_feature, codes.slot_code, codes.meaning, features.kind
    missing, commons, value_start, highs = features.missing, features.common, features.start, features.highs
    n_columns, n_slots, n_rows = column_feature.size, slot_feature.size, rows.size
    slots, n_present = np.empty(n_slots, dtype=np.int64), 0
    if n_slots > 0:
        add_up_slots(codes.entry_start, codes.entries, rows, labels, amounts, weights, starts, slot_sums, slot_bits)
        n_present = taken_out(slot_bits, slot_bits.size, slots)
    group = groups_of(slots, n_present, slot_feature)
    n_candidates = n_columns + group.size - 1
    drawing = rule.max_features < kinds.size and only < 0
    candidates = np.arange(n_candidates)
    if drawing:
        candidates = drawn_order(column_feature, slot_feature, slots, group, node.seed)
    most = max(min(n_rows, sums.shape[0]), n_present + 1)
    order, best_order, n_best = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64), 0
    left, right_costs, left_costs = np.empty(total.size + 2), np.empty(0), np.empty(0)
    right_lefts, right_rights, left_lefts, left_rights = np.empty(0), np.empty(0), np.empty(0), np.empty(0)
    tie = tie_of(node)
    best = Split(np.inf, -1, -1, -1, -1, -1.0)
    free = is_free(rule, 0) and not (rule.at_random or rule.multiway)
    plain, pair = free and classifying, free and rule.criterion == GINI and total.size == 2
    few = free and n_rows <= FEW_ROWS and starts.size == 2 and has_parts(rule.criterion, unit)
    room = np.empty((n_rows if few else 0, 2), dtype=np.int64)
    n_tried = 0
    for t in range(n_candidates):
        candidate = candidates[t]
        dense = candidate < n_columns
        feature = np.int64(column_feature[candidate] if dense else slot_feature[slots[group[candidate - n_columns]]])
        if only >= 0 and feature != only:
            continue
        simple = kinds[feature] != CATEGORY and missing[feature] < 0 and signs[feature] == 0
        if dense and few and simple:
            n_order, found, place = best_of_few(
                columns, candidate, rows, labels, amounts, weights, total, rule.criterion, logs, room, left, order, tie
            )
            if n_order >= 2:
                n_tried += 1
                gap = (
                    meaning[column_start[candidate] + order[place + 1]]
                    - meaning[column_start[candidate] + order[place]]
                ) / (value_start[feature + 1] - value_start[feature])
                if is_better(found, gap, feature, best, tie, node.seed):
                    best, n_best = Split(found, candidate, feature, place, -1, gap), n_order
                    for i in range(n_order):
                        best_order[i] = order[i]
            if drawing and n_tried >= rule.max_features and best.candidate >= 0:
                break
            continue
        if dense:
            if classifying:
                add_up_classes(columns, candidate, rows, labels, weights, starts, sums, bits)
            else:
                add_up_amounts(columns, candidate, rows, amounts, weights, sums, bits)
            first_code = column_start[candidate]
            n_order = taken_out(bits, word_count(column_start[candidate + 1] - first_code), order)
        else:
            first_code, first, last = -1, group[candidate - n_columns], group[candidate - n_columns + 1]
            if (
                plain
                and last - first == 1
                and signs[feature] == 0
                and missing[feature] < 0
                and kinds[feature] != CATEGORY
            ):
                # a column of two values: nothing to put in order
                if slot_sums[slots[first], total.size] < n_rows:
                    n_tried += 1
                    found = line_cost(slot_sums, slots[first], total, starts, rule.criterion, logs)
                    gap = abs(slot_code[slots[first]] - commons[feature]) / (
                        value_start[feature + 1] - value_start[feature]
                    )
                    if is_better(found, gap, feature, best, tie, node.seed):
                        best = Split(found, candidate, feature, 0, -1, gap)
                        n_best = ordered_slots(
                            slots, first, last, slot_code, commons[feature], n_rows, total, slot_sums, best_order
                        )
                if drawing and n_tried >= rule.max_features and best.candidate >= 0:
                    break
                continue
            n_order = ordered_slots(slots, first, last, slot_code, commons[feature], n_rows, total, slot_sums, order)
        if n_order >= 2:
            n_tried += 1
            place, draw = -1, node.seed
            is_category, has_missing = kinds[feature] == CATEGORY, False
            if missing[feature] >= 0:
                last_code = code_of(order[n_order - 1], first_code, meaning, slot_code, commons[feature])
                has_missing = last_code == missing[feature]
            if is_category and not rule.multiway:
                sort_categories(order, n_order, sums if dense else slot_sums, starts, classifying, total, node.weight)
            if rule.at_random:
                draw = key_of(node.seed, feature)
                if is_category:
                    place = int(draw % np.uint64(n_order - 1))
                else:
                    place = random_place(
                        order,
                        n_order - has_missing,
                        first_code,
                        meaning,
                        slot_code,
                        commons[feature],
                        value_start[feature],
                        features.lows,
                        highs,
                        draw,
                    )
            if rule.criterion == ABSOLUTE_ERROR:
                own = lines_of(codes, rows, candidate, feature)
                right_costs = cut_costs(own, order[:n_order], sample.ranks, sample.ordered, weights, 0)
                left_costs = cut_costs(own, order[:n_order], sample.ranks, sample.ordered, weights, 1)
                if signs[feature] != 0:
                    right_lefts, right_rights = cut_medians(own, order[:n_order], amounts, weights, 0)
                    left_lefts, left_rights = cut_medians(own, order[:n_order], amounts, weights, 1)
            if pair and not has_missing and signs[feature] == 0:
                found, place = best_gini_cut(sums if dense else slot_sums, order, n_order, total[0], total[1], tie)
                side = -1
            elif is_category and rule.multiway:
                lines = sums if dense else slot_sums
                found, place, side = multiway_cost(order, n_order, lines, total.size, starts, rule, unit), 0, -1
                if rule.criterion == ABSOLUTE_ERROR and found < np.inf:
                    found = line_costs(own, order[:n_order], amounts, weights)
            else:
                found, place, side = best_of_feature(
                    sums if dense else slot_sums,
                    order,
                    n_order,
                    has_missing,
                    place,
                    draw,
                    (right_costs, right_lefts, right_rights),
                    (left_costs, left_lefts, left_rights),
                    total,
                    n_rows,
                    starts,
                    rule,
                    signs[feature],
                    node,
                    logs,
                    unit,
                    left,
                )
            n_values = value_start[feature + 1] - value_start[feature]
            gap = 1.0 / n_values
            if not is_category:
                gap = gap_of(order, place, n_order, first_code, meaning, slot_code, commons[feature], n_values)
            if is_better(found, gap, feature, best, tie, node.seed):
                best = Split(found, candidate, feature, place, side, gap)
                n_best = n_order
                for i in range(n_order):
                    best_order[i] = order[i]
        if dense:
            cleared(sums, order, n_order)
        if drawing and n_tried >= rule.max_features and best.candidate >= 0:
            break
    cleared(slot_sums, slots, n_present)
    return best, best_order[:n_best]


@njit(cache=True, nogil=True, error_model="numpy")
def place_of(ascending, value):
    """Return the first place of an ascending array whose entry is at least ``value``."""
    low, high = 0, ascending.size
    while low < high:
        middle = (low + high) >> 1
        if ascending[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True, error_model="numpy")
def lines_of(codes, rows, candidate, feature):
    """Return the line of the sums on which each row stands in one column."""
    lines = np.empty(rows.size, dtype=np.int64)
    if candidate < codes.feature.size:
        column = codes.columns[candidate]
        for i in range(rows.size):
            lines[i] = column[rows[i]]
        return lines
    entry_start, entries, common = codes.entry_start, codes.entries, codes.slot_feature.size
    first = place_of(codes.slot_feature, feature)
    last = place_of(codes.slot_feature, feature + 1)
    for i in range(rows.size):
        lines[i] = common
        for e in range(entry_start[rows[i]], entry_start[rows[i] + 1]):
            if first <= entries[e] < last:
                lines[i] = entries[e]
    return lines


@njit(cache=True, nogil=True, error_model="numpy")
def moved_rows(codes, rows, split, order):
    """Bring the rows that go left to the front, each side in its old order; return how many those are."""
    widest = 0
    for line in order:
        widest = max(widest, line)
    side = np.empty(widest + 1, dtype=np.uint8)
    for i in range(order.size):
        side[order[i]] = i <= split.place
    if split.missing_left >= 0:
        side[order[order.size - 1]] = split.missing_left
    spare = np.empty(rows.size, dtype=np.int32)
    n_left, n_right = 0, 0
    if split.candidate < codes.feature.size:
        column = codes.columns[split.candidate]
        for i in range(rows.size):
            row = rows[i]
            left = int(side[column[row]])
            rows[n_left] = row
            spare[n_right] = row
            n_left += left
            n_right += 1 - left
    else:
        lines = lines_of(codes, rows, split.candidate, split.feature)
        for i in range(rows.size):
            row, left = rows[i], int(side[lines[i]])
            rows[n_left] = row
            spare[n_right] = row
            n_left += left
            n_right += 1 - left
    for i in range(n_right):
        rows[n_left + i] = spare[i]
    return n_left
