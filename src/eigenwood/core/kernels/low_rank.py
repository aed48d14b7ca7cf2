"""Low-rank kernels: K ≈ F Fᵀ from k of its columns, with the trace error known exactly.

    landmarks S        rows whose columns of K are looked at: k·n kernel values and the diagonal
    F = K[:, S] L⁻ᵀ    with L Lᵀ = K[S, S]; then K - F Fᵀ is positive semidefinite, so that
    tr(K - F Fᵀ)       = Σ k(x, x) - ‖F‖² bounds every eigenvalue that is missed

Randomly pivoted Cholesky (Chen, Epperly, Tropp, Webber) draws each landmark with a probability proportional to the
residual diagonal, that is where K is least explained so far. In its accelerated form (Epperly, Tropp, Webber) a round
proposes many rows at once and rejects those that earlier ones of the same round explain; what is left are draws from
the same distribution, and their columns are computed in one product.

    propose  s₁ s₂ … s_b            drawn by the residual diagonal at the start of the round, with repeats
    accept   s_t with probability   (its residual now) / (its residual at the start); a repeat has none left
    factor   accepted columns       one tile of K, one product with F, one triangular solve

How many are proposed follows from how many were accepted in the round before, never from time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import linalg

from eigenwood.core.kernels.blocks import KernelFunction, origin
from eigenwood.core.kernels.functions import Kernel
from eigenwood.core.kernels.matrix import KernelMatrix
from eigenwood.core.kernels.sums import ready, values
from eigenwood.core.memory import lazy_zeros
from eigenwood.core.threads import one_blas_thread, results_of, row_blocks

BLOCK_ROWS = 1024  # rows of one task
WIDTH = 128  # columns that a round should add: enough for BLAS to run at full speed
FEWEST, MOST = 8, 512  # proposals of a round
ROUNDS = 8  # at least, of a ranking
# What remains of k(x, x) and is rounding of it; such a row can be no landmark.
TRACE_ROUNDING = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-13}


class Rank(NamedTuple):
    """How many columns F may have, and the share of the trace at which fewer are enough."""

    count: int  # type: ignore[assignment]
    error: float = 0.0


class Ranking(NamedTuple):
    """Rows in an order, and how much of the trace each is thought to explain beside those before it."""

    rows: np.ndarray
    gains: np.ndarray


class LowRank(NamedTuple):
    """K ≈ F Fᵀ, after any number of columns."""

    factor: np.ndarray  # (n, k) F, in the type of K, column by column
    pivots: np.ndarray  # (k,) the landmarks: row numbers, in the order in which they were accepted
    triangle: np.ndarray  # (k, k) L = F[pivots], lower triangular
    diagonal: np.ndarray  # (n,) k(x, x)
    errors: np.ndarray  # (k + 1,) tr(K - F Fᵀ) with the first 0, 1, … k columns
    lowest: float  # least residual k(x, x) - ‖F_x‖² beside k(x, x), at most 0: far below 0 only if K is no kernel

    def trace_error(self) -> float:
        """Return tr(K - F Fᵀ), which no eigenvalue of K - F Fᵀ exceeds."""
        return float(self.errors[-1])

    def trace(self) -> float:
        """Return tr K."""
        return float(self.errors[0])


class LowRankStep(NamedTuple):
    """Where the factorisation stands after a round."""

    result: LowRank
    whole: bool
    last: bool


def random_pivots(K: KernelMatrix, rank: Rank, seed: int, n_threads: int = 1) -> Iterator[LowRankStep]:
    """Yield after every round of randomly pivoted Cholesky.

    >>> from eigenwood.core.kernels.functions import LINEAR, Kernel
    >>> from eigenwood.core.kernels.matrix import kernel_matrix
    >>> K = kernel_matrix(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]]), Kernel(LINEAR))
    >>> *_, step = random_pivots(K, Rank(3), seed=0)
    >>> step.result.pivots.size, abs(step.result.trace_error()) < 1e-12
    (2, True)
    """
    return _steps(_Factorisation(K, rank, n_threads), _Drawn(np.random.default_rng(seed)), rank)


def given_pivots(K: KernelMatrix, landmarks: np.ndarray, rank: Rank, n_threads: int = 1) -> Iterator[LowRankStep]:
    """Yield after every round, with landmarks in the order given; those that add nothing are left out."""
    return _steps(_Factorisation(K, rank, n_threads), _Listed(landmarks), rank)


def ranked_pivots(
    K: KernelMatrix, ranking: Ranking, rank: Rank, seed: int, n_threads: int = 1
) -> Iterator[LowRankStep]:
    """Yield after every round: rows in the order of a ranking, or random pivots where these promise more."""
    drawn, width = _Drawn(np.random.default_rng(seed)), int(np.clip(rank.count // ROUNDS, FEWEST, WIDTH))
    return _steps(_Factorisation(K, rank, n_threads), _Ranked(ranking, drawn, width), rank)


def low_rank_features(
    X, landmarks, kernel: Kernel | KernelFunction | None, triangle: np.ndarray, n_threads: int = 1
) -> np.ndarray:
    """Return F of new rows: k(x, landmarks) L⁻ᵀ; without a kernel, the rows of X are k(x, landmarks).

    >>> from eigenwood.core.kernels.functions import LINEAR, Kernel
    >>> low_rank_features(np.array([[3.0]]), np.array([[2.0]]), Kernel(LINEAR), np.array([[2.0]]))
    array([[3.]])
    """
    if triangle.size == 0:
        return np.empty((X.shape[0], 0), dtype=X.dtype)
    start = origin(landmarks, kernel) if isinstance(kernel, Kernel) else None
    right = None if kernel is None else ready(landmarks, kernel, start)
    dtype = np.dtype(np.float64) if callable(kernel) else X.dtype
    features = np.empty((X.shape[0], triangle.shape[0]), dtype=dtype)

    def fill(rows: slice) -> None:
        tile = X[rows] if right is None or kernel is None else values(ready(X[rows], kernel, start), right, kernel)
        features[rows] = _solved(triangle, np.array(tile, dtype=dtype, order="C"))

    results_of(fill, row_blocks(X.shape[0], BLOCK_ROWS), 1 if callable(kernel) else n_threads)
    return features


def _solved(triangle: np.ndarray, tile: np.ndarray) -> np.ndarray:
    """Return tile L⁻ᵀ, in the place of the tile."""
    lower = triangle.astype(tile.dtype, copy=False)
    return linalg.solve_triangular(lower, tile.T, lower=True, overwrite_b=True, check_finite=False).T


# --- rounds ---------------------------------------------------------------------------------------


class _Factorisation:
    """F so far, and what it leaves of the diagonal."""

    def __init__(self, K: KernelMatrix, rank: Rank, n_threads: int) -> None:
        self.K, self.n_threads, self.dtype = K, K.threads(n_threads), K.dtype()
        self.diagonal = K.diagonal()
        self.capacity = min(rank.count, K.n_rows())
        self.columns = lazy_zeros((self.capacity, K.n_rows()), self.dtype)  # Fᵀ: a column of F in one piece
        self.pivots = np.empty(0, dtype=np.int64)
        self.residual = np.maximum(self.diagonal, 0.0)
        self.errors = np.array([self.diagonal.sum()])
        self.lowest = 0.0
        self.floor = TRACE_ROUNDING[self.dtype] * self.diagonal
        self.sizes = np.maximum(self.diagonal, self.floor.max(initial=np.finfo(float).tiny))

    def rank(self) -> int:
        return self.pivots.size

    def among(self, rows: np.ndarray) -> np.ndarray:
        """Return K - F Fᵀ among some rows, in float64."""
        known = self.columns[: self.rank(), rows].astype(np.float64)
        return self.K.tile(rows, self.K.columns(rows)).astype(np.float64) - known.T @ known

    def add(self, pivots: np.ndarray, triangle: np.ndarray) -> None:
        """Add the columns of accepted rows; L Lᵀ is what F leaves of K among them."""
        old, new = self.rank(), self.rank() + pivots.size
        right, known = self.K.columns(pivots), np.ascontiguousarray(self.columns[:old, pivots])
        lower = np.asfortranarray(triangle, dtype=self.dtype)

        def fill(rows: slice) -> np.ndarray:
            tile = self.K.tile(rows, right)
            tile -= self.columns[:old, rows].T @ known
            tile = _solved(lower, tile)
            self.columns[old:new, rows] = tile.T
            squares = np.square(tile, dtype=np.float64)
            self.residual[rows] -= squares.sum(axis=1)
            return squares.sum(axis=0)

        gains = np.sum(results_of(fill, row_blocks(self.K.n_rows(), BLOCK_ROWS), self.n_threads), axis=0)
        self.columns[old:new, pivots] = triangle.T
        self.pivots = np.concatenate([self.pivots, pivots])
        self.errors = np.append(self.errors, self.errors[-1] - np.cumsum(gains))
        self.residual[pivots] = 0.0
        self.lowest = min(self.lowest, float((self.residual / self.sizes).min(initial=0.0)))
        self.residual[self.residual <= self.floor] = 0.0

    def result(self, error: float) -> LowRank:
        """Return F, without columns that are not needed for the wanted error."""
        enough = np.flatnonzero(self.errors <= error)
        k = min(int(enough[0]) if enough.size else self.rank(), self.rank())
        triangle = np.tril(self.columns[:k, self.pivots[:k]].T)
        return LowRank(
            self.columns[:k].T,
            self.pivots[:k],
            triangle,
            self.diagonal,
            np.maximum(self.errors[: k + 1], 0.0),
            self.lowest,
        )


class _Drawn:
    """Proposals that are drawn by the residual diagonal."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.share = rng, 1.0

    def propose(self, state: _Factorisation) -> tuple[np.ndarray, np.ndarray]:
        """Return rows, and for each the share of its residual that must be left for it to be accepted."""
        held = np.cumsum(state.residual)
        if held.size == 0 or held[-1] <= 0.0:
            return np.empty(0, dtype=np.int64), np.empty(0)
        count = self._count(state)
        rows = np.searchsorted(held, self.rng.random(count) * held[-1], side="right")
        return np.minimum(rows, held.size - 1), self.rng.random(count)

    def _count(self, state: _Factorisation) -> int:
        """Return how many proposals let about WIDTH be accepted, if that costs little beside their columns."""
        wanted = min(WIDTH, state.capacity - state.rank())
        affordable = np.sqrt(wanted * state.K.n_rows())
        return int(np.clip(min(wanted / self.share, affordable), FEWEST, MOST))

    def learn(self, n_proposed: int, n_accepted: int) -> None:
        """Take note of how many were accepted."""
        self.share = max(n_accepted, 1) / n_proposed


class _Listed:
    """Proposals in a given order, accepted unless nothing is left of them."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows, self.n_used = rows, 0

    def propose(self, state: _Factorisation) -> tuple[np.ndarray, np.ndarray]:
        """Return the next rows."""
        rows = self.rows[self.n_used : self.n_used + WIDTH]
        return rows, np.zeros(rows.size)

    def learn(self, n_proposed: int, n_accepted: int) -> None:
        """Take note of how many were looked at."""
        self.n_used += n_proposed


class _Ranked:
    """Proposals in a given order as long as they promise more than a drawn row takes from its own diagonal.

    What is explained by nothing on the list, as a few rows far from all others may be, is drawn as soon as it counts.
    """

    def __init__(self, listed: Ranking, drawn: _Drawn, width: int) -> None:
        self.listed, self.drawn, self.width = listed, drawn, width
        self.n_used, self.is_listed = 0, True

    def propose(self, state: _Factorisation) -> tuple[np.ndarray, np.ndarray]:
        """Return the next rows of the list, or drawn ones."""
        following = slice(self.n_used, self.n_used + self.width)
        rows = self.listed.rows[following]
        left = float(state.residual.sum())
        own = float(state.residual @ state.residual) / left if left > 0.0 else 0.0
        self.is_listed = rows.size > 0 and float(self.listed.gains[following].mean()) >= own
        if self.is_listed:
            return rows, np.zeros(rows.size)
        rows, thresholds = self.drawn.propose(state)
        return (
            (rows[: self.width], thresholds[: self.width])
            if self.n_used < self.listed.rows.size
            else (rows, thresholds)
        )

    def learn(self, n_proposed: int, n_accepted: int) -> None:
        """Take note of how many were looked at, or accepted."""
        if self.is_listed:
            self.n_used += n_proposed
        else:
            self.drawn.learn(n_proposed, n_accepted)


def _steps(state: _Factorisation, proposals: _Drawn | _Listed | _Ranked, rank: Rank) -> Iterator[LowRankStep]:
    error = max(rank.error, 0.0) * float(state.errors[0])
    while True:
        with one_blas_thread():
            rows, thresholds = proposals.propose(state)
            if rows.size:
                pivots, triangle = accepted(state, rows, thresholds)
                proposals.learn(rows.size, pivots.size)
                if pivots.size:
                    state.add(pivots, triangle)
        is_enough = rank.error > 0.0 and state.errors[-1] <= error
        last = rows.size == 0 or state.rank() >= state.capacity or is_enough
        yield LowRankStep(state.result(error if rank.error > 0.0 else -np.inf), whole=True, last=last)
        if last:
            return


def accepted(state: _Factorisation, rows: np.ndarray, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the accepted rows and L, where L Lᵀ is what F leaves of K among them."""
    distinct, places = np.unique(rows, return_inverse=True)
    H = state.among(distinct)
    at_start = H.diagonal().copy()
    left = at_start.copy()
    floor = state.floor[distinct]
    state.residual[distinct[at_start <= floor]] = 0.0  # as computed anew; they are drawn no more
    L = np.empty((distinct.size, min(distinct.size, state.capacity - state.rank())))
    chosen: list[int] = []
    for place, threshold in zip(places, thresholds, strict=True):
        n_chosen = len(chosen)
        if n_chosen == L.shape[1]:
            break
        if left[place] <= floor[place] or left[place] <= threshold * at_start[place]:
            continue
        column = (H[:, place] - L[:, :n_chosen] @ L[place, :n_chosen]) / np.sqrt(left[place])
        L[:, n_chosen] = column
        left -= column**2
        left[place] = 0.0
        chosen.append(place)
    return distinct[chosen], np.tril(L[chosen, : len(chosen)])
