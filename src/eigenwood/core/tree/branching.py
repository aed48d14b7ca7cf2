"""The nodes of a tree, or of a part of one, grown depth first in one call.

    root table   ████████████████████████
                 ████████████│███████████
                 ██│███│█████│██ │████│██      a small node is left for later: finishing.py grows it to its end

Every draw comes from a seed that follows from the node's place in the tree, so it does not matter in how many calls,
or on which threads, the parts of a tree are grown.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit, njit_no_refcount, njit_refcount
from eigenwood.core.bits import ONE
from eigenwood.core.distinct import mixed
from eigenwood.core.memory import room_for
from eigenwood.core.sorting import sorted_order
from eigenwood.core.tree.absolute import rows_by_line
from eigenwood.core.tree.adding import code_at, code_of, lines_of
from eigenwood.core.tree.binning import CATEGORY
from eigenwood.core.tree.cutting import tie_of
from eigenwood.core.tree.impurity import (
    ABSOLUTE_ERROR,
    SQUARED_ERROR,
    amount_impurity,
    cost,
    is_classifying,
    squared_part,
    weighted_median,
)
from eigenwood.core.tree.nodes import LEAF, NO_FEATURE, NO_THRESHOLD
from eigenwood.core.tree.rests import heaviest_branch, write_amount_rests, write_class_rests
from eigenwood.core.tree.splitting import Node, Sample, find_split

LEFT, RIGHT, FEATURE, DEFAULT_LEFT, CHAINED, N_ROWS, LISTED, LIST = range(8)  # what a node is, in whole numbers …
THRESHOLD, IMPURITY, WEIGHT = range(3)  # … and in real ones
START, END, DEPTH, PARENT, SIDE = range(5)  # a node that waits
N_STACK, N_NODES, N_OPEN, N_SPLITS, N_CATEGORIES, N_LATER = range(6)
LARGEST = float(np.finfo(np.float64).max)
ROUNDING = 1e-15  # a decrease may fall short of the wanted one by this, or by what makes two cuts equal


class Target(NamedTuple):
    """What the rows are to be told apart by: labels or amounts, and weights unless all are 1."""

    labels: np.ndarray  # (n_rows, n_outputs) int32, no rows for regression
    amounts: np.ndarray  # (n_rows, n_outputs) float64, no rows for classification
    weights: np.ndarray  # (n_rows,) float64, or empty
    starts: np.ndarray  # (n_outputs + 1,) where the classes of an output begin among all


class Growth(NamedTuple):
    """The nodes so far, those that wait, and those that stay open."""

    whole: np.ndarray  # (n, 8) LEFT … LIST; where a list of categories begins
    real: np.ndarray  # (n, 3) THRESHOLD … WEIGHT
    value: np.ndarray  # (n, n_values)
    categories: np.ndarray
    stack: np.ndarray  # (n, 5) START … SIDE
    seeds: np.ndarray  # (n, 1)
    bounds: np.ndarray  # (n, 2)
    constants: np.ndarray  # (n, n_words) the columns that are constant above, as bits
    later: np.ndarray  # (n, 5) small nodes that are left for later: start, end, depth, parent, side
    later_seeds: np.ndarray
    opened: np.ndarray  # (n, 4) node, start, end, depth
    open_seeds: np.ndarray
    open_bounds: np.ndarray
    counts: np.ndarray  # (6,) N_STACK … N_LATER
    first_decrease: np.ndarray  # (1,) of the impurity, by the split of the root


class Place(NamedTuple):
    """Where in the tree a node stands, and which rows it has."""

    start: int
    end: int
    depth: int
    seed: np.uint64
    lower: float
    upper: float


@njit(error_model="numpy")
def new_sample(target, n_rows, criterion):
    """Return room for the rows of a node with their targets one after the other."""
    n_outputs = target.starts.size - 1
    n_ranked = n_rows if criterion == ABSOLUTE_ERROR else 0
    labels = np.empty((n_rows if target.labels.shape[0] > 0 else 0, n_outputs), dtype=np.int32)
    amounts = np.empty((n_rows if target.amounts.shape[0] > 0 else 0, n_outputs))
    weights = np.empty(n_rows if target.weights.size > 0 else 0)
    ranks, ordered = np.empty((n_ranked, n_outputs), dtype=np.int64), np.empty((n_ranked, n_outputs))
    return Sample(np.empty(0, dtype=np.int32), labels, amounts, weights, ranks, ordered)


@njit_no_refcount
def sample_in(room, target, rows):
    """Return the rows of a node and their targets, written to the beginning of a sample of at least as many rows."""
    n = rows.size
    labels, amounts = room.labels[: min(n, room.labels.shape[0])], room.amounts[: min(n, room.amounts.shape[0])]
    weights, ranks = room.weights[: min(n, room.weights.size)], room.ranks[: min(n, room.ranks.shape[0])]
    ordered = room.ordered[: min(n, room.ordered.shape[0])]
    fill(labels, amounts, weights, ranks, ordered, target, rows)
    return Sample(rows, labels, amounts, weights, ranks, ordered)


@njit_no_refcount
def fill(labels, amounts, weights, ranks, ordered, target, rows):
    """Write the targets of some rows, and the ranks of their amounts if there is room for them."""
    gather(target.labels, target.amounts, target.weights, rows, labels, amounts, weights)
    if ranks.shape[0] > 0:
        write_ranks(amounts, ranks, ordered)


@njit_refcount
def write_ranks(amounts, ranks, ordered):
    """Write the places of the amounts by size, and the amounts in that order, for each output.

    One in the middle is taken off them, so that no error is lost in the difference of large sums.
    """
    for o in range(amounts.shape[1]):
        by_size = sorted_order(amounts[:, o].copy())
        middle = amounts[by_size[by_size.size // 2], o]
        for i in range(amounts.shape[0]):
            ranks[by_size[i], o] = i
            ordered[i, o] = amounts[by_size[i], o] - middle


@njit_no_refcount
def gather(all_labels, all_amounts, all_weights, rows, labels, amounts, weights):
    """Write the targets of some rows."""
    for i in range(weights.size):
        weights[i] = all_weights[np.uint64(rows[i])]
    for i in range(labels.shape[0]):
        for o in range(labels.shape[1]):
            labels[i, o] = all_labels[np.uint64(rows[i]), o]
    for i in range(amounts.shape[0]):
        for o in range(amounts.shape[1]):
            amounts[i, o] = all_amounts[np.uint64(rows[i]), o]


@njit_no_refcount
def described_classes(labels, weights, starts, criterion, sums, place, value):
    """Return what is known of a node, and whether it is pure; its ``value`` is the shares of the classes."""
    sums[:] = 0.0
    for o in range(starts.size - 1):
        first = starts[o]
        for i in range(labels.shape[0]):
            sums[first + labels[i, o]] += weights[i] if weights.size > 0 else 1.0
    return described_sums(sums, starts, criterion, place, value)


@njit_no_refcount
def described_sums(sums, starts, criterion, place, value):
    """Return the same, given the weights of the classes."""
    n_sums, weight = sums.size, 0.0
    for k in range(starts[1]):
        weight += sums[k]
    n_present = 0
    for k in range(n_sums):
        n_present += sums[k] > 0.0
        value[k] = sums[k] / weight
    if place.lower > -np.inf or place.upper < np.inf:
        value[1] = min(max(value[1], place.lower), place.upper)
        value[0] = 1.0 - value[1]
    pure, total = n_present == starts.size - 1, cost(sums, starts, criterion)
    impurity = 0.0 if pure else max(total / weight, 0.0)
    return Node(impurity, weight, total, 0.0, place.lower, place.upper, place.seed), pure


@njit_no_refcount
def described_amounts(amounts, weights, starts, criterion, sums, place, value):
    """Return the same for amounts: the value is their mean, or their median for the absolute error.

    For the squared error the mean is taken off the amounts, so that no gain is lost in the difference of large sums.
    """
    n_rows, n_outputs = amounts.shape
    weight = float(n_rows)
    if weights.size > 0:
        weight = 0.0
        for i in range(n_rows):
            weight += weights[i]
    impurity, pure, centre, sums[0] = 0.0, True, 0.0, weight
    for o in range(n_outputs):
        total, least, greatest = 0.0, amounts[0, o], amounts[0, o]
        for i in range(n_rows):
            total += amounts[i, o] * (weights[i] if weights.size > 0 else 1.0)
            least, greatest = min(least, amounts[i, o]), max(greatest, amounts[i, o])
        pure = pure and least == greatest
        middle = least if least == greatest else total / weight
        if criterion == SQUARED_ERROR:
            centre, squares, total = middle, 0.0, 0.0
            for i in range(n_rows):
                own, rest = weights[i] if weights.size > 0 else 1.0, amounts[i, o] - centre
                amounts[i, o] = rest
                total += own * rest
                squares += own * rest * rest
            # the mean was rounded: what it left is small, and known exactly
            impurity += max(squares - squared_part(total, weight), 0.0) / weight / n_outputs
            middle += total / weight
        else:
            if criterion == ABSOLUTE_ERROR:
                middle = median_of(amounts[:, o], weights)
            impurity += amount_impurity(amounts[:, o], weights, middle, criterion) / n_outputs
        sums[1 + o], value[o] = total, min(max(middle, place.lower), place.upper)
    impurity = 0.0 if pure else impurity
    total = weight * impurity if criterion == ABSOLUTE_ERROR else cost(sums, starts, criterion)
    return Node(impurity, weight, total, centre, place.lower, place.upper, place.seed), pure


@njit_refcount
def median_of(amounts, weights):
    """Return the median of amounts that do not lie one after the other."""
    return weighted_median(amounts.copy(), weights)


@njit_no_refcount
def code_behind(codes, features, split, line):
    """Return the feature's code behind a line of the sums."""
    first = codes.start[split.candidate] if split.candidate < codes.feature.size else -1
    return code_of(line, first, codes.meaning, codes.slot_code, features.common[split.feature])


@njit_no_refcount
def threshold_of(codes, features, split):
    """Return where a cut lies."""
    below, above = code_behind(codes, features, split, split.below), code_behind(codes, features, split, split.above)
    return middle_between(features, split.feature, below, above)


@njit_no_refcount
def middle_between(features, feature, below_code, above_code):
    """Return the middle between the two values that a cut separates; the largest number if all numbers go left."""
    if above_code == features.missing[feature]:
        return LARGEST
    first = features.start[feature]
    below, above = features.highs[first + below_code], features.lows[first + above_code]
    middle = 0.5 * below + 0.5 * above
    return middle if below <= middle < above else below


@njit_refcount
def moved_rows(codes, features, rows, split, lines, spare):
    """Bring the rows that go left to the front, each side in its old order; return how many those are."""
    at = split.candidate
    if at < codes.feature.size and features.kind[split.feature] != CATEGORY:
        # of a column with missing values the last code is theirs
        missing = codes.start[at + 1] - codes.start[at] - 1 if split.missing_left == 1 else -1
        return moved_by_code(codes.columns, codes.by_row, at, split.below, missing, rows, spare)
    side, own = sides_of(codes, features, split, lines), lines_of(codes, rows, at, split.feature)
    return moved_by_line(side, own, rows, spare)


@njit_no_refcount
def moved_by_code(columns, by_row, at, below, missing, rows, spare):
    """Do so where codes up to ``below``, and that of missing numbers if it is not -1, go left."""
    n_left = n_right = np.uint64(0)
    for i in range(rows.size):
        row = rows[i]
        code = code_at(columns, by_row, at, row, row)
        left = np.uint64(code <= below or code == missing)
        rows[n_left] = row
        spare[n_right] = row
        n_left += left
        n_right += ONE - left
    for i in range(n_right):
        rows[n_left + i] = spare[i]
    return np.int64(n_left)


@njit_no_refcount
def moved_by_line(side, lines, rows, spare):
    """Do so where each line has its side."""
    n_left = n_right = 0
    for i in range(rows.size):
        row, left = rows[i], int(side[lines[i]])
        rows[n_left] = row
        spare[n_right] = row
        n_left += left
        n_right += 1 - left
    for i in range(n_right):
        rows[n_left + i] = spare[i]
    return n_left


@njit(error_model="numpy")
def sides_of(codes, features, split, lines):
    """Return for each line of a category or of the slots whether it goes left."""
    if features.kind[split.feature] == CATEGORY:
        widest = 0
        for line in lines:
            widest = max(widest, line)
        side = np.zeros(widest + 1, dtype=np.uint8)
        for i in range(split.place + 1):
            side[lines[i]] = 1
        return side
    n_slots = codes.slot_code.size
    side = np.zeros(n_slots + 1, dtype=np.uint8)
    below, missing = code_behind(codes, features, split, split.below), features.missing[split.feature]
    for line in range(n_slots + 1):
        code = code_behind(codes, features, split, line)
        side[line] = code <= below if code != missing else split.missing_left == 1
    return side


@njit_no_refcount
def weight_of(weights, rows):
    """Return the weight of some rows."""
    if weights.size == 0:
        return float(rows.size)
    total = 0.0
    for row in rows:
        total += weights[row]
    return total


@njit_refcount
def value_of(target, rows, criterion):
    """Return the mean (or median) amount, or the share of the second class, of some rows."""
    if criterion == ABSOLUTE_ERROR:
        weights = target.weights[rows] if target.weights.size > 0 else target.weights
        return weighted_median(target.amounts[rows, 0], weights)
    total, weight = 0.0, 0.0
    for row in rows:
        w = target.weights[row] if target.weights.size > 0 else 1.0
        weight += w
        total += w * (target.labels[row, 0] if target.labels.shape[0] > 0 else target.amounts[row, 0])
    return total / weight


@njit_refcount
def write_listed(codes, features, split, lines, heavier_left, categories, first):
    """Write the categories of the lighter side, ascending, and return their number."""
    begin, end = (split.place + 1, lines.size) if heavier_left else (0, split.place + 1)
    listed = np.empty(end - begin)
    for i in range(begin, end):
        listed[i - begin] = code_behind(codes, features, split, lines[i])
    by_size = sorted_order(listed)
    for i in range(listed.size):
        categories[first + i] = np.int32(listed[by_size[i]])
    return listed.size


@njit_no_refcount
def write_leaf(whole, real, node, n_rows, known):
    """Write a node that asks nothing."""
    whole[node, LEFT], whole[node, RIGHT], whole[node, FEATURE], whole[node, LISTED] = LEAF, LEAF, NO_FEATURE, 0
    whole[node, DEFAULT_LEFT], whole[node, CHAINED], whole[node, N_ROWS] = 0, 0, n_rows
    real[node, THRESHOLD], real[node, IMPURITY], real[node, WEIGHT] = NO_THRESHOLD, known.impurity, known.weight


@njit_no_refcount
def push(stack, seeds, bounds, n_stack, line, seed, lower, upper):
    """Let a node wait."""
    for k in range(stack.shape[1]):
        stack[n_stack, k] = line[k]
    seeds[n_stack, 0], bounds[n_stack, 0], bounds[n_stack, 1] = seed, lower, upper
    return n_stack + 1


@njit_no_refcount
def stays_leaf(known, pure, place, rule):
    """Return whether a node is left alone whatever could be asked of it."""
    n_rows = place.end - place.start
    if pure or known.impurity <= rule.uncertainty or place.depth >= rule.max_depth or n_rows < rule.min_split:
        return True
    return known.weight < 2.0 * rule.min_leaf_weight


def new_growth(n_rows: int, n_nodes: int, n_values: int, n_words: int, n_open: int) -> Growth:
    """Return room for so many nodes over so many rows; memory that no node needs is never touched."""
    n_stack = min(n_nodes, n_rows + 1)
    return Growth(
        whole=room_for((n_nodes, 8), np.int32),
        real=room_for((n_nodes, 3)),
        value=room_for((n_nodes, n_values)),
        categories=np.empty(0, dtype=np.int32),
        stack=room_for((n_stack, 5), np.int64),
        seeds=np.empty((n_stack, 1), dtype=np.uint64),
        bounds=room_for((n_stack, 2)),
        constants=room_for((n_stack, n_words), np.uint64),
        later=room_for((n_rows, 5), np.int32),
        later_seeds=np.empty(n_rows, dtype=np.uint64),
        opened=np.empty((n_open, 4), dtype=np.int64),
        open_seeds=np.empty(n_open, dtype=np.uint64),
        open_bounds=np.empty((n_open, 2)),
        counts=np.zeros(6, dtype=np.int64),
        first_decrease=np.zeros(1),
    )


def begun(growth: Growth, roots: list[Place]) -> Growth:
    """Return the growth with nothing in it but roots, which wait; no column is known to be constant there."""
    growth.counts[:], growth.first_decrease[:], growth.constants[: len(roots)] = 0, 0.0, 0
    for n_waiting, root in enumerate(reversed(roots)):
        line = (root.start, root.end, root.depth, -1, 0)
        push(growth.stack, growth.seeds, growth.bounds, n_waiting, line, root.seed, root.lower, root.upper)
    growth.counts[N_STACK] = len(roots)
    return growth


def with_longer_lists(growth: Growth, n_lines: int) -> Growth:
    """Return the growth with room for more categories, at least ``n_lines``."""
    return growth._replace(categories=np.resize(growth.categories, 2 * growth.categories.size + n_lines))


@njit_no_refcount
def grow_nodes(
    codes, target, rows, features, rule, signs, logs, small, growth, bench, room, spare, max_splits, n_listed
):
    """Grow the nodes that wait, depth first, with at most ``max_splits`` questions; nodes of at most ``small`` rows are
    left for later. Return whether all are done: if not, there is no room for ``n_listed`` categories more.

    Nothing is allocated here, so no array has to be counted in and out.
    """
    whole, real, value, counts, starts = growth.whole, growth.real, growth.value, growth.counts, target.starts
    stack, seeds, bounds, sums = growth.stack, growth.seeds, growth.bounds, bench.total
    while counts[N_STACK] > 0:
        if counts[N_CATEGORIES] + n_listed > growth.categories.size:
            return False
        top, node = counts[N_STACK] - 1, counts[N_NODES]
        start, end, depth = stack[top, START], stack[top, END], stack[top, DEPTH]
        place = Place(start, end, depth, seeds[top, 0], bounds[top, 0], bounds[top, 1])
        counts[N_STACK] = top
        if end - start <= small:
            leave_for_later(growth, place, stack[top, PARENT], stack[top, SIDE])
            continue
        own = rows[start:end]
        sample = sample_in(room, target, own)
        if is_classifying(rule.criterion):
            known, pure = described_classes(
                sample.labels, sample.weights, starts, rule.criterion, sums, place, value[node]
            )
        else:
            known, pure = described_amounts(
                sample.amounts, sample.weights, starts, rule.criterion, sums, place, value[node]
            )
        write_leaf(whole, real, node, end - start, known)
        if stack[top, PARENT] >= 0:
            whole[stack[top, PARENT], stack[top, SIDE]] = node
        counts[N_NODES] = node + 1
        if stays_leaf(known, pure, place, rule):
            continue
        if counts[N_SPLITS] >= max_splits:
            leave_open(growth, node, place)
            continue
        for k in range(bench.constant.size):
            bench.constant[k] = growth.constants[top, k]
        split, n_lines = find_split(codes, features, sample, sums, starts, signs, rule, known, logs, bench)
        decrease = (known.cost - split.cost) / rule.total_weight
        rounding = max(ROUNDING, tie_of(known) / rule.total_weight)
        if split.candidate < 0 or decrease + rounding < rule.min_decrease:
            continue
        counts[N_SPLITS] += 1
        growth.first_decrease[0] = decrease if node == 0 else growth.first_decrease[0]
        if n_lines > 2 and rule.multiway:
            lines = bench.best_lines[:n_lines]
            write_chain(codes, target, features, rule, growth, bench.constant, lines, own, node, place, split, spare)
            continue
        branch(codes, target, features, rule, signs, growth, bench, n_lines, own, node, place, split, spare)
    return True


@njit_no_refcount
def leave_for_later(growth, place, parent, side):
    """Note a small node."""
    n, later = growth.counts[N_LATER], growth.later
    later[n, 0], later[n, 1], later[n, 2], later[n, 3], later[n, 4] = place.start, place.end, place.depth, parent, side
    growth.later_seeds[n] = place.seed
    growth.counts[N_LATER] = n + 1


@njit_no_refcount
def leave_open(growth, node, place):
    """Note a node that can grow further."""
    n = growth.counts[N_OPEN]
    growth.opened[n, 0], growth.opened[n, 1], growth.opened[n, 2] = node, place.start, place.end
    growth.opened[n, 3], growth.open_seeds[n] = place.depth, place.seed
    growth.open_bounds[n, 0], growth.open_bounds[n, 1] = place.lower, place.upper
    growth.counts[N_OPEN] = n + 1


@njit_no_refcount
def branch(table, goal, features, rule, signs, growth, bench, n_lines, own, node, place, split, spare):
    """Write the question of a node, move its rows to their sides, and let its children wait."""
    whole, counts, is_category = growth.whole, growth.counts, features.kind[split.feature] == CATEGORY
    lines = bench.best_lines[:n_lines]
    n_left = moved_rows(table, features, own, split, lines, spare)
    left_rows, right_rows = own[:n_left], own[n_left:]
    left_weight, right_weight = weight_of(goal.weights, left_rows), weight_of(goal.weights, right_rows)
    heavier_left = left_weight > right_weight or (is_category and rule.multiway and left_weight == right_weight)
    if is_category:
        first = counts[N_CATEGORIES]
        n_listed = write_listed(table, features, split, lines, heavier_left, growth.categories, first)
        whole[node, LISTED], whole[node, LIST], counts[N_CATEGORIES] = n_listed, first, first + n_listed
    else:
        growth.real[node, THRESHOLD] = threshold_of(table, features, split)
    whole[node, FEATURE] = split.feature
    whole[node, DEFAULT_LEFT] = split.missing_left if split.missing_left >= 0 else heavier_left
    sign, middle = signs[split.feature], 0.0
    if sign != 0:
        middle = 0.5 * (value_of(goal, left_rows, rule.criterion) + value_of(goal, right_rows, rule.criterion))
    stack, seeds, bounds, top = growth.stack, growth.seeds, growth.bounds, counts[N_STACK]
    right = (place.start + n_left, place.end, place.depth + 1, node, RIGHT)
    lower, upper = middle if sign > 0 else place.lower, middle if sign < 0 else place.upper
    top = push(stack, seeds, bounds, top, right, mixed(place.seed + ONE + ONE), lower, upper)
    left = (place.start, place.start + n_left, place.depth + 1, node, LEFT)
    lower, upper = middle if sign < 0 else place.lower, middle if sign > 0 else place.upper
    counts[N_STACK] = push(stack, seeds, bounds, top, left, mixed(place.seed + ONE), lower, upper)
    for k in range(bench.constant.size):
        growth.constants[top - 1, k] = growth.constants[top, k] = bench.constant[k]


@njit_refcount
def write_chain(table, goal, features, rule, growth, constant, lines, own, node, place, split, spare):
    """Write the links of a question with a branch for each of the categories on ``lines``, bring the rows in the order
    of the branches, and let those wait; return how many links there are.

    A link lists its own category, and all others go on to the next; but that of the heaviest category lists those after
    it, so that categories which were never seen stay there.
    """
    whole, real, counts, criterion = growth.whole, growth.real, growth.counts, rule.criterion
    order, ends = rows_by_line(lines_of(table, own, split.candidate, split.feature), lines)
    for i in range(own.size):
        spare[i] = own[order[i]]
    for i in range(own.size):
        own[i] = spare[i]
    n_links, first, heaviest = lines.size - 1, counts[N_NODES], heaviest_branch(goal.weights, own, ends)
    rests = slice(first, first + n_links - 1)  # the first link is the node itself
    known = growth.value[rests], real[rests, IMPURITY], real[rests, WEIGHT]
    if is_classifying(criterion):
        write_class_rests(goal, own, ends, criterion, place, *known)
    else:
        write_amount_rests(goal, own, ends, criterion, place, *known)
    seed, top = place.seed, counts[N_STACK] + n_links
    for p in range(n_links + 1):
        link = node if p == 0 else first + min(p, n_links - 1) - 1
        if p < n_links:
            begin, end = (p + 1, lines.size) if p == heaviest else (p, p + 1)
            whole[link, FEATURE], whole[link, CHAINED] = split.feature, p < n_links - 1
            whole[link, RIGHT], whole[link, DEFAULT_LEFT] = first + p, p == heaviest
            whole[link, N_ROWS], real[link, THRESHOLD] = own.size - ends[p], NO_THRESHOLD
            whole[link, LISTED], whole[link, LIST] = end - begin, counts[N_CATEGORIES]
            for i in range(begin, end):  # lines are in the order of their codes
                growth.categories[counts[N_CATEGORIES]] = code_behind(table, features, split, lines[i])
                counts[N_CATEGORIES] += 1
        side, own_seed = (LEFT, mixed(seed + ONE)) if p < n_links else (RIGHT, seed)
        line = (place.start + ends[p], place.start + ends[p + 1], place.depth + 1, link, side)
        # the first branch comes last: it is the next to be taken
        push(growth.stack, growth.seeds, growth.bounds, top - p, line, own_seed, place.lower, place.upper)
        for k in range(constant.size):
            growth.constants[top - p, k] = constant[k]
        seed = mixed(seed + ONE + ONE)
    counts[N_NODES], counts[N_STACK] = first + n_links - 1, top + 1
    return n_links
