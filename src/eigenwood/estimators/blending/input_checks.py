"""From what a user gives to rows and targets as members get them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eigenwood.validation.adaboost import check_single_target
from eigenwood.validation.arrays import check_weights
from eigenwood.validation.blending import check_member_rows
from eigenwood.validation.ensembles import part_of
from eigenwood.validation.targets import Classes, check_amounts, check_classes, check_known, check_labels


class MemberData(NamedTuple):
    """Training data; rows of weight 0 are gone."""

    X: Any
    y: np.ndarray  # labels, or amounts
    weights: np.ndarray | None  # None where none were given
    classes: Classes | None  # None for amounts

    def mass(self) -> np.ndarray:
        """Return the weight of each row."""
        return np.ones(self.y.size) if self.weights is None else self.weights

    def taken(self, rows: np.ndarray) -> MemberData:
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        classes = None if self.classes is None else self.classes._replace(codes=self.classes.codes[rows])
        return MemberData(part_of(self.X, rows, None), self.y[rows], weights, classes)


def checked_classes(estimator: Any, X: Any, y: Any, sample_weight: Any, known: np.ndarray | None = None) -> MemberData:
    """Return the data of a classifier; ``known`` are the classes of a model that is verified."""
    rows = check_member_rows(estimator, X, reset=known is None)
    labels = check_labels(estimator, y, rows.shape[0])
    kept, weights = kept_rows(estimator, sample_weight, rows.shape[0])
    is_whole = kept.size == labels.size
    labels = labels[kept]
    classes = check_classes(estimator, labels, is_whole) if known is None else check_known(estimator, labels, known)
    return MemberData(rows if is_whole else part_of(rows, kept, None), labels, weights, classes)


def checked_amounts(estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> MemberData:
    """Return the data of a regressor."""
    rows = check_member_rows(estimator, X, reset=reset)
    amounts = check_amounts(estimator, y, rows.shape[0])
    amounts = amounts[:, 0] if amounts.shape[1] == 1 else amounts
    check_single_target(type(estimator).__name__, y, amounts)
    kept, weights = kept_rows(estimator, sample_weight, rows.shape[0])
    is_whole = kept.size == amounts.size
    return MemberData(rows if is_whole else part_of(rows, kept, None), amounts[kept], weights, None)


def kept_rows(estimator: Any, sample_weight: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the rows of a weight above 0, and their weights if there are any."""
    weights = check_weights(estimator, sample_weight, n_rows)
    kept = np.flatnonzero(weights)
    return kept, None if sample_weight is None else weights[kept]
