"""Kernel ridge regression: squared losses in the space of a kernel, by one linear system.

    minimise   ½‖f‖² + Σ ½ c_i (y_i - f_i)²                  c_i = w_i / alpha
    whole      (K + diag 1/c) β = y                          f = Σ β_i k(x_i, ·);  Cholesky, panel by panel
    landmarks  (I + Fᵀ diag(c) F) W = Fᵀ diag(c) y           f = F W,  K ≈ F Fᵀ  (``low_rank``)

    panel      ┌──┐
               │L │          factored in one piece
               ├──┤────┐
    rows       │  │    │     solved and subtracted, a task for each block of rows: any number of threads, the same bits
               └──┘────┘

The triangle above the diagonal stays as it was, so that K β is known afterwards without a second matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from eigenwood.core.kernels.features import Features
from eigenwood.core.pieces import at_once
from eigenwood.core.threads import one_blas_thread, results_of, row_blocks

PANEL, TASK_ROWS = 256, 512  # columns that are factored in one piece, and rows of a task
TASK_COLUMNS = 64  # of many targets
REFINEMENTS = 2  # solutions of what the one before left


def factor_below(K: np.ndarray, n_threads: int) -> None:
    """Write the lower Cholesky factor of a symmetric matrix in the place of its lower triangle.

    >>> K = np.array([[4.0, 2.0], [2.0, 2.0]])
    >>> factor_below(K, n_threads=1)
    >>> K
    array([[2., 2.],
           [1., 1.]])
    """
    n = K.shape[0]
    for panel in row_blocks(n, PANEL):
        with one_blas_thread():
            corner = np.linalg.cholesky(np.tril(K[panel, panel]) + np.tril(K[panel, panel], -1).T)
        strict = np.tril_indices(corner.shape[0])
        K[panel, panel][strict] = corner[strict]
        below = [slice(panel.stop + b.start, panel.stop + b.stop) for b in row_blocks(n - panel.stop, TASK_ROWS)]

        def solve(rows: slice, panel: slice = panel, corner: np.ndarray = corner) -> None:
            K[rows, panel] = linalg.solve_triangular(corner, K[rows, panel].T, lower=True, check_finite=False).T

        def subtract(rows: slice, panel: slice = panel) -> None:
            left = slice(panel.stop, rows.start)
            K[rows, left] -= K[rows, panel] @ K[left, panel].T
            own = np.tril_indices(rows.stop - rows.start)
            K[rows, rows][own] -= (K[rows, panel] @ K[rows, panel].T)[own]

        results_of(solve, below, n_threads)
        results_of(subtract, below, n_threads)


def times_above(K: np.ndarray, diagonal: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the product of B with the symmetric matrix whose upper triangle K has, and this diagonal."""
    with one_blas_thread():
        product = blas.dsymm(1.0, K.T, B, lower=1)
    return product + (diagonal - K.diagonal())[:, None] * B


def solved_below(K: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return (L Lᵀ)⁻¹ B, with L in the lower triangle of K."""
    with one_blas_thread():
        forth = linalg.solve_triangular(K, B, lower=True, check_finite=False)
        return linalg.solve_triangular(K, forth, lower=True, trans="T", check_finite=False)


def ridge_coefficients(K: np.ndarray, alpha: float, y: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Return β with (K + alpha I) β = y in the type of K, for many columns of y; K is used up.

    >>> ridge_coefficients(np.array([[1.0]]), 1.0, np.array([[4.0]]))
    array([[2.]])
    """
    K.flat[:: K.shape[0] + 1] += K.dtype.type(alpha)
    factor_below(K, n_threads)

    def solve(columns: slice) -> np.ndarray:
        return linalg.cho_solve((K.T, False), y[:, columns], check_finite=False)

    return np.ascontiguousarray(np.hstack(results_of(solve, row_blocks(y.shape[1], TASK_COLUMNS), n_threads)))


class WholeRidge(NamedTuple):
    """The solution of (K + diag(ridge)) β = y, for every column of y."""

    beta: np.ndarray
    scores: np.ndarray  # K β
    left: np.ndarray  # y - K β - ridge β: rounding


def whole_ridge(K: np.ndarray, y: np.ndarray, ridge: np.ndarray, n_threads: int = 1) -> WholeRidge:
    """Return the solution; K is used up. Raises LinAlgError where the system is singular to rounding.

    >>> K = np.array([[1.0, 0.0], [0.0, 3.0]])
    >>> whole_ridge(K, np.array([[2.0], [4.0]]), np.ones(2)).beta
    array([[1.],
           [1.]])
    """
    diagonal = K.diagonal().copy()
    K[np.diag_indices_from(K)] += ridge
    factor_below(K, n_threads)
    beta, scores, left = np.zeros_like(y), np.zeros_like(y), y
    for _ in range(1 + REFINEMENTS):
        beta = beta + solved_below(K, left)
        scores = times_above(K, diagonal, beta)
        left = y - scores - ridge[:, None] * beta
    return WholeRidge(beta, scores, left)


def landmark_ridge(features: Features, y: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Return W with (I + Fᵀ diag(costs) F) W = Fᵀ diag(costs) y, for every column of y."""
    matrix = at_once(features.weighted_gram(costs, np.zeros(features.columns.shape[0]), np.dtype(np.float64)))
    matrix[np.diag_indices_from(matrix)] += 1.0
    with one_blas_thread():
        factor = linalg.cho_factor(matrix, lower=True, check_finite=False)
    weights = np.zeros((features.columns.shape[0], y.shape[1]))
    for _ in range(1 + REFINEMENTS):
        left = costs[:, None] * (y - at_once(features.ahead(weights)))
        with one_blas_thread():
            weights += linalg.cho_solve(factor, at_once(features.back(left)) - weights, check_finite=False)
    return weights
