"""Tables whose numbers lie on a uniform grid of at most 256 levels: pixels, genotypes 0, 1, 2, small counts.

x = low + step (c + 128),  c a byte            for every number of the table, up to its own rounding
rows     [ row 0 … row 63 ]    ──►  [ codes of column 0 ][ codes of column 1 ] …       turned, 64 rows at a time
scatter  = step² (Σ c cᵀ - Σ c Σ cᵀ / n)       the sums are integers, without any rounding
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.spectral.bytes import OFFSET, CodeBlocks, add_block_products, empty_code_blocks
from eigenwood.core.threads import results_of, row_blocks

LEAST_VALUES, FEWEST_COLUMNS = 2**20, 64  # of a table: with fewer there is nothing to gain
SAMPLE_ROWS = 64
HIGHEST_LEVEL = 255
ULPS_OFF = 4.0  # units of the type's precision that a number may lie beside its level
MOST_BESIDE = 1e-2  # of a step: where rounding is more, as beside a large offset, a number may be of another grid
BLOCKS_AT_ONCE, ROWS_AT_ONCE = 4, 252  # a block is 16 times as long, so no task writes to two
TURNED_ROWS = 64


class UniformGrid(NamedTuple):
    """The numbers low, low + step, …, low + 255 step."""

    low: float
    step: float


class QuantizedMoments(NamedTuple):
    """Mean and scatter of the columns."""

    mean: np.ndarray  # (d,)
    scatter: np.ndarray  # (d, d)


def grid_of(X: np.ndarray) -> UniformGrid | None:
    """Return the grid that the numbers of some rows lie on, if they do and the table is large enough.

    >>> X = np.tile(np.arange(256.0) / 255.0, (4096, 1))
    >>> grid_of(X) == UniformGrid(0.0, 1.0 / 255.0)
    True
    """
    if X.size < LEAST_VALUES or X.shape[1] < FEWEST_COLUMNS:
        return None
    every = max(1, X.shape[0] // SAMPLE_ROWS)
    values = np.unique(X[::every][:SAMPLE_ROWS]).astype(np.float64)
    if not 2 <= values.size <= HIGHEST_LEVEL + 1 or not np.isfinite(values).all():
        return None
    span = values[-1] - values[0]
    n_levels = span / np.diff(values).min()
    if not n_levels < HIGHEST_LEVEL + 0.5:
        return None
    grid = UniformGrid(values[0], span / round(n_levels))
    levels = (values - values[0]) / grid.step
    beside, most_beside = np.abs(levels - levels.round()).max() * grid.step, tolerance(X.dtype, grid)
    return grid if beside <= most_beside <= MOST_BESIDE * grid.step else None


def tolerance(dtype: np.dtype, grid: UniformGrid) -> float:
    """Return how far a number may lie beside its level."""
    largest = max(abs(grid.low), abs(grid.low + HIGHEST_LEVEL * grid.step))
    return ULPS_OFF * float(np.finfo(dtype).eps) * largest


def grid_constants(grid: UniformGrid, dtype: np.dtype) -> np.ndarray:
    """Return what ``level_of`` needs, in the type of the numbers: low, step, 1 / step, the tolerance, and no number."""
    return np.array([grid.low, grid.step, 1.0 / grid.step, tolerance(dtype, grid), np.nan], dtype=dtype)


@njit
def level_of(value, low, step, per_step, most_beside, nowhere):
    """Return the level that a value lies on; not a number if it lies on none."""
    level = np.rint((value - low) * per_step)
    return level if abs(value - (low + level * step)) <= most_beside else nowhere


def quantized_moments(X: np.ndarray, grid: UniformGrid, n_threads: int = 1) -> QuantizedMoments | None:
    """Return mean and scatter of all rows; None if a number lies on no level."""
    n, d = X.shape
    total, sums = np.zeros((d, d)), np.zeros(d)
    blocks = empty_code_blocks(BLOCKS_AT_ONCE, d, n)
    length = blocks.codes.shape[2]
    per_block = -(-length // ROWS_AT_ONCE)
    for rows in row_blocks(n, BLOCKS_AT_ONCE * length):
        write = partial(_write_turned, X[rows], grid, blocks)
        parts = results_of(write, row_blocks(rows.stop - rows.start, ROWS_AT_ONCE), n_threads)
        if not all(is_on_grid for _, is_on_grid in parts):
            return None
        n_blocks, n_last = divmod(rows.stop - rows.start - 1, length)
        blocks.codes[n_blocks, :, n_last + 1 :] = 0
        for p in range(n_blocks + 1):
            blocks.sums[p] = np.sum([part for part, _ in parts[p * per_block : (p + 1) * per_block]], axis=0)
        add_block_products(blocks, n_blocks + 1, total, n_threads)
        sums += blocks.sums[: n_blocks + 1].sum(axis=0)
    scatter = about_mean(total, sums, n)
    scatter *= grid.step**2
    return QuantizedMoments(grid.low + grid.step * (OFFSET + sums / n), scatter)


def about_mean(products: np.ndarray, sums: np.ndarray, n: int) -> np.ndarray:
    """Return Σ (c - m)(c - m)ᵀ of n integers c of mean m from Σ c cᵀ, which it changes, and Σ c.

    The nearest integer to m is taken off first, still without rounding, so a constant has a variance of 0. Row by
    row: a second matrix of this size may not fit in the memory.

    >>> about_mean(np.array([[27.0]]), np.array([9.0]), 3)
    array([[0.]])
    """
    near = np.rint(sums / n)
    rest = sums - n * near
    for row, its_near, its_sum, its_rest in zip(products, near, sums, rest, strict=True):
        row -= its_near * sums + its_sum * near - (n * its_near) * near
        row -= its_rest * rest / n
    return products


def _write_turned(X: np.ndarray, grid: UniformGrid, blocks: CodeBlocks, rows: slice) -> tuple[np.ndarray, bool]:
    """Write the codes of some rows; return their sums by column, and whether all numbers lie on the grid."""
    block, first = divmod(rows.start, blocks.codes.shape[2])
    by_row = np.empty((TURNED_ROWS, X.shape[1]), dtype=np.int8)
    out, sums = blocks.codes[block, :, first:], np.zeros(X.shape[1], dtype=np.int64)
    return sums, write_turned(X[rows], grid_constants(grid, X.dtype), by_row, out, sums)


@njit
def write_turned(X, constants, by_row, out, sums):
    """Write the codes of some rows column by column, and add them up; return whether all numbers lie on the grid."""
    (n_rows, n_columns), n_at_once = X.shape, by_row.shape[0]
    low, step, per_step, most_beside, nowhere = constants[0], constants[1], constants[2], constants[3], constants[4]
    for start in range(0, n_rows, n_at_once):
        stop, n_beside = min(start + n_at_once, n_rows), 0
        for i in range(start, stop):
            row, codes = X[i], by_row[i - start]
            for j in range(n_columns):
                level = level_of(row[j], low, step, per_step, most_beside, nowhere)
                n_beside += not (level >= 0 and level <= HIGHEST_LEVEL)
                codes[j] = np.int32(level) - OFFSET
        if n_beside > 0:
            return False
        for j in range(n_columns):
            turned, total = out[j, start:stop], 0
            for i in range(turned.size):
                turned[i] = by_row[i, j]
                total += turned[i]
            sums[j] += total
    return True
