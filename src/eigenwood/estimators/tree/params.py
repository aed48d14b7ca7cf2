"""The criteria of trees, the rules for their parameters, and those for their fitted attributes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from eigenwood.core.tree.criteria import (
    ABSOLUTE_ERROR,
    ENTROPY,
    ERROR,
    GINI,
    POISSON,
    POSITIVE_MEANS,
    SQUARED_ERROR,
)
from eigenwood.core.tree.predict import MOST_FEATURES
from eigenwood.estimators.state import COUNT, FEATURE_STATE, FIT_STATE
from eigenwood.estimators.watching import TIME_LIMIT
from eigenwood.validation.categories import CategoricalFeatures
from eigenwood.validation.forests import LeafValues
from eigenwood.validation.params import AnyOf, Choice, Nothing, Number, Seed, Share, Signs
from eigenwood.validation.state import Array, CategoryLists, Nodes, Scalar
from eigenwood.validation.threads import N_JOBS
from eigenwood.validation.trees import CATEGORICAL_SPLITS, PRUNINGS

CLASS_CRITERIA = {"gini": GINI, "entropy": ENTROPY, "log_loss": ENTROPY, "error": ERROR}
REGRESSION_CRITERIA = {
    "squared_error": SQUARED_ERROR,
    "friedman_mse": SQUARED_ERROR,
    "absolute_error": ABSOLUTE_ERROR,
    "poisson": POISSON,
}
CRITERIA = {**CLASS_CRITERIA, **REGRESSION_CRITERIA}
FEATURE_COUNTS = {"sqrt": math.sqrt, "log2": math.log2}
MOST_LEAVES = 2**31

TREE_PARAMS = {
    "splitter": Choice(("best", "random")),
    "max_depth": AnyOf(Nothing(), Number(at_least=1, integer=True)),
    "min_samples_split": AnyOf(Number(at_least=2, integer=True), Share()),
    "min_samples_leaf": AnyOf(Number(at_least=1, integer=True), Share(below=1)),
    "min_weight_fraction_leaf": Number(at_least=0, at_most=0.5),
    "max_features": AnyOf(Nothing(), Number(at_least=1, integer=True), Share(), Choice(tuple(FEATURE_COUNTS))),
    "random_state": Seed(),
    "max_leaf_nodes": AnyOf(Nothing(), Number(at_least=2, at_most=MOST_LEAVES, integer=True)),
    "min_impurity_decrease": Number(at_least=0),
    "ccp_alpha": Number(at_least=0),
    "monotonic_cst": Signs(),
    "leaf_uncertainty": Number(at_least=0),
    "categorical_features": CategoricalFeatures(),
    "categorical_split": Choice(CATEGORICAL_SPLITS),
    "prune": AnyOf(Nothing(), Choice(PRUNINGS)),
    "validation_fraction": Share(below=1),
    "n_folds": Number(at_least=2, integer=True),
    "n_jobs": N_JOBS,
    "time_limit": TIME_LIMIT,
}
TREE_STATE = {
    **FEATURE_STATE,
    "nodes_": Nodes("n_features", "n_values"),
    "n_outputs_": COUNT,
    "max_features_": COUNT,
    "categories_": CategoryLists("n_features"),
    "is_categorical_": Array("b", ("n_features",)),
    "has_missing_": Array("b", ("n_features",)),
    "n_binned_": COUNT,
    "split_seed_": Scalar(Number(at_least=0, at_most=2**32 - 1, integer=True)),
    "pruning_curve_": Array("f", ("n_prunings", 3)),
    **FIT_STATE,
}


def criterion_code(name: str) -> int:
    """Return the core's code of a criterion."""
    return CRITERIA[name]


def leaf_values(criterion: int) -> LeafValues:
    """Return what the values of leaves are that a model file holds."""
    least = 0.0 if criterion in POSITIVE_MEANS else -math.inf
    return LeafValues(criterion in CLASS_CRITERIA.values(), criterion != ABSOLUTE_ERROR, least)


LEAF_VALUES = {code: leaf_values(code) for code in CRITERIA.values()}


def feature_count(max_features: Any, n_features: int) -> int:
    """Return how many features are looked at for a split."""
    if max_features is None:
        return n_features
    if isinstance(max_features, str):
        return max(1, int(FEATURE_COUNTS[max_features](n_features)))
    if isinstance(max_features, (int, np.integer)):
        return min(int(max_features), MOST_FEATURES)
    return max(1, int(max_features * n_features))
