"""Rounds of AdaBoost with any learner, which gets its weights, or rows that are drawn by them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from joblib import parallel_config

from eigenwood.core.adaboost.rounds import GOES_ON, NO_EDGE, PERFECT
from eigenwood.core.adaboost.votes import Votes
from eigenwood.core.adaboost.weights import FINE_BITS, integer_weights
from eigenwood.core.forest.bootstrap import drawn_counts
from eigenwood.estimators.adaboost.input_checks import LearnerData
from eigenwood.estimators.bagging.fitting import BaggingFitter, takes_weights
from eigenwood.estimators.ensemble.sampling import Draws, Population, seeds_of
from eigenwood.estimators.tree.faces import DecisionTreeClassifier, DecisionTreeRegressor
from eigenwood.estimators.tree.fitting import shared_table
from eigenwood.estimators.watching import Watch
from eigenwood.validation.adaboost import check_same_rounds
from eigenwood.validation.ensembles import check_codes


class LearnerStep(NamedTuple):
    """The rounds so far."""

    learners: list
    rounds: list  # what came of each, as a tuple of numbers
    margins: np.ndarray | None  # of the rows after the last round; None for regression
    end: int
    whole: bool
    last: bool


class LearnerRounds:
    """Fits learner number t to the rows of a fit, by their weights."""

    def __init__(
        self, learner: Any, data: LearnerData, seed: int, resample: bool, watch: Watch | None, n_threads: int
    ) -> None:
        self.data = data
        by_weights = not resample and takes_weights(learner)
        shared = None
        if type(learner) in (DecisionTreeClassifier, DecisionTreeRegressor) and (by_weights or takes_weights(learner)):
            shared = shared_table(learner, data.training.X, data.training.y, n_threads)
        n_rows, n_features = data.training.X.shape
        everything = Population(np.arange(n_rows), data.mass, np.arange(n_rows + 1), b"")
        self._draws = Draws(everything, data.n_meant, True, n_features, n_features, False, seed)
        self._fitter = BaggingFitter(
            learner, data.training, self._draws, by_weights, shared, None, watch, own_threads=True
        )
        self._draws_rows, self._n_threads = not by_weights, n_threads
        self._has_trees = shared is not None and by_weights

    def fit(self, number: int, weights: np.ndarray) -> Any:
        """Return a fitted learner, and whether it had the time it needed."""
        given = self.drawn(number, weights) if self._draws_rows else weights * self.data.mass.sum()
        if self._has_trees:  # which grow in half the time from whole numbers
            given = integer_weights(given, FINE_BITS)
        with parallel_config("threading", n_jobs=self._n_threads):  # for a learner that does not say how many
            return self._fitter.fit_to(number, given, np.arange(self._draws.n_features_in))

    def drawn(self, number: int, weights: np.ndarray) -> np.ndarray:
        """Return how often each row is drawn, by the weights as chances."""
        seed = np.uint64(seeds_of(self._draws, number).groups)
        return drawn_counts(seed, self._draws.n_rows, np.cumsum(weights), weights.size)


class Earlier(NamedTuple):
    """The learners of an earlier fit, and their weights."""

    learners: list
    alphas: np.ndarray

    def check(self, who: str, told: list) -> None:
        """Raise unless the rounds that are told again have these weights."""
        found = [one.alpha for one in told]
        check_same_rounds(who, np.allclose(found, self.alphas, rtol=1e-6, atol=1e-9))


def classifier_steps(
    who: str,
    rounds: LearnerRounds,
    votes: Votes,
    pred_of: Callable[[Any, Any], np.ndarray],
    n_rounds: int,
    earlier: Earlier,
) -> Iterator[LearnerStep]:
    """Yield the rounds so far after each; a learner that is no better than chance is kept only if it is the first."""
    data, learners = rounds.data, list(earlier.learners)
    told = [votes.add(pred_of(learner, data.training.X)) for learner in learners]
    earlier.check(who, told)
    end = told[-1].end if told else GOES_ON
    if told:
        yield LearnerStep(learners[:], told[:], votes.margins(), end, whole=end != GOES_ON, last=end != GOES_ON)
    while end == GOES_ON and len(learners) < n_rounds:
        fitted = rounds.fit(len(learners), votes.row_weights())
        if learners and not fitted.complete:
            yield LearnerStep(learners[:], told[:], votes.margins(), end, whole=False, last=False)
            return
        result = votes.add(pred_of(fitted.learner, data.training.X))
        end = result.end
        if result.alpha > 0.0 or not learners:
            learners.append(fitted.learner)
            told.append(result)
        last = end != GOES_ON or len(learners) == n_rounds
        yield LearnerStep(learners[:], told[:], votes.margins(), end, whole=True, last=last and fitted.complete)


def pred_by_classes(who: str, n_classes: int) -> Callable[[Any, Any], np.ndarray]:
    """Return what asks a learner for classes: 1 for the one it says, -1 for all others."""

    def pred_of(learner: Any, X: Any) -> np.ndarray:
        codes = check_codes(who, learner.predict(X), n_classes)
        return np.where(np.arange(n_classes) == codes[:, None], 1.0, -1.0)

    return pred_of


def pred_by_shares(n_classes: int) -> Callable[[Any, Any], np.ndarray]:
    """Return what asks a learner for shares of classes, and gives 2p - 1 for each."""

    def pred_of(learner: Any, X: Any) -> np.ndarray:
        pred = np.full((X.shape[0], n_classes), -1.0)
        pred[:, np.asarray(learner.classes_, dtype=np.intp)] = 2.0 * learner.predict_proba(X) - 1.0
        return np.clip(pred, -1.0, 1.0)

    return pred_of


# ---- AdaBoost.R2 ---------------------------------------------------------------------------------------------------


LOSSES = {
    "linear": lambda off: off,
    "square": lambda off: off**2,
    "exponential": lambda off: 1.0 - np.exp(-off),
}


class Told(NamedTuple):
    """What comes of one round of AdaBoost.R2."""

    error: float  # the weighted mean loss, between 0 and 1
    alpha: float  # ln(1 / β), times the learning rate
    end: int


def regressor_steps(
    who: str, rounds: LearnerRounds, loss: str, learning_rate: float, n_rounds: int, earlier: Earlier
) -> Iterator[LearnerStep]:
    """Yield the rounds so far after each (Drucker, *Improving regressors using boosting techniques*)."""
    data, learners, told = rounds.data, list(earlier.learners), list[Told]()
    logs = np.log(data.mass)
    for learner in learners:
        result, logs = told_and_logs(learner, data, logs, loss, learning_rate)
        told.append(result)
    earlier.check(who, told)
    end = told[-1].end if told else GOES_ON
    if told:
        yield LearnerStep(learners[:], told[:], None, end, whole=end != GOES_ON, last=end != GOES_ON)
    while end == GOES_ON and len(learners) < n_rounds:
        fitted = rounds.fit(len(learners), shares_of(logs))
        if learners and not fitted.complete:
            yield LearnerStep(learners[:], told[:], None, end, whole=False, last=False)
            return
        result, after = told_and_logs(fitted.learner, data, logs, loss, learning_rate)
        end = result.end
        if result.alpha > 0.0 or not learners:
            learners.append(fitted.learner)
            told.append(result)
            logs = after
        last = end != GOES_ON or len(learners) == n_rounds
        yield LearnerStep(learners[:], told[:], None, end, whole=True, last=last and fitted.complete)


def shares_of(logs: np.ndarray) -> np.ndarray:
    """Return weights as shares of 1, given their logarithms."""
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def told_and_logs(
    learner: Any, data: LearnerData, logs: np.ndarray, loss: str, learning_rate: float
) -> tuple[Told, np.ndarray]:
    """Return what comes of a learner, and the logarithms of the weights after it."""
    losses = LOSSES[loss](relative_errors(learner.predict(data.training.X), data.training.y))
    told = told_of(float((shares_of(logs) * losses).sum()), learning_rate)
    return told, logs - (1.0 - losses) * told.alpha


def relative_errors(pred: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return how far predictions are from y, as shares of the largest such distance."""
    off = np.abs(pred - y)
    return off / off.max() if off.max() > 0.0 else off


def told_of(error: float, learning_rate: float) -> Told:
    """Return what an error of a round comes to; one that is not below 1/2 ends it."""
    if error <= 0.0:
        return Told(error, 1.0, PERFECT)
    if error >= 0.5:
        return Told(error, 0.0, NO_EDGE)
    return Told(error, learning_rate * math.log((1.0 - error) / error), GOES_ON)
