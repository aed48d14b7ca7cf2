"""Of equally good cuts that leave nothing to be asked, the one through the widest gap is taken: how wide a gap is."""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit_no_refcount
from eigenwood.core.tree.split.histogram import code_at, code_of
from eigenwood.core.tree.types import CATEGORY

NO_GAP = -1.0  # it was not measured


@njit_no_refcount
def leaves_nothing(cost, node, tie):
    """Return whether a cut leaves nothing to be asked: both of its sides are pure."""
    return node.cost - cost >= node.weight * node.impurity - tie


@njit_no_refcount
def gap_of(codes, features, sample, ws, n_sums, candidate, feature, below, above, n_bins):
    """Return ``gap_between`` the lines ``below`` and ``above`` of a column; categories are one step apart."""
    if features.kind[feature] == CATEGORY:
        return 1.0 / (n_bins - 1)
    common, n_columns, n_rows = features.common[feature], codes.feature.size, sample.rows.size
    missing, first_code = np.int64(features.missing[feature]), codes.start[candidate] if candidate < n_columns else -1
    low = code_of(below, first_code, codes.bin_of_code, codes.sparse_code, common)
    high = code_of(above, first_code, codes.bin_of_code, codes.sparse_code, common)
    if n_rows == 2:
        return pair_gap(high, missing)
    if candidate < n_columns:
        least, greatest = dense_range(codes, codes.by_row, candidate, missing, sample.rows, sample.rows, n_rows)
    else:
        first, last = ws.group[candidate - n_columns], ws.group[candidate - n_columns + 1]
        shared = (common, missing, ws.sparse_sums, n_sums, n_rows)
        least, greatest = sparse_range(ws.sparse_bins, first, last, codes.sparse_code, *shared)
    return gap_between(features, feature, low, high, least, greatest)


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
    """Return the same for a sparse column, which has ``sparse bins[first:last]`` in the node."""
    least, greatest, n_rare = np.int64(common), np.int64(common), 0.0
    for i in range(first, last):
        n_rare += sums[sparse_bins[i], n_sums]
    stats = n_rare < n_rows and common != missing
    for i in range(first, last):
        code = np.int64(sparse_code[sparse_bins[i]])
        if code != missing:
            least, greatest = min(least, code) if stats else code, max(greatest, code) if stats else code
            stats = True
    return least, greatest


@njit_no_refcount
def small_gap(codes, features, ws, at, feature, below, above, start, n):
    """Return ``gap_between`` the two sides of a cut."""
    missing = np.int64(features.missing[feature])
    if n == 2:
        return pair_gap(above, missing)
    if at < codes.feature.size:
        own = ws.own[start : start + n]
        least, greatest = dense_range(codes, ws.table, at, missing, ws.node_rows, own, n)
    else:
        first, last = ws.group[at - codes.feature.size], ws.group[at - codes.feature.size + 1]
        shared = (features.common[feature], missing, ws.sparse_sums, ws.total.size, n)
        least, greatest = sparse_range(ws.sparse_bins, first, last, ws.sparse_code, *shared)
    return gap_between(features, feature, below, above, least, greatest)
