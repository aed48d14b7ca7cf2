"""The best k columns for a linear regression: try all. Read this first, then core/selection/hard_thresholding.py."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def residual(X, y, w, support, with_intercept=True):
    """Return the weighted sum of squares that least squares on some columns leave."""
    columns = X[:, list(support)]
    if with_intercept:
        columns = np.column_stack([np.ones(len(y)), columns])
    root = np.sqrt(w)
    coef = np.linalg.lstsq(columns * root[:, None], y * root, rcond=None)[0]
    return float((w * (y - columns @ coef) ** 2).sum())


def best_subset(X, y, w, k, with_intercept=True):
    """Return the residual of the best k columns, and these."""
    return min((residual(X, y, w, subset, with_intercept), subset) for subset in combinations(range(X.shape[1]), k))


def best_exchange(X, y, w, support, with_intercept=True):
    """Return the least residual after one column was exchanged for another."""
    others = [j for j in range(X.shape[1]) if j not in support]
    swapped = ([*(set(support) - {i}), j] for i in support for j in others)
    return min(residual(X, y, w, subset, with_intercept) for subset in swapped)
