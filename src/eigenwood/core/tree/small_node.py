"""A small node grows to its end, with its rows at hand.

A tree has many more small nodes than large ones, and each has little work: so their rows are gathered first, and what
they need lies close together.

    rows of the small node     0  1  2  3  4  5  6  7      their labels, weights and sparse columns lie in this order
    its first question         0  2  5  7 │ 1  3  4  6     a node below has a stretch of it
                               2  5 │ 0  7

A column is cut where its rows stand in order: a few are put in order by counting for each how many are less, more by
their codes. Where there are many rows for each code, they are added up instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit_forceinline, njit_no_refcount
from eigenwood.core.bits import ONE, add_member, is_member, taken_out, word_count
from eigenwood.core.distinct import splitmix64
from eigenwood.core.fetching import fetch_row
from eigenwood.core.tree.criteria import GINI, SQUARED_ERROR, bin_cost, is_classifying, squared_sides, tie_of
from eigenwood.core.tree.node_loop import make_node_loop, push_children, write_leaf
from eigenwood.core.tree.node_stats import add_class_codes, class_node_stats_of_sums, squared_error_node_stats
from eigenwood.core.tree.split.best import better_split
from eigenwood.core.tree.split.candidates import NO_KEY, NOTHING_DRAWN, band_for, make_draw, next_candidate
from eigenwood.core.tree.split.gap import NO_GAP, NodeColumns, pair_gap
from eigenwood.core.tree.split.histogram import (
    add_up_sparse,
    cleared,
    code_at,
    code_of,
    ordered_sparse_bins,
    write_groups,
)
from eigenwood.core.tree.split.histogram_scan import (
    HistogramColumn,
    best_class_cut,
    best_cut_of_histogram,
    is_unconstrained,
)
from eigenwood.core.tree.split.partition import mark_left, moved, partition_sorted_keys
from eigenwood.core.tree.split.sizes import AHEAD, FARTHEST, NEAR, PLACE, PLACE_BITS, SMALL, SPREAD, VERY_FEW, WORTH
from eigenwood.core.tree.split.sort_keys import sort_keys, with_last_first, zeros_first
from eigenwood.core.tree.split.sorted_scan import (
    NONE,
    UNCLEAR,
    CutLimits,
    ScanTargets,
    best_cut_of_sorted_columns,
    code_in,
    cut_classes,
    cut_numbers,
    cut_pair,
)
from eigenwood.core.tree.thresholds import both_codes, write_thresholds
from eigenwood.core.tree.types import NO_SPLIT, BinOrder, CutRules, NodeStats, RowTargets, SplitInfo
from eigenwood.core.tree.workspace import (
    DEFAULT_LEFT,
    DEPTH,
    END,
    FEATURE,
    LEFT,
    N_NODES,
    N_SMALL,
    N_STACK,
    PARENT,
    RIGHT,
    SIDE,
    START,
    THRESHOLD,
    push,
)

NOT_LOOKED = NO_SPLIT._replace(candidate=UNCLEAR)
UNBOUNDED = (-np.inf, np.inf)


class SmallNodes(NamedTuple):
    """What small nodes are grown from, and the buffers for it."""

    codes: NamedTuple
    features: NamedTuple
    starts: np.ndarray  # where the classes of an output begin
    params: NamedTuple
    logs: np.ndarray  # x log₂ x of whole numbers, or empty
    n_sparse_bins: int
    all_tried: bool  # all columns are dense and looked at, and nothing is heeded but the cost
    together: bool  # so much so that the cuts of all columns can be compared together
    ws: NamedTuple


@njit_no_refcount
def grow_small_nodes(codes, features, target, rows, row_weights, params, logs, buffers, ws):
    """Grow the small nodes that are left for later, each to its end; they may be roots of many trees.

    ``row_weights`` are the weights of ``rows`` where trees have their own, and empty where all have the target's.
    """
    small_nodes, counts = buffers.small_nodes, buffers.counts
    for i in range(counts[N_SMALL]):
        start, end = small_nodes[i, START], small_nodes[i, END]
        own = rows[start:end]
        gather_targets(target, own, row_weights[start : min(end, row_weights.size)], ws.gathered)
        if codes.by_row.shape[0] > 0:
            gather_codes(codes.by_row, own, ws.gathered.table)
        elif ws.gathered.table.shape[0] > 0:
            gather_columns(codes.columns, own, ws.gathered.table)
        n_sparse_bins = gather_sparse(codes, own, ws.gathered_sparse)
        all_tried = params.max_features >= features.kind.size and n_sparse_bins == 0 and is_unconstrained(params, 0)
        together = all_tried and params.criterion == SQUARED_ERROR and not has_missing(codes.feature, features.missing)
        nodes = SmallNodes(codes, features, target.starts, params, logs, n_sparse_bins, all_tried, together, ws)
        ws.orders.is_kept[0], buffers.constants[0, :], first = False, 0, counts[N_NODES]
        waiting = (0, own.size, small_nodes[i, DEPTH], small_nodes[i, PARENT], small_nodes[i, SIDE])
        seed = buffers.small_seeds[i]
        counts[N_STACK] = push(buffers.stack, buffers.seeds, buffers.bounds, 0, waiting, seed, *UNBOUNDED)
        grow(nodes, params, buffers, 0, buffers.ints.shape[0], 0)
        write_thresholds(features, buffers.ints, buffers.floats, first, counts[N_NODES])


@njit_no_refcount
def gather_targets(target, rows, row_weights, gathered):
    """Write the rows of a small node, their targets, and their weights: ``row_weights``, or the target's if empty."""
    for i in range(rows.size):
        row = rows[i]
        gathered.rows[i], gathered.own[i] = row, i
        gathered.weights[i] = target.weights[row] if target.weights.size > 0 else 1.0
        if row_weights.size > 0:
            gathered.weights[i] = row_weights[i]
        if gathered.class_codes.size > 0:
            gathered.class_codes[i] = target.class_codes[row, 0]
        else:
            gathered.y[i] = target.y[row, 0]


@njit_no_refcount
def gather_codes(by_row, rows, table):
    """Write the codes of the rows one after the other."""
    for i in range(rows.size):
        fetch_row(by_row, rows[min(i + AHEAD, rows.size - 1)])
        source, line = by_row[rows[i]], table[i]
        for j in range(line.size):
            line[j] = source[j]


@njit_no_refcount
def gather_columns(columns, rows, table):
    """Write the codes of the rows one after the other, from a table by column."""
    for at in range(columns.shape[0]):
        for i in range(rows.size):
            table[i, at] = columns[at, rows[i]]


@njit_no_refcount
def gather_sparse(codes, rows, gathered):
    """Write the entries in sparse bins that some of the rows have and others do not; return how many bins those are."""
    at, n_kept, n = gathered.bin_at, 0, 0
    if at.size == 0:
        return 0
    for i in range(rows.size):
        for e in range(codes.entry_start[rows[i]], codes.entry_start[rows[i] + 1]):
            at[codes.entries[e]] += 1
    for sparse_bin in range(at.size):
        if at[sparse_bin] == 0 or at[sparse_bin] == rows.size:
            at[sparse_bin] = -1
            continue
        feature = codes.sparse_feature[sparse_bin]
        at[sparse_bin], gathered.feature[n_kept], gathered.code[n_kept] = n_kept, feature, codes.sparse_code[sparse_bin]
        gathered.keys[n_kept] = splitmix64(np.uint64(feature + 1))
        n_kept += 1
    for i in range(rows.size):
        for e in range(codes.entry_start[rows[i]], codes.entry_start[rows[i] + 1]):
            sparse_bin = at[codes.entries[e]]
            if sparse_bin >= 0:
                gathered.entries[n] = sparse_bin
                n += 1
        gathered.entry_start[i + 1] = n
    for sparse_bin in range(at.size):
        at[sparse_bin] = 0
    return n_kept


@njit_no_refcount
def has_missing(feature, missing):
    """Return whether a dense column may have missing numbers."""
    for at in range(feature.size):
        if missing[feature[at]] >= 0:
            return True
    return False


@njit_forceinline
def describe(nodes, span, value):
    """Return what is known of a node, and whether it is pure; its targets stand one after the other from now on."""
    gathered, node, n = nodes.ws.gathered, nodes.ws.node, span.end - span.start
    here = gathered.own[span.start : span.end]
    if n == 1:
        return lone_stats(gathered, here[0], value), True
    if is_classifying(nodes.params.criterion):
        for i in range(n):
            at = here[i]
            node.rows[i], node.weights[i] = gathered.rows[at], gathered.weights[at]
            node.class_codes[i, 0] = gathered.class_codes[at]
        add_class_codes(node.class_codes, node.weights, n, node.partial_totals, node.total)
        return class_node_stats_of_sums(node.total, nodes.starts, nodes.params.criterion, span, value)
    for i in range(n):
        at = here[i]
        node.rows[i], node.weights[i], node.y[i, 0] = gathered.rows[at], gathered.weights[at], gathered.y[at]
    stats, pure = squared_error_node_stats(node.y[:n], node.weights[:n], node.total, span, value)
    for i in range(n):  # the mean was taken off
        gathered.weighted_residuals[here[i]] = node.weights[i] * node.y[i, 0]
    return stats, pure


@njit_forceinline
def lone_stats(gathered, row, value):
    """Return what is known of a node that has one row."""
    if gathered.class_codes.size > 0:
        for k in range(value.size):
            value[k] = 0.0
        value[gathered.class_codes[row]] = 1.0
    else:
        value[0] = gathered.y[row]
    return NodeStats(0.0, gathered.weights[row], 0.0, 0.0, -np.inf, np.inf, ONE)


@njit_forceinline
def best_small_split(nodes, span, stats):
    """Return the best split of a node; no bins stand for it, since small nodes ask about numbers alone."""
    codes, ws, n = nodes.codes, nodes.ws, span.end - span.start
    if n == 2 and nodes.all_tried:
        return split_of_pair(nodes, stats, ws.gathered.own[span.start], ws.gathered.own[span.start + 1]), 0
    n_columns, max_features = codes.feature.size, nodes.params.max_features
    kept = ws.orders.is_kept[span.start] != 0 and n > 2
    near = max(NEAR, FARTHEST * max_features // nodes.features.kind.size)
    if not kept and 2 < n <= near and n_columns <= WORTH * max_features:
        write_sorted_columns(codes.columns, ws, span.start, n)
        kept = True
    ws.orders.is_kept[span.start] = kept
    split = NOT_LOOKED
    if kept and nodes.together and n * n_columns <= SMALL:
        split = best_split_of_all_columns(codes, ws, stats, span.start, n)
    if split.candidate == UNCLEAR:
        split = best_split_by_column(nodes, stats, span.start, n, kept)
    return split, 0


@njit_forceinline
def best_split_of_all_columns(codes, ws, stats, start, n):
    """Return the best split of a node that looks at all columns, whose keys are in order; its candidate is ``UNCLEAR``
    if they must be looked at one by one.
    """
    order = ws.orders.keys
    cost, at, j = best_cut_of_sorted_columns(
        order, ws.constant, ws.draw.feature_keys, start, n, scan_targets(ws.gathered), ws.node.total[1], stats, ws.cuts
    )
    if at < 0:
        return SplitInfo(cost, at, -1, -1, -1, -1, -1)
    below, above, first = code_in(order[at, start + j]), code_in(order[at, start + j + 1]), codes.start[at]
    meant = np.int64(codes.bin_of_code[first + below]), np.int64(codes.bin_of_code[first + above])
    return SplitInfo(cost, at, np.int64(codes.feature[at]), below, meant[0], meant[1], -1)


@njit_forceinline
def split_of_pair(nodes, stats, one, other):
    """Return the split of a node of two rows that looks at all columns: each that tells two numbers apart does as well,
    so a draw decides; columns in which one is missing come after those.
    """
    codes, features, gathered = nodes.codes, nodes.features, nodes.ws.gathered
    at = column_of_two(codes, features, gathered.table, nodes.ws.draw.feature_keys, one, other, stats.seed)
    if at == NONE:
        return NO_SPLIT
    feature, first = np.int64(codes.feature[at]), codes.start[at]
    a, b = np.int64(gathered.table[one, at]), np.int64(gathered.table[other, at])
    below, above = np.int64(codes.bin_of_code[first + min(a, b)]), np.int64(codes.bin_of_code[first + max(a, b)])
    side = 0 if above == features.missing[feature] else -1
    cost = cost_of_two(gathered.weighted_residuals, gathered.weights, one, other)
    return SplitInfo(cost, at, feature, min(a, b), below, above, side)


@njit_no_refcount
def column_of_two(codes, features, table, feature_keys, one, other, seed):
    """Return the column of those that tell two rows apart with the widest gap (``pair_gap``) and, of these, the least
    random bits; ``NONE`` if none does.
    """
    best, least, best_gap = NONE, np.uint64(0), NO_GAP
    for at in range(feature_keys.size):
        if table[one, at] != table[other, at]:
            above = np.int64(max(table[one, at], table[other, at]))
            key, gap = (
                splitmix64(seed ^ feature_keys[at]),
                pair_gap(above, missing_at(codes, features, at, codes.feature[at])),
            )
            if gap > best_gap or (gap == best_gap and key < least):
                best, least, best_gap = at, key, gap
    return best


@njit_no_refcount
def cost_of_two(weighted_residuals, weights, one, other):
    """Return what two rows cost that are alone: of classes nothing is left to tell apart."""
    if weighted_residuals.size == 0:
        return 0.0
    return (
        -weighted_residuals[one] * weighted_residuals[one] / weights[one]
        - weighted_residuals[other] * weighted_residuals[other] / weights[other]
    )


@njit_forceinline
def branch(nodes, buffers, node, span, split, n_bins):
    """Write the question of a node, move its rows to their sides, and let its children wait."""
    codes, features, ws, start = nodes.codes, nodes.features, nodes.ws, span.start
    gathered, orders, keys, n = ws.gathered, ws.orders, ws.keys, span.end - span.start
    threshold = both_codes(split.below, split.above)
    buffers.floats[node, THRESHOLD], buffers.ints[node, FEATURE] = threshold, split.feature
    if n == 2 and nodes.all_tried:
        write_pair(gathered, buffers, node, split, gathered.own[start], gathered.own[start + 1])
        return
    kept = orders.is_kept[start] != 0
    if not kept or split.candidate >= codes.feature.size:
        write_keys(nodes, split.candidate, start, n)
    missing = missing_at(codes, features, split.candidate, split.feature) if split.missing_left == 1 else -1
    if kept and split.candidate < codes.feature.size:
        mark_left(orders.keys[split.candidate, start : span.end], n, split.place, missing, orders.is_left)
    else:
        mark_left(keys.keys, n, split.place, missing, orders.is_left)
    n_left, balance = moved(orders.is_left, n, gathered.own, start, gathered.weights, keys.spare)
    if kept and max(n_left, n - n_left) > 2:
        partition_sorted_keys(orders.keys, ws.constant, orders.is_left, start, n, keys.spare)
    orders.is_kept[start + n_left] = kept
    buffers.ints[node, DEFAULT_LEFT] = split.missing_left if split.missing_left >= 0 else balance > 0.0
    push_children(buffers, node, span, n_left, ws.constant, UNBOUNDED, UNBOUNDED)


@njit_forceinline
def write_pair(gathered, buffers, node, split, one, other):
    """Write the children of a node of two rows, which are alone."""
    ints, weights = buffers.ints, gathered.weights
    if gathered.table[one, split.candidate] > gathered.table[other, split.candidate]:
        one, other = other, one
    ints[node, DEFAULT_LEFT] = split.missing_left < 0 and weights[one] > weights[other]
    ints[node, LEFT], ints[node, RIGHT], buffers.counts[N_NODES] = node + 1, node + 2, node + 3
    for child, row in ((node + 1, one), (node + 2, other)):
        write_leaf(ints, buffers.floats, child, 1, lone_stats(gathered, row, buffers.value[child]))


@njit_forceinline
def missing_at(codes, features, at, feature):
    """Return the code of missing numbers in a column, -1 if none is missing: it is the last one."""
    missing = np.int64(features.missing[feature])
    if missing < 0 or at >= codes.feature.size:
        return missing
    last = codes.start[at + 1] - codes.start[at] - 1
    return last if codes.bin_of_code[codes.start[at] + last] == missing else np.int64(-1)


@njit_forceinline
def write_keys(nodes, at, start, n):
    """Write the keys of the node's rows in a column; the codes of a sparse one are those of the feature."""
    n_columns, ws, own, keys = nodes.codes.feature.size, nodes.ws, nodes.ws.gathered.own, nodes.ws.keys.keys
    if at < n_columns:
        gather_keys(nodes.codes.columns, ws.gathered.table, at, ws.node.rows, own, start, n, keys)
        return
    gathered, present, group = ws.gathered_sparse, ws.sparse.present, ws.sparse.group
    first, last = present[group[at - n_columns]], present[group[at - n_columns + 1] - 1]
    common = np.uint32(nodes.features.common[gathered.feature[first]])
    spread_keys(gathered.entry_start, gathered.entries, gathered.code, first, last, common, own, start, n, keys)


@njit_no_refcount
def gather_keys(columns, table, at, rows, own, start, n, keys):
    """Write the keys of some rows, from the table of those at hand if there is one."""
    here = own[start : start + n]
    for i in range(n):
        code = np.uint32(code_at(columns, table, at, rows[i], here[i]))
        keys[i] = (code << PLACE_BITS) | here[i]


@njit_no_refcount
def spread_keys(entry_start, entries, sparse_code, first, last, common, own, start, n, keys):
    """Write the keys of some rows in a sparse column, which has the bins from ``first`` to ``last``."""
    for i in range(n):
        code = common
        for e in range(entry_start[own[start + i]], entry_start[own[start + i] + 1]):
            if first <= entries[e] <= last:
                code = np.uint32(sparse_code[entries[e]])
        keys[i] = (code << PLACE_BITS) | own[start + i]


@njit_no_refcount
def write_sorted_columns(columns, ws, start, n):
    """Write the keys of every column that may vary, in order."""
    table, rows, own, keys, order = ws.gathered.table, ws.node.rows, ws.gathered.own, ws.keys, ws.orders.keys
    for at in range(order.shape[0]):
        if not is_member(ws.constant, at):
            gather_keys(columns, table, at, rows, own, start, n, keys.keys)
            sort_keys(keys.keys, n, keys.ranks, keys.counts, order[at, start : start + n])


@njit_forceinline
def best_split_by_column(nodes, stats, start, n, kept):
    """Return the best split of a node, looking at one column after the other. Its place is the last code of the column
    that goes left; below and above it are codes of the feature.
    """
    codes, features, starts, params, ws = nodes.codes, nodes.features, nodes.starts, nodes.params, nodes.ws
    n_columns, tie, n_present, n_groups, free = codes.feature.size, tie_of(stats), 0, 0, is_unconstrained(params, 0)
    gathered, present, group, sums = ws.gathered_sparse, ws.sparse.present, ws.sparse.group, ws.sparse.sums
    node, own, n_sums = ws.node, ws.gathered.own[start : start + n], ws.node.total.size
    if nodes.n_sparse_bins > 0:
        add_up_sparse(
            gathered.entry_start, gathered.entries, own, node.class_codes[: min(n, node.class_codes.shape[0])],
            node.y[: min(n, node.y.shape[0])], node.weights[:n], starts, sums, ws.sparse.bits,
        )  # fmt: skip
        n_present = taken_out(ws.sparse.bits, word_count(nodes.n_sparse_bins), present)
        n_groups = write_groups(present, n_present, gathered.feature, group)
    drawing, n_candidates, n_tried = params.max_features < features.kind.size, n_columns + n_groups, 0
    drawn, band = NOTHING_DRAWN, NO_KEY
    if drawing:
        n_candidates = make_draw(ws.draw, gathered.keys, n_columns, n_groups, present, group, ws.constant, stats.seed)
        band = band_for(params.max_features, n_candidates)
    columns = NodeColumns(
        codes, features, ws.gathered.table, node.rows, own, present, group, gathered.code, sums, n_sums
    )  # fmt: skip
    best, best_gap = NO_SPLIT, NO_GAP
    for t in range(n_candidates):
        at = t
        if drawing:
            at, drawn = next_candidate(ws.draw, n_columns + n_groups, drawn, band)
        if at < n_columns:
            if is_member(ws.constant, at):
                continue
            feature, single = np.int64(codes.feature[at]), False
        else:
            sparse_bin = present[group[at - n_columns]]
            feature, single = np.int64(gathered.feature[sparse_bin]), n_bins_in(group, at - n_columns) == 1
            if single and sums[sparse_bin, n_sums] >= n:
                continue
        missing = missing_at(codes, features, at, feature)
        cost, below, above, side = best_cut(nodes, at, missing, single, free, stats, start, n, kept)
        place = below
        if at < n_columns:
            if below == above:
                add_member(ws.constant, at)
                continue
            first = codes.start[at]
            below, above = np.int64(codes.bin_of_code[first + below]), np.int64(codes.bin_of_code[first + above])
        n_tried += 1
        if cost < np.inf:
            split = SplitInfo(cost, at, feature, place, below, above, side)
            is_better, gap, best_gap = better_split(columns, n, split, 0, best, 0, best_gap, stats, tie)
            if is_better:
                best, best_gap = split, gap
        if drawing and n_tried >= params.max_features and best.candidate >= 0:
            break
    cleared(sums, present, n_present)
    return best


@njit_no_refcount
def sparse_bin_cost(sums, sparse_bin, total, starts, weight, criterion, logs):
    """Return the cost of one sparse bin against all other rows."""
    if criterion == SQUARED_ERROR:
        a, x = sums[sparse_bin, 0], sums[sparse_bin, 1]
        return squared_sides(x, a, total[1] - x, weight - a)
    return bin_cost(sums, sparse_bin, total, starts, criterion, logs)


@njit_no_refcount
def n_bins_in(group, g):
    """Return how many sparse bins a column has in the node."""
    return group[g + 1] - group[g]


@njit_forceinline
def best_cut(nodes, at, missing, single, free, stats, start, n, kept):
    """Return the least cost of a cut of a column, the codes on both sides of it (equal ones if a dense column does not
    vary; of a sparse column those of the feature), and the side of the missing rows.

    All columns whose keys are put in order meet in one call: every copy of ``cut_in_order`` takes seconds to compile.
    """
    codes, params, ws, n_columns = nodes.codes, nodes.params, nodes.ws, nodes.codes.feature.size
    node, keys, ordered, n_zeros = ws.node, ws.keys, ws.keys.ordered, 0
    if kept and at < n_columns:
        ordered = ws.orders.keys[at][start : start + n]
    else:
        if at >= n_columns and missing < 0 and (single and free or is_classifying(params.criterion)):
            return best_sparse_cut(nodes, at - n_columns, single and free, stats, n)
        if at < n_columns and free and missing < 0:
            width = codes.start[at + 1] - codes.start[at]
            if width <= SPREAD * n // node.total.size:
                own, targets = ws.gathered.own[start : start + n], RowTargets(node.class_codes, node.y, node.weights)
                column = HistogramColumn(codes.columns, ws.gathered.table, at, width, node.rows, own, n)
                return best_cut_of_histogram(
                    column, targets, node.total, ws.cuts.left, ws.sums, stats, params.criterion, nodes.logs
                )
        write_keys(nodes, at, start, n)
        if at < n_columns and free and n == 2:
            return cut_of_two(keys.keys, ws.gathered.weighted_residuals, ws.gathered.weights, missing)
        if at < n_columns and n > VERY_FEW:
            n_zeros = zeros_first(keys.keys, n, ordered)
        sort_keys(keys.keys, n - n_zeros, keys.ranks, keys.counts, ordered[n_zeros:])
    return cut_in_order(ws, ordered, n_zeros, missing, params, free, nodes.logs, stats, n)


@njit_forceinline
def best_sparse_cut(nodes, at, of_two_values, stats, n):
    """Return the least cost of a cut of a sparse column without missing numbers, the codes on both sides of it, and -1
    for the side of missing rows.
    """
    ws, node, gathered, bin_of_code = nodes.ws, nodes.ws.node, nodes.ws.gathered_sparse, nodes.codes.bin_of_code
    n_sums, sums, bins, left, group = node.total.size, ws.sparse.sums, gathered.bins, ws.cuts.left, ws.sparse.group
    sparse_bin = ws.sparse.present[group[at]]
    common = np.int64(nodes.features.common[gathered.feature[sparse_bin]])
    if of_two_values:  # nothing to put in order
        rare, criterion = np.int64(gathered.code[sparse_bin]), nodes.params.criterion
        cost = sparse_bin_cost(sums, sparse_bin, node.total, nodes.starts, stats.weight, criterion, nodes.logs)
        return cost, min(rare, common), max(rare, common), -1
    n_bins = ordered_sparse_bins(
        ws.sparse.present, group[at], group[at + 1], gathered.code, common, n, node.total, sums, bins
    )
    left[:] = 0.0
    left[n_sums + 1] = n
    rules = CutRules(nodes.params, stats, nodes.starts, np.int64(0), nodes.logs)
    cost, _, place = best_class_cut(BinOrder(sums, bins, n_bins, node.total, left), 0, n_bins - 2, rules, False)
    below = np.int64(code_of(bins[max(place, 0)], -1, bin_of_code, gathered.code, common))
    above = np.int64(code_of(bins[max(place, 0) + 1], -1, bin_of_code, gathered.code, common))
    return cost, below, above, -1


@njit_forceinline
def cut_in_order(ws, keys, n_zeros, missing, params, free, logs, stats, n):
    """Return the best cut of a column whose keys are in order; so many of code 0 are known to come first."""
    greatest, first = code_in(keys[n - 1]), np.int64(0)  # a bare 0 would be compiled for itself, and then for nothing
    cost, below, above, side = np.inf, greatest, greatest, -1
    if code_in(keys[0]) == greatest:
        return cost, below, above, side
    for turn in range(2):  # the missing rows, if there are any, go right, and then left
        found, j = cut_of_order(ws, keys, n, n_zeros, first, params, free, logs, stats)
        if turn == 0:
            cost, below, above = found, code_in(keys[max(j, 0)]), code_in(keys[j + 1]) if j >= 0 else greatest
        elif found < cost - tie_of(stats):
            cost, below, above, side = found, code_in(keys[j]), code_in(keys[j + 1]), 1
        if turn == 1 or greatest != missing:
            break
        side, first, n_zeros = 0, n_last(keys, n, missing), 0
        if code_in(keys[0]) == code_in(keys[n - 1 - first]):
            break
        keys = with_last_first(keys, n, first, ws.keys.spare)
    return cost, below, above, side


@njit_no_refcount
def n_last(keys, n, code):
    """Return how many of the last keys have a code."""
    n_found = 0
    while code_in(keys[n - 1 - n_found]) == code:
        n_found += 1
    return n_found


@njit_no_refcount
def cut_of_two(keys, weighted_residuals, weights, missing):
    """Return the cut between two rows, which are alone then: of classes nothing is left to tell apart."""
    one, other = code_in(keys[0]), code_in(keys[1])
    if one == other:
        return np.inf, one, one, -1
    cost = cost_of_two(weighted_residuals, weights, keys[0] & PLACE, keys[1] & PLACE)
    return cost, min(one, other), max(one, other), 0 if max(one, other) == missing else -1


@njit_forceinline
def cut_of_order(ws, keys, n, n_zeros, first, params, free, logs, stats):
    """Return the least cost of a cut after row ``first`` or later of those in order, and its place."""
    min_samples_leaf, min_weight = (1, 0.0) if free else (params.min_samples_leaf, params.min_weight_leaf)
    limits = CutLimits(max(first, min_samples_leaf - 1), n - min_samples_leaf, min_weight)
    targets, total, cuts = scan_targets(ws.gathered), ws.node.total, ws.cuts
    if params.criterion == SQUARED_ERROR:
        return cut_numbers(keys, limits, targets, total[1], stats, cuts)
    if params.criterion == GINI and total.size == 2:
        return cut_pair(keys, limits, targets, total, stats, cuts)
    skipped = max(min(n_zeros - 1, limits.last), 0)
    return cut_classes(keys, n, skipped, limits, targets, total, stats, params.criterion, logs, cuts)


@njit_forceinline
def scan_targets(gathered):
    """Return the targets that a scan reads, and no more: every array that is passed to a function takes time."""
    return ScanTargets(gathered.class_codes, gathered.weighted_residuals, gathered.weights)


grow = make_node_loop(describe, best_small_split, branch)
