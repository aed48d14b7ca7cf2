"""From eigenpairs of AᵀA or AAᵀ to components, their variances and their residuals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenwood.core.spectral.dimension import likeliest_count
from eigenwood.core.spectral.pairs import Pairs, signed, straightened, with_null_pairs
from eigenwood.core.spectral.randomized import SubspaceStep
from eigenwood.estimators.pca.sources import Scaling, WideSource
from eigenwood.estimators.pca.types import PCAResult, Request

NEGLIGIBLE = 1e-8  # ‖AᵀAv - s²v‖ beside the largest s², below which a bound on it will do


def result_of_step(step: Any, source: Any, scaling: Scaling, request: Request) -> PCAResult:
    """Return the components that a step of an iteration stands for."""
    pairs = step.pairs()
    if not step.last:  # what is not known yet is not there, rather than without variance
        request = request.by_count(pairs.values.size)
    if source.is_wide():
        result = to_feature_space(pairs, source, scaling, request)
    else:
        result = make_result(pairs, scaling, request)
    return result._replace(is_cut=step.is_cut)


def to_feature_space(pairs: Pairs, source: WideSource, scaling: Scaling, request: Request) -> PCAResult:
    """Return the components of pairs (s², u) of AAᵀ: v = Aᵀu / s, at right angles also where s is only rounding.

    Residuals go the same way: AᵀA v - s²v = Aᵀ(AAᵀu - s²u) / s. Where they are negligible, their lengths are bounded
    instead, by that of A.
    """
    values, inverse_lengths = values_and_inverse_lengths(pairs, request)
    largest = float(values.max(initial=0.0))
    bounds = np.sqrt(largest) * inverse_lengths * pairs.residuals()
    if bounds.max(initial=0.0) <= NEGLIGIBLE * largest:
        images = source.to_feature_space(pairs.vectors, scaling, request.n_threads)
        residual_vectors = bounds[None, :]
    else:
        both = source.to_feature_space(np.hstack([pairs.vectors, pairs.residual_vectors]), scaling, request.n_threads)
        images, residual_vectors = both[:, : values.size], both[:, values.size :] * inverse_lengths
    vectors = straightened(images, request.n_threads)
    return make_result(Pairs(values, vectors, residual_vectors), scaling, request)


def values_and_inverse_lengths(pairs: Pairs, request: Request) -> tuple[np.ndarray, np.ndarray]:
    """Return s² and 1 / s of every pair, but 0 where s is nothing at all."""
    values = np.maximum(pairs.values, 0.0)
    lengths = np.sqrt(np.maximum(values, request.nothing * values.max(initial=0.0)))
    return values, np.divide(1.0, lengths, out=np.zeros(lengths.size), where=lengths > 0.0)


def best_pairs_in_span(directions: np.ndarray, count: int, operator: Callable[[np.ndarray], np.ndarray]) -> Pairs:
    """Return the best pairs in the span of some directions, by one exact product."""
    return SubspaceStep(directions, operator(directions), count, True, True).pairs()


def make_result(pairs: Pairs, scaling: Scaling, request: Request) -> PCAResult:
    """Return the components, their variances and signs, from pairs of AᵀA."""
    degrees = scaling.columns.weight - 1.0
    if request.wanted.share is None:
        pairs = with_null_pairs(pairs, min(request.wanted.count, int(scaling.columns.weight)), request.nothing)
    values = np.maximum(pairs.values, 0.0) / degrees
    count = likeliest_count(values, scaling.columns.weight) if request.mle else values.size
    return PCAResult(
        scaling.columns,
        scaling.scale,
        scaling.total() / degrees,
        values[:count],
        signed(np.ascontiguousarray(pairs.vectors.T[:count])),
        pairs.residuals()[:count] / degrees,
    )
