"""Gradient boosting: losses, constraints, rows held out, and what scikit-learn's does on the same rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import ensemble as scikit
from sklearn.datasets import load_diabetes, load_iris, make_friedman1
from sklearn.metrics import log_loss, mean_pinball_loss

from eigenwood import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    verify,
)
from eigenwood.errors import InputError
from eigenwood.estimators.boosting.input_checks import feature_groups
from tests.estimators.exam import assert_learnt_the_same

X, y = make_friedman1(400, noise=1.0, random_state=0)
COUNTS = np.round(y)
TWO, THREE = (y > 14).astype(int), np.digitize(y, [11, 16])


def regressor(**params):
    return GradientBoostingRegressor(**{"n_estimators": 20, **params})


def classifier(**params):
    return GradientBoostingClassifier(**{"n_estimators": 20, **params})


# ---- what is learnt -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_training_losses_are_near_those_of_scikit_learn(loss):
    ours = GradientBoostingRegressor(loss=loss).fit(X, y)
    theirs = scikit.GradientBoostingRegressor(loss=loss, random_state=0).fit(X, y)
    assert ours.train_score_[-1] == pytest.approx(theirs.train_score_[-1], rel=0.15)
    assert ours.train_score_[0] == pytest.approx(theirs.train_score_[0], rel=0.05)


def test_it_predicts_as_well_as_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    ours, theirs = (
        model.fit(X[::2], y[::2]).score(X[1::2], y[1::2])
        for model in (
            GradientBoostingRegressor(n_estimators=50),
            scikit.GradientBoostingRegressor(n_estimators=50, random_state=0),
        )
    )
    assert ours > theirs - 0.03


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
def test_classes_are_learnt(loss):
    model = classifier(loss=loss, n_estimators=50).fit(X[:200], TWO[:200])
    assert model.score(X[200:], TWO[200:]) > 0.8
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(shares.argmax(axis=1), model.predict(X))
    assert log_loss(TWO[200:], shares[200:]) < 0.5


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    model = classifier().fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9
    assert model.decision_function(X).shape == (150, 3)
    assert model.n_trees_per_iteration_ == 3
    assert model.train_score_[-1] == pytest.approx(log_loss(y[::2], model.predict_proba(X[::2])), rel=1e-6)


def test_quantiles_never_cross():
    shares = [0.1, 0.5, 0.9]
    model = regressor(loss="quantile", alpha=shares, n_estimators=60).fit(X, y)
    predicted = model.predict(X)
    assert predicted.shape == (400, 3)
    assert (np.diff(predicted, axis=1) >= 0).all()
    np.testing.assert_allclose((y[:, None] <= predicted).mean(axis=0), shares, atol=0.06)
    alone = regressor(loss="quantile", alpha=0.5, n_estimators=60).fit(X, y)
    assert mean_pinball_loss(y, predicted[:, 1], alpha=0.5) <= alone.train_score_[-1] + 1e-6
    assert_learnt_the_same(regressor(loss="quantile", quantile=shares, n_estimators=60).fit(X, y), model)


def test_a_loss_that_is_a_function():
    own = regressor(loss=lambda y, score: (score - y, np.ones(y.size))).fit(X, y)
    known = regressor(init="zero").fit(X, y)
    np.testing.assert_array_equal(own.predict(X), known.predict(X))
    assert verify(own, X, y).holds
    assert not hasattr(own, "train_score_")


def logistic(codes, score):
    shares = 1.0 / (1.0 + np.exp(-score))
    return shares - codes, shares * (1.0 - shares)


def test_a_loss_that_is_a_function_of_two_classes():
    labels = np.where(TWO == 1, "yes", "no")
    own = classifier(loss=logistic, learning_rate=0.02).fit(X, labels)
    known = classifier(init="zero", learning_rate=0.02).fit(X, labels)
    np.testing.assert_allclose(own.predict_proba(X), known.predict_proba(X), atol=0.02)
    assert own.score(X, labels) > 0.85
    assert own.certificate_.holds
    assert verify(own, X, labels).holds


def test_counts_are_never_below_zero():
    model = regressor(loss="poisson").fit(X, COUNTS)
    assert model.predict(X).min() > 0
    assert model.predict(X).mean() == pytest.approx(COUNTS.mean(), rel=0.02)


def test_a_constant_target():
    model = regressor().fit(X, np.full(400, 3.25))
    np.testing.assert_array_equal(model.predict(X), np.full(400, 3.25))
    assert model.feature_importances_.sum() == 0.0


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (regressor(), y),
        (regressor(loss="quantile", alpha=[0.2, 0.8]), y),
        (classifier(), TWO),
        (classifier(), THREE),
        (regressor(init=DecisionTreeRegressor(max_depth=2)), y),
    ],
)
def test_scores_are_the_sum_of_the_trees(model, target):
    model.fit(X, target)
    raw = np.column_stack([sum(tree.predict(X) for tree in trees) for trees in model.estimators_.T]) + model.baseline_
    raw = raw + model.init_.predict(X)[:, None] if hasattr(model, "init_models_") else raw
    np.testing.assert_allclose(model._raw(X), raw, rtol=1e-9, atol=1e-12)
    *_, last = model._staged_raw(X)
    np.testing.assert_allclose(last, raw, rtol=1e-9, atol=1e-12)
    assert len(list(model.staged_predict(X))) == model.n_estimators_ == 20


def test_many_rows_are_predicted_as_few():
    model = regressor(loss="quantile", alpha=[0.2, 0.5, 0.8], n_estimators=100).fit(X, y)
    many = np.tile(X, (40, 1))
    np.testing.assert_array_equal(model.predict(many)[:400], np.vstack([model.predict(row[None]) for row in X]))
    assert "batch_forest" in model._cache


def test_leaves_and_importances():
    model = classifier().fit(X, THREE)
    assert model.apply(X).shape == (400, 20, 3)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert set(np.argsort(model.feature_importances_)[-5:]) == {0, 1, 2, 3, 4}


# ---- where boosting begins ----------------------------------------------------------------------------------------


def test_it_begins_where_another_estimator_ends():
    tree = DecisionTreeRegressor(max_depth=2, random_state=0)
    model = regressor(init=tree).fit(X, y)
    rest = y - tree.fit(X, y).predict(X)
    alone = regressor(init="zero").fit(X, rest)
    np.testing.assert_allclose(model.predict(X), tree.predict(X) + alone.predict(X), rtol=1e-9, atol=1e-9)


def test_classes_may_begin_at_shares():
    model = classifier(init=DecisionTreeClassifier(max_depth=2, random_state=0), n_estimators=2).fit(X, THREE)
    assert model.score(X, THREE) >= model.init_.score(X, THREE)


def test_a_warm_start_is_one_fit():
    for params in ({}, {"max_features": 3, "subsample": 0.5, "random_state": 0}, {"loss": "huber"}):
        model = regressor(warm_start=True, n_estimators=7, **params).fit(X, y)
        model.set_params(n_estimators=20).fit(X, y)
        at_once = regressor(**params).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), at_once.predict(X))
        np.testing.assert_array_equal(model.train_score_, at_once.train_score_)


# ---- constraints, columns -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile", "poisson"])
def test_predictions_rise_where_they_must(loss):
    model = regressor(monotonic_cst=[1, -1, *[0] * 8], n_estimators=50, loss=loss).fit(X, COUNTS)
    assert verify(model, X, COUNTS).holds
    for j, sign in ((0, 1), (1, -1)):
        rows = np.repeat(X[:20], 30, axis=0)
        rows[:, j] = np.tile(np.linspace(0, 1, 30), 20)
        assert (sign * np.diff(model.predict(rows).reshape(20, 30), axis=1) >= -1e-12).all()


@pytest.mark.parametrize("groups", ["no_interactions", "pairwise", [[0, 1, 2], [1, 3]]])
def test_columns_of_a_way_are_of_one_group(groups):
    model = regressor(interaction_cst=groups, max_depth=4).fit(X, y)
    allowed = feature_groups(groups, 10)
    for tree in model.estimators_[:, 0]:
        for way in ways(tree.nodes_):
            assert any(way <= group for group in allowed)


def ways(nodes):
    """Return the columns that are asked on the way to each leaf."""
    found, waiting = [], [(0, frozenset())]
    while waiting:
        node, way = waiting.pop()
        if nodes.left[node] == -1:
            found.append(way)
            continue
        way = way | {int(nodes.feature[node])}
        waiting += [(nodes.left[node], way), (nodes.right[node], way)]
    return found


def test_a_leaf_has_its_least_weight():
    weights = np.random.default_rng(0).random(400) + 0.1
    for sample_weight in (None, weights):
        model = regressor(min_weight_fraction_leaf=0.1, max_depth=6).fit(X, y, sample_weight)
        total = 400 if sample_weight is None else weights.sum()
        for tree in model.estimators_[:, 0]:
            assert tree.nodes_.weight.min() >= 0.1 * total * (1 - 1e-9)


def test_sparse_rows():
    holes = np.where(X > 0.4, X, 0.0)
    dense, thin = (regressor().fit(rows, y) for rows in (holes, sparse.csr_array(holes)))
    assert_learnt_the_same(dense, thin)
    np.testing.assert_array_equal(dense.predict(holes), thin.predict(sparse.csc_array(holes)))


def test_what_was_never_missing_goes_with_the_most():
    model = regressor(n_estimators=1, max_depth=1).fit([[0.0], [1.0], [2.0], [9.0]], [0.0, 0.0, 0.0, 8.0])
    assert model.predict([[np.nan]]) == model.predict([[0.0]])
    model.fit([[0.0], [0.0], [9.0], [np.nan]], [0.0, 0.0, 8.0, 8.0])
    assert model.predict([[np.nan]]) == model.predict([[9.0]])


# ---- rows held out ------------------------------------------------------------------------------------------------


def table_with_strangers():
    """Return rows to learn from, and others with a category and with holes that no row to learn from has."""
    rng = np.random.default_rng(0)
    colour = np.array(["red", "green", "blue"])[rng.integers(0, 3, 400)]
    table = pd.DataFrame({"a": X[:, 3], "b": X[:, 1].round(1), "colour": colour})
    target = y + 4.0 * (colour == "red")
    later = table[300:].copy()
    later.iloc[:20, 2] = "violet"
    later.iloc[10:40, 0] = np.nan
    return table[:300], target[:300], later, target[300:]


def test_given_rows_are_scored_as_they_are_predicted():
    X_fit, y_fit, X_val, y_val = table_with_strangers()
    model = regressor(tol=0.0).fit(X_fit, y_fit, X_val=X_val, y_val=y_val)
    errors = [np.mean((stage - y_val) ** 2) for stage in model.staged_predict(X_val)]
    np.testing.assert_allclose(-model.validation_score_[1:], errors, rtol=1e-6)
    classes = classifier().fit(X_fit, y_fit > 14, X_val=X_val, y_val=y_val > 14)
    shares = classes.predict_proba(X_val)
    assert -classes.validation_score_[-1] == pytest.approx(2 * log_loss(y_val > 14, shares), rel=1e-6)


@pytest.mark.parametrize(
    "params", [{}, {"scoring": "accuracy"}, {"scoring": None}, {"validation_fraction": 40}, {"subsample": 0.5}]
)
def test_the_best_round_is_kept(params):
    noisy = np.random.default_rng(0).integers(0, 2, 400)
    model = classifier(n_estimators=60, n_iter_no_change=5, random_state=0, max_depth=5, **params).fit(X, noisy)
    assert model.stop_reason_ == "early_stopping"
    assert model.validation_score_.size == model.n_iter_ + 1 == model.train_score_.size + 1
    assert model.validation_score_[1:].argmax() == model.n_iter_ - 1
    assert verify(model, X, noisy).holds


def test_stopping_by_the_training_rows():
    model = regressor(early_stopping=True, validation_fraction=None, tol=0.5, n_iter_no_change=2).fit(X, y)
    np.testing.assert_array_equal(-model.validation_score_[1:], model.train_score_)
    assert model.n_held_out_ == 0
    assert model.do_early_stopping_
    assert not regressor().fit(X, y).do_early_stopping_
    assert verify(model, X, y).holds


@pytest.mark.parametrize("params", [{"early_stopping": True}, {"subsample": 0.5}])
def test_draws_do_not_depend_on_the_order_of_rows(params):
    order = np.random.default_rng(1).permutation(400)
    weights = np.random.default_rng(2).integers(1, 3, 400)
    model = regressor(random_state=0, **params).fit(X, y, weights)
    copies = np.repeat(order, weights[order])
    other = regressor(random_state=0, **params).fit(X[copies], y[copies])
    np.testing.assert_array_equal(model.predict(X), other.predict(X))
    np.testing.assert_array_equal(model.train_score_, other.train_score_)


def test_rows_out_of_bag():
    model = regressor(subsample=0.5, random_state=0).fit(X, y)
    assert model.oob_scores_.shape == model.oob_improvement_.shape == (20,)
    assert model.oob_score_ == model.oob_scores_[-1] < model.oob_scores_[0]
    assert model.oob_improvement_[:5].min() > 0


# ---- bad input ----------------------------------------------------------------------------------------------------

BAD = {
    "poisson below 0": (regressor(loss="poisson"), -COUNTS, "non-negative"),
    "poisson all 0": (regressor(loss="poisson"), 0.0 * y, r"and sum\(y\) > 0; got a least y of 0 and a sum of 0"),
    "exponential, 3 classes": (classifier(loss="exponential"), THREE, "only suitable for a binary classification"),
    "one class": (classifier(), np.ones(400), "at least 2 classes"),
    "class of no weight": (classifier(class_weight={0: 0.0, 1: 1.0, 2: 1.0}), THREE, "above 0 for every class; got 0"),
    "quantiles that fall": (regressor(loss="quantile", alpha=[0.9, 0.1]), y, "that rise"),
    "a quantile of 1": (regressor(loss="quantile", alpha=1.0), y, "alpha must be a number above 0 and below 1"),
    "NaN": (regressor(loss=lambda y, score: (np.nan * y, y)), y, "finite gradient; got nan"),
    "wrong shape": (regressor(loss=lambda y, score: (y, y[1:])), y, r"hessian of shape \(400,\); got \(399,\)"),
    "words for gradients": (regressor(loss=lambda y, score: ("a", y)), y, "a gradient of real numbers; got 'a'"),
    "a complex hessian": (regressor(loss=lambda y, score: (y, y * 1j)), y, "a hessian of real numbers; got"),
    "nothing": (regressor(loss=lambda y, score: None), y, "as a tuple; got NoneType"),
    "several shares": (regressor(loss="huber", alpha=[0.1, 0.9]), y, "must be one number when loss='huber'"),
    "a loss for classes": (regressor(loss="log_loss"), y, "loss must be one of 'squared_error', .*; got 'log_loss'"),
    "a loss for amounts": (classifier(loss="squared_error"), TWO, "loss must be one of 'log_loss', 'exponential'"),
    "own loss, 3 classes": (classifier(loss=logistic), THREE, "loss=a function is only suitable for a binary"),
    "one array for classes": (classifier(loss=lambda y, score: y), TWO, "as a tuple; got ndarray"),
    "one array": (regressor(loss=lambda y, score: y), y, "as a tuple; got ndarray"),
    "hessian below 0": (regressor(loss=lambda y, score: (y, -np.ones(400))), y, "hessian of at least 0; got -1"),
    "loss of nobody": (
        regressor(loss=lambda y, score: (score - y, np.ones(y.size)), n_iter_no_change=2),
        y,
        "scoring must be a metric",
    ),
    "no such column": (
        regressor(interaction_cst=[[0, 10]]),
        y,
        r"integer indices in \[0, n_features - 1\] = \[0, 9\], .*; got 10",
    ),
    "no such group": (regressor(interaction_cst=[0, 1]), y, "must be a sequence of tuples or lists"),
    "half a column": (regressor(interaction_cst=[{0.5}]), y, "integer indices in .*; got 0.5"),
    "pruning": (regressor(ccp_alpha=0.1), y, "ccp_alpha must be a number at least 0 and at most 0"),
    "init without shares": (
        classifier(init=DecisionTreeRegressor()),
        TWO,
        "implementing 'fit' and 'predict_proba'; got DecisionTreeRegressor",
    ),
    "init and warm start": (regressor(init=DecisionTreeRegressor(), warm_start=True), y, "None or 'zero'"),
    "a metric for classes": (regressor(n_iter_no_change=2, scoring="accuracy"), y, "scoring must be a metric for"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_one_sentence(name):
    model, target, words = BAD[name]
    with pytest.raises(InputError, match=words) as caught:
        model.fit(X, target)
    assert str(caught.value).startswith(type(model).__name__)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile", "poisson"])
def test_a_constant_target_is_learnt(loss):
    model = regressor(loss=loss, n_estimators=3).fit(X, np.full(400, 2.0))
    np.testing.assert_allclose(model.predict(X), 2.0)
    assert verify(model, X, np.full(400, 2.0)).holds
    assert model.feature_gains_.dtype == np.float64


def test_a_class_of_weight_zero_is_not_there():
    model = classifier(n_estimators=3).fit(X, THREE, (THREE > 0).astype(float))
    assert model.classes_.tolist() == [1, 2]
    with pytest.raises(InputError, match="at least 2 classes"):
        classifier().fit(X, TWO, (TWO > 0).astype(float))


def test_one_class_in_a_validation_set():
    """Its loss is known; a metric that needs two classes is refused."""
    own = TWO == 1
    model = classifier(n_estimators=5).fit(X, TWO, X_val=X[own], y_val=TWO[own])
    assert np.isfinite(model.validation_score_).all()
    refused = pytest.raises(InputError, match="scoring must give finite numbers; got nan")
    with refused, pytest.warns(UserWarning, match="Only one class"):
        classifier(scoring="roc_auc").fit(X, TWO, X_val=X[own], y_val=TWO[own])
    with pytest.raises(InputError, match="y must hold only the classes"):
        classifier().fit(X, TWO, X_val=X, y_val=TWO + 1)


@pytest.mark.parametrize("target", [[0, 1], [0, 0, 0, 1]])
def test_too_few_rows_to_stop_by(target):
    with pytest.raises(InputError, match="needs rows to learn from, of every class"):
        classifier(early_stopping=True, validation_fraction=0.1).fit(X[: len(target)], target)


def test_a_validation_set_that_is_not_whole():
    for given in ({"X_val": X}, {"y_val": y}, {"sample_weight_val": y}):
        with pytest.raises(InputError, match="must be given"):
            regressor().fit(X, y, **given)
    with pytest.raises(InputError, match="early_stopping is False"):
        regressor(early_stopping=False).fit(X, y, X_val=X, y_val=y)
