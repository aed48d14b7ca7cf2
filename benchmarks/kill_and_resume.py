"""Is a run that was killed at a random moment the same run? python -m benchmarks kill-and-resume --times 50.

First the command runs undisturbed, twice: that tells how long it takes, and that two runs are equal at all. Then, as
often as asked, it is started, killed (SIGKILL) at a moment drawn evenly from its whole length, and the same command is
run with --resume. Its model must have the same SHA-256, and its record must be the same but for times. There is no
--time: what a clock decides is not the same twice.

A moment at which the command had ended already is drawn again. Where the kill came after the record was written, the
run is whole, and --resume may say so instead. Files that only a killed run leaves behind are named.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from benchmarks.deadline import written_table
from benchmarks.learn_systems import our_command
from benchmarks.learn_tables import TABLES, chosen
from benchmarks.processes import Ended, environment, kill_group, run
from benchmarks.worker import publishable

MODEL, RECORD, JOURNAL = "model.safetensors", "run.json", ".journal"
TIMES = ("seconds", "fit_seconds", "time_limit")  # keys of the record whose values are times
MOST_SECONDS = 1800.0  # of one undisturbed run
MOST_EARLY = 10  # moments that come too late, for each that does not
REFUSED = 2  # the exit status of a command that was asked for what cannot be

app = typer.Typer(add_completion=False)


class Result(NamedTuple):
    """What a run left: the digest of its model, and its record without times."""

    digest: str
    record: Any
    files: set[str]


class Command(NamedTuple):
    """The command under test, but for its folder."""

    words: list[str]
    threads: int

    def start(self, out: Path) -> subprocess.Popen:
        """Return the command at work, in a process group of its own."""
        words, silent = [*self.words, "--out", str(out)], subprocess.DEVNULL
        env = environment(self.threads)
        return subprocess.Popen(words, env=env, stdin=silent, stdout=silent, stderr=silent, start_new_session=True)

    def run(self, out: Path, *options: str) -> Ended:
        """Run the command to its end."""
        words = [*self.words, "--out", str(out), *options]
        return run(words, out.parent, environment(self.threads), MOST_SECONDS)


@app.command()
def main(
    times: Annotated[int, typer.Option(min=1, help="How often to kill.")] = 50,
    table: Annotated[str, typer.Option(help="The table to learn from.")] = "heart",
    seed: Annotated[int, typer.Option(min=0, help="Draws the moments.")] = 0,
    models: Annotated[str | None, typer.Option(help="Passed on to learn.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="Of the command.")] = 2,
) -> None:
    """Kill learn at random moments, resume it, and compare what it left with an undisturbed run.

    Example:

        python -m benchmarks kill-and-resume --times 50
    """
    try:
        chosen([table], ())
    except ValueError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    with TemporaryDirectory() as folder:
        words = [*our_command(), "learn", str(written_table(table, Path(folder))), "--target", TABLES[table].target]
        words += ["--seed", "0", *(["--models", models] if models else [])]
        try:
            differing = differences_of(Command(words, threads), times, np.random.default_rng(seed), Path(folder))
        except RuntimeError as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(1) from None
    typer.echo(f"\n{times - differing} of {times} runs that were killed and resumed are the run that was not.")
    if differing:
        raise typer.Exit(1)


def differences_of(command: Command, times: int, rng: np.random.Generator, folder: Path) -> int:
    """Kill and resume so many times, and say what came of each; return how many were not the undisturbed run."""
    whole, seconds = undisturbed(command, folder)
    n_differing = n_early = number = 0
    phases = Counter[str]()
    while number < times:
        out = folder / f"try-{number}-{n_early}" / "out"
        out.parent.mkdir()
        moment = rng.uniform(0.0, seconds)
        if not killed_at(moment, command, out):
            n_early += 1
            if n_early > MOST_EARLY * times:
                raise RuntimeError(
                    f"the command ended before {n_early} of the moments; it took {seconds:.1f} s at first"
                )
            continue
        phase = phase_of(out)
        complaint, left = resumed(command, out, whole)
        number += 1
        phases[phase] += 1
        n_differing += bool(complaint)
        remark = f"; left behind: {', '.join(left)}" if left else ""
        say(f"{number}/{times} killed after {moment:.2f} s ({phase}): {complaint or 'the same'}{remark}")
    say(f"Killed: {', '.join(f'{count} x {phase}' for phase, count in phases.items())}; too late: {n_early}.")
    return n_differing


def undisturbed(command: Command, folder: Path) -> tuple[Result, float]:
    """Return what the command leaves when nobody kills it, and its seconds; two runs must agree."""
    found, seconds = [], []
    for name in ("first", "second"):
        out = folder / name / "out"
        out.parent.mkdir()
        ended = command.run(out)
        if failure := ended.failure("learn"):
            raise RuntimeError(publishable(failure))
        found.append(result_of(out))
        seconds.append(ended.seconds)
    say(f"Undisturbed: {seconds[0]:.2f} s and {seconds[1]:.2f} s, model {found[0].digest[:12]}.")
    if complaint := difference(found[0], found[1]):
        raise RuntimeError(f"two undisturbed runs are not equal: {complaint}")
    return found[0], min(seconds)


def killed_at(moment: float, command: Command, out: Path) -> bool:
    """Start the command, kill it after so many seconds; return whether it was still at work."""
    process = command.start(out)
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        return True
    finally:
        kill_group(process.pid)
        process.wait()
    return False


def phase_of(out: Path) -> str:
    """Return how far the command had come."""
    if (out / RECORD).exists():
        return "everything written"
    if (out / MODEL).exists():
        return "model written"
    if (out / JOURNAL).exists():
        return f"{len(list((out / JOURNAL).glob('*.npz')))} trials kept"
    return "nothing kept"


def resumed(command: Command, out: Path, whole: Result) -> tuple[str, list[str]]:
    """Resume a run that was killed; return in what it differs from the whole one, and which files it has besides."""
    was_whole = (out / RECORD).exists()
    ended = command.run(out, "--resume")
    if ended.status != 0 and not (was_whole and ended.status == REFUSED):
        return publishable(ended.failure("learn --resume")), []
    if absent := [name for name in (MODEL, RECORD) if not (out / name).exists()]:
        return f"{', '.join(absent)} not written", []
    result = result_of(out)
    return difference(whole, result), sorted(result.files - whole.files)


def result_of(out: Path) -> Result:
    """Return what a run left."""
    digest = hashlib.sha256((out / MODEL).read_bytes()).hexdigest()
    record = json.loads((out / RECORD).read_text(encoding="utf-8"), parse_constant=str)  # a NaN is equal to none
    return Result(digest, without_times(record), {str(path.relative_to(out)) for path in out.rglob("*")})


def without_times(content: Any) -> Any:
    """Return JSON without what says how long something took.

    >>> without_times({"score": 0.9, "seconds": {"search": 3.1}, "trials": [{"seconds": 1.0, "rows": 10}]})
    {'score': 0.9, 'trials': [{'rows': 10}]}
    """
    if isinstance(content, dict):
        return {key: without_times(value) for key, value in content.items() if key not in TIMES}
    if isinstance(content, list):
        return [without_times(value) for value in content]
    return content


def difference(whole: Result, other: Result) -> str:
    """Return in what a run differs from the whole one, empty where in nothing."""
    places = differing_places(whole.record, other.record)
    told = ["the model has other bits"] if whole.digest != other.digest else []
    return "; ".join(told + ([f"the record differs at {', '.join(places[:5])}"] if places else []))


def differing_places(one: Any, other: Any, place: str = "") -> list[str]:
    """Return where two JSON values differ, as candidates[3].mean_score.

    >>> differing_places({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}], "c": 0})
    ['a[1].b', 'c']
    """
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [*one, *(key for key in other if key not in one)]
        found = [differing_places(one.get(key), other.get(key), f"{place}.{key}".lstrip(".")) for key in keys]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        found = [differing_places(a, b, f"{place}[{i}]") for i, (a, b) in enumerate(zip(one, other, strict=True))]
    else:
        return [] if one == other else [place or "the whole"]
    return [each for part in found for each in part]


def say(line: str) -> None:
    typer.echo(f"{time.strftime('%H:%M:%S')} {line}")


if __name__ == "__main__":
    app(prog_name="python -m benchmarks kill-and-resume")
