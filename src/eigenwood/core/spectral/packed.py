"""Products of a wide table with a few vectors by loops, both ways in one pass: Aᵀv and AAᵀv.

    AᵀB, AAᵀB    for each block of columns:  T = A_cᵀ B,  sum of A_c T            A is read once from the memory

Loops keep four vectors and four rows at hand; ``packed_quantized`` runs them over a copy of bytes.
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.spectral.centred import Centred, narrow, summed
from eigenwood.core.spectral.moments import add_to, even_slices
from eigenwood.core.threads import row_blocks

BLOCK_BYTES, LEAST_WIDTH, MOST_WIDTH = 2**19, 16, 512
GROUP = 4  # vectors, and rows, that are multiplied together
BLOCKS_OF_A_CALL = 16  # that are multiplied: with fewer, threads would wait for Python
FEW_VECTORS = 24  # up to so many, loops are faster than BLAS
SHORT_SUM = 64  # rows that are summed in the type of A, by loops or by BLAS; these sums are added in float64
IN_ANY_ORDER = {"reassoc", "contract", "nsz"}  # sums may be made in lanes; the same ones on every call


def packed_width(n_rows: int, itemsize: int = 4) -> int:
    """Return how many columns a block has: a multiple of the lanes, as many as fit in the cache."""
    lanes = LEAST_WIDTH * 4 // itemsize
    return int(np.clip(BLOCK_BYTES // itemsize // n_rows // lanes * lanes, lanes, MOST_WIDTH))


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
    return _by_loops(A, B, n_threads) if B.shape[1] <= FEW_VECTORS else _by_blas(A, B, n_threads)


def _by_blas(A: Centred, B: np.ndarray, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
    source, rows, vectors = narrow(A), slice(0, A.X.shape[0]), np.ascontiguousarray(B.T, dtype=A.X.dtype)
    images = np.empty((vectors.shape[0], A.X.shape[1]), dtype=A.X.dtype)

    def work(columns: slice, total: np.ndarray) -> None:
        block = source.block(rows, columns)
        products = np.zeros((vectors.shape[0], block.shape[1]))
        for some in row_blocks(block.shape[0], SHORT_SUM):
            add_to(products, vectors[:, some] @ block[some])
        images[:, columns] = products
        add_to(total, images[:, columns] @ block.T)

    total = summed(work, row_blocks(A.X.shape[1], MOST_WIDTH), vectors.shape, n_threads)
    return images.T, np.ascontiguousarray(total.T)


def _by_loops(A: Centred, B: np.ndarray, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows are multiplied where they are: only the shift is taken off each number, the rest off the sums."""
    (n, d), source, vectors = A.X.shape, narrow(A), in_groups(A.roots[:, None] * B, A.X.dtype)
    sums, images = sums_of(vectors), np.empty((vectors.shape[0], d), dtype=A.X.dtype)
    rests = source.rest * source.factor

    def work(columns: slice, total: np.ndarray) -> None:
        products = np.empty((GROUP, MOST_WIDTH), dtype=A.X.dtype)
        of_columns = source.shift, source.factor, rests
        add_normal_of_rows(A.X, columns.start, columns.stop, *of_columns, vectors, sums, products, images, total)

    total = summed(work, even_slices(d, MOST_WIDTH * BLOCKS_OF_A_CALL), (vectors.shape[0], n + 1), n_threads)
    return images[: B.shape[1]].T, uncentred_sums(total, A.roots)[:, : B.shape[1]]


def sums_of(vectors: np.ndarray) -> np.ndarray:
    """Return the sum of every vector, in their type."""
    return vectors.sum(axis=1, dtype=np.float64).astype(vectors.dtype)


def uncentred_sums(total: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """Return √w (total - what stands behind it), shape (n, b): what is the same for all rows was summed once."""
    return roots[:, None] * (total[:, :-1] - total[:, -1:]).T


def feature_space_lengths(A: Centred, B: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Return the length of every column of AᵀB, of a dense A.

    >>> A = Centred(np.array([[3.0, 4.0]]), np.ones(1), np.zeros(2), np.ones(2))
    >>> feature_space_lengths(A, np.ones((1, 1)))
    array([5.])
    """
    vectors, source, rows = np.ascontiguousarray(B.T, dtype=A.X.dtype), narrow(A), slice(0, A.X.shape[0])

    def work(columns: slice, total: np.ndarray) -> None:
        products = vectors @ source.block(rows, columns)
        total += np.einsum("ij,ij->i", products, products)

    return np.sqrt(summed(work, row_blocks(A.X.shape[1], MOST_WIDTH), (B.shape[1],), n_threads))


@njit
def add_normal_of_rows(X, start, stop, shift, factor, rests, vectors, sums, products, images, total):
    """Write t = Aᵀv of each vector to ``images`` for some columns; add (X - shift) z to ``total``, Σ rest t behind."""
    for begin in range(start, stop, products.shape[1]):
        end = min(begin + products.shape[1], stop)
        for first in range(0, vectors.shape[0], GROUP):
            out = total[first : first + GROUP]
            write_products(X, begin, end, shift[begin:end], vectors[first : first + GROUP], products)
            for g in range(GROUP):
                image = images[first + g, begin:end]
                image[:] = products[g, : image.size]
                out[g, X.shape[0]] += turn_to_image(image, factor[begin:end], rests[begin:end], sums[first + g])
                products[g, : image.size] = factor[begin:end] * image
            add_combined(X, begin, end, shift[begin:end], products, out)


@njit(fastmath=IN_ANY_ORDER)
def turn_to_image(products, factor, rests, total):
    """Write t = factor products - rest total in the place of the products; return Σ rest t."""
    along = 0.0
    for j in range(products.size):
        products[j] = factor[j] * products[j] - rests[j] * total
        along += rests[j] * products[j]
    return along


@njit
def write_products(A, start, stop, shift, vectors, products):
    """Write Aᵀv of a group of vectors for a range of columns: a few rows in the type of v, their sums in float64.

    Beside an entry that is far larger than all others, each row would be rounded the same way, again and again.
    """
    sums = np.zeros((GROUP, stop - start))
    for first in range(0, A.shape[0], SHORT_SUM):
        write_short_products(A, first, min(first + SHORT_SUM, A.shape[0]), start, stop, shift, vectors, products)
        for g in range(GROUP):
            for j in range(stop - start):
                sums[g, j] += products[g, j]
    products[:, : stop - start] = sums


@njit(fastmath=IN_ANY_ORDER)
def write_short_products(A, first, last, start, stop, shift, vectors, products):
    """Write Aᵀv over some rows, four at a time; A may hold integers, and a shift be taken off each column."""
    n_columns, number = stop - start, products.dtype.type
    a, b, c, d = vectors[0], vectors[1], vectors[2], vectors[3]
    t, u, v, w = products[0, :n_columns], products[1, :n_columns], products[2, :n_columns], products[3, :n_columns]
    t[:], u[:], v[:], w[:] = 0, 0, 0, 0
    for i in range(first, last - GROUP + 1, GROUP):
        p, q, r, s = A[i, start:stop], A[i + 1, start:stop], A[i + 2, start:stop], A[i + 3, start:stop]
        # by name, because the compiler cannot know that writing to t leaves them as they are
        a0, a1, a2, a3 = a[i], a[i + 1], a[i + 2], a[i + 3]
        b0, b1, b2, b3 = b[i], b[i + 1], b[i + 2], b[i + 3]
        c0, c1, c2, c3 = c[i], c[i + 1], c[i + 2], c[i + 3]
        d0, d1, d2, d3 = d[i], d[i + 1], d[i + 2], d[i + 3]
        for j in range(n_columns):
            off = number(0) if shift is None else shift[j]
            x, y, z, o = number(p[j]) - off, number(q[j]) - off, number(r[j]) - off, number(s[j]) - off
            t[j] += a0 * x + a1 * y + a2 * z + a3 * o
            u[j] += b0 * x + b1 * y + b2 * z + b3 * o
            v[j] += c0 * x + c1 * y + c2 * z + c3 * o
            w[j] += d0 * x + d1 * y + d2 * z + d3 * o
    for i in range(last - (last - first) % GROUP, last):
        for j in range(n_columns):
            x = number(A[i, start + j]) - (number(0) if shift is None else shift[j])
            t[j] += a[i] * x
            u[j] += b[i] * x
            v[j] += c[i] * x
            w[j] += d[i] * x


@njit(fastmath=IN_ANY_ORDER)
def add_combined(A, start, stop, shift, products, sums):
    """Add A t of each t; a sum over the columns is made in the type of t, and added in float64."""
    n_columns, number = stop - start, products.dtype.type
    t, u, v, w = products[0, :n_columns], products[1, :n_columns], products[2, :n_columns], products[3, :n_columns]
    for i in range(A.shape[0]):
        row = A[i, start:stop]
        p = q = r = s = number(0)
        for j in range(row.size):
            x = number(row[j]) - (number(0) if shift is None else shift[j])
            p += x * t[j]
            q += x * u[j]
            r += x * v[j]
            s += x * w[j]
        sums[0, i] += p
        sums[1, i] += q
        sums[2, i] += r
        sums[3, i] += s
