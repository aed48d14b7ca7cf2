"""From a step of the solver to fitted attributes and the numbers of the certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from eigenwood.core.kernels.logistic import LogisticStep, Outcomes, asked_for, best_offsets, total_loss
from eigenwood.core.kernels.matrix import KernelMatrix, tile_sums
from eigenwood.estimators.logistic.input_checks import LogisticData
from eigenwood.proofs.representer import Measured, RepresenterFacts, representer_facts


def fitted_values(data: LogisticData, step: LogisticStep, facts: RepresenterFacts, is_gram: bool) -> dict[str, Any]:
    """Return the fitted attributes that a step stands for; a Gram matrix has no landmarks in it."""
    pivots, triangle = step.low_rank.pivots, step.low_rank.triangle
    coefficients = linalg.solve_triangular(triangle, step.point.weights, lower=True, trans="T", check_finite=False)
    return {
        "classes_": data.labels,
        "support_": data.places[pivots],
        "support_vectors_": np.empty((0, 0)) if is_gram else data.X[pivots],
        "dual_coef_": np.ascontiguousarray(coefficients.T),
        "intercept_": step.point.offsets.copy(),
        "class_weight_": data.factors,
        "gamma_": data.gamma,
        "trace_error_": step.low_rank.trace_error(),
        "duality_gap_": facts.gap_bound(),
        "n_iter_": step.n_iter,
        "converged_": step.converged,
    }


def facts_of(data: LogisticData, step: LogisticStep, outside: float | None = None) -> RepresenterFacts:
    """Return the numbers of a step; ``outside`` is ½ αᵀ(K - F Fᵀ)α, where it was measured."""
    point, factor, outcomes = step.point, step.low_rank.factor, data.outcomes
    residual = step.low_rank.diagonal - np.einsum("ik,ik->i", factor, factor)
    alpha = asked_for(outcomes, point.scores + point.offsets)
    loss, least = total_loss(outcomes, point.scores + point.offsets), constant_cost(outcomes)
    asked = point.weights - point.gradient
    return representer_facts(Measured(point.weights, asked, alpha, residual, loss, least, outside), outcomes.has_offset)


def constant_cost(outcomes: Outcomes) -> float:
    """Return what the best constant costs."""
    nothing = np.zeros((outcomes.codes.size, outcomes.n_scores()))
    return total_loss(outcomes, nothing + best_offsets(outcomes, nothing, nothing[0]))


def outside_of(data: LogisticData, step: LogisticStep, K: KernelMatrix, n_threads: int) -> float:
    """Return ½ αᵀ(K - F Fᵀ)α, from all kernel values."""
    point = step.point
    asked = point.weights - point.gradient  # Fᵀα
    whole = sum(tile_sums(K, asked_for(data.outcomes, point.scores + point.offsets), n_threads))
    return 0.5 * (whole - float(np.vdot(asked, asked)))
