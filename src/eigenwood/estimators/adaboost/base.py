"""What the classifier and the regressor of AdaBoost share: learners and seeds, and what a warm start begins with."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from eigenwood.estimators.adaboost.fitting import Earlier
from eigenwood.estimators.adaboost.history import Result
from eigenwood.estimators.adaboost.params import END_REASONS, LATER_PARAMS, SOMETIMES
from eigenwood.estimators.watching import FINISHED, NO_GAIN, Watch, Watched
from eigenwood.validation.adaboost import check_same_rounds
from eigenwood.validation.boosting import check_round_count
from eigenwood.validation.draws import check_warm_columns, check_warm_targets, has_same_columns
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.threads import thread_count


class Boosted(MetaEstimatorMixin, Watched, BaseEstimator):
    """The part that the classifier and the regressor share."""

    OPTIONAL = SOMETIMES
    LATER_PARAMS = LATER_PARAMS  # files that were written before have their defaults

    estimator: Any
    n_estimators: int
    n_jobs: Any
    random_state: Any
    warm_start: bool
    estimator_weights_: np.ndarray
    learners_: list
    seed_: int
    stop_reason_: str
    n_features_in_: int

    # ---- before the rounds

    @abstractmethod
    def _learner(self) -> Any:
        """Return the learner before any fit."""

    def _earlier_count(self, before: dict, labels: np.ndarray | None, kind: str) -> int:
        """Return how many rounds stay; ``before`` has the attributes of the last fit, ``kind`` is that of learners."""
        if not self.warm_start or "estimator_weights_" not in before:
            return 0
        who = type(self).__name__
        check_warm_columns(who, has_same_columns(vars(self), before))
        check_warm_targets(who, labels is None or np.array_equal(labels, before["classes_"]))
        check_same_rounds(who, kind in before and self._fits_learners(before.get("learners_", [])))
        check_round_count(who, len(self), self.n_estimators)
        return len(self)

    def _fits_learners(self, learners: list) -> bool:
        """Return whether learners are of the kind that would be fitted now."""
        return all(type(learner) is type(self._learner()) for learner in learners)

    def _earlier(self, n_rounds: int) -> Earlier:
        """Return the learners of the last fit, if they stay."""
        return Earlier(self.learners_, self.estimator_weights_) if n_rounds > 0 else Earlier([], np.empty(0))

    def _store(self, steps: Iterator[Any], history: Any, n_rounds: int, X: Any, y: Any, watch: Watch) -> Result:
        """Drive rounds to their end, and store what they come to."""
        stopping = history.stopping
        outcome = watch.follow(
            steps,
            max_rounds=n_rounds,
            fitted=history.attributes,
            X=X,
            y=y,
            wants_stop=lambda step: stopping is not None and stopping.is_over(),
        )
        result = history.result(outcome.step)
        for name in (self.OPTIONAL | SOMETIMES) & set(vars(self)):
            delattr(self, name)
        for name, value in result.attributes.items():
            setattr(self, name, value)
        self.stop_reason_ = END_REASONS[outcome.step.end] if outcome.reason == FINISHED else outcome.reason
        if result.is_short and self.stop_reason_ in END_REASONS.values():
            self.stop_reason_ = NO_GAIN
        return result

    def _threads(self) -> int:
        return thread_count(type(self).__name__, self.n_jobs)

    def _seed(self) -> int:
        """Return what all draws of a fit follow from; a model that is verified gives its own to a second fit."""
        given = getattr(self, "_seed_to_take", None)
        if given is None and self.warm_start:
            given = getattr(self, "seed_", None)
        return int(integer_seeds(self.random_state, 1)[0]) if given is None else given

    # ---- what a user of scikit-learn looks at

    @property
    def estimator_(self):
        """The learner as it was before any fit."""
        check_is_fitted(self)
        return self._learner()

    @property
    def estimators_(self):
        """The learners, in order."""
        check_is_fitted(self)
        return self.learners_

    def _learner_importances(self) -> np.ndarray:
        """Return the weighted sum of the learners' importances."""
        if not hasattr(self.learners_[0], "feature_importances_"):
            raise AttributeError(
                f"{type(self).__name__}: feature_importances_ is not there, since the learners have none."
            )
        parts = zip(self.estimator_weights_, self.learners_, strict=True)
        return np.sum([w * learner.feature_importances_ for w, learner in parts], axis=0)

    def __len__(self) -> int:
        return self.estimator_weights_.size

    def __getitem__(self, number):
        return self.estimators_[number]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inside = get_tags(self._learner()).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inside.sparse, inside.allow_nan
        return tags
