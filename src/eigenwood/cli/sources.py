"""What the words on the command line stand for: a table by file or by name, a model with its run beside it."""

from __future__ import annotations

import os
from pathlib import Path

from eigenwood.data import datasets
from eigenwood.data.tables import Table, read_table
from eigenwood.errors import InputError
from eigenwood.runs.record import RUN_FILE, Run


def table_and_target(source: str, target: str | None, *, needed: bool = True) -> tuple[Table, str]:
    """Return the table and the column to predict; a bundled table knows its own."""
    if not Path(source).is_file() and not Path(source).suffix:  # a name, or a slip in one: load suggests the right one
        dataset = datasets.load(source)
        table, target = dataset.table(), target or dataset.target_name
    else:
        table = read_table(source)
    if target is None and needed:
        raise InputError(f"{table.name}: --target must name the column to predict; got nothing.")
    return table, target or ""


def run_beside(model: Path) -> Run | None:
    """Return the record of the run that made a model, if it lies beside it."""
    run_file = model.parent / RUN_FILE
    return Run.load(run_file) if run_file.is_file() else None


def output_folder(folder: Path) -> Path:
    """Return the folder to write to, checked before the work begins rather than after."""
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise InputError(f"{folder}: --out must name a folder that can be written; got {str(existing)!r} in its place.")
    return folder
