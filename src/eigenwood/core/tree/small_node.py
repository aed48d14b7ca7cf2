"""A small node grows to its end, with its rows at hand.

A tree has many more small nodes than large ones, and each has little work: so they are grown by one loop that calls
little, makes nothing, and keeps what it needs close together.

    rows of the small node     0  1  2  3  4  5  6  7      their labels, weights and sparse columns lie in this order
    its first question         0  2  5  7 │ 1  3  4  6     a node below has a stretch of it
                               2  5 │ 0  7

A column is cut where its rows stand in order: a few are put in order by counting for each how many are less, more by
their codes. Where there are many rows for each code, they are added up instead.
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit_forceinline, njit_no_refcount
from eigenwood.core.bits import ONE, add_member, is_member, taken_out, word_count
from eigenwood.core.distinct import splitmix64
from eigenwood.core.fetching import fetch_row
from eigenwood.core.tree.criteria import GINI, SQUARED_ERROR, bin_cost, is_classifying, squared_sides, tie_of
from eigenwood.core.tree.node_loop import write_leaf
from eigenwood.core.tree.node_stats import (
    add_class_codes,
    class_node_stats_of_sums,
    gains_little,
    regression_node_stats,
    stays_leaf,
)
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
from eigenwood.core.tree.split.histogram_scan import best_class_cut, best_cut_of_histogram, is_unconstrained
from eigenwood.core.tree.split.partition import mark_left, moved, partition_sorted_keys
from eigenwood.core.tree.split.sizes import AHEAD, FARTHEST, NEAR, PLACE, PLACE_BITS, SMALL, SPREAD, VERY_FEW, WORTH
from eigenwood.core.tree.split.sort_keys import sort_keys, with_last_first, zeros_first
from eigenwood.core.tree.split.sorted_scan import (
    NONE,
    UNCLEAR,
    best_cut_of_sorted_columns,
    code_in,
    cut_amounts,
    cut_classes,
    cut_pair,
)
from eigenwood.core.tree.thresholds import both_codes, write_thresholds
from eigenwood.core.tree.types import NO_SPLIT, NodeSpan, NodeStats, SplitInfo
from eigenwood.core.tree.workspace import DEFAULT_LEFT, FEATURE, LEFT, N_NODES, N_SMALL, RIGHT, THRESHOLD

START, END, DEPTH, PARENT, SIDE, KEPT = range(6)  # a node that waits
NOT_LOOKED = NO_SPLIT._replace(candidate=UNCLEAR)


@njit_no_refcount
def grow_small_nodes(codes, features, target, rows, params, logs, buffers, ws):
    """Grow the small nodes that are left for later, each to its end."""
    small_nodes = buffers.small_nodes
    for i in range(buffers.counts[N_SMALL]):
        start, end = small_nodes[i, START], small_nodes[i, END]
        take(target, rows[start:end], ws)
        if codes.by_row.shape[0] > 0:
            take_codes(codes.by_row, rows[start:end], ws.table)
        elif ws.table.shape[0] > 0:
            take_columns(codes.columns, rows[start:end], ws.table)
        n_sparse_bins = take_entries(codes, rows[start:end], ws)
        ws.constant[:] = 0
        line = (small_nodes[i, DEPTH], small_nodes[i, PARENT])
        wait(ws, 0, 0, end - start, line, small_nodes[i, SIDE], False, buffers.small_seeds[i])
        grow_small_node(codes, features, target.starts, params, logs, buffers, ws, n_sparse_bins)


@njit_no_refcount
def take(target, rows, ws):
    """Write the rows of a small node and their targets."""
    for i in range(rows.size):
        row = rows[i]
        ws.rows[i], ws.own[i] = row, i
        ws.weights[i] = target.weights[row] if target.weights.size > 0 else 1.0
        if ws.class_codes.size > 0:
            ws.class_codes[i] = target.class_codes[row, 0]
        else:
            ws.y[i] = target.y[row, 0]


@njit_no_refcount
def take_codes(by_row, rows, table):
    """Write the codes of the rows one after the other."""
    for i in range(rows.size):
        fetch_row(by_row, rows[min(i + AHEAD, rows.size - 1)])
        source, workspace = by_row[rows[i]], table[i]
        for j in range(workspace.size):
            workspace[j] = source[j]


@njit_no_refcount
def take_columns(columns, rows, table):
    """Write the codes of the rows one after the other, from a table by column."""
    for at in range(columns.shape[0]):
        for i in range(rows.size):
            table[i, at] = columns[at, rows[i]]


@njit_no_refcount
def take_entries(codes, rows, ws):
    """Write the entries in sparse bins that some of the rows have and others do not; return how many bins those are."""
    at, n_kept, n = ws.sparse_bin_at, 0, 0
    if at.size == 0:
        return 0
    for i in range(rows.size):
        for e in range(codes.entry_start[rows[i]], codes.entry_start[rows[i] + 1]):
            at[codes.entries[e]] += 1
    for sparse_bin in range(at.size):
        if at[sparse_bin] == 0 or at[sparse_bin] == rows.size:
            at[sparse_bin] = -1
            continue
        at[sparse_bin], ws.sparse_feature[n_kept], ws.sparse_code[n_kept] = (
            n_kept,
            codes.sparse_feature[sparse_bin],
            codes.sparse_code[sparse_bin],
        )
        ws.sparse_keys[n_kept] = splitmix64(np.uint64(codes.sparse_feature[sparse_bin] + 1))
        n_kept += 1
    for i in range(rows.size):
        for e in range(codes.entry_start[rows[i]], codes.entry_start[rows[i] + 1]):
            sparse_bin = at[codes.entries[e]]
            if sparse_bin >= 0:
                ws.entries[n] = sparse_bin
                n += 1
        ws.entry_start[i + 1] = n
    for sparse_bin in range(at.size):
        at[sparse_bin] = 0
    return n_kept


@njit_no_refcount
def grow_small_node(codes, features, starts, params, logs, buffers, ws, n_sparse_bins):
    """Grow the node that waits in ``ws`` to its end."""
    stack, seeds, counts = ws.stack, ws.seeds, buffers.counts
    n_stack, own, weights = 1, ws.own, ws.node_weights
    classifying, rows, first = is_classifying(params.criterion), ws.node_rows, counts[N_NODES]
    all_tried = params.max_features >= features.kind.size and n_sparse_bins == 0 and is_unconstrained(params, 0)
    near = max(NEAR, FARTHEST * params.max_features // features.kind.size)
    together = all_tried and params.criterion == SQUARED_ERROR and not has_missing(codes.feature, features.missing)
    while n_stack > 0:
        n_stack -= 1
        start, end, depth = stack[n_stack, START], stack[n_stack, END], stack[n_stack, DEPTH]
        parent, side, seed, node = stack[n_stack, PARENT], stack[n_stack, SIDE], seeds[n_stack], counts[N_NODES]
        place, n = NodeSpan(start, end, depth, seed, -np.inf, np.inf), end - start
        if parent >= 0:
            buffers.whole[parent, side] = node
        counts[N_NODES] = node + 1
        if n == 1:
            write_lone(ws.class_codes, ws.y, ws.weights, own[start], buffers, node)
            continue
        here = own[start:end]
        if classifying:
            for i in range(n):
                at = here[i]
                rows[i], weights[i], ws.node_class_codes[i, 0] = ws.rows[at], ws.weights[at], ws.class_codes[at]
            add_class_codes(ws.node_class_codes, weights, n, ws.partial_totals, ws.total)
            stats, pure = class_node_stats_of_sums(ws.total, starts, params.criterion, place, buffers.value[node])
        else:
            for i in range(n):
                at = here[i]
                rows[i], weights[i], ws.node_y[i, 0] = ws.rows[at], ws.weights[at], ws.y[at]
            stats, pure = regression_node_stats(
                ws.node_y[:n], weights[:n], starts, params.criterion, ws.total, place, buffers.value[node]
            )
            for i in range(n):  # the mean was taken off
                ws.weighted_residuals[here[i]] = weights[i] * ws.node_y[i, 0]
        write_leaf(buffers.whole, buffers.real, node, n, stats)
        if stays_leaf(stats, pure, place, params):
            continue
        if n == 2 and all_tried:
            grow_pair(codes, features, params, buffers, ws, stats, node, own[start], own[start + 1])
            continue
        for k in range(ws.constant.size):
            ws.constant[k] = ws.constants[n_stack, k]
        kept = stack[n_stack, KEPT] == 1 and n > 2
        if not kept and 2 < n <= near and codes.feature.size <= WORTH * params.max_features:
            write_sorted_columns(
                codes.columns,
                ws.table,
                ws.constant,
                rows,
                own,
                start,
                n,
                ws.keys,
                ws.ranks,
                ws.counts,
                ws.order,
            )
            kept = True
        split = NOT_LOOKED
        if kept and together and n * codes.feature.size <= SMALL:
            split = best_split_of_all_columns(codes, ws, stats, start, n)
        if split.candidate == UNCLEAR:
            split = best_small_split(codes, features, starts, params, logs, ws, n_sparse_bins, stats, start, n, kept)
        if split.candidate < 0 or gains_little(split.cost, stats, params):
            continue
        if not kept or split.candidate >= codes.feature.size:
            write_keys(codes, features, ws, split.candidate, start, n)
        missing = missing_at(codes, features, split.candidate, split.feature) if split.missing_left == 1 else -1
        if kept and split.candidate < codes.feature.size:
            mark_left(ws.order[split.candidate, start:end], n, split.place, missing, ws.is_left)
        else:
            mark_left(ws.keys, n, split.place, missing, ws.is_left)
        n_left, balance = moved(ws.is_left, n, own, start, ws.weights, ws.spare)
        if kept and max(n_left, n - n_left) > 2:
            partition_sorted_keys(ws.order, ws.constant, ws.is_left, start, n, ws.spare)
        buffers.real[node, THRESHOLD], buffers.whole[node, FEATURE] = (
            both_codes(split.below, split.above),
            split.feature,
        )
        buffers.whole[node, DEFAULT_LEFT] = split.missing_left if split.missing_left >= 0 else balance > 0.0
        middle, line = start + n_left, (depth + 1, node)
        wait(ws, n_stack, middle, end, line, RIGHT, kept, splitmix64(seed + ONE + ONE))
        wait(ws, n_stack + 1, start, middle, line, LEFT, kept, splitmix64(seed + ONE))
        n_stack += 2
    write_thresholds(features, buffers.whole, buffers.real, first, counts[N_NODES])


@njit_no_refcount
def has_missing(feature, missing):
    """Return whether a dense column may have missing numbers."""
    for at in range(feature.size):
        if missing[feature[at]] >= 0:
            return True
    return False


@njit_forceinline
def best_split_of_all_columns(codes, ws, stats, start, n):
    """Return the best split of a node that looks at all columns, whose keys are in order; its candidate is ``UNCLEAR``
    if they must be looked at one by one.
    """
    cost, at, j = best_cut_of_sorted_columns(
        ws.order, ws.constant, ws.feature_keys, start, n, ws.weighted_residuals, ws.weights, ws.total[1], stats,
        ws.lefts, ws.parts, ws.costs,
    )  # fmt: skip
    if at < 0:
        return SplitInfo(cost, at, -1, -1, -1, -1, -1)
    below, above, first = code_in(ws.order[at, start + j]), code_in(ws.order[at, start + j + 1]), codes.start[at]
    meant = np.int64(codes.bin_of_code[first + below]), np.int64(codes.bin_of_code[first + above])
    return SplitInfo(cost, at, np.int64(codes.feature[at]), below, meant[0], meant[1], -1)


@njit_forceinline
def grow_pair(codes, features, params, buffers, ws, stats, node, one, other):
    """Grow a node of two rows that looks at all columns: each that tells two numbers apart does as well, so a draw
    decides; columns in which one is missing come after those.
    """
    whole, weights = buffers.whole, ws.weights
    at = column_of_two(codes, features, ws.table, ws.feature_keys, one, other, stats.seed)
    if at == NONE or gains_little(cost_of_two(ws.weighted_residuals, weights, one, other), stats, params):
        return
    if ws.table[one, at] > ws.table[other, at]:
        one, other = other, one
    feature, first = codes.feature[at], codes.start[at]
    below, above = codes.bin_of_code[first + ws.table[one, at]], codes.bin_of_code[first + ws.table[other, at]]
    buffers.real[node, THRESHOLD], whole[node, FEATURE] = both_codes(np.int64(below), np.int64(above)), feature
    whole[node, DEFAULT_LEFT] = above != features.missing[feature] and weights[one] > weights[other]
    whole[node, LEFT], whole[node, RIGHT], buffers.counts[N_NODES] = node + 1, node + 2, node + 3
    for child, row in ((node + 1, one), (node + 2, other)):
        write_lone(ws.class_codes, ws.y, weights, row, buffers, child)


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
def wait(ws, at, start, end, line, side, kept, seed):
    """Let a node wait at a place of the stack; ``line`` has its depth and its parent."""
    stack = ws.stack
    ws.seeds[at] = seed
    stack[at, START], stack[at, END], stack[at, DEPTH], stack[at, PARENT] = start, end, line[0], line[1]
    stack[at, SIDE], stack[at, KEPT] = side, kept
    for k in range(ws.constant.size):
        ws.constants[at, k] = ws.constant[k]


@njit_forceinline
def write_lone(class_codes, y, weights, row, buffers, node):
    """Write a node that has one row."""
    value = buffers.value
    if class_codes.size > 0:
        for k in range(value.shape[1]):
            value[node, k] = 0.0
        value[node, class_codes[row]] = 1.0
    else:
        value[node, 0] = y[row]
    write_leaf(buffers.whole, buffers.real, node, 1, NodeStats(0.0, weights[row], 0.0, 0.0, -np.inf, np.inf, ONE))


@njit_forceinline
def missing_at(codes, features, at, feature):
    """Return the code of missing numbers in a column, -1 if none is missing: it is the last one."""
    missing = np.int64(features.missing[feature])
    if missing < 0 or at >= codes.feature.size:
        return missing
    last = codes.start[at + 1] - codes.start[at] - 1
    return last if codes.bin_of_code[codes.start[at] + last] == missing else np.int64(-1)


@njit_forceinline
def write_keys(codes, features, ws, at, start, n):
    """Write the keys of the node's rows in a column; the codes of a thin one are those of the feature."""
    n_columns = codes.feature.size
    if at < n_columns:
        gather_keys(codes.columns, ws.table, at, ws.node_rows, ws.own, start, n, ws.keys)
        return
    first, last = ws.sparse_bins[ws.group[at - n_columns]], ws.sparse_bins[ws.group[at - n_columns + 1] - 1]
    common = np.uint32(features.common[ws.sparse_feature[first]])
    spread_keys(ws.entry_start, ws.entries, ws.sparse_code, first, last, common, ws.own, start, n, ws.keys)


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
def write_sorted_columns(columns, table, constant, rows, own, start, n, keys, ranks, counts, order):
    """Write the keys of every column that may vary, in order."""
    for at in range(order.shape[0]):
        if not is_member(constant, at):
            gather_keys(columns, table, at, rows, own, start, n, keys)
            sort_keys(keys, n, ranks, counts, order[at, start : start + n])


@njit_forceinline
def best_small_split(codes, features, starts, params, logs, ws, n_sparse_bins, stats, start, n, kept):
    """Return the best split of a node. Its place is the last code of the column that goes left; below and above it are
    codes of the feature.
    """
    n_columns, seed, tie, n_present, n_groups = codes.feature.size, stats.seed, tie_of(stats), 0, 0
    free = is_unconstrained(params, 0)
    sparse_bins, group, sums, n_sums = ws.sparse_bins, ws.group, ws.sparse_sums, ws.total.size
    if n_sparse_bins > 0:
        add_up_sparse(
            ws.entry_start, ws.entries, ws.own[start : start + n], ws.node_class_codes[: min(n, ws.class_codes.size)],
            ws.node_y[: min(n, ws.y.size)], ws.node_weights[:n], starts, sums, ws.sparse_bits,
        )  # fmt: skip
        n_present = taken_out(ws.sparse_bits, word_count(n_sparse_bins), sparse_bins)
        n_groups = write_groups(sparse_bins, n_present, ws.sparse_feature, group)
    drawing, n_candidates, n_tried = params.max_features < features.kind.size, n_columns + n_groups, 0
    drawn, band = NOTHING_DRAWN, NO_KEY
    if drawing:
        n_candidates = make_draw(
            ws.draw, n_columns, n_groups, ws.feature_keys, ws.sparse_keys, sparse_bins, group, ws.constant, seed
        )
        band = band_for(params.max_features, n_candidates)
    columns = NodeColumns(
        codes, features, ws.table, ws.node_rows, ws.own[start : start + n], sparse_bins, group, ws.sparse_code, sums,
        n_sums,
    )  # fmt: skip
    best, best_gap = NO_SPLIT, NO_GAP
    for t in range(n_candidates):
        at = t
        if drawing:
            at, drawn = next_candidate(ws.draw, n_columns + n_groups, drawn, band, ws.near)
        if at < n_columns:
            if is_member(ws.constant, at):
                continue
            feature = np.int64(codes.feature[at])
            missing = missing_at(codes, features, at, feature)
            cost, below, above, side = best_dense_cut(
                codes, features, ws, at, missing, params, free, logs, stats, start, n, kept
            )
            if below == above:
                add_member(ws.constant, at)
                continue
            place, first = below, codes.start[at]
            below, above = np.int64(codes.bin_of_code[first + below]), np.int64(codes.bin_of_code[first + above])
        else:
            sparse_bin = sparse_bins[group[at - n_columns]]
            single = group[at - n_columns + 1] - group[at - n_columns] == 1
            if single and sums[sparse_bin, n_sums] >= n:
                continue
            feature = np.int64(ws.sparse_feature[sparse_bin])
            missing, common = np.int64(features.missing[feature]), np.int64(features.common[feature])
            if single and free and missing < 0:  # a column of two values: nothing to put in order
                side, cost = -1, sparse_bin_cost(
                    sums, sparse_bin, ws.total, starts, stats.weight, params.criterion, logs
                )  # fmt: skip
                rare = np.int64(ws.sparse_code[sparse_bin])
                below, above = min(rare, common), max(rare, common)
            elif is_classifying(params.criterion) and missing < 0:
                cost, below, above = best_sparse_cut(codes, ws, at - n_columns, common, starts, params, logs, stats, n)
                side = -1
            else:
                write_keys(codes, features, ws, at, start, n)
                sort_keys(ws.keys, n, ws.ranks, ws.counts, ws.ordered)
                cost, below, above, side = cut_in_order(ws, ws.ordered, 0, missing, params, free, logs, stats, n)
            place = below
        n_tried += 1
        if cost < np.inf:
            split = SplitInfo(cost, at, feature, place, below, above, side)
            is_better, gap, best_gap = better_split(columns, n, split, 0, best, 0, best_gap, stats, tie)
            if is_better:
                best, best_gap = split, gap
        if drawing and n_tried >= params.max_features and best.candidate >= 0:
            break
    cleared(sums, sparse_bins, n_present)
    return best


@njit_no_refcount
def sparse_bin_cost(sums, sparse_bin, total, starts, weight, criterion, logs):
    """Return the cost of one sparse bin against all other rows."""
    if criterion == SQUARED_ERROR:
        a, x = sums[sparse_bin, 0], sums[sparse_bin, 1]
        return squared_sides(x, a, total[1] - x, weight - a)
    return bin_cost(sums, sparse_bin, total, starts, criterion, logs)


@njit_forceinline
def best_sparse_cut(codes, ws, at, common, starts, params, logs, stats, n):
    """Return the least cost of a cut of a sparse column without missing numbers, and the codes on both sides of it."""
    n_sums, sums, bins, left, bin_of_code = ws.total.size, ws.sparse_sums, ws.bins, ws.left, codes.bin_of_code
    first, last = ws.group[at], ws.group[at + 1]
    n_bins = ordered_sparse_bins(ws.sparse_bins, first, last, ws.sparse_code, common, n, ws.total, sums, bins)
    left[:] = 0.0
    left[n_sums + 1] = n
    cost, _, place = best_class_cut(
        sums, bins, 0, n_bins - 2, left, ws.total, stats, starts, params, 0, False, logs
    )  # fmt: skip
    below = np.int64(code_of(bins[max(place, 0)], -1, bin_of_code, ws.sparse_code, common))
    above = np.int64(code_of(bins[max(place, 0) + 1], -1, bin_of_code, ws.sparse_code, common))
    return cost, below, above


@njit_forceinline
def best_dense_cut(codes, features, ws, at, missing, params, free, logs, stats, start, n, kept):
    """Return the least cost of a cut of a dense column, the codes on both sides of it (equal ones if the column does
    not vary), and the side of the missing rows.
    """
    if kept:
        return cut_in_order(ws, ws.order[at, start : start + n], 0, missing, params, free, logs, stats, n)
    most = SPREAD * n // ws.total.size if free and missing < 0 else 0
    width = codes.start[at + 1] - codes.start[at]
    if width <= most:
        return best_cut_of_histogram(
            codes.columns, ws.table, at, width, ws.node_rows, ws.own[start : start + n], n, ws.node_class_codes,
            ws.node_y, ws.node_weights, ws.total, ws.left, ws.sums, stats, params.criterion, logs,
        )  # fmt: skip
    write_keys(codes, features, ws, at, start, n)
    if n == 2 and free:
        return cut_of_two(ws.keys, ws.weighted_residuals, ws.weights, missing)
    n_zeros = zeros_first(ws.keys, n, ws.ordered) if n > VERY_FEW else 0
    sort_keys(ws.keys, n - n_zeros, ws.ranks, ws.counts, ws.ordered[n_zeros:])
    return cut_in_order(ws, ws.ordered, n_zeros, missing, params, free, logs, stats, n)


@njit_forceinline
def cut_in_order(ws, keys, n_zeros, missing, params, free, logs, stats, n):
    """Return the best cut of a column whose keys are in order; so many of code 0 are known to come first."""
    side, n_missing = -1, 0
    greatest = code_in(keys[n - 1])
    if code_in(keys[0]) == greatest:
        return np.inf, greatest, greatest, -1
    cost, j = cut_of_order(ws, keys, n, n_zeros, 0, params, free, logs, stats)
    below, above = code_in(keys[max(j, 0)]), code_in(keys[j + 1]) if j >= 0 else greatest
    if greatest == missing:
        side = 0
        while code_in(keys[n - 1 - n_missing]) == missing:
            n_missing += 1
        if code_in(keys[0]) != code_in(keys[n - 1 - n_missing]):
            keys = with_last_first(keys, n, n_missing, ws.spare)
            other, j = cut_of_order(ws, keys, n, 0, n_missing, params, free, logs, stats)
            if other < cost - tie_of(stats):
                cost, below, above, side = other, code_in(keys[j]), code_in(keys[j + 1]), 1
    return cost, below, above, side


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
    weights, min_samples_leaf, min_weight = ws.weights, params.min_samples_leaf, params.min_weight_leaf
    if free:
        min_samples_leaf, min_weight = 1, 0.0
    first = max(first, min_samples_leaf - 1)
    last = n - min_samples_leaf
    if params.criterion == SQUARED_ERROR:
        return cut_amounts(
            keys, first, last, ws.weighted_residuals, weights, stats.weight, ws.total[1], min_weight, tie_of(stats),
            ws.lefts, ws.parts, ws.costs,
        )  # fmt: skip
    if params.criterion == GINI and ws.total.size == 2:
        return cut_pair(
            keys, first, last, ws.class_codes, weights, ws.total[0], ws.total[1], min_weight,
            tie_of(stats), ws.lefts, ws.parts, ws.costs,
        )  # fmt: skip
    return cut_classes(
        keys, n, max(min(n_zeros - 1, last), 0), first, last, ws.class_codes, weights, ws.total, ws.left,
        stats.weight, min_weight, tie_of(stats), params.criterion, logs, ws.lefts, ws.parts, ws.rests, ws.costs,
    )  # fmt: skip
