"""Memory that is made once and used for one node after the other: nothing is allocated while a tree grows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit, njit_no_refcount
from eigenwood.core.bits import ONE, word_count
from eigenwood.core.distinct import splitmix64
from eigenwood.core.memory import lazy_zeros
from eigenwood.core.tree.criteria import ABSOLUTE_ERROR, has_exact_row_updates
from eigenwood.core.tree.split.sizes import AT_A_TIME, FEW, LANES, SMALL, SPREAD, TURN, most_summed
from eigenwood.core.tree.types import CATEGORY, GrowthParams, NodeRows, NodeSpan

LEFT, RIGHT, FEATURE, DEFAULT_LEFT, CHAINED, N_ROWS, LISTED, LIST = range(8)  # what a node is, as integers …
THRESHOLD, IMPURITY, WEIGHT = range(3)  # … and as floats
START, END, DEPTH, PARENT, SIDE = range(5)  # a node that waits
N_STACK, N_NODES, N_OPEN, N_SPLITS, N_CATEGORIES, N_SMALL = range(6)


class NodeBuffers(NamedTuple):
    """The nodes so far, those that wait, and those that stay open."""

    ints: np.ndarray  # (n, 8) LEFT … LIST; where a list of categories begins
    floats: np.ndarray  # (n, 3) THRESHOLD … WEIGHT
    value: np.ndarray  # (n, n_values)
    categories: np.ndarray
    stack: np.ndarray  # (n, 5) START … SIDE
    seeds: np.ndarray  # (n, 1)
    bounds: np.ndarray  # (n, 2)
    constants: np.ndarray  # (n, n_words) the columns that are constant above, as bits
    small_nodes: np.ndarray  # (n, 5) small nodes that are left for later: start, end, depth, parent, side
    small_seeds: np.ndarray
    open_nodes: np.ndarray  # (n, 4) node, start, end, depth
    open_seeds: np.ndarray
    open_bounds: np.ndarray
    counts: np.ndarray  # (6,) N_STACK … N_LATER
    first_decrease: np.ndarray  # (1,) of the impurity, by the split of the root


def new_node_buffers(n_rows: int, n_nodes: int, n_values: int, n_words: int, n_open: int) -> NodeBuffers:
    """Return room for so many nodes over so many rows; memory that no node needs is never touched."""
    n_stack = min(n_nodes, n_rows + 1)
    return NodeBuffers(
        ints=lazy_zeros((n_nodes, 8), np.int32),
        floats=lazy_zeros((n_nodes, 3)),
        value=lazy_zeros((n_nodes, n_values)),
        categories=np.empty(0, dtype=np.int32),
        stack=lazy_zeros((n_stack, 5), np.int64),
        seeds=np.empty((n_stack, 1), dtype=np.uint64),
        bounds=lazy_zeros((n_stack, 2)),
        constants=lazy_zeros((n_stack, n_words), np.uint64),
        small_nodes=lazy_zeros((n_rows, 5), np.int32),
        small_seeds=np.empty(n_rows, dtype=np.uint64),
        open_nodes=np.empty((n_open, 4), dtype=np.int64),
        open_seeds=np.empty(n_open, dtype=np.uint64),
        open_bounds=np.empty((n_open, 2)),
        counts=np.zeros(6, dtype=np.int64),
        first_decrease=np.zeros(1),
    )


def begun(buffers: NodeBuffers, roots: list[NodeSpan]) -> NodeBuffers:
    """Return the growth with nothing in it but roots, which wait; no column is known to be constant there."""
    buffers.counts[:], buffers.first_decrease[:], buffers.constants[: len(roots)] = 0, 0.0, 0
    for n_waiting, root in enumerate(reversed(roots)):
        line = (root.start, root.end, root.depth, -1, 0)
        push(buffers.stack, buffers.seeds, buffers.bounds, n_waiting, line, root.seed, root.lower, root.upper)
    buffers.counts[N_STACK] = len(roots)
    return buffers


def with_longer_lists(buffers: NodeBuffers, n_bins: int) -> NodeBuffers:
    """Return the growth with room for more categories, at least ``n_bins``."""
    return buffers._replace(categories=np.resize(buffers.categories, 2 * buffers.categories.size + n_bins))


@njit_no_refcount
def push(stack, seeds, bounds, n_stack, waiting, seed, lower, upper):
    """Let a node wait, of which START … SIDE are given; return how many wait then."""
    start, end, depth, parent, side = waiting
    stack[n_stack, START], stack[n_stack, END], stack[n_stack, DEPTH] = start, end, depth
    stack[n_stack, PARENT], stack[n_stack, SIDE] = parent, side
    seeds[n_stack, 0], bounds[n_stack, 0], bounds[n_stack, 1] = seed, lower, upper
    return n_stack + 1


@njit(error_model="numpy")
def new_sample(target, n_rows, criterion):
    """Return room for the rows of a node with their targets one after the other."""
    n_outputs = target.starts.size - 1
    n_ranked = n_rows if criterion == ABSOLUTE_ERROR else 0
    class_codes = np.empty((n_rows if target.class_codes.shape[0] > 0 else 0, n_outputs), dtype=np.int32)
    y = np.empty((n_rows if target.y.shape[0] > 0 else 0, n_outputs))
    weights = np.empty(n_rows if target.weights.size > 0 else 0)
    ranks, ordered = np.empty((n_ranked, n_outputs), dtype=np.int64), np.empty((n_ranked, n_outputs))
    return NodeRows(np.empty(0, dtype=np.int32), class_codes, y, weights, ranks, ordered)


PAGE, OFF_PAGE = 512, 72  # numbers in a page of memory: lines a whole number of pages apart hinder each other
TURNS, MANY = 4, 32  # labels of more rows are added up in turns


class SparseHistogram(NamedTuple):
    """The sums of a node in the bins of all sparse columns. Sums and bits are all zero between two uses.

    The last line of ``sums`` is for the common code of the feature at hand.
    """

    sums: np.ndarray  # (n_sparse_bins + 1, n_sums + 1), the last column counts rows
    bits: np.ndarray  # which bins occur
    present: np.ndarray  # (n_sparse_bins,) those that occur …
    group: np.ndarray  # … and where those of a feature begin among them


class DrawBuffers(NamedTuple):
    """Arrays for the draw of candidates (``split/candidates.py``)."""

    feature_keys: np.ndarray  # (n_columns,) random bits
    sparse_keys: np.ndarray  # (n_sparse_bins,) random bits of their features
    draw: np.ndarray  # (n_candidates,) their keys, or all that can be looked at
    near: np.ndarray  # of the keys, those that come next


class TurnBuffers(NamedTuple):
    """Arrays for the candidates of a large node that are looked at next, and for their codes if the table is by row."""

    candidates: np.ndarray  # (TURN,)
    column_codes: np.ndarray  # (TURN, n_rows) the codes of the rows of the node
    in_order: np.ndarray  # (n_rows,) 0, 1, 2, …: the rows of these codes


class RowOrder(NamedTuple):
    """Arrays for the rows of a large node in the order of the codes of one column, and for the cuts between them."""

    keys: np.ndarray  # (n_rows,) the codes of a column in order …
    places: np.ndarray  # (n_rows,) … and the places of their rows
    counts: np.ndarray  # (n_codes,) all zero between two uses
    cuts: np.ndarray  # (6, n_rows)


class SplitWorkspace(NamedTuple):
    """Arrays for one large node after the other. Sums and bits are all zero between two uses."""

    sums: np.ndarray  # (n_codes, n_sums + 1) of one column, the last column counts rows
    flat: np.ndarray  # the same for columns with few codes, one after the other
    bits: np.ndarray  # which codes occur
    bins: np.ndarray  # the bins of one column, in the order in which they are cut; then where its branches end
    best_bins: np.ndarray  # those of the best one so far, if it is a category
    left: np.ndarray  # (n_sums + 2,)
    total: np.ndarray  # (n_sums,) of all rows of the node
    constant: np.ndarray  # the columns that are known to be constant there, as bits
    order: RowOrder
    sparse: SparseHistogram
    draw: DrawBuffers
    turn: TurnBuffers


def new_sparse_histogram(codes, n_sums: int) -> SparseHistogram:
    """Return room for the sums in all sparse bins of a table."""
    n_sparse_bins = codes.sparse_feature.size
    return SparseHistogram(
        sums=lazy_zeros((n_sparse_bins + 1, n_sums + 1)),
        bits=np.zeros(word_count(n_sparse_bins), dtype=np.uint64),
        present=np.empty(n_sparse_bins, dtype=np.int64),
        group=np.empty(n_sparse_bins + 1, dtype=np.int64),
    )


def new_draw_buffers(codes) -> DrawBuffers:
    """Return room for a draw of the columns of a table."""
    n_candidates = codes.feature.size + codes.sparse_feature.size
    return DrawBuffers(
        feature_keys=splitmix64(codes.feature.astype(np.uint64) + ONE),
        sparse_keys=splitmix64(codes.sparse_feature.astype(np.uint64) + ONE),
        draw=np.empty(n_candidates, dtype=np.uint64),
        near=np.empty(n_candidates, dtype=np.uint64),
    )


def new_split_workspace(
    codes, features, params: GrowthParams, n_rows: int, n_outputs: int, sparse: SparseHistogram, draw: DrawBuffers
) -> SplitWorkspace:
    """Return room for the large nodes of a coded table."""
    widths, n_sums = np.diff(codes.start), sparse.sums.shape[1] - 1
    n_codes, summed = int(widths.max(initial=0)), widths
    if has_exact_row_updates(params.criterion, params.integer_weights, n_outputs) and not params.at_random:
        is_category = features.kind[codes.feature] == CATEGORY
        summed = np.where(is_category, widths, np.minimum(widths, most_summed(n_rows, n_sums)))
    n_bins, n_read = max(n_codes, sparse.present.size + 1), n_rows if codes.by_row.shape[0] > 0 else 0
    return SplitWorkspace(
        sums=lazy_zeros((int(summed.max(initial=0)), n_sums + 1)),
        flat=lazy_zeros((SPREAD * n_rows,)),
        bits=np.zeros(word_count(n_codes), dtype=np.uint64),
        bins=np.empty(n_bins + 1, dtype=np.int64),
        best_bins=np.empty(n_bins, dtype=np.int64),
        left=np.empty(n_sums + 2),
        total=np.empty(n_sums),
        constant=np.zeros(word_count(codes.feature.size), dtype=np.uint64),
        order=RowOrder(
            keys=np.empty(n_rows, dtype=np.int32),
            places=np.empty(n_rows, dtype=np.int32),
            counts=np.zeros(n_codes, dtype=np.int32),
            cuts=lazy_zeros((6, (n_rows // PAGE + 1) * PAGE + OFF_PAGE)),
        ),
        sparse=sparse,
        draw=draw,
        turn=TurnBuffers(
            candidates=np.empty(TURN, dtype=np.int64),
            column_codes=lazy_zeros((TURN, n_read), codes.columns.dtype),
            in_order=np.arange(n_read, dtype=np.int32),
        ),
    )


class GatheredRows(NamedTuple):
    """The rows of a small node with all that is asked of them, one after the other."""

    rows: np.ndarray  # (SMALL,) in the table
    class_codes: np.ndarray  # (SMALL,) of these rows, in their order …
    y: np.ndarray
    weights: np.ndarray
    weighted_residuals: np.ndarray  # (SMALL,) of the node at hand: weight times distance from the mean
    own: np.ndarray  # (SMALL,) which of these rows the nodes below have
    table: np.ndarray  # (SMALL, n_columns) their codes, if the table is kept by row, or all are looked at


class GatheredSparse(NamedTuple):
    """The sparse columns of a small node: entries in sparse bins that some of its rows have and others do not."""

    entry_start: np.ndarray  # (SMALL + 1,)
    entries: np.ndarray
    feature: np.ndarray  # (n_sparse_bins,) the feature of such a bin, its code, and random bits
    code: np.ndarray
    keys: np.ndarray
    bin_at: np.ndarray  # (n_sparse_bins,) where a bin of the table is found among those, and -1 for others
    bins: np.ndarray  # (n_sparse_bins + 1,) the bins of one feature, in the order of their codes


class NodeTargets(NamedTuple):
    """The rows of the node at hand in the table, their targets, and the sums of these."""

    rows: np.ndarray
    class_codes: np.ndarray  # (SMALL, 1)
    y: np.ndarray  # (SMALL, 1)
    weights: np.ndarray
    partial_totals: np.ndarray  # (TURNS, n_sums) parts of the total
    total: np.ndarray  # (n_sums,)


class KeyBuffers(NamedTuple):
    """Arrays to sort the keys of a column: codes, and in the last bits which rows they are of."""

    keys: np.ndarray
    ordered: np.ndarray  # the same in order
    spare: np.ndarray
    ranks: np.ndarray  # (FEW,)
    counts: np.ndarray


class KeptOrders(NamedTuple):
    """The keys of all columns in order, which go from a node to its children."""

    keys: np.ndarray  # (n_columns, SMALL)
    is_kept: np.ndarray  # (SMALL,) whether the node that begins here has its keys in order
    is_left: np.ndarray  # (SMALL,) where a row goes


class CutBuffers(NamedTuple):
    """Arrays for the cuts of one or more columns."""

    lefts: np.ndarray  # the weight on the left …
    parts: np.ndarray  # … its part of the impurity, and that of the right side
    rests: np.ndarray
    costs: np.ndarray
    left: np.ndarray  # (n_sums + 2,) the sums of what lies left of the cut at hand


class SmallNodeWorkspace(NamedTuple):
    """Arrays for a small node and all below it."""

    gathered: GatheredRows
    gathered_sparse: GatheredSparse
    node: NodeTargets
    keys: KeyBuffers
    orders: KeptOrders
    cuts: CutBuffers
    sums: np.ndarray  # of one column with few codes; all zero between two uses
    constant: np.ndarray  # columns that are known to be constant, as bits
    sparse: SparseHistogram
    draw: DrawBuffers


def new_small_node_workspace(
    codes, target, all_tried: bool, sparse: SparseHistogram, draw: DrawBuffers
) -> SmallNodeWorkspace:
    """Return room for the small nodes of a table; whether they look at all features."""
    n_sparse_bins, n_columns, n_sums = codes.sparse_feature.size, codes.feature.size, sparse.sums.shape[1] - 1
    n_class_codes, has_table = SMALL if target.class_codes.shape[0] else 0, codes.by_row.shape[0] > 0 or all_tried
    n_y, longest = SMALL - n_class_codes, int(np.diff(codes.entry_start).max(initial=0))
    return SmallNodeWorkspace(
        gathered=GatheredRows(
            rows=np.empty(SMALL, dtype=np.uint32),
            class_codes=np.empty(n_class_codes, dtype=np.uint32),
            y=np.empty(n_y),
            weights=np.empty(SMALL),
            weighted_residuals=np.empty(n_y),
            own=np.empty(SMALL, dtype=np.uint32),
            table=np.empty((SMALL if has_table else 0, n_columns), dtype=codes.columns.dtype),
        ),
        gathered_sparse=GatheredSparse(
            entry_start=np.zeros(SMALL + 1, dtype=np.int64),
            entries=np.empty(SMALL * longest, dtype=np.int32),
            feature=np.empty(n_sparse_bins, dtype=codes.sparse_feature.dtype),
            code=np.empty(n_sparse_bins, dtype=codes.sparse_code.dtype),
            keys=np.empty(n_sparse_bins, dtype=np.uint64),
            bin_at=np.zeros(n_sparse_bins, dtype=np.int32),
            bins=np.empty(n_sparse_bins + 1, dtype=np.int64),
        ),
        node=NodeTargets(
            rows=np.empty(SMALL, dtype=np.uint32),
            class_codes=np.empty((n_class_codes, 1), dtype=np.uint32),
            y=np.empty((n_y, 1)),
            weights=np.empty(SMALL),
            partial_totals=np.empty((TURNS, n_sums)),
            total=np.empty(n_sums),
        ),
        keys=KeyBuffers(
            keys=np.empty(SMALL + LANES, dtype=np.uint32),
            ordered=np.empty(SMALL, dtype=np.uint32),
            spare=np.empty(SMALL, dtype=np.uint32),
            ranks=np.empty(FEW, dtype=np.int32),
            counts=np.zeros(SPREAD * SMALL, dtype=np.int32),
        ),
        orders=KeptOrders(
            keys=lazy_zeros((n_columns, SMALL), np.uint32),
            is_kept=np.zeros(SMALL, dtype=np.uint8),
            is_left=np.empty(SMALL, dtype=np.uint8),
        ),
        cuts=CutBuffers(
            lefts=np.zeros(SMALL + AT_A_TIME),
            parts=np.zeros(SMALL + AT_A_TIME),
            rests=np.zeros(SMALL + AT_A_TIME),
            costs=np.empty(SMALL + AT_A_TIME),
            left=np.empty(n_sums + 2),
        ),
        sums=np.zeros(SPREAD * SMALL),
        constant=np.empty(word_count(n_columns), dtype=np.uint64),
        sparse=sparse,
        draw=draw,
    )
