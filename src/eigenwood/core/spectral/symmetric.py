"""The leading eigenpairs of a symmetric matrix in hand, whatever its size.

LAPACK brings the whole matrix to three diagonals before it looks for the first pair, m³ work on one thread. Where few
pairs of a large matrix are wanted, Lanczos needs a few dozen products instead, m² each.
"""

from __future__ import annotations

import numpy as np

from eigenwood.core.spectral.krylov import KrylovRule, krylov_steps
from eigenwood.core.spectral.pairs import Pairs, Wanted, symmetric_pairs
from eigenwood.core.threads import results_of, row_blocks

LARGE = 1500  # rows; below, LAPACK is as fast
FEW = 0.08  # of all pairs
PRODUCT_ROWS = 128
LANCZOS_TOL = 1e-12
NARROWEST, WIDEST = 8, 32


def leading_pairs(M: np.ndarray, wanted: Wanted, n_threads: int = 1) -> Pairs:
    """Return the leading pairs of a symmetric matrix, largest first."""
    size = M.shape[0]
    if size < LARGE or wanted.share is not None or not 0 < wanted.count <= FEW * size:
        return symmetric_pairs(M, wanted)
    block = int(np.clip(wanted.count // 8, NARROWEST, WIDEST))
    rule = KrylovRule(LANCZOS_TOL, block, max(3 * wanted.count, 256), seed=0)
    *_, step = krylov_steps(lambda B: product_of(M, B, n_threads), size, wanted, float(np.trace(M)), rule)
    return step.pairs()


def product_of(M: np.ndarray, B: np.ndarray, n_threads: int) -> np.ndarray:
    """Return M B: blocks of rows side by side."""
    blocks = row_blocks(M.shape[0], PRODUCT_ROWS)
    return np.concatenate(results_of(lambda rows: M[rows] @ B, blocks, n_threads))
