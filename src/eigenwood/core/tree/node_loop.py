"""The node loop: a node that waits is described, its best split found, its rows divided, and its children wait.

There is one loop, and there are two kinds of nodes, which differ in where their rows are:

    root table   ████████████████████████      large_node.py   rows of the table; nothing is copied
                 ████████████│███████████
                 ██│███│█████│██ │████│██      small_node.py   rows gathered side by side, and grown to the end

Every draw comes from a seed that follows from the node's place in the tree, so it does not matter in how many calls,
or on which threads, the parts of a tree are grown.
"""

from __future__ import annotations

from eigenwood.compiling import njit_forceinline, njit_no_refcount
from eigenwood.core.bits import ONE
from eigenwood.core.distinct import splitmix64
from eigenwood.core.tree.node_stats import gains_little, stays_leaf
from eigenwood.core.tree.types import LEAF, NO_FEATURE, NO_THRESHOLD, NodeSpan
from eigenwood.core.tree.workspace import (
    CHAINED,
    DEFAULT_LEFT,
    DEPTH,
    END,
    FEATURE,
    IMPURITY,
    LEFT,
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


def make_node_loop(describe, best_split, branch):
    """Return the loop over nodes of one kind, of which three kernels know where the rows are:

    describe(nodes, span, value)                       → what is known of a node, whether it is pure; its value
    best_split(nodes, span, stats)                     → its best split, and how many bins that has
    branch(nodes, buffers, node, span, split, n_bins)    writes the question, divides the rows, lets children wait
    """

    @njit_no_refcount
    def grow(nodes, params, buffers, small, max_splits, n_listed):
        """Grow the nodes that wait, depth first, with at most ``max_splits`` questions; nodes of at most ``small`` rows
        are left for later. Return whether all are done: if not, there is no room for ``n_listed`` categories more.

        Nothing is allocated here, so no array has to be counted in and out.
        """
        counts, stack, constant = buffers.counts, buffers.stack, nodes.ws.constant
        while counts[N_STACK] > 0:
            if counts[N_CATEGORIES] + n_listed > buffers.categories.size:
                return False
            top, node = counts[N_STACK] - 1, counts[N_NODES]
            parent, side = stack[top, PARENT], stack[top, SIDE]
            span = NodeSpan(
                stack[top, START], stack[top, END], stack[top, DEPTH], buffers.seeds[top, 0], buffers.bounds[top, 0],
                buffers.bounds[top, 1],
            )  # fmt: skip
            counts[N_STACK] = top
            if span.end - span.start <= small:
                defer_small_node(buffers, span, parent, side)
                continue
            stats, pure = describe(nodes, span, buffers.value[node])
            write_leaf(buffers.ints, buffers.floats, node, span.end - span.start, stats)
            if parent >= 0:
                buffers.ints[parent, side] = node
            counts[N_NODES] = node + 1
            if pure or stays_leaf(stats, span, params):
                continue
            if counts[N_SPLITS] >= max_splits:
                leave_open(buffers, node, span)
                continue
            for k in range(constant.size):
                constant[k] = buffers.constants[top, k]
            split, n_bins = best_split(nodes, span, stats)
            if split.candidate < 0 or gains_little(split.cost, stats, params):
                continue
            counts[N_SPLITS] += 1
            if node == 0:
                buffers.first_decrease[0] = (stats.cost - split.cost) / params.total_weight
            branch(nodes, buffers, node, span, split, n_bins)
        return True

    return grow


@njit_no_refcount
def write_leaf(ints, floats, node, n_rows, stats):
    """Write a node that asks nothing."""
    ints[node, LEFT], ints[node, RIGHT], ints[node, FEATURE], ints[node, LISTED] = LEAF, LEAF, NO_FEATURE, 0
    ints[node, DEFAULT_LEFT], ints[node, CHAINED], ints[node, N_ROWS] = 0, 0, n_rows
    floats[node, THRESHOLD], floats[node, IMPURITY], floats[node, WEIGHT] = NO_THRESHOLD, stats.impurity, stats.weight


@njit_no_refcount
def defer_small_node(buffers, span, parent, side):
    """Note a small node."""
    n, small_nodes = buffers.counts[N_SMALL], buffers.small_nodes
    small_nodes[n, 0], small_nodes[n, 1], small_nodes[n, 2], small_nodes[n, 3], small_nodes[n, 4] = (
        span.start,
        span.end,
        span.depth,
        parent,
        side,
    )
    buffers.small_seeds[n] = span.seed
    buffers.counts[N_SMALL] = n + 1


@njit_no_refcount
def leave_open(buffers, node, span):
    """Note a node that can grow further."""
    n = buffers.counts[N_OPEN]
    buffers.open_nodes[n, 0], buffers.open_nodes[n, 1], buffers.open_nodes[n, 2] = node, span.start, span.end
    buffers.open_nodes[n, 3], buffers.open_seeds[n] = span.depth, span.seed
    buffers.open_bounds[n, 0], buffers.open_bounds[n, 1] = span.lower, span.upper
    buffers.counts[N_OPEN] = n + 1


@njit_forceinline
def push_children(buffers, node, span, n_left, constant, left_bounds, right_bounds):
    """Let the children of a node wait, the left one on top: it is the next to be taken."""
    stack, seeds, bounds, top = buffers.stack, buffers.seeds, buffers.bounds, buffers.counts[N_STACK]
    middle, depth, seed = span.start + n_left, span.depth + 1, span.seed
    right, left = (middle, span.end, depth, node, RIGHT), (span.start, middle, depth, node, LEFT)
    push(stack, seeds, bounds, top, right, splitmix64(seed + ONE + ONE), right_bounds[0], right_bounds[1])
    push(stack, seeds, bounds, top + 1, left, splitmix64(seed + ONE), left_bounds[0], left_bounds[1])
    for k in range(constant.size):
        buffers.constants[top, k] = buffers.constants[top + 1, k] = constant[k]
    buffers.counts[N_STACK] = top + 2
