"""Landmarks by what they explain: more are drawn than wanted, and those that explain most are kept, one by one.

Randomly pivoted Cholesky draws rows where a kernel is explained least. Where it is explained little everywhere, that is
no better than drawing them blindly: what counts is how much a column explains of the others. With R = K - F Fᵀ, the
landmark s takes from the trace of R

    gain(s) = ‖R e_s‖² / R_ss

So candidates C are drawn by random pivots among sampled rows, and the gains are measured on the sample. A candidate
stands for itself alone, every other sampled row for as many rows as were not sampled:

    K[C, C] = L Lᵀ          R = L Lᵀ among the candidates, to begin with
    P       = Σ_x w_x R[C, x] R[x, C] = L (Σ_x w_x f_x f_xᵀ) Lᵀ          gain(s) = P_ss / R_ss
    choose  s, u = R e_s / √R_ss, v = P e_s / √R_ss - u P_ss / (2 R_ss)
            R ← R - u uᵀ        P ← P - u vᵀ - v uᵀ

The updates are put off until there is a panel of them, and the diagonals are kept up to date meanwhile.
"""

from __future__ import annotations

import numpy as np

from eigenwood.core.kernels.low_rank import LowRank, Rank, Ranking, random_pivots
from eigenwood.core.kernels.matrix import KernelMatrix
from eigenwood.core.threads import one_blas_thread, results_of, row_blocks

DRAWN, BESIDE = 1.5, 8  # candidates for each landmark, and beside them
SAMPLED, FEWEST_SAMPLED = 4, 2000  # rows for each landmark, at least
PANEL, BLOCK_ROWS = 32, 512


def greedy_landmarks(K: KernelMatrix, count: int, seed: int, n_threads: int = 1) -> Ranking:
    """Return rows of K in the order in which they are chosen, at most ``count``, with their gains.

    >>> from eigenwood.core.kernels.functions import LINEAR, Kernel
    >>> from eigenwood.core.kernels.matrix import kernel_matrix
    >>> rows = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.5]])
    >>> greedy_landmarks(kernel_matrix(rows, Kernel(LINEAR)), 1, seed=0).gains
    array([3.])
    """
    n = K.n_rows()
    n_sampled = min(n, max(SAMPLED * count, FEWEST_SAMPLED))
    sample = np.sort(np.random.default_rng(seed).permutation(n)[:n_sampled])
    among = K if n_sampled == n else K.among(sample)
    *_, found = random_pivots(among, Rank(min(n_sampled, int(DRAWN * count) + BESIDE)), seed, n_threads)
    places, gains = order_by_gain(found.result, n, count, n_threads)
    return Ranking(sample[found.result.pivots[places]], gains)


def order_by_gain(drawn: LowRank, n_rows: int, count: int, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the candidates in the order in which they are chosen, by place, and their gains among ``n_rows`` rows."""
    L = drawn.triangle.astype(np.float64)
    others = np.delete(drawn.factor, drawn.pivots, axis=0)
    moments = L.T @ L
    if len(others):
        moments += (n_rows - len(L)) / len(others) * moments_of(others, n_threads)
    R, P = L @ L.T, L @ moments @ L.T
    floor = np.finfo(drawn.factor.dtype).eps * R.diagonal()
    chosen: list[int] = []
    gains: list[float] = []
    while len(chosen) < min(count, len(L)):
        fresh = one_panel(R, P, floor, chosen, gains, min(count, len(L)) - len(chosen), n_threads)
        if fresh == 0:
            break
    return np.array(chosen, dtype=np.int64), np.array(gains)


def moments_of(F: np.ndarray, n_threads: int) -> np.ndarray:
    """Return FᵀF in float64, multiplied in the type of F."""
    parts = results_of(lambda rows: F[rows].T @ F[rows], row_blocks(len(F), BLOCK_ROWS), n_threads)
    return np.asarray(np.sum(parts, axis=0, dtype=np.float64))


def one_panel(
    R: np.ndarray, P: np.ndarray, floor: np.ndarray, chosen: list[int], gains: list[float], count: int, n_threads: int
) -> int:
    """Choose at most ``PANEL`` candidates, bring R and P up to date; return how many were chosen."""
    width = min(PANEL, count)
    U, V = np.zeros((len(R), width)), np.zeros((len(R), width))
    left, explained = R.diagonal().copy(), P.diagonal().copy()
    left[chosen] = 0.0
    n_fresh = 0
    with one_blas_thread():
        while n_fresh < width:
            gain = np.where(left > floor, explained / np.where(left > floor, left, 1.0), -1.0)
            s = int(gain.argmax())
            if gain[s] < 0.0:
                break
            size, known, beside = left[s], U[:, :n_fresh], V[:, :n_fresh]
            u = (R[:, s] - known @ known[s]) / np.sqrt(size)
            v = (P[:, s] - known @ beside[s] - beside @ known[s]) / np.sqrt(size) - u * (explained[s] / (2.0 * size))
            U[:, n_fresh], V[:, n_fresh] = u, v
            left -= u * u
            explained -= 2.0 * u * v
            left[s] = 0.0
            chosen.append(s)
            gains.append(float(gain[s]))
            n_fresh += 1

    def update(rows: slice) -> None:
        R[rows] -= U[rows] @ U.T
        P[rows] -= U[rows] @ V.T + V[rows] @ U.T

    results_of(update, row_blocks(len(R), BLOCK_ROWS), n_threads)
    return n_fresh
