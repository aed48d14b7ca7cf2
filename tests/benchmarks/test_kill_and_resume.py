"""The exam of --resume: a run that is killed must be told from one that is not, where they differ."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks import kill_and_resume, learn_systems, learn_tables

TOY = Path(__file__).parent / "toy" / "learn_command.py"


@pytest.fixture
def called(tmp_path, monkeypatch):
    """Return a function that calls the exam of the toy command."""
    monkeypatch.setenv(learn_tables.VARIABLE, str(tmp_path / "tables"))
    monkeypatch.setenv(learn_systems.COMMAND_VARIABLE, f"{sys.executable} {TOY}")
    monkeypatch.setenv("TOY_SECONDS", "0.3")
    return lambda *words: CliRunner().invoke(kill_and_resume.app, ["--table", "wine", "--times", "2", *words])


def test_runs_that_end_as_the_undisturbed_one_pass(called):
    answer = called()
    assert answer.exit_code == 0, answer.output
    assert "2 of 2 runs that were killed and resumed are the run that was not." in answer.output


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [("forgetful", "the model has other bits"), ("untouched", "the record differs at other")],
)
def test_runs_that_end_otherwise_do_not(called, monkeypatch, fault, complaint):
    monkeypatch.setenv("TOY_FAULT", fault)
    answer = called()
    assert answer.exit_code == 1
    assert complaint in answer.output
    assert "0 of 2 runs" in answer.output


def test_a_command_that_fails_undisturbed_is_told(called, monkeypatch):
    monkeypatch.setenv(learn_systems.COMMAND_VARIABLE, f"{sys.executable} -c 1/0")
    answer = called()
    assert answer.exit_code == 1
    assert "ZeroDivisionError" in answer.output


def test_a_command_that_is_never_the_same_is_told(called, monkeypatch):
    monkeypatch.setattr(kill_and_resume, "TIMES", ())
    answer = called()
    assert answer.exit_code == 1
    assert "two undisturbed runs are not equal: the record differs at seconds" in answer.output


def test_an_unknown_table_is_named(called):
    answer = called("--table", "whine")
    assert answer.exit_code == 2
    assert "--tables must be among" in answer.output


def test_places_that_differ_are_named():
    one, other = {"a": [1, {"b": 2.0}], "d": None}, {"a": [1, {"b": 3.0}], "c": 0, "d": None}
    assert kill_and_resume.differing_places(one, one) == []
    assert kill_and_resume.differing_places(one, other) == ["a[1].b", "c"]
    assert kill_and_resume.differing_places([1], [1, 2], "a") == ["a"]
