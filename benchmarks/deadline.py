"""Does ``eigenwood learn --time`` keep its limit? python -m benchmarks deadline --runs 60 --seed 1.

A run is a table of 30 to 581,012 rows, a limit drawn between 10 and 120 seconds, and one of two states:

    warm    a fresh process after others like it
    cold    a fresh process for which no Python file of any library has been compiled, and no kernel been stored

What counts is the wall clock around the whole command, up to the end of its process, against the limit + 1 s; and that
model, record and report are there. Every table comes equally often. A run that was over, or failed, is printed by its
number: --only makes it again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, NamedTuple

import numpy as np
import pyarrow as pa
import typer

from benchmarks import learn_tables, results
from benchmarks.learn_systems import our_command
from benchmarks.machine import machine_facts
from benchmarks.names import names_in
from benchmarks.processes import Ended, environment, run
from benchmarks.worker import publishable

METHOD = "deadline"
GRACE = 1.0  # seconds
MOST_OVER = 600.0  # seconds beyond the limit after which a run is killed
WRITTEN = ("model.safetensors", "run.json", "report.html")
FEWEST_STORED_RUNS = 60

app = typer.Typer(add_completion=False)


class Run(NamedTuple):
    """One command to be timed."""

    number: int
    table: str
    limit: int  # seconds
    is_cold: bool

    def __str__(self) -> str:
        return f"run {self.number}: {self.table}, {self.limit} s, {'cold' if self.is_cold else 'warm'}"


class Timed(NamedTuple):
    """A run, its seconds, and why it failed."""

    run: Run
    seconds: float
    peak_mb: float
    failure: str

    @property
    def over(self) -> float:
        """Seconds beyond the limit; below zero where some were left."""
        return self.seconds - self.run.limit

    @property
    def is_kept(self) -> bool:
        return not self.failure and self.over <= GRACE


@app.command()
def main(
    n_runs: Annotated[int, typer.Option("--runs", min=1, help="How many.")] = 60,
    limit_words: Annotated[str, typer.Option("--limits", help="The least and the most seconds, as 10-120.")] = "10-120",
    seed: Annotated[int, typer.Option(min=0, help="Draws tables, limits and states.")] = 0,
    table_names: Annotated[str | None, typer.Option("--tables", help="Only these, as a,b.")] = None,
    only: Annotated[str | None, typer.Option(help="Of these runs only those with these numbers, as 7,12.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="Of the command.")] = 2,
) -> None:
    """Time the whole command against its limit, cold and warm; print every run that was over it.

    Example:

        python -m benchmarks deadline --runs 6 --limits 10-15
    """
    try:
        tables = learn_tables.chosen(names_in(table_names), learn_tables.TIMED)
        runs = drawn_runs(tables, n_runs, limits_in(limit_words), seed)
    except ValueError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    numbers = names_in(only)
    timed = list(timed_runs([each for each in runs if numbers is None or str(each.number) in numbers], threads))
    typer.echo("\n" + summary(timed))
    if len(timed) >= FEWEST_STORED_RUNS:
        results.store(METHOD, {f"seed {seed}": record_of(timed, threads)}, results.RESULTS)
        typer.echo(f"Stored in benchmarks/results/{METHOD}.json.")
    if not all(each.is_kept for each in timed):
        raise typer.Exit(1)


def limits_in(words: str) -> tuple[int, int]:
    """Return the least and the most seconds.

    >>> limits_in("10-120")
    (10, 120)
    """
    found = re.fullmatch(r"(\d+)-(\d+)", words.strip())
    if found is None or not 0 < int(found[1]) <= int(found[2]):
        raise ValueError(f"--limits must be two whole numbers of seconds, as 10-120; got {words}.")
    return int(found[1]), int(found[2])


def drawn_runs(tables: list[str], count: int, limits: tuple[int, int], seed: int) -> list[Run]:
    """Return the runs that follow from a seed: all tables in random order, again and again."""
    rng = np.random.default_rng(seed)
    passes = -(-count // len(tables))
    names = [tables[i] for _ in range(passes) for i in rng.permutation(len(tables))][:count]
    drawn = rng.integers(limits[0], limits[1] + 1, count)
    is_cold = rng.permutation(np.arange(count) % 2 == 0)
    return [Run(i, name, int(drawn[i]), bool(is_cold[i])) for i, name in enumerate(names)]


def timed_runs(runs: list[Run], threads: int) -> Iterable[Timed]:
    """Run the commands one after the other, and say what came of each."""
    with TemporaryDirectory() as folder:
        files = {name: written_table(name, Path(folder)) for name in dict.fromkeys(each.table for each in runs)}
        for each in runs:
            with TemporaryDirectory() as own:
                timed = timed_run(each, files[each.table], Path(own), threads)
            typer.echo(f"{time.strftime('%H:%M:%S')} {line_of(timed)}")
            yield timed


def written_table(name: str, folder: Path) -> Path:
    """Write the rows that the command learns from, and puts its own blind rows aside of."""
    table = learn_tables.TABLES[name]
    rows: pa.Table = learn_tables.whole(name) if table.n_train is None else learn_tables.parts(name, 0).train
    return learn_tables.write(rows, folder / f"{name}{table.suffix}")


def timed_run(each: Run, file: Path, folder: Path, threads: int) -> Timed:
    """Run one command in a folder of its own."""
    out = folder / "out"
    words = ["learn", str(file), "--target", learn_tables.TABLES[each.table].target, "--time", f"{each.limit}s"]
    caches = {"PYTHONPYCACHEPREFIX": str(folder / "bytecode"), "NUMBA_CACHE_DIR": str(folder / "kernels")}
    env = environment(threads, **(caches if each.is_cold else {}))
    ended = run([*our_command(), *words, "--out", str(out)], folder, env, each.limit + MOST_OVER)
    return Timed(each, ended.seconds, ended.peak_mb, failure_of(ended, out))


def failure_of(ended: Ended, out: Path) -> str:
    """Return what is wrong with a command that has ended; empty where nothing is."""
    absent = [name for name in WRITTEN if not (out / name).is_file()]
    missing = f"did not write {', '.join(absent)}" if absent else ""
    return publishable(ended.failure("learn") or missing)


def line_of(timed: Timed) -> str:
    """Return one run in one line."""
    verdict = timed.failure or ("kept" if timed.is_kept else "OVER")
    return f"{timed.run}: {timed.seconds:.2f} s ({timed.over:+.2f}), {timed.peak_mb:.0f} MB: {verdict}"


def summary(timed: list[Timed]) -> str:
    """Return how many runs kept their limit, how near they came to it, and each that did not keep it."""
    if not timed:
        return "No run has such a number."
    broken = [each for each in timed if not each.is_kept]
    lines = [f"{len(timed) - len(broken)} of {len(timed)} runs ended within their limit + {GRACE:g} s."]
    for state, is_cold in (("warm", False), ("cold", True)):
        over = [each.over for each in timed if each.run.is_cold == is_cold]
        if over:
            lines.append(f"Seconds beyond the limit, {state}: median {median(over):+.2f}, largest {max(over):+.2f}.")
    return "\n".join([*lines, *(f"- {line_of(each)}" for each in broken)])


def record_of(timed: list[Timed], threads: int) -> dict:
    """Return what is stored."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine_facts(threads),
        "kept": sum(each.is_kept for each in timed),
        "runs": [
            {**each.run._asdict(), "seconds": results.rounded(each.seconds), "peak_mb": results.rounded(each.peak_mb),
             "failure": each.failure}
            for each in timed
        ],
    }  # fmt: skip


if __name__ == "__main__":
    app(prog_name="python -m benchmarks deadline")
