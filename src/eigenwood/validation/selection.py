"""Checks of what selections of columns are given, and of what their model files say."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import validate_data

from eigenwood.errors import InputError
from eigenwood.validation.arrays import (
    check_finite,
    check_is_a_table,
    check_rows,
    check_squares,
    check_weights,
    frame_of,
    one_sentence,
)
from eigenwood.validation.categories import Labels, Mixed, check_mixed, matrix_of_numbers, numbers, seen_only
from eigenwood.validation.targets import Classes, check_amounts, check_classes, check_known, check_labels


class SelectionData(NamedTuple):
    """Rows with their classes; those of weight 0 are gone."""

    mixed: Mixed
    classes: Classes
    weights: np.ndarray


def check_selection(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    categories: list[Labels | None] | None = None,
    known: np.ndarray | None = None,
) -> SelectionData:
    """Return checked rows, classes and weights; ``categories`` and ``known`` classes are those of fit, None in fit."""
    chosen = {} if categories is not None else {"chosen": estimator.categorical_features}
    mixed = check_mixed(estimator, X, known=categories, **chosen)
    names = getattr(estimator, "feature_names_in_", None)
    check_finite(type(estimator).__name__, mixed.X, names, missing=True)
    labels = check_labels(estimator, y, mixed.X.shape[0])
    weights = check_weights(estimator, sample_weight, mixed.X.shape[0])
    kept = np.flatnonzero(weights)
    if kept.size < weights.size:
        mixed = Mixed(mixed.X[kept], mixed.categories)
        mixed = mixed if categories is not None else seen_only(mixed)
    labels = labels[kept]
    is_whole = kept.size == weights.size
    classes = check_classes(estimator, labels, is_whole) if known is None else check_known(estimator, labels, known)
    return SelectionData(mixed, classes, weights[kept])


def selected_count(who: str, wanted: Any, n_features: int) -> int:
    """Return how many columns are selected: a number, a fraction of all, or half."""
    if wanted is None:
        return max(1, n_features // 2)
    if not isinstance(wanted, Integral):
        return max(1, int(wanted * n_features))
    if int(wanted) > n_features:
        raise InputError(f"{who}: n_features_to_select must be at most {n_features}, the columns; got {wanted}.")
    return int(wanted)


def selected_columns(estimator: Any, X: Any, categories: list[Labels | None], support: np.ndarray) -> Any:
    """Return some columns of X: numbers, or objects where one of them holds text."""
    who = type(estimator).__name__
    check_is_a_table(who, X)
    try:
        validate_data(estimator, X=X, reset=False, skip_check_array=True)
    except (ValueError, TypeError) as problem:
        raise one_sentence(who, problem) from problem
    frame = frame_of(who, X)
    if frame is None:
        rows = matrix_of_numbers(who, X)
        check_finite(who, rows, getattr(estimator, "feature_names_in_", None), missing=True)
        return rows[:, np.flatnonzero(support)]
    chosen = [column for column, is_chosen in zip(frame.iter_columns(), support, strict=True) if is_chosen]
    if any(labels is not None for labels, is_chosen in zip(categories, support, strict=True) if is_chosen):
        table = np.empty((len(frame), len(chosen)), dtype=object)
        for j, column in enumerate(chosen):
            table[:, j] = column.to_list()
        return table
    return np.column_stack([numbers(who, column) for column in chosen])


def check_ranking(who: str, ranking: np.ndarray, support: np.ndarray) -> None:
    """Raise unless the ranks are 1, 2, 3, … and the columns that are selected have the first of them."""
    if not np.array_equal(np.sort(ranking), np.arange(1, ranking.size + 1)):
        raise InputError(f"{who}: ranking_ must hold each of 1 to {ranking.size} once.")
    if not np.array_equal(support, ranking <= support.sum()) or not support.any():
        raise InputError(f"{who}: support_ must be True for the first of ranking_, and for at least one.")


def column_reader(X: Any) -> Any:
    """Return what gives a column of a dense or sparse matrix as float64."""
    if sparse.issparse(X):
        by_column = X.tocsc()
        return lambda j: by_column[:, [j]].toarray().ravel().astype(np.float64)
    return lambda j: np.ascontiguousarray(X[:, j], dtype=np.float64)


# ---- regression on some columns ----------------------------------------------------------------------------------

CHOSEN_BY_CV = "cv"


def check_regression(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, amounts and weights in float64; rows of weight 0 are gone."""
    who = type(estimator).__name__
    rows = check_rows(estimator, X, reset=reset)
    check_squares(who, rows)
    amounts = check_amounts(estimator, y, rows.shape[0])
    if amounts.shape[1] != 1:
        raise InputError(f"{who}: y must have one column; got {amounts.shape[1]}.")
    if reset and np.asarray(y).ndim == 2:
        sentence = "A column-vector y was passed when a 1d array was expected: it is taken as a vector."
        warnings.warn(sentence, DataConversionWarning, stacklevel=4)
    weights = check_weights(estimator, sample_weight, rows.shape[0])
    kept = np.flatnonzero(weights)
    if kept.size < weights.size:
        rows, amounts, weights = rows[kept], amounts[kept], weights[kept]
    return rows.astype(np.float64, copy=False), np.ascontiguousarray(amounts[:, 0]), weights


def column_count(estimator: Any, n_features: int) -> int | None:
    """Return how many columns a regression is to have; None if cross-validation is to say."""
    wanted = estimator.n_nonzero_coefs
    if wanted == CHOSEN_BY_CV:
        return None
    if wanted is None:
        return max(1, n_features // 10)
    if wanted > n_features:
        raise InputError(
            f"{type(estimator).__name__}: n_nonzero_coefs must be at most {n_features}, the columns; got {wanted}."
        )
    return int(wanted)


def check_fold_count(who: str, n_folds: int, n_rows: int) -> None:
    """Raise if there are fewer rows than folds."""
    if n_folds > n_rows:
        raise InputError(f"{who}: n_folds must be at most {n_rows}, the rows; got {n_folds}.")


def check_support(who: str, coef: np.ndarray, support: np.ndarray, n_nonzero: int) -> None:
    """Raise unless coefficients off the support are 0, and the support has as many columns as is said."""
    if support.size != n_nonzero or (np.diff(support) <= 0).any():
        raise InputError(f"{who}: support_ must hold n_nonzero_coefs_ columns, ascending.")
    if np.delete(coef, support).any():
        raise InputError(f"{who}: coef_ must be 0 for columns that are not in support_.")
