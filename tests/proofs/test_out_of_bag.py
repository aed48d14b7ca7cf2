"""Out-of-bag proofs: votes and means against plain loops, bounds against what they bound, intervals against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from eigenwood.estimators.ensemble.out_of_bag import OobResiduals
from eigenwood.proofs.claim import Certificate
from eigenwood.proofs.out_of_bag import (
    MOST_DRAWS,
    MOST_ROWS,
    Ballot,
    Score,
    Vote,
    assessed_mean,
    assessed_vote,
    mean_claims,
    resampled_interval,
    row_total,
    score_claims,
    share_interval,
    strongest_rivals,
    vote_claims,
    vote_counts,
)
from tests.naive import out_of_bag as naive


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


# ---------------------------------------------------------------------------------- amounts


def assessed(lefts, amounts, weights):
    """Return the numbers of learners, each of which says something (second) about some rows (first)."""
    residuals, counts = OobResiduals(amounts, weights), np.zeros(len(amounts), dtype=np.int64)
    for rows, said in lefts:
        residuals.add(rows, said)
        counts[rows] += 1
    return assessed_mean(residuals.residuals(counts), weights)


def drawn_amounts(seed, n_rows=20, n_learners=6, n_outputs=1, in_common=0.7, chance=0.5):
    """Return what learners say about some of the rows, whose errors have something in common, amounts and weights."""
    rng = np.random.default_rng(seed)
    amounts, shared = rng.normal(size=(2, n_rows, n_outputs))
    lefts = []
    for _ in range(n_learners):
        rows = np.flatnonzero(rng.random(n_rows) < chance)
        off = in_common * shared[rows] + (1.0 - in_common) * rng.normal(size=(rows.size, n_outputs))
        if rows.size:
            lefts.append((rows, amounts[rows] + rng.uniform(0.5, 2.0) * off))
    return lefts, amounts, rng.integers(1, 4, size=n_rows).astype(float)


def residuals_of(lefts, amounts):
    return [dict(zip(rows.tolist(), (said - amounts[rows]).tolist(), strict=True)) for rows, said in lefts]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_mean_equals_a_plain_loop_over_pairs(seed, n_outputs):
    lefts, amounts, weights = drawn_amounts(seed, n_outputs=n_outputs)
    expected = naive.assessed_mean(residuals_of(lefts, amounts), weights)
    np.testing.assert_allclose(assessed(lefts, amounts, weights), expected, rtol=1e-9)


@given(
    seed=st.integers(0, 10_000),
    in_common=st.floats(-1.0, 1.0),
    n_learners=st.integers(1, 12),
    chance=st.floats(0.05, 1.0),
)
@settings(max_examples=200, deadline=None)
def test_the_bound_of_a_mean_is_a_theorem_about_the_rows_at_hand(seed, in_common, n_learners, chance):
    lefts, amounts, weights = drawn_amounts(seed, 12, n_learners, 2, in_common, chance)
    if not lefts:
        return
    mean = assessed(lefts, amounts, weights)
    assert mean.error <= mean.learner_error * (1 + 1e-9)
    assert mean.error <= mean.bound() * (1 + 1e-9) or np.isnan(mean.correlation)
    assert all(claim.holds for claim in mean_claims(mean))


@given(seed=st.integers(0, 10_000), n_learners=st.integers(2, 9))
@settings(max_examples=50, deadline=None)
def test_of_equal_learners_the_bound_is_the_error_of_one(seed, n_learners):
    rng = np.random.default_rng(seed)
    amounts, said = rng.normal(size=(2, 10, 2))
    rows = np.sort(rng.choice(10, size=6, replace=False))
    mean = assessed([(rows, said[rows])] * n_learners, amounts, np.ones(10))
    assert mean.correlation == pytest.approx(1.0)
    assert mean.error == pytest.approx(mean.learner_error)
    assert mean.bound() == pytest.approx(mean.learner_error)


def test_equal_learners_that_are_asked_about_different_rows_have_the_error_of_one():
    """They are not equally good on their rows, and Breiman's correlation is then above 1."""
    rng = np.random.default_rng(0)
    amounts, said = rng.normal(size=(2, 30, 1))
    lefts = [(rows, said[rows]) for rows in (np.flatnonzero(rng.random(30) < 0.5) for _ in range(5))]
    mean = assessed(lefts, amounts, np.ones(30))
    assert mean.error == pytest.approx(mean.learner_error)
    assert 1.0 < mean.correlation < 1.1


def test_learners_that_err_by_chance_have_little_in_common_and_a_mean_that_gains_by_every_one_of_them():
    rng = np.random.default_rng(0)
    amounts, rows = np.zeros((5000, 1)), np.arange(5000)
    mean = assessed([(rows, rng.normal(size=(5000, 1))) for _ in range(10)], amounts, np.ones(5000))
    assert mean.n_asked == pytest.approx(10.0)
    assert mean.correlation == pytest.approx(0.0, abs=0.01)
    assert mean.error == pytest.approx(mean.learner_error / 10, rel=0.1)


def test_a_correlation_below_zero_does_not_bound():
    """Two learners that err by as much to either side have a mean without error."""
    amounts, rows = np.zeros((4, 1)), np.arange(4)
    mean = assessed([(rows, amounts + 1.0), (rows, amounts - 1.0)], amounts, np.ones(4))
    assert (mean.error, mean.learner_error, mean.correlation, mean.bound()) == (0.0, 1.0, -1.0, 0.5)
    assert Certificate(tuple(mean_claims(mean))).holds


def test_weights_of_amounts_are_repeated_rows():
    lefts, amounts, weights = drawn_amounts(3)
    copies = np.repeat(np.arange(len(amounts)), weights.astype(int))
    repeated = []
    for rows, said in lefts:
        all_said = np.full(amounts.shape, np.nan)
        all_said[rows] = said
        places = np.flatnonzero(~np.isnan(all_said[copies, 0]))
        repeated.append((places, all_said[copies][places]))
    np.testing.assert_allclose(
        assessed(repeated, amounts[copies], np.ones(copies.size)), assessed(lefts, amounts, weights)
    )


def test_large_amounts_keep_their_digits():
    lefts, amounts, weights = drawn_amounts(5)
    lefts, amounts = [(rows, np.round(said, 3)) for rows, said in lefts], np.round(amounts, 3)
    far = [(rows, said * 2.0**10 + 2.0**40) for rows, said in lefts]
    of_near, of_far = assessed(lefts, amounts, weights), assessed(far, amounts * 2.0**10 + 2.0**40, weights)
    assert of_far.correlation == pytest.approx(of_near.correlation, rel=1e-5)
    assert of_far.learner_error == pytest.approx(of_near.learner_error * 2.0**20, rel=1e-5)


@pytest.mark.parametrize("size", [1e-170, 1e-160, 1e-15, 1e140])
def test_the_size_of_amounts_does_not_break_the_bound(size):
    lefts, amounts, weights = drawn_amounts(4)
    mean = assessed([(rows, said * size) for rows, said in lefts], amounts * size, weights)
    assert Certificate(tuple(mean_claims(mean))).holds


def test_learners_that_are_never_off_have_nothing_in_common():
    amounts = np.full((3, 1), 0.1)
    mean = assessed([(np.arange(3), amounts)] * 37, amounts, np.ones(3))
    assert (mean.error, mean.learner_error, mean.n_asked, mean.correlation) == (0.0, 0.0, pytest.approx(37.0), 0.0)
    assert mean_claims(mean)[-1].holds


def test_a_row_that_one_learner_was_asked_about_has_no_pair():
    """It counts in the errors alone; without other rows there is no correlation."""
    amounts = np.zeros((3, 1))
    alone = [(np.array([0]), np.array([[2.0]]))]
    mean = assessed(alone, amounts, np.ones(3))
    assert (mean.error, mean.learner_error, mean.n_asked) == (4.0, 4.0, 1.0)
    assert np.isnan(mean.correlation)
    claims = mean_claims(mean)
    assert [(claim.name, claim.bound) for claim in claims] == [("learner error", None), ("mean error", None)]
    assert Certificate(tuple(claims)).holds is None  # nothing bounds what was measured
    pair = [(np.array([1, 2]), np.array([[1.0], [1.0]]))] * 2
    assert assessed(alone + pair, amounts, np.ones(3)).error == pytest.approx(2.0)
    perfect = [(np.array([1, 2]), np.zeros((2, 1)))] * 2
    assert assessed(alone + perfect, amounts, np.ones(3)).correlation == 0.0


def test_errors_too_large_to_be_squared_are_not_claimed():
    amounts, rows = np.zeros((2, 1)), np.arange(2)
    with np.errstate(all="ignore"):
        mean = assessed([(rows, np.full((2, 1), 1e200))] * 2, amounts, np.ones(2))
    assert mean_claims(mean) == []


# ---------------------------------------------------------------------------------- intervals


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


def test_no_interval_of_fewer_resamples_than_it_is_made_of():
    looks = iter(range(10_000))
    late = resampled_interval(lambda rows: 1.0, 1.0, 100, seed=0, time_is_up=lambda: next(looks) > 3)
    assert np.isnan(late).all()
    assert next(looks) == 5


def test_an_interval_that_was_not_found_is_not_claimed():
    found = score_claims(Score("auc", 0.9, (0.8, 0.95), 1.0))
    missing = score_claims(Score("auc", 0.9, (float("nan"), float("nan")), 1.0))
    assert [claim.name for claim in found] == ["left out", "out-of-bag score", "out-of-bag lower", "out-of-bag upper"]
    assert [claim.value for claim in found] == [1.0, 0.9, 0.8, 0.95]
    assert [claim.name for claim in missing] == ["left out", "out-of-bag score"]
    assert all(claim.holds for claim in missing)
