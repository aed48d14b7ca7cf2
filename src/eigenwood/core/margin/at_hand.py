"""All dual problems of a fit whose kernel values are at hand, from call to call: the rounds are compiled (``rounds``).

    calls       │ 0 1 2 … 44 │ 0   3   44 │ 3 │          each works for some hundredths of a second on all that are open
    threads     │ ▔▔▔▔▔▔ ▁▁▁ │ ▔▔▔▔▔ ▁▁▁▁ │ ▔ │          problems are dealt out where there is much to do

No problem is changed by the others, so threads change nothing.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from eigenwood.core.margin.dual_svm import Dual, DualRule, DualStep, limits
from eigenwood.core.margin.interior import can_go_through, interior_solution, interior_work
from eigenwood.core.margin.one_against_one import Problem
from eigenwood.core.margin.rounds import (
    DONE,
    MOST_MEMBERS,
    OPEN,
    AtHand,
    Effort,
    Standing,
    begin_at,
    solve_problems,
)
from eigenwood.core.margin.side_by_side import SideBySideStep
from eigenwood.core.margin.working_set import rise_and_fall
from eigenwood.core.pieces import at_once
from eigenwood.core.threads import results_of

CALL_WORK = 2e7  # of a call, in additions along a row: a few hundredths of a second between two looks at the clock
WORTH_THREADS = 2e6  # squares of sizes: what takes less is done before threads have begun
TASKS_PER_THREAD = 4


def at_hand_steps(
    K: np.ndarray,
    factor: np.ndarray | None,
    problems: list[Problem],
    rule: DualRule,
    betas: list[np.ndarray],
    n_threads: int,
) -> Generator[SideBySideStep, None, None]:
    """Yield after every call, until each problem is solved or stuck; whole steps where one more of them is.

    With a ``factor`` of few columns, who is not solved by the work that it takes from within is solved so.
    """
    duals = [problem.dual for problem in problems]
    stacked, most = stacked_problems(problems), all_limits(duals)
    standing = first_standing(K, stacked, betas)
    whole = last = False
    n_calls, is_new = 0, np.ones(len(duals), dtype=bool)
    yield step_of(stacked, standing, most, whole=len(duals) == 1, last=False)
    while not last:
        todo = np.flatnonzero(standing.status == OPEN)

        def work(task: np.ndarray) -> None:
            effort = Effort(rule.tol, rule.max_steps, min(rule.most_members, MOST_MEMBERS), CALL_WORK / todo.size)
            solve_problems(K, stacked, standing, task, effort)

        results_of(work, shares_of_work(stacked, todo, n_threads), n_threads)
        n_calls += 1
        for number in np.flatnonzero(standing.status == OPEN) if factor is not None else ():
            part = slice(stacked.starts[number], stacked.starts[number + 1])
            spent = n_calls * CALL_WORK / todo.size
            if is_new[number] and spent >= interior_work(part.stop - part.start, factor.shape[1]):
                is_new[number] = False
                if can_go_through(duals[number]):
                    found = at_once(interior_solution(factor[problems[number].places()], duals[number], rule.tol))
                    standing.beta[part] = found
                    begin_at(K, stacked, standing, np.array([number]))
        n_open = int(np.count_nonzero(standing.status == OPEN))
        whole, last = n_open < todo.size or len(duals) == 1, n_open == 0
        yield step_of(stacked, standing, most, whole, last)


def shares_of_work(problems: AtHand, todo: np.ndarray, n_threads: int) -> list[np.ndarray]:
    """Return the problems of each task, about as much work in each; one task where there is little to do."""
    work = np.square(np.diff(problems.starts)[todo].astype(np.float64)).cumsum()
    if n_threads == 1 or todo.size == 1 or work[-1] < WORTH_THREADS:
        return [todo]
    n_tasks = min(TASKS_PER_THREAD * n_threads, todo.size)
    cuts = np.searchsorted(work, work[-1] * np.arange(1, n_tasks) / n_tasks)
    return [part for part in np.split(todo, cuts) if part.size]


def stacked_problems(problems: list[Problem]) -> AtHand:
    """Return the problems one after the other, their variables bounded where a solution is (``limits``)."""
    duals, most = [problem.dual for problem in problems], np.concatenate(all_limits([one.dual for one in problems]))
    return AtHand(
        np.array([both_slices(problem) for problem in problems], dtype=np.int64),
        np.cumsum([0, *(dual.target.size for dual in duals)]),
        np.concatenate([dual.target for dual in duals]).astype(np.float64, copy=False),
        np.maximum(np.concatenate([dual.low for dual in duals]), -most),
        np.minimum(np.concatenate([dual.high for dual in duals]), most),
        np.concatenate([dual.ridge for dual in duals]),
        float(duals[0].epsilon),
    )


def all_limits(duals: list[Dual]) -> list[np.ndarray]:
    """Return the limits of all problems."""
    return [limits(dual) for dual in duals]


def both_slices(problem: Problem) -> tuple[int, int, int, int]:
    """Return where the slices of a problem begin and end; where there is one, the other is empty.

    >>> both_slices(Problem((slice(0, 5),), None, None))
    (0, 5, 5, 5)
    """
    first, last = problem.slices[0], problem.slices[-1]
    return first.start, first.stop, last.start if len(problem.slices) == 2 else first.stop, last.stop


def first_standing(K: np.ndarray, problems: AtHand, betas: list[np.ndarray]) -> Standing:
    """Return where the problems stand at the coefficients that they begin with."""
    counts = [np.zeros(len(betas), dtype=np.int64) for _ in range(4)]
    standing = Standing(np.concatenate(betas), problems.target.copy(), *counts, np.zeros(len(betas)))
    if standing.beta.any():
        begin_at(K, problems, standing, np.arange(len(betas)))
    return standing


def step_of(
    problems: AtHand, standing: Standing, most: list[np.ndarray], whole: bool, last: bool
) -> SideBySideStep:
    """Return where all problems stand."""
    beta, starts = standing.beta.copy(), problems.starts
    scores = problems.target - standing.errors - problems.ridge * beta
    rise, fall = rise_and_fall(standing.errors, beta, problems.low, problems.high, problems.epsilon)
    violations = np.maximum.reduceat(rise, starts[:-1]) - np.minimum.reduceat(fall, starts[:-1])
    shrunk = np.zeros(beta.size, dtype=bool)
    steps = []
    for number, limit in enumerate(most):
        own = slice(int(starts[number]), int(starts[number + 1]))
        is_open, is_done = standing.status[number] == OPEN, standing.status[number] == DONE
        at_limit = problems.ridge[own.start] > 0.0 and bool((np.abs(beta[own]) >= limit).any())
        steps.append(
            DualStep(
                beta[own],
                scores[own],
                shrunk[own],
                max(float(violations[number]), 0.0),
                int(standing.n_steps[number]),
                int(standing.n_rounds[number]),
                converged=bool(is_done and not at_limit),
                whole=whole,
                last=not is_open,
            )
        )
    return SideBySideStep(tuple(steps), whole, last)
