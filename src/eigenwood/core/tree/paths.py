"""The paths of trees, as contributions need them: which answers lead to which leaves, and which of them matter.

A subtree whose leaves have one value for an output is a leaf for it, and one of value 0 adds nothing. Of many classes,
each has few leaves.

    node     0 ──► 1 ──► 2, of value 0            the nodes that matter:    0 ──► 1 ──► 3
               │     └─► 3, of value 1                                        └─► 4
               └─► 4 ──► 5, 6, both of value 0.5
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.tree.types import LEAF, Tree


class Paths(NamedTuple):
    """The nodes of some trees that matter for one output, in preorder; an answer leads to each but the roots."""

    start: np.ndarray  # (n_trees + 1,) int64
    n_points: np.ndarray  # (n_trees,) int64: of the quadrature
    depth: np.ndarray  # int32
    node: np.ndarray  # int32: which node of the trees, whose question is asked; LEAF at a leaf
    column: np.ndarray  # int32: which of the features that are asked the answer is about
    above: np.ndarray  # int32: the depth of the last answer about the same feature on the path; 0 if there is none
    is_right: np.ndarray  # bool
    share: np.ndarray  # z of the feature with this answer …
    share_above: np.ndarray  # … and before it
    value: np.ndarray  # of a leaf


def paths_of(trees: Tree, node_start, own, question, value) -> Paths:
    """Return the nodes of the trees numbered ``own`` that matter for an output with these values."""
    size = int((node_start[own + 1] - node_start[own]).sum())
    paths = Paths(
        start=np.zeros(own.size + 1, dtype=np.int64),
        n_points=np.zeros(own.size, dtype=np.int64),
        depth=np.zeros(size, dtype=np.int32),
        node=np.zeros(size, dtype=np.int32),
        column=np.zeros(size, dtype=np.int32),
        above=np.zeros(size, dtype=np.int32),
        is_right=np.zeros(size, dtype=bool),
        share=np.ones(size),
        share_above=np.ones(size),
        value=np.zeros(size),
    )
    write_paths(trees.right, trees.weight, node_start[own], node_start[own + 1], question, value, paths)
    n = paths.start[-1]
    return Paths(paths.start, paths.n_points, *(array[:n].copy() for array in paths[2:]))


@njit
def write_paths(right, weight, first, last, question, value, paths):
    """Write the nodes that matter: no subtree of one value but its root, and nothing below the roots that is 0."""
    flat, amount = np.empty(right.size, dtype=np.bool_), value.copy()
    parent, end = np.full(right.size, LEAF, dtype=np.int64), np.empty(right.size, dtype=np.int64)
    at, n_distinct, n = np.zeros(right.size, dtype=np.int64), np.zeros(right.size, dtype=np.int64), 0
    for t in range(first.size):
        write_shape(right, first[t], last[t], flat, amount, parent, end)
        most, i = 1, first[t]
        while i < last[t]:
            if flat[i] and amount[i] == 0.0 and i > first[t]:
                i = end[i]
                continue
            at[i] = n
            if i > first[t]:
                above = parent[i]
                write_answer(paths, n, i, right, question, parent, at)
                paths.share[n] = paths.share_above[n] * weight[i] / weight[above]
                n_distinct[i] = n_distinct[above] + (paths.above[n] == 0)
                most = max(most, n_distinct[i])
            paths.node[n] = LEAF if flat[i] else i
            paths.value[n] = amount[i]
            i = end[i] if flat[i] else i + 1
            n += 1
        paths.start[t + 1], paths.n_points[t] = n, (most + 1) // 2


@njit
def write_shape(right, first, last, flat, amount, parent, end):
    """Write which nodes of a tree have leaves of one value only, and that value; parents, and where subtrees end."""
    for i in range(last - 1, first - 1, -1):
        flat[i], end[i] = True, i + 1
        if right[i] != LEAF:
            parent[i + 1] = parent[right[i]] = i
            flat[i] = flat[i + 1] and flat[right[i]] and amount[i + 1] == amount[right[i]]
            amount[i], end[i] = amount[i + 1], end[right[i]]


@njit
def write_answer(paths, n, i, right, question, parent, at):
    """Write what the answer that leads to node i, the n-th that matters, is about, and the one above it about that."""
    node = parent[i]
    depth, column = paths.depth[at[node]], question[node]
    paths.depth[n], paths.is_right[n], paths.column[n] = depth + 1, right[node] == i, column
    while depth > 0:
        if question[parent[node]] == column:
            paths.above[n], paths.share_above[n] = depth, paths.share[at[node]]
            return
        node, depth = parent[node], depth - 1
