"""Questions asked again: where rows end, and where each question must lie."""

import numpy as np
import pytest
from scipy import sparse

from eigenwood import DecisionTreeClassifier, DecisionTreeRegressor, verify
from eigenwood.proofs.questions import LARGEST, entries, passed, question_differences

X = np.array([[0.0, 5.0], [1.0, np.nan], [2.0, 7.0], [4.0, 1.0], [8.0, np.nan], [9.0, 3.0]])
Y = np.array([0, 0, 0, 1, 1, 1])


def test_the_nearest_numbers_on_both_sides():
    model = DecisionTreeClassifier().fit(X[:, :1], Y)
    found = passed(model.nodes_, X[:, :1])
    assert (found.below[0], found.above[0], model.nodes_.threshold[0]) == (2.0, 4.0, 3.0)
    assert found.leaves.tolist() == [1, 1, 1, 2, 2, 2]
    assert not found.met_missing.any()


def test_missing_numbers_on_one_side_alone():
    model = DecisionTreeClassifier().fit([[1.0], [2.0], [np.nan], [np.nan]], [0, 0, 1, 1])
    found = passed(model.nodes_, np.array([[1.0], [2.0], [np.nan], [np.nan]]))
    assert model.nodes_.threshold[0] == LARGEST
    assert (found.below[0], found.above[0], found.met_missing[0]) == (2.0, np.inf, True)
    assert verify(model, [[1.0], [2.0], [np.nan], [np.nan]], [0, 0, 1, 1]).holds


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array, sparse.csc_matrix, np.float32])
def test_one_entry_of_each_row(layout):
    table = np.array([[1.0, 0.0, 3.0], [0.0, 5.0, 0.0]])
    assert entries(layout(table), np.array([0, 1, 1]), np.array([2, 1, 0])).tolist() == [3.0, 5.0, 0.0]


@pytest.mark.parametrize("place", [0, 1])
def test_a_threshold_that_is_not_midway_is_seen(place):
    """The rows go the same ways, and new ones other ways."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    model = DecisionTreeRegressor(random_state=0).fit(X, y)
    node = np.flatnonzero(model.nodes_.left >= 0)[place]
    found, threshold = passed(model.nodes_, X), model.nodes_.threshold.copy()
    threshold[node] = 0.9 * found.below[node] + 0.1 * found.above[node]
    model.nodes_ = model.nodes_._replace(threshold=threshold)
    broken = verify(model, X, y)
    assert [claim.name for claim in broken if not claim.holds] == ["questions"]


def test_the_side_for_what_is_new_is_the_heavier_one():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    model = DecisionTreeRegressor(random_state=0).fit(X, y)
    default_left = model.nodes_.default_left.copy()
    default_left[0] = not default_left[0]
    model.nodes_ = model.nodes_._replace(default_left=default_left)
    assert [claim.name for claim in verify(model, X, y) if not claim.holds] == ["questions"]


@pytest.mark.parametrize("split", ["subset", "multiway"])
def test_only_categories_that_were_seen_are_listed(split):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(100, 2)).astype(float)
    y = (X[:, 0] % 3 + X[:, 1] % 2).astype(int)
    model = DecisionTreeClassifier(random_state=0, categorical_features=[0, 1], categorical_split=split).fit(X, y)
    found = passed(model.nodes_, X)
    assert (found.n_met > 0).all()
    assert verify(model, X, y).holds
    assert not verify(model, X[X[:, 0] != X[0, 0]], y[X[:, 0] != X[0, 0]]).holds


def test_questions_that_differ_are_counted():
    first, other = (DecisionTreeClassifier(max_depth=depth).fit(X[:, :1], Y).nodes_ for depth in (1, None))
    assert question_differences(first, other) == 0
    moved = first._replace(threshold=first.threshold + np.array([1.0, 0.0, 0.0]))
    assert question_differences(first, moved) == 1
    alone = DecisionTreeClassifier().fit([[0.0]], [1]).nodes_
    assert question_differences(first, alone) == 2
