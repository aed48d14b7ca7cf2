"""The rows of a table as the verifier of a kernel PCA sees them, and what it compares on every route."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from eigenwood.core.kernels.blocks import gram, gram_diagonal
from eigenwood.core.kernels.matrix import KernelMatrix, kernel_matrix
from eigenwood.core.threads import row_blocks
from eigenwood.estimators.kernel_pca.faces import KernelPCA
from eigenwood.estimators.kernels import similarity, similarity_gamma
from eigenwood.estimators.watching import Deadline
from eigenwood.proofs.kernel_pca import relative
from eigenwood.validation.kernel_pca import symmetric_once_centred

VERIFIED_VALUES = 2**23  # of K, between two looks at the clock
HELD_ROWS = 4000  # up to here K is computed once

Check = tuple[str, str, float]


class Rows:
    """The rows of a table with their kernel, in float64: blocks of K, computed when they are asked for."""

    def __init__(self, model: KernelPCA, X: Any, deadline: Deadline) -> None:
        self.given, self.deadline = X, deadline
        self.X = X.astype(np.float64)
        self.kernel = similarity(model, model.gamma_, self.X)
        if self.kernel is None:
            self.X = symmetric_once_centred(self.X)
        self.held: np.ndarray | None = None

    def size(self) -> int:
        return self.X.shape[0]

    def diagonal(self) -> np.ndarray:
        """Return k(x, x)."""
        return self.X.diagonal().copy() if self.kernel is None else gram_diagonal(self.X, self.kernel)

    def beside(self, rows: slice | np.ndarray, others: np.ndarray | slice) -> np.ndarray:
        """Return k(x, z) for some rows x and others z."""
        self.deadline.check()
        if self.kernel is None:
            return self.X[rows][:, others]
        return gram(self.X[rows], self.X[others], self.kernel)

    def matrix(self) -> KernelMatrix:
        """Return the Gram matrix as a route would see it."""
        return kernel_matrix(self.X, self.kernel)

    def times(self, block: np.ndarray) -> np.ndarray:
        """Return K times a block of vectors."""
        n = self.size()
        every = slice(0, n)
        if n <= HELD_ROWS:
            self.held = self.beside(every, every) if self.held is None else self.held
            return self.held @ block
        parts = row_blocks(n, max(1, VERIFIED_VALUES // n))
        return np.concatenate([self.beside(rows, every) @ block for rows in parts])

    def centred_times(self, block: np.ndarray) -> np.ndarray:
        """Return H K H times a block of vectors."""
        product = self.times(block - block.mean(axis=0))
        return product - product.mean(axis=0)


def stated_checks(model: KernelPCA, X: Any, total: float, trace: float, missing: float, n: int) -> tuple[Check, ...]:
    """Return the checks of single numbers that a model states."""
    ratios = model.eigenvalues_ / total if total > 0.0 else np.zeros(model.eigenvalues_.size)
    size = max(abs(trace), total)
    gamma = 1.0 if model.kernel == "precomputed" else model.gamma_ if X is None else similarity_gamma(model, X)
    return (
        (
            "traces",
            "largest error of trace, total variance and trace error, beside tr K",
            max(
                relative(abs(model.trace_ - trace), size),
                relative(abs(model.total_variance_ - total), size),
                relative(abs(model.trace_error_ - missing), size),
            ),
        ),
        ("shares", "largest error of a share of the variance", beside(model.explained_variance_ratio_, ratios)),
        (
            "numbers",
            "relative errors of gamma and the number of rows",
            abs(model.gamma_ / gamma - 1.0) + abs(model.n_samples_ - n),
        ),
    )


def n_other_rows(model: KernelPCA, rows: Rows) -> int:
    """Return how many rows that the model keeps are not those of the table."""
    places = model.landmark_indices_
    n_outside = int((places >= rows.size()).sum()) + places.size - np.unique(places).size
    if n_outside or model.kernel == "precomputed":
        return n_outside
    expected = rows.given[places] if places.size else rows.given
    if expected.shape != model.X_fit_.shape:
        return max(abs(expected.shape[0] - model.X_fit_.shape[0]), 1)
    if sparse.issparse(expected) != sparse.issparse(model.X_fit_):
        expected = sparse.csr_array(expected)
    return int((np.asarray(abs(expected - model.X_fit_).sum(axis=1)).ravel() != 0.0).sum())


def beside(stated: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest difference of two arrays beside the largest entry of the second."""
    if stated.shape != expected.shape:
        return float("inf")
    return relative(float(np.abs(stated - expected).max(initial=0.0)), float(np.abs(expected).max(initial=0.0)))
