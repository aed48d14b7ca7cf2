"""From codes back to values: the thresholds and the lists of categories of stumps.

cut      feature 2, code 3          the last code that goes left
stump    feature 2, x ≤ 6.5         midway between the values behind codes 3 and 4
"""

from __future__ import annotations

import numpy as np

from eigenwood.core.adaboost.search import NO_CUT
from eigenwood.core.adaboost.stumps import Stumps
from eigenwood.core.adaboost.table import BinValues, StumpTable
from eigenwood.core.tree.thresholds import LARGEST
from eigenwood.core.tree.types import NO_THRESHOLD

# columns of cuts, one row for each round; the last is how many rows, by their counts, go left
FEATURE, CODE, MISSING_LEFT, LEFT, RIGHT, DEFAULT_LEFT, N_RIGHT, ON_LEFT = range(8)
N_CUT_NUMBERS = 8


def stumps_of(table: StumpTable, values: BinValues, cuts: np.ndarray, listed: np.ndarray) -> Stumps:
    """Return stumps, of which only codes are known, with their thresholds and categories."""
    feature, is_constant = cuts[:, FEATURE], cuts[:, CODE] == NO_CUT
    asks_category = table.is_category[feature] & ~is_constant
    first = values.start[feature]
    code = np.where(asks_category | is_constant, 0, cuts[:, CODE])
    below = entries_at(values.highs, first + code)
    is_last = first + code + 1 == values.start[feature + 1]  # all numbers go left: only missing ones do not
    above = entries_at(values.lows, np.where(is_last, first, first + code + 1))
    middle = 0.5 * below + 0.5 * above
    middle = np.where((below <= middle) & (middle < above), middle, below)
    threshold = np.where(asks_category, NO_THRESHOLD, np.where(is_last | is_constant, LARGEST, middle))
    lists = [
        listed_categories(cut, words, int(table.bin_start[cut[FEATURE] + 1] - table.bin_start[cut[FEATURE]]))
        if asks
        else np.empty(0, dtype=np.int32)
        for cut, words, asks in zip(cuts, listed, asks_category, strict=True)
    ]
    left, right = cuts[:, LEFT].copy(), cuts[:, RIGHT].copy()
    for t in np.flatnonzero(asks_category):
        if len(lists[t]) == 0:  # all categories go to one side
            threshold[t] = LARGEST
            left[t] = right[t] = right[t] if cuts[t, N_RIGHT] else left[t]
    return Stumps(
        feature.astype(np.int32),
        threshold,
        cuts[:, DEFAULT_LEFT] != 0,
        left.astype(np.int32),
        right.astype(np.int32),
        np.concatenate([[0], np.cumsum([part.size for part in lists])]).astype(np.int64),
        np.concatenate([np.empty(0, dtype=np.int32), *lists]),
    )


def entries_at(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return entries of an array, and 0 behind its end: columns of missing numbers alone have no values."""
    return np.append(values, 0.0)[np.minimum(places, values.size)]


def listed_categories(cut: np.ndarray, words: np.ndarray, n_codes: int) -> np.ndarray:
    """Return the categories of the side where others do not go."""
    codes = np.arange(n_codes)
    goes_right = (words[codes >> 6] >> (codes & 63).astype(np.uint64)) & np.uint64(1) != 0
    return codes[goes_right == bool(cut[DEFAULT_LEFT])].astype(np.int32)
