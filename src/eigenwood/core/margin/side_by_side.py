"""Several dual problems side by side, each on one thread, in turns of a few rounds or pieces of a long one.

    problems      0   1   2   3   …               whoever is free takes the one that waits longest,
    turns         │   │   │   │                   works on it for some steps, and puts it back
                  ▼   ▼   ▼   ▼

So all of them come along evenly, and a time limit finds no problem that was not begun. A problem is not changed by the
others, nor by the number of threads.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from threading import Event
from typing import NamedTuple, TypeAlias

from eigenwood.core.margin.dual_svm import DualStep
from eigenwood.core.threads import WorkQueue, results_of

Problems: TypeAlias = list[Generator[DualStep, None, None]]

TURN = 4  # steps: a round or two of a small problem, a part of one of a large problem


class SideBySideStep(NamedTuple):
    """Where each of the problems stands."""

    steps: tuple[DualStep, ...]
    whole: bool
    last: bool


def side_by_side(problems: Problems, n_threads: int) -> Generator[SideBySideStep, None, None]:
    """Yield after every turn, until all problems are solved; a single one uses its own threads."""
    with closing_all(problems):
        if len(problems) == 1:
            for step in problems[0]:
                yield SideBySideStep((step,), step.whole, step.last)
        else:
            yield from in_turns(problems, n_threads)


def in_turns(problems: Problems, n_threads: int) -> Generator[SideBySideStep, None, None]:
    """Yield after every turn of several problems."""
    steps = results_of(next, problems, n_threads)
    is_left = Event()

    def turn(number: int) -> DualStep:
        for _, step in zip(range(TURN), problems[number], strict=False):
            if step.last or is_left.is_set():
                break
        return step

    n_open = 0
    with WorkQueue(turn, n_threads) as queue, leaving(is_left):
        for number, step in enumerate(steps):
            if not step.last:
                queue.add(number)
                n_open += 1
        if n_open == 0:
            yield SideBySideStep(tuple(steps), True, True)
        while queue.is_open():
            number, steps[number] = queue.next_result()
            if steps[number].last:
                n_open -= 1
            else:
                queue.add(number)
            yield SideBySideStep(tuple(steps), steps[number].last, n_open == 0)


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
