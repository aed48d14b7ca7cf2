"""Learn from a table, in the five stages of deck D, in this order.

1 data preparation    kinds of columns, a blind test set put aside
2 model selection     every method of the registry for the task is a candidate
3 training            each candidate on each fold
4 tuning              the best mean score on the validation folds wins, and is fitted to all training rows
5 blind assessment    once, on the rows put aside, with an interval and a baseline

What differs between classes and amounts stands in ``classification`` and ``regression``.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from eigenwood.data.tables import Table, target_task
from eigenwood.errors import TableError
from eigenwood.estimators.encoder import TableEncoder
from eigenwood.estimators.registry import ENTRIES, Entry
from eigenwood.runs.frames import feature_names, uses
from eigenwood.runs.record import CandidateRecord, ColumnRecord, Run, SplitRecord
from eigenwood.runs.settings import Fold, Settings, Split
from eigenwood.runs.tasks import TASKS

Report = Callable[[str, int, int], None]  # what is being done, how many are done, of how many


class Learned(NamedTuple):
    """The fitted model and the record of how it came about."""

    model: Pipeline
    run: Run


class Candidate(NamedTuple):
    """A method of the registry with one choice of its parameters."""

    entry: Entry
    params: dict[str, Any]


def learn(table: Table, target: str, settings: Settings, report: Report = lambda *_: None) -> Learned:
    """Return the best model for ``target`` and the record of the run."""
    started = time.perf_counter()
    task_name = target_task(table, target)
    task = TASKS[task_name]
    candidates = candidates_for(task_name, table.name, target)
    features = feature_names(table, target)
    whole = table.take(rows_with_target(table, target))
    X, y = whole.frame.select(features), task.targets(whole, target)
    split = task.split(table.name, target, y, settings)
    X_train, y_train = X.take(split.train), y[split.train]
    prepared = time.perf_counter()

    folds = task.folds(y_train, settings.seed)
    limit = settings.time_limit / (len(candidates) * len(folds) + 1)
    models = [pipeline(candidate, settings.seed, limit) for candidate in candidates]
    records = cross_validated(models, candidates, X_train, y_train, folds, task.score, report)
    chosen = int(np.argmax([record.mean_score for record in records]))
    validated = time.perf_counter()

    model = models[chosen].fit(X_train, y_train)
    fitted = time.perf_counter()

    predicted = model.predict(X.take(split.test))
    assessment = task.assessed(y[split.test], predicted, y_train, settings.seed)
    run = Run(
        version=version("eigenwood"),
        table=table.name,
        target=target,
        task=task_name,
        n_rows=table.n_rows,
        columns=column_records(table, target),
        split=split_record(y, split, settings, n_without_target=table.n_rows - whole.n_rows),
        n_folds=len(folds),
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
    """Return the candidate, behind an encoder that makes numbers of a table unless it takes tables itself."""
    model = candidate.entry.estimator(**candidate.params)
    chosen = {"random_state": seed, "time_limit": time_limit, "n_jobs": -1}
    known = {name: value for name, value in chosen.items() if name in model.get_params()}
    last = ("model", model.set_params(**known))
    return Pipeline([last] if candidate.entry.takes_tables else [("encoder", TableEncoder()), last])


def rows_with_target(table: Table, target: str) -> np.ndarray:
    """Return the numbers of the rows whose target is known."""
    table.column(target)  # raises, with a suggestion, if there is no such column
    return np.flatnonzero(table.frame[target].is_valid().to_numpy())


def cross_validated(
    models: list[Pipeline],
    candidates: list[Candidate],
    X: pa.Table,
    y: np.ndarray,
    folds: list[Fold],
    score: Callable[[np.ndarray, np.ndarray], float],
    report: Report,
) -> list[CandidateRecord]:
    """Return the scores of every candidate on the validation folds."""
    records, n_folds, n_fits = [], len(folds), len(models) * len(folds)
    for i, (model, (entry, params)) in enumerate(zip(models, candidates, strict=True)):
        started, scores = time.perf_counter(), []
        for j, (learn_rows, check_rows) in enumerate(folds):
            report(f"{entry.name}, fold {j + 1} of {n_folds}", i * n_folds + j, n_fits)
            fitted = clone(model).fit(X.take(learn_rows), y[learn_rows])
            scores.append(score(y[check_rows], fitted.predict(X.take(check_rows))))
        seconds = time.perf_counter() - started
        mean = float(np.mean(scores))
        records.append(CandidateRecord(entry.name, params, scores, mean, seconds, entry.takes_tables))
    report("final fit", n_fits, n_fits)
    return records


def column_records(table: Table, target: str) -> list[ColumnRecord]:
    use = uses(table, target)
    return [ColumnRecord(*column, use=use[column.name]) for column in table.columns]


def split_record(y: np.ndarray, split: Split, settings: Settings, n_without_target: int) -> SplitRecord:
    return SplitRecord(
        seed=settings.seed,
        test_fraction=settings.test_fraction,
        n_train=split.train.size,
        n_test=split.test.size,
        n_without_target=n_without_target,
        target_digest=target_digest(y),
    )


def target_digest(y: np.ndarray) -> str:
    """Return a fingerprint of the labels or amounts in their order."""
    return hashlib.sha256("\n".join(map(str, y.tolist())).encode()).hexdigest()
