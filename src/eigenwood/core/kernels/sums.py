"""Σ_j c_j k(x, z_j) for many x: what a model with a kernel predicts, in tiles that are used at once and gone.

Equal rows get equal sums, bit for bit, wherever they stand and whatever else is asked at once. BLAS alone does not see
to that: the last rows and columns of a product are computed by other instructions than those before them, and small
products by other routines. So every product has a shape that follows from the model alone:

    queries       192 rows, the last ones repeated where there are fewer        192 = 8 · 24, the most rows that a
    z_j           in tiles of 1,024, the last one made up to a multiple of 16    BLAS routine has in hand at a time
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.core.kernels.blocks import KernelFunction, Prepared, fill_tile, origin, prepared, taken
from eigenwood.core.kernels.functions import Kernel
from eigenwood.core.pieces import Pieces, at_once
from eigenwood.core.threads import one_blas_thread, results_in_turn, results_of, row_blocks

BLOCK_ROWS, TILE_COLUMNS = 192, 1024
LANES = 16  # columns that vector instructions take at once, at most
PROBED_COLUMNS = 100  # of the rows by which BLAS is tested


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
    is_dense = isinstance(kernel, Kernel) and not sparse.issparse(X)
    if is_dense and not treats_rows_alike(X.dtype):
        X, Z = X.astype(np.float64), Z.astype(np.float64)
    sums = np.zeros((X.shape[0], coefficients.shape[1]))
    start = origin(Z, kernel) if isinstance(kernel, Kernel) else None
    tiles = column_tiles(ready(Z, kernel, start), coefficients, is_dense)

    def add(rows: slice) -> None:
        left = ready(filled_up(X[rows], BLOCK_ROWS) if is_dense else X[rows], kernel, start)
        total = np.zeros((BLOCK_ROWS, coefficients.shape[1]))
        for tile in tiles:
            total += product_of_shape(values(left, tile.rows, kernel), tile.coefficients)
        sums[rows] = total[: rows.stop - rows.start]

    for _ in results_in_turn(add, row_blocks(X.shape[0], BLOCK_ROWS), n_threads if isinstance(kernel, Kernel) else 1):
        yield
    return sums


def given_sums(K: np.ndarray, coefficients: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Return Σ_j K_ij c_jm, in float64, where the similarities are given; equal rows get equal sums here, too.

    >>> given_sums(np.array([[1.0, 2.0]]), np.array([[1.0], [10.0]]))
    array([[21.]])
    """
    sums = np.zeros((K.shape[0], coefficients.shape[1]))
    tiles = [(columns, of_lanes(coefficients[columns])) for columns in row_blocks(K.shape[1], TILE_COLUMNS)]

    def add(rows: slice) -> None:
        for columns, table in tiles:
            part = K[rows, columns].astype(np.float64, copy=False)
            sums[rows] += product_of_shape(part, table)[: rows.stop - rows.start]

    results_of(add, row_blocks(K.shape[0], BLOCK_ROWS), n_threads)
    return sums


class Tile(NamedTuple):
    """Some of the z, ready for products, and their coefficients, which are 0 for what fills up."""

    rows: Prepared
    coefficients: np.ndarray


def column_tiles(right: Prepared, coefficients: np.ndarray, is_dense: bool) -> list[Tile]:
    """Return the z in tiles; those of dense rows have as many as vector instructions take, by repeating the last."""
    tiles = []
    for columns in row_blocks(right.rows.shape[0], TILE_COLUMNS):
        table = of_lanes(coefficients[columns])
        places = np.minimum(np.arange(columns.start, columns.start + len(table)), columns.stop - 1)
        is_whole = not is_dense or len(table) == columns.stop - columns.start
        tiles.append(Tile(taken(right, columns if is_whole else places), table))
    return tiles


def of_lanes(table: np.ndarray) -> np.ndarray:
    """Return a table with zeros below, up to a multiple of ``LANES`` rows."""
    missing = -len(table) % LANES
    return np.vstack([table, np.zeros((missing, table.shape[1]))]) if missing else table


def filled_up(X: np.ndarray, n_rows: int) -> np.ndarray:
    """Return as many rows as wanted: the last one again and again, where there are fewer."""
    return X if len(X) == n_rows else X[np.minimum(np.arange(n_rows), len(X) - 1)]


def product_of_shape(K: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return K times the table in the type of K, by a product of ``BLOCK_ROWS`` rows."""
    if K.shape != (BLOCK_ROWS, len(table)) or not K.flags.c_contiguous:
        whole = np.zeros((BLOCK_ROWS, len(table)), dtype=K.dtype)
        whole[: K.shape[0], : K.shape[1]] = K
        K = whole
    if not treats_rows_alike(K.dtype):
        K = K.astype(np.float64)
    return K @ table.astype(K.dtype, copy=False)


@cache
def treats_rows_alike(dtype: np.dtype) -> bool:
    """Return whether BLAS gives equal rows equal products; with float32 it does not on processors without AVX-512."""
    if dtype == np.float64:
        return True
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((TILE_COLUMNS, PROBED_COLUMNS)).astype(dtype)
    X = np.tile(rng.standard_normal(PROBED_COLUMNS).astype(dtype), (BLOCK_ROWS, 1))
    with one_blas_thread():
        products = X @ Z.T
    return bool((products == products[0]).all())


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
