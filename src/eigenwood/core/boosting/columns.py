"""One column of numbers: where its bins are cut off, its codes, and with which others it can share a byte.

A column has many rows or a table many columns: both are read here in compiled code, some times each.
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.boosting.types import MOST_BINS
from eigenwood.core.sorting import sorted_numbers
from eigenwood.core.tree.binning import WIDEST_TABLE, whole_range

STRIP = 256  # searches side by side
PER_VALUE = 4  # whole numbers in a range that is no wider, in terms of rows, are counted and not sorted
LANES = 4  # counts that rows are added to in turns: to add to the same one over and over takes long
FEW_VALUES = 4096  # of a column, which leave room in the cache for so many counts
MOST_TRIED = 32  # shared columns that are tried for another feature


# ---- cuts ----------------------------------------------------------------------------------------------------------


@njit
def column_cuts(values, weights, max_bins):
    """Return the cuts between the bins of a column of numbers; weights are empty if all are 1."""
    distinct, counts = distinct_values(values)
    if distinct.size <= max_bins:
        return middles(distinct, np.arange(distinct.size))
    if weights.size > 0:
        counts = weights_of(distinct, values, weights)
    return middles(distinct, last_of_bins(counts, max_bins))


@njit
def distinct_values(values):
    """Return the distinct numbers of a column in order, and how often each occurs."""
    lowest, width = whole_range(values)
    if 0 < width <= min(WIDEST_TABLE, PER_VALUE * values.size):
        return counted_values(values, lowest, width)
    numbers = sorted_numbers(values)
    n = 0
    counts = np.zeros(numbers.size)
    for i in range(numbers.size):
        n += i > 0 and numbers[i] != numbers[i - 1]
        numbers[n] = numbers[i]
        counts[n] += 1.0
    n += numbers.size > 0
    return numbers[:n], counts[:n]


@njit
def counted_values(values, lowest, width):
    """Return the distinct ones of whole numbers in a narrow range, and how often each occurs."""
    counts = np.zeros((LANES if width <= FEW_VALUES else 1, width), dtype=np.int64)
    for i in range(values.size):
        counts[i & (counts.shape[0] - 1), int(values[i]) - lowest] += 1
    sums = counts.sum(axis=0)
    (seen,) = np.nonzero(sums)
    return (seen + lowest).astype(np.float64), sums[seen].astype(np.float64)


@njit
def weights_of(distinct, values, weights):
    """Return the weight of the rows of each distinct number."""
    sums = np.zeros(distinct.size)
    for i in range(values.size):
        if values[i] == values[i]:
            sums[np.searchsorted(distinct, values[i])] += weights[i]
    return sums


@njit
def last_of_bins(counts, n_bins):
    """Return the last value of each bin, so that bins have about the same weight."""
    up_to = np.cumsum(counts)
    bins = np.minimum(np.ceil(up_to * n_bins / up_to[-1]), n_bins)  # rounding may lead beyond the last one
    is_last = np.ones(bins.size, dtype=np.bool_)
    is_last[:-1] = bins[1:] != bins[:-1]
    return np.nonzero(is_last)[0]


@njit
def middles(distinct, last):
    """Return the middle between each of these values and the next; the value itself if there is no number between.

    There is no cut behind the last bin.
    """
    cuts = np.empty(max(last.size - 1, 0))
    for k in range(cuts.size):
        below, above = distinct[last[k]], distinct[last[k] + 1]
        middle = 0.5 * below + 0.5 * above
        cuts[k] = middle if below <= middle < above else below
    return cuts


# ---- codes ---------------------------------------------------------------------------------------------------------


@njit
def codes_of(values, cuts):
    """Return how many cuts lie below each value, one more for a missing one, and whether any is missing."""
    n_steps = 0
    while 1 << n_steps <= cuts.size:
        n_steps += 1
    padded = np.full((1 << n_steps) - 1, np.inf)
    padded[: cuts.size] = cuts
    codes = np.empty(values.size, dtype=np.uint8)
    return codes, search_by_halves(values, padded, n_steps, cuts.size + 1, codes)


@njit
def search_by_halves(values, cuts, n_steps, missing, codes):
    """Write how many cuts lie below each value, for 2ⁿ - 1 cuts: all searches of a strip go step by step."""
    low, n_missing = np.empty(STRIP, dtype=np.int64), 0
    for start in range(0, values.size, STRIP):
        own = values[start : start + STRIP]
        for i in range(own.size):
            low[i] = 0
        for step in range(n_steps - 1, -1, -1):
            half = np.int64(1 << step)
            for i in range(own.size):
                low[i] += half if cuts[low[i] + half - 1] < own[i] else 0
        for i in range(own.size):
            codes[start + i] = low[i] if own[i] == own[i] else missing
            n_missing += own[i] != own[i]
    return n_missing > 0


@njit
def code_weights(codes, weights, n_bins):
    """Return the weight of the rows of each code; weights are empty if all are 1."""
    sums = np.zeros(n_bins)
    if weights.size > 0:
        for i in range(codes.size):
            sums[codes[i]] += weights[i]
        return sums
    counts = np.zeros((LANES, MOST_BINS), dtype=np.int64)
    for i in range(codes.size):
        counts[i & (LANES - 1), codes[i]] += 1
    sums[:] = counts.sum(axis=0)[:n_bins]
    return sums


# ---- columns that share a byte -------------------------------------------------------------------------------------


@njit
def take_place(codes, common, n_codes, n_places, taken, n_taken, n_used):
    """Take the first of the last places that has room for so many codes and none of whose rows is taken, or a new one.

    ``taken`` are the rows that have a rare code of a feature that is there, ``n_taken`` how many there are, and
    ``n_used`` how many codes are used, the common one among them.
    """
    rows = np.nonzero(codes != common)[0]
    place = max(n_places - MOST_TRIED, 0)
    while place < n_places:
        fits = n_used[place] + n_codes <= MOST_BINS and n_taken[place] + rows.size <= codes.size
        if fits and not is_any_taken(taken[place], rows):
            break
        place += 1
    if place == n_places:
        n_used[place] = 1
    for row in rows:
        taken[place, row] = 1
    n_taken[place], n_used[place] = n_taken[place] + rows.size, n_used[place] + n_codes
    return place


@njit
def write_rare(codes, rare, shared):
    """Write the rare codes of a feature to the column that it shares; the common one is 0 there."""
    for i in range(codes.size):
        shared[i] |= rare[codes[i]]


@njit
def is_any_taken(taken, rows):
    """Return whether one of some rows is taken."""
    for row in rows:
        if taken[row] != 0:
            return True
    return False
