"""The three jobs of a round, in tasks that several threads share: what a task does is the same, whoever takes it.

SEARCH     a block of features: their best stump
ROWS       a block of rows: those that a stump gets wrong, their new weights, and the margins of all
SUMS       two columns of codes, or all rare entries: sums by bin rise as the weights did
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit_no_refcount
from eigenwood.core.adaboost.search import NO_CUT, best_cut_among
from eigenwood.core.adaboost.workspace import (
    ALPHA,
    CODE,
    CUT_CODE,
    CUT_FEATURE,
    CUT_LEFT,
    CUT_MISSING_LEFT,
    CUT_RIGHT,
    FACTOR,
    FEATURE,
    GAIN,
    KIND,
    N_THREADS,
    ROW_BLOCK,
)
from eigenwood.core.crew import (
    LEADER,
    MOST_LOOKS,
    MOST_TASKS,
    finish_task,
    is_closed,
    open_job,
    rest,
    taken_task,
    wait_for_tasks,
)

SEARCH, ROWS, SUMS = range(3)
WORTH_SHARING = 8000  # nanoseconds, roughly: less is done before somebody else has begun
LOW, HALF = np.uint64(0xFFFF), np.uint64(16)


@njit_no_refcount
def run_job(b, kind, n_tasks, work):
    """Do all tasks of a job, with whoever helps if it is ``work`` enough, in nanoseconds."""
    b.job.whole[KIND] = kind
    if n_tasks == 1 or n_tasks > MOST_TASKS or work < WORTH_SHARING or b.job.whole[N_THREADS] == 1:
        for task in range(n_tasks):
            do_task(b, task)
        return
    crew = b.job.crew
    open_job(crew, n_tasks)
    task = taken_task(crew, LEADER)
    while task >= 0:
        do_task(b, task)
        finish_task(crew)
        task = taken_task(crew, LEADER)
    wait_for_tasks(crew, n_tasks)


@njit_no_refcount
def help_stumps(b, thread):
    """Do tasks as helper number ``thread`` until nothing comes for a while."""
    crew, n_looks = b.job.crew, 0
    while n_looks < MOST_LOOKS and not is_closed(crew):
        task = taken_task(crew, thread)
        if task < 0:
            n_looks += 1
            rest()
        else:
            n_looks = 0
            do_task(b, task)
            finish_task(crew)


@njit_no_refcount
def do_task(b, task):
    """Do one task of the open job."""
    kind = b.job.whole[KIND]
    if kind == SUMS:
        sums_task(b.table, b.rows, b.work, b.job, task)
    elif kind == ROWS:
        rows_task(b.table, b.rows, b.work, b.job, task)
    else:
        search_task(b.table, b.work, b.job, task)


# ---- the best stump ------------------------------------------------------------------------------------------------


@njit_no_refcount
def search_task(table, work, job, block):
    """Write the best stump that asks about a block of features."""
    first, last = job.feature_start[block], job.feature_start[block + 1]
    cut = best_cut_among(table, work, job.left[block], first, last)
    own = job.cuts[block]
    own[GAIN], own[CUT_FEATURE], own[CUT_CODE] = cut.gain, cut.feature, cut.code
    own[CUT_MISSING_LEFT], own[CUT_LEFT], own[CUT_RIGHT] = cut.missing_left, cut.left, cut.right


# ---- rows ----------------------------------------------------------------------------------------------------------


@njit_no_refcount
def rows_task(table, rows, work, job, block):
    """Ask the stump of a block of rows, and give the rows that it gets wrong their new weights."""
    first, last = block * ROW_BLOCK, min((block + 1) * ROW_BLOCK, rows.classes.size)
    write_said(table, work, job, first, work.pred_of_row[first:last])
    raise_block(rows, work, job, block)


@njit_no_refcount
def raise_block(rows, work, job, block):
    """Find the rows of a block of which something wrong is said, give them their new weights, look at all margins."""
    first, last = block * ROW_BLOCK, min((block + 1) * ROW_BLOCK, rows.classes.size)
    pred = work.pred_of_row[first:last]
    n_wrong = write_wrong(rows.classes[first:last], pred, first, work.wrong[first:last])
    wrong, change = work.wrong[first : first + n_wrong], work.change[first : first + n_wrong]
    job.n_wrong[block], job.most[block] = n_wrong, 0.0
    if job.real[ALPHA] > 0.0:
        job.most[block] = raise_losses(rows, work, wrong, job.real[ALPHA])
    if job.real[FACTOR] > 0.0:
        raise_weights(rows, wrong, change, job.real[FACTOR])
        note_changes(rows.classes, wrong, change, job, block)
    strongest = rows.strongest if rows.strongest.size > 0 else rows.lost
    job.bad[block] = bad_rows(rows.counts[first:last], rows.lost[first:last], strongest[first:last], work.votes[0])


@njit_no_refcount
def write_said(table, work, job, first, pred_of_row):
    """Write what the stump says of a block of rows; if its feature has no column, that is written for all rows."""
    column, pred = table.column[job.whole[FEATURE]], work.pred
    if column < 0:
        if job.whole[CODE] == NO_CUT:
            pred_of_row[:] = pred[0]
        return
    words, shift = table.words[column // 2, first:], HALF * np.uint64(column % 2)
    for i in range(pred_of_row.size):
        pred_of_row[i] = pred[(np.uint64(words[i]) >> shift) & LOW]


@njit_no_refcount
def write_wrong(classes, pred, first, wrong):
    """Write the rows whose class is not what is said; return how many there are."""
    n = np.uint64(0)
    for i in range(classes.size):
        wrong[n] = first + i
        n += np.uint64(pred[i] != classes[i])
    return np.int64(n)


@njit_no_refcount
def raise_losses(rows, work, wrong, alpha):
    """Give the vote of a stump to the wrong classes of rows that it gets wrong; return their largest g + o."""
    most, lost = 0.0, rows.lost
    if rows.others.shape[0] == 0:
        for i in wrong:
            lost[i] += alpha
            most = max(most, lost[i])
        return most + most
    for i in wrong:
        pred = work.pred_of_row[i]
        lost[i] += alpha
        rows.others[i, pred] += alpha
        rows.strongest[i] = max(rows.strongest[i], rows.others[i, pred])
        most = max(most, lost[i] + rows.strongest[i])
    return most


@njit_no_refcount
def raise_weights(rows, wrong, change, factor):
    """Multiply the weights of rows that were wrong; write by how much they rise."""
    factors, counts = rows.factors, rows.counts
    for k in range(wrong.size):
        i = wrong[k]
        new = np.int64(np.rint(factors[i] * factor))
        change[k] = counts[i] * (new - factors[i])
        factors[i] = new


@njit_no_refcount
def note_changes(classes, wrong, change, job, block):
    """Note by how much the sums of a block rise; changes of the first of two classes get a minus."""
    raised, signed, by_class = np.int64(0), np.int64(0), job.raised_by_class[block]
    if by_class.size == 1:
        for k in range(wrong.size):
            raised += change[k]
            change[k] *= 2 * classes[wrong[k]] - 1
            signed += change[k]
        by_class[0] = signed
    else:
        by_class[:] = 0
        for k in range(wrong.size):
            raised += change[k]
            by_class[classes[wrong[k]]] += change[k]
    job.raised[block] = raised


@njit_no_refcount
def bad_rows(counts, lost, strongest, votes):
    """Return how many rows, by their counts, have a margin that is not above 0."""
    bad = np.int64(0)
    for i in range(counts.size):
        bad += counts[i] if lost[i] + strongest[i] >= votes else 0
    return bad


# ---- sums by bin ---------------------------------------------------------------------------------------------------


@njit_no_refcount
def sums_task(table, rows, work, job, task):
    """Add what the weights of rows rose by to the sums of two columns, or of all rare entries."""
    n_pairs, n_columns, n_channels = table.words.shape[0], table.column_start.size, work.sums.shape[1]
    for block in range(job.n_wrong.size):
        first = block * ROW_BLOCK
        last = first + job.n_wrong[block]
        wrong, change = work.wrong[first:last], work.change[first:last]
        if task == n_pairs:
            add_entries(table, rows.classes, wrong, change, work.sums)
            continue
        low = work.flat_sums[table.column_start[2 * task] * n_channels :]
        if 2 * task + 1 == n_columns:
            add_column(table.words[task], rows.classes, wrong, change, n_channels, low)
        else:
            high = work.flat_sums[table.column_start[2 * task + 1] * n_channels :]
            add_pair(table.words[task], rows.classes, wrong, change, n_channels, low, high)


@njit_no_refcount
def add_pair(words, classes, wrong, change, n_channels, low, high):
    """Add changes to the sums of two columns; of two classes they have their signs."""
    if n_channels == 1:
        for k in range(wrong.size):
            word = np.uint64(words[np.uint64(wrong[k])])
            low[word & LOW] += change[k]
            high[word >> HALF] += change[k]
    else:
        n = np.uint64(n_channels)
        for k in range(wrong.size):
            word, own = np.uint64(words[np.uint64(wrong[k])]), np.uint64(classes[wrong[k]])
            low[(word & LOW) * n + own] += change[k]
            high[(word >> HALF) * n + own] += change[k]


@njit_no_refcount
def add_column(words, classes, wrong, change, n_channels, low):
    """Add changes to the sums of a column that is alone in its words."""
    if n_channels == 1:
        for k in range(wrong.size):
            low[np.uint64(words[np.uint64(wrong[k])])] += change[k]
    else:
        n = np.uint64(n_channels)
        for k in range(wrong.size):
            low[np.uint64(words[np.uint64(wrong[k])]) * n + np.uint64(classes[wrong[k]])] += change[k]


@njit_no_refcount
def add_entries(table, classes, wrong, change, sums):
    """Add changes to the sums of the rare entries of rows."""
    for k in range(wrong.size):
        i = wrong[k]
        channel = 0 if sums.shape[1] == 1 else classes[i]
        for entry in range(table.entry_start[i], table.entry_start[i + 1]):
            sums[table.entries[entry], channel] += change[k]
