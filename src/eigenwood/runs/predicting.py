"""Predict a table of any size: rows are read, predicted and written block by block.

file, frame or Table ──► blocks of the model's columns ──► predictions [and probabilities] ──► table or file
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import is_classifier

from eigenwood.data.blocks import Source, open_source
from eigenwood.data.kind_blocks import blocks_of_kinds, stored_table
from eigenwood.data.tables import to_arrow
from eigenwood.data.writing import write_rows
from eigenwood.errors import InputError, TableError
from eigenwood.runs.frames import check_has_columns, columns_of, first_step, in_order

PREDICTION = "prediction"
MOST_VALUES, FEWEST_ROWS, MOST_ROWS = 2**23, 2**10, 2**16  # of a block, as the model sees it


def predicted(model: Any, source: Any, *, proba: bool = False) -> pa.Table:
    """Return one prediction for every row of a table; with ``proba`` the probability of each class beside it."""
    return pa.concat_tables(predicted_blocks(model, source, proba=proba))


def write_predictions(model: Any, source: Any, out: Path, *, proba: bool = False) -> int:
    """Write one prediction for every row, and keep no more than a block of them; return how many there were."""
    return write_rows(predicted_blocks(model, source, proba=proba), out)


def predicted_blocks(
    model: Any, source: Any, *, proba: bool = False, block_rows: int | None = None
) -> Iterator[pa.Table]:
    """Return predictions of some rows after the other; what is wrong with the table is said at once."""
    if proba:
        check_has_probabilities(model)
    opened = open_source(to_arrow(source) if isinstance(source, Mapping) else source)
    check_has_columns(opened.who, list(columns_of(model).kinds), stored_table(opened).names)
    return blocks_of_predictions(model, opened, proba, block_rows or rows_of_block(model))


def blocks_of_predictions(model: Any, opened: Source, proba: bool, block_rows: int) -> Iterator[pa.Table]:
    names = first_step(model).feature_names_in_
    n_rows = 0
    for block in blocks_of_kinds(opened, columns_of(model).asked(), block_rows):
        frame = in_order(names, block)
        n_rows += frame.num_rows
        yield pa.table({PREDICTION: model.predict(frame)} | (probabilities(model, frame) if proba else {}))
    if n_rows == 0:
        raise TableError(f"{opened.who}: must have at least one row; got none.")


def rows_of_block(model: Any) -> int:
    """Return how many rows are predicted at a time."""
    first = first_step(model)
    width = len(first.get_feature_names_out()) if hasattr(first, "get_feature_names_out") else first.n_features_in_
    return min(MOST_ROWS, max(FEWEST_ROWS, MOST_VALUES // max(width, 1)))


def check_has_probabilities(model: Any) -> None:
    """Raise unless a model says how probable each class is."""
    if not is_classifier(model):
        raise InputError("predict: --proba must be asked of a model of classes; got one of amounts.")
    if not hasattr(model, "predict_proba"):
        method = type(getattr(model, "steps", [("", model)])[-1][1]).__name__
        raise InputError(f"predict: --proba must be asked of a model with probabilities; got {method}, which has none.")


def probabilities(model: Any, frame: pa.Table) -> dict[str, np.ndarray]:
    """Return the probability of each class, by the names of their columns."""
    shares = model.predict_proba(frame).T
    return {f"probability of {label}": row for label, row in zip(model.classes_, shares, strict=True)}
