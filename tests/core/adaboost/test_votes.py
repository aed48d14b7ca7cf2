"""Rounds with any learner: the kernel lecture's numbers for shares, SAMME's for classes, and the bounds of
AdaBoost.MH."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eigenwood.core.adaboost.rounds import GOES_ON, NO_EDGE, PERFECT
from eigenwood.core.adaboost.votes import Votes
from tests.naive import adaboost as naive


def as_pairs(h):
    """Return what is said of both classes, of what is said of the second."""
    return np.column_stack([-np.asarray(h), h])


def test_real_rounds_are_those_of_deck_c():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=30)
    pred = [np.clip(0.4 * (2 * y - 1) + rng.normal(scale=0.5, size=30), -1, 1) for _ in range(4)]
    X = np.array(pred).T.tolist()
    learners = [lambda row, t=t: row[t] for t in range(4)]
    edges, alphas = naive.real_rounds(X, (2 * y - 1).tolist(), learners)
    votes = Votes(y, np.ones(30), 2, 1.0, real=True)
    told = [votes.add(as_pairs(h)) for h in pred]
    np.testing.assert_allclose([one.edge for one in told], edges, rtol=1e-12)
    np.testing.assert_allclose([one.alpha / 2 for one in told], alphas, rtol=1e-12)
    error = np.mean(votes.margins() <= 0)
    assert error <= np.prod([one.normalizer for one in told]) + 1e-12
    assert told[-1].train_error == pytest.approx(error)


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_bound_holds(n_classes, real):
    rng = np.random.default_rng(1)
    y, mass = rng.integers(0, n_classes, size=50), rng.integers(1, 5, size=50).astype(float)
    votes, product = Votes(y, mass, n_classes, 1.0, real), 1.0
    for _ in range(8):
        pred = rng.uniform(-1, 1, size=(50, n_classes)) + 0.5 * np.where(np.arange(n_classes) == y[:, None], 1, -1)
        pred = np.clip(pred, -1, 1) if real else np.where(pred == pred.max(axis=1, keepdims=True), 1.0, -1.0)
        before = votes.row_weights()
        told = votes.add(pred)
        product *= told.normalizer
        assert before.sum() == pytest.approx(1.0)
        assert told.train_error <= product * (math.sqrt(n_classes - 1) if real else 1.0) + 1e-12
        assert -1.0 <= told.min_margin <= 1.0


def test_what_is_wrong_weighs_more():
    votes = Votes(np.array([0, 0, 1, 1]), np.ones(4), 2, 1.0, real=False)
    told = votes.add(as_pairs([-1.0, 1.0, 1.0, 1.0]))
    assert (told.error, told.edge, told.end) == (0.25, 0.5, GOES_ON)
    np.testing.assert_allclose(votes.row_weights(), [1 / 6, 1 / 2, 1 / 6, 1 / 6])


@pytest.mark.parametrize("real", [False, True])
def test_why_rounds_end(real):
    y = np.array([0, 1])
    assert Votes(y, np.ones(2), 2, 1.0, real).add(as_pairs([-1.0, 1.0])).end == PERFECT
    nothing = Votes(y, np.ones(2), 2, 1.0, real).add(as_pairs([1.0, 1.0]))
    assert (nothing.end, nothing.alpha) == (NO_EDGE, 0.0)
