"""A tree grows from codes and weights, breadth first.

    root table   ████████████████████████      a large node is split once: two nodes more to do
                 ████████████│███████████
                 ██│███│█████│██ │████│██      a small node grows to its end in one go

The nodes of one generation do not depend on each other, so they run on as many threads as there are. When the time is
up, what was not reached yet is a leaf. With ``max_leaves`` the node with the largest decrease is split next (best
first).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numba import njit

from eigenwood.core.bits import word_count
from eigenwood.core.threads import WorkQueue, results_of
from eigenwood.core.tree.binning import CATEGORY, Binned, starts
from eigenwood.core.tree.branching import (
    CHAINED,
    DEFAULT_LEFT,
    FEATURE,
    IMPURITY,
    LEFT,
    LISTED,
    N_CATEGORIES,
    N_LATER,
    N_NODES,
    N_OPEN,
    N_ROWS,
    RIGHT,
    THRESHOLD,
    WEIGHT,
    Growth,
    Place,
    Target,
    grow_nodes,
    leave_for_later,
    new_growth,
    sample_of,
    with_longer_lists,
)
from eigenwood.core.tree.finishing import SMALL, finish, new_hand
from eigenwood.core.tree.impurity import ENTROPY, is_classifying
from eigenwood.core.tree.nodes import LEAF, PER_NODE, Tree, preorder, taken, with_leaves
from eigenwood.core.tree.ordering import is_ordered
from eigenwood.core.tree.splitting import Rule, new_bench

ROUND_ROWS = 65_536  # rows that make a round, of which callbacks hear
MOST_LOGS = 1 << 22  # counts whose logarithms are kept
MOST_SLOTS = 65_536  # of thin columns that are written out for a small node


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
    most = target.labels.shape[0] if target.weights.size == 0 else float(target.weights.sum())
    if rule.criterion != ENTROPY or not rule.whole or most > MOST_LOGS:
        return np.empty(0)
    counts = np.arange(int(most) + 1)
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
    own = ground.rows[place.start : place.end]
    max_splits = own.size if own.size <= SMALL and not one_split else 1
    tree, decrease, (places, seeds, bounds) = part_of(ground, own, place, max_splits)
    places[:, 1:3] += place.start
    return Piece(tree, decrease, places, seeds, bounds)


def part_of(ground: Ground, rows: np.ndarray, place: Place, max_splits: int) -> tuple[Tree, float, tuple]:
    """Return the tree below a place, the decrease by its own split, and what is open."""
    (codes, features), target, rule, signs, logs, _ = ground
    n_outputs, n_rows = target.starts.size - 1, rows.size
    n_values = int(target.starts[-1]) if is_classifying(rule.criterion) else n_outputs
    n_sums = n_values if is_classifying(rule.criterion) else 1 + n_values
    small = SMALL if max_splits > 1 and is_plain(ground) else 0
    local = Place(0, n_rows, place.depth, np.uint64(place.seed), place.only, place.lower, place.upper)
    n_open, n_nodes = n_rows if rule.multiway else 2, 3 if max_splits == 1 and not rule.multiway else 2 * n_rows
    growth = new_growth(local, n_rows, n_nodes, n_values, word_count(codes.feature.size), n_open)
    if n_rows > small:
        growth = grown_large(ground, rows, growth, small, n_sums, max_splits)
    else:
        leave_for_later(growth, local, -1, 0)
    if growth.counts[N_LATER] > 0:
        finish(codes, features, target, rows, rule, logs, growth, new_hand(codes, target, n_sums))
    n_open = growth.counts[N_OPEN]
    is_open = growth.opened[:n_open], growth.open_seeds[:n_open], growth.open_bounds[:n_open]
    return tree_of(growth), float(growth.first_decrease[0]), is_open


def grown_large(ground: Ground, rows, growth: Growth, small: int, n_sums: int, max_splits: int) -> Growth:
    """Return a growth without its large nodes: they are split, and small ones left for later."""
    (codes, features), target, rule, signs, logs, _ = ground
    bench = new_bench(codes, features, rule, n_sums, rows.size, target.starts.size - 1)
    room, spare = sample_of(target, rows, rule.criterion), np.empty(rows.size, dtype=np.int32)
    n_listed = bench.lines.size if (features.kind == CATEGORY).any() else 0
    fixed = codes, target, rows, features, rule, signs, logs, small
    while not grow_nodes(*fixed, growth, bench, room, spare, max_splits, n_listed):
        growth = with_longer_lists(growth, n_listed)
    return growth


def is_plain(ground: Ground) -> bool:
    """Return whether small nodes need no more than what ``finish`` can do."""
    (codes, features), target, rule, signs, _, _ = ground
    if rule.at_random or signs.any() or (features.kind == CATEGORY).any() or codes.slot_feature.size > MOST_SLOTS:
        return False
    return bool(is_ordered(rule.criterion, rule.whole, target.starts.size - 1))


def tree_of(growth: Growth) -> Tree:
    """Return the nodes of a growth as a tree, in preorder."""
    n_nodes = growth.counts[N_NODES]
    left, right, feature, threshold, default_left, chained, n_listed, impurity, n_rows, weight, value = in_preorder(
        growth.whole[:n_nodes], growth.real[:n_nodes], growth.value[:n_nodes]
    )
    return Tree(
        left=left,
        right=right,
        feature=feature,
        threshold=threshold,
        default_left=default_left,
        chained=chained,
        category_start=starts(n_listed) if growth.categories.size > 0 else np.zeros(n_nodes + 1, dtype=np.int64),
        categories=growth.categories[: growth.counts[N_CATEGORIES]].copy(),
        impurity=impurity,
        n_rows=n_rows,
        weight=weight,
        value=value,
    )


@njit(cache=True, nogil=True)
def in_preorder(whole, real, value):
    """Return what is known of the nodes, in preorder: small ones were written when all large ones were there."""
    n_nodes, order = whole.shape[0], preorder(whole[:, LEFT], whole[:, RIGHT], 0)
    number = np.empty(n_nodes, dtype=np.int32)
    for i in range(n_nodes):
        number[order[i]] = i
    left, right = np.empty(n_nodes, dtype=np.int32), np.empty(n_nodes, dtype=np.int32)
    feature, threshold = np.empty(n_nodes, dtype=np.int32), np.empty(n_nodes)
    default_left, chained = np.empty(n_nodes, dtype=np.bool_), np.empty(n_nodes, dtype=np.bool_)
    n_listed, n_rows = np.empty(n_nodes, dtype=np.int64), np.empty(n_nodes, dtype=np.int64)
    impurity, weight, values = np.empty(n_nodes), np.empty(n_nodes), np.empty(value.shape)
    for i in range(n_nodes):
        node = order[i]
        is_leaf = whole[node, LEFT] == LEAF
        left[i] = LEAF if is_leaf else number[whole[node, LEFT]]
        right[i] = LEAF if is_leaf else number[whole[node, RIGHT]]
        feature[i], threshold[i] = whole[node, FEATURE], real[node, THRESHOLD]
        default_left[i], chained[i] = whole[node, DEFAULT_LEFT] != 0, whole[node, CHAINED] != 0
        n_listed[i], n_rows[i] = whole[node, LISTED], whole[node, N_ROWS]
        impurity[i], weight[i] = real[node, IMPURITY], real[node, WEIGHT]
        for k in range(value.shape[1]):
            values[i, k] = value[node, k]
    return left, right, feature, threshold, default_left, chained, n_listed, impurity, n_rows, weight, values


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
