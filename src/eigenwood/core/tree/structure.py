"""The order and the shape of the nodes of a tree: preorder, depths, trees cut down to some of their nodes."""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.tree.types import LEAF, NO_FEATURE, NO_THRESHOLD, PER_NODE, Tree


@njit
def preorder(left, right, root):
    """Return the nodes below ``root`` in preorder."""
    return preorders(left, right, np.array([root]))


@njit
def preorders(left, right, roots):
    """Return the nodes below some roots in preorder, one root after the other."""
    order = np.empty(left.size, dtype=np.int64)
    stack = np.empty(left.size + 1, dtype=np.int64)
    n_stack, n = roots.size, 0
    for i in range(roots.size):
        stack[i] = roots[roots.size - 1 - i]
    while n_stack > 0:
        n_stack -= 1
        node = stack[n_stack]
        order[n] = node
        n += 1
        if left[node] != LEAF:
            stack[n_stack], stack[n_stack + 1] = right[node], left[node]
            n_stack += 2
    return order[:n]


def taken(tree: Tree, nodes) -> Tree:
    """Return a tree of some of the nodes, renumbered; a node comes with both of its children or with neither."""
    place = np.full(tree.left.size, LEAF, dtype=np.int32)
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    inner = tree.left[nodes] != LEAF
    lists = np.diff(tree.category_start)[nodes]
    start = np.concatenate([[0], np.cumsum(lists)]).astype(np.int64)
    source = np.repeat(tree.category_start[nodes] - start[:-1], lists) + np.arange(start[-1])
    return Tree(
        left=np.where(inner, place[tree.left[nodes]], LEAF).astype(np.int32),
        right=np.where(inner, place[tree.right[nodes]], LEAF).astype(np.int32),
        category_start=start,
        categories=tree.categories[source],
        **{name: getattr(tree, name)[nodes] for name in PER_NODE},
    )


def with_leaves(tree: Tree, cut) -> Tree:
    """Return the tree in which the nodes marked in ``cut`` are leaves and what was below them is gone."""
    left, right = np.where(cut, LEAF, tree.left), np.where(cut, LEAF, tree.right)
    lists = np.where(cut, 0, np.diff(tree.category_start))
    keep = np.repeat(~cut, np.diff(tree.category_start))
    bare = tree._replace(
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        feature=np.where(cut, NO_FEATURE, tree.feature).astype(np.int32),
        threshold=np.where(cut, NO_THRESHOLD, tree.threshold),
        default_left=tree.default_left & ~cut,
        chained=tree.chained & ~cut,
        category_start=np.concatenate([[0], np.cumsum(lists)]).astype(np.int64),
        categories=tree.categories[keep],
    )
    return taken(bare, preorder(bare.left, bare.right, 0))


@njit
def node_depths(left, right, chained):
    """Return the depth of each node, the root's being 0; the links of a chain count as one question."""
    depth = np.zeros(left.size, dtype=np.int64)
    for i in range(left.size):  # preorder: a parent comes before its children
        if left[i] != LEAF:
            depth[left[i]] = depth[i] + 1
            depth[right[i]] = depth[i] + (0 if chained[i] else 1)
    return depth


@njit
def subtree_ends(left, right):
    """Return for each node the first one after those below it; in preorder they are one stretch."""
    end = np.empty(left.size, dtype=np.int64)
    end[0] = left.size
    for i in range(left.size):
        if left[i] != LEAF:
            end[left[i]], end[right[i]] = right[i], end[i]
    return end
