"""A small node gets a table of its own: codes ranked anew among its rows, and constant columns gone.

    table         3  9  3  5  9  5  …          own table of rows 0, 2, 3      0  0  1
                  7  7  7  7  4  7                                            (constant: gone)

What lies below the node then works on what fits in the nearest cache. The rows are put in the order of each column
once, and every split keeps these orders on its two sides, so no node has to sort.

    order of a column     4  0  2 │ 5  1  3        row 4 has the least code
    rows 0, 1, 4 go left  4  0  1 │ 2  5  3
"""

from __future__ import annotations

import numpy as np
from numba import njit

from eigenwood.core.bits import ONE, taken_out, word_count
from eigenwood.core.compiling import uncounted
from eigenwood.core.tree.binning import Codes

SMALL = 4096  # rows of a node that gets a table of its own
WORTH = 8  # times the features that are tried at a node: a table of more columns is not worth the copy


@njit(cache=True, nogil=True, error_model="numpy")
def compacted(codes, rows, ordered):
    """Return the table of some rows: codes ranked among them, constant columns gone, and their order if wanted."""
    n_rows, n_columns = rows.size, codes.feature.size
    widest = 1
    for i in range(n_columns):
        widest = max(widest, codes.start[i + 1] - codes.start[i])
    bits = np.zeros(word_count(widest), dtype=np.uint64)
    rank, present = np.empty(widest, dtype=np.int32), np.empty(min(widest, n_rows), dtype=np.int64)
    columns = np.empty((n_columns, n_rows), dtype=np.uint16)
    feature, start = np.empty(n_columns, dtype=np.int32), np.zeros(n_columns + 1, dtype=np.int64)
    meaning = np.empty(n_columns * min(n_rows, widest), dtype=np.int32)
    n_kept = 0
    for c in range(n_columns):
        column = codes.columns[c]
        for i in range(n_rows):
            code = column[rows[i]]
            bits[code >> 6] |= ONE << np.uint64(code & 63)
        n_present = taken_out(bits, word_count(codes.start[c + 1] - codes.start[c]), present)
        if n_present < 2:
            continue
        for i in range(n_present):
            rank[present[i]] = i
            meaning[start[n_kept] + i] = codes.meaning[codes.start[c] + present[i]]
        for i in range(n_rows):
            columns[n_kept, i] = rank[column[rows[i]]]
        feature[n_kept] = codes.feature[c]
        start[n_kept + 1] = start[n_kept] + n_present
        n_kept += 1
    entry_start, entries, slots = compacted_entries(codes, rows)
    return Codes(
        columns[:n_kept],
        feature[:n_kept].copy(),
        start[: n_kept + 1].copy(),
        meaning[: start[n_kept]].copy(),
        entry_start,
        entries,
        codes.slot_feature[slots],
        codes.slot_code[slots],
        rows_by_code(columns[:n_kept], start) if ordered else np.empty((0, 0), dtype=np.uint16),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def compacted_entries(codes, rows):
    """Return the entries of some rows, and the slots that some of the rows have and others do not."""
    n_rows, n_slots, n_entries, n_kept = rows.size, codes.slot_feature.size, 0, 0
    counts, slots = np.zeros(n_slots, dtype=np.int32), np.empty(n_slots, dtype=np.int64)
    for row in rows:
        for e in range(codes.entry_start[row], codes.entry_start[row + 1]):
            counts[codes.entries[e]] += 1
    for slot in range(n_slots):
        if 0 < counts[slot] < n_rows:
            n_entries += counts[slot]
            slots[n_kept], counts[slot] = slot, n_kept
            n_kept += 1
        else:
            counts[slot] = -1
    entry_start, entries = np.zeros(n_rows + 1, dtype=np.int64), np.empty(n_entries, dtype=np.int32)
    n = 0
    for i in range(n_rows):
        for e in range(codes.entry_start[rows[i]], codes.entry_start[rows[i] + 1]):
            if counts[codes.entries[e]] >= 0:
                entries[n] = counts[codes.entries[e]]
                n += 1
        entry_start[i + 1] = n
    return entry_start, entries, slots[:n_kept]


@njit(cache=True, nogil=True, error_model="numpy")
def rows_by_code(columns, start):
    """Return the rows of each column in the order of their codes, equal ones as they stand."""
    order, place = np.empty(columns.shape, dtype=np.uint16), np.empty(columns.shape[1] + 1, dtype=np.int64)
    for c in range(columns.shape[0]):
        n_codes = start[c + 1] - start[c]
        place[: n_codes + 1] = 0
        for code in columns[c]:
            place[code + 1] += 1
        for k in range(n_codes):
            place[k + 1] += place[k]
        for i in range(columns.shape[1]):
            code = columns[c, i]
            order[c, place[code]] = i
            place[code] += 1
    return order


@uncounted
def move_orders(order, rows, start, n_left, is_left, spare):
    """Bring the rows that go left to the front in the order of each column, as they are in ``rows``."""
    for i in range(rows.size):
        is_left[rows[i]] = i < n_left
    for c in range(order.shape[0]):
        n_front = n_back = 0
        for i in range(start, start + rows.size):
            row = order[c, i]
            left = int(is_left[row])
            order[c, start + n_front] = row
            spare[n_back] = row
            n_front += left
            n_back += 1 - left
        for i in range(n_back):
            order[c, start + n_left + i] = spare[i]
