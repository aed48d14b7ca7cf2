"""The weighted median, by which AdaBoost.R2 predicts."""

from __future__ import annotations

import numpy as np


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
