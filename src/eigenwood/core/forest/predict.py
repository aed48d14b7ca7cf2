"""Many rows through many trees.

What a step needs to know of a node stands in two words side by side:

    threshold                 float64       -infinity at a leaf
    way         bits 63 … 32  signed        what a step to the right adds to a step to the left, counted in words
    feature     bits 31 … 0

Nodes are in preorder, so a step to the left goes on by one node, two words. A leaf leads back to itself: there every
number is above the threshold, and the way is one node back.

One row through one tree is a chain of reads, each waiting for the one before. So many walkers go side by side, a step
each in turn: the rows of a block through one tree or, if rows are few, one row through all trees. A step has no branch
that could be guessed wrong: the sign of threshold - x is spread over a word and masks the way. Every few steps those
who have arrived are taken out.

That holds for numbers that are finite. Where a block has missing or infinite numbers, or a forest asks about
categories, rows go one by one, as in core/tree/predict.py.

Very many rows go faster by the way of ``top_levels``, which first puts the forest in another order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.compiling import njit
from eigenwood.core.forest.packing import Forest, all_trees, columns_at, keeps_inner, right_children, spread, starts_of
from eigenwood.core.threads import Result, results_of, row_blocks
from eigenwood.core.tree.predict import block_size, is_listed

CACHED_ROWS = 512  # rows that walk through all trees while they are still near
FIRST_STEPS, STEPS = 8, 4  # before those who have arrived are taken out, the first time and later
DEFAULT_LEFT, CATEGORIES = np.uint8(1), np.uint8(2)
FEATURE_BITS, WAY, SIGN = 0xFFFFFFFF, 32, 63


class Predictor(NamedTuple):
    """A forest prepared for prediction; a place is that of a node's first word."""

    roots: np.ndarray  # (n_trees,) int64: the node where a tree begins
    words: np.ndarray  # (2 n_nodes,) float64
    flags: np.ndarray  # (n_nodes,) uint8
    category_start: np.ndarray  # (n_nodes + 1,) int64; empty without categories
    categories: np.ndarray  # int32
    code: np.ndarray  # (n_nodes,) int32: which row of ``value`` a leaf has
    value: np.ndarray  # (n, n_values) float64


class Means(NamedTuple):
    """The mean, or the sum, of the values of each row's leaves, and whether infinity was met on the way."""

    values: np.ndarray  # (n_rows, n_values)
    met_infinity: bool


class ForestLeaves(NamedTuple):
    """The leaf of every row in every tree, and whether infinity was met on the way."""

    nodes: np.ndarray  # (n_rows, n_trees) int32, numbered within each tree
    met_infinity: bool


def make_predictor(forest: Forest) -> Predictor:
    """Return a forest prepared for prediction."""
    shape = forest._replace(value=forest.value[:, :0])  # values are looked up by their codes, not one for each leaf
    columns = columns_at(shape, all_trees(shape))
    inner, right = columns.inner, right_children(columns.inner)
    way = np.where(inner, right - np.arange(inner.size) - 1, -1)
    words = np.empty(2 * inner.size)
    words[::2] = spread(columns.threshold + 0.0, inner, -np.inf)  # a zero below 0 would turn the sign of 0 - 0
    words.view(np.int64)[1::2] = (2 * way << WAY) | spread(columns.feature, inner, 0)
    listed = columns.n_listed > 0
    return Predictor(
        roots=forest.node_start[:-1],
        words=words,
        flags=spread((columns.default_left * DEFAULT_LEFT | listed * CATEGORIES).astype(np.uint8), inner, 0),
        category_start=starts_of(spread(columns.n_listed, inner, 0)) if listed.any() else np.empty(0, dtype=np.int64),
        categories=columns.categories.astype(np.int32),
        code=value_codes(forest, inner),
        value=forest.value.astype(np.float64),
    )


def value_codes(forest: Forest, inner) -> np.ndarray:
    """Return for each node which row of the forest's values is its own, if it is a leaf."""
    kept = keeps_inner(int(forest.criterion[0]), bool(forest.bounded[0]))
    described = np.ones(inner.size, dtype=bool) if kept else ~inner
    codes = forest.value_code if forest.value_code.size > 0 else np.arange(forest.value.shape[0])
    return spread(codes.astype(np.int32), described, -1)


def some_trees(predictor: Predictor, trees) -> Predictor:
    """Return a predictor of some trees only, in the given order."""
    return predictor._replace(roots=predictor.roots[trees])


def forest_means(predictor: Predictor, X, n_threads: int = 1) -> Means:
    """Return the mean over the trees of the values of each row's leaves; X is dense or csr, as for a single tree."""
    return added_up(predictor, X, np.zeros(predictor.value.shape[1]), predictor.roots.size, n_threads)


def forest_sums(predictor: Predictor, X, start: np.ndarray, n_threads: int = 1) -> Means:
    """Return ``start``, one number for each output, plus the values of each row's leaves, tree by tree.

    The trees belong to the outputs in turn.
    """
    return added_up(predictor, X, start, 1, n_threads)


def added_up(predictor: Predictor, X, start: np.ndarray, divisor: int, n_threads: int) -> Means:
    """Return ``start`` plus the values of each row's leaves, divided by ``divisor``."""
    values = np.empty((X.shape[0], start.size))

    def block(rows: slice) -> int:
        return write_sums(dense_rows(X, rows), *predictor, start, divisor, values[rows])

    return Means(values, any(over_blocks(block, X, n_threads)))


def forest_leaves(predictor: Predictor, X, n_threads: int = 1) -> ForestLeaves:
    """Return the leaf of every row of X in every tree."""
    nodes = np.empty((X.shape[0], predictor.roots.size), dtype=np.int32)

    def block(rows: slice) -> int:
        return write_forest_leaves(dense_rows(X, rows), *predictor[:5], nodes[rows])

    return ForestLeaves(nodes, any(over_blocks(block, X, n_threads)))


def over_blocks(block: Callable[[slice], Result], X, n_threads: int) -> list[Result]:
    """Return the results of all blocks of rows; a single block does not need the threads, nor their time."""
    blocks = row_blocks(X.shape[0], block_size(X))
    return [block(rows) for rows in blocks] if len(blocks) < 2 else results_of(block, blocks, n_threads)


def dense_rows(X, rows: slice) -> np.ndarray:
    """Return some rows as a dense array, row by row in memory."""
    return X[rows].toarray() if sparse.issparse(X) else np.ascontiguousarray(X[rows])


@njit
def write_sums(X, roots, words, flags, category_start, categories, code, value, start, divisor, totals):
    """Write what the leaves of every row add up to, divided by a number; return how many infinite numbers X has."""
    n_infinite, n_values = 0, value.shape[1]
    ends = np.empty((roots.size, CACHED_ROWS), dtype=np.int32)
    for first in range(0, X.shape[0], CACHED_ROWS):
        part = X[first : first + CACHED_ROWS]
        n_infinite += write_ends(part, roots, words, flags, category_start, categories, ends)
        sums = totals[first : first + CACHED_ROWS]
        sums[:] = start
        for t in range(roots.size):
            column = t * n_values % start.size
            for i in range(part.shape[0]):
                own = code[ends[t, i]]
                for k in range(n_values):
                    sums[i, column + k] += value[own, k]
        if divisor != 1:
            sums /= divisor
    return n_infinite


@njit
def write_forest_leaves(X, roots, words, flags, category_start, categories, leaves):
    """Write the leaf of every row in every tree, and return how many infinite numbers there are in X."""
    n_infinite = 0
    ends = np.empty((roots.size, CACHED_ROWS), dtype=np.int32)
    for first in range(0, X.shape[0], CACHED_ROWS):
        part = X[first : first + CACHED_ROWS]
        n_infinite += write_ends(part, roots, words, flags, category_start, categories, ends)
        for i in range(part.shape[0]):
            for t in range(roots.size):
                leaves[first + i, t] = ends[t, i] - roots[t]
    return n_infinite


@njit
def write_ends(X, roots, words, flags, category_start, categories, ends):
    """Write the leaf of every row in every tree, tree by tree; return how many infinite numbers there are in X."""
    n_missing, n_infinite = odd_numbers(X)
    if n_missing + n_infinite + category_start.size > 0:
        for t in range(roots.size):
            walk_with_care(X, roots[t], words, flags, category_start, categories, ends[t])
        return n_infinite
    numbers, n_walkers = X.reshape(-1), max(roots.size, X.shape[0])
    walkers = np.empty((3, n_walkers), dtype=np.int64)
    if X.shape[0] >= roots.size:
        for t in range(roots.size):
            for i in range(X.shape[0]):
                walkers[0, i], walkers[1, i], walkers[2, i] = 2 * roots[t], i * X.shape[1], i
            walk_side_by_side(numbers, words, walkers[0], walkers[1], walkers[2], X.shape[0], ends[t])
    else:
        arrived = np.empty(roots.size, dtype=np.int32)
        for i in range(X.shape[0]):
            for t in range(roots.size):
                walkers[0, t], walkers[1, t], walkers[2, t] = 2 * roots[t], i * X.shape[1], t
            walk_side_by_side(numbers, words, walkers[0], walkers[1], walkers[2], roots.size, arrived)
            ends[:, i] = arrived
    return n_infinite


@njit
def odd_numbers(X):
    """Return how many numbers are missing, and how many are infinite."""
    n_missing, n_infinite = 0, 0
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            n_missing += X[i, j] != X[i, j]
            n_infinite += abs(X[i, j]) == np.inf
    return n_missing, n_infinite


@njit
def walk_side_by_side(numbers, words, places, offsets, names, n_walkers, ends):
    """Write the leaf of each walker to ``ends`` under its name.

    A walker has a place among the words and an offset, where its row begins among the numbers; all are used up.
    """
    ways, n_steps = words.view(np.int64), FIRST_STEPS
    while n_walkers > 0:
        for _ in range(n_steps):
            for a in range(n_walkers):
                place = places[a]
                word = ways[np.uint64(place + 1)]
                rest = words[np.uint64(place)] - numbers[np.uint64(offsets[a] + (word & FEATURE_BITS))]
                is_right = np.float64(rest).view(np.int64) >> SIGN  # all bits or none
                places[a] = place + 2 + ((word >> WAY) & is_right)
        n_steps, n_going = STEPS, 0
        for a in range(n_walkers):
            place, name = places[a], names[a]
            ends[name] = place >> 1
            places[n_going], offsets[n_going], names[n_going] = place, offsets[a], name
            n_going += ways[place + 1] >= 0
        n_walkers = n_going


@njit
def walk_with_care(X, root, words, flags, category_start, categories, ends):
    """Write the leaf of every row in one tree; numbers may be missing or infinite, and categories may be asked."""
    ways = words.view(np.int64)
    for i in range(X.shape[0]):
        node = np.int64(root)
        while ways[2 * node + 1] >= 0:
            x = X[i, ways[2 * node + 1] & FEATURE_BITS]
            default_left = flags[node] & DEFAULT_LEFT != 0
            if flags[node] & CATEGORIES != 0:
                # the categories that are listed go to the lighter side, all others to the heavier
                left = default_left != is_listed(categories, category_start[node], category_start[node + 1], x)
            else:
                left = (x <= words[2 * node]) | ((x != x) & default_left)
            node += 1 if left else 1 + (ways[2 * node + 1] >> (WAY + 1))
        ends[i] = node
