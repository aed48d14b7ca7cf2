"""The rows of a node added up by code: a histogram for each column.

A set of bits remembers which codes occur, so the work grows with the rows of the node and not with the codes of the
column. The last number of a line counts rows.

    codes that occur      3    7    8   20
    sums of the classes   4|1  0|2  9|0  2|2
    rows                  5    2    9    4
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit, njit_forceinline, njit_no_refcount
from eigenwood.core.bits import ONE


@njit_forceinline
def code_at(columns, table, at, row, own):
    """Return the code of a row in column ``at``: that of ``own`` in a table by row, or if this has no rows in one by
    column.
    """
    # places without a sign: Numba need not ask whether they are counted from the end
    if table.shape[0] > 0:
        return np.int64(table[np.uint64(own), np.uint64(at)])
    return np.int64(columns[np.uint64(at), np.uint64(row)])


@njit_no_refcount
def add_up_classes(columns, at, rows, class_codes, weights, starts, sums, bits):
    """Add the class weights of the rows of a node up by the codes of column ``at``; ``bits`` tells which occur."""
    n_outputs, n_sums = starts.size - 1, sums.shape[1] - 1
    if weights.size == 0 and n_outputs == 1:
        for i in range(rows.size):
            code = columns[at, rows[i]]
            sums[code, class_codes[i, 0]] += 1.0
            bits[code >> 6] |= ONE << np.uint64(code & 63)
    elif n_outputs == 1:
        for i in range(rows.size):
            code = columns[at, rows[i]]
            sums[code, class_codes[i, 0]] += weights[i]
            sums[code, n_sums] += 1.0
            bits[code >> 6] |= ONE << np.uint64(code & 63)
    else:
        for i in range(rows.size):
            code = columns[at, rows[i]]
            bits[code >> 6] |= ONE << np.uint64(code & 63)
            weight = weights[i] if weights.size > 0 else 1.0
            for o in range(n_outputs):
                sums[code, starts[o] + class_codes[i, o]] += weight
            sums[code, n_sums] += 1.0


@njit_no_refcount
def add_up_targets(columns, at, rows, y, weights, sums, bits):
    """Add the weights and weighted y of the rows of a node up by the codes of column ``at``."""
    n_outputs = y.shape[1]
    for i in range(rows.size):
        code = columns[at, rows[i]]
        bits[code >> 6] |= ONE << np.uint64(code & 63)
        weight = weights[i] if weights.size > 0 else 1.0
        sums[code, 0] += weight
        for o in range(n_outputs):
            sums[code, 1 + o] += weight * y[i, o]
        sums[code, 1 + n_outputs] += 1.0


@njit_no_refcount
def add_up_sparse(entry_start, entries, rows, class_codes, y, weights, starts, sums, bits):
    """Add the rows of a node up by the sparse bins of all sparse columns."""
    n_outputs, n_sums, classifying = starts.size - 1, sums.shape[1] - 1, class_codes.shape[0] > 0
    if classifying and n_outputs == 1:
        if bits.size == 1:
            bits[0] |= add_up_few_sparse_bins(entry_start, entries, rows, class_codes, weights, sums)
            return
        for i in range(rows.size):
            label, weight = class_codes[i, 0], weights[i] if weights.size > 0 else 1.0
            for e in range(entry_start[rows[i]], entry_start[rows[i] + 1]):
                sparse_bin = entries[e]
                sums[sparse_bin, label] += weight
                sums[sparse_bin, n_sums] += 1.0
                bits[sparse_bin >> 6] |= ONE << np.uint64(sparse_bin & 63)
        return
    for i in range(rows.size):
        weight = weights[i] if weights.size > 0 else 1.0
        for e in range(entry_start[rows[i]], entry_start[rows[i] + 1]):
            sparse_bin = entries[e]
            bits[sparse_bin >> 6] |= ONE << np.uint64(sparse_bin & 63)
            sums[sparse_bin, n_sums] += 1.0
            if classifying:
                for o in range(n_outputs):
                    sums[sparse_bin, starts[o] + class_codes[i, o]] += weight
            else:
                sums[sparse_bin, 0] += weight
                for o in range(n_outputs):
                    sums[sparse_bin, 1 + o] += weight * y[i, o]


@njit_no_refcount
def add_up_few_sparse_bins(entry_start, entries, rows, class_codes, weights, sums):
    """Add the classes of one output up by sparse bins that are bits of one word, and return those that occur.

    The word stays at hand: as part of an array it would have to be stored before the next entry can be added.
    """
    word, n_sums = np.uint64(0), np.uint64(sums.shape[1] - 1)
    for i in range(rows.size):
        # places without a sign: Numba need not ask whether they are counted from the end
        label, weight, row = np.uint64(class_codes[i, 0]), weights[i] if weights.size > 0 else 1.0, np.uint64(rows[i])
        for e in range(np.uint64(entry_start[row]), np.uint64(entry_start[row + ONE])):
            sparse_bin = np.uint64(entries[e])
            sums[sparse_bin, label] += weight
            sums[sparse_bin, n_sums] += 1.0
            word |= ONE << sparse_bin
    return word


@njit_no_refcount
def cleared(sums, bins, n_bins):
    """Set some bin back to zero."""
    for i in range(n_bins):
        for k in range(sums.shape[1]):
            sums[bins[i], k] = 0.0


@njit_no_refcount
def write_groups(sparse_bins, n_present, sparse_feature, group):
    """Write where the bins of each sparse feature begin among those that occur; return how many features there are."""
    n_groups = 0
    for i in range(n_present):
        if i == 0 or sparse_feature[sparse_bins[i]] != sparse_feature[sparse_bins[i - 1]]:
            group[n_groups] = i
            n_groups += 1
    group[n_groups] = n_present
    return n_groups


@njit_no_refcount
def ordered_sparse_bins(sparse_bins, first, last, sparse_code, common_code, n_rows, total, sums, order):
    """Write the lines of one feature to ``order``, and return their number.

    They are ``sparse_bins[first:last]`` and the common code, if it occurs: it has what the rare ones leave, and its bin
    comes after all sparse ones.
    """
    common, n_sums = sparse_code.size, total.size
    for k in range(n_sums):
        sums[common, k] = total[k]
    sums[common, n_sums] = n_rows
    for i in range(first, last):
        for k in range(n_sums + 1):
            sums[common, k] -= sums[sparse_bins[i], k]
    n_order, placed = 0, sums[common, n_sums] == 0.0
    for i in range(first, last):
        if not placed and sparse_code[sparse_bins[i]] > common_code:
            order[n_order] = common
            n_order += 1
            placed = True
        order[n_order] = sparse_bins[i]
        n_order += 1
    if not placed:
        order[n_order] = common
        n_order += 1
    return n_order


@njit_no_refcount
def code_of(line, first_code, bin_of_code, sparse_code, common):
    """Return the feature's code behind a bin; ``first_code`` is -1 for a sparse column."""
    if first_code >= 0:
        return bin_of_code[first_code + line]
    return sparse_code[line] if line < sparse_code.size else common


@njit_no_refcount
def place_of(ascending, value):
    """Return the first place of an ascending array whose entry is at least ``value``."""
    low, high = 0, ascending.size
    while low < high:
        middle = (low + high) >> 1
        if ascending[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@njit(error_model="numpy")
def bins_of_rows(codes, rows, candidate, feature):
    """Return the bin on which each row stands in one column."""
    bins = np.empty(rows.size, dtype=np.int64)
    if candidate < codes.feature.size:
        for i in range(rows.size):
            bins[i] = code_at(codes.columns, codes.by_row, candidate, rows[i], rows[i])
        return bins
    entry_start, entries, common = codes.entry_start, codes.entries, codes.sparse_feature.size
    first = place_of(codes.sparse_feature, feature)
    last = place_of(codes.sparse_feature, feature + 1)
    for i in range(rows.size):
        bins[i] = common
        for e in range(entry_start[rows[i]], entry_start[rows[i] + 1]):
            if first <= entries[e] < last:
                bins[i] = entries[e]
    return bins
