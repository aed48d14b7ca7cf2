"""What learn shows while it runs: plain lines where it is piped, a leaderboard on a terminal."""

from __future__ import annotations

import io
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from eigenwood.report.live import PER_MINUTE, Live
from eigenwood.runs.clock import Clock
from eigenwood.runs.record import CUT
from tests.report.samples import candidate, cut


class FakeTime:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def console(is_terminal: bool) -> Console:
    return Console(file=io.StringIO(), force_terminal=is_terminal, width=100, color_system=None)


def data():
    split = SimpleNamespace(train=np.arange(7500), test=np.arange(2500))
    return SimpleNamespace(
        uses={"a": "feature", "b": "not used: looks like an ID", "y": "target"}, target="y", split=split
    )


def tried(live: Live, record) -> None:
    live.event("trial", method=record.method, params=record.params, n_rows=record.n_rows, n_folds=5)
    live.event("tried", record=record, best=(0.9, -0.3), used=3.0)


def test_piped_there_is_a_line_for_each_event_and_none_for_the_beginning_of_a_trial():
    err = console(False)
    with Live(console(False), err, Clock(60.0)) as live:
        live.event("prepared", data=data())
        tried(live, candidate("svm", 0.873, 1.2, params={"C": 10.0}))
        tried(live, cut("kernel-logistic", 4.0))
        live.event("final fit", n_rows=7500)
        live.event("assessment", n_rows=2500)
    lines = err.file.getvalue().splitlines()
    assert [line.partition("] ")[2] for line in lines] == [
        "7,500 rows to learn y from 1 columns, 2,500 put aside for the blind test",
        "SVM (C 10) on 6,000 rows: 0.873 in 1.2 s; best so far 0.9",
        f"kernel logistic regression (defaults) on 6,000 rows: {CUT}",
        "fitting the final model to 7,500 rows",
        "asking it about 2,500 blind rows",
    ]


@pytest.mark.parametrize("per_second", [1, 50])
def test_piped_there_are_at_most_ten_lines_in_any_minute_and_none_is_forgotten(per_second):
    err, now = console(False), FakeTime()
    when = list[float]()
    with Live(console(False), err, Clock(None), now=now) as live:
        for _ in range(150 * per_second):
            before = len(err.file.getvalue())
            tried(live, candidate("svm", 0.8, 0.1))
            if len(err.file.getvalue()) > before:
                when.append(now.now)
            now.now += 1.0 / per_second
        live.event("final fit", n_rows=10)
        live.event("assessment", n_rows=10)
    for start in np.arange(0.0, 150.0, 0.5):
        assert sum(start <= moment < start + 60.0 for moment in when) <= PER_MINUTE
    text = err.file.getvalue()
    lines = text.splitlines()
    counted = sum(int(line.split(" ")[0][1:]) for line in lines if line.startswith("("))
    assert counted + len([line for line in lines if "best so far" in line]) == 150 * per_second
    assert "fitting the final model" in text
    assert "asking it about" in text


def test_what_is_left_out_at_the_end_is_counted():
    err, now = console(False), FakeTime()
    with Live(console(False), err, Clock(None), now=now) as live:
        for _ in range(20):
            tried(live, candidate("svm", 0.8, 0.1))
    last = err.file.getvalue().splitlines()[-1]
    assert last == "(13 events more)"


def test_on_a_terminal_the_best_stand_first_and_what_was_cut_is_counted():
    err = console(True)
    live = Live(console(True), err, Clock(60.0, used=12.0))
    with live:
        tried(live, candidate("svm", 0.7, 1.0))
        tried(live, candidate("random-forest", 0.9, 1.0))
        tried(live, candidate("adaboost", 0.99, 1.0, n_rows=1500))
        tried(live, cut("kernel-logistic", 3.0))
        live.event("final fit", n_rows=7500)
        with err.capture() as capture:
            err.print(live._view())
    text = capture.get()
    assert text.index("random forest") < text.index("SVM") < text.index("AdaBoost")
    assert "kernel logistic" not in text
    assert "4 tried, 1 cut by the time limit" in text
    assert "48 s left" in text or "47 s left" in text
    assert "fitting the final model to 7,500 rows" in text


def test_without_a_limit_the_time_used_is_shown():
    live = Live(console(True), console(True), Clock(None, used=75.0))
    shown = console(False)
    shown.print(live._view())
    assert "1 min 15 s so far" in shown.file.getvalue()


def test_an_event_that_is_not_known_is_shown_by_its_name():
    err = console(False)
    with Live(console(False), err, Clock(None)) as live:
        live.event("resumed")
    assert err.file.getvalue().strip().endswith("] resumed")
