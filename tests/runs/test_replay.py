"""Replay and resume: the same model to the last bit, whatever the time allowed, and wherever a run was killed."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from eigenwood import save
from eigenwood.data.tables import write_table
from eigenwood.errors import InputError
from eigenwood.runs.files import JOURNAL_FOLDER, MODEL_FILE, RUN_FILE
from eigenwood.runs.journal import JOURNAL
from eigenwood.runs.learn import learn
from eigenwood.runs.record import Run
from eigenwood.runs.replay import replayed
from eigenwood.runs.settings import Settings
from tests.runs.tables_of_learn import houses, three_kinds, two_blobs

pytestmark = pytest.mark.slow


def digest(model, folder) -> str:
    return hashlib.sha256(save(model, Path(folder) / "some.safetensors").read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("table", "target", "methods"),
    [
        (two_blobs(), "side", ("svm", "kernel-logistic")),
        (three_kinds(400), "kind", ("decision-tree", "random-forest", "gradient-boosting")),
        (houses(), "price", ("regression-tree", "svm-regression", "gradient-boosting-regression")),
    ],
)
def test_a_replayed_model_has_the_same_bits(table, target, methods, tmp_path):
    model, run = learn(table, target, Settings(models=methods))
    assert run.assessed is not None
    assert digest(replayed(run, table), tmp_path) == digest(model, tmp_path)
    assert digest(replayed(run, table, assessed=True), tmp_path) != digest(model, tmp_path)


def test_what_time_decided_is_replayed(limited, tmp_path):
    table, _, (model, run), _ = limited
    assert digest(replayed(run, table), tmp_path) == digest(model, tmp_path)


def test_a_model_has_the_same_bits_for_any_number_of_threads(tmp_path):
    """One process learns under a limit, others fit the model again with one thread and with two."""
    write_table(three_kinds(6000), tmp_path / "t.csv")
    words = ["learn", "t.csv", "--target", "kind", "--out", "run", "--time", "8s"]
    run_command(words, tmp_path, n_threads=2)
    digests = {hashlib.sha256((tmp_path / "run" / MODEL_FILE).read_bytes()).hexdigest()}
    for n_threads in (1, 2):
        path = tmp_path / f"{n_threads}.safetensors"
        run_command(["replay", "run/run.json", "t.csv", "--out", path.name], tmp_path, n_threads)
        digests.add(hashlib.sha256(path.read_bytes()).hexdigest())
    assert len(digests) == 1


def run_command(words: list[str], folder: Path, n_threads: int) -> None:
    """Run a command in a process that has so many threads for everything."""
    limits = {f"{name}_NUM_THREADS": str(n_threads) for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "LOKY_MAX")}
    start = f"import os; os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:{n_threads}])"
    call = f"{start}; import eigenwood.cli.main as m; m.main()"
    subprocess.run(
        [sys.executable, "-c", call, *words], cwd=folder, check=True, capture_output=True, env={**os.environ, **limits}
    )


def test_another_table_is_refused():
    run = learn(two_blobs(), "side", Settings(models=("decision-tree",))).run
    with pytest.raises(InputError, match=r"must be the one that the run learnt from; got other values in 'side'\.$"):
        replayed(run, two_blobs(n=62))


def test_a_record_of_another_format_is_named(tmp_path):
    path = learn(two_blobs(), "side", Settings(models=("decision-tree",))).run.save(tmp_path / RUN_FILE)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 1}))
    with pytest.raises(InputError, match=r"the format of a run must be 2; got 1\.$"):
        Run.load(path)


COMMAND = [
    sys.executable,
    "-c",
    "import eigenwood.cli.main as m; m.main()",
    "learn",
    "t.csv",
    "--target",
    "kind",
    "--out",
    "run",
]
COMMAND += ["--models", "decision-tree,gradient-boosting,svm"]


def outcome(folder: Path) -> tuple[str, dict]:
    """Return the digest of the model, and the record without its seconds."""
    record = json.loads((folder / RUN_FILE).read_text())
    record["seconds"] = None
    record["candidates"] = [candidate | {"seconds": 0.0, "fit_seconds": 0.0} for candidate in record["candidates"]]
    return hashlib.sha256((folder / MODEL_FILE).read_bytes()).hexdigest(), record


@pytest.mark.skipif(os.name == "nt", reason="processes are killed by signals here")
def test_who_is_killed_goes_on_to_the_same_end(tmp_path):
    table = three_kinds(300)
    ends = []
    for name, n_kills in (("whole", 0), ("killed", 2)):
        folder = tmp_path / name
        folder.mkdir()
        write_table(table, folder / "t.csv")
        for kill in range(n_kills):
            kill_after(folder, n_lines=3 + 6 * kill)
        more = ["--resume"] if n_kills else []
        subprocess.run([*COMMAND, *more], cwd=folder, check=True, capture_output=True)
        assert not (folder / "run" / JOURNAL_FOLDER).exists()
        ends.append(outcome(folder / "run"))
    assert ends[0] == ends[1]


def kill_after(folder: Path, n_lines: int) -> None:
    """Start the command, or go on with it, and kill it when so many lines stand in the journal."""
    more = ["--resume"] if (folder / "run").exists() else []
    process = subprocess.Popen([*COMMAND, *more], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal = folder / "run" / JOURNAL_FOLDER / JOURNAL
    deadline = time.monotonic() + 120.0
    while time.monotonic() < deadline and process.poll() is None:
        if journal.is_file() and journal.read_text().count("\n") >= n_lines:
            break
        time.sleep(0.005)
    assert process.poll() is None, "the run ended before it was killed"
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_an_interrupt_writes_the_best_model_so_far(tmp_path):
    write_table(three_kinds(4000), tmp_path / "t.csv")
    process = subprocess.Popen(COMMAND, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    journal = tmp_path / "run" / JOURNAL_FOLDER / JOURNAL
    deadline = time.monotonic() + 120.0
    while time.monotonic() < deadline and not (journal.is_file() and journal.read_text().count("\n") >= 3):
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60.0) == 0, process.stderr.read()
    record = json.loads((tmp_path / "run" / RUN_FILE).read_text())
    assert any("interrupted" in note for note in record["notes"])
    assert (tmp_path / "run" / MODEL_FILE).exists()
    assert np.isfinite(record["assessment"]["score"])
