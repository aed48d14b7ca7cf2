"""How probabilities become a prediction: the class with the largest probability, each times its decision weight.

Accuracy wants the most probable class. Balanced accuracy and F1 want a rare class also where it is less probable than
another; how much less is tuned on predictions out of fold. The threshold that is best for the rows at hand is best for
few others where a class is rare, so it is tuned on many resamples of the rows, and the mean of the log-odds is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logit

from eigenwood.runs.metrics import Answers, ClassRows, Metric, balanced_accuracy, class_rows, f1

TUNED = (balanced_accuracy, f1)  # they want other decisions than the most probable class
N_RESAMPLES, SEED = 50, 0
MOST_CUTS = 300  # thresholds that are compared, of each class's quantiles
CERTAIN = 1e-6  # probabilities nearer to 0 or 1 have log-odds that say nothing more
ALMOST_NONE = 1e-12  # weight, where a resample has no row of a class
POWERS = np.linspace(0.0, 1.5, 31)


def decided(predictions: np.ndarray, classes: np.ndarray, decision_weights: Any = None) -> np.ndarray:
    """Return the label with the largest weighted probability in each row, the first of equal ones.

    >>> decided(np.array([[0.9, 0.1], [0.6, 0.4]]), np.array(["no", "yes"]), [0.2, 0.8])
    array(['no', 'yes'], dtype='<U3')
    """
    weighted = predictions if decision_weights is None else predictions * np.asarray(decision_weights)
    return classes[weighted.argmax(axis=1)]


def decision_weights(
    y: np.ndarray, answers: Answers, metric: Metric, weights: np.ndarray | None = None
) -> np.ndarray | None:
    """Return the weight of each class that suits the metric; None where the most probable class does no worse.

    The answers have to be about rows that the model has not learnt from.
    """
    if metric.value not in TUNED:
        return None
    rows = class_rows(y, answers, weights)
    found = threshold_weights(rows, metric) if rows.probabilities.shape[1] == 2 else share_weights(rows, metric)
    return found if value_with(found, rows, metric) > value_with(np.ones(found.size), rows, metric) else None


def value_with(weights: np.ndarray, rows: ClassRows, metric: Metric) -> float:
    """Return the metric of decisions by these weights."""
    return metric.value(rows._replace(predicted=(rows.probabilities * weights).argmax(axis=1)))


# --- more than two classes ----------------------------------------------------------------------------


def share_weights(rows: ClassRows, metric: Metric) -> np.ndarray:
    """Return a power of the inverse share of each class, from 0 (all are equal) on: one number is hardly overfitted."""
    counts = np.bincount(rows.codes, rows.weights, minlength=rows.probabilities.shape[1]).astype(np.float64)
    inverse = counts.max() / np.maximum(counts, 1.0)
    values = np.array([value_with(inverse**power, rows, metric) for power in POWERS])
    return inverse ** middle_of_best(values, POWERS)


def middle_of_best(values: np.ndarray, places: np.ndarray) -> float:
    """Return the place in the middle of the first run of largest values.

    >>> middle_of_best(np.array([1.0, 3.0, 3.0, 3.0, 2.0]), np.array([0.0, 0.1, 0.2, 0.3, 0.4]))
    0.2
    """
    first = int(values.argmax())
    after = np.flatnonzero(values[first:] < values[first])
    last = first + int(after[0]) - 1 if after.size else values.size - 1
    return float(places[first] + places[last]) / 2.0


# --- two classes --------------------------------------------------------------------------------------


def threshold_weights(rows: ClassRows, metric: Metric) -> np.ndarray:
    """Return weights of two classes by which the second is predicted from a probability on, the threshold."""
    odds = logit(np.clip(rows.probabilities[:, 1], CERTAIN, 1.0 - CERTAIN))
    cuts, masses = binned(odds, rows)
    if cuts.size == 0:  # all rows have the same probability
        return np.ones(2)
    threshold = float(expit(cuts[best_places(masses, metric, rows.positive)].mean()))
    return np.array([threshold, 1.0 - threshold])


def binned(odds: np.ndarray, rows: ClassRows) -> tuple[np.ndarray, np.ndarray]:
    """Return cuts between log-odds, and the weight of each class's rows between them in many resamples of the rows.

    The shape of the weights is (n_resamples, n_classes, n_cuts + 1).
    """
    quantiles = np.linspace(0.0, 1.0, MOST_CUTS)
    edges = np.unique(np.concatenate([np.quantile(odds[rows.codes == code], quantiles) for code in (0, 1)]))
    cuts = (edges[1:] + edges[:-1]) / 2.0
    places = rows.codes * edges.size + np.searchsorted(cuts, odds)
    counts = np.bincount(places, minlength=2 * edges.size)
    drawn = np.random.default_rng(SEED).poisson(counts, size=(N_RESAMPLES, counts.size)).astype(np.float64)
    if rows.weights is not None:
        drawn *= np.bincount(places, rows.weights, minlength=counts.size) / np.maximum(counts, 1)
    return cuts, drawn.reshape(N_RESAMPLES, 2, edges.size)


def best_places(masses: np.ndarray, metric: Metric, positive: int | None) -> np.ndarray:
    """Return which cut is best in each resample; rows above it are predicted to be of the second class."""
    totals = masses.sum(axis=2, keepdims=True) + ALMOST_NONE
    above = totals - np.cumsum(masses, axis=2)[:, :, :-1]
    (negatives, positives), (false, found) = np.moveaxis(totals, 1, 0), np.moveaxis(above, 1, 0)
    if metric.value is balanced_accuracy:
        values = found / positives - false / negatives
    else:
        f1_of_second = 2.0 * found / (found + false + positives)
        right = negatives - false
        f1_of_first = 2.0 * right / (right + (positives - found) + negatives)
        values = f1_of_first + f1_of_second if positive is None else (f1_of_first, f1_of_second)[positive]
    return values.argmax(axis=1)
