"""Intervals: their formulas against plain loops, scikit-learn and SciPy; how often they hold is in test_coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap, ttest_1samp
from sklearn.metrics import r2_score

from eigenwood.proofs.out_of_bag import share_interval
from eigenwood.runs.intervals import (
    Spread,
    area_interval,
    freedom,
    is_above_zero,
    jackknifed,
    joint,
    mean_interval,
    mean_of_shares,
    median_interval,
    r2_interval,
    spread,
    with_pseudo_rows,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=80)
Y = X + 0.5 * RNG.normal(size=80)
WHOLE = RNG.integers(1, 4, size=80).astype(float)


def test_of_one_share_it_is_wilsons():
    assert mean_of_shares(np.array([0.8]), np.array([50])) == pytest.approx(share_interval(0.8, 50))


def test_the_spread_of_a_mean_is_that_of_the_textbook():
    found = spread((X - X.mean()) / 80, np.ones(80))
    assert found.variance == pytest.approx(X.var(ddof=1) / 80)
    assert found.half == pytest.approx(1.99 * found.variance**0.5, rel=0.02)


def test_two_groups_have_the_freedom_of_welch():
    one, other = Spread(0.5, 9.0), Spread(0.25, 4.0)
    assert joint([one, other]) == Spread(0.75, pytest.approx(0.75**2 / (0.5**2 / 9 + 0.25**2 / 4)))
    assert joint([Spread(0.0, 9.0), Spread(0.0, 4.0)]).half == 0.0


def test_few_rows_that_make_most_of_it_leave_little_freedom():
    tailed = np.random.default_rng(0).standard_t(2, size=400)
    assert freedom(X, np.ones(80)) > 40 > freedom(tailed, np.ones(400)) >= 3
    assert freedom(np.zeros(5), np.ones(5)) == 4


def test_pseudo_rows_matter_where_there_are_few():
    seen = Spread(0.001, 9.0)
    assert with_pseudo_rows(seen, 0.1, 10).variance > 1.2 * seen.variance
    assert with_pseudo_rows(seen, 0.1, 1000).variance == pytest.approx(seen.variance, rel=0.01)
    assert with_pseudo_rows(Spread(np.inf, 1.0), 0.1, 1).variance == pytest.approx(0.1)


def test_r2_is_the_jackknife_in_plain_loops():
    left = [np.log(1 - r2_score(np.delete(Y, i), np.delete(X, i))) for i in range(80)]
    half = jackknifed(np.array(left), np.ones(80)).half
    middle = np.log(1 - r2_score(Y, X))
    assert r2_interval(Y, X) == pytest.approx((1 - np.exp(middle + half), 1 - np.exp(middle - half)))
    assert jackknifed(np.array(left), np.ones(80)).variance == pytest.approx(79 * np.var(left))


def test_the_mean_is_the_jackknife_in_plain_loops():
    left = [np.log(np.delete(np.abs(Y), i).mean()) for i in range(80)]
    half = jackknifed(np.array(left), np.ones(80)).half
    middle = np.log(np.abs(Y).mean())
    assert mean_interval(np.abs(Y)) == pytest.approx((np.exp(middle - half), np.exp(middle + half)))


def test_they_are_close_to_the_bootstrap_where_that_is_good():
    y, x = np.tile(Y, 5) + RNG.normal(size=400) * 0.1, np.tile(X, 5)
    wanted = bootstrap((y, x), r2_score, paired=True, vectorized=False, n_resamples=2000, method="percentile", rng=0)
    assert r2_interval(y, x) == pytest.approx(tuple(wanted.confidence_interval), abs=0.015)
    wanted = bootstrap((np.abs(y),), np.mean, n_resamples=2000, method="percentile", rng=0)
    assert mean_interval(np.abs(y)) == pytest.approx(tuple(wanted.confidence_interval), rel=0.02)
    wanted = bootstrap((np.abs(y),), np.median, n_resamples=2000, method="percentile", rng=0)
    assert median_interval(np.abs(y)) == pytest.approx(tuple(wanted.confidence_interval), rel=0.06)


@pytest.mark.parametrize("interval", [mean_interval, median_interval])
def test_whole_weights_are_repeated_rows(interval):
    rows = np.repeat(np.arange(80), WHOLE.astype(int))
    assert interval(np.abs(Y), WHOLE) == pytest.approx(interval(np.abs(Y)[rows]))
    assert r2_interval(Y, X, WHOLE) == pytest.approx(r2_interval(Y[rows], X[rows]))


def test_other_weights_count_by_their_proportions():
    w = RNG.random(80) + 0.2
    for scale in (0.01, 100.0):
        assert r2_interval(Y, X, scale * w + 0.0) == pytest.approx(r2_interval(Y, X, w))
        assert mean_interval(np.abs(Y), scale * w) == pytest.approx(mean_interval(np.abs(Y), w))
    low, high = mean_interval(np.abs(Y))
    low_weighted, high_weighted = mean_interval(np.abs(Y), w)
    assert high_weighted / low_weighted > high / low  # some rows count less, so fewer rows decide


def test_a_gain_is_above_zero_as_in_the_t_test():
    for shift in np.linspace(0.0, 0.5, 11):
        gains = X - X.mean() + shift
        assert is_above_zero(gains) == (ttest_1samp(gains, 0.0).confidence_interval(0.95).low > 0)


def test_perfect_and_single_rows():
    assert r2_interval(Y, Y) == (1.0, 1.0)
    assert r2_interval(np.ones(5), X[:5]) == (0.0, 0.0)
    assert mean_interval(np.zeros(5)) == (0.0, 0.0)
    for few in (np.ones(1), np.array([1.0, 2.0])):
        low, high = mean_interval(few)
        assert 0.0 <= low < few.mean() < high < np.inf
    assert area_interval(1.0, Spread(0.0, 9.0), 20) == share_interval(1.0, 20)
    assert area_interval(0.8, Spread(np.inf, 1.0), 20) == (0.0, 1.0)
    one_row = r2_interval(np.r_[np.zeros(30), 1e9] + Y[:31], np.zeros(31))
    assert np.isfinite(one_row).all()
