"""The best question to ask of the rows of one node.

Each column is cut where the two sides cost least, and the best of the columns wins. Which way a column goes depends on
the node, never on the answer: a node of twenty rows is as exact as the root.

    column of numbers, many rows for each code      added up by code, then one pass over the codes     histogram_scan
                       few rows for each code       rows in the order of their codes                   sorted_rows
    sparse columns                                  added up together, then one pass each              histogram
    categories                                      added up, put in order, then one pass              categories

Here a tie is broken, for all nodes: of cuts that are equally good and leave nothing to be asked, that with the widest
gap is taken (``gap_between``). Where more questions follow, equal columns divide the rows alike, which in a small node
says little about either: a draw decides, as it does between equal gaps.
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit_forceinline, njit_no_refcount
from eigenwood.core.bits import taken_out, word_count
from eigenwood.core.tree.criteria import tie_of
from eigenwood.core.tree.split.candidates import (
    NO_KEY,
    NOTHING_DRAWN,
    band_for,
    key_of,
    make_draw,
    read_columns,
    write_all,
    write_drawn,
    write_next,
)
from eigenwood.core.tree.split.column import best_cut_of_column, best_cut_of_sparse_bins, can_split
from eigenwood.core.tree.split.gap import NO_GAP, NodeColumns, gap_of, leaves_nothing
from eigenwood.core.tree.split.histogram import add_up_sparse, cleared, code_of, write_groups
from eigenwood.core.tree.split.sizes import TURN
from eigenwood.core.tree.types import CATEGORY, NO_SPLIT, ColumnCodes, CutRules, SplitInfo


@njit_no_refcount
def best_split(table, sample, total, starts, monotonic_cst, params, node, logs, ws):
    """Return the best split of a node and, if it is about a category, how many ``best_bins`` of the workspace it has.

    ``total`` are the sums of its rows.
    """
    codes, features = table
    column_feature, sparse_feature, draw, turn = codes.feature, codes.sparse_feature, ws.draw, ws.turn
    sparse_bins, group, sparse_sums = ws.sparse.present, ws.sparse.group, ws.sparse.sums
    n_columns, n_sparse_bins, tie, n_present, n_groups = column_feature.size, sparse_feature.size, tie_of(node), 0, 0
    if n_sparse_bins > 0:
        targets = sample.class_codes, sample.y, sample.weights
        add_up_sparse(codes.entry_start, codes.entries, sample.rows, *targets, starts, sparse_sums, ws.sparse.bits)
        n_present = taken_out(ws.sparse.bits, word_count(n_sparse_bins), sparse_bins)
        n_groups = write_groups(sparse_bins, n_present, sparse_feature, group)
    n_all, drawing = n_columns + n_groups, params.max_features < features.kind.size
    if drawing:
        n_candidates = make_draw(
            draw, draw.sparse_keys, n_columns, n_groups, sparse_bins, group, ws.constant, node.seed
        )
    else:
        n_candidates = write_all(draw.draw, n_all, n_columns, ws.constant)
    band, drawn = band_for(params.max_features, n_candidates) if drawing else NO_KEY, NOTHING_DRAWN
    columns_of_node = NodeColumns(
        codes, features, codes.by_row, sample.rows, sample.rows, sparse_bins, group, codes.sparse_code, sparse_sums,
        total.size,
    )  # fmt: skip
    best, n_best, n_tried, best_gap, at, n_turn = NO_SPLIT, 0, 0, NO_GAP, -1, 0
    for t in range(n_candidates):
        at += 1
        if at == n_turn:
            n_wanted = params.max_features - n_tried if drawing else n_candidates
            at, n_turn = 0, min(max(n_wanted, 1), n_candidates - t, TURN)
            if drawing:
                drawn = write_drawn(draw, n_all, n_turn, drawn, band, turn.candidates)
            else:
                write_next(draw.draw, t, n_turn, turn.candidates)
            if codes.by_row.shape[0] > 0:
                read_columns(codes.by_row, sample.rows, turn.candidates, n_turn, turn.column_codes)
        candidate = turn.candidates[at]
        columns, column, rows = codes.columns, candidate, sample.rows
        if codes.by_row.shape[0] > 0:
            columns, column, rows = turn.column_codes, at, turn.in_order[: rows.size]
        dense, only_bin = candidate < n_columns, -1
        feature = np.int64(
            column_feature[candidate] if dense else sparse_feature[sparse_bins[group[candidate - n_columns]]]
        )
        if not dense and group[candidate - n_columns + 1] - group[candidate - n_columns] == 1:
            only_bin = sparse_bins[group[candidate - n_columns]]
        if not can_split(codes, columns, column, rows, candidate, only_bin, total.size, ws):
            continue
        n_tried += 1
        rules = CutRules(params, node, starts, monotonic_cst[feature], logs)
        if dense:
            own = ColumnCodes(columns, column, rows)
            cut, n_bins = best_cut_of_column(table, own, sample, candidate, feature, total, rules, ws)
        else:
            cut, n_bins = best_cut_of_sparse_bins(table, sample, candidate, feature, total, rules, ws)
        if cut.cost < np.inf:
            split = split_of_cut(codes, features, candidate, feature, cut)
            is_better, gap, best_gap = better_split(
                columns_of_node, sample.rows.size, split, n_bins, best, n_best, best_gap, node, tie
            )
            if is_better:
                best, best_gap, n_best = split, gap, n_bins if features.kind[feature] == CATEGORY else 0
                for i in range(n_best):
                    ws.best_bins[i] = ws.bins[i]
        if drawing and n_tried >= params.max_features and best.candidate >= 0:
            break
    cleared(sparse_sums, sparse_bins, n_present)
    for k in range(total.size + 1):
        sparse_sums[n_sparse_bins, k] = 0.0
    return best, n_best


@njit_forceinline
def split_of_cut(codes, features, candidate, feature, cut):
    """Return the best cut of a column as a split of the node."""
    first = codes.start[candidate] if candidate < codes.feature.size else -1
    common, place = features.common[feature], cut.place if features.kind[feature] == CATEGORY else cut.below
    below = np.int64(code_of(cut.below, first, codes.bin_of_code, codes.sparse_code, common))
    above = np.int64(code_of(cut.above, first, codes.bin_of_code, codes.sparse_code, common))
    return SplitInfo(cut.cost, candidate, feature, np.int64(place), below, above, cut.missing_left)


@njit_forceinline
def better_split(columns, n_rows, split, n_bins, best, n_best, best_gap, stats, tie):
    """Return whether a split is better than the best so far, its gap, and that of the best: measured if they tie."""
    if split.cost < best.cost - tie:
        return True, NO_GAP, best_gap
    if split.cost > best.cost + tie:
        return False, NO_GAP, best_gap
    gap = NO_GAP
    if leaves_nothing(split.cost, stats, tie):
        gap = gap_of(columns, n_rows, split, n_bins)
        if best_gap == NO_GAP:
            best_gap = gap_of(columns, n_rows, best, n_best)
    key, best_key = key_of(stats.seed, split.feature), key_of(stats.seed, best.feature)
    return gap > best_gap or (gap == best_gap and key < best_key), gap, best_gap
