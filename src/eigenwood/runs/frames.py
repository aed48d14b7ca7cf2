"""Between tables and models: which columns a model learns from, and a table brought into the form a model knows."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from sklearn.pipeline import Pipeline

from eigenwood.data.cleaning import AS_IN_TRAINING, Asked, columns_as_asked
from eigenwood.data.kinds import CATEGORY, KINDS, MISSING_IN_FRAMES, NUMBER, to_text
from eigenwood.data.naming import listing
from eigenwood.data.tables import Table
from eigenwood.errors import TableError
from eigenwood.estimators.columns import TableColumns
from eigenwood.estimators.encoder import TableEncoder
from eigenwood.runs.settings import Settings

FEATURE_KINDS = ("number", "category", "date", "text")
MOST_MEANT = 3  # columns with nearly the name of a missing one that a sentence names
WHY_NOT = {"id": "not used: looks like an ID", "constant": "not used: always the same"}


def uses(table: Table, target: str, settings: Settings) -> dict[str, str]:
    """Return for every column what ``learn`` uses it for, or why it does not."""
    check_columns(table, target, settings)
    found = {name: "feature" if kind in FEATURE_KINDS else WHY_NOT[kind] for name, kind in table.kinds().items()}
    found |= dict.fromkeys(settings.use, "feature")
    found |= dict.fromkeys(settings.drop, "not used: dropped, as asked")
    roles = {settings.group: "groups", settings.order: "order", settings.weights: "weights", target: "target"}
    return found | {name: role for name, role in roles.items() if name is not None}


def check_columns(table: Table, target: str, settings: Settings) -> None:
    """Raise for a column that the table does not have, or that was given two roles."""
    roles = {"--target": target, "--group": settings.group, "--order": settings.order, "--weights": settings.weights}
    given = [(option, name) for option, name in roles.items() if name is not None]
    given += [("--drop", name) for name in settings.drop] + [("--use", name) for name in settings.use]
    taken = dict[str, str]()
    for option, name in given:
        table.column(name)  # raises, with a suggestion, if there is no such column
        if taken.setdefault(name, option) != option:
            raise TableError(f"{table.name}: a column must have one role; got {name!r} as {taken[name]} and {option}.")


def labels_of(table: Table, target: str) -> np.ndarray:
    """Return the target as an array of strings: a model file and a report show labels as they are written."""
    return np.array(as_texts(table, target).to_pylist(), dtype=str)


def amounts_of(table: Table, target: str) -> np.ndarray:
    """Return the target as an array of floats."""
    amounts = as_numbers(table, target, why=f" {AS_IN_TRAINING}").cast(pa.float64()).to_numpy()
    strange = amounts[~np.isfinite(amounts)]
    if strange.size:
        raise TableError(f"{table.name}: target {target!r} must hold finite numbers; got {strange[0]}.")
    return amounts


class KnownColumns(NamedTuple):
    """The columns that a model learnt from."""

    kinds: dict[str, str]  # of those it uses
    readings: dict[str, str]  # of strings that became numbers or dates, where it is not plain
    unused: tuple[str, ...] = ()  # that it was given, and that may be empty

    def asked(self) -> Asked:
        return Asked(self.kinds, self.readings, AS_IN_TRAINING)


def columns_of(model: Any) -> KnownColumns:
    """Return the columns that a model made by ``learn`` knows."""
    first = first_step(model)
    names = [str(name) for name in getattr(first, "feature_names_in_", ())]
    if names and isinstance(first, TableColumns):
        kinds = dict(zip(names, first.kinds_.tolist(), strict=True))
        readings = dict(zip(names, first.readings_.tolist(), strict=True))
        return KnownColumns(
            {name: kind for name, kind in kinds.items() if kind in KINDS},
            {name: reading for name, reading in readings.items() if reading},
            tuple(name for name, kind in kinds.items() if kind not in KINDS),
        )
    if names and isinstance(first, TableEncoder):
        return KnownColumns(kinds_by_flag(names, first.is_number_), {})
    if names and hasattr(first, "is_categorical_"):
        return KnownColumns(kinds_by_flag(names, ~first.is_categorical_), {})
    raise TableError("the model must be one that 'eigenwood learn' made, which knows the columns of its table.")


def first_step(model: Any) -> Any:
    """Return what a model does first with a table; all members of an ensemble begin with the same columns."""
    members = getattr(model, "estimators_", [model])
    first = members[0] if isinstance(members[0], Pipeline) else None
    return None if first is None else first.steps[0][1]


def kinds_by_flag(names: list[str], is_number: np.ndarray) -> dict[str, str]:
    return {name: NUMBER if number else CATEGORY for name, number in zip(names, is_number, strict=True)}


def frame_for(model: Any, table: Table) -> pa.Table:
    """Return the columns a model knows, each of the kind that it was in training; missing stays missing."""
    known = columns_of(model)
    check_has_columns(table.name, list(known.kinds), table.frame.column_names)
    clean = columns_as_asked(table.frame, MISSING_IN_FRAMES, table.name, 1, known.asked()).table
    return in_order(first_step(model).feature_names_in_, clean)


def in_order(names: Iterable[str], clean: pa.Table) -> pa.Table:
    """Return the columns in the order of training; one that is not used is empty."""
    empty = pa.nulls(clean.num_rows, pa.string())
    return pa.table({name: clean[name] if name in clean.column_names else empty for name in names})


def check_has_columns(who: str, needed: list[str], names: list[str]) -> None:
    """Raise if a table lacks columns that a model learnt from; say which of its own may be meant."""
    missing = [name for name in needed if name not in names]
    if not missing:
        return
    others = {name.casefold(): name for name in names if name not in needed}
    near = {name: get_close_matches(name.casefold(), others, n=1) for name in missing}
    meant = [f"{others[found[0]]!r} may be {name!r}" for name, found in near.items() if found]
    raise TableError(
        f"{who}: lacks the column{'s' if len(missing) > 1 else ''} {listing(missing)}, which the model learnt from"
        f"{' (' + ', '.join(meant[:MOST_MEANT]) + ')' if meant else ''}."
    )


def as_numbers(table: Table, name: str, role: str = "column", why: str = "") -> pa.ChunkedArray:
    """Return a column as floats, even where a short table made it look constant or like an id.

    An error says what the column is for, and why it must hold numbers.
    """
    values = table.frame[name]
    if pa.types.is_floating(values.type):
        return values
    try:
        return values.cast(pa.float64())
    except pa.ArrowInvalid:
        wrong = next(value for value in values.to_pylist() if value is not None and not _is_number(value))
        raise TableError(f"{table.name}: {role} {name!r} must hold numbers{why}; got {wrong!r}.") from None


def as_texts(table: Table, name: str) -> pa.ChunkedArray:
    """Return a column as strings; whole numbers are written without a point, as they stand in a file."""
    return to_text(table.frame[name])


def _is_number(text: str) -> bool:
    try:
        pa.scalar(text).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True
