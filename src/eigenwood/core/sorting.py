"""The order of numbers by size, stable, and numbers in order; compiled once for all that sort inside a kernel.

Many numbers are put in order by digits of 11 bits, from the last to the first. NumPy's sort takes far longer on
processors that are slow to store some lanes of a vector.
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit

RUN = 16  # so many neighbours are sorted by insertion before runs are merged
DIGIT_BITS, N_DIGITS = 11, 6
N_VALUES = 1 << DIGIT_BITS  # of a digit
DIGIT = np.uint64(N_VALUES - 1)
SIGN, ALL = np.uint64(1 << 63), np.uint64((1 << 64) - 1)


@njit
def sorted_order(keys):
    """Return the places of the keys by size; equal keys stay in their order.

    >>> sorted_order(np.array([2.0, 1.0, 2.0, 0.0]))
    array([3, 1, 0, 2])
    """
    n = keys.size
    order, spare = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for start in range(0, n, RUN):
        for i in range(start, min(start + RUN, n)):
            j = i
            while j > start and keys[order[j - 1]] > keys[i]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
    width = RUN
    while width < n:
        for start in range(0, n, 2 * width):
            middle, end = min(start + width, n), min(start + 2 * width, n)
            i, j = start, middle
            for k in range(start, end):
                if i < middle and (j >= end or keys[order[i]] <= keys[order[j]]):
                    spare[k] = order[i]
                    i += 1
                else:
                    spare[k] = order[j]
                    j += 1
        order, spare = spare, order
        width *= 2
    return order


@njit
def sorted_numbers(values):
    """Return those of float64 numbers that are not missing, in order; -0 comes before 0.

    >>> sorted_numbers(np.array([2.0, np.nan, -1.0, 0.5]))
    array([-1. ,  0.5,  2. ])
    """
    keys, n = np.empty(values.size, dtype=np.uint64), 0
    bits = values.view(np.uint64)
    for i in range(values.size):
        keys[n] = bits[i] ^ (ALL if bits[i] >= SIGN else SIGN)  # in the order of the numbers
        n += values[i] == values[i]
    keys = sorted_keys(keys[:n])
    for i in range(n):
        keys[i] ^= SIGN if keys[i] >= SIGN else ALL
    return keys.view(np.float64)


@njit
def sorted_keys(keys):
    """Return words in order, digit by digit; one that all have in common takes no time. ``keys`` are written over."""
    counts = np.zeros((N_DIGITS, N_VALUES), dtype=np.int64)
    for i in range(keys.size):
        for d in range(N_DIGITS):
            counts[d, np.int64((keys[i] >> np.uint64(DIGIT_BITS * d)) & DIGIT)] += 1
    spare = np.empty_like(keys)
    for d in range(N_DIGITS):
        own, shift = counts[d], np.uint64(DIGIT_BITS * d)
        if own.max() == keys.size:
            continue
        places = np.cumsum(own) - own
        for i in range(keys.size):
            digit = np.int64((keys[i] >> shift) & DIGIT)
            spare[places[digit]] = keys[i]
            places[digit] += 1
        keys, spare = spare, keys
    return keys
