"""``eigenwood.learn``: from a table to a model, its record and its report. The command is the same function.

table ──► runs.learn ──► Learned: model, run ──► leaderboard, predict, report, save
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from eigenwood.data.tables import Table, read_table
from eigenwood.errors import InputError
from eigenwood.models.file import save
from eigenwood.proofs.claim import Certificate
from eigenwood.report.html import run_page
from eigenwood.report.notebook import run_view
from eigenwood.runs.clock import Clock
from eigenwood.runs.files import (
    JOURNAL_FOLDER,
    MODEL_FILE,
    REPORT_FILE,
    RUN_FILE,
    ready_folder,
    write_text,
)
from eigenwood.runs.learn import learn as learn_table
from eigenwood.runs.predicting import PREDICTION, predicted
from eigenwood.runs.record import Run
from eigenwood.runs.search import Report
from eigenwood.runs.settings import LONGEST, Settings

UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


class Learned:
    """A model that was learnt from a table, and the record of how.

    ``model`` is a scikit-learn estimator of frames with the table's columns, ``run`` the record as plain data.
    """

    def __init__(self, model: Any, run: Run) -> None:
        self.model = model
        self.run = run

    @property
    def leaderboard(self) -> pa.Table:
        """The trials, the best first: method, parameters, rows, score, seconds, status."""
        ranked = sorted(
            self.run.candidates, key=lambda c: (c.status == "finished", c.n_rows, c.mean_score), reverse=True
        )
        return pa.table(
            {
                "method": [candidate.method for candidate in ranked],
                "parameters": [", ".join(f"{k}={v}" for k, v in candidate.params.items()) for candidate in ranked],
                "rows": [candidate.n_rows for candidate in ranked],
                self.run.metric: [candidate.mean_score if candidate.fold_scores else None for candidate in ranked],
                "seconds": [candidate.seconds for candidate in ranked],
                "status": [candidate.status for candidate in ranked],
            }
        )

    @property
    def certificate(self) -> Certificate:
        """What was proved about the fit."""
        return Certificate.from_dict(self.run.certificate)

    def predict(self, table: Any) -> np.ndarray:
        """Return a prediction for each row of a file, a frame or a mapping of columns."""
        return predicted(self.model, table)[PREDICTION].to_numpy()

    def report(self, path: str | Path | None = None) -> str:
        """Return the report as one page of HTML that opens offline; write it, too, if a path is given."""
        page = run_page(self.run)
        if path is not None:
            write_text(path, page)
        return page

    def save(self, folder: str | Path) -> Path:
        """Write the model, the record and the report into a folder."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        save(self.model, folder / MODEL_FILE)
        write_text(folder / REPORT_FILE, run_page(self.run))
        self.run.save(folder / RUN_FILE)
        return folder

    def __repr__(self) -> str:
        return f"Learned({self.run.table!r}, {self.run.target!r}): {self.run.assessment.headline}"

    def _repr_html_(self) -> str:
        return run_view(self.run)


def learn(
    table: Any,
    target: str,
    *,
    time: str | float | None = None,
    metric: str | None = None,
    models: str | Sequence[str] = (),
    seed: int = 0,
    test: float = 0.25,
    drop: str | Sequence[str] = (),
    use: str | Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    group: str | None = None,
    order: str | None = None,
    weights: str | None = None,
    strict: bool = False,
    out: str | Path | None = None,
    resume: bool = False,
    force: bool = False,
) -> Learned:
    """Learn to predict a column of a table: choose, train, tune, and test once on rows that nobody has seen.

    ``table`` is a file, a pandas, polars or pyarrow frame, or a mapping of columns; ``time`` is the limit for
    everything, as '60s' or '5m'. With ``out`` the model, the record and the report are written there, and what was
    done so far is kept there meanwhile: ``resume`` goes on with it, ``force`` overwrites a run that is there.

    >>> import eigenwood
    >>> from eigenwood.data import datasets
    >>> learned = eigenwood.learn(datasets.load("heart").table(), "disease", models=["adaboost"])
    >>> learned.run.assessment.score > 0.7, learned.certificate.holds
    (True, True)
    """
    clock = Clock(seconds_of(time) or LONGEST)
    settings = Settings(
        seed, test, seconds_of(time), metric, names_of(models), names_of(drop), names_of(use), dict(kinds or {}),
        group, order, weights, strict,
    )  # fmt: skip
    folder = None if out is None else ready_folder(Path(out), resume=resume, force=force)
    return learnt(read_table(table, kinds=settings.kinds), target, settings, clock, folder)


def names_of(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return names; a string is one of them.

    >>> names_of("age"), names_of(["age", "sex"])
    (('age',), ('age', 'sex'))
    """
    return (names,) if isinstance(names, str) else tuple(names)


def learnt(
    table: Table,
    target: str,
    settings: Settings,
    clock: Clock,
    folder: Path | None,
    report: Report = lambda *_, **__: None,
) -> Learned:
    """Return what is learnt from a table; write it if there is a folder, which is ready for it."""
    if folder is None:
        return Learned(*learn_table(table, target, settings, report, clock))
    journal = folder / JOURNAL_FOLDER
    with nothing_left_of_bad_input(folder):
        learned = Learned(*learn_table(table, target, settings, report, clock, journal))
    learned.save(folder)
    shutil.rmtree(journal, ignore_errors=True)  # what it holds stands in the record now
    return learned


@contextmanager
def nothing_left_of_bad_input(folder: Path) -> Iterator[None]:
    """Take away what was begun of a run that cannot be finished; what an earlier process began is kept."""
    begun = [place for place in (folder / JOURNAL_FOLDER, folder) if not place.exists()]
    try:
        yield
    except InputError:
        for place in begun:
            shutil.rmtree(place, ignore_errors=True)
        raise


def seconds_of(time: str | float | None) -> float | None:
    """Return a time in seconds.

    >>> seconds_of("90s"), seconds_of("5m"), seconds_of(30), seconds_of("1.5h"), seconds_of(None)
    (90.0, 300.0, 30.0, 5400.0, None)
    """
    if time is None:
        return None
    found = re.fullmatch(r"\s*([0-9.]+)\s*([a-z]*)\s*", str(time))
    try:
        seconds = float(found[1]) * UNITS[found[2]] if found else 0.0
    except (ValueError, KeyError):
        seconds = 0.0
    if seconds <= 0.0:
        raise InputError(f"learn: time must be a number above 0 with s, m or h behind it, as '60s'; got {time!r}.")
    return seconds
