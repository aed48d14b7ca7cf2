"""One tree of a round: leaves are split, the largest gain first, until there are enough.

histogram of the root ──► best split ──► rows to their sides ──► histogram of the lighter child
        ▲                                                         the other: what is left of the parent's
        └──────────── the open leaf with the largest gain ◄──────── best splits of both
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit_no_refcount
from eigenwood.core.bits import have_common
from eigenwood.core.boosting.histogram import sums_in
from eigenwood.core.boosting.search import join_histograms, leaf_form
from eigenwood.core.boosting.split import NO_GAIN, write_sides
from eigenwood.core.boosting.tasks import run_job
from eigenwood.core.boosting.types import BIN as NODE_BIN
from eigenwood.core.boosting.types import DEFAULT_LEFT, LEFT, N_ROWS, RIGHT
from eigenwood.core.boosting.types import FEATURE as NODE_FEATURE
from eigenwood.core.boosting.types import GAIN as NODE_GAIN
from eigenwood.core.boosting.workspace import (
    BIN,
    BLOCK,
    BLOCK_ROWS,
    COUNT,
    COUNTED,
    DEPTH,
    END,
    FEATURE,
    FIRST,
    GAIN,
    GAIN_UNIT,
    GRADIENT,
    HESSIAN,
    HISTOGRAM,
    L2,
    LAST,
    LEAF,
    LEFT_COUNT,
    LEFT_GRADIENT,
    LEFT_HESSIAN,
    LOWER,
    MISSING_LEFT,
    MOVE,
    N_THREADS,
    NOBODY,
    NODE,
    NUMBER,
    OTHER_LEAF,
    PARTITION,
    REDUCED,
    ROOT,
    SEARCH,
    SHARED_ROWS,
    SIDE,
    SLOT,
    START,
    UPPER,
)
from eigenwood.core.distinct import splitmix64

NO_SLOT = -1
ALL = np.uint64(np.iinfo(np.uint64).max)
GAIN_ROUNDING = 1e-11  # of what a node is worth: a split that gains less gains nothing
UNIT = 1.0 / (1 << 53)


@njit_no_refcount
def grow_tree(b, seed):
    """Grow a tree over the drawn rows from node ``ROOT`` of the job on; return how many nodes and leaves it has."""
    leaves, params, n_drawn = b.leaves, b.params, b.rows.order.shape[1]
    free_all_slots(b.histograms.free)
    start_leaf(leaves, 0, 0, n_drawn, 0, 0, 0)
    leaves.real[0, LOWER], leaves.real[0, UPPER] = -np.inf, np.inf
    for k in range(leaves.allowed.shape[1]):
        leaves.allowed[0, k] = ALL
    write_node(b, 0, n_drawn)
    n_leaves, n_nodes, n_open = 1, 1, 0
    if n_leaves < params.max_leaves and is_divisible(b, 0, n_drawn):
        take_slot(b, 0)
        count_rows(b, 0)
        write_totals(b, 0)
        want_splits(b, 0, NOBODY, True, False)
        n_open = find_splits(b, seed, n_open)
    while n_open > 0 and n_leaves < params.max_leaves:
        n_open, leaf = taken_leaf(leaves, n_open, params.best_first)
        split_leaf(b, leaf, n_leaves, n_nodes)
        n_leaves, n_nodes = n_leaves + 1, n_nodes + 2
        if n_leaves < params.max_leaves:
            n_open = look_at_children(b, leaf, n_leaves - 1, seed, n_open)
    return n_nodes, n_leaves


@njit_no_refcount
def start_leaf(leaves, leaf, first, last, depth, node, side):
    """Write where a leaf stands, and in which of the two orders of rows."""
    own = leaves.whole[leaf]
    own[START], own[END], own[DEPTH], own[NODE], own[SLOT] = first, last, depth, node, NO_SLOT
    own[SIDE] = side


@njit_no_refcount
def write_node(b, node, n_rows):
    """Write a node that is a leaf so far."""
    at = b.job.whole[ROOT] + node
    b.nodes.whole[at, LEFT] = b.nodes.whole[at, RIGHT] = -1
    b.nodes.whole[at, NODE_FEATURE], b.nodes.whole[at, NODE_BIN] = -1, 0
    b.nodes.whole[at, DEFAULT_LEFT], b.nodes.whole[at, N_ROWS] = 0, n_rows
    b.nodes.real[at, NODE_GAIN] = 0.0


@njit_no_refcount
def is_divisible(b, depth, n_rows):
    """Return whether a node may be split, as far as its depth and its rows go."""
    least = max(b.params.min_samples_split, 2 * b.params.min_samples_leaf)
    return depth < b.params.max_depth and n_rows >= least


@njit_no_refcount
def taken_leaf(leaves, n_open, best_first):
    """Take a leaf from the open ones, that with the largest gain or the last; return how many are left, and the leaf.

    Of equal gains that of the older leaf wins.
    """
    at = n_open - 1
    if best_first:
        for i in range(n_open):
            gain, best = leaves.real[leaves.open[i], GAIN], leaves.real[leaves.open[at], GAIN]
            if gain > best or (gain == best and leaves.open[i] < leaves.open[at]):
                at = i
    leaf = leaves.open[at]
    leaves.open[at] = leaves.open[n_open - 1]
    return n_open - 1, leaf


# ---- histograms ----------------------------------------------------------------------------------------------------


@njit_no_refcount
def free_all_slots(free):
    """Give all histograms back."""
    for i in range(free.size - 1):
        free[i] = i
    free[free.size - 1] = free.size - 1


@njit_no_refcount
def take_slot(b, leaf):
    """Give a leaf a histogram."""
    free = b.histograms.free
    free[free.size - 1] -= 1
    b.leaves.whole[leaf, SLOT] = free[free[free.size - 1]]


@njit_no_refcount
def give_slot_back(b, leaf):
    """Take a leaf's histogram from it."""
    free = b.histograms.free
    if b.leaves.whole[leaf, SLOT] != NO_SLOT:
        free[free[free.size - 1]] = b.leaves.whole[leaf, SLOT]
        free[free.size - 1] += 1
        b.leaves.whole[leaf, SLOT] = NO_SLOT


@njit_no_refcount
def count_rows(b, leaf):
    """Fill the histogram of a leaf from its rows."""
    n_rows = b.leaves.whole[leaf, END] - b.leaves.whole[leaf, START]
    n_groups, n_columns = b.table.codes.shape[0], b.table.bin_start.size - 1
    size = min(BLOCK, max(-(-n_rows // b.job.whole[N_THREADS]), SHARED_ROWS // 2))
    b.job.whole[LEAF], b.job.whole[BLOCK_ROWS] = leaf, size
    run_job(b, HISTOGRAM, -(-n_rows // size) * n_groups, n_rows * n_columns // 5)
    slot, number, n_threads = b.leaves.whole[leaf, SLOT], b.job.whole[NUMBER], b.job.whole[N_THREADS]
    join_histograms(b.table, b.histograms, leaf_form(b.job.whole, b.leaves.whole, leaf), slot, number, n_threads)


@njit_no_refcount
def write_totals(b, leaf):
    """Write the sums of all rows of a leaf, from its first column."""
    histogram, own = b.histograms.slots[b.leaves.whole[leaf, SLOT]], b.leaves.real[leaf]
    form = leaf_form(b.job.whole, b.leaves.whole, leaf)
    own[COUNT] = own[HESSIAN] = own[GRADIENT] = 0.0
    for i in range(b.table.bin_start[1]):
        count, hessian, gradient = sums_in(form, histogram[0, i], histogram[-1, i])
        own[COUNT] += count
        own[HESSIAN] += hessian
        own[GRADIENT] += gradient


# ---- splits --------------------------------------------------------------------------------------------------------


@njit_no_refcount
def want_splits(b, leaf, other, left, right):
    """Write which leaves are to be looked at, of one or two whose histograms are there."""
    job, wanted = b.job.whole, b.scan.wanted
    job[LEAF], job[OTHER_LEAF], job[COUNTED], job[REDUCED] = leaf, other, NOBODY, NOBODY
    wanted[0], wanted[1] = left, right


@njit_no_refcount
def find_splits(b, seed, n_open):
    """Find the best splits of the wanted ones of two leaves; return how many leaves are open then."""
    job, n_bins, counted = b.job.whole, b.table.bin_start[-1], b.job.whole[COUNTED]
    work = n_bins * (b.scan.wanted[0] + b.scan.wanted[1]) * 3 // 4
    if counted != NOBODY:
        work += (b.leaves.whole[counted, END] - b.leaves.whole[counted, START]) * (b.table.bin_start.size - 1) // 5
    for which in range(2):
        if b.scan.wanted[which] != 0 and b.params.max_features < b.table.column.size:
            own = job[LEAF] if which == 0 else job[OTHER_LEAF]
            own_seed = splitmix64(seed + np.uint64(b.leaves.whole[own, NODE]))
            draw_features(b.scan.is_drawn[which], b.params, b.constraints.allowed, b.leaves.allowed[own], own_seed)
    run_job(b, SEARCH, b.table.codes.shape[0], work)
    for which in range(2):
        if b.scan.wanted[which] != 0:
            n_open = keep_best(b, which, job[LEAF] if which == 0 else job[OTHER_LEAF], n_open)
    return n_open


@njit_no_refcount
def draw_features(is_drawn, params, groups, allowed, seed):
    """Draw the features that a node looks at, each with the same chance, among those that its path allows."""
    n_left, n_wanted = is_drawn.size, params.max_features
    if params.has_groups:
        n_left = 0
        for f in range(is_drawn.size):
            n_left += have_common(allowed, groups[f])
    for f in range(is_drawn.size):
        is_drawn[f] = 0
        if params.has_groups and not have_common(allowed, groups[f]):
            continue
        chance = np.float64(splitmix64(seed + np.uint64(f)) >> np.uint64(11)) * UNIT
        if chance * n_left < n_wanted:
            is_drawn[f] = 1
            n_wanted -= 1
        n_left -= 1


@njit_no_refcount
def keep_best(b, which, leaf, n_open):
    """Write the best split of a leaf, and let it wait if it gains anything; return how many leaves wait then."""
    own, scan, l2 = b.leaves.real[leaf], b.scan, b.job.real[L2]
    best, feature, at = NO_GAIN, -1, 0
    for group in range(b.table.codes.shape[0]):
        gain, f = scan.real[which, group, 0], scan.whole[which, group, 0]
        if gain > best or (gain == best and 0 <= f < feature):
            best, feature, at = gain, f, group
    worth = own[GRADIENT] * own[GRADIENT] / (own[HESSIAN] + l2)
    if b.params.has_bounds:
        value = min(max(-own[GRADIENT] / (own[HESSIAN] + l2), own[LOWER]), own[UPPER])
        worth = -2.0 * own[GRADIENT] * value - (own[HESSIAN] + l2) * value * value
    gain = best - worth
    unit = b.job.real[GAIN_UNIT]
    if feature < 0 or gain <= GAIN_ROUNDING * best or gain * unit <= b.params.min_gain:
        give_slot_back(b, leaf)
        return n_open
    own[GAIN] = gain
    own[LEFT_COUNT], own[LEFT_HESSIAN] = scan.real[which, at, 1], scan.real[which, at, 2]
    own[LEFT_GRADIENT] = scan.real[which, at, 3]
    whole = b.leaves.whole[leaf]
    whole[FEATURE], whole[BIN] = feature, scan.whole[which, at, 1]
    whole[MISSING_LEFT] = scan.whole[which, at, 2]
    for k in range(b.leaves.listed.shape[1]):
        b.leaves.listed[leaf, k] = scan.listed[which, at, k]
    b.leaves.open[n_open] = leaf
    return n_open + 1


@njit_no_refcount
def split_leaf(b, leaf, new_leaf, n_nodes):
    """Ask the question of a leaf: its rows go to their sides, it becomes its left child, and a new leaf the right."""
    leaves, job = b.leaves, b.job
    whole, real, at = leaves.whole[leaf], leaves.real[leaf], job.whole[ROOT] + leaves.whole[leaf, NODE]
    feature, depth, last = whole[FEATURE], whole[DEPTH] + 1, whole[END]
    write_sides(b.table, feature, whole[BIN], whole[MISSING_LEFT], leaves.listed[leaf], leaves.side[whole[NODE]])
    middle = whole[START] + partition(b, leaf)
    node = b.nodes.whole[at]
    node[LEFT], node[RIGHT], node[NODE_FEATURE] = n_nodes, n_nodes + 1, feature
    node[NODE_BIN] = whole[BIN]
    n_left, n_right = middle - whole[START], last - middle
    node[DEFAULT_LEFT] = whole[MISSING_LEFT]
    b.nodes.real[at, NODE_GAIN] = real[GAIN] * job.real[GAIN_UNIT]
    for k in range(leaves.listed.shape[1]):
        b.nodes.listed[at, k] = leaves.listed[leaf, k]
    slot = whole[SLOT]
    write_node(b, n_nodes, n_left)
    write_node(b, n_nodes + 1, n_right)
    start_leaf(leaves, new_leaf, middle, last, depth, n_nodes + 1, whole[SIDE])
    start_leaf(leaves, leaf, whole[START], middle, depth, n_nodes, whole[SIDE])
    whole[SLOT] = slot
    write_sums_of_children(b, leaf, new_leaf, feature)


@njit_no_refcount
def write_sums_of_children(b, leaf, new_leaf, feature):
    """Write sums, bounds and allowed features of the two parts of a leaf that was split."""
    own, new, l2 = b.leaves.real[leaf], b.leaves.real[new_leaf], b.job.real[L2]
    new[COUNT] = own[COUNT] - own[LEFT_COUNT]
    new[GRADIENT], new[HESSIAN] = own[GRADIENT] - own[LEFT_GRADIENT], own[HESSIAN] - own[LEFT_HESSIAN]
    own[COUNT], own[GRADIENT], own[HESSIAN] = own[LEFT_COUNT], own[LEFT_GRADIENT], own[LEFT_HESSIAN]
    new[LOWER], new[UPPER] = own[LOWER], own[UPPER]
    sign = b.constraints.monotonic_cst[feature]
    if sign != 0:
        left = min(max(-own[GRADIENT] / (own[HESSIAN] + l2), own[LOWER]), own[UPPER])
        right = min(max(-new[GRADIENT] / (new[HESSIAN] + l2), own[LOWER]), own[UPPER])
        middle = 0.5 * (left + right)
        if sign > 0:
            own[UPPER] = new[LOWER] = middle
        else:
            own[LOWER] = new[UPPER] = middle
    allowed = b.leaves.allowed
    for k in range(allowed.shape[1]):
        allowed[leaf, k] &= b.constraints.allowed[feature, k]
        allowed[new_leaf, k] = allowed[leaf, k]


@njit_no_refcount
def partition(b, leaf):
    """Bring the rows of a leaf to their sides; return how many go left.

    One block is brought to its sides in the other order, and stays there; parts of several are brought back together.
    """
    whole, job, n_left = b.leaves.whole[leaf], b.job, 0
    first, last = whole[START], whole[END]
    n_blocks = 1 if job.whole[N_THREADS] == 1 else -(-(last - first) // BLOCK)
    size = last - first if n_blocks == 1 else BLOCK
    job.whole[LEAF], job.whole[FIRST] = leaf, whole[FEATURE]
    for block in range(n_blocks):
        job.tasks[block, 0], job.tasks[block, 1] = first + block * size, min(first + (block + 1) * size, last)
    run_job(b, PARTITION, n_blocks, last - first)
    for block in range(n_blocks):
        job.tasks[block, 2] = first + n_left
        n_left += job.n_left[block]
    if n_blocks == 1:
        whole[SIDE] = 1 - whole[SIDE]
        return n_left
    job.whole[FIRST], job.whole[LAST] = first, first + n_left
    run_job(b, MOVE, n_blocks, last - first)
    return n_left


@njit_no_refcount
def shared_rows(b):
    """Return from how many rows on those of a leaf are shared out; few groups of columns are nothing to share."""
    return SHARED_ROWS if b.table.codes.shape[0] < b.job.whole[N_THREADS] else BLOCK


@njit_no_refcount
def look_at_children(b, leaf, new_leaf, seed, n_open):
    """Find the best splits of two siblings, of which the first has the parent's histogram, if that was kept."""
    whole = b.leaves.whole
    sizes = whole[leaf, END] - whole[leaf, START], whole[new_leaf, END] - whole[new_leaf, START]
    left, right = is_divisible(b, whole[leaf, DEPTH], sizes[0]), is_divisible(b, whole[new_leaf, DEPTH], sizes[1])
    if not left and not right:
        give_slot_back(b, leaf)
        return n_open
    small, large = (leaf, new_leaf) if sizes[0] <= sizes[1] else (new_leaf, leaf)
    parent = whole[leaf, SLOT]
    whole[leaf, SLOT] = NO_SLOT
    if parent == NO_SLOT:
        take_slot(b, large)
        count_rows(b, large)
    else:
        whole[large, SLOT] = parent
    take_slot(b, small)
    is_large = whole[small, END] - whole[small, START] > shared_rows(b)  # so that its rows are shared out by blocks
    if is_large:
        count_rows(b, small)
    want_splits(b, leaf, new_leaf, left, right)
    b.job.whole[COUNTED] = NOBODY if is_large else small
    b.job.whole[REDUCED] = NOBODY if parent == NO_SLOT else large
    n_open = find_splits(b, seed, n_open)
    if not left:
        give_slot_back(b, leaf)
    if not right:
        give_slot_back(b, new_leaf)
    free = b.histograms.free
    if free[free.size - 1] < 2:  # none is left for the next two: these are counted again when their turn comes
        give_slot_back(b, leaf)
        give_slot_back(b, new_leaf)
    return n_open
