"""What forests and bagging share as estimators: draws, warm starts, and the score out of bag."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigenwood.estimators.ensemble.metrics import ACCURACY, OobAnswers, metric_name, metric_of, oob_score_of
from eigenwood.estimators.ensemble.out_of_bag import OobAccumulator
from eigenwood.estimators.ensemble.sampling import Draws, row_counts
from eigenwood.estimators.watching import FINISHED, TIME_UP, Watch
from eigenwood.proofs.claim import Certificate, Claim, claimed, measured
from eigenwood.proofs.out_of_bag import MOST_ROWS, Score, resample_count, score_claims, stated_claim
from eigenwood.validation.draws import check_draws_of_fit, check_learner_count, metric_result
from eigenwood.validation.seeds import integer_seeds

SHARE_FOR_SCORE = 0.25  # of the time limit, at most


class Ensemble(ABC):
    """An ensemble whose learners drew their rows: it can be scored on the rows that these did not see."""

    OPTIONAL = frozenset({"oob_score_", "oob_interval_"})

    LEARNERS = "learners"  # what they are called

    oob_score: Any  # the metric, or False
    n_estimators: int
    n_features_in_: int
    random_state: Any
    warm_start: bool
    seed_: int
    n_draws_: int
    stop_reason_: str
    estimators_: Any
    # and where the rows stood in what was given; None if learners drew from different rows
    _draws_of_fit: tuple[Draws, np.ndarray] | None

    @abstractmethod
    def _oob_answers(self, data: Any, rows: np.ndarray, means: np.ndarray) -> OobAnswers:
        """Return targets and predictions of some rows, given the mean of what the learners predict."""

    @abstractmethod
    def _perfect_means(self, data: Any) -> np.ndarray:
        """Return what learners that are always right would predict, shape (n_rows, n_values)."""

    @abstractmethod
    def _vote_claims(self, data: Any, oob: OobAccumulator) -> list[Claim]:
        """Return what can be claimed about the vote, or about the mean."""

    @abstractmethod
    def _store_oob_means(self, means: np.ndarray) -> None:
        """Store the mean predictions out of bag."""

    @abstractmethod
    def _certify(self, data: Any, oob: OobAccumulator, score: Score | None) -> Certificate:
        """Return the claims about the learners."""

    @property
    def estimators_samples_(self):
        """The rows that each learner got, drawn again from its seed; a row drawn twice is there twice."""
        check_is_fitted(self)
        who = type(self).__name__
        if not hasattr(self, "_draws_of_fit"):
            raise AttributeError(f"{who}: estimators_samples_ is not kept in a model file.")
        if self._draws_of_fit is None:
            raise AttributeError(f"{who}: estimators_samples_ is not there when {self.LEARNERS} drew in several ways.")
        draws, places = self._draws_of_fit
        return [np.repeat(places, self._counts(draws, number)) for number in range(len(self))]

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, number):
        return self.estimators_[number]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    def _counts(self, draws: Draws, number: int) -> np.ndarray:
        """Return how often a learner got each row."""
        return row_counts(draws, number)

    def _goes_on(self) -> bool:
        """Return whether a fit goes on where the last one ended."""
        return bool(self.warm_start) and hasattr(self, "seed_")

    def _seed(self) -> int:
        """Return what all draws of a fit follow from."""
        return self.seed_ if self._goes_on() else int(integer_seeds(self.random_state, 1)[0])

    def _earlier_count(self) -> int:
        """Return how many learners stay; a single one that the time limit may have cut short is fitted again."""
        if not self._goes_on() or (len(self) == 1 and self.stop_reason_ == TIME_UP):
            return 0
        check_learner_count(type(self).__name__, len(self), self.n_estimators, self.LEARNERS)
        return len(self)

    def _drew_like(self, draws: Draws) -> bool:
        """Return whether the learners drew their rows by these draws; a model file has only the number of rows."""
        if draws.n_rows != self.n_draws_ or not hasattr(self, "_draws_of_fit"):
            return draws.n_rows == self.n_draws_
        return self._draws_of_fit is not None and draws.has_rows_of(self._draws_of_fit[0])

    def _check_draws_of_fit(self, draws: Draws) -> None:
        """Raise if it is not known which rows the learners saw."""
        check_draws_of_fit(type(self).__name__, self._drew_like(draws), self.LEARNERS)

    def _known_draws(self, draws: Draws, places: np.ndarray, n_earlier: int) -> tuple[Draws, np.ndarray] | None:
        """Return what all learners will have drawn by, ``n_earlier`` that stay among them; None if in several ways."""
        if n_earlier > 0 and self._wants_score():
            self._check_draws_of_fit(draws)
        return (draws, places) if n_earlier == 0 or self._drew_like(draws) else None

    def _wants_score(self) -> bool:
        return bool(self.oob_score)

    def _check_metric(self, data: Any) -> float:
        """Return how many seconds the interval of the score will take; raise if the metric cannot score such targets.

        This is found out before learners are fitted, since nobody wants to wait for such an error.
        """
        if not self._wants_score():
            return 0.0
        means = self._perfect_means(data)
        rows = np.arange(len(means))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            name, score = self._by_metric(lambda: metric_of(self.oob_score, self._oob_answers(data, rows, means)))
            if name == ACCURACY:
                return 0.0
            drawn, start = rows[:MOST_ROWS], perf_counter()
            self._by_metric(lambda: score(rows))
        return (perf_counter() - start) * drawn.size / rows.size * resample_count(rows.size)

    def _kept_for_score(self, seconds: float, watch: Watch) -> Callable[[Any], float]:
        """Return how many seconds must be left after a step: those of the score, or a share of all."""
        left = watch.seconds_left()
        kept = 0.0 if left is None else min(seconds, SHARE_FOR_SCORE * left)
        return lambda step: kept

    def _by_metric(self, compute: Callable[[], Any]) -> Any:
        """Return what a metric computes, or raise what it has against the targets."""
        name = self.oob_score if isinstance(self.oob_score, str) else metric_name(self.oob_score)
        return metric_result(type(self).__name__, name, compute)

    def _set_oob_score(self, data: Any, weights: np.ndarray, oob: OobAccumulator, watch: Watch) -> None:
        """Store the predictions out of bag, their score, and the certificate."""
        score = self._oob_score_of(data, weights, oob, watch.time_is_up) if self._wants_score() else None
        if score is not None and np.isnan(score.interval).any() and watch.time_is_up():
            self.stop_reason_ = TIME_UP
        self._store_score(score, oob, data.places, data.n_given)
        self.certificate_ = self._certify(data, oob, score)

    def _oob_score_of(
        self, data: Any, weights: np.ndarray, oob: OobAccumulator, time_is_up: Callable[[], bool] = lambda: False
    ) -> Score | None:
        """Return the score on rows out of bag, of rows with these weights; nothing if there are none, or too few."""
        if oob.rows().size == 0:
            return None
        rows = oob.rows()
        answers = self._oob_answers(data, rows, oob.means()[rows])
        share = float(answers.weights.sum() / weights.sum())
        metric = self.oob_score or True  # to verify, also without a wish
        score = self._by_metric(lambda: oob_score_of(metric, answers, share, self.seed_, time_is_up))
        return score if np.isfinite(score.value) else None  # R² of one row is none

    def _store_score(self, score: Score | None, oob: OobAccumulator, places: np.ndarray, n_given: int) -> None:
        """Store the score, and the mean prediction for each row that was given, if a score is wanted."""
        for name in ("oob_score_", "oob_interval_", "oob_decision_function_", "oob_prediction_"):
            self.__dict__.pop(name, None)
        if not self._wants_score():
            return
        if not oob.counts.all():
            warnings.warn(
                "Some inputs do not have OOB scores. This probably means too few estimators were used to compute any "
                f"reliable oob estimates. {type(self).__name__}: {(oob.counts == 0).sum()} of {oob.counts.size} "
                "rows were seen by every learner; they are left out.",
                stacklevel=5,
            )
        means = np.full((n_given, oob.sums.shape[1]), np.nan)
        means[places] = oob.means()
        self._store_oob_means(means)
        if score is not None:
            self.oob_score_ = score.value
            if np.isfinite(score.interval).all():
                self.oob_interval_ = np.array(score.interval)

    def _stated_claims(self, score: Score | None) -> list[Claim]:
        """Return the claim that the stored score is found again, if a score is wanted."""
        if not self._wants_score():
            return []
        nothing = (float("nan"), float("nan"))
        stated = [getattr(self, "oob_score_", float("nan")), *getattr(self, "oob_interval_", nothing)]
        found = Score("", float("nan"), nothing, 0.0) if score is None else score
        if not hasattr(self, "oob_interval_") and self.stop_reason_ == TIME_UP:  # there was no time for it
            found = found._replace(interval=nothing)
        return [stated_claim(stated, [found.value, *found.interval])]

    def _count_claim(self, name: str, statement: str) -> Claim:
        """Return how many learners there are; nothing is claimed of an ensemble that is not complete."""
        stopped = f"{statement}, of {self.n_estimators}; stop_reason_ is '{self.stop_reason_}'"
        return claimed(measured(name, statement, len(self)), self.stop_reason_ == FINISHED, stopped)

    def _oob_claims(self, data: Any, oob: OobAccumulator, score: Score | None) -> list[Claim]:
        """Return the score, and what it can be explained by."""
        return [] if score is None else [*score_claims(score), *self._vote_claims(data, oob)]
