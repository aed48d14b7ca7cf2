"""Watch: the clock, the callbacks and the solver, on a solver that only counts."""

from __future__ import annotations

import time
from typing import NamedTuple

import pytest
from sklearn.base import BaseEstimator
from sklearn.callback import with_callbacks

from eigenwood.estimators.watching import Watch, Watched


class Step(NamedTuple):
    n: int
    whole: bool
    last: bool


def counting(n_rounds, parts=3, seconds=0.0):
    """Yield ``parts`` steps for each of ``n_rounds`` rounds."""
    for n in range(1, n_rounds * parts + 1):
        time.sleep(seconds)
        yield Step(n, whole=n % parts == 0, last=n == n_rounds * parts)


class Counter(Watched, BaseEstimator):
    def __init__(self, time_limit=None, seconds=0.0, stop_at=None, afterwards=None):
        self.time_limit = time_limit
        self.seconds = seconds
        self.stop_at = stop_at
        self.afterwards = afterwards

    @with_callbacks
    def fit(self, X=None, y=None):
        self.outcome_ = Watch(self).follow(
            counting(5, seconds=self.seconds),
            max_rounds=5,
            fitted=lambda step: {"n_": step.n},
            wants_stop=lambda step: step.n == self.stop_at,
            seconds_after=lambda step: (self.afterwards or {}).get(step.n, 0.0),
        )
        return self


class Recorder:
    """Counts the calls, and says stop after a number of rounds."""

    def __init__(self, stop_after=None):
        self.begun, self.ended, self.torn_down, self.seen, self.stop_after = 0, 0, 0, [], stop_after

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        self.begun += context.parent is not None

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.ended += context.parent is not None
        self.seen.append(fitted_estimator.n_)
        return context.parent is not None and self.ended == self.stop_after

    def teardown(self, estimator, context):
        self.torn_down += 1


@pytest.mark.parametrize("n", [4, 6])
def test_time_is_up_when_no_more_is_left_than_the_model_takes(n):
    """In the middle of a round as at its end; without a limit nobody asks."""
    outcome = Counter(time_limit=1e6, afterwards={n: 1e7}).fit().outcome_
    assert (outcome.reason, outcome.step.n) == ("time_limit", n)
    assert Counter(time_limit=1e6, afterwards={n: 1e5}).fit().outcome_.reason == "finished"
    assert Counter(afterwards={n: 1e7}).fit().outcome_.reason == "finished"


def test_to_the_end():
    outcome = Counter().fit().outcome_
    assert (outcome.reason, outcome.n_rounds, outcome.step.n) == ("finished", 5, 15)


def test_every_round_is_told_once():
    recorder = Recorder()
    Counter().set_callbacks(recorder).fit()
    assert (recorder.begun, recorder.ended, recorder.torn_down) == (5, 5, 1)
    assert recorder.seen == [3, 6, 9, 12, 15, 15]  # the last is the end of the fit itself


def test_a_callback_calls_it_off():
    recorder = Recorder(stop_after=2)
    outcome = Counter().set_callbacks(recorder).fit().outcome_
    assert (outcome.reason, outcome.n_rounds, outcome.step.n) == ("callback", 2, 6)
    assert recorder.torn_down == 1


def test_a_round_that_time_has_cut_is_not_called_off():
    """Who goes on from there must know that the round is not whole, whatever else happened at its end."""
    outcome = Counter(time_limit=1e-9).set_callbacks(Recorder(stop_after=1)).fit().outcome_
    assert (outcome.reason, outcome.step.whole) == ("time_limit", False)


def test_the_solver_sees_no_more_gain():
    assert Counter(stop_at=9).fit().outcome_.reason == "early_stopping"


def test_the_clock_is_seen_inside_a_round():
    outcome = Counter(time_limit=0.02, seconds=0.05).fit().outcome_
    assert (outcome.reason, outcome.step.n) == ("time_limit", 1)


def test_time_that_is_up_leaves_a_step_at_least():
    assert Counter(time_limit=1e-9).fit().outcome_.step.n == 1


@pytest.mark.parametrize("time_limit", [None, 60])
def test_time_enough(time_limit):
    assert Counter(time_limit=time_limit).fit().outcome_.reason == "finished"
