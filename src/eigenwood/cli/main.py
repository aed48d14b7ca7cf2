"""The command. Each function reads like the picture: load → run → report.

Exit status: 0 done, 2 bad input (one sentence), 1 a failed job; no traceback without ``--debug``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

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
from eigenwood.data import datasets as sets
from eigenwood.data.tables import write_table
from eigenwood.errors import InputError, MissingExtraError
from eigenwood.models.file import load, save
from eigenwood.report.html import reduce_page, run_page
from eigenwood.report.model import model_summary
from eigenwood.report.reducing import left_out_words
from eigenwood.report.terminal import reduce_summary, run_summary
from eigenwood.runs.learn import learn
from eigenwood.runs.record import MODEL_FILE, REPORT_FILE, RUN_FILE, write_text
from eigenwood.runs.reduce import choose_columns, reduce
from eigenwood.runs.reducers import METHODS, SCALES, ReduceSettings, check_settings
from eigenwood.runs.settings import Settings
from eigenwood.runs.use import predicted, verified, verified_rows

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown"
)
out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

TABLE = Annotated[str, typer.Argument(help="A CSV, TSV, Parquet or Arrow file, or a name from 'eigenwood datasets'.")]
MODEL = Annotated[Path, typer.Argument(help="A model file written by 'eigenwood learn' or 'eigenwood reduce --save'.")]
TARGET = Annotated[str | None, typer.Option(help="The column to predict; bundled tables know theirs.")]


@app.callback()
def options(debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False) -> None:
    """Classical machine learning that is fast, never runs out of memory, and shows its proof."""


@app.command("learn")
def learn_command(
    table: TABLE,
    target: TARGET = None,
    out_dir: Annotated[
        Path | None, typer.Option("--out", help="The folder for model, run and report; default: eigenwood-TABLE.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Draws the blind test set and the folds.")] = 0,
    test_fraction: Annotated[
        float, typer.Option(min=0.01, max=0.9, help="The share put aside for the blind test.")
    ] = 0.25,
    time_limit: Annotated[float, typer.Option(min=0.1, help="Seconds for all fits together.")] = 600.0,
) -> None:
    """Learn to predict a column of TABLE: choose, train, tune, and test on rows nobody has seen.

    Example:

        eigenwood learn heart --target disease --out heart-run
    """
    source, target = table_and_target(table, target)
    folder = output_folder(out_dir or Path(f"eigenwood-{source.name}"))
    with Shown(err) as shown:
        learned = learn(source, target, Settings(seed, test_fraction, time_limit), shown)
    folder.mkdir(parents=True, exist_ok=True)
    save(learned.model, folder / MODEL_FILE)
    write_text(folder / REPORT_FILE, run_page(learned.run))
    learned.run.save(folder / RUN_FILE)
    out.print(run_summary(learned.run))
    out.print(f"Written: {folder / MODEL_FILE}, {folder / RUN_FILE}, {folder / REPORT_FILE}")


@app.command()
def predict(
    model: MODEL,
    table: TABLE,
    out_file: Annotated[Path | None, typer.Option("--out", help="A .csv, .tsv, .parquet or .arrow file.")] = None,
) -> None:
    """Predict every row of TABLE with a model that learn made.

    Example:

        eigenwood predict heart-run/model.safetensors heart --out predictions.csv
    """
    fitted = load(model)
    source, _ = table_and_target(table, None, needed=False)
    predictions = predicted(fitted, source)
    if out_file is None:
        out.print("\n".join(str(label) for label in predictions["prediction"].to_pylist()), markup=False)
    else:
        write_table(predictions, out_file)
        out.print(f"Written: {out_file} ({predictions.num_rows} predictions)")


@app.command()
def show(model: MODEL) -> None:
    """Show what is in a model file: its steps, parameters and certificate.

    Example:

        eigenwood show heart-run/model.safetensors
    """
    fitted = load(model)
    out.print(model_summary(fitted))


@app.command()
def verify(model: MODEL, table: TABLE, target: TARGET = None) -> None:
    """Recompute every claim of a model's certificate from the data it learnt from.

    Example:

        eigenwood verify heart-run/model.safetensors heart --target disease

    A PCA that reduce saved has no target; its table may be any that reduce takes.
    """
    fitted = load(model)
    if hasattr(fitted, "predict"):
        run = run_beside(model)
        source, target = table_and_target(table, target or (run.target if run else None))
        certificate, rows = verified(fitted, source, target, run)
    else:
        certificate, rows = verified_rows(fitted, rows_of(table).source)
    out.print(certificate)
    out.print(f"Recomputed on {rows}: {certificate.verdict()}.")
    if not certificate.holds:
        raise typer.Exit(1)


@app.command("reduce")
def reduce_command(
    table: Annotated[
        str, typer.Argument(help="A CSV, TSV, Parquet, Arrow, .npy or .bed file, or a name from 'eigenwood datasets'.")
    ],
    out_file: Annotated[Path, typer.Option("--out", help="A .parquet, .csv, .tsv, .arrow or .npy file.")],
    components: Annotated[
        str, typer.Option("--components", "-k", help="How many; or the share of the variance they must hold, as 0.9.")
    ] = "2",
    method: Annotated[str, typer.Option(help=f"One of {', '.join(METHODS)}.")] = "pca",
    columns: Annotated[str | None, typer.Option(help="Columns to use, as a,b; default: all that hold numbers.")] = None,
    keep: Annotated[str | None, typer.Option(help="Columns to copy to the result, as id,label.")] = None,
    scale: Annotated[str, typer.Option(help=f"Divide columns: one of {', '.join(SCALES)}.")] = "none",
    missing: Annotated[str | None, typer.Option(help="Fill missing values: mean, or em, a low-rank fit.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Draws what a method draws at random.")] = 0,
    time_limit: Annotated[float | None, typer.Option(min=0.1, help="Seconds for the fit of a pca.")] = None,
    model_file: Annotated[Path | None, typer.Option("--save", help="Write the pca as a .safetensors file.")] = None,
    page_file: Annotated[Path | None, typer.Option("--report", help="Write a page with figures, as .html.")] = None,
) -> None:
    """Reduce TABLE to fewer columns: principal components and others, read and written in blocks.

    Example:

        eigenwood reduce uk_foods -k 2 --keep country --out foods.csv
    """
    settings = ReduceSettings(component_count(components), method, scale, missing, seed, time_limit)
    check_settings(settings, is_saved=model_file is not None)
    check_outputs(table, {"--out": out_file, "--save": model_file, "--report": page_file})
    rows = rows_of(table)
    chosen = choose_columns(rows.source, names_in(columns), names_in(keep), rows.target)
    if chosen.left_out:
        err.print(f"left out: {left_out_words(chosen.left_out)}", markup=False)
    with Shown(err) as shown:
        model, record = reduce(rows.source, rows.name, chosen, out_file, settings, shown)
    out.print(reduce_summary(record))
    if model_file is not None:
        save(model, model_file)
    if page_file is not None:
        write_text(page_file, reduce_page(record))
    written = [str(path) for path in (out_file, model_file, page_file) if path is not None]
    out.print(f"Written: {', '.join(written)}", markup=False)


@app.command()
def datasets() -> None:
    """List the data sets that can stand in place of a file.

    Example:

        eigenwood datasets
    """
    for name, line in sets.describe().items():
        out.print(f"{name:20}{line}", markup=False)


def main() -> None:
    """Run the command; turn errors into one sentence and an exit status."""
    try:
        app()
    except (InputError, MissingExtraError) as problem:
        _leave(problem, str(problem), 2)
    except KeyboardInterrupt as problem:
        _leave(problem, "interrupted.", 130)
    except Exception as problem:
        _leave(problem, f"the job failed: {type(problem).__name__}: {problem} (--debug shows where).", 1)


def _leave(problem: BaseException, sentence: str, status: int) -> None:
    if "--debug" in sys.argv:
        raise problem
    err.print(f"eigenwood: {sentence}", markup=False)
    raise SystemExit(status)
