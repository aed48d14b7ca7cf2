"""How the results of classification and regression are reported: names, sentences and figures, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import plotly.graph_objects as go

from eigenwood.estimators.registry import CLASSIFICATION, REGRESSION
from eigenwood.plots.confusion import confusion_figure
from eigenwood.plots.predicted import predicted_figure
from eigenwood.report.words import amount, decimal, percent
from eigenwood.runs.record import ClassificationRecord, RegressionRecord


class Measure(NamedTuple):
    """One measure on the blind test rows, as text."""

    name: str
    model: str
    baseline: str


class TaskReport(NamedTuple):
    """How one task is reported; the functions take the record of its assessment, and some the number of test rows."""

    score: str  # the name of the score
    written: Callable[[float], str]  # a score as text
    tickformat: str  # a score on an axis, in Plotly's words
    headline: Callable[[Any], list[tuple[str, str]]]  # numbers with what they are, the most important first
    verdict: Callable[[Any, int], str]
    measures: Callable[[Any], list[Measure]]  # those that are not all in the verdict
    caption: Callable[[Any, int], str]  # of the figure
    figure: Callable[[Any], go.Figure]


# --- classes --------------------------------------------------------------------------------------


def classes_headline(assessment: ClassificationRecord) -> list[tuple[str, str]]:
    always = f"by always saying “{assessment.baseline_label}”"
    return [(percent(assessment.score), "right on the blind test"), (percent(assessment.baseline), always)]


def classes_verdict(assessment: ClassificationRecord, n_test: int) -> str:
    """Return the result in one sentence."""
    found = f"{percent(assessment.score)} of {n_test} blind test rows are right"
    interval = f"95 % interval {percent(assessment.low)} to {percent(assessment.high)}"
    always = f"always saying {assessment.baseline_label!r} gives {percent(assessment.baseline)}"
    return f"{found} ({interval}); {always}."


def classes_caption(assessment: ClassificationRecord, n_test: int) -> str:
    return f"Confusion matrix of the {n_test} test rows: those on the diagonal are right."


def classes_figure(assessment: ClassificationRecord) -> go.Figure:
    return confusion_figure(assessment.labels, assessment.confusion)


# --- amounts --------------------------------------------------------------------------------------


def amounts_headline(assessment: RegressionRecord) -> list[tuple[str, str]]:
    always = f"error by always saying the mean, {amount(assessment.baseline_amount)}"
    return [
        (decimal(assessment.score), "R² on the blind test"),
        (amount(assessment.mean_absolute_error), "mean absolute error"),
        (amount(assessment.baseline_mean_absolute_error), always),
    ]


def amounts_verdict(assessment: RegressionRecord, n_test: int) -> str:
    """Return the result in one sentence."""
    found = f"R² is {decimal(assessment.score)} on {n_test} blind test rows"
    interval = f"95 % interval {decimal(assessment.low)} to {decimal(assessment.high)}"
    error = f"the mean absolute error is {amount(assessment.mean_absolute_error)}"
    always = f"{amount(assessment.baseline_mean_absolute_error)} when always saying the mean"
    return f"{found} ({interval}); {error}, and {always} {amount(assessment.baseline_amount)}."


def amounts_measures(assessment: RegressionRecord) -> list[Measure]:
    """Return all measures beside those of always saying the mean."""
    errors = {
        "mean absolute error": (assessment.mean_absolute_error, assessment.baseline_mean_absolute_error),
        "root mean squared error": (assessment.root_mean_squared_error, assessment.baseline_root_mean_squared_error),
    }
    return [
        Measure("R²", decimal(assessment.score), decimal(assessment.baseline)),
        *(Measure(name, amount(model), amount(baseline)) for name, (model, baseline) in errors.items()),
    ]


def amounts_caption(assessment: RegressionRecord, n_test: int) -> str:
    n_shown = len(assessment.shown_true)
    which = f"all {n_test}" if n_shown == n_test else f"{n_shown} of the {n_test}, evenly spaced in the table"
    return f"Each dot is a blind test row ({which}). On the line, the prediction is right."


def amounts_figure(assessment: RegressionRecord) -> go.Figure:
    return predicted_figure(assessment.shown_true, assessment.shown_predicted)


TASK_REPORTS = {
    CLASSIFICATION: TaskReport(
        score="accuracy",
        written=percent,
        tickformat=".0%",
        headline=classes_headline,
        verdict=classes_verdict,
        measures=lambda assessment: [],
        caption=classes_caption,
        figure=classes_figure,
    ),
    REGRESSION: TaskReport(
        score="R²",
        written=decimal,
        tickformat="",
        headline=amounts_headline,
        verdict=amounts_verdict,
        measures=amounts_measures,
        caption=amounts_caption,
        figure=amounts_figure,
    ),
}
