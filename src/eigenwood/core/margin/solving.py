"""All dual problems of a fit, solved side by side: from their first coefficients to their last steps."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from eigenwood.core.margin.at_hand import at_hand_steps
from eigenwood.core.margin.dual_problems import DualProblems
from eigenwood.core.margin.dual_svm import DualRule, DualStep, KernelRows, dual_svm_steps, small_step
from eigenwood.core.margin.interior import can_go_through, interior_solution
from eigenwood.core.margin.kernel_sources import KernelSources
from eigenwood.core.margin.one_against_one import Problem
from eigenwood.core.margin.side_by_side import SideBySideStep, side_by_side
from eigenwood.core.pieces import Pieces, while_at
from eigenwood.core.threads import results_of

SMALL_WORK = 2e9  # multiplications, a fraction of a second: of rounds where there was no time for any
LEAST_SMALL, MOST_SMALL = 8, 128  # rows in each of these


def solver_steps(
    sources: KernelSources, duals: DualProblems, rule: DualRule, betas: list[np.ndarray], n_threads: int
) -> Generator[SideBySideStep, None, None]:
    """Yield where the problems stand: at their first coefficients until all is written, then side by side."""
    begin = SideBySideStep(tuple(unmeasured(beta) for beta in betas), whole=False, last=False)
    for _ in sources.writing:
        yield begin
    if sources.gram is not None:
        yield from at_hand_steps(sources.gram, sources.factor, duals.deduplicated, rule, betas, n_threads)
        return
    if sources.factor is not None:
        betas = yield from while_at(begin, from_within(sources.factor, duals.deduplicated, rule, betas))
    yield from side_by_side(
        [
            dual_svm_steps(rows, problem.dual, rule, beta)
            for rows, problem, beta in zip(sources.rows, duals.deduplicated, betas, strict=True)
        ],
        n_threads,
    )


def from_within(
    factor: np.ndarray, problems: list[Problem], rule: DualRule, betas: list[np.ndarray]
) -> Pieces[list[np.ndarray]]:
    """Return the coefficients to begin with: close to the solution, for problems that have none yet."""
    found = []
    for problem, beta in zip(problems, betas, strict=True):
        if not beta.any() and can_go_through(problem.dual):
            beta = yield from interior_solution(factor[problem.places()], problem.dual, rule.tol)
        found.append(beta)
    return found


def unmeasured(beta: np.ndarray) -> DualStep:
    """Return the step of a problem that was not begun: its scores are known only where no coefficient is above 0."""
    shrunk = np.full(beta.size, bool(beta.any()))
    due = int(np.count_nonzero(shrunk))
    return DualStep(beta, np.zeros(beta.size), shrunk, np.inf, 0, 0, converged=False, whole=False, last=False, due=due)


def with_small_steps(
    step: SideBySideStep, rows: list[KernelRows], duals: DualProblems, rule: DualRule, n_threads: int
) -> SideBySideStep:
    """Return the step with a small round for each problem that has had none: few rows, but a model."""
    is_empty = [not (one.beta.any() or one.last) for one in step.steps]
    work = sum(own.value_work * own.n_rows for own, empty in zip(rows, is_empty, strict=True) if empty)
    size = int(np.clip(SMALL_WORK / max(work, 1.0), LEAST_SMALL, MOST_SMALL))
    small = rule._replace(most_members=size)

    def moved(number: int) -> DualStep:
        if not is_empty[number]:
            return step.steps[number]
        return small_step(rows[number], duals.deduplicated[number].dual, small)

    return step._replace(steps=tuple(results_of(moved, range(len(rows)), n_threads)))
