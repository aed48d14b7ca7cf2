"""Weights mean repeated rows: equal rows are found and joined, and an order that does not depend on the input's.

    given     row a    row b    row a    row c         weights  1 1 1 2
    joined    row b    row c    row a                  mass     1 2 2       order of fingerprints, not of the file

An on-line learner visits rows one after the other, so its answer depends on their order. When the order is drawn
at random from the joined rows, a row of weight 2 and the same row given twice become the same thing: the fit has
the same bits, wherever in the table they stood.
"""

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.rows import row_count


class DistinctRows(NamedTuple):
    """The first place of each distinct (row, label), and the weights of its copies added up."""

    first: np.ndarray
    mass: np.ndarray


def distinct_rows(rows, codes, weights) -> DistinctRows:
    """Return the distinct rows in the order of their fingerprints."""
    marks = fingerprints(rows, codes.astype(np.int64))
    _, first, inverse = np.unique(marks, return_index=True, return_inverse=True)
    return DistinctRows(first, np.bincount(inverse, weights=weights, minlength=first.size))


@njit
def fingerprints(rows, codes):
    """Return 64 bits for each (row, code): equal rows get equal bits, others almost surely do not.

    Entries are mixed with their column and added up, so stored zeros, their sign and the order in which a sparse
    row stores its entries do not matter.
    """
    dense, data, indices, indptr = rows
    real = np.empty(1)
    bits = real.view(np.uint64)
    marks = np.empty(row_count(rows), dtype=np.uint64)
    for i in range(marks.size):
        total = splitmix64(np.uint64(codes[i]))
        if indptr.size > 0:
            for k in range(indptr[i], indptr[i + 1]):
                if data[k] != 0:
                    real[0] = data[k]
                    total += splitmix64(bits[0] ^ splitmix64(np.uint64(indices[k] + 1)))
        else:
            for j in range(dense.shape[1]):
                if dense[i, j] != 0:
                    real[0] = dense[i, j]
                    total += splitmix64(bits[0] ^ splitmix64(np.uint64(j + 1)))
        marks[i] = total
    return marks


@njit
def splitmix64(bits):
    """Return 64 well-mixed bits (the finisher of SplitMix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
