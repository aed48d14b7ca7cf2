"""What can be proved about the trees of a forest, from their questions and the rows that each of them saw.

A tree of a forest is checked where it speaks, at its leaves: the rows that end in a leaf must be as many as it says,
and their shares, means or medians must be its value.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from eigenwood.core.tree.branching import Target
from eigenwood.core.tree.impurity import ABSOLUTE_ERROR
from eigenwood.core.tree.nodes import LEAF, Tree
from eigenwood.proofs.claim import Claim, at_most
from eigenwood.proofs.tree import CLASS_IMPURITIES, ROUNDING, TINY


class LeafNumbers(NamedTuple):
    """How far the leaves of a tree are from what the rows give."""

    n_misplaced: int  # leaves that have other rows, or another weight
    value_error: float  # relative to the largest value; of medians: the weight off the middle, as a share of the leaf's


def leaf_numbers(tree: Tree, leaves, target: Target, criterion: int, *, bounded: bool) -> LeafNumbers:
    """Return how far a tree is from rows that end in these leaves; ``bounded`` values were clipped, and are trusted."""
    n_nodes, is_leaf = tree.left.size, tree.left == LEAF
    weight = np.bincount(leaves, weights=target.weights, minlength=n_nodes)
    misplaced = np.bincount(leaves, minlength=n_nodes) != tree.n_rows
    misplaced |= abs(weight - tree.weight) > ROUNDING * tree.weight
    n_misplaced = int(misplaced[is_leaf].sum())
    if bounded or n_misplaced > 0:
        return LeafNumbers(n_misplaced, 0.0)
    if criterion == ABSOLUTE_ERROR:
        return LeafNumbers(0, off_the_middle(tree, leaves, target, weight))
    value = leaf_means(leaves, target, np.maximum(weight, TINY), criterion)[is_leaf]
    return LeafNumbers(0, float(abs(value - tree.value[is_leaf]).max()) / max(float(abs(value).max()), TINY))


def leaf_means(leaves, target: Target, weight: np.ndarray, criterion: int) -> np.ndarray:
    """Return the shares of the classes, or the means of the amounts, of the rows in each leaf."""
    if criterion in CLASS_IMPURITIES:
        total = np.zeros((weight.size, int(target.starts[-1])))
        for codes, start in zip(target.labels.T, target.starts[:-1], strict=True):
            np.add.at(total, (leaves, start + codes), target.weights)
    else:
        columns = target.amounts.T
        total = np.column_stack([np.bincount(leaves, target.weights * column, weight.size) for column in columns])
    return total / weight[:, None]


def off_the_middle(tree: Tree, leaves, target: Target, weight: np.ndarray) -> float:
    """Return how much more than half of a leaf's weight lies on one side of its value, as a share; 0 for medians."""
    distances, most = target.amounts - tree.value[leaves], 0.0
    for one_side in (*(distances.T < 0), *(distances.T > 0)):
        part = np.bincount(leaves[one_side], target.weights[one_side], weight.size) / np.maximum(weight, TINY)
        most = max(most, float(part.max()) - 0.5)
    return most


def leaf_claims(trees: Iterable[LeafNumbers]) -> list[Claim]:
    """Return the claims about the leaves of all trees."""
    numbers = list(trees)
    n_misplaced, value_error = sum(one.n_misplaced for one in numbers), max(one.value_error for one in numbers)
    return [
        at_most("rows", "leaves whose rows are not those that the questions send there", n_misplaced, 0),
        at_most("values", "largest relative error of a leaf's value", value_error, ROUNDING),
    ]
