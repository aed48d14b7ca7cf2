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
from eigenwood.core.boosting.types import MOST_BINS, PER_WORD, BoostTable
from eigenwood.core.distinct import splitmix64
from eigenwood.core.threads import results_of
from eigenwood.core.tree.binning import copy_columns

LARGEST = float(np.finfo(np.float64).max)
PADDING = 16  # bins of a column are filled up to a multiple of this
RARE_SHARE = 0.5  # a column may share its place if at most this share of its rows is rare
COLUMNS_AT_ONCE = 8  # a row's numbers stand side by side in a line of the cache
STRIP = 256  # searches side by side
MOST_TRIED = 32  # shared columns that are tried for another feature
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


def column_cuts(values: np.ndarray, weights: np.ndarray, max_bins: int) -> np.ndarray:
    """Return the cuts between the bins of a column of numbers; weights are empty if all are 1."""
    ordered = np.sort(values)  # missing ones come last
    distinct, counts = distinct_values(ordered)
    if distinct.size > max_bins:
        if weights.size > 0:
            counts = np.bincount(np.searchsorted(distinct, values[values == values]), weights[values == values])
        last = last_of_bins(counts, max_bins)
    else:
        last = np.arange(distinct.size)
    return middles(distinct, last[:-1])


def distinct_values(ordered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct numbers of a sorted column, and how often each occurs."""
    numbers = ordered[: np.searchsorted(ordered, np.nan)]  # missing ones are sorted behind all others
    if numbers.size == 0:
        return numbers, numbers
    changes = np.flatnonzero(numbers[1:] != numbers[:-1])
    ends = np.empty(changes.size + 2, dtype=np.int64)  # where each value ends, and where the first begins
    ends[0], ends[1:-1], ends[-1] = -1, changes, numbers.size - 1
    return numbers[ends[1:]], (ends[1:] - ends[:-1]).astype(np.float64)


def last_of_bins(counts: np.ndarray, n_bins: int) -> np.ndarray:
    """Return the last value of each bin, so that bins have about the same weight."""
    up_to = np.cumsum(counts)
    bins = np.minimum(np.ceil(up_to * n_bins / up_to[-1]), n_bins)  # rounding may lead beyond the last one
    is_last = np.ones(bins.size, dtype=bool)
    is_last[:-1] = bins[1:] != bins[:-1]
    return np.flatnonzero(is_last)


def middles(distinct: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return the middle between each of these values and the next; the value itself if there is no number between."""
    below, above = distinct[last], distinct[last + 1]
    middle = 0.5 * below + 0.5 * above
    return np.where((below <= middle) & (middle < above), middle, below)


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
    codes = np.empty(values.size, dtype=np.uint8)
    bins = cuts.bin_of_category[cuts.category_start[j] : cuts.category_start[j + 1]]
    if bins.size > 0:
        codes[:] = bins[values.astype(np.int64)]
        n_bins, missing = int(bins.max()) + 1, -1
    else:
        own = cuts.cuts[cuts.start[j] : cuts.start[j + 1] - 1]
        write_codes(values, own, codes)
        may_miss = cuts.may_miss[j] or codes.max() > own.size  # perhaps in validation only
        n_bins, missing = own.size + 1 + may_miss, own.size + 1 if may_miss else -1
    counts = np.bincount(codes, weights if weights.size else None, minlength=n_bins)
    return BinnedColumn(codes, counts, n_bins, missing)


def write_codes(values: np.ndarray, cuts: np.ndarray, codes: np.ndarray) -> None:
    """Write how many cuts lie below each value; a missing one gets the number after the last bin."""
    n_steps = int(cuts.size).bit_length()
    padded = np.full((1 << n_steps) - 1, np.inf)
    padded[: cuts.size] = cuts
    search_by_halves(values, padded, n_steps, cuts.size + 1, codes)


@njit
def search_by_halves(values, cuts, n_steps, missing, codes):
    """Write how many cuts lie below each value, for 2ⁿ - 1 cuts: all searches of a strip go step by step."""
    low = np.empty(STRIP, dtype=np.int64)
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
                own |= rare_codes(columns[j].n_bins, int(common[j]), width)[columns[j].codes]
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
    alone, places = [], []  # features of a column; which rows are taken, and how many codes
    rare = {
        j: np.flatnonzero(column.codes != column.counts.argmax())
        for j, column in enumerate(columns)
        if n_categories[j] < 0 and may_share(column)
    }
    shared: list[tuple[list[int], np.ndarray, list[int]]] = []  # features, rows that are taken, codes and taken rows
    for j in sorted(rare, key=lambda j: columns[j].counts.max() - columns[j].counts.sum()):
        n_codes = columns[j].n_bins - 1
        for place in shared[-MOST_TRIED:]:
            features, taken, used = place
            has_room = used[0] + n_codes <= MOST_BINS and used[1] + rare[j].size <= taken.size
            if has_room and not taken[rare[j]].any():
                break
        else:
            features, taken, used = [], np.zeros(columns[j].codes.size, dtype=bool), [1, 0]
            shared.append((features, taken, used))
        features.append(j)
        taken[rare[j]] = True
        used[0], used[1] = used[0] + n_codes, used[1] + rare[j].size
    alone = [[j] for j in range(len(columns)) if j not in rare]
    places = [sorted(features) for features, _, _ in shared]
    return sorted(alone + places)


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
