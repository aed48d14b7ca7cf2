"""Partial dependence by weighted walks (Friedman 2001).

Where a question is about another feature, both ways are gone, each with the weight of the training rows that went
there.
"""

from __future__ import annotations

import numpy as np

from eigenwood.core.tree.types import LEAF, Tree


def partial_dependence(tree: Tree, grid, features) -> np.ndarray:
    """Return the mean value of the first output for each line of ``grid``, which has one column for each feature."""
    share = np.zeros((tree.left.size, len(grid)))
    share[0] = 1.0
    rows = np.full((len(grid), int(max(tree.feature.max(), max(features))) + 1), np.nan)
    rows[:, features] = grid
    for node in np.flatnonzero(tree.left != LEAF):  # preorder: a parent comes before its children
        left, right = tree.left[node], tree.right[node]
        if tree.feature[node] in features:
            goes_left = answers(tree, node, rows)
        else:
            goes_left = tree.weight[left] / tree.weight[node]
        share[left] = share[node] * goes_left
        share[right] = share[node] * (1.0 - goes_left)
    leaves = tree.left == LEAF
    return tree.value[leaves, 0] @ share[leaves]


def answers(tree: Tree, node, rows) -> np.ndarray:
    """Return 1 for the rows that go left at a node, 0 for the others."""
    x = rows[:, tree.feature[node]]
    default = tree.default_left[node]
    first, last = tree.category_start[node], tree.category_start[node + 1]
    if last > first:
        return (np.isin(x, tree.categories[first:last]) != default).astype(np.float64)
    return np.where(np.isnan(x), default, x <= tree.threshold[node]).astype(np.float64)
