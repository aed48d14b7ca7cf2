"""The claims about a fitted kernel PCA, recomputed from the rows in float64, a block of K at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from eigenwood.core.kernels.blocks import gram
from eigenwood.core.threads import one_blas_thread, row_blocks
from eigenwood.data.row_blocks import Blocks
from eigenwood.estimators.kernel_pca.faces import KernelPCA
from eigenwood.estimators.kernel_pca.fitting import EXACT, tolerance_of
from eigenwood.estimators.kernel_pca.input_checks import checked_rows, query_blocks
from eigenwood.estimators.kernel_pca.planning import LOW_RANK
from eigenwood.estimators.kernel_pca.results import rounding_of, scaled
from eigenwood.estimators.kernel_pca.types import Problem
from eigenwood.estimators.kernel_pca.verified_landmarks import facts_of_landmarks
from eigenwood.estimators.kernel_pca.verified_rows import (
    HELD_ROWS,
    VERIFIED_VALUES,
    Check,
    Rows,
    beside,
    n_other_rows,
    stated_checks,
)
from eigenwood.estimators.kernels import similarity
from eigenwood.estimators.watching import FINISHED, Deadline
from eigenwood.proofs.claim import Claim
from eigenwood.proofs.kernel_pca import (
    KernelPcaFacts,
    excused,
    kernel_pca_claims,
    largest_beside,
    missed_claim,
    relative,
    smallest_found,
    unsettled,
)
from eigenwood.proofs.pca import UNSETTLED, intervals


@one_blas_thread()
def verify_kernel_pca(model: KernelPCA, X: Any, *, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, measured anew on the rows given, and at the end what a search for larger eigenvalues finds."""
    is_settled = model.stop_reason_ == FINISHED and all(claim.name != UNSETTLED for claim in model.certificate_)
    if not is_settled:
        yield unsettled(model.eigenvalues_.size, model.stop_reason_ if model.stop_reason_ != FINISHED else "max_iter")
    for claim in claims_from(model, X, deadline, is_settled):
        yield claim if is_settled else excused(claim)


def claims_from(model: KernelPCA, X: Any, deadline: Deadline, is_settled: bool) -> Iterator[Claim]:
    """Yield what the rows tell; with landmarks, what these tell, and of a table that is small also K itself."""
    if isinstance(X, Blocks):
        deadline.check()
        yield from kernel_pca_claims(facts_of_landmarks(model, query_blocks(model, X), None, deadline))
        return
    rows = Rows(model, checked_rows(model, X, reset=False), deadline)
    if model.solver_ == LOW_RANK:
        parts = (
            rows.given[part] for part in row_blocks(rows.size(), max(1, VERIFIED_VALUES // model.mean_weights_.size))
        )
        yield from kernel_pca_claims(facts_of_landmarks(model, parts, rows, deadline))
        return
    facts = facts_of_rows(model, rows)
    yield from kernel_pca_claims(facts)
    if model.eigenvalues_.size:
        enough = float(facts.values[-1] + facts.tolerance * facts.values[0])
        V = model.eigenvectors_.astype(np.float64)
        yield missed_claim(facts, largest_beside(rows.centred_times, V, rows.size(), enough))


# --- all rows -------------------------------------------------------------------------------------


def facts_of_rows(model: KernelPCA, rows: Rows) -> KernelPcaFacts:
    """Return the facts about components that are made of all rows."""
    V, values, n = model.eigenvectors_.astype(np.float64), model.eigenvalues_, rows.size()
    dtype = rows.given.dtype if not callable(model.kernel) else np.dtype(np.float64)
    n_other = n_other_rows(model, rows)
    if V.shape[0] != n:
        return nothing_known(model, n_other + abs(V.shape[0] - n), dtype)
    diagonal = rows.diagonal()
    sums = rows.times(np.ones((n, 1)))[:, 0]
    residuals = np.linalg.norm(rows.centred_times(V) - V * values, axis=0)
    rounding = rounding_of(float(np.abs(diagonal).max()), n, float(values.max(initial=0.0)), dtype)
    total, trace = max(float(diagonal.sum() - sums.sum() / n), 0.0), float(diagonal.sum())
    projection = scaled(V, values)
    checks = (
        *stated_checks(model, rows.X, total, trace, 0.0, n),
        (
            "projection",
            "largest |projection - v / √λ|, beside its largest entry",
            beside(model.projection_, projection),
        ),
        (
            "offset",
            "largest |offset - what the mean of the rows is projected to|",
            offset_error(model, sums / n, trace),
        ),
        ("mean", "largest |mean_weights - 1 / n| · n", float(np.abs(model.mean_weights_ * n - 1.0).max())),
        *ridge_checks(model, rows),
    )
    expected = intervals(values, residuals + rounding, 0.0)
    n_turned = int((V.max(axis=0) < -(1.0 + 1e-5) * V.min(axis=0)).sum()) if V.size else 0
    facts = KernelPcaFacts(
        values=values,
        residuals=residuals,
        intervals=expected,
        skew=float(np.abs(V.T @ V - np.eye(V.shape[1])).max(initial=0.0)),
        total=total,
        tolerance=tolerance_of(model, model.solver_, dtype),
        rounding=rounding,
        exact=EXACT[dtype],
        checks=(*checks, ("signs", "components whose largest entry is negative", float(n_turned))),
        n_other_rows=n_other,
        interval_error=relative(
            float(np.abs(model.eigenvalue_interval_ - expected).max(initial=0.0)), float(values.max(initial=0.0))
        ),
    )
    if n <= HELD_ROWS or not Problem(rows.X, rows.matrix(), model.gamma_).is_mercer():
        return facts._replace(smallest=smallest_found(rows.centred_times, n, float(values.max(initial=0.0))))
    return facts


def nothing_known(model: KernelPCA, n_other: int, dtype: np.dtype) -> KernelPcaFacts:
    """Return facts that say no more than that these are other rows."""
    size = model.eigenvalues_.size
    return KernelPcaFacts(
        model.eigenvalues_,
        np.full(size, np.inf),
        model.eigenvalue_interval_,
        np.inf,
        1.0,
        0.0,
        0.0,
        EXACT[dtype],
        n_other_rows=max(n_other, 1),
    )


def offset_error(model: KernelPCA, means: np.ndarray, trace: float) -> float:
    """Return how far the offset is from the projection of the mean of all rows, beside the length of a row."""
    size = np.sqrt(max(trace, 0.0) / means.size)
    return relative(float(np.abs(model.offset_ - means @ model.projection_).max(initial=0.0)), float(size))


def ridge_checks(model: KernelPCA, rows: Rows) -> tuple[Check, ...]:
    """Return the checks of a kernel ridge regression of the rows on their scores."""
    if not hasattr(model, "dual_coef_"):
        return ()
    scores = model.eigenvectors_ * np.sqrt(model.eigenvalues_)
    known = model.X_transformed_fit_.astype(np.float64)
    kernel = similarity(model, model.gamma_, known)
    assert kernel is not None
    left = np.empty(rows.X.shape)
    for part in row_blocks(rows.size(), max(1, VERIFIED_VALUES // rows.size())):
        rows.deadline.check()
        left[part] = gram(known[part], known, kernel) @ model.dual_coef_ + model.alpha * model.dual_coef_[part]
    return (
        ("scores", "largest |X_transformed_fit - √λ v|, beside its largest entry", beside(known, scores)),
        ("ridge", "largest |(K + αI) D - X|, beside the largest |x|", beside(left, rows.X)),
    )
