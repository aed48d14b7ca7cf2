"""Scores of a linear rule, in fixed blocks of rows, so that their bits do not depend on threads."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from eigenwood.core.kernels.sums import given_sums
from eigenwood.core.threads import results_of, row_blocks

BLOCK_ROWS = 4096


def linear_scores(X, coefficients: np.ndarray, intercepts: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Return X wᵀ + b, shape (n_rows, n_problems); equal rows have equal scores."""
    if not sparse.issparse(X):
        return given_sums(X, coefficients.T, n_threads) + intercepts

    def scores(rows: slice) -> np.ndarray:
        return X[rows] @ coefficients.T + intercepts

    return np.vstack(results_of(scores, row_blocks(X.shape[0], BLOCK_ROWS), n_threads))
