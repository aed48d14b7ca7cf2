"""A wide table, centred and packed, for products with a few vectors that are repeated.

    X            rows of d numbers                a block of columns lies scattered over the memory
    packed       [ n x w ][ n x w ] … [ n x w ]   each contiguous, small enough for the cache; zeros fill the last
    AAᵀ B        for each block:  T = A_cᵀ B,  sum of A_c T            A is read once from the memory

BLAS is made for large factors; with four vectors it takes twice as long as these loops, which keep four vectors and
four rows at hand.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from eigenwood.core.spectral.centred import Centred, narrow, summed
from eigenwood.core.spectral.moments import add_to
from eigenwood.core.threads import results_of, row_blocks

BLOCK_BYTES, LEAST_WIDTH, MOST_WIDTH = 2**19, 16, 512
GROUP = 4  # vectors, and rows, that are multiplied together
BLOCKS_AT_ONCE = 64  # while packing: so much of a row is read at a time
FEW_VECTORS = 24  # up to so many, loops are faster than BLAS
SHORT_SUM = 64  # rows that are summed in the type of A; these sums are added up in float64
IN_ANY_ORDER = {"reassoc", "contract", "nsz"}  # sums may be made in lanes; the same ones on every call


def packed(A: Centred, n_threads: int = 1) -> np.ndarray:
    """Return a dense A as blocks of columns, shape (n_blocks, n, width): as large as X.

    >>> A = Centred(np.eye(2), np.ones(2), np.zeros(2), np.ones(2))
    >>> packed(A)[0, :, :3]
    array([[1., 0., 0.],
           [0., 1., 0.]])
    """
    n, d = A.X.shape
    width = packed_width(n)
    blocks, source = np.empty((-(-d // width), n, width), dtype=A.X.dtype), narrow(A)

    def pack(some: slice) -> None:
        write_packed(source.X, source.roots, some.start * width, *source[2:], blocks[some])

    results_of(pack, row_blocks(blocks.shape[0], BLOCKS_AT_ONCE), n_threads)
    return blocks


def packed_width(n_rows: int, itemsize: int = 4) -> int:
    """Return how many columns a block has: a whole number of lanes, as many as fit in the cache."""
    lanes = LEAST_WIDTH * 4 // itemsize
    return int(np.clip(BLOCK_BYTES // itemsize // n_rows // lanes * lanes, lanes, MOST_WIDTH))


def normal_of_packed(blocks: np.ndarray, B: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Return AAᵀ B for a packed A, shape (n, b), in float64."""
    vectors = in_groups(B, blocks.dtype)

    def work(i: slice, total: np.ndarray) -> None:
        block = blocks[i.start]
        add_normal(block, vectors, np.empty((vectors.shape[0], block.shape[1]), dtype=block.dtype), total)

    total = summed(work, row_blocks(blocks.shape[0], 1), vectors.shape, n_threads)
    return np.ascontiguousarray(total[: B.shape[1]].T)


def in_groups(B: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return the columns of B as rows, and zeros for those that are missing in the last group."""
    vectors = np.zeros((-(-B.shape[1] // GROUP) * GROUP, B.shape[0]), dtype=dtype)
    vectors[: B.shape[1]] = B.T
    return vectors


def products_both_ways(A: Centred, B: np.ndarray, n_threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return AᵀB in the type of X, shape (d, b), and AAᵀB in float64, of a dense A that is read once.

    >>> A = Centred(np.array([[1.0, 2.0]]), np.ones(1), np.zeros(2), np.ones(2))
    >>> products_both_ways(A, np.ones((1, 1)))
    (array([[1.],
           [2.]]), array([[5.]]))
    """
    (n, d), source, rows = A.X.shape, narrow(A), slice(0, A.X.shape[0])
    vectors = in_groups(B, A.X.dtype)
    lifted = np.empty((vectors.shape[0], d), dtype=A.X.dtype)

    def by_groups(columns: slice, total: np.ndarray) -> None:
        products = np.empty((vectors.shape[0], columns.stop - columns.start), dtype=A.X.dtype)
        add_normal(source.block(rows, columns), vectors, products, total)
        lifted[:, columns] = products

    def by_blas(columns: slice, total: np.ndarray) -> None:
        block = source.block(rows, columns)
        products = np.zeros((vectors.shape[0], block.shape[1]))
        for some in row_blocks(n, SHORT_SUM):
            add_to(products, vectors[:, some] @ block[some])
        lifted[:, columns] = products
        add_to(total, lifted[:, columns] @ block.T)

    work = by_groups if B.shape[1] <= FEW_VECTORS else by_blas
    total = summed(work, row_blocks(d, MOST_WIDTH), (vectors.shape[0], n), n_threads)
    return lifted[: B.shape[1]].T, np.ascontiguousarray(total[: B.shape[1]].T)


def lifted_lengths(A: Centred, B: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Return the length of every column of AᵀB, of a dense A.

    >>> A = Centred(np.array([[3.0, 4.0]]), np.ones(1), np.zeros(2), np.ones(2))
    >>> lifted_lengths(A, np.ones((1, 1)))
    array([5.])
    """
    vectors, source, rows = np.ascontiguousarray(B.T, dtype=A.X.dtype), narrow(A), slice(0, A.X.shape[0])

    def work(columns: slice, total: np.ndarray) -> None:
        products = vectors @ source.block(rows, columns)
        total += np.einsum("ij,ij->i", products, products)

    return np.sqrt(summed(work, row_blocks(A.X.shape[1], MOST_WIDTH), (B.shape[1],), n_threads))


@njit(cache=True, nogil=True)
def write_packed(X, roots, first_column, shift, rest, factor, blocks):
    """Write √w (x - shift - rest) factor of some blocks of columns, and zeros beyond the last column."""
    n_blocks, n_rows, width = blocks.shape
    for i in range(n_rows):
        for q in range(n_blocks):
            first = first_column + q * width
            n_here = min(width, X.shape[1] - first)
            values, out = X[i, first : first + n_here], blocks[q, i]
            means, rests, factors = (
                shift[first : first + n_here],
                rest[first : first + n_here],
                factor[first : first + n_here],
            )
            for j in range(n_here):
                out[j] = roots[i] * ((values[j] - means[j]) - rests[j]) * factors[j]
            for j in range(n_here, width):
                out[j] = 0


@njit(cache=True, nogil=True, fastmath=IN_ANY_ORDER)
def add_normal(A, vectors, products, total):
    """Write Aᵀv of each vector to ``products`` and add AAᵀv to ``total``; there are whole groups of vectors."""
    sums_of_all = np.empty((GROUP, A.shape[1]))
    for first in range(0, vectors.shape[0], GROUP):
        some, made = vectors[first : first + GROUP], products[first : first + GROUP]
        write_long_products(A, some, sums_of_all, made)
        sums = total[first : first + GROUP]
        add_combined(A, made[0], made[1], made[2], made[3], sums[0], sums[1], sums[2], sums[3])


@njit(cache=True, nogil=True, fastmath=IN_ANY_ORDER)
def write_long_products(A, vectors, sums, products):
    """Write Aᵀv of a group of vectors: sums of a few rows in the type of A, and sums of these in float64.

    Beside an entry that is far larger than all others, each row would be rounded the same way, again and again.
    """
    sums[:] = 0.0
    a, b, c, d = vectors[0], vectors[1], vectors[2], vectors[3]
    for start in range(0, A.shape[0], SHORT_SUM):
        rows = slice(start, min(start + SHORT_SUM, A.shape[0]))
        write_products(A[rows], a[rows], b[rows], c[rows], d[rows], products[0], products[1], products[2], products[3])
        add_to(sums, products)
    products[:] = sums


@njit(cache=True, nogil=True, fastmath=IN_ANY_ORDER)
def write_products(A, a, b, c, d, t, u, v, w):
    """Write Aᵀa, Aᵀb, Aᵀc and Aᵀd, four rows at a time; A may be whole numbers."""
    n_rows, width = A.shape
    number = t.dtype.type
    t[:], u[:], v[:], w[:] = 0, 0, 0, 0
    for i in range(0, n_rows - GROUP + 1, GROUP):
        p, q, r, s = A[i], A[i + 1], A[i + 2], A[i + 3]
        # by name, because the compiler cannot know that writing to t leaves them as they are
        a0, a1, a2, a3 = a[i], a[i + 1], a[i + 2], a[i + 3]
        b0, b1, b2, b3 = b[i], b[i + 1], b[i + 2], b[i + 3]
        c0, c1, c2, c3 = c[i], c[i + 1], c[i + 2], c[i + 3]
        d0, d1, d2, d3 = d[i], d[i + 1], d[i + 2], d[i + 3]
        for j in range(width):
            x, y, z, o = number(p[j]), number(q[j]), number(r[j]), number(s[j])
            t[j] += a0 * x + a1 * y + a2 * z + a3 * o
            u[j] += b0 * x + b1 * y + b2 * z + b3 * o
            v[j] += c0 * x + c1 * y + c2 * z + c3 * o
            w[j] += d0 * x + d1 * y + d2 * z + d3 * o
    for i in range(n_rows - n_rows % GROUP, n_rows):
        for j in range(width):
            t[j] += a[i] * number(A[i, j])
            u[j] += b[i] * number(A[i, j])
            v[j] += c[i] * number(A[i, j])
            w[j] += d[i] * number(A[i, j])


@njit(cache=True, nogil=True, fastmath=IN_ANY_ORDER)
def add_combined(A, t, u, v, w, a, b, c, d):
    """Add At, Au, Av and Aw; each sum over the columns is made in the type of t, and added in float64."""
    number = t.dtype.type
    for i in range(A.shape[0]):
        row = A[i]
        p = q = r = s = number(0)
        for j in range(row.size):
            x = number(row[j])
            p += x * t[j]
            q += x * u[j]
            r += x * v[j]
            s += x * w[j]
        a[i] += p
        b[i] += q
        c[i] += r
        d[i] += s
