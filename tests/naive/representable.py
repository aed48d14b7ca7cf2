"""Whether a weighted vote can get every row right, by trying: read this first, then proofs/representable.py."""

from __future__ import annotations

from itertools import product

import numpy as np

LARGEST = {1: 1, 2: 1, 3: 2, 4: 3}  # whole weights up to here reach all that real ones do, for so many voters


def representable(votes, signs, nonnegative=False):
    """Return weights under which every row is right, or None; at most 4 classifiers."""
    n_classifiers = votes.shape[1]
    most = LARGEST[n_classifiers]
    for weights in product(range(0 if nonnegative else -most, most + 1), repeat=n_classifiers):
        if all(signs[i] * np.dot(votes[i], weights) > 0 for i in range(len(votes))):
            return np.array(weights)
    return None
