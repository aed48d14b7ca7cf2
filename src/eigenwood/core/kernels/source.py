"""Where a learner gets its kernel values: all of them kept, or computed block by block when they do not fit.

kept        K (n, n) was computed once, a request is a look-up
not kept    a request is a product of the rows asked for: memory for the request alone
"""

from __future__ import annotations

import numpy as np

from eigenwood.core.kernels.blocks import gram, gram_diagonal, gram_symmetric


class KernelValues:
    """The kernel values among the training rows, within ``max_bytes`` of memory."""

    def __init__(self, X, kernel, n_threads: int, max_bytes: float) -> None:
        self.n_rows = X.shape[0]
        self._X, self._kernel = X, kernel
        fits = self.n_rows**2 * X.dtype.itemsize <= max_bytes
        self._kept = gram_symmetric(X, kernel, n_threads) if fits else None

    @classmethod
    def precomputed(cls, K: np.ndarray) -> KernelValues:
        """Return the source of a Gram matrix that the user computed."""
        source = cls.__new__(cls)
        source.n_rows, source._kept = K.shape[0], K
        return source

    def block(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return K and places p, q with K[p[i], q[j]] = k(x_rows[i], x_columns[j]); nothing is copied if K is kept."""
        if self._kept is None:
            K = gram(self._X[rows], self._X[columns], self._kernel)
            return K, np.arange(rows.size), np.arange(columns.size)
        return self._kept, rows, columns

    def slab(self, rows: np.ndarray, columns: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return K and places p with K[p[i], j] = k(x_rows[i], x_columns[j]); nothing is copied if K is kept."""
        if self._kept is None:
            return gram(self._X[rows], self._X[columns], self._kernel), np.arange(rows.size)
        return self._kept[:, columns], rows

    def diagonal(self) -> np.ndarray:
        """Return k(x_i, x_i) for every row, in float64."""
        if self._kept is None:
            return gram_diagonal(self._X, self._kernel)
        return self._kept.diagonal().astype(np.float64)
