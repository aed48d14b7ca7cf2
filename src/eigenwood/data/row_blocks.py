"""Rows in blocks of one length, whatever pieces they come in."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

import numpy as np

Pieces = Callable[[], Iterable[np.ndarray]]
Rows = TypeVar("Rows", bound=Any)  # arrays, or tables of Arrow


class Sections(NamedTuple):
    """Rows that can be read from the middle, by whoever reaches the files: another process, another machine.

    starts     0        400_000      800_000         where reading may begin without a look at the rows before
    read(500_000, 600_000)                           pieces of these rows, in order
    """

    starts: tuple[int, ...]
    read: Callable[[int, int], Iterable[np.ndarray]]


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
    sections: Sections | None = None  # None: reading begins at the first row, in this process

    @property
    def n_columns(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[np.ndarray]:
        return regrouped(self.pieces(), self.block_rows)

    def changed(self, pieces: Pieces, columns: tuple[str, ...] | None = None) -> Blocks:
        """Return rows that are made from these: whoever reads them from the middle would find these instead."""
        return replace(self, pieces=pieces, columns=self.columns if columns is None else columns, sections=None)


def joined_sections(parts: Sequence[Sections], lengths: Sequence[int]) -> Sections:
    """Return the rows of several sources, one after the other.

    >>> one = Sections((0, 2), lambda start, stop: [np.arange(start, stop)])
    >>> both = joined_sections([one, one], [3, 3])
    >>> both.starts, [piece.tolist() for piece in both.read(2, 5)]
    ((0, 2, 3, 5), [[2], [0, 1]])
    """
    firsts = [0, *accumulate(lengths)]
    starts = tuple(first + start for first, part in zip(firsts, parts, strict=False) for start in part.starts)
    return Sections(starts, partial(read_joined, parts, firsts))


def read_joined(parts: Sequence[Sections], firsts: list[int], start: int, stop: int) -> Iterator[np.ndarray]:
    """Yield rows of several sources; source i begins at row ``firsts[i]``."""
    for i in range(bisect_right(firsts, start) - 1, bisect_left(firsts, stop)):
        low, high = max(start - firsts[i], 0), min(stop, firsts[i + 1]) - firsts[i]
        if low < high:
            yield from parts[i].read(low, high)


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
