"""Columns become bytes, once: at most 255 bins of values, and one for missing numbers.

A bin is cut off by the middle between two values that lie side by side, so a row's code and its side of a threshold
are the same thing, in training and later. A column with few distinct values has a bin for each; one with many is cut so
that bins have about the same weight.

    values      1.0   2.0   2.0   4.0   nan
    cuts           1.5         3.0                     a code is the number of cuts below a value
    code         0     1     1     2     3             missing comes last
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from scipy import sparse

from eigenwood.compiling import njit
from eigenwood.core.boosting.columns import code_weights, codes_of, column_cuts, take_place, write_rare
from eigenwood.core.boosting.types import MOST_BINS, PER_WORD, BoostTable
from eigenwood.core.distinct import splitmix64
from eigenwood.core.memory import lazy_zeros
from eigenwood.core.threads import results_of
from eigenwood.core.tree.binning import copy_columns

LARGEST = float(np.finfo(np.float64).max)
PADDING = 16  # bins of a column are filled up to a multiple of this
RARE_SHARE = 0.5  # a column may share its place if at most this share of its rows is rare
COLUMNS_AT_ONCE = 8  # a row's numbers stand side by side in a line of the cache
EQUAL_WEIGHTS = np.empty(0)
NO_BINS = np.empty(0, dtype=np.int64)
END = np.array([LARGEST])  # behind the last cut of a feature


Result = TypeVar("Result")


class BinnedColumn(NamedTuple):
    """One column as bytes."""

    codes: np.ndarray  # (n_rows,) uint8
    counts: np.ndarray  # (n_bins,) the weight of the rows of each bin
    n_bins: int
    missing: int  # the bin of missing numbers, -1 if there are none


class FeatureCuts(NamedTuple):
    """What the bins of the features mean."""

    start: np.ndarray  # (n_features + 1,) int64: where the cuts of a feature begin
    cuts: np.ndarray  # ascending; bins 0 … b lie at or below cut b; after the last one comes the largest number
    bin_of_category: np.ndarray  # bins of the categories of all features, one after the other
    category_start: np.ndarray  # (n_features + 1,) int64
    may_miss: np.ndarray  # (n_features,) bool


# ---- what bins are -------------------------------------------------------------------------------------------------


def category_bins(counts: np.ndarray, max_bins: int) -> np.ndarray:
    """Return the bin of each category: one for each, or the rarest together in the last one."""
    if counts.size <= max_bins:
        return np.arange(counts.size)
    bins = np.full(counts.size, max_bins - 1)
    heaviest = np.sort(np.argsort(-counts, kind="stable")[: max_bins - 1])
    bins[heaviest] = np.arange(max_bins - 1)
    return bins


def learn_cuts(X, n_categories: np.ndarray, weights: np.ndarray, max_bins: int, n_threads: int) -> FeatureCuts:
    """Return what the bins of all columns are; categories stand in X by their codes."""

    def cuts_of(j: int, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
        if n_categories[j] >= 0:
            seen = np.bincount(values.astype(np.int64), weights if weights.size else None, int(n_categories[j]))
            return np.empty(0), category_bins(seen, max_bins), False
        return column_cuts(values, weights, max_bins), NO_BINS, bool(np.isnan(values.max()))

    found = for_each_column(X, cuts_of, n_threads)
    return FeatureCuts(
        start=ends_of([cuts.size + 1 for cuts, _, _ in found]),
        cuts=np.concatenate([part for cuts, _, _ in found for part in (cuts, END)]),
        bin_of_category=np.concatenate([bins for _, bins, _ in found]).astype(np.int64),
        category_start=ends_of([bins.size for _, bins, _ in found]),
        may_miss=np.array([missing for _, _, missing in found]),
    )


def ends_of(sizes: list[int] | np.ndarray) -> np.ndarray:
    """Return where each of some parts begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def for_each_column(X, work: Callable[[int, np.ndarray], Result], n_threads: int) -> list[Result]:
    """Return what is made of each column, given its number and its values; some columns are read together."""
    firsts = range(0, X.shape[1], COLUMNS_AT_ONCE)

    def some(first: int) -> list[Result]:
        columns = dense_columns(X, first, min(first + COLUMNS_AT_ONCE, X.shape[1]))
        return [work(first + k, values) for k, values in enumerate(columns)]

    return [result for results in results_of(some, firsts, n_threads) for result in results]


def dense_columns(X, first: int, last: int) -> np.ndarray:
    """Return some columns as rows of float64."""
    if not sparse.issparse(X):
        columns = np.empty((last - first, X.shape[0]))
        copy_columns(X, first, columns)
        return columns
    columns = np.zeros((last - first, X.shape[0]))
    for j in range(first, last):
        stored = slice(X.indptr[j], X.indptr[j + 1])  # csc
        columns[j - first, X.indices[stored]] = X.data[stored]
    return columns


# ---- rows → codes --------------------------------------------------------------------------------------------------


def coded_column(values: np.ndarray, cuts: FeatureCuts, j: int, weights: np.ndarray) -> BinnedColumn:
    """Return a column as bytes; weights are empty if all are 1."""
    bins = cuts.bin_of_category[cuts.category_start[j] : cuts.category_start[j + 1]]
    if bins.size > 0:
        codes = bins[values.astype(np.int64)].astype(np.uint8)
        n_bins, missing = int(bins.max()) + 1, -1
    else:
        own = cuts.cuts[cuts.start[j] : cuts.start[j + 1] - 1]
        codes, has_missing = codes_of(values, own)
        may_miss = cuts.may_miss[j] or has_missing  # perhaps in validation only
        n_bins, missing = own.size + 1 + may_miss, own.size + 1 if may_miss else -1
    return BinnedColumn(codes, code_weights(codes, weights, n_bins), n_bins, missing)


def boost_table(
    X, cuts: FeatureCuts, n_categories: np.ndarray, n_threads: int, weights: np.ndarray = EQUAL_WEIGHTS
) -> BoostTable:
    """Return rows as words of codes; a weight is a repeated row."""
    X = X.tocsc() if sparse.issparse(X) else X
    columns = for_each_column(X, lambda j, values: coded_column(values, cuts, j, weights), n_threads)
    shared = shared_columns(columns, n_categories)
    n_rows, n_features, widths = X.shape[0], X.shape[1], []
    column, first_code = np.empty(n_features, dtype=np.int64), np.zeros(n_features, dtype=np.int64)
    common = np.full(n_features, -1, dtype=np.int64)
    codes = np.zeros((-(-len(shared) // PER_WORD), n_rows), dtype=np.uint64)
    for at, features in enumerate(shared):
        own = np.zeros(n_rows, dtype=np.uint8)
        width = 1 if len(features) > 1 else columns[features[0]].n_bins
        for j in features:
            column[j] = at
            if len(features) == 1:
                own = columns[j].codes
            else:
                common[j], first_code[j] = columns[j].counts.argmax(), width
                write_rare(columns[j].codes, rare_codes(columns[j].n_bins, int(common[j]), width), own)
                width += columns[j].n_bins - 1
        write_bytes(own, at % PER_WORD, codes[at // PER_WORD])
        widths.append(width)
    return BoostTable(
        codes=codes,
        row_hash=hashes_of(codes),
        bin_start=ends_of([-(-width // PADDING) * PADDING for width in widths]),
        column=column,
        features=np.argsort(column, kind="stable"),
        feature_start=np.searchsorted(np.sort(column), PER_WORD * np.arange(codes.shape[0] + 1)),
        first_code=first_code,
        n_bins=np.array([found.n_bins for found in columns], dtype=np.int64),
        common=common,
        missing=np.array([found.missing for found in columns], dtype=np.int64),
        is_category=np.asarray(n_categories) >= 0,
    )


def shared_columns(columns: list[BinnedColumn], n_categories: np.ndarray) -> list[list[int]]:
    """Return the features that each column of the table holds: several where no row has a rare code of two."""
    able = [j for j, column in enumerate(columns) if n_categories[j] < 0 and may_share(column)]
    n_rows = columns[0].codes.size
    taken = lazy_zeros((len(able), n_rows), np.uint8)  # rows that have a rare code of a feature of a shared column
    n_taken, n_codes = np.zeros(len(able), dtype=np.int64), np.zeros(len(able), dtype=np.int64)
    shared = list[list[int]]()
    for j in sorted(able, key=lambda j: columns[j].counts.max() - columns[j].counts.sum()):
        common = columns[j].counts.argmax()
        place = take_place(columns[j].codes, common, columns[j].n_bins - 1, len(shared), taken, n_taken, n_codes)
        if place == len(shared):
            shared.append([])
        shared[place].append(j)
    alone = [[j] for j in range(len(columns)) if j not in set(able)]
    return sorted(alone + [sorted(features) for features in shared])


def may_share(column: BinnedColumn) -> bool:
    """Return whether a column may share its place with others: it has few bins, and rare rows are few."""
    weight = column.counts.sum()
    return column.n_bins - 1 <= MOST_BINS // 4 and weight - column.counts.max() <= RARE_SHARE * weight


def rare_codes(n_bins: int, common: int, first: int) -> np.ndarray:
    """Return the code of each bin of a feature in a column that it shares, from ``first`` on; 0 for the common bin."""
    codes = np.arange(first, first + n_bins)
    codes[common + 1 :] -= 1
    codes[common] = 0
    return codes.astype(np.uint8)


@njit
def write_bytes(codes, at, words):
    """Write one column of codes into its byte of the words."""
    shift = np.uint64(8 * at)
    for i in range(codes.size):
        words[i] |= np.uint64(codes[i]) << shift


@njit
def hashes_of(codes):
    """Return 64 bits for each row that follow from its codes alone."""
    hashes = np.zeros(codes.shape[1], dtype=np.uint64)
    for g in range(codes.shape[0]):
        for i in range(hashes.size):
            hashes[i] = splitmix64(hashes[i] ^ codes[g, i])
    return hashes
