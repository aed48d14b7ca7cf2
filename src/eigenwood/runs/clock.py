"""The one clock of a job: from the start of the process to the written report."""

from __future__ import annotations

import os
import time
from pathlib import Path

from eigenwood.estimators.watching import Deadline

PAGE = 1.2  # seconds kept for the page, the files and the end of the process


class Clock(Deadline):
    """A limit for a whole job, of which some seconds may have gone before; None is no limit."""

    def __init__(self, limit: float | None, used: float = 0.0) -> None:
        super().__init__(None if limit is None else limit - used)
        self._started = time.perf_counter() - used

    def used(self) -> float:
        """Return the seconds since the job began."""
        return time.perf_counter() - self._started

    def began_earlier(self, seconds: float) -> None:
        """Count seconds that an earlier process has used."""
        self._started -= seconds
        if self._deadline is not None:
            self._deadline -= seconds

    def end_within(self, seconds: float) -> None:
        """Leave only so many seconds, and those for the page."""
        last = time.perf_counter() + seconds + PAGE
        self._deadline = last if self._deadline is None else min(self._deadline, last)

    def spare(self, planned: float = 0.0) -> float:
        """Return the seconds that are left beside what is planned, and the page; infinity without a limit."""
        left = self.seconds_left()
        return float("inf") if left is None else left - planned - PAGE


def seconds_since_start() -> float:
    """Return how long this process has been running, where the system tells; else 0.

    Python itself and the imports take time that counts for whoever waits.
    """
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        up = float(Path("/proc/uptime").read_text().split()[0])
        return max(up - ticks / os.sysconf("SC_CLK_TCK"), 0.0)
    except (OSError, ValueError, IndexError):
        return time.process_time()
