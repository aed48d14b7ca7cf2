"""The one clock of a job."""

from __future__ import annotations

import subprocess
import sys
import time

from eigenwood.runs.clock import PAGE, Clock, seconds_since_start


def test_what_is_spare_leaves_room_for_the_page_and_what_is_planned():
    clock = Clock(100.0, used=30.0)
    assert 70.0 - PAGE - 5.0 - 1.0 < clock.spare(5.0) <= 70.0 - PAGE - 5.0


def test_without_a_limit_there_is_time_for_everything():
    clock = Clock(None)
    assert clock.spare(1e9) == float("inf")
    assert not clock.time_is_up()


def test_seconds_of_an_earlier_process_count():
    clock = Clock(100.0)
    clock.began_earlier(40.0)
    assert 59.0 < clock.seconds_left() <= 60.0
    assert 40.0 <= clock.used() < 41.0


def test_an_interrupt_leaves_some_seconds_and_never_more_than_there_were():
    clock = Clock(100.0)
    clock.end_within(2.0)
    assert 1.0 < clock.spare() <= 2.0
    short = Clock(1.0)
    short.end_within(2.0)
    assert short.seconds_left() <= 1.0
    endless = Clock(None)
    endless.end_within(2.0)
    assert 1.0 < endless.spare() <= 2.0


def test_the_seconds_of_the_process_begin_with_the_process():
    code = "import time; time.sleep(0.3); from eigenwood.runs.clock import seconds_since_start as s; print(s())"
    began = time.perf_counter()
    said = float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert 0.25 < said < time.perf_counter() - began + 0.05
    assert seconds_since_start() > 0.0
