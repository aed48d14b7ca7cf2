"""The command: its words, and what they mean. What a command does is in ``jobs``.

Exit status: 0 done, 2 bad input (one sentence), 1 a failed job; no traceback without ``--debug``.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from eigenwood.errors import InputError, MissingExtraError
from eigenwood.runs.names import METHOD_NAMES, SCALE_NAMES

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown"
)

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
    jobs().learn(table, target, out_dir, seed, test_fraction, time_limit)


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
    jobs().predict(model, table, out_file)


@app.command()
def show(model: MODEL) -> None:
    """Show what is in a model file: its steps, parameters and certificate.

    Example:

        eigenwood show heart-run/model.safetensors
    """
    jobs().show(model)


@app.command()
def verify(
    model: MODEL,
    table: TABLE,
    target: TARGET = None,
    time_limit: Annotated[
        float | None, typer.Option(min=0.1, help="Seconds; what was not checked by then is not claimed.")
    ] = None,
) -> None:
    """Recompute every claim of a model's certificate from the data it learnt from.

    Example:

        eigenwood verify heart-run/model.safetensors heart --target disease

    A PCA that reduce saved has no target; its table may be any that reduce takes.
    """
    jobs().verify(model, table, target, time_limit)


@app.command("reduce")
def reduce_command(
    table: Annotated[
        str, typer.Argument(help="A CSV, TSV, Parquet, Arrow, .npy or .bed file, or a name from 'eigenwood datasets'.")
    ],
    out_file: Annotated[Path, typer.Option("--out", help="A .parquet, .csv, .tsv, .arrow or .npy file.")],
    components: Annotated[
        str, typer.Option("--components", "-k", help="How many; or the share of the variance they must hold, as 0.9.")
    ] = "2",
    method: Annotated[str, typer.Option(help=f"One of {', '.join(METHOD_NAMES)}.")] = "pca",
    columns: Annotated[str | None, typer.Option(help="Columns to use, as a,b; default: all that hold numbers.")] = None,
    keep: Annotated[str | None, typer.Option(help="Columns to copy to the result, as id,label.")] = None,
    scale: Annotated[str, typer.Option(help=f"Divide columns: one of {', '.join(SCALE_NAMES)}.")] = "none",
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
    files = (table, out_file, columns, keep, model_file, page_file)
    jobs().reduce(files, components, method, scale, missing, seed, time_limit)


@app.command()
def datasets() -> None:
    """List the data sets that can stand in place of a file.

    Example:

        eigenwood datasets
    """
    jobs().datasets()


@app.command()
def info() -> None:
    """Say which versions and which machine code are in use, and why.

    Example:

        eigenwood info
    """
    jobs().info()


def jobs() -> ModuleType:
    """Return what the commands do; it is imported when one of them runs, since help needs none of it."""
    return import_module("eigenwood.cli.jobs")


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
    typer.echo(f"eigenwood: {sentence}", err=True)
    raise SystemExit(status)
