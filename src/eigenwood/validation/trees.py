"""Checks of what decision trees and forests are given, and of the tree that a model file holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eigenwood.errors import InputError

VALIDATION, COST_COMPLEXITY_CV = PRUNINGS = ("validation", "cost_complexity_cv")
SUBSET, MULTIWAY = CATEGORICAL_SPLITS = ("subset", "multiway")
NO_CHILD = -1


def check_column_count(who: str, n_columns: int, below: int) -> None:
    """Raise unless X has fewer columns than a node can name."""
    if n_columns >= below:
        raise InputError(f"{who}: X must have fewer than {below} columns; got {n_columns}.")


def check_monotonic_cst(
    who: str,
    monotonic_cst: Any,
    *,
    n_outputs: int,
    class_lists: Sequence[np.ndarray],
    categories: Sequence[list | None],
) -> None:
    """Raise unless monotonic constraints can be kept; ``categories`` are those of each column, None for numbers."""
    if monotonic_cst is None:
        return
    directions, n_features = np.asarray(monotonic_cst), len(categories)
    if n_outputs > 1:
        raise InputError(f"{who}: Monotonicity constraints are not supported with multiple outputs; got {n_outputs}.")
    if class_lists and class_lists[0].size > 2:
        raise InputError(
            f"{who}: Monotonicity constraints are not supported with multiclass classification; "
            f"got {class_lists[0].size} classes."
        )
    if directions.size != n_features:
        raise InputError(
            f"{who}: monotonic_cst has shape {directions.shape[0]} but the input data X has {n_features} features; "
            "it must have one entry for each."
        )
    if any(labels is not None and sign != 0 for labels, sign in zip(categories, directions, strict=True)):
        raise InputError(
            f"{who}: Categorical features cannot have monotonic constraints: monotonic_cst must be 0 for a category; "
            "got another sign."
        )


# ---- pruning ------------------------------------------------------------------------------------------------------


def check_pruning(
    who: str, prune: str | None, ccp_alpha: float, X_val: Any, y_val: Any, sample_weight_val: Any
) -> None:
    """Raise unless the validation set and ``ccp_alpha`` go with the way of pruning."""
    if (X_val is None) != (y_val is None):
        raise InputError(f"{who}: X_val and y_val must be given together; got only one of them.")
    if X_val is None and sample_weight_val is not None:
        raise InputError(f"{who}: sample_weight_val must be given with X_val and y_val; got it alone.")
    if X_val is not None and prune != VALIDATION:
        raise InputError(f"{who}: X_val must be given with prune='validation' only; got prune={prune!r}.")
    if prune == COST_COMPLEXITY_CV and ccp_alpha > 0:
        raise InputError(f"{who}: ccp_alpha must be 0 when prune='cost_complexity_cv' chooses it; got {ccp_alpha}.")


def check_rows_to_prune(who: str, prune: str, n_rows: int) -> None:
    """Raise unless there are rows enough to learn from some of them and to prune by others."""
    if n_rows < 2:
        raise InputError(f"{who}: prune={prune!r} needs at least 2 rows; got {n_rows}.")


def check_was_pruned(who: str, prune: str | None, curve: np.ndarray) -> None:
    """Raise unless a fitted tree has a pruning curve."""
    if curve.size == 0:
        raise InputError(
            f"{who}: the model must be pruned by 'validation' or 'cost_complexity_cv'; got prune={prune!r}."
        )


def check_pruning_curve(who: str, prune: str | None, curve: np.ndarray) -> None:
    """Raise if a tree that was not pruned has a pruning curve."""
    if prune is None and curve.size > 0:
        raise InputError(f"{who}: pruning_curve_ must be empty when prune is None; got {len(curve)} lines.")


# ---- fitted attributes of trees and forests -----------------------------------------------------------------------


def check_node_values(who: str, n_values: int, n_outputs: int, class_lists: Sequence[np.ndarray]) -> None:
    """Raise unless the nodes of a tree have one value for each class, or for each output of numbers."""
    n_expected = sum(labels.size for labels in class_lists) if class_lists else n_outputs
    if n_values != n_expected or (class_lists and len(class_lists) != n_outputs):
        raise InputError(f"{who}: nodes_ must have one value for each class or output.")


def check_category_lists(who: str, categories: Sequence[list | None], is_categorical: np.ndarray) -> np.ndarray:
    """Return how many labels each column has, -1 for a column of numbers; raise unless these are where they must be."""
    n_labels = np.array([-1 if labels is None else len(labels) for labels in categories])
    if ((n_labels >= 0) != is_categorical).any():
        raise InputError(f"{who}: categories_ must be there for the columns of is_categorical_.")
    return n_labels


def check_nodes(
    who: str, nodes: Any, n_labels: np.ndarray, categorical_split: str, no_feature: int, no_threshold: float
) -> None:
    """Raise unless the questions of a tree agree with its columns; leaves hold ``no_feature`` and ``no_threshold``."""
    if not lists_known_categories(nodes, n_labels):
        raise InputError(f"{who}: nodes_ must list known categories, ascending, where a category is asked.")
    if nodes.chained.any() and categorical_split == SUBSET:
        raise InputError(f"{who}: nodes_ must have no chains when categorical_split is 'subset'.")
    if not asks_only_where_it_branches(nodes, no_feature, no_threshold):
        raise InputError(f"{who}: nodes_ must have no feature, threshold or side where nothing of the kind is asked.")


def lists_known_categories(nodes: Any, n_labels: np.ndarray) -> bool:
    """Return whether questions about categories, and only those, list some of them; -1 labels are a number's."""
    inner, lists = nodes.left != NO_CHILD, np.diff(nodes.category_start)
    if ((n_labels[nodes.feature[inner]] >= 0) != (lists[inner] > 0)).any():
        return False
    node, codes = np.repeat(np.arange(lists.size), lists), nodes.categories
    within = (codes >= 0) & (codes < n_labels[nodes.feature[node]])
    return bool(within.all() and ((np.diff(codes) > 0) | (np.diff(node) > 0)).all())


def asks_only_where_it_branches(nodes: Any, no_feature: int, no_threshold: float) -> bool:
    """Return whether leaves ask nothing, numbers are not chained, and categories have no threshold."""
    is_leaf, lists = nodes.left == NO_CHILD, np.diff(nodes.category_start)
    blank = (nodes.feature[is_leaf] == no_feature).all() and not nodes.default_left[is_leaf].any()
    blank &= not nodes.chained[lists == 0].any()
    return bool(blank and (nodes.threshold[is_leaf | (lists > 0)] == no_threshold).all())
