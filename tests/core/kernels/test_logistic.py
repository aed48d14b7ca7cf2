"""Kernel logistic regression: equal to Newton's method on the whole kernel, and to scikit-learn's without one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from eigenwood.core.kernels import features, logistic
from eigenwood.core.kernels.blocks import gram
from eigenwood.core.kernels.functions import KERNELS, Kernel
from eigenwood.core.kernels.logistic import (
    LogisticRule,
    Outcomes,
    asked_for,
    best_offsets,
    log_probabilities,
    logistic_steps,
    probabilities,
    total_loss,
)
from eigenwood.core.kernels.low_rank import Rank
from eigenwood.core.kernels.matrix import kernel_matrix
from tests.naive import kernel_logistic as naive

RBF, LINEAR = Kernel(KERNELS["rbf"], 0.3), Kernel(KERNELS["linear"])
WHOLE = Rank(10_000, 1e-12)
CLOSE = LogisticRule(1e-14, 100)


def case(seed, n_rows=40, n_classes=2, C=3.0, has_offset=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    score = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n_rows)
    codes = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    return X, Outcomes(codes, C * rng.integers(1, 4, n_rows), n_classes, has_offset)


def last(X, outcomes, kernel=RBF, rank=WHOLE, rule=CLOSE, n_threads=1):
    *_, step = logistic_steps(kernel_matrix(X, kernel), rank, 0, outcomes, rule, n_threads)
    assert step.last
    return step


@pytest.fixture(params=["narrow", "real"])
def levels(monkeypatch, request):
    """Levels of few columns and blocks of few rows, so that small tables have several; and the real ones."""
    if request.param == "narrow":
        monkeypatch.setattr(logistic, "FIRST_LEVEL", 2)
        monkeypatch.setattr(logistic, "GROWTH", 2)
        monkeypatch.setattr(features, "LEAST_ROWS", 3)


@pytest.mark.parametrize("has_offset", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_equals_newton_on_the_whole_kernel(n_classes, has_offset, levels):
    X, outcomes = case(0, n_classes=n_classes, has_offset=has_offset)
    step, K = last(X, outcomes), gram(X, X, RBF)
    reference = naive.fit(K, outcomes.codes, outcomes.costs, n_classes, has_offset)
    scores = step.point.scores + step.point.offsets
    assert step.converged
    assert step.point.primal == pytest.approx(reference.primal, rel=1e-9)
    assert_allclose(probabilities(scores), [naive.shares(row) for row in reference.scores], atol=1e-6)
    assert_allclose(asked_for(outcomes, scores), naive.asked_for(outcomes.codes, outcomes.costs, scores), atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_with_few_landmarks_it_is_the_best_for_the_approximate_kernel(n_classes):
    X, outcomes = case(1, n_classes=n_classes)
    step = last(X, outcomes, rank=Rank(6))
    F = step.low_rank.factor
    reference = naive.fit(F @ F.T, outcomes.codes, outcomes.costs, n_classes)
    assert F.shape == (40, 6)
    assert step.point.primal == pytest.approx(reference.primal, rel=1e-8)
    assert reference.dual == pytest.approx(reference.primal, rel=1e-6)


@pytest.mark.parametrize("has_offset", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_with_the_linear_kernel_it_is_that_of_scikit_learn(n_classes, has_offset, C):
    X, outcomes = case(2, 200, n_classes, C, has_offset)
    step = last(X, outcomes, LINEAR)
    theirs = LogisticRegression(C=C, fit_intercept=has_offset, tol=1e-12, max_iter=10_000)
    theirs.fit(X, outcomes.codes, sample_weight=outcomes.costs / C)
    assert_allclose(probabilities(step.point.scores + step.point.offsets), theirs.predict_proba(X), atol=2e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e6])
def test_at_the_end_every_class_is_as_likely_as_it_is_frequent(n_classes, C):
    """Calibrated by nature: the sums of probabilities are the sums of weights."""
    X, outcomes = case(3, 120, n_classes, C)
    step = last(X, outcomes, rule=LogisticRule(1e-8, 200))
    P = probabilities(step.point.scores + step.point.offsets)
    assert_allclose(outcomes.costs @ P, np.bincount(outcomes.codes, weights=outcomes.costs), rtol=1e-9)
    assert step.converged
    assert step.point.offsets.sum() == pytest.approx(0.0, abs=1e-9) or n_classes == 2


def test_what_is_left_to_gain_bounds_what_a_longer_fit_gains(levels):
    """At every step of every fit: the primal is above the best one by the gap at most."""
    X, outcomes = case(4, 150, 3)
    best = last(X, outcomes, rank=Rank(10)).point.primal
    steps = [step for step in logistic_steps(kernel_matrix(X, RBF), Rank(10), 0, outcomes, CLOSE, 1) if step.whole]
    at_rank = [step.point for step in steps if step.low_rank.pivots.size == 10]
    assert len(at_rank) > 2
    for point in at_rank:
        assert -1e-9 * best <= point.primal - best <= point.gap() + 1e-9 * best
    assert [point.primal for point in at_rank] == sorted((point.primal for point in at_rank), reverse=True)


def test_the_levels_do_not_change_the_answer(monkeypatch):
    X, outcomes = case(5, 300)
    straight = last(X, outcomes, rank=Rank(60))
    monkeypatch.setattr(logistic, "FIRST_LEVEL", 5)
    monkeypatch.setattr(logistic, "GROWTH", 2)
    in_levels = last(X, outcomes, rank=Rank(60))
    assert_array_equal(in_levels.low_rank.pivots, straight.low_rank.pivots)
    assert_allclose(in_levels.point.scores, straight.point.scores, atol=1e-5)


def test_the_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(features, "LEAST_ROWS", 64)
    X, outcomes = case(6, 500, 3)
    one, three = (last(X, outcomes, rank=Rank(40), n_threads=n) for n in (1, 3))
    assert_array_equal(one.point.weights, three.point.weights)
    assert_array_equal(one.point.offsets, three.point.offsets)


def test_a_fit_may_be_left_at_any_pause():
    """Weights always belong to the landmarks that stand beside them."""
    X, outcomes = case(7, 200)
    for step in logistic_steps(kernel_matrix(X, RBF), Rank(150), 0, outcomes, CLOSE, 1):
        F, point = step.low_rank.factor, step.point
        assert_allclose(F @ point.weights, point.scores, atol=1e-8)
        assert_allclose(
            point.weights - F.T @ asked_for(outcomes, point.scores + point.offsets), point.gradient, atol=1e-8
        )
        assert F.shape[1] == step.low_rank.pivots.size == step.low_rank.errors.size - 1


def test_a_small_kernel_beside_huge_costs_is_multiplied_in_float64():
    """Where float32 would lose the 1 on the diagonal, nothing is lost."""
    X, outcomes = case(8, 150, C=1e7)
    step = last(X, outcomes, LINEAR, rule=LogisticRule(1e-10, 200))
    assert step.converged


def test_max_iter_counts_steps_of_all_levels(levels):
    X, outcomes = case(9, 100)
    step = last(X, outcomes, rule=LogisticRule(1e-14, 3))
    assert (step.n_iter, step.converged) == (3, False)


def test_a_kernel_of_zeros_leaves_the_shares_of_the_classes():
    X, outcomes = np.zeros((6, 2)), Outcomes(np.array([0, 0, 0, 0, 1, 1]), np.ones(6), 2, True)
    step = last(X, outcomes, LINEAR)
    assert step.converged
    assert_allclose(probabilities(step.point.scores + step.point.offsets), np.tile([2 / 3, 1 / 3], (6, 1)))


# ---- losses ----------------------------------------------------------------------------------------------------


def test_probabilities_of_huge_scores():
    logs = log_probabilities(np.array([[1e4, -1e4, 0.0]]))
    assert_allclose(logs, [[0.0, -2e4, -1e4]])
    assert_allclose(probabilities(np.array([[-800.0], [800.0], [0.0]])), [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_best_offsets_balance_what_is_asked_for(n_classes):
    _, outcomes = case(10, 80, n_classes)
    scores = 30.0 * np.random.default_rng(0).normal(size=(80, outcomes.n_scores()))
    offsets = best_offsets(outcomes, scores, np.zeros(outcomes.n_scores()))
    asked = asked_for(outcomes, scores + offsets)
    assert np.abs(asked.sum(axis=0)).max() < 1e-9
    for direction in np.eye(outcomes.n_scores()):
        for size in (-1e-3, 1e-3):
            assert total_loss(outcomes, scores + offsets + size * direction) >= total_loss(outcomes, scores + offsets)
