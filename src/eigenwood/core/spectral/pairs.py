"""Eigenpairs, largest first: how many are wanted, and the pairs of a symmetric matrix in hand.

LAPACK runs on one thread: the bits of its answer must not depend on the machine's cores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from eigenwood.core.threads import one_blas_thread, results_of, row_blocks

PRODUCT_ROWS = 4096
SHORT, SKEW, STRAIGHT, MOST_ROUNDS = 1e-6, 1e-2, 1e-14, 4  # lengths and angles of columns that can be straightened
MANY = 0.3  # from this share of all pairs on, computing all of them is faster


class Wanted(NamedTuple):
    """How many pairs: a count, or as many as hold more than a share of the trace."""

    count: int
    share: float | None = None


class Pairs(NamedTuple):
    """Eigenvalues in descending order, their vectors as columns, and ‖Mv - λv‖ for each."""

    values: np.ndarray  # (k,)
    vectors: np.ndarray  # (m, k)
    residuals: np.ndarray  # (k,)


def count_for_share(values: np.ndarray, share: float, trace: float) -> int | None:
    """Return how many of the values it takes to hold more than a share of the trace; None if all do not.

    >>> count_for_share(np.array([5.0, 3.0, 2.0]), 0.7, 10.0), count_for_share(np.array([5.0]), 0.7, 10.0)
    (2, None)
    """
    held = np.cumsum(values)
    count = int(np.searchsorted(held, share * trace, side="right")) + 1
    return count if count <= values.size else None


def symmetric_pairs(M: np.ndarray, wanted: Wanted) -> Pairs:
    """Return the leading pairs of a symmetric matrix in hand.

    >>> symmetric_pairs(np.array([[1.5, 0.5], [0.5, 1.5]]), Wanted(1)).values
    array([2.])
    """
    size = M.shape[0]
    with one_blas_thread():
        if wanted.share is None and 0 < wanted.count < MANY * size:
            span = (size - wanted.count, size - 1)
            values, vectors = linalg.eigh(M, subset_by_index=span, driver="evr", check_finite=False)
        else:
            values, vectors = linalg.eigh(M, driver="evd", check_finite=False)
        values, vectors = values[::-1], vectors[:, ::-1]
        count = chosen_count(values, wanted, float(np.trace(M)))
        values, vectors = values[:count].copy(), np.ascontiguousarray(vectors[:, :count])
        return Pairs(values, vectors, np.linalg.norm(M @ vectors - vectors * values, axis=0))


def chosen_count(values: np.ndarray, wanted: Wanted, trace: float) -> int:
    """Return how many of these pairs are wanted."""
    if wanted.share is None:
        return min(wanted.count, values.size)
    return count_for_share(np.maximum(values, 0.0), wanted.share, trace) or values.size


def orthonormal(vectors: np.ndarray) -> np.ndarray:
    """Return columns that span the same as those before them did, at right angles and of length 1."""
    with one_blas_thread():
        Q, R = linalg.qr(vectors, mode="economic", check_finite=False)
    return Q * np.where(R.diagonal() < 0.0, -1.0, 1.0)


def straightened(vectors: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Return the same as ``orthonormal`` up to rounding, faster where the columns stand nearly at right angles.

    V ← V (3 - VᵀV) / 2 squares the error of every angle (Newton, Schulz): two products instead of a factorisation.
    """
    lengths = np.linalg.norm(vectors, axis=0)
    if lengths.size == 0 or lengths.min() <= SHORT * lengths.max():
        return orthonormal(vectors)
    V = vectors / lengths
    blocks = row_blocks(V.shape[0], PRODUCT_ROWS)
    for _ in range(MOST_ROUNDS):
        angles = sum(results_of(lambda rows, V=V: V[rows].T @ V[rows], blocks, n_threads)) - np.eye(V.shape[1])
        skew = float(np.abs(angles).max())
        if skew > SKEW:
            return orthonormal(vectors)
        if skew < STRAIGHT:
            break
        turn = np.eye(V.shape[1]) - angles / 2.0
        V = np.concatenate(results_of(lambda rows, V=V, turn=turn: V[rows] @ turn, blocks, n_threads))
    return V


def with_null_pairs(pairs: Pairs, count: int, nothing: float) -> Pairs:
    """Return so many pairs; values of at most ``nothing`` times the largest become 0, and their directions fixed ones.

    Rounding would choose any directions of the null space; these follow from the space alone. And where rows stand for
    several there may be more of them than rows: 3 rows of weight 4 have as many components as 12 rows.
    """
    n_real = int((pairs.values > nothing * pairs.values.max(initial=0.0)).sum())
    if n_real >= count:
        return Pairs(pairs.values[:count], pairs.vectors[:, :count], pairs.residuals[:count])
    values, residuals = np.zeros(count), np.zeros(count)
    values[:n_real], residuals[:n_real] = pairs.values[:n_real], pairs.residuals[:n_real]
    residuals[n_real:] = nothing * pairs.values.max(initial=0.0)
    return Pairs(values, with_null_directions(pairs.vectors[:, :n_real], count), residuals)


def with_null_directions(vectors: np.ndarray, count: int) -> np.ndarray:
    """Return orthonormal columns: those given, then the axes e₀, e₁, … made orthogonal to all before."""
    size, n_given = vectors.shape
    columns = np.empty((size, count))
    columns[:, :n_given] = vectors
    n_found, axis = n_given, 0
    with one_blas_thread():
        while n_found < count:
            if axis % size == 0:
                shortest = 0.1 * 0.5 ** (axis // size)
            known = columns[:, :n_found]
            rest = -(known @ known[axis % size])
            rest[axis % size] += 1.0
            rest -= known @ (known.T @ rest)
            length = float(np.linalg.norm(rest))
            if length > shortest:
                columns[:, n_found] = rest / length
                n_found += 1
            axis += 1
    return columns


def signed(components: np.ndarray) -> np.ndarray:
    """Return the rows with their signs chosen: the entry of largest size is positive.

    >>> signed(np.array([[0.6, -0.8]]))
    array([[-0.6,  0.8]])
    """
    largest = np.abs(components).argmax(axis=1)
    signs = np.where(components[np.arange(largest.size), largest] < 0.0, -1.0, 1.0)
    return components * signs[:, None].astype(components.dtype)
