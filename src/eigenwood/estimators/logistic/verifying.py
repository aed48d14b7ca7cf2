"""The claims about a fitted kernel logistic regression, recomputed from the rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from eigenwood.core.kernels.logistic import asked_for, total_loss
from eigenwood.core.kernels.matrix import kernel_matrix
from eigenwood.estimators.landmarks import made_again, n_other_landmarks, rows_at, whole_sum
from eigenwood.estimators.logistic.faces import KernelLogisticRegression
from eigenwood.estimators.logistic.fitting import constant_cost
from eigenwood.estimators.logistic.input_checks import LogisticData, checked_data
from eigenwood.estimators.logistic.planning import FULL, FULL_ERROR
from eigenwood.estimators.watching import Deadline
from eigenwood.proofs.claim import Claim, at_most, claimed
from eigenwood.proofs.representer import Measured, RepresenterFacts, representer_certificate, representer_facts
from eigenwood.proofs.svm import Stated, stated_claim, support_claim
from eigenwood.validation.kernels import check_holds_rows, gamma_value

SAME = 1e-9  # a share by which what follows from the same rows may differ
OF_TRACE = 1e-10  # by which what is left of it may be off


def verify_kernel_logistic(
    model: KernelLogisticRegression, X: Any, y: Any, sample_weight: Any, deadline: Deadline
) -> Iterator[Claim]:
    """Yield the claims: F from the landmarks, α from the scores, and αᵀKα from all kernel values, block by block."""
    data = checked_data(model, X, y, sample_weight, reset=False)
    check_holds_rows(type(model).__name__, data.places, model.support_)
    K, landmarks = kernel_matrix(data.rows, data.kernel), rows_at(data.places, model.support_)
    yield support_claim(n_other_landmarks(data.X[landmarks], model.support_vectors_, model.kernel == "precomputed"))
    outcomes = data.outcomes

    def asked(rows: slice, scores: np.ndarray) -> np.ndarray:
        some = outcomes._replace(codes=outcomes.codes[rows], costs=outcomes.costs[rows])
        return asked_for(some, scores + model.intercept_)

    found = made_again(type(model).__name__, K, landmarks, model.dual_coef_.T, asked, deadline)
    outside = 0.5 * (whole_sum(K, found.alpha, deadline) - float(np.vdot(found.asked, found.asked)))
    loss = total_loss(outcomes, found.scores + model.intercept_)
    measured = Measured(*found[1:], loss, constant_cost(outcomes), outside)
    facts = representer_facts(measured, outcomes.has_offset)
    yield from representer_certificate(facts, model.tol, model.converged_)
    numbers = stated_numbers(model, data, facts, float(K.diagonal().sum()))
    yield stated_claim(numbers, "gap, trace error, weights of classes, gamma, Σb")
    if model.solver_ == FULL:
        share = facts.trace_error / max(float(K.diagonal().sum()), 1e-300)
        claim = at_most("whole kernel", "what the landmarks leave of the trace", share, FULL_ERROR + OF_TRACE)
        yield claimed(claim, model.converged_, "what the landmarks leave of the trace; the fit was stopped")


def stated_numbers(
    model: KernelLogisticRegression, data: LogisticData, facts: RepresenterFacts, trace: float
) -> list[Stated]:
    """Return what the model states beside its coefficients."""
    gamma = gamma_value(
        type(model).__name__, model.gamma, data.X, data.outcomes.costs / data.factors[data.outcomes.codes]
    )
    b = model.intercept_
    return [
        *([Stated(b.sum(), 0.0, SAME * (1.0 + np.abs(b).max()))] if b.size > 1 else []),  # only differences count
        Stated(model.duality_gap_, facts.gap_bound(), SAME * facts.primal + 1e-3 * facts.gap_bound()),
        Stated(model.trace_error_, facts.trace_error, OF_TRACE * trace + SAME * facts.trace_error),
        Stated(model.gamma_, gamma, SAME * gamma),
        Stated(model.class_weight_, data.factors, SAME * data.factors),
    ]
