"""From what a user gives to trusted rows: X, y and weights → ``BoostData``; parameters that exclude each other."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import DataConversionWarning

from eigenwood.estimators.boosting.params import EXPONENTIAL_LOSS, NO_CRITERION, POISSON_LOSS, quantiles_of
from eigenwood.estimators.tree.fitting import are_integers
from eigenwood.estimators.tree.input_checks import check_known_table, check_table, empty_if_all_one
from eigenwood.validation.arrays import check_weights
from eigenwood.validation.boosting import (
    NO_INTERACTIONS,
    PAIRWISE,
    check_class_masses,
    check_groups,
    check_init_method,
    check_init_with_warm_start,
    check_one_amount,
    check_one_share,
    check_poisson,
    check_two_classes,
)
from eigenwood.validation.categories import Mixed, seen_only
from eigenwood.validation.targets import (
    Classes,
    Training,
    check_amounts,
    check_classes,
    check_known,
    check_labels,
    check_weight_sizes,
    class_weights,
)
from eigenwood.validation.trees import check_monotonic_cst

MOST_REPEATS = 1 << 22  # rows that whole weights may come to, or so many times the rows there are
REPEATED_SHARE = 8
COLUMN_GIVEN = "A column-vector y was passed when a 1d array was expected: y has one column, and is taken as a vector."


class BoostData(NamedTuple):
    """Checked rows with their targets; rows of weight 0 are gone."""

    mixed: Mixed
    y: np.ndarray  # (n_rows,) amounts, or codes of classes
    weights: np.ndarray  # (n_rows,), or empty if all are 1
    labels: np.ndarray | None  # the classes; None for regression
    places: np.ndarray  # where each row stood in what was given

    def n_rows(self) -> int:
        return self.y.size

    def n_features(self) -> int:
        return self.mixed.X.shape[1]

    def n_classes(self) -> int:
        return 0 if self.labels is None else self.labels.size

    def row_weights(self) -> np.ndarray:
        return self.weights if self.weights.size else np.ones(self.y.size)

    def taken(self, rows: np.ndarray) -> BoostData:
        """Return some of the rows, or some several times."""
        weights = self.weights[rows] if self.weights.size else self.weights
        mixed = self.mixed._replace(X=self.mixed.X[rows])
        return self._replace(mixed=mixed, y=self.y[rows], weights=weights, places=self.places[rows])


def check_choices(model: Any) -> None:
    """Raise if parameters exclude each other; warn of one that scikit-learn will remove."""
    who = type(model).__name__
    check_init_method(who, model.init, "predict_proba" if isinstance(model, ClassifierMixin) else "predict")
    check_one_share(who, model.loss, quantiles_of(model))
    check_init_with_warm_start(who, model.init, model.warm_start)
    if model.criterion != NO_CRITERION:
        warnings.warn(
            f"{who}: The parameter `criterion` is deprecated; gains are those of the loss, whatever it says.",
            FutureWarning,
            stacklevel=4,
        )


def check_training(model: Any, X: Any, y: Any, sample_weight: Any) -> BoostData:
    """Return the rows to learn from, with only those categories that occur among them."""
    table = check_table(model, X)
    data = join_targets(model, table, y, sample_weight, None)
    if distinct_count(data.places) < table.X.shape[0]:
        data = data._replace(mixed=seen_only(data.mixed))
    who, classes = type(model).__name__, [] if data.labels is None else [data.labels]
    check_monotonic_cst(
        who, model.monotonic_cst, n_outputs=1, class_lists=classes, categories=data.mixed.categories
    )  # fmt: skip
    check_groups(who, model.interaction_cst, data.n_features())
    return data


def check_query(model: Any, categories: list, labels: np.ndarray | None, X: Any, y: Any, weights: Any) -> BoostData:
    """Return more rows with targets, of known categories and classes, for validation or to verify."""
    return join_targets(model, check_known_table(model, X, categories), y, weights, labels)


def join_targets(model: Any, table: Mixed, y: Any, sample_weight: Any, known: np.ndarray | None) -> BoostData:
    """Return rows with their targets; those of weight 0 are gone."""
    n_rows = table.X.shape[0]
    weights = check_weights(model, sample_weight, n_rows)
    is_whole, labels = bool(weights.all()), None
    kept, weights = kept_rows(weights, counted=getattr(model, "class_weight", None) is not None)
    if isinstance(model, ClassifierMixin):
        classes = checked_classes(model, check_labels(model, y, n_rows)[kept], is_whole, known)
        target, labels = classes.codes.astype(np.float64), classes.labels
        weights = weights_with_classes(model, classes, weights)
    else:
        target = checked_amounts(model, y, n_rows)[kept]
    rows = table.X if is_whole and kept.size == n_rows else table.X[kept]
    weights = check_weight_sizes(model, empty_if_all_one(weights))
    return BoostData(table._replace(X=rows), target, weights, labels, kept)


def distinct_count(places: np.ndarray) -> int:
    """Return how many places there are among some that ascend.

    >>> distinct_count(np.array([0, 1, 1, 3]))
    3
    """
    return int(np.count_nonzero(places[1:] != places[:-1])) + min(places.size, 1)


def kept_rows(weights: np.ndarray, counted: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows have a weight, and their weights; ``counted`` ones that count rows are that many rows.

    Where weights are multiplied by those of classes, nobody could tell later that they counted rows.
    """
    kept = np.flatnonzero(weights)
    if not counted or not are_repeats(weights[kept]):
        return kept, weights[kept]
    kept = np.repeat(kept, weights[kept].astype(np.int64))
    return kept, np.ones(kept.size)


def are_repeats(weights: np.ndarray) -> bool:
    """Return whether weights count rows, and these are not too many."""
    if weights.size == 0 or not are_integers(weights):
        return False
    return bool(weights.sum() <= max(MOST_REPEATS, REPEATED_SHARE * weights.size))


def checked_classes(model: Any, labels: np.ndarray, is_whole: bool, known: np.ndarray | None) -> Classes:
    """Return classes that the loss can tell apart."""
    if known is not None:
        return check_known(model, labels, known)
    classes = check_classes(model, labels, is_whole)
    if model.loss == EXPONENTIAL_LOSS or callable(model.loss):
        name = "a function" if callable(model.loss) else repr(model.loss)
        check_two_classes(type(model).__name__, name, classes.labels.size)
    return classes


def weights_with_classes(model: Any, classes: Classes, weights: np.ndarray) -> np.ndarray:
    """Return the weight of each row times that of its class."""
    if model.class_weight is None:
        return weights
    weighted = class_weights(model, model.class_weight, Training(None, classes, weights, classes.codes))
    check_class_masses(type(model).__name__, classes.labels, classes.codes, weighted)
    return weighted


def checked_amounts(model: Any, y: Any, n_rows: int) -> np.ndarray:
    """Return one amount for each row, which the loss can take."""
    amounts = check_amounts(model, y, n_rows)
    check_one_amount(type(model).__name__, amounts.shape[1])
    if getattr(y, "ndim", 1) == 2:
        warnings.warn(COLUMN_GIVEN, DataConversionWarning, stacklevel=6)
    if model.loss == POISSON_LOSS:
        check_poisson(type(model).__name__, amounts)
    return amounts[:, 0]


def feature_groups(interaction_cst: Any, n_features: int) -> list[set[int]]:
    """Return the groups of columns that may stand on one way; those that nobody names are another group.

    >>> feature_groups([[0, 1]], 4), feature_groups("no_interactions", 2), feature_groups(None, 2)
    ([{0, 1}, {2, 3}], [{0}, {1}], [])
    """
    if interaction_cst is None:
        return []
    if isinstance(interaction_cst, str):
        sizes = {NO_INTERACTIONS: 1, PAIRWISE: min(2, n_features)}
        return [set(group) for group in combinations(range(n_features), sizes[interaction_cst])]
    groups: Iterable[set[int]] = [{int(j) for j in group} for group in interaction_cst]
    rest = set(range(n_features)).difference(*groups)
    return [*groups, rest] if rest else list(groups)
