"""AdaBoost's faces: scikit-learn's numbers, any learner, shortened runs, categories, bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import AdaBoostClassifier as ScikitClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier as ScikitTree

import eigenwood
from eigenwood import AdaBoostClassifier, AdaBoostRegressor, DecisionTreeClassifier, DecisionTreeRegressor
from eigenwood.errors import InputError


def blobs(n_classes=2, n_rows=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    score = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n_rows)
    return X, np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))


# ---- beside scikit-learn


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_numbers_of_scikit_learn_with_the_same_learners(n_classes):
    """Its tree is asked by both, so that all that differs is the boosting."""
    X, y = blobs(n_classes)
    tree = ScikitTree(max_depth=3, random_state=0)
    ours = AdaBoostClassifier(tree, n_estimators=12, learning_rate=0.5, random_state=0).fit(X, y)
    theirs = ScikitClassifier(tree, n_estimators=12, learning_rate=0.5, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[: len(ours)], rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_[: len(ours)], rtol=1e-9)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    importances = [learner.feature_importances_ for learner in ours.estimators_]
    expected = np.average(importances, axis=0, weights=ours.estimator_weights_)
    np.testing.assert_allclose(ours.feature_importances_, expected)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_stumps_are_at_least_as_good_as_those_of_scikit_learn(n_classes):
    """It looks for the smallest Gini impurity, we for the smallest error; the first error shows it."""
    X, y = blobs(n_classes)
    ours = AdaBoostClassifier(n_estimators=1).fit(X, y)
    theirs = ScikitClassifier(n_estimators=1).fit(X, y)
    assert ours.estimator_errors_[0] <= theirs.estimator_errors_[0] + 1e-12


# ---- predictions


@pytest.mark.parametrize("algorithm", ["discrete", "real"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", [None, DecisionTreeClassifier(max_depth=2)])
def test_stages_end_where_predictions_are(learner, n_classes, algorithm):
    X, y = blobs(n_classes)
    model = AdaBoostClassifier(learner, n_estimators=8, algorithm=algorithm, random_state=0).fit(X, y)
    for name in ("decision_function", "predict_proba", "predict"):
        *_, last = getattr(model, f"staged_{name}")(X)
        np.testing.assert_allclose(last, getattr(model, name)(X), atol=1e-12)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), proba.argmax(axis=1))
    assert model.train_errors_[-1] >= np.mean(model.predict(X) != y) - 1e-12
    assert len(list(model.staged_score(X, y))) == len(model) == 8


def test_stumps_one_by_one_say_what_the_model_says():
    X, y = blobs()
    model = AdaBoostClassifier(n_estimators=7).fit(X, y)
    pred = sum(w * (2 * stump.predict(X) - 1) for w, stump in zip(model.estimator_weights_, model, strict=True))
    np.testing.assert_allclose(model.decision_function(X), 2 * pred / model.estimator_weights_.sum(), atol=1e-12)


def test_a_sparse_matrix_and_a_dense_one_are_the_same():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((200, 30)) < 0.9, 0.0, rng.integers(1, 5, size=(200, 30)))
    y = (X[:, :5].sum(axis=1) + rng.normal(size=200) > 1).astype(int)
    dense, given = AdaBoostClassifier().fit(X, y), AdaBoostClassifier().fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(dense.estimator_errors_, given.estimator_errors_)
    np.testing.assert_array_equal(dense.predict_proba(X), given.predict_proba(sparse.csr_matrix(X)))


def test_categories_and_holes():
    """What was never seen goes with the heavier side; what is missing goes where it helps."""
    frame = pd.DataFrame(
        {"colour": ["red", "blue", "red", "green", None, "blue"] * 5, "size": [1.0, 2, 3, 4, 5, 6] * 5}
    )
    y = np.array([1, 0, 1, 0, 1, 0] * 5)
    model = AdaBoostClassifier().fit(frame, y)
    assert (len(model), model.stop_reason_, model.score(frame, y)) == (1, "perfect", 1.0)
    fresh = pd.DataFrame({"colour": ["pilot"], "size": [1.0]})
    assert model.predict(fresh).size == 1
    holes = np.array([[1.0], [2.0], [np.nan], [np.nan], [3.0]])
    assert AdaBoostClassifier().fit(holes, [0, 0, 1, 1, 0]).score(holes, [0, 0, 1, 1, 0]) == 1.0


# ---- any learner


@pytest.mark.parametrize("algorithm", ["discrete", "real"])
@pytest.mark.parametrize("resample", [False, True])
def test_any_classifier_can_be_boosted(algorithm, resample):
    X, y = blobs()
    names = np.array(["no", "yes"])[y]
    for learner in (LogisticRegression(), KNeighborsClassifier(15), DecisionTreeClassifier(max_depth=2)):
        model = AdaBoostClassifier(learner, n_estimators=5, algorithm=algorithm, resample=resample, random_state=0)
        model.fit(X, names)
        assert model.score(X, names) > 0.6
        assert eigenwood.verify(model, X, names).holds


def test_our_trees_learn_from_codes_that_are_made_once():
    """The same trees as those that are given rows and weights."""
    X, y = blobs(3)

    class Plain(DecisionTreeClassifier):
        """The same tree, which the shared codes do not know."""

    shared, plain = (
        AdaBoostClassifier(tree(max_depth=3), n_estimators=6, random_state=0).fit(X, y)
        for tree in (DecisionTreeClassifier, Plain)
    )
    np.testing.assert_allclose(shared.estimator_errors_, plain.estimator_errors_, rtol=1e-9)
    for tree in shared:  # whole numbers, from which trees grow in half the time
        np.testing.assert_array_equal(tree.nodes_.weight, np.round(tree.nodes_.weight))


def test_a_learner_without_shares_cannot_be_real():
    with pytest.raises(InputError) as caught:
        AdaBoostClassifier(LinearSVC(), algorithm="real").fit(*blobs())
    must = "AdaBoostClassifier: algorithm must be 'discrete' for a learner without predict_proba"
    assert str(caught.value) == f"{must}; got 'real' and LinearSVC."


# ---- how rounds end


def test_a_perfect_stump_ends_it():
    X = np.arange(8.0)[:, None]
    model = AdaBoostClassifier().fit(X, X[:, 0] > 3)
    assert (model.stop_reason_, len(model), model.estimator_weights_.tolist()) == ("perfect", 1, [1.0])
    assert model.estimator_errors_.tolist() == [0.0]
    assert eigenwood.verify(model, X, X[:, 0] > 3).holds


def test_nothing_can_be_learnt():
    X, y = np.zeros((4, 1)), [0, 1, 0, 1]
    for model in (AdaBoostClassifier(), AdaBoostClassifier(DecisionTreeClassifier())):
        model.fit(X, y)
        assert (model.stop_reason_, model.estimator_weights_.tolist()) == ("no_edge", [0.0])
        np.testing.assert_allclose(model.predict_proba(X), 0.5)
        assert eigenwood.verify(model, X, y).holds


def test_weights_of_zero_for_a_class():
    X, y = blobs()
    with pytest.raises(InputError, match="at least 2 classes"):
        AdaBoostClassifier().fit(X, y, sample_weight=(y == 0).astype(float))
    with pytest.raises(InputError, match="at least 2 classes"):
        AdaBoostClassifier(DecisionTreeClassifier()).fit(X, y, sample_weight=(y == 0).astype(float))


def test_a_verifier_does_not_need_the_seed():
    X, y = blobs()
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2, max_features=2), n_estimators=4, resample=True)
    assert eigenwood.verify(model.fit(X, y), X, y).holds


# ---- AdaBoost.R2


def drucker(X, y, learner, n_rounds, drawn):
    """Return errors and weights of AdaBoost.R2 with a square loss, from its paper, for draws that are given."""
    w, errors, alphas = np.ones(len(y)) / len(y), [], []
    for t in range(n_rounds):
        rows = drawn(t, w / w.sum())
        pred = learner().fit(X[rows], y[rows]).predict(X)
        off = np.abs(pred - y)
        losses = (off / off.max()) ** 2
        error = float((w / w.sum()) @ losses)
        if error >= 0.5:
            break
        beta = error / (1 - error)
        w = w * beta ** (1 - losses)
        errors.append(error)
        alphas.append(np.log(1 / beta))
    return errors, alphas


def test_r2_is_that_of_its_paper(monkeypatch):
    """With all rows in the place of a draw, so that learners are the same."""
    X, _ = blobs()
    y = X[:, 0] * X[:, 1]
    everything = np.ones(len(y), dtype=np.int64)
    monkeypatch.setattr("eigenwood.estimators.adaboost.fitting.drawn_counts", lambda *_: everything)
    model = AdaBoostRegressor(n_estimators=6, loss="square", random_state=0).fit(X, y)
    errors, alphas = drucker(X, y, lambda: DecisionTreeRegressor(max_depth=3), 6, lambda t, w: np.arange(len(y)))
    np.testing.assert_allclose(model.estimator_errors_, errors, rtol=1e-9)
    np.testing.assert_allclose(model.estimator_weights_, alphas, rtol=1e-9)


def test_medians_are_those_of_scikit_learn():
    X, _ = blobs()
    y = X[:, 0] + X[:, 1] ** 2
    model = AdaBoostRegressor(n_estimators=9, random_state=0).fit(X, y)
    predictions = np.array([tree.predict(X) for tree in model])
    order = predictions.argsort(axis=0)
    weights = model.estimator_weights_[order].cumsum(axis=0)
    first = (weights >= 0.5 * weights[-1]).argmax(axis=0)
    np.testing.assert_array_equal(model.predict(X), np.take_along_axis(predictions, order, 0)[first, np.arange(len(X))])
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))
    assert model.score(X, y) > 0.8
    assert model.feature_importances_.argmax() in (0, 1)


def test_the_largest_error_ignores_rows_of_weight_zero():
    X = np.arange(20.0)[:, None]
    y = np.sin(X[:, 0])
    far = np.append(y, 1e6)
    weights = np.append(np.ones(20), 0.0)
    one = AdaBoostRegressor(random_state=0).fit(X, y)
    other = AdaBoostRegressor(random_state=0).fit(np.vstack([X, [[5.0]]]), far, sample_weight=weights)
    np.testing.assert_array_equal(one.estimator_errors_, other.estimator_errors_)


def test_constant_numbers_end_it_at_once():
    X = np.arange(6.0)[:, None]
    model = AdaBoostRegressor().fit(X, np.full(6, 2.5))
    assert (model.stop_reason_, len(model)) == ("perfect", 1)
    assert model.predict(X).tolist() == [2.5] * 6


def test_several_columns_of_numbers_are_refused():
    X, _ = blobs()
    with pytest.raises(InputError) as caught:
        AdaBoostRegressor().fit(X, X[:, :2])
    assert str(caught.value) == "AdaBoostRegressor: y must be one column of numbers; got 2 columns."


def test_columns_of_missing_numbers_alone():
    X, y = np.full((35, 2), np.nan), np.repeat([0, 1, 2], [20, 10, 5])
    model = AdaBoostClassifier(n_estimators=2).fit(X, y)
    assert set(model.predict(X)) == {0}
    assert eigenwood.verify(model, X, y).holds
    X[:, 0] = y
    assert AdaBoostClassifier().fit(X, y).score(X, y) == AdaBoostClassifier().fit(X[:, :1], y).score(X[:, :1], y)
