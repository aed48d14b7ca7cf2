"""The leading eigenpairs of a symmetric matrix in hand, whatever its size.

LAPACK brings the whole matrix to three diagonals before it looks for the first pair, m³ work on one thread. Where few
pairs of a large matrix are wanted, Lanczos needs a few dozen products instead, m² each.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eigenwood.core.spectral.judging import Look, is_slow, look_at
from eigenwood.core.spectral.krylov import KrylovRule, KrylovStep, krylov_steps
from eigenwood.core.spectral.pairs import Pairs, Wanted, product_of, symmetric_pairs

LARGE = 1000  # rows; below, LAPACK is as fast
FEW = 0.08  # of all pairs
LANCZOS_TOL = 1e-12
BETWEEN = 0.125  # of the basis, between two looks at its pairs
NARROWEST, WIDEST = 8, 32

# Work beside a multiplication of a large product; how it is measured stands in docs/design/pca.md.
ALL_PAIRS, SOME_PAIRS = 6.0, 1.7  # of m x m x m: pairs by LAPACK, on one thread
COLUMN_IN_MEMORY = 6.0  # of m x m: a product with one vector, and what Lanczos does beside it


def leading_pairs(M: np.ndarray, wanted: Wanted, n_threads: int = 1) -> Pairs:
    """Return the leading pairs of a symmetric matrix, largest first."""
    if are_few(M.shape[0], wanted):
        for step, is_slower in judged_lanczos_steps(M, wanted, n_threads):
            if is_slower:
                break
            if step.last:
                return step.pairs()
    return symmetric_pairs(M, wanted, n_threads)


def judged_lanczos_steps(M: np.ndarray, wanted: Wanted, n_threads: int) -> Iterator[tuple[KrylovStep, bool]]:
    """Yield where Lanczos stands, and whether LAPACK would be sooner at the end."""
    looks: list[Look] = []
    per_product, lapack = COLUMN_IN_MEMORY * float(M.size), SOME_PAIRS * float(M.shape[0]) ** 3
    for step in lanczos_steps(M, wanted, n_threads):
        looks.append(look_at(step))
        yield step, not step.last and is_slow(looks, per_product, lapack)


def are_few(size: int, wanted: Wanted) -> bool:
    """Return whether so few pairs of a matrix of this size are wanted that Lanczos is faster."""
    return size >= LARGE and wanted.share is None and 0 < wanted.count <= FEW * size


def lanczos_steps(M: np.ndarray, wanted: Wanted, n_threads: int = 1) -> Iterator[KrylovStep]:
    """Yield where Lanczos stands after each product with M; the last step has the pairs."""
    block = min(int(np.clip(wanted.count // 8, NARROWEST, WIDEST)), M.shape[0])
    rule = KrylovRule(LANCZOS_TOL, block, max(3 * wanted.count, 512), seed=0, between=BETWEEN)
    return krylov_steps(lambda B: product_of(M, B, n_threads), M.shape[0], wanted, float(np.trace(M)), rule)
