"""Trees in arrays: their order, their depths, and what is left when a part is cut off."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.tree import DecisionTreeClassifier

from eigenwood.core.tree.structure import node_depths, preorder, subtree_ends, taken, with_leaves
from eigenwood.core.tree.types import LEAF, NO_FEATURE, NO_THRESHOLD
from tests.core.tree import cases
from tests.naive import tree as naive

SEEDS = range(8)


def grown_tree(seed):
    """A tree with questions about numbers, subsets of categories or single ones, and the rows it has grown from."""
    data = cases.table(seed, "gini", n_rows=25, n_classes=(3,))
    X, categories = cases.with_categories(np.random.default_rng(seed), data.X[:, :2])
    data = data._replace(X=X, categories=categories)
    return cases.fit(data, naive.Rules("gini", multiway=seed % 2 == 0)), data


def walked(left, right, node):
    """A node, all below its left child, all below its right child."""
    if left[node] == LEAF:
        return [node]
    return [node, *walked(left, right, left[node]), *walked(left, right, right[node])]


def path_to(tree, x, categories):
    """The nodes at which a row is asked, and its leaf."""
    leaf, path = naive.leaf_of(tree, x, categories), []
    node = leaf
    while node >= 0:
        path.insert(0, node)
        above = np.flatnonzero((tree.left == node) | (tree.right == node))
        node = int(above[0]) if above.size else -1
    return path


def shuffled(tree, seed):
    """The same tree with its nodes in another order, and where they stand; the root stays first."""
    order = np.concatenate([[0], 1 + np.random.default_rng(seed).permutation(tree.left.size - 1)])
    return taken(tree, order), order


# ---- order -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_preorder_equals_the_textbook(seed):
    tree, _ = shuffled(grown_tree(seed)[0], seed)
    for root in range(tree.left.size):
        assert_array_equal(preorder(tree.left, tree.right, root), walked(tree.left, tree.right, root))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_has_grown_is_in_preorder(seed):
    tree, _ = grown_tree(seed)
    assert_array_equal(preorder(tree.left, tree.right, 0), np.arange(tree.left.size))


@pytest.mark.parametrize("seed", SEEDS)
def test_all_below_a_node_stand_right_after_it(seed):
    tree, _ = grown_tree(seed)
    for node, end in enumerate(subtree_ends(tree.left, tree.right)):
        assert walked(tree.left, tree.right, node) == list(range(node, end))


@pytest.mark.parametrize("seed", SEEDS)
def test_another_order_and_back_is_the_same_tree(seed):
    tree, data = grown_tree(seed)
    other, order = shuffled(tree, seed)
    assert tree.left.size > 3
    for x in data.X:
        assert order[naive.leaf_of(other, x, data.categories)] == naive.leaf_of(tree, x, data.categories)
    cases.assert_same_trees(taken(other, preorder(other.left, other.right, 0)), tree)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_part_taken_out_is_a_tree(seed):
    tree, data = grown_tree(seed)
    for root in range(tree.left.size):
        part = taken(tree, preorder(tree.left, tree.right, root))
        for x in data.X:
            path = path_to(tree, x, data.categories)
            if root in path:
                assert root + naive.leaf_of(part, x, data.categories) == path[-1]
        assert part.n_rows[0] == tree.n_rows[root]
        assert part.category_start[-1] == part.categories.size


# ---- depth -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_depths_count_questions(seed):
    tree, data = grown_tree(seed)
    depth = node_depths(tree.left, tree.right, tree.chained)
    for x in data.X:
        path, questions = path_to(tree, x, data.categories), 0
        for above, node in zip(path, path[1:], strict=False):
            goes_on = tree.chained[above] and node == tree.right[above]
            questions += not goes_on
            assert depth[node] == questions


def test_depths_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    tree = DecisionTreeClassifier(random_state=0).fit(rng.normal(size=(50, 3)), rng.integers(2, size=50)).tree_
    left, right = tree.children_left.astype(np.int32), tree.children_right.astype(np.int32)
    depth = node_depths(left, right, np.zeros(left.size, dtype=bool))
    assert depth.max() == tree.max_depth
    assert_array_equal(preorder(left, right, 0), np.arange(left.size))


# ---- cutting back ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_end_at_the_first_node_that_was_cut(seed):
    tree, data = grown_tree(seed)
    rng = np.random.default_rng(seed)
    for share in (0.0, 0.1, 0.5, 1.0):
        cut = rng.random(tree.left.size) < share
        smaller = with_leaves(tree, cut)
        ends = []
        for x in data.X:
            path = path_to(tree, x, data.categories)
            expected = next((node for node in path if cut[node]), path[-1])
            end = naive.leaf_of(smaller, x, data.categories)
            ends.append(end)
            for name in ("n_rows", "weight", "impurity"):
                assert getattr(smaller, name)[end] == getattr(tree, name)[expected]
            assert_array_equal(smaller.value[end], tree.value[expected])
        leaves = smaller.left == LEAF
        assert_array_equal(np.bincount(ends, minlength=leaves.size)[leaves], smaller.n_rows[leaves])
        assert_array_equal(preorder(smaller.left, smaller.right, 0), np.arange(smaller.left.size))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_leaf_asks_nothing(seed):
    tree, _ = grown_tree(seed)
    smaller = with_leaves(tree, np.random.default_rng(seed).random(tree.left.size) < 0.3)
    for each in (tree, smaller):
        leaves = each.left == LEAF
        assert_array_equal(each.right == LEAF, leaves)
        assert_array_equal(each.feature == NO_FEATURE, leaves)
        assert (each.threshold[leaves] == NO_THRESHOLD).all()
        assert not each.default_left[leaves].any()
        assert not each.chained[leaves].any()
        assert not np.diff(each.category_start)[leaves].any()


@pytest.mark.parametrize("seed", SEEDS)
def test_cutting_nothing_changes_nothing_and_cutting_the_root_leaves_a_leaf(seed):
    tree, _ = grown_tree(seed)
    nowhere = np.zeros(tree.left.size, dtype=bool)
    cases.assert_same_trees(with_leaves(tree, nowhere), tree)
    alone = with_leaves(tree, np.arange(tree.left.size) == 0)
    assert_array_equal(alone.left, [LEAF])
    assert alone.categories.size == 0
    assert alone.n_rows[0] == tree.n_rows[0]
