"""From the root to a leaf.

What a step needs to know of a node stands in one word and one threshold:

    bits   63 … 32          26            25         24               23 … 0
           way to the       asks about    not a      missing values   feature
           right child      categories    leaf       go right

Nodes are in preorder, so the left child is the next node, and a word of 0 is a leaf.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy import sparse

from eigenwood.core.threads import results_of, row_blocks
from eigenwood.core.tree.nodes import LEAF, Tree, node_depths

BLOCK_ROWS = 8192  # rows of one task
CACHED_ROWS = 256  # rows that are looked at for infinity, and then walk while they are still near
DENSE_BYTES = 1 << 24  # a sparse matrix is made dense in blocks of this size
MOST_FEATURES = 1 << 24
FEATURE_BITS, DEFAULT_RIGHT, INNER, CATEGORIES, WAY = (np.uint64(bit) for bit in (MOST_FEATURES - 1, 24, 25, 26, 32))
ONE = np.uint64(1)


class Walk(NamedTuple):
    """A tree for walking."""

    words: np.ndarray  # (n_nodes,) uint64
    threshold: np.ndarray
    category_start: np.ndarray
    categories: np.ndarray


class Leaves(NamedTuple):
    """The leaf of every row, and whether infinity was met on the way."""

    nodes: np.ndarray  # int32
    met_infinity: bool


def walk_of(tree: Tree) -> Walk:
    """Return a tree for walking."""
    inner = tree.left != LEAF
    listed = np.diff(tree.category_start) > 0
    way = tree.right - np.arange(inner.size)
    words = np.where(inner, tree.feature, 0).astype(np.uint64)
    for flag, bit in ((~tree.default_left, DEFAULT_RIGHT), (inner, INNER), (listed, CATEGORIES)):
        words |= (flag & inner).astype(np.uint64) << bit
    words |= np.where(inner, way, 0).astype(np.uint64) << WAY
    return Walk(words, tree.threshold, tree.category_start, tree.categories)


def leaves_of(walk: Walk, X, n_threads: int = 1) -> Leaves:
    """Return the leaf of every row of X, dense or csr; a category stands in it as its code, an unknown one as -1."""
    nodes = np.empty(X.shape[0], dtype=np.int32)

    def block(rows: slice) -> int:
        part = X[rows].toarray() if sparse.issparse(X) else X[rows]
        return write_leaves(part, *walk, nodes[rows])

    n_infinite = results_of(block, row_blocks(X.shape[0], block_size(X)), n_threads)
    return Leaves(nodes, any(n_infinite))


def block_size(X) -> int:
    """Return how many rows make a task; fewer where a sparse row would be long when dense."""
    if not sparse.issparse(X):
        return BLOCK_ROWS
    return max(1, min(BLOCK_ROWS, DENSE_BYTES // (8 * max(X.shape[1], 1))))


@njit(cache=True, nogil=True)
def write_leaves(X, words, threshold, category_start, categories, leaves):
    """Write the leaf of every row, and return how many infinite numbers there are in X."""
    n_infinite = 0
    for first in range(0, X.shape[0], CACHED_ROWS):
        last = min(first + CACHED_ROWS, X.shape[0])
        for i in range(first, last):
            for j in range(X.shape[1]):
                n_infinite += abs(X[i, j]) == np.inf
        for i in range(first, last):
            node = np.uint64(0)
            word = words[node]
            while word != 0:
                x = X[np.uint64(i), word & FEATURE_BITS]
                default_right = (word >> DEFAULT_RIGHT) & ONE != 0
                if (word >> CATEGORIES) & ONE != 0:
                    # the categories that are listed go to the lighter side, all others to the heavier
                    listed = is_listed(categories, category_start[node], category_start[node + ONE], x)
                    right = default_right != listed
                else:
                    right = (x > threshold[node]) | ((x != x) & default_right)
                node += word >> WAY if right else ONE
                word = words[node]
            leaves[i] = node
    return n_infinite


@njit(cache=True, nogil=True)
def is_listed(categories, first, last, x):
    """Return whether a code stands in ``categories[first:last]``, which ascend."""
    while first < last:
        middle = (first + last) >> 1
        if categories[middle] < x:
            first = middle + 1
        elif categories[middle] > x:
            last = middle
        else:
            return x == categories[middle]
    return False


def decision_path(tree: Tree, leaves) -> sparse.csr_array:
    """Return which nodes every row visits, from the root to its leaf, as a matrix of ones."""
    parent = np.full(tree.left.size, LEAF, dtype=np.int64)
    inner = np.flatnonzero(tree.left != LEAF)
    parent[tree.left[inner]] = parent[tree.right[inner]] = inner
    length = node_depths(tree.left, tree.right, np.zeros(tree.left.size, dtype=bool)) + 1
    indptr = np.concatenate([[0], np.cumsum(length[leaves])]).astype(np.int64)
    indices = np.empty(indptr[-1], dtype=np.int64)
    write_path(parent, leaves, indptr, indices)
    ones = np.ones(indices.size, dtype=np.int64)
    return sparse.csr_array((ones, indices, indptr), shape=(leaves.size, tree.left.size))


@njit(cache=True, nogil=True)
def write_path(parent, leaves, indptr, indices):
    """Write the nodes above each leaf, the root first."""
    for i in range(leaves.size):
        node = np.int64(leaves[i])
        for place in range(indptr[i + 1] - 1, indptr[i] - 1, -1):
            indices[place] = node
            node = parent[node]
