"""What is claimed about the leaves of a forest is counted again here, leaf by leaf."""

import numpy as np
import pytest

from eigenwood.core.tree.branching import Target
from eigenwood.core.tree.impurity import ABSOLUTE_ERROR, GINI, POISSON, SQUARED_ERROR
from eigenwood.core.tree.nodes import LEAF
from eigenwood.proofs.forest import LeafNumbers, leaf_claims, leaf_means, leaf_numbers, off_the_middle
from tests.core.forest.cases import single_leaf

CLASSES = Target(
    np.array([[0, 1], [1, 1], [1, 0], [0, 0]], dtype=np.int32), np.empty((0, 2)), np.array([1.0, 2.0, 3.0, 2.0]),
    np.array([0, 2, 4]),
)  # fmt: skip
AMOUNTS = Target(
    np.empty((0, 2), dtype=np.int32), np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 0.0], [9.0, 1.0]]),
    np.array([1.0, 1.0, 2.0, 1.0]), np.array([0, 1, 2]),
)  # fmt: skip


def leaf(value, target):
    weights = target.weights
    return single_leaf(value)._replace(n_rows=np.array([weights.size]), weight=np.array([weights.sum()]))


def test_shares_of_classes():
    tree, leaves = leaf([3 / 8, 5 / 8, 5 / 8, 3 / 8], CLASSES), np.zeros(4, dtype=np.int64)
    assert leaf_numbers(tree, leaves, CLASSES, GINI, bounded=False) == LeafNumbers(0, 0.0)
    wrong = leaf([4 / 8, 4 / 8, 5 / 8, 3 / 8], CLASSES)
    assert leaf_numbers(wrong, leaves, CLASSES, GINI, bounded=False).value_error == pytest.approx(1 / 5)
    assert leaf_numbers(wrong, leaves, CLASSES, GINI, bounded=True).value_error == 0.0


@pytest.mark.parametrize("criterion", [SQUARED_ERROR, POISSON])
def test_means(criterion):
    leaves = np.zeros(4, dtype=np.int64)
    assert leaf_numbers(leaf([4.0, 2.2], AMOUNTS), leaves, AMOUNTS, criterion, bounded=False).value_error < 1e-15
    off = leaf_numbers(leaf([4.0, 2.6], AMOUNTS), leaves, AMOUNTS, criterion, bounded=False)
    assert off.value_error == pytest.approx(0.1)


@pytest.mark.parametrize(("value", "off"), [([4.0, 0.5], 0.1), ([4.0, 1.0], 0.0), ([2.0, 1.0], 0.1), ([0.0, 1.0], 0.5)])
def test_medians(value, off):
    """Of the weights 1, 1, 2, 1 at most half may lie on one side."""
    tree, leaves = leaf(value, AMOUNTS), np.zeros(4, dtype=np.int64)
    assert off_the_middle(tree, leaves, AMOUNTS, np.array([5.0])) == pytest.approx(off)
    assert leaf_numbers(tree, leaves, AMOUNTS, ABSOLUTE_ERROR, bounded=False).value_error == pytest.approx(off)


def test_leaf_by_leaf():
    leaves = np.array([2, 2, 1, 2])
    means = leaf_means(leaves, AMOUNTS, np.array([1.0, 2.0, 3.0]), SQUARED_ERROR)
    np.testing.assert_allclose(means, [[0.0, 0.0], [4.0, 0.0], [4.0, 11 / 3]])
    shares = leaf_means(leaves, CLASSES, np.array([1.0, 3.0, 5.0]), GINI)
    np.testing.assert_allclose(shares, [[0, 0, 0, 0], [0, 1, 1, 0], [3 / 5, 2 / 5, 2 / 5, 3 / 5]])


def test_rows_that_end_elsewhere():
    tree = leaf([3 / 8, 5 / 8, 5 / 8, 3 / 8], CLASSES)
    assert tree.left[0] == LEAF
    fewer = Target(CLASSES.labels[1:], CLASSES.amounts, CLASSES.weights[1:], CLASSES.starts)
    assert leaf_numbers(tree, np.zeros(3, dtype=np.int64), fewer, GINI, bounded=False).n_misplaced == 1
    heavier = CLASSES._replace(weights=2 * CLASSES.weights)
    assert leaf_numbers(tree, np.zeros(4, dtype=np.int64), heavier, GINI, bounded=False).n_misplaced == 1


def test_the_claims_are_about_the_worst_tree():
    rows, values = leaf_claims(iter([LeafNumbers(0, 0.0), LeafNumbers(2, 0.0), LeafNumbers(1, 0.5)]))
    assert (rows.value, values.value) == (3, 0.5)
    assert not rows.holds
    assert not values.holds
    assert all(claim.holds for claim in leaf_claims([LeafNumbers(0, 1e-12)]))
