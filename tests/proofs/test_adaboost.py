"""The claims of boosting: they hold where theory says so, and a wrong number is seen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from eigenwood import AdaBoostClassifier, verify
from eigenwood.core.adaboost.stumps import stump_votes
from eigenwood.proofs.adaboost import (
    best_sets,
    least_error,
    preds_of_stumps,
    weighted_median,
)
from tests.naive import adaboost as naive


def case(seed=0, n_classes=2, n_rows=30):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(n_rows, 3)).astype(float)
    y = rng.integers(0, n_classes, size=n_rows)
    return X, y, rng.random(n_rows)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_the_least_error_is_that_of_plain_loops(n_classes, holes):
    X, y, D = case(0, n_classes)
    X[np.random.default_rng(1).random(X.shape) < holes] = np.nan
    _, right = naive.best_stump(X.tolist(), y.tolist(), D.tolist(), n_classes)
    found = min(least_error(X, np.zeros(3, dtype=bool), y, D, n_classes))
    assert found == pytest.approx(D.sum() - right)


def test_the_best_sets_of_categories():
    sums = np.array([[3.0, 1.0, 0.0], [0.0, 2.0, 5.0], [1.0, 1.0, 1.0]])
    assert best_sets(sums) == 3.0 + 5.0 + 1.0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_what_stumps_say_is_what_the_core_says(n_classes):
    X, y, _ = case(2, n_classes)
    model = AdaBoostClassifier(n_estimators=5, categorical_features=[1]).fit(X, y)
    votes = sum(
        (pred > 0) * w for pred, w in zip(preds_of_stumps(model.stumps_, X, n_classes), range(1, 6), strict=True)
    )
    np.testing.assert_array_equal(votes, stump_votes(model.stumps_, np.arange(1.0, 6.0), X, n_classes, 1))


def best_margin(X, y):
    """Return the largest smallest margin that any weights of all stumps reach, by linear programme."""
    signs = 2 * y - 1
    columns = [np.ones(len(y)), -np.ones(len(y))]
    for feature, below, _ in naive.candidates(X.tolist()):
        side = np.where(X[:, feature] <= below, 1.0, -1.0)
        columns += [side, -side]
    margins = signs[:, None] * np.array(columns).T  # of each row and stump
    n = margins.shape[1]
    solved = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.column_stack([-margins, np.ones(len(y))]),
        b_ub=np.zeros(len(y)),
        A_eq=np.append(np.ones(n), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)],
    )
    return -solved.fun


@pytest.mark.parametrize("seed", range(3))
def test_no_weights_reach_a_margin_beyond_the_gap(seed):
    X, y, _ = case(seed)
    model = AdaBoostClassifier(n_estimators=200).fit(X, y)
    reached, gap = model.certificate_["smallest margin"].value, model.certificate_["edge-margin gap"].value
    best = best_margin(X, y)
    assert reached <= best + 1e-9
    assert best <= reached + gap + 1e-9


def test_a_better_stump_is_seen():
    """A stump that is not the best of its round, with all numbers of the round as they follow from it."""
    X, y, D = case(3)
    y = (X[:, 2] + D > 2.5).astype(int)
    model = AdaBoostClassifier(n_estimators=1).fit(X, y)
    wrong = AdaBoostClassifier(n_estimators=1).fit(X[:, [0, 0, 0]], y)
    assert wrong.estimator_errors_[0] > model.estimator_errors_[0]
    certificate = verify(wrong, X, y)
    assert certificate["best stumps"].holds is False
    assert certificate["history"].holds


def test_a_shrunken_learning_rate_claims_no_edges():
    X, y, _ = case(4)
    certificate = AdaBoostClassifier(n_estimators=5, learning_rate=0.1).fit(X, y).certificate_
    assert "edges" not in {claim.name for claim in certificate}
    assert certificate["training error"].holds


def test_the_weighted_median():
    assert weighted_median(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 5.0])) == 3.0


def test_margins_that_are_0_but_for_rounding_may_be_on_either_side():
    """Where rows are equal and classes are many, learners give several classes the same share."""
    rng = np.random.default_rng(0)
    for n_classes in (2, 3, 4):
        X, y = rng.integers(0, 3, (40, 1)).astype(float), np.arange(40) % n_classes
        for algorithm in ("real", "discrete"):
            model = AdaBoostClassifier(algorithm=algorithm, n_estimators=3, random_state=0).fit(X, y)
            assert verify(model, X, y).holds
            model.train_errors_ = model.train_errors_ + 0.3
            assert not verify(model, X, y).holds
