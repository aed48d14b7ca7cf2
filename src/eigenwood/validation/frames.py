"""Checks of tables with more than numbers: each column of a frame is numbers or texts."""

from __future__ import annotations

from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from sklearn.utils.validation import validate_data

from eigenwood.errors import InputError
from eigenwood.validation.arrays import check_finite, column_values, frame_of, one_sentence


class FrameColumns(NamedTuple):
    """The columns of a table by kind, in their order."""

    numbers: np.ndarray  # (n_rows, n_numbers) float, NaN for missing
    texts: np.ndarray  # (n_rows, n_texts) str, missing replaced
    is_number: np.ndarray  # (n_columns,) bool


def check_columns(
    estimator: Any, X: Any, is_number: np.ndarray | None, *, reset: bool, missing_text: str
) -> FrameColumns:
    """Return the columns of a pandas, polars or pyarrow frame; ``is_number`` are the kinds known from fit."""
    who = type(estimator).__name__
    frame = frame_of(who, X)
    if frame is None:
        raise InputError(f"{who}: X must be a frame with the columns it had in fit; got {type(X).__name__}.")
    try:
        validate_data(estimator, X=X, reset=reset, skip_check_array=True)
    except (ValueError, TypeError) as problem:
        raise one_sentence(who, problem) from problem
    if len(frame) == 0 or frame.shape[1] == 0:
        raise InputError(
            f"{who}: X must have at least 1 row and 1 column; got {frame.shape[0]} rows and {frame.shape[1]} columns."
        )
    columns = list(frame.iter_columns())
    if is_number is None:
        is_number = np.array([holds_numbers(column.dtype) for column in columns])
    kinds = list(zip(columns, is_number, strict=True))
    numbers = [numbers_of(who, column) for column, number in kinds if number]
    texts = [texts_of(column, missing_text) for column, number in kinds if not number]
    table = np.column_stack(numbers) if numbers else np.empty((len(frame), 0))
    names = np.array([column.name for column, number in kinds if number], dtype=object)
    check_finite(who, table, names, missing=True)
    words = np.column_stack(texts) if texts else np.empty((len(frame), 0), dtype=object)
    return FrameColumns(table, words, is_number)


def holds_numbers(dtype: Any) -> bool:
    """Return whether a column of this type is numbers; a column that is all null counts as one."""
    return dtype.is_numeric() or dtype == nw.Boolean or dtype == nw.Unknown


def numbers_of(who: str, column: nw.Series) -> np.ndarray:
    """Return a column as floats, NaN for missing."""
    if not holds_numbers(column.dtype):
        raise InputError(f"{who}: column {column.name!r} must hold numbers as it did in fit; got {column.dtype}.")
    return np.asarray(column_values(column), dtype=np.float32 if column.dtype == nw.Float32 else np.float64)


def texts_of(column: nw.Series, missing_text: str) -> np.ndarray:
    """Return a column as strings."""
    nulls = column.is_null().to_list()
    values = [missing_text if null else str(value) for value, null in zip(column.to_list(), nulls, strict=True)]
    return np.array(values, dtype=object)


def check_encoder_state(
    who: str, is_number: np.ndarray, fill: np.ndarray, scale: np.ndarray, categories: list[list[str]]
) -> None:
    """Raise unless the fitted attributes of an encoder agree with each other."""
    n_numbers, n_texts = int(is_number.sum()), int((~is_number).sum())
    if fill.size != n_numbers or len(categories) != n_texts:
        raise InputError(
            f"{who}: is_number_ must tell of {fill.size} columns of numbers and {len(categories)} of categories; "
            f"got {n_numbers} and {n_texts}."
        )
    if not (scale > 0).all():
        raise InputError(f"{who}: scale_ must be above 0; got {scale.min()}.")
    if not all(names and names == sorted(set(names)) for names in categories):
        raise InputError(f"{who}: categories_ must be sorted, different and not empty; got others.")
