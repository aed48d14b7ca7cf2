"""Checked rows with their targets, and what many trees share of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eigenwood.core.tree.types import BinnedTable, Target
from eigenwood.validation.categories import Mixed


class TreeData(NamedTuple):
    """Checked rows with their targets; rows of weight 0 are gone."""

    mixed: Mixed
    target: Target
    labels: list[np.ndarray]  # the classes of each output; none for regression
    places: np.ndarray  # where each row stood in what was given
    n_given: int  # rows, those of weight 0 among them

    def n_rows(self) -> int:
        return self.mixed.X.shape[0]

    def n_features(self) -> int:
        return self.mixed.X.shape[1]

    def n_outputs(self) -> int:
        return self.target.starts.size - 1

    def n_values(self) -> int:
        """Return how many values a node has: one for each class, or for each output of numbers."""
        return int(self.target.starts[-1])

    def weights(self) -> np.ndarray:
        return self.target.weights if self.target.weights.size else np.ones(self.n_rows())

    def taken(self, rows: np.ndarray) -> TreeData:
        """Return some of the rows."""
        codes, y, weights = (part[rows] if part.shape[0] else part for part in self.target[:3])
        target = Target(codes, y, weights, self.target.starts)
        mixed = self.mixed._replace(X=self.mixed.X[rows])
        return self._replace(mixed=mixed, target=target, places=self.places[rows])

    def weighted(self, weights: np.ndarray) -> TreeData:
        """Return the rows with other weights; a weight may be 0."""
        return self._replace(target=self.target._replace(weights=weights))


class SharedTable(NamedTuple):
    """Rows that were checked and coded once, for many trees that differ in the weights of the rows."""

    data: TreeData
    binned: BinnedTable
    columns: dict[str, Any]  # the fitted attributes that tell of the columns: their number, and their names
    X: Any  # as given, for callbacks
    y: Any


def class_lists(model: Any) -> list[np.ndarray]:
    """Return the classes of each output of a fitted tree or forest; none for regression."""
    classes = getattr(model, "classes_", [])
    return list(classes) if isinstance(classes, list) else [classes]


def values_per_output(model: Any) -> list[int]:
    """Return how many values a node of a fitted tree or forest has for each output."""
    return [labels.size for labels in class_lists(model)] or [1] * model.n_outputs_


def class_counts(model: Any) -> Any:
    """Return the number of classes, or an array of such numbers for several outputs."""
    sizes = [labels.size for labels in class_lists(model)]
    return sizes[0] if model.n_outputs_ == 1 else np.array(sizes)


def one_or_list(parts: list) -> Any:
    """Return what a single output has, or the list of what several have."""
    return parts[0] if len(parts) == 1 else parts


def log_proba(proba: Any) -> Any:
    """Return the logarithms of the shares of classes, of one output or of a list of them."""
    with np.errstate(divide="ignore"):
        return [np.log(part) for part in proba] if isinstance(proba, list) else np.log(proba)


def side_by_side(columns: list[np.ndarray]) -> np.ndarray:
    """Return columns of labels as one array, of objects where words stand beside numbers."""
    kinds = {"U" if column.dtype.kind in "UO" else "n" for column in columns}
    return np.column_stack(columns if len(kinds) == 1 else [column.astype(object) for column in columns])
