"""Gram matrices in blocks: a BLAS product for each slab of rows, finished while it is still in the cache.

    K        ┌───────────── m ─────────────┐
    slab 0   │ X[0:512]    · Zᵀ  → finish   │  one task each: any number of threads, the same bits
    slab 1   │ X[512:1024] · Zᵀ  → finish   │
             └─────────────────────────────┘

A kernel is a ``Kernel`` (a code and its numbers) or a function of the user's that takes two blocks of rows and
returns the block of their similarities.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.compiling import njit
from eigenwood.core.kernels.functions import (
    ABOUT_A_CENTRE,
    GAUSSIAN,
    LAPLACIAN,
    RBF,
    RBF_LESS_ONE,
    Kernel,
    finish_products,
    finish_rbf,
    laplacian,
    sparse_absolute_distances,
)
from eigenwood.core.pieces import Pieces, at_once
from eigenwood.core.rows import rows_of, squared_row_norms
from eigenwood.core.threads import results_in_turn, results_of, row_blocks

BLOCK_ROWS = 512  # rows of X in one product: enough for BLAS to run at full speed

MIRRORED = 32  # rows and columns of a matrix that are mirrored at a time

DIAGONAL_ROWS = 32  # of which a function of the user's compares all pairs, to give k(x, x)

EQUAL_TO_ITSELF = {RBF: 1.0, LAPLACIAN: 1.0, RBF_LESS_ONE: 0.0}  # k(x, x) where it is the same for all x

KernelFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Prepared(NamedTuple):
    """Rows ready for products: themselves, moved to the origin where the kernel allows it, and a number for each.

    That is ‖x‖² where distances are wanted, k(x, c) - k(c, c) / 2 for a kernel about a centre c, and nothing else.
    """

    rows: np.ndarray
    centred: np.ndarray
    norms: np.ndarray


def gram(X, Z, kernel: Kernel | KernelFunction, n_threads: int = 1) -> np.ndarray:
    """Return K with K[i, j] = k(X[i], Z[j]).

    >>> from eigenwood.core.kernels.functions import POLYNOMIAL
    >>> gram(np.array([[1.0], [2.0]]), np.array([[3.0]]), Kernel(POLYNOMIAL, gamma=1.0, coef0=1.0, degree=2))
    array([[16.],
           [49.]])
    """
    if callable(kernel):
        return np.vstack([kernel(X[rows], Z) for rows in row_blocks(X.shape[0], BLOCK_ROWS)])
    K = np.empty((X.shape[0], Z.shape[0]), dtype=X.dtype)
    start = origin(Z, kernel)
    right = prepared(Z, kernel, start)

    def fill(rows: slice) -> None:
        fill_tile(K[rows], prepared(X[rows], kernel, start), right, kernel)

    results_of(fill, row_blocks(X.shape[0], BLOCK_ROWS), n_threads)
    return K


def gram_symmetric(X, kernel: Kernel | KernelFunction, n_threads: int = 1) -> np.ndarray:
    """Return K with K[i, j] = k(X[i], X[j]), symmetric to the last bit; only half of it is computed.

    A function of the user's is evaluated everywhere, because nothing says that it is symmetric.
    """
    if callable(kernel):
        return gram(X, X, kernel)
    K = np.empty((X.shape[0], X.shape[0]), dtype=X.dtype)
    at_once(write_symmetric(K, prepared(X, kernel, origin(X, kernel)), kernel, n_threads))
    return K


def write_symmetric(
    K: np.ndarray, all_rows: Prepared, kernel: Kernel, n_threads: int, block_rows: int = BLOCK_ROWS
) -> Pieces[None]:
    """Write k(x_i, x_j) into K, in pieces; symmetric to the last bit, as only half of it is computed."""
    n, dtype = all_rows.rows.shape[0], all_rows.rows.dtype

    def fill(rows: slice) -> None:
        right = slice(rows.start, n)
        tile = np.empty((rows.stop - rows.start, n - rows.start), dtype=dtype)
        fill_tile(tile, taken(all_rows, rows), taken(all_rows, right), kernel)
        width = rows.stop - rows.start
        square = tile[:, :width]
        mirror(tile)
        if kernel.code in EQUAL_TO_ITSELF:
            np.fill_diagonal(square, EQUAL_TO_ITSELF[kernel.code])
        K[rows, right] = tile
        K[rows.stop :, rows] = tile[:, width:].T

    for _ in results_in_turn(fill, row_blocks(n, block_rows), n_threads):
        yield


@njit
def mirror(tile):
    """Write what is above the diagonal below it; a few rows and columns at a time, which stay in the cache."""
    for first in range(0, tile.shape[0], MIRRORED):
        for start in range(0, first + 1, MIRRORED):
            for i in range(first, min(first + MIRRORED, tile.shape[0])):
                for j in range(start, min(start + MIRRORED, i)):
                    tile[i, j] = tile[j, i]


def gram_diagonal(X, kernel: Kernel | KernelFunction) -> np.ndarray:
    """Return k(x, x) for every row x, as float64."""
    if callable(kernel):
        blocks = row_blocks(X.shape[0], DIAGONAL_ROWS)
        return np.concatenate([kernel(X[rows], X[rows]).diagonal() for rows in blocks])
    if kernel.code in EQUAL_TO_ITSELF:
        return np.full(X.shape[0], EQUAL_TO_ITSELF[kernel.code])
    diagonal = squared_row_norms(rows_of(X))
    finish_products(diagonal, kernel)
    return diagonal - 2.0 * about(X, kernel, origin(X, kernel)) if kernel.code in ABOUT_A_CENTRE else diagonal


def origin(Z, kernel: Kernel) -> np.ndarray | None:
    """Return the point that rows are measured from: about the mean, where the kernel sees differences only."""
    if kernel.code in ABOUT_A_CENTRE:
        return np.asarray(Z.mean(axis=0, dtype=np.float64)).ravel()
    if kernel.code not in GAUSSIAN or sparse.issparse(Z) or Z.shape[0] == 0:
        return None
    return Z.mean(axis=0, dtype=np.float64).astype(Z.dtype)


def about(rows, kernel: Kernel, centre: np.ndarray | None) -> np.ndarray:
    """Return k(x, c) - k(c, c) / 2 for every row x, in float64: what k(x, z) is too large by on the side of x."""
    assert centre is not None  # such a kernel has one
    values, own = rows.astype(np.float64) @ centre, np.array([centre @ centre])
    finish_products(values, kernel)
    finish_products(own, kernel)
    return values - 0.5 * own[0]


def prepared(rows, kernel: Kernel, start: np.ndarray | None) -> Prepared:
    """Return the rows with what the kernel needs beside them."""
    if kernel.code in ABOUT_A_CENTRE:
        return Prepared(rows, rows, about(rows, kernel, start))
    if kernel.code not in GAUSSIAN:
        return Prepared(rows, rows, np.empty(0))
    if start is None:
        return Prepared(rows, rows, squared_row_norms(rows_of(rows)))
    centred = rows - start
    return Prepared(rows, centred, squared_row_norms(rows_of(centred)).astype(rows.dtype))


def taken(all_rows: Prepared, rows: slice | np.ndarray) -> Prepared:
    """Return some of the prepared rows."""
    norms = all_rows.norms[rows] if all_rows.norms.size else all_rows.norms
    return Prepared(all_rows.rows[rows], all_rows.centred[rows], norms)


def fill_tile(tile, left: Prepared, right: Prepared, kernel: Kernel) -> None:
    """Write k(left, right) into ``tile``."""
    if sparse.issparse(left.rows):
        tile[:] = _sparse_tile(left, right, kernel)
        return
    if kernel.code == LAPLACIAN:
        tile[:] = laplacian(left.rows, right.rows, kernel.gamma)
        return
    products = np.matmul(left.centred, right.centred.T, out=tile)
    if kernel.code in GAUSSIAN:
        finish_rbf(products, left.rows, right.rows, left.norms, right.norms, kernel)
    else:
        finish_products(products, kernel)
        move_to_centre(products, left, right, kernel)


def move_to_centre(values: np.ndarray, left: Prepared, right: Prepared, kernel: Kernel) -> None:
    """Take away what the values of a kernel about a centre are too large by, in place."""
    if kernel.code in ABOUT_A_CENTRE:
        values -= left.norms[:, None]
        values -= right.norms


def _sparse_tile(left: Prepared, right: Prepared, kernel: Kernel) -> np.ndarray:
    """Return k(left, right) for sparse rows, in float64: the index work outweighs the wider numbers."""
    if kernel.code == LAPLACIAN:
        return np.exp(-kernel.gamma * sparse_absolute_distances(rows_of(left.rows), rows_of(right.rows)))
    products = sparse.csr_array(left.rows.astype(np.float64) @ right.rows.astype(np.float64).T).toarray()
    if kernel.code in GAUSSIAN:
        finish_rbf(products, rows_of(left.rows), rows_of(right.rows), left.norms, right.norms, kernel)
        return products
    finish_products(products, kernel)
    move_to_centre(products, left, right, kernel)
    return products
