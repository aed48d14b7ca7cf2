"""A command as a process of its own: its seconds, its memory, its end."""

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from benchmarks.processes import Ended, environment, run

HOLD = "import time; a = bytearray({mb} << 20); time.sleep({seconds})"


@pytest.fixture
def ran(tmp_path):
    """Return a function that runs a line of Python."""
    return lambda line, cap=30.0: run([sys.executable, "-c", line], tmp_path, environment(1), cap)


def test_the_seconds_are_those_from_start_to_end(ran):
    began = time.perf_counter()
    ended = ran("import time; time.sleep(0.4)")
    assert 0.4 < ended.seconds <= time.perf_counter() - began
    assert ended.status == 0
    assert ended.failure("it") == ""


def test_a_failure_is_told_by_its_last_line(ran):
    ended = ran("import sys; print('first'); sys.exit('no such column')")
    assert ended.failure("learn") == "learn ended with status 1: no such column"


def test_a_failure_is_told_by_its_error_where_advice_follows():
    ended = Ended(1.0, 2.0, 1, "Traceback:\npkg.AutoMLException: no model\nPlease check your data.\n")
    assert ended.failure("mljar") == "mljar ended with status 1: pkg.AutoMLException: no model"


def test_a_signal_is_a_status_below_zero(ran):
    assert ran("import os; os.kill(os.getpid(), 9)").status == -9


def test_who_does_not_end_is_killed_with_its_children(ran, tmp_path):
    start_child = "import subprocess, sys; c = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])"
    ended = ran(f"{start_child}; open('child', 'w').write(str(c.pid)); c.wait()", cap=1.5)
    assert ended.status is None
    assert ended.failure("it") == f"it was killed after {ended.seconds:.0f} s"
    assert is_gone(int((tmp_path / "child").read_text()))


def test_children_that_are_left_behind_end_too(ran, tmp_path):
    ran("import subprocess; c = subprocess.Popen(['sleep', '60']); open('child', 'w').write(str(c.pid))")
    assert is_gone(int((tmp_path / "child").read_text()))


def is_gone(process: int) -> bool:
    """Return whether a process has ended, or is about to."""
    for _ in range(50):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        with suppress(OSError):
            if (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        time.sleep(0.1)
    return False


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell")
def test_memory_is_that_of_the_process_and_its_children(ran):
    child = HOLD.format(mb=100, seconds=2)
    ended = ran(f"import subprocess, sys; c = subprocess.Popen([sys.executable, '-c', {child!r}]); {child}; c.wait()")
    assert 200 < ended.peak_mb < 300


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell")
def test_memory_of_who_starts_the_process_does_not_count(ran):
    ours = np.ones(40_000_000)
    assert ran("import time; time.sleep(0.8)").peak_mb < 100
    assert ours.size


def test_threads_are_set_in_the_environment():
    env = environment(3, EXTRA="yes")
    assert env["OMP_NUM_THREADS"] == env["NUMBA_NUM_THREADS"] == env["LOKY_MAX_CPU_COUNT"] == "3"
    assert env["EXTRA"] == "yes"


def test_a_command_without_a_word_is_told_so():
    assert Ended(1.0, 2.0, 1, "\n").failure("learn") == "learn ended with status 1: no word"
