"""Checks of what AdaBoost is given, and of the stumps that a model file holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from eigenwood.errors import InputError
from eigenwood.validation.state import Sizes, agreed

DISCRETE, REAL = ALGORITHMS = ("discrete", "real")
LINEAR, SQUARE, EXPONENTIAL = LOSSES = ("linear", "square", "exponential")

STUMP_ARRAYS: dict[str, tuple[str, tuple[str | int, ...]]] = {
    "feature": ("int32", ("n",)),
    "threshold": ("float64", ("n",)),
    "default_left": ("bool", ("n",)),
    "left": ("int32", ("n",)),
    "right": ("int32", ("n",)),
    "category_start": ("int64", ("n_starts",)),
    "categories": ("int32", ("n_listed",)),
}


@dataclass(frozen=True)
class StumpArrays:
    """The arrays of stumps (``core.adaboost.stumps.Stumps``): every feature, class and list must be there."""

    n_rounds: str
    n_features: str
    n_classes: str

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        shapes: Sizes = {}
        if getattr(value, "_fields", ()) != tuple(STUMP_ARRAYS):
            return "must be stumps"
        for name, (dtype, shape) in STUMP_ARRAYS.items():
            array = getattr(value, name)
            if not isinstance(array, np.ndarray) or array.dtype.name != dtype or not agreed(shape, array.shape, shapes):
                return f"must have {name} of dtype {dtype} and shape ({', '.join(map(str, shape))})"
        if not agreed((self.n_rounds,), value.feature.shape, sizes):
            return f"must be {sizes[self.n_rounds]} stumps; got {value.feature.size}"
        return stumps_problem(value, sizes[self.n_features], sizes[self.n_classes])


def stumps_problem(stumps: Any, n_features: int, n_classes: int) -> str | None:
    """Return what is wrong with stumps, or nothing."""
    starts = stumps.category_start
    if stumps.feature.size == 0 or stumps.feature.min() < 0 or stumps.feature.max() >= n_features:
        return f"must ask about features below {n_features}"
    sides = np.concatenate([stumps.left, stumps.right])
    if sides.min() < 0 or sides.max() >= n_classes:
        return f"must say classes below {n_classes}"
    if not np.isfinite(stumps.threshold).all():
        return "must have finite thresholds"
    if starts.size != stumps.feature.size + 1 or starts[0] != 0 or starts[-1] != stumps.categories.size:
        return "must have a list of categories for each stump"
    if (np.diff(starts) < 0).any() or (stumps.categories < 0).any():
        return "must have lists of categories that follow each other"
    rises = np.diff(stumps.categories) > 0
    begins = starts[1:-1][(starts[1:-1] > 0) & (starts[1:-1] < stumps.categories.size)]
    rises[begins - 1] = True
    return None if rises.all() else "must list each category once, in order"


def check_listed_categories(who: str, stumps: Any, categories: list) -> None:
    """Raise unless stumps list only categories of the features that they ask about."""
    listed = np.repeat(stumps.feature, np.diff(stumps.category_start))
    n_labels = np.array([0 if labels is None else len(labels) for labels in categories])
    if (stumps.categories >= n_labels[listed]).any():
        raise InputError(f"{who}: stumps_ must list categories of the features that they ask about.")


def check_shares(who: str, shares: np.ndarray) -> None:
    """Raise unless shares of rows are shares."""
    wrong = shares[~((shares >= 0.0) & (shares <= 1.0))]
    if wrong.size:
        raise InputError(f"{who}: left_shares_ must be from 0 to 1; got {wrong[0]}.")


def check_algorithm(who: str, algorithm: str, learner: Any) -> None:
    """Raise if a learner has no shares of classes where they are asked for."""
    if algorithm == REAL and not hasattr(learner, "predict_proba"):
        raise InputError(
            f"{who}: algorithm must be 'discrete' for a learner without predict_proba; got 'real' and "
            f"{type(learner).__name__}."
        )


def check_class_count(who: str, labels: np.ndarray, weighted: bool) -> None:
    """Raise unless there are two classes or more."""
    if labels.size < 2:
        reason = " (Invalid input - all samples with positive weights belong to the same class)" if weighted else ""
        raise InputError(f"{who}: y must hold at least 2 classes; got 1 class: {labels.tolist()[0]!r}{reason}.")


def check_single_target(who: str, given: Any, y: np.ndarray) -> None:
    """Raise if there are several columns of numbers to learn; warn if a table of one was given."""
    if y.ndim > 1:
        raise InputError(f"{who}: y must be one column of numbers; got {y.shape[1]} columns.")
    if getattr(given, "ndim", 1) > 1:
        column_or_1d(given, warn=True)


def check_learners_or_stumps(who: str, has_stumps: bool, has_learners: bool, wants_stumps: bool) -> None:
    """Raise unless a model file has stumps where its parameters say so, and learners otherwise."""
    if (has_stumps, has_learners) != (wants_stumps, not wants_stumps):
        raise InputError(f"{who}: there must be {'stumps_' if wants_stumps else 'learners_'}, and nothing else.")


# ---- warm starts, contributions ------------------------------------------------------------------------------------


def check_same_rounds(who: str, are_same: bool) -> None:
    """Raise unless the rounds there are follow from what is given now, so that others can follow them."""
    if not are_same:
        raise InputError(
            f"{who}: X, y, sample_weight, estimator, algorithm, learning_rate and early_stopping must be those of "
            "the last fit when warm_start is True; got others."
        )


def check_explainable(who: str, learner: Any, are_trees: bool) -> None:
    """Raise unless learners are trees whose votes can be told by feature."""
    if not are_trees:
        raise InputError(
            f"{who}: contributions need stumps, or Eigenwood's DecisionTreeClassifier, as learners; "
            f"got {type(learner).__name__}."
        )


def check_has_shares(who: str, has_shares: bool) -> None:
    """Raise if the stumps of an old model file do not know how many rows they sent to which side."""
    if not has_shares:
        raise InputError(
            f"{who}: contributions need left_shares_, which old model files do not have; got one of these."
        )
