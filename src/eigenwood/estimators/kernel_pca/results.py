"""From eigenpairs of the centred K to components, and to what projects new rows on them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from eigenwood.core.kernels.centred import column_moments
from eigenwood.core.kernels.low_rank import LowRank
from eigenwood.core.spectral.pairs import Pairs, Wanted, with_null_directions
from eigenwood.core.spectral.symmetric import leading_pairs
from eigenwood.estimators.kernel_pca.types import Problem, Request, Result
from eigenwood.proofs.kernel_pca import bracketed
from eigenwood.proofs.pca import intervals
from eigenwood.validation.kernel_pca import check_positive

NOTHING = {np.dtype(np.float32): 2e-7, np.dtype(np.float64): 1e-12}  # λ / λ₁ that is rounding, as in scikit-learn
EVEN = 1e-6  # entries of a vector are alike in size, up to rounding
FLOAT_ERROR = {np.dtype(np.float32): 2e-6, np.dtype(np.float64): 1e-10}  # relative, of an eigenvalue


def rounding_of(largest: float, n_rows: int, value: float, dtype: np.dtype) -> float:
    """Return by how much rounding alone may change an eigenvalue; ``largest`` is the largest |k(x, x)|."""
    return FLOAT_ERROR[dtype] * max(value, 0.0) + 4.0 * float(np.finfo(dtype).eps) * np.sqrt(n_rows) * largest


def exact_result(
    problem: Problem, pairs: Pairs, row_sums: np.ndarray, request: Request, smallest: float | None, is_cut: bool = False
) -> Result:
    """Return what eigenpairs of the centred K itself come to."""
    n, dtype, diagonal = problem.n_rows(), problem.K.dtype(), problem.K.diagonal()
    rounding = rounding_of(float(np.abs(diagonal).max()), n, first_of(pairs.values), dtype)
    values = positive_values(pairs.values, rounding, dtype, smallest)
    kept = np.full(values.size, True) if request.keeps_zeros else values > 0.0
    values, residuals = values[kept], pairs.residuals()[kept]
    vectors = pairs.vectors[:, kept] * signs_of(pairs.vectors[:, kept])
    projection = scaled(vectors, values)
    return Result(
        values=values,
        vectors=vectors,
        projection=projection,
        offset=row_sums @ projection / n,
        mean_weights=np.full(n, 1.0 / n),
        landmarks=None,
        residuals=residuals,
        intervals=intervals(values, residuals + rounding, 0.0),
        total=max(float(diagonal.sum() - row_sums.sum() / n), 0.0),
        trace=float(diagonal.sum()),
        trace_error=0.0,
        n_rows=n,
        rounding=rounding,
        smallest=smallest,
        is_cut=is_cut,
    )


def scaled(vectors: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return v / √λ, centred: axes of length 1 in the space of the kernel (the PCA and boosting lecture); 0 where λ
    is 0."""
    real = values > 0.0
    projection = np.zeros(vectors.shape)
    projection[:, real] = (vectors[:, real] - vectors[:, real].mean(axis=0)) / np.sqrt(values[real])
    return projection


def positive_values(values: np.ndarray, rounding: float, dtype: np.dtype, smallest: float | None = None) -> np.ndarray:
    """Return eigenvalues with 0 for those that are rounding; raise where one is far below 0.

    ``smallest`` is that of all, if somebody looked.
    """
    largest = first_of(values)
    check_positive(float(values.min(initial=0.0)), largest, rounding, smallest)
    nothing = NOTHING[dtype] / FLOAT_ERROR[dtype] * rounding
    return np.where(values <= max(NOTHING[dtype] * largest, nothing), 0.0, values)


def first_of(values: np.ndarray) -> float:
    """Return the largest of some eigenvalues, at least 0."""
    return max(float(values.max(initial=0.0)), 0.0)


def signs_of(vectors: np.ndarray) -> np.ndarray:
    """Return signs for columns, by which the entry of largest size of each is positive, the first of those alike.

    >>> signs_of(np.array([[0.6], [-0.8]]))
    array([-1.])
    """
    if vectors.size == 0:
        return np.ones(vectors.shape[1])
    sizes = np.abs(vectors)
    first = (sizes >= (1.0 - EVEN) * sizes.max(axis=0)).argmax(axis=0)
    return np.where(vectors[first, np.arange(vectors.shape[1])] < 0.0, -1.0, 1.0)


# --- low rank -------------------------------------------------------------------------------------


class Features(NamedTuple):
    """A low-rank kernel by the moments of its features F: all that components need of the rows."""

    landmarks: np.ndarray
    triangle: np.ndarray  # L, with F = k(x, landmarks) L⁻ᵀ
    mean: np.ndarray
    products: np.ndarray  # (F - mean)ᵀ (F - mean)
    n_rows: int
    trace: float
    trace_error: float
    largest: float  # |k(x, x)|
    dtype: np.dtype

    def leading(self, count: int, n_threads: int) -> Pairs:
        """Return the leading eigenpairs of the covariance of F, one more than wanted if there is one."""
        rank = self.mean.size
        if rank == 0:
            return Pairs(np.empty(0), np.empty((0, 0)), np.empty((0, 0)))
        return leading_pairs(self.products, Wanted(min(count + 1, rank)), n_threads)

    def in_landmarks(self, directions: np.ndarray) -> np.ndarray:
        """Return what k(x, landmarks) is multiplied with for the inner products of f(x) with some directions."""
        if directions.size == 0:
            return directions
        return linalg.solve_triangular(self.triangle.astype(np.float64), directions, trans=1, lower=True)


def features_of(found: LowRank, n_threads: int) -> Features:
    """Return what a factorisation of K says of the features of its rows."""
    return Features(
        found.pivots,
        found.triangle,
        *column_moments(found.factor, n_threads),
        found.factor.shape[0],
        found.trace(),
        found.trace_error(),
        float(np.abs(found.diagonal).max(initial=0.0)),
        found.factor.dtype,
    )


def low_rank_result(features: Features, factor: np.ndarray | None, request: Request) -> Result:
    """Return the components of a low-rank kernel; ``factor`` is F, where it is in memory.

    With eigenpairs (λ, u) of the covariance of F, f(x)·u - mean·u is the score of x, and (F - mean) u / √λ the
    eigenvector of the centred F Fᵀ. No eigenvalue of K is smaller, and none is larger by more than the trace error.
    """
    pairs = features.leading(request.count, request.n_threads).first(request.count)
    rounding = rounding_of(features.largest, features.n_rows, first_of(pairs.values), features.dtype)
    values = positive_values(pairs.values, rounding, features.dtype)
    turn, values = pairs.vectors[:, values > 0.0], values[values > 0.0]
    projection = features.in_landmarks(turn)
    vectors = None if factor is None else centred_times(factor, features.mean, turn) / np.sqrt(values)
    signs = signs_of(projection if vectors is None else vectors)
    result = Result(
        values=values,
        vectors=None if vectors is None else vectors * signs,
        projection=projection * signs,
        offset=(features.mean @ turn) * signs,
        mean_weights=features.in_landmarks(features.mean),
        landmarks=features.landmarks,
        residuals=np.zeros(values.size),
        intervals=bracketed(values, features.trace_error, rounding),
        total=max(features.trace - features.n_rows * float(features.mean @ features.mean), 0.0),
        trace=features.trace,
        trace_error=features.trace_error,
        n_rows=features.n_rows,
        rounding=rounding,
    )
    return padded(result, request) if request.keeps_zeros else result


def padded(result: Result, request: Request) -> Result:
    """Return a result with as many components as asked for: where the kernel has no more, their scores are 0."""
    missing = min(request.count, result.n_rows) - result.values.size
    if missing <= 0:
        return result
    vectors, nothing = result.vectors, np.zeros(missing)
    return result._replace(
        values=np.append(result.values, nothing),
        vectors=None if vectors is None else with_null_directions(vectors, vectors.shape[1] + missing),
        projection=np.hstack([result.projection, np.zeros((result.projection.shape[0], missing))]),
        offset=np.append(result.offset, nothing),
        residuals=np.append(result.residuals, nothing),
        intervals=np.vstack([result.intervals, bracketed(nothing, result.trace_error, result.rounding)]),
    )


def centred_times(factor: np.ndarray, mean: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return (F - mean) times some directions, in float64."""
    products = factor @ directions.astype(factor.dtype)
    return products.astype(np.float64) - mean @ directions
