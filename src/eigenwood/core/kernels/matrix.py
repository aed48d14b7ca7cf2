"""A Gram matrix that need not be there: tiles of it, computed when they are asked for, or cut from a matrix in hand.

K        ┌── columns ──┐
rows     │  tile       │   k(x_i, x_j) for some rows i and some columns j; nothing is kept
         └─────────────┘
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from eigenwood.core.kernels.blocks import KernelFunction, Prepared, gram_diagonal, origin, taken
from eigenwood.core.kernels.functions import Kernel
from eigenwood.core.kernels.sums import ready, values
from eigenwood.core.threads import results_in_turn, row_blocks

SQUARE = 1024  # rows and columns of a tile of the whole matrix


class KernelMatrix(NamedTuple):
    """The similarities among rows; without a kernel, the rows are those of the matrix itself."""

    rows: Prepared
    kernel: Kernel | KernelFunction | None

    def n_rows(self) -> int:
        """Return how many rows and columns it has."""
        return self.rows.rows.shape[0]

    def dtype(self) -> np.dtype:
        """Return the type of its values: that of the rows, or float64 from a function of the user's."""
        return self.rows.rows.dtype if isinstance(self.kernel, Kernel | None) else np.dtype(np.float64)

    def threads(self, n_threads: int) -> int:
        """Return how many threads may ask for tiles at once: only one if a function of the user's computes them."""
        return n_threads if isinstance(self.kernel, Kernel | None) else 1

    def diagonal(self) -> np.ndarray:
        """Return k(x, x) for every row x, in float64."""
        if self.kernel is None:
            return self.rows.rows.diagonal().astype(np.float64)
        return gram_diagonal(self.rows.rows, self.kernel)

    def tile(self, rows: slice | np.ndarray, columns: Prepared) -> np.ndarray:
        """Return a new array of k(x_i, x_j), with ``columns`` as ``columns()`` gives them."""
        if self.kernel is None:
            return self.rows.rows[rows][:, columns.rows].astype(self.dtype(), order="C")
        return values(taken(self.rows, rows), columns, self.kernel)

    def among(self, rows: np.ndarray) -> KernelMatrix:
        """Return the similarities among some rows, as a matrix of its own."""
        if self.kernel is None:
            part = self.rows.rows[np.ix_(rows, rows)]
            return KernelMatrix(Prepared(part, part, np.empty(0)), None)
        return KernelMatrix(taken(self.rows, rows), self.kernel)

    def columns(self, numbers: slice | np.ndarray) -> Prepared:
        """Return columns as ``tile`` wants them, made once for many tiles: rows, or numbers in a matrix in hand."""
        if self.kernel is None:
            places = np.arange(self.n_rows())[numbers]
            return Prepared(places, places, np.empty(0))
        return taken(self.rows, numbers)


def kernel_matrix(X, kernel: Kernel | KernelFunction | None) -> KernelMatrix:
    """Return the Gram matrix of the rows of X; without a kernel, X is that matrix.

    >>> from eigenwood.core.kernels.functions import LINEAR
    >>> K = kernel_matrix(np.array([[1.0], [2.0]]), Kernel(LINEAR))
    >>> K.tile(np.array([1]), K.columns(np.array([0, 1])))
    array([[2., 4.]])
    """
    if kernel is None:
        return KernelMatrix(Prepared(X, X, np.empty(0)), None)
    return KernelMatrix(ready(X, kernel, origin(X, kernel) if isinstance(kernel, Kernel) else None), kernel)


def tile_sums(K: KernelMatrix, alpha: np.ndarray, n_threads: int = 1) -> Iterator[float]:
    """Yield the summands of tr αᵀKα, one for each tile of half of K: nothing of K is kept.

    >>> from eigenwood.core.kernels.functions import LINEAR
    >>> K = kernel_matrix(np.array([[1.0], [2.0]]), Kernel(LINEAR))
    >>> sum(tile_sums(K, np.array([[1.0], [10.0]])))
    441.0
    """
    tiles = [(rows, columns) for rows in row_blocks(K.n_rows(), SQUARE) for columns in row_blocks(rows.stop, SQUARE)]

    def part(tile: tuple[slice, slice]) -> float:
        rows, columns = tile
        total = float(np.vdot(alpha[rows], K.tile(rows, K.columns(columns)) @ alpha[columns]))
        return total if rows == columns else 2.0 * total  # what lies below the diagonal has a mirror image

    yield from results_in_turn(part, tiles, K.threads(n_threads))
