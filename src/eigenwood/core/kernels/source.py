"""Where a learner gets its kernel values: rows of the Gram matrix, kept once computed, within a bound on memory.

    rows of K      3   8   1   …            a row is kept when it is first needed …
    slot           0   1   2   … capacity   … until the store is full; then rows are computed each time

Which rows are kept depends on the order of the requests alone, never on time or threads.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from eigenwood.core.kernels.blocks import fill_tile, gram_diagonal, origin, prepared, taken
from eigenwood.core.kernels.functions import LAPLACIAN, Kernel
from eigenwood.core.threads import one_blas_thread

NO_SLOT = -1


def work_of_a_value(X, kernel) -> float:
    """Return about how many multiplications of a matrix product one kernel value costs."""
    entries = X.nnz / max(1, X.shape[0]) if sparse.issparse(X) else X.shape[1]
    if callable(kernel) or sparse.issparse(X):
        return 64.0 * (entries + 16.0)  # plain NumPy, most likely; a walk along two lists of columns
    return work_of_a_dense_value(X.shape[1], kernel)


def work_of_a_dense_value(n_features: int, kernel: Kernel) -> float:
    """Return the same for rows that are dense."""
    return (16.0 if kernel.code == LAPLACIAN else 1.0) * (n_features + 16.0)  # BLAS is far ahead of any other loop


class KernelValues:
    """The kernel values among the training rows, with at most ``max_bytes`` of them kept."""

    def __init__(self, X, kernel, max_bytes: float) -> None:
        self.n_rows = X.shape[0]
        self.takes_threads = not callable(kernel)  # a function of the user's may not
        self.row_work = self.n_rows * work_of_a_value(X, kernel)  # what one row of K costs
        self._X, self._kernel = X, kernel
        self._prepared = None if callable(kernel) else prepared(X, kernel, origin(X, kernel))
        dtype = np.dtype(np.float64) if callable(kernel) else X.dtype
        capacity = min(self.n_rows, int(max_bytes // (self.n_rows * dtype.itemsize)))
        self._store = np.empty((capacity, self.n_rows), dtype=dtype)
        self._slots = np.full(self.n_rows, NO_SLOT)
        self._n_kept = 0
        self._diagonal: np.ndarray | None = None

    @classmethod
    def precomputed(cls, K: np.ndarray) -> KernelValues:
        """Return the source of a Gram matrix that the user computed: every row is kept."""
        source = cls.__new__(cls)
        source.n_rows, source.takes_threads = K.shape[0], True
        source.row_work = float(K.shape[0])
        source._X = source._kernel = source._prepared = None
        source._diagonal = K.diagonal().astype(np.float64)
        source._store, source._slots, source._n_kept = K, np.arange(K.shape[0]), K.shape[0]
        return source

    def diagonal(self) -> np.ndarray:
        """Return k(x_i, x_i) for every row, in float64."""
        if self._diagonal is None:
            self._diagonal = gram_diagonal(self._X, self._kernel)
        return self._diagonal

    def block(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return K and places p, q with K[p[i], q[j]] = k(x_rows[i], x_columns[j])."""
        slots = self._slots[rows]
        if (slots != NO_SLOT).all():
            return self._store, slots, columns
        return self._computed(rows, columns), np.arange(rows.size), np.arange(columns.size)

    def reserve(self, rows: np.ndarray) -> np.ndarray:
        """Give slots to rows that have none, as long as there are some; return the rows that ``fill`` must fill."""
        fresh = rows[self._slots[rows] == NO_SLOT][: self._store.shape[0] - self._n_kept]
        self._slots[fresh] = np.arange(self._n_kept, self._n_kept + fresh.size)
        self._n_kept += fresh.size
        return fresh

    def fill(self, fresh: np.ndarray, columns: slice) -> None:
        """Compute some columns of freshly reserved rows; blocks of columns may be filled side by side."""
        if fresh.size:
            self._store[self._slots[fresh], columns] = self._computed(fresh, columns)

    def slab(self, rows: np.ndarray, columns: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return K and places p with K[p[i], j] = k(x_rows[i], x_columns[j])."""
        slots = self._slots[rows]
        if (slots != NO_SLOT).all():
            return self._store[:, columns], slots
        return self._computed(rows, columns), np.arange(rows.size)

    def _computed(self, rows: np.ndarray, columns: np.ndarray | slice) -> np.ndarray:
        if self._prepared is None:  # a function of the user's: queries first, then those who vote on them
            return self._kernel(self._X[columns], self._X[rows]).T
        left, right = taken(self._prepared, rows), taken(self._prepared, columns)
        tile = np.empty((left.rows.shape[0], right.rows.shape[0]), dtype=self._store.dtype)
        with one_blas_thread():
            fill_tile(tile, left, right, self._kernel)
        return tile
