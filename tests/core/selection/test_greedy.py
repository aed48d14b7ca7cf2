"""The order in which columns are chosen: equal to the textbook, with and without regard to redundancy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from eigenwood.core.selection.gains import Labels
from eigenwood.core.selection.greedy import MixedColumns, by_score, greedy_order, questions_of, redundancy_function
from eigenwood.core.tree.criteria import ENTROPY, ERROR, GINI
from tests.naive import selection as naive

CRITERIA = {"entropy": ENTROPY, "gini": GINI, "error": ERROR}


def table(seed):
    """Return columns of which the third repeats the first, nearly, and the second is a category; and labels."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(40, 6)).astype(float)
    X[:, 1] = np.unique(X[:, 1], return_inverse=True)[1]
    X[:, 2] = np.where(rng.random(40) < 0.9, X[:, 0], X[:, 2])
    codes = np.digitize(X[:, 0] + X[:, 4] + rng.normal(size=40), [2.0, 4.0])
    return X, [-1, 4, -1, -1, -1, -1], Labels(codes, rng.integers(1, 3, 40).astype(float), 3)


def chosen(X, n_categories, labels, criterion, is_aware, n_threads=1):
    columns = MixedColumns(X, n_categories, n_threads)
    questions = questions_of(columns, labels, CRITERIA[criterion])
    scores = np.array([question.gain for question in questions])
    aware = redundancy_function(columns, questions, labels.weights, CRITERIA[criterion]) if is_aware else None
    return scores, greedy_order(scores, 4, aware, 1.0)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("is_aware", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_equal_to_the_textbook(seed, is_aware, criterion):
    X, n_categories, labels = table(seed)
    scores, order = chosen(X, n_categories, labels, criterion, is_aware)
    expected = naive.select(
        X, labels.codes.tolist(), labels.weights.tolist(), np.array(n_categories) >= 0, criterion, 4, is_aware=is_aware
    )
    np.testing.assert_allclose(scores, expected[0], rtol=1e-10, atol=1e-12)
    assert order.columns[:4].tolist() == expected[1]
    assert sorted(order.columns) == list(range(6))


def test_dense_sparse_and_threads_give_the_same():
    X, _, labels = table(0)
    numbers = [-1] * 6
    scores, order = chosen(X, numbers, labels, "entropy", True)
    for other in (
        chosen(sparse.csc_array(X), numbers, labels, "entropy", True),
        chosen(X, numbers, labels, "entropy", True, 3),
    ):
        np.testing.assert_array_equal(other[0], scores)
        np.testing.assert_array_equal(other[1].columns, order.columns)
        np.testing.assert_array_equal(other[1].redundancies, order.redundancies)


def test_a_copy_is_chosen_late_if_redundancy_counts():
    scores = np.array([1.0, 0.9, 0.3])
    redundancy = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert greedy_order(scores, 2, None, 1.0).columns.tolist() == [0, 1, 2]
    order = greedy_order(scores, 2, lambda column: redundancy[column], 1.0)
    assert order.columns.tolist() == [0, 2, 1]
    np.testing.assert_allclose(order.redundancies, [0.0, 0.4, 0.0])


def test_of_equal_scores_the_first_comes_first():
    assert by_score(np.array([0.1, 0.5, 0.5 + 1e-13, 0.1 + 1e-13, 0.7]), 1e-12).tolist() == [4, 1, 2, 0, 3]
