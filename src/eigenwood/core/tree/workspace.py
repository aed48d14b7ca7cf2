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

LEFT, RIGHT, FEATURE, DEFAULT_LEFT, CHAINED, N_ROWS, LISTED, LIST = range(8)  # what a node is, in whole numbers …
THRESHOLD, IMPURITY, WEIGHT = range(3)  # … and in real ones
START, END, DEPTH, PARENT, SIDE = range(5)  # a node that waits
N_STACK, N_NODES, N_OPEN, N_SPLITS, N_CATEGORIES, N_SMALL = range(6)


class NodeBuffers(NamedTuple):
    """The nodes so far, those that wait, and those that stay open."""

    whole: np.ndarray  # (n, 8) LEFT … LIST; where a list of categories begins
    real: np.ndarray  # (n, 3) THRESHOLD … WEIGHT
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
        whole=lazy_zeros((n_nodes, 8), np.int32),
        real=lazy_zeros((n_nodes, 3)),
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
def push(stack, seeds, bounds, n_stack, line, seed, lower, upper):
    """Let a node wait."""
    for k in range(stack.shape[1]):
        stack[n_stack, k] = line[k]
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


class SplitWorkspace(NamedTuple):
    """Room for one node after the other. Sums, counts and bits are all zero between two uses.

    The sparse columns share ``sparse_sums``, whose last line is for the common code of the feature at hand.
    """

    sums: np.ndarray  # (n_codes, n_sums + 1), the last column counts rows
    flat: np.ndarray  # the same for columns with few codes, one after the other
    counts: np.ndarray  # (n_codes,)
    bits: np.ndarray  # which codes occur
    sparse_sums: np.ndarray  # (n_sparse_bins + 1, n_sums + 1)
    sparse_bits: np.ndarray
    sparse_bins: np.ndarray  # (n_sparse_bins,) those that occur
    group: np.ndarray  # (n_sparse_bins + 1,) where the sparse bins of a feature begin among them
    keys: np.ndarray  # (n_rows,) the codes of a column in order …
    places: np.ndarray  # (n_rows,) … and the places of their rows
    bins: np.ndarray  # the bins of one column, in the order in which they are cut
    best_bins: np.ndarray  # those of the best one so far, if it is a category
    left: np.ndarray  # (n_sums + 2,)
    cuts: np.ndarray  # (6, n_rows) the cuts of a column whose rows are in order
    feature_keys: np.ndarray  # (n_columns,) random bits
    sparse_keys: np.ndarray  # (n_sparse_bins,) random bits of their features
    draw: np.ndarray  # (n_candidates,) their keys, or all that can be looked at
    near: np.ndarray  # of the keys, those that come next
    candidates: np.ndarray  # (TURN,) the candidates that are looked at next …
    column_codes: np.ndarray  # (TURN, n_rows) … and the codes that the rows of the node have there, of a table by row
    in_order: np.ndarray  # (n_rows,) 0, 1, 2, …: the rows of these codes
    total: np.ndarray  # (n_sums,) of all rows of the node
    constant: np.ndarray  # the columns that are known to be constant there, as bits


def new_split_workspace(
    codes, features, params: GrowthParams, n_sums: int, n_rows: int, n_outputs: int
) -> SplitWorkspace:
    """Return room for the nodes of a coded table."""
    widths, n_sparse_bins, n_read = (
        np.diff(codes.start),
        codes.sparse_feature.size,
        n_rows if codes.by_row.shape[0] > 0 else 0,
    )
    n_codes, summed = int(widths.max(initial=0)), widths
    if has_exact_row_updates(params.criterion, params.integer_weights, n_outputs) and not params.at_random:
        is_category = features.kind[codes.feature] == CATEGORY
        summed = np.where(is_category, widths, np.minimum(widths, most_summed(n_rows, n_sums)))
    n_bins = max(n_codes, n_sparse_bins + 1)
    return SplitWorkspace(
        sums=lazy_zeros((int(summed.max(initial=0)), n_sums + 1)),
        flat=lazy_zeros((SPREAD * n_rows,)),
        counts=np.zeros(n_codes, dtype=np.int32),
        bits=np.zeros(word_count(n_codes), dtype=np.uint64),
        sparse_sums=lazy_zeros((n_sparse_bins + 1, n_sums + 1)),
        sparse_bits=np.zeros(word_count(n_sparse_bins), dtype=np.uint64),
        sparse_bins=np.empty(n_sparse_bins, dtype=np.int64),
        group=np.empty(n_sparse_bins + 1, dtype=np.int64),
        keys=np.empty(n_rows, dtype=np.int32),
        places=np.empty(n_rows, dtype=np.int32),
        bins=np.empty(n_bins, dtype=np.int64),
        best_bins=np.empty(n_bins, dtype=np.int64),
        left=np.empty(n_sums + 2),
        cuts=lazy_zeros((6, (n_rows // PAGE + 1) * PAGE + OFF_PAGE)),
        feature_keys=splitmix64(codes.feature.astype(np.uint64) + ONE),
        sparse_keys=splitmix64(codes.sparse_feature.astype(np.uint64) + ONE),
        draw=np.empty(codes.feature.size + n_sparse_bins, dtype=np.uint64),
        near=np.empty(codes.feature.size + n_sparse_bins, dtype=np.uint64),
        candidates=np.empty(TURN, dtype=np.int64),
        column_codes=lazy_zeros((TURN, n_read), codes.columns.dtype),
        in_order=np.arange(n_read, dtype=np.int32),
        total=np.empty(n_sums),
        constant=np.zeros(word_count(codes.feature.size), dtype=np.uint64),
    )


TURNS, MANY = 4, 32  # labels of more rows are added up in turns


class SmallNodeWorkspace(NamedTuple):
    """Room for a small node."""

    rows: np.ndarray  # (SMALL,) in the table
    class_codes: np.ndarray  # (SMALL,) of these rows, in their order …
    y: np.ndarray
    weights: np.ndarray
    weighted_residuals: np.ndarray  # (SMALL,) of the node at hand: weight times distance from the mean
    own: np.ndarray  # (SMALL,) which of these rows the nodes below have
    table: np.ndarray  # (SMALL, n_columns) their codes, if the table is kept by row, or all are looked at
    entry_start: np.ndarray  # (SMALL + 1,) their sparse columns: entries in sparse bins that some of them have …
    entries: np.ndarray
    sparse_bin_at: np.ndarray  # (n_sparse_bins,) … where such a sparse bin of the table is found, and -1 for others
    sparse_feature: np.ndarray  # (n_sparse_bins,) the feature of a sparse bin, its code, and random bits
    sparse_code: np.ndarray
    sparse_keys: np.ndarray
    sparse_sums: np.ndarray  # (n_sparse_bins + 1, n_sums + 1) all zero between two uses, but the last
    sparse_bits: np.ndarray
    sparse_bins: np.ndarray  # of the node at hand: the sparse bins that occur …
    group: np.ndarray  # … and where those of a feature begin among them
    bins: np.ndarray  # (n_sparse_bins + 1,) the bins of one feature, in the order of their codes
    node_rows: np.ndarray  # of the node at hand: its rows in the table, and their targets
    node_class_codes: np.ndarray  # (SMALL, 1)
    node_y: np.ndarray  # (SMALL, 1)
    node_weights: np.ndarray
    partial_totals: np.ndarray  # (TURNS, n_sums) parts of the total
    total: np.ndarray  # (n_sums,) of all its rows
    left: np.ndarray  # (n_sums + 2,)
    order: np.ndarray  # (n_columns, SMALL) the keys of all its columns in order, if those are kept
    is_left: np.ndarray  # (SMALL,) where a row goes
    keys: np.ndarray  # of one of its columns: codes, and in the last bits which rows they are of
    ordered: np.ndarray  # the same in order
    spare: np.ndarray
    lefts: np.ndarray  # of the cuts of one or more columns: the weight on the left …
    parts: np.ndarray  # … its part of the impurity, and that of the right side
    rests: np.ndarray
    costs: np.ndarray
    ranks: np.ndarray  # (FEW,)
    counts: np.ndarray
    sums: np.ndarray
    feature_keys: np.ndarray  # (n_columns,) random bits
    draw: (
        np.ndarray
    )  # (n_columns + n_sparse_bins,) of the candidates: random bits, and in the last bits which they are of
    near: np.ndarray  # of the same, those that come next
    constant: np.ndarray  # columns that are known to be constant, as bits
    stack: np.ndarray  # the nodes that wait
    seeds: np.ndarray
    constants: np.ndarray


def new_small_node_workspace(codes, target, n_sums: int, all_tried: bool) -> SmallNodeWorkspace:
    """Return room for the small nodes of a table; whether they look at all features."""
    n_sparse_bins, n_columns = codes.sparse_feature.size, codes.feature.size
    n_words, n_class_codes = word_count(n_columns), SMALL if target.class_codes.shape[0] else 0
    n_y, longest = SMALL - n_class_codes, int(np.diff(codes.entry_start).max(initial=0))
    has_table = codes.by_row.shape[0] > 0 or all_tried
    return SmallNodeWorkspace(
        rows=np.empty(SMALL, dtype=np.uint32),
        class_codes=np.empty(n_class_codes, dtype=np.uint32),
        y=np.empty(n_y),
        weights=np.empty(SMALL),
        weighted_residuals=np.empty(n_y),
        own=np.empty(SMALL, dtype=np.uint32),
        table=np.empty((SMALL if has_table else 0, n_columns), dtype=codes.columns.dtype),
        entry_start=np.zeros(SMALL + 1, dtype=np.int64),
        entries=np.empty(SMALL * longest, dtype=np.int32),
        sparse_bin_at=np.zeros(n_sparse_bins, dtype=np.int32),
        sparse_feature=np.empty(n_sparse_bins, dtype=codes.sparse_feature.dtype),
        sparse_code=np.empty(n_sparse_bins, dtype=codes.sparse_code.dtype),
        sparse_keys=np.empty(n_sparse_bins, dtype=np.uint64),
        sparse_sums=lazy_zeros((n_sparse_bins + 1, n_sums + 1)),
        sparse_bits=np.zeros(word_count(n_sparse_bins), dtype=np.uint64),
        sparse_bins=np.empty(n_sparse_bins, dtype=np.int64),
        group=np.empty(n_sparse_bins + 1, dtype=np.int64),
        bins=np.empty(n_sparse_bins + 1, dtype=np.int64),
        node_rows=np.empty(SMALL, dtype=np.uint32),
        node_class_codes=np.empty((n_class_codes, 1), dtype=np.uint32),
        node_y=np.empty((n_y, 1)),
        node_weights=np.empty(SMALL),
        partial_totals=np.empty((TURNS, n_sums)),
        total=np.empty(n_sums),
        left=np.empty(n_sums + 2),
        order=lazy_zeros((n_columns, SMALL), np.uint32),
        is_left=np.empty(SMALL, dtype=np.uint8),
        keys=np.empty(SMALL + LANES, dtype=np.uint32),
        ordered=np.empty(SMALL, dtype=np.uint32),
        spare=np.empty(SMALL, dtype=np.uint32),
        lefts=np.zeros(SMALL + AT_A_TIME),
        parts=np.zeros(SMALL + AT_A_TIME),
        rests=np.zeros(SMALL + AT_A_TIME),
        costs=np.empty(SMALL + AT_A_TIME),
        ranks=np.empty(FEW, dtype=np.int32),
        counts=np.zeros(SPREAD * SMALL, dtype=np.int32),
        sums=np.zeros(SPREAD * SMALL),
        feature_keys=splitmix64(codes.feature.astype(np.uint64) + ONE),
        draw=np.empty(n_columns + n_sparse_bins, dtype=np.uint64),
        near=np.empty(n_columns + n_sparse_bins, dtype=np.uint64),
        constant=np.empty(n_words, dtype=np.uint64),
        stack=np.empty((SMALL + 1, 6), dtype=np.int32),
        seeds=np.empty(SMALL + 1, dtype=np.uint64),
        constants=np.empty((SMALL + 1, n_words), dtype=np.uint64),
    )
