"""AdaBoost.R2 with scikit-learn's face: regressors, each fitted to rows that those before it predicted badly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin
from sklearn.callback import with_callbacks
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from eigenwood.estimators.adaboost.fitting import LearnerRounds, LearnerStep, regressor_steps
from eigenwood.estimators.adaboost.input_checks import LearnerData, check_learner_rows
from eigenwood.estimators.adaboost.params import END_REASONS, REGRESSOR_PARAMS, REGRESSOR_STATE
from eigenwood.estimators.bagging.input_checks import refuses_infinity
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.tree.faces import DecisionTreeRegressor
from eigenwood.estimators.watching import FINISHED, Watch, Watched, all_or_nothing
from eigenwood.proofs.adaboost import regression_claims
from eigenwood.proofs.claim import Certificate
from eigenwood.validation.adaboost import LINEAR, check_single_target
from eigenwood.validation.bagging import check_learner, check_learner_outputs
from eigenwood.validation.ensembles import check_query
from eigenwood.validation.params import check_params
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.threads import thread_count


@describe
class AdaBoostRegressor(RegressorMixin, MetaEstimatorMixin, Watched, BaseEstimator):
    """Take the weighted median of regressors, each of which learnt from rows that those before it predicted badly.

    Like :class:`sklearn.ensemble.AdaBoostRegressor` (AdaBoost.R2), with its parameters and attributes. Differences: (1)
    the default learner is Eigenwood's :class:`DecisionTreeRegressor` of depth 3; (2) rows are drawn by what they hold
    and by the seed, so that a weight is a repeated row, in any order of the rows, and rows of weight 0 were never
    given; (3) ``stop_reason_``, ``time_limit``, callbacks and a ``certificate_``.

    Parameters
    ----------
    estimator : regressor or None, default=None
        The learner; None is ``DecisionTreeRegressor(max_depth=3)``. Where it has a ``random_state``, each gets its own.
    n_estimators : int, default=50
        The most rounds.
    learning_rate : float, default=1.0
        A factor for the weight of each learner.
    loss : 'linear', 'square' or 'exponential', default='linear'
        What an error costs, as a share of the largest one: itself, its square, or 1 - e^-error.
    random_state : int, RandomState or None, default=None
        Draws the rows and the seeds of the learners.

    Attributes
    ----------
    estimator_, estimators_, estimator_weights_, estimator_errors_, feature_importances_, n_features_in_
        As in scikit-learn, and so is feature_names_in_; there are only the rounds that there were.
    stop_reason_ : 'finished', 'perfect', 'no_edge', 'time_limit' or 'callback'
        'perfect' is a learner without an error, 'no_edge' one whose mean loss is not below 1/2.
    certificate_ : Certificate

    Examples
    --------
    >>> from eigenwood import AdaBoostRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0]
    >>> model = AdaBoostRegressor(n_estimators=10, random_state=0).fit(X, y)
    >>> model.predict([[3.0]])
    array([9.])
    """

    estimator_weights_: np.ndarray
    learners_: list
    has_text_: bool
    seed_: int
    n_features_in_: int

    PARAMS = REGRESSOR_PARAMS
    FITTED = REGRESSOR_STATE

    def __init__(
        self,
        estimator=None,
        *,
        n_estimators=50,
        learning_rate=1.0,
        loss=LINEAR,
        random_state=None,
        n_jobs=None,
        time_limit=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.time_limit = time_limit

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Boost, round after round, on the rows of X and their numbers y. A weight is a repeated row."""
        with all_or_nothing(self):
            check_params(self)
            watch = Watch(self)
            data = check_learner_rows(self, X, y, sample_weight)
            check_single_target(type(self).__name__, y, data.training.y)
            seed = self._seed()
            outcome = watch.follow(
                self._steps(data, seed, watch),
                max_rounds=self.n_estimators,
                fitted=lambda step: attributes(data, seed, step),
                X=X,
                y=y,
            )
            for name, value in attributes(data, seed, outcome.step).items():
                setattr(self, name, value)
            self.stop_reason_ = END_REASONS[outcome.step.end] if outcome.reason == FINISHED else outcome.reason
            self.certificate_ = self._certify()
            return self

    def _steps(self, data: LearnerData, seed: int, watch: Watch | None) -> Iterator[LearnerStep]:
        threads = thread_count(type(self).__name__, self.n_jobs)
        rounds = LearnerRounds(self._learner(), data, seed, True, watch, threads)
        return regressor_steps(rounds, self.loss, float(self.learning_rate), self.n_estimators)

    def _certify(self) -> Certificate:
        """Return the claims about the rounds."""
        rate = float(self.learning_rate)
        claims = regression_claims(
            self.estimator_errors_, self.estimator_weights_, rate, self.n_estimators, self.stop_reason_
        )
        return Certificate(tuple(claims))

    def predict(self, X):
        """Return the weighted median of what the learners predict for each row."""
        return weighted_medians(self._predictions(X), self.estimator_weights_)

    def staged_predict(self, X):
        """Yield ``predict`` after each round."""
        predictions = self._predictions(X)
        for n in range(1, len(self) + 1):
            yield weighted_medians(predictions[:, :n], self.estimator_weights_[:n])

    def staged_score(self, X, y, sample_weight=None):
        """Yield R² after each round."""
        from sklearn.metrics import r2_score

        for pred in self.staged_predict(X):
            yield r2_score(y, pred, sample_weight=sample_weight)

    def _predictions(self, X) -> np.ndarray:
        """Return what each learner predicts, shape (n_rows, n_rounds)."""
        check_is_fitted(self)
        rows = check_query(self, X, has_text=self.has_text_, finite=refuses_infinity(self))
        return np.column_stack([learner.predict(rows) for learner in self.learners_])

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

    @property
    def feature_importances_(self):
        """The weighted mean of the learners' importances."""
        check_is_fitted(self)
        if not hasattr(self.learners_[0], "feature_importances_"):
            raise AttributeError(
                f"{type(self).__name__}: feature_importances_ is not there, since the learners have none."
            )
        parts = zip(self.estimator_weights_, self.learners_, strict=True)
        total = self.estimator_weights_.sum()
        return sum(w * learner.feature_importances_ for w, learner in parts) / (total if total > 0.0 else 1.0)

    def __len__(self) -> int:
        return self.estimator_weights_.size

    def __getitem__(self, number):
        return self.estimators_[number]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    def _seed(self) -> int:
        """Return what all draws of a fit follow from; a model that is verified gives its own to a second fit."""
        given = getattr(self, "_seed_to_take", None)
        return int(integer_seeds(self.random_state, 1)[0]) if given is None else given

    def _learner(self) -> Any:
        return DecisionTreeRegressor(max_depth=3) if self.estimator is None else self.estimator

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes agree with each other."""
        for learner in self.learners_:
            check_learner(type(self).__name__, learner, type(self._learner()), self.n_features_in_)
            check_learner_outputs(type(self).__name__, learner, 1)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inside = get_tags(self._learner()).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inside.sparse, inside.allow_nan
        return tags


def attributes(data: LearnerData, seed: int, step: LearnerStep) -> dict:
    """Return the fitted attributes that some rounds stand for."""
    return {
        "learners_": step.learners,
        "estimator_errors_": np.array([told.error for told in step.rounds]),
        "estimator_weights_": np.array([told.alpha for told in step.rounds]),
        "seed_": seed,
        "has_text_": data.has_text,
    }


def weighted_medians(predictions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return for each row the least prediction that has half of the weight up to it.

    >>> weighted_medians(np.array([[1.0, 5.0, 2.0]]), np.array([1.0, 3.0, 1.0]))
    array([5.])
    """
    order = np.argsort(predictions, axis=1, kind="stable")
    up_to = np.cumsum(weights[order], axis=1)
    place = (up_to >= 0.5 * up_to[:, -1:]).argmax(axis=1)
    rows = np.arange(predictions.shape[0])
    return predictions[rows, order[rows, place]]
