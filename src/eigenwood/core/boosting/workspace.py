"""Memory that rounds of boosting share, made once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.core.boosting.histogram import NARROW_ROWS
from eigenwood.core.boosting.types import LIST_WORDS, MOST_BINS, PER_WORD, BoostParams, BoostTable
from eigenwood.core.crew import new_crew
from eigenwood.core.memory import lazy_zeros

HISTOGRAM_BYTES = 1 << 28  # that histograms of open nodes may take
BLOCK = 4 * NARROW_ROWS  # rows of a leaf that are one task, where tasks have something of their own to write to
ROW_BLOCK = 4096  # rows that are one task elsewhere
SHARED_ROWS = 4096  # of a leaf are shared out by blocks where there are fewer groups of columns than threads
N_JOB, N_REAL = 16, 9

START, END, DEPTH, SLOT, NODE, FEATURE, BIN, MISSING_LEFT, SIDE = range(9)  # of a leaf, in whole numbers …
GAIN, COUNT, GRADIENT, HESSIAN, LEFT_COUNT, LEFT_GRADIENT, LEFT_HESSIAN, LOWER, UPPER = range(9)  # … and in real ones

GRADIENTS, CLASS, WORDS, HISTOGRAM, SEARCH, PARTITION, MOVE, SUMS, ORDER, UPDATE, WALK = range(11)
# what a job is about, in whole numbers …
KIND, OUTPUT, LEAF, OTHER_LEAF, COUNTED, REDUCED, FIRST, LAST = range(8)
NUMBER, ROUND, N_TRAIN, ROOT, IS_FLAT, N_THREADS, REPEATS, BLOCK_ROWS = range(8, 16)
DELTA, GRADIENT_SCALE, HESSIAN_SCALE, GRADIENT_UNIT, HESSIAN_UNIT, WEIGHT_UNIT, L2, LEAST_HESSIAN, GAIN_UNIT = range(
    9
)  # … and in real ones
LOSS, MOST_GRADIENT, MOST_HESSIAN = range(3)
NOBODY = -1
LINE = 8  # numbers in a line of the cache


class Rows(NamedTuple):
    """What is known of the rows, and what changes with every round."""

    scores: np.ndarray  # (n_outputs, n_rows)
    shares: np.ndarray  # (n_classes, n_rows), no rows unless there are several trees in a round
    gradients: np.ndarray  # (n_rows,)
    hessians: np.ndarray  # (n_rows,)
    words: np.ndarray  # (n_rows,) int64: gradient, hessian and 1, side by side
    order: np.ndarray  # (2, n_drawn) uint32: rows of a leaf stand together, in the first order or in the second
    rest: np.ndarray  # (n_drawn,) what is left of the amounts, where leaves are order statistics


class Histograms(NamedTuple):
    """Sums of rows by bin, in one word or in two."""

    slots: np.ndarray  # (n_slots, n_words, n_bins) int64
    partial: np.ndarray  # (n_threads, n_words, n_bins) int64: what helpers have added up
    stamp: np.ndarray  # (n_threads, n_groups) int64: in which job
    packed: np.ndarray  # (n_threads, 8 · 256) int64: words of a few thousand rows
    free: np.ndarray  # (n_slots + 1,) int64: slots that nobody has; the last number says how many


class Scan(NamedTuple):
    """Arrays to look for the best cut, and what was found for each group of columns at two nodes."""

    sums: np.ndarray  # (n_threads, 2, 256) int64: words of the bins up to each
    gains: np.ndarray  # (n_threads, 2, 256) float64: of cuts, where missing numbers go right and where they go left
    order: np.ndarray  # (n_threads, 256) int64: bins of categories
    most: np.ndarray  # (n_threads, 8) the largest gains that a thread has found for the two nodes, in a job …
    stamp: np.ndarray  # (n_threads, 8) int64: … of this number
    wanted: np.ndarray  # (2,) uint8: which of two leaves are looked at
    is_drawn: np.ndarray  # (2, n_features) uint8: features that are looked at
    real: np.ndarray  # (2, n_groups, 4) gain; rows, hessians and gradients that go left
    whole: np.ndarray  # (2, n_groups, 3) int64: feature, -1 if there is none; bin; side of missing numbers
    listed: np.ndarray  # (2, n_groups, 4) uint64


class Leaves(NamedTuple):
    """The leaves of the tree that grows."""

    whole: np.ndarray  # (n_leaves, 9) int64 START … SIDE
    real: np.ndarray  # (n_leaves, 9) GAIN … UPPER
    listed: np.ndarray  # (n_leaves, 4) uint64
    allowed: np.ndarray  # (n_leaves, n_words) uint64: groups that have all features on the way to a leaf
    open: np.ndarray  # (n_leaves,) int64: those that can be split
    sums: np.ndarray  # (3 n_leaves,) int64: gradients, hessians and weights, exact
    limits: np.ndarray  # (n_nodes, 4) float64: where values are cut off, with monotonic constraints
    side: np.ndarray  # (n_nodes, 256) uint8: 1 where a code goes left


class Job(NamedTuple):
    """What the open job is about, for whoever takes a task of it."""

    crew: np.ndarray
    whole: np.ndarray  # (16,) int64
    real: np.ndarray  # (9,) float64
    tasks: np.ndarray  # (n_tasks, 3) int64: leaf, first place, last place
    n_left: np.ndarray  # (n_blocks,) int64
    block: np.ndarray  # (n_blocks, 4) float64: loss, largest gradient, largest hessian
    room: np.ndarray  # (n_threads, 3 · ROW_BLOCK) float64
    bits: np.ndarray  # (n_threads, STRIP) int64


def new_rows(n_rows: int, n_drawn: int, n_outputs: int, by_order: bool) -> Rows:
    """Return room for so many rows, so many of which are drawn in each round."""
    return Rows(
        scores=np.zeros((n_outputs, n_rows)),
        shares=np.empty((n_outputs, n_rows if n_outputs > 1 else 0)),
        gradients=np.zeros(n_rows),
        hessians=np.ones(n_rows),
        words=np.empty(n_rows, dtype=np.int64),
        order=np.empty((2, n_drawn), dtype=np.uint32),
        rest=np.empty(n_drawn if by_order else 0),
    )


def most_leaves(params: BoostParams, n_drawn: int) -> int:
    """Return how many leaves a tree can have."""
    return max(1, min(params.max_leaves, n_drawn // params.min_samples_leaf, 1 << min(params.max_depth, 62)))


def slot_count(table: BoostTable, params: BoostParams, n_words: int) -> int:
    """Return how many histograms are kept: one for each node that waits, as far as memory goes."""
    waiting = params.max_leaves if params.best_first else min(params.max_leaves, params.max_depth + 2)
    return max(4, min(waiting + 2, HISTOGRAM_BYTES // (8 * n_words * int(table.bin_start[-1]))))


def new_histograms(table: BoostTable, params: BoostParams, flat: bool, n_drawn: int, n_threads: int) -> Histograms:
    """Return room for histograms."""
    n_words = 1 if flat or n_drawn <= NARROW_ROWS else 2
    n_slots, n_bins = slot_count(table, params, n_words), int(table.bin_start[-1])
    return Histograms(
        slots=lazy_zeros((n_slots, n_words, n_bins), np.int64),
        partial=lazy_zeros((n_threads, n_words, n_bins), np.int64),
        stamp=np.zeros((n_threads, table.codes.shape[0]), dtype=np.int64),
        packed=np.zeros((n_threads, PER_WORD * MOST_BINS), dtype=np.int64),
        free=np.zeros(n_slots + 1, dtype=np.int64),
    )


def new_scan(n_features: int, n_groups: int, n_threads: int) -> Scan:
    """Return room to look for cuts."""
    return Scan(
        sums=np.empty((n_threads, 2, MOST_BINS), dtype=np.int64),
        gains=np.empty((n_threads, 2, MOST_BINS)),
        order=np.empty((n_threads, MOST_BINS), dtype=np.int64),
        most=np.zeros((n_threads, LINE)),
        stamp=np.zeros((n_threads, LINE), dtype=np.int64),
        wanted=np.zeros(2, dtype=np.uint8),
        is_drawn=np.ones((2, n_features), dtype=np.uint8),
        real=np.empty((2, n_groups, 4)),
        whole=np.empty((2, n_groups, 3), dtype=np.int64),
        listed=np.zeros((2, n_groups, LIST_WORDS), dtype=np.uint64),
    )


def new_leaves(max_leaves: int, n_words: int) -> Leaves:
    """Return room for the leaves of a tree."""
    return Leaves(
        whole=lazy_zeros((max_leaves, 9), np.int64),
        real=lazy_zeros((max_leaves, 9)),
        listed=lazy_zeros((max_leaves, LIST_WORDS), np.uint64),
        allowed=lazy_zeros((max_leaves, n_words), np.uint64),
        open=lazy_zeros((max_leaves,), np.int64),
        sums=lazy_zeros((3 * max_leaves,), np.int64),
        limits=lazy_zeros((2 * max_leaves, 4)),
        side=lazy_zeros((2 * max_leaves, MOST_BINS), np.uint8),
    )


def new_job(n_rows: int, max_leaves: int, n_threads: int, strip: int) -> Job:
    """Return what a leader and its helpers share."""
    n_blocks = n_rows // ROW_BLOCK + 3
    return Job(
        crew=new_crew(),
        whole=np.zeros(N_JOB, dtype=np.int64),
        real=np.zeros(N_REAL),
        tasks=lazy_zeros((n_blocks + max_leaves, 3), np.int64),
        n_left=np.zeros(n_blocks, dtype=np.int64),
        block=np.zeros((n_blocks, 4)),
        room=np.empty((n_threads, 3 * min(ROW_BLOCK, n_rows))),
        bits=np.empty((n_threads, strip), dtype=np.int64),
    )
