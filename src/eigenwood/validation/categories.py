"""The gate for rows with numbers and categories, as trees read them.

    age    job                 age    job                categories_
    39     "clerk"             39     0                  [None, ["clerk", "farmer", None]]
    50     "farmer"     ──►    50     1
    38     (missing)           38     2                  a missing category is a category, the last one
    (later) "pilot"            …     -1                  never seen: -1

Which columns are categories is said by ``categorical_features``, or by a frame: its strings and categoricals are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
from scipy import sparse
from sklearn.utils.validation import validate_data

from eigenwood.errors import InputError
from eigenwood.validation.arrays import (
    check_finite,
    check_is_a_table,
    check_matrix,
    column_values,
    frame_of,
    one_sentence,
)

FROM_DTYPE = "from_dtype"
UNKNOWN = -1

Labels = list[Any]  # strings or floats in order; None last if a missing one was seen


class Mixed(NamedTuple):
    """Rows as numbers, categories by their codes; for each column the labels of its categories, None for numbers."""

    X: Any
    categories: list[Labels | None]

    def counts(self) -> np.ndarray:
        """Return how many categories each column has, -1 for numbers."""
        return np.array([-1 if labels is None else len(labels) for labels in self.categories])


class CategoricalFeatures:
    """The rule for ``categorical_features``: 'from_dtype', or names, indices or a mask of columns."""

    def allows(self, value: Any) -> bool:
        if value is None or isinstance(value, str):
            return value is None or value == FROM_DTYPE
        if isinstance(value, np.ndarray):
            return value.ndim == 1 and value.dtype.kind in "biuUO"
        return isinstance(value, Sequence) and all(isinstance(v, (str, bool, int, np.bool_, np.integer)) for v in value)

    def __str__(self) -> str:
        return "'from_dtype', None, or a list of names, indices or truth values of columns"


def check_mixed(estimator: Any, X: Any, chosen: Any = FROM_DTYPE, known: list[Labels | None] | None = None) -> Mixed:
    """Return rows of numbers and categories; ``known`` are the categories learnt in fit, None in fit itself.

    Infinity in dense numbers is left to the caller, who reads every number anyway.
    """
    who = type(estimator).__name__
    check_is_a_table(who, X)
    try:
        validate_data(estimator, X=X, reset=known is None, skip_check_array=True)
    except (ValueError, TypeError) as problem:
        raise one_sentence(who, problem) from problem
    frame = frame_of(who, X)
    if frame is not None:
        return mixed_frame(estimator, frame, chosen, known)
    rows = check_matrix(who, X, accept_sparse=True, finite=False)
    names = getattr(estimator, "feature_names_in_", None)
    if known is None:
        wanted = chosen_columns(who, chosen, names, rows.shape[1])
        known = [learnt_numbers(column_of(rows, j)) if j in wanted else None for j in range(rows.shape[1])]
    return Mixed(with_codes(who, rows, known), known)


def mixed_frame(estimator: Any, frame: nw.DataFrame, chosen: Any, known: list[Labels | None] | None) -> Mixed:
    """Return the rows of a pandas, polars or pyarrow frame."""
    who = type(estimator).__name__
    if len(frame) == 0 or frame.shape[1] == 0:
        raise InputError(
            f"{who}: X must have at least 1 row and 1 column; got {frame.shape[0]} rows and {frame.shape[1]} columns "
            "(minimum of 1 is required)."
        )
    columns = list(frame.iter_columns())
    if known is None:
        named = [column.name for column in columns]
        wanted = chosen_columns(who, chosen, named, len(columns))
        if isinstance(chosen, str):
            wanted = {j for j, column in enumerate(columns) if is_category(column.dtype)}
        known = [learnt(column) if j in wanted else None for j, column in enumerate(columns)]
    single = all(column.dtype == nw.Float32 for column in columns)
    rows = np.empty((len(frame), len(columns)), dtype=np.float32 if single else np.float64)
    for j, (column, labels) in enumerate(zip(columns, known, strict=True)):
        rows[:, j] = numbers(who, column) if labels is None else codes_of(column, labels)
    return Mixed(rows, known)


def is_category(dtype: Any) -> bool:
    """Return whether a column of this type is a category when nothing else is said."""
    return not (dtype.is_numeric() or dtype in (nw.Boolean, nw.Unknown, nw.Object))


def numbers(who: str, column: nw.Series) -> np.ndarray:
    """Return a column of numbers, NaN where one is missing."""
    if is_category(column.dtype) or (column.dtype == nw.Object and not holds_numbers(column)):
        raise InputError(
            f"{who}: column {column.name!r} must hold numbers; got {column.dtype} "
            "(a column of text is a category if it is text in fit, or named in categorical_features)."
        )
    return column_values(column)


def holds_numbers(column: nw.Series) -> bool:
    try:
        column_values(column)
    except (ValueError, TypeError):
        return False
    return True


def chosen_columns(who: str, chosen: Any, names: Iterable[str] | None, n_columns: int) -> set[int]:
    """Return the places of the columns that the user calls categories."""
    if chosen is None or isinstance(chosen, str):
        return set()
    values = list(chosen)
    if values and all(isinstance(value, (bool, np.bool_)) for value in values):
        if len(values) != n_columns:
            raise InputError(
                f"{who}: categorical_features must have one truth value for each of {n_columns} columns; "
                f"got {len(values)}."
            )
        return {j for j, value in enumerate(values) if value}
    known = [] if names is None else list(names)
    places = set()
    for value in values:
        if isinstance(value, str) and value in known:
            places.add(known.index(value))
        elif not isinstance(value, str) and -n_columns <= value < n_columns:
            places.add(int(value) % n_columns)
        else:
            raise InputError(f"{who}: categorical_features must name columns of X; got {value!r}.")
    return places


def learnt(column: nw.Series) -> Labels:
    """Return the categories of a column in order: numbers as numbers, anything else as text."""
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        return learnt_numbers(np.asarray(column_values(column), dtype=np.float64))
    labels, codes = texts(column)
    seen = sorted({labels[code] for code in np.unique(codes[codes >= 0])})
    return [*seen, None] if (codes < 0).any() else seen


def learnt_numbers(values: np.ndarray) -> Labels:
    """Return the distinct numbers in order, and None if some are missing."""
    distinct = np.unique(values[~np.isnan(values)]).tolist()
    return [*distinct, None] if np.isnan(values).any() else distinct


def codes_of(column: nw.Series, labels: Labels) -> np.ndarray:
    """Return the codes of a column's categories, -1 for those never seen."""
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        values = np.asarray(column_values(column), dtype=np.float64)
        if labels and isinstance(labels[0], str):
            return np.full(len(values), UNKNOWN)
        return number_codes(values, labels)
    if labels and isinstance(labels[0], float):
        return np.full(len(column), UNKNOWN)
    found, codes = texts(column)
    place = {label: code for code, label in enumerate(labels)}
    translated = np.array([*(place.get(label, UNKNOWN) for label in found), place.get(None, UNKNOWN)])
    return translated[codes]  # a missing one has code -1, the last place


def coded_grid(grid: Any, categories: list[Labels | None]) -> np.ndarray:
    """Return values of some columns, one line for each point of a grid, as numbers and codes."""
    columns = np.asarray(grid).T
    return np.column_stack([coded_values(values, labels) for values, labels in zip(columns, categories, strict=True)])


def coded_values(values: np.ndarray, labels: Labels | None) -> np.ndarray:
    """Return values that a user names as numbers, or as the codes of a column's categories."""
    if labels and isinstance(labels[0], str):
        place = {label: code for code, label in enumerate(labels)}
        return np.array([place.get(None if value is None else str(value), UNKNOWN) for value in values], dtype=float)
    numbers = np.asarray(values, dtype=np.float64)
    return numbers if labels is None else number_codes(numbers, labels)


def number_codes(values: np.ndarray, labels: Labels) -> np.ndarray:
    """Return the places of numbers among the labels, -1 for those never seen."""
    has_missing = bool(labels) and labels[-1] is None
    known = np.array(labels[:-1] if has_missing else labels, dtype=np.float64)
    if known.size == 0:
        return np.where(np.isnan(values), 0 if has_missing else UNKNOWN, UNKNOWN)
    places = np.minimum(np.searchsorted(known, values), known.size - 1)
    codes = np.where(known[places] == values, places, UNKNOWN)
    return np.where(np.isnan(values), known.size if has_missing else UNKNOWN, codes)


def texts(column: nw.Series) -> tuple[list[str], np.ndarray]:
    """Return the different texts of a column and the place of each row's text among them, -1 for missing."""
    array = column.to_arrow()
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return [str(label) for label in array.dictionary.to_pylist()], codes


def column_of(rows: Any, j: int) -> np.ndarray:
    """Return one column of a dense or sparse matrix."""
    column = rows[:, [j]].toarray()[:, 0] if sparse.issparse(rows) else rows[:, j]
    return np.asarray(column, dtype=np.float64)


def with_codes(who: str, rows: Any, categories: list[Labels | None]) -> Any:
    """Return the matrix with codes in the place of categories; as it was if there are none."""
    places = [j for j, labels in enumerate(categories) if labels is not None]
    if sparse.issparse(rows):
        check_finite(who, rows, None, missing=True)
        if places:
            raise InputError(f"{who}: X must be dense to have categories; got a sparse matrix.")
        return rows
    if not places:
        return rows
    coded = rows.copy()
    for j in places:
        coded[:, j] = number_codes(np.asarray(rows[:, j], dtype=np.float64), categories[j] or [])
    return coded
