"""Blending: against the slow twin, scikit-learn's calibration, and what must hold of any mixture."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from eigenwood.core.blending import (
    LOG_LOSS,
    SQUARED_ERROR,
    calibrated,
    calibrations_of,
    select_weights,
    weighted_mean,
)
from tests.naive import blending as naive

SEEDS = st.integers(0, 2**32 - 1)


def some_predictions(rng, loss, n_models=4, n_rows=20):
    """Return predictions of models that know something, the truth, and weights of rows."""
    if loss == SQUARED_ERROR:
        y = rng.normal(size=n_rows)
        predictions = y + rng.normal(size=(n_models, n_rows)) * rng.uniform(0.3, 1.5, size=(n_models, 1))
        return predictions[:, :, None], y, rng.uniform(0.1, 2.0, n_rows)
    y = rng.integers(0, 3, n_rows)
    logits = rng.normal(size=(n_models, n_rows, 3)) + 1.5 * np.eye(3)[y]
    shares = np.exp(logits)
    return shares / shares.sum(axis=2, keepdims=True), y, rng.uniform(0.1, 2.0, n_rows)


def loss_of(shares, predictions, y, loss, weights):
    mixed = weighted_mean(predictions, shares)
    if loss == SQUARED_ERROR:
        return float(np.average((mixed[:, 0] - y) ** 2, weights=weights))
    return float(np.average(-np.log(mixed[np.arange(y.size), y]), weights=weights))


# ---- selection ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [LOG_LOSS, SQUARED_ERROR])
@settings(max_examples=8, deadline=None)
@given(seed=SEEDS)
def test_selection_is_that_of_plain_loops(loss, seed):
    predictions, y, weights = some_predictions(np.random.default_rng(seed), loss, 3, 8)
    expected = naive.select_weights(predictions.tolist(), y.tolist(), loss == LOG_LOSS, weights.tolist())
    np.testing.assert_allclose(select_weights(predictions, y, loss, weights), expected, atol=1e-12)


@pytest.mark.parametrize("loss", [LOG_LOSS, SQUARED_ERROR])
@settings(max_examples=30, deadline=None)
@given(seed=SEEDS)
def test_the_mixture_is_no_worse_than_the_best_single_model(loss, seed):
    predictions, y, weights = some_predictions(np.random.default_rng(seed), loss)
    shares = select_weights(predictions, y, loss, weights)
    singles = [loss_of(one, predictions, y, loss, weights) for one in np.eye(len(predictions))]
    assert shares.min() >= 0.0
    assert shares.sum() == pytest.approx(1.0)
    assert loss_of(shares, predictions, y, loss, weights) <= min(singles) + 1e-12


def test_shares_near_the_best_ones_are_found():
    """Two independent errors of variance 1 and 9 are best mixed by 0.9 and 0.1."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=40_000)
    predictions = np.stack([y + rng.normal(size=y.size), y + 3.0 * rng.normal(size=y.size)])[:, :, None]
    np.testing.assert_allclose(select_weights(predictions, y, SQUARED_ERROR), [0.9, 0.1], atol=0.02)


def test_a_weight_is_a_repeated_row():
    rng = np.random.default_rng(3)
    for loss in (LOG_LOSS, SQUARED_ERROR):
        predictions, y, _ = some_predictions(rng, loss)
        counts = rng.integers(0, 4, y.size)
        rows = np.repeat(np.arange(y.size), counts)
        weighted = select_weights(predictions, y, loss, counts.astype(float))
        np.testing.assert_allclose(select_weights(predictions[:, rows], y[rows], loss), weighted)


def test_of_equal_models_the_first_is_taken():
    predictions, y, _ = some_predictions(np.random.default_rng(0), LOG_LOSS, 1)
    np.testing.assert_array_equal(select_weights(np.repeat(predictions, 3, axis=0), y, LOG_LOSS), [1.0, 0.0, 0.0])


def test_a_class_that_was_given_nothing_does_not_end_the_search():
    y = np.array([0, 1, 0, 1])
    sure, wrong = np.eye(2)[y], np.eye(2)[[0, 0, 1, 0]]
    np.testing.assert_array_equal(select_weights(np.stack([wrong, sure]), y, LOG_LOSS), [0.0, 1.0])


def test_sixteen_models_of_many_rows_are_mixed_at_once():
    rng = np.random.default_rng(0)
    predictions, y = rng.dirichlet(np.ones(7), size=(16, 20_000)), rng.integers(0, 7, 20_000)
    seconds = []
    for _ in range(3):  # another worker may have had the machine
        start = time.process_time()
        select_weights(predictions, y, LOG_LOSS)
        seconds.append(time.process_time() - start)
    assert min(seconds) < 1.0


# ---- calibration --------------------------------------------------------------------------------------------------


def scores_of_classes(rng, n_rows, n_classes):
    """Return one score for two classes, else one for each, and codes."""
    codes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)])
    if n_classes == 2:
        return (2.0 * codes - 1.0 + 1.5 * rng.normal(size=n_rows))[:, None], codes
    return 2.0 * np.eye(n_classes)[codes] + rng.normal(size=(n_rows, n_classes)), codes


@settings(max_examples=10, deadline=None)
@given(seed=SEEDS, n_classes=st.sampled_from([2, 3]))
def test_sigmoids_are_those_of_plain_loops(seed, n_classes):
    rng = np.random.default_rng(seed)
    scores, codes = scores_of_classes(rng, 25, n_classes)
    weights = rng.uniform(0.2, 2.0, codes.size)
    found = calibrations_of(scores, codes, n_classes, weights)
    for column, (slope, offset) in enumerate(found):
        is_positive = codes == (1 if n_classes == 2 else column)
        problem = scores[:, column].tolist(), is_positive.tolist(), weights.tolist()
        expected = naive.platt(*problem)
        assert naive.platt_loss(slope, offset, *problem) <= naive.platt_loss(*expected, *problem) + 1e-9
        np.testing.assert_allclose((slope, offset), expected, rtol=1e-3, atol=1e-3)
    expected = [naive.calibrated(row, found.tolist()) for row in scores.tolist()]
    np.testing.assert_allclose(calibrated(scores, found), expected, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities_are_those_of_scikit_learn(n_classes):
    rng = np.random.default_rng(1)
    scores, codes = scores_of_classes(rng, 400, n_classes)
    X = rng.normal(size=(400, 3)) + codes[:, None]
    frozen = FrozenEstimator(_Scorer().fit(X, codes))
    reference = CalibratedClassifierCV(frozen, method="sigmoid").fit(X, codes)
    scores = frozen.decision_function(X)
    columns = scores.reshape(codes.size, -1)
    ours = calibrated(columns, calibrations_of(columns, codes, n_classes))
    np.testing.assert_allclose(ours, reference.predict_proba(X), atol=1e-4)


class _Scorer(LogisticRegression):
    """A classifier whose probabilities nobody asks for."""

    predict_proba = property()


def test_a_weight_is_a_repeated_row_of_scores():
    rng = np.random.default_rng(2)
    scores, codes = scores_of_classes(rng, 60, 3)
    counts = rng.integers(0, 4, codes.size)
    rows = np.repeat(np.arange(codes.size), counts)
    weighted = calibrations_of(scores, codes, 3, counts.astype(float))
    np.testing.assert_allclose(calibrations_of(scores[rows], codes[rows], 3), weighted, rtol=1e-7)


@settings(max_examples=20, deadline=None)
@given(power=st.integers(-300, 300), shift=st.floats(-5, 5))
def test_the_unit_and_the_zero_of_a_score_do_not_matter(power, shift):
    scores, codes = scores_of_classes(np.random.default_rng(5), 50, 2)
    moved = (scores + shift) * 2.0**power
    before = calibrated(scores, calibrations_of(scores, codes, 2))
    np.testing.assert_allclose(calibrated(moved, calibrations_of(moved, codes, 2)), before, rtol=1e-5, atol=1e-9)


def test_separable_scores_have_a_finite_slope_and_platts_targets():
    scores, codes = np.repeat([-1.0, 1.0], [3, 6])[:, None], np.repeat([0, 1], [3, 6])
    calibration = calibrations_of(scores, codes, 2)
    np.testing.assert_allclose(np.unique(calibrated(scores, calibration)[:, 1]), [1 / 5, 7 / 8], rtol=1e-6)


@pytest.mark.parametrize("gap", [1e-12, 1.0, 1e9])
def test_scores_far_apart_end_soundly(gap):
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.uniform(-1, 0, 50) - gap, rng.uniform(0, 1, 50) + gap])[:, None]
    codes = np.repeat([0, 1], 50)
    shares = calibrated(scores, calibrations_of(scores, codes, 2))
    assert np.isfinite(shares).all()
    assert log_loss(codes, shares) < 0.2


def test_scores_that_are_all_the_same_give_the_share_of_a_class():
    codes = np.array([0, 0, 0, 1])
    shares = calibrated(np.full((4, 1), 7.0), calibrations_of(np.full((4, 1), 7.0), codes, 2))
    np.testing.assert_allclose(shares[:, 1], (3 * (1 / 5) + 2 / 3) / 4)


def test_rows_without_any_score_are_left_out():
    scores, codes = scores_of_classes(np.random.default_rng(4), 40, 3)
    holes = scores.copy()
    holes[:5, 1] = -np.inf
    expected = calibrations_of(scores[5:], codes[5:], 3)[1]
    np.testing.assert_allclose(calibrations_of(holes, codes, 3)[1], expected)
    nothing = calibrations_of(np.full((40, 3), -np.inf), codes, 3)
    np.testing.assert_array_equal(nothing, np.zeros((3, 2)))


def test_a_row_in_which_no_class_is_likely_has_sound_probabilities():
    calibration = np.array([[1.0, 0.0]] * 3)
    scores = np.array([[-800.0, -801.0, -2000.0], [-1e308, -1e308, -1e308], [-np.inf, -np.inf, -np.inf]])
    shares = calibrated(scores, calibration)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(shares[0], [1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1)), 0.0])
    np.testing.assert_allclose(shares[1:], 1 / 3)


def test_a_class_that_is_excluded_has_no_probability():
    shares = calibrated(np.array([[1.0, -np.inf, 1.0]]), np.array([[1.0, 0.0], [0.0, 3.0], [1.0, 0.0]]))
    np.testing.assert_allclose(shares, [[0.5, 0.0, 0.5]])
    np.testing.assert_array_equal(calibrated(np.array([[-np.inf]]), np.array([[1.0, 2.0]])), [[1.0, 0.0]])
