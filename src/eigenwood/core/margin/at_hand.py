"""All dual problems of a fit whose kernel values are at hand, from call to call: the rounds are compiled (``rounds``).

    calls       │ 0 1 2 … 44 │ 0   3   44 │ 3 │          each works for some hundredths of a second on all that are open
    threads     │ ▔▔▔▔▔▔ ▁▁▁ │ ▔▔▔▔▔ ▁▁▁▁ │ ▔ │          problems are dealt out where there is much to do

No problem is changed by the others, so threads change nothing.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from itertools import pairwise

import numpy as np

from eigenwood.core.margin.dual_svm import DualRule, DualStep, limits
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
    most = [limits(dual) for dual in duals]
    stacked = stacked_problems(problems, most)
    standing = first_standing(K, stacked, betas)
    whole = last = False
    spent, is_new = 0.0, np.array([can_go_through(dual) for dual in duals])
    n_columns = 0 if factor is None else factor.shape[1]
    from_within = np.array([interior_work(dual.target.size, n_columns) for dual in duals])
    most_members = min(rule.most_members, MOST_MEMBERS)
    yield step_of(stacked, standing, most, whole=len(duals) == 1, last=False)
    while not last:
        todo = np.flatnonzero(standing.status == OPEN)
        effort = Effort(rule.tol, rule.max_steps, most_members, CALL_WORK / todo.size)
        work = partial(_solve, K, stacked, standing, effort)
        results_of(work, shares_of_work(stacked, todo, n_threads), n_threads)
        spent += effort.most_work
        if factor is not None:
            late = np.flatnonzero((standing.status == OPEN) & is_new & (spent >= from_within))
            for number in late:
                part, is_new[number] = slice(stacked.starts[number], stacked.starts[number + 1]), False
                standing.beta[part] = at_once(
                    interior_solution(factor[problems[number].places()], duals[number], rule.tol)
                )
            begin_at(K, stacked, standing, late)
        n_open = int(np.count_nonzero(standing.status == OPEN))
        whole, last = n_open < todo.size or len(duals) == 1, n_open == 0
        yield step_of(stacked, standing, most, whole, last)


def _solve(K: np.ndarray, problems: AtHand, standing: Standing, effort: Effort, todo: np.ndarray) -> None:
    solve_problems(K, problems, standing, todo, effort)


def shares_of_work(problems: AtHand, todo: np.ndarray, n_threads: int) -> list[np.ndarray]:
    """Return the problems of each task, about as much work in each; one task where there is little to do."""
    work = np.square(np.diff(problems.starts)[todo].astype(np.float64)).cumsum()
    if n_threads == 1 or todo.size == 1 or work[-1] < WORTH_THREADS:
        return [todo]
    n_tasks = min(TASKS_PER_THREAD * n_threads, todo.size)
    cuts = np.searchsorted(work, work[-1] * np.arange(1, n_tasks) / n_tasks)
    return [part for part in np.split(todo, cuts) if part.size]


def stacked_problems(problems: list[Problem], most: list[np.ndarray]) -> AtHand:
    """Return the problems one after the other, their variables bounded where a solution is (``limits``)."""
    duals = [problem.dual for problem in problems]
    limit = np.concatenate(most)
    return AtHand(
        np.array([both_slices(problem) for problem in problems], dtype=np.int64),
        np.cumsum([0, *(dual.target.size for dual in duals)]),
        np.concatenate([dual.target for dual in duals]).astype(np.float64, copy=False),
        np.maximum(np.concatenate([dual.low for dual in duals]), -limit),
        np.minimum(np.concatenate([dual.high for dual in duals]), limit),
        np.concatenate([dual.ridge for dual in duals]),
        float(duals[0].epsilon),
    )


def both_slices(problem: Problem) -> tuple[int, int, int, int]:
    """Return where the slices of a problem begin and end; where there is one, the other is empty.

    >>> both_slices(Problem((slice(0, 5),), None, None))
    (0, 5, 5, 5)
    """
    first, last = problem.slices[0], problem.slices[-1]
    return first.start, first.stop, last.start if len(problem.slices) == 2 else first.stop, last.stop


def first_standing(K: np.ndarray, problems: AtHand, betas: list[np.ndarray]) -> Standing:
    """Return where the problems stand at the coefficients that they begin with."""
    status, n_steps, n_rounds, n_idle = np.zeros((4, len(betas)), dtype=np.int64)
    total = np.zeros(len(betas))
    standing = Standing(np.concatenate(betas), problems.target.copy(), status, n_steps, n_rounds, n_idle, total)
    if standing.beta.any():
        begin_at(K, problems, standing, np.arange(len(betas)))
    return standing


def step_of(problems: AtHand, standing: Standing, most: list[np.ndarray], whole: bool, last: bool) -> SideBySideStep:
    """Return where all problems stand."""
    beta, starts = standing.beta.copy(), problems.starts
    scores = problems.target - standing.errors - problems.ridge * beta
    rise, fall = rise_and_fall(standing.errors, beta, problems.low, problems.high, problems.epsilon)
    violations = np.maximum.reduceat(rise, starts[:-1]) - np.minimum.reduceat(fall, starts[:-1])
    bounded = (
        [bool((np.abs(own) >= limit).any()) for own, limit in zip(parts(beta, starts), most, strict=True)]
        if problems.ridge.any()
        else [False] * len(most)
    )
    nothing, ends = np.zeros(beta.size, dtype=bool), starts.tolist()
    told = zip(
        violations.clip(min=0.0).tolist(),
        standing.n_steps.tolist(),
        standing.n_rounds.tolist(),
        standing.status.tolist(),
        bounded,
        pairwise(ends),
        strict=True,
    )
    steps = [
        DualStep(
            beta[first:stop],
            scores[first:stop],
            nothing[first:stop],
            violation,
            n_steps,
            n_rounds,
            converged=status == DONE and not is_bounded,
            whole=whole,
            last=status != OPEN,
        )
        for violation, n_steps, n_rounds, status, is_bounded, (first, stop) in told
    ]
    return SideBySideStep(tuple(steps), whole, last)


def parts(values: np.ndarray, starts: np.ndarray) -> list[np.ndarray]:
    """Return what belongs to each problem."""
    return np.split(values, starts[1:-1])
