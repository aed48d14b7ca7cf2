"""Checks of how the learners of an ensemble draw, of their score out of bag, and of a warm start."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from eigenwood.errors import InputError
from eigenwood.validation.arrays import one_line

MOST_DRAWS = 10**9

Result = TypeVar("Result")


# ---- how many rows and features -----------------------------------------------------------------------------------


def check_draw_count(who: str, n_draws: int) -> int:
    """Return how many rows a learner draws, if these are not too many."""
    if n_draws > MOST_DRAWS:
        raise InputError(f"{who}: max_samples must come to at most {MOST_DRAWS} rows; got {n_draws}.")
    return n_draws


def check_available_rows(who: str, n_draws: int, n_available: int) -> int:
    """Return how many rows a learner draws without replacement, if there are as many."""
    if n_draws > n_available:
        raise InputError(
            f"{who}: max_samples must be at most {n_available} rows when bootstrap is False; got {n_draws}."
        )
    return n_draws


def check_drawn_feature_count(who: str, max_features: int, n_features: int) -> int:
    """Return how many features a learner draws, if there are as many."""
    if max_features > n_features:
        raise InputError(f"{who}: max_features must be at most the {n_features} features; got {max_features}.")
    return max_features


def check_bootstrap(who: str, bootstrap: bool, what: str) -> None:
    """Raise if something needs rows that a learner did not draw, and every learner gets all rows."""
    if not bootstrap:
        raise InputError(f"{who}: {what} only available if bootstrap=True; got bootstrap=False.")


def check_max_samples(who: str, max_samples: Any, bootstrap: bool) -> None:
    """Raise if a number of draws is given and nothing is drawn."""
    if max_samples is not None and not bootstrap:
        raise InputError(
            f"{who}: `max_sample` cannot be set if `bootstrap=False`. Either switch to `bootstrap=True` or set "
            f"`max_sample=None`; got max_samples={max_samples}."
        )


# ---- scores out of bag --------------------------------------------------------------------------------------------


def check_dense_targets(who: str, y: Any) -> None:
    """Raise if y is sparse: scikit-learn's trees raise a TypeError then, its forests a ValueError."""
    if sparse.issparse(y):
        raise InputError(f"{who}: sparse multilabel-indicator for y is not supported; y must be dense.")


def check_accuracy_targets(who: str, class_lists: Sequence[np.ndarray]) -> None:
    """Raise unless scikit-learn's metrics can compare such targets."""
    if not has_accuracy(class_lists):
        raise InputError(
            f"{who}: The type of target cannot be used to compute OOB estimates, several columns of classes other than "
            "0 and 1; oob_score must be a function of y_true and y_pred."
        )


def has_accuracy(class_lists: Sequence[np.ndarray]) -> bool:
    """Return whether scikit-learn's metrics can compare such columns: one, or several whose classes are 0 and 1."""
    if len(class_lists) < 2:
        return True
    return all(labels.dtype.kind in "biuf" and bool(np.isin(labels, (0, 1)).all()) for labels in class_lists)


def metric_result(who: str, name: str, compute: Callable[[], Result]) -> Result:
    """Return what a metric computes; raise in one sentence what it has against the targets."""
    try:
        return compute()
    except (ValueError, TypeError) as problem:
        raise InputError(
            f"{who}: oob_score must be a metric for targets like these; got {name}, which says: {one_line(problem)}."
        ) from problem


def check_draws_of_fit(who: str, are_those_of_fit: bool, learners: str) -> None:
    """Raise if it is not known which rows the learners saw: a learner must not be scored on a row that it saw."""
    if not are_those_of_fit:
        raise InputError(
            f"{who}: X, y, sample_weight, max_samples and bootstrap must be those of fit for all {learners} to be "
            "asked about rows that they did not see; got others."
        )


def check_some_left_out(who: str, n_trees: int) -> None:
    """Raise unless some tree has left out a row."""
    if n_trees == 0:
        raise InputError(f"{who}: some tree must have left out a row to be asked about; got none.")


# ---- warm starts --------------------------------------------------------------------------------------------------


def check_learner_count(who: str, n_learners: int, n_estimators: int, learners: str) -> None:
    """Raise if there are more learners already than there shall be."""
    if n_learners > n_estimators:
        raise InputError(
            f"{who}: n_estimators must be at least the {n_learners} {learners} there are when warm_start is True; "
            f"got n_estimators={n_estimators}."
        )


def has_same_columns(now: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Return whether two sets of fitted attributes are of the same columns; these may have got or lost their names."""
    names, others = now.get("feature_names_in_"), before.get("feature_names_in_")
    same_names = names is None or others is None or np.array_equal(names, others)
    return now["n_features_in_"] == before["n_features_in_"] and same_names


def check_warm_columns(who: str, are_same: bool) -> None:
    """Raise unless X has the columns that the learners know."""
    if not are_same:
        raise InputError(f"{who}: X must have the columns it had before when warm_start is True; got others.")


def check_warm_targets(who: str, are_same: bool, what: str = "classes") -> None:
    """Raise unless y has the classes, or columns, that the learners know."""
    if not are_same:
        raise InputError(f"{who}: y must have the {what} it had before when warm_start is True; got others.")


def check_warm_features(who: str, are_same: bool) -> None:
    """Raise unless learners would draw the features that they have drawn."""
    if not are_same:
        raise InputError(
            f"{who}: max_features, bootstrap_features and the columns of X must be as before when warm_start is True; "
            "got others."
        )


def check_warm_monotonic_cst(who: str, monotonic_cst: Any, was_bounded: bool) -> None:
    """Raise unless trees have monotonic constraints as those before them had."""
    if was_bounded != bool(np.any(monotonic_cst)):
        raise InputError(
            f"{who}: monotonic_cst must be there, or not, as it was before when warm_start is True; "
            f"got {monotonic_cst}."
        )
