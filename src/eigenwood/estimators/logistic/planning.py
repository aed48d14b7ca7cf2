"""How many landmarks a fit may have: all that tell anything where rows are few, else as many as fit."""

from __future__ import annotations

from numbers import Integral
from typing import NamedTuple

from eigenwood.core.kernels.low_rank import Rank

FULL, LOW_RANK = SOLVERS = ("full", "low_rank")

FULL_ROWS = 2000  # of which the whole kernel is factored
MOST_LANDMARKS = 500  # where nobody says how many
FULL_ERROR, LOW_ERROR = 1e-9, 1e-3  # shares of the trace at which no more landmarks are needed
BYTES_OF_ENTRY = 16.0  # of F, in float64, and of what is computed beside it


class Plan(NamedTuple):
    """A route, how many landmarks it may have, and the words for the choice."""

    solver: str
    rank: Rank
    reason: str


def plan_of(n_rows: int, n_components: int | float | None, max_bytes: float, full_rows: int = FULL_ROWS) -> Plan:
    """Return how the kernel of so many rows is factored.

    >>> plan_of(100, None, 1e9)
    Plan(solver='full', rank=Rank(count=100, error=1e-09), reason='100 rows are few')
    >>> plan_of(100_000, None, 1e8).reason
    'the factor of 100000 rows with 62 landmarks fits in 100 MB'
    """
    most = max(1, min(n_rows, int(max_bytes // (BYTES_OF_ENTRY * n_rows))))
    if n_components is None and n_rows <= full_rows and most == n_rows:
        return Plan(FULL, Rank(n_rows, FULL_ERROR), f"{n_rows} rows are few")
    if n_components is None:
        count = min(most, MOST_LANDMARKS)
        if count < min(MOST_LANDMARKS, n_rows):
            return Plan(LOW_RANK, Rank(count, LOW_ERROR), fitting_words(n_rows, count, max_bytes))
        return Plan(LOW_RANK, Rank(count, LOW_ERROR), f"{n_rows} rows have more kernel values than are worth computing")
    if isinstance(n_components, Integral):
        if most < min(int(n_components), n_rows):
            return Plan(LOW_RANK, Rank(most, FULL_ERROR), fitting_words(n_rows, most, max_bytes))
        return Plan(LOW_RANK, Rank(min(most, int(n_components)), FULL_ERROR), f"n_components={n_components}")
    share = max(float(n_components), FULL_ERROR)
    return Plan(LOW_RANK, Rank(most, share), f"n_components={float(n_components):g} of the trace may be missing")


def fitting_words(n_rows: int, count: int, max_bytes: float) -> str:
    """Return that memory decides."""
    return f"the factor of {n_rows} rows with {count} landmarks fits in {max_bytes / 1e6:.0f} MB"
