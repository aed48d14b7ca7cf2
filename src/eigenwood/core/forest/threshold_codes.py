"""Rows as ranks among the thresholds of a forest.

A column has all thresholds that the trees ask a feature about, its cuts, ascending. The code of a number is how many
of them are below it, so a question of any tree compares two small whole numbers:

    cuts            -1.5     0.0     0.25     2.0
    code        0        1       2        3        4
    x > 0.25                               code >= 3          the third cut: its question goes right from code 3 on

Where a number stands is looked up in cells of equal width, two for each cut, which know how many cuts are in the
cells before; those within its cell are found by halving. Both only compare numbers, and cells ascend with the number
however they are rounded, so codes are exact.

A missing number goes left at some questions and right at others. A feature of which numbers may be missing has a
column for each: in one a missing number has the lowest code, in the other the highest. Of other features a column
knows nothing about missing numbers, and who codes the rows is told that there was one.

Codes stand chunk by chunk, each column by column: what is done with one column of many rows is done for as many at
once as fit into a register, and a whole chunk stays near.

    codes       │ column 0: 256 rows │ column 1: 256 rows │ … │ column 0: the next 256 rows │ …
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit, njit_no_refcount
from eigenwood.core.forest.packing import narrowed
from eigenwood.core.forest.predict import odd_numbers

CHUNK, CHUNK_BITS = 256, 8  # rows
TILE = 32  # rows that are coded together: they are near, and so are their codes
HIGHEST = 65534  # of the codes
CELLS = 2  # for each cut
LARGEST = np.finfo(np.float64).max
N_SIDES = 3
GOES_LEFT, GOES_RIGHT, UNFORESEEN = range(N_SIDES)  # what a column knows about missing numbers


class ThresholdCodes(NamedTuple):
    """How rows are coded; a column of a single cut has no cells."""

    feature: np.ndarray  # (n_columns,) int64
    missing: np.ndarray  # (n_columns,) int64: where missing numbers go
    n_cuts: np.ndarray  # (n_columns,) int64
    cut_start: np.ndarray  # (n_columns,) int64
    cuts: np.ndarray  # float64: behind those of a column, as many infinities as halving may look at
    n_bisect_steps: np.ndarray  # (n_columns,) int64
    grid_start: np.ndarray  # (n_columns,) int64
    grid: np.ndarray  # uint16: how many cuts of the column are in cells before
    low: np.ndarray  # (n_columns,) float64: where the cells begin, …
    high: np.ndarray  # … where they end, …
    scale: np.ndarray  # … and how many make a length of 2


class Questions(NamedTuple):
    """The questions of a forest, as comparisons of codes."""

    column: np.ndarray  # (n_questions,) int64
    code: np.ndarray  # (n_questions,) int64: from which on the answer is right


def coded(feature, threshold, default_left, may_miss) -> tuple[ThresholdCodes, Questions] | None:
    """Return how rows are coded for some questions, and these as comparisons of codes; None if there are too many cuts.

    ``may_miss`` says for each feature whether it has codes for missing numbers.
    """
    column, features, missing = question_columns(feature, default_left, may_miss)
    order = np.argsort(narrowed(column), kind="stable")  # by radix where numbers are narrow
    start = np.searchsorted(column[order], np.arange(features.size + 1))
    cuts, codes = [], np.empty(threshold.size, dtype=np.int64)
    for own in (order[start[c] : start[c + 1]] for c in range(features.size)):
        distinct, places = np.unique(threshold[own], return_inverse=True)
        cuts.append(distinct)
        codes[own] = places + 1
    if any(own.size > HIGHEST for own in cuts):
        return None
    return threshold_codes_of(features, missing, cuts), Questions(column, codes)


def question_columns(feature, default_left, may_miss) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the column that each question asks about, and for each column its feature and where missing numbers go."""
    side = np.where(may_miss[feature], np.where(default_left, GOES_LEFT, GOES_RIGHT), UNFORESEEN)
    keys = N_SIDES * feature + side
    used = np.bincount(keys, minlength=1) > 0
    columns = np.flatnonzero(used)
    return (np.cumsum(used) - 1)[keys], columns // N_SIDES, columns % N_SIDES


def threshold_codes_of(features, missing, cuts: list[np.ndarray]) -> ThresholdCodes:
    """Return how rows are coded, given the cuts of each column."""
    grids = [grid_of(own) for own in cuts]
    padded = [np.append(own, np.full(1 << grid.n_bisect_steps, np.inf)) for own, grid in zip(cuts, grids, strict=True)]
    return ThresholdCodes(
        feature=features.astype(np.int64),
        missing=missing.astype(np.int64),
        n_cuts=np.array([own.size for own in cuts], dtype=np.int64),
        cut_start=starts([own.size for own in padded]),
        cuts=np.concatenate([*padded, np.empty(0)]),
        n_bisect_steps=np.array([grid.n_bisect_steps for grid in grids], dtype=np.int64),
        grid_start=starts([grid.cells.size for grid in grids]),
        grid=np.concatenate([*(grid.cells for grid in grids), np.empty(0, dtype=np.uint16)]),
        low=np.array([grid.low for grid in grids]),
        high=np.array([grid.high for grid in grids]),
        scale=np.array([grid.scale for grid in grids]),
    )


def starts(sizes) -> np.ndarray:
    """Return where parts of these sizes begin."""
    return (np.cumsum(sizes) - sizes).astype(np.int64)


class Grid(NamedTuple):
    """The cells of one column."""

    cells: np.ndarray
    low: float
    high: float
    scale: float
    n_bisect_steps: int  # until the place among the cuts of a cell is known


def grid_of(cuts) -> Grid:
    """Return the cells of a column with these cuts; those at the end of all numbers are in the first or the last."""
    inside = cuts[np.abs(cuts) < LARGEST]  # a tree asks there whether a number is missing
    low, high = (inside[0], inside[-1]) if inside.size > 0 else (0.0, 0.0)
    if cuts.size == 1:
        return Grid(np.empty(0, dtype=np.uint16), low, high, 0.0, 0)
    n_cells, span = CELLS * cuts.size, 0.5 * high - 0.5 * low  # the whole span may be infinite
    scale = (n_cells - 1) / span if span > n_cells / LARGEST else 0.0
    cell = ((0.5 * np.clip(cuts, low, high) - 0.5 * low) * scale).astype(np.int64)
    cells = np.searchsorted(cell, np.arange(n_cells)).astype(np.uint16)
    return Grid(cells, low, high, scale, int(np.bincount(cell).max()).bit_length())


@njit
def write_codes(X, columns, codes):
    """Write the codes of all rows; return how many numbers are infinite, and how many are missing where none may be.

    ``columns`` is a ``ThresholdCodes``.
    """
    n_columns, n_infinite, n_unforeseen = columns.feature.size, 0, 0
    for first in range(0, X.shape[0], TILE):
        tile = X[first : first + TILE]
        n_missing, infinite = odd_numbers(tile)
        n_infinite += infinite
        for c in range(n_columns):
            start = ((first >> CHUNK_BITS) * n_columns + c) * CHUNK + (first & (CHUNK - 1))
            own, feature = codes[start : start + TILE], columns.feature[c]
            cuts = columns.cuts[columns.cut_start[c] :]
            if columns.n_cuts[c] == 1:
                compare_column(tile, feature, cuts[0], own)
            else:
                code_column(tile, feature, cuts, columns, c, own)
            if n_missing > 0:
                n_unforeseen += code_missing(tile, feature, columns.missing[c], own)
    return n_infinite, n_unforeseen


@njit_no_refcount
def compare_column(X, feature, cut, codes):
    """Write the codes of a column with a single cut."""
    for i in range(X.shape[0]):
        codes[i] = X[i, feature] > cut


@njit_no_refcount
def code_column(X, feature, cuts, columns, c, codes):
    """Write the codes of a column; a missing number has any."""
    one, n_bisect_steps, grid = np.uint64(1), columns.n_bisect_steps[c], columns.grid[columns.grid_start[c] :]
    low, high, scale = columns.low[c], columns.high[c], columns.scale[c]
    for i in range(X.shape[0]):
        x = np.float64(X[i, feature])
        near = min(max(x, low), high) if x == x else low
        code = np.uint64(grid[np.uint64(np.int64((0.5 * near - 0.5 * low) * scale))])
        for bit in range(n_bisect_steps - 1, -1, -1):
            shift = np.uint64(bit)
            code += np.uint64(cuts[code + (one << shift) - one] < x) << shift  # no branch that could be guessed wrong
        codes[i] = code


@njit_no_refcount
def code_missing(X, feature, missing, codes):
    """Write the codes of missing numbers; return how many there are if the column had none in training."""
    n_missing = 0
    for i in range(X.shape[0]):
        if X[i, feature] != X[i, feature]:
            codes[i] = HIGHEST if missing == GOES_RIGHT else 0
            n_missing += 1
    return n_missing if missing == UNFORESEEN else 0
