"""From parameters to a request, and from a result to fitted attributes and their certificate."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenwood.core.spectral.moments import Moments, diagonal_moments, moments_of
from eigenwood.core.spectral.pairs import Wanted, products_of_columns
from eigenwood.estimators.pca.direct_routes import result_of_moments
from eigenwood.estimators.pca.filling import filling_steps
from eigenwood.estimators.pca.growing import growing_steps
from eigenwood.estimators.pca.iterative_routes import SETTLED
from eigenwood.estimators.pca.routes import ROUTES
from eigenwood.estimators.pca.scaling import in_true_units, standard_scale
from eigenwood.estimators.pca.sources import InMemory, Source, trying
from eigenwood.estimators.pca.types import PCAResult, Request, Step, Steps, once
from eigenwood.estimators.pca.units import BeyondRangeError, check_range, in_units, units_for, units_of_moments
from eigenwood.estimators.watching import FINISHED
from eigenwood.proofs.claim import Certificate
from eigenwood.proofs.pca import (
    FILLED,
    REFILLED,
    PcaFacts,
    Tolerances,
    intervals,
    pca_certificate,
    turned_count,
    without_components,
)
from eigenwood.validation.pca import asked_count
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.threads import thread_count

APPROXIMATE = ("randomized", "oja")
COUNTED = (*APPROXIMATE, "gram_refined")  # these find so many components, not a share of the variance
LOOSE = 1e-2  # ‖Cv - λv‖ / λ₁ up to which an approximate route is to be trusted
FLOAT_ERROR = {np.dtype(np.float32): 2e-6, np.dtype(np.float64): 1e-10}  # relative, of what is computed from rows


def request_of(model: Any, n_rows: int | None, n_columns: int, dtype: np.dtype) -> Request:
    """Return what a model asks for, as numbers; raise where the data cannot give it."""
    count, share = asked_count(model.n_components, model.svd_solver, n_rows, n_columns)
    return Request(
        wanted=Wanted(count, share),
        mle=model.n_components == "mle",
        scale=standard_scale(model.scale, dtype),
        tol=float(model.tol),
        loss=float(model.accuracy or 0.0),
        n_oversamples=int(model.n_oversamples),
        n_iter=None if model.iterated_power == "auto" else int(model.iterated_power),
        seed=int(integer_seeds(model.random_state, 1)[0]),
        n_threads=thread_count("PCA", model.n_jobs),
        dtype=dtype,
        nothing=max(8.0 * np.finfo(dtype).eps, 4.0 * np.finfo(np.float64).eps * np.sqrt(n_columns)),
        by_column=model.scale is True,
    )


def solver_steps(svd_solver: str, source: Source, request: Request) -> Steps:
    """Return the steps of a solver; a share of the variance and missing values take several fits."""
    route = ROUTES[svd_solver]
    if request.wanted.share is not None and svd_solver in COUNTED:
        return growing_steps(source, request, route)
    if isinstance(source, InMemory) and source.holes is not None:
        return filling_steps(source, request, route)
    return route(source, request)


def attributes_of(result: PCAResult, dtype: np.dtype) -> dict[str, Any]:
    """Return the fitted attributes that follow from the components; nothing is decomposed here."""
    columns, variances = result.columns, result.variances
    n_left = min(columns.weight, columns.mean.size) - variances.size
    rest = max(result.total - float(variances.sum()), 0.0)
    return {
        "n_components_": variances.size,
        "components_": result.components.astype(dtype, copy=False),
        "explained_variance_": variances,
        "explained_variance_ratio_": variances / result.total if result.total > 0.0 else np.zeros(variances.size),
        "explained_variance_interval_": intervals(variances, result.residuals, FLOAT_ERROR[dtype]),
        "singular_values_": np.sqrt(variances * (columns.weight - 1.0)),
        "mean_": columns.mean,
        "scale_": result.scale,
        "n_samples_": columns.n_rows,
        "noise_variance_": rest / n_left if n_left >= 1.0 else 0.0,
        "total_variance_": result.total,
    }


# --- the certificate of a fit ---------------------------------------------------------------------


def certificate_of(facts: PcaFacts, is_cut: bool, stop_reason: str) -> Certificate:
    """Return the claims about a fit; those about single components only where it was finished."""
    certificate = pca_certificate(facts)
    if stop_reason != FINISHED or (is_cut and not certificate.holds):
        return without_components(certificate, facts.variances.size, stop_reason)
    return certificate


def tolerances(model: Any, route: str, dtype: np.dtype) -> Tolerances:
    """Return how exact a route is meant to be."""
    exact = REFILLED if model.missing == "em" else 2.0 * SETTLED[dtype]  # components follow the filled values
    tolerance = LOOSE if route in APPROXIMATE else max(float(model.tol), exact)
    return Tolerances(tolerance, exact, FLOAT_ERROR[dtype], model.accuracy)


def facts_of(result: PCAResult, components: np.ndarray, limits: Tolerances) -> PcaFacts:
    """Return the facts as the route knows them, which costs no further look at the rows."""
    angles = products_of_columns(components.T)
    lost = result.total - float(result.variances @ angles.diagonal())
    filling = result.filling
    return PcaFacts(
        variances=result.variances.copy(),
        residuals=result.residuals,
        skew=float(np.abs(angles - np.eye(angles.shape[0])).max(initial=0.0)),
        n_turned=turned_count(components),
        kept_and_lost=float(result.variances.sum()) + lost,
        total=result.total,
        filling=None if filling is None else (f"the last of {filling[0]} rounds", filling[1], FILLED),
        tolerance=limits.residual,
        rounding=limits.rounding,
        accuracy=limits.accuracy,
    )


# --- batches --------------------------------------------------------------------------------------


def batch_moments(source: InMemory, n_threads: int) -> Moments:
    """Return the moments of a batch; huge and tiny numbers are summed in units."""
    with trying():
        moments = moments_of(source.X, source.weights, n_threads)
    try:
        check_range(diagonal_moments(moments), False, source.dtype, source.sizes_at)
    except BeyondRangeError:
        units = units_for(source.sizes(), False, source.dtype)
        moments = units.of_moments(moments_of(source.divided(units).X, source.weights, n_threads))
    return moments


def step_of_moments(moments: Moments, request: Request) -> Step:
    """Return the step of a fit to all batches so far, from their moments."""
    units = units_of_moments(moments, request.by_column)
    in_unit = once(result_of_moments, in_units(moments, units), request._replace(units=units))
    result = once(in_true_units, in_unit, units)
    return Step(result, "covariance_eigh", "the moments of all batches", whole=True, last=True)


def moments_of_model(model: Any) -> Moments:
    """Return the moments of rows that have the components of a model, and equal noise beside them."""
    V = model.components_.astype(np.float64)
    n_left = model.n_features_in_ - model.n_components_
    rest = max(model.total_variance_ - float(model.explained_variance_.sum()), 0.0) / max(n_left, 1)
    covariance = (V.T * (model.explained_variance_ - rest)) @ V + rest * np.eye(model.n_features_in_)
    degrees = degrees_of(model)
    scatter = degrees * covariance * np.outer(model.scale_, model.scale_)
    return Moments(model.n_samples_, degrees + 1.0, model.mean_, scatter)


def degrees_of(model: Any) -> float:
    """Return the weight of all rows less 1, which singular values and variances tell."""
    largest = model.explained_variance_.max(initial=0.0)
    return float(model.singular_values_[0] ** 2 / largest) if largest > 0.0 else model.n_samples_ - 1.0
