"""Weights of rows as whole numbers, so that a weight of 2 is two rows to the last bit, in any order."""

from __future__ import annotations

import math

import numpy as np

BITS = 30  # of the sum of weights that are not whole, or whose sum has more than one bit more
FINE_BITS = 45  # of the sum where a tree is grown by it: fewer than sums in float64 have


def integer_weights(weights: np.ndarray, bits: int = BITS) -> np.ndarray:
    """Return weights as whole numbers: themselves if they are, else times a power of two, at least 1 each.

    >>> integer_weights(np.array([2.0, 1.0])), integer_weights(np.array([0.5, 0.25])) * 2.0**-30
    (array([2, 1]), array([0.5 , 0.25]))
    """
    total = math.fsum(weights)
    if total <= 2.0 ** (bits + 1) and (weights == np.rint(weights)).all():
        return weights.astype(np.int64)
    power = bits - math.ceil(math.log2(total))
    return np.maximum(np.rint(np.ldexp(weights, power)), 1.0).astype(np.int64)
