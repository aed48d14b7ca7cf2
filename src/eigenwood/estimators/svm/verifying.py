"""The claims about a fitted support vector machine, recomputed from the rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from eigenwood.core.margin.dual_problems import DualProblems, betas_at
from eigenwood.core.margin.kernel_sources import value_rounding
from eigenwood.core.margin.one_against_one import unstacked
from eigenwood.core.threads import row_blocks
from eigenwood.estimators.kernels import resolved_kernel
from eigenwood.estimators.svm.base import BaseSVM
from eigenwood.estimators.svm.faces import SVC, SVR
from eigenwood.estimators.svm.fitting import problem_facts, rounding_of
from eigenwood.estimators.svm.input_checks import checked_kernel
from eigenwood.estimators.svm.landmarks import best_dual, whole_norm
from eigenwood.estimators.watching import TIME_UP, Deadline
from eigenwood.proofs.claim import Claim
from eigenwood.proofs.svm import Stated, SVMFacts, landmark_claim, stated_claim, support_claim, svm_certificate
from eigenwood.validation.kernels import check_holds_rows, gamma_value

SAME = 1e-9  # a share by which what follows from the same rows may differ
VERIFIED_VALUES = 2**24  # of the kernel, between two looks at the clock


def verify_svm(model: SVC | SVR, X: Any, y: Any, sample_weight: Any, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, recomputed from the rows and the fitted numbers, in float64."""
    duals = model._checked_duals(X, y, sample_weight, reset=False)
    betas = betas_at(duals.places, model.support_, unstacked(model.dual_coef_, model.n_support_))
    if model.kernel == "precomputed":
        check_holds_rows(type(model).__name__, duals.places, model.support_)
        sums = duals.X @ betas
    else:
        sums = sums_within(model, duals.X.astype(np.float64), deadline)
    kernel = checked_kernel(model, duals, model.gamma_)
    has_landmarks = model._has_landmarks()
    of_value = 0.0 if has_landmarks else value_rounding(duals.X, kernel, duals.deduplicated, model._resources())
    errors = rounding_of(duals.X, kernel, of_value, model.tol)
    facts = []
    for column, problem in enumerate(duals.problems):
        deadline.check()
        beta, scores = betas[problem.places(), column], sums[duals.group[problem.places()], column]
        facts.append(problem_facts(duals, column, beta, scores, float(model.intercept_[column]), errors))
    shortfalls = None
    if has_landmarks:
        yield landmark_claim(n_other_landmarks(model, duals))
        shortfalls = shortfalls_again(model, duals, betas, facts, deadline)
    yield from svm_certificate(facts, model.tol, model.converged_, shortfalls)
    deadline.check()
    yield support_claim(n_other_support(model, duals))
    yield stated_claim(stated_numbers(model, duals, facts, shortfalls))


def sums_within(model: BaseSVM, X: Any, deadline: Deadline) -> np.ndarray:
    """Return the scores less b of some rows, a block at a time: there may not be time for all."""
    sums = []
    for rows in row_blocks(X.shape[0], max(1, VERIFIED_VALUES // max(1, model.support_.size))):
        deadline.check()
        sums.append(model._sums(X[rows]))
    return np.concatenate(sums)


def n_other_support(model: BaseSVM, duals: DualProblems) -> int:
    """Return how many support vectors are not what stands in the table where they are said to come from."""
    order = np.argsort(duals.places)
    found = order[np.searchsorted(duals.places[order], model.support_).clip(max=order.size - 1)]
    others = duals.places[found] != model.support_
    others |= duals.codes[found] != np.repeat(np.arange(model.n_support_.size), model.n_support_)
    if model.kernel != "precomputed":
        others |= are_different(duals.X[duals.group[found]], model.support_vectors_)
    return int(others.sum())


def are_different(rows: Any, others: Any) -> np.ndarray:
    """Return for each of some rows whether it differs from the other in its place; what is sparse stays so."""
    if sparse.issparse(rows) or sparse.issparse(others):
        rows, others = sparse.csr_array(rows), sparse.csr_array(others)
    return np.asarray(abs(rows - others).sum(axis=1)).ravel() != 0.0


def shortfalls_again(
    model: BaseSVM, duals: DualProblems, betas: np.ndarray, facts: list[SVMFacts], deadline: Deadline
) -> np.ndarray:
    """Return by how much the dual of every problem is less with the whole kernel, whose values are computed again."""
    kernel, parts = resolved_kernel(model, model.gamma_), []
    for column, problem in enumerate(duals.problems):
        beta = betas[problem.places(), column]
        whole = whole_norm(duals, column, beta, kernel, 1, deadline.check)
        parts.append(facts[column].dual - best_dual(problem.dual, beta, whole))
    return np.array(parts)


def n_other_landmarks(model: BaseSVM, duals: DualProblems) -> int:
    """Return how many landmarks are not what stands in the table where they are said to come from."""
    order = np.argsort(duals.places)
    found = order[np.searchsorted(duals.places[order], model.landmarks_).clip(max=order.size - 1)]
    others = duals.places[found] != model.landmarks_
    return int((others | are_different(duals.X[duals.group[found]], model.landmark_vectors_)).sum())


def stated_numbers(
    model: BaseSVM, duals: DualProblems, facts: list[SVMFacts], shortfalls: np.ndarray | None
) -> list[Stated]:
    """Return what the model states beside its coefficients."""
    gamma = gamma_value(type(model).__name__, model.gamma, duals.X, duals.deduplicated_mass())
    shape = np.array([duals.places.size, model.n_features_in_])
    weights = model._own_attributes(duals, [0] * len(facts)).get("class_weight_")
    gaps, violations = np.array([[one.primal - one.dual, one.violation] for one in facts]).T
    gaps = gaps if shortfalls is None else gaps + shortfalls
    is_bound = shortfalls is not None and model.stop_reason_ == TIME_UP  # there was no time to measure it
    off_gaps, off_violations = np.array([[one.gap_rounding, 2.0 * one.rounding] for one in facts]).T
    return [
        *([] if is_bound else [Stated(model.duality_gap_, gaps, off_gaps)]),
        Stated(model.kkt_violation_, violations, off_violations),
        Stated(model.gamma_, gamma, SAME * gamma),
        Stated(model.shape_fit_, shape, SAME),
        *([] if weights is None else [Stated(model.class_weight_, weights, SAME * weights)]),
    ]
