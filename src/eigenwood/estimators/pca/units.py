"""Huge and tiny numbers: a table is divided by a power of two, so that squares of squares of its numbers are floats.

    X ──► X / unit ──► components ──► mean · unit, variances · unit²          exact: only exponents change

With ``scale=True`` each column has a unit of its own, and the variances have none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.core.spectral.moments import ColumnMoments, Moments
from eigenwood.core.threads import row_blocks

ORDINARY = {np.dtype(np.float32): 24, np.dtype(np.float64): 64}  # exponents, up and down, that need no unit
LOOK_VALUES = 2**20


class BeyondRangeError(Exception):
    """The numbers of a table are so large or small that they need a unit."""


class Units(NamedTuple):
    """Powers of two, as exponents."""

    columns: np.ndarray  # (d,) of what each column is divided by
    spread: int  # of what the rows are then still to be multiplied with, once they are scaled

    def of_variances(self, values: Any) -> Any:
        """Return variances as those of the table itself."""
        with np.errstate(over="ignore"):
            return np.ldexp(values, 2 * self.spread)

    def of_columns(self, columns: ColumnMoments) -> ColumnMoments:
        """Return the moments of the table itself."""
        with np.errstate(over="ignore"):
            squares = np.ldexp(columns.squares, 2 * self.columns)
        return columns._replace(mean=np.ldexp(columns.mean, self.columns), squares=squares)

    def of_moments(self, moments: Moments) -> Moments:
        """Return the moments of the table itself, with all products."""
        both = self.columns[:, None] + self.columns[None, :]
        with np.errstate(over="ignore"):
            scatter = np.ldexp(moments.scatter, both)
        return moments._replace(mean=np.ldexp(moments.mean, self.columns), scatter=scatter)

    def of_scale(self, scale: np.ndarray) -> np.ndarray:
        """Return what the columns of the table itself are divided by."""
        return np.ldexp(scale, self.columns - self.spread)


def units_for(sizes: np.ndarray, by_column: bool, dtype: np.dtype) -> Units:
    """Return units that bring the largest number to about 1, or that of every column that is not ordinary.

    >>> units_for(np.array([3e-90, 1e-95]), by_column=False, dtype=np.dtype(np.float64))
    Units(columns=array([-297, -297], dtype=int32), spread=-297)
    """
    if by_column:
        exponents = exponents_of(sizes)
        return Units(np.where(np.abs(exponents) <= ORDINARY[dtype], 0, exponents).astype(np.int32), 0)
    exponent = int(exponents_of(sizes.max(initial=0.0)))
    return Units(np.full(sizes.size, exponent, dtype=np.int32), exponent)


def exponents_of(sizes: Any) -> np.ndarray:
    """Return e with 2ᵉ⁻¹ ≤ size < 2ᵉ; 0 for nothing."""
    return np.frexp(sizes)[1].astype(np.int32)


def units_of_moments(moments: Moments, by_column: bool) -> Units:
    """Return units for moments in hand: by deviations, as nothing else is in them."""
    return units_for(np.sqrt(moments.scatter.diagonal()), by_column, moments.scatter.dtype)


def in_units(moments: Moments, units: Units) -> Moments:
    """Return the moments of rows that are divided by the units."""
    return Units(-units.columns, -units.spread).of_moments(moments)


def check_range(columns: ColumnMoments, by_column: bool, dtype: np.dtype, sizes_at: Any) -> None:
    """Raise ``BeyondRangeError`` unless products of the numbers, and squares of these, are floats with all digits.

    Where a mean of squares is ordinary, deviations are nothing or ordinary too: numbers lie no closer to each other. A
    zero may stand for nothing or for tiny numbers; ``sizes_at`` looks for the largest of some columns.
    """
    with np.errstate(over="ignore"):
        squares = columns.squares / columns.weight + columns.mean**2
    most = 4.0 ** ORDINARY[dtype]
    if by_column:
        is_ordinary = (squares >= 1.0 / most) & (squares <= most)
    else:
        is_ordinary = np.full(squares.size, 1.0 / most <= squares.max() <= most)
    unsure = np.flatnonzero(~is_ordinary)
    if unsure.size and (squares[unsure].any() or columns.mean[unsure].any() or sizes_at(unsure).any()):
        raise BeyondRangeError


def largest_sizes(X: Any) -> np.ndarray:
    """Return the largest |x| of each column.

    >>> largest_sizes(np.array([[1.0, -3.0], [2.0, 0.0]]))
    array([2., 3.])
    """
    if sparse.issparse(X):
        largest = np.zeros(X.shape[1])
        np.maximum.at(largest, X.indices, np.abs(X.data))
        return largest
    blocks = row_blocks(X.shape[0], max(1, LOOK_VALUES // X.shape[1]))
    return np.max([np.abs(X[rows]).max(axis=0) for rows in blocks], axis=0).astype(np.float64)


def divided(X: Any, units: Units) -> Any:
    """Return X divided by the units, in its type."""
    if sparse.issparse(X):
        return type(X)((np.ldexp(X.data, -units.columns[X.indices]), X.indices, X.indptr), shape=X.shape)
    return np.ldexp(X, -units.columns)
