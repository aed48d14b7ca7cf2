"""The rules for the parameters of AdaBoost, and those for its fitted attributes."""

from __future__ import annotations

from eigenwood.core.adaboost.rounds import GOES_ON, NO_EDGE, PERFECT
from eigenwood.estimators.state import COUNT, FEATURE_STATE, FIT_STATE, FLAG
from eigenwood.estimators.watching import FINISHED, STOP_REASONS, TIME_LIMIT
from eigenwood.validation.adaboost import ALGORITHMS, LOSSES, StumpArrays
from eigenwood.validation.categories import CategoricalFeatures
from eigenwood.validation.ensembles import Learner
from eigenwood.validation.params import AnyOf, Choice, Flag, Nothing, Number, Seed, Share
from eigenwood.validation.state import Array, CategoryLists, Labels, Models, Scalar
from eigenwood.validation.threads import N_JOBS

END_REASONS = {GOES_ON: FINISHED, PERFECT: "perfect", NO_EDGE: "no_edge"}  # of a fit that nobody stopped
BOOSTING_FIT_STATE = {**FIT_STATE, "stop_reason_": Scalar(Choice((*STOP_REASONS, "perfect", "no_edge")))}

SOMETIMES = frozenset({"validation_score_", "n_held_out_"})  # attributes of a model that may stop early

LATER_PARAMS = frozenset({"early_stopping", "validation_fraction", "n_iter_no_change", "warm_start"})

BOOSTING_PARAMS = {
    "estimator": AnyOf(Nothing(), Learner()),
    "n_estimators": Number(at_least=1, integer=True),
    "learning_rate": Number(above=0),
    "random_state": Seed(),
    "early_stopping": Flag(),
    "validation_fraction": AnyOf(Number(at_least=1, integer=True), Share(below=1)),
    "n_iter_no_change": Number(at_least=1, integer=True),
    "warm_start": Flag(),
    "n_jobs": N_JOBS,
    "time_limit": TIME_LIMIT,
}
CLASSIFIER_PARAMS = {
    **BOOSTING_PARAMS,
    "algorithm": Choice(ALGORITHMS),
    "resample": Flag(),
    "categorical_features": CategoricalFeatures(),
}
REGRESSOR_PARAMS = {**BOOSTING_PARAMS, "loss": Choice(LOSSES)}

PER_ROUND = Array("f", ("n_rounds",))
LEARNER_STATE = {
    "learners_": Models("n_rounds"),
    "seed_": Scalar(Number(at_least=0, at_most=2**32 - 1, integer=True)),
    "has_text_": FLAG,
    "validation_score_": PER_ROUND,
    "n_held_out_": COUNT,
}
CLASSIFIER_STATE = {
    "classes_": Labels("n_classes"),
    **FEATURE_STATE,
    "estimator_weights_": PER_ROUND,
    "estimator_errors_": PER_ROUND,
    "edges_": PER_ROUND,
    "normalizers_": PER_ROUND,
    "train_errors_": PER_ROUND,
    "min_margins_": PER_ROUND,
    "stumps_": StumpArrays("n_rounds", "n_features", "n_classes"),
    "left_shares_": PER_ROUND,
    "categories_": CategoryLists("n_features"),
    **LEARNER_STATE,
    **BOOSTING_FIT_STATE,
}
REGRESSOR_STATE = {
    **FEATURE_STATE,
    "estimator_weights_": PER_ROUND,
    "estimator_errors_": PER_ROUND,
    **LEARNER_STATE,
    **BOOSTING_FIT_STATE,
}
