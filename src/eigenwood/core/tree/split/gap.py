"""Of equally good cuts that leave nothing to be asked, the one through the widest gap is taken: how wide a gap is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit_no_refcount
from eigenwood.core.tree.split.histogram import code_at
from eigenwood.core.tree.types import CATEGORY

NO_GAP = -1.0  # it was not measured


class NodeColumns(NamedTuple):
    """Where the columns of a node are read: a large node's in the table, a small node's in what was gathered."""

    codes: NamedTuple
    features: NamedTuple
    table: np.ndarray  # codes by row, or empty
    rows: np.ndarray  # of the node, in the columns …
    own: np.ndarray  # … and in the table
    sparse_bins: np.ndarray  # those that occur …
    group: np.ndarray  # … and where those of a feature begin among them
    sparse_code: np.ndarray
    sparse_sums: np.ndarray
    n_sums: int


@njit_no_refcount
def leaves_nothing(cost, node, tie):
    """Return whether a cut leaves nothing to be asked: both of its sides are pure."""
    return node.cost - cost >= node.weight * node.impurity - tie


@njit_no_refcount
def gap_of(columns, n_rows, split, n_bins):
    """Return ``gap_between`` the two sides of a split; categories are one step apart."""
    features, feature, n_columns = columns.features, split.feature, columns.codes.feature.size
    if features.kind[feature] == CATEGORY:
        return 1.0 / (n_bins - 1)
    missing, common = np.int64(features.missing[feature]), features.common[feature]
    if n_rows == 2:
        return pair_gap(split.above, missing)
    if split.candidate < n_columns:
        least, greatest = dense_range(
            columns.codes, columns.table, split.candidate, missing, columns.rows, columns.own, n_rows
        )
    else:
        first, last = columns.group[split.candidate - n_columns], columns.group[split.candidate - n_columns + 1]
        shared = (common, missing, columns.sparse_sums, columns.n_sums, n_rows)
        least, greatest = sparse_range(columns.sparse_bins, first, last, columns.sparse_code, *shared)
    return gap_between(features, feature, split.below, split.above, least, greatest)


@njit_no_refcount
def pair_gap(above, missing):
    """Return the gap of a cut between two rows: the whole way, or none if the one above is missing.

    It is the same where a row is repeated: a weight must not decide which column is asked.
    """
    return 0.0 if above == missing else 1.0


@njit_no_refcount
def gap_between(features, feature, below, above, least, greatest):
    """Return how much of the way from the least to the greatest number of a node lies between two neighbours in it.

    In a small node many columns tell the rows apart. A cut through a wide gap is far from the rows on either side, so
    new rows fall on the right one. The way is that within the node: the questions above have narrowed the columns that
    matter, and beside a whole column their gaps would look small. Missing numbers are not far from any.
    """
    if above == features.missing[feature]:
        return 0.0
    first, lows, highs = features.start[feature], features.lows, features.highs
    way = 0.5 * highs[first + greatest] - 0.5 * lows[first + least]  # halves: the whole may be infinite
    gap = 0.5 * lows[first + above] - 0.5 * highs[first + below]
    return gap / way if way > 0.0 else 1.0


@njit_no_refcount
def dense_range(codes, table, at, missing, rows, own, n):
    """Return the codes of the least and the greatest number that some rows have in a column."""
    first, last = codes.start[at], codes.start[at + 1] - codes.start[at] - 1
    if missing >= 0 and codes.bin_of_code[first + last] == missing:
        last -= 1
    least, greatest = last, np.int64(0)
    for i in range(n):
        code = code_at(codes.columns, table, at, rows[i], own[i])
        if code <= last:
            least, greatest = min(least, code), max(greatest, code)
    return np.int64(codes.bin_of_code[first + least]), np.int64(codes.bin_of_code[first + greatest])


@njit_no_refcount
def sparse_range(sparse_bins, first, last, sparse_code, common, missing, sums, n_sums, n_rows):
    """Return the codes of the least and the greatest number of a sparse column with ``sparse_bins[first:last]``."""
    least, greatest, n_rare = np.int64(common), np.int64(common), 0.0
    for i in range(first, last):
        n_rare += sums[sparse_bins[i], n_sums]
    is_known = n_rare < n_rows and common != missing
    for i in range(first, last):
        code = np.int64(sparse_code[sparse_bins[i]])
        if code != missing:
            least, greatest = min(least, code) if is_known else code, max(greatest, code) if is_known else code
            is_known = True
    return least, greatest
