"""What rounds over stumps share: the rows, the sums by bin, and the jobs of a round in blocks."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from eigenwood.core.adaboost.table import StumpTable
from eigenwood.core.crew import new_crew
from eigenwood.core.tree.binning import starts

FIRST_BITS = 52  # of the sum of all D_i at first and after each renewal
ROW_BLOCK, BIN_BLOCK = 4096, 4096  # rows, and bins, of a task
FEW_CODES = 1 << 14  # codes of all rows: fewer are read before a helper has come
BINS_OF_A_FEATURE = 4  # so many bins take as long as all else that is done for a feature

# what a job is about, in whole numbers, and in real ones
KIND, N_THREADS, FEATURE, CODE, MISSING_LEFT, LEFT, RIGHT = range(7)
ALPHA, FACTOR = range(2)
# the best stump of a block of features
GAIN, CUT_FEATURE, CUT_CODE, CUT_MISSING_LEFT, CUT_LEFT, CUT_RIGHT = range(6)


class Rows(NamedTuple):
    """What is known of each row."""

    classes: np.ndarray  # (n_rows,) int32
    counts: np.ndarray  # (n_rows,) int64: w_i
    factors: np.ndarray  # (n_rows,) int64: q_i
    lost: np.ndarray  # (n_rows,) float64: g_i
    strongest: np.ndarray  # (n_rows,) float64: o_i; no rows for two classes, where it is g_i
    others: np.ndarray  # (n_rows, n_classes): the votes for each wrong class; no rows for two classes


class Workspace(NamedTuple):
    """Sums and notes that rounds share."""

    sums: np.ndarray  # (n_bins, 1 or n_classes) int64
    flat_sums: np.ndarray  # the same in one row
    bin_counts: np.ndarray  # (n_bins,) int64: the sum of w_i in each bin
    totals: np.ndarray  # (1 or n_classes,) int64
    total: np.ndarray  # (1,) int64: the sum of all D_i
    n_counted: np.ndarray  # (1,) int64: the sum of all w_i
    pred: np.ndarray  # int32: the class that a stump says of each code of a column
    pred_of_row: np.ndarray  # (n_rows,) int32
    wrong: np.ndarray  # (n_rows,) int32: the rows of each block that a stump gets wrong, at the block's begin
    change: np.ndarray  # (n_rows,) int64: what their signed weights rose by
    votes: np.ndarray  # (2,): A, and the largest g_i + o_i


class Job(NamedTuple):
    """What all who work at a job need to know, and what they tell of each block of rows or of features."""

    crew: np.ndarray
    whole: np.ndarray  # (7,) int64
    real: np.ndarray  # (2,)
    n_wrong: np.ndarray  # (n_row_blocks,) int64
    bad: np.ndarray  # (n_row_blocks,) int64: the sum of w_i of rows whose margin is not above 0
    most: np.ndarray  # (n_row_blocks,): the largest g_i + o_i of rows that were wrong
    raised: np.ndarray  # (n_row_blocks,) int64: what the sum of all D_i rose by
    raised_by_class: np.ndarray  # (n_row_blocks, 1 or n_classes) int64: the same, signed or by class
    feature_start: np.ndarray  # (n_feature_blocks + 1,) int64
    cuts: np.ndarray  # (n_feature_blocks, 6) int64
    left: np.ndarray  # (n_feature_blocks, 1 or n_classes) int64: sums up to a cut


class StumpBoosting(NamedTuple):
    """All that rounds are made of, and where."""

    table: StumpTable
    rows: Rows
    work: Workspace
    job: Job


def new_boosting(
    table: StumpTable, classes: np.ndarray, counts: np.ndarray, n_classes: int, n_threads: int
) -> StumpBoosting:
    """Return everything as it is before the first round."""
    n_sums = 1 if n_classes == 2 else n_classes
    if table.words.size + table.entries.size < FEW_CODES:
        n_threads = 1
    rows, work = new_rows(classes, counts, n_classes), new_workspace(table, counts, n_sums)
    return StumpBoosting(table, rows, work, new_job(table, n_sums, n_threads))


def new_rows(classes: np.ndarray, counts: np.ndarray, n_classes: int) -> Rows:
    """Return rows before the first round."""
    n_rows, n_many = classes.size, classes.size if n_classes > 2 else 0
    bits = FIRST_BITS - math.ceil(math.log2(int(counts.sum()) + 1))
    return Rows(
        classes.astype(np.int32),
        counts,
        np.full(n_rows, 1 << bits, dtype=np.int64),
        np.zeros(n_rows),
        np.zeros(n_many),
        np.zeros((n_many, n_classes)),
    )


def new_workspace(table: StumpTable, counts: np.ndarray, n_sums: int) -> Workspace:
    """Return room for sums."""
    n_rows, sums = counts.size, np.zeros((int(table.bin_start[-1]), n_sums), dtype=np.int64)
    return Workspace(
        sums,
        sums.reshape(-1),
        np.zeros(sums.shape[0], dtype=np.int64),
        np.zeros(n_sums, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.array([counts.sum()], dtype=np.int64),
        np.zeros(most_codes(table), dtype=np.int32),
        np.zeros(n_rows, dtype=np.int32),
        np.zeros(n_rows, dtype=np.int32),
        np.zeros(n_rows, dtype=np.int64),
        np.zeros(2),
    )


def most_codes(table: StumpTable) -> int:
    """Return how many codes a column, or a feature without one, has at most."""
    own = np.diff(table.bin_start).max()
    if table.column_start.size == 0:
        return int(own)
    has_column = table.column >= 0
    last = np.zeros(table.column_start.size, dtype=np.int64)
    np.maximum.at(last, table.column[has_column], table.bin_start[1:][has_column])
    return int(max(own, (last - table.column_start).max()))


def new_job(table: StumpTable, n_sums: int, n_threads: int) -> Job:
    """Return room for what blocks tell."""
    n_blocks, feature_start = -(-(table.entry_start.size - 1) // ROW_BLOCK), feature_blocks(table.bin_start)
    n_feature_blocks, whole = feature_start.size - 1, np.zeros(7, dtype=np.int64)
    whole[N_THREADS] = n_threads
    return Job(
        crew=new_crew(),
        whole=whole,
        real=np.zeros(2),
        n_wrong=np.zeros(n_blocks, dtype=np.int64),
        bad=np.zeros(n_blocks, dtype=np.int64),
        most=np.zeros(n_blocks),
        raised=np.zeros(n_blocks, dtype=np.int64),
        raised_by_class=np.zeros((n_blocks, n_sums), dtype=np.int64),
        feature_start=feature_start,
        cuts=np.zeros((n_feature_blocks, 6), dtype=np.int64),
        left=np.zeros((n_feature_blocks, n_sums), dtype=np.int64),
    )


def feature_blocks(bin_start: np.ndarray) -> np.ndarray:
    """Return where blocks of features begin and end that have about equally many bins."""
    up_to = bin_start[:-1] + BINS_OF_A_FEATURE * np.arange(bin_start.size - 1)
    return starts(np.unique(up_to // BIN_BLOCK, return_counts=True)[1])
