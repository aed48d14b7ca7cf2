"""The Gram matrix of rows whose mean in the kernel's space is moved to the origin: H K H with H = I - 11ᵀ/n.

    K - EK - KE + EKE, E = 11ᵀ/n        PCA and boosting lecture; only products with blocks of vectors are computed

K is used in tiles. Those below the diagonal are those above it, turned over, so each one serves twice:

    ┌────┬────┬────┐
    │ 00 │ 01 │ 02 │     as many as there is room for are kept from the first product on; the others are computed again
    ├────┼────┼────┤     for each product: O(n · vectors) memory, and the same bits
    │ 01ᵀ│ 11 │ 12 │
    └────┴────┴────┘

The sums of K's rows come with the first product. They say what centring takes away: from the trace, and from new rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eigenwood.core.kernels.functions import Kernel
from eigenwood.core.kernels.matrix import KernelMatrix
from eigenwood.core.threads import results_of, row_blocks

TILE = 512  # rows and columns
WAVE = 8  # blocks of rows whose products are in memory at a time
PRODUCT_ROWS, MOMENT_ROWS = 128, 4096

Product = Callable[[np.ndarray], np.ndarray]  # (n, b) → K times it


class CentredGram:
    """H K H as an operator; ``row_sums`` are those of K, once it was used.

    >>> K = np.array([[2.0, 0.0], [0.0, 4.0]])
    >>> operator = CentredGram(lambda B: K @ B)
    >>> operator(np.array([[1.0], [0.0]])).ravel().tolist(), operator.row_sums.tolist()
    ([1.5, -1.5], [2.0, 4.0])
    """

    def __init__(self, product: Product) -> None:
        self._product = product
        self.row_sums: np.ndarray | None = None

    def __call__(self, block: np.ndarray) -> np.ndarray:
        block = block - block.mean(axis=0)
        if self.row_sums is None:
            products = self._product(np.column_stack([block, np.ones(block.shape[0])]))
            self.row_sums, products = products[:, -1].copy(), products[:, :-1]
        else:
            products = self._product(block)
        return products - products.mean(axis=0)


def product_in_hand(K: np.ndarray, block: np.ndarray, n_threads: int, pause: Callable[[], None]) -> np.ndarray:
    """Return K times a block of vectors, computed in the type of K, in float64; ``pause`` is called, and may raise."""
    right = np.asarray(block, dtype=K.dtype, order="C")
    product = np.empty(block.shape)

    def fill(rows: slice) -> None:
        pause()
        product[rows] = K[rows] @ right

    results_of(fill, row_blocks(K.shape[0], PRODUCT_ROWS), n_threads)
    return product


class KernelTiles:
    """K as an operator, in tiles; ``n_bytes`` of them are kept. ``pause`` is called after every tile, and may raise."""

    def __init__(self, K: KernelMatrix, n_bytes: float, n_threads: int, pause: Callable[[], None]) -> None:
        self.K, self.n_threads, self.pause = K, K.threads(n_threads), pause
        self.blocks = row_blocks(K.n_rows(), TILE)
        self.is_symmetric = isinstance(K.kernel, Kernel)  # a function of the user's is asked for both halves
        self.kept: dict[tuple[int, int], np.ndarray] = {}
        self.room = int(n_bytes // (TILE * TILE * K.dtype().itemsize))

    def __call__(self, block: np.ndarray) -> np.ndarray:
        right = np.ascontiguousarray(block.T, dtype=self.K.dtype())  # lying: few rows times a tile is faster in BLAS
        product = np.zeros(right.shape)
        for wave in row_blocks(len(self.blocks), WAVE):
            numbers = range(len(self.blocks))[wave]
            parts = results_of(lambda i: self._of_rows(i, right), numbers, self.n_threads)
            for i, (own, below) in zip(numbers, parts, strict=True):
                product[:, self.blocks[i]] += own
                product[:, self.blocks[i].stop :][:, : below.shape[1]] += below
        return product.T

    def _of_rows(self, i: int, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what the tiles of some rows give to these, and what they give to the rows below, turned over."""
        rows, n = self.blocks[i], self.K.n_rows()
        own = np.zeros((len(right), rows.stop - rows.start))
        below = np.zeros((len(right), n - rows.stop)) if self.is_symmetric else own[:, :0]
        for j in range(i if self.is_symmetric else 0, len(self.blocks)):
            columns, tile = self.blocks[j], self._tile(i, j)
            own += right[:, columns] @ tile.T
            if self.is_symmetric and j > i:
                below[:, columns.start - rows.stop : columns.stop - rows.stop] = right[:, rows] @ tile
            self.pause()
        return own, below

    def _tile(self, i: int, j: int) -> np.ndarray:
        known = self.kept.get((i, j))
        if known is not None:
            return known
        tile = self.K.tile(self.blocks[i], self.K.columns(self.blocks[j]))
        if self._number(i, j) < self.room:
            self.kept[i, j] = tile
        return tile

    def _number(self, i: int, j: int) -> int:
        """Return the place of a tile among all, row by row: which are kept follows from the room alone."""
        n = len(self.blocks)
        return i * n - i * (i - 1) // 2 + j - i if self.is_symmetric else i * n + j


def column_moments(F: np.ndarray, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of the columns, and the products (F - mean)ᵀ (F - mean) in float64.

    >>> column_moments(np.array([[1.0], [3.0]]), 1)
    (array([2.]), array([[2.]]))
    """
    blocks = row_blocks(F.shape[0], MOMENT_ROWS)
    mean = np.sum(results_of(lambda rows: F[rows].sum(axis=0, dtype=np.float64), blocks, n_threads), axis=0)
    mean /= F.shape[0]

    def products(rows: slice) -> np.ndarray:
        centred = F[rows] - mean.astype(F.dtype)
        return (centred.T @ centred).astype(np.float64)

    return mean, np.sum(results_of(products, blocks, n_threads), axis=0)
