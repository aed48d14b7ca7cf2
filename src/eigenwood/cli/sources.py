"""What the words on the command line stand for: a table by file or by name, a model with its run beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eigenwood.data import datasets
from eigenwood.data.tables import Table, read_table
from eigenwood.errors import InputError
from eigenwood.models.file import load
from eigenwood.runs.record import RUN_FILE, Run


def table_and_target(source: str, target: str | None, *, needed: bool = True) -> tuple[Table, str]:
    """Return the table and the column to predict; a bundled table knows its own."""
    if not Path(source).exists() and not Path(source).suffix:  # a name, or a slip in one: load suggests the right one
        dataset = datasets.load(source)
        table, target = dataset.table(), target or dataset.target_name
    else:
        table = read_table(source)
    if target is None and needed:
        raise InputError(f"{table.name}: --target must name the column to predict; got nothing.")
    return table, target or ""


def model_and_run(path: Path) -> tuple[Any, Run | None]:
    """Return the model and, if it lies beside it, the record of the run that made it."""
    run_file = path.parent / RUN_FILE
    return load(path), Run.load(run_file) if run_file.is_file() else None
