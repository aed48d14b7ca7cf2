"""The losses of gradient boosting, the rules for its parameters, and those for its fitted attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenwood.core.boosting.losses import (
    ABSOLUTE,
    CUSTOM,
    EXPONENTIAL,
    HUBER,
    LOGISTIC,
    POISSON,
    QUANTILE,
    SOFTMAX,
    SQUARED,
)
from eigenwood.core.tree.criteria import SQUARED_ERROR
from eigenwood.estimators.state import COUNT, FEATURE_STATE, FIT_STATE
from eigenwood.estimators.tree.params import FEATURE_COUNTS, LEAF_VALUES, TREE_PARAMS
from eigenwood.estimators.watching import TIME_LIMIT
from eigenwood.validation.boosting import FeatureGroups, Quantiles, Scorer
from eigenwood.validation.ensembles import Learner
from eigenwood.validation.forests import ForestNodes
from eigenwood.validation.params import AnyOf, Choice, Flag, Function, Nothing, Number, Seed, Share
from eigenwood.validation.state import Array, CategoryLists, Models, Scalar
from eigenwood.validation.threads import N_JOBS

REGRESSION_LOSSES = {
    "squared_error": SQUARED,
    "absolute_error": ABSOLUTE,
    "huber": HUBER,
    "quantile": QUANTILE,
    "poisson": POISSON,
}
LOG_LOSS, EXPONENTIAL_LOSS, POISSON_LOSS = "log_loss", "exponential", "poisson"
CLASS_LOSSES = (LOG_LOSS, EXPONENTIAL_LOSS)
DEVIANCES = (SQUARED, LOGISTIC)  # whose losses scikit-learn states twice as large as they are in formulas
ZERO, AUTO, LOSS, NO_CRITERION = "zero", "auto", "loss", "deprecated"
MOST_BINS = 255  # of numbers or categories: one more is for what is missing
MANY_ROWS = 10_000  # above, early_stopping='auto' stops early, as in scikit-learn
PATIENCE = 10  # rounds without a gain, unless n_iter_no_change says another number

A_SHARE = Number(above=0, below=1)
BOOSTING_PARAMS = {
    "learning_rate": Number(at_least=0),
    "n_estimators": Number(at_least=1, integer=True),
    "subsample": Number(above=0, at_most=1),
    "criterion": Choice((NO_CRITERION, "friedman_mse", "squared_error")),
    **{
        name: TREE_PARAMS[name]
        for name in (
            "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "max_depth", "min_impurity_decrease",
            "max_leaf_nodes", "monotonic_cst", "categorical_features",
        )
    },
    "init": AnyOf(Nothing(), Choice((ZERO,)), Learner()),
    "random_state": Seed(),
    "max_features": AnyOf(Nothing(), Number(at_least=1, integer=True), Share(), Choice(tuple(FEATURE_COUNTS))),
    "verbose": AnyOf(Flag(), Number(at_least=0, integer=True)),
    "warm_start": Flag(),
    "validation_fraction": AnyOf(Nothing(), Number(at_least=1, integer=True), Share(below=1)),
    "n_iter_no_change": AnyOf(Nothing(), Number(at_least=1, integer=True)),
    "tol": Number(at_least=0),
    "ccp_alpha": Number(at_least=0, at_most=0),
    "max_iter": AnyOf(Nothing(), Number(at_least=1, integer=True)),
    "max_bins": Number(at_least=2, at_most=MOST_BINS, integer=True),
    "l2_regularization": Number(at_least=0),
    "interaction_cst": FeatureGroups(),
    "early_stopping": AnyOf(Nothing(), Flag(), Choice((AUTO,))),
    "scoring": AnyOf(Nothing(), Choice((LOSS,)), Scorer()),
    "n_jobs": N_JOBS,
    "time_limit": TIME_LIMIT,
}  # fmt: skip
OWN_LOSS = Function("y and score that returns gradient and hessian")
REGRESSION_PARAMS = {
    "loss": AnyOf(Choice(tuple(REGRESSION_LOSSES)), OWN_LOSS),
    **BOOSTING_PARAMS,
    "alpha": AnyOf(A_SHARE, Quantiles()),
    "quantile": AnyOf(Nothing(), A_SHARE, Quantiles()),
}
BOOSTING_STATE = {
    **FEATURE_STATE,
    "forest_": ForestNodes("n_features", "n_values", criteria={SQUARED_ERROR: LEAF_VALUES[SQUARED_ERROR]}),
    "baseline_": Array("f", ("n_outputs",)),
    "init_models_": Models("n_inits"),
    "train_score_": Array("f", ("n_rounds",)),
    "validation_score_": Array("f", ("n_scores",)),
    "oob_scores_": Array("f", ("n_rounds",)),
    "oob_improvement_": Array("f", ("n_rounds",)),
    "feature_gains_": Array("f", ("n_features",)),
    "max_features_": COUNT,
    "n_held_out_": COUNT,
    "categories_": CategoryLists("n_features"),
    "is_categorical_": Array("b", ("n_features",)),
    "has_missing_": Array("b", ("n_features",)),
    "seed_": Scalar(Number(at_least=0, at_most=2**32 - 1, integer=True)),
    **FIT_STATE,
}
SOMETIMES = frozenset(
    {"init_models_", "train_score_", "validation_score_", "oob_scores_", "oob_improvement_"}
)  # attributes that not every model has


def loss_code(model: Any, n_classes: int) -> int:
    """Return the core's code of a loss; ``n_classes`` is 0 for regression."""
    if callable(model.loss):
        return CUSTOM
    if n_classes == 0:
        return REGRESSION_LOSSES[model.loss]
    if model.loss == EXPONENTIAL_LOSS:
        return EXPONENTIAL
    return LOGISTIC if n_classes == 2 else SOFTMAX


def round_count(model: Any) -> int:
    """Return how many rounds are wanted."""
    return int(model.n_estimators if model.max_iter is None else model.max_iter)


def quantiles_of(model: Any) -> np.ndarray:
    """Return the quantiles that are learnt, or Huber's share of rows whose error is squared."""
    alpha = getattr(model, "alpha", 0.5) if getattr(model, "quantile", None) is None else model.quantile
    return np.atleast_1d(np.asarray(alpha, dtype=np.float64))


def output_count(model: Any, n_classes: int) -> int:
    """Return how many scores a row has."""
    if n_classes > 2:
        return n_classes
    return quantiles_of(model).size if model.loss == "quantile" else 1


def stops_early(model: Any, n_rows: int, has_validation_set: bool) -> bool:
    """Return whether a fit stops early: if that is said, or else if there is what is needed for it alone."""
    if model.early_stopping is None:
        return has_validation_set or model.n_iter_no_change is not None
    if model.early_stopping == AUTO:
        return has_validation_set or n_rows > MANY_ROWS
    return bool(model.early_stopping)
