"""Sources of kernel values that keep none: a matrix in hand, and inner products, for which no matrix is needed.

Σ change_i x_i·x = (Σ change_i x_i)·x          one pass over the rows, however many have changed

What they do in pieces (``KernelRows``) takes few.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from eigenwood.core.kernels.row_cache import add_rows
from eigenwood.core.pieces import Pieces
from eigenwood.core.threads import one_blas_thread, results_in_turn, results_of, row_blocks

BLOCK_ROWS = 4096
SQUARE = 384  # rows and columns of a task of a symmetric product


class GivenRows:
    """The rows of a symmetric matrix of similarities that the user computed, or of two parts of it."""

    value_work, rounding, has_all = 1.0, 0.0, True

    def __init__(self, K: np.ndarray, n_threads: int = 1) -> None:
        self.n_rows, self.columns = K.shape[0], np.arange(K.shape[0])
        self._K, self._threads = K, n_threads

    def among(self, rows: np.ndarray) -> Pieces[np.ndarray]:
        """Return the similarities among some rows; those among all rows in their order are not copied."""
        yield from ()
        K = self._matrix()
        K = K if np.array_equal(rows, self.columns) else K[np.ix_(rows, rows)]
        return K.astype(np.float64, copy=False)

    def add(self, rows: np.ndarray, change: np.ndarray, scores: np.ndarray, again: np.ndarray) -> Pieces[None]:
        """Add Σ change_i K_i to the scores; nothing need be kept."""
        K = self._matrix()

        def add_block(block: slice) -> None:
            add_rows(K, rows, change, scores, block.start, block.stop)

        for _ in results_in_turn(add_block, row_blocks(self.n_rows, BLOCK_ROWS), self._threads):
            yield

    def exact_scores(self, rows: np.ndarray, beta: np.ndarray, of: np.ndarray) -> Pieces[np.ndarray]:
        """Return Σ β_i K_i for some columns."""
        scores = np.zeros(self.n_rows)
        yield from self.add(rows, beta, scores, np.zeros(rows.size, dtype=bool))
        return scores[of]

    def shrink_to(self, columns: np.ndarray) -> None:
        """Do nothing: a value that is there costs nothing."""

    unshrink = shrink_to

    def begin_anew(self) -> None:
        """Do nothing: nothing is kept."""

    def shift(self, rows: np.ndarray, beta: np.ndarray) -> float:
        """Return 0: the scores are those of the matrix itself."""
        return 0.0

    def _matrix(self) -> np.ndarray:
        return self._K


class WholeRows(GivenRows):
    """All kernel values of few rows, in float64, as those of k(x, z) - g(x) - g(z); a problem takes part with slices.

    They are copied when somebody asks for them here: who solves all problems together does not.
    """

    def __init__(self, K: np.ndarray, g: np.ndarray | None, slices: tuple[slice, ...]) -> None:
        self.n_rows = sum(part.stop - part.start for part in slices)
        self.columns, self._threads = np.arange(self.n_rows), 1
        self._all, self._g, self._slices = K, g, slices

    def _matrix(self) -> np.ndarray:
        return np.block([[self._all[rows, columns] for columns in self._slices] for rows in self._slices])

    def shift(self, rows: np.ndarray, beta: np.ndarray) -> float:
        """Return by how much Σ β_i k(x_i, ·) is more than the scores, where Σβ = 0."""
        if self._g is None:
            return 0.0
        own = np.concatenate([self._g[part] for part in self._slices])
        return float(beta @ own[rows])


class LinearRows:
    """Inner products of rows, which are measured from their mean if they are dense: that changes no solution."""

    value_work, rounding, has_all = 1.0, 0.0, False

    def __init__(self, X, n_threads: int = 1) -> None:
        X = X.astype(np.float64, copy=False)
        self._mean = np.zeros(X.shape[1]) if sparse.issparse(X) else X.mean(axis=0)
        self._X = X if sparse.issparse(X) else np.subtract(X, self._mean, order="C")
        self.n_rows, self._threads = X.shape[0], n_threads
        self._take(np.arange(self.n_rows))

    def among(self, rows: np.ndarray) -> Pieces[np.ndarray]:
        """Return the inner products among some rows."""
        yield from ()
        some = self._X[rows]
        return (some @ some.T).toarray() if sparse.issparse(some) else symmetric_products(some, self._threads)

    def add(self, rows: np.ndarray, change: np.ndarray, scores: np.ndarray, again: np.ndarray) -> Pieces[None]:
        """Add Σ change_i x_i · x to the scores; nothing need be kept."""
        yield from ()
        scores += self._products(self._direction(rows, change), self._right)

    def exact_scores(self, rows: np.ndarray, beta: np.ndarray, of: np.ndarray) -> Pieces[np.ndarray]:
        """Return Σ β_i x_i · x for some rows."""
        yield from ()
        return self._products(self._direction(rows, beta), self._X[of])

    def shrink_to(self, columns: np.ndarray) -> None:
        """Let only some rows be columns from now on."""
        self._take(columns)

    def unshrink(self, columns: np.ndarray) -> None:
        """Let more rows be columns again."""
        self._take(np.union1d(self.columns, columns))

    def begin_anew(self) -> None:
        """Let all rows be columns."""
        self._take(np.arange(self.n_rows))

    def shift(self, rows: np.ndarray, beta: np.ndarray) -> float:
        """Return by how much Σ β_i x_i · x is more than the scores, where Σβ = 0."""
        return float((self._direction(rows, beta) + beta.sum() * self._mean) @ self._mean)

    def _take(self, columns: np.ndarray) -> None:
        self.columns = columns
        self._right = self._X if columns.size == self.n_rows else self._X[columns]

    def _direction(self, rows: np.ndarray, change: np.ndarray) -> np.ndarray:
        with one_blas_thread():
            return self._X[rows].T @ change

    def _products(self, direction: np.ndarray, X) -> np.ndarray:
        blocks = row_blocks(X.shape[0], BLOCK_ROWS)
        return np.concatenate([np.empty(0), *results_of(lambda rows: X[rows] @ direction, blocks, self._threads)])


def symmetric_products(X: np.ndarray, n_threads: int) -> np.ndarray:
    """Return X Xᵀ, symmetric to the last bit: a task for each square below the diagonal, which is also mirrored.

    >>> symmetric_products(np.array([[1.0, 2.0], [3.0, 4.0]]), n_threads=1)
    array([[ 5., 11.],
           [11., 25.]])
    """
    products, blocks = np.empty((X.shape[0], X.shape[0])), row_blocks(X.shape[0], SQUARE)

    def fill(square: tuple[slice, slice]) -> None:
        rows, columns = square
        products[rows, columns] = X[rows] @ X[columns].T
        products[columns, rows] = products[rows, columns].T

    results_of(fill, [(rows, columns) for i, rows in enumerate(blocks) for columns in blocks[: i + 1]], n_threads)
    return products
