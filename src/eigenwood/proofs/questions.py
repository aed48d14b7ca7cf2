"""The questions of a tree, asked again of all rows at once, level by level.

    rows at a node with x ≤ 2.5      0.5  1.0  2.0  │  3.0  7.5          nearest on either side: 2.0 and 3.0
                                          go left   │  go right          so the question must lie at 2.5, midway

It shares nothing with the code that grows a tree, nor with the one that predicts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.core.tree.types import LEAF, GrowthParams, Tree
from eigenwood.proofs.claim import Claim, at_most

LARGEST = float(np.finfo(np.float64).max)
EQUAL = 1e-9  # a share of a node's weight by which its two sides may differ and be equally heavy


class Passed(NamedTuple):
    """Where rows end, and what the questions on their way found."""

    leaves: np.ndarray  # (n_rows,)
    below: np.ndarray  # (n_nodes,) the greatest number that goes left, and the least that goes right; infinite if none
    above: np.ndarray
    met_missing: np.ndarray  # (n_nodes,) whether a number was missing there
    n_met: np.ndarray  # (n_categories,) how many rows have each category that a question lists


def passed(tree: Tree, X) -> Passed:
    """Return what becomes of rows that are asked every question again."""
    n_nodes, at = tree.left.size, np.zeros(X.shape[0], dtype=np.int64)
    below, above = np.full(n_nodes, -np.inf), np.full(n_nodes, np.inf)
    met_missing, n_met = np.zeros(n_nodes, dtype=bool), np.zeros(tree.categories.size, dtype=np.int64)
    rows = np.arange(at.size)
    while True:
        rows = rows[tree.left[at[rows]] != LEAF]
        if rows.size == 0:
            return Passed(at, below, above, met_missing, n_met)
        nodes = at[rows]
        x = entries(X, rows, tree.feature[nodes])
        listed = listed_places(tree, nodes, x)
        is_number = tree.category_start[nodes] == tree.category_start[nodes + 1]
        left = np.where(is_number, x <= tree.threshold[nodes], (listed >= 0) != tree.default_left[nodes])
        missing = is_number & np.isnan(x)
        left[missing] = tree.default_left[nodes[missing]]
        met_missing[nodes[missing]] = True
        n_met += np.bincount(listed[listed >= 0], minlength=n_met.size)
        known = is_number & ~missing
        np.maximum.at(below, nodes[known & left], x[known & left])
        np.minimum.at(above, nodes[known & ~left], x[known & ~left])
        at[rows] = np.where(left, tree.left[nodes], tree.right[nodes])


def entries(X, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return one entry of each row."""
    found = X[rows, columns]
    return np.asarray(found.todense() if hasattr(found, "todense") else found, dtype=np.float64).ravel()


def listed_places(tree: Tree, nodes: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return where in the lists of their nodes categories stand; -1 where they do not."""
    if tree.categories.size == 0:
        return np.full(x.size, -1)
    width = 2 + int(tree.categories.max())
    owner = np.repeat(np.arange(tree.left.size), np.diff(tree.category_start))
    keys = owner * width + tree.categories  # ascending: lists follow each other, and each ascends
    codes = np.where((x >= 0) & (x < width), x, width - 1).astype(np.int64)  # the last code stands for all that is new
    wanted = nodes * width + codes
    places = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    return np.where(keys[places] == wanted, places, -1)


def links_of(tree: Tree) -> np.ndarray:
    """Return which nodes are links of a chain after its first."""
    is_link = np.zeros(tree.left.size, dtype=bool)
    is_link[tree.right[tree.chained]] = True
    return is_link


def odd_questions(tree: Tree, found: Passed, weight: np.ndarray, exact: np.ndarray, params: GrowthParams) -> int:
    """Return how many questions are not as they must be: midway between the numbers on both sides, with the heavier
    side for what is new, and only categories that were seen there.

    A column that is not ``exact`` is in bins; there a question lies somewhere between two numbers.
    """
    inner = np.flatnonzero(tree.left != LEAF)
    lists = np.diff(tree.category_start)[inner]
    below, above, threshold = found.below[inner], found.above[inner], tree.threshold[inner]
    with np.errstate(invalid="ignore", over="ignore"):
        middle = 0.5 * below + 0.5 * above
    middle = np.where((below <= middle) & (middle < above), middle, below)
    middle = np.where(np.isfinite(above), middle, LARGEST)  # all numbers go left: only missing ones do not
    is_right = threshold == middle
    is_right |= ~exact[tree.feature[inner]] & (below <= threshold) & (threshold < above)
    odd = (lists == 0) & ~is_right
    one_side, other = weight[tree.left[inner]], weight[tree.right[inner]]
    heavier_left = (one_side > other) | (params.multiway & (lists > 0) & (one_side == other))
    if not params.integer_weights:  # in which order they were added may decide which of two equal sides is heavier
        heavier_left = np.where(abs(one_side - other) <= EQUAL * weight[inner], tree.default_left[inner], heavier_left)
    is_unconstrained = (
        found.met_missing[inner] | tree.chained[inner] | links_of(tree)[inner]
    )  # the side was chosen otherwise
    odd |= ~is_unconstrained & (tree.default_left[inner] != heavier_left)
    owner = np.repeat(np.arange(tree.left.size), np.diff(tree.category_start))
    return int((odd | np.isin(inner, owner[found.n_met == 0])).sum())


def question_differences(tree: Tree, other: Tree) -> int:
    """Return how many questions of two trees differ."""
    if tree.feature.size != other.feature.size or not np.array_equal(tree.category_start, other.category_start):
        return max(abs(tree.feature.size - other.feature.size), 1)
    differ = (tree.feature != other.feature) | (tree.threshold != other.threshold) | (tree.right != other.right)
    node = np.repeat(np.arange(differ.size), np.diff(tree.category_start))
    differ[node[tree.categories != other.categories]] = True
    return int((differ | (tree.default_left != other.default_left)).sum())


def question_claim(n_odd: int) -> Claim:
    """Return the claim that every question lies where it must."""
    statement = "questions not midway between the rows on their sides, or with the lighter one for what is new"
    return at_most("questions", statement, n_odd, 0)
