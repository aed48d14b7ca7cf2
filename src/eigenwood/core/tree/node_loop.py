"""The node loop: describes a node that waits, finds its best split, divides its rows, and lets its children wait.

    root table   ████████████████████████
                 ████████████│███████████
                 ██│███│█████│██ │████│██      a small node is left for later: small_node.py grows it to its end

Every draw comes from a seed that follows from the node's place in the tree, so it does not matter in how many calls,
or on which threads, the parts of a tree are grown.
"""

from __future__ import annotations

from eigenwood.compiling import njit_no_refcount, njit_refcount
from eigenwood.core.bits import ONE
from eigenwood.core.distinct import splitmix64
from eigenwood.core.tree.criteria import is_classifying, tie_of
from eigenwood.core.tree.node_stats import (
    ROUNDING,
    class_node_stats,
    regression_node_stats,
    sample_in,
    stays_leaf,
    value_of,
    weight_of,
)
from eigenwood.core.tree.split.absolute_error import rows_by_bin
from eigenwood.core.tree.split.best import best_split
from eigenwood.core.tree.split.histogram import bins_of_rows
from eigenwood.core.tree.split.multiway import heaviest_branch, write_amount_rests, write_class_rests
from eigenwood.core.tree.split.partition import partition_rows
from eigenwood.core.tree.thresholds import feature_bin, middle_between, write_listed
from eigenwood.core.tree.types import CATEGORY, LEAF, NO_FEATURE, NO_THRESHOLD, NodeSpan
from eigenwood.core.tree.workspace import (
    CHAINED,
    DEFAULT_LEFT,
    DEPTH,
    END,
    FEATURE,
    IMPURITY,
    LEFT,
    LIST,
    LISTED,
    N_CATEGORIES,
    N_NODES,
    N_OPEN,
    N_ROWS,
    N_SMALL,
    N_SPLITS,
    N_STACK,
    PARENT,
    RIGHT,
    SIDE,
    START,
    THRESHOLD,
    WEIGHT,
    push,
)


@njit_no_refcount
def write_leaf(whole, real, node, n_rows, stats):
    """Write a node that asks nothing."""
    whole[node, LEFT], whole[node, RIGHT], whole[node, FEATURE], whole[node, LISTED] = LEAF, LEAF, NO_FEATURE, 0
    whole[node, DEFAULT_LEFT], whole[node, CHAINED], whole[node, N_ROWS] = 0, 0, n_rows
    real[node, THRESHOLD], real[node, IMPURITY], real[node, WEIGHT] = NO_THRESHOLD, stats.impurity, stats.weight


@njit_no_refcount
def grow_nodes(
    codes,
    target,
    rows,
    features,
    params,
    monotonic_cst,
    logs,
    small,
    buffers,
    ws,
    workspace,
    spare,
    max_splits,
    n_listed,
):
    """Grow the nodes that wait, depth first, with at most ``max_splits`` questions; nodes of at most ``small`` rows are
    left for later. Return whether all are done: if not, there is no room for ``n_listed`` categories more.

    Nothing is allocated here, so no array has to be counted in and out.
    """
    whole, real, value, counts, starts = buffers.whole, buffers.real, buffers.value, buffers.counts, target.starts
    stack, seeds, bounds, sums = buffers.stack, buffers.seeds, buffers.bounds, ws.total
    while counts[N_STACK] > 0:
        if counts[N_CATEGORIES] + n_listed > buffers.categories.size:
            return False
        top, node = counts[N_STACK] - 1, counts[N_NODES]
        start, end, depth = stack[top, START], stack[top, END], stack[top, DEPTH]
        place = NodeSpan(start, end, depth, seeds[top, 0], bounds[top, 0], bounds[top, 1])
        counts[N_STACK] = top
        if end - start <= small:
            defer_small_node(buffers, place, stack[top, PARENT], stack[top, SIDE])
            continue
        own = rows[start:end]
        sample = sample_in(workspace, target, own)
        if is_classifying(params.criterion):
            stats, pure = class_node_stats(
                sample.class_codes, sample.weights, starts, params.criterion, sums, place, value[node]
            )
        else:
            stats, pure = regression_node_stats(
                sample.y, sample.weights, starts, params.criterion, sums, place, value[node]
            )
        write_leaf(whole, real, node, end - start, stats)
        if stack[top, PARENT] >= 0:
            whole[stack[top, PARENT], stack[top, SIDE]] = node
        counts[N_NODES] = node + 1
        if stays_leaf(stats, pure, place, params):
            continue
        if counts[N_SPLITS] >= max_splits:
            leave_open(buffers, node, place)
            continue
        for k in range(ws.constant.size):
            ws.constant[k] = buffers.constants[top, k]
        split, n_bins = best_split(codes, features, sample, sums, starts, monotonic_cst, params, stats, logs, ws)
        decrease = (stats.cost - split.cost) / params.total_weight
        rounding = max(ROUNDING, tie_of(stats) / params.total_weight)
        if split.candidate < 0 or decrease + rounding < params.min_decrease:
            continue
        counts[N_SPLITS] += 1
        buffers.first_decrease[0] = decrease if node == 0 else buffers.first_decrease[0]
        if n_bins > 2 and params.multiway:
            bins = ws.best_bins[:n_bins]
            write_chain(codes, target, features, params, buffers, ws.constant, bins, own, node, place, split, spare)
            continue
        branch(codes, target, features, params, monotonic_cst, buffers, ws, n_bins, own, node, place, split, spare)
    return True


@njit_no_refcount
def defer_small_node(buffers, place, parent, side):
    """Note a small node."""
    n, small_nodes = buffers.counts[N_SMALL], buffers.small_nodes
    small_nodes[n, 0], small_nodes[n, 1], small_nodes[n, 2], small_nodes[n, 3], small_nodes[n, 4] = (
        place.start,
        place.end,
        place.depth,
        parent,
        side,
    )
    buffers.small_seeds[n] = place.seed
    buffers.counts[N_SMALL] = n + 1


@njit_no_refcount
def leave_open(buffers, node, place):
    """Note a node that can grow further."""
    n = buffers.counts[N_OPEN]
    buffers.open_nodes[n, 0], buffers.open_nodes[n, 1], buffers.open_nodes[n, 2] = node, place.start, place.end
    buffers.open_nodes[n, 3], buffers.open_seeds[n] = place.depth, place.seed
    buffers.open_bounds[n, 0], buffers.open_bounds[n, 1] = place.lower, place.upper
    buffers.counts[N_OPEN] = n + 1


@njit_no_refcount
def branch(table, goal, features, params, monotonic_cst, buffers, ws, n_bins, own, node, place, split, spare):
    """Write the question of a node, move its rows to their sides, and let its children wait."""
    whole, counts, is_category = buffers.whole, buffers.counts, features.kind[split.feature] == CATEGORY
    bins = ws.best_bins[:n_bins]
    n_left = partition_rows(table, features, own, split, bins, spare)
    left_rows, right_rows = own[:n_left], own[n_left:]
    left_weight, right_weight = weight_of(goal.weights, left_rows), weight_of(goal.weights, right_rows)
    heavier_left = left_weight > right_weight or (is_category and params.multiway and left_weight == right_weight)
    if is_category:
        first = counts[N_CATEGORIES]
        n_listed = write_listed(table, features, split, bins, heavier_left, buffers.categories, first)
        whole[node, LISTED], whole[node, LIST], counts[N_CATEGORIES] = n_listed, first, first + n_listed
    else:
        buffers.real[node, THRESHOLD] = middle_between(features, split.feature, split.below, split.above)
    whole[node, FEATURE] = split.feature
    whole[node, DEFAULT_LEFT] = split.missing_left if split.missing_left >= 0 else heavier_left
    sign, middle = monotonic_cst[split.feature], 0.0
    if sign != 0:
        middle = 0.5 * (value_of(goal, left_rows, params.criterion) + value_of(goal, right_rows, params.criterion))
    stack, seeds, bounds, top = buffers.stack, buffers.seeds, buffers.bounds, counts[N_STACK]
    right = (place.start + n_left, place.end, place.depth + 1, node, RIGHT)
    lower, upper = middle if sign > 0 else place.lower, middle if sign < 0 else place.upper
    top = push(stack, seeds, bounds, top, right, splitmix64(place.seed + ONE + ONE), lower, upper)
    left = (place.start, place.start + n_left, place.depth + 1, node, LEFT)
    lower, upper = middle if sign < 0 else place.lower, middle if sign > 0 else place.upper
    counts[N_STACK] = push(stack, seeds, bounds, top, left, splitmix64(place.seed + ONE), lower, upper)
    for k in range(ws.constant.size):
        buffers.constants[top - 1, k] = buffers.constants[top, k] = ws.constant[k]


@njit_refcount
def write_chain(table, goal, features, params, buffers, constant, bins, own, node, place, split, spare):
    """Write the links of a question with a branch for each of the categories on ``bins``, bring the rows in the order
    of the branches, and let those wait; return how many links there are.

    A link lists its own category, and all others go on to the next; but that of the heaviest category lists those after
    it, so that categories which were never seen stay there.
    """
    whole, real, counts, criterion = buffers.whole, buffers.real, buffers.counts, params.criterion
    order, ends = rows_by_bin(bins_of_rows(table, own, split.candidate, split.feature), bins)
    for i in range(own.size):
        spare[i] = own[order[i]]
    for i in range(own.size):
        own[i] = spare[i]
    n_links, first, heaviest = bins.size - 1, counts[N_NODES], heaviest_branch(goal.weights, own, ends)
    rests = slice(first, first + n_links - 1)  # the first link is the node itself
    stats = buffers.value[rests], real[rests, IMPURITY], real[rests, WEIGHT]
    if is_classifying(criterion):
        write_class_rests(goal, own, ends, criterion, place, *stats)
    else:
        write_amount_rests(goal, own, ends, criterion, place, *stats)
    seed, top = place.seed, counts[N_STACK] + n_links
    for p in range(n_links + 1):
        link = node if p == 0 else first + min(p, n_links - 1) - 1
        if p < n_links:
            begin, end = (p + 1, bins.size) if p == heaviest else (p, p + 1)
            whole[link, FEATURE], whole[link, CHAINED] = split.feature, p < n_links - 1
            whole[link, RIGHT], whole[link, DEFAULT_LEFT] = first + p, p == heaviest
            whole[link, N_ROWS], real[link, THRESHOLD] = own.size - ends[p], NO_THRESHOLD
            whole[link, LISTED], whole[link, LIST] = end - begin, counts[N_CATEGORIES]
            for i in range(begin, end):  # lines are in the order of their codes
                buffers.categories[counts[N_CATEGORIES]] = feature_bin(table, features, split, bins[i])
                counts[N_CATEGORIES] += 1
        side, own_seed = (LEFT, splitmix64(seed + ONE)) if p < n_links else (RIGHT, seed)
        line = (place.start + ends[p], place.start + ends[p + 1], place.depth + 1, link, side)
        # the first branch comes last: it is the next to be taken
        push(buffers.stack, buffers.seeds, buffers.bounds, top - p, line, own_seed, place.lower, place.upper)
        for k in range(constant.size):
            buffers.constants[top - p, k] = constant[k]
        seed = splitmix64(seed + ONE + ONE)
    counts[N_NODES], counts[N_STACK] = first + n_links - 1, top + 1
    return n_links
