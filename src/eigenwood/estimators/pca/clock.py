"""How much work fits into the time that is left: measured on this machine, in this fit.

Work is counted in multiplications of a large matrix product on one thread. Calls that cannot be cut, such as LAPACK's,
are begun only if they fit; otherwise a route is taken that looks at the clock often.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

SAMPLE = 256  # rows of the matrices whose product is timed
GRACE = 0.1  # seconds: what is done sooner is begun whatever the time
LEAST_SHARE = 0.2  # of the grace, for a part of the work
CAUTION = 1.5  # times the seconds that are expected


@dataclass(frozen=True)
class Clock:
    """The time that is left, and what can be done in it; ``seconds_left`` is None without a limit."""

    seconds_left: Callable[[], float | None]
    n_threads: int

    def affords(self, work: float, n_threads: int = 1) -> bool:
        """Return whether so many multiplications fit, on so many threads."""
        left = self.seconds_left()
        return left is None or CAUTION * self.seconds_for(work, n_threads) <= max(left, GRACE)

    def seconds_for(self, work: float, n_threads: int = 1) -> float:
        """Return how long so many multiplications take; 0 without a limit, where nobody asks."""
        if self.seconds_left() is None:
            return 0.0
        return work / multiplications_per_second() / min(n_threads, os.cpu_count() or 1)

    def work_within(self, share: float) -> float:
        """Return how many multiplications fit into a share of the time that is left, on all threads."""
        left = self.seconds_left()
        assert left is not None
        return (
            max(share * left, LEAST_SHARE * GRACE)
            * multiplications_per_second()
            * min(self.n_threads, os.cpu_count() or 1)
        )

    def is_up(self) -> bool:
        """Return whether no time is left."""
        left = self.seconds_left()
        return left is not None and left <= 0.0


@cache
def multiplications_per_second() -> float:
    """Return the pace of a matrix product on one thread."""
    A = np.random.default_rng(0).standard_normal((SAMPLE, SAMPLE))
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        A @ A
        seconds.append(time.perf_counter() - start)
    return SAMPLE**3 / max(min(seconds), 1e-6)


NO_LIMIT = Clock(lambda: None, 1)
