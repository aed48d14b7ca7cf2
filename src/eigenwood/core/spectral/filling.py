"""Missing values: the low-rank fit says what stands in a hole, and the filled table gives the next fit.

    X with holes ──► means in the holes ──► k components ──► x̂ = μ + σ V z in the holes ──► k components ──► …

Each round is an EM step for the squared error on the observed entries, which therefore never rises. New rows are
projected by least squares on what is observed of them, which is where the iteration ends for the rows it has seen.
"""

from __future__ import annotations

import numpy as np


def column_means(X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weighted mean of what is observed in each column, 0 where nothing is."""
    observed = ~np.isnan(X)
    sums = weights @ np.where(observed, X, 0.0)
    counts = weights @ observed.astype(np.float64)
    return np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0.0)


def with_means(X: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return a copy of X with means in its holes."""
    return np.where(np.isnan(X), means.astype(X.dtype), X)


def low_rank_values(filled: np.ndarray, holes, mean, scale, components: np.ndarray) -> np.ndarray:
    """Return μ + σ V Vᵀ (x - μ)/σ at the holes, a pair of row and column numbers."""
    rows, columns = holes
    touched, place = np.unique(rows, return_inverse=True)
    scores = ((filled[touched] - mean) / scale) @ components.T
    return mean[columns] + scale[columns] * np.einsum("ik,ik->i", scores[place], components.T[columns])


def observed_scores(X: np.ndarray, mean: np.ndarray, scale: np.ndarray, components: np.ndarray) -> np.ndarray:
    """Return the scores of rows with holes: the least-squares fit to what is observed of each.

    Of a row without any that is its projection, since the components are orthonormal: one product for all of them.
    """
    centred = (X - mean) / scale
    is_complete = ~np.isnan(X).any(axis=1)
    scores = np.zeros((X.shape[0], components.shape[0]))
    scores[is_complete] = centred[is_complete] @ components.T
    for i in np.flatnonzero(~is_complete):
        seen = ~np.isnan(centred[i])
        if seen.any():
            scores[i] = np.linalg.lstsq(components[:, seen].T, centred[i, seen], rcond=None)[0]
    return scores
