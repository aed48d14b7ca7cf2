"""Routes that make a matrix of products and decompose it, or the SVD of the table; each a generator of steps.

covariance_eigh   moments ──► C ──► eigenpairs                   d² memory, one pass
gram_eigh         AAᵀ ──► eigenpairs ──► v = Aᵀu / s             n² memory, three passes
gram_refined      AAᵀ of bytes ──► guess ──► exact products      n² memory, a few passes
full              the SVD of A                                   A itself in memory
"""

from __future__ import annotations

import numpy as np

from eigenwood.core.spectral.davidson import DavidsonStep, davidson_steps
from eigenwood.core.spectral.full import svd_pairs
from eigenwood.core.spectral.moments import Moments, diagonal_moments
from eigenwood.core.spectral.pairs import Pairs, chosen_count, settled_at, straightened
from eigenwood.estimators.pca.back_transform import (
    best_pairs_in_span,
    make_result,
    to_feature_space,
    values_and_inverse_lengths,
)
from eigenwood.estimators.pca.costs import back_transform_seconds, decomposition_seconds
from eigenwood.estimators.pca.decomposition import decomposition_steps, pairs_in_time
from eigenwood.estimators.pca.iterative_routes import settled
from eigenwood.estimators.pca.scaling import check_units, checked_scaling, scaling_of
from eigenwood.estimators.pca.sources import InMemory, RowSource, Scaling, WideSource, known_shape
from eigenwood.estimators.pca.types import PCAResult, Request, Step, Steps, once

# --- covariance -----------------------------------------------------------------------------------


def covariance_steps(source: RowSource, request: Request) -> Steps:
    """Yield the components of the rows so far."""
    after = decomposition_seconds(source.shape[1], request)
    for moments, last in source.moments(request.n_threads):
        check_units(diagonal_moments(moments), source.dtype, request, source.sizes_at if last else np.zeros_like)
        if not last:
            yield Step(once(result_of_moments, moments, request), "covariance_eigh", "", True, False, after)
    scaling, M = scaled_scatter(moments, request)

    def finish(pairs: Pairs, request: Request) -> PCAResult:
        return make_result(pairs, scaling, request)

    yield from decomposition_steps(M, request.at_most(int(moments.weight)), finish, "covariance_eigh")


def result_of_moments(moments: Moments, request: Request) -> PCAResult:
    """Return the components from the moments of the rows."""
    scaling, M = scaled_scatter(moments, request)
    asked = request.at_most(int(moments.weight))
    return make_result(pairs_in_time(M, asked), scaling, request)


def scaled_scatter(moments: Moments, request: Request) -> tuple[Scaling, np.ndarray]:
    """Return mean and scale, and AᵀA."""
    scaling = checked_scaling(diagonal_moments(moments), request)
    return scaling, moments.scatter / scaling.scale[:, None] / scaling.scale[None, :]


# --- Gram -----------------------------------------------------------------------------------------


def gram_steps(source: WideSource, request: Request) -> Steps:
    """Yield the components from the columns so far."""
    scaling, back = scaling_of(source, request), back_transform_seconds(source, request)
    after = decomposition_seconds(known_shape(source)[0], request) + 2.0 * back
    for gram, last in source.gram(scaling, request.n_threads):
        if not last:
            guess = once(result_of_some_columns, gram, source, scaling, request)
            yield Step(guess, "gram_eigh", "", True, False, after)

    def finish(pairs: Pairs, request: Request) -> PCAResult:
        return to_feature_space(pairs, source, scaling, request)

    for step in decomposition_steps(gram, request, finish, "gram_eigh"):
        yield step._replace(seconds_after=step.seconds_after + back)


def result_of_some_columns(gram: np.ndarray, source: WideSource, scaling: Scaling, request: Request) -> PCAResult:
    """Return components whose directions are a guess from some columns; their variances are then those of all."""
    pairs = pairs_in_time(gram, request)
    pairs = best_pairs_in_span(pairs.vectors, pairs.values.size, source.operator(scaling, request.n_threads))
    return to_feature_space(pairs, source, scaling, request)


def refined_steps_of(source: InMemory, request: Request) -> Steps:
    """Yield guesses from a Gram matrix of bytes, then pairs by exact products; should these not do, the exact matrix.

    Beside giant numbers, bytes lose small ones. A direction that is nowhere but in what was lost leaves no residual, so
    its variance must not be one of the largest: it is at most all that was lost.
    """
    scaling = scaling_of(source, request)
    for approximate, is_complete in source.int8_grams(scaling, request.n_threads):
        if not is_complete:
            guess = once(result_of_some_columns, approximate, source, scaling, request)
            yield Step(guess, "gram_refined", "", True, False, back_transform_seconds(source, request))
    lost = scaling.total() - float(np.trace(approximate))
    products, count = source.both_ways(scaling, request.n_threads), min(request.wanted.count, source.shape[0])
    for step in davidson_steps(products, approximate, count, settled(source, request), request.n_threads):
        is_last = step.last and lost <= step.values[count - 1]
        yield Step(once(result_of_refined, step, source, scaling, request), "gram_refined", "", True, is_last)
    if not is_last:
        reason = "products of bytes were too rough a guess"
        yield from (exact._replace(reason=reason) for exact in gram_steps(source, request))


def result_of_refined(step: DavidsonStep, source: InMemory, scaling: Scaling, request: Request) -> PCAResult:
    """Return the components, which the products have brought to feature space already, and their residuals."""
    pairs = step.pairs()
    values, inverse_lengths = values_and_inverse_lengths(pairs, request)
    lengths = np.sqrt(values.max(initial=0.0)) * inverse_lengths * pairs.residuals()  # at most
    if (lengths > settled_at(values, settled(source, request))).any():
        lengths = source.feature_space_lengths(pairs.residual_vectors, scaling, request.n_threads) * inverse_lengths
    vectors = straightened(step.images(request.n_threads), request.n_threads)
    return make_result(Pairs(values, vectors, lengths[None, :]), scaling, request)


# --- SVD ------------------------------------------------------------------------------------------


def full_steps(source: InMemory, request: Request) -> Steps:
    """Yield once: nothing is known before all is."""
    scaling = scaling_of(source, request)
    yield Step(once(result_of_svd, source, scaling, request), "full", "", whole=True, last=True)


def result_of_svd(source: InMemory, scaling: Scaling, request: Request) -> PCAResult:
    """Return the components from the singular vectors of A."""
    pairs = svd_pairs(np.sqrt(source.weights)[:, None] * ((source.X - scaling.columns.mean) / scaling.scale))
    if not request.mle:
        pairs = pairs.first(chosen_count(pairs.values, request.wanted, scaling.total()))
    # singular values are exact to rounding, not their squares
    return make_result(pairs, scaling, request._replace(nothing=request.nothing**2))
