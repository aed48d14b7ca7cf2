"""Data preparation: what each column is for, the rows put aside, and how candidates will be compared."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from eigenwood.data.kinds import NUMBER
from eigenwood.data.tables import Table, target_task
from eigenwood.errors import TableError
from eigenwood.estimators.registry import CLASSIFICATION, REGRESSION
from eigenwood.runs.candidates import ColumnFacts, check_methods
from eigenwood.runs.clock import Clock
from eigenwood.runs.frames import amounts_of, as_numbers, labels_of, uses
from eigenwood.runs.leaks import LeakReport, leaks
from eigenwood.runs.metrics import default_metric, metric_named, positive_class
from eigenwood.runs.record import ColumnRecord, FindingRecord, SplitRecord, ValidationRecord
from eigenwood.runs.settings import Fold, Settings, Split
from eigenwood.runs.splitting import folds, held_out, split_rows
from eigenwood.runs.trials import TrainingRows
from eigenwood.validation.params import Number, check_values
from eigenwood.validation.targets import LARGEST_AMOUNT

FEATURE = "feature"
LEAKS_SHARE = 0.15  # of the time that is left, for the watch for leaks
CHOICES = {"test": Number(at_least=0.01, at_most=0.9), "seed": Number(at_least=0, at_most=2**32 - 1, integer=True)}
SOME_ROWS, SOME_FOLDS = 2_500, 3  # from here on, three of the folds tell candidates apart
MANY_ROWS = 20_000  # from here on, one part of the rows does
HELD_OUT_SHARE, MOST_HELD_OUT = 0.2, 20_000  # of them


class Prepared(NamedTuple):
    """A table that is ready to be learnt from."""

    table: Table
    target: str
    task: str
    uses: dict[str, str]
    known: np.ndarray  # numbers of the rows with a target, which all below are of
    X: pa.Table  # the features of all rows with a target
    y: np.ndarray
    weights: np.ndarray | None
    split: Split
    rows: TrainingRows  # those to learn from
    metric_words: str
    findings: list[FindingRecord]
    notes: list[str]  # what there was no time for
    n_columns: int  # that a method sees where categories, dates and texts are encoded
    digest: str  # of all that the trials depend on

    @property
    def n_without_target(self) -> int:
        return self.table.n_rows - self.y.size

    def blind_rows(self) -> pa.Table:
        return self.X.take(self.split.test)

    def every_row(self) -> TrainingRows:
        """Return the rows to learn from and the blind ones, in their order; there is nothing left to check on."""
        return self.rows._replace(X=self.X, y=self.y, weights=self.weights, folds=[])


def prepared(table: Table, target: str, settings: Settings, clock: Clock) -> Prepared:
    """Return the table with its rows split; of the rows put aside only the watch for leaks looks at more than which."""
    task = task_of(table, target, settings)
    check_choices(task, settings)
    used = uses(table, target, settings)
    known = rows_with_target(table, target, settings)
    whole = table.take(known)
    features = [name for name, use in used.items() if use == FEATURE]
    if not features:
        kinds = ", ".join(sorted(set(table.kinds().values()))) or "no other column"
        raise TableError(f"{table.name}: must have a column to learn from beside {target!r}; got {kinds}.")
    check_finite(whole, features)
    y = labels_of(whole, target) if task == CLASSIFICATION else amounts_of(whole, target)
    if task != CLASSIFICATION:
        check_sizes(y, table.name, target)
    weights = None if settings.weights is None else weights_of(whole, settings.weights)
    groups = None if settings.group is None else codes_of(whole, settings.group)
    order = None if settings.order is None else as_numbers(whole, settings.order, "--order column").to_numpy()
    split = split_rows(task, y, settings, groups=groups, order=order, table=table.name, target=target)
    found = found_leaks(whole, target, task, split, settings, clock)
    rows = training_rows(whole.select(features), y, weights, split, task, settings, groups, order)
    _, words = default_metric(task, y[split.train], None if weights is None else weights[split.train])
    return Prepared(
        table,
        target,
        task,
        used,
        known,
        whole.frame.select(features),
        y,
        weights,
        split,
        rows,
        words if settings.metric is None else "asked for",
        [FindingRecord(**finding._asdict()) for finding in found.findings],
        [] if found.complete else ["there was no time to look everywhere for leaks"],
        encoded_width(whole.select(features)),
        digest_of(whole.frame, target, settings),
    )


def check_finite(table: Table, features: list[str]) -> None:
    """Raise for the first number among the features that is infinite."""
    for name in features:
        values = table.frame[name]
        if pa.types.is_floating(values.type):
            wrong = np.flatnonzero(np.isinf(values.to_numpy()))
            if wrong.size:
                raise TableError(
                    f"{table.name}: column {name!r} must hold finite numbers, or nothing where they are missing; "
                    f"got {values[int(wrong[0])].as_py()}."
                )


def check_sizes(amounts: np.ndarray, table: str, target: str) -> None:
    """Raise for amounts whose squares, which R² adds up, are infinite or 0."""
    largest = float(np.abs(amounts).max())
    if largest > LARGEST_AMOUNT:
        raise TableError(
            f"{table}: target {target!r} must hold amounts of size at most {LARGEST_AMOUNT:g}, to be squared; "
            f"got {largest:.2g}."
        )
    spread = float(np.ptp(amounts))
    if spread < 1.0 / LARGEST_AMOUNT:
        raise TableError(
            f"{table}: target {target!r} must hold amounts at least {1.0 / LARGEST_AMOUNT:g} apart, to be squared; "
            f"got {spread:.2g} at most."
        )


def check_choices(task: str, settings: Settings) -> None:
    """Raise for a metric or a method that the task does not have, a share of rows or a seed that cannot be."""
    check_values("learn", CHOICES, {"test": settings.test_fraction, "seed": settings.seed})
    check_methods(task, settings.models)
    if settings.metric is not None:
        metric_named(settings.metric, task)


def task_of(table: Table, target: str, settings: Settings) -> str:
    """Return the task that the target asks for; if it was said to be a number, its values are amounts, however few."""
    task = target_task(table, target)
    return REGRESSION if settings.kinds.get(target) == NUMBER else task


def training_rows(
    features: Table,
    y: np.ndarray,
    weights: np.ndarray | None,
    split: Split,
    task: str,
    settings: Settings,
    groups: np.ndarray | None,
    order: np.ndarray | None,
) -> TrainingRows:
    """Return the rows to learn from, with the folds on which candidates are compared."""
    of_train = [None if part is None else part[split.train] for part in (weights, groups, order)]
    y_train = y[split.train]
    metric = default_metric(task, y_train, of_train[0])[0]
    if settings.metric is not None:
        metric = metric_named(settings.metric, task)
    is_classes = task == CLASSIFICATION
    return TrainingRows(
        X=features.frame.take(split.train),
        y=y_train,
        weights=of_train[0],
        classes=np.unique(y_train) if is_classes else None,
        columns=ColumnFacts(features.kinds(), features.readings()),
        task=task,
        metric=metric,
        positive=positive_class(y_train) if is_classes else None,
        folds=validation_folds(task, y_train, settings.seed, of_train[1], of_train[2]),
        seed=settings.seed,
    )


def encoded_width(features: Table) -> int:
    """Return about how many columns of numbers the features become."""
    of_kind = {"number": 1, "date": 5, "text": 1000}
    return sum(of_kind.get(column.kind, min(column.n_distinct, 100)) for column in features.columns)


def validation_folds(
    task: str, y: np.ndarray, seed: int, groups: np.ndarray | None, order: np.ndarray | None
) -> list[Fold]:
    """Return the folds on which candidates are compared: fewer where there are many rows, and one part of very many."""
    if y.size > MANY_ROWS:
        n_checked = min(round(HELD_OUT_SHARE * y.size), MOST_HELD_OUT)
        return [held_out(task, y, n_checked, seed, groups, order)]
    found = folds(task, y, seed, groups, order)
    return found if y.size <= SOME_ROWS else found[:SOME_FOLDS]


def rows_with_target(table: Table, target: str, settings: Settings) -> np.ndarray:
    """Return the numbers of the rows whose target is known, and whose weight is not 0."""
    table.column(target)  # raises, with a suggestion, if there is no such column
    known = table.frame[target].is_valid().to_numpy()
    if settings.weights is not None:
        known = known & (weights_of(table, settings.weights) > 0)
        if not known.any():
            raise TableError(
                f"{table.name}: --weights column {settings.weights!r} must have a weight above 0 in a row with a "
                f"target; got none."
            )
    return np.flatnonzero(known)


def weights_of(table: Table, name: str) -> np.ndarray:
    """Return how often each row counts."""
    weights = as_numbers(table, name, "--weights column").to_numpy()
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if wrong.size:
        raise TableError(
            f"{table.name}: --weights column {name!r} must hold numbers of at least 0; "
            f"got {weights[wrong[0]]} in row {wrong[0] + 1}."
        )
    return weights


def codes_of(table: Table, name: str) -> np.ndarray:
    """Return a number for the group of each row; what is missing is a group of its own."""
    column = table.frame[name].combine_chunks()
    return column.dictionary_encode(null_encoding="encode").indices.to_numpy(zero_copy_only=False)


def found_leaks(whole: Table, target: str, task: str, split: Split, settings: Settings, clock: Clock) -> LeakReport:
    """Return what looks like a leak; with ``strict`` that is an error."""
    dropped = [name for name in settings.drop if name in whole.kinds()]
    left = clock.seconds_left()
    found = leaks(whole.drop(dropped), target, task, split, Clock(None if left is None else LEAKS_SHARE * left))
    serious = [finding for finding in found.findings if finding.serious]
    if settings.strict and serious:
        raise TableError(f"{whole.name}: with --strict no column may look like a leak; got: {serious[0].sentence}")
    return found


def digest_of(frame: pa.Table, target: str, settings: Settings) -> str:
    """Return a fingerprint of the rows and of the settings that trials depend on."""
    found = hashlib.sha256(json.dumps([target, settings_words(settings)], sort_keys=True).encode())
    for name, column in zip(frame.column_names, frame.columns, strict=True):
        found.update(name.encode())
        found.update(str(column.type).encode())
        for buffer in column.combine_chunks().buffers():
            if buffer is not None:
                found.update(buffer)
    return found.hexdigest()


def settings_words(settings: Settings) -> dict[str, Any]:
    """Return the settings as plain data, without the time: more of it must be allowed to go on."""
    words = {**settings._asdict(), "kinds": dict(settings.kinds)}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in words.items()
        if name != "time_limit"
    }


def target_digest(y: np.ndarray) -> str:
    """Return a fingerprint of the labels or amounts in their order."""
    return hashlib.sha256("\n".join(map(str, y.tolist())).encode()).hexdigest()


# --- records ------------------------------------------------------------------------------------------


def column_records(data: Prepared) -> list[ColumnRecord]:
    treatments = data.table.treatments()
    return [
        ColumnRecord(*column[:4], use=data.uses[column.name], treatment=treatments.get(column.name, ""))
        for column in data.table.columns
    ]


def split_record(data: Prepared, settings: Settings) -> SplitRecord:
    how = "at random"
    if settings.group is not None:
        how = f"by {settings.group!r}: the rows of a group stay together"
    elif settings.order is not None:
        how = f"by {settings.order!r}: the newest rows were put aside"
    return SplitRecord(
        how=how,
        seed=settings.seed,
        test_fraction=settings.test_fraction,
        n_train=data.split.train.size,
        n_test=data.split.test.size,
        n_without_target=data.n_without_target,
        target_digest=target_digest(data.y),
    )


def validation_record(data: Prepared) -> ValidationRecord:
    n_folds, n_rows = len(data.rows.folds), sum(check.size for _, check in data.rows.folds)
    how = f"{n_folds}-fold cross-validation" if n_folds > 1 else f"{n_rows:,} training rows held out"
    return ValidationRecord(how, n_folds, n_rows)
