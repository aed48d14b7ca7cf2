"""Checked rows with their targets, what many trees share of them, and how they are divided for pruning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from eigenwood.core.tree.types import BinnedTable, Target
from eigenwood.errors import InputError
from eigenwood.validation.categories import Mixed


class TreeData(NamedTuple):
    """Checked rows and what they are to be told apart by."""

    mixed: Mixed
    target: Target
    labels: list[np.ndarray]  # the classes of each output; none for regression
    places: np.ndarray  # where each row stood in what was given
    n_given: int  # rows, those of weight 0 among them

    def n_rows(self) -> int:
        return self.mixed.X.shape[0]

    def weights(self) -> np.ndarray:
        return self.target.weights if self.target.weights.size else np.ones(self.n_rows())

    def taken(self, rows: np.ndarray) -> TreeData:
        """Return some of the rows."""
        labels, amounts, weights = (part[rows] if part.shape[0] else part for part in self.target[:3])
        target = Target(labels, amounts, weights, self.target.starts)
        mixed = self.mixed._replace(X=self.mixed.X[rows])
        return self._replace(mixed=mixed, target=target, places=self.places[rows])

    def weighted(self, weights: np.ndarray) -> TreeData:
        """Return the rows with other weights; a weight may be 0."""
        return self._replace(target=self.target._replace(weights=weights))


class Shared(NamedTuple):
    """Rows that were checked and coded once, for many trees that differ in the weights of the rows."""

    data: TreeData
    binned: BinnedTable
    noted: dict[str, Any]  # what the gate has noted of the columns: their number, and their names
    X: Any  # as given, for callbacks
    y: Any


def put_aside(who: str, data: TreeData, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to learn from and a fraction put aside, by class if every class has enough rows."""
    rows = np.arange(data.n_rows())
    if rows.size < 2:
        raise InputError(f"{who}: prune='validation' needs at least 2 rows; got {rows.size}.")
    n_aside = min(max(1, round(fraction * rows.size)), rows.size - 1)
    learn, aside = train_test_split(rows, test_size=n_aside, stratify=strata(data, n_aside), random_state=seed)
    return np.sort(learn), np.sort(aside)


def folds(who: str, data: TreeData, n_folds: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Return the folds of cross-validation, by class where every class has enough rows."""
    n_folds = min(n_folds, data.n_rows())
    if n_folds < 2:
        raise InputError(f"{who}: prune='cost_complexity_cv' needs at least 2 rows; got {data.n_rows()}.")
    rows, classes = np.arange(data.n_rows()), strata(data, n_folds)
    if classes is None or np.bincount(classes).min() < n_folds:
        return KFold(n_folds, shuffle=True, random_state=seed).split(rows)
    return StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(rows, classes)


def strata(data: TreeData, n_least: int) -> np.ndarray | None:
    """Return the classes of a single output if each has at least 2 rows and there are few enough of them."""
    if len(data.labels) != 1:
        return None
    codes = np.unique(data.target.class_codes[:, 0], return_inverse=True)[1]
    counts = np.bincount(codes)
    enough = counts.min() >= 2 and counts.size <= min(n_least, codes.size - n_least)
    return codes if enough else None
