"""Votes of learners for classes, the scores that follow from them, and shares of the classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.extmath import softmax

from eigenwood.core.adaboost.resuming import preds_in_parts
from eigenwood.core.adaboost.stumps import Stumps


class VoteSum:
    """The votes of learners so far, and the shares of the classes that follow from them."""

    def __init__(self, real: bool) -> None:
        self._real, self._votes, self._weight = real, np.zeros((1, 1)), 0.0

    def add(self, votes: np.ndarray, weight: float) -> None:
        """Add the votes of a learner of this weight, (n_rows, n_classes)."""
        self._votes, self._weight = self._votes + votes, self._weight + weight

    def proba(self) -> np.ndarray:
        """Return shares of the classes."""
        return proba_of(scores_of(self._votes, self._weight, self._real))


def votes_of_each(
    stumps: Stumps, weights: np.ndarray, rows: Any, n_classes: int, n_threads: int
) -> Iterator[np.ndarray]:
    """Yield the votes of each stump for the classes, (n_rows, n_classes)."""
    for first, part in preds_in_parts(stumps, rows, n_threads):
        for t, pred in enumerate(part, first):
            yield np.where(np.arange(n_classes) == pred[:, None], weights[t], 0.0)


def votes_of(pred: np.ndarray, weight: float, real: bool) -> np.ndarray:
    """Return the votes of a learner for the classes, by what it says of them: 1 if it is sure, -1 if it excludes."""
    return weight * (pred if real else pred > 0.0)


def scores_of(votes: np.ndarray, weight: float, real: bool) -> np.ndarray:
    """Return the score of each class, between -1 and 1, by votes of learners whose weights add up to ``weight``."""
    return (votes if real else against_others(votes)) / (weight if weight > 0.0 else 1.0)


def against_others(votes: np.ndarray) -> np.ndarray:
    """Return the votes for each class less the mean of those for the others, as SAMME scores a class."""
    return votes - (votes.sum(axis=1, keepdims=True) - votes) / (votes.shape[1] - 1)


def binary_scores(scores: np.ndarray) -> np.ndarray:
    """Return scores as scikit-learn has them: the difference of both for two classes."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def proba_of(scores: np.ndarray) -> np.ndarray:
    """Return shares of the classes from their scores, as scikit-learn does."""
    return softmax(scores / (scores.shape[1] - 1.0))
