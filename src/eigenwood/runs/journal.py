"""What a run has done so far, on disk: whoever is killed goes on from there.

    folder/journal.jsonl    a line for each trial: what was asked, and its record
    folder/000017.npz       its predictions out of fold, and its calibration

A trial is written whole before its line is; a line that was cut off is as if it were not there. Trials follow from
the table, the settings and the seed alone, so one that is read is the same, to the last bit, as one that is run again.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from eigenwood.data.naming import whole_file
from eigenwood.errors import InputError
from eigenwood.runs.candidates import Candidate
from eigenwood.runs.record import CandidateRecord
from eigenwood.runs.trials import Trial

JOURNAL = "journal.jsonl"


class Journal:
    """The trials of a run by what was asked; without a folder they are not kept."""

    def __init__(self, folder: Path | None, digest: str) -> None:
        self._folder = folder
        self._known: dict[str, tuple[dict[str, Any], Path]] = {}
        self.seconds = 0.0  # that an earlier process used
        if folder is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        lines = whole_lines(folder / JOURNAL)
        if lines:
            self._take(lines, folder, digest)
        else:
            self._append({"digest": digest})

    def known(self, candidate: Candidate, n_rows: int, n_folds: int) -> Trial | None:
        """Return a trial that was run before; it has no fitted model."""
        found = self._known.get(key_of(candidate, n_rows, n_folds))
        if found is None:
            return None
        line, path = found
        with np.load(path) as arrays:
            predictions = arrays["predictions"] if "predictions" in arrays else None
            calibration = arrays["calibration"] if "calibration" in arrays else None
        return Trial(candidate, CandidateRecord(**line["record"]), predictions, calibration, None)

    def add(self, trial: Trial, n_rows: int, n_folds: int, seconds: float) -> None:
        """Keep a trial; ``seconds`` is how long the run has taken."""
        if self._folder is None:
            return
        key = key_of(trial.candidate, n_rows, n_folds)
        path = self._folder / f"{key}.npz"
        arrays: dict[str, Any] = {"predictions": trial.predictions, "calibration": trial.calibration}
        with whole_file(path) as temporary, temporary.open("wb") as file:
            np.savez(file, **{name: array for name, array in arrays.items() if array is not None})
        self._append({"key": key, "seconds": seconds, "record": asdict(trial.record)})

    def _append(self, line: dict[str, Any]) -> None:
        assert self._folder is not None
        with (self._folder / JOURNAL).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _take(self, lines: list[dict[str, Any]], folder: Path, digest: str) -> None:
        """Take over what an earlier process left; it must have had the same table and settings."""
        if lines[0].get("digest") != digest:
            raise InputError(
                f"{folder.parent}: --resume must be given the table and the settings the run began with; got others."
            )
        for line in lines[1:]:
            path = folder / f"{line['key']}.npz"
            if path.is_file():  # else somebody was killed while the folder was removed
                self._known[line["key"]] = line, path
            self.seconds = max(self.seconds, line["seconds"])


def whole_lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a journal, which is left without one that was cut off."""
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole, encoding="utf-8")
    return [json.loads(line) for line in whole.splitlines()]


def key_of(candidate: Candidate, n_rows: int, n_folds: int) -> str:
    """Return the name of a trial."""
    asked = json.dumps([candidate.method, candidate.words(), n_rows, n_folds], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()[:20]
