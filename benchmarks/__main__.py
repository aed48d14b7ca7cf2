"""The command: python -m benchmarks METHOD [--case NAME] [--repeats N] [--rivals a,b] [--threads N];
python -m benchmarks anywhere --family F for random work; learn, deadline and kill-and-resume for the whole command."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from benchmarks import anywhere, bench_learn, deadline, discovery, kill_and_resume, results, rounds, tables
from benchmarks.case import OURS, Case
from benchmarks.machine import machine_facts
from benchmarks.names import names_in

FEWEST_STORED_REPEATS = 3

app = typer.Typer(add_completion=False)


@app.command()
def main(
    method: Annotated[str | None, typer.Argument(help="The method: svm runs bench_svm.py.")] = None,
    case: Annotated[str | None, typer.Option(help="Run this case only.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Processes per contender.")] = FEWEST_STORED_REPEATS,
    rivals: Annotated[str | None, typer.Option(help="Only these beside ours, as a,b.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads of every contender.")] = 2,
    store: Annotated[bool, typer.Option(help="Keep the result under results/.")] = True,
    list_: Annotated[bool, typer.Option("--list", help="Show methods and cases, run nothing.")] = False,
) -> None:
    """Run METHOD against its rivals and print seconds, quality and peak memory.

    Example:

        python -m benchmarks kernels --case rbf_8000
    """
    if list_ or method is None:
        typer.echo(listing())
        return
    try:
        plans = plans_of(method, case, names_in(rivals), repeats, threads)
    except ValueError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    records, complaints = records_of(plans)
    if store and repeats >= FEWEST_STORED_REPEATS and records:
        results.store(method, records, results.RESULTS)
        typer.echo(f"\nStored in benchmarks/results/{method}.json.")
    else:
        typer.echo(f"\nNot stored: that takes {FEWEST_STORED_REPEATS} repeats and a case that ran.")
    for complaint in complaints:
        typer.echo(complaint, err=True)
    if complaints:
        raise typer.Exit(1)


def listing() -> str:
    """Return the methods with their cases and contenders."""
    lines = []
    for method in discovery.methods(discovery.HOME):
        lines.append(method)
        cases = discovery.cases_of(discovery.bench_file(method, discovery.HOME)).values()
        lines += [f"  {case.name}: {', '.join(case.contenders)}" for case in cases]
    return "\n".join(lines)


def plans_of(method: str, case: str | None, rivals: list[str] | None, repeats: int, threads: int):
    """Return one plan per chosen case; a ValueError says what cannot be chosen."""
    file = discovery.bench_file(method, discovery.HOME)
    cases = discovery.cases_of(file)
    if case is not None and case not in cases:
        raise ValueError(f"{method}: case must be one of {', '.join(cases)}; got {case}.")
    chosen: list[Case] = [cases[case]] if case else list(cases.values())
    return [rounds.Plan(file, each, rounds.contenders_chosen(each, rivals), repeats, threads) for each in chosen]


def records_of(plans: list[rounds.Plan]) -> tuple[dict[str, dict], list[str]]:
    """Run the plans, printing each table as it comes; return the records to keep and what went wrong.

    A case where ours failed is shown but not kept: it would take the place of a good record.
    """
    records, complaints = {}, []
    for plan in plans:
        try:
            rows, data = rounds.rows_of(plan, say=lambda line: typer.echo(line, err=True))
        except RuntimeError as error:
            complaints.append(str(error))
            continue
        record = results.case_record(plan.case, rows, data, machine_facts(plan.threads))
        typer.echo("\n" + tables.case_table(plan.case.name, record))
        failures = [row for row in rows if row.contender == OURS and row.status != "ok"]
        complaints += [f"{plan.case.name}: {OURS} failed: {row.reason}" for row in failures]
        if not failures:
            records[plan.case.name] = record
    return records, complaints


OTHERS = {
    "anywhere": anywhere.app,
    "learn": bench_learn.app,
    "deadline": deadline.app,
    "kill-and-resume": kill_and_resume.app,
}

if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name in OTHERS:
        OTHERS[name](sys.argv[2:], prog_name=f"python -m benchmarks {name}")
    app(prog_name="python -m benchmarks")
