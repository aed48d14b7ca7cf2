"""Progress for people: a bar on a terminal, plain lines anywhere else."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


class Shown:
    """Shows how far a job is; used as the ``report`` function of a run."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar: Progress | None = None

    def __enter__(self) -> Shown:
        if self._console.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}"))
            self._bar = Progress(*columns, TimeElapsedColumn(), console=self._console, transient=True)
            self._bar.start()
            self._task = self._bar.add_task("preparing", total=None)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, what: str, n_done: int, n_all: int | None) -> None:
        if self._bar is None:
            done = n_done if n_all is None else f"{n_done}/{n_all}"
            self._console.print(f"[{done}] {what}", markup=False, highlight=False)
        else:
            self._bar.update(self._task, description=what, completed=n_done, total=n_all)
