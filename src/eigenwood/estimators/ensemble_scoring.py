"""Scores of an ensemble on the rows that its learners did not see, by any metric, with their interval."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from inspect import Parameter, signature
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, get_scorer, r2_score
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.memory import lazy_zeros
from eigenwood.errors import InputError
from eigenwood.estimators.ensemble_learning import OobPrediction
from eigenwood.estimators.ensemble_sampling import Draws, row_counts
from eigenwood.estimators.watching import FINISHED, TIME_UP, Watch
from eigenwood.proofs.claim import Certificate, Claim, claimed, measured
from eigenwood.proofs.out_of_bag import (
    MOST_ROWS,
    Ballot,
    Residuals,
    Score,
    assessed_mean,
    mean_claims,
    mean_squares,
    resample_count,
    resampled_interval,
    row_total,
    score_claims,
    share_interval,
    stated_claim,
)
from eigenwood.validation.arrays import one_line
from eigenwood.validation.seeds import integer_seeds

ACCURACY, R2 = "accuracy", "r2"
SHARE_FOR_SCORE = 0.25  # of the time limit, at most
NAMES: dict[Any, str] = {accuracy_score: ACCURACY, r2_score: R2}
SMALL_CODES = (np.int8, np.int16, np.int32)

RowScore = Callable[[np.ndarray], float]  # of the rows at these places


class OobResiduals:
    """Adds up how far learners are from the amounts of rows they did not see: few numbers for each row and learner."""

    def __init__(self, amounts: np.ndarray, weights: np.ndarray) -> None:
        self._amounts, self._weights = amounts, weights
        self._sums, self._squares = np.zeros(amounts.shape), np.zeros(len(amounts))
        self._masses: list[float] = []
        self._errors: list[float] = []

    def add(self, rows: np.ndarray, said: np.ndarray) -> None:
        """Take note of what one learner says about some rows."""
        off = said - self._amounts[rows]  # near 0 where amounts are large: their squares keep their digits
        squares, weights = mean_squares(off), self._weights[rows]
        self._sums[rows] += off
        self._squares[rows] += squares
        self._masses.append(float(weights.sum()))
        self._errors.append(float((weights * squares).sum()) / self._masses[-1])

    def residuals(self, counts: np.ndarray) -> Residuals:
        """Return all that was added up, where so many learners were asked about each row."""
        return Residuals(counts, self._sums, self._squares, np.array(self._masses), np.array(self._errors))


class OobAccumulator:
    """Adds up what learners say about rows they did not see; ``add`` is called in the order of their numbers."""

    def __init__(
        self, n_rows: int, n_values: int, *, keeps_ballots: bool, residuals: OobResiduals | None = None
    ) -> None:
        self.sums = lazy_zeros((n_rows, n_values))
        self.counts = np.zeros(n_rows, dtype=np.int64)
        self.ballots: list[Ballot] = []
        self._code_type = next(kind for kind in SMALL_CODES if n_values <= np.iinfo(kind).max)
        self._keeps_ballots = keeps_ballots
        self._misses = residuals

    def add(self, left: OobPrediction) -> None:
        """Take note of one learner."""
        if left.rows.size == 0:
            return
        said = left.said.reshape(left.rows.size, -1)
        self.sums[left.rows] += said
        self.counts[left.rows] += 1
        if self._keeps_ballots:
            self.ballots.append(Ballot(left.rows.astype(np.int32), said.argmax(axis=1).astype(self._code_type)))
        if self._misses is not None:
            self._misses.add(left.rows, said)

    def means(self) -> np.ndarray:
        """Return the mean of what was said about each row; NaN where nobody was asked."""
        return self.sums / np.where(self.counts > 0, self.counts, np.nan)[:, None]

    def rows(self) -> np.ndarray:
        """Return the rows about which somebody was asked."""
        return np.flatnonzero(self.counts)

    def mean_claims(self, weights: np.ndarray) -> list[Claim]:
        """Return what can be claimed about the mean of amounts, of rows with these weights."""
        return [] if self._misses is None else mean_claims(assessed_mean(self._misses.residuals(self.counts), weights))


class Answers(NamedTuple):
    """The truth about rows, what an ensemble says of them, and their weights."""

    y_true: np.ndarray
    y_said: np.ndarray
    shares: np.ndarray  # of the classes; no columns for amounts
    weights: np.ndarray
    labels: np.ndarray | None  # the classes; None for amounts


class Ensemble(ABC):
    """What ensembles share whose learners drew their rows: they can be scored on the rows that these did not see."""

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
    def _answers(self, data: Any, rows: np.ndarray, means: np.ndarray) -> Answers:
        """Return truth and answers for some rows, about which learners said these numbers in the mean."""

    @abstractmethod
    def _right_means(self, data: Any) -> np.ndarray:
        """Return what learners would say that are always right, shape (n_rows, n_values)."""

    @abstractmethod
    def _vote_claims(self, data: Any, oob: OobAccumulator) -> list[Claim]:
        """Return what can be claimed about the vote, or about the mean."""

    @abstractmethod
    def _store_answers(self, means: np.ndarray) -> None:
        """Keep what the learners say about the rows they did not see."""

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
        """Return how many learners stay; one that is alone since time was up may be half made, and is made again."""
        if not self._goes_on() or (len(self) == 1 and self.stop_reason_ == TIME_UP):
            return 0
        if len(self) > self.n_estimators:
            raise InputError(
                f"{type(self).__name__}: n_estimators must be at least the {len(self)} {self.LEARNERS} there are when "
                f"warm_start is True; got n_estimators={self.n_estimators}."
            )
        return len(self)

    def _has_columns_of(self, before: dict) -> bool:
        """Return whether the columns that were noted are those of before; they may have got or lost their names."""
        names, others = getattr(self, "feature_names_in_", None), before.get("feature_names_in_")
        same_names = names is None or others is None or np.array_equal(names, others)
        return self.n_features_in_ == before["n_features_in_"] and same_names

    def _drew_like(self, draws: Draws) -> bool:
        """Return whether the learners that are there drew their rows like this; a model file says only how many."""
        if draws.n_rows != self.n_draws_ or not hasattr(self, "_draws_of_fit"):
            return draws.n_rows == self.n_draws_
        return self._draws_of_fit is not None and draws.has_rows_of(self._draws_of_fit[0])

    def _check_rows_of_fit(self, draws: Draws) -> None:
        """Raise if nobody knows which rows the learners saw: who saw a row must not be asked about it."""
        if not self._drew_like(draws):
            raise InputError(
                f"{type(self).__name__}: X, y, sample_weight, max_samples and bootstrap must be those of fit for all "
                f"{self.LEARNERS} to be asked about rows that they did not see; got others."
            )

    def _known_draws(self, draws: Draws, places: np.ndarray, n_earlier: int) -> tuple[Draws, np.ndarray] | None:
        """Return what all learners will have drawn by, ``n_earlier`` that stay among them; None if in several ways."""
        if n_earlier > 0 and self._wants_score():
            self._check_rows_of_fit(draws)
        return (draws, places) if n_earlier == 0 or self._drew_like(draws) else None

    def _wants_score(self) -> bool:
        return bool(self.oob_score)

    def _check_metric(self, data: Any) -> float:
        """Raise unless the metric can score such targets: better now than when all learners are fitted. Return how many
        seconds the interval of the score will take.
        """
        if not self._wants_score():
            return 0.0
        means = self._right_means(data)
        rows = np.arange(len(means))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            name, score = self._by_metric(lambda: metric_of(self.oob_score, self._answers(data, rows, means)))
            if name == ACCURACY:
                return 0.0
            drawn, start = rows[:MOST_ROWS], perf_counter()
            self._by_metric(lambda: score(rows))
        return (perf_counter() - start) * drawn.size / rows.size * resample_count(rows.size)

    def _kept_for_score(self, seconds: float, watch: Watch) -> Callable[[Any], float]:
        """Return what says how much time must be left when the learners end: that of the score, or a share of all."""
        left = watch.seconds_left()
        kept = 0.0 if left is None else min(seconds, SHARE_FOR_SCORE * left)
        return lambda step: kept

    def _by_metric(self, score: Callable[[], Any]) -> Any:
        """Return what a metric says, or raise what it has against the targets."""
        try:
            return score()
        except (ValueError, TypeError) as problem:
            name = self.oob_score if isinstance(self.oob_score, str) else metric_name(self.oob_score)
            raise InputError(
                f"{type(self).__name__}: oob_score must be a metric for targets like these; got {name}, which says: "
                f"{one_line(problem)}."
            ) from problem

    def _set_oob_score(self, data: Any, weights: np.ndarray, oob: OobAccumulator, watch: Watch) -> None:
        """Keep what the learners say about the rows they did not see, its score, and what is proved."""
        score = self._scored(data, weights, oob, watch.time_is_up) if self._wants_score() else None
        if score is not None and np.isnan(score.interval).any() and watch.time_is_up():
            self.stop_reason_ = TIME_UP
        self._store_score(score, oob, data.places, data.n_given)
        self.certificate_ = self._certify(data, oob, score)

    def _scored(
        self, data: Any, weights: np.ndarray, oob: OobAccumulator, time_is_up: Callable[[], bool] = lambda: False
    ) -> Score | None:
        """Return the score on rows out of bag, of rows with these weights; nothing if there are none, or too few."""
        if oob.rows().size == 0:
            return None
        rows = oob.rows()
        answers = self._answers(data, rows, oob.means()[rows])
        share = float(answers.weights.sum() / weights.sum())
        metric = self.oob_score or True  # to verify, also without a wish
        score = self._by_metric(lambda: scored(metric, answers, share, self.seed_, time_is_up))
        return score if np.isfinite(score.value) else None  # R² of one row is none

    def _store_score(self, score: Score | None, oob: OobAccumulator, places: np.ndarray, n_given: int) -> None:
        """Keep the score, and what was said about each row that was given; or nothing."""
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
        self._store_answers(means)
        if score is not None:
            self.oob_score_ = score.value
            if np.isfinite(score.interval).all():
                self.oob_interval_ = np.array(score.interval)

    def _stated_claims(self, score: Score | None) -> list[Claim]:
        """Return whether the model states the score that was found again, if it was asked for one."""
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


class KnownAnswers(BaseEstimator):
    """Stands in for an estimator whose answers are known already: a scorer asks it about places of rows."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.fitted_ = True

    def predict(self, rows):
        return self.answers.y_said[rows]


class KnownClasses(ClassifierMixin, KnownAnswers):
    """The same for classes."""

    @property
    def classes_(self):
        return self.answers.labels

    def predict_proba(self, rows):
        return self.answers.shares[rows]


class KnownAmounts(RegressorMixin, KnownAnswers):
    """The same for amounts."""


def scored(metric: Any, answers: Answers, heard: float, seed: int, time_is_up: Callable[[], bool]) -> Score:
    """Return the score of answers about rows out of bag; ``rows`` is their share of all rows."""
    name, score = metric_of(metric, answers)
    rows = np.arange(answers.y_true.shape[0])
    value = score(rows)
    if name == ACCURACY:
        return Score(name, value, share_interval(value, row_total(answers.weights)), heard)
    interval = resampled_interval(nan_where_refused(score), value, rows.size, seed, time_is_up=time_is_up)
    return Score(name, value, interval, heard)


def metric_of(metric: Any, answers: Answers) -> tuple[str, RowScore]:
    """Return the name of a metric, and what computes it for some rows; True is accuracy, or R² for amounts."""
    if isinstance(metric, (bool, np.bool_)):
        metric = R2 if answers.labels is None else ACCURACY
    if isinstance(metric, str):
        function = next((function for function, name in NAMES.items() if name == metric), None)
        score = scorer_score(get_scorer(metric), answers) if function is None else function_score(function, answers)
        return metric, score
    if is_scorer(metric):
        return metric_name(metric), scorer_score(metric, answers)
    return metric_name(metric), function_score(metric, answers)


def metric_name(metric: Callable) -> str:
    """Return what a metric is called."""
    return NAMES.get(metric, getattr(metric, "__name__", "a metric without a name"))


def is_scorer(metric: Callable) -> bool:
    """Return whether a function wants an estimator, rows and targets, as scikit-learn's scorers do.

    >>> is_scorer(get_scorer("roc_auc")), is_scorer(accuracy_score)
    (True, False)
    """
    by_place = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    wanted = [one for one in signature(metric).parameters.values() if one.kind in by_place and one.default is one.empty]
    return len(wanted) > 2


def function_score(metric: Callable, answers: Answers) -> RowScore:
    """Return what applies a function of y_true and y_pred to some rows."""

    def score(rows: np.ndarray, **weights: np.ndarray) -> float:
        return float(metric(answers.y_true[rows], answers.y_said[rows], **weights))

    return weighted_if_taken(score, answers)


def scorer_score(scorer: Callable, answers: Answers) -> RowScore:
    """Return what applies a scorer of scikit-learn to some rows."""
    stand_in = KnownAmounts(answers) if answers.labels is None else KnownClasses(answers)

    def score(rows: np.ndarray, **weights: np.ndarray) -> float:
        return float(scorer(stand_in, rows, answers.y_true[rows], **weights))

    return weighted_if_taken(score, answers)


def weighted_if_taken(score: Callable[..., float], answers: Answers) -> RowScore:
    """Return the score with the weights of the rows, unless all are 1 or the metric has no place for them."""
    if (answers.weights == 1.0).all():
        return score
    try:
        score(np.arange(answers.weights.size), sample_weight=answers.weights)
    except TypeError:
        return score
    return lambda rows: score(rows, sample_weight=answers.weights[rows])


def nan_where_refused(score: RowScore) -> RowScore:
    """Return the score, NaN where a resample has too little in it: only one class, or equal amounts."""

    def quiet_score(rows: np.ndarray) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return score(rows)
            except ValueError:
                return float("nan")

    return quiet_score
