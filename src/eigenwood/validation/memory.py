"""How much memory a method may use."""

from __future__ import annotations

import os
from pathlib import Path

from eigenwood.validation.params import AnyOf, Nothing, Number

MEMORY_LIMIT = AnyOf(Nothing(), Number(above=0))

UNKNOWN_BYTES = 2e9  # where the system does not tell what is free
MEGABYTE = 1e6


def memory_bytes(limit: float | None) -> float:
    """Return a limit in megabytes as bytes; None is half of what is free."""
    return free_bytes() / 2.0 if limit is None else limit * MEGABYTE


def free_bytes() -> float:
    """Return how much memory this process could still take: of the machine, and of the container it may be in."""
    known = [free for free in (_machine_bytes(), _container_bytes()) if free is not None]
    return min(known, default=UNKNOWN_BYTES)


def _machine_bytes() -> float | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024.0 * next(float(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        names = getattr(os, "sysconf_names", {})
        if "SC_AVPHYS_PAGES" not in names:
            return None
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def _container_bytes() -> float | None:
    try:
        folder = Path("/sys/fs/cgroup")
        most, used = (float((folder / name).read_text()) for name in ("memory.max", "memory.current"))
        lines = (folder / "memory.stat").read_text().splitlines()
        cached = next(float(line.split()[1]) for line in lines if line.startswith("inactive_file "))  # given back
        return max(most - used + cached, 0.0)
    except (OSError, ValueError, StopIteration):  # there is none, or it has no limit
        return None
