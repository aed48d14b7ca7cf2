"""The rules for the parameters of models around models, and those for their fitted attributes."""

from __future__ import annotations

from eigenwood.estimators.state import CLASS_STATE, FEATURE_STATE, POSITIVE
from eigenwood.validation.blending import Amounts, Calibrations, CalibrationState, Members
from eigenwood.validation.ensembles import Learner
from eigenwood.validation.params import AnyOf, Choice, Nothing, Number
from eigenwood.validation.state import Array, Model, Models, Scalar

STANDARD, LOG = SCALES = ("standard", "log")

MEMBERS = Members()
MEMBER_PARAMS = {"estimators": AnyOf(Nothing(), MEMBERS), "weights": AnyOf(Nothing(), Amounts())}
MEMBER_STATE = {
    **FEATURE_STATE,
    "estimators_": Models("n_members"),
    "weights_": Array("f", ("n_members",)),
}
CLASSIFIER_PARAMS = {
    **MEMBER_PARAMS,
    "calibrations": AnyOf(Nothing(), Calibrations()),
    "decision_weights": AnyOf(Nothing(), Amounts()),
}
CLASSIFIER_STATE = {
    **CLASS_STATE,
    **MEMBER_STATE,
    "calibrations_": CalibrationState(),
    "decision_weights_": Array("f", ("n_classes",)),
}
SCALED_PARAMS = {"regressor": AnyOf(Nothing(), Learner()), "scale": Choice(SCALES)}
SCALED_STATE = {
    **FEATURE_STATE,
    "regressor_": Model(),
    "mean_": Scalar(Number()),
    "scale_": POSITIVE,
    "correction_": POSITIVE,
}
