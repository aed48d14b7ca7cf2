"""The report: one page that opens offline, and the same facts on the terminal."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rich.console import Console

from eigenwood import Perceptron
from eigenwood.data import datasets
from eigenwood.report.html import run_page
from eigenwood.report.model import model_summary
from eigenwood.report.terminal import run_summary
from eigenwood.report.words import percent
from eigenwood.runs.learn import Settings, learn

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run():
    return learn(datasets.load("heart").table(), "disease", Settings()).run


def printed(thing) -> str:
    console = Console(width=140, record=True, color_system=None)
    with console.capture() as capture:
        console.print(thing)
    return capture.get()


def test_the_page_needs_nothing_from_outside(run):
    page = run_page(run)
    markup = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "http" not in markup
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=", page)


def test_the_page_tells_what_was_measured(run):
    page = run_page(run)
    assert percent(run.assessment.score) in page
    assert percent(run.assessment.baseline) in page
    for column in run.columns:
        assert f"<td>{column.name}</td>" in page
    for claim in run.certificate["claims"]:
        assert claim["name"] in page


def test_names_from_the_table_cannot_run_in_the_page(run):
    evil = "<script>alert(1)</script>"
    columns = [replace(run.columns[0], name=evil), *run.columns[1:]]
    assessment = replace(run.assessment, labels=[evil, "yes"], baseline_label=evil)
    page = run_page(replace(run, table=evil, columns=columns, assessment=assessment))
    assert evil not in page


def test_the_terminal_tells_the_same(run):
    text = printed(run_summary(run))
    assert percent(run.assessment.score) in text
    assert "→" in text
    for candidate in run.candidates:
        assert percent(candidate.mean_score) in text


def test_a_model_shows_its_parameters_and_certificate():
    text = printed(model_summary(Perceptron(eta0=0.5).fit([[0.0], [1.0]], [0, 1])))
    assert re.search(r"eta0\s+│ 0.5\s+│ default: 1.0", text)
    assert "training errors" in text
