"""Columns become integer codes, once: everything that grows trees reads codes, never numbers.

A code is the rank of a value among the distinct values of its column, so a cut between two codes is a cut between
two values and nothing is lost. A column with more distinct values than there may be bins is cut into so many quantile
bins.

    column     2.5   7.0   2.5   nan   4.0
    code         0     2     0     3     1        missing comes last
    lows, highs      2.5  4.0  7.0                least and greatest value behind each code

A column in which one code is common (a column of zeros and ones, a count of a rare word) is kept by its other
entries only, row by row. One pass over the rows of a node then counts all such columns together, and the common
code gets what is left.

    row        0          1     2                 sparse bins   5: column 3 has code 1
    entries    5, 9       -     5, 7                      7: column 8 has code 0
                                                          9: column 8 has code 2
"""

from __future__ import annotations

from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.distinct import splitmix64
from eigenwood.core.memory import lazy_zeros
from eigenwood.core.threads import results_of
from eigenwood.core.tree.types import CATEGORY, NUMBER, BinCodes, BinnedTable, FeatureBins

MOST_CODES = 65_536  # what 16 bits can tell apart
COLUMN_BLOCK = 8  # columns of a C-contiguous matrix that share a cache line
MOST_FEW, HASH_SIZE, HASH_BITS = 1024, 4096, np.uint64(4095)  # so few values are found by a hash table
ITSELF = np.empty(0, dtype=np.int32)
WIDE, NARROW_CODES, NARROW = 64, 256, np.uint8  # so many columns of so few codes have bytes as codes …
LARGE = 1 << 22  # … and if there are so many in all, they are kept by row
TILE = 64  # columns, and rows of them, that are turned at once
WIDEST_TABLE = 1 << 21  # whole numbers in a range up to this are ranked by a table instead of by sorting


class Ranked(NamedTuple):
    """One column as codes; ``rank`` says what they mean where they do not stand for themselves."""

    codes: np.ndarray  # (n_rows,)
    rank: np.ndarray  # empty where a code means itself
    lows: np.ndarray
    highs: np.ndarray
    counts: np.ndarray  # rows of each code, by rank
    n_missing: int
    exact: bool


class Rare(NamedTuple):
    """The entries of one column whose code is not the common one."""

    rows: np.ndarray
    codes: np.ndarray
    common: int


def binned_dense(X, n_categories, rare_share: float, n_threads: int, max_bins: int = MOST_CODES) -> BinnedTable:
    """Return a dense matrix as codes, at most ``max_bins`` for the numbers of a column.

    ``n_categories`` has, for each column, -1 for numbers, and for a category the number of its codes, which stand in
    X already. ``rare_share`` is the largest share of rare entries for which a column is kept by those only.
    """
    return joined(coded_columns(X, n_categories, rare_share, n_threads, max_bins), n_categories, X.shape[0])


def coded_columns(X, n_categories, rare_share: float, n_threads: int, max_bins: int) -> list:
    """Return the columns of a dense matrix as codes, one by one."""
    width = min(COLUMN_BLOCK, -(-X.shape[1] // n_threads))  # a few columns are shared out as well
    # narrow codes wait in memory that goes back, some columns at a time, as they are joined
    waiting = [lazy_zeros((TILE, X.shape[0]), NARROW) for _ in range(0, X.shape[1], TILE)]
    workspaces: SimpleQueue[np.ndarray] = SimpleQueue()  # fresh memory for every block would cost as much as the copy
    for _ in range(n_threads):
        workspaces.put(np.empty((width, X.shape[0])))

    def place_of(column: int) -> np.ndarray:
        return waiting[column // TILE][column % TILE]

    def block(first: int) -> list:
        workspace = workspaces.get()
        try:
            return code_columns(workspace, first)
        finally:
            workspaces.put(workspace)

    def code_columns(workspace: np.ndarray, first: int) -> list:
        columns = workspace[: min(width, X.shape[1] - first)]
        copy_columns(X, first, columns)
        return [
            kept(columns[i], n_categories[first + i], rare_share, max_bins, place_of(first + i))
            for i in range(columns.shape[0])
        ]

    blocks = results_of(block, range(0, X.shape[1], width), n_threads)
    return [column for part in blocks for column in part]


def binned_sparse(X, n_categories, n_threads: int, max_bins: int = MOST_CODES) -> BinnedTable:
    """Return a csc matrix as codes; zero is the common value of every column, and nothing is made dense."""

    def column(j: int) -> tuple:
        stored = slice(X.indptr[j], X.indptr[j + 1])
        return from_stored(X.data[stored], X.indices[stored], X.shape[0], max_bins)

    return joined(results_of(column, range(X.shape[1]), n_threads), n_categories, X.shape[0])


def from_stored(values, rows, n_rows: int, max_bins: int) -> tuple:
    """Return a sparse column: the codes of its values and of zero, and the entries that are not zero."""
    if rows.size == n_rows and not (values == 0).any():  # no zero anywhere
        column = np.empty(n_rows)
        column[rows] = values
        return kept(column, -1, 1.0, max_bins, np.empty(n_rows, dtype=NARROW))
    found = ranked(np.append(values.astype(np.float64), 0.0), -1, max_bins)
    codes = found.codes if found.rank.size == 0 else found.rank[found.codes]
    common = int(codes[-1])
    rare = codes[:-1] != common
    return without_codes(found), Rare(rows[rare].astype(np.int32), codes[:-1][rare].astype(np.int32), common)


def kept(values, n_categories: int, rare_share: float, max_bins: int, narrow) -> tuple:
    """Return a column with all its codes, written to ``narrow`` if bytes can hold them, or with its rare entries only
    if those are few.
    """
    found = ranked(values, n_categories, max_bins)
    common = int(found.counts.argmax())
    n_rare = values.size - int(found.counts[common])
    if n_rare > rare_share * values.size and found.counts.size <= MOST_CODES:
        return with_narrow_codes(found, narrow), None
    rows, codes = rare_entries(found.codes, found.rank, common, n_rare)
    return without_codes(found), Rare(rows, codes, common)


def with_narrow_codes(found: Ranked, narrow) -> Ranked:
    """Return a column with codes that stand for themselves, in few bytes: all columns wait until they are joined."""
    codes = found.codes if found.rank.size == 0 else found.rank[found.codes]
    if found.counts.size > NARROW_CODES:
        return found._replace(codes=codes.astype(np.uint16), rank=ITSELF)
    narrow[:] = codes
    return found._replace(codes=narrow, rank=ITSELF)


def without_codes(found: Ranked) -> Ranked:
    """Return a column without its codes."""
    return found._replace(codes=ITSELF, rank=ITSELF)


@njit
def rare_entries(codes, rank, common, n_rare):
    """Return the rows whose code is not the common one, and their codes."""
    rows, others = np.empty(n_rare, dtype=np.int32), np.empty(n_rare, dtype=np.int32)
    n = 0
    for i in range(codes.size):
        code = np.int32(codes[i] if rank.size == 0 else rank[codes[i]])
        if code != common:
            rows[n] = i
            others[n] = code
            n += 1
    return rows, others


@njit
def copy_columns(X, first, columns):
    """Write some columns of a C-contiguous matrix as float64 rows: a cache line is read once for all of them."""
    for i in range(X.shape[0]):
        for j in range(columns.shape[0]):
            columns[j, i] = X[i, first + j]


def ranked(values, n_categories: int, max_bins: int) -> Ranked:
    """Return the ranks of a column's values; missing numbers come last."""
    if n_categories >= 0:
        names = np.arange(n_categories, dtype=np.float64)
        codes = values.astype(np.int32)
        return Ranked(codes, ITSELF, names, names, np.bincount(codes, minlength=n_categories), 0, True)
    codes, seen, counts = few_ranks(values, values.view(np.uint64))
    if 0 < seen.size <= max_bins:
        return ranked_few(codes, seen, counts)
    lowest, width = whole_range(values)
    if 0 < width <= min(WIDEST_TABLE, 4 * values.size + MOST_CODES):
        codes, distinct, counts = table_ranks(values, lowest, width)
        n_missing = 0
    else:
        n_missing = int(np.isnan(values).sum())
        codes, distinct = sorted_ranks(values, np.argsort(values), n_missing)
        counts = np.bincount(codes, minlength=distinct.size + (n_missing > 0))
    n_bins = min(max_bins, MOST_CODES - (n_missing > 0))
    if distinct.size <= n_bins:
        return Ranked(codes, ITSELF, distinct, distinct, counts, n_missing, True)
    return quantile_bins(codes, distinct, counts, n_missing, n_bins)


def ranked_few(codes, seen, counts) -> Ranked:
    """Return a column of a few values, whose codes are numbered as they were seen."""
    order = np.argsort(seen)
    n_missing = int(counts[order[-1]]) if np.isnan(seen[order[-1]]) else 0
    distinct = seen[order][: seen.size - (n_missing > 0)]
    return Ranked(codes, np.argsort(order).astype(np.int32), distinct, distinct, counts[order], n_missing, True)


@njit
def few_ranks(values, bits):
    """Return codes in the order of first appearance, the values and their counts; no values if there are too many.

    ``bits`` are those of the values, by which they are found in a hash table.
    """
    table = np.full(HASH_SIZE, -1, dtype=np.int32)
    seen, counts = np.empty(MOST_FEW), np.zeros(MOST_FEW, dtype=np.int64)
    codes = np.empty(values.size, dtype=np.uint16)
    n_seen, missing = 0, -1
    for i in range(values.size):
        value = values[i]
        if np.isnan(value):
            if missing < 0 and n_seen < MOST_FEW:
                missing, seen[n_seen] = n_seen, value
                n_seen += 1
            code = missing
        else:
            place = np.int64(splitmix64(bits[i]) & HASH_BITS) if value != 0.0 else 0  # 0 and -0 are one value
            while table[place] >= 0 and seen[table[place]] != value:
                place = (place + 1) % HASH_SIZE
            if table[place] < 0 and n_seen < MOST_FEW:
                table[place], seen[n_seen] = n_seen, value
                n_seen += 1
            code = table[place]
        if code < 0:
            return codes[:0], seen[:0], counts[:0]
        codes[i] = code
        counts[code] += 1
    return codes, seen[:n_seen], counts[:n_seen]


@njit
def whole_range(values):
    """Return the least of whole numbers and how many lie from it to the greatest; 0 unless all are whole."""
    lowest, highest, n_other = WIDEST_TABLE * 1024, -WIDEST_TABLE * 1024, 0
    for value in values:
        # what is missing or far away counts as a fraction; without branches this loop is vectorised
        near = value if abs(value) < WIDEST_TABLE * 1024 else 0.5
        integer = int(near)
        n_other += near != integer
        lowest = min(lowest, integer)
        highest = max(highest, integer)
    return lowest, highest - lowest + 1 if n_other == 0 else 0


@njit
def table_ranks(values, lowest, width):
    """Return the codes, the distinct values and their counts, of whole numbers that lie in a narrow range."""
    rank = np.zeros(width, dtype=np.int32)
    for value in values:
        rank[int(value) - lowest] += 1
    n_distinct = 0
    for i in range(width):
        n_distinct += rank[i] > 0
    distinct, counts = np.empty(n_distinct), np.empty(n_distinct, dtype=np.int64)
    n = 0
    for i in range(width):
        if rank[i] > 0:
            distinct[n], counts[n] = lowest + i, rank[i]
            rank[i] = n
            n += 1
    codes = np.empty(values.size, dtype=np.int32)
    for i in range(values.size):
        codes[i] = rank[int(values[i]) - lowest]
    return codes, distinct, counts


@njit
def sorted_ranks(values, order, n_missing):
    """Return the codes and distinct values, by the order in which the values stand sorted (missing ones last)."""
    codes = np.empty(values.size, dtype=np.int32)
    distinct = np.empty(values.size - n_missing)
    n_distinct = 0
    for i in range(values.size - n_missing):
        value = values[order[i]]
        if n_distinct == 0 or value != distinct[n_distinct - 1]:
            distinct[n_distinct] = value
            n_distinct += 1
        codes[order[i]] = n_distinct - 1
    for i in range(values.size - n_missing, values.size):
        codes[order[i]] = n_distinct
    return codes, distinct[:n_distinct].copy()


def quantile_bins(codes, distinct, counts, n_missing: int, n_bins: int) -> Ranked:
    """Return codes of at most ``n_bins`` bins that hold about equally many rows; equal values stay together."""
    up_to = np.cumsum(counts[: distinct.size])
    bins = ((up_to - 1) * n_bins) // up_to[-1]
    _, first, bins = np.unique(bins, return_index=True, return_inverse=True)
    last = np.append(first[1:], distinct.size) - 1
    new_codes = np.append(bins, first.size).astype(np.int32)[codes]
    return Ranked(new_codes, ITSELF, distinct[first], distinct[last], np.bincount(new_codes), n_missing, False)


def stored_codes(columns: list, dense: list, n_rows: int, dtype) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes of some columns by column and by row; one of the two tables has no rows."""
    if dtype == NARROW and len(dense) * n_rows >= LARGE:
        return np.empty((len(dense), 0), dtype=dtype), stored_by_row(columns, dense, n_rows)
    return stored_by_column(columns, dense, n_rows, dtype), np.empty((0, len(dense)), dtype=NARROW)


def stored_by_column(columns: list, dense: list, n_rows: int, dtype) -> np.ndarray:
    """Return the codes of some columns one below the other; the columns lose theirs, to save memory."""
    table = np.empty((len(dense), n_rows), dtype=dtype)
    for i, j in enumerate(dense):
        found, _ = columns[j]
        table[i], columns[j] = found.codes, (without_codes(found), None)
    return table


def stored_by_row(columns: list, dense: list, n_rows: int) -> np.ndarray:
    """Return the codes of columns as one table by row."""
    table = np.empty((n_rows, len(dense)), dtype=NARROW)
    for first in range(0, len(dense), TILE):
        write_by_row(stored_by_column(columns, dense[first : first + TILE], n_rows, NARROW), first, table)
    return table


@njit
def write_by_row(columns, at, table):
    """Write some columns side by side from place ``at`` on, a few rows at a time: those stay in the cache."""
    for first in range(0, table.shape[0], TILE):
        for j in range(columns.shape[0]):
            for i in range(first, min(first + TILE, table.shape[0])):
                table[i, at + j] = columns[j, i]


def joined(columns: list, n_categories, n_rows: int) -> BinnedTable:
    """Return the columns as one table."""
    dense = [j for j, (_, rare) in enumerate(columns) if rare is None]
    sparse_columns = [j for j, (_, rare) in enumerate(columns) if rare is not None]
    sizes = np.array([found.lows.size for found, _ in columns])
    n_codes = sizes + np.array([found.n_missing > 0 for found, _ in columns])
    is_narrow = len(dense) >= WIDE and n_codes[dense].max() <= NARROW_CODES
    by_column, by_row = stored_codes(columns, dense, n_rows, NARROW if is_narrow else np.uint16)
    sparse_feature, sparse_code, entry_start, entries = entries_by_row(sparse_columns, columns, n_codes, n_rows)
    codes = BinCodes(
        by_column,
        by_row,
        np.array(dense, dtype=np.int32),
        starts(n_codes[dense]),
        np.concatenate([np.arange(n_codes[j], dtype=np.int32) for j in dense] or [np.empty(0, np.int32)]),
        entry_start,
        entries,
        sparse_feature,
        sparse_code,
    )
    lows, exact = np.concatenate([found.lows for found, _ in columns]), np.array([found.exact for found, _ in columns])
    features = FeatureBins(
        np.where(np.asarray(n_categories) >= 0, CATEGORY, NUMBER).astype(np.int8),
        np.array([found.lows.size if found.n_missing else -1 for found, _ in columns], dtype=np.int32),
        np.array([-1 if rare is None else rare.common for _, rare in columns], dtype=np.int32),
        starts(sizes),
        lows,
        lows if exact.all() else np.concatenate([found.highs for found, _ in columns]),
        exact,
    )
    return BinnedTable(codes, features)


def starts(sizes) -> np.ndarray:
    """Return where each of several pieces begins when they stand one after the other, and where the last ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def entries_by_row(sparse_columns: list, columns: list, n_codes, n_rows: int) -> tuple:
    """Return the sparse bins, and the entries of all sparse columns row by row."""
    sparse_feature = np.repeat(np.array(sparse_columns, dtype=np.int32), n_codes[sparse_columns])
    sparse_code = np.concatenate(
        [np.arange(n_codes[j], dtype=np.int32) for j in sparse_columns] or [np.empty(0, np.int32)]
    )
    first_sparse_bin = starts(n_codes[sparse_columns])
    per_row = np.zeros(n_rows + 1, dtype=np.int64)
    for j in sparse_columns:
        count_rows(columns[j][1].rows, per_row)
    entry_start = np.cumsum(per_row)
    entries = np.empty(entry_start[-1], dtype=np.int32)
    place = entry_start[:-1].copy()
    for i, j in enumerate(sparse_columns):
        write_entries(columns[j][1].rows, columns[j][1].codes, first_sparse_bin[i], place, entries)
    return sparse_feature, sparse_code, entry_start, entries


@njit
def count_rows(rows, per_row):
    """Add the entries of one column to the counts, which stand one place further on."""
    for row in rows:
        per_row[row + 1] += 1


@njit
def write_entries(rows, codes, first_sparse_bin, place, entries):
    """Write the entries of one column to the next free place of each row."""
    for i in range(rows.size):
        entries[place[rows[i]]] = first_sparse_bin + codes[i]
        place[rows[i]] += 1
