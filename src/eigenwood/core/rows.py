"""Rows of a matrix, dense or sparse, in one type, so that one compiled kernel serves both.

    dense matrix     dense = (n, d) values      indptr = []
    csr matrix       dense = (0, d) nothing     data, indices, indptr as SciPy has them

``is_sparse`` is asked once per row; inside a row the loops are plain.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy import sparse


class Rows(NamedTuple):
    """A matrix by rows; see the picture above."""

    dense: np.ndarray
    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray


def rows_of(X) -> Rows:
    """Return the rows of a dense or csr matrix; nothing is copied but the index arrays of the latter."""
    if sparse.issparse(X):
        nothing = np.empty((0, X.shape[1]), dtype=X.dtype)
        return Rows(nothing, X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64))
    no_index = np.empty(0, dtype=np.int64)
    return Rows(X, np.empty(0, dtype=X.dtype), no_index, no_index)


@njit(cache=True, nogil=True)
def is_sparse(rows):
    return rows.indptr.size > 0


@njit(cache=True, nogil=True)
def row_count(rows):
    return rows.indptr.size - 1 if is_sparse(rows) else rows.dense.shape[0]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def row_dot(rows, i, vector):
    """Return x_i · vector, in float64."""
    total = 0.0
    if is_sparse(rows):
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            total += rows.data[k] * vector[rows.indices[k]]
    else:
        x = rows.dense[i]
        for j in range(x.size):
            total += x[j] * vector[j]
    return total


@njit(cache=True, nogil=True, fastmath={"contract"})
def add_row(rows, i, factor, vector):
    """Add factor · x_i to ``vector``."""
    if is_sparse(rows):
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            vector[rows.indices[k]] += factor * rows.data[k]
    else:
        x = rows.dense[i]
        for j in range(x.size):
            vector[j] += factor * x[j]


@njit(cache=True, nogil=True)
def squared_row_norms(rows):
    """Return ‖x_i‖² of every row, in float64."""
    n = row_count(rows)
    norms = np.zeros(n)
    for i in range(n):
        if is_sparse(rows):
            for k in range(rows.indptr[i], rows.indptr[i + 1]):
                norms[i] += np.float64(rows.data[k]) ** 2
        else:
            x = rows.dense[i]
            for j in range(x.size):
                norms[i] += np.float64(x[j]) ** 2
    return norms
