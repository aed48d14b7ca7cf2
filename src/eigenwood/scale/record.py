"""What the workers of a cluster are, and what they did."""

from __future__ import annotations

import platform
import resource
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from eigenwood.compiling.choice import chosen

STATUS = Path("/proc/self/status")
PACKAGES = ("eigenwood", "numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True)
class ClusterRecord:
    """Facts about a cluster, for a report or a file."""

    workers: int
    threads: int
    tasks: int  # that were sent
    result_bytes: int  # that came back
    lost_workers: int
    peak_bytes: dict[str, int]  # the most memory that each worker has had

    @classmethod
    def of(cls, client: Any, n_tasks: int, n_bytes: int) -> ClusterRecord:
        """Return the record of the workers that are there now."""
        threads = client.nthreads()
        lost = [event for _, event in client.get_events("all") if event.get("action") == "remove-worker"]
        return cls(
            len(threads), sum(threads.values()), n_tasks, n_bytes, len(lost), client.run(peak_memory, on_error="ignore")
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the record as JSON's types."""
        return asdict(self)


def peak_memory() -> int:
    """Return the most memory that this process has had, in bytes.

    Linux tells by a file; what it answers by ``getrusage`` is no less than what the process had that started this one.
    """
    if STATUS.exists():
        (line,) = [line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:")]
        return 1024 * int(line.split()[1])
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def versions_here() -> dict[str, str]:
    """Return what decides about bits: the packages, and for which processors the kernels are compiled."""
    choice = chosen()
    return {
        "Python": ".".join(platform.python_version_tuple()[:2]),
        **{name: version(name) for name in PACKAGES},
        "machine code": "compiled there" if choice.level is None else choice.level.name,
    }
