"""A forest in plain loops: read this first, then core/forest/predict.py."""

from __future__ import annotations

import numpy as np

from tests.naive import tree as naive


def leaves(trees, X, categories=()):
    """Return the leaf of every row in every tree."""
    return np.array([[naive.leaf_of(tree, x, categories) for tree in trees] for x in X])


def means(trees, X, categories=()):
    """Return for every row the mean of the values of its leaves."""
    rows = []
    for ends in leaves(trees, X, categories):
        total = sum(tree.value[leaf] for tree, leaf in zip(trees, ends, strict=True))
        rows.append(total / len(trees))
    return np.array(rows)
