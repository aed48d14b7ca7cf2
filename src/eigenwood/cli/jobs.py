"""What the commands do: load → run → report, a few lines each.

The commands themselves are in ``main``, which imports this file when one of them runs: help needs none of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import typer
from rich.console import Console

from eigenwood import __version__
from eigenwood.cli.progress import Shown
from eigenwood.cli.sources import (
    check_outputs,
    component_count,
    names_in,
    output_folder,
    rows_of,
    run_beside,
    table_and_target,
)
from eigenwood.compiling.choice import description
from eigenwood.data import datasets as sets
from eigenwood.data.tables import write_table
from eigenwood.models.file import load, save
from eigenwood.report.html import reduce_page, run_page
from eigenwood.report.model import model_summary
from eigenwood.report.reducing import left_out_words
from eigenwood.report.terminal import reduce_summary, run_summary
from eigenwood.runs import learn as learning
from eigenwood.runs import reduce as reducing
from eigenwood.runs.record import MODEL_FILE, REPORT_FILE, RUN_FILE, write_text
from eigenwood.runs.reducers import ReduceSettings, check_settings
from eigenwood.runs.settings import Settings
from eigenwood.runs.use import predicted, verified, verified_rows

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def learn(table: str, target: str | None, out_dir: Path | None, *choices: Any) -> None:
    source, target = table_and_target(table, target)
    folder = output_folder(out_dir or Path(f"eigenwood-{source.name}"))
    with Shown(err) as shown:
        learned = learning.learn(source, target, Settings(*choices), shown)
    folder.mkdir(parents=True, exist_ok=True)
    save(learned.model, folder / MODEL_FILE)
    write_text(folder / REPORT_FILE, run_page(learned.run))
    learned.run.save(folder / RUN_FILE)
    out.print(run_summary(learned.run))
    out.print(f"Written: {folder / MODEL_FILE}, {folder / RUN_FILE}, {folder / REPORT_FILE}")


def predict(model: Path, table: str, out_file: Path | None) -> None:
    fitted = load(model)
    source, _ = table_and_target(table, None, needed=False)
    predictions = predicted(fitted, source)
    if out_file is None:
        out.print("\n".join(str(label) for label in predictions["prediction"].to_pylist()), markup=False)
    else:
        write_table(predictions, out_file)
        out.print(f"Written: {out_file} ({predictions.num_rows} predictions)")


def show(model: Path) -> None:
    out.print(model_summary(load(model)))


def verify(model: Path, table: str, target: str | None, time_limit: float | None) -> None:
    fitted = load(model)
    if hasattr(fitted, "predict"):
        run = run_beside(model)
        source, target = table_and_target(table, target or (run.target if run else None))
        certificate, rows = verified(fitted, source, target, run, time_limit)
    else:
        certificate, rows = verified_rows(fitted, rows_of(table).source, time_limit)
    out.print(certificate)
    out.print(f"Recomputed on {rows}: {certificate.verdict()}.")
    if not certificate.holds:
        raise typer.Exit(1)


class ReduceWords(NamedTuple):
    """The words of ``reduce`` that say what to read and write."""

    table: str
    out_file: Path
    columns: str | None
    keep: str | None
    model_file: Path | None
    page_file: Path | None


def reduce(files: tuple[Any, ...], components: str, *choices: Any) -> None:
    words = ReduceWords(*files)
    settings = ReduceSettings(component_count(components), *choices)
    check_settings(settings, is_saved=words.model_file is not None)
    check_outputs(words.table, {"--out": words.out_file, "--save": words.model_file, "--report": words.page_file})
    rows = rows_of(words.table)
    chosen = reducing.choose_columns(rows.source, names_in(words.columns), names_in(words.keep), rows.target)
    if chosen.left_out:
        err.print(f"left out: {left_out_words(chosen.left_out)}", markup=False)
    with Shown(err) as shown:
        model, record = reducing.reduce(rows.source, rows.name, chosen, words.out_file, settings, shown)
    out.print(reduce_summary(record))
    if words.model_file is not None:
        save(model, words.model_file)
    if words.page_file is not None:
        write_text(words.page_file, reduce_page(record))
    written = [str(path) for path in (words.out_file, words.model_file, words.page_file) if path is not None]
    out.print(f"Written: {', '.join(written)}", markup=False)


def datasets() -> None:
    for name, line in sets.describe().items():
        out.print(f"{name:20}{line}", markup=False)


def info() -> None:
    for what, words in {"eigenwood": __version__, **description()}.items():
        out.print(f"{what:12}{words}", markup=False)
