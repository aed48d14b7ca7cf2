"""95 % intervals of measures on blind rows, by formulas that take milliseconds for any number of rows.

    shares             Wilson's interval
    their mean         each share's own Wilson interval, put together by squares (Zou and Donner, 2008)
    areas, F1          the influence of each row (for AUC that is DeLong's), on the scale of log-odds
    means of losses    the jackknife on the scale of logarithms
    R²                 the same of 1 - R²
    medians            the losses at Wilson's interval around one half

Where a few rows decide (amounts with a long tail, a class of few rows) the spread itself is hardly known. Then the
degrees of freedom are fewer, by the kurtosis of what single rows do (Satterthwaite), and to what is seen of a class
a quarter of a row is added that is as far off as can be. ``tests/runs/test_coverage.py`` counts how often intervals
hold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, stdtrit

from eigenwood.proofs.out_of_bag import Interval, row_total, share_interval
from eigenwood.runs.settings import CONFIDENCE

LEAST_FREEDOM = 3.0  # of an interval that is not to be endless
PSEUDO_ROWS = 0.25
WIDEST = 50.0  # on the scale of logarithms: a factor that says nothing, and a number that can be written


class Spread(NamedTuple):
    """The variance of an estimate, and the degrees of freedom with which it is known."""

    variance: float
    freedom: float

    @property
    def half(self) -> float:
        """Return half the width of a 95 % interval."""
        return float(stdtrit(self.freedom, (1.0 + CONFIDENCE) / 2.0) * np.sqrt(self.variance))


def ones_for(weights: np.ndarray | None, n_rows: int) -> np.ndarray:
    """Return the weights of rows; 1 for each where there are none."""
    return np.ones(n_rows) if weights is None else weights


def spread(influences: np.ndarray, weights: np.ndarray) -> Spread:
    """Return how far a value strays by which rows were drawn; ``influences`` is how it follows each row's weight."""
    n_rows = row_total(weights)
    if n_rows <= 1.0:
        return Spread(np.inf, 1.0)
    variance = float((weights * influences**2).sum()) * weights.sum() / n_rows
    return Spread(variance * n_rows / (n_rows - 1.0), freedom(influences, weights))


def freedom(influences: np.ndarray, weights: np.ndarray) -> float:
    """Return the degrees of freedom with which a variance is known: fewer where few rows make most of it.

    >>> freedom(np.array([-1.0, 1.0] * 50), np.ones(100)), freedom(np.array([1.0] * 99 + [-99.0]), np.ones(100))
    (99.0, 3.0)
    """
    n_rows, squares = row_total(weights), influences**2
    mean = float(np.average(squares, weights=weights))
    if mean == 0.0:
        return max(n_rows - 1.0, 1.0)
    kurtosis = float(np.average((squares / mean) ** 2, weights=weights))
    by_kurtosis = 2.0 * n_rows / (kurtosis - 1.0) if kurtosis > 1.0 else np.inf
    return float(max(min(by_kurtosis, n_rows - 1.0), min(LEAST_FREEDOM, n_rows - 1.0)))


def with_pseudo_rows(found: Spread, bound: float, n_rows: float) -> Spread:
    """Return the spread of a mean of so many values as if ``PSEUDO_ROWS`` more were seen, with variance ``bound``."""
    seen = max(n_rows - 1.0, 0.0)
    variance = 0.0 if seen == 0.0 else found.variance * seen
    return Spread((variance + PSEUDO_ROWS * bound / n_rows) / (seen + PSEUDO_ROWS), found.freedom)


def joint(spreads: list[Spread]) -> Spread:
    """Return the spread of a sum over independent groups of rows (Welch, Satterthwaite)."""
    variance = sum(one.variance for one in spreads)
    parts = sum(one.variance**2 / one.freedom for one in spreads)
    return Spread(variance, variance**2 / parts if parts > 0.0 else min(one.freedom for one in spreads))


def mean_of_shares(shares: np.ndarray, n_rows: np.ndarray) -> Interval:
    """Return the interval of the mean of shares that were seen among different rows.

    >>> low, high = mean_of_shares(np.array([0.9, 0.8]), np.array([900, 20]))
    >>> round(low, 3), round(high, 3)
    (0.741, 0.91)
    """
    ends = np.array([share_interval(share, n) for share, n in zip(shares, n_rows, strict=True)])
    below, above = np.sqrt(((ends - shares[:, np.newaxis]) ** 2).sum(axis=0)) / shares.size
    return float(shares.mean() - below), float(shares.mean() + above)


def area_interval(value: float, found: Spread, n_rows: float) -> Interval:
    """Return the interval of an area between 0 and 1, of a class with so many rows."""
    if not 0.0 < value < 1.0:
        return share_interval(value, n_rows)
    half = found.half / (value * (1.0 - value))
    return float(expit(logit(value) - half)), float(expit(logit(value) + half))


def jackknifed(logarithms: np.ndarray, weights: np.ndarray) -> Spread:
    """Return the spread of a logarithm, from what it is without one of the rows."""
    n_rows = row_total(weights)
    if n_rows <= 1.0:
        return Spread(np.inf, 1.0)
    strays = logarithms - np.average(logarithms, weights=weights)
    variance = (n_rows - 1.0) * float(np.average(strays**2, weights=weights))
    return Spread(variance, freedom(strays, weights))


def without_each(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the mean of values that are not below 0, without one of the rows, for each of them."""
    n_rows, mean = row_total(weights), float(np.average(values, weights=weights))
    return np.maximum(n_rows * mean - values, mean) / max(n_rows - 1.0, 1.0)  # one row is not all there is


def mean_interval(losses: np.ndarray, weights: np.ndarray | None = None) -> Interval:
    """Return the interval of the mean of losses, none of which is below 0."""
    w = ones_for(weights, losses.size)
    mean = float(np.average(losses, weights=w))
    if mean <= 0.0:
        return 0.0, 0.0
    half = min(jackknifed(np.log(without_each(losses, w)), w).half, WIDEST)
    return mean * float(np.exp(-half)), mean * float(np.exp(half))


def is_above_zero(gains: np.ndarray, weights: np.ndarray | None = None) -> bool:
    """Return whether the interval of the mean gain of a row is above 0."""
    w = ones_for(weights, gains.size)
    mean = float(np.average(gains, weights=w))
    return mean > spread((gains - mean) / w.sum(), w).half


def r2_interval(y: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None = None) -> Interval:
    """Return the interval of R², from the logarithm of what is left of the variance."""
    w = ones_for(weights, y.size)
    errors, squares = (y - predicted) ** 2, (y - np.average(y, weights=w)) ** 2
    error, variance = float(np.average(errors, weights=w)), float(np.average(squares, weights=w))
    if error <= 0.0 or variance <= 0.0:
        value = 1.0 if error <= 0.0 else 0.0
        return value, value
    # without a row the mean moves, too
    moved = np.minimum(squares / max(row_total(w) - 1.0, 1.0) ** 2, variance / 2.0)
    variances = np.maximum(without_each(squares, w) - moved, variance / row_total(w))
    half = min(jackknifed(np.log(without_each(errors, w)) - np.log(variances), w).half, WIDEST)
    left = error / variance
    return 1.0 - left * float(np.exp(half)), 1.0 - left * float(np.exp(-half))


def median_interval(losses: np.ndarray, weights: np.ndarray | None = None) -> Interval:
    """Return the interval of the median: the losses below which Wilson's interval of one half of the rows lies."""
    w = ones_for(weights, losses.size)
    order = np.argsort(losses)
    below = np.cumsum(w[order]) / w.sum()
    ends = np.searchsorted(below, share_interval(0.5, row_total(w)))
    low, high = losses[order][np.minimum(ends, losses.size - 1)]
    return float(low), float(high)
