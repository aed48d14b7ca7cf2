"""Rounds that are repeated: what they leave behind is what they left when they were made."""

from __future__ import annotations

import numpy as np
import pytest

from eigenwood.core.adaboost.resuming import repeat_stumps
from eigenwood.core.adaboost.rounds import largest_edge, margins_of, stump_steps
from eigenwood.core.adaboost.stumps import joined_stumps, part_of_stumps
from eigenwood.core.adaboost.table import coded_dense
from eigenwood.core.adaboost.workspace import new_boosting
from tests.core.adaboost.test_rounds import COMPILED, case, one_hot_rows

N_ROUNDS = 300 if COMPILED else 40  # so many that weights are renewed


def begun(X, y, weights, n_threads=1):
    coded = coded_dense(X, np.full(X.shape[1], -1), 0.5, n_threads)
    return coded, new_boosting(coded.table, y, weights, int(y.max()) + 1, n_threads)


def last_of(steps):
    *_, last = steps
    return last


@pytest.mark.parametrize("n_classes", [2, 3])
def test_repeated_rounds_leave_what_they_left(n_classes, monkeypatch):
    X, y, weights = case(1, n_classes, 0.1, n_rows=120)
    coded, b = begun(X, y, weights)
    made = last_of(stump_steps(b, coded.values, N_ROUNDS, 1.0))
    monkeypatch.setattr("eigenwood.core.adaboost.resuming.MOST_SAID", 7 * y.size)  # in parts of 7 rounds
    _, again = begun(X, y, weights)
    found = repeat_stumps(again, made.stumps(), made.rounds.alphas, X, 1.0, 1)
    np.testing.assert_array_equal(found.errors, made.rounds.errors)
    np.testing.assert_array_equal(found.alphas, made.rounds.alphas)
    np.testing.assert_array_equal(margins_of(again), made.margins)
    assert largest_edge(again) == made.largest_edge
    for name in ("factors", "lost", "strongest", "others"):
        np.testing.assert_array_equal(getattr(again.rows, name), getattr(b.rows, name))
    for name in ("sums", "totals", "total", "bin_counts", "votes"):
        np.testing.assert_array_equal(getattr(again.work, name), getattr(b.work, name))


@pytest.mark.parametrize("n_threads", [1, 2])
def test_rounds_that_follow_are_those_of_one_fit(n_threads):
    n_rows = 9_000 if COMPILED else 150
    X, score = one_hot_rows(n_rows)
    y, weights = (score > 0).astype(int), np.ones(n_rows, dtype=np.int64)
    coded, b = begun(X, y, weights, n_threads)
    whole = last_of(stump_steps(b, coded.values, 30, 1.0))
    _, going_on = begun(X, y, weights, n_threads)
    first = part_of_stumps(whole.stumps(), 0, 11)
    repeat_stumps(going_on, first, whole.rounds.alphas[:11], X, 1.0, n_threads)
    rest = last_of(stump_steps(going_on, coded.values, 19, 1.0))
    for one, other in zip(joined_stumps(first, rest.stumps()), whole.stumps(), strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(rest.rounds, whole.rounds, strict=True):
        np.testing.assert_array_equal(one, other[11:])
    np.testing.assert_array_equal(rest.margins, whole.margins)


def test_shares_of_rows_are_those_of_the_rows():
    """Of numbers, missing ones among them, and of categories."""
    X, y, weights = case(2, 2, 0.2)
    n_categories = np.array([6, -1, -1])
    X[:, 0] = np.nan_to_num(2 * X[:, 0])
    coded = coded_dense(X, n_categories, 0.5, 1)
    step = last_of(stump_steps(new_boosting(coded.table, y, weights, 2, 1), coded.values, 12, 1.0))
    stumps, shares = step.stumps(), step.left_shares(weights)
    for t, (feature, threshold) in enumerate(zip(stumps.feature, stumps.threshold, strict=True)):
        listed = stumps.categories[stumps.category_start[t] : stumps.category_start[t + 1]]
        column = X[:, feature]
        if listed.size:
            left = np.isin(column, listed) != stumps.default_left[t]
        else:
            left = np.where(np.isnan(column), stumps.default_left[t], column <= threshold)
        if stumps.left[t] != stumps.right[t]:
            assert shares[t] == pytest.approx(weights[left].sum() / weights.sum())
    assert set(stumps.feature.tolist()) >= {0, 1}
