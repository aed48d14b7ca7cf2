"""The command: listing, choosing, storing."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks import discovery, results
from benchmarks.__main__ import app
from benchmarks.names import names_in

TOY = Path(__file__).parent / "toy"


@pytest.fixture
def called(tmp_path, monkeypatch):
    """Return a function that calls the command on the toy folder; results go to a temporary folder."""
    monkeypatch.setattr(discovery, "HOME", TOY)
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    return lambda *words: CliRunner().invoke(app, list(words))


def test_every_bench_file_can_be_read_and_has_ours_in_every_case():
    for method in discovery.methods(discovery.HOME):
        for case in discovery.cases_of(discovery.bench_file(method, discovery.HOME)).values():
            assert "eigenwood" in case.contenders
            assert not any("," in name for name in case.contenders), "a comma parts names in --rivals"
            assert list(case.sizes) == sorted(case.sizes)


def test_list_names_methods_and_cases(called):
    answer = called("--list")
    assert answer.exit_code == 0
    assert "toy" in answer.output
    assert "  plain: eigenwood, numpy, absent" in answer.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["tyo"], "METHOD must be one of toy; got tyo."),
        (["toy", "--case", "plane"], "toy: case must be one of plain, odd, growing, no_data; got plane."),
        (["toy", "--case", "plain", "--rivals", "x"], "plain: rivals must be among numpy, absent; got x."),
    ],
)
def test_what_cannot_be_chosen_is_said_in_one_sentence(called, words, sentence):
    answer = called(*words)
    assert answer.exit_code == 2
    assert sentence in answer.output


def test_a_run_prints_the_table_and_stores_it(called, tmp_path):
    answer = called("toy", "--case", "plain", "--rivals", "absent", "--threads", "1")
    assert answer.exit_code == 0
    assert "### plain" in answer.output
    assert "skipped: a_rival_that_nobody_has is not installed" in answer.output
    stored = json.loads((tmp_path / "toy.json").read_text())
    assert [row["contender"] for row in stored["cases"]["plain"]["rows"]] == ["eigenwood", "absent"]
    assert stored["cases"]["plain"]["machine"]["threads"] == 1


def test_fewer_than_three_repeats_are_not_stored(called, tmp_path):
    assert called("toy", "--case", "plain", "--rivals", "", "--repeats", "1").exit_code == 0
    assert not (tmp_path / "toy.json").exists()


def test_data_that_cannot_be_made_end_with_status_1_and_store_nothing(called, tmp_path):
    answer = called("toy", "--case", "no_data")
    assert answer.exit_code == 1
    assert "no_data: the data could not be made" in answer.output
    assert not (tmp_path / "toy.json").exists()


def test_names_are_split_at_commas():
    assert names_in("a, b") == ["a", "b"]
    assert names_in("") == []
    assert names_in(None) is None
