"""The systems that are compared: how each is started, and what became of it.

Ours is the command line, twice: ``learn`` on the rows to learn from, ``predict`` on the blind rows. A rival is
``learn_rival.py``, run by the interpreter of an environment that has it: EIGENWOOD_RIVALS says which, as
flaml=/venvs/one/bin/python,mljar=/venvs/two/bin/python, or one path for all of them.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.learn_scores import scores_of
from benchmarks.learn_tables import CLASSES, TABLES, Parts, write
from benchmarks.processes import environment, run
from benchmarks.worker import publishable

OURS = "ours"
RIVALS_VARIABLE = "EIGENWOOD_RIVALS"
COMMAND_VARIABLE = "EIGENWOOD_COMMAND"
HOME = Path(__file__).parent

OK, MISSING, FAILED = "ok", "missing", "failed"


class Job(NamedTuple):
    """One table, one split of it, written where the systems find it."""

    table: str
    train: Path
    blind: Path
    truth: np.ndarray  # in memory only
    seconds: int
    threads: int
    seed: int

    @property
    def cap(self) -> float:
        """Seconds after which a system is killed: far beyond the limit, so that who is late shows by how much."""
        return 10.0 * self.seconds + 300.0


class Outcome(NamedTuple):
    """What became of one system on one job."""

    status: str
    reason: str = ""
    version: str = ""
    seconds: float = 0.0  # from the start of the process to the written predictions
    learn_seconds: float = 0.0  # of them, to the written model and report; of a rival, its fit
    peak_mb: float = 0.0
    scores: dict[str, float] = {}


def written_job(table: str, parts: Parts, folder: Path, seconds: int, threads: int, seed: int) -> Job:
    """Return a job whose two files are written into the folder."""
    suffix = TABLES[table].suffix
    train, blind = (
        write(rows, folder / f"{name}{suffix}") for name, rows in zip(("train", "blind"), parts[:2], strict=True)
    )
    return Job(table, train, blind, parts.truth, seconds, threads, seed)


def our_command() -> list[str]:
    """Return the command eigenwood of this interpreter, or the one in EIGENWOOD_COMMAND."""
    given = os.environ.get(COMMAND_VARIABLE)
    return shlex.split(given) if given else [sys.executable, "-c", "from eigenwood.cli.main import main; main()"]


def rival_python(name: str) -> str:
    """Return the interpreter of a rival."""
    text = os.environ.get(RIVALS_VARIABLE, "")
    if "=" not in text:
        return text or sys.executable
    return dict(pair.split("=", 1) for pair in text.split(",")).get(name, sys.executable)


def run_ours(options: tuple[str, ...], job: Job, folder: Path) -> Outcome:
    """Return what our command made of a job, ``learn`` and ``predict`` together."""
    from eigenwood import __version__

    table, out, predictions = TABLES[job.table], folder / "run", folder / "predictions.parquet"
    words = ["learn", str(job.train), "--target", table.target, "--time", f"{job.seconds}s", "--out", str(out)]
    words += ["--metric", table.metric, "--seed", str(job.seed), *options]
    learnt = run([*our_command(), *words], folder, environment(job.threads), job.cap)
    if failure := learnt.failure("learn"):
        return Outcome(FAILED, publishable(failure), __version__, learnt.seconds, learnt.seconds, learnt.peak_mb)
    words = ["predict", str(out / "model.safetensors"), str(job.blind), "--out", str(predictions)]
    words += ["--proba"] if table.task == CLASSES else []
    asked = run([*our_command(), *words], folder, environment(job.threads), job.cap)
    measured = (__version__, learnt.seconds + asked.seconds, learnt.seconds, max(learnt.peak_mb, asked.peak_mb))
    return judged(job, predictions, asked.failure("predict"), *measured)


def run_rival(name: str, job: Job, folder: Path) -> Outcome:
    """Return what a rival made of a job."""
    table, predictions, answer = TABLES[job.table], folder / "predictions.parquet", folder / "answer.json"
    facts = {"system": name, "target": table.target, "task": table.task, "metric": table.metric, "seconds": job.seconds}
    facts |= {"threads": job.threads, "seed": job.seed, "folder": str(folder), "predictions": str(predictions)}
    job_file = folder / "job.json"
    job_file.write_text(json.dumps(facts | {"train": str(job.train), "blind": str(job.blind), "answer": str(answer)}))
    command = [rival_python(name), "-P", str(HOME / "learn_rival.py"), str(job_file)]
    ended = run(command, folder, environment(job.threads, PYTHONPATH=""), job.cap)
    failure = ended.failure(name)
    if "ModuleNotFoundError" in failure:
        return Outcome(MISSING, publishable(failure))
    told = json.loads(answer.read_text()) if answer.exists() else {"version": "", "learn_seconds": 0.0}
    return judged(job, predictions, failure, told["version"], ended.seconds, told["learn_seconds"], ended.peak_mb)


def judged(
    job: Job, predictions: Path, failure: str, version: str, seconds: float, learn_seconds: float, peak_mb: float
) -> Outcome:
    """Return the outcome with the scores of the predictions, or with what is wrong with them."""
    scores = dict[str, float]()
    if not failure:
        try:
            scores = scores_of(predictions, job.truth, TABLES[job.table].task)
        except (OSError, ValueError, KeyError) as problem:
            failure = f"predictions: {problem}"
    status = FAILED if failure else OK
    return Outcome(status, publishable(failure), version, seconds, learn_seconds, peak_mb, scores)


SYSTEMS: dict[str, Callable[[Job, Path], Outcome]] = {
    OURS: partial(run_ours, ()),
    "ours-small-test": partial(run_ours, ("--test", "0.05")),  # the quarter that learn puts aside is not lost
    "flaml": partial(run_rival, "flaml"),
    "autogluon": partial(run_rival, "autogluon"),
    "mljar": partial(run_rival, "mljar"),
    "hist-gradient-boosting": partial(run_rival, "hist-gradient-boosting"),
}
DEFAULT_SYSTEMS = tuple(name for name in SYSTEMS if name != "ours-small-test")


def systems_chosen(names: list[str] | None) -> list[str]:
    """Return the systems that were asked for; a ValueError says which there are."""
    unknown = [name for name in names or () if name not in SYSTEMS]
    if unknown:
        raise ValueError(f"--systems must be among {', '.join(SYSTEMS)}; got {', '.join(unknown)}.")
    return list(DEFAULT_SYSTEMS if names is None else names)
