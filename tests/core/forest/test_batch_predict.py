"""Very many rows: the same means, bit for bit, as on the way from the root."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier

from eigenwood import DecisionTreeRegressor
from eigenwood.core.forest import batch_predict, predict
from eigenwood.core.forest.batch_predict import (
    MOST_ROWS,
    TOP_LEVEL_QUESTIONS,
    batch_means,
    has_room,
    make_batch_forest,
    pays,
)
from eigenwood.core.forest.packing import pack
from eigenwood.core.forest.predict import forest_means, make_predictor
from eigenwood.core.forest.threshold_codes import CHUNK
from eigenwood.core.tree.criteria import GINI, SQUARED_ERROR
from tests.core.forest import cases
from tests.core.forest.test_predict import KINDS, rows_like
from tests.naive import forest as naive

NUMBERS = {kind: settings for kind, settings in KINDS.items() if "split" not in settings}
MAY_MISS, NEVER = np.ones(4, dtype=bool), np.zeros(4, dtype=bool)


@pytest.fixture(scope="module", params=NUMBERS)
def case(request):
    return cases.case(**NUMBERS[request.param])


def forest_of(case):
    return pack(case.trees, case.criterion, case.starts, case.bounded)


def large_trees(n_trees=3):
    """Trees with far more questions than top levels have."""
    case = cases.case(n_rows=700, n_trees=n_trees, n_classes=(2,))
    assert min(tree.left.size for tree in case.trees) > 4 * TOP_LEVEL_QUESTIONS
    return case


def lopsided_tree(n_rows):
    """A tree that takes one row off at each question, and a row for each of its leaves."""
    X = np.zeros((n_rows, 4))
    X[:, 1] = np.arange(n_rows)
    tree = DecisionTreeRegressor(random_state=0).fit(X, 3.0 ** np.arange(n_rows))
    assert tree.get_depth() > n_rows - 5
    return tree.nodes_, X


# ---- the textbook and the other way ---------------------------------------------------------------------------------


def test_means_equal_the_textbook(case):
    forest = make_batch_forest(forest_of(case), MAY_MISS)
    for X in (case.X, rows_like(case)):
        found = batch_means(forest, X)
        assert_array_equal(found.values, naive.means(case.trees, X))
        assert not found.met_infinity


def test_means_have_the_bits_of_the_other_way(case):
    packed_trees = forest_of(case)
    X = rows_like(case, n_rows=2 * CHUNK + 40)
    found = batch_means(make_batch_forest(packed_trees, MAY_MISS), X)
    assert found.values.tobytes() == forest_means(make_predictor(packed_trees), X).values.tobytes()


def test_trees_that_are_larger_than_their_top_levels():
    case = large_trees()
    packed_trees = forest_of(case)
    forest = make_batch_forest(packed_trees, NEVER)
    assert_array_equal(forest.n_asked, [TOP_LEVEL_QUESTIONS] * 3)
    X = rows_like(case, n_rows=CHUNK + 7)
    assert_array_equal(batch_means(forest, X).values, naive.means(case.trees, X))


def test_trees_of_few_questions_have_top_levels_only():
    case = cases.case(n_rows=30, n_trees=2, max_depth=2)
    forest = make_batch_forest(forest_of(case), NEVER)
    assert_array_equal(forest.n_asked, [(tree.left.size - 1) // 2 for tree in case.trees])


def test_a_walk_of_many_rounds():
    tree, X = lopsided_tree(180)
    forest = make_batch_forest(pack([tree], SQUARED_ERROR, [0, 1]), NEVER)
    assert_array_equal(batch_means(forest, X).values, naive.means([tree], X))


def test_the_top_levels_are_the_heaviest_questions():
    tree, _ = lopsided_tree(180)
    forest = make_batch_forest(pack([tree], SQUARED_ERROR, [0, 1]), NEVER)
    heaviest = np.sort(tree.threshold[tree.left >= 0][np.argsort(-tree.n_rows[tree.left >= 0])][:TOP_LEVEL_QUESTIONS])
    asked = forest.threshold_codes.cuts[forest.least[0].astype(np.int64) - 1]
    assert_array_equal(np.sort(asked), heaviest)


# ---- properties -----------------------------------------------------------------------------------------------------


def test_any_threads_have_the_same_bits(case, monkeypatch):
    forest, X = make_batch_forest(forest_of(case), MAY_MISS), rows_like(case)
    expected = batch_means(forest, X).values
    monkeypatch.setattr(predict, "block_size", lambda X: 8)
    for n_threads in (1, 2, 5):
        assert_array_equal(batch_means(forest, X, n_threads).values, expected)


def test_rows_do_not_know_each_other():
    case = large_trees()
    forest, X = make_batch_forest(forest_of(case), NEVER), rows_like(large_trees(), n_rows=CHUNK + 50)
    expected = batch_means(forest, X).values
    order = np.random.default_rng(0).permutation(len(X))
    assert_array_equal(batch_means(forest, X[order]).values, expected[order])
    assert_array_equal(batch_means(forest, X[:1]).values, expected[:1])


def test_more_rows_than_go_together():
    case = large_trees(2)
    packed_trees = forest_of(case)
    X = rows_like(case, n_rows=MOST_ROWS + CHUNK + 1)
    found = batch_means(make_batch_forest(packed_trees, NEVER), X)
    assert_array_equal(found.values, forest_means(make_predictor(packed_trees), X).values)


def test_float32_rows_are_widened(case):
    forest, X = make_batch_forest(forest_of(case), MAY_MISS), rows_like(case).astype(np.float32)
    assert_array_equal(batch_means(forest, X).values, batch_means(forest, X.astype(np.float64)).values)


def test_rows_may_lie_column_by_column_with_gaps_or_be_sparse():
    case = cases.case()
    forest, X = make_batch_forest(forest_of(case), NEVER), rows_like(case)
    X[np.abs(X) < 0.5] = 0.0
    expected = batch_means(forest, X).values
    assert_array_equal(batch_means(forest, np.asfortranarray(X)).values, expected)
    assert_array_equal(batch_means(forest, X[::2]).values, expected[::2])
    assert_array_equal(batch_means(forest, sparse.csr_array(X), 2).values, expected)


# ---- edges ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_infinity_is_reported_and_goes_to_its_side(infinity):
    case = cases.case()
    X = rows_like(case)
    X[-1, :] = infinity
    found = batch_means(make_batch_forest(forest_of(case), NEVER), X)
    assert found.met_infinity
    assert_array_equal(found.values, naive.means(case.trees, X))


@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")  # said only without the JIT
def test_equal_to_the_threshold_goes_left_also_around_zero():
    for asked, X in cases.questions_and_rows_around_zero():
        assert_array_equal(
            batch_means(make_batch_forest(pack([asked], GINI, [0, 2]), NEVER), X).values, naive.means([asked], X)
        )


def test_missing_numbers_of_some_features_only():
    case = cases.case(missing=True)
    some = np.isnan(case.X).any(axis=0)
    X = rows_like(case)
    assert some.any()
    assert not some.all()
    assert np.isnan(X).any()
    assert_array_equal(batch_means(make_batch_forest(forest_of(case), some), X).values, naive.means(case.trees, X))
    X[5, np.argmin(some)] = np.nan
    assert batch_means(make_batch_forest(forest_of(case), some), X) is None
    assert_array_equal(batch_means(make_batch_forest(forest_of(case), MAY_MISS), X).values, naive.means(case.trees, X))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in NUMBERS])
def test_questions_about_categories_have_no_place(kind):
    assert make_batch_forest(forest_of(cases.case(**KINDS[kind])), MAY_MISS) is None


def test_trees_of_one_leaf():
    trees = [cases.single_leaf([2.0]), *cases.case("squared_error", n_trees=1).trees, cases.single_leaf([5.0])]
    X = cases.case("squared_error", n_trees=1).X
    forest = make_batch_forest(pack(trees, SQUARED_ERROR, [0, 1]), NEVER)
    assert_array_equal(batch_means(forest, X).values, naive.means(trees, X))
    assert make_batch_forest(pack(trees[:1], SQUARED_ERROR, [0, 1]), NEVER) is None  # nothing is asked


def test_stumps():
    case = cases.case(n_trees=30, max_depth=1)
    X = rows_like(case)
    assert_array_equal(batch_means(make_batch_forest(forest_of(case), NEVER), X).values, naive.means(case.trees, X))


def test_no_rows():
    case = cases.case()
    assert batch_means(make_batch_forest(forest_of(case), NEVER), case.X[:0]).values.shape == (0, 3)


# ---- when -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_nodes", [10_000, 1_000_000])
def test_many_rows_pay_and_few_do_not(n_nodes):
    forest = forest_of(cases.case(n_trees=1))._replace(node_start=np.linspace(0, n_nodes, 101).astype(np.int64))
    fewest = -(-max(batch_predict.FEWEST_ENTRIES, batch_predict.ENTRIES_PER_NODE * n_nodes) // 100)
    assert not pays(forest, fewest - 1, made=False)
    assert pays(forest, fewest, made=False)


@pytest.mark.parametrize("made", [False, True])
def test_few_rows_do_not_pay_however_many_trees(made):
    forest = forest_of(cases.case(n_trees=1))._replace(node_start=np.arange(100_001) * 3)
    assert not pays(forest, batch_predict.FEWEST_ROWS - 1, made)
    assert pays(forest, batch_predict.FEWEST_ROWS, made)


def test_fewer_rows_pay_where_top_levels_are_apart():
    forest = forest_of(cases.case(n_trees=1))
    assert not pays(forest, batch_predict.FEWEST_ROWS, made=False)
    assert pays(forest, batch_predict.FEWEST_ROWS, made=True)


def test_room_for_columns_and_nodes():
    sizes = np.full(10_000, 101)
    assert has_room(1 << 14, sizes)
    assert not has_room((1 << 14) + 1, sizes)
    assert has_room(40, sizes[:10])
    assert not has_room(41, sizes[:10])
    assert not has_room(80, np.append(sizes, (1 << 26) + 1))


# ---- the reference --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 5])
def test_probabilities_are_those_of_scikit_learn(n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 4)).astype(np.float32), rng.integers(n_classes, size=400)
    X[rng.random(X.shape) < 0.1] = np.nan
    model = RandomForestClassifier(7, random_state=0).fit(X, y)
    forest = make_batch_forest(pack(cases.from_scikit_learn(model), GINI, [0, n_classes]), MAY_MISS)
    new = rng.normal(size=(300, 4)).astype(np.float32)
    for rows in (X, new):
        assert_allclose(batch_means(forest, rows).values, model.predict_proba(rows), rtol=1e-14, atol=1e-15)
