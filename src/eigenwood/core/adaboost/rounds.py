"""Rounds of AdaBoost over stumps, many in one call: sums of weights → best stump → its weight → new weights → new sums.

A row i weighs D_i = w_i q_i: w_i is how often it counts, and q_i tells how often it was wrong. Both are whole numbers.
A round multiplies q_i of the rows that the stump gets wrong by e^α, and leaves all others alone: divided by their sum
these are the D_t of deck A (*The AdaBoost Algorithm*), whose two factors e^β and e^-β differ by the same e^α, α = 2β.
So only the rows that were wrong are read, and the sums by code follow them:

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
    N_RIGHT,
    RIGHT,
    stumps_of,
)
from eigenwood.core.adaboost.search import NO_CUT, best_cut, write_sides
from eigenwood.core.adaboost.stumps import Stumps
from eigenwood.core.adaboost.table import BinValues, StumpTable

GOES_ON, PERFECT, NO_EDGE = range(3)  # a stump that is always right ends it, and one that is no better than chance
FIRST_BITS, MOST = 52, 2.0**61  # bits of the sum of all D_i at first and after each renewal, and the largest sum
SECONDS = 0.03  # of one call


class Rows(NamedTuple):
    """What is known of each row."""

    classes: np.ndarray  # (n_rows,) int64
    counts: np.ndarray  # (n_rows,) int64: w_i
    factors: np.ndarray  # (n_rows,) int64: q_i
    lost: np.ndarray  # (n_rows,) float64: g_i
    strongest: np.ndarray  # (n_rows,) float64: o_i
    others: np.ndarray  # (n_rows, n_classes): the votes for each wrong class; no rows for two classes


class Workspace(NamedTuple):
    """Sums and notes that rounds share."""

    sums: np.ndarray  # (n_bins, 1 or n_classes) int64
    bin_counts: np.ndarray  # (n_bins,) int64: the sum of w_i in each bin
    totals: np.ndarray  # (1 or n_classes,) int64
    total: np.ndarray  # (1,) int64: the sum of all D_i
    left: np.ndarray  # (1 or n_classes,) int64
    sides: np.ndarray  # uint8, one for each code of a feature
    side_of_row: np.ndarray  # (n_rows,) uint8
    wrong: np.ndarray  # (n_rows,) int32
    change: np.ndarray  # (n_rows,) int64
    votes: np.ndarray  # (2,): A, and the largest g_i + o_i


class Rounds(NamedTuple):
    """What comes of each round."""

    cuts: np.ndarray  # (n_rounds, 7) int64
    listed: np.ndarray  # (n_rounds, n_words) uint64: the categories that go right
    errors: np.ndarray  # (n_rounds,): ε
    alphas: np.ndarray  # (n_rounds,)
    train_errors: np.ndarray  # (n_rounds,): the share of weight whose margin is not above 0
    min_margins: np.ndarray  # (n_rounds,)


class StumpStep(NamedTuple):
    """The rounds so far."""

    stumps: Stumps
    errors: np.ndarray
    alphas: np.ndarray
    train_errors: np.ndarray
    min_margins: np.ndarray
    margins: np.ndarray  # (n_rows,) after the last round
    largest_edge: float  # of any stump under the weights after the last round
    end: int  # GOES_ON, PERFECT or NO_EDGE
    whole: bool
    last: bool


# ---- in compiled code ----------------------------------------------------------------------------------------------


@njit_no_refcount
def make_rounds(table, rows, work, rounds, learning_rate, is_first):
    """Make rounds; return how many there are, and why they end."""
    if is_first:
        write_sums(table, rows, work)
        write_bin_counts(table, rows.counts, work.bin_counts)
    for t in range(rounds.errors.size):
        cut = best_cut(table, work.sums, work)
        error = (work.total[0] - cut.gain) / (2.0 * work.total[0])
        if not is_better_than_chance(error, rows) and (t > 0 or not is_first):
            return t, NO_EDGE
        alpha = stump_weight(error, rows, learning_rate, work.votes[0])
        write_sides(table, work.sums, cut, work.sides)
        write_cut(table, work, cut, rounds, t)
        rounds.errors[t], rounds.alphas[t] = error, alpha
        work.votes[0] += alpha
        n_wrong = write_wrong(table, rows, work, cut)
        if alpha > 0.0:
            raise_losses(rows, work, cut, n_wrong, alpha)
            raise_weights(table, rows, work, n_wrong, math.exp(alpha))
        write_margins(rows, work, rounds, t)
        if error <= 0.0:
            return t + 1, PERFECT
        if alpha <= 0.0:
            return t + 1, NO_EDGE
    return rounds.errors.size, GOES_ON


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
        if work.sides[code] > 0:
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
    row[FEATURE], row[CODE], row[MISSING_LEFT], row[LEFT], row[RIGHT] = (
        cut.feature,
        cut.code,
        cut.missing_left,
        cut.left,
        cut.right,
    )
    row[DEFAULT_LEFT], row[N_RIGHT] = default_left, n_right


@njit_no_refcount
def write_wrong(table, rows, work, cut):
    """Write the rows that a stump gets wrong; return how many there are."""
    first, column = table.bin_start[cut.feature], table.column[cut.feature]
    sides, side_of_row = work.sides, work.side_of_row
    if column >= 0:
        codes = table.codes[column]
        for i in range(codes.size):
            side_of_row[i] = sides[codes[i]]
    else:
        side_of_row[:] = sides[table.common[cut.feature]]
        for k in range(table.rare_start[cut.feature], table.rare_start[cut.feature + 1]):
            side_of_row[table.rare_rows[k]] = sides[table.rare_bins[k] - first]
    n, classes, wrong = 0, rows.classes, work.wrong
    for i in range(classes.size):
        said = cut.right if side_of_row[i] > 0 else cut.left
        wrong[n] = i
        n += said != classes[i]
    return n


@njit_no_refcount
def raise_weights(table, rows, work, n_wrong, factor):
    """Multiply the weights of the rows that were wrong, and bring the sums up to date."""
    wrong_total = 0
    for k in range(n_wrong):
        i = work.wrong[k]
        wrong_total += rows.counts[i] * rows.factors[i]
    expected = np.float64(work.total[0] - wrong_total) + np.float64(wrong_total) * factor
    if expected > MOST:
        renew_weights(table, rows, work, n_wrong, factor, expected)
        return
    for k in range(n_wrong):
        i = work.wrong[k]
        raised = np.int64(np.rint(rows.factors[i] * factor))
        change = rows.counts[i] * (raised - rows.factors[i])
        rows.factors[i] = raised
        work.change[k] = change
    add_changes(table, rows, work, n_wrong)


@njit_no_refcount
def add_changes(table, rows, work, n_rows):
    """Add what the weights of some rows rose by to all sums."""
    wrong, change, sums = work.wrong, work.change, work.sums
    is_signed = sums.shape[1] == 1
    for k in range(n_rows):
        i = wrong[k]
        work.total[0] += change[k]
        channel = 0 if is_signed else rows.classes[i]
        if is_signed and rows.classes[i] == 0:
            change[k] = -change[k]
        work.totals[channel] += change[k]
        for entry in range(table.entry_start[i], table.entry_start[i + 1]):
            sums[table.entries[entry], channel] += change[k]
    for feature in range(table.column.size):
        if table.column[feature] >= 0:
            codes, first = table.codes[table.column[feature]], table.bin_start[feature]
            if is_signed:
                for k in range(n_rows):
                    sums[first + codes[wrong[k]], 0] += change[k]
            else:
                for k in range(n_rows):
                    sums[first + codes[wrong[k]], rows.classes[wrong[k]]] += change[k]


@njit_no_refcount
def renew_weights(table, rows, work, n_wrong, factor, expected):
    """Multiply the weights of the rows that were wrong, and divide all by a power of two, so that they fit again."""
    shrunk = 2.0 ** (FIRST_BITS - math.ceil(math.log2(expected)))
    work.side_of_row[:] = 0
    for k in range(n_wrong):
        work.side_of_row[work.wrong[k]] = 1
    for i in range(rows.factors.size):
        by = shrunk * factor if work.side_of_row[i] > 0 else shrunk
        rows.factors[i] = max(np.int64(np.rint(rows.factors[i] * by)), 1)
    write_sums(table, rows, work)


@njit_no_refcount
def write_sums(table, rows, work):
    """Write all sums anew."""
    work.sums[:] = 0
    work.totals[:] = 0
    work.total[0] = 0
    for i in range(rows.factors.size):
        work.wrong[i] = i
        work.change[i] = rows.counts[i] * rows.factors[i]
    add_changes(table, rows, work, rows.factors.size)


@njit_no_refcount
def write_bin_counts(table, counts, bin_counts):
    """Write how many rows, by their counts, each bin has."""
    total = 0
    for i in range(counts.size):
        total += counts[i]
        for entry in range(table.entry_start[i], table.entry_start[i + 1]):
            bin_counts[table.entries[entry]] += counts[i]
    for feature in range(table.column.size):
        first, last = table.bin_start[feature], table.bin_start[feature + 1]
        if table.column[feature] >= 0:
            codes = table.codes[table.column[feature]]
            for i in range(counts.size):
                bin_counts[first + codes[i]] += counts[i]
        else:
            rest = total
            for i in range(first, last):
                rest -= bin_counts[i]
            bin_counts[first + table.common[feature]] = rest


@njit_no_refcount
def raise_losses(rows, work, cut, n_wrong, alpha):
    """Give the vote of a stump to the wrong classes of the rows that it gets wrong."""
    most = work.votes[1]
    has_others = rows.others.shape[0] > 0
    for k in range(n_wrong):
        i = work.wrong[k]
        rows.lost[i] += alpha
        if has_others:
            said = cut.right if work.side_of_row[i] > 0 else cut.left
            rows.others[i, said] += alpha
            rows.strongest[i] = max(rows.strongest[i], rows.others[i, said])
        else:
            rows.strongest[i] = rows.lost[i]
        most = max(most, rows.lost[i] + rows.strongest[i])
    work.votes[1] = most


@njit_no_refcount
def write_margins(rows, work, rounds, t):
    """Write the smallest margin after a round, and the share of rows, by their counts, whose margin is not above 0."""
    votes, n_wrong, n = work.votes[0], 0, 0
    for i in range(rows.counts.size):
        n_wrong += rows.counts[i] * (rows.lost[i] + rows.strongest[i] >= votes)
        n += rows.counts[i]
    rounds.train_errors[t] = n_wrong / n
    rounds.min_margins[t] = (votes - work.votes[1]) / votes if votes > 0.0 else 0.0


@njit_no_refcount
def largest_edge(table, work):
    """Return the largest edge of any stump under the weights at hand."""
    return best_cut(table, work.sums, work).gain / work.total[0]


# ---- from Python ---------------------------------------------------------------------------------------------------


def stump_steps(
    table: StumpTable,
    values: BinValues,
    classes: np.ndarray,
    counts: np.ndarray,
    n_classes: int,
    n_rounds: int,
    learning_rate: float,
    seconds: float = SECONDS,
) -> Iterator[StumpStep]:
    """Yield the rounds so far, after one round and then each time when about so many ``seconds`` have passed."""
    rows, work = new_rows(classes, counts, n_classes), new_workspace(table, counts.size, n_classes)
    parts: list[Rounds] = []
    n_done, n_next, end = 0, 1, GOES_ON
    while True:
        rounds = new_rounds(table, min(n_next, n_rounds - n_done))
        start = time.perf_counter()
        n_made, end = make_rounds(table, rows, work, rounds, learning_rate, n_done == 0)
        per_round = (time.perf_counter() - start) / max(n_made, 1)
        parts.append(Rounds(*(part[:n_made] for part in rounds)))
        n_done += n_made
        last = end != GOES_ON or n_done == n_rounds
        yield step_of(table, values, parts, margins_of(rows, work), largest_edge(table, work), end, last)
        if last:
            return
        n_next = min(max(1, int(seconds / max(per_round, 1e-9))), 4 * n_next)


def new_rows(classes: np.ndarray, counts: np.ndarray, n_classes: int) -> Rows:
    """Return rows before the first round."""
    n_rows = classes.size
    bits = FIRST_BITS - math.ceil(math.log2(int(counts.sum()) + 1))
    return Rows(
        classes.astype(np.int64),
        counts,
        np.full(n_rows, 1 << bits, dtype=np.int64),
        np.zeros(n_rows),
        np.zeros(n_rows),
        np.zeros((n_rows if n_classes > 2 else 0, n_classes)),
    )


def new_workspace(table: StumpTable, n_rows: int, n_classes: int) -> Workspace:
    """Return room for sums."""
    n_bins, n_sums = int(table.bin_start[-1]), 1 if n_classes == 2 else n_classes
    return Workspace(
        np.zeros((n_bins, n_sums), dtype=np.int64),
        np.zeros(n_bins, dtype=np.int64),
        np.zeros(n_sums, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(n_sums, dtype=np.int64),
        np.zeros(int(np.diff(table.bin_start).max()), dtype=np.uint8),
        np.zeros(n_rows, dtype=np.uint8),
        np.zeros(n_rows, dtype=np.int32),
        np.zeros(n_rows, dtype=np.int64),
        np.zeros(2),
    )


def new_rounds(table: StumpTable, n_rounds: int) -> Rounds:
    """Return room for what comes of some rounds."""
    n_categories = int((np.diff(table.bin_start) * table.is_category).max())
    listed = np.zeros((n_rounds, -(-n_categories // 64)), dtype=np.uint64)
    return Rounds(np.zeros((n_rounds, 7), dtype=np.int64), listed, *(np.zeros(n_rounds) for _ in range(4)))


def margins_of(rows: Rows, work: Workspace) -> np.ndarray:
    """Return the margin of each row, between -1 and 1; 0 without votes."""
    votes = work.votes[0]
    return (votes - rows.lost - rows.strongest) / votes if votes > 0.0 else np.zeros(rows.lost.size)


def step_of(
    table: StumpTable,
    values: BinValues,
    parts: list[Rounds],
    margins: np.ndarray,
    edge: float,
    end: int,
    last: bool,
) -> StumpStep:
    """Return what some rounds come to."""
    parts[:] = [Rounds(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))]
    rounds = parts[0]
    return StumpStep(
        stumps_of(table, values, rounds.cuts, rounds.listed), *rounds[2:], margins, edge, end, whole=True, last=last
    )
