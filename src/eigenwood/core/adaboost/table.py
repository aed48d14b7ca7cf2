"""What a search for stumps reads: every column as codes, the rank of a value among those of its column.

A column in which one code is common is kept by its other entries only, twice: by row, to add the weights of some rows
to the sums of all such columns, and by column, to tell which rows a stump sends to which side; unless it is part of a
bundle (packing.py). Each code of each column has a bin in one long histogram:

    feature      0           1       2                  bin_start  0  3  5  9
    bins         0  1  2     3  4    5  6  7  8         code 1 of feature 2 is bin 6; missing numbers have the last bin
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.compiling import njit
from eigenwood.core.adaboost.packing import bundle_codes, bundle_numbers, packed, worthy_bundles
from eigenwood.core.sorting import sorted_order
from eigenwood.core.tree.binning import MOST_CODES, coded_columns, starts


class StumpTable(NamedTuple):
    """The coded rows; see the picture above."""

    words: np.ndarray  # (n_pairs, n_rows) uint32: two columns of codes in each
    column: np.ndarray  # (n_features,) int64: which of these columns has a feature; -1 if only rare entries are stored
    column_start: np.ndarray  # (n_columns,) int64: the bin of a column's code 0
    bin_start: np.ndarray  # (n_features + 1,) int64
    missing: np.ndarray  # (n_features,) int64: the code of missing numbers; -1 where none is missing
    common: np.ndarray  # (n_features,) int64: the code that is not stored; -1 where all are
    is_category: np.ndarray  # (n_features,) bool
    entry_start: np.ndarray  # (n_rows + 1,) int64
    entries: np.ndarray  # int32: bins of the rare codes of each row, of features without a column
    rare_start: np.ndarray  # (n_features + 1,) int64
    rare_rows: np.ndarray  # int32: the same entries by feature, their rows …
    rare_bins: np.ndarray  # int32: … and their bins


class RareEntries(NamedTuple):
    """The rare entries of all features that are kept by them."""

    start: np.ndarray  # (n_features + 1,)
    rows: np.ndarray
    bins: np.ndarray


class BinValues(NamedTuple):
    """The least and the greatest value behind each code of a feature, missing numbers left out."""

    start: np.ndarray  # (n_features + 1,) int64
    lows: np.ndarray
    highs: np.ndarray


class CodedTable(NamedTuple):
    """Codes, and what they mean."""

    table: StumpTable
    values: BinValues


# ---- dense matrices ------------------------------------------------------------------------------------------------


def coded_dense(X, n_categories, rare_share: float, n_threads: int) -> CodedTable:
    """Return a dense matrix as codes; ``n_categories`` has, for each column, -1 for numbers, else how many it has."""
    columns = coded_columns(X, n_categories, rare_share, n_threads, MOST_CODES)
    found, rare = [column[0] for column in columns], [column[1] for column in columns]
    is_stored = np.array([part is None for part in rare])
    sizes, missing = np.array([part.lows.size for part in found]), np.array([part.n_missing > 0 for part in found])
    bin_start = starts(sizes + missing)
    none = np.empty(0, dtype=np.int32)
    parts = [(none, none) if part is None else (part.rows, part.codes) for part in rare]
    entries = RareEntries(
        starts([rows.size for rows, _ in parts]),
        np.concatenate([rows for rows, _ in parts]),
        np.concatenate([codes + np.int32(first) for (_, codes), first in zip(parts, bin_start, strict=False)]),
    )
    table = table_of(
        [part.codes if stored else None for part, stored in zip(found, is_stored, strict=True)],
        bin_start,
        np.where(missing, sizes, -1),
        np.array([-1 if part is None else part.common for part in rare]),
        np.asarray(n_categories) >= 0,
        entries,
        X.shape[0],
    )
    lows, highs = (np.concatenate([getattr(part, name) for part in found]) for name in ("lows", "highs"))
    return CodedTable(table, BinValues(starts(sizes), lows, highs))


def table_of(codes: list, bin_start, missing, common, is_category, rare: RareEntries, n_rows: int) -> StumpTable:
    """Return the table of features that have all their ``codes``, or None and rare entries."""
    column = np.full(len(codes), -1)
    stored = [feature for feature, own in enumerate(codes) if own is not None]
    column[stored] = np.arange(len(stored))
    columns, first_bins = [codes[feature] for feature in stored], [bin_start[feature] for feature in stored]
    numbers = bundle_numbers(rare.start, rare.rows, bin_start, common, n_rows)
    for features in worthy_bundles(numbers, np.diff(rare.start), bin_start, n_rows):
        column[features] = len(columns)
        own, first = slice(rare.start[features[0]], rare.start[features[-1] + 1]), bin_start[features[0]]
        columns.append(bundle_codes(rare.rows[own], rare.bins[own], first, common[features[0]], n_rows))
        first_bins.append(first)
    has_none = np.repeat(column < 0, np.diff(rare.start))
    rare_rows, rare_bins = rare.rows[has_none], rare.bins[has_none]
    return StumpTable(
        packed(columns, n_rows),
        column,
        np.array(first_bins, dtype=np.int64),
        bin_start,
        missing,
        common,
        is_category,
        *by_row(rare_rows, rare_bins, n_rows),
        starts(np.where(column < 0, np.diff(rare.start), 0)),
        rare_rows,
        rare_bins,
    )


def by_row(rare_rows, rare_bins, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where the entries of each row begin, and their bins."""
    entry_start = starts(np.bincount(rare_rows, minlength=n_rows))
    entries = np.empty(rare_rows.size, dtype=np.int32)
    write_by_row(rare_rows, rare_bins, entry_start[:-1].copy(), entries)
    return entry_start, entries


@njit
def write_by_row(rare_rows, rare_bins, place, entries):
    """Write each entry to the next free place of its row."""
    for k in range(rare_rows.size):
        entries[place[rare_rows[k]]] = rare_bins[k]
        place[rare_rows[k]] += 1


# ---- sparse matrices -----------------------------------------------------------------------------------------------


def coded_sparse(X: sparse.csc_array) -> CodedTable:
    """Return a csc matrix of numbers as codes; what is stored stays sparse, however many columns there are."""
    n_rows, n_features = X.shape
    codes = np.empty(X.data.size, dtype=np.int32)
    sizes, missing, common = (np.empty(n_features, dtype=np.int64) for _ in range(3))
    values = np.empty(X.data.size + n_features)
    indptr = X.indptr.astype(np.int64)
    n_values = code_stored(X.data.astype(np.float64), indptr, n_rows, codes, sizes, missing, common, values)
    bin_start = starts(sizes + (missing >= 0))
    feature = np.repeat(np.arange(n_features), np.diff(indptr))
    is_rare = codes != common[feature]
    rare = RareEntries(
        starts(np.bincount(feature[is_rare], minlength=n_features)),
        X.indices[is_rare].astype(np.int32),
        (bin_start[feature] + codes)[is_rare].astype(np.int32),
    )
    no_codes: list = [None] * n_features
    no_category = np.zeros(n_features, dtype=bool)
    table = table_of(no_codes, bin_start, missing, common, no_category, rare, n_rows)
    lows = values[:n_values].copy()
    return CodedTable(table, BinValues(starts(sizes), lows, lows))


@njit
def code_stored(data, indptr, n_rows, codes, sizes, missing, common, values):
    """Write the code of each stored entry, and what is known of each column; return how many values there are."""
    n_values = 0
    for j in range(sizes.size):
        first, last = indptr[j], indptr[j + 1]
        column = code_column(data[first:last], last - first < n_rows, codes[first:last], values[n_values:])
        sizes[j], missing[j], common[j] = column
        n_values += column[0]
    return n_values


@njit
def code_column(data, has_zeros, codes, values):
    """Write codes and values of a column; return the number of its values, the code of missing ones and the common one.

    What is not stored is zero and common. If all is stored, its most frequent code is common.
    """
    order = sorted_order(np.where(np.isnan(data), np.inf, data))
    n, count, most, n_missing = 0, 0, 0, 0
    common = zero = -1
    for place in order:
        value = data[place]
        if np.isnan(value):
            codes[place] = -1
            n_missing += 1
            continue
        if has_zeros and zero < 0 and value >= 0.0:  # where the zeros that are not stored belong
            values[n], zero = 0.0, n
            n += 1
        if n == 0 or value != values[n - 1]:
            values[n] = value
            n += 1
            count = 0
        codes[place] = n - 1
        count += 1
        if count > most:
            most, common = count, n - 1
    if has_zeros and zero < 0:
        values[n], zero = 0.0, n
        n += 1
    for place in range(codes.size):
        if codes[place] < 0:
            codes[place] = n
    if n_missing > most:
        common = n
    return n, (n if n_missing > 0 else -1), (zero if has_zeros else common)
