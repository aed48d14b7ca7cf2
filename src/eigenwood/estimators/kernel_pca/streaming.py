"""Components of rows that come in blocks, from files of any size: two passes, and memory for the landmarks.

pass 1     rows are drawn, all with the same chance        landmarks are chosen among these
pass 2     features of every block, their moments          components; the trace error is that of all rows
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eigenwood.core.kernels.blocks import gram_diagonal
from eigenwood.core.kernels.low_rank import LowRank, Rank, low_rank_features, random_pivots
from eigenwood.core.kernels.matrix import kernel_matrix
from eigenwood.data.row_blocks import Blocks
from eigenwood.estimators.kernel_pca.input_checks import finite_blocks
from eigenwood.estimators.kernel_pca.planning import LOW_RANK
from eigenwood.estimators.kernel_pca.results import Features, low_rank_result
from eigenwood.estimators.kernel_pca.routes import TINY, check_landmarks, landmark_count
from eigenwood.estimators.kernel_pca.types import Problem, Request, Result, Step, Steps, once
from eigenwood.estimators.kernels import check_similarity_range, similarity, similarity_gamma
from eigenwood.estimators.pca.input_checks import record_columns
from eigenwood.validation.kernel_pca import WHO, check_enough_rows, check_no_negative_rest

MOST_DRAWN = 20_000  # rows among which landmarks are chosen


class Moments(NamedTuple):
    """Sums over the features of all rows so far, measured from a point near their mean."""

    n_rows: int
    sums: np.ndarray
    products: np.ndarray
    trace: float
    kept: float  # Σ ‖f(x)‖²
    largest: float  # |k(x, x)|


def drawn_rows(model: Any, X: Blocks, n_bytes: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of a stream with their places, each drawn with the same chance: the first ones, then each in the
    place of another.
    """
    record_columns(model, X.columns)
    most = int(min(MOST_DRAWN, max(n_bytes / 4.0 / (X.n_columns * X.dtype.itemsize), 1.0)))
    rng, n_seen = np.random.default_rng(seed), 0
    kept, numbers = np.empty((0, X.n_columns), dtype=X.dtype), np.empty(0, dtype=np.int64)
    for block in finite_blocks(X):
        n_first = min(most - len(kept), len(block))
        kept = np.concatenate([kept, block[:n_first]]) if n_first else kept
        numbers = np.append(numbers, n_seen + np.arange(n_first))
        later = n_seen + np.arange(n_first, len(block))
        places = (rng.random(later.size) * (later + 1)).astype(np.int64)
        for i in np.flatnonzero(places < most):
            kept[places[i]], numbers[places[i]] = block[n_first + i], later[i]
        n_seen += len(block)
    check_enough_rows(n_seen)
    return kept, numbers


def stream_problem(model: Any, rows: np.ndarray, places: np.ndarray) -> Problem:
    """Return the problem of the drawn rows; gamma='scale' is measured on them."""
    gamma = similarity_gamma(model, rows)
    kernel = similarity(model, gamma, rows)
    check_similarity_range(WHO, kernel, rows)
    return Problem(rows, kernel_matrix(rows, kernel), gamma, places)


def stream_steps(problem: Problem, X: Blocks, request: Request) -> Steps:
    """Yield after every round of landmarks, and after every block of rows."""
    reason = "rows in blocks: landmarks among drawn rows, then the features of all rows"
    rank = Rank(landmark_count(problem, request), request.error)
    for found in random_pivots(problem.K, rank, request.seed, request.n_threads):
        check_landmarks(problem, found.result)
        early = once(result_of_drawn, problem, found.result, request)
        yield Step(early, LOW_RANK, "time_limit came before the features of all rows", found.last, False)
    kernel, drawn = problem.K.kernel, found.result
    assert kernel is not None
    near = drawn.factor.mean(axis=0, dtype=np.float64)
    so_far = no_moments(near.size)
    landmarks = problem.X[drawn.pivots]
    for block in finite_blocks(X):
        features = low_rank_features(block, landmarks, kernel, drawn.triangle, request.n_threads)
        diagonal = gram_diagonal(block, kernel)
        if not problem.is_mercer():
            check_no_negative_rest(lowest_rest(features, diagonal), problem.K.dtype())
        so_far = added(so_far, features - near.astype(features.dtype), features, diagonal)
        yield Step(once(result_so_far, problem, drawn, so_far, request), LOW_RANK, reason, whole=True, last=False)
    yield Step(once(result_so_far, problem, drawn, so_far, request), LOW_RANK, reason, whole=True, last=True)


def lowest_rest(features: np.ndarray, diagonal: np.ndarray) -> float:
    """Return the least k(x, x) - ‖f(x)‖², beside the largest |k(x, x)|; at most 0."""
    rest = diagonal - np.square(features, dtype=np.float64).sum(axis=1)
    return float(rest.min(initial=0.0)) / max(float(np.abs(diagonal).max(initial=0.0)), TINY)


def no_moments(rank: int) -> Moments:
    return Moments(0, np.zeros(rank), np.zeros((rank, rank)), 0.0, 0.0, 0.0)


def added(so_far: Moments, moved: np.ndarray, features: np.ndarray, diagonal: np.ndarray) -> Moments:
    """Return the moments with those of one block more."""
    return Moments(
        so_far.n_rows + len(moved),
        so_far.sums + moved.sum(axis=0, dtype=np.float64),
        so_far.products + (moved.T @ moved).astype(np.float64),
        so_far.trace + float(diagonal.sum()),
        so_far.kept + float(np.square(features, dtype=np.float64).sum()),
        max(so_far.largest, float(np.abs(diagonal).max(initial=0.0))),
    )


def result_of_drawn(problem: Problem, drawn: LowRank, request: Request) -> Result:
    """Return the components of the drawn rows alone."""
    near = drawn.factor.mean(axis=0, dtype=np.float64)
    moved = drawn.factor - near.astype(drawn.factor.dtype)
    return result_so_far(problem, drawn, added(no_moments(near.size), moved, drawn.factor, drawn.diagonal), request)


def result_so_far(problem: Problem, drawn: LowRank, so_far: Moments, request: Request) -> Result:
    """Return the components of the rows so far."""
    n, near = so_far.n_rows, drawn.factor.mean(axis=0, dtype=np.float64)
    off = so_far.sums / n
    features = Features(
        landmarks=drawn.pivots,
        triangle=drawn.triangle,
        mean=near + off,
        products=so_far.products - n * np.outer(off, off),
        n_rows=n,
        trace=so_far.trace,
        trace_error=max(so_far.trace - so_far.kept, 0.0),
        largest=so_far.largest,
        dtype=problem.K.dtype(),
    )
    return low_rank_result(features, None, request)
