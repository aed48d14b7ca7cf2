"""What can be proved about learners that vote, or whose mean is taken, from the rows that each of them did not see.

A row is *out of bag* for a learner that did not learn from it; its answer about that row is honest. From these answers
follow a score with its interval, and Breiman's numbers (Random Forests, 2001). For row i with class y let Q(j) be the
share of the votes for class j, and ĵ the wrong class with the most votes:

    margin        m_i = Q(y) - Q(ĵ)                     the vote is right where it is above 0
    strength      s   = mean of m_i
    correlation   ρ   = variance of m_i / (mean deviation of one learner's raw margin)²
    bound         error ≤ ρ (1 - s²) / s²               Chebyshev's inequality, if s > 0

One learner's raw margin is +1 where it says y, -1 where it says ĵ, and 0 elsewhere. Learners do not see the same rows,
so a row shares its weight among the learners that were asked about it: then the bound is a theorem about the rows at
hand, not only in the limit of many learners.

Of regressors, let r be what a learner is off by at a row, d = √(mean of r²) its deviation, and m_i the
number of learners that were asked about row i. Of several outputs, r² and r r' are the mean over these:

    learner error e   = mean of r²
    correlation   ρ   = (mean of r r' of two different learners / mean of r² there) · (mean of d² / (mean of d)²)
    bound         error of the mean ≤ (ρ + (1 - ρ) / m) e

With endlessly many learners the bound is ρ e, Breiman's theorem 11.2. Of so many as there are, the square of the mean
at row i consists of m_i² products, m_i of which are squares of one learner. So rows have the weight 1 - 1/m_i in the
first quotient, and m is the harmonic mean of the m_i by squares; then the bound without the second quotient is an
equation for the rows at hand, and with it, as it is not below 1, a theorem.

Nothing here knows what a learner is: votes, predictions, classes and weights come as arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from eigenwood.proofs.claim import ROUNDING, Claim, at_most, measured

CONFIDENCE = 0.95
MOST_RESAMPLES, LEAST_RESAMPLES = 500, 200
MOST_DRAWS = 2_000_000  # rows drawn by all resamples together: most metrics read them in less than a second
MOST_ROWS = 10_000  # of one resample
NO_VOTES = -np.inf
NO_SPLIT = 1e-28  # a square of margins that is mere rounding
SMALLEST = 1e-300  # squares below it have lost their digits

Interval = tuple[float, float]


class Ballot(NamedTuple):
    """What one learner says about the rows it did not see."""

    rows: np.ndarray  # their places
    votes: np.ndarray  # the code of the class it says for each


class Vote(NamedTuple):
    """How good a vote is, and why."""

    error: (
        float  # share of the rows whose class has not the most votes, by weight; those that all have seen do not count
    )
    strength: float
    correlation: float

    def bound(self) -> float:
        """Return ρ (1 - s²) / s², the most that the error can be; infinite unless the strength is above 0."""
        if self.strength <= 0.0:
            return float("inf")
        return self.correlation * (1.0 - self.strength**2) / self.strength**2


class Residuals(NamedTuple):
    """How far learners are from y of the rows they did not see, added up."""

    counts: np.ndarray  # (n_rows,) learners that were asked
    sums: np.ndarray  # (n_rows, n_outputs) of what they are off by
    squares: np.ndarray  # (n_rows,) of the squares of that, in the mean over the outputs
    masses: np.ndarray  # (n_learners,) weight of the rows that a learner was asked about
    errors: np.ndarray  # (n_learners,) its mean squared error there, by weight


class Mean(NamedTuple):
    """How good the mean of learners is, and why."""

    error: float  # squared, by weight; rows that nobody was asked about are left out
    learner_error: float  # the same of a single learner
    n_asked: float  # learners asked about a row, in the harmonic mean by squared error
    correlation: float  # NaN if never were two learners asked about the same row

    def bound(self) -> float:
        """Return (ρ + (1 - ρ) / m) e, the most that the error can be; a correlation below 0 counts as none."""
        correlation = max(self.correlation, 0.0)
        return (correlation + (1.0 - correlation) / self.n_asked) * self.learner_error


class Score(NamedTuple):
    """A score of the rows that somebody did not see, and what it rests on."""

    name: str  # of the metric
    value: float
    interval: Interval
    left_out: float  # share of the rows, by weight, that at least one learner did not see


def vote_counts(ballots: Sequence[Ballot], n_rows: int, n_classes: int) -> np.ndarray:
    """Return how many learners say each class of each row, shape (n_rows, n_classes).

    >>> vote_counts([Ballot(np.array([0, 2]), np.array([1, 1])), Ballot(np.array([2]), np.array([0]))], 3, 2)
    array([[0., 1.],
           [0., 0.],
           [1., 1.]])
    """
    counts = np.zeros((n_rows, n_classes))
    for ballot in ballots:
        counts[ballot.rows, ballot.votes] += 1.0
    return counts


def strongest_rivals(counts: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return for each row the wrong class with the most votes."""
    others = counts.copy()
    others[np.arange(codes.size), codes] = NO_VOTES
    return others.argmax(axis=1)


def assessed_vote(ballots: Sequence[Ballot], codes: np.ndarray, weights: np.ndarray, n_classes: int) -> Vote:
    """Return error, strength and correlation of the majority vote of learners about rows they did not see."""
    counts = vote_counts(ballots, codes.size, n_classes)
    n_heard = counts.sum(axis=1)
    mass = np.where(n_heard > 0, weights, 0.0)
    mass = mass / mass.sum()
    rows, rivals = np.arange(codes.size), strongest_rivals(counts, codes)
    margins = (counts[rows, codes] - counts[rows, rivals]) / np.maximum(n_heard, 1.0)
    strength = float(np.clip(mass @ margins, -1.0, 1.0))
    variance = float(mass @ (margins - strength) ** 2)
    deviation = mean_deviation(ballots, codes, rivals, mass / np.maximum(n_heard, 1.0))
    error = float(mass @ (counts.argmax(axis=1) != codes))
    return Vote(error, strength, quotient(variance, deviation**2))


def mean_deviation(ballots: Sequence[Ballot], codes: np.ndarray, rivals: np.ndarray, mass: np.ndarray) -> float:
    """Return the standard deviation of one learner's raw margin, in the mean over learners.

    ``mass`` is what a row gives to each learner that was asked about it.
    """
    total = 0.0
    for rows, votes in ballots:
        own, raw = mass[rows], (votes == codes[rows]).astype(float) - (votes == rivals[rows])
        if own.any():
            total += own.sum() * np.sqrt(np.average((raw - np.average(raw, weights=own)) ** 2, weights=own))
    return float(total)


def assessed_mean(residuals: Residuals, weights: np.ndarray) -> Mean:
    """Return error and correlation of the mean of learners about rows they did not see.

    >>> off = np.array([[1.0, 3.0], [1.0, -3.0]])  # two learners (lines), asked about the same two rows
    >>> twice, sums, squares = np.full(2, 2), off.sum(axis=0)[:, None], (off**2).sum(axis=0)
    >>> assessed_mean(Residuals(twice, sums, squares, masses=twice, errors=np.full(2, 5.0)), weights=np.ones(2))
    Mean(error=0.5, learner_error=5.0, n_asked=2.0, correlation=-0.8)
    """
    asked = np.flatnonzero(residuals.counts)
    n_asked, mass = residuals.counts[asked], weights[asked] / weights[asked].sum()
    of_mean = mean_squares(residuals.sums[asked] / n_asked[:, None])
    of_one = residuals.squares[asked] / n_asked
    error, learner_error, own = (float((mass * part).sum()) for part in (of_mean, of_one, of_one / n_asked))
    products = float((mass * (of_mean - of_one / n_asked)).sum())
    squares = float((mass * of_one * (1.0 - 1.0 / n_asked)).sum())
    harmonic = learner_error / own if own > 0.0 else 1.0 / float((mass / n_asked).sum())
    if n_asked.max() < 2:
        return Mean(error, learner_error, harmonic, float("nan"))
    # learners that are never off have nothing in common
    correlation = products / squares * unevenness(residuals) if squares > 0.0 else 0.0
    return Mean(error, learner_error, harmonic, correlation)


def mean_squares(lines: np.ndarray) -> np.ndarray:
    """Return the mean of the squares of each line."""
    return np.einsum("ij,ij->i", lines, lines) / lines.shape[1]


def unevenness(residuals: Residuals) -> float:
    """Return the mean squared error of learners / (their mean deviation)²: 1 if all are equally good, else above."""
    mass = residuals.masses / residuals.masses.sum()
    deviation = float((mass * np.sqrt(residuals.errors)).sum())
    return float((mass * residuals.errors).sum()) / deviation / deviation if deviation > 0.0 else 1.0


def quotient(above: float, below: float) -> float:
    """Return above / below; 0 / 0 is 0, since learners that never differ from a constant have nothing in common."""
    if above <= NO_SPLIT:
        return 0.0
    return above / below if below > NO_SPLIT else float("inf")


def row_total(weights: np.ndarray) -> float:
    """Return how many rows weights stand for: their sum if they count repeated rows, else Kish's effective number.

    >>> row_total(np.array([1.0, 2.0])), row_total(np.array([0.5, 0.5, 0.5]))
    (3.0, 3.0)
    """
    total = float(weights.sum())
    has_integer_weights = bool((weights == np.round(weights)).all())
    return total if has_integer_weights else total**2 / float((weights**2).sum())


def share_interval(share: float, n_rows: float, confidence: float = CONFIDENCE) -> Interval:
    """Return Wilson's interval for a share that was seen among ``n_rows`` rows; these need not be a whole number.

    >>> low, high = share_interval(0.9, 100)
    >>> round(low, 4), round(high, 4)
    (0.8256, 0.9448)
    """
    z = float(ndtri((1.0 + confidence) / 2.0))
    centre = share + z**2 / (2.0 * n_rows)
    half = z * np.sqrt(share * (1.0 - share) / n_rows + z**2 / (4.0 * n_rows**2))
    scale = 1.0 + z**2 / n_rows
    return max(float((centre - half) / scale), 0.0), min(float((centre + half) / scale), 1.0)


def resample_count(n_rows: int) -> int:
    """Return how many resamples an interval is made of.

    >>> resample_count(100), resample_count(5_000), resample_count(1_000_000)
    (500, 400, 200)
    """
    return min(max(MOST_DRAWS // n_rows, LEAST_RESAMPLES), MOST_RESAMPLES)


def resampled_interval(
    score: Callable[[np.ndarray], float],
    value: float,
    n_rows: int,
    seed: int,
    confidence: float = CONFIDENCE,
    time_is_up: Callable[[], bool] = lambda: False,
) -> Interval:
    """Return the middle of the scores of many resamples of the rows; ``score`` takes places of rows.

    All rows together have the score ``value``. Of very many rows a resample has fewer, m of n: its score strays
    √(n / m) times as far from the value as that of a whole one, and the interval is made narrower by as much. A
    resample about which the score says nothing (NaN) does not count; if none says anything, nor does the interval. Nor
    does it if time is up before all are scored: fewer would be another interval.
    """
    rng = np.random.default_rng(seed)
    n_drawn, found = min(n_rows, MOST_ROWS), []
    for _ in range(resample_count(n_rows)):
        if time_is_up():
            return float("nan"), float("nan")
        found.append(score(rng.integers(n_rows, size=n_drawn)))
    scores = np.array(found)
    scores = scores[~np.isnan(scores)]
    if scores.size == 0:
        return float("nan"), float("nan")
    ends = np.quantile(scores, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    width = np.sqrt(n_drawn / n_rows)
    low, high = (1.0 - width) * value + width * ends
    return float(low), float(high)


def score_claims(score: Score) -> list[Claim]:
    """Return what was measured on rows out of bag; a score whose interval could not be found claims none."""
    claims = [
        measured("left out", "share of the rows that at least one learner did not see", score.left_out),
        measured("out-of-bag score", f"{score.name} on rows that the learners asked did not see", score.value),
    ]
    for name, end in zip(("lower", "upper"), score.interval, strict=True):
        if not np.isnan(end):
            statement = f"{name} end of the {CONFIDENCE:.0%} interval of that score".replace("%", " %")
            claims.append(measured(f"out-of-bag {name}", statement, end))
    return claims


def stated_claim(stated: Sequence[float], found: Sequence[float]) -> Claim:
    """Return the claim that a model states the score and interval that are found again; NaN is one that is not there.

    >>> stated_claim([0.9, 0.8, 1.0], [0.9, 0.8, 1.0]).holds, stated_claim([0.99, 0.8, 1.0], [0.9, 0.8, 1.0]).holds
    (True, False)
    """
    claimed, seen = np.array(stated, dtype=np.float64), np.array(found, dtype=np.float64)
    scale = max(1.0, np.nanmax(np.abs(seen), initial=0.0))
    if (np.isnan(claimed) != np.isnan(seen)).any():
        distance = float("inf")
    else:
        distance = float(np.nanmax(np.abs(claimed - seen), initial=0.0) / scale)
    return at_most(
        "stated score", "how far oob_score_ and oob_interval_ are from what is found again", distance, ROUNDING
    )


def vote_claims(vote: Vote) -> list[Claim]:
    """Return Breiman's strength, correlation and bound."""
    claims = [
        measured("strength", "mean margin s of the vote on rows out of bag", vote.strength),
        measured("correlation", "mean correlation ρ of the learners' raw margins", vote.correlation),
    ]
    if vote.strength > 0.0:
        bound = vote.bound() * (1.0 + ROUNDING) + ROUNDING
        return [*claims, at_most("vote error", "error of the vote out of bag ≤ ρ (1 - s²) / s²", vote.error, bound)]
    statement = "error of the vote out of bag; nothing bounds it, since the strength is not above 0"
    return [*claims, measured("vote error", statement, vote.error)]


def mean_claims(mean: Mean) -> list[Claim]:
    """Return Breiman's correlation and bound for regressors; nothing where y is too large to be squared."""
    if not np.isfinite(mean.learner_error):
        return []
    error = measured("learner error", "mean squared error of single learners on rows out of bag", mean.learner_error)
    if np.isnan(mean.correlation):
        statement = "squared error of the mean out of bag; nothing bounds it, since no row was left out twice"
        return [error, measured("mean error", statement, mean.error)]
    statement = "squared error of the mean out of bag ≤ (ρ + (1 - ρ) / m) × learner error"
    return [
        error,
        measured("learners asked", "learners m asked about a row, in the harmonic mean by error", mean.n_asked),
        measured("correlation", "correlation ρ of the errors of two different learners", mean.correlation),
        at_most("mean error", statement, mean.error, mean.bound() * (1.0 + ROUNDING) + SMALLEST),
    ]
