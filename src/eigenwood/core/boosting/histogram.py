"""Sums of rows by bin, in whole numbers: the order in which rows are added does not matter, so threads do not either.

Gradients are rounded to 13 bits with their sign, hessians to 12. Three sums go by one addition, in one word:

    bits   63 … 38          37 … 13          12 … 0
           Σ gradient       Σ hessian        rows            of at most 4,096 rows

After so many rows the words are taken apart and added to three histograms of 32 bits. A gradient between two whole
numbers is rounded up or down by chance, so that sums are right on average; the chance follows from the gradient and the
codes of the row, so that the order of rows does not matter.
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit_forceinline, njit_no_refcount
from eigenwood.core.distinct import splitmix64

PACKED_ROWS = 4096  # whose sums a word can hold
GRADIENT_SHIFT, HESSIAN_SHIFT = np.int64(38), np.int64(13)
HESSIAN_MASK, COUNT_MASK = np.int64((1 << 25) - 1), np.int64((1 << 13) - 1)
CODE_MASK = np.uint64(255)
CHANCE, LOW_CHANCE = np.uint64(40), np.uint64((1 << 24) - 1)  # 24 bits of a hash for the gradient, 24 for the hessian
UNIT = 1.0 / (1 << 24)


@njit_no_refcount
def write_words(gradients, hessians, row_hash, gradient_scale, hessian_scale, flat, seed, first, last, words):
    """Write gradients and hessians of some rows as whole numbers side by side; scales are multiplied with."""
    for i in range(first, last):
        g = gradients[i]
        chance = splitmix64(row_hash[i] ^ np.float64(g).view(np.uint64) ^ seed)
        whole = np.int64(np.floor(g * gradient_scale + np.float64(chance >> CHANCE) * UNIT))
        h = np.int64(1)
        if not flat:
            h = np.int64(hessians[i] * hessian_scale + np.float64(chance & LOW_CHANCE) * UNIT)
        words[i] = (whole << GRADIENT_SHIFT) + (h << HESSIAN_SHIFT) + np.int64(1)


@njit_forceinline
def add_rows(codes, words, rows, first, last, n_columns, packed):
    """Add the words of some rows to the bins of some columns that stand in one word of codes."""
    for i in range(first, last):
        row = np.uint64(rows[i])
        code, word = codes[row], words[row]
        for k in range(n_columns):
            place = np.uint64(256 * k) + ((code >> np.uint64(8 * k)) & CODE_MASK)
            packed[place] += word


@njit_no_refcount
def add_packed(codes, words, rows, first, last, n_columns, packed):
    """Add rows, by code that is written for each number of columns: then their loop is no loop."""
    if n_columns == 8:
        add_rows(codes, words, rows, first, last, 8, packed)
    elif n_columns == 7:
        add_rows(codes, words, rows, first, last, 7, packed)
    elif n_columns == 6:
        add_rows(codes, words, rows, first, last, 6, packed)
    elif n_columns == 5:
        add_rows(codes, words, rows, first, last, 5, packed)
    elif n_columns == 4:
        add_rows(codes, words, rows, first, last, 4, packed)
    elif n_columns == 3:
        add_rows(codes, words, rows, first, last, 3, packed)
    elif n_columns == 2:
        add_rows(codes, words, rows, first, last, 2, packed)
    else:
        add_rows(codes, words, rows, first, last, 1, packed)


@njit_no_refcount
def unpack(packed, bin_start, first_column, n_columns, counts, hessians, gradients):
    """Take the words of some columns apart, add them to three histograms, and leave zeros."""
    for k in range(n_columns):
        first = bin_start[first_column + k]
        n = bin_start[first_column + k + 1] - first
        own, c, h, g = packed[256 * k : 256 * k + n], counts[first:], hessians[first:], gradients[first:]
        for b in range(n):
            word = own[b]
            c[b] += np.int32(word & COUNT_MASK)
            h[b] += np.int32((word >> HESSIAN_SHIFT) & HESSIAN_MASK)
            g[b] += np.int32(word >> GRADIENT_SHIFT)
            own[b] = 0


@njit_no_refcount
def add_to_histogram(codes, group, words, rows, first, last, bin_start, packed, out):
    """Add rows to the histograms of the columns of one group; ``out`` is (3, n_bins)."""
    first_column = 8 * group
    n_columns = min(8, bin_start.size - 1 - first_column)
    for start in range(first, last, PACKED_ROWS):
        add_packed(codes[group], words, rows, start, min(start + PACKED_ROWS, last), n_columns, packed)
        unpack(packed, bin_start, first_column, n_columns, out[0], out[1], out[2])


@njit_no_refcount
def clear(out, bin_start, group):
    """Write zeros to the histograms of one group."""
    first, last = bin_start[8 * group], bin_start[min(8 * group + 8, bin_start.size - 1)]
    for part in range(3):
        for b in range(first, last):
            out[part, b] = 0


@njit_no_refcount
def add_group(source, bin_start, group, out):
    """Add the histograms of one group to others."""
    first, last = bin_start[8 * group], bin_start[min(8 * group + 8, bin_start.size - 1)]
    for part in range(3):
        for b in range(first, last):
            out[part, b] += source[part, b]


@njit_no_refcount
def subtract(part, bin_start, group, whole):
    """Leave in ``whole`` what is not in ``part``, for one group: a node without one child is the other."""
    first, last = bin_start[8 * group], bin_start[min(8 * group + 8, bin_start.size - 1)]
    for k in range(3):
        for b in range(first, last):
            whole[k, b] -= part[k, b]
