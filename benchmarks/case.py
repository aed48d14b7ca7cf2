"""What a bench file is written in: a Case is data, a contender is one function.

contender(threads) -> run          imports the library and configures it; not clocked
run(arrays) -> result              called on ``small(arrays)`` to warm up, then once with the clock on
quality.of(arrays, result)         scores the result; not clocked
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

OURS = "eigenwood"

Arrays = dict[str, np.ndarray]
Run = Callable[[Arrays], Any]
Contender = Callable[[int], Run]


def first_rows(arrays: Arrays, n_rows: int = 256) -> Arrays:
    """Return the first rows of every array: enough to compile and to start libraries, little to compute."""
    return {name: array[:n_rows] if array.ndim else array for name, array in arrays.items()}


@dataclass(frozen=True)
class Quality:
    """How good a result is: a name for the column, the function, and which way is better."""

    name: str
    of: Callable[[Arrays, Any], float]
    better: str  # "higher" or "lower"


@dataclass(frozen=True)
class Case:
    """One table: the same arrays for every contender.

    ``make()`` returns the arrays, or ``make(n)`` for each n in ``sizes``. A text array of no dimension is a
    remark about the data ("source": np.array("mnist")) and is reported as such. A run that returns None is
    not scored: it is a yardstick (a bare product), not a rival.
    """

    name: str
    make: Callable[..., Arrays]
    contenders: dict[str, Contender]
    quality: Quality
    target: str = ""
    sizes: tuple[int, ...] = ()  # ascending
    small: Callable[[Arrays], Arrays] = first_rows
    time_limit: float = 600.0  # seconds for one process, warm-up and scoring included
