"""The SVD of A itself, without forming AᵀA: small singular values keep their digits (the PCA lecture)."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from eigenwood.core.spectral.pairs import Pairs
from eigenwood.core.threads import one_blas_thread


def svd_pairs(A: np.ndarray) -> Pairs:
    """Return all pairs of AᵀA, min(n, d) of them, from the SVD of A in float64.

    >>> svd_pairs(np.array([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]])).values
    array([9., 4.])
    """
    with one_blas_thread():
        U, s, Vt = linalg.svd(A, full_matrices=False, check_finite=False)
        residual_vectors = A.T @ (A @ Vt.T) - Vt.T * s**2
    return Pairs(s**2, np.ascontiguousarray(Vt.T), residual_vectors)
