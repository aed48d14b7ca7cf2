"""From the last step of the solver to coefficients, offsets and the numbers of the certificate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from eigenwood.core.kernels.blocks import KernelFunction, gram_diagonal
from eigenwood.core.kernels.functions import Kernel
from eigenwood.core.margin.dual_problems import DualProblems, all_shared, gathered, to_rows
from eigenwood.core.margin.dual_svm import FELT, DualStep, KernelRows
from eigenwood.core.margin.ends import Ends, ends_of
from eigenwood.core.margin.one_against_one import coefficients, stacked
from eigenwood.core.margin.side_by_side import SideBySideStep
from eigenwood.core.pieces import at_once
from eigenwood.core.threads import results_of
from eigenwood.proofs.claim import Certificate
from eigenwood.proofs.svm import SVMFacts, svm_certificate, svm_facts

MEASURED_ROWS = 512  # for each thread
DEVIATIONS = 6.0  # of a normal error, which no score exceeds
OF_TERMS = 1e-13  # by which a sum in float64 is off, as a share of its terms without their signs


# --- how exact scores are -------------------------------------------------------------------------


class Rounding(NamedTuple):
    """How exact kernel values and their sums are."""

    of_value: float  # by which a value that the solver uses is off, about
    tol: float  # of scores that may be off by more than a share of this, the solver computes new ones in float64
    lengths: np.ndarray  # √|k(x, x)| of the rows: |k(x, z)| is at most the product of two, for a Mercer kernel

    def of_scores(self, duals: DualProblems, column: int, beta: np.ndarray) -> float:
        """Return by how much the scores of a problem may be off.

        The errors of many values add up like the lengths of vectors; in float64, a sum is as exact as its largest
        terms.
        """
        from_values = min(self.of_value * float(np.linalg.norm(gathered(duals, column, beta))), FELT * self.tol)
        lengths = self.lengths[duals.group[duals.problems[column].places()]]
        return DEVIATIONS * from_values + OF_TERMS * float(np.abs(beta) @ lengths) * float(lengths.max())


def rounding_of(X: Any, kernel: Kernel | KernelFunction | None, of_value: float, tol: float) -> Rounding:
    """Return how exact the kernel values of these rows are; without a kernel, X holds them."""
    diagonal = X.diagonal() if kernel is None else gram_diagonal(X, kernel)
    return Rounding(of_value, tol, np.sqrt(np.abs(diagonal)))


# --- the solution ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Solved:
    """One problem after the fit; what its certificate needs is computed when somebody reads it."""

    beta: np.ndarray  # of all its rows
    intercept: float
    gap: float
    violation: float
    facts_later: Callable[[], SVMFacts]

    @property
    def facts(self) -> SVMFacts:
        """The numbers of the certificate; to read them changes nothing."""
        return self.facts_later()


def finish_all(
    duals: DualProblems, rows: list[KernelRows], step: SideBySideStep, errors: Rounding, n_threads: int
) -> list[Solved]:
    """Return the coefficients, offset and numbers of each problem."""
    scores = results_of(
        lambda column: completed_scores(rows[column], step.steps[column]),
        range(len(rows)),
        n_threads if len(rows) > 1 and any(one.shrunk.any() for one in step.steps) else 1,
    )
    converged = np.array([one.converged for one in step.steps])
    ends = ends_of([one.dual for one in duals.deduplicated], [one.beta for one in step.steps], scores, converged)
    without_rows = duals._replace(X=None)  # they are many, and no number of the certificate needs them
    betas = all_shared(duals, ends.beta, ends.starts)
    return [
        finish_one(without_rows, column, rows[column], ends, betas[column], scores[column], errors)
        for column in range(len(rows))
    ]


def completed_scores(source: KernelRows, step: DualStep) -> np.ndarray:
    """Return the scores of all rows; those of rows that were shrunk away are computed."""
    scores = step.scores
    if step.shrunk.any():
        support, shrunk = np.flatnonzero(step.beta), np.flatnonzero(step.shrunk)
        scores[shrunk] = at_once(source.exact_scores(support, step.beta[support], shrunk))
    return scores


def finish_one(
    duals: DualProblems,
    column: int,
    source: KernelRows,
    ends: Ends,
    beta: np.ndarray,
    scores: np.ndarray,
    errors: Rounding,
) -> Solved:
    """Return the coefficients, offset and numbers of one problem; ``beta`` are the coefficients of all its rows."""
    offset, own = float(ends.offsets[column]), ends.beta[ends.part(column)]
    facts = partial(facts_of_distinct, duals, column, beta, scores, offset, errors)
    used = np.flatnonzero(own)
    intercept = offset - source.shift(used, own[used])
    return Solved(beta, intercept, float(ends.gaps[column]), float(ends.violations[column]), facts)


def facts_of_distinct(
    duals: DualProblems, column: int, beta: np.ndarray, scores: np.ndarray, intercept: float, errors: Rounding
) -> SVMFacts:
    """Return the numbers of one problem, from the coefficients of its rows and the scores of the distinct ones."""
    return problem_facts(duals, column, beta, to_rows(duals, column, scores), intercept, errors)


def problem_facts(
    duals: DualProblems, column: int, beta: np.ndarray, scores: np.ndarray, intercept: float, errors: Rounding
) -> SVMFacts:
    """Return the numbers of one problem, from the coefficients and scores of its rows."""
    problem, rounding = duals.problems[column], errors.of_scores(duals, column, beta)
    mass = duals.mass[problem.places()]
    return svm_facts(problem.dual, beta, scores, intercept, mass, problem.label, rounding, errors.tol)


def certificate_of(
    solved: list[Solved], tol: float, converged: bool, shortfalls: np.ndarray | None, kind: str
) -> Certificate:
    """Return the claims about a fit."""
    return svm_certificate([one.facts for one in solved], tol, converged, shortfalls, kind)


def attributes_of_problems(
    duals: DualProblems, solved: list[Solved], step: SideBySideStep, is_gram: bool
) -> dict[str, Any]:
    """Return the fitted attributes that follow from the coefficients; a Gram matrix has no support vectors in it."""
    table = coefficients(duals.problems, [one.beta for one in solved], duals.places.size)
    used = np.flatnonzero(table.any(axis=1))
    used = used[np.argsort(duals.codes[used], kind="stable")]
    n_classes = int(duals.codes.max()) + 1
    converged = all(one.converged for one in step.steps)
    return {
        "support_": duals.places[used].astype(np.int32),
        "support_vectors_": np.empty((0, 0)) if is_gram else duals.X[duals.group[used]],
        "n_support_": np.bincount(duals.codes[used], minlength=n_classes).astype(np.int32),
        "dual_coef_": stacked(table[used], duals.codes[used], n_classes),
        "intercept_": np.array([one.intercept for one in solved]),
        "duality_gap_": np.array([one.gap for one in solved]),
        "kkt_violation_": np.array([one.violation for one in solved]),
        "fit_status_": 0 if converged else 1,
        "converged_": converged,
    }


# --- time -----------------------------------------------------------------------------------------


class TimeToFinish:
    """How long a model of a step takes: the scores of rows that were shrunk away must be computed.

    That is measured once, on a few rows. It is not kept back in vain: who finishes needs the same time for it.
    """

    def __init__(self, rows: list[KernelRows], n_threads: int) -> None:
        self._rows, self._threads = rows, n_threads
        self._per_value: float | None = None
        self._seen: list[DualStep | None] = [None] * len(rows)
        self._n_values = [0] * len(rows)

    def seconds(self, step: SideBySideStep) -> float:
        """Return about how many."""
        for k, one in enumerate(step.steps):
            if one is not self._seen[k]:  # of many problems, few have changed
                self._seen[k] = one
                self._n_values[k] = int(np.count_nonzero(one.beta)) * one.due
        n_problems = sum(n > 0 for n in self._n_values)
        if n_problems == 0:
            return 0.0
        if self._per_value is None:
            first = next(k for k, n in enumerate(self._n_values) if n > 0)
            self._per_value = self._measured(self._rows[first], step.steps[first])
        return self._per_value * sum(self._n_values) / min(n_problems, self._threads)

    def _measured(self, rows: KernelRows, step: DualStep) -> float:
        """Return the seconds that a kernel value takes."""
        support, some = np.flatnonzero(step.beta), np.arange(min(step.beta.size, MEASURED_ROWS * self._threads))
        seconds = []
        for of in (some[:1], some, some):  # the first may have to load compiled code; the others are not alone here
            start = time.perf_counter()
            at_once(rows.exact_scores(support, step.beta[support], of))
            seconds.append(time.perf_counter() - start)
        return min(seconds[1:]) / (support.size * some.size)
