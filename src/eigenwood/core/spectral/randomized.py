"""Randomised subspace iteration (Halko, Martinsson, Tropp): a random block, multiplied a few times.

How good the answer is depends on the spectrum, not on the method; so its residuals are measured with one more product.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import linalg

from eigenwood.core.spectral.krylov import Operator
from eigenwood.core.spectral.pairs import Pairs, orthonormal
from eigenwood.core.threads import one_blas_thread


class SubspaceStep(NamedTuple):
    """Where the iteration stands: a block, its product with the operator, and how many pairs are wanted."""

    block: np.ndarray  # (m, b), orthonormal columns
    product: np.ndarray  # M times it
    count: int  # type: ignore[assignment]
    whole: bool
    last: bool
    is_cut: bool = True  # the number of products is fixed, whatever is left

    def pairs(self) -> Pairs:
        """Return the best pairs in the span of the block (Rayleigh, Ritz)."""
        with one_blas_thread():
            H = self.block.T @ self.product
            values, rotation = linalg.eigh((H + H.T) / 2.0, check_finite=False)
            values, rotation = values[::-1][: self.count], rotation[:, ::-1][:, : self.count]
            vectors = self.block @ rotation
            residual_vectors = self.product @ rotation - vectors * values
        return Pairs(values.copy(), vectors, residual_vectors)


def randomized_steps(
    operator: Operator, size: int, count: int, n_oversamples: int, n_iter: int, seed: int
) -> Iterator[SubspaceStep]:
    """Yield after each of ``n_iter`` + 1 products with a block of ``count`` + ``n_oversamples`` columns."""
    block = np.random.default_rng(seed).standard_normal((size, min(count + n_oversamples, size)))
    for i in range(n_iter + 1):
        block = orthonormal(block)
        product = operator(block)
        yield SubspaceStep(block, product, count, True, i == n_iter)
        block = product
