"""Problems whose kernel values are at hand: equal to the textbook; the same whoever solves them beside them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.margin import at_hand
from eigenwood.core.margin.at_hand import at_hand_steps, shares_of_work, stacked_problems
from eigenwood.core.margin.dual_svm import DualRule, limits
from eigenwood.core.margin.one_against_one import amount_problem, class_problems
from eigenwood.core.margin.rounds import members_of_round, values_among
from eigenwood.core.margin.working_set import rise_and_fall
from tests.naive import svm as naive

RULE = DualRule(1e-8, 10**6)


def drawn(seed, n_rows=24, n_classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    codes = np.sort(np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_rows - n_classes)]))
    return X, K, codes, rng.normal(size=n_rows), rng.uniform(0.3, 4.0, size=n_rows)


def last_step(K, problems, rule=RULE, betas=None, factor=None, n_threads=1):
    betas = [np.zeros(problem.costs.size) for problem in problems] if betas is None else betas
    *_, step = at_hand_steps(K, factor, problems, rule, betas, n_threads)
    assert step.last
    return step.steps


def violation(K, problem, beta):
    dual, places = problem.dual, problem.places()
    errors = dual.target - K[np.ix_(places, places)] @ beta - dual.ridge * beta
    rise, fall = rise_and_fall(errors, beta, dual.low, dual.high, dual.epsilon)
    return rise.max() - fall.min()


@pytest.mark.parametrize("slack", ["hinge", "squared"])
@pytest.mark.parametrize("seed", range(2))
def test_every_pair_equals_the_textbook(seed, slack):
    _, K, codes, _, costs = drawn(seed)
    problems = class_problems(codes, costs, np.arange(3), slack)
    for problem, step in zip(problems, last_step(K, problems), strict=True):
        places = problem.places()
        own = K[np.ix_(places, places)]
        expected = naive.fit_classes(own, problem.dual.target, problem.costs, slack == "squared")
        assert step.converged
        assert_allclose(step.beta, expected.beta, atol=1e-5)
        assert_allclose(step.scores, own @ step.beta, atol=1e-10)
        assert step.violation == pytest.approx(max(violation(K, problem, step.beta), 0.0), abs=1e-10)


@pytest.mark.parametrize("slack", ["hinge", "squared"])
def test_amounts_equal_the_textbook(slack):
    _, K, _, amounts, costs = drawn(5, n_rows=14)
    problem = amount_problem(amounts, costs, slack, 0.2)
    (step,) = last_step(K, [problem])
    assert_allclose(step.beta, naive.fit_amounts(K, amounts, costs, 0.2, slack == "squared").beta, atol=1e-5)


@pytest.mark.parametrize("most_members", [4, 20, 1024])
def test_large_problems_are_solved_by_few_members_at_a_time(most_members):
    _, K, codes, _, costs = drawn(6, n_rows=300, n_classes=2)
    (problem,) = class_problems(codes, 50.0 * costs, np.arange(2), "hinge")
    (step,) = last_step(K, [problem], RULE._replace(tol=1e-4, most_members=most_members))
    assert step.converged
    assert violation(K, problem, step.beta) <= 1.0001e-4
    assert abs(step.beta.sum()) <= 1e-12 * np.abs(step.beta).sum()


def test_threads_and_neighbours_change_no_bit(monkeypatch):
    monkeypatch.setattr(at_hand, "WORTH_THREADS", 0.0)
    monkeypatch.setattr(at_hand, "CALL_WORK", 2e4)
    _, K, codes, _, costs = drawn(7, n_rows=120, n_classes=5)
    problems = class_problems(codes, 30.0 * costs, np.arange(5), "hinge")
    one = last_step(K, problems)
    many = last_step(K, problems, n_threads=3)
    for step, other in zip(one, many, strict=True):
        assert_array_equal(step.beta, other.beta)
        assert_array_equal(step.scores, other.scores)


def test_every_step_is_feasible_and_none_loses(monkeypatch):
    monkeypatch.setattr(at_hand, "CALL_WORK", 1.0)
    _, K, codes, _, costs = drawn(8, n_rows=150, n_classes=2)
    (problem,) = class_problems(codes, 30.0 * costs, np.arange(2), "hinge")
    dual, best, n_steps = problem.dual, 0.0, 0
    for step in at_hand_steps(K, None, [problem], RULE._replace(most_members=10), [np.zeros(150)], 1):
        (one,) = step.steps
        assert ((dual.low <= one.beta) & (one.beta <= dual.high)).all()
        grown = dual.target @ one.beta - 0.5 * one.beta @ K @ one.beta
        assert grown >= best - 1e-9
        best, n_steps = grown, n_steps + 1
    assert n_steps > 5


@pytest.mark.parametrize("max_steps", [1, 2, 30])
def test_no_more_moves_than_allowed(max_steps):
    _, K, codes, _, costs = drawn(9, n_rows=100, n_classes=2)
    problems = class_problems(codes, 30.0 * costs, np.arange(2), "hinge")
    (step,) = last_step(K, problems, RULE._replace(max_steps=max_steps))
    assert 0 < step.n_steps <= max_steps
    assert not step.converged
    assert step.last


def test_it_goes_on_from_where_it_is_told_to():
    _, K, codes, _, costs = drawn(10, n_rows=80)
    problems = class_problems(codes, costs, np.arange(3), "hinge")
    solved = last_step(K, problems)
    again = last_step(K, problems, RULE._replace(tol=1e-6), [step.beta for step in solved])
    assert [step.n_steps for step in again] == [0, 0, 0]
    assert_array_equal(again[1].beta, solved[1].beta)


def test_a_hard_line_is_solved_from_within(monkeypatch):
    monkeypatch.setattr(at_hand, "CALL_WORK", 1e4)
    X, _, codes, _, costs = drawn(11, n_rows=200, n_classes=2)
    problems = class_problems(codes, 1000.0 * costs, np.arange(2), "hinge")
    rule, K = RULE._replace(tol=1e-3), X @ X.T
    (slow,) = last_step(K, problems, rule)
    monkeypatch.setattr(at_hand, "interior_work", lambda n_rows, n_columns: 0.0)
    (fast,) = last_step(K, problems, rule, factor=X)
    assert fast.converged
    assert fast.n_steps < slow.n_steps
    assert violation(K, problems[0], fast.beta) <= 1.001e-3


def test_work_is_dealt_out_whole(monkeypatch):
    _, _, codes, _, costs = drawn(12, n_rows=90, n_classes=6)
    problems = class_problems(codes, costs, np.arange(6), "hinge")
    stacked = stacked_problems(problems, [limits(problem.dual) for problem in problems])
    todo = np.array([0, 3, 4, 7, 11, 14])
    assert [part.tolist() for part in shares_of_work(stacked, todo, 4)] == [todo.tolist()]  # too little for threads
    monkeypatch.setattr(at_hand, "WORTH_THREADS", 0.0)
    shares = shares_of_work(stacked, todo, 2)
    assert len(shares) > 1
    assert_array_equal(np.concatenate(shares), todo)


@given(seed=st.integers(0, 2**32 - 1), most=st.integers(2, 12), n_before=st.integers(0, 12))
def test_the_members_hold_the_pair_that_violates_most(seed, most, n_before):
    rng = np.random.default_rng(seed)
    errors, state = rng.integers(-3, 4, size=12).astype(float), rng.integers(3, size=12)
    beta, low, high = np.choose(state, [-1.0, 0.5, 1.0]), np.full(12, -1.0), np.full(12, 1.0)
    rise, fall = rise_and_fall(errors, beta, low, high, 0.0)
    members = members_of_round(errors, beta, low, high, 0.0, 0.0, rng.permutation(12)[:n_before], most)
    if not rise.max() > fall.min():
        assert members.size == 0
        return
    assert np.unique(members).size == members.size <= most
    assert rise[members].max() == rise.max()
    assert fall[members].min() == fall.min()


def test_values_among_rows():
    K = np.arange(16.0).reshape(4, 4)
    assert_array_equal(values_among(K, np.array([1, 3])), [[5.0, 7.0], [13.0, 15.0]])
