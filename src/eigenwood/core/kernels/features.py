"""Products with F, where K ≈ F Fᵀ: in blocks of rows, on any number of threads with the same bits.

Fᵀ       ┌── n ──┬───────┬───────┐
k        │ task  │ task  │ task  │   cut by the number of rows alone; what tasks give is added up in their order
         └───────┴───────┴───────┘
"""

from __future__ import annotations

import numpy as np

from eigenwood.core.pieces import Pieces
from eigenwood.core.threads import results_in_turn, row_blocks

MOST_TASKS, LEAST_ROWS = 16, 1024  # of a pass over the rows


class Features:
    """F, as its columns stand in memory, and products with it."""

    def __init__(self, columns: np.ndarray, n_threads: int) -> None:
        self.columns, self.n_threads = columns, n_threads  # (k, n) Fᵀ
        self.blocks = row_blocks(columns.shape[1], max(LEAST_ROWS, -(-columns.shape[1] // MOST_TASKS)))

    def squares(self) -> np.ndarray:
        """Return ‖F_i‖² of every row."""
        return np.einsum("ki,ki->i", self.columns, self.columns)

    def ahead(self, V: np.ndarray) -> Pieces[np.ndarray]:
        """Return F V."""
        product = np.empty((self.columns.shape[1], V.shape[1]))

        def fill(rows: slice) -> None:
            product[rows] = self.columns[:, rows].T @ V

        for _ in results_in_turn(fill, self.blocks, self.n_threads):
            yield
        return product

    def back(self, U: np.ndarray) -> Pieces[np.ndarray]:
        """Return Fᵀ U."""
        total = np.zeros((self.columns.shape[0], U.shape[1]))
        for part in results_in_turn(lambda rows: self.columns[:, rows] @ U[rows], self.blocks, self.n_threads):
            total += part
            yield
        return total

    def weighted_gram(self, weights: np.ndarray, centre: np.ndarray, dtype: np.dtype) -> Pieces[np.ndarray]:
        """Return Σ w_i (F_i - centre)(F_i - centre)ᵀ, multiplied in ``dtype`` and added up in float64."""
        lengths, total = np.sqrt(weights), np.zeros((centre.size, centre.size))

        def part(rows: slice) -> np.ndarray:
            scaled = (self.columns[:, rows] - centre[:, None]).astype(dtype, copy=False)
            scaled *= lengths[rows].astype(dtype)
            return scaled @ scaled.T

        for gram in results_in_turn(part, self.blocks, self.n_threads):
            total += gram
            yield
        return total
