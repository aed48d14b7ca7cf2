"""Use a model that ``learn`` or ``reduce`` made: predict a table, or check its proof on the rows it learnt from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline

from eigenwood.data.blocks import blocks
from eigenwood.data.genotypes import genotypes
from eigenwood.data.tables import Table
from eigenwood.estimators.registry import CLASSIFICATION, REGRESSION, verify
from eigenwood.proofs.claim import Certificate
from eigenwood.runs.frames import frame_for
from eigenwood.runs.learn import rows_with_target, target_digest
from eigenwood.runs.record import Run
from eigenwood.runs.settings import Settings
from eigenwood.runs.tasks import TASKS

PREDICTION = "prediction"


def predicted(model: Pipeline, table: Table) -> pa.Table:
    """Return one prediction for every row of the table; for classes, with the score or probability of each."""
    frame = frame_for(model, table)
    return pa.table({PREDICTION: model.predict(frame)} | class_columns(model, frame))


def class_columns(model: Pipeline, frame: pa.Table) -> dict[str, np.ndarray]:
    """Return what the model can say about each class beside its prediction; of amounts there is nothing more."""
    if hasattr(model, "decision_function"):
        scores = np.atleast_2d(model.decision_function(frame).T)
        labels = model.classes_[1:] if scores.shape[0] == 1 else model.classes_
        return {f"score of {label}": row for label, row in zip(labels, scores, strict=True)}
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(frame).T
        return {f"probability of {label}": row for label, row in zip(model.classes_, shares, strict=True)}
    return {}


def verified(
    model: Pipeline, table: Table, target: str, run: Run | None, time_limit: float | None = None
) -> tuple[Certificate, str]:
    """Return the certificate recomputed from the table, and which rows it was recomputed on.

    If the run says how its table was split, and this is that table, the rows are those the model learnt from.
    """
    task = TASKS[REGRESSION if is_regressor(model) else CLASSIFICATION]
    whole = table.take(rows_with_target(table, target))
    y = task.targets(whole, target)
    rows, words = np.arange(y.size), f"all {y.size} rows with a target"
    if run is not None and run.target == target and run.split.target_digest == target_digest(y):
        rows = task.split(table.name, target, y, Settings(run.split.seed, run.split.test_fraction)).train
        words = f"the {rows.size} training rows"
    frame = frame_for(model, whole).take(rows)
    return verify(model, frame, y[rows], time_limit=time_limit), words


def verified_rows(model: Any, source: Any, time_limit: float | None = None) -> tuple[Certificate, str]:
    """Return the certificate of a model without a target, recomputed from all rows of a source, read in blocks."""
    names = getattr(model, "feature_names_in_", None)
    if isinstance(source, Path) and source.suffix.lower() == ".bed":
        people = genotypes(source)
        return verify(model, people, time_limit=time_limit), f"all {people.n_people} people"
    rows = blocks(source, columns=None if names is None else tuple(names))
    return verify(model, rows, time_limit=time_limit), "all rows"
