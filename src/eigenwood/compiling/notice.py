"""Nobody waits without a word: when Numba has compiled for a second, one line says so."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 1.0  # seconds of compiling, all together, that need no word
WHY = "'eigenwood info' says why no ready-made code was used."
LINE = f"eigenwood: compiling for this machine. This happens once; later runs find the code on disk. {WHY}"
UNKEPT_LINE = (
    "eigenwood: compiling for this machine. This happens in every run, since no folder can be written to; "
    f"NUMBA_CACHE_DIR names one. {WHY}"
)


class _Clock:
    """Adds up the time of compiling, and says the line when it is too long: once in a process."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.has_spoken = False
        self.is_kept = True  # what is compiled, on disk

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the time inside; entries do not compile inside each other, but threads may take turns."""
        timer = threading.Timer(max(PATIENCE - self.seconds, 0.0), self.speak)
        timer.daemon = True
        timer.start()
        start = time.perf_counter()
        try:
            yield
        finally:
            timer.cancel()
            self.seconds += time.perf_counter() - start

    def speak(self) -> None:
        if not self.has_spoken:
            self.has_spoken = True
            print(LINE if self.is_kept else UNKEPT_LINE, file=sys.stderr, flush=True)


CLOCK = _Clock()
