"""When a perceptron stops learning: once the accuracy on rows that were held out rises no more."""

from __future__ import annotations

import numpy as np

from eigenwood.core.margin.perceptron import PerceptronStep
from eigenwood.core.margin.scores import linear_scores
from eigenwood.estimators.classifying import scores_for_users
from eigenwood.validation.perceptron import held_out_rows
from eigenwood.validation.targets import Training, labels_from_scores


def split(data: Training, fraction: float, seed: int) -> tuple[Training, Training]:
    """Return the rows to learn from, and those held out."""
    learn, held_out = held_out_rows(data.classes.codes, fraction, seed)
    return data.taken(learn), data.taken(held_out)


class NoGain:
    """Says stop when the accuracy on held-out rows has not risen by ``tol`` for some epochs."""

    def __init__(self, held_out: Training, tol: float | None, n_iter_no_change: int) -> None:
        self._held_out, self._tol, self._patience = held_out, tol or 0.0, n_iter_no_change
        self._best, self._since = -np.inf, 0

    def __call__(self, step: PerceptronStep) -> bool:
        codes = self._held_out.classes.codes
        scores = scores_for_users(linear_scores(self._held_out.X, step.coefficients(), step.intercepts()))
        right = labels_from_scores(np.arange(self._held_out.classes.labels.size), scores) == codes
        accuracy = np.average(right, weights=self._held_out.weights)
        self._since = 0 if accuracy > self._best + self._tol else self._since + 1
        self._best = max(self._best, accuracy)
        return self._since >= self._patience
