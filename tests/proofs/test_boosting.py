"""The claims about gradient boosting: true ones hold, and each kind of wrong model breaks the claim about it."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1

from eigenwood import GradientBoostingClassifier, GradientBoostingRegressor, verify
from eigenwood.core.boosting.losses import (
    ABSOLUTE,
    EXPONENTIAL,
    HUBER,
    LOGISTIC,
    POISSON,
    QUANTILE,
    SOFTMAX,
    SQUARED,
    mean_loss,
)
from eigenwood.proofs.boosting import gradients_of, round_draw

X, y = make_friedman1(300, noise=1.0, random_state=0)
COUNTS, TWO, THREE = np.round(y), (y > 14).astype(float), np.digitize(y, [11, 16]).astype(float)


@pytest.mark.parametrize(
    ("loss", "target"),
    [
        (SQUARED, y),
        (ABSOLUTE, y),
        (HUBER, y),
        (QUANTILE, y),
        (POISSON, COUNTS),
        (LOGISTIC, TWO),
        (EXPONENTIAL, TWO),
        (SOFTMAX, THREE),
    ],
)
def test_gradients_are_the_slopes_of_losses(loss, target):
    rng, step, delta = np.random.default_rng(0), 1e-5, 0.7
    scores = rng.normal(size=(3 if loss == SOFTMAX else 1, 5))

    def total(scores):
        return 5.0 * mean_loss(loss, target[:5], scores, np.empty(0), 0.3, delta)

    for k in range(len(scores)):
        g, h = gradients_of(loss, 0.3, delta, target[:5], scores, k)
        for i in range(5):
            ends = [scores.copy(), scores.copy()]
            ends[0][k, i] -= step
            ends[1][k, i] += step
            below, above = map(total, ends)
            assert (above - below) / (2 * step) == pytest.approx(g[i], rel=1e-4, abs=1e-6)
            if loss in (POISSON, LOGISTIC, EXPONENTIAL, SOFTMAX):
                curved = (above - 2 * total(scores) + below) / step**2
                assert curved == pytest.approx(h[i], rel=1e-2, abs=1e-3)


def test_a_draw_has_as_many_rows_as_are_wanted_each_as_often_as_another():
    drawn = [round_draw(7, number, 50, 20) for number in range(400)]
    assert all(rows.size == 20 and np.unique(rows).size == 20 for rows in drawn)
    assert np.abs(np.bincount(np.concatenate(drawn), minlength=50) / 400 - 0.4).max() < 0.12


MODELS = {
    "squared": GradientBoostingRegressor(n_estimators=12),
    "bounds": GradientBoostingRegressor(n_estimators=12, monotonic_cst=[1, -1, *[0] * 8]),
    "bounded medians": GradientBoostingRegressor(
        n_estimators=12, loss="absolute_error", monotonic_cst=[1, -1, *[0] * 8], learning_rate=1.0, max_depth=5
    ),
    "bounded huber": GradientBoostingRegressor(n_estimators=12, loss="huber", monotonic_cst=[1, -1, *[1] * 8]),
    "drawn": GradientBoostingRegressor(n_estimators=12, subsample=0.5, max_features=4, random_state=0),
    "quantiles": GradientBoostingRegressor(n_estimators=6, loss="quantile", alpha=[0.2, 0.8]),
    "huber": GradientBoostingRegressor(n_estimators=12, loss="huber"),
    "poisson": GradientBoostingRegressor(n_estimators=12, loss="poisson", l2_regularization=1.0),
    "categories": GradientBoostingRegressor(n_estimators=12, categorical_features=[9], max_bins=20),
    "logistic": GradientBoostingClassifier(n_estimators=12, class_weight="balanced"),
    "exponential": GradientBoostingClassifier(n_estimators=12, loss="exponential", max_leaf_nodes=5),
    "softmax": GradientBoostingClassifier(n_estimators=4),
}
TARGETS = {"poisson": COUNTS, "logistic": TWO, "exponential": TWO, "softmax": THREE}


def table(name):
    """Return the rows, with holes and a column of categories where something asks about them."""
    rows = X.copy()
    if name == "categories":
        rows[:, 9] = np.round(12 * rows[:, 9])
        rows[::7, 0] = np.nan
    return rows


@pytest.mark.parametrize("weighted", ["no", "whole", "any"])
@pytest.mark.parametrize("name", MODELS)
def test_a_right_model_holds(name, weighted):
    rng, rows, target = np.random.default_rng(0), table(name), TARGETS.get(name, y)
    weights = {"no": None, "whole": rng.integers(1, 4, 300), "any": rng.random(300) + 0.1}[weighted]
    model = MODELS[name].fit(rows, target, weights)
    assert model.certificate_.holds
    assert verify(model, rows, target, weights).holds


def broken_claims(model):
    return {claim.name for claim in verify(model, X, y) if claim.holds is False}


def test_splits_that_could_be_better_are_found():
    model = GradientBoostingRegressor(n_estimators=9, max_features=1, random_state=0).fit(X, y)
    assert broken_claims(model) == set()
    model.max_features, model.max_features_, model.seed_ = None, 10, 0
    assert broken_claims(model) == {"best splits"}


def categories(n_rows=300):
    """Return two columns of categories, of which each has its own mean."""
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 12, size=(n_rows, 2)).astype(float)
    means = 2.0 * rng.normal(size=(2, 12))
    return rows, means[0, rows[:, 0].astype(int)] + 0.3 * means[1, rows[:, 1].astype(int)] + rng.normal(size=n_rows)


def test_categories_that_could_be_split_better_are_found():
    """Of both columns together the best is asked; then one was drawn, and the other one is often better."""
    rows, target = categories()
    model = GradientBoostingRegressor(n_estimators=9, max_features=1, random_state=0, categorical_features=[0, 1])
    assert verify(model.fit(rows, target), rows, target).holds
    model.max_features, model.max_features_, model.seed_ = None, 2, 0
    assert {claim.name for claim in verify(model, rows, target) if claim.holds is False} == {"best splits"}


def test_another_set_of_categories_is_found():
    """The best cut of the order of categories is that of plain loops over all cuts, and a worse one falls short."""
    rows, target = categories()
    model = GradientBoostingRegressor(n_estimators=1, max_depth=1, learning_rate=1.0, categorical_features=[0, 1])
    assert verify(model.fit(rows, target), rows, target).holds
    tree = model.estimators_[0, 0].nodes_
    asked, listed = tree.feature[0], set(tree.categories.tolist())
    own = rows[:, asked].astype(int)
    order = sorted(range(12), key=lambda c: (target[own == c].sum() + 10.0 * target.mean()) / ((own == c).sum() + 10.0))
    gains = [split_gain(target, np.isin(own, order[:n])) for n in range(1, 12)]
    best = order[: 1 + int(np.argmax(gains))]
    assert listed in (set(best), set(order) - set(best))


def split_gain(target, is_left):
    rest = target - target.mean()
    return sum(rest[side].sum() ** 2 / side.sum() for side in (is_left, ~is_left))


def test_values_of_another_rate_are_found():
    model = GradientBoostingRegressor(n_estimators=9).fit(X, y)
    model.learning_rate = 0.11
    assert broken_claims(model) == {"leaf values"}


def test_trees_in_another_order_are_found():
    model = GradientBoostingRegressor(n_estimators=9, max_depth=1).fit(X, y)
    other = deepcopy(model)
    forest = model.forest_
    other.forest_ = forest._replace(value=forest.value[::-1].copy())
    assert {"leaf values", "losses"} <= broken_claims(other)


def test_losses_that_rose_are_found():
    model = GradientBoostingRegressor(n_estimators=9).fit(X, y)
    model.train_score_ = model.train_score_[::-1].copy()
    assert {"loss never rose", "losses"} <= broken_claims(model)


# ---- what hostile testing found ----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [GradientBoostingClassifier, GradientBoostingRegressor])
def test_a_table_of_one_feature(make):
    """A leaf asks about no feature: its constraint was looked up all the same."""
    target = TWO if make is GradientBoostingClassifier else y
    assert verify(make(n_estimators=3).fit(X[:, :1], target), X[:, :1], target).holds


@pytest.mark.parametrize("make", [GradientBoostingClassifier, GradientBoostingRegressor])
def test_rounds_without_a_question(make):
    """Gains were whole numbers there, and so the model was refused; leaves are 0 but for rounding."""
    target = TWO if make is GradientBoostingClassifier else y
    model = make(n_estimators=9, min_samples_leaf=5).fit(X[:6], target[:6], [3, 0.5, 1, 0.5, 3, 1])
    assert model.feature_gains_.dtype == np.float64
    assert not model.feature_gains_.any()
    assert verify(model, X[:6], target[:6], sample_weight=[3, 0.5, 1, 0.5, 3, 1]).holds


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile", "poisson"])
@pytest.mark.parametrize("size", [1e-122, 1e-25, 1e25, 1e120])
def test_amounts_of_any_size(loss, size):
    """Losses were rounded to float32, which ends at 3e38; and small amounts were compared with 1e-19."""
    amounts = np.abs(y) * size
    model = GradientBoostingRegressor(loss=loss, n_estimators=3, learning_rate=0.5).fit(X, amounts)
    assert np.isfinite(model.train_score_).all()
    assert verify(model, X, amounts).holds
    for factor in (-1.0, 0.0, 1.01):
        wrong = deepcopy(model)
        wrong.forest_ = model.forest_._replace(value=model.forest_.value * factor)
        assert not verify(wrong, X, amounts).holds


@pytest.mark.parametrize("loss", ["squared_error", "huber", "quantile"])
@pytest.mark.parametrize("subsample", [0.5, 1.0])
@pytest.mark.parametrize("counted", [True, False])
def test_draws_and_rows_held_out_and_weights_at_once(loss, subsample, counted):
    """Rows held out have weights where those to learn from are repeated: then no round drew, and all were written."""
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 4, 300).astype(float) if counted else rng.random(300) + 0.1
    model = GradientBoostingRegressor(
        loss=loss, subsample=subsample, n_estimators=5, n_iter_no_change=4, validation_fraction=0.3, random_state=0
    ).fit(X, y, weights)
    assert hasattr(model, "oob_scores_") == (subsample < 1.0)
    assert verify(model, X, y, sample_weight=weights).holds
    rows = np.repeat(np.arange(300), weights.astype(int))
    if counted:
        repeated = clone(model).fit(X[rows], y[rows])
        np.testing.assert_allclose(repeated.predict(X), model.predict(X), rtol=1e-9)
