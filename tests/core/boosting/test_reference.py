"""Scikit-learn's HistGradientBoosting, where every distinct number has a bin: the same scores but for rounding."""

import numpy as np
import pytest
from numba import config
from numpy.testing import assert_allclose
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from tests.core.boosting.cases import NONE, boost

N_ROWS, N_ROUNDS = (600, 8) if not config.DISABLE_JIT else (150, 3)
CLASSES = {"logistic": 2, "softmax": 3}


def steps(loss, n_rows=N_ROWS):
    """Return numbers on a grid, some of them missing, and amounts or classes that depend on them by large steps."""
    rng = np.random.default_rng(0)
    X = rng.integers(6, size=(n_rows, 4)).astype(float)
    X[rng.random(n_rows) < 0.15, 2] = np.nan
    signal = 3.0 * (X[:, 0] > 2) + 1.7 * (X[:, 1] > 3) + np.where(np.isnan(X[:, 2]), 1.1, 0.4 * (X[:, 2] > 1))
    signal += 0.3 * rng.normal(size=n_rows)
    if loss in CLASSES:
        return X, np.digitize(signal, [2.0] if loss == "logistic" else [1.5, 3.5]).astype(float)
    return X, rng.poisson(np.exp(0.5 * signal)).astype(float) if loss == "poisson" else signal


def rival_scores(loss, X, y, weights, **settings):
    """Return the scores of scikit-learn's model with the same rules, (n_outputs, n_rows)."""
    common = {"max_iter": N_ROUNDS, "early_stopping": False, "max_leaf_nodes": 7, "min_samples_leaf": 5, **settings}
    if loss in CLASSES:
        model = HistGradientBoostingClassifier(**common).fit(X, y, sample_weight=weights)
        return np.atleast_2d(model.decision_function(X).T)
    names = {"squared": "squared_error", "absolute": "absolute_error"}
    model = HistGradientBoostingRegressor(
        loss=names.get(loss, loss), quantile=0.3 if loss == "quantile" else None, **common
    )
    found = model.fit(X, y, sample_weight=weights).predict(X)[None]
    return np.log(found) if loss == "poisson" else found


@pytest.mark.parametrize("is_weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("loss", ["squared", "poisson", "logistic", "softmax"])
def test_scores_are_those_of_scikit_learn(loss, is_weighted):
    X, y = steps(loss)
    weights = np.random.default_rng(1).integers(1, 4, size=N_ROWS).astype(float) if is_weighted else None
    expected = rival_scores(loss, X, y, weights, learning_rate=0.3, l2_regularization=2.0)
    found = boost(
        X, y, loss, N_ROUNDS, weights=NONE if weights is None else weights, n_outputs=3 if loss == "softmax" else 1,
        learning_rate=0.3, l2=2.0, max_leaves=7, min_samples_leaf=5, min_hessian=1e-3, scale_bits=13,
    ).scores  # fmt: skip
    if loss == "softmax":
        found, expected = found - found.mean(axis=0), expected - expected.mean(axis=0)
    close = np.isclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    assert close.mean() > 0.8  # splits that gain nearly the same may be chosen differently
    assert_allclose(found, expected, atol=0.15 * np.ptp(expected))


@pytest.mark.parametrize("loss", ["absolute", "quantile"])
def test_medians_and_quantiles_are_nearly_those_of_scikit_learn(loss):
    """Nearly: it takes one of the rows' values where half the weight lies on either side."""
    X, y = steps(loss)
    expected = rival_scores(loss, X, y, None, learning_rate=0.5)
    settings = {"learning_rate": 0.5, "max_leaves": 7, "min_samples_leaf": 5, "alpha": 0.3}
    found = boost(X, y, loss, N_ROUNDS, **settings)
    assert np.corrcoef(found.scores[0], expected[0])[0, 1] > 0.99
    rest = expected[0] - y
    rival_loss = np.mean(np.abs(rest) if loss == "absolute" else rest * np.where(rest > 0, 0.7, -0.3))
    assert found.losses[-1, 0] < 1.05 * rival_loss


@pytest.mark.skipif(config.DISABLE_JIT, reason="more rows than a block has, at both children of a node")
@pytest.mark.parametrize("n_threads", [1, 2])
def test_many_rows_have_the_scores_of_scikit_learn(n_threads):
    X, y = steps("squared", 70_000)
    expected = rival_scores("squared", X, y, None, learning_rate=0.3)
    settings = {"learning_rate": 0.3, "max_leaves": 7, "min_samples_leaf": 5, "n_threads": n_threads}
    found = boost(X, y, "squared", N_ROUNDS, **settings)
    assert_allclose(found.scores, expected, atol=0.02 * np.ptp(expected))
    assert found.nodes.whole[1:3, 5].min() > 16_384
