"""Rows in blocks of one length, whatever pieces they come in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

Pieces = Callable[[], Iterable[np.ndarray]]
Rows = TypeVar("Rows", bound=Any)  # arrays, or tables of Arrow


@dataclass(frozen=True)
class Blocks:
    """Rows in blocks of ``block_rows``; each loop over it starts again at the first row.

    >>> from eigenwood.data.blocks import blocks
    >>> stream = blocks(np.arange(10.0).reshape(5, 2), block_rows=2)
    >>> [block.shape for block in stream], stream.columns, stream.n_rows
    ([(2, 2), (2, 2), (1, 2)], ('x0', 'x1'), 5)
    """

    columns: tuple[str, ...]
    n_rows: int | None  # None where only reading to the end would tell, as in a CSV file
    dtype: np.dtype
    block_rows: int
    pieces: Pieces  # starts the rows anew, cut wherever the source cuts them

    @property
    def n_columns(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[np.ndarray]:
        return regrouped(self.pieces(), self.block_rows)


def regrouped(pieces: Iterable[Rows], block_rows: int, join: Callable[..., Any] = np.concatenate) -> Iterator[Rows]:
    """Yield the same rows, exactly ``block_rows`` at a time except the last."""
    waiting: list[Rows] = []
    n_waiting = 0
    for piece in pieces:
        start = 0
        while start < len(piece):
            part = piece[start : start + block_rows - n_waiting]
            start += len(part)
            waiting.append(part)
            n_waiting += len(part)
            if n_waiting == block_rows:
                yield joined(waiting, join)
                waiting, n_waiting = [], 0
    if waiting:
        yield joined(waiting, join)


def joined(parts: list[Rows], join: Callable[..., Any]) -> Rows:
    return parts[0] if len(parts) == 1 else join(parts)
