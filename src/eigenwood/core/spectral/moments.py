"""Moments: weight, mean and scatter matrix of rows, in one pass, exact in float32 too, and mergeable.

    rows       [ block 0 ][ block 1 ][ block 2 ] …       a block: some thousand rows, in the cache
    a block    the mean of the block before is taken off (the shift); products of what is left, in the type of the rows
    together   scatter = Σ scatter of the blocks + scatter of their means         in float64 (Chan, Golub, LeVeque)

The shift is close to the rows of the block, so no digits cancel: rows with mean 100 and variance 1 lose nothing. (A
single product XᵀX - n μμᵀ in float32 loses four digits there.) Where it is not close, the block lies far from the one
before, and what is lost is small beside the scatter of their means. The means are exact whatever the shift, and each
row is read once. A column that is constant in a block is left out of its products, and one that is nearly so takes
part by its few entries (``thin``). Numbers on a uniform grid of bytes are summed as integers (``quantized``).
Work is cut by lanes of blocks and tiles of the matrix:

    tasks      lane 0: tile (0,0), (0,1), (1,1)     lane 1: tile (0,0), …       by the shape alone, never by the threads
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.compiling import njit
from eigenwood.core.spectral.bytes import multiplies_bytes
from eigenwood.core.spectral.quantized import grid_of, quantized_moments
from eigenwood.core.spectral.thin import Thin, add_at, add_thin_products, count_changes, thin_columns, thin_entries
from eigenwood.core.threads import one_blas_thread, results_of, row_blocks

N_LANES = 8  # at most so many sums of one tile side by side
TILE = 1024  # columns; a tile of 1024 x 1024 float64 takes 8 MB
BLOCK_VALUES = 2**17  # of a block and one tile of columns, as far as the next lines allow: they stay in the cache
FEWEST_ROWS, MOST_ROWS = 2048, 16384  # of a block: products of fewer rows are slower
ALONE = 2**23  # multiplications of a block at least: handing less to another thread does not pay
FIRST_ROWS = 256  # their mean is the first shift of a lane
FAR = 100.0  # times the variance: where the square of a mean is larger, digits cancel


class Moments(NamedTuple):
    """Sums over weighted rows: ``scatter`` is Σ w (x - mean)(x - mean)ᵀ."""

    n_rows: int
    weight: float
    mean: np.ndarray  # (d,)
    scatter: np.ndarray  # (d, d)


class ColumnMoments(NamedTuple):
    """The same for each column by itself: ``squares`` is the diagonal of the scatter matrix."""

    n_rows: int
    weight: float
    mean: np.ndarray  # (d,)
    squares: np.ndarray  # (d,)


def no_moments(n_columns: int) -> Moments:
    """Return the moments of no rows: merged with others they change nothing."""
    return Moments(0, 0.0, np.zeros(n_columns), np.zeros((n_columns, n_columns)))


def no_column_moments(n_columns: int) -> ColumnMoments:
    """Return the moments of the columns of no rows."""
    return ColumnMoments(0, 0.0, np.zeros(n_columns), np.zeros(n_columns))


def merged(one: Moments, other: Moments) -> Moments:
    """Return the moments of the rows of both.

    >>> one, other = moments_of(np.array([[1.0], [3.0]]), np.ones(2)), moments_of(np.array([[8.0]]), np.ones(1))
    >>> merged(one, other).mean, merged(one, other).scatter
    (array([4.]), array([[26.]]))
    """
    if one.weight == 0.0:
        return other
    weight, mean, shift, factor = _merged_mean(one, other)
    scatter = one.scatter + other.scatter
    add_outer(scatter, shift, factor)
    return Moments(one.n_rows + other.n_rows, weight, mean, scatter)


def merged_columns(one: ColumnMoments, other: ColumnMoments) -> ColumnMoments:
    """Return the moments of the columns over the rows of both."""
    if one.weight == 0.0:
        return other
    weight, mean, shift, factor = _merged_mean(one, other)
    return ColumnMoments(one.n_rows + other.n_rows, weight, mean, one.squares + other.squares + factor * shift**2)


def _merged_mean(one, other):
    """Return weight and mean of both, the way between their means, and the factor of its square."""
    weight = one.weight + other.weight
    shift = other.mean - one.mean
    return weight, one.mean + shift * (other.weight / weight), shift, one.weight * other.weight / weight


def diagonal_moments(moments: Moments) -> ColumnMoments:
    """Return the moments of each column by itself."""
    return ColumnMoments(moments.n_rows, moments.weight, moments.mean, moments.scatter.diagonal().copy())


def moments_of(X, weights: np.ndarray, n_threads: int = 1) -> Moments:
    """Return the moments of the rows of X, a C-contiguous or csr matrix.

    >>> moments_of(np.array([[1.0, 0.0], [3.0, 2.0]]), np.ones(2)).scatter
    array([[2., 2.],
           [2., 2.]])
    """
    if sparse.issparse(X):
        return _sparse_moments(X, weights)
    return _moments_of_steps(X, weights, n_threads) or _dense_moments(X, weights, n_threads)


def column_moments_of(X, weights: np.ndarray, n_threads: int = 1) -> ColumnMoments:
    """Return the moments of the columns of X, a C-contiguous or csr matrix."""
    return _sparse_column_moments(X, weights) if sparse.issparse(X) else _dense_column_moments(X, weights, n_threads)


def _moments_of_steps(X: np.ndarray, weights: np.ndarray, n_threads: int) -> Moments | None:
    """Return the moments in integers, where all numbers lie on a grid (``quantized``) and each row counts once."""
    grid = grid_of(X) if multiplies_bytes() and (weights == 1.0).all() else None
    sums = None if grid is None else quantized_moments(X, grid, n_threads)
    return None if sums is None else Moments(X.shape[0], float(X.shape[0]), sums.mean, sums.scatter)


# --- dense rows -----------------------------------------------------------------------------------


class TileTask(NamedTuple):
    """The part of the work that one thread does: some blocks of rows, two ranges of columns."""

    blocks: list[slice]
    left: slice
    right: slice


def _dense_moments(X: np.ndarray, weights: np.ndarray, n_threads: int) -> Moments:
    n, d = X.shape
    tiles = even_slices(d, TILE)
    pairs = [(left, right) for i, left in enumerate(tiles) for right in tiles[i:]]
    blocks = even_blocks(n, block_rows(min(d, TILE)))
    lanes = lanes_of(blocks, max(1, N_LANES // len(pairs)))
    roots = np.sqrt(weights).astype(X.dtype)
    tasks = [TileTask(lane, left, right) for left, right in pairs for lane in lanes]

    sums = results_of(lambda task: _tile_sum(X, weights, roots, task, len(tiles) == 1), tasks, n_threads)

    scatter, means, shifts = np.empty((d, d)), np.empty((len(blocks), d)), np.empty((len(blocks), d))
    for p, (left, right) in enumerate(pairs):
        parts = sums[p * len(lanes) : (p + 1) * len(lanes)]
        scatter[left, right] = _total([part[0] for part in parts])
        scatter[right, left] = scatter[left, right].T
        if left is right:
            means[:, left] = np.concatenate([part[1] for part in parts])
            shifts[:, left] = np.concatenate([part[2] for part in parts])
    block_weights = np.add.reduceat(weights, [block.start for block in blocks])
    return _with_block_means(scatter, means, shifts, block_weights, n)


def _with_block_means(scatter, means, shifts, block_weights, n_rows) -> Moments:
    """Return the moments of all rows from the scatter of the blocks about their shifts, and the blocks' means."""
    weight = float(block_weights.sum())
    mean = (block_weights @ (means - means[0])) / weight + means[0]  # from the first: equal means stay what they are
    roots = np.sqrt(block_weights)[:, None]
    between, shifted = roots * (means - mean), roots * (means - shifts)
    with one_blas_thread():
        scatter += between.T @ between
        scatter -= shifted.T @ shifted
    return Moments(n_rows, weight, mean, scatter)


def _tile_sum(X, weights, roots, task: TileTask, is_all: bool):
    """Return the products of two ranges of columns over some blocks, and each block's mean and shift on the left.

    Where one range is all there are (``is_all``), thin columns stand apart.
    """
    left = _Side(X, weights, roots, task.blocks, task.left, is_all)
    right = left if task.left is task.right else _Side(X, weights, roots, task.blocks, task.right, is_all)
    total = np.zeros((task.left.stop - task.left.start, task.right.stop - task.right.start))
    for i in range(len(task.blocks)):
        a, rows, thin = left.shifted(i)
        b, columns, _ = (a, rows, thin) if right is left else right.shifted(i)
        if rows.size == total.shape[0] and columns.size == total.shape[1]:
            add_to(total, a.T @ b)
        else:
            add_at(total, a.T @ b, rows, columns)
        if thin is not None:
            add_thin_products(total, a, rows, thin)
    return total, left.means, left.shifts


class _Side:
    """A range of columns on its way through the blocks of a lane: each is shifted by the mean of the one before."""

    def __init__(self, X, weights, roots, blocks: list[slice], columns: slice, may_be_thin: bool) -> None:
        self._X, self._weights, self._roots, self._blocks, self._columns = X, weights, roots, blocks, columns
        self._may_be_thin = may_be_thin
        n_columns = columns.stop - columns.start
        self.means, self.shifts = np.empty((2, len(blocks), n_columns))
        self._buffer = np.empty(max(block.stop - block.start for block in blocks) * n_columns, dtype=X.dtype)
        first = blocks[0]
        self._mean = np.empty(n_columns)
        block_mean(X, weights, first.start, min(first.stop, first.start + FIRST_ROWS), columns.start, self._mean)

    def shifted(self, i: int) -> tuple[np.ndarray, np.ndarray, Thin | None]:
        """Return √w (x - shift) of a block for the columns that vary in it, which these are, and thin ones apart."""
        block, first_column, n_columns = self._blocks[i], self._columns.start, self._mean.size
        n_rows, weight, thin = block.stop - block.start, self._weights[block].sum(), None
        counts = np.zeros(n_columns, dtype=np.int32)
        count_changes(self._X, block.start, block.stop, first_column, counts)
        apart = thin_columns(counts, n_rows) if self._may_be_thin else counts[:0]
        varying = np.setdiff1d(np.flatnonzero(counts), apart, assume_unique=True)
        shift = self._mean.astype(self._X.dtype)
        out = self._buffer[: n_rows * varying.size].reshape(n_rows, varying.size)
        sums = np.empty(varying.size)
        take_off(self._X, self._roots, block.start, first_column, shift, runs_of(varying), out, sums)
        mean = self._X[block.start, self._columns].astype(np.float64)  # the shift of thin and constant columns
        self.shifts[i] = mean
        self.shifts[i, varying] = shift[varying]
        mean[varying] = shift[varying] + sums / weight
        if apart.size:
            thin = thin_entries(self._X, self._roots, block, first_column, apart, counts)
            mean[apart] += thin.sums / weight
        self._mean = self.means[i] = mean
        return out, varying, thin


def runs_of(columns: np.ndarray) -> np.ndarray:
    """Return the neighbours among some columns as ranges, shape (n_runs, 2).

    >>> runs_of(np.array([2, 3, 4, 7]))
    array([[2, 5],
           [7, 8]])
    """
    breaks = np.nonzero(np.diff(columns) > 1)[0] + 1
    if columns.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    first, stop = np.append(0, breaks), np.append(breaks, columns.size)
    return np.column_stack([columns[first], columns[stop - 1] + 1])


def _dense_column_moments(X: np.ndarray, weights: np.ndarray, n_threads: int) -> ColumnMoments:
    n, d = X.shape
    tiles = even_slices(d, TILE)
    lanes = lanes_of(row_blocks(n, MOST_ROWS), max(1, N_LANES // len(tiles)))
    spans = [slice(lane[0].start, lane[-1].stop) for lane in lanes]
    tasks = [(span, tile) for span in spans for tile in tiles]

    sums = results_of(lambda task: _column_sums(X, weights, *task), tasks, n_threads)

    total = no_column_moments(d)
    for i, span in enumerate(spans):
        parts = sums[i * len(tiles) : (i + 1) * len(tiles)]
        mean, squares = (np.concatenate([part[p] for part in parts]) for p in range(2))
        of_span = ColumnMoments(span.stop - span.start, float(weights[span].sum()), mean, squares)
        total = merged_columns(total, of_span)
    return total


def _column_sums(X, weights, rows: slice, columns: slice):
    """Return mean and squares of some columns over some rows, in one pass: shifted by the mean of the first rows."""
    shift, sums, squares = np.zeros((3, columns.stop - columns.start))
    block_mean(X, weights, rows.start, min(rows.stop, rows.start + FIRST_ROWS), columns.start, shift)
    add_sums(X, weights, rows.start, rows.stop, columns.start, shift, sums, squares)
    weight = weights[rows].sum()
    return shift + sums / weight, np.maximum(squares - sums**2 / weight, 0.0)


# --- sparse rows ----------------------------------------------------------------------------------


def _sparse_moments(X, weights: np.ndarray) -> Moments:
    """The mean is taken off at the end where it is small beside what is stored, as it is when most entries are 0."""
    columns = _sparse_column_moments(X, weights)
    if (columns.weight * columns.mean**2 > FAR * columns.squares).any():
        return _densified_moments(X, weights)
    weighted = sparse.diags_array(np.sqrt(weights)) @ X.astype(np.float64)
    scatter = (weighted.T @ weighted).toarray()
    add_outer(scatter, columns.mean, -columns.weight)
    return Moments(columns.n_rows, columns.weight, columns.mean, scatter)


def _densified_moments(X, weights: np.ndarray) -> Moments:
    total = no_moments(X.shape[1])
    for rows in row_blocks(X.shape[0], MOST_ROWS):
        total = merged(total, _dense_moments(X[rows].toarray(), weights[rows], 1))
    return total


def _sparse_column_moments(X, weights: np.ndarray) -> ColumnMoments:
    """Sums run over the stored entries; the others are all alike."""
    n, d = X.shape
    weight = float(weights.sum())
    of_entry = np.repeat(weights, np.diff(X.indptr))
    values = X.data.astype(np.float64)
    mean = np.bincount(X.indices, of_entry * values, d) / weight
    stored = np.bincount(X.indices, of_entry, d)
    squares = np.bincount(X.indices, of_entry * (values - mean[X.indices]) ** 2, d)
    zeros = weight - stored
    zeros[zeros <= 1e-12 * weight] = 0.0  # all rows are stored, up to rounding
    return ColumnMoments(n, weight, mean, squares + zeros * mean**2)


# --- how the work is cut --------------------------------------------------------------------------


def even_slices(n: int, most: int) -> list[slice]:
    """Return slices of about equal length, none longer than ``most``.

    >>> even_slices(10, 4)
    [slice(0, 4, None), slice(4, 7, None), slice(7, 10, None)]
    """
    n_parts = -(-n // most)
    size, longer = divmod(n, n_parts)
    ends = [i * size + min(i, longer) for i in range(n_parts + 1)]
    return [slice(start, stop) for start, stop in pairwise(ends)]


def lanes_of(blocks: list[slice], n_lanes: int) -> list[list[slice]]:
    """Return the blocks, dealt to at most ``n_lanes`` lanes of neighbours."""
    return [blocks[lane] for lane in even_slices(len(blocks), -(-len(blocks) // min(n_lanes, len(blocks))))]


def block_rows(n_columns: int) -> int:
    """Return how many rows of so many columns are one block, at most."""
    least = max(FEWEST_ROWS, ALONE // n_columns**2)
    return int(min(max(BLOCK_VALUES // n_columns, least), MOST_ROWS))


def even_blocks(n: int, most: int) -> list[slice]:
    """Return blocks of about equal length, none longer than ``most``; as many for each half, where they are several.

    >>> even_blocks(10, 4)
    [slice(0, 3, None), slice(3, 6, None), slice(6, 8, None), slice(8, 10, None)]
    """
    n_blocks = -(-n // most)
    return even_slices(n, most) if n_blocks == 1 else even_slices(n, -(-n // (n_blocks + n_blocks % 2)))


def _total(parts: list[np.ndarray]) -> np.ndarray:
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total


# --- kernels --------------------------------------------------------------------------------------


@njit
def block_mean(X, weights, start, stop, first_column, mean):
    """Write the weighted mean of some rows to ``mean``, one entry for each column from the first."""
    mean[:] = 0.0
    weight = 0.0
    for i in range(start, stop):
        weight += weights[i]
        add_row(X[i, first_column : first_column + mean.size], weights[i], mean)
    for j in range(mean.size):
        mean[j] /= weight


@njit
def add_row(values, weight, total):
    for j in range(values.size):
        total[j] += weight * values[j]


@njit
def take_off(X, roots, start, first_column, shift, runs, out, sums):
    """Write √w (x - shift) of some rows to ``out``, for ranges of columns; their sums of w (x - shift) to ``sums``.

    A few rows are added up in the type of X before they join the float64 sum: mixing types in the inner loop is slow.
    """
    sums[:] = 0.0
    few = np.zeros(sums.size, dtype=X.dtype)
    for i in range(out.shape[0]):
        place = 0
        for r in range(runs.shape[0]):
            first, stop = runs[r, 0], runs[r, 1]
            there = slice(place, place + stop - first)
            values = X[start + i, first_column + first : first_column + stop]
            shift_row(values, shift[first:stop], roots[start + i], out[i, there], few[there])
            place += stop - first
        if i % 16 == 15 or i == out.shape[0] - 1:
            for j in range(few.size):
                sums[j] += few[j]
            few[:] = 0.0


@njit
def shift_row(values, shift, root, out, sums):
    """Write root (x - shift) to ``out``, and add root² (x - shift) to ``sums``."""
    for j in range(values.size):
        value = root * (values[j] - shift[j])
        out[j] = value
        sums[j] += root * value


@njit
def add_sums(X, weights, start, stop, first_column, shift, sums, squares):
    """Add w (x - shift) and w (x - shift)² of some rows, in float64."""
    for i in range(start, stop):
        add_row_sums(X[i, first_column : first_column + shift.size], shift, weights[i], sums, squares)


@njit
def add_row_sums(values, shift, weight, sums, squares):
    for j in range(values.size):
        difference = values[j] - shift[j]
        sums[j] += weight * difference
        squares[j] += weight * difference * difference


@njit
def add_to(total, part):
    """Add an array of the same shape; the total is float64 whatever the part is."""
    for i in range(total.shape[0]):
        for j in range(total.shape[1]):
            total[i, j] += part[i, j]


@njit
def add_outer(matrix, vector, factor):
    """Add factor · vector vectorᵀ."""
    for i in range(vector.size):
        for j in range(vector.size):
            matrix[i, j] += factor * vector[i] * vector[j]
