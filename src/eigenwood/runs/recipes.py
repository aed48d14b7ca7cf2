"""What the final model is made of: the best candidate, or a few of the best by weight where together they do better.

Greedy selection (Caruana, 2004) on what the candidates said of rows they had not seen: begin with the best one, add
the one that lowers the loss most, again and again; how often a candidate was added is its weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from eigenwood.core.blending import LOG_LOSS, SQUARED_ERROR, select_weights, weighted_mean
from eigenwood.runs.trials import TrainingRows, Trial

MOST_MEMBERS = 5
MOST_COMPARED = 16  # the best by loss; the others would hardly be chosen
LEAST_WEIGHT = 0.05


class Recipe(NamedTuple):
    """Trials with their weights, and how probabilities become a prediction."""

    members: tuple[int, ...]  # places among the trials
    weights: tuple[float, ...]
    decision_weights: tuple[float, ...] | None
    score: float
    loss: float

    @property
    def rank(self) -> tuple[float, float]:
        return self.score, -self.loss


def single(place: int, trial: Trial, data: TrainingRows, n_folds: int) -> Recipe:
    """Return the recipe of one trial."""
    assert trial.predictions is not None
    return decided((place,), (1.0,), trial.predictions, data, n_folds)


def best_mixture(trials: Sequence[Trial], places: Sequence[int], data: TrainingRows, n_folds: int) -> Recipe:
    """Return the trials that together have the least loss, by weight."""
    compared = sorted(sorted(places, key=lambda place: trials[place].record.loss)[:MOST_COMPARED])
    predictions = np.stack([p for p in (trials[place].predictions for place in compared) if p is not None])
    checked = data.checked(n_folds)
    weights = selected(predictions, checked, data)
    kept = np.argsort(-weights, kind="stable")[:MOST_MEMBERS]
    kept = np.sort(kept[weights[kept] >= min(LEAST_WEIGHT, float(weights.max()))])
    shares = weights[kept] / weights[kept].sum()
    mixed = weighted_mean(predictions[kept], shares)
    return decided(tuple(compared[k] for k in kept), tuple(shares.tolist()), mixed, data, n_folds)


def selected(predictions: np.ndarray, checked: np.ndarray, data: TrainingRows) -> np.ndarray:
    """Return the weight of each trial, by greedy selection."""
    y, weights = data.y[checked], data.weights_of(checked)
    if data.classes is None:
        return select_weights(predictions, y, SQUARED_ERROR, weights)
    return select_weights(predictions, np.searchsorted(data.classes, y), LOG_LOSS, weights)


def decided(
    members: tuple[int, ...], weights: tuple[float, ...], predictions: np.ndarray, data: TrainingRows, n_folds: int
) -> Recipe:
    """Return the recipe with its score, after the decision weights that the metric asks for."""
    checked = data.checked(n_folds)
    chosen = data.decision_weights(checked, predictions)
    found = data.score(checked, predictions, chosen)
    return Recipe(members, weights, None if chosen is None else tuple(chosen.tolist()), found.value, found.loss)
