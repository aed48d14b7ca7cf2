"""From the root to a leaf.

What a step needs to know of a node stands in one word and one threshold:

    bits   63 … 32          27           26            25         24               23 … 0
           way to the       begins a     asks about    not a      missing values   feature
           right child      chain        categories    leaf       go right

Nodes are in preorder, so the left child is the next node, and a word of 0 is a leaf. A question with a branch for each
category is a chain of nodes (see ``types``), but nobody walks along it: its categories are sorted once, each with the
node where it leaves the chain. At the first link the way is the number of the chain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.compiling import njit
from eigenwood.core.threads import results_of, row_blocks
from eigenwood.core.tree.split.histogram import place_of
from eigenwood.core.tree.structure import node_depths
from eigenwood.core.tree.types import LEAF, Tree

BLOCK_ROWS = 8192  # rows of one task
CACHED_ROWS = 256  # rows that are looked at for infinity, and then walk while they are still near
DENSE_BYTES = 1 << 24  # a sparse matrix is made dense in blocks of this size
MOST_FEATURES = 1 << 24
FEATURE_BITS, DEFAULT_RIGHT, INNER, CATEGORIES, CHAIN, WAY = (
    np.uint64(bit) for bit in (MOST_FEATURES - 1, 24, 25, 26, 27, 32)
)
ONE = np.uint64(1)


class Predictor(NamedTuple):
    """A tree prepared for prediction."""

    words: np.ndarray  # (n_nodes,) uint64
    threshold: np.ndarray
    category_start: np.ndarray
    categories: np.ndarray
    chain_start: np.ndarray  # (n_chains + 1,) int64
    chain_categories: np.ndarray  # those of each chain, ascending …
    chain_ways: np.ndarray  # … and the nodes to which they lead
    chain_rest: np.ndarray  # (n_chains,) where all others go


class Leaves(NamedTuple):
    """The leaf of every row, and whether infinity was met on the way."""

    nodes: np.ndarray  # int32
    met_infinity: bool


def make_predictor(tree: Tree) -> Predictor:
    """Return a tree prepared for prediction."""
    inner = tree.left != LEAF
    listed = np.diff(tree.category_start) > 0
    way = tree.right - np.arange(inner.size)
    words = np.where(inner, tree.feature, 0).astype(np.uint64)
    for flag, bit in ((~tree.default_left, DEFAULT_RIGHT), (inner, INNER), (listed, CATEGORIES)):
        words |= (flag & inner).astype(np.uint64) << bit
    firsts = chain_beginnings(tree)
    words[firsts] |= ONE << CHAIN
    way[firsts] = np.arange(firsts.size)
    words |= np.where(inner, way, 0).astype(np.uint64) << WAY
    return Predictor(words, tree.threshold, tree.category_start, tree.categories, *chains_from(tree, firsts))


def chain_beginnings(tree: Tree) -> np.ndarray:
    """Return the nodes at which a chain of questions about categories begins."""
    begins = tree.chained & (np.diff(tree.category_start) > 0)
    begins[tree.right[tree.chained]] = False
    return np.flatnonzero(begins)


def chains_from(tree: Tree, firsts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return ``ways_off_chains`` of a tree; most trees have no chains."""
    if firsts.size == 0:
        return np.zeros(1, dtype=np.int64), tree.categories[:0], np.empty(0, np.int32), np.empty(0, np.int32)
    return ways_off_chains(
        tree.left, tree.right, tree.default_left, tree.chained, tree.category_start, tree.categories, firsts
    )


@njit
def ways_off_chains(left, right, default_left, chained, category_start, categories, firsts):
    """Return where the categories of each chain begin, those categories, where they lead, and where all others go."""
    start, n_listed = np.zeros(firsts.size + 1, dtype=np.int64), 0
    for c in range(firsts.size):
        link = firsts[c]
        while True:
            n_listed += category_start[link + 1] - category_start[link]
            if not chained[link]:
                break
            link = right[link]
        start[c + 1] = n_listed
    listed, ways = np.empty(n_listed, dtype=categories.dtype), np.empty(n_listed, dtype=np.int32)
    rest, n = np.empty(firsts.size, dtype=np.int32), 0
    for c in range(firsts.size):
        first, workspace = n, listed[n : n + start[c + 1] - start[c]]
        n += write_chain_categories(workspace, right, chained, category_start, categories, firsts[c])
        start[c] = first
        rest[c] = write_ways(
            left, right, default_left, chained, category_start, categories, firsts[c], listed[first:n], ways[first:n]
        )
    start[firsts.size] = n
    return start, listed[:n], ways[:n], rest


@njit
def write_chain_categories(listed, right, chained, category_start, categories, link):
    """Write the categories that the links of a chain list, ascending and each once; return how many they are."""
    n = 0
    while True:
        for i in range(category_start[link], category_start[link + 1]):
            listed[n] = categories[i]
            n += 1
        if not chained[link]:
            break
        link = right[link]
    listed.sort()
    n_distinct = 0
    for i in range(n):
        if i == 0 or listed[i] != listed[n_distinct - 1]:
            listed[n_distinct] = listed[i]
            n_distinct += 1
    return n_distinct


@njit
def write_ways(left, right, default_left, chained, category_start, categories, link, listed, ways):
    """Write where the categories of a chain lead, and return where all others go: along the chain, once."""
    rest, seen_at = np.int32(LEAF), np.full(listed.size, -1, dtype=np.int64)
    ways[:] = LEAF
    while True:
        for i in range(category_start[link], category_start[link + 1]):
            at = place_of(listed, categories[i])
            seen_at[at] = link
            if not default_left[link] and ways[at] == LEAF:
                ways[at] = left[link]
        if default_left[link]:
            for at in range(listed.size):
                if seen_at[at] != link and ways[at] == LEAF:
                    ways[at] = left[link]
            rest = left[link] if rest == LEAF else rest
        if not chained[link]:
            break
        link = right[link]
    for at in range(listed.size):
        if ways[at] == LEAF:
            ways[at] = right[link]
    return right[link] if rest == LEAF else rest


def leaves_of(predictor: Predictor, X, n_threads: int = 1) -> Leaves:
    """Return the leaf of every row of X, dense or csr; a category stands in it as its code, an unknown one as -1."""
    nodes = np.empty(X.shape[0], dtype=np.int32)

    def block(rows: slice) -> int:
        part = X[rows].toarray() if sparse.issparse(X) else X[rows]
        return write_leaves(part, *predictor, nodes[rows])

    n_infinite = results_of(block, row_blocks(X.shape[0], block_size(X)), n_threads)
    return Leaves(nodes, any(n_infinite))


def block_size(X) -> int:
    """Return how many rows make a task; fewer where a sparse row would be long when dense."""
    if not sparse.issparse(X):
        return BLOCK_ROWS
    return max(1, min(BLOCK_ROWS, DENSE_BYTES // (8 * max(X.shape[1], 1))))


@njit
def write_leaves(
    X, words, threshold, category_start, categories, chain_start, chain_categories, chain_ways, chain_rest, leaves
):
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
                    if (word >> CHAIN) & ONE != 0:
                        chain = np.int64(word >> WAY)
                        at = place_among(chain_categories, chain_start[chain], chain_start[chain + 1], x)
                        node = np.uint64(chain_ways[at] if at >= 0 else chain_rest[chain])
                        word = words[node]
                        continue
                    # the categories that are listed go to the lighter side, all others to the heavier
                    listed = is_listed(categories, category_start[node], category_start[node + ONE], x)
                    right = default_right != listed
                else:
                    right = (x > threshold[node]) | ((x != x) & default_right)
                node += word >> WAY if right else ONE
                word = words[node]
            leaves[i] = node
    return n_infinite


@njit
def is_listed(categories, first, last, x):
    """Return whether a code stands in ``categories[first:last]``, which ascend."""
    return place_among(categories, first, last, x) >= 0


@njit
def place_among(categories, first, last, x):
    """Return where a code stands in ``categories[first:last]``, which ascend; -1 if it does not."""
    while first < last:
        middle = (first + last) >> 1
        if categories[middle] < x:
            first = middle + 1
        elif categories[middle] > x:
            last = middle
        else:
            return middle if x == categories[middle] else -1
    return -1


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


@njit
def write_path(parent, leaves, indptr, indices):
    """Write the nodes above each leaf, the root first."""
    for i in range(leaves.size):
        node = np.int64(leaves[i])
        for place in range(indptr[i + 1] - 1, indptr[i] - 1, -1):
            indices[place] = node
            node = parent[node]
