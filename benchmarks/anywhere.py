"""Random work that nobody tuned for: python -m benchmarks anywhere --family boosting --count 60 --seed 1.

Every workload follows from one seed. Ours and the rivals take turns in this process, which has warmed them up; the best
of some runs of each counts, and so does the quality of the answer on rows that were not learnt. What is printed:

    one line for each workload     what it is, milliseconds and quality of everybody, fastest rival / ours
    the distribution               worst, 10 %, median, how many are lost; each loss by the seed that makes it again;
                                   and where a rival's quality was better than ours

``--store`` keeps the outcomes beside those of earlier runs, in results/anywhere/<family>.json, and prints the
distribution of them all: short runs add up. It begins anew where the file is deleted.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from benchmarks.case import OURS, Arrays, Contender
from benchmarks.machine import machine_facts
from benchmarks.results import RESULTS, rounded, write_whole

STORE = RESULTS / "anywhere"
MOST_SECONDS = 2.0  # of runs of one contender on one workload
MOST_RUNS = 4

app = typer.Typer(add_completion=False)


class Workload(NamedTuple):
    """Random rows, what is wanted of them, and who does it."""

    words: str
    arrays: Arrays
    contenders: dict[str, Contender]


@dataclass(frozen=True)
class Family:
    """Workloads of one kind: how they are drawn, and how an answer is judged; more is better."""

    draw: Callable[[np.random.Generator], Workload]
    quality: Callable[[Arrays, Any], float]
    tolerance: float  # of quality: whoever is worse than ours by more has not done the same work


class Outcome(NamedTuple):
    """What became of one workload."""

    seed: int
    words: str
    seconds: dict[str, float]
    quality: dict[str, float]

    def ratio(self, tolerance: float) -> float:
        """Return the time of the fastest rival, of those as good as ours, in times of ours."""
        rivals = [
            seconds
            for name, seconds in self.seconds.items()
            if name != OURS and self.quality[name] >= self.quality[OURS] - tolerance
        ]
        return min(rivals) / self.seconds[OURS] if rivals else np.inf

    def is_worse(self, tolerance: float) -> bool:
        """Return whether a rival's answer is better than ours by more than the tolerance."""
        return max(self.quality.values()) > self.quality[OURS] + tolerance


def best_times(runs: dict[str, Callable[[Arrays], Any]], arrays: Arrays) -> tuple[dict[str, float], dict[str, Any]]:
    """Return the least seconds of each contender, and its answer; they take turns."""
    seconds, answers, spent = {}, {}, dict.fromkeys(runs, 0.0)
    for _ in range(MOST_RUNS):
        for name, run in runs.items():
            if spent[name] > MOST_SECONDS:
                continue
            start = time.perf_counter()
            answers[name] = run(arrays)
            took = time.perf_counter() - start
            spent[name] += took
            seconds[name] = min(took, seconds.get(name, np.inf))
    return seconds, answers


def outcome_of(family: Family, seed: int, threads: int) -> Outcome:
    """Return what everybody makes of the workload of a seed."""
    work = family.draw(np.random.default_rng(seed))
    runs = {name: contender(threads) for name, contender in work.contenders.items()}
    seconds, answers = best_times(runs, work.arrays)
    return Outcome(
        seed, work.words, seconds, {name: family.quality(work.arrays, answer) for name, answer in answers.items()}
    )


def line_of(outcome: Outcome, tolerance: float) -> str:
    """Return one workload in one line."""
    everybody = ", ".join(
        f"{name} {1e3 * seconds:.1f} ms {outcome.quality[name]:.4f}" for name, seconds in outcome.seconds.items()
    )
    return f"{outcome.ratio(tolerance):6.2f}  seed {outcome.seed}: {outcome.words}: {everybody}"


def distribution(outcomes: list[Outcome], tolerance: float) -> str:
    """Return how the ratios are distributed, and the seeds of the losses."""
    ratios = np.array([outcome.ratio(tolerance) for outcome in outcomes])
    lost = [
        f"{outcome.seed} ({outcome.ratio(tolerance):.2f})" for outcome in outcomes if outcome.ratio(tolerance) < 1.0
    ]
    worse = [str(outcome.seed) for outcome in outcomes if outcome.is_worse(tolerance)]
    worst, tenth, middle = np.quantile(ratios, [0.0, 0.1, 0.5], method="lower")
    return (
        f"fastest rival / ours over {ratios.size} workloads: worst {worst:.2f}, 10 % {tenth:.2f}, median {middle:.2f}; "
        f"lost {len(lost)}" + (f": seeds {', '.join(lost)}" if lost else "") + "\n"
        f"a rival's quality is better by more than {tolerance:g} on {len(worse)}"
        + (f": seeds {', '.join(worse)}" if worse else "")
    )


# --- what is stored -------------------------------------------------------------------------------


def stored_outcomes(file: Path) -> list[Outcome]:
    """Return what earlier runs have kept."""
    return [Outcome(**each) for each in json.loads(file.read_text())["outcomes"]] if file.exists() else []


def store(file: Path, outcomes: list[Outcome], threads: int) -> None:
    """Write all outcomes, a seed once, and the machine they were taken on."""
    records = [
        outcome._replace(
            seconds={name: rounded(value) for name, value in outcome.seconds.items()},
            quality={name: float(f"{value:.8g}") for name, value in outcome.quality.items()},
        )._asdict()
        for outcome in {outcome.seed: outcome for outcome in outcomes}.values()
    ]
    write_whole(file, json.dumps({"machine": machine_facts(threads), "outcomes": records}, indent=1) + "\n")


@app.command()
def main(
    family: Annotated[str, typer.Option(help="What kind of work.")],
    count: Annotated[int, typer.Option(min=1, help="How many workloads.")] = 60,
    seed: Annotated[int | None, typer.Option(help="Of the first workload; drawn from the clock unless given.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads of everybody.")] = 2,
    keep: Annotated[bool, typer.Option("--store", help="Keep the outcomes beside earlier ones.")] = False,
) -> None:
    """Run random workloads of a family and print how the times of ours and the rivals compare.

    Example:

        python -m benchmarks anywhere --family boosting --count 60
    """
    from benchmarks.families import FAMILIES

    if family not in FAMILIES:
        typer.echo(f"anywhere: --family must be one of {', '.join(FAMILIES)}; got {family}.", err=True)
        raise typer.Exit(2)
    chosen, first = FAMILIES[family], time.time_ns() % 1_000_000_000 if seed is None else seed
    outcome_of(chosen, first, threads)  # everybody is warm
    file = STORE / f"{family}.json"
    outcomes = stored_outcomes(file) if keep else []
    for number in range(count):
        outcomes.append(outcome_of(chosen, first + number, threads))
        typer.echo(line_of(outcomes[-1], chosen.tolerance))
        if keep:
            store(file, outcomes, threads)
    typer.echo(distribution(outcomes, chosen.tolerance))
