"""The rows of a node divided between its children: those that go left come first, each side in its old order."""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit, njit_forceinline, njit_no_refcount, njit_refcount
from eigenwood.core.bits import ONE, is_member
from eigenwood.core.tree.split.histogram import bins_of_rows, code_at
from eigenwood.core.tree.split.sizes import NO_ROWS, PLACE
from eigenwood.core.tree.split.sorted_scan import code_in
from eigenwood.core.tree.thresholds import feature_bin
from eigenwood.core.tree.types import CATEGORY


@njit_forceinline
def put(items, spare, n_left, n_right, item, left):
    """Put an item on its side, ``left`` being 1 or 0, and return how many are on either: no branch, whichever it is."""
    items[n_left] = item
    spare[n_right] = item
    return n_left + left, n_right + ONE - left


@njit_forceinline
def close_up(items, spare, n_left, n_right):
    """Put those that go right behind those that go left, and return how many go left."""
    for i in range(n_right):
        items[n_left + i] = spare[i]
    return np.int64(n_left)


@njit_refcount
def partition_rows(codes, features, rows, split, bins, spare):
    """Bring the rows that go left to the front, each side in its old order; return how many those are."""
    at = split.candidate
    if at < codes.feature.size and features.kind[split.feature] != CATEGORY:
        # of a column with missing values the last code is theirs
        missing = codes.start[at + 1] - codes.start[at] - 1 if split.missing_left == 1 else -1
        return partition_by_code(codes.columns, codes.by_row, at, split.place, missing, rows, spare)
    side, own = sides_of(codes, features, split, bins), bins_of_rows(codes, rows, at, split.feature)
    return partition_by_bin(side, own, rows, spare)


@njit_no_refcount
def partition_by_code(columns, by_row, at, below, missing, rows, spare):
    """Bring the rows with codes up to ``below``, or with that of missing numbers unless it is -1, to the front."""
    n_left = n_right = NO_ROWS
    for i in range(rows.size):
        row = rows[i]
        code = code_at(columns, by_row, at, row, row)
        n_left, n_right = put(rows, spare, n_left, n_right, row, np.uint64(code <= below or code == missing))
    return close_up(rows, spare, n_left, n_right)


@njit_no_refcount
def partition_by_bin(side, bins, rows, spare):
    """Bring the rows whose bin goes left to the front; return how many those are."""
    n_left = n_right = NO_ROWS
    for i in range(rows.size):
        n_left, n_right = put(rows, spare, n_left, n_right, rows[i], np.uint64(side[bins[i]]))
    return close_up(rows, spare, n_left, n_right)


@njit(error_model="numpy")
def sides_of(codes, features, split, bins):
    """Return for each bin of a category or of a sparse column whether it goes left."""
    if features.kind[split.feature] == CATEGORY:
        widest = 0
        for line in bins:
            widest = max(widest, line)
        side = np.zeros(widest + 1, dtype=np.uint8)
        for i in range(split.place + 1):
            side[bins[i]] = 1
        return side
    n_sparse_bins = codes.sparse_code.size
    side = np.zeros(n_sparse_bins + 1, dtype=np.uint8)
    missing = features.missing[split.feature]
    for line in range(n_sparse_bins + 1):
        code = feature_bin(codes, features, split, line)
        side[line] = code <= split.below if code != missing else split.missing_left == 1
    return side


@njit_no_refcount
def mark_left(keys, n, below, missing, is_left):
    """Note which rows go left."""
    for i in range(n):
        code = code_in(keys[i])
        is_left[keys[i] & PLACE] = code <= below or code == missing


@njit_no_refcount
def moved(is_left, n, own, start, weights, spare):
    """Bring the rows that go left to the front; return how many they are and how much heavier than the others."""
    here, n_left, n_right, balance = own[start : start + n], NO_ROWS, NO_ROWS, 0.0
    for i in range(n):
        row = here[i]
        balance += weights[row] if is_left[row] else -weights[row]
        n_left, n_right = put(here, spare, n_left, n_right, row, np.uint64(is_left[row]))
    return close_up(here, spare, n_left, n_right), balance


@njit_no_refcount
def partition_sorted_keys(order, constant, is_left, start, n, spare):
    """Bring the keys of rows that go left to the front, in every column that may vary."""
    for at in range(order.shape[0]):
        if is_member(constant, at):
            continue
        keys, n_left, n_right = order[at, start : start + n], NO_ROWS, NO_ROWS
        for i in range(n):
            n_left, n_right = put(keys, spare, n_left, n_right, keys[i], np.uint64(is_left[keys[i] & PLACE]))
        close_up(keys, spare, n_left, n_right)
