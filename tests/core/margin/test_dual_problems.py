"""Equal rows are solved as one, and share what was found as they share its cost."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.margin.dual_problems import (
    WeightedRows,
    all_shared,
    betas_at,
    dual_problem_of_amounts,
    dual_problems_of_classes,
    gathered,
    initial_coefficients,
    to_rows,
)

X = np.array([[1.0], [2.0], [1.0], [3.0], [1.0], [2.0], [4.0]])
WEIGHTS = np.array([1.0, 1.0, 2.0, 1.0, 1.0, 3.0, 0.5])
PLACES = np.array([0, 1, 2, 4, 5, 6, 8])
ROWS = WeightedRows(X, WEIGHTS, PLACES)
CODES = np.array([0, 1, 0, 1, 1, 1, 0])


def classes(codes, **options):
    labels = np.array(["a", "b", "c"])[: codes.max() + 1]
    return dual_problems_of_classes(ROWS, labels, codes, np.arange(1.0, labels.size + 1.0), "hinge", False)


@pytest.mark.parametrize("codes", [CODES, np.array([2, 1, 2, 1, 0, 1, 0])], ids=["two", "three"])
def test_every_row_is_one_of_the_distinct_rows_of_its_class(codes):
    duals = classes(codes)
    own = np.argsort(PLACES)[np.searchsorted(PLACES, duals.places)]
    assert_array_equal(duals.X[duals.group], X[own])
    assert_array_equal(duals.y[duals.group], duals.labels[codes[own]])
    assert_array_equal(duals.codes, codes[own])
    assert_array_equal(duals.mass, WEIGHTS[own])
    assert len(np.unique(np.c_[duals.X, np.searchsorted(duals.labels, duals.y)], axis=0)) == len(duals.X)
    assert_allclose(duals.deduplicated_mass().sum(), WEIGHTS.sum())
    assert_array_equal(X[np.searchsorted(PLACES, duals.deduplicated_places())], duals.X)


def test_distinct_rows_cost_what_their_rows_cost_together():
    duals = classes(CODES)
    (problem,), (distinct,) = duals.problems, duals.deduplicated
    costs = np.bincount(duals.group, weights=problem.costs)
    assert_allclose(distinct.costs, costs[distinct.places()])


@pytest.mark.parametrize("codes", [CODES, np.array([2, 1, 2, 1, 0, 1, 0])], ids=["two", "three"])
def test_coefficients_are_shared_and_gathered_again(codes):
    duals, rng = classes(codes), np.random.default_rng(0)
    starts = np.cumsum([0, *(distinct.costs.size for distinct in duals.deduplicated)])
    beta = rng.normal(size=starts[-1])
    highest = np.concatenate([distinct.dual.high for distinct in duals.deduplicated])
    owns, at_bound = all_shared(duals, beta, starts), all_shared(duals, highest, starts)
    for column, (problem, distinct) in enumerate(zip(duals.problems, duals.deduplicated, strict=True)):
        together = beta[starts[column] : starts[column + 1]]
        assert owns[column].size == problem.costs.size
        assert_allclose(gathered(duals, column, owns[column]), together)
        assert_allclose(owns[column] / problem.costs, to_rows(duals, column, together / distinct.costs))
        assert_allclose(at_bound[column], problem.dual.high)


def test_amounts_that_differ_are_not_merged():
    amounts = np.array([5.0, 1.0, 5.0, 1.0, 6.0, 1.0, -0.0])
    duals = dual_problem_of_amounts(ROWS, amounts, 2.0, "squared", 0.1, is_gram=False)
    assert sorted(zip(duals.X[:, 0], duals.y, strict=True)) == [
        (1.0, 5.0),
        (1.0, 6.0),
        (2.0, 1.0),
        (3.0, 1.0),
        (4.0, 0.0),
    ]
    assert_array_equal(duals.codes, np.zeros(7))
    assert_allclose(duals.problems[0].costs, 2.0 * WEIGHTS)


def test_of_similarities_nothing_is_merged():
    K = WeightedRows(X @ X.T, WEIGHTS, PLACES)
    duals = dual_problems_of_classes(K, np.arange(3), np.array([2, 1, 2, 1, 0, 1, 0]), np.ones(3), "hinge", True)
    order = np.argsort([2, 1, 2, 1, 0, 1, 0], kind="stable")
    assert_array_equal(duals.X, K.X[np.ix_(order, order)])
    assert_array_equal(duals.group, np.arange(7))


def test_a_fit_begins_at_0_or_near_an_earlier_one():
    duals = classes(CODES)
    assert not np.concatenate(initial_coefficients(duals, None)).any()
    earlier = np.where(CODES == 1, 0.25, -1.0 / 3.0)[:, None] * np.ones((7, 1))
    (beta,) = initial_coefficients(duals, earlier)
    dual = duals.deduplicated[0].dual
    assert (dual.low <= beta).all()
    assert (beta <= dual.high).all()
    assert abs(beta.sum()) < 1e-12
    assert beta.any()


def test_rows_find_their_coefficients_by_where_they_stood():
    support, table = np.array([7, 3]), np.array([[1.0, 2.0], [3.0, 4.0]])
    assert_array_equal(betas_at(np.array([3, 5, 7]), support, table), [[3.0, 4.0], [0.0, 0.0], [1.0, 2.0]])
    assert_array_equal(betas_at(np.array([3]), np.empty(0, dtype=int), np.empty((0, 1))), [[0.0]])
