"""A tree grows from codes and weights, breadth first.

    root table   ████████████████████████      a large node is split once: two nodes more to do
                 ████████████│███████████
                 ██│███│█████│██ │████│██      a small node grows to its end in one go

The nodes of one generation do not depend on each other, so they run on as many threads as there are; the many branches
of one question that are small go together, a few thousand rows at a time. When the time is up, what was not reached yet
is a leaf. With ``max_leaves`` the node with the largest decrease is split next (best
first).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.bits import word_count
from eigenwood.core.threads import WorkQueue, results_of
from eigenwood.core.tree.binning import starts
from eigenwood.core.tree.criteria import has_exact_row_updates, is_classifying, log_table
from eigenwood.core.tree.large_node import LargeNodes, grow_large_nodes
from eigenwood.core.tree.node_loop import defer_small_node
from eigenwood.core.tree.small_node import grow_small_nodes
from eigenwood.core.tree.split.sizes import SMALL
from eigenwood.core.tree.structure import preorder, preorders, taken, with_leaves
from eigenwood.core.tree.types import (
    CATEGORY,
    LEAF,
    PER_NODE,
    BinnedTable,
    GrowthParams,
    NodeRows,
    NodeSpan,
    Target,
    Tree,
)
from eigenwood.core.tree.workspace import (
    CHAINED,
    DEFAULT_LEFT,
    FEATURE,
    IMPURITY,
    LEFT,
    LIST,
    LISTED,
    N_NODES,
    N_OPEN,
    N_ROWS,
    N_SMALL,
    RIGHT,
    THRESHOLD,
    WEIGHT,
    NodeBuffers,
    SmallNodeWorkspace,
    SplitWorkspace,
    begun,
    new_draw_buffers,
    new_node_buffers,
    new_sample,
    new_small_node_workspace,
    new_sparse_histogram,
    new_split_workspace,
    with_longer_lists,
)

ROUND_ROWS = 65_536  # rows that make a round, of which callbacks hear
MOST_SPARSE_BINS = 65_536  # of sparse columns that are written out for a small node
NO_WEIGHTS = np.empty(0)  # of rows: those of the target count
SIBLINGS = 256  # branches of one question that are looked at, best first, before the clock is


class Piece(NamedTuple):
    """A part of a tree, or some parts side by side, and the nodes in it that can grow further."""

    tree: Tree
    roots: np.ndarray  # the nodes where the parts begin
    decrease: float  # of the impurity, by the split of its first root
    places: np.ndarray  # (n_open, 4) node, start, end, depth
    seeds: np.ndarray  # (n_open,)
    bounds: np.ndarray  # (n_open, 2) lower, upper


class GrowthStep(NamedTuple):
    """Where the growth stands."""

    pieces: list
    links: list  # for each root of each piece: the piece above it and its node there
    whole: bool
    last: bool


def growth_steps(
    binned: BinnedTable,
    target: Target,
    rows,
    params: GrowthParams,
    monotonic_cst,
    max_leaves: int,
    seed: np.uint64,
    n_threads: int,
) -> Iterator[GrowthStep]:
    """Yield the growth of a tree over some rows of a coded table; ``tree_so_far`` makes a tree of any step."""
    rows = np.array(rows, dtype=np.int32)
    root = NodeSpan(0, rows.size, 0, seed, -np.inf, np.inf)
    context = GrowthContext(
        binned, target, params, np.asarray(monotonic_cst, dtype=np.int64), log_table(target, params), rows
    )
    if max_leaves > 0:
        return best_first(context, root, max_leaves, n_threads)
    return breadth_first(context, root, n_threads)


class GrowthContext(NamedTuple):
    """All that stays the same while a tree grows, and its rows, which are moved."""

    binned: BinnedTable
    target: Target
    params: GrowthParams
    monotonic_cst: np.ndarray
    logs: np.ndarray  # x log₂ x of whole numbers, or empty
    rows: np.ndarray


def breadth_first(context: GrowthContext, root: NodeSpan, n_threads: int) -> Iterator[GrowthStep]:
    """Yield after every node that was split or grown to its end; the nodes nearest to the root come first."""
    pieces, links, n_rows = [], [], 0

    def grow(batch: list[tuple[int, int, NodeSpan]]) -> Piece:
        return piece_at(context, [place for _, _, place in batch])

    with WorkQueue(grow, n_threads) as queue:
        queue.add([(-1, 0, root)])
        while queue.is_open():
            batch, piece = queue.next_result()
            pieces.append(piece)
            links.append([(above, node) for above, node, _ in batch])
            for waiting in batches(piece):
                queue.add([(len(pieces) - 1, node, place) for node, place in waiting])
            n_rows += batch[-1][2].end - batch[0][2].start
            last = not queue.is_open()
            yield GrowthStep(pieces, links, n_rows >= ROUND_ROWS or last, last)
            n_rows = n_rows if n_rows < ROUND_ROWS else 0


def best_first(context: GrowthContext, root: NodeSpan, max_leaves: int, n_threads: int) -> Iterator[GrowthStep]:
    """Yield after every split, the one with the largest decrease first, until there are ``max_leaves`` leaves."""
    first = piece_at(context, [root], one_split=True)
    heap, n_pushed, n_leaves = [(-first.decrease, 0, [(-1, 0)], first)], 1, 1
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
        for at in range(0, len(waiting), SIBLINGS):
            some = waiting[at : at + SIBLINGS]
            below = results_of(lambda item: piece_at(context, [item[1]], one_split=True), some, n_threads)
            for (node, _), child in zip(some, below, strict=True):
                heapq.heappush(heap, (-child.decrease, n_pushed, [(len(pieces) - 1, node)], child))
                n_pushed += 1
            yield GrowthStep(pieces, links, at + SIBLINGS >= len(waiting), False)
    if not pieces:
        bare = with_leaves(first.tree, np.arange(first.tree.left.size) == 0)
        pieces, links = [first._replace(tree=bare)], [[(-1, 0)]]
    yield GrowthStep(pieces, links, True, True)


def piece_at(context: GrowthContext, places: list[NodeSpan], one_split: bool = False) -> Piece:
    """Return the parts of the tree below nodes side by side: all of them if they are small, else their first splits."""
    first, last = places[0].start, places[-1].end
    max_splits = last - first if last - first <= SMALL and not one_split else 1
    local = [place._replace(start=place.start - first, end=place.end - first) for place in places]
    workspace = new_workspace(context, last - first, last - first, max_splits)
    piece = part_of(context, context.rows[first:last], local, max_splits, workspace)
    piece.places[:, 1:3] += first
    return piece


class Workspace(NamedTuple):
    """Where parts of a tree grow, one after the other."""

    buffers: NodeBuffers
    large: tuple[SplitWorkspace, NodeRows, np.ndarray] | None  # for large nodes: room for splits, targets and rows …
    small: SmallNodeWorkspace | None  # … and for small ones


def new_workspace(context: GrowthContext, n_rows: int, largest: int, max_splits: int) -> Workspace:
    """Return room for parts of so many rows, the largest node of which has ``largest``, and of so many questions.

    Large and small nodes take turns, and share some of it.
    """
    (codes, features), target, params, _, _, _ = context
    n_outputs = target.starts.size - 1
    n_values = int(target.starts[-1]) if is_classifying(params.criterion) else n_outputs
    n_sums = n_values if is_classifying(params.criterion) else 1 + n_values
    n_open, n_nodes = n_rows if params.multiway else 2, 3 if max_splits == 1 and not params.multiway else 2 * n_rows
    buffers = new_node_buffers(n_rows, n_nodes, n_values, word_count(codes.feature.size), n_open)
    sparse, draw, most = new_sparse_histogram(codes, n_sums), new_draw_buffers(codes), most_small(context, max_splits)
    large = small = None
    if largest > most:
        split_ws = new_split_workspace(codes, features, params, largest, n_outputs, sparse, draw)
        large = split_ws, new_sample(target, largest, params.criterion), np.empty(largest, dtype=np.int32)
    if most > 0:
        all_tried = params.max_features >= features.kind.size
        small = new_small_node_workspace(codes, target, all_tried, sparse, draw)
    return Workspace(buffers, large, small)


def most_small(context: GrowthContext, max_splits: int) -> int:
    """Return how many rows a node may have that is grown to its end in one go; 0 if there are no such nodes."""
    return SMALL if max_splits > 1 and allows_small_nodes(context) else 0


def part_of(
    context: GrowthContext, rows: np.ndarray, roots: list[NodeSpan], max_splits: int, workspace: Workspace
) -> Piece:
    """Return the parts of a tree below some places, with at most ``max_splits`` questions."""
    (codes, features), target, params, _, logs, _ = context
    buffers, small = begun(workspace.buffers, roots), most_small(context, max_splits)
    if rows.size > small:
        buffers = grow_large(context, rows, workspace, small, max_splits)
    else:
        for root in roots:
            defer_small_node(buffers, root, -1, 0)
    if buffers.counts[N_SMALL] > 0:
        grow_small_nodes(codes, features, target, rows, NO_WEIGHTS, params, logs, buffers, workspace.small)
    tree, roots_there, number = tree_of(buffers)
    n_open = buffers.counts[N_OPEN]
    places, seeds, bounds = buffers.open_nodes[:n_open], buffers.open_seeds[:n_open], buffers.open_bounds[:n_open]
    places[:, 0] = number[places[:, 0]]
    return Piece(tree, roots_there, float(buffers.first_decrease[0]), places, seeds, bounds)


def grow_large(context: GrowthContext, rows, workspace: Workspace, small: int, max_splits: int) -> NodeBuffers:
    """Return a growth without its large nodes: they are split, and small ones left for later."""
    (codes, features), target, params, monotonic_cst, logs, _ = context
    assert workspace.large is not None
    buffers, (split_ws, sample, spare) = workspace.buffers, workspace.large
    n_listed = (2 if params.multiway else 1) * split_ws.bins.size if (features.kind == CATEGORY).any() else 0
    nodes = LargeNodes(codes, features, target, rows, params, monotonic_cst, logs, sample, spare, split_ws)
    while not grow_large_nodes(nodes, buffers, small, max_splits, n_listed):
        buffers = with_longer_lists(buffers, n_listed)
    return buffers


def allows_small_nodes(context: GrowthContext) -> bool:
    """Return whether small nodes need no more than what ``grow_small_nodes`` can do."""
    (codes, features), target, params, monotonic_cst, _, _ = context
    if (
        params.at_random
        or monotonic_cst.any()
        or (features.kind == CATEGORY).any()
        or codes.sparse_feature.size > MOST_SPARSE_BINS
    ):
        return False
    return bool(has_exact_row_updates(params.criterion, params.integer_weights, target.starts.size - 1))


def small_trees(
    context: GrowthContext, rows: np.ndarray, row_weights: np.ndarray, starts: np.ndarray, seeds, workspace: Workspace
) -> tuple[Tree, np.ndarray]:
    """Return trees that begin as small nodes, each over its own stretch of rows with weights, and where each begins.

    They stand one after the other, as parts of one tree would; all grow in one call.
    """
    (codes, features), target, params, _, logs, _ = context
    buffers = begun(workspace.buffers, [])
    for start, end, seed in zip(starts[:-1].tolist(), starts[1:].tolist(), seeds, strict=True):
        defer_small_node(buffers, NodeSpan(start, end, 0, seed, -np.inf, np.inf), -1, 0)
    grow_small_nodes(codes, features, target, rows, row_weights, params, logs, buffers, workspace.small)
    tree, roots, _ = tree_of(buffers)
    return tree, np.append(roots, tree.left.size).astype(np.int64)


def tree_of(buffers: NodeBuffers) -> tuple[Tree, np.ndarray, np.ndarray]:
    """Return the nodes of a growth as a tree, or as trees side by side, in preorder; their roots; and the number that
    each node has there.
    """
    n_nodes = buffers.counts[N_NODES]
    number, roots, left, right, feature, threshold, default_left, chained, lists, impurity, n_rows, weight, value = (
        in_preorder(buffers.ints[:n_nodes], buffers.floats[:n_nodes], buffers.value[:n_nodes])
    )
    first, n_listed = lists
    start = starts(n_listed) if buffers.categories.size > 0 else np.zeros(n_nodes + 1, dtype=np.int64)
    source = np.repeat(first - start[:-1], np.diff(start)) + np.arange(start[-1])
    tree = Tree(
        left=left,
        right=right,
        feature=feature,
        threshold=threshold,
        default_left=default_left,
        chained=chained,
        category_start=start,
        categories=buffers.categories[source],
        impurity=impurity,
        n_rows=n_rows,
        weight=weight,
        value=value,
    )
    return tree, roots, number


@njit
def in_preorder(ints, floats, value):
    """Return what is known of the nodes, in preorder: they were written as they were found."""
    n_nodes, is_root = ints.shape[0], np.ones(ints.shape[0], dtype=np.bool_)
    for i in range(n_nodes):
        if ints[i, LEFT] != LEAF:
            is_root[ints[i, LEFT]] = is_root[ints[i, RIGHT]] = False
    order = preorders(ints[:, LEFT], ints[:, RIGHT], np.flatnonzero(is_root))
    number = np.empty(n_nodes, dtype=np.int32)
    for i in range(n_nodes):
        number[order[i]] = i
    left, right = np.empty(n_nodes, dtype=np.int32), np.empty(n_nodes, dtype=np.int32)
    feature, threshold = np.empty(n_nodes, dtype=np.int32), np.empty(n_nodes)
    default_left, chained = np.empty(n_nodes, dtype=np.bool_), np.empty(n_nodes, dtype=np.bool_)
    lists, n_rows = np.zeros((2, n_nodes), dtype=np.int64), np.empty(n_nodes, dtype=np.int64)
    impurity, weight, values = np.empty(n_nodes), np.empty(n_nodes), np.empty(value.shape)
    for i in range(n_nodes):
        node = order[i]
        is_leaf = ints[node, LEFT] == LEAF
        left[i] = LEAF if is_leaf else number[ints[node, LEFT]]
        right[i] = LEAF if is_leaf else number[ints[node, RIGHT]]
        feature[i], threshold[i] = ints[node, FEATURE], floats[node, THRESHOLD]
        default_left[i], chained[i] = ints[node, DEFAULT_LEFT] != 0, ints[node, CHAINED] != 0
        if ints[node, LISTED] > 0:
            lists[0, i], lists[1, i] = ints[node, LIST], ints[node, LISTED]
        n_rows[i], impurity[i], weight[i] = ints[node, N_ROWS], floats[node, IMPURITY], floats[node, WEIGHT]
        for k in range(value.shape[1]):
            values[i, k] = value[node, k]
    roots = number[np.flatnonzero(is_root)]
    return (
        number, roots, left, right, feature, threshold, default_left, chained, lists, impurity, n_rows, weight, values
    )  # fmt: skip


def open_places(piece: Piece) -> Iterator[tuple[int, NodeSpan]]:
    """Yield the nodes of a piece that can grow further, and their places."""
    for (node, start, end, depth), seed, (lower, upper) in zip(
        piece.places.tolist(), piece.seeds, piece.bounds.tolist(), strict=True
    ):
        yield node, NodeSpan(start, end, depth, seed, lower, upper)


def batches(piece: Piece) -> Iterator[list[tuple[int, NodeSpan]]]:
    """Yield the nodes that can grow further, small neighbours together: a question may have many branches."""
    batch: list[tuple[int, NodeSpan]] = []
    for node, place in open_places(piece):
        if batch and place.end - batch[0][1].start > SMALL:
            yield batch
            batch = []
        batch.append((node, place))
    if batch:
        yield batch


def tree_so_far(step: GrowthStep) -> Tree:
    """Return the tree of a step, its nodes in preorder; what can still grow is a leaf."""
    trees = [piece.tree for piece in step.pieces]
    if len(trees) == 1:
        return trees[0]  # which is in preorder
    first = np.concatenate([[0], np.cumsum([tree.left.size for tree in trees])]).astype(np.int64)
    instead = np.arange(first[-1])  # the node that stands in the place of each
    for i, (piece, links) in enumerate(zip(step.pieces, step.links, strict=True)):
        for root, (above, node) in zip(piece.roots.tolist(), links, strict=True):
            if above >= 0:
                instead[first[above] + node] = first[i] + root
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
