"""The rules for the parameters of bagging, and those for its fitted attributes."""

from __future__ import annotations

from eigenwood.estimators.state import COUNT, FEATURE_STATE, FIT_STATE, FLAG
from eigenwood.estimators.watching import TIME_LIMIT
from eigenwood.validation.ensembles import Learner, Metric
from eigenwood.validation.params import AnyOf, Flag, Nothing, Number, Seed, Share
from eigenwood.validation.state import Array, Models, Scalar
from eigenwood.validation.threads import N_JOBS

BAGGING_PARAMS = {
    "estimator": AnyOf(Nothing(), Learner()),
    "n_estimators": Number(at_least=1, integer=True),
    "max_samples": AnyOf(Nothing(), Number(at_least=1, integer=True), Share()),
    "max_features": AnyOf(Number(at_least=1, integer=True), Share()),
    "bootstrap": Flag(),
    "bootstrap_features": Flag(),
    "oob_score": Metric(),
    "warm_start": Flag(),
    "n_jobs": N_JOBS,
    "random_state": Seed(),
    "verbose": AnyOf(Flag(), Number(at_least=0, integer=True)),
    "resample": Flag(),
    "time_limit": TIME_LIMIT,
}
BAGGING_STATE = {
    **FEATURE_STATE,
    "estimators_": Models("n_learners"),
    "drawn_features_": Array("i", ("n_learners", "n_drawn_features"), below="n_features"),
    "n_draws_": COUNT,
    "seed_": Scalar(Number(at_least=0, at_most=2**32 - 1, integer=True)),
    "has_text_": FLAG,
    "oob_score_": Scalar(Number()),
    "oob_interval_": Array("f", (2,)),
    **FIT_STATE,
}
