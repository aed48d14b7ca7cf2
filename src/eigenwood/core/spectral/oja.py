"""Oja's rule, in blocks: components from a stream of rows, one small step for each batch, nothing of size d x d.

    W ← W (t-1)/t + XᵀX W₀ / (b t)        a step of 1/t towards what this batch says
    W₀ ← orthonormal columns of W         W = W₀ Λ: the lengths Λ grow to the eigenvalues

A batch counts for 1/t of all so far, so the first ones, which knew little, are forgotten with ``MEMORY`` > 1. What
comes out is approximate; how far it is off is measured by the caller with one exact product.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from eigenwood.core.spectral.pairs import orthonormal
from eigenwood.core.threads import one_blas_thread

MEMORY = 5.0  # later batches count so many times more than the first ones


class OjaState(NamedTuple):
    """The directions so far with their lengths."""

    n_batches: int
    directions: np.ndarray  # (d, k), orthonormal columns
    lengths: np.ndarray  # (k,)


def oja_start(n_columns: int, count: int, seed: int) -> OjaState:
    """Return random directions."""
    start = np.random.default_rng(seed).standard_normal((n_columns, count))
    return OjaState(0, orthonormal(start), np.zeros(count))


def after_batch(state: OjaState, A: np.ndarray, weight: float) -> OjaState:
    """Return the state after one batch of centred rows, √w (x - μ) / σ, and their weight."""
    t = state.n_batches + 1
    share = min(1.0, MEMORY / t)
    with one_blas_thread():
        learnt = A.T @ (A @ state.directions) / weight
        blended = (1.0 - share) * state.directions * state.lengths + share * learnt
        directions, R = linalg.qr(blended, mode="economic", check_finite=False)
    return OjaState(t, directions * np.where(R.diagonal() < 0, -1.0, 1.0), np.abs(R.diagonal()))
