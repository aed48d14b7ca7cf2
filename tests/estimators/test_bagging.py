"""Bagging: against a plain loop over learners, against its own promises, against scikit-learn."""

from __future__ import annotations

import time
import warnings
from copy import deepcopy

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.ensemble
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import IsolationForest, StackingClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, balanced_accuracy_score, mean_absolute_error, r2_score, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier as ScikitTree

import eigenwood
from eigenwood import (
    SVC,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Perceptron,
)
from eigenwood.core.tree.types import LEAF
from eigenwood.errors import InputError, ModelFileError
from eigenwood.estimators.bagging.fitting import seeds_in, with_seeds
from eigenwood.estimators.bagging.verifying import refitted_numbers
from eigenwood.estimators.ensemble.sampling import (
    Draws,
    drawn_features,
    learner_sequence,
    population_of,
    row_counts,
)
from eigenwood.proofs.out_of_bag import share_interval
from tests.estimators.exam import Recorder, assert_learnt_the_same
from tests.models.crafting import assert_one_sentence

X_IRIS, Y_IRIS = load_iris(return_X_y=True)
X_DIABETES, Y_DIABETES = load_diabetes(return_X_y=True)


# ---------------------------------------------------------------------------------- draws


def draws_of(weights, groups=None, n_rows=None, with_replacement=True, seed=0, **features):
    weights = np.asarray(weights, dtype=float)
    marks = np.arange(weights.size) if groups is None else np.asarray(groups)
    chosen = {"n_features_in": 4, "n_features": 4, "features_with_replacement": False, **features}
    n_rows = int(weights.sum()) if n_rows is None else n_rows
    return Draws(population_of(marks, weights), n_rows, with_replacement, seed=seed, **chosen)


def test_as_many_rows_as_wanted():
    for n_rows in (1, 7, 100):
        assert row_counts(draws_of(np.ones(20), n_rows=n_rows), 3).sum() == n_rows


@pytest.mark.parametrize("groups", [None, [0, 1, 0, 2, 1, 0]])
def test_rows_are_drawn_by_their_weight(groups):
    draws = draws_of([1, 2, 3, 4, 5, 5], groups, n_rows=200)
    total = np.sum([row_counts(draws, t) for t in range(300)], axis=0)
    np.testing.assert_allclose(total / total.sum(), np.array([1, 2, 3, 4, 5, 5]) / 20, atol=0.01)


@pytest.mark.parametrize("with_replacement", [True, False])
def test_equal_rows_may_be_given_once_with_a_weight(with_replacement):
    """The groups are drawn the same, whether a group is one row of weight 3 or three rows."""
    apart = draws_of(np.ones(6), [5, 5, 5, 7, 8, 8], n_rows=4, with_replacement=with_replacement)
    joined = draws_of([3, 1, 2], [5, 7, 8], n_rows=4, with_replacement=with_replacement)
    for t in range(20):
        counts = row_counts(apart, t)
        np.testing.assert_array_equal(np.add.reduceat(counts, [0, 3, 4]), row_counts(joined, t))


@pytest.mark.parametrize("groups", [None, [0, 0, 0, 1, 1, 2]])
def test_without_replacement_no_row_comes_more_often_than_it_is_there(groups):
    draws = draws_of([1, 2, 1, 1, 3, 1], groups, n_rows=6, with_replacement=False)
    counts = np.array([row_counts(draws, t) for t in range(200)])
    assert (counts.sum(axis=1) == 6).all()
    assert (counts.max(axis=0) == [1, 2, 1, 1, 3, 1]).all()
    np.testing.assert_allclose(counts.mean(axis=0), np.array([1, 2, 1, 1, 3, 1]) * 6 / 9, atol=0.2)


def test_all_rows_without_replacement_are_all_rows():
    np.testing.assert_array_equal(row_counts(draws_of([1, 2, 1], with_replacement=False), 0), [1, 2, 1])


def test_shares_without_replacement_are_chances():
    draws = draws_of([0.1, 0.1, 5.5, 0.1], n_rows=2, with_replacement=False)
    counts = np.array([row_counts(draws, t) for t in range(100)])
    assert set(counts.ravel()) == {0, 1}
    assert counts[:, 2].mean() > 0.9


def test_equal_rows_are_left_out_one_by_one():
    counts = row_counts(draws_of(np.ones(300), np.zeros(300)), 0)
    assert 0.3 < (counts == 0).mean() < 0.45


def test_features_are_drawn_in_order():
    few = draws_of(np.ones(5), n_features=2)
    assert all(drawn_features(few, t).size == 2 == np.unique(drawn_features(few, t)).size for t in range(9))
    again = draws_of(np.ones(5), features_with_replacement=True)
    assert any(np.unique(drawn_features(again, t)).size < 4 for t in range(9))
    np.testing.assert_array_equal(drawn_features(draws_of(np.ones(5)), 1), np.arange(4))


def test_every_learner_has_its_own_draw():
    draws = draws_of(np.ones(50))
    assert len({row_counts(draws, t).tobytes() for t in range(20)}) == 20
    assert row_counts(draws, 3).tobytes() != row_counts(draws_of(np.ones(50), seed=1), 3).tobytes()


# ---------------------------------------------------------------------------------- the slow, obvious twin


def naive_shares(model, X, y):
    """Fit the learners of a classifier one after the other, and take the mean of their probabilities in a loop."""
    classes, codes = np.unique(y, return_inverse=True)
    total, oob, n_oob = np.zeros((len(X), classes.size)), np.zeros((len(X), classes.size)), np.zeros(len(X))
    for t, rows in enumerate(model.estimators_samples_):
        features = model.estimators_features_[t]
        draws = model._draws_of_fit[0]
        learner = with_seeds(clone(model.estimator_), learner_sequence(draws.seed, t))
        learner.fit(X[rows][:, features], codes[rows])
        for i, x in enumerate(X):
            shares = learner.predict_proba(x[features][None])[0]
            for code, share in zip(learner.classes_, shares, strict=True):
                total[i, code] += share / len(model)
                if i not in rows:
                    oob[i, code] += share
            n_oob[i] += i not in rows
    return total, oob / np.where(n_oob > 0, n_oob, np.nan)[:, None]


@pytest.mark.parametrize("params", [{}, {"max_samples": 0.5, "max_features": 2}, {"resample": True}])
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")
def test_the_same_as_a_plain_loop(params):
    X, y = X_IRIS[::3], np.array(["a", "b", "c"])[Y_IRIS[::3]]
    model = BaggingClassifier(DecisionTreeClassifier(max_depth=3), 4, oob_score=True, random_state=3, **params).fit(
        X, y
    )
    shares, oob = naive_shares(model, X, y)
    np.testing.assert_allclose(model.predict_proba(X), shares, atol=1e-12)
    np.testing.assert_allclose(model.oob_decision_function_, oob, atol=1e-12)
    known = ~np.isnan(oob[:, 0])
    assert model.oob_score_ == accuracy_score(y[known], model.classes_[oob[known].argmax(axis=1)])


def test_the_mean_of_regressors():
    model = BaggingRegressor(Ridge(), 5, random_state=0, max_features=0.5).fit(X_DIABETES, Y_DIABETES)
    parts = zip(model.estimators_, model.estimators_features_, strict=True)
    expected = np.mean([learner.predict(X_DIABETES[:, features]) for learner, features in parts], axis=0)
    np.testing.assert_allclose(model.predict(X_DIABETES), expected)


def test_a_majority_and_a_mean_may_differ():
    X, y = X_IRIS, Y_IRIS
    by_vote = BaggingClassifier(LogisticRegression(), 9, voting="majority", random_state=0).fit(X, y)
    by_mean = BaggingClassifier(LogisticRegression(), 9, random_state=0).fit(X, y)
    votes = np.array([learner.predict(X) for learner in by_vote.estimators_])
    expected = np.array([(votes == code).mean(axis=0) for code in range(3)]).T
    np.testing.assert_allclose(by_vote.predict_proba(X), expected)
    np.testing.assert_allclose(by_mean.predict_proba(X), np.mean([m.predict_proba(X) for m in by_mean], axis=0))
    assert not np.allclose(by_mean.predict_proba(X), expected)


def test_learners_without_probabilities_vote():
    model = BaggingClassifier(LinearSVC(), 5, random_state=0).fit(X_IRIS, Y_IRIS)
    assert set(np.unique(model.predict_proba(X_IRIS)).round(1)) <= {0.0, 0.2, 0.4, 0.6, 0.8, 1.0}
    np.testing.assert_allclose(
        model.decision_function(X_IRIS), np.mean([m.decision_function(X_IRIS) for m in model], axis=0)
    )
    with pytest.raises(InputError, match="voting must be 'auto' or 'majority' for a learner without predict_proba"):
        clone(model).set_params(voting="probability").fit(X_IRIS, Y_IRIS)


# ---------------------------------------------------------------------------------- promises


@pytest.mark.parametrize("learner", [None, ScikitTree(), KNeighborsClassifier()], ids=["ours", "tree", "neighbours"])
def test_the_same_for_any_number_of_threads(learner):
    fits = [
        BaggingClassifier(learner, 7, oob_score=True, random_state=0, n_jobs=n_jobs).fit(X_IRIS, Y_IRIS)
        for n_jobs in (1, 2, 5)
    ]
    for other in fits[1:]:
        assert other.certificate_ == fits[0].certificate_
        np.testing.assert_array_equal(other.predict_proba(X_IRIS), fits[0].predict_proba(X_IRIS))
        np.testing.assert_array_equal(other.oob_decision_function_, fits[0].oob_decision_function_)
        assert [m.get_params() for m in other] == [m.get_params() for m in fits[0]]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupted_fit_has_the_first_learners(n_jobs):
    whole = BaggingClassifier(n_estimators=6, random_state=0).fit(X_IRIS, Y_IRIS)
    cut = BaggingClassifier(n_estimators=6, random_state=0, n_jobs=n_jobs).set_callbacks(Recorder(stop_after=3))
    cut.fit(X_IRIS, Y_IRIS)
    assert (len(cut), cut.stop_reason_) == (3, "callback")
    for one, other in zip(cut, whole, strict=False):
        assert_learnt_the_same(one, other)
    cut.set_callbacks().set_params(warm_start=True).fit(X_IRIS, Y_IRIS)
    assert_learnt_the_same(cut, whole)


@pytest.mark.parametrize("random_state", [0, None, np.random.RandomState(3)], ids=["seed", "none", "state"])
def test_more_learners_are_added(random_state):
    model = BaggingClassifier(n_estimators=3, warm_start=True, oob_score=True, random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = list(model.fit(X_IRIS, Y_IRIS).estimators_)
        model.set_params(n_estimators=8).fit(X_IRIS, Y_IRIS)
    at_once = clone(model).set_params(random_state=0, warm_start=False)
    assert model.estimators_[:3] == first
    assert len({tuple(rows) for rows in model.estimators_samples_}) == 8
    if random_state == 0:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            at_once.fit(X_IRIS, Y_IRIS)
        assert_learnt_the_same(model, at_once)
        np.testing.assert_array_equal(model.oob_decision_function_, at_once.oob_decision_function_)


@pytest.mark.parametrize("metric", [True, "neg_log_loss"])
def test_a_score_can_be_asked_for_later(metric):
    model = BaggingClassifier(n_estimators=30, warm_start=True, random_state=0).fit(X_IRIS, Y_IRIS)
    assert not hasattr(model, "oob_score_")
    with pytest.warns(UserWarning, match="Warm-start"):
        model.set_params(oob_score=metric).fit(X_IRIS, Y_IRIS)
    at_once = BaggingClassifier(n_estimators=30, oob_score=metric, random_state=0).fit(X_IRIS, Y_IRIS)
    np.testing.assert_array_equal(model.oob_decision_function_, at_once.oob_decision_function_)
    assert model.certificate_ == at_once.certificate_


def test_what_a_warm_start_refuses():
    model = BaggingClassifier(n_estimators=3, warm_start=True, random_state=0).fit(X_IRIS, Y_IRIS)
    with pytest.raises(InputError, match="n_estimators must be at least the 3 learners"):
        model.set_params(n_estimators=2).fit(X_IRIS, Y_IRIS)
    model.set_params(n_estimators=4)
    with pytest.raises(InputError, match="y must have the classes it had before"):
        model.fit(X_IRIS, Y_IRIS + 1)
    with pytest.raises(InputError, match="X must have the columns it had before"):
        model.fit(X_IRIS[:, :2], Y_IRIS)
    numbers = BaggingRegressor(LinearRegression(), 3, warm_start=True, random_state=0).fit(X_DIABETES, Y_DIABETES)
    with pytest.raises(InputError, match="y must have the columns it had before"):
        numbers.set_params(n_estimators=4).fit(X_DIABETES, np.column_stack([Y_DIABETES, Y_DIABETES]))


@pytest.mark.parametrize("n_estimators", [3, 5])
@pytest.mark.parametrize(
    "change", [{"max_features": 3}, {"bootstrap_features": True}, {}], ids=["number", "twice", "wider"]
)
def test_learners_that_stay_keep_their_features(change, n_estimators):
    model = BaggingClassifier(n_estimators=3, max_features=2, warm_start=True, random_state=0).fit(X_IRIS, Y_IRIS)
    X = X_IRIS if change else np.hstack([X_IRIS, X_IRIS])
    model.set_params(n_estimators=n_estimators, oob_score=True, **change)
    words = "max_features, bootstrap_features and the columns of X must be as before"
    words = words if change else "X must have the columns it had before when warm_start is True; got others."
    with pytest.raises(InputError, match=words):
        model.fit(X, Y_IRIS)


@pytest.mark.parametrize("learner", [DecisionTreeClassifier(), Perceptron(max_iter=5)], ids=["tree", "perceptron"])
@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize("resample", [True, False])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_are_repeated_rows(learner, bootstrap, resample):
    rng = np.random.default_rng(0)
    X, y = X_IRIS.round(0), Y_IRIS
    weights = rng.integers(0, 4, size=y.size)
    copies = rng.permutation(np.repeat(np.arange(y.size), weights))
    model = BaggingClassifier(learner, 4, max_samples=0.7, bootstrap=bootstrap, resample=resample, random_state=0)
    weighted, given = clone(model).fit(X, y, sample_weight=weights), clone(model).fit(X[copies], y[copies])
    assert weighted.n_draws_ == given.n_draws_
    np.testing.assert_array_equal(weighted.predict_proba(X), given.predict_proba(X))


def test_rows_and_weights_are_the_same_to_a_tree():
    model = BaggingClassifier(n_estimators=4, random_state=0)
    by_weights = model.fit(X_IRIS, Y_IRIS).predict_proba(X_IRIS)
    by_rows = clone(model).set_params(resample=True).fit(X_IRIS, Y_IRIS).predict_proba(X_IRIS)
    np.testing.assert_array_equal(by_rows, by_weights)


class Noting(ClassifierMixin, BaseEstimator):
    """Writes down what it is given."""

    def __init__(self, n_jobs=None):
        self.n_jobs = n_jobs

    def fit(self, X, y, sample_weight=None):
        self.given_, self.classes_, self.n_jobs_ = (X, y, sample_weight), np.unique(y), self.n_jobs
        return self

    def predict(self, X):
        return np.zeros(X.shape[0], dtype=int)


def test_what_learners_are_given():
    y = np.arange(6) % 2
    X = np.arange(12.0).reshape(6, 2)
    by_weights = BaggingClassifier(Noting(), 3, random_state=0).fit(X, y)
    for learner, rows in zip(by_weights, by_weights.estimators_samples_, strict=True):
        np.testing.assert_array_equal(learner.given_[0], X)
        np.testing.assert_array_equal(learner.given_[2], np.bincount(rows, minlength=6))
    by_rows = BaggingClassifier(Noting(), 3, random_state=0, resample=True).fit(X, y)
    for learner, rows in zip(by_rows, by_rows.estimators_samples_, strict=True):
        np.testing.assert_array_equal(learner.given_[0], X[rows])
        np.testing.assert_array_equal(learner.given_[1], y[rows])
        assert learner.given_[2] is None


def test_a_system_of_a_tenth_of_the_rows_is_solved_instead_of_one_of_all():
    """The answers are the same; how much longer weights take is in benchmarks/bench_bagging.py."""
    learner = KernelRidge(kernel="rbf", gamma=0.1)
    by_rows = BaggingRegressor(learner, 5, max_samples=0.1, resample=True, random_state=0).fit(X_DIABETES, Y_DIABETES)
    by_weights = BaggingRegressor(learner, 5, max_samples=0.1, random_state=0).fit(X_DIABETES, Y_DIABETES)
    assert [model.X_fit_.shape[0] for model in by_rows] == [44] * 5
    assert [model.X_fit_.shape[0] for model in by_weights] == [442] * 5
    np.testing.assert_allclose(by_rows.predict(X_DIABETES), by_weights.predict(X_DIABETES), rtol=1e-9)


def test_a_learner_may_predict_only_once_it_is_fitted():
    stacked = StackingClassifier([("trees", ScikitTree()), ("near", KNeighborsClassifier())], cv=2)
    model = BaggingClassifier(stacked, 3, random_state=0).fit(X_IRIS, Y_IRIS)
    np.testing.assert_allclose(model.predict_proba(X_IRIS), np.mean([m.predict_proba(X_IRIS) for m in model], axis=0))
    with pytest.raises(InputError, match="estimator must be None or an estimator with fit and predict"):
        BaggingClassifier(make_pipeline(StandardScaler())).fit(X_IRIS, Y_IRIS)


@pytest.mark.parametrize(
    ("learner", "kind"), [(Ridge(), "regressor"), (KMeans(), "clusterer"), (IsolationForest(), "outlier detector")]
)
def test_learners_that_do_not_say_classes_are_refused(learner, kind):
    with pytest.raises(InputError) as caught:
        BaggingClassifier(learner, 2).fit(X_IRIS, Y_IRIS)
    name = type(learner).__name__
    assert str(caught.value) == f"BaggingClassifier: estimator must be a classifier; got {name} ({kind})."


@pytest.mark.parametrize("pred", [0.5, -1, 3, "red"])
def test_answers_that_are_no_classes_are_refused(pred):
    class Rambling(Noting):
        def predict(self, X):
            return np.full(X.shape[0], pred)

    model = BaggingClassifier(Rambling(), 2, random_state=0).fit(X_IRIS, Y_IRIS)
    with pytest.raises(InputError, match="estimator must predict classes that it learnt; got") as caught:
        model.predict(X_IRIS)
    assert_one_sentence(str(caught.value))


def test_threads_are_ours_or_the_learners():
    for n_jobs, own in ((1, 4), (2, 1)):
        model = BaggingClassifier(Noting(n_jobs=4), 3, n_jobs=n_jobs, random_state=0).fit(X_IRIS, Y_IRIS)
        assert [(learner.n_jobs_, learner.n_jobs) for learner in model] == [(own, 4)] * 3


def test_rows_of_weight_zero_are_never_drawn():
    weights = np.zeros(150)
    weights[[4, 60]] = 1, 2
    model = BaggingClassifier(n_estimators=4, max_samples=10, random_state=0).fit(X_IRIS, Y_IRIS, sample_weight=weights)
    assert {int(row) for rows in model.estimators_samples_ for row in rows} == {4, 60}
    assert model.classes_.tolist() == [0, 1]


def test_shares_as_weights_do_not_leave_learners_without_rows():
    model = BaggingClassifier(n_estimators=2, random_state=0).fit(X_IRIS, Y_IRIS, sample_weight=np.full(150, 1 / 150))
    assert model.n_draws_ >= 147  # three flowers are equal to others
    with pytest.warns(UserWarning, match="is a draw of 1 for each learner"):
        model.set_params(max_samples=1.0).fit(X_IRIS, Y_IRIS, sample_weight=np.full(150, 1 / 150))


# ---------------------------------------------------------------------------------- out of bag


def test_the_score_is_as_good_as_scikit_learns():
    ours = BaggingClassifier(n_estimators=60, oob_score=True, random_state=0).fit(X_IRIS, Y_IRIS)
    theirs = sklearn.ensemble.BaggingClassifier(n_estimators=60, oob_score=True, random_state=0).fit(X_IRIS, Y_IRIS)
    assert abs(ours.oob_score_ - theirs.oob_score_) < 0.03
    np.testing.assert_allclose(ours.oob_interval_, share_interval(ours.oob_score_, 150))
    numbers = [
        kind(n_estimators=60, oob_score=True, random_state=0).fit(X_DIABETES, Y_DIABETES).oob_score_
        for kind in (BaggingRegressor, sklearn.ensemble.BaggingRegressor)
    ]
    assert abs(numbers[0] - numbers[1]) < 0.05


@pytest.mark.parametrize("metric", ["roc_auc_ovr", "balanced_accuracy", balanced_accuracy_score])
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")
def test_any_metric_of_classes(metric):
    model = BaggingClassifier(LogisticRegression(), 12, oob_score=metric, random_state=0).fit(X_IRIS, Y_IRIS)
    oob = ~np.isnan(model.oob_decision_function_[:, 0])
    y, shares = Y_IRIS[oob], model.oob_decision_function_[oob]
    if metric == "roc_auc_ovr":
        assert model.oob_score_ == pytest.approx(roc_auc_score(y, shares, multi_class="ovr"))
    else:
        assert model.oob_score_ == pytest.approx(balanced_accuracy_score(y, shares.argmax(axis=1)))
    assert model.oob_interval_[0] <= model.oob_score_ <= model.oob_interval_[1]


@pytest.mark.parametrize("metric", ["neg_mean_absolute_error", mean_absolute_error, r2_score, "r2", True])
def test_any_metric_of_numbers(metric):
    model = BaggingRegressor(Ridge(), 20, oob_score=metric, random_state=0).fit(X_DIABETES, Y_DIABETES)
    error = mean_absolute_error(Y_DIABETES, model.oob_prediction_)
    expected = {"neg_mean_absolute_error": -error, mean_absolute_error: error}
    assert model.oob_score_ == pytest.approx(expected.get(metric, r2_score(Y_DIABETES, model.oob_prediction_)))
    assert model.oob_interval_[0] < model.oob_score_ < model.oob_interval_[1]


@pytest.mark.parametrize(
    ("model", "y"),
    [(BaggingClassifier(oob_score="roc_auc"), Y_IRIS), (BaggingRegressor(oob_score="accuracy"), X_IRIS[:, 0])],
    ids=["classes", "numbers"],
)
def test_a_metric_that_cannot_score_such_targets_is_refused_before_learners_are_fitted(model, y):
    with pytest.raises(InputError, match="oob_score must be a metric for targets like these; got") as caught:
        model.fit(X_IRIS, y)
    assert_one_sentence(str(caught.value))
    assert not hasattr(model, "estimators_")


def test_weights_count_in_the_score():
    weights = np.where(Y_IRIS == 1, 3.0, 1.0)
    model = BaggingClassifier(n_estimators=40, oob_score=True, random_state=0)
    model.fit(X_IRIS, Y_IRIS, sample_weight=weights)
    oob = ~np.isnan(model.oob_decision_function_[:, 0])
    pred = model.oob_decision_function_[oob].argmax(axis=1)
    assert model.oob_score_ == pytest.approx(accuracy_score(Y_IRIS[oob], pred, sample_weight=weights[oob]))
    unweighted = clone(model).set_params(oob_score=lambda y, pred: float((y == pred).mean()))
    assert unweighted.fit(X_IRIS, Y_IRIS, sample_weight=weights).oob_score_ == (Y_IRIS[oob] == pred).mean()


def test_rows_that_everybody_saw_have_no_answer():
    with pytest.warns(UserWarning, match="rows were seen by every learner"):
        model = BaggingClassifier(n_estimators=2, oob_score=True, random_state=0).fit(X_IRIS, Y_IRIS)
    oob = ~np.isnan(model.oob_decision_function_[:, 0])
    assert 0 < oob.sum() < 150
    assert model.certificate_["left out"].value == pytest.approx(oob.mean())


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")
def test_no_score_where_no_row_is_left_out():
    model = BaggingClassifier(n_estimators=1, max_samples=500, oob_score=True, random_state=0).fit(
        [[0.0], [1.0]], [0, 1]
    )
    assert not hasattr(model, "oob_score_")
    assert np.isnan(model.oob_decision_function_).all()
    assert model.certificate_.holds is None  # nothing is claimed


def test_rows_drawn_without_replacement_leave_others_out():
    model = BaggingClassifier(n_estimators=20, max_samples=0.5, bootstrap=False, oob_score=True, random_state=0)
    assert model.fit(X_IRIS, Y_IRIS).oob_score_ > 0.9
    with pytest.raises(InputError, match="oob_score must be False when every learner gets all rows"):
        model.set_params(max_samples=None).fit(X_IRIS, Y_IRIS)


# ---------------------------------------------------------------------------------- proofs


@pytest.mark.parametrize(
    "learner", [None, LogisticRegression(), Perceptron(max_iter=5)], ids=["tree", "logistic", "perceptron"]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:Some inputs do not have OOB")
def test_a_model_can_be_verified(learner):
    model = BaggingClassifier(learner, 9, oob_score=True, random_state=0, n_jobs=2).fit(X_IRIS, Y_IRIS)
    again = eigenwood.verify(model, X_IRIS, Y_IRIS)
    assert again.claims[: len(model.certificate_)] == model.certificate_.claims
    assert again["stated score"].value == again["draws"].value == again["fitted again"].value == 0
    assert again["vote error"].value <= again["vote error"].bound


def test_verify_tells_what_fit_was_not_asked():
    model = BaggingRegressor(n_estimators=20, random_state=0).fit(X_DIABETES, Y_DIABETES)
    assert [claim.name for claim in model.certificate_] == ["learners", "rows drawn"]
    assert eigenwood.verify(model, X_DIABETES, Y_DIABETES)["out-of-bag score"].value > 0.2


def test_other_rows_are_noticed():
    model = BaggingClassifier(n_estimators=5, random_state=0).fit(X_IRIS, Y_IRIS)
    other = Y_IRIS.copy()
    other[::7] = (other[::7] + 1) % 3
    assert not eigenwood.verify(model, X_IRIS, other).holds
    model.estimators_[0] = model.estimators_[1]
    assert not eigenwood.verify(model, X_IRIS, Y_IRIS).holds


LEARNERS = {
    "tree": (BaggingClassifier, None),
    "neighbours": (BaggingClassifier, KNeighborsClassifier(3)),
    "pipeline": (BaggingClassifier, make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=3))),
    "numbers": (BaggingRegressor, LinearRegression()),
}


def with_seeds_of_another(learner, seeds):
    """Return a fitted learner that claims to have had other seeds."""
    return deepcopy(learner).set_params(**seeds)


@pytest.mark.parametrize("name", LEARNERS)
def test_verify_says_how_many_learners_it_fits_again_and_notices_each_of_all(name):
    """Ours are verified on their rows, and some are fitted again; of others all are fitted again."""
    kind, learner = LEARNERS[name]
    model = kind(learner, 10, random_state=0).fit(X_IRIS, Y_IRIS)
    again = eigenwood.verify(model, X_IRIS, Y_IRIS)
    assert again.holds
    assert len(set(refitted_numbers(10, model.seed_))) == 4
    assert f"{4 if learner is None else 10} of 10 learners" in again["fitted again"].statement
    other, whole = kind(learner, 10, random_state=1).fit(X_IRIS, Y_IRIS), list(model.estimators_)
    unlike = "learners: rows" if learner is None else "fitted again"
    for number in range(10):
        own_seeds = seeds_in(whole[number])
        model.estimators_ = [*whole[:number], with_seeds_of_another(other[number], own_seeds), *whole[number + 1 :]]
        assert not eigenwood.verify(model, X_IRIS, Y_IRIS)[unlike].holds


@pytest.mark.parametrize("number", range(9))
def test_a_machine_that_was_tampered_with_is_noticed_whichever_it_is(number):
    y = (Y_IRIS > 1).astype(int)
    model = BaggingClassifier(SVC(kernel="linear"), 9, random_state=0).fit(X_IRIS, y)
    model.estimators_[number].intercept_ = np.full_like(model.estimators_[number].intercept_, 1e6)
    assert not eigenwood.verify(model, X_IRIS, y).holds


def test_parameters_of_a_learner_are_those_of_the_bag():
    model = BaggingClassifier(DecisionTreeClassifier(max_depth=2), 3, random_state=0).fit(X_IRIS, Y_IRIS)
    assert eigenwood.verify(model, X_IRIS, Y_IRIS).holds
    model.estimator.max_depth = 5
    assert eigenwood.verify(model, X_IRIS, Y_IRIS)["draws"].value == 3


@pytest.mark.parametrize("number", range(10))
@pytest.mark.parametrize("name", ["tree", "pipeline"])
def test_a_learner_with_the_seeds_of_another_is_noticed_whichever_it_is(name, number):
    kind, learner = LEARNERS[name]
    model = kind(learner, 10, random_state=0).fit(X_IRIS, Y_IRIS)
    model.estimators_[number] = model.estimators_[(number + 3) % 10]
    broken = eigenwood.verify(model, X_IRIS, Y_IRIS)
    assert broken["draws"].value == 1
    assert not broken["draws"].holds


TREES = {
    "weights": {},
    "rows": {"resample": True},
    "features": {"max_features": 2},
    "random": {"estimator": DecisionTreeClassifier(splitter="random", class_weight="balanced")},
    "cut back": {"estimator": DecisionTreeClassifier(prune="cost_complexity_cv")},
    "rising": {"estimator": DecisionTreeClassifier(monotonic_cst=[1, 0, 0, 0])},
    "put aside": {"estimator": DecisionTreeClassifier(prune="validation")},
}


@pytest.mark.parametrize("name", TREES)
def test_the_leaves_of_every_tree_are_looked_at(name):
    binary, weights = (Y_IRIS > 0).astype(int), np.arange(150) % 3.0
    model = BaggingClassifier(n_estimators=10, random_state=0).set_params(**TREES[name])
    model.fit(X_IRIS, binary, sample_weight=weights)
    again = eigenwood.verify(model, X_IRIS, binary, weights)
    assert again.holds
    assert again["learners: rows"].holds


@pytest.mark.parametrize("number", range(10))
def test_a_tree_that_was_tampered_with_is_noticed_whichever_it_is(number):
    model = BaggingRegressor(DecisionTreeRegressor(min_samples_leaf=5), 10, random_state=0).fit(X_DIABETES, Y_DIABETES)
    nodes = model.estimators_[number].nodes_
    value = nodes.value.copy()
    value[np.flatnonzero(nodes.left == LEAF)[1]] += 1e-3
    model.estimators_[number].nodes_ = nodes._replace(value=value)
    broken = eigenwood.verify(model, X_DIABETES, Y_DIABETES)
    assert not broken["learners: values"].holds
    assert broken["learners: rows"].holds
    other = BaggingRegressor(n_estimators=10, random_state=1).fit(X_DIABETES, Y_DIABETES)[number]
    model.estimators_[number] = with_seeds_of_another(other, seeds_in(model.estimators_[number]))
    broken = eigenwood.verify(model, X_DIABETES, Y_DIABETES)
    assert not broken["learners: rows"].holds


def test_a_tree_that_does_not_know_a_class_of_its_rows_is_noticed():
    y = np.where(np.arange(150) == 0, 1, 0)
    model = BaggingClassifier(n_estimators=10, resample=True, random_state=0).fit(X_IRIS, y)
    assert min(tree.classes_.size for tree in model) == 1
    assert eigenwood.verify(model, X_IRIS, y).holds
    assert not eigenwood.verify(model, X_IRIS, np.roll(y, 60)).holds


@pytest.mark.parametrize("number", range(10))
def test_features_that_were_not_drawn_are_noticed(number):
    model = BaggingRegressor(LinearRegression(), 10, max_features=2, random_state=0).fit(X_DIABETES, Y_DIABETES)
    assert eigenwood.verify(model, X_DIABETES, Y_DIABETES).holds
    model.drawn_features_[number] = (model.drawn_features_[number] + 1) % 10
    assert eigenwood.verify(model, X_DIABETES, Y_DIABETES)["draws"].value == 1


# ---------------------------------------------------------------------------------- time


class Slow(Noting):
    def fit(self, X, y, sample_weight=None):
        time.sleep(0.1)
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_time_leaves_the_learners_that_are_done(n_jobs):
    model = BaggingClassifier(Slow(), 50, time_limit=0.35, n_jobs=n_jobs, random_state=0).fit(X_IRIS, Y_IRIS)
    assert 1 <= len(model) < 50
    assert model.stop_reason_ == "time_limit"
    model.set_params(warm_start=True, n_estimators=len(model) + 1, time_limit=None).fit(X_IRIS, Y_IRIS)
    assert model.stop_reason_ == "finished"


def test_a_learner_that_time_cut_short_counts_only_if_it_is_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 8))
    y = rng.integers(0, 2, size=20_000)
    BaggingClassifier(n_estimators=1, random_state=0).fit(X[:100], y[:100])
    cut = BaggingClassifier(n_estimators=30, random_state=0, time_limit=0.3).fit(X, y)
    assert cut.stop_reason_ == "time_limit"
    assert len(cut) == 1 or all(learner.stop_reason_ == "finished" for learner in cut)
    assert all(learner.time_limit is None for learner in cut)
    again = eigenwood.verify(cut, X, y)
    assert again.holds is None
    assert {claim.name for claim in again if not claim.holds} <= {"learners", "fitted again"}


@pytest.mark.parametrize("random_state", [0, None], ids=["seed", "none"])
def test_a_learner_that_time_cut_short_is_made_again(random_state):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 4)), rng.integers(0, 2, size=20_000)
    cut = BaggingClassifier(n_estimators=3, random_state=random_state, time_limit=1e-9, warm_start=True).fit(X, y)
    assert (len(cut), cut.stop_reason_, cut[0].stop_reason_) == (1, "time_limit", "time_limit")
    rows = cut.estimators_samples_[0]
    cut.set_params(time_limit=None).fit(X, y)
    assert [learner.stop_reason_ for learner in cut] == ["finished"] * 3
    np.testing.assert_array_equal(cut.estimators_samples_[0], rows)
    if random_state == 0:
        assert_learnt_the_same(cut, BaggingClassifier(n_estimators=3, random_state=0).fit(X, y))


# ---------------------------------------------------------------------------------- what comes in


TABLE = {"size": [1.5, None, 3.0, 4.5, 2.0, 2.5, None, 8.0] * 4, "colour": ["red", "blue", None, "red"] * 8}


@pytest.mark.parametrize("kind", [pa.table, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("resample", [True, False])
def test_frames_with_text_reach_the_learners(kind, resample):
    frame, y = kind(TABLE), (["warm", "cold", "none", "warm"] * 8)
    model = BaggingClassifier(n_estimators=8, random_state=0, resample=resample).fit(frame, y)
    assert model.predict(frame).tolist() == y
    assert model[0].categories_ == [None, ["blue", "red", None]]
    assert eigenwood.verify(model, frame, y).holds
    with pytest.raises(InputError, match="X must be a frame with the columns it had in fit"):
        model.predict([[1.0, 2.0]])


def test_frames_with_text_by_features_and_weights():
    frame, y = pa.table(TABLE), ["warm", "cold", "none", "warm"] * 8
    weights = np.tile([1, 0, 2, 1], 8)
    model = BaggingClassifier(n_estimators=6, max_features=1, random_state=0).fit(frame, y, sample_weight=weights)
    assert model.classes_.tolist() == ["none", "warm"]
    assert {tuple(learner.feature_names_in_) for learner in model} == {("size",), ("colour",)}


@pytest.mark.parametrize("kind", [pa.table, pd.DataFrame, pl.DataFrame])
def test_columns_of_text_that_are_drawn_twice(kind):
    frame, y = kind({**TABLE, "size (2)": TABLE["size"][::-1]}), ["warm", "cold", "none", "warm"] * 8
    model = BaggingClassifier(n_estimators=20, bootstrap_features=True, random_state=0, oob_score=True).fit(frame, y)
    names = {tuple(learner.feature_names_in_) for learner in model}
    assert {("size", "colour", "colour (2)"), ("size", "size (3)", "colour")} <= names
    assert model.score(frame, y) > 0.9
    assert eigenwood.verify(model, frame, y).holds


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array])
def test_sparse_rows(form):
    X = np.where(X_IRIS > 3, 0, X_IRIS)
    dense = BaggingClassifier(n_estimators=5, max_features=3, oob_score=True, random_state=0, n_jobs=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(dense).fit(form(X), Y_IRIS)
        dense.fit(X, Y_IRIS)
    np.testing.assert_array_equal(model.predict_proba(form(X)), dense.predict_proba(X))
    assert model.oob_score_ == dense.oob_score_


def test_several_numbers():
    Y = np.column_stack([Y_DIABETES, -Y_DIABETES])
    model = BaggingRegressor(n_estimators=20, oob_score=True, random_state=0).fit(X_DIABETES, Y)
    assert model.predict(X_DIABETES).shape == model.oob_prediction_.shape == Y.shape
    np.testing.assert_allclose(model.predict(X_DIABETES)[:, 0], -model.predict(X_DIABETES)[:, 1])


BAD = {
    "no learners": ({"n_estimators": 0}, {}, "n_estimators must be an integer at least 1; got 0."),
    "no rows wanted": ({"max_samples": 0}, {}, "max_samples must be None or an integer at least 1 or a fraction"),
    "more than all": ({"max_samples": 1.5}, {}, "max_samples must be None or an integer at least 1 or a fraction"),
    "features": ({"max_features": 5}, {}, "max_features must be at most the 4 features; got 5."),
    "put back": (
        {"max_samples": 151, "bootstrap": False},
        {},
        "max_samples must be at most 150 rows when bootstrap is False; got 151.",
    ),
    "metric": ({"oob_score": "acuracy"}, {}, "oob_score must be True, False, the name of a scorer"),
    "voting": ({"voting": "loud"}, {}, "voting must be one of 'auto', 'probability', 'majority'; got 'loud'."),
    "learner": ({"estimator": "tree"}, {}, "estimator must be None or an estimator with fit and predict; got 'tree'."),
    "threads": ({"n_jobs": 0}, {}, "n_jobs must be None or an integer other than 0; got 0."),
    "rows": ({}, {"X": np.empty((0, 4)), "y": []}, "Found array with 0 sample(s)"),
    "NaN in y": ({}, {"y": np.where(Y_IRIS == 1, np.nan, Y_IRIS)}, "y must hold labels; got NaN."),
    "infinity": (
        {},
        {"X": np.where(X_IRIS > 7.5, np.inf, X_IRIS)},
        "X must be finite or NaN; got inf (infinity) in row",
    ),
    "rubbish": ({}, {"sample_weight": [1.0]}, "sample_weight must have shape (150,); got (1,)."),
    "too heavy": ({}, {"sample_weight": np.full(150, 1e8)}, "max_samples must come to at most 1000000000 rows; got"),
    "routing": ({}, {"flavour": "sweet"}, "fit must be given no more parameters unless scikit-learn's"),
}


@pytest.mark.parametrize(("params", "given", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_one_sentence(params, given, words):
    with pytest.raises(InputError) as caught:
        BaggingClassifier(**params).fit(**{"X": X_IRIS, "y": Y_IRIS, **given})
    assert str(caught.value).startswith(f"BaggingClassifier: {words}")
    assert_one_sentence(str(caught.value))


def test_numbers_that_are_none():
    with pytest.raises(InputError, match="BaggingRegressor: y must be finite; got NaN"):
        BaggingRegressor().fit(X_DIABETES, np.where(Y_DIABETES > 200, np.nan, Y_DIABETES))


def test_a_learner_that_missed_a_class_has_no_scores():
    X, y = np.arange(8.0)[:, None], [0, 0, 0, 0, 1, 1, 1, 2]
    model = BaggingClassifier(LinearSVC(), 6, resample=True, max_samples=5, random_state=4).fit(X, y)
    assert model.predict_proba(X).shape == (8, 3)
    with pytest.raises(
        InputError, match="decision_function must have learners that saw all 3 classes; got one that saw 2"
    ):
        model.decision_function(X)


# ---------------------------------------------------------------------------------- files


def test_a_learner_that_is_not_ours_cannot_be_kept(tmp_path):
    model = BaggingClassifier(LogisticRegression(), 2, random_state=0).fit(X_IRIS, Y_IRIS)
    with pytest.raises(InputError, match="the model must be one of .*; got LogisticRegression") as caught:
        eigenwood.save(model, tmp_path / "model")
    assert_one_sentence(str(caught.value))
    assert list(tmp_path.iterdir()) == []


def test_a_metric_that_is_a_function_cannot_be_kept(tmp_path):
    model = BaggingRegressor(n_estimators=20, oob_score=mean_absolute_error, random_state=0).fit(X_DIABETES, Y_DIABETES)
    with pytest.raises(ModelFileError, match="oob_score must be a number, a string or None to be saved"):
        eigenwood.save(model, tmp_path / "model")


def test_a_kept_model_goes_on_learning(tmp_path):
    model = BaggingClassifier(n_estimators=3, random_state=None, warm_start=True).fit(X_IRIS, Y_IRIS)
    kept = eigenwood.load(eigenwood.save(model, tmp_path / "model"))
    with pytest.raises(AttributeError, match="estimators_samples_ is not kept in a model file"):
        _ = kept.estimators_samples_
    for part in (model, kept):
        part.set_params(n_estimators=5).fit(X_IRIS, Y_IRIS)
    assert_learnt_the_same(kept, model)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (
            lambda m: m.estimators_.__setitem__(0, m.estimators_[0].__class__().fit(X_IRIS[:, :2], Y_IRIS)),
            "as many features",
        ),
        (lambda m: m.estimators_.__setitem__(0, Perceptron().fit(X_IRIS, Y_IRIS)), "must be of the class"),
        (
            lambda m: m.estimators_.__setitem__(0, DecisionTreeClassifier().fit(X_IRIS, Y_IRIS + 1)),
            "only the 3 classes",
        ),
        (lambda m: m.estimators_.clear(), "estimators_ must be a list of at least 1 model"),
        (lambda m: m.estimators_.pop(), "drawn_features_ must have shape"),
        (lambda m: m.drawn_features_.__iadd__(1), "indices below n_features"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_spoilt_model_is_not_kept(spoil, words, tmp_path):
    model = BaggingClassifier(n_estimators=2, random_state=0).fit(X_IRIS, Y_IRIS)
    spoil(model)
    with pytest.raises(InputError, match=words) as caught:
        eigenwood.save(model, tmp_path / "model")
    assert_one_sentence(str(caught.value))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_ensembles_of_pipelines_of_ensembles_are_kept(tmp_path):
    inner = make_pipeline(eigenwood.PolynomialExpansion(), BaggingClassifier(Perceptron(max_iter=3), 2))
    model = BaggingClassifier(inner, 2, random_state=0, max_features=3).fit(X_IRIS, Y_IRIS)
    kept = eigenwood.load(eigenwood.save(model, tmp_path / "model"))
    np.testing.assert_array_equal(kept.predict_proba(X_IRIS), model.predict_proba(X_IRIS))


def test_ensembles_stand_at_most_eight_deep_in_each_other(tmp_path):
    model = None
    for _ in range(8):
        model = BaggingClassifier(model, 1, random_state=0)
    eigenwood.load(eigenwood.save(model.fit(X_IRIS, Y_IRIS), tmp_path / "deep"))
    deeper = BaggingClassifier(model, 1, random_state=0).fit(X_IRIS, Y_IRIS)
    with pytest.raises(ModelFileError, match="ensembles must stand at most 8 deep in each other; got more."):
        eigenwood.save(deeper, tmp_path / "deeper")


def test_a_pipeline_eight_deep_is_still_kept(tmp_path):
    model = DecisionTreeClassifier(random_state=0)
    for _ in range(8):
        model = make_pipeline(model)
    eigenwood.load(eigenwood.save(model.fit(X_IRIS, Y_IRIS), tmp_path / "deep"))


def test_regressors_of_other_outputs_are_not_kept(tmp_path):
    model = BaggingRegressor(n_estimators=2, random_state=0).fit(X_DIABETES, Y_DIABETES)
    model.estimators_[0] = DecisionTreeRegressor().fit(X_DIABETES, np.column_stack([Y_DIABETES, Y_DIABETES]))
    with pytest.raises(InputError, match="estimators_ must be regressors of 1 outputs"):
        eigenwood.save(model, tmp_path / "model")
