"""The best question to ask of the rows of one node.

Each column is cut where the two sides cost least, and the best of the columns wins. Which way a column goes depends on
the node, never on the answer: a node of twenty rows is as exact as the root.

    column of numbers, many rows for each code      added up by code, then one pass over the codes     summing; with
                                                    missing values or limits to heed                   cutting
                       few rows for each code       rows in the order of their codes                   ordering
    sparse columns                                    added up together, then one pass each              adding
    categories                                      added up, put in order, then one pass              categories
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit_no_refcount
from eigenwood.core.bits import taken_out, word_count
from eigenwood.core.tree.criteria import tie_of
from eigenwood.core.tree.split.candidates import key_of, make_draw, write_all, write_turn
from eigenwood.core.tree.split.column import best_cut_of_column, best_cut_of_sparse_bins, can_split
from eigenwood.core.tree.split.gap import NO_GAP, gap_of, leaves_nothing
from eigenwood.core.tree.split.histogram import add_up_sparse, cleared, write_groups
from eigenwood.core.tree.types import CATEGORY, NO_SPLIT, SplitInfo


@njit_no_refcount
def best_split(codes, features, sample, total, starts, monotonic_cst, params, node, logs, ws):
    """Return the best split of a node and, if it is about a category, how many ``best_bins`` of the bench it has.

    Of cuts that are equally good and leave nothing to be asked, that with the widest gap is taken (``gap_between``).
    Where more questions follow, equal columns divide the rows alike, which in a small node says little about either:
    a draw decides, as it does between equal gaps.

    ``total`` are the sums of its rows.
    """
    column_feature, sparse_feature, sparse_bins, group = codes.feature, codes.sparse_feature, ws.sparse_bins, ws.group
    n_columns, n_sparse_bins, tie, n_present, n_groups = column_feature.size, sparse_feature.size, tie_of(node), 0, 0
    if n_sparse_bins > 0:
        targets = sample.class_codes, sample.y, sample.weights
        add_up_sparse(codes.entry_start, codes.entries, sample.rows, *targets, starts, ws.sparse_sums, ws.sparse_bits)
        n_present = taken_out(ws.sparse_bits, word_count(n_sparse_bins), sparse_bins)
        n_groups = write_groups(sparse_bins, n_present, sparse_feature, group)
    n_candidates, drawing = n_columns + n_groups, params.max_features < features.kind.size
    if drawing:
        n_candidates = make_draw(
            ws.draw, n_candidates, column_feature, sparse_feature, sparse_bins, group, ws.constant, node.seed
        )
    else:
        n_candidates = write_all(ws.draw, n_candidates, n_columns, ws.constant)
    best, n_best, n_tried, best_gap, at, n_turn = NO_SPLIT, 0, 0, NO_GAP, -1, 0
    for t in range(n_candidates):
        at += 1
        if at == n_turn:
            n_wanted = params.max_features - n_tried if drawing else n_candidates
            at, n_turn = 0, write_turn(codes, sample.rows, drawing, t, n_candidates, n_wanted, ws)
        candidate = ws.candidates[at]
        columns, column, rows = codes.columns, candidate, sample.rows
        if codes.by_row.shape[0] > 0:
            columns, column, rows = ws.column_codes, at, ws.in_order[: rows.size]
        dense, only_bin = candidate < n_columns, -1
        feature = np.int64(
            column_feature[candidate] if dense else sparse_feature[sparse_bins[group[candidate - n_columns]]]
        )
        if not dense and group[candidate - n_columns + 1] - group[candidate - n_columns] == 1:
            only_bin = sparse_bins[group[candidate - n_columns]]
        if not can_split(codes, columns, column, rows, candidate, only_bin, total.size, ws):
            continue
        n_tried += 1
        if dense:
            cut, n_bins = best_cut_of_column(
                codes, columns, column, rows, features, sample, candidate, feature, total, starts, params,
                monotonic_cst[feature], node, logs, ws,
            )  # fmt: skip
        else:
            cut, n_bins = best_cut_of_sparse_bins(
                codes,
                features,
                sample,
                candidate,
                feature,
                total,
                starts,
                params,
                monotonic_cst[feature],
                node,
                logs,
                ws,
            )
        if cut.cost < np.inf:
            gap, is_better = NO_GAP, cut.cost < best.cost - tie
            if not is_better and cut.cost <= best.cost + tie:
                if leaves_nothing(cut.cost, node, tie):
                    here = codes, features, sample, ws, total.size
                    gap = gap_of(*here, candidate, feature, cut.below, cut.above, n_bins)
                    if best_gap == NO_GAP:
                        best_gap = gap_of(*here, best.candidate, best.feature, best.below, best.above, n_best)
                key, best_key = key_of(node.seed, feature), key_of(node.seed, best.feature)
                is_better = gap > best_gap or (gap == best_gap and key < best_key)
            if is_better:
                best_gap = gap
                best = SplitInfo(cut.cost, candidate, feature, cut.place, cut.below, cut.above, cut.missing_left)
                n_best = n_bins if features.kind[feature] == CATEGORY else 0
                for i in range(n_best):
                    ws.best_bins[i] = ws.bins[i]
        if drawing and n_tried >= params.max_features and best.candidate >= 0:
            break
    cleared(ws.sparse_sums, sparse_bins, n_present)
    for k in range(total.size + 1):
        ws.sparse_sums[n_sparse_bins, k] = 0.0
    return best, n_best
