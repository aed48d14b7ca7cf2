"""Use a model that ``learn`` made: predict a table, or check its proof on the rows it learnt from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.pipeline import Pipeline

from eigenwood.data.tables import Table
from eigenwood.estimators.registry import verify
from eigenwood.proofs.claim import Certificate
from eigenwood.runs.frames import frame_for, labels_of
from eigenwood.runs.learn import Settings, blind_split, rows_with_target, target_digest
from eigenwood.runs.record import Run

PREDICTION = "prediction"


def predicted(model: Pipeline, table: Table) -> pa.Table:
    """Return one prediction for every row of the table, with the score of each class."""
    frame = frame_for(model, table)
    columns: dict[str, Any] = {PREDICTION: model.predict(frame)}
    scores = np.atleast_2d(model.decision_function(frame).T)
    labels = model.classes_[1:] if scores.shape[0] == 1 else model.classes_
    return pa.table(columns | {f"score of {label}": row for label, row in zip(labels, scores, strict=True)})


def verified(model: Pipeline, table: Table, target: str, run: Run | None) -> tuple[Certificate, str]:
    """Return the certificate recomputed from the table, and which rows it was recomputed on.

    If the run says how its table was split, and this is that table, the rows are those the model learnt from.
    """
    whole = table.take(rows_with_target(table, target))
    labels = labels_of(whole, target)
    rows, words = np.arange(labels.size), f"all {labels.size} rows with a target"
    if run is not None and run.target == target and run.split.target_digest == target_digest(labels):
        rows = blind_split(whole, target, Settings(run.split.seed, run.split.test_fraction)).train
        words = f"the {rows.size} training rows"
    frame = frame_for(model, whole).take(rows)
    return verify(model, frame, labels[rows]), words
