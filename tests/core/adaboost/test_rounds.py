"""Rounds over stumps: the same as in plain loops, exact, for any order of rows, in any number of calls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numba import config
from scipy import sparse

from eigenwood.core.adaboost.rounds import GOES_ON, NO_EDGE, PERFECT, stump_steps
from eigenwood.core.adaboost.stumps import Stumps, part_of_stumps, stump_votes
from eigenwood.core.adaboost.table import coded_dense, coded_sparse
from eigenwood.core.adaboost.weights import integer_weights
from eigenwood.core.adaboost.workspace import new_boosting
from eigenwood.core.crew import taken_task
from tests.naive import adaboost as naive

COMPILED = not config.DISABLE_JIT


class Got(NamedTuple):
    """What a fit comes to."""

    stumps: Stumps
    errors: np.ndarray
    alphas: np.ndarray
    train_errors: np.ndarray
    min_margins: np.ndarray
    margins: np.ndarray
    end: int


def boosted(
    X, y, weights=None, n_rounds=6, learning_rate=1.0, n_categories=None, rare_share=0.5, n_threads=1, seconds=0.03
):
    """Return what a fit to dense or sparse rows comes to."""
    counts = integer_weights(np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float))
    if sparse.issparse(X):
        coded = coded_sparse(X.tocsc())
    else:
        coded = coded_dense(X, np.full(X.shape[1], -1) if n_categories is None else n_categories, rare_share, n_threads)
    n_classes = int(y.max()) + 1
    b = new_boosting(coded.table, y, counts, n_classes, n_threads)
    *_, last = stump_steps(b, coded.values, n_rounds, learning_rate, seconds)
    return Got(last.stumps(), *last.rounds[2:], last.margins, last.end)


def assert_same(one, other):
    """Fail unless two fits come to the same, to the last bit."""
    for left, right in zip((*one.stumps, *one[1:]), (*other.stumps, *other[1:]), strict=True):
        np.testing.assert_array_equal(left, right)


def case(seed, n_classes, holes=0.0, n_rows=40):
    """Return rows of few values, so that many cuts are equal, and blurred classes."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(n_rows, 3)) / 2.0
    X[:, 2] = rng.random(n_rows) < 0.2  # a column that is kept by its rare entries
    score = X[:, 0] + X[:, 1] + rng.normal(size=n_rows)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    X[rng.random(X.shape) < holes] = np.nan
    return X, y, rng.integers(1, 4, size=n_rows)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_the_stumps_are_those_of_plain_loops(seed, n_classes, holes):
    X, y, weights = case(seed, n_classes, holes)
    got = boosted(X, y, weights, learning_rate=0.7)
    stumps, errors, alphas = naive.boost(X.tolist(), y.tolist(), weights.tolist(), n_classes, 6, 0.7, bits=45)
    np.testing.assert_allclose(got.errors, errors, rtol=1e-11)
    np.testing.assert_allclose(got.alphas, alphas, rtol=1e-10)
    assert got.stumps.feature.tolist() == [stump.feature for stump in stumps]
    assert got.stumps.left.tolist() == [stump.left for stump in stumps]
    assert got.stumps.right.tolist() == [stump.right for stump in stumps]
    for threshold, stump in zip(got.stumps.threshold, stumps, strict=True):
        column = X[:, stump.feature]
        assert (column[column <= threshold] <= stump.below).all()
        assert (column[column > threshold] > stump.below).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_any_storage_of_columns_gives_the_same(n_classes):
    """By all codes, by rare entries, and from a sparse matrix."""
    X, y, weights = case(0, n_classes)
    stored, rare = (boosted(X, y, weights, rare_share=share) for share in (0.0, 1.0))
    sparse_one = boosted(sparse.csr_array(X), y, weights)
    for other in (rare, sparse_one):
        assert_same(stored, other)


def one_hot_rows(n_rows, seed=0):
    """Return rows with numbers, and two categories as columns of zeros and ones; most of the second are alike."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 4, size=n_rows), rng.integers(0, 30, size=n_rows) % 12
    X = np.column_stack([rng.normal(size=(n_rows, 3)).round(2), np.eye(4)[first], np.eye(12)[second]])
    return X, X[:, 0] + (first == 1) - (second == 3) + 0.5 * rng.normal(size=n_rows)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_columns_that_exclude_each_other_become_one(n_classes, monkeypatch):
    """Stumps are the same with bundles and without them."""
    X, score = one_hot_rows(400)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    table = coded_dense(X, np.full(19, -1), 0.5, 1).table
    assert table.column.tolist() == [0, 1, 2, *[3] * 4, *[4] * 12]
    assert table.entries.size == 0
    bundled = boosted(X, y, n_rounds=30)
    monkeypatch.setattr("eigenwood.core.adaboost.packing.WORTH_A_COLUMN", np.inf)
    assert coded_dense(X, np.full(19, -1), 0.5, 1).table.column.max() == 2
    assert_same(bundled, boosted(X, y, n_rounds=30))
    assert len(set(bundled.stumps.feature.tolist()) & set(range(3, 19))) > 1


def test_neighbours_with_an_entry_in_the_same_row_are_no_bundle():
    X = np.zeros((12, 4))
    X[:5, 0], X[5:8, 1], X[7:12, 2], X[:4, 3] = 1.0, 1.0, 1.0, 1.0  # row 7 has two entries
    assert coded_dense(X, np.full(4, -1), 0.5, 1).table.column.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_any_number_of_threads_gives_the_same_bits(n_classes):
    """Of dense columns and of rare entries, in more than one block of rows and of features."""
    n_rows = 9_000 if COMPILED else 200
    X, score = one_hot_rows(n_rows)
    X[:, 1:3] = np.random.default_rng(1).normal(size=(n_rows, 2))
    X = np.column_stack([X, np.random.default_rng(2).random((n_rows, 6)) < 0.02])
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    rounds = 40 if COMPILED else 4
    one = boosted(X, y, n_rounds=rounds)
    for n_threads in (2, 3):
        assert_same(one, boosted(X, y, n_rounds=rounds, n_threads=n_threads))


def test_a_helper_without_memory_ends_the_rounds_with_its_error(monkeypatch):
    def fail(b, thread):
        if taken_task(b.job.crew, thread) >= 0:
            raise MemoryError("for a task")

    monkeypatch.setattr("eigenwood.core.adaboost.rounds.help_stumps", fail)
    X, score = one_hot_rows(9_000)
    with pytest.raises(MemoryError, match="for a task"):
        boosted(X, (score > 0).astype(int), n_rounds=2000 if COMPILED else 5, n_threads=2, seconds=10.0)


def test_a_sparse_column_may_have_missing_numbers_and_no_zeros():
    rng = np.random.default_rng(2)
    X = np.where(rng.random((60, 4)) < 0.7, 0.0, rng.integers(-3, 4, size=(60, 4)))
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 1] = rng.integers(1, 4, size=60)
    y = (np.nan_to_num(X).sum(axis=1) + rng.normal(size=60) > 1.0).astype(int)
    dense, given = boosted(X, y, n_rounds=10), boosted(sparse.csr_array(X), y, n_rounds=10)
    assert_same(dense, given)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_weight_is_a_repeated_row_in_any_order(n_classes):
    X, y, weights = case(3, n_classes, 0.1)
    copies = np.random.default_rng(0).permutation(np.repeat(np.arange(len(y)), weights))
    one, other = boosted(X, y, weights, n_rounds=20), boosted(X[copies], y[copies], n_rounds=20)
    for left, right in zip((*one.stumps, *one[1:5]), (*other.stumps, *other[1:5]), strict=True):
        np.testing.assert_array_equal(left, right)
    np.testing.assert_array_equal(one.margins[copies], other.margins)


def test_renewed_weights_change_nothing_but_rounding():
    """300 rounds double the sum of the weights more often than 64 bits could hold."""
    X, y, _ = case(4, 2, n_rows=200)
    step = boosted(X, y, n_rounds=300)
    D = np.ones(200) / 200
    votes = stump_votes_of_each(step.stumps, X)
    for pred, error, alpha in zip(votes, step.errors, step.alphas, strict=True):
        wrong = pred != y
        assert D[wrong].sum() == pytest.approx(error, rel=1e-6)
        D = D * np.exp(alpha * wrong)
        D /= D.sum()
    assert step.errors.size == 300


def stump_votes_of_each(stumps, X):
    return [
        stump_votes(part_of_stumps(stumps, t, t + 1), np.ones(1), X, 2, 1).argmax(axis=1)
        for t in range(stumps.feature.size)
    ]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_margins_are_those_of_the_votes(n_classes):
    X, y, weights = case(5, n_classes)
    step = boosted(X, y, weights, n_rounds=12)
    votes = stump_votes(step.stumps, step.alphas, X, n_classes, 1)
    own = votes[np.arange(len(y)), y]
    others = np.where(np.arange(n_classes) == y[:, None], -1.0, votes).max(axis=1)
    margins = (own - others) / step.alphas.sum()
    np.testing.assert_allclose(step.margins, margins, atol=1e-12)
    assert step.min_margins[-1] == pytest.approx(margins.min())
    assert step.train_errors[-1] == pytest.approx(weights[margins <= 1e-12].sum() / weights.sum())


def test_calls_may_be_long_or_short():
    X, y, _ = case(6, 2)
    one, many = boosted(X, y, n_rounds=30, seconds=10.0), boosted(X, y, n_rounds=30, seconds=0.0)
    assert_same(one, many)


@pytest.mark.parametrize("n_numbers", [0, 1])
def test_categories_go_where_they_weigh_more(n_numbers):
    """The best two sets of categories, found by trying all of them; also beside a column of numbers, all alike."""
    rng = np.random.default_rng(1)
    X = np.hstack([rng.integers(0, 5, size=(60, 1)).astype(float), np.ones((60, n_numbers))])
    for n_classes in (2, 3):
        y = rng.integers(0, n_classes, size=60)
        step = boosted(X, y, n_rounds=1, n_categories=np.array([5, -1])[: 1 + n_numbers])
        least = min(
            (np.where(bits >> X[:, 0].astype(int) & 1, a, b) != y).mean()
            for bits in range(32)
            for a in range(n_classes)
            for b in range(n_classes)
        )
        assert step.errors[0] == pytest.approx(least)
        votes = stump_votes(step.stumps, np.ones(1), X, n_classes, 1)
        assert (votes.argmax(axis=1) != y).mean() == pytest.approx(least)


def test_why_rounds_end():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    assert boosted(X, np.array([0, 0, 1, 1])).end == PERFECT
    perfect = boosted(X, np.array([0, 0, 1, 1]))
    assert perfect.alphas.tolist() == [1.0]
    nothing = boosted(np.zeros((4, 1)), np.array([0, 1, 0, 1]))
    assert (nothing.end, nothing.alphas.tolist(), nothing.errors.tolist()) == (NO_EDGE, [0.0], [0.5])
    assert boosted(X, np.array([0, 1, 1, 0]), n_rounds=2).end == GOES_ON


def test_one_class_for_all_can_be_the_best_stump():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    y = np.array([0, 0, 0, 1, 0, 0, 0])
    step = boosted(X, y, n_rounds=1)
    assert step.errors[0] == pytest.approx(1 / 7)
    assert step.stumps.left[0] == step.stumps.right[0] == 0


def test_weights_become_whole_numbers():
    assert integer_weights(np.array([3.0, 1.0])).tolist() == [3, 1]
    tiny = integer_weights(np.array([1.0, 1e-30]))
    assert tiny[1] == 1
    halves, quarters = integer_weights(np.array([0.5, 1.0])), integer_weights(np.array([0.25, 0.25, 0.5, 0.5]))
    assert halves.tolist() == [2 * quarters[0], 2 * quarters[2]]
