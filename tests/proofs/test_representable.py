"""Weights of a vote, or a proof that there are none: against trying, against hyperplanes, with a solver that lies."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import AdaBoostClassifier

from eigenwood import representable
from eigenwood.core.kernels.functions import LINEAR, Kernel
from eigenwood.errors import InputError
from eigenwood.proofs import representable as module
from eigenwood.proofs.representable import whole_numbers
from eigenwood.proofs.separability import separability
from tests.models.crafting import assert_one_sentence
from tests.naive import representable as naive

FORMS = ("any", "nonnegative")


def table(seed, n_rows=None, n_classifiers=None):
    rng = np.random.default_rng(seed)
    shape = (n_rows or rng.integers(2, 12), n_classifiers or rng.integers(1, 5))
    votes, signs = rng.choice([-1, 1], size=shape), rng.choice([-1, 1], size=shape[0])
    if seed % 3 == 0:
        signs = np.where(votes @ rng.normal(size=shape[1]) > 0, 1, -1)
    signs[:2] = [-1, 1]
    return votes, signs


def assert_shown(found, votes, signs, form):
    """What the result says is so, looked at without it."""
    right = votes * signs[:, None]
    assert found.certificate.holds
    assert np.abs(found.weights).sum() == pytest.approx(1.0)
    assert found.margin == pytest.approx((right @ found.weights).min())
    if found.holds:
        assert_array_equal(np.sign(votes @ found.weights), signs)
        assert (found.weights >= 0.0).all() or form == "any"
        assert found.limit == pytest.approx(found.margin)  # no weights do better: both programmes meet
    else:
        edges = found.counts @ right
        assert (found.counts >= 0).all()
        assert found.counts.sum() > 0
        assert (edges <= 0).all()
        assert form == "nonnegative" or not edges.any()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(30))
def test_answers_equal_those_of_trying(seed, form):
    votes, signs = table(seed)
    found = representable(votes, signs, weights=form)
    assert found.holds is (naive.representable(votes, signs, form == "nonnegative") is not None)
    assert_shown(found, votes, signs, form)


@pytest.mark.parametrize("seed", range(6))
def test_answers_equal_those_of_hyperplanes(seed):
    votes, signs = table(seed, n_rows=30, n_classifiers=9)
    found = representable(votes, signs)
    assert found.holds is separability(votes.astype(np.float64), signs, Kernel(LINEAR), intercept=False).separable


@pytest.mark.parametrize("form", FORMS)
def test_rows_may_stand_in_any_order_and_repeatedly(form):
    votes, signs = table(4)
    order = np.random.default_rng(0).integers(len(votes), size=40)
    order[: len(votes)] = np.arange(len(votes))
    once, often = (representable(votes[rows], signs[rows], weights=form) for rows in (np.arange(len(votes)), order))
    assert once.holds is often.holds
    assert often.limit == pytest.approx(once.limit, abs=1e-12)
    assert_shown(often, votes[order], signs[order], form)


def test_more_classifiers_than_small_fractions_can_tell():
    rng = np.random.default_rng(0)
    votes, signs = rng.choice([-1, 1], size=(200, 60)), rng.choice([-1, 1], size=200)
    found = representable(votes, signs)
    assert (found.holds, found.counts, found.certificate.holds) == (False, None, True)
    assert_allclose(found.distribution @ (votes * signs[:, None]), 0.0, atol=1e-14)
    assert found.distribution.sum() == pytest.approx(1.0)


def test_labels_signs_and_models_say_the_same():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
    models = AdaBoostClassifier(n_estimators=12, random_state=0).fit(X, y).estimators_
    labels = np.column_stack([model.predict(X) for model in models])
    signs = np.where(labels == "yes", 1, -1)
    of_models, of_labels, of_signs = (
        representable(models, y, X),
        representable(labels, y),
        representable(signs.tolist(), y),
    )
    assert_array_equal(of_models.weights, of_labels.weights)
    assert_array_equal(of_models.weights, of_signs.weights)
    assert_shown(of_models, signs, np.where(y == "yes", 1, -1), "any")


# ---- a solver that lies --------------------------------------------------------------------------------------------


def test_nothing_is_proved_by_what_a_solver_says(monkeypatch):
    for seed in range(20):
        votes, signs = table(seed, n_rows=8, n_classifiers=4)
        rng = np.random.default_rng(seed)
        lies = rng.normal(size=4), rng.dirichlet(np.ones(8))
        monkeypatch.setattr(module, "proposals", lambda right, *_, lies=lies: (lies[0], lies[1][: len(right)]))
        found = representable(votes, signs)
        assert found.holds is not False
        assert not found.holds or (signs * (votes @ found.weights) > 0).all()
        assert found.certificate.holds is not True  # the weights' sum is not 1, and shares may not add up


def test_a_solver_that_was_stopped_proves_nothing(monkeypatch):
    votes, signs = table(1)
    nothing = SimpleNamespace(x=None, status=1)
    monkeypatch.setattr(module, "linprog", lambda *_, **options: nothing)
    found = representable(votes, signs, time_limit=1e-3)
    assert (found.holds, found.certificate.holds) == (None, None)
    assert "not claimed" in str(found)


@pytest.mark.parametrize("shares", [[0.5, 0.5 - 1e-5, 1e-5 / 3], [1 / 9973, 1 / 9967, 0.7]])
def test_shares_that_are_no_small_fractions_stay_shares(shares):
    assert whole_numbers(np.array(shares)) is None


# ---- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("votes", "y", "options"),
    [
        ([[1], [-1]], [0, 0], {}),
        ([[1], [-1], [1]], [0, 1, 2], {}),
        ([[1], [-1]], None, {}),
        ([[1], [-1], [1]], [0, 1], {}),
        ([1, -1], [0, 1], {}),
        ([[], []], [0, 1], {}),
        ([[1], [2]], [0, 1], {}),
        ([[0.5], [-1]], [0, 1], {}),
        ([["yes"], ["maybe"]], ["yes", "no"], {}),
        ([[1], [-1]], [0, 1], {"weights": "positive"}),
        ([[1], [-1]], [0, 1], {"time_limit": -1}),
        ([[1], [-1]], [0, 1], {"X": [[1.0], [2.0]]}),
        ([AdaBoostClassifier()], [0, 1], {}),
    ],
)
def test_bad_input_is_one_sentence(votes, y, options):
    with pytest.raises(InputError) as problem:
        representable(votes, y, **options)
    assert_one_sentence(str(problem.value))
    assert str(problem.value).startswith("representable: ")
