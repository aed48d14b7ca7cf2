"""Peak memory of one stretch of code, in MB (10^6 bytes).

Linux can forget the peak of the past: writing 5 to clear_refs sets VmHWM back to the memory in use now.
Elsewhere the peak of the whole life of the process is all there is, so only growth beyond it is seen.
Both see this process alone; what a contender does in processes of its own is not counted.
"""

from __future__ import annotations

import re
import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


class PeakMemory:
    """Started at its making; ``mb()`` is how far memory has risen above the level at the start."""

    def __init__(self) -> None:
        self._resets = _forget_peak()
        self._start = _status_bytes("VmRSS") if self._resets else _lifetime_peak_bytes()

    def mb(self) -> float:
        """Return the peak since the start, minus the memory in use at the start."""
        peak = _status_bytes("VmHWM") if self._resets else _lifetime_peak_bytes()
        return max(0, peak - self._start) / 1e6


def _forget_peak() -> bool:
    """Return whether the peak could be set back to the memory in use now."""
    try:
        _CLEAR.write_text("5")
    except OSError:
        return False
    return _STATUS.exists()


def status_bytes(status: str, field: str) -> int:
    """Return a field of /proc/<process>/status in bytes; 0 where it is absent, as of a process that has ended."""
    found = re.search(rf"{field}:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0


def _status_bytes(field: str) -> int:
    return status_bytes(_STATUS.read_text(), field)


def _lifetime_peak_bytes() -> int:
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, the others kilobytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
