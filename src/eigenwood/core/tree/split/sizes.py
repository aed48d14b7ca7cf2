"""Which way is taken for how many rows, codes and keys."""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit_no_refcount

SMALL = 4096  # rows of a small node
PLACE_BITS, PLACE = 12, SMALL - 1  # of a key: which row of the small node it is
AT_A_TIME, FEW_AT_A_TIME = 32, 8  # so many costs for regression, and for classes, are computed together
SPREAD = 4  # sums for each row, up to which rows are added up
TURN, AHEAD = 64, 8  # candidates that are looked at together, and rows that are asked for before they are read
VERY_FEW, FEW, LANES = 8, 64, 16  # so few rows are ordered by insertion, and by counting
NEAR, WORTH = 256, 4  # rows of a node below which orders are kept, if at least one column in four is looked at …
FARTHEST = 1024  # … and if all are
NO_ROWS = np.uint64(0)  # a count without a sign: Numba need not ask of a place whether it is counted from the end
FEW_ROWS, FEW_BITS = 16, 4  # so many rows are put in order by insertion; their places fit in so many bits


@njit_no_refcount
def is_summed(n_codes, n_rows, n_sums):
    """Return whether adding up by code is the shorter way: each code costs as much as its sums, each row a few."""
    return n_rows > FEW_ROWS and n_codes < most_summed(n_rows, n_sums)


@njit_no_refcount
def most_summed(n_rows, n_sums):
    """Return below how many codes a column is added up."""
    return 5 * n_rows // (2 * n_sums) + 1
