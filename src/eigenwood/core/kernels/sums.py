"""Σ_j c_j k(x, z_j) for many x: what a model with a kernel predicts, in tiles that are used at once and gone."""

from __future__ import annotations

import numpy as np

from eigenwood.core.kernels.blocks import KernelFunction, Prepared, fill_tile, origin, prepared, taken
from eigenwood.core.kernels.functions import Kernel
from eigenwood.core.pieces import Pieces, at_once
from eigenwood.core.threads import results_in_turn, row_blocks

BLOCK_ROWS, TILE_COLUMNS = 512, 1024


def kernel_sums(X, Z, kernel: Kernel | KernelFunction, coefficients: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Return Σ_j k(x_i, z_j) c_jm for every row of X and every column of the coefficients, in float64.

    >>> from eigenwood.core.kernels.functions import LINEAR
    >>> kernel_sums(np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]]), Kernel(LINEAR), np.array([[1.0], [10.0]]))
    array([[43.],
           [86.]])
    """
    return at_once(kernel_sums_in_pieces(X, Z, kernel, coefficients, n_threads))


def kernel_sums_in_pieces(
    X, Z, kernel: Kernel | KernelFunction, coefficients: np.ndarray, n_threads: int
) -> Pieces[np.ndarray]:
    """Return Σ c k(x, z) of every row, with a pause after every block of rows."""
    sums = np.zeros((X.shape[0], coefficients.shape[1]))
    start = origin(Z, kernel) if isinstance(kernel, Kernel) else None
    right = ready(Z, kernel, start)
    tiles = row_blocks(Z.shape[0], TILE_COLUMNS)

    def add(rows: slice) -> None:
        left = ready(X[rows], kernel, start)
        for columns in tiles:
            K = values(left, taken(right, columns), kernel)
            sums[rows] += K @ coefficients[columns].astype(K.dtype, copy=False)

    for _ in results_in_turn(add, row_blocks(X.shape[0], BLOCK_ROWS), n_threads if isinstance(kernel, Kernel) else 1):
        yield
    return sums


def ready(rows, kernel: Kernel | KernelFunction, start: np.ndarray | None) -> Prepared:
    """Return rows ready for products; a function of the user's gets them as they are."""
    return prepared(rows, kernel, start) if isinstance(kernel, Kernel) else Prepared(rows, rows, np.empty(0))


def values(left: Prepared, right: Prepared, kernel: Kernel | KernelFunction) -> np.ndarray:
    """Return k(left, right)."""
    if not isinstance(kernel, Kernel):
        return kernel(left.rows, right.rows)
    tile = np.empty((left.rows.shape[0], right.rows.shape[0]), dtype=left.rows.dtype)
    fill_tile(tile, left, right, kernel)
    return tile
