"""From bins back to values: the threshold between two bins, and the categories that a question lists."""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit_no_refcount, njit_refcount
from eigenwood.core.sorting import sorted_order
from eigenwood.core.tree.split.histogram import code_of
from eigenwood.core.tree.workspace import FEATURE, THRESHOLD

LARGEST = float(np.finfo(np.float64).max)


@njit_no_refcount
def feature_bin(codes, features, split, line):
    """Return the feature's code behind a bin."""
    first = codes.start[split.candidate] if split.candidate < codes.feature.size else -1
    return code_of(line, first, codes.bin_of_code, codes.sparse_code, features.common[split.feature])


@njit_no_refcount
def middle_between(features, feature, below_code, above_code):
    """Return the middle between the two values that a cut separates; the largest number if all numbers go left."""
    if above_code == features.missing[feature]:
        return LARGEST
    first = features.start[feature]
    below, above = features.highs[first + below_code], features.lows[first + above_code]
    middle = 0.5 * below + 0.5 * above
    return middle if below <= middle < above else below


@njit_refcount
def write_listed(codes, features, split, bins, heavier_left, categories, first):
    """Write the categories of the lighter side, ascending, and return their number."""
    begin, end = (split.place + 1, bins.size) if heavier_left else (0, split.place + 1)
    listed = np.empty(end - begin)
    for i in range(begin, end):
        listed[i - begin] = feature_bin(codes, features, split, bins[i])
    by_size = sorted_order(listed)
    for i in range(listed.size):
        categories[first + i] = np.int32(listed[by_size[i]])
    return listed.size


CODES = 1 << 20  # more than a feature has


@njit_no_refcount
def both_codes(below, above):
    """Return the codes on both sides of a cut as one number, for the time until it becomes a threshold."""
    return np.float64(below * CODES + above)


@njit_no_refcount
def write_thresholds(features, ints, floats, first, last):
    """Write the thresholds of some nodes: the values are looked up together, because they lie far apart."""
    for node in range(first, last):
        feature = ints[node, FEATURE]
        if feature >= 0:
            both = np.int64(floats[node, THRESHOLD])
            floats[node, THRESHOLD] = middle_between(features, feature, both // CODES, both % CODES)
