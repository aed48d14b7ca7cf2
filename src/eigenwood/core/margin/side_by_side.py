"""Several dual problems side by side, each on one thread, in turns of a few rounds.

    problems      0   1   2   3   …               whoever is free takes the one that waits longest,
    turns         │   │   │   │                   works on it for some rounds, and puts it back
                  ▼   ▼   ▼   ▼

So all of them come along evenly, and a time limit finds no problem that was not begun. A problem is not changed by the
others, nor by the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from eigenwood.core.margin.dual_svm import DualStep
from eigenwood.core.threads import WorkQueue

TURN = 4  # rounds


class SideBySideStep(NamedTuple):
    """Where each of the problems stands."""

    steps: tuple[DualStep, ...]
    whole: bool
    last: bool


def side_by_side(problems: list[Iterator[DualStep]], n_threads: int) -> Iterator[SideBySideStep]:
    """Yield after every turn, until all problems are solved; a single one uses its own threads."""
    steps = [next(problem) for problem in problems]
    if len(problems) == 1:
        yield SideBySideStep((steps[0],), True, steps[0].last)
        for step in problems[0]:
            yield SideBySideStep((step,), True, step.last)
        return

    def turn(number: int) -> DualStep:
        for _, step in zip(range(TURN), problems[number], strict=False):
            if step.last:
                break
        return step

    n_open = 0
    with WorkQueue(turn, n_threads) as queue:
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
