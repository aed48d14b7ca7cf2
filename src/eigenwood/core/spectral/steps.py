"""Tables whose numbers are steps: pixels from 0 to 255, or the same divided by 255, genotypes 0, 1, 2, small counts.

x = low + step (c + 128),  c a byte            for every number of the table, up to its own rounding
rows     [ row 0 … row 63 ]    ──►  [ codes of column 0 ][ codes of column 1 ] …       turned, 64 rows at a time
scatter  = step² (Σ c cᵀ - Σ c Σ cᵀ / n)       the sums are whole numbers, without any rounding
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.spectral.bytes import OFFSET, Pieces, add_pieces, no_pieces
from eigenwood.core.threads import results_of, row_blocks

LEAST_VALUES, FEWEST_COLUMNS = 2**20, 64  # of a table: with fewer there is nothing to gain
SAMPLE_ROWS = 64
MOST_STEPS = 255
ROUNDING = 4.0  # units of the type's precision that a number may lie beside its step
MOST_BESIDE = 1e-2  # of a step: where rounding is more, as beside a large offset, a number may be of another scale
PIECES_AT_ONCE, ROWS_AT_ONCE = 4, 252  # a piece is 16 times as long, so no task writes to two
TURNED_ROWS = 64


class Steps(NamedTuple):
    """The numbers low, low + step, …, low + 255 step."""

    low: float
    step: float


class StepSums(NamedTuple):
    """Mean and scatter of the columns."""

    mean: np.ndarray  # (d,)
    scatter: np.ndarray  # (d, d)


def steps_of(X: np.ndarray) -> Steps | None:
    """Return the steps that the numbers of some rows are on, if they are; of a large enough table.

    >>> X = np.tile(np.arange(256.0) / 255.0, (4096, 1))
    >>> steps_of(X) == Steps(0.0, 1.0 / 255.0)
    True
    """
    if X.size < LEAST_VALUES or X.shape[1] < FEWEST_COLUMNS:
        return None
    every = max(1, X.shape[0] // SAMPLE_ROWS)
    values = np.unique(X[::every][:SAMPLE_ROWS]).astype(np.float64)
    if not 2 <= values.size <= MOST_STEPS + 1 or not np.isfinite(values).all():
        return None
    span = values[-1] - values[0]
    n_steps = span / np.diff(values).min()
    if not n_steps < MOST_STEPS + 0.5:
        return None
    steps = Steps(values[0], span / round(n_steps))
    places = (values - values[0]) / steps.step
    beside, most_beside = np.abs(places - places.round()).max() * steps.step, tolerance(X.dtype, steps)
    return steps if beside <= most_beside <= MOST_BESIDE * steps.step else None


def tolerance(dtype: np.dtype, steps: Steps) -> float:
    """Return how far a number may lie beside its step."""
    largest = max(abs(steps.low), abs(steps.low + MOST_STEPS * steps.step))
    return ROUNDING * float(np.finfo(dtype).eps) * largest


def scale_of(steps: Steps, dtype: np.dtype) -> np.ndarray:
    """Return what ``place_of`` needs, in the type of the numbers: low, step, 1 / step, the tolerance, and no number."""
    return np.array([steps.low, steps.step, 1.0 / steps.step, tolerance(dtype, steps), np.nan], dtype=dtype)


@njit
def place_of(value, low, step, per_step, most_beside, nowhere):
    """Return the number of the step that a value is on; not a number if it is on none."""
    place = np.rint((value - low) * per_step)
    return place if abs(value - (low + place * step)) <= most_beside else nowhere


def sums_of_steps(X: np.ndarray, steps: Steps, n_threads: int = 1) -> StepSums | None:
    """Return mean and scatter of all rows; None if a number is on no step."""
    n, d = X.shape
    total, sums = np.zeros((d, d)), np.zeros(d)
    pieces = no_pieces(PIECES_AT_ONCE, d, n)
    length = pieces.codes.shape[2]
    per_piece = -(-length // ROWS_AT_ONCE)
    for rows in row_blocks(n, PIECES_AT_ONCE * length):
        write = partial(_write_turned, X[rows], steps, pieces)
        parts = results_of(write, row_blocks(rows.stop - rows.start, ROWS_AT_ONCE), n_threads)
        if not all(is_on_steps for _, is_on_steps in parts):
            return None
        n_pieces, n_last = divmod(rows.stop - rows.start - 1, length)
        pieces.codes[n_pieces, :, n_last + 1 :] = 0
        for p in range(n_pieces + 1):
            pieces.sums[p] = np.sum([part for part, _ in parts[p * per_piece : (p + 1) * per_piece]], axis=0)
        add_pieces(pieces, n_pieces + 1, total, n_threads)
        sums += pieces.sums[: n_pieces + 1].sum(axis=0)
    scatter = about_mean(total, sums, n)
    scatter *= steps.step**2
    return StepSums(steps.low + steps.step * (OFFSET + sums / n), scatter)


def about_mean(products: np.ndarray, sums: np.ndarray, n: int) -> np.ndarray:
    """Return Σ (c - m)(c - m)ᵀ of n whole numbers c of mean m from Σ c cᵀ, which it changes, and Σ c.

    The nearest whole number to m is taken off first, still without rounding, so a constant has a variance of 0. Row by
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


def _write_turned(X: np.ndarray, steps: Steps, pieces: Pieces, rows: slice) -> tuple[np.ndarray, bool]:
    """Write the codes of some rows; return their sums by column, and whether all numbers are on steps."""
    piece, first = divmod(rows.start, pieces.codes.shape[2])
    by_row = np.empty((TURNED_ROWS, X.shape[1]), dtype=np.int8)
    out, sums = pieces.codes[piece, :, first:], np.zeros(X.shape[1], dtype=np.int64)
    return sums, write_turned(X[rows], scale_of(steps, X.dtype), by_row, out, sums)


@njit
def write_turned(X, scale, by_row, out, sums):
    """Write the codes of some rows column by column, and add them up; return whether all numbers are on steps."""
    (n_rows, n_columns), n_at_once = X.shape, by_row.shape[0]
    low, step, per_step, most_beside, nowhere = scale[0], scale[1], scale[2], scale[3], scale[4]
    for start in range(0, n_rows, n_at_once):
        stop, n_beside = min(start + n_at_once, n_rows), 0
        for i in range(start, stop):
            row, codes = X[i], by_row[i - start]
            for j in range(n_columns):
                place = place_of(row[j], low, step, per_step, most_beside, nowhere)
                n_beside += not (place >= 0 and place <= MOST_STEPS)
                codes[j] = np.int32(place) - OFFSET
        if n_beside > 0:
            return False
        for j in range(n_columns):
            turned, total = out[j, start:stop], 0
            for i in range(turned.size):
                turned[i] = by_row[i, j]
                total += turned[i]
            sums[j] += total
    return True
