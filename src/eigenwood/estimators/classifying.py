"""What classifiers by scores share: one score per row for two classes, one per class and row for more."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from eigenwood.core.distinct import distinct_rows
from eigenwood.core.rows import rows_of
from eigenwood.estimators.watching import Watched
from eigenwood.validation.targets import Training, labels_from_scores


class ScoringClassifier(ClassifierMixin, Watched, BaseEstimator, ABC):
    """A classifier that knows ``decision_function``; ``predict`` follows from it."""

    classes_: np.ndarray

    @abstractmethod
    def decision_function(self, X):
        """Return the scores: shape (n_rows,) for two classes, else (n_rows, n_classes)."""

    def predict(self, X):
        """Return the label with the highest score for every row of X."""
        scores = self.decision_function(X)
        return labels_from_scores(self.classes_, scores)


def deduplicated_rows(data: Training) -> Training:
    """Return the data with equal rows merged and their weights added, in an order that is not the table's."""
    first, mass = distinct_rows(rows_of(data.X), data.classes.codes, data.weights)
    return data.taken(first)._replace(weights=mass)


def scores_for_users(scores: np.ndarray) -> np.ndarray:
    """Return scores of shape (n_rows, n_problems) as scikit-learn has them: a vector for a single problem."""
    return scores[:, 0] if scores.shape[1] == 1 else scores


def problem_labels(classes: np.ndarray) -> list[str]:
    """Return what to append to the name of a claim: nothing for two classes, else the class against the rest.

    >>> problem_labels(np.array(["a", "b", "c"]))
    [' [a]', ' [b]', ' [c]']
    """
    return [""] if classes.size == 2 else [f" [{label}]" for label in classes]
