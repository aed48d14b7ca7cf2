"""Eigenpairs, largest first: how many are wanted, and the pairs of a symmetric matrix in hand.

LAPACK runs on one thread: the bits of its answer must not depend on the machine's cores.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from eigenwood.core.threads import one_blas_thread, results_of, row_blocks

PRODUCT_ROWS = 4096
SHORT, SKEW = 1e-6, 1e-2  # lengths and angles of columns that can be straightened
NEARLY_STRAIGHT, MOST_ROUNDS = 1e-4, 3  # cosines from which one turn is exact to rounding
MANY = 0.5  # from this share of all pairs on, computing all of them is faster
FEW_ROWS = 128  # of a matrix that is multiplied: a task of its own


class Wanted(NamedTuple):
    """How many pairs: a count, or as many as hold more than a share of the trace."""

    count: int  # type: ignore[assignment]
    share: float | None = None


class Pairs(NamedTuple):
    """Eigenvalues in descending order, their vectors as columns, and what is left of Mv - λv for each."""

    values: np.ndarray  # (k,)
    vectors: np.ndarray  # (m, k)
    residual_vectors: np.ndarray  # (m, k), or (1, k) where only the lengths are known

    def residuals(self) -> np.ndarray:
        """Return ‖Mv - λv‖ of every pair."""
        return np.sqrt(np.einsum("ij,ij->j", self.residual_vectors, self.residual_vectors))

    def first(self, count: int) -> Pairs:
        """Return the first of the pairs."""
        return Pairs(self.values[:count], self.vectors[:, :count], self.residual_vectors[:, :count])


def count_for_share(values: np.ndarray, share: float, trace: float) -> int | None:
    """Return how many of the values it takes to hold more than a share of the trace; None if all do not.

    >>> count_for_share(np.array([5.0, 3.0, 2.0]), 0.7, 10.0), count_for_share(np.array([5.0]), 0.7, 10.0)
    (2, None)
    """
    held = np.cumsum(values)
    count = int(np.searchsorted(held, share * trace, side="right")) + 1
    return count if count <= values.size else None


def settled_at(values: np.ndarray, tol: float) -> np.ndarray:
    """Return the ‖Mv - λv‖ at which each pair has settled: ``tol`` times the largest value, less for far smaller ones.

    A value of a thousandth of the largest needs a residual that is small beside itself; but not one below the rounding
    of products, which is relative to the largest.

    >>> [round(float(bound), 9) for bound in settled_at(np.array([1.0, 0.001, 1e-9]), 1e-5)]
    [1e-05, 1e-06, 3e-07]
    """
    largest = max(float(values.max(initial=0.0)), 0.0)
    return tol * np.clip(100.0 * values, 0.03 * largest, largest)


def symmetric_pairs(M: np.ndarray, wanted: Wanted, n_threads: int = 1) -> Pairs:
    """Return the leading pairs of a symmetric matrix in hand.

    >>> symmetric_pairs(np.array([[1.5, 0.5], [0.5, 1.5]]), Wanted(1)).values
    array([2.])
    """
    with one_blas_thread():
        if M.shape[0] == 1:
            values, vectors = M[0, : chosen_count(M[0], wanted, M[0, 0])], np.ones((1, 1))
            vectors = vectors[:, : values.size]
        else:
            values, vectors = _by_three_diagonals(M, wanted)
    return Pairs(values, vectors, product_of(M, vectors, n_threads) - vectors * values)


def product_of(M: np.ndarray, B: np.ndarray, n_threads: int) -> np.ndarray:
    """Return M B: blocks of rows side by side."""
    blocks = row_blocks(M.shape[0], FEW_ROWS)
    return np.concatenate(results_of(lambda rows: M[rows] @ B, blocks, n_threads))


def _by_three_diagonals(M: np.ndarray, wanted: Wanted) -> tuple[np.ndarray, np.ndarray]:
    """Return the wanted pairs. A share of the trace needs all values first, which cost little beside the vectors.

    M = Q T Qᵀ      dsytrd       T z = λ z, a few z      dstemr, or many      dstevd       v = Q z      dormqr
    """
    size = M.shape[0]
    work = int(lapack.dsytrd_lwork(size, lower=1)[0])
    reduced, diagonal, beside, factors, _ = lapack.dsytrd(M.T, lower=1, lwork=work)  # Mᵀ is M, by columns
    count = min(wanted.count, size)
    if wanted.share is not None:
        count = chosen_count(lapack.dsterf(diagonal, beside)[0][::-1], wanted, float(diagonal.sum()))
    values, z, problem = _of_three_diagonals(diagonal, beside, count)
    if problem:
        values, vectors = linalg.eigh(M, driver="evd", check_finite=False)
        return values[::-1][:count].copy(), np.ascontiguousarray(vectors[:, ::-1][:, :count])
    reflectors, lower = np.asfortranarray(reduced[1:, :-1]), np.asfortranarray(z[1:])
    work = int(lapack.dormqr("L", "N", reflectors, factors, lower, -1)[1][0]) if count else 1
    vectors = np.empty((size, count), order="F")
    vectors[0] = z[0]
    vectors[1:] = lapack.dormqr("L", "N", reflectors, factors, lower, work)[0] if count else lower
    return values, vectors


def _of_three_diagonals(diagonal: np.ndarray, beside: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the largest pairs of a matrix of three diagonals, largest first, and whether LAPACK had a problem."""
    size = diagonal.size
    if count >= MANY * size:
        values, z, problem = lapack.dstevd(diagonal, beside)
    else:
        _, values, z, problem = lapack.dstemr(
            diagonal, np.append(beside, 0.0), 2, 0.0, 0.0, size - max(count, 1) + 1, size
        )
        values, z = values[: max(count, 1)], z[:, : max(count, 1)]
    return values[::-1][:count].copy(), z[:, ::-1][:, :count], problem


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
    """Return orthonormal columns, faster than ``orthonormal`` where the given ones stand nearly at right angles.

    Cholesky factors of VᵀV do it, twice for rounding: products instead of a factorisation of V. A column turns only
    those behind it.
    """
    blocks = row_blocks(vectors.shape[0], PRODUCT_ROWS)
    V, turned = vectors, np.empty(vectors.shape, dtype=vectors.dtype, order="F")
    for _ in range(MOST_ROUNDS):
        products = products_of_columns(V, n_threads)
        lengths = np.sqrt(products.diagonal())
        if lengths.size == 0 or lengths.min() <= SHORT * lengths.max():
            return orthonormal(vectors.astype(np.float64, copy=False))
        angles = products / lengths[:, None] / lengths[None, :]
        skew = float(np.abs(angles - np.eye(lengths.size)).max())
        if skew > SKEW:
            return orthonormal(vectors.astype(np.float64, copy=False))
        lower = linalg.cholesky(angles, lower=True, check_finite=False)
        turn = linalg.solve_triangular(lower, np.diag(1.0 / lengths), lower=True, check_finite=False).T
        results_of(partial(_turn, V, turn, turned), blocks, n_threads)
        V = turned
        if skew < NEARLY_STRAIGHT:
            break
    return V


def products_of_columns(V: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Return VᵀV in float64.

    >>> products_of_columns(np.array([[3.0, 0.0], [4.0, 1.0]]))
    array([[25.,  4.],
           [ 4.,  1.]])
    """
    return np.sum(results_of(partial(_products, V), row_blocks(V.shape[0], PRODUCT_ROWS), n_threads), axis=0)


def _products(V: np.ndarray, rows: slice) -> np.ndarray:
    block = V[rows].astype(np.float64, copy=False)
    return block.T @ block


def _turn(V: np.ndarray, turn: np.ndarray, turned: np.ndarray, rows: slice) -> None:
    turned.T[:, rows] = turn.T @ V[rows].T.astype(np.float64, copy=False)


def with_null_pairs(pairs: Pairs, count: int, nothing: float) -> Pairs:
    """Return so many pairs; values of at most ``nothing`` times the largest become 0, and their directions fixed ones.

    Rounding would choose any directions of the null space; these follow from the space alone. And where rows stand for
    several there may be more of them than rows: 3 rows of weight 4 have as many components as 12 rows.
    """
    n_real = int((pairs.values > nothing * pairs.values.max(initial=0.0)).sum())
    if n_real >= count:
        return pairs.first(count)
    n_null = count - n_real
    vectors = with_null_directions(pairs.vectors[:, :n_real], count)
    rounding = np.full(n_null, nothing * pairs.values.max(initial=0.0))  # Mv may be so long
    lengths = np.append(pairs.residuals()[:n_real], rounding)
    return Pairs(np.append(pairs.values[:n_real], np.zeros(n_null)), vectors, lengths[None, :])


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
    """Choose the signs of the rows, in place, so that the entry of largest size is positive; return them.

    >>> signed(np.array([[0.6, -0.8]]))
    array([[-0.6,  0.8]])
    """
    for component in components:
        if component[np.abs(component).argmax()] < 0.0:
            np.negative(component, out=component)
    return components
