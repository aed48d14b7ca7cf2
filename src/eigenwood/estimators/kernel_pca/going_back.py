"""From scores to rows: three ways, and how far a row is from what its scores stand for.

A point of the components is P = mean + Σ b_k u_k in the space of the kernel. Its inner products follow from what the
model keeps: ⟨u_k, mean⟩ is the offset, ⟨u_k, φ(x)⟩ the score of x plus the offset, ‖mean‖² is (tr K - tr K̃) / n.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from eigenwood.core.kernels.blocks import gram_diagonal
from eigenwood.core.kernels.preimage import fixed_points, from_distances
from eigenwood.core.kernels.sums import kernel_sums
from eigenwood.core.threads import row_blocks
from eigenwood.estimators.kernels import similarity
from eigenwood.validation.kernel_pca import DISTANCES, FIXED_POINT, RIDGE, WHO

QUERY_ROWS = 1024  # of which weights for all training rows are in memory


class Denoised(NamedTuple):
    """Rows that were projected on the components and brought back."""

    rows: np.ndarray
    distances: np.ndarray  # ‖Pφ(x) - φ(z)‖² for each row x and what came back, z


def rows_of_scores(model: Any, scores: np.ndarray, way: str, starts: np.ndarray | None, n_threads: int) -> np.ndarray:
    """Return the rows that scores stand for, by one of the ways."""
    if way == RIDGE:
        return by_ridge(model, scores, n_threads)
    parts, n_failed, first = [], 0, 0
    for rows in row_blocks(scores.shape[0], QUERY_ROWS):
        if way == DISTANCES:
            parts.append(from_distances(squares_to_rows(model, scores[rows], n_threads), model.X_fit_, model.gamma_))
            continue
        begin = None if starts is None else starts[rows]
        found = fixed_points(weights_of(model, scores[rows]), model.X_fit_, model.gamma_, begin, n_threads)
        parts.append(found.rows)
        if found.failed.any() and n_failed == 0:
            first = rows.start + int(found.failed.argmax())
        n_failed += int(found.failed.sum())
    if n_failed:
        warnings.warn(no_fixed_point(n_failed, scores.shape[0], first), ConvergenceWarning, stacklevel=3)
    return np.concatenate([*parts, np.empty((0, model.n_features_in_))]).astype(scores.dtype, copy=False)


def no_fixed_point(n_failed: int, n_rows: int, first: int) -> str:
    return (
        f"{WHO}: {n_failed} of {n_rows} rows have no fixed point (Σ g k(z, x) is not above 0 near any start; the first "
        f"is row {first}), so the training row of largest weight stands in the place of each."
    )


def by_ridge(model: Any, scores: np.ndarray, n_threads: int) -> np.ndarray:
    """Return what kernel ridge regression on the scores of the training rows predicts."""
    known = model.X_transformed_fit_.astype(scores.dtype, copy=False)
    kernel = similarity(model, model.gamma_, known)
    assert kernel is not None
    return kernel_sums(scores, known, kernel, model.dual_coef_, n_threads).astype(scores.dtype)


def weights_of(model: Any, scores: np.ndarray) -> np.ndarray:
    """Return g with P = Σ g_i φ(x_i) over the rows that the model keeps."""
    return scores.astype(np.float64) @ model.projection_.T + model.mean_weights_


def squared_lengths(model: Any, scores: np.ndarray) -> np.ndarray:
    """Return ‖P‖² for each row of scores."""
    b = scores.astype(np.float64)
    mean = (model.trace_ - model.total_variance_) / model.n_samples_
    return np.square(b).sum(axis=1) + 2.0 * b @ model.offset_ + mean


def squares_to_rows(model: Any, scores: np.ndarray, n_threads: int) -> np.ndarray:
    """Return ‖P - φ(x_i)‖² for each row of scores and each row that the model keeps."""
    X, kernel = model.X_fit_, similarity(model, model.gamma_, model.X_fit_)
    assert kernel is not None
    columns = np.column_stack([model.projection_, model.mean_weights_])
    inner = kernel_sums(X, X, kernel, columns, n_threads)
    beside = scores.astype(np.float64) @ inner[:, :-1].T + inner[:, -1]
    squares = squared_lengths(model, scores)[:, None] + gram_diagonal(X, kernel) - 2.0 * beside
    return np.maximum(squares, 0.0)


def distances_to(model: Any, scores: np.ndarray, rows: np.ndarray, n_threads: int) -> np.ndarray:
    """Return ‖P - φ(z)‖² for each row of scores and its row z."""
    kernel = similarity(model, model.gamma_, model.X_fit_)
    assert kernel is not None
    columns = np.column_stack([model.projection_, model.mean_weights_])
    vectors = model.X_fit_.astype(rows.dtype, copy=False)
    inner = kernel_sums(rows, vectors, kernel, columns, n_threads)
    beside = np.einsum("ij,ij->i", scores.astype(np.float64), inner[:, :-1]) + inner[:, -1]
    return np.maximum(squared_lengths(model, scores) + gram_diagonal(rows, kernel) - 2.0 * beside, 0.0)


def usual_way(model: Any) -> str | None:
    """Return how ``denoise`` goes back where nothing was asked for, if the kernel allows it."""
    return FIXED_POINT if model.kernel == "rbf" else None
