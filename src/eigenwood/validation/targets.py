"""Checks of y: labels become codes 0, 1, 2, … before the core, and labels again after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from eigenwood.errors import InputError
from eigenwood.validation.arrays import (
    check_rows,
    check_weights,
    column_values,
    one_line,
    one_sentence,
    through_narwhals,
)

LARGEST_AMOUNT = 1e150  # its square can be added up
LEAST_WEIGHT, LEAST_LARGEST, LARGEST_WEIGHT = 1e-90, 1e-60, 1e90  # products of three are finite and not 0


class Classes(NamedTuple):
    """The labels in order, and for each row the place of its label among them."""

    labels: np.ndarray
    codes: np.ndarray


class Training(NamedTuple):
    """A classifier's training data, checked: rows of weight 0 are gone, as if they had never been given."""

    X: Any
    classes: Classes
    weights: np.ndarray
    places: np.ndarray  # where each row stood in what was given

    def taken(self, rows: np.ndarray) -> Training:
        """Return some of the rows."""
        classes = Classes(self.classes.labels, self.classes.codes[rows])
        return Training(self.X[rows], classes, self.weights[rows], self.places[rows])


def check_training(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    accept_sparse: bool = False,
    known: np.ndarray | None = None,
    reset: bool = True,
) -> Training:
    """Return checked rows, classes and weights for a classifier; ``known`` are the classes agreed on before.

    >>> from sklearn.base import BaseEstimator
    >>> data = check_training(BaseEstimator(), [[1.0], [2.0], [3.0]], ["no", "yes", "no"], [1, 1, 0])
    >>> data.classes.codes, data.X.shape
    (array([0, 1]), (2, 1))
    """
    X = check_rows(estimator, X, reset=reset, accept_sparse=accept_sparse)
    labels = check_labels(estimator, y, X.shape[0])
    weights = check_weights(estimator, sample_weight, X.shape[0])
    places, is_whole = np.flatnonzero(weights), bool(weights.all())
    if not is_whole:
        X, labels, weights = X[places], labels[places], weights[places]
    classes = check_classes(estimator, labels, is_whole) if known is None else check_known(estimator, labels, known)
    return Training(X, classes, weights, places)


def check_labels(estimator: Any, y: Any, n_rows: int) -> np.ndarray:
    """Return y as a vector of ``n_rows`` labels, of the type they were given in."""
    who = type(estimator).__name__
    labels = labels_of(who, y)
    if labels.size != n_rows:
        raise InputError(f"{who}: y must have one label for each of the {n_rows} rows; got {labels.size}.")
    return labels


def labels_of(who: str, y: Any) -> np.ndarray:
    """Return y as a vector of labels, of the type they were given in."""
    if y is None:
        raise InputError(f"{who}: it requires y to be passed, but the target y is None.")
    if are_plain_classes(y):
        return y
    try:
        labels = one_type(column_or_1d(label_array(y), warn=True))
        check_classification_targets(labels)
    except (ValueError, TypeError) as problem:
        raise one_sentence(who, problem) from problem
    return labels


def are_plain_classes(y: Any) -> bool:
    """Return whether y is a vector of integers of which most occur again: nothing else need be asked of it.

    >>> are_plain_classes(np.array([0, 1, 0, 1])), are_plain_classes(np.array([0.0, 1.0])), are_plain_classes([0, 1])
    (True, False, False)
    """
    is_plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iu" and y.size > 0
    return bool(is_plain and 2 * np.unique(y).size <= y.size)


class Outputs(NamedTuple):
    """One or more columns of labels: the classes of each, and for each row their codes."""

    labels: list[np.ndarray]
    codes: np.ndarray  # (n_rows, n_outputs) int32


def check_outputs(
    estimator: Any, y: Any, n_rows: int, kept: np.ndarray, known: list[np.ndarray] | None = None
) -> Outputs:
    """Return one or more columns of labels, for the rows that are kept; a single class is allowed.

    ``known`` are the classes agreed on before.
    """
    columns = [check_labels(estimator, column, n_rows)[kept] for column in output_columns(estimator, y)]
    if known is None:
        found = [Classes(*np.unique(column, return_inverse=True)) for column in columns]
    elif len(columns) != len(known):
        raise InputError(f"{type(estimator).__name__}: y must have {len(known)} columns; got {len(columns)}.")
    else:
        found = [check_known(estimator, column, labels) for column, labels in zip(columns, known, strict=True)]
    codes = np.column_stack([classes.codes for classes in found]).astype(np.int32)
    return Outputs([classes.labels for classes in found], codes)


def output_columns(estimator: Any, y: Any) -> list[Any]:
    """Return the columns of y; a vector is one column."""
    who = type(estimator).__name__
    if y is None:
        raise InputError(f"{who}: it requires y to be passed, but the target y is None.")
    if sparse.issparse(y):
        raise TypeError(f"{who}: y must be dense; got a sparse matrix.")
    given = through_narwhals(y, eager_only=True, allow_series=True)
    if isinstance(given, nw.DataFrame):
        return [column.to_native() for column in given.iter_columns()]
    if isinstance(given, nw.Series):
        return [y]
    values = y if isinstance(y, np.ndarray) or not hasattr(y, "__array__") else label_array(y)
    array = np.asarray(label_array(values))
    if array.ndim > 2 or 0 in array.shape[1:]:
        raise InputError(f"{who}: y must have one column or several; got the shape {array.shape}.")
    if array.ndim == 2:
        return [array[:, j] for j in range(array.shape[1])]
    return [values]


def check_amounts(estimator: Any, y: Any, n_rows: int) -> np.ndarray:
    """Return y as finite numbers of shape (n_rows, n_outputs)."""
    who = type(estimator).__name__
    numbers = np.column_stack([column_numbers(who, column) for column in output_columns(estimator, y)])
    if numbers.shape[0] != n_rows:
        raise InputError(f"{who}: y must have one number for each of the {n_rows} rows; got {numbers.shape[0]}.")
    if not np.isfinite(numbers).all():
        wrong = numbers[~np.isfinite(numbers)][0]
        raise InputError(f"{who}: y must be finite; got {'NaN' if np.isnan(wrong) else 'inf (infinity)'}.")
    if np.abs(numbers).max() > LARGEST_AMOUNT:
        raise InputError(
            f"{who}: y must hold numbers of size at most {LARGEST_AMOUNT:g}, to be squared; "
            f"got {np.abs(numbers).max():.2g}."
        )
    return numbers


def column_numbers(who: str, column: Any) -> np.ndarray:
    """Return one column of y as numbers, NaN where one is missing."""
    series = through_narwhals(column, series_only=True)
    try:
        values = np.asarray(column_values(series) if isinstance(series, nw.Series) else label_array(column))
        if values.dtype.kind not in "cMm":
            return values.astype(np.float64)
        problem = f"{values.dtype} (Complex data not supported)" if values.dtype.kind == "c" else str(values.dtype)
    except (ValueError, TypeError) as error:
        problem = one_line(error)
    raise InputError(f"{who}: y must hold numbers; got {problem}.")


def check_positive_means(who: str, y: np.ndarray, criterion: str) -> None:
    """Raise unless y is at least 0 and the mean of each output is above 0, as some criteria ask."""
    name = criterion.capitalize()
    if y.min() < 0:
        raise InputError(
            f"{who}: Some value(s) of y are negative which is not allowed for {name} regression; got {y.min():g}."
        )
    if (y.sum(axis=0) <= 0).any():
        raise InputError(f"{who}: Sum of y is not strictly positive which is necessary for {name} regression; got 0.")


def output_weights(estimator: Any, class_weight: Any, outputs: Outputs, weights: np.ndarray) -> np.ndarray:
    """Return the weight of each row times the weights of its classes."""
    if class_weight is None:
        return weights
    n_outputs = len(outputs.labels)
    choices = [class_weight] * n_outputs if isinstance(class_weight, str) else class_weight
    choices = [choices] if isinstance(choices, Mapping) else list(choices)
    who = type(estimator).__name__
    if len(choices) != n_outputs:
        raise InputError(
            f"{who}: number of elements in class_weight should match number of outputs, {n_outputs}; "
            f"got {len(choices)}."
        )
    total = weights
    for labels, codes, choice in zip(outputs.labels, outputs.codes.T, choices, strict=True):
        training = Training(None, Classes(labels, codes), weights, codes)
        total = total * class_weights(estimator, choice, training) / np.where(weights > 0, weights, 1.0)
    return total


def check_weight_sizes(estimator: Any, weights: np.ndarray) -> np.ndarray:
    """Return weights, those of rows times those of classes, that can be multiplied with each other.

    One that is nothing beside the largest is still something: it tells apart rows that are as light.
    """
    if weights.size and not LEAST_LARGEST <= weights.max() <= LARGEST_WEIGHT:
        raise InputError(
            f"{type(estimator).__name__}: the largest sample_weight times class_weight must be from "
            f"{LEAST_LARGEST:g} to {LARGEST_WEIGHT:g}; got {weights.max():.2g}."
        )
    return np.maximum(weights, LEAST_WEIGHT)


def label_array(y: Any) -> Any:
    """Return a list or a column of a frame as an array; NumPy alone would turn ["a", nan] into strings."""
    series = through_narwhals(y, series_only=True)
    if isinstance(series, nw.Series):
        y = series.to_list()
    elif hasattr(y, "to_pylist"):
        y = y.to_pylist()
    if isinstance(y, (list, tuple)) and {str, type(None)} & {type(label) for label in y}:
        return np.array(y, dtype=object if len({type(label) for label in y}) > 1 else None)
    return y


def one_type(labels: np.ndarray) -> np.ndarray:
    """Return labels that are all there and all of one type; anything else is refused."""
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must hold labels")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError("y must hold labels; got NaN")
    if labels.dtype.kind != "O":
        return labels
    if any(is_missing(label) for label in labels):
        raise ValueError(f"y must hold labels; got {'None' if any(label is None for label in labels) else 'NaN'}")
    kinds = sorted({type(label).__name__ for label in labels})
    if len(kinds) > 1:
        raise ValueError(f"y must hold labels of one type; got {' and '.join(kinds)}")
    return np.array(labels.tolist()) if kinds != ["str"] else labels


def is_missing(label: Any) -> bool:
    """Return whether a label is None, NaN or pandas' NA, which is not even equal to itself."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True


def check_classes(estimator: Any, labels: np.ndarray, is_whole: bool = True) -> Classes:
    """Return the classes in ``labels``; at least two are needed to tell apart.

    Where these are not all of y, rows without weight were left out.
    """
    values, codes = np.unique(labels, return_inverse=True)
    if values.size < 2:
        weighted = "" if is_whole else " (Invalid input - all samples with positive weights belong to the same class)"
        who, only = type(estimator).__name__, values.tolist()[0]
        raise InputError(f"{who}: y must hold at least 2 classes; got 1 class: {only!r}{weighted}.")
    return Classes(values, codes)


def check_known(estimator: Any, labels: np.ndarray, known: np.ndarray) -> Classes:
    """Return the places of the labels among the ``known`` classes; somebody may have put these in another order."""
    strangers = np.setdiff1d(labels, known)
    if strangers.size:
        who = type(estimator).__name__
        raise InputError(f"{who}: y must hold only the classes {known.tolist()}; got {strangers.tolist()[0]!r}.")
    order = np.argsort(known)
    return Classes(known, order[np.searchsorted(known, labels, sorter=order)])


def check_given_classes(estimator: Any, given: Any, fitted: np.ndarray | None) -> np.ndarray:
    """Return the classes of a model that learns in parts: named in the first call, the same ever after."""
    who = type(estimator).__name__
    if given is None:
        if fitted is None:
            raise InputError(f"{who}: classes must be passed on the first call to partial_fit; got None.")
        return fitted
    classes = np.unique(np.asarray(given))
    if fitted is not None and not np.array_equal(classes, fitted):
        raise InputError(f"{who}: classes must stay {fitted.tolist()}; got {classes.tolist()}.")
    if classes.size < 2:
        raise InputError(f"{who}: classes must name at least 2 classes; got {classes.tolist()}.")
    return classes


def class_weights(estimator: Any, class_weight: Any, data: Training) -> np.ndarray:
    """Return the weight of each row times the weight of its class."""
    labels, codes = data.classes
    try:
        # classes that do not occur cannot be balanced, and need not be
        known = np.unique(codes) if isinstance(class_weight, str) else np.arange(labels.size)
        factors = np.ones(labels.size)
        if class_weight is not None:
            factors[known] = compute_class_weight(
                class_weight, classes=labels[known], y=labels[codes], sample_weight=data.weights
            )
    except (ValueError, TypeError) as problem:
        raise one_sentence(type(estimator).__name__, problem) from problem
    weights = data.weights * factors[codes]
    check_weighted_rows(type(estimator).__name__, weights)
    return weights


def check_weighted_rows(who: str, weights: np.ndarray) -> np.ndarray:
    """Return the rows whose weight, times that of their classes, is above 0; there must be some."""
    rows = np.flatnonzero(weights)
    if rows.size == 0:
        raise InputError(f"{who}: class_weight must leave some row a weight above 0; got none.")
    return rows


def one_against_rest(classes: Classes) -> np.ndarray:
    """Return signs of shape (n_problems, n_rows): one problem for two classes, else one for each class.

    >>> one_against_rest(Classes(np.array(["a", "b"]), np.array([0, 1, 1])))
    array([[-1.,  1.,  1.]])
    """
    positive = [1] if classes.labels.size == 2 else range(classes.labels.size)
    return np.array([np.where(classes.codes == code, 1.0, -1.0) for code in positive])


def labels_from_scores(labels: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return the label that wins in each row of the scores of ``one_against_rest``."""
    winners = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
    return labels[winners]
