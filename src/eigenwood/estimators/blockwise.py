"""What is computed in parts that do not know of each other: in this process, or wherever somebody has arranged for it.

    blocks      [ 0 ][ 1 ][ 2 ] …                 cut by row number, whoever reads them
    work        work(block, weights, first_row)   of each block by itself
    results     [ r0, r1, r2 ] …                  always in this order

    tasks       0, 1, 2, …                        work(task), taken from a queue; results as they are ready

``scale`` lets a cluster compute them; whoever asks for results does not know, and gets the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

import numpy as np

from eigenwood.core.threads import WorkQueue, ahead
from eigenwood.data.row_blocks import Blocks

Result = TypeVar("Result")
Work = Callable[[np.ndarray, np.ndarray | None, int], Result]


class Queue(Protocol):
    """Tasks whose results come as they are ready."""

    @property
    def width(self) -> int: ...  # how many tasks keep everybody busy

    def add(self, task: Any) -> None: ...

    def next_result(self) -> tuple[Any, Any]: ...  # a task and its result


class Computer(Protocol):
    """Who computes."""

    def block_results(self, work: Work, X: Blocks, weights: np.ndarray | None) -> Iterator[Any]: ...

    def queue(self, work: Callable[[Any], Any], n_threads: int) -> AbstractContextManager[Queue]: ...


class ThisProcess:
    """Computes here."""

    def block_results(self, work: Work, X: Blocks, weights: np.ndarray | None) -> Iterator[Any]:
        """Yield the results one by one, while the next block is being read."""
        first_row = 0
        for block in ahead(iter(X)):
            yield work(block, part_of(weights, first_row, len(block)), first_row)
            first_row += len(block)

    def queue(self, work: Callable[[Any], Any], n_threads: int) -> AbstractContextManager[Queue]:
        """Return a queue on threads."""
        return WorkQueue(work, n_threads)


def block_results(work: Work[Result], X: Blocks, weights: np.ndarray | None = None) -> Iterator[Result]:
    """Yield ``work(block, weights of its rows, its first row)`` for each block, in order."""
    return _COMPUTER.get().block_results(work, X, weights)


def task_queue(work: Callable[[Any], Any], n_threads: int) -> AbstractContextManager[Queue]:
    """Return a queue of tasks, to be entered; another process gets ``work`` with all that it holds."""
    return _COMPUTER.get().queue(work, n_threads)


def part_of(weights: np.ndarray | None, first_row: int, n_rows: int) -> np.ndarray | None:
    """Return the weights of some rows; None if all rows count once."""
    return None if weights is None else weights[first_row : first_row + n_rows]


@contextmanager
def computed_by(computer: Computer) -> Iterator[None]:
    """Let somebody else compute what is asked for inside."""
    token = _COMPUTER.set(computer)
    try:
        yield
    finally:
        _COMPUTER.reset(token)


THIS_PROCESS: Computer = ThisProcess()
_COMPUTER: ContextVar[Computer] = ContextVar("computer", default=THIS_PROCESS)
