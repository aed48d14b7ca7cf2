"""A tree grows from codes and weights, breadth first.

    root table   ████████████████████████      a large node is split once: two nodes more to do
                 ████████████│███████████
                 ██│███│█████│██ │████│██      a small node gets a table of its own, codes ranked anew among its rows
                    ▲                          and constant columns gone, and grows to its end there

The nodes of one generation do not depend on each other, so they run on as many threads as there are; every draw comes
from a seed that follows from the node's place in the tree, so the tree is the same for any number of them. When the
time is up, what was not reached yet is a leaf. With ``max_leaves`` the node with the largest decrease is split next
(best first).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numba import njit

from eigenwood.core.bits import ONE, taken_out, word_count
from eigenwood.core.distinct import mixed
from eigenwood.core.sorting import sorted_order
from eigenwood.core.threads import WorkQueue, results_of
from eigenwood.core.tree.binning import CATEGORY, Binned, Codes, starts
from eigenwood.core.tree.impurity import (
    ABSOLUTE_ERROR,
    ENTROPY,
    GINI,
    SQUARED_ERROR,
    amount_impurity,
    cost,
    is_classifying,
    weighted_median,
)
from eigenwood.core.tree.nodes import LEAF, NO_FEATURE, NO_THRESHOLD, PER_NODE, Tree, preorder, taken, with_leaves
from eigenwood.core.tree.splitting import Node, Rule, Sample, code_of, find_split, lines_of, moved_rows, new_bench

SMALL = 2048  # rows of a node that gets a table of its own: what fits in the nearest cache
ROUND_ROWS = 65_536  # rows that make a round, of which callbacks hear
LEFT, RIGHT, FEATURE, DEFAULT_LEFT, CHAINED, N_ROWS, LISTED = range(7)  # what a node is, in whole numbers …
THRESHOLD, IMPURITY, WEIGHT = range(3)  # … and in real ones
LARGEST = float(np.finfo(np.float64).max)
ROUNDING = 1e-15  # a decrease may fall short of the wanted one by this


class Target(NamedTuple):
    """What the rows are to be told apart by: labels or amounts, and weights unless all are 1."""

    labels: np.ndarray  # (n_rows, n_outputs) int32, no rows for regression
    amounts: np.ndarray  # (n_rows, n_outputs) float64, no rows for classification
    weights: np.ndarray  # (n_rows,) float64, or empty
    starts: np.ndarray  # (n_outputs + 1,) where the classes of an output begin among all


class Place(NamedTuple):
    """Where in the tree a node stands, and which rows it has."""

    start: int
    end: int
    depth: int
    seed: np.uint64
    only: int  # the feature whose question goes on here, -1 for none
    lower: float
    upper: float


class Piece(NamedTuple):
    """A part of a tree, and the nodes in it that can grow further."""

    tree: Tree
    decrease: float  # of the impurity, by the split of its root
    places: np.ndarray  # (n_open, 5) node, start, end, depth, only
    seeds: np.ndarray  # (n_open,)
    bounds: np.ndarray  # (n_open, 2) lower, upper


class GrowthStep(NamedTuple):
    """Where the growth stands."""

    pieces: list
    links: list  # for each piece: the piece above it and its node there
    whole: bool
    last: bool


def growth_steps(
    binned: Binned, target: Target, rows, rule: Rule, signs, max_leaves: int, seed: np.uint64, n_threads: int
) -> Iterator[GrowthStep]:
    """Yield the growth of a tree over some rows of a coded table; ``grown`` makes a tree of any step."""
    rows = np.array(rows, dtype=np.int32)
    root = Place(0, rows.size, 0, seed, -1, -np.inf, np.inf)
    ground = Ground(binned, target, rule, np.asarray(signs, dtype=np.int64), log_table(target, rule), rows)
    if max_leaves > 0:
        return best_first(ground, root, max_leaves, n_threads)
    return breadth_first(ground, root, n_threads)


def log_table(target: Target, rule: Rule) -> np.ndarray:
    """Return x log₂ x for all counts that may occur, if the criterion asks for it and there are only counts."""
    if rule.criterion != ENTROPY or target.weights.size > 0:
        return np.empty(0)
    counts = np.arange(target.labels.shape[0] + 1)
    return counts * np.log2(np.maximum(counts, 1))


class Ground(NamedTuple):
    """All that stays the same while a tree grows, and its rows, which are moved."""

    binned: Binned
    target: Target
    rule: Rule
    signs: np.ndarray
    logs: np.ndarray  # x log₂ x of whole numbers, or empty
    rows: np.ndarray


def breadth_first(ground: Ground, root: Place, n_threads: int) -> Iterator[GrowthStep]:
    """Yield after every node that was split or grown to its end; the nodes nearest to the root come first."""
    pieces, links, n_rows = [], [], 0

    def grow(item: tuple[Place, tuple[int, int]]) -> Piece:
        return piece_at(ground, item[0])

    with WorkQueue(grow, n_threads) as queue:
        queue.add((root, (-1, 0)))
        while queue.is_open():
            (place, link), piece = queue.next_result()
            pieces.append(piece)
            links.append(link)
            for node, below in open_places(piece):
                queue.add((below, (len(pieces) - 1, node)))
            n_rows += place.end - place.start
            last = not queue.is_open()
            yield GrowthStep(pieces, links, n_rows >= ROUND_ROWS or last, last)
            n_rows = n_rows if n_rows < ROUND_ROWS else 0


def best_first(ground: Ground, root: Place, max_leaves: int, n_threads: int) -> Iterator[GrowthStep]:
    """Yield after every split, the one with the largest decrease first, until there are ``max_leaves`` leaves."""
    first = piece_at(ground, root, one_split=True)
    heap, n_pushed, n_leaves = [(-first.decrease, 0, (-1, 0), first)], 1, 1
    pieces, links = [], []
    while heap and n_leaves < max_leaves:
        _, _, link, piece = heapq.heappop(heap)
        n_new = int((piece.tree.left == LEAF).sum()) - 1
        if n_new < 1 or n_leaves + n_new > max_leaves:
            continue
        pieces.append(piece)
        links.append(link)
        n_leaves += n_new
        waiting = list(open_places(piece))
        below = results_of(lambda item: piece_at(ground, item[1], one_split=True), waiting, n_threads)
        for (node, _), child in zip(waiting, below, strict=True):
            heapq.heappush(heap, (-child.decrease, n_pushed, (len(pieces) - 1, node), child))
            n_pushed += 1
        yield GrowthStep(pieces, links, True, False)
    if not pieces:
        pieces, links = [first._replace(tree=with_leaves(first.tree, np.arange(first.tree.left.size) == 0))], [(-1, 0)]
    yield GrowthStep(pieces, links, True, True)


def piece_at(ground: Ground, place: Place, one_split: bool = False) -> Piece:
    """Return the part of the tree below a node: all of it if the node is small, else its first split."""
    (codes, features), target, rule, signs, logs, rows = ground
    own = rows[place.start : place.end]
    n_values = int(target.starts[-1]) if is_classifying(rule.criterion) else target.starts.size - 1
    n_sums = n_values if is_classifying(rule.criterion) else 1 + n_values
    if own.size <= SMALL and not one_split:
        codes, target = compacted(codes, target, own)
        own = np.arange(own.size, dtype=np.int32)
        max_splits = own.size
    else:
        max_splits = 1
    local = Place(0, own.size, place.depth, np.uint64(place.seed), place.only, place.lower, place.upper)
    part, decrease, open_nodes = grow_piece(
        codes, features, target, own, local, rule, signs, logs, n_sums, n_values, max_splits
    )
    places, seeds, bounds = (array.copy() for array in open_nodes)
    places[:, 1:3] += place.start
    return Piece(tree_of(*part), decrease, places, seeds, bounds)


def tree_of(whole, real, value, categories) -> Tree:
    """Return the numbers of ``grow_piece`` as a tree."""
    return Tree(
        left=whole[:, LEFT].astype(np.int32),
        right=whole[:, RIGHT].astype(np.int32),
        feature=whole[:, FEATURE].astype(np.int32),
        threshold=real[:, THRESHOLD].copy(),
        default_left=whole[:, DEFAULT_LEFT].astype(bool),
        chained=whole[:, CHAINED].astype(bool),
        category_start=starts(whole[:, LISTED]),
        categories=categories.copy(),
        impurity=real[:, IMPURITY].copy(),
        n_rows=whole[:, N_ROWS].copy(),
        weight=real[:, WEIGHT].copy(),
        value=value.copy(),
    )


def open_places(piece: Piece) -> Iterator[tuple[int, Place]]:
    """Yield the nodes of a piece that can grow further, and their places."""
    for (node, start, end, depth, only), seed, (lower, upper) in zip(
        piece.places.tolist(), piece.seeds, piece.bounds.tolist(), strict=True
    ):
        yield node, Place(start, end, depth, seed, only, lower, upper)


def grown(step: GrowthStep) -> Tree:
    """Return the tree of a step, its nodes in preorder; what can still grow is a leaf."""
    trees = [piece.tree for piece in step.pieces]
    first = np.concatenate([[0], np.cumsum([tree.left.size for tree in trees])]).astype(np.int64)
    instead = np.arange(first[-1])  # the node that stands in the place of each
    for i, (above, node) in enumerate(step.links):
        if above >= 0:
            instead[first[above] + node] = first[i]
    lists = np.concatenate([np.diff(tree.category_start) for tree in trees])
    together = Tree(
        left=children([tree.left for tree in trees], first, instead),
        right=children([tree.right for tree in trees], first, instead),
        category_start=starts(lists),
        categories=np.concatenate([tree.categories for tree in trees]),
        **{name: np.concatenate([getattr(tree, name) for tree in trees]) for name in PER_NODE},
    )
    return taken(together, preorder(together.left, together.right, 0))


def children(parts: list, first, instead) -> np.ndarray:
    """Return the children of the nodes of all pieces, numbered through."""
    shifted = [np.where(part == LEAF, LEAF, part + shift) for part, shift in zip(parts, first[:-1], strict=True)]
    together = np.concatenate(shifted)
    return np.where(together == LEAF, LEAF, instead[together]).astype(np.int32)


@njit(cache=True, nogil=True, error_model="numpy")
def compacted(codes, target, rows):
    """Return the table of some rows: codes ranked among them, constant columns gone."""
    n_rows, n_columns = rows.size, codes.feature.size
    widest = 1
    for i in range(n_columns):
        widest = max(widest, codes.start[i + 1] - codes.start[i])
    bits = np.zeros(word_count(max(widest, codes.slot_feature.size)), dtype=np.uint64)
    rank = np.empty(max(widest, codes.slot_feature.size), dtype=np.int32)
    present = np.empty(max(widest, codes.slot_feature.size), dtype=np.int64)
    columns = np.empty((n_columns, n_rows), dtype=np.uint16)
    feature, start = np.empty(n_columns, dtype=np.int32), np.zeros(n_columns + 1, dtype=np.int64)
    meaning = np.empty(n_columns * min(n_rows, widest), dtype=np.int32)
    n_kept = 0
    for c in range(n_columns):
        column = codes.columns[c]
        for i in range(n_rows):
            code = column[rows[i]]
            bits[code >> 6] |= ONE << np.uint64(code & 63)
        n_present = taken_out(bits, word_count(codes.start[c + 1] - codes.start[c]), present)
        if n_present < 2:
            continue
        for i in range(n_present):
            rank[present[i]] = i
            meaning[start[n_kept] + i] = codes.meaning[codes.start[c] + present[i]]
        for i in range(n_rows):
            columns[n_kept, i] = rank[column[rows[i]]]
        feature[n_kept] = codes.feature[c]
        start[n_kept + 1] = start[n_kept] + n_present
        n_kept += 1
    entry_start = np.zeros(n_rows + 1, dtype=np.int64)
    for i in range(n_rows):
        entry_start[i + 1] = entry_start[i] + codes.entry_start[rows[i] + 1] - codes.entry_start[rows[i]]
        for e in range(codes.entry_start[rows[i]], codes.entry_start[rows[i] + 1]):
            slot = codes.entries[e]
            bits[slot >> 6] |= ONE << np.uint64(slot & 63)
    n_slots = taken_out(bits, word_count(codes.slot_feature.size), present)
    slots = present[:n_slots]
    for i in range(n_slots):
        rank[slots[i]] = i
    entries = np.empty(entry_start[-1], dtype=np.int32)
    for i in range(n_rows):
        first = codes.entry_start[rows[i]]
        for e in range(entry_start[i], entry_start[i + 1]):
            entries[e] = rank[codes.entries[first + e - entry_start[i]]]
    own = Codes(
        columns[:n_kept],
        feature[:n_kept].copy(),
        start[: n_kept + 1].copy(),
        meaning[: start[n_kept]].copy(),
        entry_start,
        entries,
        codes.slot_feature[slots],
        codes.slot_code[slots],
    )
    sample = sample_of(target, rows, GINI)
    return own, Target(sample.labels, sample.amounts, sample.weights, target.starts)


@njit(cache=True, nogil=True, error_model="numpy")
def sample_of(target, rows, criterion):
    """Return the rows of a node with their targets one after the other."""
    n_outputs, n_rows = target.starts.size - 1, rows.size
    labels, amounts, weights = target.labels, target.amounts, target.weights
    own_labels = np.empty((n_rows if labels.shape[0] > 0 else 0, n_outputs), dtype=np.int32)
    own_amounts = np.empty((n_rows if amounts.shape[0] > 0 else 0, n_outputs))
    own_weights = np.empty(n_rows if weights.size > 0 else 0)
    for i in range(own_weights.size):
        own_weights[i] = weights[rows[i]]
    for i in range(own_labels.shape[0]):
        for o in range(n_outputs):
            own_labels[i, o] = labels[rows[i], o]
    for i in range(own_amounts.shape[0]):
        for o in range(n_outputs):
            own_amounts[i, o] = amounts[rows[i], o]
    n_ranked = n_rows if criterion == ABSOLUTE_ERROR else 0
    ranks, ordered = np.empty((n_ranked, n_outputs), dtype=np.int64), np.empty((n_ranked, n_outputs))
    if criterion == ABSOLUTE_ERROR:
        for o in range(n_outputs):
            by_size = sorted_order(own_amounts[:, o].copy())
            for i in range(n_rows):
                ranks[by_size[i], o] = i
                ordered[i, o] = own_amounts[by_size[i], o]
    return Sample(rows, own_labels, own_amounts, own_weights, ranks, ordered)


@njit(cache=True, nogil=True, error_model="numpy")
def described_classes(labels, weights, starts, criterion, sums, place, value):
    """Return what is known of a node, and whether it is pure; its ``value`` is the shares of the classes."""
    n_sums, weight = sums.size, 0.0
    for o in range(starts.size - 1):
        first = starts[o]
        for i in range(labels.shape[0]):
            sums[first + labels[i, o]] += weights[i] if weights.size > 0 else 1.0
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


@njit(cache=True, nogil=True, error_model="numpy")
def described_amounts(amounts, weights, starts, criterion, sums, place, value):
    """Return the same for amounts: the value is their mean, or their median for the absolute error.

    For the squared error the mean is taken off the amounts, so that no gain is lost in the difference of large sums.
    """
    n_rows, n_outputs = amounts.shape
    for i in range(n_rows):
        sums[0] += weights[i] if weights.size > 0 else 1.0
    impurity, pure, centre = 0.0, True, 0.0
    for o in range(n_outputs):
        own = amounts[:, o].copy()
        least, greatest = own[0], own[0]
        for i in range(n_rows):
            sums[1 + o] += own[i] * (weights[i] if weights.size > 0 else 1.0)
            least, greatest = min(least, own[i]), max(greatest, own[i])
        pure = pure and least == greatest
        middle = least if least == greatest else sums[1 + o] / sums[0]
        if criterion == ABSOLUTE_ERROR:
            middle = weighted_median(own, weights)
        impurity += amount_impurity(own, weights, middle, criterion) / n_outputs
        value[o] = min(max(middle, place.lower), place.upper)
        if criterion == SQUARED_ERROR:
            sums[1 + o], centre = 0.0, middle
            for i in range(n_rows):
                amounts[i, o] = own[i] - middle
                sums[1 + o] += amounts[i, o] * (weights[i] if weights.size > 0 else 1.0)
    impurity = 0.0 if pure else impurity
    total = sums[0] * impurity if criterion == ABSOLUTE_ERROR else cost(sums, starts, criterion)
    return Node(impurity, sums[0], total, centre, place.lower, place.upper, place.seed), pure


@njit(cache=True, nogil=True, error_model="numpy")
def code_behind(codes, features, split, line):
    """Return the feature's code behind a line of the sums."""
    first = codes.start[split.candidate] if split.candidate < codes.feature.size else -1
    return code_of(line, first, codes.meaning, codes.slot_code, features.common[split.feature])


@njit(cache=True, nogil=True, error_model="numpy")
def threshold_of(codes, features, split, order):
    """Return the middle between the two values that a cut separates; the largest number if all numbers go left."""
    if split.missing_left == 0 and split.place == order.size - 2:
        return LARGEST
    first, place = features.start[split.feature], split.place
    below = features.highs[first + code_behind(codes, features, split, order[place])]
    above = features.lows[first + code_behind(codes, features, split, order[place + 1])]
    middle = 0.5 * below + 0.5 * above
    return middle if below <= middle < above else below


@njit(cache=True, nogil=True, error_model="numpy")
def weight_of(weights, rows):
    """Return the weight of some rows."""
    if weights.size == 0:
        return float(rows.size)
    total = 0.0
    for row in rows:
        total += weights[row]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def first_is_heaviest(codes, target, rows, split, order):
    """Return whether the first of several categories has at least the weight of each of the others."""
    lines = lines_of(codes, rows, split.candidate, split.feature)
    heaviest = first = 0.0
    for line in order:
        own = 0.0
        for i in range(rows.size):
            if lines[i] == line:
                own += target.weights[rows[i]] if target.weights.size > 0 else 1.0
        heaviest = max(heaviest, own)
        first = own if line == order[0] else first
    return first >= heaviest


@njit(cache=True, nogil=True, error_model="numpy")
def listed_side(codes, features, split, order, heavier_left):
    """Return the categories of the lighter side, ascending."""
    first, last = (split.place + 1, order.size) if heavier_left else (0, split.place + 1)
    listed = np.empty(last - first)
    for i in range(first, last):
        listed[i - first] = code_behind(codes, features, split, order[i])
    return listed[sorted_order(listed)]


@njit(cache=True, nogil=True, error_model="numpy")
def longer(array, n_used, n_more):
    """Return the array, or a larger one with the same beginning if ``n_more`` entries do not fit."""
    if n_used + n_more <= array.size:
        return array
    room = np.empty(2 * (n_used + n_more), dtype=array.dtype)
    for i in range(n_used):
        room[i] = array[i]
    return room


@njit(cache=True, nogil=True, error_model="numpy")
def grow_piece(codes, features, target, rows, root, rule, signs, logs, n_sums, n_values, max_splits):
    """Grow a tree over the rows, depth first, with at most ``max_splits`` questions; return it and what is open.

    The tree comes as numbers and values, one line for each node in the order of LEFT … LISTED and THRESHOLD … WEIGHT.
    What is open comes as lines of (node, start, end, depth, only), their seeds and their bounds.
    """
    n_most, classifying, starts = 2 * rows.size - 1, is_classifying(rule.criterion), target.starts
    if not rule.multiway:  # else one question may have many links
        n_most = min(n_most, 2 * max_splits + 1)
    n_waiting = min(rows.size, n_most) + 1
    whole, real, value = np.empty((n_most, 7), dtype=np.int64), np.empty((n_most, 3)), np.empty((n_most, n_values))
    categories, n_categories = np.empty(64, dtype=np.int32), 0
    stack, seeds = np.empty((n_waiting, 6), dtype=np.int64), np.empty(n_waiting, dtype=np.uint64)
    bounds = np.empty((n_waiting, 2))
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = root.start, root.end, root.depth, root.only, -1
    seeds[0], bounds[0, 0], bounds[0, 1] = root.seed, root.lower, root.upper
    opened, open_seeds = np.empty((n_waiting, 5), dtype=np.int64), np.empty(n_waiting, dtype=np.uint64)
    open_bounds = np.empty((n_waiting, 2))
    bench = new_bench(codes, n_sums)
    n_stack, n_nodes, n_open, n_splits, first_decrease = 1, 0, 0, 0, 0.0
    while n_stack > 0:
        n_stack -= 1
        start, end, depth, only = stack[n_stack, 0], stack[n_stack, 1], stack[n_stack, 2], stack[n_stack, 3]
        parent, place = (
            stack[n_stack, 4],
            Place(start, end, depth, seeds[n_stack], only, bounds[n_stack, 0], bounds[n_stack, 1]),
        )
        node, own = n_nodes, rows[start:end]
        n_nodes += 1
        if parent >= 0:
            whole[parent, stack[n_stack, 5]] = node
        sample, sums = sample_of(target, own, rule.criterion), np.zeros(n_sums)
        if classifying:
            known, pure = described_classes(
                sample.labels, sample.weights, starts, rule.criterion, sums, place, value[node]
            )
        else:
            known, pure = described_amounts(
                sample.amounts, sample.weights, starts, rule.criterion, sums, place, value[node]
            )
        whole[node, LEFT], whole[node, RIGHT], whole[node, FEATURE], whole[node, LISTED] = LEAF, LEAF, NO_FEATURE, 0
        whole[node, DEFAULT_LEFT], whole[node, CHAINED], whole[node, N_ROWS] = 0, 0, end - start
        real[node, THRESHOLD], real[node, IMPURITY], real[node, WEIGHT] = NO_THRESHOLD, known.impurity, known.weight
        if only < 0:
            if pure or known.impurity <= rule.uncertainty or depth >= rule.max_depth or end - start < rule.min_split:
                continue
            if known.weight < 2.0 * rule.min_leaf_weight:
                continue
            if n_splits >= max_splits:
                opened[n_open, 0], opened[n_open, 1], opened[n_open, 2] = node, start, end
                opened[n_open, 3], opened[n_open, 4], open_seeds[n_open] = depth, only, place.seed
                open_bounds[n_open, 0], open_bounds[n_open, 1] = place.lower, place.upper
                n_open += 1
                continue
        split, order = find_split(codes, features, sample, sums, starts, signs, rule, known, only, logs, bench)
        if split.candidate < 0:
            continue
        decrease = (known.cost - split.cost) / rule.total_weight
        if only < 0:
            if decrease + ROUNDING < rule.min_decrease:
                continue
            n_splits += 1
            first_decrease = decrease if node == 0 else first_decrease
        n_left = moved_rows(codes, own, split, order)
        left_rows, right_rows = own[:n_left], own[n_left:]
        heavier_left = weight_of(target.weights, left_rows) > weight_of(target.weights, right_rows)
        is_category = features.kind[split.feature] == CATEGORY
        linked = is_category and rule.multiway
        if linked:
            heavier_left = first_is_heaviest(codes, target, own, split, order)
        if is_category:
            listed = listed_side(codes, features, split, order, heavier_left)
            categories = longer(categories, n_categories, listed.size)
            for i in range(listed.size):
                categories[n_categories + i] = np.int32(listed[i])
            n_categories += listed.size
            whole[node, LISTED] = listed.size
        else:
            real[node, THRESHOLD] = threshold_of(codes, features, split, order)
        chained = linked and order.size > 2
        whole[node, FEATURE], whole[node, CHAINED] = split.feature, chained
        whole[node, DEFAULT_LEFT] = split.missing_left if split.missing_left >= 0 else heavier_left
        sign, lower, upper, middle = signs[split.feature], place.lower, place.upper, 0.0
        if sign != 0:
            middle = 0.5 * (value_of(target, left_rows, rule.criterion) + value_of(target, right_rows, rule.criterion))
        stack[n_stack, 0], stack[n_stack, 1], stack[n_stack, 2] = start + n_left, end, depth if chained else depth + 1
        stack[n_stack, 3], stack[n_stack, 4], stack[n_stack, 5] = split.feature if chained else -1, node, RIGHT
        bounds[n_stack, 0], bounds[n_stack, 1] = middle if sign > 0 else lower, middle if sign < 0 else upper
        seeds[n_stack] = mixed(place.seed + ONE + ONE)
        n_stack += 1
        stack[n_stack, 0], stack[n_stack, 1], stack[n_stack, 2] = start, start + n_left, depth + 1
        stack[n_stack, 3], stack[n_stack, 4], stack[n_stack, 5] = -1, node, LEFT
        bounds[n_stack, 0], bounds[n_stack, 1] = middle if sign < 0 else lower, middle if sign > 0 else upper
        seeds[n_stack] = mixed(place.seed + ONE)
        n_stack += 1
    grown_part = whole[:n_nodes], real[:n_nodes], value[:n_nodes], categories[:n_categories]
    return grown_part, first_decrease, (opened[:n_open], open_seeds[:n_open], open_bounds[:n_open])
