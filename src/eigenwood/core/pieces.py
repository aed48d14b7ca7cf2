"""Long work in pieces: a generator that pauses after each of them, and returns what it comes to.

    result = yield from work()        within other work in pieces: its pauses are passed on
    result = at_once(work())          without a pause

Whoever drives it may leave it at any pause, and then has no result. So a clock can be looked at in the middle of work
that is one function call.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

Result = TypeVar("Result")
Step = TypeVar("Step")

Pieces: TypeAlias = Generator[None, None, Result]


def at_once(pieces: Pieces[Result]) -> Result:
    """Return what work in pieces comes to.

    >>> def counting():
    ...     yield
    ...     return 3
    >>> at_once(counting())
    3
    """
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            return end.value


def while_at(step: Step, pieces: Pieces[Result]) -> Generator[Step, None, Result]:
    """Return what work in pieces comes to; at every pause, yield the step at which a solver stands meanwhile.

    >>> def counting():
    ...     yield
    ...     return 3
    >>> list(while_at("here", counting()))
    ['here']
    """
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            return end.value
        yield step
