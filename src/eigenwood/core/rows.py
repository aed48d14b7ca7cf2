"""Rows of a matrix, dense or sparse, in one type, so that one compiled kernel serves both.

    dense matrix     dense = (n, d) values      indptr = []
    csr matrix       dense = (0, d) nothing     data, indices, indptr as SciPy has them

A kernel takes the arrays out of the tuple once and asks for each row which of the two it is; the loops inside a row are
plain. (Handing the tuple itself to a function for each row would count references to four arrays each time, which costs
more than a short row.)
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.compiling import njit


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


def entries_per_row(rows: Rows) -> float:
    """Return how many entries a row has on average, at least 1: what a visit costs."""
    stored = rows.data.size / (rows.indptr.size - 1) if rows.indptr.size > 1 else rows.dense.shape[1]
    return max(1.0, float(stored))


@njit
def is_sparse(rows):
    return rows.indptr.size > 0


@njit
def row_count(rows):
    return rows.indptr.size - 1 if is_sparse(rows) else rows.dense.shape[0]


@njit(fastmath={"reassoc", "contract"})
def dense_dot(x, vector):
    """Return x · vector, in float64."""
    total = 0.0
    for j in range(x.size):
        total += x[j] * vector[j]
    return total


@njit
def sparse_dot(values, columns, vector):
    """Return x · vector for the stored values of a sparse x."""
    total = 0.0
    for k in range(values.size):
        total += values[k] * vector[columns[k]]
    return total


@njit(fastmath={"contract"})
def dense_add(x, factor, vector):
    """Add factor · x to ``vector``."""
    for j in range(x.size):
        vector[j] += factor * x[j]


@njit
def sparse_add(values, columns, factor, vector):
    """Add factor · x to ``vector``, for the stored values of a sparse x."""
    for k in range(values.size):
        vector[columns[k]] += factor * values[k]


@njit
def squared_row_norms(rows):
    """Return ‖x_i‖² of every row, in float64."""
    dense, data, indptr = rows.dense, rows.data, rows.indptr
    norms = np.empty(row_count(rows))
    for i in range(norms.size):
        norms[i] = sum_of_squares(data[indptr[i] : indptr[i + 1]] if indptr.size > 0 else dense[i])
    return norms


@njit(fastmath={"reassoc", "contract"})
def sum_of_squares(x):
    total = 0.0
    for j in range(x.size):
        total += np.float64(x[j]) * np.float64(x[j])
    return total
