"""Random forests: against a plain loop over trees, bagging, their own promises, and scikit-learn."""

from __future__ import annotations

import pickle
import time
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sklearn.ensemble
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.inspection import partial_dependence
from sklearn.metrics import accuracy_score, f1_score, make_scorer, mean_absolute_error, r2_score, roc_auc_score

import eigenwood
from eigenwood import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from eigenwood.core.forest import batch_predict
from eigenwood.core.forest.grow_batch import grow_batch, grow_tree
from eigenwood.core.forest.packing import tree_at
from eigenwood.errors import InputError
from eigenwood.estimators import watching
from eigenwood.estimators.forest import fitting
from eigenwood.estimators.forest.fitting import feature_counts_to_try
from eigenwood.estimators.tree.fitting import shared_table
from eigenwood.proofs.out_of_bag import share_interval
from eigenwood.validation.seeds import integer_seeds
from tests.estimators.exam import Recorder, assert_learnt_the_same, assert_same_bits
from tests.models.crafting import assert_one_sentence
from tests.naive import out_of_bag as naive

X_IRIS, Y_IRIS = load_iris(return_X_y=True)
X_DIABETES, Y_DIABETES = load_diabetes(return_X_y=True)
X_CANCER, Y_CANCER = load_breast_cancer(return_X_y=True)
WORDS = np.array(["setosa", "versicolor", "virginica"])[Y_IRIS]

pytestmark = pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")


def classifier(**params):
    return RandomForestClassifier(**{"n_estimators": 8, "random_state": 0, **params})


def regressor(**params):
    return RandomForestRegressor(**{"n_estimators": 8, "random_state": 0, **params})


def fitted(kind, **params):
    return kind(**params).fit(X_IRIS, Y_IRIS) if kind is classifier else kind(**params).fit(X_DIABETES, Y_DIABETES)


def predictions(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


both = pytest.mark.parametrize("kind", [classifier, regressor], ids=["classifier", "regressor"])


# ---------------------------------------------------------------------------------- k = d is bagging


def tables():
    """Return data with many equally good cuts: equal values, categories, holes, several outputs."""
    rng = np.random.default_rng(0)
    holes = np.where(rng.random(X_IRIS.shape) < 0.1, np.nan, X_IRIS)
    days = pd.DataFrame({"size": X_IRIS[:, 0].round(), "kind": pd.Categorical(rng.choice(list("abcde"), 150))})
    digits, of_digits = load_digits(return_X_y=True)
    return {
        "iris": (X_IRIS, Y_IRIS, {}),
        "holes": (holes, WORDS, {"criterion": "entropy"}),
        "categories": (days, Y_IRIS, {"min_samples_leaf": 0.02}),
        "sparse": (sparse.csr_array(digits[:300]), of_digits[:300], {"max_depth": 6}),
        "diabetes": (X_DIABETES, Y_DIABETES, {}),
        "medians": (X_DIABETES[:120], Y_DIABETES[:120], {"criterion": "absolute_error", "min_samples_leaf": 3}),
        "several outputs": (
            X_DIABETES,
            np.column_stack([Y_DIABETES, -X_DIABETES[:, 0]]),
            {"min_weight_fraction_leaf": 0.01},
        ),
        "best first": (X_DIABETES, Y_DIABETES, {"max_leaf_nodes": 20, "ccp_alpha": 1.0}),
    }


@pytest.mark.parametrize("name", tables())
@pytest.mark.parametrize("max_samples", [None, 0.5])
def test_with_all_features_a_forest_is_a_bag_of_trees(name, max_samples):
    """Every array of every tree has the same bits, and so has every answer."""
    X, y, params = tables()[name]
    is_class = name in ("iris", "holes", "categories", "sparse")
    forest, bag, tree = (
        (RandomForestClassifier, BaggingClassifier, DecisionTreeClassifier)
        if is_class
        else (RandomForestRegressor, BaggingRegressor, DecisionTreeRegressor)
    )
    one = forest(6, max_features=None, max_samples=max_samples, random_state=3, **params).fit(X, y)
    other = bag(tree(**params), 6, max_samples=max_samples, random_state=3).fit(X, y)
    for own, theirs in zip(one.estimators_, other.estimators_, strict=True):
        assert own.random_state == theirs.random_state
        for field in (
            "left",
            "right",
            "feature",
            "threshold",
            "default_left",
            "n_rows",
            "category_start",
            "categories",
        ):
            np.testing.assert_array_equal(getattr(own.nodes_, field), getattr(theirs.nodes_, field), err_msg=field)
        leaf = own.nodes_.left < 0
        np.testing.assert_array_equal(own.nodes_.value[leaf], theirs.nodes_.value[leaf])
        for field in ("weight", "value", "impurity"):  # a forest adds up what inner nodes have, from its leaves
            given, found = getattr(own.nodes_, field), getattr(theirs.nodes_, field)
            np.testing.assert_allclose(given, found, rtol=1e-9, atol=1e-12 * np.abs(found).max(), err_msg=field)
    np.testing.assert_array_equal(predictions(one, X), predictions(other, X))


def test_with_fewer_features_it_is_not():
    forest = fitted(classifier, max_features=1)
    bag = BaggingClassifier(n_estimators=8, random_state=0).fit(X_IRIS, Y_IRIS)
    for one, other in zip(forest.estimators_samples_, bag.estimators_samples_, strict=True):
        np.testing.assert_array_equal(one, other)  # the same draws, other trees
    assert any(own.tree_.feature[0] != theirs.tree_.feature[0] for own, theirs in zip(forest, bag, strict=True))


# ---------------------------------------------------------------------------------- the slow, obvious twin


def naive_answers(model, X, y, factors=None):
    """Grow tree after tree by an estimator of its own, and ask it about all rows, and about those it did not see.

    Its codes are those of all rows: where two cuts are equally good, the ranks of rows that it does not see decide too.
    """
    is_class = hasattr(model, "classes_")
    y = np.searchsorted(model.classes_, y) if is_class else y
    shared = shared_table(model.estimator, X, y, 1)
    total, oob, n_oob = 0.0, 0.0, np.zeros(len(X))
    for tree, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        counts = np.bincount(rows, minlength=len(X)).astype(float)
        weights = counts if factors is None else counts * factors(counts)
        alone = clone(tree)._fit_shared(shared, weights)
        answers = alone.predict_proba(X) if is_class else alone.predict(X)[:, None]
        total = total + answers / len(model)
        oob = oob + answers * (counts == 0)[:, None]
        n_oob += counts == 0
    return total, oob / np.where(n_oob > 0, n_oob, np.nan)[:, None]


@pytest.mark.parametrize("params", [{}, {"max_features": 3}, {"max_samples": 0.4, "max_depth": 4}], ids=str)
def test_numbers_are_those_of_a_plain_loop(params):
    model = regressor(oob_score=True, **params).fit(X_DIABETES, Y_DIABETES)
    total, oob = naive_answers(model, X_DIABETES, Y_DIABETES)
    np.testing.assert_allclose(model.predict(X_DIABETES), total[:, 0], rtol=1e-12)
    np.testing.assert_allclose(model.oob_prediction_, oob[:, 0], rtol=1e-12)
    known = ~np.isnan(oob[:, 0])
    assert model.oob_score_ == pytest.approx(r2_score(Y_DIABETES[known], oob[known, 0]))


def balanced(weights):
    """Return the total weight over the number of classes and the weight of the row's class."""
    found, codes = np.unique(WORDS[30:], return_inverse=True)
    return weights.sum() / found.size / np.bincount(codes, weights)[codes]


FACTORS = {
    "none": (None, None),
    "dict": ({"versicolor": 5.0}, lambda counts: np.where(WORDS[30:] == "versicolor", 5.0, 1.0)),
    "balanced": ("balanced", lambda counts: balanced(np.ones(120))),
    "balanced_subsample": ("balanced_subsample", balanced),
}


@pytest.mark.parametrize("name", FACTORS)
@pytest.mark.parametrize("max_features", ["sqrt", None])
def test_classes_and_their_weights_are_those_of_a_plain_loop(name, max_features):
    X, y = X_IRIS[30:], WORDS[30:]
    class_weight, factors = FACTORS[name]
    model = classifier(oob_score=True, max_depth=3, max_features=max_features, class_weight=class_weight).fit(X, y)
    total, oob = naive_answers(model, X, y, factors)
    np.testing.assert_allclose(model.predict_proba(X), total, atol=1e-12)
    np.testing.assert_allclose(model.oob_decision_function_, oob, atol=1e-12)
    known = ~np.isnan(oob[:, 0])
    assert model.oob_score_ == accuracy_score(y[known], model.classes_[oob[known].argmax(axis=1)])


@both
def test_the_mean_of_its_trees(kind):
    model = fitted(kind, max_depth=4)
    X = X_IRIS if kind is classifier else X_DIABETES
    np.testing.assert_allclose(
        predictions(model, X), np.mean([predictions(tree, X) for tree in model], axis=0), rtol=1e-12
    )
    leaves = np.column_stack([tree.apply(X) for tree in model])
    np.testing.assert_array_equal(model.apply(X), leaves)
    path, starts = model.decision_path(X)
    assert path.shape == (len(X), starts[-1])
    for i, tree in enumerate(model):
        np.testing.assert_array_equal(path[:, starts[i] : starts[i + 1]].toarray(), tree.decision_path(X).toarray())
    assert len(model) == 8
    assert model[2] is model.estimators_[2]


def test_as_good_as_scikit_learns():
    ours = RandomForestClassifier(100, oob_score=True, random_state=0, n_jobs=2).fit(X_CANCER, Y_CANCER)
    theirs = sklearn.ensemble.RandomForestClassifier(100, oob_score=True, random_state=0).fit(X_CANCER, Y_CANCER)
    assert ours.oob_score_ > theirs.oob_score_ - 0.015
    assert np.corrcoef(ours.feature_importances_, theirs.feature_importances_)[0, 1] > 0.9
    mean = [
        kind(100, oob_score=True, random_state=0, min_samples_leaf=3).fit(X_DIABETES, Y_DIABETES).oob_score_
        for kind in (RandomForestRegressor, sklearn.ensemble.RandomForestRegressor)
    ]
    assert abs(mean[0] - mean[1]) < 0.03


# ---------------------------------------------------------------------------------- threads, time, interruption


@both
def test_the_same_for_any_number_of_threads(kind):
    first, *others = (fitted(kind, oob_score=True, n_jobs=n_jobs) for n_jobs in (1, 2, 5))
    for other in others:
        assert_learnt_the_same(other, first)
        for name in ("oob_decision_function_", "oob_prediction_"):
            np.testing.assert_array_equal(getattr(other, name, 0), getattr(first, name, 0))


@both
@pytest.mark.parametrize("n_rows", [1200, 5000], ids=["batches", "one by one"])
def test_the_same_for_any_number_of_threads_where_trees_are_large_enough_for_several(kind, n_rows):
    """Very small trees grow on one thread, whatever ``n_jobs`` is."""
    X = np.random.default_rng(1).normal(size=(n_rows, 6))
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-1.0, 0.0, 1.0])
    first, *others = (kind(n_jobs=n_jobs, oob_score=True).fit(X, y) for n_jobs in (1, 2, 5))
    for other in others:
        assert_learnt_the_same(other, first)
        for name in ("oob_decision_function_", "oob_prediction_"):
            np.testing.assert_array_equal(getattr(other, name, 0), getattr(first, name, 0))


@both
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupted_fit_has_the_first_trees(kind, n_jobs):
    whole = fitted(kind)
    X, y = (X_IRIS, Y_IRIS) if kind is classifier else (X_DIABETES, Y_DIABETES)
    cut = kind(n_jobs=n_jobs).set_callbacks(Recorder(stop_after=3)).fit(X, y)
    assert (len(cut), cut.stop_reason_) == (3, "callback")
    for i in range(3):
        assert_same_bits("tree", tree_at(cut.forest_, i), tree_at(whole.forest_, i))
    cut.set_callbacks().set_params(warm_start=True).fit(X, y)
    assert_learnt_the_same(cut, whole)


@both
def test_more_trees_are_added(kind):
    X, y = (X_IRIS, Y_IRIS) if kind is classifier else (X_DIABETES, Y_DIABETES)
    grown = kind(n_estimators=3, warm_start=True, oob_score=True).fit(X, y)
    grown.set_params(n_estimators=20).fit(X, y)
    at_once = kind(n_estimators=20, oob_score=True).fit(X, y)
    assert_learnt_the_same(grown, at_once)
    with pytest.warns(UserWarning, match="Warm-start fitting without increasing n_estimators"):
        grown.fit(X, y)
    assert_learnt_the_same(grown, at_once)


def test_a_score_can_be_asked_for_later():
    model = classifier(n_estimators=30, warm_start=True).fit(X_IRIS, Y_IRIS)
    assert not hasattr(model, "oob_score_")
    with pytest.warns(UserWarning, match="Warm-start"):
        model.set_params(oob_score=True).fit(X_IRIS, Y_IRIS)
    at_once = classifier(n_estimators=30, oob_score=True).fit(X_IRIS, Y_IRIS)
    np.testing.assert_array_equal(model.oob_decision_function_, at_once.oob_decision_function_)
    assert model.certificate_ == at_once.certificate_


def test_another_metric_can_be_asked_for_later():
    model = classifier(n_estimators=30, warm_start=True, oob_score=True).fit(X_IRIS, Y_IRIS)
    with pytest.warns(UserWarning, match="Warm-start"):
        model.set_params(oob_score="neg_log_loss").fit(X_IRIS, Y_IRIS)
    at_once = classifier(n_estimators=30, oob_score="neg_log_loss").fit(X_IRIS, Y_IRIS)
    assert model.oob_score_ == at_once.oob_score_ < 0
    assert model.certificate_ == at_once.certificate_


def test_a_warm_start_keeps_constraints_as_they_were():
    rising = [1] + 9 * [0]
    for before, after in ((None, rising), (rising, None)):
        model = regressor(n_estimators=2, warm_start=True, monotonic_cst=before).fit(X_DIABETES, Y_DIABETES)
        model.set_params(n_estimators=3, monotonic_cst=after)
        with pytest.raises(InputError, match="monotonic_cst must be there, or not, as it was before"):
            model.fit(X_DIABETES, Y_DIABETES)
        assert len(model.set_params(monotonic_cst=before).fit(X_DIABETES, Y_DIABETES)) == 3


def test_what_a_warm_start_refuses():
    model = classifier(n_estimators=3, warm_start=True).fit(X_IRIS, Y_IRIS)
    with pytest.raises(InputError, match="n_estimators must be at least the 3 trees"):
        model.set_params(n_estimators=2).fit(X_IRIS, Y_IRIS)
    model.set_params(n_estimators=4)
    for X, y, words in (
        (X_IRIS, Y_IRIS + 1, "y must have the classes it had before"),
        (X_IRIS, np.column_stack([Y_IRIS, Y_IRIS]), "y must have the classes it had before"),
        (X_IRIS[:, :2], Y_IRIS, "X must have the columns it had before"),
    ):
        with pytest.raises(InputError, match=words):
            model.fit(X, y)


def diabetes_frame(names):
    return pd.DataFrame(X_DIABETES[:, : len(names)], columns=list(names))


REFUSED = {
    "narrow": (diabetes_frame("abc"), Y_DIABETES, "columns it had before"),
    "wide": (diabetes_frame("abcde"), Y_DIABETES, "columns it had before"),
    "names": (diabetes_frame("abce"), Y_DIABETES, "columns it had before"),
    "targets": (diabetes_frame("abcd"), np.column_stack([Y_DIABETES, Y_DIABETES]), "it had before when warm_start"),
    "nan": (diabetes_frame("xyz"), np.full(len(Y_DIABETES), np.nan), "NaN"),
    "lengths": (diabetes_frame("xyz"), Y_DIABETES[1:], "rows|samples|inconsistent"),
}


@pytest.mark.parametrize(
    ("n_estimators", "name"), [*((5, name) for name in REFUSED), *((3, name) for name in REFUSED if name != "targets")]
)
@pytest.mark.parametrize("bagging", [False, True])
@pytest.mark.filterwarnings("ignore:Warm-start")
def test_a_fit_that_is_refused_leaves_the_model_as_it_was(bagging, n_estimators, name):
    X, (bad_X, bad_y, words) = diabetes_frame("abcd"), REFUSED[name]
    kind = BaggingRegressor if bagging else RandomForestRegressor
    model = kind(n_estimators=3, warm_start=True, oob_score=share_near, random_state=0).fit(X, Y_DIABETES)
    model.set_params(n_estimators=n_estimators, oob_score=False)
    before, said_before = vars(model).copy(), model.predict(X)
    with pytest.raises(InputError, match=words):
        model.fit(bad_X, bad_y)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[attribute] is before[attribute] for attribute in before)
    np.testing.assert_array_equal(model.predict(X), said_before)
    grown = model.set_params(n_estimators=5).fit(X, Y_DIABETES)
    np.testing.assert_array_equal(grown.predict(X), kind(n_estimators=5, random_state=0).fit(X, Y_DIABETES).predict(X))


@pytest.mark.parametrize("bagging", [False, True])
def test_a_fit_that_is_interrupted_leaves_the_model_as_it_was(bagging):
    """Here by a metric, when all trees have grown and their score is asked for."""

    def fails_late(y_true, y_said):
        if not np.array_equal(y_true, y_said):  # before that it is tried with answers that are right
            raise KeyboardInterrupt
        return 1.0

    kind = BaggingRegressor if bagging else RandomForestRegressor
    model = kind(n_estimators=3, random_state=0).fit(X_DIABETES, Y_DIABETES)
    said_before, before = model.predict(X_DIABETES), vars(model.set_params(oob_score=fails_late)).copy()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X_DIABETES[:, :3], Y_DIABETES)
    assert vars(model) == before
    np.testing.assert_array_equal(model.predict(X_DIABETES), said_before)


@pytest.mark.parametrize("bagging", [False, True])
def test_a_first_fit_that_is_refused_leaves_nothing(bagging):
    model = (BaggingRegressor if bagging else RandomForestRegressor)()
    before = vars(model).copy()
    with pytest.raises(InputError):
        model.fit(X_DIABETES, Y_DIABETES[1:])
    assert vars(model) == before


@pytest.mark.parametrize("change", ["rows", "more rows", "weights", "max_samples", "bootstrap"])
@pytest.mark.parametrize("bagging", [False, True])
@pytest.mark.filterwarnings("ignore:Warm-start")
def test_who_saw_a_row_is_not_asked_about_it_after_a_warm_start(bagging, change):
    """Trees drew from other rows, or in another way: nobody knows any more which ones they did not see."""
    model = (BaggingClassifier if bagging else RandomForestClassifier)(n_estimators=30, random_state=0, warm_start=True)
    model.set_params(bootstrap=change != "bootstrap").fit(X_IRIS, Y_IRIS)
    data = {
        "rows": (X_IRIS + 1.0, Y_IRIS),
        "more rows": (np.vstack([X_IRIS, X_IRIS]), np.tile(Y_IRIS, 2)),
        "weights": (X_IRIS, Y_IRIS, 1.0 + Y_IRIS % 2),
    }.get(change, (X_IRIS, Y_IRIS))
    params = {"max_samples": 0.5 if change == "max_samples" else None, "bootstrap": True}
    words = "must be those of fit for all .* to be asked about rows that they did not see; got others"
    for n_estimators in (30, 40):
        model.set_params(n_estimators=n_estimators, oob_score=True, **params)
        with pytest.raises(InputError, match=words):
            model.fit(*data)
    assert len(model.set_params(oob_score=False).fit(*data)) == 40
    with pytest.raises(AttributeError, match="estimators_samples_ is not there when .* drew in several ways"):
        _ = model.estimators_samples_
    with pytest.raises(InputError, match=words):
        model.set_params(n_estimators=50, oob_score=True).fit(*data)


def test_rows_may_be_given_in_another_order_to_a_warm_start():
    order = np.random.default_rng(0).permutation(150)
    grown = classifier(n_estimators=10, warm_start=True, oob_score=True).fit(X_IRIS, Y_IRIS)
    grown.set_params(n_estimators=20).fit(X_IRIS[order], Y_IRIS[order])
    at_once = classifier(n_estimators=20, oob_score=True).fit(X_IRIS, Y_IRIS)
    np.testing.assert_array_equal(grown.oob_decision_function_, at_once.oob_decision_function_[order])


@both
def test_heavy_weights_without_a_draw(kind):
    X, y = (X_IRIS, Y_IRIS) if kind is classifier else (X_DIABETES, Y_DIABETES)
    plain = kind(bootstrap=False, n_estimators=3).fit(X, y)
    heavy = kind(bootstrap=False, n_estimators=3).fit(X, y, np.full(len(y), 1e12))
    np.testing.assert_array_equal(predictions(heavy, X), predictions(plain, X))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_time_leaves_the_trees_that_are_done(n_jobs):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 20)), rng.integers(2, size=3000)
    classifier(n_estimators=1, time_limit=100).fit(X, y)  # compiles
    start = time.perf_counter()
    model = classifier(n_estimators=10_000, time_limit=0.5, n_jobs=n_jobs).fit(X, y)
    assert time.perf_counter() - start < 1.5
    assert model.stop_reason_ == "time_limit"
    assert 1 <= len(model) < 10_000
    same = classifier(n_estimators=len(model)).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))


def share_near(y_true, y_said):
    """Return how many answers are near: an interval asks for it 500 times, and this takes hardly any time."""
    return float((abs(y_true - y_said) < 50.0).mean())


def share_right(y_true, y_said):
    return float((y_true == y_said).mean())


class Clock:
    """A second passes whenever somebody looks at it."""

    def __init__(self):
        self.now = 0

    def perf_counter(self):
        self.now += 1
        return self.now


@both
@pytest.mark.parametrize("max_features", ["sqrt", "oob"])
@pytest.mark.parametrize("limit", [1, 2, 5, 9, 14, 20, 27, 35, 50, 70])
@pytest.mark.filterwarnings("ignore:Warm-start fitting without increasing")
def test_a_forest_that_time_has_cut_goes_on_to_the_whole_one(kind, max_features, limit, monkeypatch):
    """Wherever it was cut: between two trees, or while numbers of features were tried."""
    X, y = (X_IRIS, Y_IRIS) if kind is classifier else (X_DIABETES[:100], Y_DIABETES[:100])
    metric = True if kind is classifier else share_near
    params = {"max_features": max_features, "oob_score": metric, "max_depth": 5}
    whole = kind(**params).fit(X, y)
    monkeypatch.setattr(watching, "time", Clock())
    cut = kind(time_limit=limit, warm_start=True, **params).fit(X, y)
    if limit < 9:
        assert cut.stop_reason_ == "time_limit"
    cut.fit(X, y)  # for as long once more
    cut.set_params(time_limit=None).fit(X, y)
    assert cut.stop_reason_ == "finished"
    assert_learnt_the_same(cut, whole)


@pytest.mark.parametrize("random_state", [0, None], ids=["seed", "none"])
@pytest.mark.parametrize("n_estimators", [1, 3])
def test_a_tree_that_time_cut_short_is_grown_again(n_estimators, random_state):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 5)), rng.integers(2, size=20_000)
    params = {"n_estimators": n_estimators, "random_state": random_state}
    cut = classifier(time_limit=1e-9, warm_start=True, **params).fit(X, y)
    n_nodes, rows = cut.forest_.node_start[1], cut.estimators_samples_[0]
    assert len(cut) == 1
    cut.set_params(time_limit=None).fit(X, y)
    assert cut.forest_.node_start[1] > n_nodes
    assert (len(cut), cut.stop_reason_) == (n_estimators, "finished")
    np.testing.assert_array_equal(cut.estimators_samples_[0], rows)
    if random_state == 0:
        assert_learnt_the_same(cut, classifier(**params).fit(X, y))


def test_a_tree_that_time_cut_short_while_a_callback_said_stop_is_grown_again():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 5)), rng.integers(2, size=20_000)
    cut = classifier(n_estimators=2, time_limit=1e-9, warm_start=True).set_callbacks(Recorder(stop_after=1)).fit(X, y)
    assert (len(cut), cut.stop_reason_) == (1, "time_limit")
    cut.set_callbacks().set_params(time_limit=None).fit(X, y)
    assert_learnt_the_same(cut, classifier(n_estimators=2).fit(X, y))


def test_trees_that_were_done_while_numbers_of_features_were_tried_stay(monkeypatch):
    """As many looks at the clock as it takes to grow some trees with the first number, but not with all."""
    monkeypatch.setattr(watching, "time", Clock())
    some = classifier(n_estimators=20, max_features="oob", time_limit=12, max_depth=3).fit(X_IRIS, Y_IRIS)
    assert (len(some.oob_curve_), some.max_features_, some.stop_reason_) == (0, 1, "time_limit")
    assert len(some) > 1
    more = classifier(n_estimators=16, max_features="oob", time_limit=60, max_depth=3).fit(X_IRIS, Y_IRIS)
    assert 0 < len(more.oob_curve_) < len(feature_counts_to_try(4))
    assert (len(more), more.stop_reason_) == (16, "time_limit")
    same = classifier(n_estimators=16, max_features=more.max_features_, max_depth=3).fit(X_IRIS, Y_IRIS)
    np.testing.assert_array_equal(predictions(more, X_IRIS), predictions(same, X_IRIS))


def test_no_time_at_all_leaves_a_stump_of_a_tree():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 5)), rng.integers(2, size=20_000)
    for max_features in ("sqrt", "oob"):
        model = classifier(time_limit=1e-9, max_features=max_features).fit(X, y)
        assert (len(model), model.stop_reason_) == (1, "time_limit")
        assert model.predict_proba(X).shape == (20_000, 2)
    assert "first tree" not in {claim.name for claim in eigenwood.verify(model, X, y)}


@both
def test_callbacks_hear_of_every_tree(kind):
    X, y = (X_IRIS, Y_IRIS) if kind is classifier else (X_DIABETES, Y_DIABETES)
    recorder = Recorder()
    kind(n_estimators=4).set_callbacks(recorder).fit(X, y)
    assert [len(so_far) for so_far in recorder.models] == [1, 2, 3, 4, 4]
    first = kind(n_estimators=2).fit(X, y)
    np.testing.assert_array_equal(predictions(recorder.models[1], X), predictions(first, X))


# ---------------------------------------------------------------------------------- rows, weights, kinds of input


@both
@pytest.mark.parametrize("params", [{}, {"max_samples": 0.6}, {"bootstrap": False}, {"max_samples": 30}], ids=str)
def test_weights_are_repeated_rows(kind, params):
    rng = np.random.default_rng(0)
    X, y = (X_IRIS.round(0), Y_IRIS) if kind is classifier else (X_DIABETES[:150].round(1), Y_DIABETES[:150])
    weights = rng.integers(0, 4, size=len(y))
    copies = rng.permutation(np.repeat(np.arange(len(y)), weights))
    weighted, given = kind(**params).fit(X, y, sample_weight=weights), kind(**params).fit(X[copies], y[copies])
    assert weighted.n_draws_ == given.n_draws_
    np.testing.assert_allclose(predictions(weighted, X), predictions(given, X), rtol=1e-12)
    if kind is classifier:
        np.testing.assert_array_equal(predictions(weighted, X), predictions(given, X))


@both
def test_the_order_of_the_rows_does_not_matter(kind):
    X, y = (X_IRIS, Y_IRIS) if kind is classifier else (X_DIABETES, Y_DIABETES)
    order = np.random.default_rng(0).permutation(len(y))
    model, moved = kind(oob_score=True).fit(X, y), kind(oob_score=True).fit(X[order], y[order])
    np.testing.assert_allclose(predictions(moved, X), predictions(model, X), rtol=1e-9)
    assert moved.n_draws_ == model.n_draws_


def test_equal_weights_are_no_weights():
    model = classifier(class_weight="balanced").fit(X_IRIS, Y_IRIS)  # as many flowers of each kind
    np.testing.assert_array_equal(predictions(model, X_IRIS), predictions(fitted(classifier), X_IRIS))
    heavy = classifier(bootstrap=False, class_weight={0: 1.0, 1: 100.0, 2: 1.0}, max_depth=2).fit(X_IRIS, Y_IRIS)
    rows = classifier(bootstrap=False, max_depth=2).fit(X_IRIS, Y_IRIS, np.where(Y_IRIS == 1, 100.0, 1.0))
    np.testing.assert_array_equal(predictions(heavy, X_IRIS), predictions(rows, X_IRIS))


@pytest.mark.parametrize("class_weight", [{0: 0, 1: 1, 2: 1}, {0: 0.0, 1: 2.0, 2: 2.0}], ids=str)
def test_rows_of_a_class_of_weight_zero_are_as_if_not_given(class_weight):
    model = classifier(class_weight=class_weight, oob_score=True).fit(X_IRIS, Y_IRIS)
    assert model.classes_.tolist() == [0, 1, 2]
    others = Y_IRIS > 0
    alone = classifier(oob_score=True).fit(X_IRIS[others], Y_IRIS[others])
    np.testing.assert_array_equal(predictions(model, X_IRIS)[:, 1:], predictions(alone, X_IRIS))
    np.testing.assert_array_equal(model.oob_decision_function_[others, 1:], alone.oob_decision_function_)
    assert np.isnan(model.oob_decision_function_[~others]).all()
    assert eigenwood.verify(model, X_IRIS, Y_IRIS).holds


def test_no_tree_draws_only_rows_of_classes_of_weight_zero():
    model = classifier(n_estimators=50, class_weight={"a": 0.0, "b": 1.0}).fit([[0.0], [1.0], [2.0]], ["a", "a", "b"])
    np.testing.assert_array_equal(predictions(model, [[0.0], [2.0]]), [[0.0, 1.0], [0.0, 1.0]])
    several = classifier(n_estimators=50, class_weight=[{0: 0, 1: 1}, {0: 1, 1: 1}])
    several.fit([[0.0], [1.0], [2.0]], [[0, 1], [0, 0], [1, 1]])
    np.testing.assert_array_equal(several.predict([[0.0]]), [[1, 1]])
    for y, nothing in (
        (Y_IRIS, {0: 0, 1: 0, 2: 0}),
        (np.column_stack([Y_IRIS == 0] * 2), [{0: 0, 1: 1}, {0: 1, 1: 0}]),
    ):
        with pytest.raises(InputError, match="class_weight must leave some row a weight above 0; got none"):
            classifier(class_weight=nothing).fit(X_IRIS, y)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_weights_of_classes_that_cannot_be_multiplied_are_refused(size):
    with pytest.raises(InputError, match="the largest sample_weight times class_weight must be from 1e-60 to"):
        classifier(class_weight={0: size, 1: size, 2: size}).fit(X_IRIS, Y_IRIS)


@pytest.mark.parametrize("size", [1e-50, 1e-9, 1e9, 1e80])
def test_the_size_of_the_weights_of_classes_does_not_matter(size):
    model = classifier(class_weight={0: size, 1: size, 2: size}).fit(X_IRIS, Y_IRIS)
    np.testing.assert_allclose(predictions(model, X_IRIS), predictions(fitted(classifier), X_IRIS), rtol=1e-9)
    assert eigenwood.verify(model, X_IRIS, Y_IRIS).holds


def test_weights_of_classes_for_several_outputs():
    y = np.column_stack([Y_IRIS == 1, Y_IRIS])
    plain, weighted = (classifier(class_weight=each, max_depth=2).fit(X_IRIS, y)
                       for each in (None, [{False: 1, True: 9}, {0: 1, 1: 1, 2: 1}]))  # fmt: skip
    assert weighted.predict_proba(X_IRIS)[0][:, 1].mean() > plain.predict_proba(X_IRIS)[0][:, 1].mean() + 0.1
    assert (classifier(class_weight="balanced_subsample").fit(X_IRIS, y).predict(X_IRIS) == y).mean() > 0.95
    with pytest.raises(InputError, match="number of elements in class_weight should match number of outputs, 2; got 1"):
        classifier(class_weight=[{0: 1, 1: 2, 2: 1}]).fit(X_IRIS, y)


@both
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, np.float32, np.asfortranarray])
def test_other_forms_of_the_same_rows(kind, form):
    X = np.where(np.abs(X_IRIS) < 3.0, 0.0, X_IRIS.round()) if kind is classifier else np.round(8 * X_DIABETES) / 8
    y = Y_IRIS if kind is classifier else Y_DIABETES
    model, other = kind().fit(X, y), kind().fit(form(X), y)
    np.testing.assert_array_equal(predictions(other, form(X)), predictions(model, X))
    np.testing.assert_array_equal(predictions(other, X), predictions(model, form(X)))


def test_numbers_are_not_rounded():
    X = 1.0 + 1e-12 * np.arange(40.0)[:, None]
    y = np.arange(40) % 2
    assert classifier(bootstrap=False).fit(X, y).score(X, y) == 1.0


def frame(n_rows=400, seed=0):
    """Return a table in which a category, a number and a hole each say something."""
    rng = np.random.default_rng(seed)
    town = rng.choice(["Ulm", "Bonn", "Köln", "Jena"], n_rows)
    age = rng.uniform(18, 80, n_rows)
    age[rng.random(n_rows) < 0.2] = np.nan
    score = np.isin(town, ["Ulm", "Jena"]) * 2.0 + np.where(np.isnan(age), 1.5, age / 40)
    table = pa.table({"town": town, "age": pa.array(age, from_pandas=True), "noise": rng.normal(size=n_rows)})
    return table, score + 0.1 * rng.normal(size=n_rows)


@both
def test_categories_and_holes_as_they_are(kind, tmp_path):
    X, score = frame()
    fresh, truth = frame(seed=1)
    y = np.where(score > 2.5, "much", "little") if kind is classifier else score
    truth = np.where(truth > 2.5, "much", "little") if kind is classifier else truth
    model = kind(n_estimators=30, oob_score=True, max_features=None, min_samples_leaf=3).fit(X, y)
    assert model.score(fresh, truth) > 0.9
    assert model.is_categorical_.tolist() == [True, False, False]
    assert model.has_missing_.tolist() == [False, True, False]
    assert model.feature_names_in_.tolist() == ["town", "age", "noise"]
    strange = pa.table({"town": ["Rom"], "age": pa.array([None], pa.float64()), "noise": [0.0]})
    assert np.isfinite(predictions(model, strange).astype(float)).all()
    again = eigenwood.load(eigenwood.save(model, tmp_path / "model"))
    np.testing.assert_array_equal(predictions(again, fresh), predictions(model, fresh))
    assert eigenwood.verify(again, X, y).holds


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_several_numbers(criterion):
    y = np.column_stack([Y_DIABETES, np.abs(X_DIABETES[:, 2]) + 1, Y_DIABETES.max() - Y_DIABETES])
    model = regressor(oob_score=True, criterion=criterion, max_depth=3).fit(X_DIABETES, y)
    assert model.predict(X_DIABETES).shape == model.oob_prediction_.shape == y.shape
    np.testing.assert_allclose(model.predict(X_DIABETES), np.mean([tree.predict(X_DIABETES) for tree in model], axis=0))
    assert eigenwood.verify(model, X_DIABETES, y).holds


def test_several_classes(tmp_path):
    y = np.column_stack([np.array(["a", "b", "c"])[Y_IRIS], (Y_IRIS == 1).astype(object)])
    model = classifier().fit(X_IRIS, y)
    assert [shares.shape for shares in model.predict_proba(X_IRIS)] == [(150, 3), (150, 2)]
    assert (model.predict(X_IRIS) == y).mean() > 0.95
    assert model.n_classes_.tolist() == [3, 2]
    loaded = eigenwood.load(eigenwood.save(model, tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict(X_IRIS), model.predict(X_IRIS))
    assert eigenwood.verify(loaded, X_IRIS, y).holds


def test_several_classes_out_of_bag():
    flags = np.column_stack([Y_IRIS == 0, Y_IRIS == 1]).astype(int)
    model = classifier(n_estimators=40, oob_score=True).fit(X_IRIS, flags)
    assert model.oob_decision_function_.shape == (150, 2, 2)
    found = model.oob_decision_function_.argmax(axis=1)
    assert model.oob_score_ == (found == flags).all(axis=1).mean()
    many = np.column_stack([Y_IRIS, Y_IRIS])
    with pytest.raises(InputError, match="oob_score must be a function of y_true and y_pred"):
        classifier(oob_score=True).fit(X_IRIS, many)
    own = classifier(n_estimators=40, oob_score=lambda y, found: float((y == found).mean())).fit(X_IRIS, many)
    assert own.oob_score_ > 0.9


@pytest.mark.parametrize(
    ("max_samples", "n_draws"), [(None, 150), (1.0, 150), (0.5, 75), (10, 10), (1.5, 225), (400, 400)]
)
def test_how_many_rows_are_drawn(max_samples, n_draws):
    model = fitted(classifier, max_samples=max_samples)
    assert model.n_draws_ == n_draws
    assert {rows.size for rows in model.estimators_samples_} == {n_draws}
    assert {rows.dtype for rows in model.estimators_samples_} == {np.dtype(np.int32)}


def test_all_rows_without_bootstrap():
    model = classifier(bootstrap=False, max_features=None).fit(X_IRIS, Y_IRIS)
    assert all((rows == np.arange(150)).all() for rows in model.estimators_samples_)
    alone = DecisionTreeClassifier(random_state=0).fit(X_IRIS, Y_IRIS)
    np.testing.assert_array_equal(model[0].predict_proba(X_IRIS), alone.predict_proba(X_IRIS))


def test_monotonic_constraints_are_kept():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    y = X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=300)
    grid = np.column_stack([np.linspace(0, 1, 50), np.full(50, 0.5)])
    assert (np.diff(regressor(monotonic_cst=[1, -1]).fit(X, y).predict(grid)) >= 0).all()
    share = classifier(monotonic_cst=[1, 0]).fit(X, y > 0).predict_proba(grid)[:, 1]
    assert (np.diff(share) >= -1e-12).all()


class MemoryOfRounds(Recorder):
    """Notes how much more memory was in use within a round than at its beginning."""

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        super().on_fit_task_begin(estimator, context)
        tracemalloc.reset_peak()
        self.before = tracemalloc.get_traced_memory()[0]

    def on_fit_task_end(self, estimator, context, *, X=None, y=None):
        self.models.append(tracemalloc.get_traced_memory()[1] - self.before)


@both
def test_no_tree_has_a_copy_of_the_rows(kind, monkeypatch):
    """All trees are grown from one table of codes, and a tree takes less memory than the rows that it drew."""
    tables = []
    monkeypatch.setattr(fitting, "grow_tree", lambda binned, *rest: tables.append(binned) or grow_tree(binned, *rest))
    X = np.random.default_rng(0).normal(size=(10_000, 300))
    memory = MemoryOfRounds()
    model = kind(n_estimators=4, max_depth=3).set_callbacks(memory)
    tracemalloc.start()
    try:
        model.fit(X, X[:, 0] > 0)
    finally:
        tracemalloc.stop()
    assert len(tables) == 4
    assert all(table is tables[0] for table in tables)
    assert len(memory.models) == 5
    assert max(memory.models) < X.nbytes / 2


# ---------------------------------------------------------------------------------- out of bag


def metric_name(metric):
    return getattr(metric, "__name__", str(metric))


@pytest.mark.parametrize("metric", [True, "accuracy", accuracy_score, "roc_auc", "neg_log_loss"], ids=metric_name)
def test_any_metric_of_classes(metric):
    model = classifier(n_estimators=40, oob_score=metric).fit(X_CANCER, Y_CANCER)
    shares = model.oob_decision_function_
    low, high = model.oob_interval_
    if metric == "roc_auc":
        assert model.oob_score_ == pytest.approx(roc_auc_score(Y_CANCER, shares[:, 1]))
    elif metric != "neg_log_loss":
        assert model.oob_score_ == accuracy_score(Y_CANCER, shares.argmax(axis=1))
        np.testing.assert_allclose((low, high), share_interval(model.oob_score_, len(Y_CANCER)))
    assert low < model.oob_score_ < high


@pytest.mark.parametrize("metric", [True, "neg_mean_absolute_error", mean_absolute_error], ids=metric_name)
def test_any_metric_of_numbers(metric):
    model = regressor(n_estimators=40, oob_score=metric).fit(X_DIABETES, Y_DIABETES)
    error = mean_absolute_error(Y_DIABETES, model.oob_prediction_)
    expected = {"neg_mean_absolute_error": -error, mean_absolute_error: error}
    assert model.oob_score_ == pytest.approx(expected.get(metric, r2_score(Y_DIABETES, model.oob_prediction_)))
    assert model.oob_interval_[0] < model.oob_score_ < model.oob_interval_[1]


def test_a_metric_may_be_a_scorer():
    scorer = make_scorer(f1_score, average="macro")
    model = classifier(n_estimators=40, oob_score=scorer).fit(X_CANCER, Y_CANCER)
    found = model.oob_decision_function_.argmax(axis=1)
    assert model.oob_score_ == f1_score(Y_CANCER, found, average="macro")
    own = classifier(n_estimators=40, oob_score=lambda asked, X, y: asked.predict_proba(X)[:, 1].mean())
    assert own.fit(X_CANCER, Y_CANCER).oob_score_ == model.oob_decision_function_[:, 1].mean()


WRONG_METRICS = {
    "of two classes": (classifier, "roc_auc", Y_IRIS, "got roc_auc, which says: multi_class must be"),
    "of numbers": (classifier, "r2", WORDS, "got r2, which says: could not convert string to float: 'setosa'"),
    "of classes": (regressor, "accuracy", X_IRIS[:, 0], "got accuracy, which says: "),
    "of its own": (classifier, lambda one, other: float("none"), Y_IRIS, "got <lambda>, which says: could not convert"),
}


@pytest.mark.parametrize(("kind", "metric", "y", "words"), WRONG_METRICS.values(), ids=WRONG_METRICS)
def test_a_metric_that_cannot_score_such_targets_is_refused_before_trees_grow(kind, metric, y, words):
    model = kind(oob_score=metric)
    with pytest.raises(InputError, match="oob_score must be a metric for targets like these") as caught:
        model.fit(X_IRIS, y)
    assert words in str(caught.value)
    assert not hasattr(model, "forest_")


def test_weights_count_in_the_score():
    weights = np.where(Y_IRIS == 1, 3.0, 1.0)
    weights[:5] = 0.0
    model = classifier(n_estimators=40, oob_score=True).fit(X_IRIS, Y_IRIS, sample_weight=weights)
    oob = ~np.isnan(model.oob_decision_function_[:, 0])
    assert not oob[:5].any()
    found = model.oob_decision_function_[oob].argmax(axis=1)
    assert model.oob_score_ == pytest.approx(accuracy_score(Y_IRIS[oob], found, sample_weight=weights[oob]))


def test_rows_that_every_tree_saw_have_no_answer():
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
        model = classifier(n_estimators=2, oob_score=True).fit(X_IRIS, Y_IRIS)
    oob = ~np.isnan(model.oob_decision_function_[:, 0])
    assert 0 < oob.sum() < 150
    assert model.certificate_["left out"].value == pytest.approx(oob.mean())
    assert not hasattr(model.set_params(oob_score=False).fit(X_IRIS, Y_IRIS), "oob_score_")


def test_a_metric_that_says_nothing_of_so_few_rows_is_no_score(tmp_path):
    """R² of a single row is not defined."""
    model = regressor(n_estimators=1, oob_score=True, max_samples=5, random_state=2).fit(
        [[1.0], [2.0], [3.0]], [3, 4, 5]
    )
    assert np.isfinite(model.oob_prediction_).sum() == 1
    assert not hasattr(model, "oob_score_")
    eigenwood.load(eigenwood.save(model, tmp_path / "model"))


def test_breimans_bound():
    model = classifier(n_estimators=50, oob_score=True).fit(X_CANCER, Y_CANCER)
    claims = {claim.name: claim for claim in model.certificate_}
    assert {"trees", "strength", "correlation", "vote error", "out-of-bag score"} <= claims.keys()
    assert claims["vote error"].value <= claims["vote error"].bound
    fewer = classifier(n_estimators=50, oob_score=True, max_features=1).fit(X_CANCER, Y_CANCER)
    more = classifier(n_estimators=50, oob_score=True, max_features=None).fit(X_CANCER, Y_CANCER)
    assert fewer.certificate_["correlation"].value < more.certificate_["correlation"].value


MEAN_CLAIMS = ["learner error", "learners asked", "correlation", "mean error"]


def mean_numbers(model):
    """Return the numbers of the mean in a certificate, in the order of the plain loop's."""
    claims = [model.certificate_[name] for name in ("mean error", "learner error", "learners asked", "correlation")]
    return [claim.value for claim in claims]


def residuals_out_of_bag(model, X, Y):
    """Return row → what a tree is off by there, for the rows that each tree did not see."""
    found = []
    for tree, seen in zip(model.estimators_, model.estimators_samples_, strict=True):
        rows = np.setdiff1d(np.arange(len(X)), seen)
        off = tree.predict(X[rows]).reshape(rows.size, -1) - Y.reshape(len(X), -1)[rows]
        found.append(dict(zip(rows.tolist(), off.tolist(), strict=True)))
    return found


@pytest.mark.parametrize("bagging", [False, True])
@pytest.mark.parametrize("metric", [True, "neg_mean_absolute_error"])
@pytest.mark.parametrize("several", [False, True])
def test_breimans_bound_of_numbers_is_that_of_a_plain_loop_over_pairs_of_trees(bagging, metric, several):
    X, weights = X_DIABETES[:120], np.random.default_rng(0).integers(1, 4, size=120).astype(float)
    Y = np.column_stack([Y_DIABETES, 50.0 * X_DIABETES[:, 0]])[:120] if several else Y_DIABETES[:120]
    kind = BaggingRegressor if bagging else RandomForestRegressor
    model = kind(n_estimators=6, oob_score=metric, random_state=0).fit(X, Y, sample_weight=weights)
    expected = naive.assessed_mean(residuals_out_of_bag(model, X, Y), weights)
    np.testing.assert_allclose(mean_numbers(model), expected, rtol=1e-9)
    claim, (_, error, n_asked, correlation) = model.certificate_["mean error"], expected
    assert claim.value <= claim.bound
    assert claim.bound == pytest.approx((correlation + (1 - correlation) / n_asked) * error)
    again = eigenwood.verify(model, X, Y, weights)
    assert again.holds
    assert again.claims[: len(model.certificate_)] == model.certificate_.claims


def test_the_error_of_the_mean_is_that_of_the_answers_out_of_bag():
    model = regressor(n_estimators=50, oob_score=True).fit(X_DIABETES, Y_DIABETES)
    error = np.mean((model.oob_prediction_ - Y_DIABETES) ** 2)
    assert model.certificate_["mean error"].value == pytest.approx(error)
    assert 1.0 - error / Y_DIABETES.var() == pytest.approx(model.oob_score_)


def test_fewer_features_make_trees_of_numbers_less_alike_and_weaker():
    fewer, more = (
        regressor(n_estimators=50, oob_score=True, max_features=k).fit(X_DIABETES, Y_DIABETES) for k in (1, None)
    )
    assert fewer.certificate_["correlation"].value < more.certificate_["correlation"].value
    assert fewer.certificate_["learner error"].value > more.certificate_["learner error"].value


def test_the_bound_of_numbers_can_be_asked_for_later():
    model = regressor(n_estimators=10, warm_start=True).fit(X_DIABETES, Y_DIABETES)
    assert not {claim.name for claim in model.certificate_} & set(MEAN_CLAIMS)
    with pytest.warns(UserWarning, match="Warm-start"):
        model.set_params(oob_score=True).fit(X_DIABETES, Y_DIABETES)
    assert model.certificate_ == fitted(regressor, n_estimators=10, oob_score=True).certificate_
    assert [claim.name for claim in model.certificate_][-4:] == MEAN_CLAIMS


@pytest.mark.parametrize("bagging", [False, True])
def test_the_mean_of_trees_of_which_little_can_be_said(bagging):
    kind = BaggingRegressor if bagging else RandomForestRegressor
    one = kind(n_estimators=1, oob_score=True, random_state=0).fit(X_DIABETES, Y_DIABETES)
    assert one.certificate_["mean error"].value == one.certificate_["learner error"].value
    assert "correlation" not in {claim.name for claim in one.certificate_}
    constant = kind(n_estimators=20, oob_score=True, random_state=0).fit(X_DIABETES, np.full(len(X_DIABETES), 0.1))
    assert mean_numbers(constant)[:2] == [0.0, 0.0]
    unseen = kind(n_estimators=2, max_samples=500, oob_score=True, random_state=0).fit([[0.0], [1.0]], [0.0, 1.0])
    assert not {claim.name for claim in unseen.certificate_} & set(MEAN_CLAIMS)
    assert constant.certificate_.holds
    for model in (one, unseen):  # nothing bounds what was measured
        assert all(claim.holds for claim in model.certificate_)
        assert model.certificate_.holds is None


@both
def test_the_number_of_features_is_chosen_by_the_error_out_of_bag(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 30))  # one feature says it all: the more are looked at, the better
    y = (X[:, 3] > 0).astype(int) if kind is classifier else X[:, 3]
    model = kind(n_estimators=20, max_features="oob").fit(X, y)
    numbers, errors = model.oob_curve_.T
    assert numbers.tolist() == feature_counts_to_try(30)
    assert model.max_features_ == numbers[errors.argmin()] > 5
    same = kind(n_estimators=20, max_features=model.max_features_).fit(X, y)
    np.testing.assert_array_equal(predictions(model, X), predictions(same, X))
    assert {tree.max_features for tree in model} == {model.max_features_}
    grown = kind(n_estimators=10, max_features="oob", warm_start=True).fit(X, y).set_params(n_estimators=12).fit(X, y)
    assert len(grown) == 12
    assert eigenwood.verify(model, X, y).holds
    again = kind(n_estimators=20, max_features="oob", n_jobs=2).fit(X, y)
    assert_learnt_the_same(again, model)


def test_the_error_in_the_curve_is_that_of_a_plain_loop():
    model = classifier(n_estimators=16, max_features="oob", random_state=1).fit(X_IRIS, Y_IRIS)
    for number, error in model.oob_curve_:
        own = classifier(n_estimators=16, max_features=int(number), oob_score=True, random_state=1).fit(X_IRIS, Y_IRIS)
        assert error == pytest.approx(1.0 - own.oob_score_)


# ---------------------------------------------------------------------------------- importances


@both
def test_impurity_importances_are_the_mean_of_the_trees(kind):
    model = fitted(kind)
    mean = np.mean([tree.feature_importances_ for tree in model], axis=0)
    np.testing.assert_allclose(model.feature_importances_, mean / mean.sum())
    constant = kind().fit(np.zeros((10, 3)), np.arange(10) % 2)
    np.testing.assert_array_equal(constant.feature_importances_, np.zeros(3))


def naive_importances(model, X, y, random_state):
    """Shuffle one feature of the rows that a tree did not see, and count how many more it gets wrong."""
    seed = int(integer_seeds(random_state, 1)[0])
    lines = []
    for number, (tree, seen) in enumerate(zip(model.estimators_, model.estimators_samples_, strict=True)):
        rng = np.random.default_rng([seed, number])
        rows = np.setdiff1d(np.arange(len(X)), seen)
        wrong = (tree.predict(X[rows]) != y[rows]).mean()
        line = np.zeros(X.shape[1])
        for j in np.unique(tree.tree_.feature[tree.tree_.feature >= 0]):
            shuffled = X[rows].copy()
            shuffled[:, j] = rng.permutation(shuffled[:, j])
            line[j] = (tree.predict(shuffled) != y[rows]).mean() - wrong
        lines.append(line)
    return np.array(lines)


def test_permutation_importances_are_those_of_a_plain_loop():
    model = fitted(classifier, max_depth=3)
    found = model.oob_permutation_importance(X_IRIS, Y_IRIS, random_state=7)
    expected = naive_importances(model, X_IRIS, Y_IRIS, 7)
    assert expected.shape == (8, 4)
    np.testing.assert_allclose(found.importances, expected, atol=1e-12)
    np.testing.assert_allclose(found.importances_mean, expected.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.importances_std, expected.std(axis=0), atol=1e-12)
    again = model.oob_permutation_importance(X_IRIS, Y_IRIS, random_state=3, n_repeats=5)
    np.testing.assert_allclose(again.importances_mean, expected.mean(axis=0), atol=0.1)
    assert ((again.importances != 0) <= (np.array([tree.feature_importances_ for tree in model]) > 0)).all()


@both
def test_what_says_something_is_important_and_noise_is_not(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    y = (X[:, 1] > 0).astype(int) if kind is classifier else 3 * X[:, 1]
    model = kind(n_estimators=40, n_jobs=2).fit(X, y)
    means = model.oob_permutation_importance(X, y, n_repeats=2).importances_mean
    assert means[1] == means.max() > 0.25
    assert (np.abs(np.delete(means, 1)) < 0.05 * means[1]).all()
    assert model.feature_importances_.argmax() == 1
    same = model.oob_permutation_importance(sparse.csr_array(X), y, n_repeats=2).importances_mean
    np.testing.assert_array_equal(same, means)


def test_who_saw_every_row_cannot_be_asked():
    with pytest.raises(InputError, match="oob_permutation_importance is only available if bootstrap=True"):
        fitted(classifier, bootstrap=False).oob_permutation_importance(X_IRIS, Y_IRIS)
    with pytest.raises(InputError, match="n_repeats must be an integer at least 1; got 0"):
        fitted(classifier).oob_permutation_importance(X_IRIS, Y_IRIS, n_repeats=0)
    with pytest.raises(InputError, match="some tree must have left out a row to be asked about; got none"):
        fitted(classifier, max_samples=20_000, max_depth=1).oob_permutation_importance(X_IRIS, Y_IRIS)


def test_importances_are_asked_of_the_rows_of_the_fit():
    """A model from a file knows only their number."""
    words = "X, y, sample_weight, max_samples and bootstrap must be those of fit for all trees"
    for X, y in ((X_IRIS[:100], Y_IRIS[:100]), (X_IRIS + 1, Y_IRIS), (X_IRIS, np.roll(Y_IRIS, 1))):
        with pytest.raises(InputError, match=words):
            fitted(classifier).oob_permutation_importance(X, y)
    order = np.random.default_rng(0).permutation(150)
    fitted(classifier).oob_permutation_importance(X_IRIS[order], Y_IRIS[order])


# ---------------------------------------------------------------------------------- one row, files, proofs


@pytest.fixture
def any_rows_are_many(monkeypatch):
    """Let the kernel for very many rows take any number of them."""
    for name in ("FEWEST_ROWS", "FEWEST_ENTRIES", "ENTRIES_PER_NODE"):
        monkeypatch.setattr(batch_predict, name, 0)


def with_holes(X):
    return np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)


@both
@pytest.mark.parametrize("form", [np.asarray, np.float32, with_holes, sparse.csr_array, pd.DataFrame])
def test_very_many_rows_get_the_same_answers(kind, form, any_rows_are_many, monkeypatch):
    X, y = (X_IRIS, Y_IRIS) if kind is classifier else (X_DIABETES, Y_DIABETES)
    model = kind(n_jobs=2).fit(form(X), y)
    by_batch = predictions(model, form(X))
    assert model._cache["batch_forest"] is not None
    assert "predictor" not in model._cache
    monkeypatch.setattr(batch_predict, "FEWEST_ROWS", 10**9)
    assert predictions(model, form(X)).tobytes() == by_batch.tobytes()
    assert "predictor" in model._cache


def test_a_number_missing_of_which_none_was_learnt(any_rows_are_many, monkeypatch):
    model, X = fitted(classifier), with_holes(X_IRIS)
    found = model.predict_proba(X)
    monkeypatch.setattr(batch_predict, "FEWEST_ROWS", 10**9)
    np.testing.assert_array_equal(found, model.predict_proba(X))


def test_infinity_among_very_many_rows_is_refused(any_rows_are_many):
    X = X_IRIS.copy()
    X[3, 2] = np.inf
    with pytest.raises(InputError) as problem:
        fitted(classifier).predict(X)
    assert_one_sentence(str(problem.value))


def test_batch_forests_are_not_kept_where_the_forest_is_not(any_rows_are_many, tmp_path):
    model = fitted(classifier)
    size = len(pickle.dumps(model))
    expected = model.predict_proba(X_IRIS)
    assert len(pickle.dumps(model)) == size
    copy = pickle.loads(pickle.dumps(model))
    assert not copy._cache
    np.testing.assert_array_equal(copy.predict_proba(X_IRIS), expected)
    eigenwood.save(model, tmp_path / "forest")
    np.testing.assert_array_equal(eigenwood.load(tmp_path / "forest").predict_proba(X_IRIS), expected)


def test_batch_forests_are_those_of_the_last_fit(any_rows_are_many):
    model = fitted(classifier, n_estimators=3, warm_start=True)
    model.predict(X_IRIS)
    model.set_params(n_estimators=8).fit(X_IRIS, Y_IRIS)
    np.testing.assert_array_equal(model.predict_proba(X_IRIS), fitted(classifier).predict_proba(X_IRIS))


@both
def test_one_row_is_as_good_as_many(kind):
    model = fitted(kind)
    X = X_IRIS if kind is classifier else X_DIABETES
    rows = [predictions(model, X[i : i + 1])[0] for i in range(30)]
    np.testing.assert_array_equal(rows, predictions(model, X)[:30])
    np.testing.assert_array_equal(
        predictions(model, X[:1].astype(np.float32)), predictions(model, X[:1].astype(np.float32).tolist())
    )


@both
@pytest.mark.parametrize("form", ["file", "pickle"])
def test_a_forest_that_was_kept_has_the_same_bits(kind, form, tmp_path):
    model = fitted(kind, oob_score=True)
    assert model.feature_importances_.size > 0
    kept = (
        pickle.loads(pickle.dumps(model)) if form == "pickle" else eigenwood.load(eigenwood.save(model, tmp_path / "m"))
    )
    assert_learnt_the_same(kept, model)
    X = X_IRIS if kind is classifier else X_DIABETES
    np.testing.assert_array_equal(predictions(kept, X), predictions(model, X))
    np.testing.assert_array_equal(kept.feature_importances_, model.feature_importances_)
    if form == "file":
        with pytest.raises(AttributeError, match="estimators_samples_ is not kept in a model file"):
            kept.estimators_samples_  # noqa: B018
    else:
        np.testing.assert_array_equal(kept.estimators_samples_[3], model.estimators_samples_[3])


def test_a_file_is_small(tmp_path):
    model = RandomForestClassifier(50, random_state=0).fit(X_CANCER, Y_CANCER)
    theirs = sklearn.ensemble.RandomForestClassifier(50, random_state=0).fit(X_CANCER, Y_CANCER)
    path = eigenwood.save(model, tmp_path / "model")
    nodes, their_nodes = int(model.forest_.node_start[-1]), sum(tree.tree_.node_count for tree in theirs)
    assert path.stat().st_size / nodes < len(pickle.dumps(theirs)) / their_nodes / 5
    model.predict(X_CANCER)
    assert len(pickle.dumps(model)) < len(pickle.dumps(theirs)) / 3


@pytest.mark.parametrize(
    "params",
    [{}, {"oob_score": True}, {"bootstrap": False}, {"class_weight": "balanced_subsample"}, {"ccp_alpha": 0.01}],
    ids=str,
)
def test_a_forest_can_be_verified(params):
    model = classifier(n_estimators=12, n_jobs=2, **params).fit(X_IRIS, WORDS)
    again = eigenwood.verify(model, X_IRIS, WORDS)
    assert again.holds
    names = ["stated numbers", "rows", "values", "impurity", "questions", "best questions", "leaves", "first tree"]
    if "ccp_alpha" in params:  # all trees are grown again
        names.remove("leaves")
        assert "12 trees" in again["first tree"].statement
    assert [claim.name for claim in again][-1 - len(names) :] == [*names, "certificate"]
    if "oob_score" in params:
        assert again.claims[: -2 - len(names)] == model.certificate_.claims
        assert again["stated score"].value == 0.0


@pytest.mark.parametrize("metric", [True, share_right])
@pytest.mark.parametrize("bagging", [False, True])
def test_a_score_that_was_tampered_with_is_noticed(bagging, metric):
    kind = BaggingClassifier if bagging else RandomForestClassifier
    model = kind(n_estimators=30, oob_score=metric, random_state=0).fit(X_IRIS, Y_IRIS)
    assert eigenwood.verify(model, X_IRIS, Y_IRIS).holds
    for name, change in (("oob_score_", 0.001), ("oob_interval_", [0.0, 1e-6])):
        honest = getattr(model, name)
        setattr(model, name, honest + change)
        again = eigenwood.verify(model, X_IRIS, Y_IRIS)
        assert [claim.name for claim in again if not claim.holds] == ["stated score"]
        delattr(model, name)
        assert not eigenwood.verify(model, X_IRIS, Y_IRIS).holds
        setattr(model, name, honest)


@pytest.mark.parametrize(
    "params", [{}, {"criterion": "absolute_error"}, {"criterion": "poisson"}, {"monotonic_cst": [1] + 9 * [0]}], ids=str
)
def test_a_forest_of_numbers_can_be_verified(params):
    assert eigenwood.verify(fitted(regressor, min_samples_leaf=3, **params), X_DIABETES, Y_DIABETES).holds


@both
def test_other_rows_are_noticed(kind):
    model = fitted(kind)
    X, y = (X_IRIS, Y_IRIS) if kind is classifier else (X_DIABETES, Y_DIABETES)
    other = y.copy()
    other[::7] = np.roll(other[::7], 1)
    assert not eigenwood.verify(model, X, other).holds
    assert not eigenwood.verify(model, X[:-1], y[:-1]).holds
    assert not eigenwood.verify(model, X + 0.5 * (np.arange(X.shape[1]) == 2), y).holds


@pytest.mark.parametrize("bagging", [False, True])
def test_classes_in_another_order_are_noticed(bagging):
    model = BaggingClassifier(n_estimators=5, random_state=0) if bagging else classifier(n_estimators=5)
    model.fit(X_IRIS, Y_IRIS)
    model.classes_ = model.classes_[[1, 2, 0]]
    with pytest.raises(InputError, match="classes_ must be in order"):
        eigenwood.verify(model, X_IRIS, Y_IRIS)


@pytest.mark.parametrize("number", [0, 5])
def test_a_tree_that_was_tampered_with_is_noticed(number):
    model = fitted(regressor, min_samples_leaf=5)
    first_leaf = int(model.forest_.node_start[number] + number) // 2
    assert model.forest_.value_code.size == 0
    model.forest_.value[first_leaf + 3] += 1.0
    broken = eigenwood.verify(model, X_DIABETES, Y_DIABETES)
    assert [claim.name for claim in broken if not claim.holds] == ["values", "impurity"]
    model = fitted(regressor)
    first_question = int(model.forest_.node_start[number] - number) // 2
    model.forest_.feature[first_question] = (model.forest_.feature[first_question] + 1) % 10
    assert not eigenwood.verify(model, X_DIABETES, Y_DIABETES).holds


# ---------------------------------------------------------------------------------- scikit-learn's world


def test_readers_of_trees_can_read_ours():
    model = fitted(classifier, max_depth=2)
    assert "class: " in sklearn.tree.export_text(model[0])
    assert isinstance(model, sklearn.ensemble.RandomForestClassifier)
    found = partial_dependence(fitted(regressor, max_depth=4), X_DIABETES, [2], method="recursion", grid_resolution=5)
    slow = partial_dependence(fitted(regressor, max_depth=4), X_DIABETES, [2], method="brute", grid_resolution=5)
    np.testing.assert_allclose(found["average"], slow["average"], rtol=0.1)


BAD = {
    "no trees": ({"n_estimators": 0}, "n_estimators must be an integer at least 1"),
    "a share of features": ({"max_features": 1.5}, "max_features must be"),
    "another metric": ({"oob_score": "beauty"}, "oob_score must be"),
    "no draws": ({"max_samples": 0}, "max_samples must be"),
    "a share of none": ({"max_samples": 0.0}, "max_samples must be"),
    "a score of all rows": ({"bootstrap": False, "oob_score": True}, "Out of bag estimation only available if"),
    "a draw of all rows": ({"bootstrap": False, "max_samples": 5}, "`max_sample` cannot be set if `bootstrap=False`"),
    "features by all rows": ({"bootstrap": False, "max_features": "oob"}, "max_features='oob' is only available if"),
    "signs": ({"monotonic_cst": [1, 0]}, "monotonic_cst has shape 2"),
    "more draws than can be": ({"max_samples": 10**10}, "max_samples must come to at most"),
}


@both
@pytest.mark.parametrize(("params", "words"), BAD.values(), ids=BAD)
def test_bad_parameters_are_refused_in_one_sentence(kind, params, words):
    with pytest.raises(InputError) as caught:
        kind(**params).fit(X_IRIS, Y_IRIS > 0)
    assert words in str(caught.value)
    assert_one_sentence(str(caught.value).replace(". Either", "; either"))


@both
def test_bad_queries_are_refused_in_one_sentence(kind):
    model = fitted(kind)
    n_features = model.n_features_in_
    for X in (np.full((1, n_features), np.inf), np.zeros((1, n_features + 1)), [["a"] * n_features], np.zeros((0, 4))):
        for ask in (model.predict, model.apply):
            with pytest.raises(ValueError) as caught:  # noqa: PT011
                ask(X)
            assert_one_sentence(str(caught.value))


def test_nothing_is_said_without_need():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RandomForestClassifier(30, oob_score=True, random_state=0, n_jobs=2).fit(X_IRIS, Y_IRIS).predict(X_IRIS)


# ---- bins ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_a_column_with_more_values_than_bins_is_cut_into_bins_and_it_is_said(kind):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random(400), rng.integers(0, 5, size=400)])
    y = (X[:, 0] > 0.5).astype(int)
    forests = {
        bins: kind(5, max_features=None, random_state=0, max_bins=bins).fit(X, y) for bins in (10, 400, 4096, None)
    }
    assert [forest.certificate_["quantile bins"].value for forest in forests.values()] == [1, 0, 0, 0]
    thresholds = {
        bins: {*np.concatenate([tree.tree_.threshold[tree.tree_.feature == 0] for tree in forest])}
        for bins, forest in forests.items()
    }
    assert thresholds[400] == thresholds[4096] == thresholds[None]
    for forest in forests.values():
        assert eigenwood.verify(forest, X, y).holds
    column = np.sort(X[:, 0]).reshape(10, 40)  # a bin in each line
    middles = {0.5 * low.max() + 0.5 * high.min() for i, low in enumerate(column) for high in column[i + 1 :]}
    assert thresholds[10]
    assert thresholds[10] <= middles


@pytest.mark.parametrize("bins", [0, 1, 65_537, 2.5, "many"])
def test_bins_that_are_none(bins):
    with pytest.raises(InputError, match="max_bins"):
        RandomForestClassifier(2, max_bins=bins).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("n_rows", "settings", "sizes"),
    [
        (400, {}, [10, 10, 3]),
        (3000, {}, [1] * 23),
        (5000, {}, []),
        (400, {"class_weight": "balanced"}, []),
        (400, {"bootstrap": False}, []),
        (400, {"max_leaf_nodes": 5}, []),
        (400, {"ccp_alpha": 0.01}, []),
        (400, {"time_limit": 100.0}, [10, 10, 3]),
    ],
    ids=str,
)
def test_small_trees_that_differ_only_in_their_draws_grow_many_in_one_call(monkeypatch, n_rows, settings, sizes):
    """A tree costs Python more than its rows take: 50 trees of 400 rows took four times as long one by one."""
    found = []

    def noted(context, bootstrap, draw_seeds, seeds, workspaces):
        found.append(seeds.size)
        return grow_batch(context, bootstrap, draw_seeds, seeds, workspaces)

    monkeypatch.setattr(fitting, "grow_batch", noted)
    X = np.random.default_rng(0).normal(size=(n_rows, 4))
    model = RandomForestClassifier(23, max_depth=3, random_state=0, **settings).fit(X, X[:, 0] > 0)
    assert (sorted(found, reverse=True), len(model)) == (sizes, 23)
