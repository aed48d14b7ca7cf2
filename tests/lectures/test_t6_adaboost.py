"""T6, T7, T8, T10: AdaBoost (decks A, C and E): the ten points, the exponential loss, covertype, heart, spam."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold

from eigenwood import AdaBoostClassifier, DecisionTreeClassifier, verify
from eigenwood.data import datasets
from tests.naive import adaboost as naive


@pytest.fixture(scope="module")
def points():
    return datasets.load("ten_points")


# ---- T6 and T7: the ten points


@pytest.mark.parametrize("algorithm", ["discrete", "real"])
def test_three_rounds_on_the_ten_points(points, algorithm):
    """The PCA and boosting lecture: ε = 0.30, 0.21, 0.14, β = 0.42, 0.65, 0.92. Of equal stumps the first feature's
    lowest cut is taken."""
    model = AdaBoostClassifier(n_estimators=3, algorithm=algorithm).fit(points.X, points.y)
    assert model.estimator_errors_.round(2).tolist() == [0.30, 0.21, 0.14]
    assert model.betas_.round(2).tolist() == [0.42, 0.65, 0.92]
    assert [(stump.feature_, stump.threshold_) for stump in model.estimators_] == [(0, 2.5), (0, 7.0), (1, 6.5)]
    below = [model.classes_[k] for k in model.stumps_.left]
    assert below == [1, 1, -1]  # x1 < 2.5 is +, x1 < 7 is +, x2 > 6.5 is +
    wrong = [int((stump.predict(points.X) != points.y).sum()) for stump in model.estimators_]
    assert wrong == [3, 3, 3]
    assert model.score(points.X, points.y) == 1.0
    np.testing.assert_allclose(model.edges_, [0.40, 0.57, 0.73], atol=0.005)
    assert verify(model, points.X, points.y).holds


def test_the_real_form_with_the_same_stumps(points):
    """The kernel lecture: r = 0.40, 0.57, 0.73 lead to the same weights of the stumps."""
    model = AdaBoostClassifier(n_estimators=3).fit(points.X, points.y)
    rows = [(np.asarray(row), None) for row in points.X]
    learners = [lambda row, stump=stump: int(stump.predict(row[0][None])[0]) for stump in model.estimators_]
    edges, alphas = naive.real_rounds(rows, points.y.tolist(), learners)
    np.testing.assert_allclose(edges, model.edges_, rtol=1e-12)
    np.testing.assert_allclose(alphas, model.betas_, rtol=1e-12)


def test_after_each_round_the_stump_is_worth_nothing(points):
    """The new weights make the last stump as good as chance: half of the weight is on what it got wrong."""
    model = AdaBoostClassifier(n_estimators=3).fit(points.X, points.y)
    D = np.full(10, 0.1)
    for stump, beta in zip(model.estimators_, model.betas_, strict=True):
        wrong = stump.predict(points.X) != points.y
        D = D * np.exp(np.where(wrong, beta, -beta))
        D /= D.sum()
        assert D[wrong].sum() == pytest.approx(0.5)


# ---- T8: the exponential loss, and what bounds the training error


def test_it_is_greedy_minimisation_of_the_exponential_loss(points):
    """The PCA and boosting lecture, *Greedy minimization*: no other weight of the stump at hand has a smaller loss,
    and the loss is Π Z."""
    model = AdaBoostClassifier(n_estimators=3).fit(points.X, points.y)
    pred = np.array([stump.predict(points.X) for stump in model.estimators_])
    y, scores = points.y, np.zeros(10)
    for h, beta, bound in zip(pred, model.betas_, model.bounds_, strict=True):
        losses = [np.exp(-y * (scores + b * h)).mean() for b in (beta - 0.01, beta, beta + 0.01)]
        assert losses[1] == min(losses)
        scores += beta * h
        assert losses[1] == pytest.approx(bound)


def test_the_bounds_of_deck_c():
    """Training error ≤ Π Z ≤ exp(-2 Σ γ²) ≤ e^(-γ²T/2), after every round."""
    heart = datasets.load("heart")
    model = AdaBoostClassifier(n_estimators=100).fit(heart.X, heart.y)
    gammas, T = model.edges_ / 2.0, np.arange(1, 101)
    tight = np.exp(-2.0 * np.cumsum(gammas**2))
    loose = np.exp(-(np.minimum.accumulate(gammas) ** 2) * T / 2.0)
    assert (model.train_errors_ <= model.bounds_).all()
    assert (model.bounds_ <= tight * (1 + 1e-12)).all()
    assert (tight <= loose).all()
    assert model.certificate_["edges"].value == pytest.approx(model.bounds_[-1])


def test_margins_grow_after_the_training_error_is_gone(points):
    model = AdaBoostClassifier(n_estimators=60).fit(points.X, points.y)
    assert model.train_errors_[2:].max() == 0.0
    assert model.min_margins_[-1] > 2 * model.min_margins_[2] > 0.0
    gaps = [
        AdaBoostClassifier(n_estimators=n).fit(points.X, points.y).certificate_["edge-margin gap"].value
        for n in (3, 60)
    ]
    assert 0.0 <= gaps[1] < 0.5 * gaps[0]


# ---- T10: it can overfit, and often does not


def test_stumps_on_heart_disease():
    """The PCA and boosting lecture, *Overfitting*: the training error keeps falling, the test error falls and turns
    up (ten folds).

    The curve is stored; it may differ by one patient in a fold.
    """
    heart = datasets.load("heart")
    X, y = heart.X.to_pandas(), np.asarray(heart.y)
    train, test = np.zeros(600), np.zeros(600)
    for learn, held_out in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y):
        model = AdaBoostClassifier(n_estimators=600).fit(X.iloc[learn], y[learn])
        train += model.train_errors_ / 10
        test += [np.mean(pred != y[held_out]) / 10 for pred in model.staged_predict(X.iloc[held_out])]
    assert train[599] < train[99] < train[9]
    best = test.min()
    assert best < test[0] - 0.05
    assert test[-100:].mean() > best + 0.02
    stored = json.loads((Path(__file__).parent / "heart_curve.json").read_text())
    at = np.array(stored["rounds"]) - 1
    np.testing.assert_allclose(train[at], stored["train_error"], atol=0.004)
    np.testing.assert_allclose(test[at], stored["test_error"], atol=0.004)


@pytest.mark.data
def test_the_first_words_of_spam():
    """The ensembles lecture's spam: the first stumps ask for words that a person would look for; the matrix stays
    sparse."""
    spam = datasets.load("sms_spam")
    words = CountVectorizer()
    X = words.fit_transform(spam.X)
    model = AdaBoostClassifier(n_estimators=50).fit(X, spam.y)
    asked = words.get_feature_names_out()[model.stumps_.feature]
    assert {"call", "txt", "claim"} & set(asked[:6])
    assert model.train_errors_[-1] < 0.05
    assert math.isclose(model.score(X, spam.y), 1.0 - model.train_errors_[-1], abs_tol=1e-3)


# ---- T5: boosted trees on covertype


@pytest.mark.data
@pytest.mark.slow
def test_ten_boosted_trees_on_covertype():
    """The kernel lecture: boosted decision trees, 10 trees of depth 20, test error 8.7 %; here the mean of four seeds.

    A seed decides between questions that are as good: one by one the errors are 8.2 % to 8.8 %.
    """
    cover = datasets.load("covertype2")
    (X, y), (X_test, y_test) = ((cover.X[rows], cover.y[rows]) for rows in cover.split)
    tree, errors = DecisionTreeClassifier(max_depth=20, n_jobs=2), []
    for seed in range(4):
        model = AdaBoostClassifier(tree, n_estimators=10, random_state=seed).fit(X, y)
        assert len(model) == 10
        errors.append(1.0 - model.score(X_test, y_test))
    assert np.mean(errors) == pytest.approx(0.087, abs=0.004)
