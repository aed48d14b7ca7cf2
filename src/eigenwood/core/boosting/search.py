"""Histograms of leaves, filled or left over from their parents, and the best cut of each group of columns.

search_task completes the histograms of one or two siblings and looks for their best cuts, group by group, so that a
group's numbers stay with one core.
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit_no_refcount
from eigenwood.core.bits import have_common
from eigenwood.core.boosting.histogram import (
    WIDE,
    add_group,
    add_to_histogram,
    clear,
    form_of,
    subtract,
    sums_in,
    words_of,
)
from eigenwood.core.boosting.split import (
    NO_GAIN,
    largest_gain,
    order_categories,
    place_of,
    reaches,
    write_bounded_gains,
    write_category_sums,
    write_gains,
    write_listed,
    write_sums,
)
from eigenwood.core.boosting.workspace import (
    BLOCK_ROWS,
    COUNT,
    COUNTED,
    END,
    GRADIENT,
    HESSIAN,
    IS_FLAT,
    L2,
    LEAF,
    LEAST_HESSIAN,
    LOWER,
    NOBODY,
    NUMBER,
    OTHER_LEAF,
    REDUCED,
    SIDE,
    SLOT,
    START,
    UPPER,
)


@njit_no_refcount
def leaf_form(job, leaves, leaf):
    """Return what the words of a leaf's histogram hold."""
    return form_of(job[IS_FLAT] != 0, leaves[leaf, END] - leaves[leaf, START])


# ---- histograms ----------------------------------------------------------------------------------------------------


@njit_no_refcount
def histogram_task(table, rows, histograms, leaves, job, thread, task):
    """Add a block of a leaf's rows to the histograms of one group of columns; those of the leader are the leaf's."""
    n_groups, n_rows = table.codes.shape[0], job[BLOCK_ROWS]
    group, leaf = task % n_groups, job[LEAF]
    first, form = leaves[leaf, START] + task // n_groups * n_rows, leaf_form(job, leaves, leaf)
    last = min(first + n_rows, leaves[leaf, END])
    out = histograms.slots[leaves[leaf, SLOT]] if thread == 0 else histograms.partial[thread]
    is_new = histograms.stamp[thread, group] != job[NUMBER]
    histograms.stamp[thread, group] = job[NUMBER]
    own, packed = rows.order[leaves[leaf, SIDE], first:last], histograms.packed[thread]
    add_to_histogram(form, table.codes, group, rows.words, own, table.bin_start, packed, is_new, out)


@njit_no_refcount
def join_histograms(table, histograms, form, slot, number, n_threads):
    """Add what helpers have added up in a job to the histograms of its leaf."""
    for group in range(table.codes.shape[0]):
        if histograms.stamp[0, group] != number:
            clear(histograms.slots[slot], form, table.bin_start, group)
        for thread in range(1, n_threads):
            if histograms.stamp[thread, group] == number:
                add_group(histograms.partial[thread], form, table.bin_start, group, histograms.slots[slot])


@njit_no_refcount
def count_for_search(b, thread, group, leaf):
    """Fill the histogram of a leaf, for one group of columns."""
    leaves, table, packed = b.leaves.whole, b.table, b.histograms.packed[thread]
    out, form = b.histograms.slots[leaves[leaf, SLOT]], leaf_form(b.job.whole, leaves, leaf)
    own = b.rows.order[leaves[leaf, SIDE], leaves[leaf, START] : leaves[leaf, END]]
    add_to_histogram(form, table.codes, group, b.rows.words, own, table.bin_start, packed, True, out)


@njit_no_refcount
def leave_rest(b, group, leaf, sibling):
    """Leave to a leaf, which has the histogram of its parent, what is not its sibling's."""
    job, leaves, slots = b.job.whole, b.leaves.whole, b.histograms.slots
    n_rows = leaves[leaf, END] - leaves[leaf, START] + leaves[sibling, END] - leaves[sibling, START]
    subtract(
        slots[leaves[sibling, SLOT]], leaf_form(job, leaves, sibling), b.table.bin_start, group,
        slots[leaves[leaf, SLOT]], form_of(job[IS_FLAT] != 0, n_rows), leaf_form(job, leaves, leaf),
    )  # fmt: skip


# ---- cuts ----------------------------------------------------------------------------------------------------------


@njit_no_refcount
def search_task(b, thread, group):
    """Complete the histograms of a group of columns, as far as they are wanted, and find the best cuts of its features.

    The rows of the leaf COUNTED are counted; the leaf REDUCED has the histogram of its parent, and keeps what is left
    without its sibling.
    """
    job, most = b.job.whole, b.scan.most[thread]
    if b.scan.stamp[thread, 0] != job[NUMBER]:
        b.scan.stamp[thread, 0] = job[NUMBER]
        most[0] = most[1] = NO_GAIN
    if job[COUNTED] != NOBODY:
        count_for_search(b, thread, group, job[COUNTED])
    if job[REDUCED] != NOBODY:
        leave_rest(b, group, job[REDUCED], job[OTHER_LEAF] if job[REDUCED] == job[LEAF] else job[LEAF])
    for which in range(2):
        if b.scan.wanted[which] != 0:
            find_cut(b, thread, group, which, job[LEAF] if which == 0 else job[OTHER_LEAF])


@njit_no_refcount
def find_cut(b, thread, group, which, leaf):
    """Find the best cut of the features of a group of columns at a leaf; of equal gains the first feature wins."""
    table, scan, own = b.table, b.scan, b.leaves.real[leaf]
    histogram, form = b.histograms.slots[b.leaves.whole[leaf, SLOT]], leaf_form(b.job.whole, b.leaves.whole, leaf)
    sums, gains, order, found = scan.sums[thread], scan.gains[thread], scan.order[thread], scan.real[which, group]
    total, best, chosen = (own[COUNT], own[HESSIAN], own[GRADIENT]), np.int64(0), -1
    words = words_of(form, np.int64(total[0]), np.int64(total[1]), np.int64(total[2]))
    nothing, rows_in = (np.int64(0), np.int64(0)), 1 if form == WIDE else 0
    known = scan.most[thread, which : which + 1]  # by this thread, of other groups too: what gains less is not chosen
    found[0] = NO_GAIN
    for f in table.features[table.feature_start[group] : table.feature_start[group + 1]]:
        if not is_wanted(b, which, leaf, f):
            continue
        first, n_bins = table.bin_start[table.column[f]] + table.first_code[f], table.n_bins[f]
        if table.is_category[f]:
            n_bins = order_categories(form, histogram, first, n_bins, total, b.job.real[L2], order, gains[0])
            for k in range(rows_in + 1):
                write_category_sums(histogram[k], first, order, n_bins, sums[k])
        else:
            for k in range(rows_in + 1):
                write_sums(histogram[k], first, n_bins, table.common[f], words[k], sums[k])
        rest, turn = nothing, 0
        most = most_gained(b, form, sums, n_bins, nothing, own, f, known[0], gains[0])
        if table.missing[f] >= 0:
            rest = (words[0] - sums[0, n_bins - 2], words[1] - sums[1, n_bins - 2])
            if rest[rows_in] != 0:
                other = most_gained(b, form, sums, n_bins, rest, own, f, known[0], gains[1])
                most, turn = max(most, other), 1 if other > most else 0
        if most == 0 or most < best or (most == best and f > chosen):
            continue
        best, chosen, more = most, f, rest if turn == 1 else nothing
        at = place_of(gains[turn], best)
        found[0] = gains[turn, at]
        known[0] = max(known[0], found[0])
        found[1], found[2], found[3] = sums_in(form, sums[0, at] + more[0], sums[1, at] + more[1])
        # missing numbers go where that gains most; where there are none, to the heavier side
        left = turn == 1 if rest[rows_in] != 0 else 2.0 * found[1] > total[0]
        scan.whole[which, group, 1], scan.whole[which, group, 2] = at, left
        if table.is_category[f]:
            write_listed(order, at + 1, n_bins, table.n_bins[f], left, scan.listed[which, group])
    scan.whole[which, group, 0] = chosen


@njit_no_refcount
def is_wanted(b, which, leaf, f):
    """Return whether a leaf may ask about a feature."""
    if b.scan.is_drawn[which, f] == 0:
        return False
    return not b.params.has_groups or have_common(b.leaves.allowed[leaf], b.constraints.allowed[f])


@njit_no_refcount
def most_gained(b, form, sums, n_bins, more, own, f, known, gains):
    """Write the gains of all cuts of a feature at a leaf, within bounds if there are any; return the largest's bits.

    If all are less than a known one, they need not be written, and 0 may be returned.
    """
    params, l2, least_h = b.params, b.job.real[L2], b.job.real[LEAST_HESSIAN]
    total, least = (own[COUNT], own[HESSIAN], own[GRADIENT]), params.min_samples_leaf
    if params.has_bounds:
        bounds = (own[LOWER], own[UPPER], np.float64(b.constraints.monotonic_cst[f]))
        write_bounded_gains(form, sums[0], sums[1], n_bins, more, total, least, least_h, l2, bounds, gains)
    elif not reaches(form, sums[0], sums[1], n_bins, more, total, least, l2, known):
        return np.int64(0)
    else:
        write_gains(form, sums[0], sums[1], n_bins, more, total, least, least_h, l2, gains)
    return largest_gain(gains, n_bins)
