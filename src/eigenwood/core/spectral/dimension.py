"""How many components the data have by maximum likelihood (Minka, Automatic choice of dimensionality for PCA, 2000)."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

SMALLEST = np.finfo(np.float64).eps
CLOSEST = 1e-9  # beside a value: two that are closer count as so far apart, or their logarithm would decide alone


def likeliest_count(values: np.ndarray, n_rows: float) -> int:
    """Return the count of components with the largest evidence, from all eigenvalues of the covariance.

    >>> likeliest_count(np.array([9.0, 8.0, 0.12, 0.1, 0.09]), 100)
    2
    """
    in_units = values / 2.0 ** np.frexp(values.max(initial=0.0))[1]  # which says the same of all counts
    evidence = [log_evidence(in_units, count, n_rows) for count in range(1, values.size)]
    return int(np.argmax(evidence)) + 1 if evidence else values.size


def log_evidence(values: np.ndarray, count: int, n_rows: float) -> float:
    """Return Minka's approximation (his equations 77 to 80) of the log evidence for ``count`` components."""
    d = values.size
    if values[count - 1] < SMALLEST:
        return -np.inf
    noise = max(float(values[count:].mean()), SMALLEST)
    i = np.arange(1, count + 1)
    volume = -count * np.log(2.0) + (gammaln((d - i + 1) / 2.0) - np.log(np.pi) * (d - i + 1) / 2.0).sum()
    signal = -0.5 * n_rows * np.log(values[:count]).sum()
    rest = -0.5 * n_rows * (d - count) * np.log(noise)
    n_free = d * count - count * (count + 1) / 2.0
    flattened = np.append(values[:count], np.full(d - count, noise))
    curvature = 0.0
    for a in range(count):
        b = np.arange(a + 1, d)
        apart = np.maximum(values[a] - values[b], CLOSEST * values[a])
        inverse = np.maximum(1.0 / flattened[b] - 1.0 / flattened[a], CLOSEST / flattened[a])
        curvature += float(np.log(apart * inverse).sum()) + (d - a - 1) * np.log(n_rows)
    return float(
        volume
        + signal
        + rest
        + 0.5 * (n_free + count) * np.log(2.0 * np.pi)
        - 0.5 * curvature
        - 0.5 * count * np.log(n_rows)
    )
