"""From nodes to trees: thresholds, categories and defaults that send every row where its code went."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from eigenwood.core.boosting.types import BIN, DEFAULT_LEFT, FEATURE, LEFT, N_ROWS, RIGHT
from eigenwood.core.tree.types import LEAF, NO_FEATURE, NO_THRESHOLD
from tests.core.boosting.cases import boost, goes_left


def grown(n_rounds=3, n_categories=300):
    """Return trees over numbers, some missing, and more categories than bins."""
    rng = np.random.default_rng(0)
    n_rows = 900
    X = np.column_stack(
        [rng.normal(size=n_rows), rng.integers(n_categories, size=n_rows), rng.integers(3, size=n_rows)]
    )
    X[rng.random(n_rows) < 0.2, 0] = np.nan
    X[0, 1] = n_categories - 1
    y = np.where(np.isnan(X[:, 0]), 1.0, X[:, 0]) + rng.normal(size=n_categories)[X[:, 1].astype(int)]
    return X, boost(X, y, n_rounds=n_rounds, categories=(1,), max_leaves=9, learning_rate=0.5)


def test_every_node_is_found_again_in_preorder():
    _, found = grown()
    tree, nodes = found.trees, found.nodes.whole
    for root, end in zip(found.roots, found.nodes.start[1:], strict=True):
        waiting, number = [(root, root)], root  # its number in preorder, and among the nodes
        while waiting:
            at, node = waiting.pop()
            assert at == number
            number += 1
            assert tree.n_rows[at] == nodes[node, N_ROWS]
            assert tree.value[at, 0] == found.nodes.real[node, 0]
            if nodes[node, LEFT] < 0:
                assert (tree.left[at], tree.right[at], tree.feature[at]) == (LEAF, LEAF, NO_FEATURE)
                assert tree.threshold[at] == NO_THRESHOLD
                continue
            assert tree.feature[at] == nodes[node, FEATURE]
            assert tree.left[at] == at + 1
            waiting.append((tree.right[at], root + nodes[node, RIGHT]))
            waiting.append((tree.left[at], root + nodes[node, LEFT]))
        assert number == end


def test_thresholds_are_the_cuts():
    _, found = grown()
    tree = found.trees
    numbers = np.flatnonzero((tree.feature == 0) | (tree.feature == 2))
    assert numbers.size > 2
    for node in numbers:
        f = tree.feature[node]
        assert tree.threshold[node] in found.cuts.cuts[found.cuts.start[f] : found.cuts.start[f + 1]]
    own = found.nodes.whole[(found.nodes.whole[:, LEFT] > 0) & (found.nodes.whole[:, FEATURE] == 0)]
    assert_array_equal(np.sort(found.cuts.cuts[own[:, BIN]]), np.sort(tree.threshold[tree.feature == 0]))


@pytest.mark.parametrize("n_categories", [5, 300])
def test_listed_categories_go_to_the_lighter_side_and_others_to_the_heavier(n_categories):
    X, found = grown(n_categories=n_categories)
    tree = found.trees
    for node in np.flatnonzero(tree.feature == 1):
        left, right = tree.left[node], tree.right[node]
        assert tree.default_left[node] == (tree.n_rows[left] > tree.n_rows[right])
        listed = tree.categories[tree.category_start[node] : tree.category_start[node + 1]]
        assert (np.diff(listed) > 0).all()
        never_seen = np.array([0.0, n_categories + 5.0, 0.0])
        assert goes_left(tree, node, never_seen, (1,)) == tree.default_left[node]
    root = np.flatnonzero(tree.feature == 1)[0]
    if root == 0:
        sides = np.array([goes_left(tree, 0, x, (1,)) for x in X])
        assert [sides.sum(), (~sides).sum()] == [tree.n_rows[tree.left[0]], tree.n_rows[tree.right[0]]]


def test_only_categories_of_the_column_are_listed():
    """Of two columns of categories, one behind the other."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(4, size=200), rng.integers(9, size=200)]).astype(float)
    y = np.array([3.0, 0.0, 1.0, -5.0])[X[:, 0].astype(int)] + np.sin(5.0 * X[:, 1])
    tree = boost(X, y, n_rounds=3, categories=(0, 1), max_leaves=9).trees
    assert {0, 1} <= set(tree.feature)
    for node in np.flatnonzero(tree.feature >= 0):
        listed = tree.categories[tree.category_start[node] : tree.category_start[node + 1]]
        assert 0 < listed.size < X[:, tree.feature[node]].max() + 1
        assert listed.max() <= X[:, tree.feature[node]].max()


def test_missing_numbers_go_where_they_went():
    X = np.array([[1.0], [2.0], [3.0], [np.nan], [np.nan], [4.0]])
    for y, side in (([9.0, 9.0, 0.0, 9.0, 9.0, 0.0], True), ([9.0, 9.0, 0.0, 0.0, 0.0, 0.0], False)):
        found = boost(X, y, max_leaves=2)
        assert found.nodes.whole[0, DEFAULT_LEFT] == side
        assert found.trees.default_left[0] == side
        assert found.trees.threshold[0] == 2.5
    found = boost(X, [1.0, 1.0, 1.0, 5.0, 5.0, 1.0], max_leaves=2)  # numbers left, missing ones right
    assert found.trees.threshold[0] == np.finfo(np.float64).max
    assert not found.trees.default_left[0]


def test_where_none_is_missing_missing_numbers_go_to_the_heavier_side():
    for y, side in (([0.0, 0.0, 0.0, 9.0], True), ([9.0, 0.0, 0.0, 0.0], False)):
        assert boost(np.arange(4.0)[:, None], y, max_leaves=2).trees.default_left[0] == side
