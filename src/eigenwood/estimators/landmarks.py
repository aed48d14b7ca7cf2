"""What models on landmarks share when they are verified: F and the scores, made again from the kernel values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from eigenwood.core.kernels.matrix import KernelMatrix, tile_sums
from eigenwood.core.threads import row_blocks
from eigenwood.estimators.svm.verifying import are_different
from eigenwood.estimators.watching import Deadline
from eigenwood.validation.kernels import definite_factor

BLOCK_ROWS = 2048  # between two looks at the clock


class MadeAgain(NamedTuple):
    """What the kernel values of rows and landmarks come to."""

    scores: np.ndarray  # (n, n_scores) Σ γ_s k(x_s, x)
    weights: np.ndarray  # (k, n_scores) W
    asked: np.ndarray  # (k, n_scores) Fᵀα
    alpha: np.ndarray  # (n, n_scores)
    residual: np.ndarray  # (n,) the diagonal of K - F Fᵀ


def rows_at(places: np.ndarray, support: np.ndarray) -> np.ndarray:
    """Return which of the rows are the landmarks, by where they stood.

    >>> rows_at(np.array([4, 0, 7]), np.array([7, 4]))
    array([2, 0])
    """
    order = np.argsort(places)
    return order[np.searchsorted(places[order], support)]


def n_other_landmarks(rows: Any, vectors: Any, is_gram: bool) -> int:
    """Return how many landmarks are not what stands in the table where they are said to come from."""
    return 0 if is_gram else int(are_different(rows, vectors).sum())


def made_again(
    who: str,
    K: KernelMatrix,
    landmarks: np.ndarray,
    gamma: np.ndarray,
    asked_for: Callable[[slice, np.ndarray], np.ndarray],
    deadline: Deadline,
) -> MadeAgain:
    """Return scores, W, α and Fᵀα; ``asked_for`` makes α of some rows from their scores."""
    right = K.columns(landmarks)
    triangle = definite_factor(who, K.tile(landmarks, right))
    weights = triangle.T @ gamma
    scores, residual, asked = np.empty((K.n_rows(), gamma.shape[1])), K.diagonal(), np.zeros_like(weights)
    alpha = np.empty_like(scores)
    for rows in row_blocks(K.n_rows(), BLOCK_ROWS):
        deadline.check()
        tile = K.tile(rows, right)
        scores[rows] = tile @ gamma
        F = linalg.solve_triangular(triangle, tile.T, lower=True, check_finite=False).T
        residual[rows] -= np.einsum("ik,ik->i", F, F)
        alpha[rows] = asked_for(rows, scores[rows])
        asked += F.T @ alpha[rows]
    return MadeAgain(scores, weights, asked, alpha, residual)


def whole_sum(K: KernelMatrix, alpha: np.ndarray, deadline: Deadline) -> float:
    """Return tr αᵀKα from all kernel values, with a look at the clock after every tile."""
    total = 0.0
    for part in tile_sums(K, alpha):
        total += part
        deadline.check()
    return total
