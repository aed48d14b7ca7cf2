"""What forests check before their trees grow, and of a model file: parameters, targets, trees that stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from eigenwood.core.forest.packing import Forest
from eigenwood.core.tree.binning import MOST_CODES
from eigenwood.core.tree.types import NO_THRESHOLD
from eigenwood.errors import InputError
from eigenwood.estimators.ensemble_scoring import Ensemble
from eigenwood.estimators.state import COUNT, FEATURE_STATE, FIT_STATE
from eigenwood.estimators.tree import TREE_PARAMS
from eigenwood.estimators.tree_data import TreeData
from eigenwood.estimators.tree_gate import FEATURE_COUNTS, SUBSET, ClassGate, TreeGate
from eigenwood.estimators.watching import TIME_LIMIT
from eigenwood.validation.categories import Mixed
from eigenwood.validation.ensembles import Metric
from eigenwood.validation.forests import ForestNodes, forest_lists_known_categories
from eigenwood.validation.params import AnyOf, Choice, Flag, Nothing, Number, Rule, Seed, Share
from eigenwood.validation.state import Array, CategoryLists, Scalar
from eigenwood.validation.targets import Outputs, check_weight_sizes, output_weights
from eigenwood.validation.threads import N_JOBS

OOB = "oob"  # max_features: chosen by the error out of bag
BALANCED, BALANCED_SUBSAMPLE = "balanced", "balanced_subsample"
MOST_SHARES = 1000.0  # a draw may be larger than the table it is from

HANDED_ON = (
    "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "max_leaf_nodes",
    "min_impurity_decrease", "ccp_alpha", "monotonic_cst", "categorical_features",
)  # fmt: skip
FOREST_PARAMS = {
    **{name: TREE_PARAMS[name] for name in HANDED_ON},
    "n_estimators": Number(at_least=1, whole=True),
    "max_bins": AnyOf(Nothing(), Number(at_least=2, at_most=MOST_CODES, whole=True)),
    "max_features": AnyOf(Nothing(), Number(at_least=1, whole=True), Share(), Choice((*FEATURE_COUNTS, OOB))),
    "bootstrap": Flag(),
    "oob_score": Metric(),
    "n_jobs": N_JOBS,
    "random_state": Seed(),
    "verbose": AnyOf(Flag(), Number(at_least=0, whole=True)),
    "warm_start": Flag(),
    "max_samples": AnyOf(Nothing(), Number(at_least=1, whole=True), Share(at_most=MOST_SHARES)),
    "time_limit": TIME_LIMIT,
}
REPEATS: dict[str, Rule] = {"n_repeats": Number(at_least=1, whole=True), "random_state": Seed()}
FOREST_STATE = {
    **FEATURE_STATE,
    "forest_": ForestNodes("n_features", "n_values"),
    "n_outputs_": COUNT,
    "max_features_": COUNT,
    "oob_curve_": Array("f", ("n_tried", 2)),
    "categories_": CategoryLists("n_features"),
    "is_categorical_": Array("b", ("n_features",)),
    "has_missing_": Array("b", ("n_features",)),
    "n_binned_": COUNT,
    "n_draws_": COUNT,
    "seed_": Scalar(Number(at_least=0, at_most=2**32 - 1, whole=True)),
    "oob_score_": Scalar(Number()),
    "oob_interval_": Array("f", (2,)),
    **FIT_STATE,
}


class ForestGate(Ensemble, TreeGate):
    """The gate of both forests."""

    # what a tree may choose and a forest does not
    splitter, leaf_uncertainty, categorical_split = "best", 0.0, SUBSET

    LEARNERS = "trees"

    forest_: Forest

    def _with_target(self, mixed: Mixed, y, sample_weight, known: list | None) -> TreeData:
        if sparse.issparse(y):  # scikit-learn's trees say TypeError, its forests ValueError
            who = type(self).__name__
            raise InputError(f"{who}: sparse multilabel-indicator for y is not supported; y must be dense.")
        return super()._with_target(mixed, y, sample_weight, known)

    def _check_choices(self) -> None:
        """Raise if parameters exclude each other."""
        if self._wants_score():
            self._check_bootstrap("Out of bag estimation")
        if self.max_features == OOB:
            self._check_bootstrap("max_features='oob' is")
        if self.max_samples is not None and not self.bootstrap:
            raise InputError(
                f"{type(self).__name__}: `max_sample` cannot be set if `bootstrap=False`. Either switch to "
                f"`bootstrap=True` or set `max_sample=None`; got max_samples={self.max_samples}."
            )

    def _check_bootstrap(self, what: str) -> None:
        if not self.bootstrap:
            raise InputError(f"{type(self).__name__}: {what} only available if bootstrap=True; got bootstrap=False.")

    def _check_columns(self, data: TreeData, n_earlier: int, before: dict) -> None:
        """Raise unless trees that stay know the columns."""
        if n_earlier > 0 and not (self._has_columns_of(before) and all_equal(data.mixed.categories, self.categories_)):
            who = type(self).__name__
            raise InputError(f"{who}: X must have the columns it had before when warm_start is True; got others.")

    def _check_outputs(self, data: TreeData, n_earlier: int) -> None:
        """Raise unless trees that stay would learn the same classes again."""
        if n_earlier == 0:
            return
        who, n_outputs = type(self).__name__, data.target.starts.size - 1
        if n_outputs != self.n_outputs_ or not all_equal(data.labels, self._class_lists()):
            raise InputError(f"{who}: y must have the classes it had before when warm_start is True; got others.")
        if bool(self.forest_.bounded[0]) != bool(np.any(self.monotonic_cst)):
            raise InputError(
                f"{who}: monotonic_cst must be there, or not, as it was before when warm_start is True; "
                f"got {self.monotonic_cst}."
            )

    def _feature_count(self, n_features: int) -> int:
        return n_features if self.max_features == OOB else super()._feature_count(n_features)

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes agree with each other."""
        who, starts = type(self).__name__, self.forest_.output_start
        if self.n_outputs_ != starts.size - 1 or self._n_classes() != np.diff(starts).tolist():
            raise InputError(f"{who}: forest_ must have one value for each class or output.")
        n_labels = np.array([-1 if labels is None else len(labels) for labels in self.categories_])
        if ((n_labels >= 0) != self.is_categorical_).any():
            raise InputError(f"{who}: categories_ must be there for the columns of is_categorical_.")
        if not forest_lists_known_categories(self.forest_, n_labels):
            raise InputError(f"{who}: forest_ must list known categories, ascending, where a category is asked.")
        if bool(self.forest_.bounded[0]) != bool(np.any(self.monotonic_cst)):
            raise InputError(f"{who}: forest_ must be bounded if monotonic_cst has signs, and only then.")
        if self.forest_.n_listed.size > 0 and (self.forest_.threshold[self.forest_.n_listed > 0] != NO_THRESHOLD).any():
            raise InputError(f"{who}: forest_ must have no threshold where a category is asked.")
        if self.forest_.chained.any():
            raise InputError(f"{who}: forest_ must have no chains of questions.")
        if int(self.forest_.criterion[0]) != self._criterion():
            raise InputError(f"{who}: forest_ must have grown by criterion={self.criterion!r}; got another.")


class ForestClassGate(ClassGate, ForestGate):
    """The gate of a forest for classes."""

    def _class_weight(self) -> Any:
        return None  # weights of rows are for the draw; classes get theirs afterwards

    def _with_target(self, mixed: Mixed, y, sample_weight, known: list | None) -> TreeData:
        """Return rows with their targets; those of classes of weight 0 are gone: a tree may have drawn no others."""
        data = super()._with_target(mixed, y, sample_weight, known)
        if self.class_weight is None or isinstance(self.class_weight, str):
            return data
        return self._heavy(data, output_weights(self, self.class_weight, outputs_of(data), data.weights()))

    def _checked_target(self, y, n_rows, kept, weights, known) -> tuple:
        target, labels = super()._checked_target(y, n_rows, kept, weights, known)
        if self._wants_score() and not callable(self.oob_score) and not has_accuracy(labels):
            raise InputError(
                f"{type(self).__name__}: The type of target cannot be used to compute OOB estimates, several columns "
                "of classes other than 0 and 1; oob_score must be a function of y_true and y_pred."
            )
        return target, labels

    def _factors(self, data: TreeData) -> Callable[[np.ndarray], np.ndarray]:
        if self.class_weight == BALANCED_SUBSAMPLE:
            return lambda counts: self._class_factors(data, counts, BALANCED)
        if self.class_weight is None:
            return np.ones_like
        same_for_all = self._class_factors(data, data.weights(), self.class_weight)
        return lambda counts: same_for_all

    def _class_factors(self, data: TreeData, weights: np.ndarray, class_weight: Any) -> np.ndarray:
        """Return the weight of each row's classes, where rows have these weights; 0 for rows that were not drawn."""
        rows, factors = np.flatnonzero(weights), np.zeros(weights.size)
        weighted = output_weights(self, class_weight, outputs_of(data, rows), weights[rows])
        factors[rows] = check_weight_sizes(self, weighted) / weights[rows]
        return factors


def outputs_of(data: TreeData, rows: Any = slice(None)) -> Outputs:
    """Return the classes of some rows."""
    return Outputs(data.labels, data.target.class_codes[rows])


def all_equal(given: list, before: list) -> bool:
    """Return whether two lists of labels, or of None, are the same."""
    return len(given) == len(before) and all(
        np.array_equal(np.asarray(one, dtype=object), np.asarray(other, dtype=object))
        for one, other in zip(given, before, strict=True)
    )


def has_accuracy(labels: list[np.ndarray]) -> bool:
    """Return whether scikit-learn's metrics can compare such columns: one, or several whose classes are 0 and 1."""
    return len(labels) < 2 or all(own.dtype.kind in "biuf" and bool(np.isin(own, (0, 1)).all()) for own in labels)
