"""The best stump under some weights: every feature, every cut, every pair of classes.

A histogram has the weight of the rows of each class in each bin. For two classes one sum is enough, + for the second
and - for the first; its sums up to a cut give at once what both sides are worth:

    codes                0     1     2     3                    gain = |left| + |right|: the weight that is right
    signed weight       +4    -1    -6    +2                           less the weight that is wrong
    left of a cut       +4    +3    -3                          best: {0} says +, the rest says -: 4 + 5 = 9
    right of it         -5    -4    +2

All weights are whole numbers, so that sums do not depend on an order and the best is the best: among equal ones the
first feature wins, and of its cuts the lowest, with missing numbers on the left side.
"""

from __future__ import annotations

from typing import NamedTuple

from eigenwood.compiling import njit_no_refcount

NO_CUT = NO_FEATURE = -1


class Cut(NamedTuple):
    """A stump in codes. Of categories, those that weigh at least as much for its left class go left."""

    gain: int  # weight that it gets right, less weight that it gets wrong
    feature: int
    code: int  # the last code that goes left; NO_CUT if all do
    missing_left: bool
    left: int  # classes
    right: int


@njit_no_refcount
def best_cut_among(table, work, left, first_feature, last_feature):
    """Return the best stump that asks about one of some features; its feature is NO_FEATURE if none can be cut."""
    best = Cut(-work.total[0] - 1, NO_FEATURE, 0, True, 0, 0)
    for feature in range(first_feature, last_feature):
        first, last = table.bin_start[feature], table.bin_start[feature + 1]
        if last - first < 2:
            continue
        if table.common[feature] >= 0:
            write_common(work.sums, first, last, first + table.common[feature], work.totals)
        cut = best_of_feature(table, work, left, feature)
        if cut.gain > best.gain:
            best = cut
    return best


@njit_no_refcount
def best_of_feature(table, work, left, feature):
    """Return the best stump that asks about a feature of at least two codes."""
    first, last = table.bin_start[feature], table.bin_start[feature + 1]
    sums, missing = work.sums, table.missing[feature] >= 0
    if table.is_category[feature]:
        if sums.shape[1] == 1:
            return two_class_categories(sums, feature, first, last)
        return many_class_categories(sums, work.total[0], feature, first, last)
    if sums.shape[1] == 1:
        return two_class_cut(sums, work.totals[0], feature, first, last, missing)
    return many_class_cut(sums, left, work.totals, work.total[0], feature, first, last, missing)


@njit_no_refcount
def constant_cut(totals, total):
    """Return the stump that says the same of all rows."""
    if totals.size == 1:
        side = int(totals[0] > 0)
        return Cut(abs(totals[0]), 0, NO_CUT, True, side, side)
    side = largest_place(totals)
    return Cut(2 * totals[side] - total, 0, NO_CUT, True, side, side)


@njit_no_refcount
def write_common(sums, first, last, common, totals):
    """Write the sums of the bin that is not stored: what the others of its feature leave of all."""
    for c in range(totals.size):
        rest = totals[c]
        for i in range(first, last):
            if i != common:
                rest -= sums[i, c]
        sums[common, c] = rest


# ---- two classes ---------------------------------------------------------------------------------------------------


@njit_no_refcount
def two_class_cut(sums, total, feature, first, last, missing):
    """Return the best cut between the numbers of a feature."""
    n_known = last - first - missing
    absent = sums[last - 1, 0] if missing else 0
    gain, code, missing_left, best = -1, 0, True, 0
    left = 0
    for i in range(n_known - 1):
        left += sums[first + i, 0]
        with_absent = left + absent
        own = abs(with_absent) + abs(total - with_absent)
        if own > gain:
            gain, code, missing_left, best = own, i, True, with_absent
        if missing:
            own = abs(left) + abs(total - left)
            if own > gain:
                gain, code, missing_left, best = own, i, False, left
    if missing:
        left = total - absent
        own = abs(left) + abs(absent)
        if own > gain:
            gain, code, missing_left, best = own, n_known - 1, False, left
    return Cut(gain, feature, code, missing_left, int(best > 0), int(total - best > 0))


@njit_no_refcount
def two_class_categories(sums, feature, first, last):
    """Return the best two sets of categories: each goes to the class that it weighs more for."""
    gain = 0
    for i in range(first, last):
        gain += abs(sums[i, 0])
    return Cut(gain, feature, 0, True, 0, 1)


# ---- more classes --------------------------------------------------------------------------------------------------


@njit_no_refcount
def many_class_cut(sums, left, totals, total, feature, first, last, missing):
    """Return the best cut between the numbers of a feature."""
    n_known = last - first - missing
    best = Cut(-total - 1, feature, 0, True, 0, 0)
    left[:] = 0
    for i in range(n_known - (0 if missing else 1)):
        for c in range(totals.size):
            left[c] += sums[first + i, c]
        if missing and i < n_known - 1:
            best = better_sides(best, left, sums[last - 1], 1, totals, total, i)
        best = better_sides(best, left, sums[last - 1], 0, totals, total, i)
    if not missing:
        return Cut(best.gain, feature, best.code, True, best.left, best.right)
    return best


@njit_no_refcount
def better_sides(best, left, absent, missing_left, totals, total, code):
    """Return a cut if it is better than the best; ``missing_left`` is 1 if missing numbers go left."""
    left_class = right_class = 0
    most_left = most_right = -1
    for c in range(totals.size):
        own = left[c] + missing_left * absent[c]
        if own > most_left:
            most_left, left_class = own, c
        if totals[c] - own > most_right:
            most_right, right_class = totals[c] - own, c
    gain = 2 * (most_left + most_right) - total
    if gain > best.gain:
        return Cut(gain, best.feature, code, missing_left == 1, left_class, right_class)
    return best


@njit_no_refcount
def many_class_categories(sums, total, feature, first, last):
    """Return the best two sets of categories, for the best pair of classes."""
    best = Cut(-total - 1, feature, 0, True, 0, 0)
    for a in range(sums.shape[1]):
        for b in range(a + 1, sums.shape[1]):
            right = 0
            for i in range(first, last):
                right += max(sums[i, a], sums[i, b])
            if 2 * right - total > best.gain:
                best = Cut(2 * right - total, feature, 0, True, a, b)
    return best


@njit_no_refcount
def largest_place(values):
    """Return the first place of the largest value."""
    place = 0
    for i in range(values.size):
        if values[i] > values[place]:
            place = i
    return place


# ---- sides ---------------------------------------------------------------------------------------------------------


@njit_no_refcount
def goes_right(table, sums, cut, code):
    """Return whether rows of a code go right."""
    if cut.code == NO_CUT:
        return False
    if table.is_category[cut.feature]:
        at = table.bin_start[cut.feature] + code
        if sums.shape[1] == 1:
            return sums[at, 0] > 0
        return sums[at, cut.right] > sums[at, cut.left]
    if code == table.missing[cut.feature]:
        return not cut.missing_left
    return code > cut.code
