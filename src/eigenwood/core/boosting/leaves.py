"""Order statistics of what is left in a leaf."""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit_refcount

HALF = 1e-12  # a sum of weights this close to the wanted share is the share, in whatever order they were added


@njit_refcount
def leaf_quantile(values, weights, share):
    """Return the value with so much of the weight at or below it; between two such values, the middle.

    Values and weights, of which there are none if all are 1, are left in the order of the values.
    """
    if weights.size > 0:
        order = np.argsort(values, kind="mergesort")
        values[:], weights[:] = values[order], weights[order]
    else:
        values.sort()
    total = weights.sum() if weights.size > 0 else np.float64(values.size)
    wanted, up_to = share * total, 0.0
    for i in range(values.size):
        up_to += weights[i] if weights.size > 0 else 1.0
        if abs(up_to - wanted) <= HALF * total and i + 1 < values.size:
            return 0.5 * (values[i] + values[i + 1])
        if up_to > wanted:
            return values[i]
    return values[-1]
