"""Several dual problems side by side, each on one thread, in turns of a few rounds.

    problems      0   1   2   3   …               whoever is free takes the one that waits longest,
    turns         │   │   │   │                   works on it for some rounds, and puts it back
                  ▼   ▼   ▼   ▼

So all of them come along evenly, and a time limit finds no problem that was not begun. A problem is not changed by the
others, nor by the number of threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from threading import Event
from typing import NamedTuple, TypeAlias

from eigenwood.core.margin.dual_svm import DualStep
from eigenwood.core.threads import WorkQueue, one_blas_thread, results_of

Problems: TypeAlias = list[Generator[DualStep, None, None]]

TURN = 4  # rounds
PATIENCE = 0.02  # seconds without a result, after which somebody may look at the clock


class SideBySideStep(NamedTuple):
    """Where each of the problems stands."""

    steps: tuple[DualStep, ...]
    whole: bool
    last: bool


def side_by_side(problems: Problems, n_threads: int) -> Generator[SideBySideStep, None, None]:
    """Yield often, until all problems are solved; a single one uses its own threads."""
    with closing_all(problems):
        if len(problems) == 1:
            for step in problems[0]:
                yield SideBySideStep((step,), step.whole, step.last)
        else:
            yield from in_turns(problems, n_threads)


def in_turns(problems: Problems, n_threads: int) -> Generator[SideBySideStep, None, None]:
    """Yield often, and a whole step whenever one of several problems is solved."""
    steps = results_of(next, problems, n_threads)
    waiting = deque(number for number, step in enumerate(steps) if not step.last)
    if not waiting:
        yield SideBySideStep(tuple(steps), True, True)
    elif n_threads == 1:
        yield from on_one_thread(problems, steps, waiting)
    else:
        yield from on_threads(problems, steps, waiting, n_threads)


def turn(problem: Iterator[DualStep]) -> Iterator[DualStep]:
    """Yield the steps of a few rounds. None is left in the middle of one, where it needs memory."""
    n_rounds = 0
    for step in problem:
        yield step
        n_rounds += step.whole
        if n_rounds == TURN:
            return


def on_one_thread(
    problems: Problems, steps: list[DualStep], waiting: deque[int]
) -> Generator[SideBySideStep, None, None]:
    """Yield after every step of any problem."""
    with one_blas_thread():
        while waiting:
            number = waiting.popleft()
            for step in turn(problems[number]):
                steps[number] = step
                yield SideBySideStep(tuple(steps), step.last, step.last and not waiting)
            if not step.last:
                waiting.append(number)


def on_threads(
    problems: Problems, steps: list[DualStep], waiting: deque[int], n_threads: int
) -> Generator[SideBySideStep, None, None]:
    """Yield after every turn, and every few milliseconds while all are at work.

    A whole step has what was handed in so far, one problem more each time; those in between, where time may be up, have
    what the problems have reached.
    """
    is_left, n_open, handed_in = Event(), len(waiting), list(steps)

    def work(number: int) -> DualStep:
        for step in turn(problems[number]):
            if step.whole:
                steps[number] = step
            if is_left.is_set():
                break
        return steps[number]

    with WorkQueue(work, n_threads) as queue, leaving(is_left):
        for number in waiting:
            queue.add(number)
        while queue.is_open():
            number, step = queue.result_within(PATIENCE) or (-1, None)
            if step is None:
                yield SideBySideStep(tuple(steps), False, False)
                continue
            handed_in[number] = step
            if step.last:
                n_open -= 1
            else:
                queue.add(number)
            yield SideBySideStep(tuple(handed_in if step.last else steps), step.last, n_open == 0)


@contextmanager
def closing_all(problems: Problems) -> Iterator[None]:
    """Leave nothing half done at the end, however it comes: work in pieces may hold threads."""
    try:
        yield
    finally:
        for problem in problems:
            problem.close()


@contextmanager
def leaving(is_left: Event) -> Iterator[None]:
    """Say at the end, however it comes, that nobody waits for the steps any more."""
    try:
        yield
    finally:
        is_left.set()
