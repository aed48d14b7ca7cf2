"""From what a user gives to trusted rows: X, y and weights → ``TreeData``, for trees and forests.

    X ─► check_table ──────┐
    y, sample_weight ──────┴► join_targets ─► learnable_rows ─► TreeData        in fit
    X ─► check_known_table ┐
    y, sample_weight ──────┴► join_targets ───────────────────► TreeData        for validation, and to verify

Nothing behind these functions looks at X or y again.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from eigenwood.core.tree.criteria import POSITIVE_MEANS
from eigenwood.core.tree.predict import MOST_FEATURES
from eigenwood.core.tree.types import Target
from eigenwood.estimators.tree.data import TreeData
from eigenwood.estimators.tree.params import criterion_code
from eigenwood.validation.arrays import check_finite, check_weights
from eigenwood.validation.categories import Mixed, check_mixed, seen_only
from eigenwood.validation.targets import (
    check_amounts,
    check_outputs,
    check_positive_means,
    check_weight_sizes,
    check_weighted_rows,
    output_weights,
)
from eigenwood.validation.trees import check_column_count, check_monotonic_cst


def check_training(tree: Any, X: Any, y: Any, sample_weight: Any) -> TreeData:
    """Return the rows that a tree learns from; those of weight 0 are gone."""
    warn_if_deprecated(tree)
    table = check_table(tree, X)
    return learnable_rows(tree, table, join_targets(tree, table, y, sample_weight, class_weight_of(tree), None))


def check_query(tree: Any, categories: list, labels: list, X: Any, y: Any, sample_weight: Any = None) -> TreeData:
    """Return more rows with targets, of known categories and classes, for validation or to verify."""
    table = check_known_table(tree, X, categories)
    return join_targets(tree, table, y, sample_weight, class_weight_of(tree), labels)


def class_weight_of(model: Any) -> Any:
    """Return the weights of the classes; None for regression."""
    return getattr(model, "class_weight", None)


def warn_if_deprecated(model: Any) -> None:
    """Warn of a criterion that scikit-learn will remove; called by a function that ``fit`` calls."""
    if model.criterion == "friedman_mse":
        warnings.warn(
            f"{type(model).__name__}: criterion='friedman_mse' is deprecated; it is the same as 'squared_error'.",
            FutureWarning,
            stacklevel=5,
        )


# ---- X ------------------------------------------------------------------------------------------------------------


def check_table(model: Any, X: Any) -> Mixed:
    """Return the rows of X in fit, where names and categories of columns are learnt."""
    table = check_mixed(model, X, model.categorical_features)
    check_no_infinity(model, table.X)
    check_column_count(type(model).__name__, table.X.shape[1], MOST_FEATURES)
    return table


def check_known_table(model: Any, X: Any, categories: list) -> Mixed:
    """Return the rows of X after fit, where the categories of the columns are known."""
    table = check_mixed(model, X, known=categories)
    check_no_infinity(model, table.X)
    return table


def query_rows(model: Any, X: Any) -> Any:
    """Return the rows of a query; a plain matrix of numbers needs no more than a look at its shape."""
    if (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == model.n_features_in_
        and X.dtype in (np.float64, np.float32)
        and not hasattr(model, "feature_names_in_")
        and not model.is_categorical_.any()
    ):
        return np.ascontiguousarray(X)
    return check_mixed(model, X, known=model.categories_).X


def check_no_infinity(model: Any, rows: Any) -> None:
    """Raise if a number is infinite; NaN is a missing number."""
    check_finite(type(model).__name__, rows, getattr(model, "feature_names_in_", None), missing=True)


# ---- y and weights ------------------------------------------------------------------------------------------------


def join_targets(
    model: Any, table: Mixed, y: Any, sample_weight: Any, class_weight: Any, known: list | None
) -> TreeData:
    """Return rows with their targets; those of weight 0 are gone. ``known`` are the classes, output by output."""
    n_rows = table.X.shape[0]
    weights = check_weights(model, sample_weight, n_rows)
    kept = np.flatnonzero(weights)
    if isinstance(model, ClassifierMixin):
        target, labels = class_target(model, y, n_rows, kept, weights[kept], class_weight, known)
    else:
        target, labels = number_target(model, y, n_rows, kept, weights[kept]), []
    rows = table.X if kept.size == n_rows else table.X[kept]
    data = drop_weightless(model, TreeData(table._replace(X=rows), target, labels, kept, n_rows))
    return data._replace(target=data.target._replace(weights=check_weight_sizes(model, data.target.weights)))


def class_target(
    model: Any,
    y: Any,
    n_rows: int,
    kept: np.ndarray,
    weights: np.ndarray,
    class_weight: Any,
    known: list | None,
) -> tuple[Target, list[np.ndarray]]:
    """Return the class codes of the rows that are kept, and the classes of each output."""
    outputs = check_outputs(model, y, n_rows, kept, known)
    weights = output_weights(model, class_weight, outputs, weights)
    starts = np.concatenate([[0], np.cumsum([labels.size for labels in outputs.labels])])
    no_numbers = np.empty((0, len(outputs.labels)))
    return Target(outputs.codes, no_numbers, empty_if_all_one(weights), starts), outputs.labels


def number_target(model: Any, y: Any, n_rows: int, kept: np.ndarray, weights: np.ndarray) -> Target:
    """Return the numbers of the rows that are kept."""
    numbers = check_amounts(model, y, n_rows)[kept]
    if criterion_code(model.criterion) in POSITIVE_MEANS:
        check_positive_means(type(model).__name__, numbers, model.criterion)
    n_outputs = numbers.shape[1]
    no_codes = np.empty((0, n_outputs), dtype=np.int32)
    return Target(no_codes, numbers, empty_if_all_one(weights), np.arange(n_outputs + 1))


def empty_if_all_one(weights: np.ndarray) -> np.ndarray:
    """Return the weights, or an empty array if all are 1: counts of rows are faster and exact."""
    return np.empty(0) if (weights == 1.0).all() else weights


def drop_weightless(model: Any, data: TreeData, weights: np.ndarray | None = None) -> TreeData:
    """Return the rows whose weight is above 0, by their own weights or by others; the weight of a class may be 0."""
    rows = check_weighted_rows(type(model).__name__, data.weights() if weights is None else weights)
    return data if rows.size == data.n_rows() else data.taken(rows)


def learnable_rows(model: Any, table: Mixed, data: TreeData) -> TreeData:
    """Return rows with only those categories that occur among them, if monotonic constraints can be kept."""
    if data.n_rows() < table.X.shape[0]:
        data = data._replace(mixed=seen_only(data.mixed))
    check_monotonic_cst(
        type(model).__name__,
        model.monotonic_cst,
        n_outputs=data.n_outputs(),
        class_lists=data.labels,
        categories=data.mixed.categories,
    )
    return data
