"""Stumps: trees of one question, as parallel arrays, and what they say of rows.

stump           0       1       2
feature         2       0       5                   which column is asked
threshold       0.5     7.0     -2                  "x ≤ threshold" goes left …
categories      -       -     {3, 7}                … or: these do not go where ``default_left`` says
default_left    yes     no     yes                  where missing numbers, and other categories, go
left, right     1, 0    0, 1   0, 1                 the class that each side says
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.compiling import njit, njit_inline
from eigenwood.core.threads import results_of, row_blocks
from eigenwood.core.tree.predict import block_size, is_listed

CACHED_ROWS = 256  # rows that stay near while all stumps ask them


class Stumps(NamedTuple):
    """The stumps of all rounds; stump t lists ``categories[category_start[t] : category_start[t + 1]]``."""

    feature: np.ndarray  # (n_rounds,) int32
    threshold: np.ndarray  # (n_rounds,) float64
    default_left: np.ndarray  # (n_rounds,) bool
    left: np.ndarray  # (n_rounds,) int32
    right: np.ndarray  # (n_rounds,) int32
    category_start: np.ndarray  # (n_rounds + 1,) int64
    categories: np.ndarray  # int32, ascending for each stump


def part_of_stumps(stumps: Stumps, first: int, last: int) -> Stumps:
    """Return some stumps that follow each other."""
    start, rounds = stumps.category_start[first : last + 1], slice(first, last)
    return Stumps(
        stumps.feature[rounds],
        stumps.threshold[rounds],
        stumps.default_left[rounds],
        stumps.left[rounds],
        stumps.right[rounds],
        start - start[0],
        stumps.categories[start[0] : start[-1]],
    )


def joined_stumps(one: Stumps, other: Stumps) -> Stumps:
    """Return the stumps of both."""
    starts = np.append(one.category_start, one.category_start[-1] + other.category_start[1:])
    parts = {name: np.append(getattr(one, name), getattr(other, name)) for name in Stumps._fields}
    return Stumps(**{**parts, "category_start": starts})


def stump_votes(stumps: Stumps, weights: np.ndarray, X, n_classes: int, n_threads: int) -> np.ndarray:
    """Return the weight of the stumps that vote for each class, shape (n_rows, n_classes).

    X is dense or csr; a category stands in it as its code, an unknown one as -1.
    """
    votes = np.zeros((X.shape[0], n_classes))
    rows, stumps = rows_and_stumps(stumps, X)

    def block(part: slice) -> None:
        write_votes(dense_part(rows, part), stumps, weights, votes[part])

    results_of(block, row_blocks(X.shape[0], block_size(rows)), n_threads)
    return votes


def stump_classes(stumps: Stumps, X, n_threads: int) -> np.ndarray:
    """Return the class that each stump says of each row, shape (n_rounds, n_rows)."""
    pred = np.empty((stumps.feature.size, X.shape[0]), dtype=np.int32)
    rows, stumps = rows_and_stumps(stumps, X)

    def block(part: slice) -> None:
        write_classes(dense_part(rows, part), stumps, pred[:, part])

    results_of(block, row_blocks(X.shape[0], block_size(rows)), n_threads)
    return pred


def rows_and_stumps(stumps: Stumps, X) -> tuple:
    """Return what stumps ask of: of a sparse matrix only the columns that they ask about."""
    if not sparse.issparse(X):
        return X, stumps
    asked, own = np.unique(stumps.feature, return_inverse=True)
    return X.tocsc()[:, asked].tocsr(), stumps._replace(feature=own.astype(np.int32))


def dense_part(rows, part: slice) -> np.ndarray:
    """Return some rows as a dense matrix."""
    return rows[part].toarray() if sparse.issparse(rows) else rows[part]


@njit
def write_classes(X, stumps, pred):
    """Write what each stump says of each row."""
    for t in range(pred.shape[0]):
        for i in range(pred.shape[1]):
            pred[t, i] = pred_of_stump(stumps, t, X[i, stumps.feature[t]])


@njit_inline
def pred_of_stump(stumps, t, x):
    """Return the class that a stump says of a value."""
    first, last = stumps.category_start[t], stumps.category_start[t + 1]
    if last > first:
        goes_left = is_listed(stumps.categories, first, last, x) != stumps.default_left[t]
    else:
        goes_left = x <= stumps.threshold[t] or (x != x and stumps.default_left[t])
    return stumps.left[t] if goes_left else stumps.right[t]


@njit
def write_votes(X, stumps, weights, votes):
    """Add the votes of all stumps to those for each class."""
    for first in range(0, X.shape[0], CACHED_ROWS):
        last = min(first + CACHED_ROWS, X.shape[0])
        for t in range(weights.size):
            for i in range(first, last):
                votes[i, pred_of_stump(stumps, t, X[i, stumps.feature[t]])] += weights[t]
