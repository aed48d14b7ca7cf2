"""Columns of codes side by side, two in a word: a row's word, and what its weight rose by, are read once for both.

Features that are kept by their rare entries become one column where they exclude each other, as the zeros and ones do
that stand for one category: neighbours, as long as no row has two rare entries, are a bundle. Its codes are bins,
counted from its first one; a row without a rare entry has the common bin of the first feature, which is written anew
before it is read.

    feature       0       1       2                        features 0 to 2 as one column, if bins 0 … 5 are theirs
    row       a   1       .       .       common: 0, 2, 4         1
              b   .       .       .                               0
              c   .       .       1                               5
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.tree.binning import MOST_CODES

NONE = -1
WORTH_A_COLUMN = 0.25  # rare entries per row: fewer cost less one by one


@njit
def bundle_numbers(rare_start, rare_rows, bin_start, common, n_rows):
    """Return the number of each feature's bundle, ascending; -1 for features all of whose codes are stored."""
    numbers, last_of_row = np.full(common.size, -1), np.full(n_rows, -1)
    number, first = -1, 0
    for feature in range(common.size):
        if common[feature] < 0:
            continue
        rows = rare_rows[rare_start[feature] : rare_start[feature + 1]]
        is_open = (
            number >= 0 and numbers[feature - 1] == number and bin_start[feature + 1] - bin_start[first] <= MOST_CODES
        )
        if is_open:
            for row in rows:
                is_open = is_open and last_of_row[row] != number
        if not is_open:
            number, first = number + 1, feature
        numbers[feature] = number
        for row in rows:
            last_of_row[row] = number
    return numbers


def worthy_bundles(numbers: np.ndarray, n_entries: np.ndarray, bin_start: np.ndarray, n_rows: int) -> list[np.ndarray]:
    """Return the features of each bundle that has so many rare entries that it becomes a column."""
    is_rare = numbers != NONE
    entries = np.bincount(numbers[is_rare], weights=n_entries[is_rare])
    features, starts_at = np.flatnonzero(is_rare), np.searchsorted(numbers[is_rare], np.arange(entries.size + 1))
    first, last = features[starts_at[:-1]], features[starts_at[1:] - 1]
    is_narrow = bin_start[last + 1] - bin_start[first] <= MOST_CODES
    worthy = np.flatnonzero(is_narrow & (entries >= WORTH_A_COLUMN * n_rows))
    return [features[starts_at[number] : starts_at[number + 1]] for number in worthy]


def bundle_codes(rare_rows: np.ndarray, rare_bins: np.ndarray, first_bin: int, common: int, n_rows: int) -> np.ndarray:
    """Return the codes of a bundle."""
    codes = np.full(n_rows, common, dtype=np.uint16)
    codes[rare_rows] = rare_bins - first_bin
    return codes


def packed(columns: list, n_rows: int) -> np.ndarray:
    """Return codes as words, two columns in each row of words; the last one may have one column only."""
    words = np.zeros((-(-len(columns) // 2), n_rows), dtype=np.uint32)
    for number, codes in enumerate(columns):
        words[number // 2] |= codes.astype(np.uint32) << np.uint32(16 * (number % 2))
    return words
