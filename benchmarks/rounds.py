"""Run the contenders of a case in alternating fresh processes: A B C  A B C  A B C.

Alternation spreads the slow minutes of a machine over everybody; a fresh process keeps the threads, caches
and heap of one contender away from the next. The arrays are made once, by a process of their own.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.case import OURS, Case

ROOT = Path(__file__).parent.parent
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

Say = Callable[[str], None]


@dataclass
class Row:
    """What one contender did at one size: every single time, or why there is none."""

    contender: str
    n: int | None
    status: str = "ok"  # "ok", "missing" or "failed"
    reason: str = ""
    seconds: list[float] = field(default_factory=list)
    quality: list[float | None] = field(default_factory=list)
    peak_mb: list[float] = field(default_factory=list)

    def add(self, answer: dict) -> None:
        """Take in the answer of one process."""
        self.status = answer["status"]
        self.reason = answer.get("reason", "")
        if self.status == "ok":
            self.seconds.append(answer["seconds"])
            self.quality.append(answer["quality"])
            self.peak_mb.append(answer["peak_mb"])


@dataclass(frozen=True)
class Plan:
    """Who runs what, how often, on how many threads."""

    bench: Path
    case: Case
    contenders: tuple[str, ...]
    repeats: int
    threads: int


def contenders_chosen(case: Case, rivals: list[str] | None) -> tuple[str, ...]:
    """Return ours and the chosen rivals in the order of the case; all where nothing was chosen."""
    if rivals is None:
        return tuple(case.contenders)
    unknown = set(rivals) - set(case.contenders)
    if unknown:
        allowed = ", ".join(name for name in case.contenders if name != OURS)
        raise ValueError(f"{case.name}: rivals must be among {allowed}; got {', '.join(sorted(unknown))}.")
    return tuple(name for name in case.contenders if name == OURS or name in rivals)


def rows_of(plan: Plan, say: Say = print) -> tuple[list[Row], dict[str, str]]:
    """Return the rows of every size, and what the arrays of the last size were."""
    rows: list[Row] = []
    data: dict[str, str] = {}
    for n in plan.case.sizes or (None,):
        with TemporaryDirectory() as folder:
            data = arrays_made(plan, n, Path(folder))
            rows += rows_of_size(plan, n, Path(folder), too_slow_already(rows), say)
    return rows, data


def arrays_made(plan: Plan, n: int | None, folder: Path) -> dict[str, str]:
    """Save the arrays of size n in ``folder``; return what they are."""
    (folder / "arrays").mkdir()
    answer = answer_of_process(plan, {"action": "make", "n": n}, folder)
    if answer["status"] != "ok":
        raise RuntimeError(f"{plan.case.name}: the data could not be made: {answer['reason']}")
    return answer["data"]


def rows_of_size(plan: Plan, n: int | None, folder: Path, too_slow: dict[str, str], say: Say) -> list[Row]:
    """Return one row per contender. Who is missing or failed once is not asked again."""
    rows = [Row(name, n) for name in plan.contenders]
    for row in rows:
        if row.contender in too_slow:
            row.status, row.reason = "failed", too_slow[row.contender]
    for turn in range(1, plan.repeats + 1):
        for row in rows:
            if row.status == "ok":
                job = {"action": "run", "n": n, "contender": row.contender}
                row.add(answer_of_process(plan, job, folder))
                say(progress_line(plan, row, turn))
    return rows


def too_slow_already(rows: list[Row]) -> dict[str, str]:
    """Return who ran out of time at a smaller size: a larger one would only cost more time."""
    return {row.contender: row.reason for row in rows if row.reason.startswith(OVER_TIME)}


OVER_TIME = "over the time limit"


def progress_line(plan: Plan, row: Row, turn: int) -> str:
    """Return what the reader sees while waiting."""
    size = "" if row.n is None else f" n={row.n}"
    outcome = f"{row.seconds[-1]:.3f} s" if row.status == "ok" else f"{row.status}: {row.reason}"
    return f"{plan.case.name}{size} {turn}/{plan.repeats} {row.contender}: {outcome}"


def answer_of_process(plan: Plan, job: dict, folder: Path) -> dict:
    """Return the answer of one fresh process, or what kept it from answering."""
    answer_file, job_file = folder / "answer.json", folder / "job.json"
    answer_file.unlink(missing_ok=True)
    common = {
        "bench": str(plan.bench),
        "case": plan.case.name,
        "arrays": str(folder / "arrays"),
        "answer": str(answer_file),
        "threads": plan.threads,
    }
    job_file.write_text(json.dumps(common | job))
    failure = failure_of_process(job_file, plan, folder / "stderr.txt")
    if failure is None and answer_file.exists():
        answer = json.loads(answer_file.read_text())
    else:
        answer = {"status": "failed", "reason": failure or "ended without an answer"}
    if answer["status"] == "failed":
        # The whole story goes to the terminal only: it names paths.
        sys.stderr.write((folder / "stderr.txt").read_text(errors="replace")[-4000:])
    return answer


def failure_of_process(job_file: Path, plan: Plan, stderr_file: Path) -> str | None:
    """Run the worker; return why it did not come to its end, or None."""
    with stderr_file.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", str(job_file)],
            env=environment(plan.threads),
            stdout=stderr,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout=plan.case.time_limit)
        except subprocess.TimeoutExpired:
            return f"{OVER_TIME} of {plan.case.time_limit:g} s"
        finally:
            _end_group(process)
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit status {code}" if code else None


def environment(threads: int) -> dict[str, str]:
    """Return the environment of a worker: thread counts are read when a library is imported."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return dict(os.environ) | dict.fromkeys(THREAD_VARIABLES, str(threads)) | {"PYTHONPATH": path}


def _end_group(process: subprocess.Popen) -> None:
    """End a worker that still runs, with the processes it started."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
