"""Learn from a table, in the five stages of deck D, in this order.

1 data preparation    kinds of columns, a blind test set put aside
2 model selection     every classifier of the registry is a candidate
3 training            each candidate on each fold
4 tuning              the best mean score on the validation folds wins, and is fitted to all training rows
5 blind assessment    once, on the rows put aside, with an interval and the majority baseline
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import Pipeline

from eigenwood.data.tables import Table, target_task
from eigenwood.errors import TableError
from eigenwood.estimators.encoder import TableEncoder
from eigenwood.estimators.registry import ENTRIES, Entry
from eigenwood.runs.frames import feature_names, labels_of, uses
from eigenwood.runs.record import AssessmentRecord, CandidateRecord, ColumnRecord, Run, SplitRecord

CONFIDENCE = 0.95
MOST_FOLDS = 5

Report = Callable[[str, int, int], None]  # what is being done, how many are done, of how many


class Settings(NamedTuple):
    """What the user can choose."""

    seed: int = 0
    test_fraction: float = 0.25
    time_limit: float = 600.0  # seconds for all fits together


class Learned(NamedTuple):
    """The fitted model and the record of how it came about."""

    model: Pipeline
    run: Run


class Split(NamedTuple):
    """Row numbers of the table: those to learn from, and those nobody looks at before the end."""

    train: np.ndarray
    test: np.ndarray


class Candidate(NamedTuple):
    """A method of the registry with one choice of its parameters."""

    entry: Entry
    params: dict[str, Any]


def learn(table: Table, target: str, settings: Settings, report: Report = lambda *_: None) -> Learned:
    """Return the best model for ``target`` and the record of the run."""
    started = time.perf_counter()
    task = target_task(table, target)
    candidates = candidates_for(task, table.name, target)
    features = feature_names(table, target)
    whole = table.take(rows_with_target(table, target))
    split = blind_split(whole, target, settings)
    X, y = whole.frame.select(features), labels_of(whole, target)
    prepared = time.perf_counter()

    n_folds = fold_count(y[split.train])
    limit = settings.time_limit / (len(candidates) * n_folds + 1)
    models = [pipeline(candidate, settings.seed, limit) for candidate in candidates]
    records = cross_validated(models, candidates, X.take(split.train), y[split.train], n_folds, settings.seed, report)
    chosen = int(np.argmax([record.mean_score for record in records]))
    validated = time.perf_counter()

    model = models[chosen].fit(X.take(split.train), y[split.train])
    fitted = time.perf_counter()

    assessment = assessed(model, X.take(split.test), y[split.test], y[split.train])
    run = Run(
        version=version("eigenwood"),
        table=table.name,
        target=target,
        task=task,
        n_rows=table.n_rows,
        columns=column_records(table, target),
        split=split_record(table, whole, target, split, settings),
        n_folds=n_folds,
        candidates=records,
        chosen=chosen,
        assessment=assessment,
        certificate=model[-1].certificate_.as_dict(),
        seconds={
            "preparation": prepared - started,
            "cross-validation": validated - prepared,
            "fit": fitted - validated,
            "assessment": time.perf_counter() - fitted,
        },
    )
    return Learned(model, run)


def candidates_for(task: str, name: str, target: str) -> list[Candidate]:
    """Return what the registry offers for the task."""
    found = [Candidate(entry, params) for entry in ENTRIES if entry.task == task for params in entry.tries]
    if not found:
        raise TableError(
            f"{name}: target {target!r} must hold classes (this version has no method for {task}); got amounts."
        )
    return found


def pipeline(candidate: Candidate, seed: int, time_limit: float) -> Pipeline:
    """Return the candidate behind an encoder that makes numbers of a table."""
    model = candidate.entry.estimator(**candidate.params)
    chosen = {"random_state": seed, "time_limit": time_limit, "n_jobs": -1}
    known = {name: value for name, value in chosen.items() if name in model.get_params()}
    return Pipeline([("encoder", TableEncoder()), ("model", model.set_params(**known))])


def rows_with_target(table: Table, target: str) -> np.ndarray:
    """Return the numbers of the rows whose target is known."""
    table.column(target)  # raises, with a suggestion, if there is no such column
    return np.flatnonzero(table.frame[target].is_valid().to_numpy())


def blind_split(table: Table, target: str, settings: Settings) -> Split:
    """Return the training rows and the blind test rows, with the same share of each class."""
    labels = labels_of(table, target)
    check_class_sizes(table.name, target, labels)
    n_classes = np.unique(labels).size
    # at least one row of each class on either side, also in a table of ten rows
    n_test = min(max(round(settings.test_fraction * labels.size), n_classes), labels.size - n_classes)
    rows = np.arange(labels.size)
    train, test = train_test_split(rows, test_size=n_test, stratify=labels, random_state=settings.seed)
    return Split(np.sort(train), np.sort(test))


def check_class_sizes(name: str, target: str, labels: np.ndarray) -> None:
    """Raise unless every class can be split, learnt and tested."""
    values, counts = np.unique(labels, return_counts=True)
    if counts.min() < 3:
        label = values[counts.argmin()]
        raise TableError(
            f"{name}: every class of {target!r} must have at least 3 rows to learn, tune and test; "
            f"got {counts.min()} of {str(label)!r}."
        )


def fold_count(labels: np.ndarray) -> int:
    """Return the number of folds: five, or as many as the smallest class has rows."""
    return max(2, min(MOST_FOLDS, int(np.unique(labels, return_counts=True)[1].min())))


def cross_validated(
    models: list[Pipeline],
    candidates: list[Candidate],
    X: pa.Table,
    y: np.ndarray,
    n_folds: int,
    seed: int,
    report: Report,
) -> list[CandidateRecord]:
    """Return the scores of every candidate on the validation folds."""
    folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(y, y))
    records, n_fits = [], len(models) * n_folds
    for i, (model, candidate) in enumerate(zip(models, candidates, strict=True)):
        started, scores = time.perf_counter(), []
        for j, (learn_rows, check_rows) in enumerate(folds):
            report(f"{candidate.entry.name}, fold {j + 1} of {n_folds}", i * n_folds + j, n_fits)
            fitted = clone(model).fit(X.take(learn_rows), y[learn_rows])
            scores.append(float(accuracy_score(y[check_rows], fitted.predict(X.take(check_rows)))))
        seconds = time.perf_counter() - started
        records.append(CandidateRecord(candidate.entry.name, candidate.params, scores, float(np.mean(scores)), seconds))
    report("final fit", n_fits, n_fits)
    return records


def assessed(model: Pipeline, X: pa.Table, y: np.ndarray, y_train: np.ndarray) -> AssessmentRecord:
    """Return how good the model is on rows it has never seen."""
    predicted = model.predict(X)
    n_right = int((predicted == y).sum())
    interval = binomtest(n_right, y.size).proportion_ci(CONFIDENCE, method="wilson")
    labels, counts = np.unique(y_train, return_counts=True)
    majority = labels[counts.argmax()]
    return AssessmentRecord(
        metric="accuracy",
        score=n_right / y.size,
        low=float(interval.low),
        high=float(interval.high),
        baseline=float((y == majority).mean()),
        baseline_label=str(majority),
        labels=[str(label) for label in labels],
        confusion=confusion_matrix(y, predicted, labels=labels).tolist(),
    )


def column_records(table: Table, target: str) -> list[ColumnRecord]:
    use = uses(table, target)
    return [ColumnRecord(*column, use=use[column.name]) for column in table.columns]


def split_record(table: Table, whole: Table, target: str, split: Split, settings: Settings) -> SplitRecord:
    return SplitRecord(
        seed=settings.seed,
        test_fraction=settings.test_fraction,
        n_train=split.train.size,
        n_test=split.test.size,
        n_without_target=table.n_rows - whole.n_rows,
        target_digest=target_digest(labels_of(whole, target)),
    )


def target_digest(labels: np.ndarray) -> str:
    """Return a fingerprint of the labels in their order."""
    return hashlib.sha256("\n".join(labels).encode()).hexdigest()
