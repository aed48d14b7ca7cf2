"""Between tables and models: which columns a model learns from, and a table brought into the form a model knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.pipeline import Pipeline

from eigenwood.data.tables import Table
from eigenwood.errors import TableError
from eigenwood.estimators.encoder import TableEncoder

FEATURE_KINDS = ("number", "category")
WHY_NOT = {"id": "not used: tells rows apart", "constant": "not used: always the same", "text": "not used: free text"}


def uses(table: Table, target: str) -> dict[str, str]:
    """Return for every column what ``learn`` uses it for, or why it does not."""
    used = {name: "feature" if kind in FEATURE_KINDS else WHY_NOT[kind] for name, kind in table.kinds().items()}
    return used | {target: "target"}


def feature_names(table: Table, target: str) -> list[str]:
    """Return the columns to learn from; at least one is needed."""
    names = [name for name, use in uses(table, target).items() if use == "feature"]
    if not names:
        kinds = ", ".join(sorted(set(table.drop([target]).kinds().values()))) or "no other column"
        raise TableError(f"{table.name}: must have a column of numbers or categories beside {target!r}; got {kinds}.")
    return names


def labels_of(table: Table, target: str) -> np.ndarray:
    """Return the target as an array of strings: a model file and a report show labels as they are written."""
    return np.array(as_texts(table, target).to_pylist(), dtype=str)


def amounts_of(table: Table, target: str) -> np.ndarray:
    """Return the target as an array of floats."""
    amounts = as_numbers(table, target).cast(pa.float64()).to_numpy()
    strange = amounts[~np.isfinite(amounts)]
    if strange.size:
        raise TableError(f"{table.name}: target {target!r} must hold finite numbers; got {strange[0]}.")
    return amounts


def columns_of(model: Any) -> dict[str, bool]:
    """Return the columns that a model made by ``learn`` knows, each with whether it holds numbers."""
    first: Any = model.steps[0][1] if isinstance(model, Pipeline) else None
    names = getattr(first, "feature_names_in_", ())
    if len(names) and isinstance(first, TableEncoder):
        return dict(zip(names, first.is_number_, strict=True))
    if len(names) and hasattr(first, "is_categorical_"):
        return dict(zip(names, ~first.is_categorical_, strict=True))
    raise TableError("the model must be one that 'eigenwood learn' made, which knows the columns of its table.")


def frame_for(model: Any, table: Table) -> pa.Table:
    """Return the columns a model knows, each as the numbers or texts it was in training; missing stays missing."""
    columns = columns_of(model)
    table = table.select(columns)
    return pa.table(
        {name: as_numbers(table, name) if number else as_texts(table, name) for name, number in columns.items()}
    )


def as_numbers(table: Table, name: str) -> pa.ChunkedArray:
    """Return a column as floats, even where a short table made it look constant or like an id."""
    values = table.frame[name]
    if pa.types.is_floating(values.type):
        return values
    try:
        return values.cast(pa.float64())
    except pa.ArrowInvalid:
        wrong = next(value for value in values.to_pylist() if value is not None and not _is_number(value))
        raise TableError(
            f"{table.name}: column {name!r} must hold numbers as it did in training; got {wrong!r}."
        ) from None


def as_texts(table: Table, name: str) -> pa.ChunkedArray:
    """Return a column as strings; whole numbers are written without a point, as they stand in a file."""
    values = table.frame[name]
    if not pa.types.is_floating(values.type):
        return values.cast(pa.string())
    if pc.all(pc.equal(values, pc.floor(values))).as_py():
        values = values.cast(pa.int64())
    return values.cast(pa.string())


def _is_number(text: str) -> bool:
    try:
        pa.scalar(text).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True
