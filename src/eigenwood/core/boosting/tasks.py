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
from eigenwood.core.bits import have_common
from eigenwood.core.boosting.histogram import add_group, add_to_histogram, clear, subtract, write_words
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
from eigenwood.core.boosting.split import (
    NO_GAIN,
    best_bounded_cut,
    best_cut,
    list_absent,
    order_categories,
    write_category_sums,
    write_listed,
    write_sums,
)
from eigenwood.core.boosting.types import FEATURE as NODE_FEATURE
from eigenwood.core.boosting.types import LEFT, RIGHT, BoostNodes, BoostParams, BoostTable, BoostTarget, Constraints
from eigenwood.core.boosting.workspace import (
    BLOCK,
    COUNT,
    END,
    GRADIENT,
    HESSIAN,
    LOWER,
    NODE,
    ROW_BLOCK,
    SIDE,
    SLOT,
    START,
    UPPER,
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

GRADIENTS, CLASS, WORDS, HISTOGRAM, SEARCH, PARTITION, MOVE, SUMS, ORDER, UPDATE, WALK = range(11)
# what a job is about, in whole numbers …
KIND, OUTPUT, LEAF, OTHER_LEAF, COUNTED, REDUCED, FIRST, LAST = range(8)
NUMBER, ROUND, N_TRAIN, ROOT, FLAT, N_THREADS, REPEATS = range(8, 15)
DELTA, GRADIENT_SCALE, HESSIAN_SCALE, GRADIENT_UNIT, HESSIAN_UNIT, WEIGHT_UNIT, L2, LEAST_HESSIAN, GAIN_UNIT = range(
    9
)  # … and in real ones
LOSS, MOST_GRADIENT, MOST_HESSIAN = range(3)
NOBODY = -1
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
            params.loss, alphas[output], job.real[DELTA], y, rows.scores[output], first, last, room, bits,
            rows.gradients, rows.hessians,
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
    if job.whole[FLAT] == 0:
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
    write_class_gradients(rows.shares, job.whole[OUTPUT], target.y, first, last, rows.gradients, rows.hessians)
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
        job.whole[FLAT] != 0, seed, first, last, rows.words,
    )  # fmt: skip


# ---- histograms and cuts -------------------------------------------------------------------------------------------


@njit_no_refcount
def histogram_task(table, rows, histograms, leaves, job, thread, task):
    """Add a block of a leaf's rows to the histograms of one group of columns; those of the leader are the leaf's."""
    n_groups = table.codes.shape[0]
    group, block, leaf = task % n_groups, task // n_groups, job[LEAF]
    first = leaves[leaf, START] + block * BLOCK
    last = min(first + BLOCK, leaves[leaf, END])
    out = histograms.slots[leaves[leaf, SLOT]] if thread == 0 else histograms.partial[thread]
    if histograms.stamp[thread, group] != job[NUMBER]:
        histograms.stamp[thread, group] = job[NUMBER]
        clear(out, table.bin_start, group)
    order, packed = rows.order[leaves[leaf, SIDE]], histograms.packed[thread]
    add_to_histogram(table.codes, group, rows.words, order, first, last, table.bin_start, packed, out)


@njit_no_refcount
def join_histograms(table, histograms, slot, number, n_threads):
    """Add what helpers have added up in a job to the histograms of its leaf."""
    for group in range(table.codes.shape[0]):
        if histograms.stamp[0, group] != number:
            clear(histograms.slots[slot], table.bin_start, group)
        for thread in range(1, n_threads):
            if histograms.stamp[thread, group] == number:
                add_group(histograms.partial[thread], table.bin_start, group, histograms.slots[slot])


@njit_no_refcount
def search_task(b, thread, group):
    """Complete the histograms of a group of columns, as far as they are wanted, and find the best cuts of its features.

    The rows of the leaf COUNTED are counted; the leaf REDUCED has the histogram of its parent, and keeps what is left
    without its sibling.
    """
    job, leaves, slots, bin_start = b.job.whole, b.leaves.whole, b.histograms.slots, b.table.bin_start
    counted, reduced = job[COUNTED], job[REDUCED]
    if counted != NOBODY:
        out, order = slots[leaves[counted, SLOT]], b.rows.order[leaves[counted, SIDE]]
        clear(out, bin_start, group)
        add_to_histogram(
            b.table.codes, group, b.rows.words, order, leaves[counted, START], leaves[counted, END], bin_start,
            b.histograms.packed[thread], out,
        )  # fmt: skip
    if reduced != NOBODY:
        sibling = job[OTHER_LEAF] if reduced == job[LEAF] else job[LEAF]
        subtract(slots[leaves[sibling, SLOT]], bin_start, group, slots[leaves[reduced, SLOT]])
    for which in range(2):
        leaf = job[LEAF] if which == 0 else job[OTHER_LEAF]
        if b.scan.wanted[which] != 0:
            find_cuts(b.table, b.params, b.constraints, slots, b.scan, b.leaves, b.job, thread, group, which, leaf)


@njit_no_refcount
def find_cuts(table, params, constraints, slots, scan, leaves, job, thread, group, which, leaf):
    """Find the best cuts of the features of a group of columns at a leaf."""
    histogram, own, sums = slots[leaves.whole[leaf, SLOT]], leaves.real[leaf], scan.sums[thread]
    total = (own[COUNT], own[HESSIAN], own[GRADIENT])
    l2, least = job.real[L2], job.real[LEAST_HESSIAN]
    for f in table.features[table.feature_start[group] : table.feature_start[group + 1]]:
        scan.real[which, f, 0] = NO_GAIN
        if scan.is_drawn[which, f] == 0:
            continue
        if params.has_groups and not have_common(leaves.allowed[leaf], constraints.allowed[f]):
            continue
        if table.is_category[f]:
            first = table.bin_start[table.column[f]]
            n = order_categories(histogram, first, table.n_bins[f], total, l2, scan.order[thread])
            write_category_sums(histogram, first, scan.order[thread], n, sums)
            n_values, n_cuts, missing = n, n - 1, False
        else:
            n_values = write_sums(histogram, table, f, total, sums)
            missing = table.missing[f] >= 0
            n_cuts = n_values - (0 if missing else 1)
        if n_cuts < 1:
            continue
        sign = np.float64(constraints.monotonic_cst[f])
        bounds = (own[LOWER], own[UPPER], sign)
        gain, at = best_of(sums, n_cuts, (0.0, 0.0, 0.0), total, params, l2, least, bounds)
        more, last = (0.0, 0.0, 0.0), n_values - 1
        left = sums[0, at] > total[0] - sums[0, at]  # where nothing is missing, the heavier side gets what is
        if missing and sums[0, last] < total[0]:
            rest, left = (total[0] - sums[0, last], total[1] - sums[1, last], total[2] - sums[2, last]), False
            other, other_at = best_of(sums, n_cuts - 1, rest, total, params, l2, least, bounds)
            if other > gain:
                gain, at, left, more = other, other_at, True, rest
        scan.real[which, f, 0] = gain
        scan.real[which, f, 1], scan.real[which, f, 2] = sums[0, at] + more[0], sums[2, at] + more[2]
        scan.real[which, f, 3] = sums[1, at] + more[1]
        scan.whole[which, f, 0], scan.whole[which, f, 1] = at, left
        if table.is_category[f]:
            write_listed(scan.order[thread], at + 1, scan.listed[which, f])
            if left:
                list_absent(histogram, first, table.n_bins[f], scan.listed[which, f])


@njit_no_refcount
def best_of(sums, n_cuts, more, total, params, l2, least_hessian, bounds):
    """Return the largest gain of a cut and its bin, within bounds if there are any."""
    if params.has_bounds:
        return best_bounded_cut(
            sums, n_cuts, more, total, params.min_samples_leaf, least_hessian, l2, bounds[0], bounds[1], bounds[2]
        )
    return best_cut(sums, n_cuts, more, total, params.min_samples_leaf, least_hessian, l2)


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
    low, high = np.uint64(first), np.uint64(last - 1)
    for i in range(first, last):
        row = source[i]
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
    order = rows.order[leaves.whole[leaf, SIDE]]
    g, h, w = np.int64(0), np.int64(0), np.int64(0)
    if job.whole[FLAT] == 0:
        for i in range(first, last):
            ahead = np.uint64(order[min(i + ROWS_AHEAD, last - 1)])
            fetch(rows.gradients, ahead)
            fetch(rows.hessians, ahead)
            row = np.uint64(order[i])
            g += np.int64(rows.gradients[row] * g_unit)
            h += np.int64(rows.hessians[row] * h_unit)
    else:
        for i in range(first, last):
            fetch(rows.gradients, np.uint64(order[min(i + ROWS_AHEAD, last - 1)]))
            g += np.int64(rows.gradients[np.uint64(order[i])] * g_unit)
    if target.weights.size > 0 and job.whole[REPEATS] == 0:
        for i in range(first, last):
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
    order = rows.order[leaves.whole[leaf, SIDE]]
    for i in range(first, last):
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
