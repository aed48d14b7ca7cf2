"""``eigenwood learn`` against AutoML systems, at equal seconds: python -m benchmarks learn --seconds 30.

The protocol:

1. The tables, the score that ranks on each, and the options of the rivals were chosen before anything was run
   (learn_tables, learn_rival). Every loss is printed.
2. A quarter of the rows is put aside by this harness, drawn by a seed. The systems get a file of the other rows and a
   file of the blind rows without the target; the truth about them stays in the memory of this process.
3. Everybody has one process (ours two: learn, then predict) with the same two files, the same metric, the same number
   of threads, one after the other; on each table another one is first.
4. Seconds are wall clock from the start of the process to the written predictions. Ours is given them for everything up
   to the report; a rival is given them for its fit alone, since that is what its option means, and reading, importing
   and predicting come on top: who is late shows in the table of seconds, and keeps the score.
5. Ours puts a quarter of its training rows aside for its own report, and fits its model again to all of them where
   there is time; the rivals learn from all. "ours-small-test" is the same command with --test 0.05.
6. Where a rival refuses text or dates, they are made numbers for it (learn_rival), in its own time.
7. Ranks are of scores rounded to four digits, ties share them; who fails is last. Who is not installed is left out.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from benchmarks import learn_tables, results
from benchmarks.case import Case
from benchmarks.learn_ranking import comparison
from benchmarks.learn_systems import MISSING, OK, SYSTEMS, Job, Outcome, systems_chosen, written_job
from benchmarks.machine import machine_facts
from benchmarks.names import names_in

METHOD = "learn"
CASES: list[Case] = []  # whole commands are compared here, not calls within a worker

app = typer.Typer(add_completion=False)


@app.command()
def main(
    table_names: Annotated[str | None, typer.Option("--tables", help="Only these, as a,b.")] = None,
    seconds: Annotated[int, typer.Option(min=1, help="For everybody.")] = 30,
    system_names: Annotated[str | None, typer.Option("--systems", help="Only these, as ours,flaml.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Splits of each table; their scores are averaged.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Of the first split.")] = 0,
    threads: Annotated[int, typer.Option(min=1, help="Of everybody.")] = 2,
    store: Annotated[bool, typer.Option(help="Keep the result under results/.")] = True,
    show: Annotated[bool, typer.Option("--show", help="Run nothing, print what is stored.")] = False,
) -> None:
    """Run systems on tables and print scores, ranks, seconds and memory; the losses of ours are listed.

    Example:

        python -m benchmarks learn --tables adult,california --seconds 30 --systems ours,flaml
    """
    try:
        tables = learn_tables.chosen(names_in(table_names), learn_tables.RANKED)
        systems = systems_chosen(names_in(system_names))
    except ValueError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    seeds = list(range(seed, seed + repeats))
    file = results.RESULTS / f"{METHOD}.json"
    records = results.stored_cases(file) if store or show else {}
    for place, table in enumerate(tables if not show else ()):
        turns = [*systems[place % len(systems) :], *systems[: place % len(systems)]]
        name = record_name(table, seconds, seeds)
        record = record_of(table, turns, seconds, seeds, threads)
        records[name] = record | {"systems": records.get(name, record)["systems"] | record["systems"]}
        if store:
            results.store(METHOD, {name: records[name]}, results.RESULTS)
    wanted = [record_name(table, seconds, seeds) for table in tables]
    typer.echo("\n" + comparison([records[name] for name in wanted if name in records]))


def record_name(table: str, seconds: int, seeds: list[int]) -> str:
    """Return the name under which the result on a table is stored: only equal splits and seconds are compared."""
    return f"{table}, {seconds} s, seeds {seeds[0]}-{seeds[-1]}"


def record_of(table: str, systems: list[str], seconds: int, seeds: list[int], threads: int) -> dict:
    """Run the systems on every split of a table; return what is stored about it."""
    runs: dict[str, list[Outcome]] = {name: [] for name in systems}
    facts = {}
    for seed in seeds:
        parts = learn_tables.parts(table, seed)
        facts = {"rows": parts.train.num_rows, "columns": parts.blind.num_columns, "blind_rows": parts.blind.num_rows}
        with TemporaryDirectory() as folder:
            job = written_job(table, parts, Path(folder), seconds, threads, seed)
            for name in systems:
                runs[name].append(outcome_of(name, job, Path(folder)))
    return {
        "table": table,
        "metric": learn_tables.TABLES[table].metric,
        "data": facts,
        "limit": seconds,
        "seeds": seeds,
        "machine": machine_facts(threads),
        "systems": {name: system_record(outcomes) for name, outcomes in runs.items() if not is_missing(outcomes)},
    }


def outcome_of(name: str, job: Job, folder: Path) -> Outcome:
    """Run one system in a folder of its own, and say what came of it."""
    own = folder / name
    own.mkdir()
    outcome = SYSTEMS[name](job, own)
    scores = ", ".join(f"{metric} {score:.4f}" for metric, score in outcome.scores.items())
    told = f"{scores}; {outcome.seconds:.1f} s, {outcome.peak_mb:.0f} MB" if outcome.status == OK else outcome.reason
    typer.echo(f"{time.strftime('%H:%M:%S')} {job.table} seed {job.seed} {name}: {outcome.status}: {told}", err=True)
    return outcome


def is_missing(outcomes: list[Outcome]) -> bool:
    return any(outcome.status == MISSING for outcome in outcomes)


def system_record(outcomes: list[Outcome]) -> dict:
    """Return what is stored about one system: every single number, and the mean of the scores if it never failed."""
    failures = [outcome.reason for outcome in outcomes if outcome.status != OK]
    metrics = [] if failures else list(outcomes[0].scores)
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "version": outcomes[0].version,
        "failures": failures,
        "means": {metric: results.rounded(mean(o.scores[metric] for o in outcomes)) for metric in metrics},
        "scores": [{metric: results.rounded(score) for metric, score in o.scores.items()} for o in outcomes],
        "seconds": [results.rounded(o.seconds) for o in outcomes],
        "learn_seconds": [results.rounded(o.learn_seconds) for o in outcomes],
        "peak_mb": [results.rounded(o.peak_mb) for o in outcomes],
    }


if __name__ == "__main__":
    app(prog_name="python -m benchmarks learn")
