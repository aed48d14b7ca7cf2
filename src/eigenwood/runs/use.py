"""Check the proof of a model that ``learn`` or ``reduce`` made, on the rows it learnt from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from eigenwood.data.blocks import blocks
from eigenwood.data.genotypes import genotypes
from eigenwood.data.tables import Table
from eigenwood.estimators.registry import REGRESSION, verify
from eigenwood.estimators.words.queries import WordQueries
from eigenwood.proofs.claim import Certificate
from eigenwood.runs.clock import Clock
from eigenwood.runs.final import rows_learnt, rows_of
from eigenwood.runs.frames import amounts_of, frame_for, labels_of
from eigenwood.runs.preparing import prepared, rows_with_target, target_digest
from eigenwood.runs.record import Run
from eigenwood.runs.replay import settings_of
from eigenwood.runs.settings import Settings


def verified(
    model: Any, table: Table, target: str, run: Run | None, time_limit: float | None = None
) -> tuple[Certificate, str]:
    """Return the certificate recomputed from the table, and which rows it was recomputed on.

    If the run says how its table was split, and this is that table, the rows are those the model learnt from.
    """
    if run is not None and run.target == target and is_table_of(run, table):
        data = prepared(table, target, settings_of(run), Clock(0.0))  # no time for what the model does not depend on
        among = rows_learnt(run.recipe, data)
        learnt = rows_of(run.recipe, among)
        X, y, weights = among.X.take(learnt), among.y[learnt], among.weights_of(learnt)
        return verify(model, X, y, weights, time_limit=time_limit), f"the {learnt.size:,} rows it learnt from"
    rows = table.take(rows_with_target(table, target, Settings()))
    y = targets_of(rows, target, is_regressor(model))
    return verify(model, frame_for(model, rows), y, time_limit=time_limit), f"all {y.size} rows with a target"


def is_table_of(run: Run, table: Table) -> bool:
    """Return whether a run learnt from this table, by the values of its target."""
    settings = settings_of(run)
    if settings.weights is not None and settings.weights not in table.kinds():
        return False
    rows = table.take(rows_with_target(table, run.target, settings))
    return target_digest(targets_of(rows, run.target, run.task == REGRESSION)) == run.split.target_digest


def targets_of(table: Table, target: str, are_amounts: bool) -> np.ndarray:
    return amounts_of(table, target) if are_amounts else labels_of(table, target)


def learns_from_text(model: Any) -> bool:
    """Return whether a model learns from sentences."""
    return isinstance(model, WordQueries)


def verified_text(model: Any, source: Any, time_limit: float | None = None) -> tuple[Certificate, str]:
    """Return the certificate of word vectors, recomputed from the text."""
    return verify(model, source, time_limit=time_limit), "all sentences"


def verified_rows(model: Any, source: Any, time_limit: float | None = None) -> tuple[Certificate, str]:
    """Return the certificate of a model without a target, recomputed from all rows of a source, read in blocks."""
    names = getattr(model, "feature_names_in_", None)
    if isinstance(source, Path) and source.suffix.lower() == ".bed":
        people = genotypes(source)
        return verify(model, people, time_limit=time_limit), f"all {people.n_people} people"
    rows = blocks(source, columns=None if names is None else tuple(names))
    return verify(model, rows, time_limit=time_limit), "all rows"
