"""The best cut of one column of a large node, by the shortest way: histogram, sorted rows, sparse bins, categories."""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit, njit_inline, njit_no_refcount, njit_refcount
from eigenwood.core.bits import add_member, taken_out, word_count
from eigenwood.core.tree.criteria import ABSOLUTE_ERROR, bin_cost, has_exact_row_updates, is_classifying
from eigenwood.core.tree.split.absolute_error import bin_costs, cut_costs, cut_medians
from eigenwood.core.tree.split.candidates import key_of
from eigenwood.core.tree.split.categories import multiway_cost, sort_categories
from eigenwood.core.tree.split.histogram import (
    add_up_classes,
    add_up_targets,
    bins_of_rows,
    cleared,
    code_of,
    ordered_sparse_bins,
)
from eigenwood.core.tree.split.histogram_scan import (
    HistogramColumn,
    best_cut_of_histogram,
    best_cut_of_sums,
    is_unconstrained,
    random_place,
)
from eigenwood.core.tree.split.sizes import FEW_ROWS, SPREAD, is_summed
from eigenwood.core.tree.split.sorted_rows import (
    SortedColumn,
    best_cut_of_sorted_rows,
    number_count,
    order_by_counting,
    order_by_insertion,
)
from eigenwood.core.tree.types import CATEGORY, BinOrder, ColumnSplit, RowTargets, no_column_split


@njit(error_model="numpy")
def absolute_costs(own, bins, n_bins, ranks, ordered, y, weights, sign, last_goes_left):
    """Return the absolute error of every cut, and the medians of both sides where a sign has to be kept."""
    costs = cut_costs(own, bins[:n_bins], ranks, ordered, weights, last_goes_left)
    if sign == 0:
        return costs, np.empty(0), np.empty(0)
    lefts, rights = cut_medians(own, bins[:n_bins], y, weights, last_goes_left)
    return costs, lefts, rights


@njit_refcount
def best_cut_of_bins(table, sample, candidate, feature, order, rules):
    """Return the best cut of a column whose rows are added up; its bins are put in ``order``."""
    codes, features = table
    sums, bins, n_bins, total = order.sums, order.bins, order.n_bins, order.total
    params, node, starts, sign = rules.params, rules.stats, rules.starts, rules.sign
    classifying, unit, no_costs = is_classifying(params.criterion), sample.weights.size == 0, np.empty(0)
    first_code = codes.start[candidate] if candidate < codes.feature.size else -1
    bin_of_code, sparse_code, common = codes.bin_of_code, codes.sparse_code, features.common[feature]
    is_category, place, draw = features.kind[feature] == CATEGORY, -1, node.seed
    has_missing = False
    if features.missing[feature] >= 0:
        has_missing = (
            code_of(bins[n_bins - 1], first_code, bin_of_code, sparse_code, common) == features.missing[feature]
        )
    own = bins_of_rows(codes, sample.rows, candidate, feature) if params.criterion == ABSOLUTE_ERROR else bins[:0]
    if is_category and params.multiway:
        found = multiway_cost(bins, n_bins, sums, total.size, starts, params, unit)
        if params.criterion == ABSOLUTE_ERROR and found < np.inf:
            found = bin_costs(own, bins[:n_bins], sample.y, sample.weights)
        return ColumnSplit(found, 0, bins[0], bins[1], -1)
    if is_category:
        sort_categories(bins, n_bins, sums, starts, classifying, total, node.weight)
    if params.at_random:
        draw = key_of(node.seed, feature)
        if is_category:
            place = int(draw % np.uint64(n_bins - 1))
        else:
            place = random_place(
                bins,
                n_bins - has_missing,
                first_code,
                bin_of_code,
                sparse_code,
                common,
                features.start[feature],
                features.lows,
                features.highs,
                draw,
            )
    right_costs = left_costs = (no_costs, no_costs, no_costs)
    if params.criterion == ABSOLUTE_ERROR:
        ranks, ordered, y, weights = sample.ranks, sample.ordered, sample.y, sample.weights
        right, left_too = np.int64(0), np.int64(1)  # for a bare 0 and a bare 1 all would be compiled twice
        right_costs = absolute_costs(own, bins, n_bins, ranks, ordered, y, weights, sign, right)
        if has_missing:
            left_costs = absolute_costs(own, bins, n_bins, ranks, ordered, y, weights, sign, left_too)
    known_costs = right_costs, left_costs
    found, place, side = best_cut_of_sums(order, sample.rows.size, has_missing, place, draw, known_costs, rules, unit)
    if place < 0:
        return no_column_split()
    return ColumnSplit(found, place, bins[place], bins[place + 1], side)


@njit_inline
def best_cut_of_column(table, column, sample, candidate, feature, total, rules, ws):
    """Return the best cut of a column whose codes are all stored, and how many bins the workspace has of it."""
    codes, features = table
    columns, at, rows = column
    params, starts, sign = rules.params, rules.starts, rules.sign
    targets = RowTargets(sample.class_codes, sample.y, sample.weights)
    first, n_rows = codes.start[candidate], sample.rows.size
    sums, bits, bins, keys, places = ws.sums, ws.bits, ws.bins, ws.order.keys, ws.order.places
    n_codes, missing = codes.start[candidate + 1] - first, features.missing[feature]
    is_number = features.kind[feature] != CATEGORY
    ordered = has_exact_row_updates(params.criterion, params.integer_weights, starts.size - 1) and not params.at_random
    plain = ordered and is_number and missing < 0 and is_unconstrained(params, sign)
    if plain and n_codes * total.size <= SPREAD * n_rows:
        summed = HistogramColumn(columns, codes.by_row[:0], at, n_codes, rows, rows, n_rows)
        found, below, above, side = best_cut_of_histogram(
            summed, targets, total, ws.left, ws.flat, rules.stats, params.criterion, rules.logs
        )
        cut, n_bins = ColumnSplit(found, -1, below, above, side), 0
    elif ordered and is_number and not is_summed(n_codes, n_rows, total.size):
        if n_rows <= FEW_ROWS:
            order_by_insertion(columns, at, rows, keys, places)
        else:
            order_by_counting(columns, at, n_codes, rows, ws.order.counts, bits, bins, keys, places)
        n_numbers = n_rows
        if missing >= 0 and codes.bin_of_code[first + keys[n_rows - 1]] == missing:
            n_numbers = number_count(keys, n_rows, keys[n_rows - 1])
        in_order = SortedColumn(keys, places, n_rows, n_numbers, ws.order.cuts)
        found, j, side = best_cut_of_sorted_rows(in_order, targets, total, ws.left, rules)
        cut = ColumnSplit(found, -1, np.int64(keys[j]), np.int64(keys[j + 1]), side) if j >= 0 else no_column_split()
        n_bins = 0
    else:
        if is_classifying(params.criterion):
            add_up_classes(columns, at, rows, targets.class_codes, targets.weights, starts, sums, bits)
        else:
            add_up_targets(columns, at, rows, targets.y, targets.weights, sums, bits)
        n_bins = taken_out(bits, word_count(n_codes), bins)
        cut = best_cut_of_bins(table, sample, candidate, feature, BinOrder(sums, bins, n_bins, total, ws.left), rules)
        cleared(sums, bins, n_bins)
    return cut, n_bins


@njit_inline
def best_cut_of_sparse_bins(table, sample, candidate, feature, total, rules, ws):
    """Return the best cut of a sparse column, whose rows are added up already, and how many bins it has."""
    codes, features = table
    params, starts, logs = rules.params, rules.starts, rules.logs
    sums, sparse_bins, group = ws.sparse.sums, ws.sparse.present, ws.sparse.group
    n_sparse_bins = codes.sparse_feature.size
    first, last = group[candidate - codes.feature.size], group[candidate - codes.feature.size + 1]
    sparse_bin, common, n_bins = sparse_bins[first], features.common[feature], 0
    free = is_unconstrained(params, rules.sign) and not params.at_random and is_classifying(params.criterion)
    if free and last - first == 1 and features.kind[feature] != CATEGORY and features.missing[feature] < 0:
        # a column of two values: nothing to put in order
        found, rare_first = (
            bin_cost(sums, sparse_bin, total, starts, params.criterion, logs),
            codes.sparse_code[sparse_bin] < common,
        )
        cut = ColumnSplit(
            found, 0, sparse_bin if rare_first else n_sparse_bins, n_sparse_bins if rare_first else sparse_bin, -1
        )
    else:
        n_rows, bins = sample.rows.size, ws.bins
        n_bins = ordered_sparse_bins(sparse_bins, first, last, codes.sparse_code, common, n_rows, total, sums, bins)
        cut = best_cut_of_bins(table, sample, candidate, feature, BinOrder(sums, bins, n_bins, total, ws.left), rules)
    return cut, n_bins


@njit_inline
def can_split(codes, columns, at, rows, candidate, only_bin, n_sums, ws):
    """Return whether a column has two codes among the rows of the node; if not, that is noted for those below it."""
    if candidate >= codes.feature.size:
        varying = only_bin < 0 or ws.sparse.sums[only_bin, n_sums] < rows.size
    else:
        varying = varies(columns, at, rows)
        if not varying:
            add_member(ws.constant, candidate)
    return varying


@njit_no_refcount
def varies(columns, at, rows):
    """Return whether a column has two codes among the rows."""
    first = columns[at, rows[0]]
    for i in range(1, rows.size):
        if columns[at, rows[i]] != first:
            return True
    return False
