"""What a report shows of the blind test, for classes and for amounts, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import plotly.graph_objects as go

from eigenwood.estimators.registry import CLASSIFICATION, REGRESSION
from eigenwood.plots.confusion import confusion_figure
from eigenwood.plots.curves import Curve, calibration_figure, precision_recall_figure, roc_figure
from eigenwood.plots.distribution import amounts_figure, classes_figure
from eigenwood.plots.predicted import predicted_figure
from eigenwood.plots.residuals import residuals_figure
from eigenwood.report.words import amount, counted, interval_words, measure_words, percent
from eigenwood.runs.assessment_record import ClassificationRecord, CurveRecord, RegressionRecord, WorstRow
from eigenwood.runs.record import Run

MOST_CONFUSED, MOST_CURVES = 20, 6  # classes in a figure; of more the most frequent ones
OTHERS = "all others"


class MeasureLine(NamedTuple):
    """One measure on the blind rows, as text."""

    name: str
    model: str
    interval: str
    baseline: str


class Shown(NamedTuple):
    """A figure with its heading and what it shows, in a sentence."""

    heading: str
    caption: str
    figure: go.Figure


class TaskReport(NamedTuple):
    """How one task is reported."""

    figures: Callable[[Any, int], dict[str, Shown]]  # assessment and number of blind rows → figures
    target: Callable[[dict[str, Any], str], go.Figure]  # the target's distribution, its name → a figure
    error: Callable[[WorstRow], str]  # how wrong a row is
    error_name: str
    worst: str  # which rows are the worst


def measure_lines(run: Run) -> list[MeasureLine]:
    """Return all measures beside those of guessing."""
    return [
        MeasureLine(
            measure.name,
            measure_words(measure.name, run.task, measure.value),
            interval_words(measure, run.task),
            measure_words(measure.name, run.task, measure.baseline),
        )
        for measure in run.assessment.measures
    ]


# --- classes --------------------------------------------------------------------------------------


def class_figures(assessment: ClassificationRecord, n_test: int) -> dict[str, Shown]:
    """Return the figures of a classifier on the blind rows."""
    labels, confusion = most_frequent(assessment.labels, assessment.confusion)
    cut = f" The {MOST_CONFUSED - 1} most frequent classes; all others are one." if OTHERS in labels else ""
    found = {
        "confusion": Shown(
            "What was taken for what",
            f"{counted(n_test, 'blind row')}: true classes down, predicted ones across; darker means a larger share of "
            f"the true class. On the diagonal the prediction is right.{cut}",
            confusion_figure(labels, confusion),
        )
    }
    if assessment.roc:
        words = "How many are found, for every threshold, against the false alarms that costs. Dotted: guessing."
        found["roc"] = Shown("ROC curve", words, roc_figure(curves_of(assessment.roc, "AUC")))
    if assessment.precision_recall:
        share = share_of(assessment) if len(assessment.precision_recall) == 1 else None
        words = "How often the model is right when it predicts the class, for every share that it finds."
        found["precision_recall"] = Shown(
            "Precision and recall",
            words + (" Dotted: guessing." if share is not None else ""),
            precision_recall_figure(curves_of(assessment.precision_recall, "average"), share),
        )
    if assessment.calibration:
        words = (
            "Of rows with a predicted probability, how many really were of the class. On the dotted line the two agree."
        )
        found["calibration"] = Shown("Calibration", words, calibration_figure(curves_of(assessment.calibration, "")))
    return found


def curves_of(records: list[CurveRecord], area: str) -> list[Curve]:
    """Return the first curves, with their areas in words."""
    return [
        Curve(record.label, record.x, record.y, "" if record.area is None or not area else f"{area} {record.area:.3f}")
        for record in records[:MOST_CURVES]
    ]


def share_of(assessment: ClassificationRecord) -> float | None:
    """Return the share of the blind rows that are of the class the precision is about."""
    label = assessment.precision_recall[0].label
    counts = {one.label: one.n_rows for one in assessment.classes}
    total = sum(counts.values())
    return counts[label] / total if label in counts and total else None


def most_frequent(labels: list[str], confusion: list[list[int]]) -> tuple[list[str], list[list[int]]]:
    """Return the confusion matrix of the most frequent classes, all others together as one.

    >>> most_frequent(["a", "b"], [[3, 1], [0, 2]])
    (['a', 'b'], [[3, 1], [0, 2]])
    """
    if len(labels) <= MOST_CONFUSED:
        return labels, confusion
    order = sorted(range(len(labels)), key=lambda k: -sum(confusion[k]))
    kept, rest = sorted(order[: MOST_CONFUSED - 1]), sorted(order[MOST_CONFUSED - 1 :])
    groups = [[k] for k in kept] + [rest]
    cells = [[sum(confusion[i][j] for i in down for j in across) for across in groups] for down in groups]
    return [labels[k] for k in kept] + [OTHERS], cells


def class_target(target: dict[str, Any], name: str) -> go.Figure:
    labels, counts = target["labels"][:MOST_CONFUSED], target["counts"][:MOST_CONFUSED]
    return classes_figure(labels, counts)


# --- amounts --------------------------------------------------------------------------------------


def amount_figures(assessment: RegressionRecord, n_test: int) -> dict[str, Shown]:
    """Return the figures of predicted amounts on the blind rows."""
    n_shown = len(assessment.shown_true)
    which = f"all {n_test:,}" if n_shown == n_test else f"{n_shown:,} of {n_test:,}, evenly spaced in the table"
    return {
        "predicted": Shown(
            "Predicted against true",
            f"Each dot is a blind row ({which}). On the line the prediction is right.",
            predicted_figure(assessment.shown_true, assessment.shown_predicted),
        ),
        "residuals": Shown(
            "What is left over",
            "True less predicted amounts: above the line the model said too little, below it too much.",
            residuals_figure(assessment.shown_true, assessment.shown_predicted),
        ),
    }


def amount_target(target: dict[str, Any], name: str) -> go.Figure:
    return amounts_figure(target["edges"], target["counts"], name)


TASK_REPORTS = {
    CLASSIFICATION: TaskReport(
        figures=class_figures,
        target=class_target,
        error=lambda row: percent(math.exp(-row.error)),
        error_name="probability of the true class",
        worst="The blind rows whose true class was given the least probability.",
    ),
    REGRESSION: TaskReport(
        figures=amount_figures,
        target=amount_target,
        error=lambda row: f"{'+' if row.error > 0 else '-'}{amount(abs(row.error))}",
        error_name="off by",
        worst="The blind rows with the largest errors.",
    ),
}
