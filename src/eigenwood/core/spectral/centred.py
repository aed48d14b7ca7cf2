"""Products with A = √w (X - μ) / σ, which is never made as a matrix.

    dense X     a block is centred into a small buffer that stays in the cache, and BLAS multiplies that
    csr X       A B = √w (X B' - 1 μᵀB') with B' = B / σ: the zeros stay zeros

The two products that solvers repeat read X once, not twice, because a block is used for both factors while it is there:

    normal_by_rows      AᵀA B     block of rows:     T = A_r B,  sum of A_rᵀ T
    normal_by_columns   AAᵀ B     block of columns:  T = A_cᵀ B, sum of A_c T

Blocks are cut and added up by the shape of X alone, so the bits do not depend on the threads. Sums over blocks are
float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.compiling import njit
from eigenwood.core.spectral.moments import add_to, lanes_of
from eigenwood.core.threads import results_of, row_blocks

N_LANES = 8
BUFFER_VALUES = 2**19
SHORTEST, LONGEST = 16, 4096  # rows or columns of a block
SPARSE_ROWS = 32768
TILE_ROWS, TILE_COLUMNS = 256, 1024
SHORT_SUM = 64  # rows


class Centred(NamedTuple):
    """A = √w (X - mean) / scale; ``mean`` and ``scale`` are float64."""

    X: Any  # C-contiguous, or a csr matrix
    roots: np.ndarray  # (n,) √w
    mean: np.ndarray  # (d,)
    scale: np.ndarray  # (d,)


def normal_by_rows(A: Centred, B: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Return AᵀA B, shape (d, b)."""
    if sparse.issparse(A.X):
        return _sparse_normal(A, B, n_threads)
    B, source, columns = np.ascontiguousarray(B, dtype=A.X.dtype), narrow(A), slice(0, A.X.shape[1])

    def work(rows: slice, total: np.ndarray) -> None:
        block = source.block(rows, columns)
        add_to(total, block.T @ (block @ B))

    blocks = row_blocks(A.X.shape[0], block_length(A.X.shape[1]))
    return summed(work, blocks, (A.X.shape[1], B.shape[1]), n_threads)


def normal_by_columns(A: Centred, B: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Return AAᵀ B, shape (n, b)."""
    if sparse.issparse(A.X):
        return row_products(A, column_products(A, B, n_threads), n_threads)
    B, source, rows = np.ascontiguousarray(B, dtype=A.X.dtype), narrow(A), slice(0, A.X.shape[0])

    def work(columns: slice, total: np.ndarray) -> None:
        block = source.block(rows, columns)
        add_to(total, block @ in_short_sums(block, B))

    blocks = row_blocks(A.X.shape[1], block_length(A.X.shape[0]))
    return summed(work, blocks, (A.X.shape[0], B.shape[1]), n_threads)


def in_short_sums(block: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return blockᵀ B in their type: float32 is added up over some rows only, and these sums in float64.

    Beside a giant number all other rows round the same way, and one long sum would drift.
    """
    if block.dtype == np.float64:
        return block.T @ B
    total = np.zeros((block.shape[1], B.shape[1]))
    for some in row_blocks(block.shape[0], SHORT_SUM):
        add_to(total, block[some].T @ B[some])
    return total.astype(block.dtype)


def column_products(A: Centred, B: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Return Aᵀ B, shape (d, b), in float64."""
    if sparse.issparse(A.X):
        return _sparse_column_products(A, B, n_threads)
    B, source = np.ascontiguousarray(B, dtype=A.X.dtype), narrow(A)

    def work(columns: slice) -> np.ndarray:
        total = np.zeros((columns.stop - columns.start, B.shape[1]))
        for rows in row_blocks(A.X.shape[0], TILE_ROWS):
            add_to(total, source.block(rows, columns).T @ B[rows])
        return total

    return np.concatenate(results_of(work, row_blocks(A.X.shape[1], TILE_COLUMNS), n_threads))


def row_products(A: Centred, B: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Return A B, shape (n, b), in the type of X."""
    if sparse.issparse(A.X):
        return _sparse_row_products(A, B, n_threads)
    B, source, columns = np.ascontiguousarray(B, dtype=A.X.dtype), narrow(A), slice(0, A.X.shape[1])
    blocks = row_blocks(A.X.shape[0], block_length(A.X.shape[1]))
    product = np.empty((A.X.shape[0], B.shape[1]), dtype=A.X.dtype)

    def work(rows: slice) -> None:
        np.matmul(source.block(rows, columns), B, out=product[rows])

    results_of(work, blocks, n_threads)
    return product


class Narrow(NamedTuple):
    """The same with every number in the type of X, and the factor 1 / scale: what blocks are made of."""

    X: np.ndarray
    roots: np.ndarray
    shift: np.ndarray  # the mean, and below what the type cannot hold of it
    rest: np.ndarray
    factor: np.ndarray

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        """Return a block of A."""
        block = np.empty((rows.stop - rows.start, columns.stop - columns.start), dtype=self.X.dtype)
        parts = self.shift[columns], self.rest[columns], self.factor[columns]
        write_centred(self.X, self.roots, rows.start, columns.start, *parts, block)
        return block


def narrow(A: Centred) -> Narrow:
    """Return A in the type of its X."""
    dtype = A.X.dtype
    shift = A.mean.astype(dtype)
    rest = (A.mean - shift).astype(dtype)
    return Narrow(A.X, A.roots.astype(dtype), shift, rest, (1.0 / A.scale).astype(dtype))


def block_length(other_side: int) -> int:
    """Return how many rows (columns) a block has when it has so many columns (rows)."""
    return int(np.clip(BUFFER_VALUES // other_side, SHORTEST, LONGEST))


def summed(work: Callable, blocks: list[slice], shape: tuple[int, ...], n_threads: int) -> np.ndarray:
    """Return the sum of what ``work`` adds for each block: lanes of blocks side by side, added in order."""

    def lane_sum(lane: list[slice]) -> np.ndarray:
        total = np.zeros(shape)
        for block in lane:
            work(block, total)
        return total

    totals = results_of(lane_sum, lanes_of(blocks, N_LANES), n_threads)
    for total in totals[1:]:
        totals[0] += total
    return totals[0]


# --- sparse ---------------------------------------------------------------------------------------


def _sparse_normal(A: Centred, B: np.ndarray, n_threads: int) -> np.ndarray:
    scaled = B / A.scale[:, None]
    offset = A.mean @ scaled

    def work(rows: slice, total: np.ndarray) -> None:
        products = _rows_times(A, rows, scaled, offset)
        _add_columns_times(A, rows, products, total)

    blocks = row_blocks(A.X.shape[0], SPARSE_ROWS)
    total = summed(work, blocks, (A.X.shape[1] + 1, B.shape[1]), n_threads)
    return _centred_columns(A, total)


def _sparse_column_products(A: Centred, B: np.ndarray, n_threads: int) -> np.ndarray:
    blocks = row_blocks(A.X.shape[0], SPARSE_ROWS)
    B = np.ascontiguousarray(B, dtype=np.float64)

    def work(rows: slice, total: np.ndarray) -> None:
        _add_columns_times(A, rows, B[rows], total)

    return _centred_columns(A, summed(work, blocks, (A.X.shape[1] + 1, B.shape[1]), n_threads))


def _sparse_row_products(A: Centred, B: np.ndarray, n_threads: int) -> np.ndarray:
    scaled = B / A.scale[:, None]
    offset = A.mean @ scaled
    blocks = row_blocks(A.X.shape[0], SPARSE_ROWS)
    parts = results_of(lambda rows: _rows_times(A, rows, scaled, offset), blocks, n_threads)
    return np.concatenate(parts).astype(A.X.dtype)


def _rows_times(A: Centred, rows: slice, scaled: np.ndarray, offset: np.ndarray) -> np.ndarray:
    products = np.empty((rows.stop - rows.start, offset.size))
    write_sparse_rows(A.X.data, A.X.indices, A.X.indptr, A.roots, rows.start, scaled, offset, products)
    return products


def _add_columns_times(A: Centred, rows: slice, B: np.ndarray, total: np.ndarray) -> None:
    """Add XᵀB of some rows, and in the last row what the mean is multiplied with."""
    add_sparse_columns(A.X.data, A.X.indices, A.X.indptr, A.roots, rows.start, B, total)


def _centred_columns(A: Centred, total: np.ndarray) -> np.ndarray:
    return (total[:-1] - np.outer(A.mean, total[-1])) / A.scale[:, None]


# --- kernels --------------------------------------------------------------------------------------


@njit
def write_centred(X, roots, first_row, first_column, shift, rest, factor, block):
    """Write √w (x - shift - rest) factor of a block of X."""
    for i in range(block.shape[0]):
        values = X[first_row + i, first_column : first_column + block.shape[1]]
        write_centred_row(values, roots[first_row + i], shift, rest, factor, block[i])


@njit
def write_centred_row(values, root, shift, rest, factor, out):
    for j in range(values.size):
        out[j] = root * ((values[j] - shift[j]) - rest[j]) * factor[j]


@njit
def write_sparse_rows(data, indices, indptr, roots, first_row, B, offset, products):
    """Write √w (x B - offset) of some rows."""
    for i in range(products.shape[0]):
        row = first_row + i
        for c in range(offset.size):
            products[i, c] = -offset[c]
        for e in range(indptr[row], indptr[row + 1]):
            value, j = data[e], indices[e]
            for c in range(offset.size):
                products[i, c] += value * B[j, c]
        for c in range(offset.size):
            products[i, c] *= roots[row]


@njit
def add_sparse_columns(data, indices, indptr, roots, first_row, B, total):
    """Add √w x ⊗ B_i of some rows to ``total``, and √w B_i to its last row."""
    last = total.shape[0] - 1
    for i in range(B.shape[0]):
        row = first_row + i
        for c in range(B.shape[1]):
            total[last, c] += roots[row] * B[i, c]
        for e in range(indptr[row], indptr[row + 1]):
            value, j = roots[row] * data[e], indices[e]
            for c in range(B.shape[1]):
                total[j, c] += value * B[i, c]
