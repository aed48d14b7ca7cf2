"""From a result to fitted attributes, and to the certificate of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenwood.core.kernels.blocks import gram_symmetric
from eigenwood.core.kernels.ridge import ridge_coefficients
from eigenwood.core.spectral.pairs import products_of_columns
from eigenwood.estimators.kernel_pca.planning import LOW_RANK, RANDOMIZED, TILES
from eigenwood.estimators.kernel_pca.results import FLOAT_ERROR
from eigenwood.estimators.kernel_pca.routes import SETTLED, SETTLED_IN_TILES
from eigenwood.estimators.kernel_pca.types import Problem, Request, Result
from eigenwood.estimators.watching import FINISHED
from eigenwood.proofs.claim import Certificate
from eigenwood.proofs.kernel_pca import KernelPcaFacts, kernel_pca_certificate, relative
from eigenwood.validation.kernel_pca import check_definite, check_room_for_ridge

LOOSE = 1e-2  # ‖K̃v - λv‖ / λ₁ up to which the randomised route is to be trusted
EXACT = {np.dtype(np.float32): 1e-3, np.dtype(np.float64): 1e-7}  # relative, of what follows by a few operations


def attributes_of(problem: Problem, result: Result, X: Any) -> dict[str, Any]:
    """Return the fitted attributes that a result stands for; X are the rows that it keeps, None if precomputed."""
    total, landmarks = result.total, np.empty(0, dtype=np.int64) if result.landmarks is None else result.landmarks
    found = {
        "eigenvalues_": result.values,
        "eigenvalue_interval_": result.intervals,
        "explained_variance_ratio_": result.values / total if total > 0.0 else np.zeros(result.values.size),
        "total_variance_": total,
        "trace_": result.trace,
        "trace_error_": result.trace_error,
        "projection_": result.projection,
        "offset_": result.offset,
        "mean_weights_": result.mean_weights,
        "landmark_indices_": landmarks if problem.places is None else problem.places[landmarks],
        "X_fit_": np.empty((0, 0), dtype=problem.K.dtype()) if X is None else X,
        "n_samples_": result.n_rows,
        "gamma_": problem.gamma,
    }
    return found if result.vectors is None else {**found, "eigenvectors_": result.vectors}


def ridge_attributes(result: Result, X: np.ndarray, kernel: Any, alpha: float, request: Request) -> dict[str, Any]:
    """Return the scores of the training rows, and what kernel ridge regression of the rows on them finds."""
    assert result.vectors is not None
    check_room_for_ridge(result.n_rows, X.dtype.itemsize, request.bytes)
    scores = np.ascontiguousarray(result.vectors * np.sqrt(result.values), dtype=X.dtype)
    K = gram_symmetric(scores, kernel, request.n_threads)
    with check_definite(alpha):
        duals = ridge_coefficients(K.astype(X.dtype, copy=False), alpha, X, request.n_threads)
    return {"X_transformed_fit_": scores, "dual_coef_": duals}


def tolerance_of(model: Any, route: str, dtype: np.dtype) -> float:
    """Return how exact a route is meant to be: ‖K̃v - λv‖ beside the largest eigenvalue."""
    if route == LOW_RANK:
        return FLOAT_ERROR[dtype]
    if route == RANDOMIZED:
        return LOOSE
    settled = max(SETTLED[dtype], SETTLED_IN_TILES) if route == TILES else SETTLED[dtype]
    return max(float(model.tol), 2.0 * settled)


def certificate_of(model: Any, result: Result, route: str, dtype: np.dtype, reason: str) -> Certificate:
    """Return the claims about a fit; those about single components only where it was finished."""
    facts = facts_of(model, result, route, dtype)
    whole = kernel_pca_certificate(facts, None)
    if reason == FINISHED and (whole.holds or not result.is_cut):
        return whole
    return kernel_pca_certificate(facts, "max_iter" if reason == FINISHED else reason)


def facts_of(model: Any, result: Result, route: str, dtype: np.dtype) -> KernelPcaFacts:
    """Return the facts as the route knows them."""
    skew = 0.0
    if result.vectors is not None and result.vectors.shape[1]:
        angles = products_of_columns(result.vectors)
        skew = float(np.abs(angles - np.eye(angles.shape[0])).max())
    return KernelPcaFacts(
        values=result.values,
        residuals=result.residuals,
        intervals=result.intervals,
        skew=skew,
        total=result.total,
        tolerance=tolerance_of(model, route, dtype),
        rounding=result.rounding,
        exact=EXACT[dtype],
        trace_share=relative(result.trace_error, result.trace) if route == LOW_RANK else None,
        smallest=result.smallest,
    )
