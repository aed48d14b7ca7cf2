"""One problem for each pair of classes: which rows take part, with which bounds; and what the pairs say of a row."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from eigenwood.core.margin.one_against_one import (
    amount_problem,
    bound_and_ridge,
    class_problems,
    class_scores,
    coefficients,
    pair_votes,
    stacked,
    unstacked,
)

CODES = np.array([0, 0, 1, 1, 1, 2, 3, 3])
COSTS = np.arange(1.0, 9.0)
LABELS = np.array(["a", "b", "c", "d"])


def test_two_classes_are_one_problem_of_all_rows():
    codes = np.array([1, 0, 1])
    (problem,) = class_problems(codes, COSTS[:3], LABELS[:2], "hinge")
    assert_array_equal(problem.places(), [0, 1, 2])
    assert_array_equal(problem.dual.target, [1.0, -1.0, 1.0])
    assert_array_equal(problem.dual.low, [0.0, -2.0, 0.0])
    assert_array_equal(problem.dual.high, [1.0, 0.0, 3.0])
    assert problem.label == ""


def test_several_classes_are_a_problem_for_each_pair():
    problems = class_problems(CODES, COSTS, LABELS, "hinge")
    assert len(problems) == 6
    for problem, (i, j) in zip(problems, combinations(range(4), 2), strict=True):
        places = problem.places()
        assert_array_equal(places, np.flatnonzero(np.isin(CODES, (i, j))))
        assert_array_equal(problem.dual.target, np.where(CODES[places] == i, 1.0, -1.0))  # the first is +1
        assert_array_equal(problem.costs, COSTS[places])
        assert problem.label == f" [{LABELS[i]} or {LABELS[j]}]"


@pytest.mark.parametrize("slack", ["hinge", "squared"])
def test_slack_is_a_bound_or_a_ridge(slack):
    most, ridge = bound_and_ridge(COSTS, slack)
    problem = amount_problem(-COSTS, COSTS, slack, 0.25)
    assert_array_equal(problem.dual.high, most)
    assert_array_equal(problem.dual.low, -most)
    assert_array_equal(problem.dual.ridge, ridge)
    assert (np.isfinite(most) ^ (ridge > 0.0)).all()
    assert (problem.dual.epsilon, problem.slices) == (0.25, (slice(0, 8),))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_coefficients_go_to_the_lines_of_scikit_learn_and_back(n_classes):
    rng = np.random.default_rng(n_classes)
    codes = np.repeat(np.arange(n_classes), rng.integers(1, 4, n_classes))
    problems = class_problems(codes, np.ones(codes.size), np.arange(n_classes), "hinge")
    table = coefficients(problems, [rng.normal(size=problem.costs.size) for problem in problems], codes.size)
    lines = stacked(table, codes, n_classes)
    assert lines.shape == (max(1, n_classes - 1), codes.size)
    assert_array_equal(unstacked(lines, np.bincount(codes)), table)


def test_rows_that_take_no_part_have_a_coefficient_of_0():
    problems = class_problems(CODES, COSTS, LABELS, "hinge")
    table = coefficients(problems, [np.ones(problem.costs.size) for problem in problems], CODES.size)
    assert_array_equal(table.sum(axis=1), np.full(8, 3.0))  # each class meets three others


def test_a_class_gets_a_vote_for_each_pair_it_wins():
    scores = np.array([[1.0, 2.0, -1.0], [-1.0, -2.0, 0.0]])  # (0, 1), (0, 2), (1, 2)
    assert_array_equal(pair_votes(scores, 3), [[2.0, 0.0, 1.0], [0.0, 1.0, 2.0]])


def test_clear_pairs_decide_only_between_equal_votes():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(200, 6)) * 10.0 ** rng.integers(-3, 6, size=(200, 6))
    ranks, votes = class_scores(scores, 4), pair_votes(scores, 4)
    assert_array_equal(np.rint(ranks), votes)
    assert (np.abs(ranks - votes) < 1.0 / 3.0 + 1e-12).all()
