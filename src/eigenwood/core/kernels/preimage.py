"""Back from the space of a Gaussian kernel: which z has φ(z) nearest to a point P = Σ g_i φ(x_i)?

    fixed point      z ← Σ g_i k(z, x_i) x_i / Σ g_i k(z, x_i)      where ‖P - φ(z)‖² has no slope (Mika, Schölkopf, …)
    distances        ‖P - φ(x_i)‖² tells how far z should be from each x_i; its place follows from the nearest ones
                     (Kwok, Tsang)

‖P - φ(z)‖² = ‖P‖² + 1 - 2 Σ g_i k(z, x_i), so of several ends of an iteration the one with the largest sum is best. A
sum that is not above 0 says that z is nowhere near: that start has failed, and no number is divided by it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.core.kernels.blocks import gram
from eigenwood.core.kernels.functions import RBF, Kernel
from eigenwood.core.threads import results_of, row_blocks

QUERIES = 128  # points that move together
MOST_STEPS, SETTLED = 500, 1e-7  # of the iteration; movement beside the size of the rows
LEAST_SUM = 1e-12  # of Σ g k(z, x) beside Σ |g|
N_STARTS = 3  # rows of largest weight that an iteration starts from
NEIGHBOURS = 10


class Preimages(NamedTuple):
    """Rows, and which of them no iteration has found: those are the training rows of largest weight."""

    rows: np.ndarray
    failed: np.ndarray


def fixed_points(
    weights: np.ndarray, X: np.ndarray, gamma: float, starts: np.ndarray | None = None, n_threads: int = 1
) -> Preimages:
    """Return pre-images of P = Σ g_i φ(x_i), one for each row of weights; ``starts`` are rows to begin with as well.

    >>> fixed_points(np.array([[1.0, 0.0]]), np.array([[1.0], [5.0]]), 0.5).rows
    array([[1.]])
    """
    kernel = Kernel(RBF, gamma)

    def of_block(rows: slice) -> Preimages:
        g = weights[rows]
        heaviest = np.argsort(-g, axis=1, kind="stable")[:, :N_STARTS].T
        begin = [X[places] for places in heaviest] + ([] if starts is None else [starts[rows]])
        ends = [settled(z.astype(np.float64), g, X, kernel) for z in begin]
        sums = np.stack([total for _, total in ends])
        best, failed = sums.argmax(axis=0), np.isneginf(sums.max(axis=0))
        found = np.stack([z for z, _ in ends])[best, np.arange(g.shape[0])]
        return Preimages(np.where(failed[:, None], begin[0], found), failed)

    parts = results_of(of_block, row_blocks(weights.shape[0], QUERIES), n_threads)
    if not parts:
        return Preimages(np.empty((0, X.shape[1])), np.empty(0, dtype=bool))
    return Preimages(np.concatenate([part.rows for part in parts]), np.concatenate([part.failed for part in parts]))


def settled(z: np.ndarray, g: np.ndarray, X: np.ndarray, kernel: Kernel) -> tuple[np.ndarray, np.ndarray]:
    """Return where the iteration ends from some starts, and Σ g k(z, x) there; -inf where it has failed."""
    z, size = z.copy(), float(np.abs(X).max(initial=0.0)) or 1.0
    sums, least = np.full(len(z), -np.inf), LEAST_SUM * np.abs(g).sum(axis=1)
    moving = np.arange(len(z))
    for _ in range(MOST_STEPS):
        parts = g[moving] * gram(z[moving].astype(X.dtype), X, kernel)
        total = parts.sum(axis=1, dtype=np.float64)
        there = total > least[moving]
        sums[moving] = np.where(there, total, -np.inf)
        moving, parts, total = moving[there], parts[there], total[there]
        following = (parts @ X) / total[:, None]
        far = np.abs(following - z[moving]).max(axis=1, initial=0.0) > SETTLED * size
        z[moving] = following
        moving = moving[far]
        if moving.size == 0:
            break
    return z, sums


def from_distances(squares: np.ndarray, X: np.ndarray, gamma: float) -> np.ndarray:
    """Return rows whose distances to their nearest training rows are as close as can be to given ones.

    ``squares`` are ‖P - φ(x_i)‖² = 2 - 2 exp(-gamma ‖z - x_i‖²), for each point and each training row. With the centred
    neighbours as columns U Λ Vᵀ, z = U z̃ + mean and z̃ = Λ⁻¹ Vᵀ (‖columns‖² - d²) / 2.
    """
    n_near = min(NEIGHBOURS, X.shape[0])
    nearest = np.argsort(squares, axis=1, kind="stable")[:, :n_near]
    similar = np.clip(1.0 - np.take_along_axis(squares, nearest, axis=1) / 2.0, np.finfo(np.float64).tiny, 1.0)
    wanted = -np.log(similar) / gamma
    near = X[nearest].astype(np.float64)
    mean = near.mean(axis=1)
    centred = near - mean[:, None]
    U, lengths, Vt = np.linalg.svd(centred, full_matrices=False)  # rows are neighbours: (q, near, d)
    real = lengths > 1e-9 * np.maximum(lengths[:, :1], np.finfo(np.float64).tiny)
    off = (np.square(centred).sum(axis=2) - wanted) / 2.0
    inverse = np.where(real, 1.0 / np.where(real, lengths, 1.0), 0.0)
    coordinates = inverse * np.einsum("qns,qn->qs", U, off)
    return mean + np.einsum("qs,qsd->qd", coordinates, Vt)
