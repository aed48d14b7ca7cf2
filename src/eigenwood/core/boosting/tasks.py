"""Jobs that the leader of a crew shares out: what a task does is the same, whoever takes it.

GRADIENTS, SHARES, CLASS, WORDS     blocks of rows: losses and gradients, then whole numbers
HISTOGRAM                           a block of a leaf's rows, for one group of columns
SEARCH                              one group of columns: histograms of one or two leaves, and their best cuts
PARTITION, MOVE                     a block of a leaf's rows: to their sides, and together
SUMS, ORDER, UPDATE                 a block of rows of one leaf, or a leaf: its value, and new scores
WALK                                a block of rows that the tree was not grown from
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit_no_refcount, njit_refcount
from eigenwood.core.boosting.histogram import write_words
from eigenwood.core.boosting.leaves import leaf_quantile
from eigenwood.core.boosting.losses import (
    CUSTOM,
    HUBER,
    QUANTILE,
    SOFTMAX,
    has_flat_hessian,
    row_loss,
    write_class_gradients,
    write_gradients,
    write_shares,
)
from eigenwood.core.boosting.search import histogram_task, search_task
from eigenwood.core.boosting.types import FEATURE as NODE_FEATURE
from eigenwood.core.boosting.types import LEFT, RIGHT, BoostNodes, BoostParams, BoostTable, BoostTarget, Constraints
from eigenwood.core.boosting.workspace import (
    CLASS,
    DELTA,
    END,
    FIRST,
    GRADIENT_SCALE,
    GRADIENT_UNIT,
    HESSIAN_SCALE,
    HESSIAN_UNIT,
    HISTOGRAM,
    IS_FLAT,
    KIND,
    LAST,
    LEAF,
    LOSS,
    MOST_GRADIENT,
    MOST_HESSIAN,
    MOVE,
    N_THREADS,
    N_TRAIN,
    NODE,
    NUMBER,
    ORDER,
    OUTPUT,
    PARTITION,
    REPEATS,
    ROOT,
    ROUND,
    ROW_BLOCK,
    SEARCH,
    SIDE,
    START,
    SUMS,
    UPDATE,
    WALK,
    WEIGHT_UNIT,
    WORDS,
    Histograms,
    Job,
    Leaves,
    Rows,
    Scan,
)
from eigenwood.core.crew import (
    LEADER,
    MOST_LOOKS,
    MOST_TASKS,
    add_word,
    finish_task,
    is_closed,
    open_job,
    rest,
    taken_task,
    wait_for_tasks,
)
from eigenwood.core.distinct import splitmix64
from eigenwood.core.fetching import fetch

ROWS_AHEAD = 32  # whose numbers are asked for before their turn
WITHOUT_SIGN = np.int64(np.iinfo(np.int64).max)
WORTH_SHARING = 8000  # nanoseconds, roughly: less is done before somebody else has begun


class Boosting(NamedTuple):
    """All that rounds are made of, and where."""

    table: BoostTable
    target: BoostTarget
    params: BoostParams
    constraints: Constraints
    alphas: np.ndarray  # (n_outputs,) of quantiles
    rows: Rows
    histograms: Histograms
    scan: Scan
    leaves: Leaves
    job: Job
    nodes: BoostNodes


@njit_no_refcount
def run_job(b, kind, n_tasks, work):
    """Do all tasks of a job, with whoever helps if it is ``work`` enough, in nanoseconds."""
    b.job.whole[KIND] = kind
    b.job.whole[NUMBER] += 1
    if n_tasks == 1 or n_tasks > MOST_TASKS or work < WORTH_SHARING or b.job.whole[N_THREADS] == 1:
        for task in range(n_tasks):
            do_task(b, 0, task)
        return
    crew = b.job.crew
    open_job(crew, n_tasks)
    task = taken_task(crew, LEADER)
    while task >= 0:
        do_task(b, 0, task)
        finish_task(crew)
        task = taken_task(crew, LEADER)
    wait_for_tasks(crew, n_tasks)


@njit_no_refcount
def help_boosting(b, thread):
    """Do tasks as helper number ``thread`` until nothing comes for a while."""
    crew, n_looks = b.job.crew, 0
    while n_looks < MOST_LOOKS and not is_closed(crew):
        task = taken_task(crew, thread)
        if task < 0:
            n_looks += 1
            rest()
        else:
            n_looks = 0
            do_task(b, thread, task)
            finish_task(crew)


@njit_no_refcount
def do_task(b, thread, task):
    """Do one task of the open job."""
    kind = b.job.whole[KIND]
    if kind == HISTOGRAM:
        histogram_task(b.table, b.rows, b.histograms, b.leaves.whole, b.job.whole, thread, task)
    elif kind == SEARCH:
        search_task(b, thread, task)
    elif kind == PARTITION:
        partition_task(b.table, b.rows, b.leaves, b.job, task)
    elif kind == MOVE:
        move_task(b.rows, b.leaves, b.job, task)
    elif kind == SUMS:
        sums_task(b.target, b.rows, b.leaves, b.job, task)
    elif kind == ORDER:
        order_task(b.target, b.params, b.alphas, b.rows, b.leaves, b.nodes, b.job, task)
    elif kind == UPDATE:
        update_task(b.rows, b.leaves, b.nodes, b.job, task)
    elif kind == WALK:
        walk_task(b.table, b.rows, b.leaves, b.nodes, b.job, task)
    elif kind == WORDS:
        words_task(b.table, b.params, b.rows, b.job, task)
    elif kind == CLASS:
        class_task(b.target, b.rows, b.job, task)
    else:
        gradients_task(b.target, b.params, b.alphas, b.rows, b.job, thread, task)


# ---- rows ----------------------------------------------------------------------------------------------------------


@njit_no_refcount
def block_of(job, n_rows, task):
    """Return where a block of rows begins and ends: training rows come first, and no block has rows of both kinds."""
    n_train = job.whole[N_TRAIN]
    n_blocks = -(-n_train // ROW_BLOCK)
    first = task * ROW_BLOCK if task < n_blocks else n_train + (task - n_blocks) * ROW_BLOCK
    return first, min(first + ROW_BLOCK, n_train if task < n_blocks else n_rows)


@njit_no_refcount
def gradients_task(target, params, alphas, rows, job, thread, task):
    """Write the gradients of a block of rows, or the shares of its classes; note its loss and the largest gradient."""
    first, last = block_of(job, rows.gradients.size, task)
    output, y, room, bits = job.whole[OUTPUT], target.y, job.room[thread], job.bits[thread]
    if params.loss == SOFTMAX:
        loss = write_shares(rows.scores, y, first, last, room, bits, rows.shares)
    elif params.loss == CUSTOM:
        loss = np.nan
    else:
        loss = write_gradients(
            params.loss, alphas[output], job.real[DELTA], y[first:last], rows.scores[output, first:last], room, bits,
            rows.gradients[first:last], rows.hessians[first:last],
        )  # fmt: skip
    if target.weights.size > 0:
        loss = weigh(target, params, alphas[output], rows, job, output, first, last)
    job.block[task, LOSS] = loss
    write_largest(rows, job, first, last, task)


@njit_no_refcount
def weigh(target, params, alpha, rows, job, output, first, last):
    """Multiply gradients and hessians with the weights, unless rows are repeated; return the weighted loss."""
    total, flat = 0.0, has_flat_hessian(params.loss)
    for i in range(first, last):
        w = target.weights[i]
        if params.loss == SOFTMAX:
            total -= w * np.log(max(rows.shares[np.int64(target.y[i]), i], 1e-300))
            continue
        total += w * row_loss(params.loss, alpha, job.real[DELTA], target.y[i], rows.scores[output, i])
        if job.whole[REPEATS] == 0:
            rows.gradients[i] *= w
            rows.hessians[i] = w if flat else rows.hessians[i] * w
    return total


@njit_no_refcount
def write_largest(rows, job, first, last, task):
    """Note the largest gradient and hessian of a block; if one is not a number, the largest is none."""
    most = largest_bits(rows.gradients.view(np.int64)[first:last])
    most_h = np.int64(0)
    if job.whole[IS_FLAT] == 0:
        most_h = largest_bits(rows.hessians.view(np.int64)[first:last])
    bits = job.block.view(np.int64)
    bits[task, MOST_GRADIENT], bits[task, MOST_HESSIAN] = most, most_h


@njit_no_refcount
def largest_bits(bits):
    """Return the bits of the largest of some numbers without their signs: they are in the order of whole numbers."""
    most = np.int64(0)
    for i in range(bits.size):
        most = max(most, bits[i] & WITHOUT_SIGN)
    return most


@njit_no_refcount
def class_task(target, rows, job, task):
    """Write the gradients of one class for a block of rows."""
    first, last = block_of(job, rows.gradients.size, task)
    k = job.whole[OUTPUT]
    write_class_gradients(
        rows.shares[k, first:last], k, target.y[first:last], rows.gradients[first:last], rows.hessians[first:last]
    )
    if target.weights.size > 0 and job.whole[REPEATS] == 0:
        for i in range(first, last):
            rows.gradients[i] *= target.weights[i]
            rows.hessians[i] *= target.weights[i]
    write_largest(rows, job, first, last, task)


@njit_no_refcount
def words_task(table, params, rows, job, task):
    """Write gradients and hessians of a block of rows as whole numbers, and the rows in order if none is left out."""
    first, last = block_of(job, rows.gradients.size, task)
    if last <= job.whole[N_TRAIN] == params.n_drawn and job.whole[REPEATS] == 0:
        for i in range(first, last):
            rows.order[0, i] = i
    seed = splitmix64(params.seed ^ np.uint64(job.whole[ROUND] * params.n_outputs + job.whole[OUTPUT]))
    write_words(
        rows.gradients, rows.hessians, table.row_hash, job.real[GRADIENT_SCALE], job.real[HESSIAN_SCALE],
        job.whole[IS_FLAT] != 0, seed, first, last, rows.words,
    )  # fmt: skip


# ---- rows to their sides -------------------------------------------------------------------------------------------


@njit_no_refcount
def partition_task(table, rows, leaves, job, task):
    """Write a block of a leaf's rows to the other order: those that go left from its front, others from its end."""
    leaf, first, last = job.whole[LEAF], job.tasks[task, 0], job.tasks[task, 1]
    side, column = leaves.side[leaves.whole[leaf, NODE]], table.column[job.whole[FIRST]]
    codes, shift = table.codes[column // 8], np.uint64(8 * (column % 8))
    source, target = rows.order[leaves.whole[leaf, SIDE]], rows.order[1 - leaves.whole[leaf, SIDE]]
    job.n_left[task] = divide(codes, shift, side, source, first, last, target)


@njit_no_refcount
def divide(codes, shift, side, source, first, last, target):
    """Write those that go left to the front of a place, and the others to its end, backwards; return how many go left.

    Every row is written to both ends, and one of the two is written over: no branch that could be guessed wrong.
    """
    low, high, rows = np.uint64(first), np.uint64(last - 1), source[first:last]
    for i in range(rows.size):
        row = rows[i]
        left = np.uint64(side[(codes[np.uint64(row)] >> shift) & np.uint64(255)])
        target[low] = row
        target[high] = row
        low += left
        high -= np.uint64(1) - left
    return np.int64(low) - first


@njit_no_refcount
def move_task(rows, leaves, job, task):
    """Bring the two parts of a block to their places among the rows of the children."""
    leaf_start, first, last = job.whole[FIRST], job.tasks[task, 0], job.tasks[task, 1]
    left, right, n_left = job.tasks[task, 2], job.whole[LAST], job.n_left[task]
    right += first - leaf_start - (left - leaf_start)  # rows before this block that go right
    side = leaves.whole[job.whole[LEAF], SIDE]
    source, target = rows.order[1 - side], rows.order[side]
    for i in range(n_left):
        target[left + i] = source[first + i]
    n = last - first
    for i in range(n - n_left):
        target[right + i] = source[last - 1 - i]


# ---- leaves --------------------------------------------------------------------------------------------------------


@njit_no_refcount
def sums_task(target, rows, leaves, job, task):
    """Add up gradients, hessians and weights of some rows of a leaf, as whole numbers so fine that nothing is lost."""
    leaf, first, last = job.tasks[task, 0], job.tasks[task, 1], job.tasks[task, 2]
    g_unit, h_unit, w_unit = job.real[GRADIENT_UNIT], job.real[HESSIAN_UNIT], job.real[WEIGHT_UNIT]
    order = rows.order[leaves.whole[leaf, SIDE], first:last]
    g, h, w = np.int64(0), np.int64(0), np.int64(0)
    if job.whole[IS_FLAT] == 0:
        for i in range(order.size):
            ahead = np.uint64(order[min(i + ROWS_AHEAD, order.size - 1)])
            fetch(rows.gradients, ahead)
            fetch(rows.hessians, ahead)
            row = np.uint64(order[i])
            g += np.int64(rows.gradients[row] * g_unit)
            h += np.int64(rows.hessians[row] * h_unit)
    else:
        for i in range(order.size):
            fetch(rows.gradients, np.uint64(order[min(i + ROWS_AHEAD, order.size - 1)]))
            g += np.int64(rows.gradients[np.uint64(order[i])] * g_unit)
    if target.weights.size > 0 and job.whole[REPEATS] == 0:
        for i in range(order.size):
            w += np.int64(target.weights[np.uint64(order[i])] * w_unit)
    add_word(leaves.sums, 3 * leaf, g)
    add_word(leaves.sums, 3 * leaf + 1, h)
    add_word(leaves.sums, 3 * leaf + 2, w)


@njit_refcount
def order_task(target, params, alphas, rows, leaves, nodes, job, leaf):
    """Write the value of a leaf that is an order statistic of what is left of its amounts."""
    first, last, output = leaves.whole[leaf, START], leaves.whole[leaf, END], job.whole[OUTPUT]
    own, scores, order = rows.rest[first:last], rows.scores[output], rows.order[leaves.whole[leaf, SIDE]]
    is_weighted = target.weights.size > 0 and job.whole[REPEATS] == 0
    if is_weighted:  # then weights of equal values are added up in the same order by any number of threads
        order[first:last].sort()
    for i in range(first, last):
        row = order[i]
        rows.rest[i] = target.y[row] - scores[row]
    weights = np.empty(0)
    if is_weighted:
        weights = target.weights[order[first:last]]
    share = alphas[output] if params.loss == QUANTILE else 0.5
    value = leaf_quantile(own, weights, share)
    if params.loss == HUBER:
        total, weight, delta = 0.0, 0.0, job.real[DELTA]
        for i in range(own.size):  # in order, since it was sorted
            w = weights[i] if weights.size > 0 else 1.0
            total += w * min(max(own[i] - value, -delta), delta)
            weight += w
        value += total / weight
    nodes.real[job.whole[ROOT] + leaves.whole[leaf, NODE], 0] = params.learning_rate * value


@njit_no_refcount
def update_task(rows, leaves, nodes, job, task):
    """Add the value of a leaf to the scores of some of its rows."""
    leaf, first, last = job.tasks[task, 0], job.tasks[task, 1], job.tasks[task, 2]
    value, scores = nodes.real[job.whole[ROOT] + leaves.whole[leaf, NODE], 0], rows.scores[job.whole[OUTPUT]]
    order = rows.order[leaves.whole[leaf, SIDE], first:last]
    for i in range(order.size):
        scores[np.uint64(order[i])] += value


@njit_no_refcount
def walk_task(table, rows, leaves, nodes, job, task):
    """Add the values of their leaves to the scores of some rows that go through the tree by their codes."""
    first = job.whole[FIRST] + task * ROW_BLOCK
    last, root = min(first + ROW_BLOCK, job.whole[LAST]), job.whole[ROOT]
    scores, codes, whole = rows.scores[job.whole[OUTPUT]], table.codes, nodes.whole
    for i in range(first, last):
        node = np.int64(0)
        while whole[root + node, LEFT] > 0:
            column = table.column[whole[root + node, NODE_FEATURE]]
            code = (codes[column // 8, i] >> np.uint64(8 * (column % 8))) & np.uint64(255)
            node = np.int64(whole[root + node, LEFT if leaves.side[node, code] != 0 else RIGHT])
        scores[i] += nodes.real[root + node, 0]
