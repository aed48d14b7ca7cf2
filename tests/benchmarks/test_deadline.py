"""The exam of the deadline: what is drawn, what is timed, what counts as kept."""

import sys
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks import deadline, learn_systems, learn_tables, results
from benchmarks.deadline import Run, Timed, drawn_runs, limits_in, summary
from benchmarks.processes import Ended

TOY = Path(__file__).parent / "toy" / "learn_command.py"


@pytest.fixture
def called(tmp_path, monkeypatch):
    """Return a function that calls the exam of the toy command."""
    monkeypatch.setenv(learn_tables.VARIABLE, str(tmp_path / "tables"))
    monkeypatch.setenv(learn_systems.COMMAND_VARIABLE, f"{sys.executable} {TOY}")
    monkeypatch.setattr(results, "RESULTS", tmp_path / "results")
    return lambda *words: CliRunner().invoke(deadline.app, ["--tables", "thirty,wine", *words])


def test_runs_follow_from_the_seed_and_every_table_comes_equally_often():
    runs = drawn_runs(list(learn_tables.TIMED), 60, (10, 120), 7)
    assert runs == drawn_runs(list(learn_tables.TIMED), 60, (10, 120), 7)
    assert runs != drawn_runs(list(learn_tables.TIMED), 60, (10, 120), 8)
    assert set(Counter(run.table for run in runs).values()) == {5}
    assert sum(run.is_cold for run in runs) == 30
    assert min(run.limit for run in runs) >= 10
    assert max(run.limit for run in runs) <= 120
    assert len({run.limit for run in runs}) > 20


@pytest.mark.parametrize("words", ["10", "a-b", "20-10", "0-5"])
def test_limits_are_two_numbers(words):
    with pytest.raises(ValueError, match=f"--limits must be two whole numbers of seconds, as 10-120; got {words}."):
        limits_in(words)


def test_a_command_in_time_keeps_its_limit(called, tmp_path):
    answer = called("--runs", "2", "--limits", "5-6")
    assert answer.exit_code == 0, answer.output
    assert "2 of 2 runs ended within their limit + 1 s." in answer.output
    assert not (tmp_path / "results").exists()


def test_a_command_that_is_late_is_printed(called, monkeypatch):
    monkeypatch.setenv("TOY_FAULT", "late")
    answer = called("--runs", "2", "--limits", "1-1", "--only", "1")
    assert answer.exit_code == 1
    assert "0 of 1 runs ended within" in answer.output
    assert "- run 1: " in answer.output
    assert "OVER" in answer.output


def test_a_command_that_writes_no_report_has_failed(called, monkeypatch):
    monkeypatch.setenv("TOY_FAULT", "silent")
    answer = called("--runs", "1", "--limits", "5-5")
    assert answer.exit_code == 1
    assert "did not write report.html" in answer.output


def test_sixty_runs_are_kept(called, monkeypatch, tmp_path):
    monkeypatch.setattr(deadline, "timed_run", lambda run, *_: Timed(run, run.limit - 0.5, 100.0, ""))
    assert called("--runs", "60").exit_code == 0
    assert '"kept": 60' in (tmp_path / "results" / "deadline.json").read_text()


@pytest.mark.parametrize("is_cold", [True, False])
def test_a_cold_run_finds_nothing_compiled(monkeypatch, tmp_path, is_cold):
    seen = {}

    def watched(command, folder, env, cap):
        seen.update(env)
        return Ended(1.0, 1.0, 0, "")

    monkeypatch.setattr(deadline, "run", watched)
    for variable in ("PYTHONPYCACHEPREFIX", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(variable, raising=False)
    deadline.timed_run(Run(0, "wine", 10, is_cold), tmp_path / "wine.csv", tmp_path, 1)
    for variable in ("PYTHONPYCACHEPREFIX", "NUMBA_CACHE_DIR"):
        assert (variable in seen) == is_cold
        assert not Path(seen.get(variable, "nowhere")).exists()


def test_one_second_is_granted_and_failures_are_not_kept():
    run = Run(0, "wine", 10, False)
    assert Timed(run, 11.0, 1.0, "").is_kept
    assert not Timed(run, 11.01, 1.0, "").is_kept
    assert not Timed(run, 5.0, 1.0, "ended with status 1").is_kept
    assert "1 of 2 runs" in summary([Timed(run, 5.0, 1.0, ""), Timed(run, 12.0, 1.0, "")])


def test_what_cannot_be_chosen_is_said_in_one_sentence(called):
    answer = called("--limits", "20")
    assert answer.exit_code == 2
    assert "--limits must be" in answer.output
