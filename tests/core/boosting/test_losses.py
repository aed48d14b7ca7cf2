"""Losses: gradients and hessians are derivatives of the naive loss, and the best constant has no slope."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.boosting import losses
from tests.core.boosting.cases import LOSSES, NONE, boost, new_run, table_of
from tests.naive import boosting as naive

ALPHA = 0.3
SMOOTH = ("squared", "poisson", "logistic", "exponential")
ONE_OUTPUT = (*SMOOTH, "absolute", "huber", "quantile")


def amounts(loss, rng, n_rows):
    if loss in ("logistic", "exponential"):
        return rng.integers(2, size=n_rows).astype(float)
    return rng.poisson(2.0, size=n_rows).astype(float) if loss == "poisson" else rng.normal(size=n_rows)


def started(loss, y, scores, weights=NONE, **settings):
    """Return a run that begins at these scores, and its losses."""
    table, _, _ = table_of(np.zeros((y.size, 1)))
    run = new_run(table, y, loss, weights=weights, alpha=ALPHA, n_outputs=len(scores), **settings)
    return run, run.start(scores)


@pytest.mark.parametrize("is_weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("loss", ONE_OUTPUT)
def test_gradients_are_the_slopes_of_the_loss(loss, is_weighted):
    rng = np.random.default_rng(LOSSES[loss])
    n_rows, n_train = 50, 40
    y, scores = amounts(loss, rng, n_rows), 2.0 * rng.normal(size=(1, n_rows))
    weights = rng.uniform(0.5, 2.0, size=n_rows) if is_weighted else np.ones(n_rows)
    run, means = started(loss, y, scores, weights if is_weighted else NONE, n_train=n_train)
    delta = naive.quantile(np.abs(y - scores[0])[:n_train].tolist(), weights[:n_train].tolist(), ALPHA)
    each = [naive.loss_of(loss, y[i], scores[0, i], ALPHA, delta) for i in range(n_rows)]
    slopes = [naive.gradient_of(loss, y[i], scores[0, i], ALPHA, delta) for i in range(n_rows)]
    curves = [naive.hessian_of(loss, y[i], scores[0, i]) for i in range(n_rows)]
    assert_allclose(run.work.rows.gradients, weights * slopes, rtol=1e-5, atol=1e-7)
    assert_allclose(run.work.rows.hessians, weights * curves, rtol=1e-4, atol=1e-6)
    parts = [
        np.average(each[:n_train], weights=weights[:n_train]),
        np.average(each[n_train:], weights=weights[n_train:]),
    ]
    assert_allclose(means, parts, rtol=1e-12)
    found = losses.mean_loss(LOSSES[loss], y[:n_train], scores[:, :n_train], weights[:n_train], ALPHA, delta)
    assert_allclose(found, parts[0], rtol=1e-12)
    if loss in SMOOTH:
        assert_allclose([naive.gradient(loss, y[i], scores[0, i]) for i in range(n_rows)], slopes, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("is_weighted", [False, True], ids=["equal", "weighted"])
def test_gradients_of_shares_are_the_slopes_of_their_loss(is_weighted):
    rng = np.random.default_rng(7)
    n_rows, n_classes = 30, 3
    y, scores = rng.integers(n_classes, size=n_rows).astype(float), 2.0 * rng.normal(size=(n_classes, n_rows))
    weights = rng.uniform(0.5, 2.0, size=n_rows) if is_weighted else np.ones(n_rows)
    run, means = started("softmax", y, scores, weights if is_weighted else NONE)
    each = [naive.loss_of("softmax", y[i], scores[:, i].tolist()) for i in range(n_rows)]
    assert_allclose(means, [np.average(each, weights=weights), 0.0], rtol=1e-12)
    assert_allclose(losses.mean_loss(losses.SOFTMAX, y, scores, weights, 0.5, 1.0), means[0], rtol=1e-12)
    shares = run.work.rows.shares
    for k in range(n_classes):
        slopes, curves = np.transpose(
            [naive.softmax_derivatives(y[i], scores[:, i].tolist(), k) for i in range(n_rows)]
        )
        assert_allclose(shares[k] - (y == k), slopes, atol=1e-6)
        assert_allclose(shares[k] * (1.0 - shares[k]), curves, atol=1e-6)


def test_a_tree_of_a_class_follows_its_gradients():
    """One leaf: every class's score moves by -Σ(p - [y = k]) / Σp(1 - p)."""
    y = np.array([0.0, 0.0, 1.0, 2.0, 2.0, 2.0])
    found = boost(np.zeros((6, 1)), y, "softmax", n_outputs=3, base=0.0)
    counts = np.array([2.0, 1.0, 3.0])
    assert_allclose(found.scores[:, 0], (counts - 2.0) / (6.0 * (1 / 3) * (2 / 3)), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("loss", ONE_OUTPUT)
def test_the_best_constant_is_no_worse_than_others(loss):
    rng = np.random.default_rng(3)
    y, weights = amounts(loss, rng, 31), rng.uniform(0.5, 2.0, size=31)
    kind = LOSSES[loss]
    (base,) = losses.base_scores(kind, y, weights, 1, ALPHA)
    if loss == "huber":
        assert base == losses.weighted_quantile(y, weights, 0.5)
        return
    at = [losses.mean_loss(kind, y, np.full((1, 31), base + step), weights, ALPHA, 1.0) for step in (-1e-3, 0.0, 1e-3)]
    assert at[1] <= min(at[0], at[2]) + 1e-12


@pytest.mark.parametrize("size", [1e-120, 1.0, 1e200])
def test_exact_sums_do_not_depend_on_order_and_weights_are_repeated_values(size):
    rng = np.random.default_rng(4)
    values, times = size * rng.normal(size=500), rng.integers(1, 5, size=500).astype(float)
    order = rng.permutation(500)
    found = losses.exact_sum(values, times)
    assert (
        found == losses.exact_sum(values[order], times[order]) == losses.exact_sum(np.repeat(values, times.astype(int)))
    )
    assert_allclose(found, math.fsum(values * times), rtol=1e-12, atol=1e-13 * size)
    weights = rng.random(500)
    found = losses.exact_sum(values, weights)
    assert found == losses.exact_sum(values[order], weights[order])
    assert_allclose(found, math.fsum(values * weights), rtol=1e-12, atol=1e-13 * size)


def test_the_best_constants_of_classes_are_logarithms_of_their_shares():
    y, weights = np.array([0.0, 1.0, 1.0, 2.0]), np.array([1.0, 2.0, 1.0, 4.0])
    base = losses.base_scores(losses.SOFTMAX, y, weights, 3, 0.5)
    assert_allclose(np.exp(base) / np.exp(base).sum(), [1 / 8, 3 / 8, 4 / 8])
    assert_allclose(base.sum(), 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("loss", "y"),
    [("logistic", [0.0, 0.0]), ("logistic", [1.0, 1.0]), ("exponential", [1.0, 1.0]), ("poisson", [0, 0])],
)
def test_the_best_constant_is_a_number_where_the_logarithm_is_none(loss, y):
    (base,) = losses.base_scores(LOSSES[loss], np.array(y, dtype=float), NONE, 1, 0.5)
    assert np.isfinite(base)
    assert np.sign(base) == (1 if y[0] == 1.0 else -1)


def test_a_class_without_rows_gets_a_number():
    base = losses.base_scores(losses.SOFTMAX, np.array([0.0, 0.0, 2.0]), NONE, 3, 0.5)
    assert np.isfinite(base).all()
    assert base.argmin() == 1


@pytest.mark.parametrize("loss", ["logistic", "exponential", "softmax"])
def test_scores_far_out_have_finite_losses_and_gradients(loss):
    y = np.array([0.0, 1.0, 0.0, 1.0])
    far = 700.0 if loss == "exponential" else 1e5
    scores = np.array([[far, far, -far, -far]])
    run, means = started(loss, y, np.vstack([-scores, scores]) if loss == "softmax" else scores)
    rows = run.work.rows
    assert np.isfinite(means).all()
    if loss == "softmax":
        assert_array_equal(rows.shares[1], [1.0, 1.0, 0.0, 0.0])
    else:
        assert np.isfinite(rows.gradients).all()
        assert (rows.hessians > 0.0).all()
        wrong = [0, 3]
        assert (np.abs(rows.gradients[wrong]) > 0.99).all()
