"""Checks of rows with numbers and categories, as trees read them.

    age    job                 age    job                categories_
    39     "clerk"             39     0                  [None, ["clerk", "farmer", None]]
    50     "farmer"     ──►    50     1
    38     (missing)           38     2                  a missing category is a category, the last one
    (later) "pilot"            …     -1                  never seen: -1

Which columns are categories follows from ``categorical_features``, or from a frame: its strings and categoricals.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
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
    rows = matrix_of_numbers(who, X)
    if known is None:
        wanted = chosen_columns(who, chosen, getattr(estimator, "feature_names_in_", None), rows.shape[1])
        check_dense(who, rows, bool(wanted))
        known = [learnt_numbers(who, rows[:, j], j) if j in wanted else None for j in range(rows.shape[1])]
    check_dense(who, rows, any(labels is not None for labels in known))
    return Mixed(with_codes(who, rows, known), known)


def matrix_of_numbers(who: str, X: Any) -> Any:
    """Return X as a float array or csr matrix; infinity in a dense one is looked for later."""
    try:
        return check_matrix(who, X, accept_sparse=True, finite=False)
    except InputError as problem:
        if "could not convert string" not in str(problem):
            raise
        text = str(problem).rpartition(": ")[2].rstrip(".")
        raise InputError(f"{who}: X must hold numbers, or be a frame to have columns of text; got {text}.") from None


def mixed_frame(estimator: Any, frame: nw.DataFrame, chosen: Any, known: list[Labels | None] | None) -> Mixed:
    """Return the rows of a pandas, polars or pyarrow frame."""
    who = type(estimator).__name__
    if len(frame) == 0 or frame.shape[1] == 0:
        raise InputError(
            f"{who}: X must have at least 1 row and 1 column; got {frame.shape[0]} rows and {frame.shape[1]} columns "
            "(minimum of 1 is required)."
        )
    names, dtypes = frame.columns, list(frame.schema.values())
    if known is None:
        wanted = chosen_columns(who, chosen, names, len(names))
        if isinstance(chosen, str):
            wanted = {j for j, dtype in enumerate(dtypes) if is_category(dtype)}
        known = [learnt(who, frame[:, j]) if j in wanted else None for j in range(len(names))]
    single = all(dtype == nw.Float32 for dtype in dtypes)
    rows = np.empty((len(frame), len(names)), dtype=np.float32 if single else np.float64)
    floats = float_columns(frame, dtypes)
    for j, labels in enumerate(known):
        if labels is not None:
            rows[:, j] = codes_of(who, frame[:, j], labels)
        else:
            rows[:, j] = floats[j] if j in floats else numbers(who, frame[:, j])
    return Mixed(rows, known)


def float_columns(frame: nw.DataFrame, dtypes: list[Any]) -> dict[int, np.ndarray]:
    """Return the floats of an Arrow table by place, NaN where one is missing.

    Through narwhals each column takes a tenth of a millisecond: a second for ten thousand of them.
    """
    table = frame.to_native()
    if not nw.dependencies.is_pyarrow_table(table):
        return {}
    are_floats = [dtype in (nw.Float32, nw.Float64) for dtype in dtypes]
    return {j: table.column(j).to_numpy() for j, is_float in enumerate(are_floats) if is_float}


def is_category(dtype: Any) -> bool:
    """Return whether a column of this type is a category by default."""
    return dtype in (nw.String, nw.Categorical, nw.Enum)


def numbers(who: str, column: nw.Series) -> np.ndarray:
    """Return a column of numbers, NaN where one is missing."""
    values = as_numbers(column)
    if values is None:
        raise InputError(
            f"{who}: column {column.name!r} must hold numbers; got {column.dtype} "
            "(a column of text is a category if it is text in fit, or named in categorical_features)."
        )
    return values


def as_numbers(column: nw.Series) -> np.ndarray | None:
    """Return a column of numbers or truth values, NaN where one is missing; None for any other column."""
    if column.null_count() == len(column):
        return np.full(len(column), np.nan)
    if is_category(column.dtype) or column.dtype.is_temporal():
        return None
    try:
        values = np.asarray(column_values(column))
        return values.astype(np.float64, copy=False) if values.dtype.kind in "biufO" else None
    except (ValueError, TypeError):
        return None


def chosen_columns(who: str, chosen: Any, names: Iterable[str] | None, n_columns: int) -> set[int]:
    """Return the places of the columns that the user calls categories."""
    if chosen is None or isinstance(chosen, str):
        return set()
    values = list(chosen)
    if values and all(isinstance(value, (bool, np.bool_)) for value in values):
        if len(values) != n_columns:
            raise InputError(
                f"{who}: categorical_features set as a boolean mask must have shape (n_features,), here "
                f"({n_columns},); got ({len(values)},)."
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
            raise unknown_column(who, value, names is not None)
    return places


def unknown_column(who: str, value: Any, has_names: bool) -> InputError:
    """Return what to say of a column that is not there."""
    if not isinstance(value, str):
        return InputError(f"{who}: categorical_features must name columns of X; got {value!r}.")
    if has_names:
        return InputError(
            f"{who}: categorical_features has an item value {value!r} which is not a valid feature name of the "
            "training data."
        )
    return InputError(
        f"{who}: instead of {value!r}, categorical_features should be passed as an array of integers or as a boolean "
        "mask when the model is fitted on data without feature names."
    )


def learnt(who: str, column: nw.Series) -> Labels:
    """Return the categories of a column in order: numbers as numbers, anything else as text."""
    values = as_numbers(column)
    if values is not None:
        return learnt_numbers(who, values, column.name)
    labels, codes = texts(who, column)
    seen = sorted({labels[code] for code in np.unique(codes[codes >= 0])})
    return [*seen, None] if (codes < 0).any() else seen


def learnt_numbers(who: str, values: np.ndarray, name: Any) -> Labels:
    """Return the distinct numbers in order, and None if some are missing."""
    values = np.asarray(values, dtype=np.float64)
    if np.isinf(values).any():
        raise InputError(f"{who}: X must be finite or NaN; got inf (infinity) in column {name!r}.")
    missing = np.isnan(values)
    distinct = np.unique(values[~missing]).tolist()
    return [*distinct, None] if missing.any() else distinct


def codes_of(who: str, column: nw.Series, labels: Labels) -> np.ndarray:
    """Return the codes of a column's categories, -1 for those never seen."""
    values = as_numbers(column)
    if values is not None:
        return numbers_as_codes(who, values, labels, column.name)
    check_kind(who, column.name, labels, float, str(column.dtype))
    found, codes = texts(who, column)
    place = {label: code for code, label in enumerate(labels)}
    translated = np.array([*(place.get(label, UNKNOWN) for label in found), place.get(None, UNKNOWN)])
    return translated[codes]  # a missing one has code -1, the last place


def numbers_as_codes(who: str, values: np.ndarray, labels: Labels, name: Any) -> np.ndarray:
    """Return the codes of categories that are numbers; texts may only be missing here."""
    if not np.isnan(values).all():
        check_kind(who, name, labels, str, "numbers")
    return number_codes(values, labels)


def check_kind(who: str, name: Any, labels: Labels, other: type, got: str) -> None:
    """Raise if the categories of a column were of the ``other`` kind in fit, where those at hand cannot be found."""
    if labels and isinstance(labels[0], other):
        wanted = "text" if other is str else "numbers"
        raise InputError(f"{who}: column {name!r} must hold categories that are {wanted}, as in fit; got {got}.")


def coded_grid(grid: Any, categories: list[Labels | None]) -> np.ndarray:
    """Return values of some columns, one row for each point of a grid, as numbers and codes."""
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
    missing, missing_code = np.isnan(values), len(labels) - 1 if has_missing else UNKNOWN
    codes = np.full(values.size, UNKNOWN)
    if not missing.all() and len(labels) > has_missing:
        known = np.array(labels[: len(labels) - has_missing], dtype=np.float64)
        places = np.minimum(np.searchsorted(known, values), known.size - 1)
        codes = np.where(known[places] == values, places, UNKNOWN)
    return np.where(missing, missing_code, codes)


def texts(who: str, column: nw.Series) -> tuple[list[str], np.ndarray]:
    """Return the different texts of a column and the place of each row's text among them, -1 for missing."""
    import pyarrow as pa  # only tables with texts wait for it

    try:
        array = column.to_arrow()
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
    except (pa.ArrowException, TypeError, ValueError):  # lists, or words beside numbers
        raise InputError(
            f"{who}: column {column.name!r} must hold values of one kind to be a category; got {column.dtype}."
        ) from None
    codes = array.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    labels = array.dictionary.to_pylist()
    places = np.array([*(-1 if label is None else i for i, label in enumerate(labels)), -1])
    return [str(label) for label in labels], places[codes]  # a null may stand in the dictionary, too


def check_dense(who: str, rows: Any, has_categories: bool) -> None:
    """Raise unless rows can have categories, and sparse ones are finite; the numbers of dense ones are read later."""
    if sparse.issparse(rows):
        check_finite(who, rows, None, missing=True)
        if has_categories:
            raise InputError(f"{who}: X must be dense to have categories; got a sparse matrix.")


def with_codes(who: str, rows: Any, categories: list[Labels | None]) -> Any:
    """Return the matrix with codes in the place of categories; as it was if there are none."""
    places = [j for j, labels in enumerate(categories) if labels is not None]
    if not places:
        return rows
    coded = rows.copy()
    for j in places:
        coded[:, j] = numbers_as_codes(who, np.asarray(rows[:, j], dtype=np.float64), categories[j] or [], j)
    return coded


def seen_only(mixed: Mixed) -> Mixed:
    """Return the rows with only those categories that occur among them; the codes are written anew, in place."""
    categories = list(mixed.categories)
    for j, labels in enumerate(categories):
        if labels is not None:
            codes, mixed.X[:, j] = np.unique(mixed.X[:, j], return_inverse=True)
            categories[j] = [labels[int(code)] for code in codes]
    return Mixed(mixed.X, categories)
