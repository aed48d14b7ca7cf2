"""Mean, scale and unit of the columns: what makes A of the rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from eigenwood.core.spectral.moments import ColumnMoments
from eigenwood.estimators.pca.sources import Scaling, Source
from eigenwood.estimators.pca.types import PCAResult, Request, Steps, once
from eigenwood.estimators.pca.units import BeyondRangeError, Units, check_range, units_for
from eigenwood.validation.pca import check_sum_of_squares, check_variance

CONSTANT = 10.0  # times rounding: a column that varies less, beside its mean, is constant


# --- what columns are divided by ------------------------------------------------------------------


def standard_scale(scale: bool | str, dtype: np.dtype) -> Callable[[ColumnMoments], np.ndarray]:
    """Return the function that says what columns are divided by."""
    if scale == "allele_frequency":
        return allele_scale
    return partial(unit_scale, dtype=dtype) if scale else no_scale


def no_scale(columns: ColumnMoments) -> np.ndarray:
    return np.ones(columns.mean.size)


def unit_scale(columns: ColumnMoments, dtype: np.dtype) -> np.ndarray:
    """Return the standard deviations; 1 for a column that is constant up to rounding."""
    deviation = np.sqrt(columns.squares / columns.weight)
    constant = deviation <= CONSTANT * np.finfo(dtype).eps * np.abs(columns.mean)
    return np.where(constant, 1.0, deviation)


def allele_scale(columns: ColumnMoments) -> np.ndarray:
    """Return √(2p(1-p)), the deviation of the count of an allele of frequency p where people mate freely."""
    p = np.clip(columns.mean / 2.0, 0.0, 1.0)
    deviation = np.sqrt(2.0 * p * (1.0 - p))
    return np.where(deviation > 0.0, deviation, 1.0)


# --- the scaling of a source ----------------------------------------------------------------------


def scaling_of(source: Source, request: Request) -> Scaling:
    """Return mean and scale of the columns, by one pass over the rows."""
    columns = source.column_moments(request.n_threads)
    check_units(columns, source.dtype, request, source.sizes_at)
    return checked_scaling(columns, request)


def check_units(columns: ColumnMoments, dtype: np.dtype, request: Request, sizes_at: Callable) -> None:
    """Raise ``BeyondRangeError`` where rows need units and have none."""
    if request.units is None:
        check_range(columns, request.by_column, dtype, sizes_at)


def checked_scaling(columns: ColumnMoments, request: Request) -> Scaling:
    """Return mean and scale; raise where the variance is beyond all floats."""
    is_own = request.units is None or request.by_column  # a deviation has the unit of its column
    scaling = Scaling(columns, request.scale(columns if is_own else request.units.of_columns(columns)))  # type: ignore[union-attr]
    total = scaling.total()
    check_sum_of_squares(total)
    variance = total / (columns.weight - 1.0)
    if request.units is not None and variance > 0.0:
        check_variance(float(request.units.of_variances(variance)))
    return scaling


# --- units ----------------------------------------------------------------------------------------


def in_range(source: Any, request: Request, route: Callable[[Any, Request], Steps]) -> Steps:
    """Yield the steps of a route; where numbers turn out to be huge or tiny, those of the same rows in other units."""
    try:
        yield from route(source, request)
        return
    except BeyondRangeError:
        units = units_for(source.sizes(), request.by_column, source.dtype)
    for step in route(source.divided(units), request._replace(units=units)):
        yield step._replace(result=once(in_true_units, step.result, units))


def in_true_units(result_in_units: Callable[[], PCAResult], units: Units) -> PCAResult:
    """Return a PCA of rows in units as that of the rows themselves."""
    result = result_in_units()
    return result._replace(
        columns=units.of_columns(result.columns),
        scale=units.of_scale(result.scale),
        total=float(units.of_variances(result.total)),
        variances=units.of_variances(result.variances),
        residuals=units.of_variances(result.residuals),
    )
