"""The weighted vote of stumps, or of any learners, as scikit-learn has it: after all rounds, or after each."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.adaboost.stumps import Stumps, stump_votes
from eigenwood.estimators.adaboost.base import Boosted
from eigenwood.estimators.adaboost.fitting import pred_by_classes, pred_by_shares
from eigenwood.estimators.adaboost.votes import binary_scores, proba_of, scores_of, votes_of, votes_of_each
from eigenwood.estimators.bagging.input_checks import refuses_infinity
from eigenwood.estimators.tree.data import log_proba
from eigenwood.estimators.tree.input_checks import check_no_infinity
from eigenwood.validation.adaboost import REAL
from eigenwood.validation.categories import check_mixed
from eigenwood.validation.ensembles import check_query


class Voting(Boosted):
    """A classifier that is the weighted vote of its learners."""

    algorithm: str
    classes_: np.ndarray
    stumps_: Stumps
    categories_: list
    has_text_: bool

    @abstractmethod
    def _has_stumps(self, n_classes: int) -> bool:
        """Return whether the learners are our stumps."""

    def decision_function(self, X):
        """Return the weighted vote for each row, as scikit-learn has it: one number for two classes, else one each."""
        *_, scores = self._scores(X, every=False)
        return binary_scores(scores)

    def predict_proba(self, X):
        """Return shares of the classes that follow from the weighted vote."""
        *_, scores = self._scores(X, every=False)
        return proba_of(scores)

    def predict_log_proba(self, X):
        """Return the logarithm of ``predict_proba``."""
        return log_proba(self.predict_proba(X))

    def predict(self, X):
        """Return the class with the highest share for each row."""
        places = self.predict_proba(X).argmax(axis=1)
        return self.classes_.take(places)

    def staged_decision_function(self, X):
        """Yield ``decision_function`` after each round."""
        for scores in self._scores(X, every=True):
            yield binary_scores(scores)

    def staged_predict_proba(self, X):
        """Yield ``predict_proba`` after each round."""
        for scores in self._scores(X, every=True):
            yield proba_of(scores)

    def staged_predict(self, X):
        """Yield ``predict`` after each round."""
        for proba in self.staged_predict_proba(X):
            yield self.classes_.take(proba.argmax(axis=1))

    def staged_score(self, X, y, sample_weight=None):
        """Yield the accuracy after each round."""
        for pred in self.staged_predict(X):
            yield accuracy_score(y, pred, sample_weight=sample_weight)

    def _scores(self, X, *, every: bool) -> Iterator[np.ndarray]:
        """Yield the score of each class and row, between -1 and 1, after each round or after the last."""
        check_is_fitted(self)
        total: Any = 0.0
        for pred, n_done in self._preds(X, every):
            total = total + pred
            yield scores_of(total, self.estimator_weights_[:n_done].sum(), self._is_real())

    def _preds(self, X, every: bool) -> Iterator[tuple[np.ndarray, int]]:
        """Yield what each round adds, or what all do, with the number of the rounds: votes for classes, or w h."""
        weights = self.estimator_weights_
        if hasattr(self, "stumps_"):
            rows = check_mixed(self, X, known=self.categories_).X
            check_no_infinity(self, rows)
            if every:
                each = votes_of_each(self.stumps_, weights, rows, self.classes_.size, self._threads())
                yield from ((pred, t) for t, pred in enumerate(each, 1))
                return
            yield stump_votes(self.stumps_, weights, rows, self.classes_.size, self._threads()), weights.size
            return
        rows = check_query(self, X, has_text=self.has_text_, finite=refuses_infinity(self))
        pred_of, total = self._pred_of(self.classes_.size), np.zeros((rows.shape[0], self.classes_.size))
        for t, learner in enumerate(self.learners_):
            added = votes_of(pred_of(learner, rows), weights[t], self._is_real())
            total += added
            if every:
                yield added, t + 1
        if not every:
            yield total, weights.size

    def _pred_of(self, n_classes: int) -> Callable[[Any, Any], np.ndarray]:
        """Return what asks a learner: for classes, or for their shares."""
        if self.algorithm == REAL:
            return pred_by_shares(n_classes)
        return pred_by_classes(type(self).__name__, n_classes)

    def _is_real(self) -> bool:
        """Return whether learners were asked for shares of classes."""
        return self.algorithm == REAL and not self._has_stumps(self.classes_.size)
