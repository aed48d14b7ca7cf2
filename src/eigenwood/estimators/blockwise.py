"""What is computed of blocks of rows one by one: in this process, or wherever somebody has arranged for it.

    blocks      [ 0 ][ 1 ][ 2 ] …                 cut by row number, whoever reads them
    work        work(block, weights, first_row)   of each block by itself
    results     [ r0, r1, r2 ] …                  always in this order

``scale`` lets a cluster compute them; whoever asks for results does not know, and gets the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

from eigenwood.core.threads import ahead
from eigenwood.data.row_blocks import Blocks

Result = TypeVar("Result")
Work = Callable[[np.ndarray, np.ndarray | None, int], Result]
Computer = Callable[[Work, Blocks, np.ndarray | None], Iterator[Any]]


def block_results(work: Work[Result], X: Blocks, weights: np.ndarray | None = None) -> Iterator[Result]:
    """Yield ``work(block, weights of its rows, its first row)`` for each block, in order."""
    return _COMPUTER.get()(work, X, weights)


def computed_here(work: Work[Result], X: Blocks, weights: np.ndarray | None) -> Iterator[Result]:
    """Yield the results one by one, while the next block is being read."""
    first_row = 0
    for block in ahead(iter(X)):
        yield work(block, part_of(weights, first_row, len(block)), first_row)
        first_row += len(block)


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


_COMPUTER: ContextVar[Computer] = ContextVar("computer", default=computed_here)
