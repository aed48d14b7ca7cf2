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
from eigenwood.report.task_report import TASK_REPORTS
from eigenwood.report.terminal import run_summary
from eigenwood.report.words import amount, decimal, percent, preparation
from eigenwood.runs import learn as stages
from eigenwood.runs.learn import learn
from eigenwood.runs.settings import Settings
from tests.runs import fakes

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run():
    return learn(datasets.load("heart").table(), "disease", Settings()).run


@pytest.fixture(scope="module")
def price_run():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "ENTRIES", fakes.LINES)
        return learn(fakes.houses(), "price", Settings()).run


def printed(thing) -> str:
    console = Console(width=140, record=True, color_system=None)
    with console.capture() as capture:
        console.print(thing)
    return capture.get()


@pytest.mark.parametrize("which", ["run", "price_run"])
def test_the_page_needs_nothing_from_outside(which, request):
    page = run_page(request.getfixturevalue(which))
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


def test_the_page_of_amounts_tells_what_was_measured(price_run):
    page, assessment = run_page(price_run), price_run.assessment
    assert decimal(assessment.score) in page
    assert f"by always saying the mean, {amount(assessment.baseline_amount)}" in page
    for measure in TASK_REPORTS["regression"].measures(assessment):
        assert all(f">{text}</td>" in page for text in measure)
    assert f"The 95 % interval: {assessment.interval}." in page
    assert "mean R²" in page
    assert "accuracy" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def test_the_page_says_when_not_all_rows_are_drawn(price_run):
    assert "(all 50)" in run_page(price_run)
    fewer = replace(price_run.assessment, shown_true=[1.0, 2.0], shown_predicted=[1.0, 3.0])
    assert "(2 of the 50, evenly spaced in the table)" in run_page(replace(price_run, assessment=fewer))


def test_the_verdict_on_amounts_is_one_sentence(price_run):
    assessment = replace(
        price_run.assessment,
        score=0.712,
        low=0.69,
        high=0.7249,
        mean_absolute_error=0.31,
        baseline_mean_absolute_error=0.912,
        baseline_amount=2.0686,
    )
    assert TASK_REPORTS["regression"].verdict(assessment, 5160) == (
        "R² is 0.712 on 5160 blind test rows (95 % interval 0.690 to 0.725); "
        "the mean absolute error is 0.310, and 0.912 when always saying the mean 2.07."
    )


def test_the_preparation_is_told_for_those_it_was_done_for(run, price_run):
    encoded = [candidate for candidate in run.candidates if not candidate.takes_tables]
    assert preparation(replace(run, candidates=encoded, chosen=0)).endswith("each category gets a column of its own.")
    assert preparation(run).endswith(
        "; decision-tree, random-forest, gradient-boosting and adaboost can do without, and got categories and missing "
        "values as they are."
    )
    assert preparation(price_run).endswith(
        "; group-means can do without, and got categories and missing values as they are."
    )
    alone = replace(price_run, candidates=price_run.candidates[1:], chosen=0)
    assert preparation(alone) == "Every method takes categories and missing values as they are."


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


def test_the_terminal_tells_the_same_of_amounts(price_run):
    text = printed(run_summary(price_run))
    assert TASK_REPORTS["regression"].verdict(price_run.assessment, 50) in text
    assert "mean R²" in text
    assert amount(price_run.assessment.root_mean_squared_error) in text
    for candidate in price_run.candidates:
        assert decimal(candidate.mean_score) in text


def test_a_model_shows_its_parameters_and_certificate():
    text = printed(model_summary(Perceptron(eta0=0.5).fit([[0.0], [1.0]], [0, 1])))
    assert re.search(r"eta0\s+│ 0.5\s+│ default: 1.0", text)
    assert "training errors" in text
