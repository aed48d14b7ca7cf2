"""A forest in few bytes: every tree comes back."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from eigenwood.core.forest.packing import (
    PackedTree,
    distinct_rows,
    forest_of,
    joined,
    narrowed,
    pack,
    right_children,
    tree_at,
)
from eigenwood.core.tree.criteria import GINI, SQUARED_ERROR
from eigenwood.core.tree.structure import preorder
from eigenwood.core.tree.types import LEAF
from tests.core.forest import cases

ADDED_UP = ("impurity", "weight", "value")
KINDS = {
    "gini": {},
    "entropy, two outputs": {"criterion": "entropy", "n_classes": (3, 2)},
    "error, pruned": {"criterion": "error", "max_depth": 3},
    "uneven weights": {"counts": False, "min_samples_leaf": 3, "n_classes": (4, 2)},
    "subsets": {"split": "subset", "missing": True},
    "chains": {"split": "multiway", "missing": True, "max_depth": 4},
    "squared error": {"criterion": "squared_error", "missing": True},
    "squared error, two outputs": {"criterion": "squared_error", "n_classes": (1, 1), "min_samples_leaf": 2},
    "poisson": {"criterion": "poisson", "min_samples_leaf": 2, "counts": False},
    "poisson, two outputs": {"criterion": "poisson", "n_classes": (1, 1), "min_samples_leaf": 3},
    "absolute error": {"criterion": "absolute_error", "min_samples_leaf": 3},
    "bounded amounts": {"criterion": "squared_error", "monotonic_cst": [1, 0, -1, 0], "min_samples_leaf": 2},
    "bounded shares": {"n_classes": (2,), "monotonic_cst": [1, 0, -1, 0], "min_samples_leaf": 2},
}


@pytest.fixture(scope="module", params=KINDS)
def case(request):
    return cases.case(**KINDS[request.param])


def packed_case(case, trees=None):
    return pack(case.trees if trees is None else trees, case.criterion, case.starts, case.bounded)


def assert_same(one, other):
    """Two forests or trees are the same, bit for bit."""
    for name, here, there in zip(one._fields, one, other, strict=True):
        assert here.dtype == there.dtype, name
        assert here.tobytes() == there.tobytes(), name


def assert_comes_back(tree, back):
    for name, given, found in zip(tree._fields, tree, back, strict=True):
        assert found.dtype == given.dtype, name
        assert found.shape == given.shape, name
        if name in ADDED_UP:
            assert_allclose(found, given, rtol=1e-9, atol=1e-13, err_msg=name)
        else:
            assert found.tobytes() == given.tobytes(), name


# ---- there and back -----------------------------------------------------------------------------------------------


def test_every_tree_comes_back(case):
    forest = packed_case(case)
    assert sum(tree.left.size for tree in case.trees) > 3 * len(case.trees)
    for i, tree in enumerate(case.trees):
        assert_comes_back(tree, tree_at(forest, i))


def test_a_single_question_about_categories_comes_back():
    n_listed = 0
    for seed in range(6):
        case = cases.case(split="subset", n_trees=1, max_depth=1, seed=seed)
        assert_comes_back(case.trees[0], tree_at(packed_case(case), 0))
        n_listed += case.trees[0].categories.size
    assert n_listed > 0


def test_leaves_come_back_bit_for_bit(case):
    forest = packed_case(case)
    for i, tree in enumerate(case.trees):
        leaves, back = tree.left == LEAF, tree_at(forest, i)
        for name in ("weight", "value"):
            assert getattr(back, name)[leaves].tobytes() == getattr(tree, name)[leaves].tobytes()


def test_what_does_not_add_up_is_kept_bit_for_bit():
    for kind in ("absolute error", "bounded amounts", "bounded shares"):
        case = cases.case(**KINDS[kind])
        forest = packed_case(case)
        for i, tree in enumerate(case.trees):
            assert_array_equal(tree_at(forest, i).value, tree.value)
            assert_array_equal(tree_at(forest, i).impurity, tree.impurity)


def test_packing_again_changes_nothing(case):
    forest = packed_case(case)
    trees = [tree_at(forest, i) for i in range(len(case.trees))]
    again = packed_case(case, trees)
    assert_same(again, forest)
    for i, tree in enumerate(trees):
        assert_same(tree_at(again, i), tree)


def test_joined_forests_are_the_forest_of_all_trees(case):
    assert_same(joined(packed_case(case, case.trees[:1]), packed_case(case, case.trees[1:])), packed_case(case))


def test_some_trees_of_several_forests_are_a_forest(case):
    one, other = packed_case(case), packed_case(case, case.trees[::-1])
    n = len(case.trees)
    taken = [PackedTree(other, n - 1), *(PackedTree(one, i) for i in range(n)), PackedTree(other, 1)]
    expected = packed_case(case, [case.trees[0], *case.trees, case.trees[::-1][1]])
    assert_same(forest_of(taken), expected)
    assert_same(forest_of([PackedTree(one, i) for i in range(n)]), one)


def test_trees_of_one_leaf():
    grown = cases.case(n_classes=(2,), n_trees=1).trees
    trees = [cases.single_leaf([0.25, 0.75]), *grown, cases.single_leaf([1.0, 0.0])]
    for some in (trees, trees[:1], trees[::-1]):
        forest = pack(some, GINI, [0, 2])
        for i, tree in enumerate(some):
            if tree.left.size == 1:  # its impurity was not given as its shares say
                tree = tree._replace(impurity=1.0 - (tree.value**2).sum(axis=1))
            assert_comes_back(tree, tree_at(forest, i))


def test_thresholds_and_signs_of_zero_come_back_bit_for_bit():
    tree = cases.case(n_classes=(2,), n_trees=1).trees[0]
    odd = np.array([0.1, -0.0, 0.0, 1e-310, np.finfo(np.float64).max, -1.5, 1 / 3])
    threshold = np.where(tree.left == LEAF, tree.threshold, np.resize(odd, tree.left.size))
    forest = pack([tree._replace(threshold=threshold)] * 3, GINI, [0, 2])
    assert tree_at(forest, 1).threshold.tobytes() == threshold.tobytes()


# ---- size ---------------------------------------------------------------------------------------------------------


def bytes_per_node(forest):
    return sum(array.nbytes for array in forest) / forest.node_start[-1]


@pytest.mark.parametrize("n_classes", [2, 7])
def test_classes_take_a_seventh_of_the_plain_arrays(n_classes):
    X, y = make_classification(600, 12, n_informative=9, n_classes=n_classes, random_state=0)
    model = RandomForestClassifier(5, random_state=0).fit(np.round(X, 1), y)
    forest = pack(cases.from_scikit_learn(model), GINI, [0, n_classes])
    assert 7 * bytes_per_node(forest) < 64 + 8 * n_classes


def test_amounts_take_a_fifth_of_the_plain_arrays():
    X, y = make_regression(600, 8, random_state=0)
    model = RandomForestRegressor(5, random_state=0).fit(np.round(X, 1), y)
    forest = pack(cases.from_scikit_learn(model), SQUARED_ERROR, [0, 1])
    assert 5 * bytes_per_node(forest) < 72


def test_weights_that_count_rows_are_not_kept_twice():
    tree = cases.case(n_classes=(2,), n_trees=1).trees[0]
    assert pack([tree._replace(weight=tree.n_rows.astype(float))], GINI, [0, 2]).weight.size == 0


# ---- parts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numbers", "dtype"),
    [
        ([0.0, 255.0], "uint8"),
        ([0.0, 256.0], "uint16"),
        ([65536.0], "uint32"),
        ([-0.0, 1.0], "float32"),
        ([-1.0], "float32"),
        ([2.0**40], "float32"),
        ([0.1], "float64"),
        ([1e300], "float64"),
        ([], "uint8"),
    ],
)
def test_the_narrowest_dtype(numbers, dtype):
    found = narrowed(np.array(numbers))
    assert found.dtype == dtype
    assert found.astype(np.float64).tobytes() == np.array(numbers).tobytes()


@pytest.mark.parametrize("most", [0, 255, 256, 65535, 65536, 2**32])
def test_the_narrowest_whole_numbers(most):
    found = narrowed(np.array([0, most]))
    assert found.dtype.kind == "u"
    assert_array_equal(found, [0, most])
    assert found.dtype.itemsize == 1 or most >= 256 ** (found.dtype.itemsize // 2)


@pytest.mark.parametrize("seed", range(5))
def test_distinct_rows_equal_the_textbook(seed):
    rows = np.random.default_rng(seed).integers(-2, 2, size=(50, 3))
    first, codes = distinct_rows(rows)
    stats = []
    for row in rows.tolist():
        if row not in stats:
            stats.append(row)
    assert rows[first].tolist() == stats
    assert [stats[code] for code in codes] == rows.tolist()


def test_the_shape_follows_from_the_leaves(case):
    inner = np.concatenate([tree.left != LEAF for tree in case.trees])
    right, start = right_children(inner), 0
    for tree in case.trees:
        own = right[start : start + tree.left.size]
        assert_array_equal(np.where(own == LEAF, LEAF, own - start), tree.right)
        assert_array_equal(preorder(tree.left, tree.right, 0), np.arange(tree.left.size))
        start += tree.left.size
