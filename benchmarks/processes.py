"""One command as a process of its own: seconds from start to end, peak memory, exit status, last words.

Memory is what the process and its children hold together, looked at four times a second, or the peak of one of them if
that is more. (The peak that wait4 tells on Linux is no use: it begins with the memory of whoever starts the process.)
"""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from benchmarks.memory import status_bytes
from benchmarks.rounds import THREAD_VARIABLES

SECONDS_BETWEEN_LOOKS = 0.25
LAST_WORDS = 4000  # characters


class Ended(NamedTuple):
    """What became of a process."""

    seconds: float
    peak_mb: float
    status: int | None  # of its exit, below zero for a signal; None: killed at the cap
    last_words: str

    def failure(self, what: str) -> str:
        """Return why the process did not end well; empty where it did."""
        if self.status == 0:
            return ""
        if self.status is None:
            return f"{what} was killed after {self.seconds:.0f} s"
        lines = [line for line in self.last_words.splitlines() if line.strip()]
        errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
        return f"{what} ended with status {self.status}: {(errors or lines or ['no word'])[-1]}"


def environment(threads: int, **more: str) -> dict[str, str]:
    """Return the environment of a command that is to use so many threads."""
    return dict(os.environ) | dict.fromkeys((*THREAD_VARIABLES, "LOKY_MAX_CPU_COUNT"), str(threads)) | more


def run(command: list[str], folder: Path, env: dict[str, str], cap: float) -> Ended:
    """Run a command in a folder to its end, or for ``cap`` seconds; whatever it started ends with it."""
    log = folder / "output.txt"
    with log.open("wb") as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
        with killed_after(process.pid, cap) as is_killed, Memory(process.pid) as memory:
            _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    kill_group(process.pid)  # children that were left behind
    peak = memory.peak_bytes or most_of_one(usage)
    text = log.read_text(errors="replace")[-LAST_WORDS:]
    return Ended(seconds, peak / 1e6, None if is_killed.is_set() else process.returncode, text)


@contextmanager
def killed_after(group: int, seconds: float):
    """Kill the group of a process after so many seconds; the event says whether it came to that."""
    is_killed = threading.Event()

    def kill() -> None:
        is_killed.set()
        kill_group(group)

    timer = threading.Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    try:
        yield is_killed
    finally:
        timer.cancel()


def kill_group(group: int) -> None:
    """End a process and those that it started, at once."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


class Memory:
    """The most that the processes of a session held together, from the start to the end of a ``with``."""

    def __init__(self, session: int) -> None:
        self.peak_bytes = 0
        self._session = session
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._is_over.wait(SECONDS_BETWEEN_LOOKS):
            self.peak_bytes = max(self.peak_bytes, session_bytes(self._session))


def session_bytes(session: int) -> int:
    """Return the memory of all processes of a session, or the peak of one if it is more; 0 where there is no /proc."""
    now, peaks = [0], [0]
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError, ValueError):  # it has ended meanwhile
            if int((process / "stat").read_text().rpartition(")")[2].split()[3]) == session:
                status = (process / "status").read_text()
                now.append(status_bytes(status, "VmRSS"))
                peaks.append(status_bytes(status, "VmHWM"))
    return max(sum(now), *peaks)


def most_of_one(usage: resource.struct_rusage) -> int:
    """Return the most memory that the process, or a child that it waited for, held alone."""
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, the others kilobytes
    return usage.ru_maxrss * unit
