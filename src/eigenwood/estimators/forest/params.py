"""The rules for the parameters of forests, and those for their fitted attributes."""

from __future__ import annotations

from typing import Any

from eigenwood.core.tree.binning import MOST_CODES
from eigenwood.estimators.state import COUNT, FEATURE_STATE, FIT_STATE
from eigenwood.estimators.tree.params import FEATURE_COUNTS, LEAF_VALUES, TREE_PARAMS, feature_count
from eigenwood.estimators.watching import TIME_LIMIT
from eigenwood.validation.ensembles import Metric
from eigenwood.validation.forests import ForestNodes
from eigenwood.validation.params import AnyOf, Choice, Flag, Nothing, Number, Rule, Seed, Share
from eigenwood.validation.state import Array, CategoryLists, Scalar
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
    "n_estimators": Number(at_least=1, integer=True),
    "max_bins": AnyOf(Nothing(), Number(at_least=2, at_most=MOST_CODES, integer=True)),
    "max_features": AnyOf(Nothing(), Number(at_least=1, integer=True), Share(), Choice((*FEATURE_COUNTS, OOB))),
    "bootstrap": Flag(),
    "oob_score": Metric(),
    "n_jobs": N_JOBS,
    "random_state": Seed(),
    "verbose": AnyOf(Flag(), Number(at_least=0, integer=True)),
    "warm_start": Flag(),
    "max_samples": AnyOf(Nothing(), Number(at_least=1, integer=True), Share(at_most=MOST_SHARES)),
    "time_limit": TIME_LIMIT,
}
IMPORTANCE_PARAMS: dict[str, Rule] = {"n_repeats": Number(at_least=1, integer=True), "random_state": Seed()}
FOREST_STATE = {
    **FEATURE_STATE,
    "forest_": ForestNodes("n_features", "n_values", LEAF_VALUES),
    "n_outputs_": COUNT,
    "max_features_": COUNT,
    "oob_curve_": Array("f", ("n_tried", 2)),
    "categories_": CategoryLists("n_features"),
    "is_categorical_": Array("b", ("n_features",)),
    "has_missing_": Array("b", ("n_features",)),
    "n_binned_": COUNT,
    "n_draws_": COUNT,
    "seed_": Scalar(Number(at_least=0, at_most=2**32 - 1, integer=True)),
    "oob_score_": Scalar(Number()),
    "oob_interval_": Array("f", (2,)),
    **FIT_STATE,
}


def forest_feature_count(max_features: Any, n_features: int) -> int:
    """Return how many features are looked at for a split; all of them until the error out of bag has chosen."""
    return n_features if max_features == OOB else feature_count(max_features, n_features)
