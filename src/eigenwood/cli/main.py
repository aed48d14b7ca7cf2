"""The command: its words, and what they mean. What a command does is in ``jobs``.

Exit status: 0 done, 2 bad input (one sentence), 1 a failed job; no traceback without ``--debug``.
"""

from __future__ import annotations

import atexit
import os
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from eigenwood import __version__
from eigenwood.errors import InputError, MissingExtraError
from eigenwood.runs.names import EMBEDDING_NAMES, METHOD_NAMES, METRIC_NAMES, SCALE_NAMES

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown")

TABLE = Annotated[str, typer.Argument(help="A CSV, TSV, Parquet or Arrow file, or a name from 'eigenwood datasets'.")]
MODEL = Annotated[Path, typer.Argument(help="A model file written by 'eigenwood learn' or 'eigenwood reduce --save'.")]
TARGET = Annotated[str | None, typer.Option(help="The column to predict; bundled tables know theirs.")]


def show_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"eigenwood {__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", is_eager=True, callback=show_version)
    ] = False,
) -> None:
    """Classical machine learning that is fast, never runs out of memory, and shows its proof."""


@app.command("learn")
def learn_command(
    table: TABLE,
    target: TARGET = None,
    out_dir: Annotated[
        Path | None, typer.Option("--out", help="The folder for model, run and report; default: eigenwood-TABLE.")
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            help="The limit for everything, as 60s or 5m; default: until the list of candidates is done, at most 10m."
        ),
    ] = None,
    metric: Annotated[str | None, typer.Option(help=f"One of {', '.join(METRIC_NAMES)}.")] = None,
    models: Annotated[str | None, typer.Option(help="Methods to try, as gradient-boosting,svm; default: all.")] = None,
    drop: Annotated[str | None, typer.Option(help="Columns not to use, as a,b.")] = None,
    use: Annotated[str | None, typer.Option(help="Columns to use although they look like IDs.")] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="What a column is, as year=number: number, category, date or text.")
    ] = None,
    group: Annotated[str | None, typer.Option(help="A column whose equal rows stay together in every split.")] = None,
    order: Annotated[str | None, typer.Option(help="A column of time: the newest rows are the blind test.")] = None,
    weights: Annotated[str | None, typer.Option(help="A column that says how often each row counts.")] = None,
    test: Annotated[float, typer.Option(min=0.01, max=0.9, help="The share put aside for the blind test.")] = 0.25,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Draws the blind test set and the folds.")] = 0,
    strict: Annotated[bool, typer.Option("--strict", help="Stop where a column looks like a leak.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was killed.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is in the folder.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show every claim of the certificate.")] = False,
) -> None:
    """Learn to predict a column of TABLE: choose, train, tune, and test on rows nobody has seen.

    Example:

        eigenwood learn heart --target disease --out heart-run
    """
    choices = {"time": time, "metric": metric, "models": models, "drop": drop, "use": use, "kinds": kind or []}
    roles = {"group": group, "order": order, "weights": weights, "test": test, "seed": seed, "strict": strict}
    jobs().learn(table, target, out_dir, {**choices, **roles}, resume=resume, force=force, verbose=verbose)


@app.command()
def replay(
    run: Annotated[Path, typer.Argument(help="A run.json written by 'eigenwood learn'.")],
    table: Annotated[str | None, typer.Argument(help="The table it learnt from; default: the one it names.")] = None,
    out_file: Annotated[
        Path | None,
        typer.Option("--out", help="Where to write the model; default: replayed.safetensors beside the run."),
    ] = None,
    assessed: Annotated[
        bool, typer.Option("--assessed", help="The model that was asked about the blind rows: it has not seen them.")
    ] = False,
) -> None:
    """Fit the model of a run again, bit for bit, whatever time allowed then.

    Example:

        eigenwood replay heart-run/run.json heart
    """
    jobs().replay(run, table, out_file, assessed=assessed)


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="A folder written by 'eigenwood learn', or its run.json.")],
    out_file: Annotated[
        Path | None, typer.Option("--out", help="Where to write the page; default: report.html.")
    ] = None,
) -> None:
    """Write the report of a run again.

    Example:

        eigenwood report heart-run
    """
    jobs().report(run, out_file)


@app.command()
def predict(
    model: MODEL,
    table: TABLE,
    out_file: Annotated[Path | None, typer.Option("--out", help="A .csv, .tsv, .parquet or .arrow file.")] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
) -> None:
    """Predict every row of TABLE, of any size, with a model that learn made.

    Example:

        eigenwood predict heart-run/model.safetensors heart --proba --out predictions.csv
    """
    jobs().predict(model, table, out_file, proba=proba)


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


@app.command("embed")
def embed_command(
    text: Annotated[
        str, typer.Argument(help="A text file, a sentence in each line, or a name from 'eigenwood datasets'.")
    ],
    out_file: Annotated[
        Path, typer.Option("--out", help="A .safetensors model, or vectors as .txt, .vec or .bin for word2vec's tools.")
    ],
    dim: Annotated[int, typer.Option(min=1, help="The length of a vector.")] = 100,
    method: Annotated[str, typer.Option(help=f"One of {', '.join(EMBEDDING_NAMES)}.")] = "cbow",
    window: Annotated[int, typer.Option(min=1, help="Words on each side that are a context.")] = 5,
    min_count: Annotated[int, typer.Option(min=1, help="Words that are rarer are left out.")] = 5,
    max_vocab: Annotated[int | None, typer.Option(min=2, help="Keep the most frequent words only.")] = None,
    epochs: Annotated[int, typer.Option(min=1, help="How often the text is read, by cbow.")] = 5,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Draws what is drawn at random.")] = 0,
    time_limit: Annotated[float | None, typer.Option(min=0.1, help="Seconds for the fit.")] = None,
) -> None:
    """Learn a vector for each word of TEXT from the words around it.

    Example:

        eigenwood embed reviews --dim 20 --min-count 1 --out vectors.safetensors
    """
    jobs().embed(text, out_file, method, dim, window, min_count, max_vocab, epochs, seed, time_limit)


@app.command("words")
def words_command(
    vectors: Annotated[Path, typer.Argument(help="A file written by 'eigenwood embed', or vectors of word2vec.")],
    question: Annotated[list[str], typer.Argument(help="A word, or words between + and -, as king - man + woman.")],
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many words to show.")] = 10,
) -> None:
    """Show the words nearest to a word, or to a sum of words.

    Example:

        eigenwood words vectors.safetensors loved - drama + role
    """
    jobs().words(vectors, question, count)


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


def run() -> None:
    """Run the command and end the process at once: to take Python and Numba apart would cost half a second."""
    status: int | str | None = 0
    try:
        main()
    except SystemExit as end:
        status = end.code
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))


def _leave(problem: BaseException, sentence: str, status: int) -> None:
    if "--debug" in sys.argv:
        raise problem
    typer.echo(f"eigenwood: {sentence}", err=True)
    raise SystemExit(status)
