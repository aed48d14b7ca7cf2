"""AdaBoost.R2 with scikit-learn's face: regressors, each fitted to rows that those before it predicted badly."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from eigenwood.estimators.adaboost.base import Boosted
from eigenwood.estimators.adaboost.fitting import LearnerRounds, regressor_steps
from eigenwood.estimators.adaboost.history import HeldOut, LearnerHistory
from eigenwood.estimators.adaboost.input_checks import LearnerData, check_learner_rows
from eigenwood.estimators.adaboost.medians import weighted_medians
from eigenwood.estimators.adaboost.params import REGRESSOR_PARAMS, REGRESSOR_STATE
from eigenwood.estimators.adaboost.stopping import HeldOutAmounts, divided_learner_rows
from eigenwood.estimators.bagging.input_checks import refuses_infinity
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.tree.faces import DecisionTreeRegressor
from eigenwood.estimators.watching import Watch, all_or_nothing
from eigenwood.proofs.adaboost import regression_claims
from eigenwood.proofs.claim import Certificate
from eigenwood.validation.adaboost import LINEAR, check_single_target
from eigenwood.validation.bagging import check_learner, check_learner_outputs
from eigenwood.validation.ensembles import check_query
from eigenwood.validation.params import check_params

COLUMNS = ("estimator_errors_", "estimator_weights_")  # what is told of each round


@describe
class AdaBoostRegressor(RegressorMixin, Boosted):
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
        Draws the rows and the seeds of the learners, and the rows held out.
    early_stopping : bool, default=False
        Hold rows out and stop once R² on them has not risen for ``n_iter_no_change`` rounds; rounds after the best one
        are dropped.
    validation_fraction : float or int, default=0.1
        The rows held out, as a share or as a number.
    n_iter_no_change : int, default=10
        How many rounds may pass without a better R².
    warm_start : bool, default=False
        Keep the rounds of the last fit and add more, up to ``n_estimators``: the same bits as one fit to these rows.

    Attributes
    ----------
    estimator_, estimators_, estimator_weights_, estimator_errors_, feature_importances_, n_features_in_
        As in scikit-learn, and so is feature_names_in_; there are only the rounds that there were.
    validation_score_ : ndarray of shape (n_rounds,)
        R² on the rows held out after each round, where rounds may stop early; n_held_out_ tells how many.
    stop_reason_ : 'finished', 'perfect', 'no_edge', 'early_stopping', 'time_limit' or 'callback'
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

    estimator_errors_: np.ndarray
    has_text_: bool

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
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=10,
        warm_start=False,
        n_jobs=None,
        time_limit=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.time_limit = time_limit

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Boost, round after round, on the rows of X and their numbers y. A weight is a repeated row."""
        with all_or_nothing(self) as before:
            check_params(self)
            watch, who = Watch(self), type(self).__name__
            data, seed = check_learner_rows(self, X, y, sample_weight), self._seed()
            check_single_target(who, y, data.training.y)
            n_earlier = self._earlier_count(before, None, "learners_")
            if n_earlier == self.n_estimators:
                return self
            learn, held_out = divided_learner_rows(self, data, seed)
            fixed = {"seed_": seed, "has_text_": data.has_text}
            history = LearnerHistory(COLUMNS, fixed, self._held_out(held_out))
            rounds = LearnerRounds(self._learner(), learn, seed, True, watch, self._threads())
            rate, n_rounds = float(self.learning_rate), self.n_estimators
            steps = regressor_steps(who, rounds, self.loss, rate, n_rounds, self._earlier(n_earlier))
            self._store(history.followed(steps), history, n_rounds - n_earlier, X, y, watch)
            self.certificate_ = self._certify()
            return self

    def _held_out(self, rows: LearnerData | None) -> HeldOut | None:
        """Return what scores rows held out, given one learner after the other and its weight."""
        if rows is None:
            return None
        amounts = HeldOutAmounts(rows)

        def score(learner: Any, weight: float) -> float:
            return amounts.add(learner.predict(amounts.X), weight)

        return HeldOut(score, rows.mass.size, int(self.n_iter_no_change))

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
    def feature_importances_(self):
        """The weighted mean of the learners' importances."""
        check_is_fitted(self)
        total = self.estimator_weights_.sum()
        return self._learner_importances() / (total if total > 0.0 else 1.0)

    def _learner(self) -> Any:
        return DecisionTreeRegressor(max_depth=3) if self.estimator is None else self.estimator

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes agree with each other."""
        for learner in self.learners_:
            check_learner(type(self).__name__, learner, type(self._learner()), self.n_features_in_)
            check_learner_outputs(type(self).__name__, learner, 1)
