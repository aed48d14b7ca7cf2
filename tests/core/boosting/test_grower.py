"""Trees: those of plain loops, whatever the columns and the rules; the same for any order of rows and any threads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.core.boosting.cases import EXACT, follow, split_rows
from tests.naive import boosting as naive


def columns(seed, n_rows):
    """Return numbers, ties, missing values, categories, two columns that share their place, and one that is missing."""
    rng = np.random.default_rng(seed)
    X = np.empty((n_rows, 8))
    X[:, 0] = rng.permutation(n_rows)
    X[:, 1] = rng.integers(4, size=n_rows)
    X[:, 2] = np.where(rng.random(n_rows) < 0.2, np.nan, rng.integers(9, size=n_rows))
    X[:, 3] = rng.integers(7, size=n_rows)
    rare = rng.integers(6, size=n_rows)
    X[:, 4] = (rare == 1) * rng.integers(1, 4, size=n_rows)
    X[:, 5] = np.where(rare == 2, rng.integers(-2, 0, size=n_rows), 1.0)
    X[:, 6] = np.nan
    X[:, 7] = np.where(rare == 3, 5.0, np.nan)
    return X


def derivatives(seed, n_rows):
    """Return gradients and hessians that are not rounded."""
    rng = np.random.default_rng(seed + 1000)
    g = rng.integers(-EXACT, EXACT, size=n_rows).astype(float)
    h = rng.integers(1, EXACT, size=n_rows).astype(float)
    g[0], h[-1] = -EXACT, EXACT
    return g, h


def codes_of(X):
    """Return every column as ranks of its values."""
    cuts = [naive.cuts_of(column, [1.0] * len(X), 255) for column in X.T.tolist()]
    return [[naive.code_of(value, own) for value, own in zip(row, cuts, strict=True)] for row in X.tolist()]


def assert_same_tree(found, root, X, categories=()):
    """Check that a tree asks the naive one's questions, with its gains, and has its values."""
    tree, expected = found.trees, list(naive.preorder(root))
    nodes = split_rows(tree, X, categories=categories)
    assert [feature for _, feature, _ in nodes] == [n.split.feature if n.left else -1 for n in expected]
    assert [rows for _, _, rows in nodes] == [sorted(n.rows) for n in expected]
    assert_allclose([tree.value[node, 0] for node, f, _ in nodes if f < 0], [n.value for n in expected if not n.left])
    gains = sorted(found.nodes.real[found.nodes.whole[:, 0] > 0, 2])
    assert_allclose(gains, sorted(n.split.gain for n in expected if n.left), rtol=1e-9, atol=1e-6)
    assert [tree.n_rows[node] for node, _, _ in nodes] == [len(n.rows) for n in expected]


RULES = {
    "to the end": {},
    "few leaves": {"max_leaves": 6},
    "one leaf": {"max_leaves": 1},
    "two leaves": {"max_leaves": 2},
    "shallow": {"max_depth": 3},
    "large leaves": {"min_samples_leaf": 7},
    "heavy leaves": {"min_hessian": 30000.0},
    "penalty": {"l2": 4096.0},
    "worth it": {"min_gain": 3000.0},
    "slow": {"learning_rate": 0.25, "max_leaves": 8},
    "monotone": {"monotonic_cst": (1, -1, 1, 0, 0, -1, 0, 0), "l2": 16.0},
    "groups": {"groups": ((0, 1), (2, 3, 4), (5, 6, 7))},
    "groups that overlap": {"groups": ((0, 1), (1, 2), (2, 0), (3, 4))},
    "no group for some": {"groups": ((1, 2),)},
}


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@pytest.mark.parametrize("seed", range(2))
def test_trees_are_those_of_plain_loops(rules, seed):
    n_rows = 60
    X, (g, h) = columns(seed, n_rows), derivatives(seed, n_rows)
    found = follow(X, g, h, categories=(3,), **{"max_leaves": n_rows, **rules})
    expected = naive.grow(codes_of(X), g.tolist(), h.tolist(), naive.Rules(categories=(3,), **rules))
    assert_same_tree(found, expected, X, categories=(3,))
