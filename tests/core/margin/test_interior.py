"""Solutions from within, for K of few columns: equal to the textbook, feasible, at their bounds where they should."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenwood.core.margin.dual_svm import Dual
from eigenwood.core.margin.interior import balanced, can_go_through, interior_solution
from eigenwood.core.margin.working_set import rise_and_fall
from eigenwood.core.pieces import at_once
from tests.naive import svm as naive


def class_dual(signs, costs):
    return Dual(signs, np.where(signs > 0, 0.0, -costs), np.where(signs > 0, costs, 0.0), np.zeros(signs.size))


def drawn(seed, n_rows, n_columns):
    rng = np.random.default_rng(seed)
    X, signs = rng.normal(size=(n_rows, n_columns)), rng.choice([-1.0, 1.0], size=n_rows)
    signs[:2] = 1.0, -1.0
    return X, signs, X[:, 0] + rng.normal(size=n_rows), rng.uniform(0.5, 2.0, size=n_rows)


def sum_of(dual, X, beta):
    return dual.target @ beta - dual.epsilon * np.abs(beta).sum() - 0.5 * ((X.T @ beta) ** 2).sum()


def violation(dual, X, beta):
    errors = dual.target - X @ (X.T @ beta)
    rise, fall = rise_and_fall(errors, beta, dual.low, dual.high, dual.epsilon)
    return rise.max() - fall.min()


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_solution_of_the_textbook(seed):
    X, signs, amounts, costs = drawn(seed, 14, 2)
    for dual, expected in (
        (class_dual(signs, costs), naive.fit_classes(X @ X.T, signs, costs)),
        (Dual(amounts, -costs, costs, np.zeros(14), 0.2), naive.fit_amounts(X @ X.T, amounts, costs, 0.2)),
    ):
        beta = at_once(interior_solution(X, dual, 1e-6))
        assert sum_of(dual, X, beta) == pytest.approx(expected.dual, rel=1e-6)
        assert_allclose(X.T @ beta, X.T @ expected.beta, atol=1e-4)


@pytest.mark.parametrize("cost", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("kind", ["classes", "amounts"])
def test_no_round_is_needed_after_it(kind, cost):
    X, signs, amounts, costs = drawn(7, 600, 5)
    X[:, 1] = np.random.default_rng(1).standard_t(2, size=600)
    signs, costs = np.where(amounts > 0.3, 1.0, -1.0), cost * costs
    dual = class_dual(signs, costs) if kind == "classes" else Dual(amounts, -costs, costs, np.zeros(600), 0.1)
    beta = at_once(interior_solution(X, dual, 1e-3))
    assert ((dual.low <= beta) & (beta <= dual.high)).all()
    assert abs(beta.sum()) <= 1e-12 * np.abs(beta).sum()
    assert violation(dual, X, beta) <= 1e-3
    between = (beta > dual.low) & (beta < dual.high) & (beta != 0.0)
    assert np.count_nonzero(between) <= 20  # as many as there are columns, about


def test_it_pauses_after_every_step():
    X, signs, _, costs = drawn(1, 30, 2)
    assert 5 < sum(1 for _ in interior_solution(X, class_dual(signs, costs), 1e-3)) <= 60


def test_it_is_not_gone_where_slack_is_squared_or_none_is_allowed():
    _, signs, _, costs = drawn(1, 30, 2)
    dual = class_dual(signs, costs)
    assert can_go_through(dual)
    assert not can_go_through(dual._replace(ridge=np.ones(30)))
    assert not can_go_through(class_dual(signs, 1e10 * costs))


def test_what_is_left_over_goes_to_who_loses_least():
    X, signs, _, costs = drawn(2, 30, 2)
    dual = class_dual(signs, costs)
    for beta in (np.where(signs > 0, dual.high, 0.0), np.where(signs < 0, dual.low, 0.0), 0.5 * (dual.low + dual.high)):
        even = balanced(X, dual, beta)
        assert abs(even.sum()) <= 1e-12 * max(np.abs(even).sum(), 1.0)
        assert ((dual.low <= even) & (even <= dual.high)).all()
