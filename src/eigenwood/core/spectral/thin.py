"""Columns of a block in which few rows differ from the first one, such as the border of pictures: they stand apart.

    block      dense columns            thin columns                       constant ones
    kept as    √w (x - shift), BLAS     entries √w (x - first row's x)     nothing
    products   dense x dense            each entry with its own row        –

A thin column has its usual value as its shift, so that all other rows are zero there and take no part in a product.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit

THIN = 1 / 8  # of the rows, at most, have another value
FEWEST_THIN = 64  # columns; for fewer it does not pay


class Thin(NamedTuple):
    """The entries of the thin columns of a block, row by row."""

    columns: np.ndarray  # (n_thin,)
    start: np.ndarray  # (n_rows + 1,)
    of: np.ndarray  # (n_entries,) which of the columns
    values: np.ndarray  # √w (x - shift)
    sums: np.ndarray  # (n_thin,) Σ w (x - shift)


def thin_columns(counts: np.ndarray, n_rows: int) -> np.ndarray:
    """Return which columns are thin, given how many rows differ from the first in each; none if they are too few."""
    thin = np.flatnonzero((counts > 0) & (counts <= THIN * n_rows))
    return thin if thin.size >= FEWEST_THIN else thin[:0]


def thin_entries(X, roots, rows: slice, first_column: int, columns: np.ndarray, counts: np.ndarray) -> Thin:
    """Return the entries of the thin ones among the columns from the first on."""
    n_rows, n_entries = rows.stop - rows.start, int(counts[columns].sum())
    start, of = np.zeros(n_rows + 1, dtype=np.int64), np.empty(n_entries, dtype=np.int32)
    values, sums = np.empty(n_entries, dtype=X.dtype), np.zeros(columns.size)
    write_entries(X, roots, rows.start, first_column + columns, start, of, values, sums)
    return Thin(columns, start, of, values, sums)


def add_thin_products(total: np.ndarray, dense: np.ndarray, dense_columns: np.ndarray, thin: Thin) -> None:
    """Add the products of thin columns with each other and with dense ones, on both sides of the diagonal."""
    across = np.zeros((thin.columns.size, dense_columns.size), dtype=dense.dtype)
    among = np.zeros((thin.columns.size, thin.columns.size))
    add_entry_products(dense, thin.start, thin.of, thin.values, across, among)
    add_at(total, across, thin.columns, dense_columns)
    add_at(total.T, across, thin.columns, dense_columns)
    add_at(total, among, thin.columns, thin.columns)


@njit
def add_at(total, part, rows, columns):
    """Add an array to some rows and columns of a larger one."""
    for i in range(rows.size):
        for j in range(columns.size):
            total[rows[i], columns[j]] += part[i, j]


@njit
def count_changes(X, start, stop, first_column, counts):
    """Count in each column the rows that differ from the first one."""
    first = X[start, first_column : first_column + counts.size]
    for i in range(start + 1, stop):
        row = X[i, first_column : first_column + counts.size]
        for j in range(counts.size):
            counts[j] += row[j] != first[j]


@njit
def write_entries(X, roots, first_row, columns, start, of, values, sums):
    """Write what differs from the first row in some columns, row by row."""
    n = 0
    for i in range(start.size - 1):
        row, root = X[first_row + i], roots[first_row + i]
        for t in range(columns.size):
            usual = X[first_row, columns[t]]
            if row[columns[t]] != usual:
                value = root * (row[columns[t]] - usual)
                of[n], values[n] = t, value
                sums[t] += root * value
                n += 1
        start[i + 1] = n


@njit
def add_entry_products(dense, start, of, values, across, among):
    """Add each entry times the dense part of its row, and times the entries beside it."""
    for i in range(dense.shape[0]):
        row = dense[i]
        for e in range(start[i], start[i + 1]):
            value, sums = values[e], across[of[e]]
            for j in range(row.size):
                sums[j] += value * row[j]
            for o in range(start[i], start[i + 1]):
                among[of[e], of[o]] += value * values[o]
