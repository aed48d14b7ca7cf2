"""The leading eigenpairs of a symmetric matrix in hand, whatever its size.

LAPACK brings the whole matrix to three diagonals before it looks for the first pair, m³ work on one thread. Where few
pairs of a large matrix are wanted, Lanczos needs a few dozen products instead, m² each.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eigenwood.core.spectral.krylov import KrylovRule, KrylovStep, krylov_steps
from eigenwood.core.spectral.pairs import Pairs, Wanted, product_of, symmetric_pairs

LARGE = 1500  # rows; below, LAPACK is as fast
FEW = 0.08  # of all pairs
LANCZOS_TOL = 1e-12
NARROWEST, WIDEST = 8, 32


def leading_pairs(M: np.ndarray, wanted: Wanted, n_threads: int = 1) -> Pairs:
    """Return the leading pairs of a symmetric matrix, largest first."""
    if not are_few(M.shape[0], wanted):
        return symmetric_pairs(M, wanted, n_threads)
    *_, step = lanczos_steps(M, wanted, n_threads)
    return step.pairs()


def are_few(size: int, wanted: Wanted) -> bool:
    """Return whether so few pairs of a matrix of this size are wanted that Lanczos is faster."""
    return size >= LARGE and wanted.share is None and 0 < wanted.count <= FEW * size


def lanczos_steps(M: np.ndarray, wanted: Wanted, n_threads: int = 1) -> Iterator[KrylovStep]:
    """Yield where Lanczos stands after each product with M; the last step has the pairs."""
    block = min(int(np.clip(wanted.count // 8, NARROWEST, WIDEST)), M.shape[0])
    rule = KrylovRule(LANCZOS_TOL, block, max(3 * wanted.count, 256), seed=0)
    return krylov_steps(lambda B: product_of(M, B, n_threads), M.shape[0], wanted, float(np.trace(M)), rule)
