"""Sums of rows by bin, in whole numbers: the order in which rows are added does not matter, so threads do not either.

All sums of a bin go by one addition, in one word. A gradient and a hessian are rounded to whole numbers before:

    bits   63 …                  26           25 … 0
    FLAT   Σ gradient                         rows            where every hessian is 1
    bits   63 … 38          37 … 13          12 … 0
    NARROW Σ gradient       Σ hessian        rows             of at most 4,096 rows, at 13 and 12 bits
    bits   63 … 0                   63 … 32           31 … 0
    WIDE   Σ gradient               Σ hessian         rows    of more: two words

A gradient between two whole numbers is rounded up or down by chance, so that sums are right on average; the chance
follows from the gradient and the codes of the row, so that the order of rows does not matter.
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit_forceinline, njit_no_refcount
from eigenwood.core.distinct import splitmix64

FLAT, NARROW, WIDE = range(3)  # what the words of a leaf hold
NARROW_ROWS = 4096  # whose sums a word can hold; and their number twice, where what is missing is added to the total
FLAT_ROWS = 1 << 25  # whose number a word can hold twice beside gradients
FLAT_SHIFT, FLAT_MASK = np.int64(26), np.int64((1 << 26) - 1)
GRADIENT_SHIFT, HESSIAN_SHIFT = np.int64(38), np.int64(13)
HESSIAN_MASK, COUNT_MASK = np.int64((1 << 25) - 1), np.int64((1 << 13) - 1)
WIDE_SHIFT, WIDE_MASK = np.int64(32), np.int64((1 << 32) - 1)
CODE_MASK = np.uint64(255)
CHANCE, LOW_CHANCE = np.uint64(40), np.uint64((1 << 24) - 1)  # 24 bits of a hash for the gradient, 24 for the hessian
UNIT = 1.0 / (1 << 24)


# ---- words ---------------------------------------------------------------------------------------------------------


@njit_no_refcount
def form_of(flat, n_rows):
    """Return what the words of a leaf of so many rows hold."""
    if flat:
        return FLAT
    return NARROW if n_rows <= NARROW_ROWS else WIDE


@njit_forceinline
def sums_in(form, word, second):
    """Return rows, hessians and gradients that words hold."""
    if form == FLAT:
        return word & FLAT_MASK, word & FLAT_MASK, word >> FLAT_SHIFT
    if form == NARROW:
        return word & COUNT_MASK, (word >> HESSIAN_SHIFT) & HESSIAN_MASK, word >> GRADIENT_SHIFT
    return second & WIDE_MASK, second >> WIDE_SHIFT, word


@njit_forceinline
def words_of(form, count, hessian, gradient):
    """Return the words that hold rows, hessians and gradients."""
    if form == FLAT:
        return (gradient << FLAT_SHIFT) + count, np.int64(0)
    if form == NARROW:
        return (gradient << GRADIENT_SHIFT) + (hessian << HESSIAN_SHIFT) + count, np.int64(0)
    return gradient, (hessian << WIDE_SHIFT) + count


@njit_no_refcount
def write_words(gradients, hessians, row_hash, gradient_scale, hessian_scale, flat, seed, first, last, words):
    """Write gradients and hessians of some rows as whole numbers side by side; scales are multiplied with."""
    gradients, hessians, row_hash = gradients[first:last], hessians[first:last], row_hash[first:last]
    words = words[first:last]  # places from 0 on: others might be negative, and then rows are not done side by side
    for i in range(words.size):
        g = gradients[i]
        chance = splitmix64(row_hash[i] ^ np.float64(g).view(np.uint64) ^ seed)
        whole = np.int64(np.floor(g * gradient_scale + np.float64(chance >> CHANCE) * UNIT))
        if flat:
            words[i] = (whole << FLAT_SHIFT) + np.int64(1)
        else:
            h = np.int64(hessians[i] * hessian_scale + np.float64(chance & LOW_CHANCE) * UNIT)
            words[i] = (whole << GRADIENT_SHIFT) + (h << HESSIAN_SHIFT) + np.int64(1)


# ---- histograms ----------------------------------------------------------------------------------------------------


@njit_forceinline
def add_rows(codes, words, rows, first, last, n_columns, packed):
    """Add the words of some rows to the bins of some columns that stand in one word of codes."""
    own = rows[first:last]
    for i in range(own.size):
        row = np.uint64(own[i])
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
def spill(form, packed, bin_start, first_column, n_columns, is_new, out):
    """Add the words of some columns to a histogram, or begin it with them, and leave zeros."""
    for k in range(n_columns):
        first = bin_start[first_column + k]
        n = bin_start[first_column + k + 1] - first
        own, firsts = packed[256 * k : 256 * k + n], out[0, first : first + n]
        if form != WIDE:
            for b in range(n):
                firsts[b] = own[b] if is_new else firsts[b] + own[b]
                own[b] = 0
            continue
        seconds = out[1, first : first + n]
        for b in range(n):
            count, hessian, gradient = sums_in(NARROW, own[b], np.int64(0))
            one, other = gradient, (hessian << WIDE_SHIFT) + count
            firsts[b] = one if is_new else firsts[b] + one
            seconds[b] = other if is_new else seconds[b] + other
            own[b] = 0


@njit_no_refcount
def add_to_histogram(form, codes, group, words, rows, bin_start, packed, is_new, out):
    """Add rows to the histograms of the columns of one group, or begin these with them.

    ``out`` is (1, n_bins), or (2, n_bins) if ``WIDE``.
    """
    first_column = 8 * group
    n_columns = min(8, bin_start.size - 1 - first_column)
    step = NARROW_ROWS if form == WIDE else rows.size
    for start in range(0, rows.size, step):
        add_packed(codes[group], words, rows, start, min(start + step, rows.size), n_columns, packed)
        spill(form, packed, bin_start, first_column, n_columns, is_new and start == 0, out)


@njit_no_refcount
def bins_of(bin_start, group):
    """Return where the bins of a group begin and end."""
    return bin_start[8 * group], bin_start[min(8 * group + 8, bin_start.size - 1)]


@njit_no_refcount
def clear(out, form, bin_start, group):
    """Write zeros to the histograms of one group."""
    first, last = bins_of(bin_start, group)
    for k in range(2 if form == WIDE else 1):
        out[k, first:last] = 0


@njit_no_refcount
def add_group(source, form, bin_start, group, out):
    """Add the histograms of one group to others."""
    first, last = bins_of(bin_start, group)
    for k in range(2 if form == WIDE else 1):
        for b in range(first, last):
            out[k, b] += source[k, b]


@njit_no_refcount
def subtract(part, part_form, bin_start, group, whole, whole_form, form):
    """Leave in ``whole`` what is not in ``part``, for one group: a node without one child is the other, in its form."""
    first, last = bins_of(bin_start, group)
    if part_form == whole_form:
        for k in range(2 if form == WIDE else 1):
            for b in range(first, last):
                whole[k, b] -= part[k, b]
        return
    for b in range(first, last):
        count, hessian, gradient = sums_in(WIDE, whole[0, b], whole[1, b])
        less_count, less_hessian, less_gradient = sums_in(NARROW, part[0, b], np.int64(0))
        count, hessian, gradient = count - less_count, hessian - less_hessian, gradient - less_gradient
        if form == WIDE:
            whole[0, b], whole[1, b] = words_of(WIDE, count, hessian, gradient)
        else:
            whole[0, b], _ = words_of(NARROW, count, hessian, gradient)
