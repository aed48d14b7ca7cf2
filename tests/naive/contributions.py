"""Shapley values of a tree in plain loops: read this first, then core/tree/contributions.py.

The value of a feature is how much it adds to what is known already, as a mean over all orders in which features can
become known.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from tests.naive.tree import goes_left


def expected(tree, x, known, categories=(), node=0):
    """Return the value that a tree gives when only some features are known: elsewhere both ways, by their weights."""
    if tree.left[node] < 0:
        return tree.value[node]
    left, right = tree.left[node], tree.right[node]
    if tree.feature[node] in known:
        side = left if goes_left(tree, node, x, categories) else right
        return expected(tree, x, known, categories, side)
    return sum(
        tree.weight[side] / tree.weight[node] * expected(tree, x, known, categories, side) for side in (left, right)
    )


def contributions(tree, x, categories=()):
    """Return the Shapley value of each feature for a row, (n_features, n_values)."""
    n = len(x)
    values = np.zeros((n, tree.value.shape[1]))
    for j in range(n):
        others = [i for i in range(n) if i != j]
        for size in range(n):
            share = math.factorial(size) * math.factorial(n - size - 1) / math.factorial(n)
            for known in combinations(others, size):
                gain = expected(tree, x, {*known, j}, categories) - expected(tree, x, set(known), categories)
                values[j] += share * gain
    return values
