"""The record of ``learn``: everything that was done and measured, as plain data; it goes to ``run.json``.

Run ─┬─ settings        what the user asked for
     ├─ columns         what was done about each column; findings: what looks like a leak
     ├─ split           which rows were put aside; validation: how candidates were compared
     ├─ candidates      every trial, in order: rows, rounds, scores, finished or cut
     ├─ recipe          the members of the final model: enough to fit it again, bit for bit (``replay``)
     ├─ assessed        the same of the model that was asked about the blind rows, where that is another
     ├─ assessment      the blind rows, once (``assessment_record``)
     ├─ explanation     importances, dependence, the winner's own figures
     └─ certificate     what was proved about the fit
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from eigenwood.errors import InputError
from eigenwood.estimators.registry import CLASSIFICATION, REGRESSION
from eigenwood.runs.assessment_record import AssessmentRecord, ClassificationRecord, RegressionRecord
from eigenwood.runs.files import write_text

FORMAT = 2  # of run.json

FINISHED, CUT, DROPPED = "finished", "cut by the time limit", "dropped: behind on the first folds"


@dataclass(frozen=True)
class ColumnRecord:
    """One column of the table, and what it was used for."""

    name: str
    kind: str
    n_missing: int
    n_distinct: int
    use: str  # "feature", "target", "weights", "groups", "order" or "not used: " and the reason
    treatment: str = ""  # what was made of it: "year, month, weekday", "1,234.5 read as 1234.5"


@dataclass(frozen=True)
class FindingRecord:
    """Something that looks like a leak: a column that would not be known where the model is used."""

    kind: str
    columns: list[str]
    sentence: str
    serious: bool
    evidence: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SplitRecord:
    """How the blind test set was drawn; enough to draw it again."""

    how: str  # "at random", "by group", "the newest rows"
    seed: int
    test_fraction: float
    n_train: int
    n_test: int
    n_without_target: int
    target_digest: str  # of the target column: tells whether a table is the one that was split


@dataclass(frozen=True)
class ValidationRecord:
    """How candidates were compared."""

    how: str  # "5-fold cross-validation", "one part of 20,000 rows held out"
    n_folds: int  # 1: one part held out
    n_rows: int  # of each comparison, on all folds together


@dataclass(frozen=True)
class CandidateRecord:
    """One trial: a method with its parameters, fitted to so many rows of each fold, and scored on the others."""

    method: str
    params: dict[str, Any]
    n_rows: int  # learnt from, in each fold
    fold_scores: list[float]
    mean_score: float
    loss: float  # breaks ties: log loss, or the squared error as a share of the variance
    seconds: float
    status: str = FINISHED  # or CUT, DROPPED; one that was cut is never chosen
    n_rounds: int | None = None  # trees or rounds there were, where a method has them
    takes_tables: bool = False  # the method was given the columns as they are, not encoded
    fit_seconds: float = 0.0  # of the seconds, those without predictions


@dataclass(frozen=True)
class MemberRecord:
    """One member of the final model, with all it takes to fit it again."""

    candidate: int  # its place among the candidates
    method: str
    params: dict[str, Any]
    weight: float
    calibration: list[list[float]] | None = None  # slope and offset of each class, for methods without probabilities
    n_rounds: int | None = None


@dataclass(frozen=True)
class RecipeRecord:
    """The final model: its members, the rows they learnt from, and how probabilities become a prediction."""

    members: list[MemberRecord]
    rows: str  # "all rows", "all training rows", or "the first fold's part of the training rows"
    n_rows: int
    score: float  # of the whole on the validation rows
    decision_weights: list[float] | None = None  # one for each class: the largest weighted probability is predicted


@dataclass(frozen=True)
class DependenceRecord:
    """How the prediction follows one column, all others as they are."""

    column: str
    kind: str
    values: list[Any]
    response: list[list[float]]  # for each value: of each class, or of the amount
    importance: float


@dataclass(frozen=True)
class ExplanationRecord:
    """What the model looks at."""

    importances: list[tuple[str, float, float, float]] = field(default_factory=list)  # column, mean, low, high
    importance_words: str = ""  # what the numbers are
    dependence: list[DependenceRecord] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)  # the winner's own: rules, rounds, support vectors


@dataclass(frozen=True)
class Run:
    """One run of ``learn``, stage by stage."""

    version: str
    table: str
    target: str
    task: str
    metric: str
    metric_words: str  # why this metric
    n_rows: int
    settings: dict[str, Any]
    columns: list[ColumnRecord]
    findings: list[FindingRecord]
    split: SplitRecord
    validation: ValidationRecord
    candidates: list[CandidateRecord]
    recipe: RecipeRecord
    assessment: AssessmentRecord
    explanation: ExplanationRecord
    certificate: dict[str, Any]
    seconds: dict[str, float]
    notes: list[str] = field(default_factory=list)  # what time did not allow, what was surprising
    assessed: RecipeRecord | None = None  # None: the model of the recipe itself was
    format: int = FORMAT

    def assessed_recipe(self) -> RecipeRecord:
        """Return the recipe of the model that was asked about the blind rows."""
        return self.assessed or self.recipe

    def chosen(self) -> list[CandidateRecord]:
        """Return the candidates that the final model is made of, the heaviest first."""
        members = sorted(self.recipe.members, key=lambda member: -member.weight)
        return [self.candidates[member.candidate] for member in members]

    def save(self, path: str | os.PathLike) -> Path:
        """Write the run as JSON, whole or not at all."""
        return write_text(path, json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike) -> Run:
        """Return the run that ``save`` wrote."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            if content["format"] != FORMAT:
                raise InputError(f"{path}: the format of a run must be {FORMAT}; got {content['format']!r}.")
            assessment = ASSESSMENTS[content["task"]]
            return record_of(cls, content | {"assessment": record_of(assessment, content["assessment"])})
        except InputError:
            raise
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise InputError(
                f"{path}: must be a run.json written by eigenwood; got {type(problem).__name__}."
            ) from None


ASSESSMENTS: dict[str, type[AssessmentRecord]] = {
    CLASSIFICATION: ClassificationRecord,
    REGRESSION: RegressionRecord,
}


def record_of(kind: Any, content: Any) -> Any:
    """Return JSON as the record it was: dataclasses in lists and in one another, everything else as it is.

    >>> record_of(ValidationRecord, {"how": "5-fold cross-validation", "n_folds": 5, "n_rows": 100})
    ValidationRecord(how='5-fold cross-validation', n_folds=5, n_rows=100)
    """
    if is_dataclass(kind) and isinstance(content, dict):
        hints = get_type_hints(kind)
        unknown = set(content) - {entry.name for entry in fields(kind)}
        if unknown:
            raise ValueError(f"unknown: {sorted(unknown)}")
        return kind(**{name: record_of(hints[name], value) for name, value in content.items()})  # type: ignore[operator]
    if get_origin(kind) is list and isinstance(content, list):
        return [record_of(get_args(kind)[0], part) for part in content]
    if get_origin(kind) is tuple and isinstance(content, list):
        return tuple(content)
    if get_origin(kind) in (Union, UnionType) and not is_dataclass(content):
        chosen = next((part for part in get_args(kind) if is_dataclass(part) or get_origin(part) is list), None)
        return content if content is None or chosen is None else record_of(chosen, content)
    return content
