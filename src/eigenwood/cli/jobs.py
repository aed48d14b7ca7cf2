"""What the commands do: load → run → report, a few lines each.

The commands themselves are in ``main``, which imports this file when one of them runs: help needs none of it.
"""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import typer
from rich.console import Console

from eigenwood import __version__
from eigenwood.cli.choices import learn_folder, settings_of
from eigenwood.cli.progress import Shown
from eigenwood.cli.sources import (
    check_outputs,
    component_count,
    names_in,
    plus_and_minus,
    rows_of,
    run_beside,
    table_and_target,
    text_of,
)
from eigenwood.compiling.choice import description
from eigenwood.data import datasets as sets
from eigenwood.errors import InputError
from eigenwood.learning import learnt
from eigenwood.models.file import load, save
from eigenwood.report.embedding import embed_summary, neighbours_table
from eigenwood.report.html import packed_plotly, reduce_page, run_page
from eigenwood.report.live import Live
from eigenwood.report.model import model_summary
from eigenwood.report.reducing import left_out_words
from eigenwood.report.terminal import reduce_summary, run_details, run_summary
from eigenwood.runs import embed as embedding
from eigenwood.runs import reduce as reducing
from eigenwood.runs.clock import Clock, seconds_since_start
from eigenwood.runs.files import MODEL_FILE, REPORT_FILE, RUN_FILE, write_text
from eigenwood.runs.predicting import predicted_blocks, write_predictions
from eigenwood.runs.record import Run
from eigenwood.runs.reducers import ReduceSettings, check_settings
from eigenwood.runs.replay import replayed
from eigenwood.runs.settings import LONGEST
from eigenwood.runs.use import learns_from_text, verified, verified_rows, verified_text

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def learn(
    source: str,
    target: str | None,
    out_dir: Path | None,
    words: dict[str, Any],
    *,
    resume: bool,
    force: bool,
    verbose: bool,
) -> None:
    settings = settings_of(words)
    clock = Clock(settings.time_limit or LONGEST, seconds_since_start())
    folder = learn_folder(out_dir, source, resume=resume, force=force)
    table, target = table_and_target(source, target, kinds=settings.kinds)
    Thread(target=packed_plotly, daemon=True).start()  # the page needs it, and then it is there
    with Live(out, err, clock) as live:
        learned = learnt(table, target, settings, clock, folder, live.event)
    out.print(run_summary(learned.run))
    if verbose:
        out.print(run_details(learned.run))
    out.print(f"Written: {folder / REPORT_FILE}, {folder / MODEL_FILE}, {folder / RUN_FILE}", markup=False)


def replay(run_file: Path, source: str | None, out_file: Path | None, *, assessed: bool) -> None:
    run = Run.load(run_file)
    if source is None and run.table not in sets.describe():
        raise InputError(f"{run_file}: replay must be given the table that the run learnt from; got nothing.")
    table, _ = table_and_target(source or run.table, run.target, kinds=run.settings["kinds"])
    path = save(replayed(run, table, assessed=assessed), out_file or run_file.parent / "replayed.safetensors")
    out.print(f"Written: {path}", markup=False)


def report(run_file: Path, out_file: Path | None) -> None:
    run_file = run_file / RUN_FILE if run_file.is_dir() else run_file
    path = write_text(out_file or run_file.parent / REPORT_FILE, run_page(Run.load(run_file)))
    out.print(f"Written: {path}", markup=False)


def predict(model: Path, table: str, out_file: Path | None, *, proba: bool) -> None:
    fitted, source = load(model), rows_of(table).source
    if out_file is None:
        for block in predicted_blocks(fitted, source, proba=proba):
            out.print("\n".join("\t".join(map(str, row.values())) for row in block.to_pylist()), markup=False)
        return
    check_outputs(table, {"--out": out_file})
    n_rows = write_predictions(fitted, source, out_file, proba=proba)
    out.print(f"Written: {out_file} ({n_rows} predictions)", markup=False)


def show(model: Path) -> None:
    out.print(model_summary(load(model)))


def verify(model: Path, table: str, target: str | None, time_limit: float | None) -> None:
    fitted = load(model)
    if hasattr(fitted, "predict"):
        run = run_beside(model)
        kinds = run.settings["kinds"] if run else None
        source, target = table_and_target(table, target or (run.target if run else None), kinds=kinds)
        certificate, rows = verified(fitted, source, target, run, time_limit)
    elif learns_from_text(fitted):
        certificate, rows = verified_text(fitted, text_of(table).source, time_limit)
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


def embed(text: str, out_file: Path, *choices: Any) -> None:
    embedding.check_output(out_file)
    check_outputs(text, {"--out": out_file})
    given = text_of(text)
    with Shown(err) as shown:
        model, record = embedding.embed(given.source, given.name, embedding.EmbedSettings(*choices), shown)
    embedding.write(model, out_file)
    out.print(embed_summary(record))
    out.print(f"Written: {out_file}", markup=False)


def words(vectors: Path, question: list[str], count: int) -> None:
    model = embedding.read(vectors)
    out.print(neighbours_table(question, model.most_similar(*plus_and_minus(question), n=count)))


def datasets() -> None:
    for name, line in sets.describe().items():
        out.print(f"{name:20}{line}", markup=False)


def info() -> None:
    for what, words in {"eigenwood": __version__, **description()}.items():
        out.print(f"{what:12}{words}", markup=False)
