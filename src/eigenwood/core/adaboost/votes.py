"""Rounds of AdaBoost for any learner: what it says of the rows → its weight → new weights of the rows.

A learner that says classes is weighted by its error, as in the PCA and boosting lecture (*The AdaBoost Algorithm*),
or by SAMME for more than two classes. One that says shares of classes p is taken at its word, as in the kernel lecture
(*AdaBoost*): h = 2p - 1 lies between -1 and 1 for each class l, and each pair of a row and a class has a weight
(AdaBoost.MH of Schapire and Singer), half of a row's weight for its true class and the other half for the others:

    row of class 1     l      0      1      2              r = Σ D Y h,  α = ½ ln((1 + r) / (1 - r)),  D ∝ D e^(-α Y h)
                       Y     -1     +1     -1              for two classes this is the kernel lecture's rule
                       D    1/4    1/2    1/4
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from eigenwood.core.adaboost.rounds import GOES_ON, NO_EDGE, PERFECT

CERTAIN = 1e-12  # a learner whose error, or whose distance to r = 1, is this small is always right


class Round(NamedTuple):
    """What comes of one round."""

    error: float  # ε: the weight of the rows whose class it does not say
    edge: float  # r = Σ D Y h, which is 1 - 2ε for classes
    alpha: float  # its weight, as in scikit-learn: twice the lectures'
    normalizer: float  # Z: what the weights come to before they are divided by it
    train_error: float  # the share of weight whose margin is not above 0, after the round
    min_margin: float
    end: int


class Votes:
    """The votes so far for some rows, and the weights that follow from them."""

    def __init__(self, classes: np.ndarray, mass: np.ndarray, n_classes: int, learning_rate: float, real: bool) -> None:
        self._classes, self._mass, self._rate, self._real = classes, mass / mass.sum(), learning_rate, real
        self._is_own = np.arange(n_classes) == classes[:, None]
        self._scores = np.zeros((classes.size, n_classes))
        self._lost = np.zeros(classes.size)
        self._total = 0.0
        self._margins = np.zeros(classes.size)

    def row_weights(self) -> np.ndarray:
        """Return D, as shares of 1."""
        return self._pair_weights().sum(axis=1) if self._real else shares(self._mass, self._lost)

    def add(self, pred: np.ndarray) -> Round:
        """Add what a learner says of each row, shape (n_rows, n_classes), 1 for what it is sure of and -1 for what
        it excludes; return what comes of it.
        """
        weights, pairs = self.row_weights(), self._pair_weights() if self._real else None
        wrong = pred.argmax(axis=1) != self._classes
        error = float(weights[wrong].sum())
        own = np.where(self._is_own, pred, -pred)
        edge = 1.0 - 2.0 * error if pairs is None else float((pairs * own).sum())
        alpha, end = self._alpha(error, edge)
        if pairs is None:
            normalizer = (1.0 - error) * math.exp(-alpha / 2.0) + error * math.exp(alpha / 2.0)
        else:
            normalizer = float((pairs * np.exp(-alpha / 2.0 * own)).sum())
        self._total += alpha
        self._lost += alpha * wrong
        self._scores += alpha / 2.0 * pred
        self._margins = margins = self._new_margins()
        return Round(error, edge, alpha, normalizer, float(self._mass[margins <= 0.0].sum()), float(margins.min()), end)

    def margins(self) -> np.ndarray:
        """Return the margin of each row, between -1 and 1; 0 without votes."""
        return self._margins

    def _new_margins(self) -> np.ndarray:
        own = self._scores[self._is_own]
        others = np.where(self._is_own, -np.inf, self._scores).max(axis=1)
        return (own - others) / self._total if self._total > 0.0 else np.zeros(own.size)

    def _pair_weights(self) -> np.ndarray:
        """Return the weight of each row and class."""
        n_others = self._is_own.shape[1] - 1
        halves = np.where(self._is_own, 0.5, 0.5 / n_others) * self._mass[:, None]
        return shares(halves, np.where(self._is_own, -self._scores, self._scores))

    def _alpha(self, error: float, edge: float) -> tuple[float, int]:
        """Return the weight of a learner, and whether the rounds end with it."""
        n_classes = self._is_own.shape[1]
        lack = (1.0 - edge) / 2.0 if self._real else error
        if lack <= CERTAIN:
            return 1.0 + self._total, PERFECT
        if lack >= (0.5 if self._real else 1.0 - 1.0 / n_classes):
            return 0.0, NO_EDGE
        more = 0.0 if self._real else math.log(n_classes - 1.0)
        return self._rate * (math.log((1.0 - lack) / lack) + more), GOES_ON


def shares(mass: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Return mass · e^exponents, divided by its sum; exponents may be large."""
    raised = mass * np.exp(exponents - exponents.max())
    return raised / raised.sum()
