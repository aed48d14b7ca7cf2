"""The record of a run: everything that was done and measured, as plain data; of ``learn``, it goes to ``run.json``."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from eigenwood.data.naming import whole_file
from eigenwood.errors import InputError
from eigenwood.estimators.registry import CLASSIFICATION, REGRESSION

RUN_FILE = "run.json"
MODEL_FILE = "model.safetensors"
REPORT_FILE = "report.html"


@dataclass(frozen=True)
class ColumnRecord:
    """One column of the table, and what it was used for."""

    name: str
    kind: str
    n_missing: int
    n_distinct: int
    use: str  # "feature", "target" or the reason why not


@dataclass(frozen=True)
class SplitRecord:
    """How the blind test set was drawn; enough to draw it again."""

    seed: int
    test_fraction: float
    n_train: int
    n_test: int
    n_without_target: int
    target_digest: str  # of the target column: tells whether a table is the one that was split


@dataclass(frozen=True)
class CandidateRecord:
    """One candidate, cross-validated on the training rows."""

    method: str
    params: dict[str, Any]
    fold_scores: list[float]
    mean_score: float
    seconds: float
    takes_tables: bool = False  # the method was given the columns as they are, not encoded


@dataclass(frozen=True)
class ClassificationRecord:
    """The chosen model on rows it has never seen, against always saying the most frequent class."""

    metric: str
    score: float
    low: float  # 95 % interval (Wilson)
    high: float
    baseline: float
    baseline_label: str
    labels: list[str]
    confusion: list[list[int]]  # rows: true label, columns: predicted


@dataclass(frozen=True)
class RegressionRecord:
    """The chosen model on rows it has never seen, against always saying the mean of the training rows."""

    metric: str
    score: float
    low: float  # 95 % interval
    high: float
    interval: str  # how the interval was found
    baseline: float
    baseline_amount: float
    mean_absolute_error: float
    baseline_mean_absolute_error: float
    root_mean_squared_error: float
    baseline_root_mean_squared_error: float
    shown_true: list[float]  # of some rows, evenly spaced, for the figure
    shown_predicted: list[float]


AssessmentRecord = ClassificationRecord | RegressionRecord
ASSESSMENTS: dict[str, type[AssessmentRecord]] = {
    CLASSIFICATION: ClassificationRecord,
    REGRESSION: RegressionRecord,
}


@dataclass(frozen=True)
class Run:
    """One run of ``learn``, stage by stage."""

    version: str
    table: str
    target: str
    task: str
    n_rows: int
    columns: list[ColumnRecord]
    split: SplitRecord
    n_folds: int
    candidates: list[CandidateRecord]
    chosen: int
    assessment: AssessmentRecord
    certificate: dict[str, Any]
    seconds: dict[str, float]

    def chosen_candidate(self) -> CandidateRecord:
        return self.candidates[self.chosen]

    def save(self, path: str | os.PathLike) -> Path:
        """Write the run as JSON, whole or not at all."""
        return write_text(path, json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike) -> Run:
        """Return the run that ``save`` wrote."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            content["columns"] = [ColumnRecord(**column) for column in content["columns"]]
            content["split"] = SplitRecord(**content["split"])
            content["candidates"] = [CandidateRecord(**candidate) for candidate in content["candidates"]]
            content["assessment"] = ASSESSMENTS[content["task"]](**content["assessment"])
            return cls(**content)
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise InputError(
                f"{path}: must be a run.json written by eigenwood; got {type(problem).__name__}."
            ) from None


@dataclass(frozen=True)
class ComponentRecord:
    """One principal component: its variance, the share of all variance, and an interval that holds an eigenvalue."""

    variance: float
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class ReduceRecord:
    """One run of ``reduce``."""

    version: str
    table: str
    method: str
    components: int | float  # as asked for: so many, or a share of the variance
    scale: str
    missing: str | None
    seed: int
    how: str  # the solver, or the class of scikit-learn, and why
    notes: list[str]
    n_rows: int
    columns: list[str]
    left_out: dict[str, str]  # the other columns, each with what it is
    kept: list[str]  # columns that were copied
    names: list[str]  # of the columns that were made
    principal: list[ComponentRecord]  # empty for all methods but pca
    total_variance: float | None
    certificate: dict[str, Any] | None
    shown: dict[str, list[Any]]  # of some rows, evenly spaced, for the figure: the first two scores, and kept
    shown_every: int  # these rows are every so many-th
    seconds: dict[str, float]


def write_text(path: str | os.PathLike, text: str) -> Path:
    """Write a text file, whole or not at all."""
    path = Path(path)
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path
