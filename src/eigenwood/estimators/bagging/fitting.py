"""The learners of bagging, one by one: each is fitted to its own draw of rows and features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from eigenwood.estimators.ensemble.learning import FittedLearner
from eigenwood.estimators.ensemble.out_of_bag import OobPrediction
from eigenwood.estimators.ensemble.sampling import Draws, drawn_features, has_all_features, learner_sequence, row_counts
from eigenwood.estimators.watching import TIME_UP, Watch
from eigenwood.validation.ensembles import part_of, routing_enabled

LEAST_SECONDS = 1e-9


class TrainingData(NamedTuple):
    """What learners learn from: trusted rows, their targets, and parameters for ``fit`` that were routed to them."""

    X: Any
    y: np.ndarray
    fit_params: dict[str, Any]


class BaggingFitter(NamedTuple):
    """All that is needed to fit learner number t."""

    learner: Any  # to be cloned
    training_data: TrainingData
    draws: Draws
    by_weights: bool  # say how often a row was drawn by its weight, or give the rows themselves
    shared: Any  # what learners share that get all rows by weight (``_fit_shared`` takes it); None if nothing
    predict: Callable[[Any, Any], np.ndarray] | None  # learner, rows → values; None if no score is wanted
    watch: Watch | None  # looks at the clock; None if time does not matter
    own_threads: bool  # whether a learner may use several threads itself

    def batch_size(self) -> int:
        """Return how many learners are fitted together: each takes long enough alone."""
        return 1

    def fit_many(self, numbers: range) -> list[FittedLearner | None]:
        """Return learners fitted to their rows."""
        return [self.fit_one(number) for number in numbers]

    def fit_one(self, number: int) -> FittedLearner | None:
        """Return a learner fitted to its rows; nothing if time is up and it is not the first."""
        return None if number > 0 and self._time_is_up() else self.fit_in_time(number)

    def fit_in_time(self, number: int) -> FittedLearner:
        """Return a learner fitted to its rows, as far as there is time."""
        return self.fit_to(number, row_counts(self.draws, number), drawn_features(self.draws, number))

    def fit_to(self, number: int, counts: np.ndarray, features: np.ndarray) -> FittedLearner:
        """Return a learner fitted to rows by their counts, or by their weights, as far as there is time."""
        learner = self.unfitted(number)
        settings = self._settings_for_fit(learner)
        before = {name: value for name, value in learner.get_params().items() if name in settings}
        learner.set_params(**settings)
        self._fit(learner, counts, self._drawn_columns(features))
        learner.set_params(**before)
        complete = not (self._time_is_up() and getattr(last_step(learner), "stop_reason_", None) == TIME_UP)
        return FittedLearner(learner, features, complete, self._oob_prediction(learner, counts, features))

    def unfitted(self, number: int) -> Any:
        """Return a learner before it is fitted, with its own seeds."""
        return with_seeds(clone(self.learner), learner_sequence(self.draws.seed, number))

    def rescore(self, number: int, learner: Any) -> FittedLearner:
        """Return a learner that was fitted before, with its predictions out of bag."""
        counts, features = row_counts(self.draws, number), drawn_features(self.draws, number)
        return FittedLearner(learner, features, True, self._oob_prediction(learner, counts, features))

    def rows_for(self, number: int) -> Any:
        """Return all rows with the features of a learner."""
        return part_of(self.training_data.X, None, self._drawn_columns(drawn_features(self.draws, number)))

    def _fit(self, learner: Any, counts: np.ndarray, features: np.ndarray | None) -> None:
        if self.shared is not None:
            learner._fit_shared(self.shared, counts.astype(np.float64))
            return
        X, y, fit_params = self._given(counts, features)
        learner.fit(X, y, **fit_params)

    def given(self, number: int) -> TrainingData:
        """Return what a learner learnt from; its weights are among the parameters, if it got them."""
        return self._given(row_counts(self.draws, number), self._drawn_columns(drawn_features(self.draws, number)))

    def _given(self, counts: np.ndarray, features: np.ndarray | None) -> TrainingData:
        X, y, fit_params = self.training_data
        if self.by_weights:
            return TrainingData(
                part_of(X, None, features), y, {**fit_params, "sample_weight": counts.astype(np.float64)}
            )
        rows = np.repeat(np.arange(counts.size), counts)
        own_params = {
            name: value[rows] if has_value_per_row(value, counts.size) else value for name, value in fit_params.items()
        }
        return TrainingData(part_of(X, rows, features), y[rows], own_params)

    def _oob_prediction(self, learner: Any, counts: np.ndarray, features: np.ndarray) -> OobPrediction | None:
        if self.predict is None:
            return None
        rows = np.flatnonzero(counts == 0)
        if rows.size == 0:
            return OobPrediction(rows, np.empty(0))
        X = part_of(self.training_data.X, rows, self._drawn_columns(features))
        return OobPrediction(rows, self.predict(learner, X))

    def _drawn_columns(self, features: np.ndarray) -> np.ndarray | None:
        return None if has_all_features(self.draws) else features

    def _settings_for_fit(self, learner: Any) -> dict[str, Any]:
        """Return what a learner must do in this fit alone: leave the threads to us, and keep to the time there is."""
        settings: dict[str, Any] = {}
        seconds = None if self.watch is None else self.watch.seconds_left()
        for name, value in learner.get_params().items():
            if is_named(name, "n_jobs") and value is not None and not self.own_threads:
                settings[name] = 1
            if is_named(name, "time_limit") and seconds is not None:
                settings[name] = max(seconds if value is None else min(seconds, value), LEAST_SECONDS)
        return settings

    def _time_is_up(self) -> bool:
        return self.watch is not None and self.watch.time_is_up()


def is_named(name: str, wanted: str) -> bool:
    """Return whether a parameter, of an estimator or of one inside it, has this name."""
    return name == wanted or name.endswith(f"__{wanted}")


def has_value_per_row(value: Any, n_rows: int) -> bool:
    return isinstance(value, np.ndarray) and value.shape[:1] == (n_rows,)


def last_step(learner: Any) -> Any:
    return learner.steps[-1][1] if isinstance(learner, Pipeline) else learner


def with_seeds(learner: Any, sequence: np.random.SeedSequence) -> Any:
    """Return the learner with a seed wherever it, or an estimator inside it, draws."""
    names = sorted(name for name in learner.get_params() if is_named(name, "random_state"))
    words = sequence.generate_state(len(names))
    return learner.set_params(**{name: int(word) for name, word in zip(names, words, strict=True)})


def seeds_in(learner: Any) -> dict[str, Any]:
    """Return the seeds of a learner, and of the estimators inside it."""
    return {name: value for name, value in learner.get_params().items() if is_named(name, "random_state")}


def takes_weights(learner: Any) -> bool:
    """Return whether a learner can be told by weights how often a row was drawn."""
    if routing_enabled():
        return bool(get_routing_for_object(learner).consumes("fit", ("sample_weight",)))
    return has_fit_parameter(learner, "sample_weight")
