"""The record of the blind assessment: what the final model does on rows that nobody has seen, beside a baseline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class MeasureRecord:
    """One measure on the blind rows, with its 95 % interval, beside that of the baseline."""

    name: str
    value: float
    low: float
    high: float
    baseline: float
    larger_is_better: bool
    is_better_than_baseline: bool  # by more than the blind rows could show by chance
    how: str  # the interval was found


@dataclass(frozen=True)
class CurveRecord:
    """A curve of at most a few hundred points; ``label`` is the class it is of."""

    label: str
    x: list[float]
    y: list[float]
    area: float | None = None
    n_rows: list[int] = field(default_factory=list)  # behind each point, of a calibration curve


@dataclass(frozen=True)
class ClassRecord:
    """One class on the blind rows: how many there are, how many were found, how many rows were taken for it wrongly.

    Rows are counted one by one; recall and precision are by weight, where rows have weights.
    """

    label: str
    n_rows: int
    n_found: int
    n_false: int
    recall: float | None  # None where the blind rows have none of this class
    recall_low: float | None  # 95 % interval
    recall_high: float | None
    precision: float | None  # None where no row was predicted to be of this class
    precision_low: float | None
    precision_high: float | None


@dataclass(frozen=True)
class WorstRow:
    """A blind row on which the model is most wrong; ``row`` counts the table's rows from 1."""

    row: int
    true: str
    predicted: str
    error: float  # minus the log of the probability of the true class, or prediction minus truth
    values: dict[str, Any]  # some of its columns


@dataclass(frozen=True)
class ClassificationRecord:
    """The final model on rows it has never seen, against the best constant answer."""

    metric: str  # in words, as among the measures
    score: float
    low: float  # 95 % interval
    high: float
    interval: str  # how the interval was found
    larger_is_better: bool
    baseline: float
    baseline_label: str  # the most frequent class of the training rows
    headline: str  # the result in one sentence
    is_better_than_guessing: bool
    measures: list[MeasureRecord]
    classes: list[ClassRecord]
    labels: list[str]
    confusion: list[list[int]]  # rows: true label, columns: predicted
    roc: list[CurveRecord] = field(default_factory=list)
    precision_recall: list[CurveRecord] = field(default_factory=list)
    calibration: list[CurveRecord] = field(default_factory=list)  # x: mean predicted probability, y: observed share
    worst: list[WorstRow] = field(default_factory=list)
    threshold: float | None = None  # of two classes: the probability of the one looked for, above which it is predicted
    positive_label: str | None = None  # of two classes, the one that is looked for


@dataclass(frozen=True)
class RegressionRecord:
    """The final model on rows it has never seen, against always answering the mean of the training rows."""

    metric: str  # in words, as among the measures
    score: float
    low: float  # 95 % interval
    high: float
    interval: str
    larger_is_better: bool
    baseline: float
    baseline_amount: float
    headline: str
    is_better_than_guessing: bool
    measures: list[MeasureRecord]
    shown_true: list[float]  # of some rows, evenly spaced, for the figure
    shown_predicted: list[float]
    worst: list[WorstRow] = field(default_factory=list)


AssessmentRecord = ClassificationRecord | RegressionRecord
