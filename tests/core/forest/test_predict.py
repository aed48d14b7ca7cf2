"""Many rows through many trees: the same leaves as one row through one tree."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier

from eigenwood.core.forest import predict
from eigenwood.core.forest.packing import pack
from eigenwood.core.forest.predict import forest_leaves, forest_means, make_predictor, some_trees
from eigenwood.core.tree import predict as single
from eigenwood.core.tree.criteria import GINI, SQUARED_ERROR
from tests.core.forest import cases
from tests.naive import forest as naive

KINDS = {
    "classes": {},
    "two outputs": {"n_classes": (3, 2), "min_samples_leaf": 3},
    "missing": {"missing": True},
    "subsets": {"split": "subset", "missing": True},
    "chains": {"split": "multiway", "missing": True, "max_depth": 4},
    "amounts": {"criterion": "squared_error"},
    "medians": {"criterion": "absolute_error", "min_samples_leaf": 3},
    "bounded": {"n_classes": (2,), "monotonic_cst": [1, 0, -1, 0], "min_samples_leaf": 2},
}


@pytest.fixture(scope="module", params=KINDS)
def case(request):
    return cases.case(**KINDS[request.param])


def walk_through(case):
    return make_predictor(pack(case.trees, case.criterion, case.starts, case.bounded))


def rows_like(case, seed=1, n_rows=60):
    """Rows between and on the values of a table, some numbers missing if they may be, categories seen and unseen."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.choice(column, size=n_rows) for column in case.X.T])
    X[::2, len(case.categories) :] += rng.choice([0.05, -0.05], size=X[::2, len(case.categories) :].shape)
    X[::7, : len(case.categories)] = -1
    return X


# ---- the textbook -------------------------------------------------------------------------------------------------


def test_leaves_equal_the_textbook(case):
    for X in (case.X, rows_like(case)):
        found = forest_leaves(walk_through(case), X)
        assert found.nodes.dtype == np.int32
        assert_array_equal(found.nodes, naive.leaves(case.trees, X, case.categories))
        assert not found.met_infinity


def test_means_equal_the_textbook(case):
    for X in (case.X, rows_like(case)):
        found = forest_means(walk_through(case), X)
        assert_array_equal(found.values, naive.means(case.trees, X, case.categories))
        assert not found.met_infinity


def test_leaves_equal_those_of_single_trees(case):
    X = rows_like(case)
    together = forest_leaves(walk_through(case), X).nodes
    for i, tree in enumerate(case.trees):
        assert_array_equal(together[:, i], single.leaves_of(single.make_predictor(tree), X).nodes)


def test_missing_numbers_where_none_were_learnt():
    case = cases.case()
    X = rows_like(case)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    assert_array_equal(forest_leaves(walk_through(case), X).nodes, naive.leaves(case.trees, X))


# ---- properties ---------------------------------------------------------------------------------------------------


def test_one_row_or_many_and_any_threads_have_the_same_bits(case, monkeypatch):
    predictor, X = walk_through(case), rows_like(case)
    expected = forest_means(predictor, X).values
    ends = forest_leaves(predictor, X).nodes
    for i in range(0, len(X), 7):
        assert_array_equal(forest_means(predictor, X[i : i + 1]).values, expected[i : i + 1])
        assert_array_equal(forest_leaves(predictor, X[i : i + 1]).nodes, ends[i : i + 1])
    monkeypatch.setattr(predict, "block_size", lambda X: 8)
    for n_threads in (1, 2, 5):
        assert_array_equal(forest_means(predictor, X, n_threads).values, expected)
        assert_array_equal(forest_leaves(predictor, X, n_threads).nodes, ends)


def test_float32_rows_are_widened(case):
    predictor, X = walk_through(case), rows_like(case).astype(np.float32)
    assert_array_equal(forest_means(predictor, X).values, forest_means(predictor, X.astype(np.float64)).values)


def test_rows_may_lie_column_by_column_or_with_gaps(case):
    predictor, X = walk_through(case), rows_like(case)
    expected = forest_means(predictor, X).values
    assert_array_equal(forest_means(predictor, np.asfortranarray(X)).values, expected)
    assert_array_equal(forest_means(predictor, X[::2]).values, expected[::2])


def test_sparse_rows_are_as_dense_ones():
    case = cases.case()
    predictor, X = walk_through(case), rows_like(case)
    X[np.abs(X) < 0.5] = 0.0
    for rows in (sparse.csr_array(X), sparse.csr_matrix(X)):
        assert_array_equal(forest_means(predictor, rows, 2).values, forest_means(predictor, X).values)
        assert_array_equal(forest_leaves(predictor, rows).nodes, forest_leaves(predictor, X).nodes)


def test_more_rows_than_walk_together():
    case = cases.case(n_trees=2)
    predictor, X = walk_through(case), rows_like(case, n_rows=predict.CACHED_ROWS + 30)
    X[40, 0] = np.nan
    assert_array_equal(forest_leaves(predictor, X).nodes, naive.leaves(case.trees, X))
    assert_array_equal(forest_means(predictor, X).values[-30:], naive.means(case.trees, X[-30:]))


def test_some_trees_walk_as_a_forest_of_their_own(case):
    predictor, X = walk_through(case), rows_like(case)
    alone = forest_means(some_trees(predictor, [2]), X).values
    leaves = forest_leaves(predictor, X).nodes[:, 2]
    assert_array_equal(alone, case.trees[2].value[leaves])
    assert_array_equal(
        forest_leaves(some_trees(predictor, [2, 0]), X).nodes, forest_leaves(predictor, X).nodes[:, [2, 0]]
    )


# ---- edges --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_infinity_is_reported_and_goes_to_its_side(infinity):
    case = cases.case()
    for n_rows in (1, 20):
        X = rows_like(case)[:n_rows]
        X[-1, :] = infinity
        assert forest_means(walk_through(case), X).met_infinity
        found = forest_leaves(walk_through(case), X)
        assert found.met_infinity
        assert_array_equal(found.nodes, naive.leaves(case.trees, X))


@pytest.mark.filterwarnings("ignore:overflow encountered in scalar:RuntimeWarning")  # said only without the JIT
def test_equal_to_the_threshold_goes_left_also_around_zero():
    for asked, X in cases.questions_and_rows_around_zero():
        predictor = make_predictor(pack([asked], GINI, [0, 2]))
        assert_array_equal(forest_leaves(predictor, X).nodes, naive.leaves([asked], X))


def test_trees_of_one_leaf():
    trees = [cases.single_leaf([2.0]), *cases.case("squared_error", n_trees=1).trees, cases.single_leaf([5.0])]
    X = cases.case("squared_error", n_trees=1).X
    for some in (trees, trees[:1]):
        predictor = make_predictor(pack(some, SQUARED_ERROR, [0, 1]))
        assert_array_equal(forest_means(predictor, X).values, naive.means(some, X))
        assert_array_equal(forest_means(predictor, X[:1]).values, naive.means(some, X[:1]))


def test_no_rows():
    case = cases.case()
    assert forest_means(walk_through(case), case.X[:0]).values.shape == (0, 3)
    assert forest_leaves(walk_through(case), case.X[:0]).nodes.shape == (0, 3)


# ---- the reference ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities_are_those_of_scikit_learn(n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 5)).astype(np.float32), rng.integers(n_classes, size=150)
    X[rng.random(X.shape) < 0.1] = np.nan
    model = RandomForestClassifier(7, min_samples_leaf=2, random_state=0).fit(X, y)
    predictor = make_predictor(pack(cases.from_scikit_learn(model), GINI, [0, n_classes]))
    new = rng.normal(size=(100, 5)).astype(np.float32)
    for rows in (X, new, new[:1]):
        assert_allclose(forest_means(predictor, rows).values, model.predict_proba(rows), rtol=1e-14, atol=1e-15)
        assert_array_equal(forest_leaves(predictor, rows).nodes, model.apply(rows))
