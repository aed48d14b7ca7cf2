"""Randomly pivoted Cholesky, one column at a time: read this first, then core/kernels/low_rank.py."""

import numpy as np


def pivoted_cholesky(K, pivots):
    """Return F (n, k) with K ≈ F Fᵀ, and tr(K - F Fᵀ) after every column, for landmarks in this order."""
    rest = np.array(K, dtype=float)
    columns, errors = [], [np.trace(rest)]
    for s in pivots:
        column = rest[:, s] / np.sqrt(rest[s, s])
        rest = rest - np.outer(column, column)
        columns.append(column)
        errors.append(np.trace(rest))
    return np.array(columns).T.reshape(len(K), len(columns)), np.array(errors)


def random_pivots(K, count, rng):
    """Return landmarks, each drawn with a probability proportional to what is left of the diagonal."""
    rest, pivots = np.array(K, dtype=float), []
    for _ in range(count):
        left = np.maximum(rest.diagonal(), 0.0)
        s = rng.choice(len(rest), p=left / left.sum())
        column = rest[:, s] / np.sqrt(rest[s, s])
        rest = rest - np.outer(column, column)
        rest[s] = rest[:, s] = 0.0
        pivots.append(s)
    return pivots
