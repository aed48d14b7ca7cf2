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
def add_up_classes(columns, at, rows, labels, weights, starts, sums, bits):
    """Add the class weights of the rows of a node up by the codes of column ``at``; ``bits`` tells which occur."""
    n_outputs, n_sums = starts.size - 1, sums.shape[1] - 1
    if weights.size == 0 and n_outputs == 1:
        for i in range(rows.size):
            code = columns[at, rows[i]]
            sums[code, labels[i, 0]] += 1.0
            bits[code >> 6] |= ONE << np.uint64(code & 63)
    elif n_outputs == 1:
        for i in range(rows.size):
            code = columns[at, rows[i]]
            sums[code, labels[i, 0]] += weights[i]
            sums[code, n_sums] += 1.0
            bits[code >> 6] |= ONE << np.uint64(code & 63)
    else:
        for i in range(rows.size):
            code = columns[at, rows[i]]
            bits[code >> 6] |= ONE << np.uint64(code & 63)
            weight = weights[i] if weights.size > 0 else 1.0
            for o in range(n_outputs):
                sums[code, starts[o] + labels[i, o]] += weight
            sums[code, n_sums] += 1.0


@njit_no_refcount
def add_up_amounts(columns, at, rows, amounts, weights, sums, bits):
    """Add the weights and weighted amounts of the rows of a node up by the codes of column ``at``."""
    n_outputs = amounts.shape[1]
    for i in range(rows.size):
        code = columns[at, rows[i]]
        bits[code >> 6] |= ONE << np.uint64(code & 63)
        weight = weights[i] if weights.size > 0 else 1.0
        sums[code, 0] += weight
        for o in range(n_outputs):
            sums[code, 1 + o] += weight * amounts[i, o]
        sums[code, 1 + n_outputs] += 1.0


@njit_no_refcount
def add_up_slots(entry_start, entries, rows, labels, amounts, weights, starts, sums, bits):
    """Add the rows of a node up by the slots of all thin columns."""
    n_outputs, n_sums, classifying = starts.size - 1, sums.shape[1] - 1, labels.shape[0] > 0
    if classifying and n_outputs == 1:
        if bits.size == 1:
            bits[0] |= add_up_few_slots(entry_start, entries, rows, labels, weights, sums)
            return
        for i in range(rows.size):
            label, weight = labels[i, 0], weights[i] if weights.size > 0 else 1.0
            for e in range(entry_start[rows[i]], entry_start[rows[i] + 1]):
                slot = entries[e]
                sums[slot, label] += weight
                sums[slot, n_sums] += 1.0
                bits[slot >> 6] |= ONE << np.uint64(slot & 63)
        return
    for i in range(rows.size):
        weight = weights[i] if weights.size > 0 else 1.0
        for e in range(entry_start[rows[i]], entry_start[rows[i] + 1]):
            slot = entries[e]
            bits[slot >> 6] |= ONE << np.uint64(slot & 63)
            sums[slot, n_sums] += 1.0
            if classifying:
                for o in range(n_outputs):
                    sums[slot, starts[o] + labels[i, o]] += weight
            else:
                sums[slot, 0] += weight
                for o in range(n_outputs):
                    sums[slot, 1 + o] += weight * amounts[i, o]


@njit_no_refcount
def add_up_few_slots(entry_start, entries, rows, labels, weights, sums):
    """Do so for the labels of one output and slots that are bits of one word, and return those that occur.

    The word stays at hand: as part of an array it would have to be stored before the next entry can be added.
    """
    word, n_sums = np.uint64(0), np.uint64(sums.shape[1] - 1)
    for i in range(rows.size):
        # places without a sign: Numba need not ask whether they are counted from the end
        label, weight, row = np.uint64(labels[i, 0]), weights[i] if weights.size > 0 else 1.0, np.uint64(rows[i])
        for e in range(np.uint64(entry_start[row]), np.uint64(entry_start[row + ONE])):
            slot = np.uint64(entries[e])
            sums[slot, label] += weight
            sums[slot, n_sums] += 1.0
            word |= ONE << slot
    return word


@njit_no_refcount
def cleared(sums, lines, n_lines):
    """Set some lines of the sums back to zero."""
    for i in range(n_lines):
        for k in range(sums.shape[1]):
            sums[lines[i], k] = 0.0


@njit_no_refcount
def write_groups(slots, n_present, slot_feature, group):
    """Write where the slots of each feature begin among those that occur, and where the last end; return how many."""
    n_groups = 0
    for i in range(n_present):
        if i == 0 or slot_feature[slots[i]] != slot_feature[slots[i - 1]]:
            group[n_groups] = i
            n_groups += 1
    group[n_groups] = n_present
    return n_groups


@njit_no_refcount
def ordered_slots(slots, first, last, slot_code, common_code, n_rows, total, sums, order):
    """Write the lines of one feature to ``order``, and return their number.

    They are ``slots[first:last]`` and the common code, if it occurs: it has what the rare ones leave, and stands on
    the line after all slots.
    """
    common, n_sums = slot_code.size, total.size
    for k in range(n_sums):
        sums[common, k] = total[k]
    sums[common, n_sums] = n_rows
    for i in range(first, last):
        for k in range(n_sums + 1):
            sums[common, k] -= sums[slots[i], k]
    n_order, placed = 0, sums[common, n_sums] == 0.0
    for i in range(first, last):
        if not placed and slot_code[slots[i]] > common_code:
            order[n_order] = common
            n_order += 1
            placed = True
        order[n_order] = slots[i]
        n_order += 1
    if not placed:
        order[n_order] = common
        n_order += 1
    return n_order


@njit_no_refcount
def code_of(line, first_code, meaning, slot_code, common):
    """Return the feature's code behind a line of the sums; ``first_code`` is -1 for a thin column."""
    if first_code >= 0:
        return meaning[first_code + line]
    return slot_code[line] if line < slot_code.size else common


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
def lines_of(codes, rows, candidate, feature):
    """Return the line of the sums on which each row stands in one column."""
    lines = np.empty(rows.size, dtype=np.int64)
    if candidate < codes.feature.size:
        for i in range(rows.size):
            lines[i] = code_at(codes.columns, codes.by_row, candidate, rows[i], rows[i])
        return lines
    entry_start, entries, common = codes.entry_start, codes.entries, codes.slot_feature.size
    first = place_of(codes.slot_feature, feature)
    last = place_of(codes.slot_feature, feature + 1)
    for i in range(rows.size):
        lines[i] = common
        for e in range(entry_start[rows[i]], entry_start[rows[i] + 1]):
            if first <= entries[e] < last:
                lines[i] = entries[e]
    return lines
