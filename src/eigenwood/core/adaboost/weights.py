"""Weights of rows as whole numbers, so that a weight of 2 is two rows to the last bit, in any order."""

from __future__ import annotations

import math

import numpy as np

MOST_COUNTED = 2.0**31  # weights are scaled if their sum is larger, or if they are not whole


def integer_weights(weights: np.ndarray) -> np.ndarray:
    """Return weights as whole numbers: themselves if they are, else times a power of two, at least 1 each.

    >>> integer_weights(np.array([2.0, 1.0])), integer_weights(np.array([0.5, 0.25])) * 2.0**-30
    (array([2, 1]), array([0.5 , 0.25]))
    """
    total = math.fsum(weights)
    if total <= MOST_COUNTED and (weights == np.rint(weights)).all():
        return weights.astype(np.int64)
    power = 30 - math.ceil(math.log2(total))
    return np.maximum(np.rint(np.ldexp(weights, power)), 1.0).astype(np.int64)
