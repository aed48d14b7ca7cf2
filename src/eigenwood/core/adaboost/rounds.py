"""Rounds of AdaBoost over stumps, many in one call: sums of weights → best stump → its weight → new weights → new sums.

A row i weighs D_i = w_i q_i: w_i is how often it counts, and q_i tells how often it was wrong. Both are whole numbers.
A round multiplies q_i of the rows that the stump gets wrong by e^α, and leaves all others alone: divided by their sum
these are the D_t of the PCA and boosting lecture (*The AdaBoost Algorithm*), whose two factors e^β and e^-β differ by
the same e^α, α = 2β.
So only the rows that were wrong change sums:

    wrong rows ──► D_i ──► sums[code of row i in column j] += what D_i rose by         no sum is made anew …
    D too large for 64 bits? ──► all q_i become smaller ──► all sums are made anew      … until then

A row whose true class got the votes A - g_i, and the strongest other one o_i, has the margin (A - g_i - o_i) / A, where
A is the sum of all α: g_i and o_i grow only when it is wrong.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit_no_refcount
from eigenwood.core.adaboost.decoding import (
    CODE,
    DEFAULT_LEFT,
    FEATURE,
    LEFT,
    MISSING_LEFT,
    N_CUT_NUMBERS,
    N_RIGHT,
    ON_LEFT,
    RIGHT,
    stumps_of,
)
from eigenwood.core.adaboost.search import NO_CUT, NO_FEATURE, Cut, constant_cut, goes_right
from eigenwood.core.adaboost.stumps import Stumps
from eigenwood.core.adaboost.table import BinValues, StumpTable
from eigenwood.core.adaboost.tasks import HALF, LOW, ROWS, SEARCH, SUMS, help_stumps, note_changes, run_job
from eigenwood.core.adaboost.workspace import (
    ALPHA,
    CUT_CODE,
    CUT_FEATURE,
    CUT_LEFT,
    CUT_MISSING_LEFT,
    CUT_RIGHT,
    FACTOR,
    FIRST_BITS,
    GAIN,
    N_THREADS,
    ROW_BLOCK,
    StumpBoosting,
)
from eigenwood.core.adaboost.workspace import CODE as JOB_CODE
from eigenwood.core.adaboost.workspace import FEATURE as JOB_FEATURE
from eigenwood.core.crew import crew_of, new_crew

GOES_ON, PERFECT, NO_EDGE = range(3)  # a stump that is always right ends it, and one that is no better than chance
MOST = 2.0**61  # the largest sum of all D_i
SECONDS = 0.03  # of one call


class Rounds(NamedTuple):
    """What comes of each round."""

    cuts: np.ndarray  # (n_rounds, N_CUT_NUMBERS) int64
    listed: np.ndarray  # (n_rounds, n_words) uint64: the categories that go right
    errors: np.ndarray  # (n_rounds,): ε
    alphas: np.ndarray  # (n_rounds,)
    train_errors: np.ndarray  # (n_rounds,): the share of weight whose margin is not above 0
    min_margins: np.ndarray  # (n_rounds,)


class StumpStep(NamedTuple):
    """The rounds so far."""

    table: StumpTable
    values: BinValues
    rounds: Rounds
    margins: np.ndarray  # (n_rows,) after the last round
    largest_edge: float  # of any stump under the weights after the last round
    end: int  # GOES_ON, PERFECT or NO_EDGE
    whole: bool
    last: bool

    def stumps(self) -> Stumps:
        """Return the stumps with their thresholds and categories."""
        return stumps_of(self.table, self.values, self.rounds.cuts, self.rounds.listed)

    def left_shares(self, counts: np.ndarray) -> np.ndarray:
        """Return the share of all rows, by their counts, that each stump sends to the left."""
        return self.rounds.cuts[:, ON_LEFT] / counts.sum()


# ---- in compiled code ----------------------------------------------------------------------------------------------


@njit_no_refcount
def make_rounds(b, rounds, learning_rate, is_first):
    """Make rounds; return how many there are, and why they end."""
    table, rows, work = b.table, b.rows, b.work
    if is_first:
        begin(b)
    for t in range(rounds.errors.size):
        cut = best_cut(b)
        error = (work.total[0] - cut.gain) / (2.0 * work.total[0])
        if not is_better_than_chance(error, rows) and (t > 0 or not is_first):
            return t, NO_EDGE
        alpha = stump_weight(error, rows, learning_rate, work.votes[0])
        write_cut(table, work, cut, rounds, t)
        write_said(table, work, cut)
        rounds.errors[t], rounds.alphas[t] = error, alpha
        work.votes[0] += alpha
        raise_rows(b, cut, alpha)
        write_margins(b, rounds, t)
        if error <= 0.0:
            return t + 1, PERFECT
        if alpha <= 0.0:
            return t + 1, NO_EDGE
    return rounds.errors.size, GOES_ON


@njit_no_refcount
def begin(b):
    """Write all sums as they are before the first round."""
    write_sums(b)
    write_bin_counts(b.table, b.rows.counts, b.work.bin_counts)


@njit_no_refcount
def best_cut(b):
    """Return the best stump; one that says the same of all rows only if no cut is as good."""
    n_blocks = b.job.feature_start.size - 1
    run_job(b, SEARCH, n_blocks, 2 * b.work.flat_sums.size)
    best, is_constant = constant_cut(b.work.totals, b.work.total[0]), True
    for block in range(n_blocks):
        own = b.job.cuts[block]
        if own[CUT_FEATURE] == NO_FEATURE:
            continue
        if own[GAIN] > best.gain or (is_constant and own[GAIN] == best.gain):
            best, is_constant = cut_of(own), False
    return best


@njit_no_refcount
def cut_of(own):
    """Return the cut that a block of features has written."""
    return Cut(own[GAIN], own[CUT_FEATURE], own[CUT_CODE], own[CUT_MISSING_LEFT] != 0, own[CUT_LEFT], own[CUT_RIGHT])


@njit_no_refcount
def class_count(rows):
    """Return the number of classes."""
    return max(rows.others.shape[1], 2)


@njit_no_refcount
def is_better_than_chance(error, rows):
    """Return whether a stump is right more often than a guess among the classes."""
    return error < 1.0 - 1.0 / class_count(rows)


@njit_no_refcount
def stump_weight(error, rows, learning_rate, earlier):
    """Return α; a stump that is always right outvotes all ``earlier`` ones, and one no better than chance has none."""
    if error <= 0.0:
        return 1.0 + earlier
    if not is_better_than_chance(error, rows):
        return 0.0
    return learning_rate * (math.log((1.0 - error) / error) + math.log(class_count(rows) - 1.0))


@njit_no_refcount
def write_cut(table, work, cut, rounds, t):
    """Write a stump in codes; the side with more rows gets what is new, and all that is missing if nothing was."""
    first, last = table.bin_start[cut.feature], table.bin_start[cut.feature + 1]
    on_left = on_right = n_right = 0
    for code in range(last - first):
        if goes_right(table, work.sums, cut, code):
            on_right += work.bin_counts[first + code]
            n_right += 1
            if table.is_category[cut.feature]:
                rounds.listed[t, code >> 6] |= np.uint64(1) << np.uint64(code & 63)
        else:
            on_left += work.bin_counts[first + code]
    default_left = on_left >= on_right
    if table.missing[cut.feature] >= 0 and cut.code != NO_CUT:
        default_left = cut.missing_left
    row = rounds.cuts[t]
    row[FEATURE], row[CODE], row[MISSING_LEFT] = cut.feature, cut.code, cut.missing_left
    row[LEFT], row[RIGHT], row[DEFAULT_LEFT], row[N_RIGHT] = cut.left, cut.right, default_left, n_right
    row[ON_LEFT] = on_left


@njit_no_refcount
def pred_of(table, sums, cut, code):
    """Return the class that a stump says of a code of its feature."""
    return cut.right if goes_right(table, sums, cut, code) else cut.left


@njit_no_refcount
def write_said(table, work, cut):
    """Write what a stump says of each code of its column, or of each row if its feature has none."""
    first, last = table.bin_start[cut.feature], table.bin_start[cut.feature + 1]
    column, common, pred, sums = table.column[cut.feature], table.common[cut.feature], work.pred, work.sums
    place = 0 if column < 0 else first - table.column_start[column]
    if common >= 0:
        pred[:] = pred_of(table, sums, cut, common)  # also what others of a bundle have
    for code in range(last - first):
        pred[place + code] = pred_of(table, sums, cut, code)
    if column < 0 and cut.code != NO_CUT:
        work.pred_of_row[:] = pred[common]
        for k in range(table.rare_start[cut.feature], table.rare_start[cut.feature + 1]):
            work.pred_of_row[table.rare_rows[k]] = pred[table.rare_bins[k] - first]


@njit_no_refcount
def raise_rows(b, cut, alpha):
    """Find the rows that a stump gets wrong, multiply their weights, and bring the sums up to date."""
    total = b.work.total[0]
    factor, expected = factor_of(total, (total - cut.gain) // 2, alpha)
    b.job.whole[JOB_FEATURE], b.job.whole[JOB_CODE] = cut.feature, cut.code
    b.job.real[ALPHA], b.job.real[FACTOR] = alpha, 0.0 if expected > MOST else factor
    run_job(b, ROWS, b.job.n_wrong.size, 3 * b.rows.classes.size)
    if expected > MOST:
        renew_weights(b.rows, b.work, factor, expected)
        write_sums(b)
    elif alpha > 0.0:
        add_changes(b)


@njit_no_refcount
def factor_of(total, wrong_total, alpha):
    """Return by how much the weights of rows rise that were wrong, and what all weights come to then."""
    factor = math.exp(alpha) if alpha > 0.0 else 0.0
    return factor, np.float64(total - wrong_total) + np.float64(wrong_total) * factor


@njit_no_refcount
def add_changes(b):
    """Add what the weights of rows rose by to all sums."""
    n_tasks = b.table.words.shape[0] + (1 if b.table.entries.size > 0 else 0)
    run_job(b, SUMS, n_tasks, n_tasks * add_to_totals(b))


@njit_no_refcount
def add_to_totals(b):
    """Add what the weights of rows rose by to the sums of all rows; return how many rows that are."""
    n_changed = np.int64(0)
    for block in range(b.job.n_wrong.size):
        n_changed += b.job.n_wrong[block]
        b.work.total[0] += b.job.raised[block]
        for c in range(b.work.totals.size):
            b.work.totals[c] += b.job.raised_by_class[block, c]
    return n_changed


@njit_no_refcount
def renew_weights(rows, work, factor, expected):
    """Multiply the weights of the rows that were wrong, and divide all by a power of two, so that they fit again."""
    shrunk = 2.0 ** (FIRST_BITS - math.ceil(math.log2(expected)))
    for i in range(rows.factors.size):
        by = shrunk * factor if work.pred_of_row[i] != rows.classes[i] else shrunk
        rows.factors[i] = max(np.int64(np.rint(rows.factors[i] * by)), 1)


@njit_no_refcount
def write_sums(b):
    """Write all sums anew: those of nothing rise by all weights."""
    b.work.sums[:] = 0
    b.work.totals[:] = 0
    b.work.total[0] = 0
    n_rows = b.rows.classes.size
    for block in range(b.job.n_wrong.size):
        first, last = block * ROW_BLOCK, min((block + 1) * ROW_BLOCK, n_rows)
        list_all(b.rows, b.work, b.job, block, first, last)
    add_changes(b)


@njit_no_refcount
def list_all(rows, work, job, block, first, last):
    """Write the weights of all rows of a block as what they rose by."""
    job.n_wrong[block] = last - first
    for i in range(first, last):
        work.wrong[i] = i
        work.change[i] = rows.counts[i] * rows.factors[i]
    note_changes(rows.classes, work.wrong[first:last], work.change[first:last], job, block)


@njit_no_refcount
def write_bin_counts(table, counts, bin_counts):
    """Write how many rows, by their counts, each bin has."""
    total, n_columns = np.int64(0), table.column_start.size
    for i in range(counts.size):
        total += counts[i]
        for entry in range(table.entry_start[i], table.entry_start[i + 1]):
            bin_counts[table.entries[entry]] += counts[i]
    for column in range(n_columns):
        words, shift, first = table.words[column // 2], HALF * np.uint64(column % 2), table.column_start[column]
        for i in range(counts.size):
            bin_counts[first + np.int64((np.uint64(words[i]) >> shift) & LOW)] += counts[i]
    for feature in range(table.column.size):
        if table.common[feature] >= 0:
            first, last = table.bin_start[feature], table.bin_start[feature + 1]
            bin_counts[first + table.common[feature]] = total
            for i in range(first, last):
                if i != first + table.common[feature]:
                    bin_counts[first + table.common[feature]] -= bin_counts[i]


@njit_no_refcount
def write_margins(b, rounds, t):
    """Write the smallest margin after a round, and the share of rows, by their counts, whose margin is not above 0."""
    votes, bad = b.work.votes[0], np.int64(0)
    for block in range(b.job.bad.size):
        bad += b.job.bad[block]
    most = note_largest_loss(b)
    rounds.train_errors[t] = bad / b.work.n_counted[0]
    rounds.min_margins[t] = (votes - most) / votes if votes > 0.0 else 0.0


@njit_no_refcount
def note_largest_loss(b):
    """Return the largest g + o of any row after a round."""
    for block in range(b.job.most.size):
        b.work.votes[1] = max(b.work.votes[1], b.job.most[block])
    return b.work.votes[1]


@njit_no_refcount
def largest_edge(b):
    """Return the largest edge of any stump under the weights at hand."""
    return best_cut(b).gain / b.work.total[0]


# ---- from Python ---------------------------------------------------------------------------------------------------


def stump_steps(
    b: StumpBoosting, values: BinValues, n_rounds: int, learning_rate: float, seconds: float = SECONDS
) -> Iterator[StumpStep]:
    """Yield the rounds so far, after one round and then each time when about so many ``seconds`` have passed.

    If rounds were repeated before (resuming.py), those here follow them, and they are not among ``n_rounds``.
    """
    so_far, n_next, end, is_first = new_rounds(b.table, 0), 1, GOES_ON, b.work.total[0] == 0
    while True:
        n_done = so_far.errors.size
        rounds = new_rounds(b.table, min(n_next, n_rounds - n_done))
        start = time.perf_counter()
        n_made, end = rounds_with_helpers(b, rounds, learning_rate, is_first and n_done == 0)
        per_round = (time.perf_counter() - start) / max(n_made, 1)
        so_far = Rounds(*(np.concatenate([old, new[:n_made]]) for old, new in zip(so_far, rounds, strict=True)))
        last = end != GOES_ON or so_far.errors.size == n_rounds
        yield StumpStep(b.table, values, so_far, margins_of(b), largest_edge(b), end, whole=True, last=last)
        if last:
            return
        n_next = min(max(1, int(seconds / max(per_round, 1e-9))), 4 * n_next)


def no_more_rounds(b: StumpBoosting, values: BinValues, end: int) -> StumpStep:
    """Return the step after rounds that were repeated, if no others can follow them."""
    return StumpStep(
        b.table, values, new_rounds(b.table, 0), margins_of(b), largest_edge(b), end, whole=True, last=True
    )


def new_rounds(table: StumpTable, n_rounds: int) -> Rounds:
    """Return room for what comes of some rounds."""
    n_categories = int((np.diff(table.bin_start) * table.is_category).max())
    listed = np.zeros((n_rounds, -(-n_categories // 64)), dtype=np.uint64)
    return Rounds(np.zeros((n_rounds, N_CUT_NUMBERS), dtype=np.int64), listed, *(np.zeros(n_rounds) for _ in range(4)))


def rounds_with_helpers(b: StumpBoosting, rounds: Rounds, learning_rate: float, is_first: bool) -> tuple[int, int]:
    """Make rounds with helpers on other threads; return how many there are, and why they end."""
    with_crew = b._replace(job=b.job._replace(crew=new_crew()))
    with crew_of(with_crew.job.crew, lambda thread: help_stumps(with_crew, thread), int(b.job.whole[N_THREADS]) - 1):
        return make_rounds(with_crew, rounds, learning_rate, is_first)


def margins_of(b: StumpBoosting) -> np.ndarray:
    """Return the margin of each row, between -1 and 1; 0 without votes."""
    votes, lost = b.work.votes[0], b.rows.lost
    strongest = b.rows.strongest if b.rows.strongest.size else lost
    return (votes - lost - strongest) / votes if votes > 0.0 else np.zeros(lost.size)
