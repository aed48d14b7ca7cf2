"""What ``learn`` is doing, while it does it: a live leaderboard on a terminal, plain lines anywhere else.

terminal    a table of the best candidates, what is being tried, the time left; gone when the run is over
piped       one line for each event, ten a minute at most; events that had to be left out are counted
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live as RichLive
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from eigenwood.report.words import duration, method_words, parameter_words
from eigenwood.runs.clock import Clock
from eigenwood.runs.record import CUT, FINISHED, CandidateRecord

MOST_LINES, PER_MINUTE, MINUTE = 10, 10, 60.0  # lines of the live leaderboard; plain lines in so many seconds
ALWAYS = ("prepared", "final fit", "assessment")  # events that have a line of their own, whatever came before
BAR_WIDTH = 30


class Live:
    """Shows events of a run; ``event`` is its ``report`` function."""

    def __init__(self, out: Console, err: Console, clock: Clock, now: Callable[[], float] = time.monotonic) -> None:
        self._out, self._err, self._clock, self._now = out, err, clock, now
        self._records = list[CandidateRecord]()
        self._doing = "reading the table"
        self._screen: RichLive | None = None
        self._lines = PlainLines(err, now)

    def __enter__(self) -> Live:
        if self._err.is_terminal:
            self._screen = RichLive(console=self._err, get_renderable=self._view, refresh_per_second=4, transient=True)
            self._screen.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._screen is not None:
            self._screen.stop()
        else:
            self._lines.close()

    def event(self, name: str, **facts: Any) -> None:
        """Show that something has happened."""
        words = EVENTS[name](facts) if name in EVENTS else name
        if name == "tried":
            self._records.append(facts["record"])
        else:
            self._doing = words
        if self._screen is None and name != "trial":
            self._lines.add(f"{self._stamp()} {words}", name in ALWAYS)

    def _stamp(self) -> str:
        return f"[{self._clock.used():.0f} s]"

    # --- on a terminal ------------------------------------------------------------------------------

    def _view(self) -> RenderableType:
        """Return what is on the screen at this moment."""
        status = Text(self._doing, no_wrap=True, overflow="ellipsis")
        return Group(*([self._table()] if self._records else []), self._time(), status)

    def _table(self) -> Table:
        """Return the best candidates so far: those on the most rows first, and none that was cut."""
        ranked = [record for record in self._records if record.status == FINISHED]
        ranked.sort(key=lambda record: (record.n_rows, record.mean_score, -record.loss), reverse=True)
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for heading in ("candidate", "parameters", "score", "rows", "time"):
            is_number = heading in ("score", "rows", "time")
            table.add_column(heading, justify="right" if is_number else "left", no_wrap=True, overflow="ellipsis")
        for place, record in enumerate(ranked[:MOST_LINES]):
            cells = (
                method_words(record.method),
                parameter_words(record.params),
                f"{abs(record.mean_score):.4g}",
                f"{record.n_rows:,}",
                duration(record.seconds),
            )
            table.add_row(*map(Text, cells), style="bold green" if place == 0 else "")
        table.caption, table.caption_justify = self._tally(), "left"
        return table

    def _tally(self) -> str:
        """Return how many trials there were, and how many of them were cut."""
        n_cut = sum(record.status == CUT for record in self._records)
        cut = f", {n_cut} cut by the time limit" if n_cut else ""
        return f"{len(self._records)} tried{cut}"

    def _time(self) -> RenderableType:
        """Return the time used, and what is left of the limit."""
        used, left = self._clock.used(), self._clock.seconds_left()
        if left is None:
            return Text(f"{duration(used)} so far")
        line = Table.grid(padding=(0, 2))
        line.add_row(
            ProgressBar(used + max(left, 0.0), used, width=BAR_WIDTH), Text(f"{duration(max(left, 0.0))} left")
        )
        return line


class PlainLines:
    """Lines for a file or a pipe, not too many of them."""

    def __init__(self, console: Console, now: Callable[[], float]) -> None:
        self._console, self._now = console, now
        self._written = deque[float]()  # when the lines of the last minute were written
        self._n_left_out = 0

    def add(self, words: str, always: bool) -> None:
        """Write a line if there were not too many within the last minute; count it otherwise."""
        now = self._now()
        while self._written and now - self._written[0] >= MINUTE:
            self._written.popleft()
        spare = PER_MINUTE - len(self._written) - (0 if always else len(ALWAYS))
        if spare <= 0:
            self._n_left_out += 1
            return
        self._written.append(now)
        self._console.print(self._counted() + words, markup=False, highlight=False)

    def close(self) -> None:
        """Say how many lines were left out since the last one."""
        if self._n_left_out:
            self._console.print(self._counted().strip(" ·"), markup=False, highlight=False)

    def _counted(self) -> str:
        n, self._n_left_out = self._n_left_out, 0
        return f"({n} events more) · " if n else ""


def prepared_words(facts: dict[str, Any]) -> str:
    data = facts["data"]
    n_features = sum(use == "feature" for use in data.uses.values())
    return (
        f"{data.split.train.size:,} rows to learn {data.target} from {n_features:,} columns, "
        f"{data.split.test.size:,} put aside for the blind test"
    )


def trial_words(facts: dict[str, Any]) -> str:
    folds = f", {facts['n_folds']} folds" if facts["n_folds"] > 1 else ""
    name = f"{method_words(facts['method'])} ({parameter_words(facts['params'])})"
    return f"trying {name} on {facts['n_rows']:,} rows{folds}"


def tried_words(facts: dict[str, Any]) -> str:
    record, best = facts["record"], abs(facts["best"][0])
    name = f"{method_words(record.method)} ({parameter_words(record.params)}) on {record.n_rows:,} rows"
    if record.status != FINISHED:
        return f"{name}: {record.status}"
    return f"{name}: {abs(record.mean_score):.4g} in {duration(record.seconds)}; best so far {best:.4g}"


EVENTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "prepared": prepared_words,
    "trial": trial_words,
    "tried": tried_words,
    "final fit": lambda facts: f"fitting the final model to {facts['n_rows']:,} rows",
    "refit": lambda facts: f"fitting it again to all {facts['n_rows']:,} rows",
    "assessment": lambda facts: f"asking it about {facts['n_rows']:,} blind rows",
}
