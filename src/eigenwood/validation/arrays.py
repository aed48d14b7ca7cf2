"""The gate for X: what comes in is anything a user has, what goes out is an array the core can trust.

    list, array, memmap, csr, pandas, polars, pyarrow  ──►  C-contiguous float32 or float64, finite, named

Shapes, dtypes and column names are checked by scikit-learn's public validators. What they say in several lines is
said here in one sentence that names the estimator.
"""

from __future__ import annotations

import os
import re
from reprlib import repr as brief
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from eigenwood.errors import InputError

FLOATS = (np.float64, np.float32)


def check_rows(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    accept_sparse: bool = False,
    missing: bool = False,
    finite: bool = True,
    nan_cure: str = "",
) -> Any:
    """Return X as a float array (or csr matrix) and record or compare its column names.

    ``reset`` is True in fit, where the names are learnt, and False afterwards, where they must be the same.
    ``missing`` lets NaN through; infinity never passes. ``finite`` is False where the caller meets every number
    anyway and asks ``check_finite`` itself when it met one. ``nan_cure`` says what the user can do about NaN.
    """
    who = type(estimator).__name__
    check_is_a_table(who, X)
    try:
        validate_data(estimator, X=X, reset=reset, skip_check_array=True)
    except (ValueError, TypeError) as problem:
        raise one_sentence(who, problem) from problem
    names = getattr(estimator, "feature_names_in_", None)
    rows = check_matrix(who, X, accept_sparse=accept_sparse, finite=False)
    if finite:
        check_finite(who, rows, names, missing=missing, nan_cure=nan_cure)
    return rows


def check_matrix(
    who: str, X: Any, *, names: Any = None, accept_sparse: bool = False, missing: bool = False, finite: bool = True
) -> Any:
    """Return X as a C-contiguous float array, or as a csr matrix where that is accepted.

    ``finite`` is False where the caller meets every number anyway and looks for infinity itself.
    """
    check_is_a_table(who, X)
    try:
        rows = check_array(
            frame_values(who, X),
            accept_sparse="csr" if accept_sparse else False,
            dtype=FLOATS,
            order="C",
            ensure_all_finite=False,
            input_name="X",
        )
    except (ValueError, TypeError) as problem:
        raise one_sentence(who, problem) from problem
    if sparse.issparse(rows) and not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()  # an entry stored twice means the sum
    if finite:
        check_finite(who, rows, names, missing=missing)
    return rows


def check_weights(estimator: Any, sample_weight: Any, n_rows: int) -> np.ndarray:
    """Return one float64 weight per row; 1 for each when none are given."""
    if sample_weight is None:
        return np.ones(n_rows)
    who = type(estimator).__name__
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (ValueError, TypeError) as problem:
        raise InputError(f"{who}: sample_weight must hold numbers; got {brief(sample_weight)}.") from problem
    if weights.shape != (n_rows,):
        raise InputError(f"{who}: sample_weight must have shape ({n_rows},); got {weights.shape}.")
    if np.isfinite(weights).all() and weights.min() < 0:
        raise InputError(
            f"{who}: Negative values in data passed to `sample_weight`, which must be at least 0; got {weights.min()}."
        )
    if not np.isfinite(weights).all():
        raise InputError(f"{who}: sample_weight must be finite and at least 0; got {worst_weight(weights)}.")
    if not weights.any():
        raise InputError(f"{who}: sample_weight must hold at least one weight above zero; got only zeros.")
    return weights


def negative_left_out(estimator: Any, sample_weight: Any) -> Any:
    """Return weights with 0 in place of negative ones, for machines: LIBSVM leaves such rows out.

    What is no list of numbers is handed on as it is, for ``check_weights`` to refuse.
    """
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (ValueError, TypeError):
        return sample_weight
    if sample_weight is None or not np.isfinite(weights).all():
        return sample_weight
    if weights.ndim == 1 and weights.size and weights.max() <= 0.0:
        raise InputError(
            f"{type(estimator).__name__}: sample_weight must hold at least one weight above zero; got none "
            "(Invalid input - all samples have zero or negative weights.)."
        )
    return np.maximum(weights, 0.0)


def worst_weight(weights: np.ndarray) -> float:
    """Return the first weight that is not a number, or else the smallest."""
    wrong = weights[~np.isfinite(weights)]
    return float(wrong[0] if wrong.size else weights.min())


def check_is_a_table(who: str, X: Any) -> None:
    """Raise unless X has rows and columns."""
    if isinstance(X, str) or X is None:
        raise InputError(f"{who}: X must be a table of numbers; got {X!r}.")
    n_dimensions = dimension_count(who, X)
    if n_dimensions == 0 and not np.isscalar(X) and not hasattr(X, "ndim"):
        raise InputError(f"{who}: X must be a table of numbers; got {type(X).__name__}.")
    if n_dimensions in (0, 1):
        raise InputError(
            f"{who}: X must be a 2-d array of rows and columns; got {n_dimensions}-d "
            "(Reshape your data: X.reshape(1, -1) makes one row, X.reshape(-1, 1) one column)."
        )


def through_narwhals(given: Any, **kinds: bool) -> Any:
    """Return a frame or a column of one behind the face that they share; anything else as it is.

    Arrays and lists are not even asked: to find out that they are no frames takes longer than to fit a small tree.
    """
    if isinstance(given, (np.ndarray, list, tuple)) or sparse.issparse(given):
        return given
    return nw.from_native(given, pass_through=True, **kinds)


def frame_of(who: str, X: Any) -> nw.DataFrame | None:
    """Return a pandas, polars or pyarrow frame behind the face that they share; None for anything else."""
    try:
        frame = through_narwhals(X, eager_only=True)
    except nw.exceptions.DuplicateError:
        raise InputError(f"{who}: X must have columns of different names; got one name twice.") from None
    return frame if isinstance(frame, nw.DataFrame) else None


def dimension_count(who: str, X: Any) -> int:
    """Return 0 for a number, 1 for a vector, 2 for a table."""
    if frame_of(who, X) is not None:
        return 2
    if hasattr(X, "ndim"):
        return X.ndim
    if isinstance(X, (list, tuple)):
        return 2 if X and hasattr(X[0], "__len__") else 1
    return np.ndim(np.asarray(X))


def frame_values(who: str, X: Any) -> Any:
    """Return the numbers of a pandas, polars or pyarrow frame as an array; anything else as it is."""
    frame = frame_of(who, X)
    if frame is None:
        return X
    dtypes = frame.schema
    for name, dtype in dtypes.items():
        if not (dtype.is_numeric() or dtype == nw.Boolean or dtype == nw.Object):
            raise InputError(
                f"{who}: column {name!r} must hold numbers; got {dtype} (TableEncoder makes numbers of it)."
            )
    if not dtypes:
        return np.empty((len(frame), 0))
    wanted = np.float32 if all(dtype == nw.Float32 for dtype in dtypes.values()) else np.float64
    # Filled by rows: a fitted model reads rows, and a frame hands out columns.
    values = np.empty((len(frame), len(dtypes)), dtype=wanted)
    for j, column in enumerate(frame.iter_columns()):
        values[:, j] = column_values(column)
    return values


def column_values(column: nw.Series) -> np.ndarray:
    """Return a column of numbers or truth values as floats, NaN where a frame has a null of any kind."""
    if column.null_count() == 0 and column.dtype != nw.Object:
        return column.to_numpy()
    values = np.full(len(column), np.nan)
    values[~column.is_null().to_numpy().astype(bool)] = column.drop_nulls().to_numpy()
    return values


def check_finite(
    who: str,
    rows: Any,
    names: np.ndarray | None,
    *,
    missing: bool,
    first_row: int = 0,
    nan_cure: str = "",
    what: str = "X",
) -> None:
    """Raise and name the place of the first NaN or infinity; ``first_row`` is the number of the first of these rows."""
    values = rows.data if sparse.issparse(rows) else rows
    with np.errstate(over="ignore", invalid="ignore"):
        # A cheap pass: any NaN or infinity spoils the sum, and so do floats that are too large for their type.
        if np.isfinite(values.sum()) or np.isfinite(values.sum(dtype=np.float64)):
            return
    bad = np.isinf(values) if missing else ~np.isfinite(values)
    if not bad.any():
        return
    place = np.argwhere(bad)[0]
    row, column = place if place.size == 2 else sparse_place(rows, place[0])
    value = "NaN" if np.isnan(values[tuple(place)]) else "inf (infinity)"
    label = repr(str(names[column])) if names is not None else column
    allowed = "finite or NaN" if missing else "finite"
    cure = f" ({nan_cure})" if nan_cure and value == "NaN" else ""
    raise InputError(f"{who}: {what} must be {allowed}; got {value} in row {first_row + row}, column {label}{cure}.")


def check_numbers(who: str, name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return a parameter of ``fit`` as a finite float64 array of the shape it must have."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (ValueError, TypeError):
        raise InputError(f"{who}: {name} must hold numbers; got {value!r}.") from None
    if array.size != np.prod(shape):
        raise InputError(f"{who}: {name} must have shape {shape}; got {array.shape}.")
    if not np.isfinite(array).all():
        raise InputError(f"{who}: {name} must be finite; got {array[~np.isfinite(array)][0]}.")
    return array.reshape(shape)


def check_room(who: str, what: str, n_bytes: float, cure: str) -> None:
    """Raise if something would take more memory than the machine has."""
    room = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else np.inf
    if n_bytes > room:
        raise InputError(
            f"{who}: {what} must fit in {room / 1e9:.0f} GB of memory; got {n_bytes / 1e9:.0f} GB ({cure})."
        )


def check_squares(who: str, rows: Any) -> None:
    """Raise unless the squares of all entries of a row can be added without overflow."""
    values = rows.data if sparse.issparse(rows) else rows
    if values.size == 0:
        return
    largest = max(float(values.max()), -float(values.min()))
    limit = float(np.sqrt(np.finfo(values.dtype).max / (8.0 * rows.shape[1])))
    if largest > limit:
        raise InputError(f"{who}: X must hold numbers of size at most {limit:.2g}, to be squared; got {largest:.2g}.")


def sparse_place(rows: Any, position: int) -> tuple[int, int]:
    """Return the row and column of one stored value of a csr matrix."""
    return int(np.searchsorted(rows.indptr, position, side="right")) - 1, int(rows.indices[position])


def one_line(problem: Exception) -> str:
    """Return what another library said, in one line without its full stop, and words as Python writes them.

    Numbers that it quotes on lines of their own may be a whole table: they are left out.
    """
    message = str(problem).partition("\n[")[0]
    return re.sub(r"np\.str_\((.*?)\)", r"\1", " ".join(message.split())).rstrip(".")


def other_names(told: str) -> str:
    """Return what scikit-learn tells about column names that do not match, as the end of a sentence."""
    ends = {
        "Feature names unseen at fit time": "; got new ones",
        "Feature names seen at fit time, yet now missing": "; some are missing",
        "Feature names must be in the same order": "; got another order",
    }
    found = ""
    for words, end in ends.items():
        if words in told:
            names = told.partition(f"{words}: - ")[2].partition(" Feature names")[0]
            found += end + (f": {names.replace(' - ', ', ')}" if names else "")
    return found


def one_sentence(who: str, problem: Exception) -> Exception:
    """Return the error with its first sentence, behind the estimator's name; the type stays what it was."""
    if isinstance(problem, InputError):
        return problem
    first, _, rest = one_line(problem).partition(". ")
    first += other_names(rest)
    sentence = f"{first}." if first.startswith(who) else f"{who}: {first}."
    return TypeError(sentence) if isinstance(problem, TypeError) else InputError(sentence)
