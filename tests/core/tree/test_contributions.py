"""Contributions of features: the textbook's Shapley values, sums, symmetries, LightGBM's answers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from eigenwood.core.forest.contributions import forest_explainer
from eigenwood.core.forest.packing import pack
from eigenwood.core.tree import contributions as module
from eigenwood.core.tree.contributions import contributions, make_explainer, points_and_weights
from eigenwood.core.tree.criteria import GINI, SQUARED_ERROR
from tests.core.forest import cases
from tests.core.forest.test_predict import KINDS, rows_like
from tests.naive import contributions as naive
from tests.naive import forest as naive_forest


@pytest.fixture(scope="module", params=KINDS)
def case(request):
    return cases.case(**KINDS[request.param])


def explainer_of(case):
    factor = 1.0 / len(case.trees)
    return forest_explainer(pack(case.trees, case.criterion, case.starts, case.bounded), case.X.shape[1], factor=factor)


def nodes(questions):
    """Return a tree of one output in preorder, given (feature, threshold) or a leaf's (weight, value) for each node."""
    size = len(questions)
    left, right, end = np.full(size, -1), np.full(size, -1), np.arange(1, size + 1)
    weight, value = np.zeros(size), np.zeros((size, 1))
    for i in range(size - 1, -1, -1):
        if isinstance(questions[i][0], float):
            weight[i], value[i] = questions[i]
            continue
        left[i], right[i] = i + 1, end[i + 1]
        weight[i], end[i] = weight[left[i]] + weight[right[i]], end[right[i]]
    leaf = left < 0
    return cases.single_leaf([0.0])._replace(
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        feature=np.array([-2 if end else q[0] for q, end in zip(questions, leaf, strict=True)], dtype=np.int32),
        threshold=np.array([-2.0 if end else q[1] for q, end in zip(questions, leaf, strict=True)]),
        default_left=np.zeros(size, dtype=bool),
        category_start=np.zeros(size + 1, dtype=np.int64),
        weight=weight,
        value=value,
    )


def explained(tree, X, **options):
    return contributions(make_explainer(tree, np.array([0, tree.left.size]), np.shape(X)[1], **options), np.array(X))


# ---- the textbook -------------------------------------------------------------------------------------------------


def test_values_equal_the_textbook(case):
    X = np.concatenate([case.X[:6], rows_like(case)[:9]])
    expected = [np.mean([naive.contributions(tree, x, case.categories) for tree in case.trees], axis=0) for x in X]
    found = contributions(explainer_of(case), X)
    assert_allclose(found.values, expected, rtol=0, atol=1e-13)


def test_a_tree_by_hand():
    tree = nodes([(0, 0.5), (3.0, 0.0), (1, 0.5), (1.0, 0.0), (4.0, 1.0)])  # x0 > 0.5 and x1 > 0.5, seen in 4 of 8
    found = explained(tree, [[1.0, 1.0], [0.0, 1.0]])
    assert found.base == [0.5]
    # alone x0 adds 4/5 - 1/2 and x1 adds 5/8 - 1/2; after the other one 1 - 5/8 and 1 - 4/5
    assert_allclose(found.values[0, :, 0], [0.3375, 0.1625], atol=1e-15)
    assert_allclose(found.values[1, :, 0].sum(), -0.5, atol=1e-15)


# ---- properties ---------------------------------------------------------------------------------------------------


def test_values_and_base_add_up_to_the_prediction(case):
    X = rows_like(case)
    found = contributions(explainer_of(case), X)
    assert_allclose(
        found.values.sum(axis=1) + found.base, naive_forest.means(case.trees, X, case.categories), atol=1e-13
    )


def test_features_that_are_not_asked_add_nothing():
    tree = nodes([(2, 0.5), (3.0, 1.0), (1.0, 5.0)])
    found = explained(tree, np.ones((3, 4)))
    assert_array_equal(found.values[:, [0, 1, 3]], 0.0)
    assert_allclose(found.values[:, 2, 0], 3.0)


def test_features_that_do_the_same_add_the_same():
    tree = nodes([(0, 0.5), (1, 0.5), (1.0, 0.0), (1.0, 2.0), (1, 0.5), (1.0, 2.0), (1.0, 7.0)])
    values = explained(tree, [[1.0, 1.0], [0.0, 0.0]]).values
    assert_allclose(values[:, 0], values[:, 1], atol=1e-15)


def test_any_threads_blocks_and_lanes_have_the_same_bits(case, monkeypatch):
    explainer, X = explainer_of(case), rows_like(case)
    expected = contributions(explainer, X).values
    assert_array_equal(contributions(explainer, X[:1]).values, expected[:1])
    for block_rows, lanes in ((10, 8), (32, 16), (1024, 24)):
        monkeypatch.setattr(module, "BLOCK_ROWS", block_rows)
        monkeypatch.setattr(module, "LANES", lanes)
        for n_threads in (1, 3):
            assert_array_equal(contributions(explainer, X, n_threads).values, expected)


def test_sparse_rows_float32_and_rows_with_gaps():
    explainer, X = explainer_of(cases.case()), rows_like(cases.case())
    X[np.abs(X) < 0.5] = 0.0
    expected = contributions(explainer, X).values
    assert_array_equal(contributions(explainer, sparse.csr_array(X)).values, expected)
    assert_array_equal(contributions(explainer, np.asfortranarray(X)).values, expected)
    assert_array_equal(contributions(explainer, X[::2]).values, expected[::2])
    narrow = X.astype(np.float32)
    assert_array_equal(
        contributions(explainer, narrow).values, contributions(explainer, narrow.astype(np.float64)).values
    )


def test_trees_of_outputs_in_turn_add_up():
    case = cases.case("squared_error", n_classes=(1,), n_trees=4)
    forest, X = pack(case.trees, SQUARED_ERROR, case.starts), rows_like(case)
    found = contributions(forest_explainer(forest, 4, n_interleaved=2), X)
    for k in range(2):
        own = contributions(forest_explainer(pack(case.trees[k::2], SQUARED_ERROR, case.starts), 4), X)
        assert_array_equal(found.values[:, :, k], own.values[:, :, 0])
        assert found.base[k] == own.base[0]


@pytest.mark.parametrize("values", [[0.3, 0.7], [1.0]])
def test_a_tree_that_asks_nothing(values):
    tree = cases.single_leaf(values)
    forest = pack([tree, tree], GINI, np.array([0, len(values)]))
    found = contributions(forest_explainer(forest, 3, factor=0.5), np.ones((2, 3)))
    assert_array_equal(found.values, np.zeros((2, 3, len(values))))
    assert_allclose(found.base, values)


def test_no_trees_at_all_move_nothing():
    nothing = cases.single_leaf([0.0])
    nothing = type(nothing)(
        *(array[:0] for array in nothing[:6]), nothing.category_start[:1], *(a[:0] for a in nothing[7:])
    )
    for n_interleaved in (1, 3):
        found = contributions(make_explainer(nothing, np.array([0]), 2, n_interleaved=n_interleaved), np.ones((5, 2)))
        assert_array_equal(found.values, np.zeros((5, 2, n_interleaved)))
        assert_array_equal(found.base, np.zeros(n_interleaved))


def test_a_long_chain_of_features_stays_exact():
    """41 features on a path: sums of 21 points, the first of which are all but 0."""
    questions = [entry for j in range(40) for entry in ((j, 0.5), (1.0, float(j)))]
    tree = nodes([*questions, (40, 0.5), (1.0, 50.0), (1.0, 90.0)])
    rng = np.random.default_rng(0)
    X = np.concatenate([np.ones((1, 41)), (rng.random((6, 41)) < 0.95).astype(float)])
    found = explained(tree, X)
    ends = [j if (x[:40] < 0.5).any() else 50 + 40 * x[40] for x in X for j in [int(np.argmin(x))]]
    assert_allclose(found.values.sum(axis=1)[:, 0] + found.base, ends, rtol=1e-13)


def test_rules_of_quadrature_are_exact_for_their_degree():
    points, weights = points_and_weights([np.arange(1, 13)])
    for q in range(1, 13):
        for degree in range(2 * q):
            assert (weights[q - 1] * points[q - 1] ** degree)[:q].sum() == pytest.approx(1.0 / (degree + 1), rel=1e-13)


# ---- a reference ---------------------------------------------------------------------------------------------------


def test_lightgbm_says_the_same():
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + X[:, 3]
    params = {"num_leaves": 12, "verbose": -1, "num_threads": 1, "deterministic": True}
    booster = lightgbm.train(params, lightgbm.Dataset(X, y), 5)
    trees = [list(preorder(tree["tree_structure"])) for tree in booster.dump_model()["tree_info"]]
    start, together = np.cumsum([0] + [len(tree) for tree in trees]), nodes(sum(trees, []))
    found = contributions(make_explainer(together, start, 6), X)
    theirs = booster.predict(X, pred_contrib=True)
    assert_allclose(found.values[:, :, 0], theirs[:, :-1], atol=1e-12)
    assert_allclose(found.base, theirs[0, -1], atol=1e-12)


def preorder(node):
    """Yield LightGBM's nodes as ``nodes`` takes them."""
    if "leaf_value" in node:
        yield float(node["leaf_count"]), node["leaf_value"]
        return
    yield node["split_feature"], node["threshold"]
    yield from preorder(node["left_child"])
    yield from preorder(node["right_child"])
