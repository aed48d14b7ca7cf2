"""What everything that grows trees checks and computes before it grows: rows, targets, codes and the rule."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from eigenwood.core.tree.binning import MOST_CODES, binned_dense, binned_sparse
from eigenwood.core.tree.criteria import ABSOLUTE_ERROR, ENTROPY, ERROR, GINI, POISSON, SQUARED_ERROR
from eigenwood.core.tree.predict import MOST_FEATURES
from eigenwood.core.tree.types import LEAF, NO_FEATURE, NO_THRESHOLD, BinnedTable, GrowthParams, Target, Tree
from eigenwood.errors import InputError
from eigenwood.estimators.tree_data import TreeData
from eigenwood.validation.arrays import check_finite, check_weights
from eigenwood.validation.categories import Mixed, check_mixed, seen_only
from eigenwood.validation.targets import check_amounts, check_counts, check_outputs, check_weight_sizes, output_weights

CLASS_CRITERIA = {"gini": GINI, "entropy": ENTROPY, "log_loss": ENTROPY, "error": ERROR}
AMOUNT_CRITERIA = {
    "squared_error": SQUARED_ERROR,
    "friedman_mse": SQUARED_ERROR,
    "absolute_error": ABSOLUTE_ERROR,
    "poisson": POISSON,
}
SUBSET, MULTIWAY = CATEGORICAL_SPLITS = ("subset", "multiway")
FEATURE_COUNTS = {"sqrt": math.sqrt, "log2": math.log2}
RARE_SHARE = 0.5  # a column is kept by its rare entries when those are at most this share of its rows
MOST_LEAVES = 2**31
NO_DEPTH = 2**31 - 1
MOST_ROWS = 2**60
EXACT = 2.0**52  # sums of whole numbers up to this are exact


class TreeGate(BaseEstimator, ABC):
    """The gate of trees and forests: nothing behind it looks at X or y again."""

    max_bins: int | None
    categories_: list
    n_outputs_: int

    @abstractmethod
    def _criterion(self) -> int:
        """Return the code of the criterion."""

    @abstractmethod
    def _checked_target(self, y: Any, n_rows: int, kept: np.ndarray, weights: np.ndarray, known: list | None) -> tuple:
        """Return the target of the rows that are kept, of ``n_rows``, and the classes of its outputs."""

    @abstractmethod
    def _class_lists(self) -> list[np.ndarray]:
        """Return the classes of each output; none for regression."""

    @abstractmethod
    def _n_classes(self) -> list[int]:
        """Return how many values a node has for each output."""

    def _checked(self, X, y, sample_weight) -> TreeData:
        """Return the training data; rows of weight 0 are gone."""
        who = type(self).__name__
        mixed = check_mixed(self, X, self.categorical_features)
        check_finite(who, mixed.X, getattr(self, "feature_names_in_", None), missing=True)
        if mixed.X.shape[1] >= MOST_FEATURES:
            raise InputError(f"{who}: X must have fewer than {MOST_FEATURES} columns; got {mixed.X.shape[1]}.")
        data = self._with_target(mixed, y, sample_weight, None)
        if data.n_rows() < mixed.X.shape[0]:
            data = data._replace(mixed=seen_only(data.mixed))
        self._check_signs(data)
        return data

    def _checked_query(self, categories: list, labels: list, X, y, sample_weight=None) -> TreeData:
        """Return more rows of the same kind, for validation or to verify."""
        mixed = check_mixed(self, X, known=categories)
        check_finite(type(self).__name__, mixed.X, getattr(self, "feature_names_in_", None), missing=True)
        return self._with_target(mixed, y, sample_weight, labels)

    def _with_target(self, mixed: Mixed, y, sample_weight, known: list | None) -> TreeData:
        """Return rows with their targets; those of weight 0 are gone."""
        n_rows = mixed.X.shape[0]
        weights = check_weights(self, sample_weight, n_rows)
        kept = np.flatnonzero(weights)
        target, labels = self._checked_target(y, n_rows, kept, weights[kept], known)
        rows = mixed.X if kept.size == n_rows else mixed.X[kept]
        data = TreeData(mixed._replace(X=rows), target, labels, kept, n_rows)
        data = self._heavy(data, data.weights())  # class_weight may have made more weights 0
        weights = check_weight_sizes(self, data.target.weights)
        return data._replace(target=data.target._replace(weights=weights))

    def _heavy(self, data: TreeData, weights: np.ndarray) -> TreeData:
        """Return the rows whose weight is above 0; at least one must have such a weight."""
        rows = np.flatnonzero(weights)
        if rows.size == 0:
            raise InputError(f"{type(self).__name__}: class_weight must leave some row a weight above 0; got none.")
        return data if rows.size == data.n_rows() else data.taken(rows)

    def _check_signs(self, data: TreeData) -> None:
        """Raise unless monotonic constraints can be kept."""
        if self.monotonic_cst is None:
            return
        who, monotonic_cst, n_features = type(self).__name__, np.asarray(self.monotonic_cst), data.mixed.X.shape[1]
        n_outputs = data.target.starts.size - 1
        if n_outputs > 1:
            raise InputError(
                f"{who}: Monotonicity constraints are not supported with multiple outputs; got {n_outputs}."
            )
        if data.labels and data.labels[0].size > 2:
            raise InputError(
                f"{who}: Monotonicity constraints are not supported with multiclass classification; "
                f"got {data.labels[0].size} classes."
            )
        if monotonic_cst.size != n_features:
            raise InputError(
                f"{who}: monotonic_cst has shape {monotonic_cst.shape[0]} but the input data X has {n_features} "
                "features; "
                "it must have one entry for each."
            )
        if any(
            labels is not None and sign != 0 for labels, sign in zip(data.mixed.categories, monotonic_cst, strict=True)
        ):
            raise InputError(f"{who}: monotonic_cst must be 0 for a category; got another sign.")

    def _binned(self, data: TreeData, threads: int, rare_share: float = RARE_SHARE) -> BinnedTable:
        """Return the rows as codes; a column whose rare entries are at most ``rare_share`` is kept by those."""
        counts, max_bins = data.mixed.counts(), MOST_CODES if self.max_bins is None else int(self.max_bins)
        if sparse.issparse(data.mixed.X):
            return binned_sparse(data.mixed.X.tocsc(), counts, threads, max_bins)
        return binned_dense(data.mixed.X, counts, rare_share, threads, max_bins)

    def _feature_count(self, n_features: int) -> int:
        """Return how many features are looked at for a split."""
        return feature_count(self.max_features, n_features)

    def _growth_params(self, data: TreeData, n_rows: int, total_weight: float) -> GrowthParams:
        """Return how the tree is grown, with all fractions turned into numbers of rows."""
        min_samples_leaf = rows_of_share(self.min_samples_leaf, n_rows)
        min_samples_split = max(2, rows_of_share(self.min_samples_split, n_rows), 2 * min_samples_leaf)
        return GrowthParams(
            criterion=self._criterion(),
            max_depth=NO_DEPTH if self.max_depth is None else min(int(self.max_depth), NO_DEPTH),
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_leaf=float(self.min_weight_fraction_leaf * total_weight),
            min_decrease=float(self.min_impurity_decrease),
            max_leaf_impurity=float(self.leaf_uncertainty),
            max_features=self._feature_count(data.mixed.X.shape[1]),
            at_random=self.splitter == "random",
            multiway=self.categorical_split == MULTIWAY,
            integer_weights=are_whole(data.target.weights),
            total_weight=float(total_weight),
        )


class ClassGate(TreeGate):
    """The gate for classes."""

    classes_: Any

    @property
    def n_classes_(self):
        """The number of classes, or an array of such numbers for several outputs."""
        sizes = self._n_classes()
        return sizes[0] if self.n_outputs_ == 1 else np.array(sizes)

    def _class_lists(self) -> list[np.ndarray]:
        return list(self.classes_) if isinstance(self.classes_, list) else [self.classes_]

    def _n_classes(self) -> list[int]:
        return [labels.size for labels in self._class_lists()]

    def _criterion(self) -> int:
        return CLASS_CRITERIA[self.criterion]

    def _class_weight(self) -> Any:
        """Return what the weights of the rows are multiplied with."""
        return self.class_weight

    def _checked_target(self, y, n_rows, kept, weights, known) -> tuple[Target, list]:
        outputs = check_outputs(self, y, n_rows, kept, known)
        weights = output_weights(self, self._class_weight(), outputs, weights)
        starts = np.concatenate([[0], np.cumsum([labels.size for labels in outputs.labels])])
        return Target(outputs.codes, np.empty((0, len(outputs.labels))), unless_one(weights), starts), outputs.labels


class AmountGate(TreeGate):
    """The gate for amounts."""

    def _class_lists(self) -> list[np.ndarray]:
        return []

    def _n_classes(self) -> list[int]:
        return [1] * self.n_outputs_

    def _criterion(self) -> int:
        return AMOUNT_CRITERIA[self.criterion]

    def _checked_target(self, y, n_rows, kept, weights, known) -> tuple[Target, list]:
        amounts = check_amounts(self, y, n_rows)[kept]
        if self.criterion == "friedman_mse":
            warnings.warn(
                f"{type(self).__name__}: criterion='friedman_mse' is deprecated; it is the same as 'squared_error'.",
                FutureWarning,
                stacklevel=5,
            )
        if self.criterion == "poisson":
            check_counts(self, amounts)
        n_outputs = amounts.shape[1]
        no_labels = np.empty((0, n_outputs), dtype=np.int32)
        return Target(no_labels, amounts, unless_one(weights), np.arange(n_outputs + 1)), []


def lists_known_categories(tree: Tree, n_labels: np.ndarray) -> bool:
    """Return whether questions about categories, and only those, list some of them; -1 labels are a number's."""
    inner, lists = tree.left != LEAF, np.diff(tree.category_start)
    if ((n_labels[tree.feature[inner]] >= 0) != (lists[inner] > 0)).any():
        return False
    node, codes = np.repeat(np.arange(lists.size), lists), tree.categories
    within = (codes >= 0) & (codes < n_labels[tree.feature[node]])
    return bool(within.all() and ((np.diff(codes) > 0) | (np.diff(node) > 0)).all())


def asks_only_where_it_branches(tree: Tree) -> bool:
    """Return whether leaves ask nothing, numbers are not chained, and categories have no threshold."""
    is_leaf, lists = tree.left == LEAF, np.diff(tree.category_start)
    blank = (tree.feature[is_leaf] == NO_FEATURE).all() and not tree.default_left[is_leaf].any()
    blank &= not tree.chained[lists == 0].any()
    return bool(blank and (tree.threshold[is_leaf | (lists > 0)] == NO_THRESHOLD).all())


def side_by_side(columns: list[np.ndarray]) -> np.ndarray:
    """Return columns of labels as one array, of objects where words stand beside numbers."""
    kinds = {"U" if column.dtype.kind in "UO" else "n" for column in columns}
    return np.column_stack(columns if len(kinds) == 1 else [column.astype(object) for column in columns])


def unless_one(weights: np.ndarray) -> np.ndarray:
    """Return the weights, or nothing if all are 1: whole counts are faster and exact."""
    return np.empty(0) if (weights == 1.0).all() else weights


def are_whole(weights: np.ndarray) -> bool:
    """Return whether weights, if there are any, count rows: sums of them are then exact."""
    return bool((weights == np.round(weights)).all() and weights.sum() < EXACT)


def rows_of_share(given: float, n_rows: int) -> int:
    """Return a number of rows, given as such or as a share of all."""
    return min(int(given), MOST_ROWS) if isinstance(given, (int, np.integer)) else math.ceil(given * n_rows)


def feature_count(max_features: Any, n_features: int) -> int:
    """Return how many features are looked at for a split."""
    if max_features is None:
        return n_features
    if isinstance(max_features, str):
        return max(1, int(FEATURE_COUNTS[max_features](n_features)))
    if isinstance(max_features, (int, np.integer)):
        return min(int(max_features), MOST_FEATURES)
    return max(1, int(max_features * n_features))
