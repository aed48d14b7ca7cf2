"""A large node: its rows stay in the table, and its targets are read one after the other into a sample.

Every criterion, constraint and kind of column is known here; small nodes of the most frequent kinds are left to
``small_node.py``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit_no_refcount, njit_refcount
from eigenwood.core.bits import ONE
from eigenwood.core.distinct import splitmix64
from eigenwood.core.tree.criteria import is_classifying
from eigenwood.core.tree.node_loop import make_node_loop, push_children
from eigenwood.core.tree.node_stats import (
    class_node_stats,
    fill_sample,
    regression_node_stats,
    sample_of,
    value_of,
    weight_of,
)
from eigenwood.core.tree.split.absolute_error import rows_by_bin
from eigenwood.core.tree.split.best import best_split
from eigenwood.core.tree.split.histogram import bins_of_rows
from eigenwood.core.tree.split.multiway import heaviest_branch, write_class_rests, write_regression_rests
from eigenwood.core.tree.split.partition import partition_rows
from eigenwood.core.tree.thresholds import feature_bin, middle_between, write_listed
from eigenwood.core.tree.types import CATEGORY, NO_THRESHOLD, BinnedTable
from eigenwood.core.tree.workspace import (
    CHAINED,
    DEFAULT_LEFT,
    FEATURE,
    IMPURITY,
    LEFT,
    LIST,
    LISTED,
    N_CATEGORIES,
    N_NODES,
    N_ROWS,
    N_STACK,
    RIGHT,
    THRESHOLD,
    WEIGHT,
    push,
)


class LargeNodes(NamedTuple):
    """What large nodes are grown from, and the buffers for it."""

    codes: NamedTuple
    features: NamedTuple
    target: NamedTuple
    rows: np.ndarray  # which are moved
    params: NamedTuple
    monotonic_cst: np.ndarray
    logs: np.ndarray  # x log₂ x of whole numbers, or empty
    sample: NamedTuple  # room for the targets of a node
    spare: np.ndarray
    ws: NamedTuple


@njit_no_refcount
def grow_large_nodes(nodes, buffers, small, max_splits, n_listed):
    """Grow the nodes that wait; for ``small``, ``max_splits`` and ``n_listed`` see ``make_node_loop``."""
    return grow(nodes, nodes.params, buffers, small, max_splits, n_listed)


@njit_no_refcount
def describe(nodes, span, value):
    """Return what is known of a node, and whether it is pure; its targets stand in the sample from now on."""
    sample = sample_of(nodes.sample, nodes.rows[span.start : span.end])
    total, starts, params = nodes.ws.total, nodes.target.starts, nodes.params
    fill_sample(sample, nodes.target)
    if is_classifying(params.criterion):
        return class_node_stats(sample.class_codes, sample.weights, starts, params.criterion, total, span, value)
    return regression_node_stats(sample.y, sample.weights, starts, params.criterion, total, span, value)


@njit_no_refcount
def best_large_split(nodes, span, stats):
    """Return the best split of a node that was described, and how many bins it has if it is about a category."""
    sample, ws = sample_of(nodes.sample, nodes.rows[span.start : span.end]), nodes.ws
    table, starts = BinnedTable(nodes.codes, nodes.features), nodes.target.starts
    return best_split(table, sample, ws.total, starts, nodes.monotonic_cst, nodes.params, stats, nodes.logs, ws)


@njit_no_refcount
def branch(nodes, buffers, node, span, split, n_bins):
    """Write the question of a node, move its rows to their sides, and let its children wait."""
    if n_bins > 2 and nodes.params.multiway:
        write_chain(nodes, buffers, node, span, split, n_bins)
    else:
        write_question(nodes, buffers, node, span, split, n_bins)


@njit_no_refcount
def write_question(nodes, buffers, node, span, split, n_bins):
    """Write a question with two answers, move the rows to their sides, and let the children wait."""
    codes, features, target, params = nodes.codes, nodes.features, nodes.target, nodes.params
    own, bins, ints, counts = (
        nodes.rows[span.start : span.end],
        nodes.ws.best_bins[:n_bins],
        buffers.ints,
        buffers.counts,
    )
    is_category, sign = features.kind[split.feature] == CATEGORY, nodes.monotonic_cst[split.feature]
    n_left = partition_rows(codes, features, own, split, bins, nodes.spare)
    left_rows, right_rows = own[:n_left], own[n_left:]
    left_weight, right_weight = weight_of(target.weights, left_rows), weight_of(target.weights, right_rows)
    heavier_left = left_weight > right_weight or (is_category and params.multiway and left_weight == right_weight)
    if is_category:
        first = counts[N_CATEGORIES]
        n_listed = write_listed(codes, features, split, bins, heavier_left, buffers.categories, first)
        ints[node, LISTED], ints[node, LIST], counts[N_CATEGORIES] = n_listed, first, first + n_listed
    else:
        buffers.floats[node, THRESHOLD] = middle_between(features, split.feature, split.below, split.above)
    ints[node, FEATURE] = split.feature
    ints[node, DEFAULT_LEFT] = split.missing_left if split.missing_left >= 0 else heavier_left
    middle = 0.0
    if sign != 0:
        middle = 0.5 * (value_of(target, left_rows, params.criterion) + value_of(target, right_rows, params.criterion))
    left_bounds = (middle if sign < 0 else span.lower, middle if sign > 0 else span.upper)
    right_bounds = (middle if sign > 0 else span.lower, middle if sign < 0 else span.upper)
    push_children(buffers, node, span, n_left, nodes.ws.constant, left_bounds, right_bounds)


@njit_no_refcount
def write_chain(nodes, buffers, node, span, split, n_bins):
    """Write the links of a question with a branch for each category, bring the rows in the order of the branches, and
    let those wait; return how many links there are.

    A link lists its own category, and all others go on to the next; but that of the heaviest category lists those after
    it, so that categories which were never seen stay there.
    """
    codes, features, target, criterion = nodes.codes, nodes.features, nodes.target, nodes.params.criterion
    ints, floats, counts, constant = buffers.ints, buffers.floats, buffers.counts, nodes.ws.constant
    own, bins, ends = nodes.rows[span.start : span.end], nodes.ws.best_bins[:n_bins], nodes.ws.bins[: n_bins + 1]
    sort_by_branch(codes, own, split.candidate, split.feature, bins, nodes.spare, ends)
    n_links, first, heaviest = bins.size - 1, counts[N_NODES], heaviest_branch(target.weights, own, ends)
    rests = slice(first, first + n_links - 1)  # the first link is the node itself
    stats = buffers.value[rests], floats[rests, IMPURITY], floats[rests, WEIGHT]
    if is_classifying(criterion):
        write_class_rests(target, own, ends, criterion, span, *stats)
    else:
        write_regression_rests(target, own, ends, criterion, span, *stats)
    seed, top = span.seed, counts[N_STACK] + n_links
    for p in range(n_links + 1):
        link = node if p == 0 else first + min(p, n_links - 1) - 1
        if p < n_links:
            begin, end = (p + 1, bins.size) if p == heaviest else (p, p + 1)
            ints[link, FEATURE], ints[link, CHAINED] = split.feature, p < n_links - 1
            ints[link, RIGHT], ints[link, DEFAULT_LEFT] = first + p, p == heaviest
            ints[link, N_ROWS], floats[link, THRESHOLD] = own.size - ends[p], NO_THRESHOLD
            ints[link, LISTED], ints[link, LIST] = end - begin, counts[N_CATEGORIES]
            for i in range(begin, end):  # bins are in the order of their codes
                buffers.categories[counts[N_CATEGORIES]] = feature_bin(codes, features, split, bins[i])
                counts[N_CATEGORIES] += 1
        side, own_seed = (LEFT, splitmix64(seed + ONE)) if p < n_links else (RIGHT, seed)
        line = (span.start + ends[p], span.start + ends[p + 1], span.depth + 1, link, side)
        # the first branch comes last: it is the next to be taken
        push(buffers.stack, buffers.seeds, buffers.bounds, top - p, line, own_seed, span.lower, span.upper)
        for k in range(constant.size):
            buffers.constants[top - p, k] = constant[k]
        seed = splitmix64(seed + ONE + ONE)
    counts[N_NODES], counts[N_STACK] = first + n_links - 1, top + 1
    return n_links


@njit_refcount
def sort_by_branch(codes, rows, candidate, feature, bins, spare, ends):
    """Bring rows in the order of their bins, and write where each bin begins and ends."""
    order, each_end = rows_by_bin(bins_of_rows(codes, rows, candidate, feature), bins)
    for i in range(rows.size):
        spare[i] = rows[order[i]]
    for i in range(rows.size):
        rows[i] = spare[i]
    for p in range(ends.size):
        ends[p] = each_end[p]


grow = make_node_loop(describe, best_large_split, branch)
