"""AdaBoost that goes on, that stops early, and what features contribute to its vote."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, r2_score

import eigenwood
from eigenwood import AdaBoostClassifier, AdaBoostRegressor, DecisionTreeClassifier, DecisionTreeRegressor
from eigenwood.core.forest.packing import tree_at
from eigenwood.errors import InputError
from eigenwood.estimators.adaboost.contributing import voting_forest
from eigenwood.estimators.adaboost.input_checks import check_stump_rows
from eigenwood.estimators.adaboost.stopping import divided_stump_rows
from eigenwood.estimators.state import other_attributes
from tests.estimators.test_adaboost import blobs
from tests.naive import contributions as naive

TREE = DecisionTreeClassifier(max_depth=2)
CHANGED = (
    "AdaBoostClassifier: X, y, sample_weight, estimator, algorithm, learning_rate and early_stopping must be those of "
    "the last fit when warm_start is True; got others."
)


def noisy(n_classes=2, n_rows=240, seed=1):
    X, y = blobs(n_classes, n_rows, seed)
    wrong = np.random.default_rng(seed).random(n_rows) < 0.2
    return X, np.where(wrong, (y + 1) % n_classes, y)


def amounts(n_rows=240):
    X, _ = blobs(2, n_rows, 2)
    return X, X[:, 0] * X[:, 1] + 0.5 * np.random.default_rng(2).normal(size=n_rows)


def assert_same_bits(one, other, X):
    assert other_attributes(one, other) == []
    assert one.certificate_ == other.certificate_
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


# ---- warm starts


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize(
    ("learner", "algorithm", "n_classes"),
    [(None, "discrete", 2), (None, "discrete", 3), (None, "real", 3), (TREE, "discrete", 3), (TREE, "real", 2)],
)
def test_going_on_gives_the_bits_of_one_fit(learner, algorithm, n_classes, early_stopping):
    X, y = noisy(n_classes)
    weights = np.random.default_rng(0).integers(1, 3, size=y.size)
    params = {"algorithm": algorithm, "early_stopping": early_stopping, "random_state": 0}
    whole = AdaBoostClassifier(learner, n_estimators=18, **params).fit(X, y, weights)
    parts = AdaBoostClassifier(learner, n_estimators=4, warm_start=True, **params).fit(X, y, weights)
    for n_estimators in (9, 9, 18):
        parts.set_params(n_estimators=n_estimators).fit(X, y, weights)
    assert_same_bits(whole, parts, X)
    assert parts.stop_reason_ == whole.stop_reason_
    assert eigenwood.verify(parts, X, y, sample_weight=weights).holds


def test_going_on_draws_the_same_rows():
    X, y = amounts()
    for params in ({"early_stopping": False}, {"early_stopping": True, "n_iter_no_change": 4}):
        whole = AdaBoostRegressor(n_estimators=12, random_state=0, **params).fit(X, y)
        parts = AdaBoostRegressor(n_estimators=3, random_state=0, warm_start=True, **params).fit(X, y)
        assert_same_bits(whole, parts.set_params(n_estimators=12).fit(X, y), X)
        assert eigenwood.verify(parts, X, y).holds


def test_a_seed_that_was_drawn_stays():
    X, y = noisy()
    model = AdaBoostClassifier(TREE, n_estimators=3, resample=True, warm_start=True, random_state=None).fit(X, y)
    seed = model.seed_
    assert model.set_params(n_estimators=5).fit(X, y).seed_ == seed
    assert len(model) == 5


@pytest.mark.parametrize("learner", [None, TREE])
def test_a_fit_that_ran_out_of_time_goes_on(learner):
    X, y = noisy()
    params = {"n_estimators": 15, "early_stopping": True, "random_state": 0}
    short = AdaBoostClassifier(learner, time_limit=1e-6, warm_start=True, **params).fit(X, y)
    assert (short.stop_reason_, len(short)) == ("time_limit", 1)
    assert_same_bits(AdaBoostClassifier(learner, **params).fit(X, y), short.set_params(time_limit=None).fit(X, y), X)


@pytest.mark.parametrize("learner", [None, DecisionTreeClassifier()])
def test_rounds_that_theory_has_ended_stay(learner):
    perfect, nothing = np.arange(8.0)[:, None], np.zeros((8, 1))
    y = np.arange(8) % 8 > 3
    for X, labels, reason in ((perfect, y, "perfect"), (nothing, np.arange(8) % 2, "no_edge")):
        model = AdaBoostClassifier(learner, n_estimators=2, warm_start=True, random_state=0).fit(X, labels)
        model.set_params(n_estimators=7).fit(X, labels)
        whole = AdaBoostClassifier(learner, n_estimators=7, random_state=0).fit(X, labels)
        assert (model.stop_reason_, len(model)) == (reason, 1)
        assert_same_bits(whole, model, X)


@pytest.mark.parametrize("learner", [None, TREE])
def test_other_data_are_refused(learner):
    X, y = noisy()
    model = AdaBoostClassifier(learner, n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    model.set_params(n_estimators=6)
    for bad_X, bad_y, params, message in (
        (X[:, :2], y, {}, "X must have the columns it had before when warm_start is True; got others."),
        (X, y + 1, {}, "y must have the classes it had before when warm_start is True; got others."),
        (X, 1 - y, {}, CHANGED),
        (X, y, {"learning_rate": 0.5}, CHANGED),
        (X, y, {"estimator": DecisionTreeRegressor() if learner is None else LogisticRegression()}, None),
        (X, y, {"n_estimators": 2}, "n_estimators=2 must be larger or equal to the 3 rounds there are"),
    ):
        before = model.get_params(deep=False)
        with pytest.raises(InputError) as caught:
            model.set_params(**params).fit(bad_X, bad_y)
        assert message is None or message in str(caught.value)
        model.set_params(**before)
    assert len(model) == 3
    assert len(model.fit(X, y)) == 6


# ---- early stopping


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_best_round_is_kept(n_classes):
    """The scores are those of a longer fit to the rows that were not held out, and the first best of them is last."""
    X, y = noisy(n_classes)
    model = AdaBoostClassifier(n_estimators=80, early_stopping=True, n_iter_no_change=6, random_state=0).fit(X, y)
    data = check_stump_rows(AdaBoostClassifier(), X, y, None)
    learn, held_out = divided_stump_rows(model, data, model.seed_)
    plain = AdaBoostClassifier(n_estimators=80).fit(learn.mixed.X, learn.classes.codes)
    scores = [accuracy_score(held_out.classes.codes, pred) for pred in plain.staged_predict(held_out.mixed.X)]
    n = len(model)
    assert model.stop_reason_ == "early_stopping"
    assert model.n_held_out_ == held_out.weights.size == 24
    np.testing.assert_allclose(model.validation_score_, scores[:n])
    assert n == 1 + int(np.argmax(scores[: n + 6]))
    np.testing.assert_array_equal(model.estimator_errors_, plain.estimator_errors_[:n])
    short = AdaBoostClassifier(n_estimators=n).fit(learn.mixed.X, learn.classes.codes)
    for name in ("smallest margin", "median margin", "edge-margin gap"):
        values = [[c.value for c in one.certificate_ if c.name == name] for one in (model, short)]
        assert values[0] == values[1]
    assert eigenwood.verify(model, X, y).holds


def test_regression_stops_early():
    X, y = amounts()
    model = AdaBoostRegressor(
        n_estimators=60, early_stopping=True, validation_fraction=40, n_iter_no_change=5, random_state=0
    ).fit(X, y)
    assert model.stop_reason_ == "early_stopping"
    assert (model.n_held_out_, int(np.argmax(model.validation_score_)) + 1) == (40, len(model))
    assert r2_score(y, model.predict(X)) > model.validation_score_[-1] - 0.3
    assert eigenwood.verify(model, X, y).holds


@pytest.mark.parametrize("learner", [None, TREE])
def test_a_weight_is_a_repeated_row_where_rows_are_held_out(learner):
    X, y = noisy(2, 100)
    weights = np.random.default_rng(3).integers(1, 4, size=100)
    copies = np.random.default_rng(4).permutation(np.repeat(np.arange(100), weights))
    params = {"n_estimators": 10, "early_stopping": True, "random_state": 0}
    one = AdaBoostClassifier(learner, **params).fit(X, y, weights)
    other = AdaBoostClassifier(learner, **params).fit(X[copies], y[copies])
    np.testing.assert_allclose(one.estimator_errors_, other.estimator_errors_, rtol=1e-12)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_too_few_rows_to_hold_some_out():
    X, y = np.arange(4.0)[:, None], [0, 0, 0, 1]
    for learner in (None, TREE):
        with pytest.raises(InputError) as caught:
            AdaBoostClassifier(learner, early_stopping=True, random_state=0).fit(X, y)
        assert str(caught.value) == (
            "AdaBoostClassifier: early stopping needs rows to learn from, of every class, and others to stop by; got 4 "
            "and 0 by validation_fraction."
        )
    with pytest.raises(InputError, match="got 1 and 0 by validation_fraction"):
        AdaBoostRegressor(early_stopping=True).fit([[1.0]], [1.0])


def test_one_class_among_the_rows_held_out():
    X, y = blobs(2, 120)
    y = (X[:, 0] > np.sort(X[:, 0])[-4]).astype(int)  # three of one class: too few for a tenth of them
    model = AdaBoostClassifier(early_stopping=True, random_state=0).fit(X, y)
    assert 0.9 < model.validation_score_[-1] <= 1.0
    assert eigenwood.verify(model, X, y).holds


# ---- contributions


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", [None, TREE])
@pytest.mark.parametrize("algorithm", ["discrete", "real"])
def test_contributions_are_shapley_values(learner, algorithm, n_classes):
    """Those that follow from all orders of the features, added up over the learners; they sum to the scores."""
    X, y = noisy(n_classes, 60)
    X[::7, 1] = np.nan
    model = AdaBoostClassifier(learner, n_estimators=4, algorithm=algorithm, random_state=0).fit(X, y)
    found, scores = model.contributions(X[:5]), model.decision_function(X[:5])
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base, scores, atol=1e-12)
    forest = voting_forest(model)
    trees = [tree_at(forest, t) for t in range(len(model))]
    for x, values in zip(X[:5], found.values, strict=True):
        expected = sum(naive.contributions(tree, x) for tree in trees)
        np.testing.assert_allclose(values.reshape(expected.shape), expected, atol=1e-12)


def test_the_base_of_stumps_is_the_mean_score():
    X, y = noisy(3)
    weights = np.random.default_rng(5).integers(1, 4, size=y.size)
    model = AdaBoostClassifier(n_estimators=9).fit(X, y, weights)
    mean = np.average(model.decision_function(X), axis=0, weights=weights)
    np.testing.assert_allclose(model.contributions(X).base, mean, atol=1e-12)


def test_contributions_of_categories_and_of_sparse_rows():
    frame = pd.DataFrame({"colour": ["red", "blue", "green", "blue"] * 10, "size": np.arange(40.0) % 7})
    y = (frame["colour"].eq("red") ^ frame["size"].gt(3)).astype(int)
    S = sparse.csr_array(np.where(np.random.default_rng(0).random((40, 6)) < 0.7, 0.0, 1.0))
    for X in (frame, S):
        model = AdaBoostClassifier(n_estimators=5).fit(X, y)
        found = model.contributions(X)
        np.testing.assert_allclose(found.values.sum(axis=1) + found.base, model.decision_function(X), atol=1e-12)


def test_other_learners_have_no_contributions():
    X, y = blobs()
    with pytest.raises(InputError) as caught:
        AdaBoostClassifier(LogisticRegression(), n_estimators=2).fit(X, y).contributions(X)
    assert str(caught.value) == (
        "AdaBoostClassifier: contributions need stumps, or Eigenwood's DecisionTreeClassifier, as learners; got "
        "LogisticRegression."
    )
