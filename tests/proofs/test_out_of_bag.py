"""Out-of-bag proofs: votes against plain loops, the bound against the votes it bounds, intervals against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from eigenwood.proofs.claim import Certificate
from eigenwood.proofs.out_of_bag import (
    MOST_DRAWS,
    MOST_ROWS,
    Ballot,
    Score,
    Vote,
    assessed_vote,
    resampled_interval,
    row_total,
    score_claims,
    share_interval,
    strongest_rivals,
    vote_claims,
    vote_counts,
)


def naive_vote(ballots, codes, weights, n_classes):
    """Breiman's numbers in plain loops, straight from their definitions."""
    heard = {i: [] for i in range(len(codes))}
    for t, ballot in enumerate(ballots):
        for i, said in zip(ballot.rows.tolist(), ballot.votes.tolist(), strict=True):
            heard[i].append((t, said))
    heard = {i: votes for i, votes in heard.items() if votes}
    total = sum(weights[i] for i in heard)
    margins, rivals, wrong = {}, {}, 0.0
    for i, votes in heard.items():
        shares = [sum(said == j for _, said in votes) / len(votes) for j in range(n_classes)]
        rivals[i] = max((j for j in range(n_classes) if j != codes[i]), key=lambda j: (shares[j], -j))
        margins[i] = shares[codes[i]] - shares[rivals[i]]
        wrong += weights[i] * (shares.index(max(shares)) != codes[i])
    strength = sum(weights[i] * margins[i] for i in heard) / total
    variance = sum(weights[i] * (margins[i] - strength) ** 2 for i in heard) / total
    deviation = 0.0
    for t in range(len(ballots)):
        raw = [
            (weights[i] / total / len(votes), int(said == codes[i]) - int(said == rivals[i]))
            for i, votes in heard.items()
            for number, said in votes
            if number == t
        ]
        own = sum(mass for mass, _ in raw)
        if own > 0:
            mean = sum(mass * margin for mass, margin in raw) / own
            deviation += own * (sum(mass * (margin - mean) ** 2 for mass, margin in raw) / own) ** 0.5
    correlation = variance / deviation**2 if deviation > 0 else (0.0 if variance == 0 else float("inf"))
    return Vote(wrong / total, strength, correlation)


def drawn_votes(seed, n_rows=30, n_learners=7, n_classes=3, skill=0.7):
    """Return ballots of learners that are right more often than not, each about some of the rows."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_classes, size=n_rows)
    ballots = []
    for _ in range(n_learners):
        rows = np.flatnonzero(rng.random(n_rows) < 0.4)
        said = np.where(rng.random(rows.size) < skill, codes[rows], rng.integers(n_classes, size=rows.size))
        ballots.append(Ballot(rows, said))
    return ballots, codes, rng.integers(1, 4, size=n_rows).astype(float)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_a_vote_equals_the_textbook(seed, n_classes):
    ballots, codes, weights = drawn_votes(seed, n_classes=n_classes)
    np.testing.assert_allclose(
        assessed_vote(ballots, codes, weights, n_classes), naive_vote(ballots, codes, weights, n_classes), rtol=1e-9
    )


@given(seed=st.integers(0, 10_000), skill=st.floats(0.0, 1.0), n_learners=st.integers(1, 12))
@settings(max_examples=200, deadline=None)
def test_the_bound_is_a_theorem_about_the_rows_at_hand(seed, skill, n_learners):
    ballots, codes, weights = drawn_votes(seed, n_rows=12, n_learners=n_learners, skill=skill)
    if sum(ballot.rows.size for ballot in ballots) == 0:
        return
    vote = assessed_vote(ballots, codes, weights, 3)
    if vote.strength > 0:
        assert vote.error <= vote.bound() * (1 + 1e-9) + 1e-9
    assert vote_claims(vote)[-1].holds


def test_weights_are_repeated_rows():
    ballots, codes, weights = drawn_votes(3)
    copies = np.repeat(np.arange(codes.size), weights.astype(int))
    repeated = []
    for rows, votes in ballots:
        said = np.full(codes.size, -1)
        said[rows] = votes
        places = np.flatnonzero(said[copies] >= 0)
        repeated.append(Ballot(places, said[copies][places]))
    np.testing.assert_allclose(
        assessed_vote(repeated, codes[copies], np.ones(copies.size), 3), assessed_vote(ballots, codes, weights, 3)
    )


def test_learners_that_are_always_right_have_nothing_in_common():
    codes = np.array([0, 1, 1])
    vote = assessed_vote([Ballot(np.arange(3), codes)] * 2, codes, np.ones(3), 2)
    assert vote == Vote(0.0, 1.0, 0.0)
    assert vote.bound() == 0.0


def test_a_vote_that_is_always_wrong_is_not_bounded():
    codes = np.array([0, 1])
    vote = assessed_vote([Ballot(np.arange(2), 1 - codes)], codes, np.ones(2), 2)
    assert (vote.error, vote.strength, vote.bound()) == (1.0, -1.0, float("inf"))
    assert vote_claims(vote)[-1].bound is None


def test_rows_that_nobody_was_asked_about_do_not_count():
    codes = np.array([0, 1, 0])
    ballots = [Ballot(np.array([0, 1]), np.array([0, 0]))]
    assert assessed_vote(ballots, codes, np.ones(3), 2) == assessed_vote(ballots, codes[:2], np.ones(2), 2)


def test_counts_and_rivals():
    counts = vote_counts([Ballot(np.array([0, 1]), np.array([2, 1])), Ballot(np.array([0]), np.array([2]))], 2, 3)
    np.testing.assert_array_equal(counts, [[0, 0, 2], [0, 1, 0]])
    np.testing.assert_array_equal(strongest_rivals(counts, np.array([2, 0])), [0, 1])


@pytest.mark.parametrize(("n_right", "n_rows"), [(0, 5), (5, 5), (9, 10), (60, 150), (1, 2000)])
def test_the_interval_of_a_share_is_wilsons(n_right, n_rows):
    expected = binomtest(n_right, n_rows).proportion_ci(0.95, method="wilson")
    np.testing.assert_allclose(share_interval(n_right / n_rows, n_rows), expected, atol=1e-12)


def test_the_interval_of_a_share_covers_it_as_often_as_it_says():
    rng = np.random.default_rng(0)
    seen = rng.binomial(80, 0.8, size=4000) / 80
    covered = [low <= 0.8 <= high for low, high in (share_interval(share, 80) for share in seen)]
    assert 0.93 <= np.mean(covered) <= 0.97


def test_resamples_of_a_mean_are_as_wide_as_its_standard_error():
    x = np.random.default_rng(0).normal(size=400)
    low, high = resampled_interval(lambda rows: x[rows].mean(), x.mean(), 400, seed=1)
    assert low < x.mean() < high
    np.testing.assert_allclose(high - low, 2 * 1.96 * x.std() / 20, rtol=0.15)
    assert (low, high) == resampled_interval(lambda rows: x[rows].mean(), x.mean(), 400, seed=1)


def test_resamples_of_very_many_rows_are_smaller_and_the_interval_is_as_narrow():
    x, sizes = np.random.default_rng(0).normal(size=1_000_000), []

    def mean(rows):
        sizes.append(rows.size)
        return x[rows].mean()

    low, high = resampled_interval(mean, x.mean(), x.size, seed=1)
    assert low < x.mean() < high
    np.testing.assert_allclose(high - low, 2 * 1.96 * x.std() / 1000, rtol=0.25)
    assert max(sizes) <= MOST_ROWS
    assert sum(sizes) <= MOST_DRAWS


def test_resamples_that_say_nothing_do_not_count():
    low, high = resampled_interval(lambda rows: 1.0 if rows[0] == 0 else float("nan"), 1.0, 3, seed=0)
    assert (low, high) == (1.0, 1.0)
    assert np.isnan(resampled_interval(lambda rows: float("nan"), 1.0, 3, seed=0)).all()


def test_how_many_rows_weights_stand_for():
    assert row_total(np.array([2.0, 3.0])) == 5.0
    assert row_total(np.array([0.5, 0.5])) == pytest.approx(2.0)
    assert row_total(np.array([1e-3, 1.0])) == pytest.approx(1.002, abs=1e-3)


def test_an_interval_that_was_not_found_is_not_claimed():
    found = score_claims(Score("auc", 0.9, (0.8, 0.95), 1.0))
    missing = score_claims(Score("auc", 0.9, (float("nan"), float("nan")), 1.0))
    assert [claim.name for claim in found] == ["left out", "out-of-bag score", "out-of-bag lower", "out-of-bag upper"]
    assert [claim.value for claim in found] == [1.0, 0.9, 0.8, 0.95]
    assert [claim.name for claim in missing] == ["left out", "out-of-bag score"]
    assert Certificate(tuple(missing)).holds
