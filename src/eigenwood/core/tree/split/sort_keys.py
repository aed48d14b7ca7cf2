"""Keys in order: a key has the code of a row and, in its last bits, the row, so to sort keys is to sort rows.

Which sort is shortest depends on how many keys there are.
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit_no_refcount
from eigenwood.core.bits import ONE
from eigenwood.core.tree.split.sizes import FEW, LANES, NO_ROWS, PLACE, PLACE_BITS, SPREAD, VERY_FEW

BYTE_BITS, BYTE = 8, 255
MANY_ZEROS = 4  # codes of 0 are taken out before, if they are one in so many
LAST = np.uint32(np.iinfo(np.uint32).max)


@njit_no_refcount
def sort_keys(keys, n, ranks, counts, ordered):
    """Write keys in order, in the way that is shortest for so many; ``keys`` may be overwritten."""
    if n <= VERY_FEW:
        sort_by_insertion(keys, n, ordered)
    elif n <= FEW:
        sort_by_ranks(keys, n, ranks, ordered)
    else:
        sort_by_counting(keys, n, counts, ordered)


@njit_no_refcount
def zeros_first(keys, n, ordered):
    """Write the keys of code 0 as they stand, if they are many, close the others up, and return how many there are.

    Many columns hold more zeros than all else: pixels, counts, amounts.
    """
    n_found = np.uint32(0)
    for i in range(n):
        n_found += np.uint32(keys[i] <= PLACE)
    if n_found * MANY_ZEROS < n:
        return 0
    n_zeros = n_others = NO_ROWS
    for i in range(n):
        key = keys[i]
        zero = np.uint64(key <= PLACE)
        ordered[n_zeros] = keys[n_others] = key
        n_zeros += zero
        n_others += ONE - zero
    return np.int64(n_zeros)


@njit_no_refcount
def sort_by_insertion(keys, n, ordered):
    """Write keys in order, by insertion."""
    for i in range(n):
        key, j = keys[i], i
        while j > 0 and ordered[j - 1] > key:
            ordered[j] = ordered[j - 1]
            j -= 1
        ordered[j] = key


@njit_no_refcount
def sort_by_ranks(keys, n, ranks, ordered):
    """Write keys in order: for each it is counted how many are less."""
    n_lanes = (n + LANES - 1) & ~(LANES - 1)
    for i in range(n, n_lanes):
        keys[i] = LAST
    for j in range(n_lanes):
        ranks[j] = 0
    for i in range(n):
        key = keys[i]
        for j in range(n_lanes):
            ranks[j] += np.uint32(keys[j] > key)
    for i in range(n):
        ordered[ranks[i]] = keys[i]


@njit_no_refcount
def sort_by_counting(keys, n, counts, ordered):
    """Write keys in order by counting codes or, where those lie far apart, first their low and then their high byte.

    ``keys`` may be overwritten; ``counts`` are all zero before and after.
    """
    least, greatest = keys[0], keys[0]
    for i in range(n):
        least, greatest = min(least, keys[i]), max(greatest, keys[i])
    first, last = np.int64(least >> PLACE_BITS), np.int64(greatest >> PLACE_BITS)
    if last - first < SPREAD * n:
        put_by_digit(keys, n, PLACE_BITS, -1, first, last - first + 1, counts, ordered)
        return
    put_by_digit(keys, n, PLACE_BITS, BYTE, 0, BYTE + 1, counts, ordered)
    put_by_digit(ordered, n, PLACE_BITS + BYTE_BITS, BYTE, 0, BYTE + 1, counts, keys)
    for i in range(n):
        ordered[i] = keys[i]


@njit_no_refcount
def put_by_digit(keys, n, shift, mask, first, n_digits, counts, ordered):
    """Write keys in the order of some of their bits, equal ones as they stand."""
    for i in range(n):
        counts[np.uint64((np.int64(keys[i] >> shift) & mask) - first)] += 1
    before = np.int32(0)
    for digit in range(n_digits):
        here = counts[digit]
        counts[digit] = before
        before += here
    for i in range(n):
        at = np.uint64((np.int64(keys[i] >> shift) & mask) - first)
        j = counts[at]
        counts[at] = j + 1
        ordered[np.uint64(j)] = keys[i]
    for digit in range(n_digits):
        counts[digit] = 0


@njit_no_refcount
def with_last_first(keys, n, n_last, spare):
    """Return keys of which the last come first, where their rows go left before all others."""
    for i in range(n):
        spare[(i + n_last) % n] = keys[i]
    return spare
