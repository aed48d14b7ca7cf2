"""Checks of what an ensemble by weight is given: members, their weights and calibrations, and weights of classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import validate_data

from eigenwood.errors import InputError
from eigenwood.validation.arrays import check_is_a_table, check_rows, frame_of, one_sentence
from eigenwood.validation.ensembles import Learner
from eigenwood.validation.svm import ONE_AGAINST_ONE

ROUNDING = 1e-9  # by which weights may fail to sum to 1
OWN_NAMES = ("estimators", "weights", "calibrations", "decision_weights")


class Members:
    """The rule for the members of an ensemble, by name."""

    def allows(self, value: Any) -> bool:
        if not isinstance(value, (list, tuple)) or not value or not all(map(is_pair, value)):
            return False
        names = [name for name, _ in value]
        are_names = all(isinstance(name, str) and name and "__" not in name and name not in OWN_NAMES for name in names)
        return are_names and len(set(names)) == len(names) and all(Learner().allows(member) for _, member in value)

    def __str__(self) -> str:
        return "a list of pairs (name, estimator), with different names without '__' that no parameter has"


class Amounts:
    """The rule for numbers of which none is negative and one is above 0."""

    def allows(self, value: Any) -> bool:
        if not isinstance(value, (list, tuple, np.ndarray)) or np.ndim(value) != 1:
            return False
        numbers = numbers_of(value)
        return numbers is not None and numbers.size > 0 and bool(numbers.min() >= 0.0 and numbers.max() > 0.0)

    def __str__(self) -> str:
        return "a list of numbers at least 0, not all of them 0"


class Calibrations:
    """The rule for what makes probabilities of members' scores."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, (list, tuple)) and all(part is None or self._allows_one(part) for part in value)

    @staticmethod
    def _allows_one(part: Any) -> bool:
        if not isinstance(part, (list, tuple, np.ndarray)) or len(part) == 0:
            return False
        pairs = [numbers_of(pair) for pair in part]
        return all(pair is not None and pair.shape == (2,) for pair in pairs)

    def __str__(self) -> str:
        return "a list with None or a list of pairs (slope, offset) for each member"


def is_pair(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 2


def numbers_of(value: Any) -> np.ndarray | None:
    """Return finite numbers as an array; None if they are anything else."""
    try:
        given = np.asarray(value)
    except ValueError:
        return None
    if given.dtype.kind not in "iuf":
        return None
    numbers = given.astype(np.float64)
    return numbers if np.isfinite(numbers).all() else None


# ---- state of a model ---------------------------------------------------------------------------------------------


class CalibrationState:
    """A list with None or an array of slopes and offsets for each member."""

    def problem(self, value: Any, sizes: dict[str, int]) -> str | None:
        if not isinstance(value, list) or len(value) != sizes["n_members"]:
            return f"must be a list with one entry for each of {sizes['n_members']} members"
        shape = (sizes["n_problems"], 2)
        for part in value:
            is_right = isinstance(part, np.ndarray) and part.dtype == np.float64 and part.shape == shape
            if part is not None and not (is_right and np.isfinite(part).all()):
                return f"must hold None or finite numbers of shape {shape}"
        return None


# ---- rows, and what fits together ---------------------------------------------------------------------------------


def check_member_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return rows as members get them: a frame as it is, since it may have texts; anything else as a checked matrix."""
    who = type(estimator).__name__
    check_is_a_table(who, X)
    if frame_of(who, X) is None:
        tags = estimator.__sklearn_tags__().input_tags
        return check_rows(estimator, X, reset=reset, accept_sparse=tags.sparse, missing=tags.allow_nan)
    try:
        validate_data(estimator, X=X, reset=reset, skip_check_array=True)
    except (ValueError, TypeError) as problem:
        raise one_sentence(who, problem) from problem
    return X


def check_lengths(who: str, wanted: int, what: str, **given: Sequence[Any] | None) -> None:
    """Raise for the first list that does not have an entry for each of ``what``."""
    for name, values in given.items():
        if values is not None and len(values) != wanted:
            raise InputError(f"{who}: {name} must have one entry for each of {wanted} {what}; got {len(values)}.")


def check_has_scores(who: str, name: str, member: Any) -> None:
    """Raise unless a member has probabilities or scores of which they can be made."""
    if not (hasattr(member, "predict_proba") or hasattr(member, "decision_function")):
        kind = type(member).__name__
        raise InputError(
            f"{who}: estimators must have predict_proba or decision_function; got {name!r} ({kind}), which has neither."
        )


def check_score_shape(who: str, name: str, shape: str) -> None:
    """Raise if a member has scores of pairs of classes."""
    if shape == ONE_AGAINST_ONE:
        raise InputError(
            f"{who}: estimators must have one score for each class; got {name!r}, whose decision_function_shape is "
            f"{shape!r}."
        )


def check_takes_weights(who: str, name: str, takes: bool) -> None:
    """Raise if a member would not be told the weights."""
    if not takes:
        raise InputError(
            f"{who}: sample_weight must be None for members that do not take it; got weights and {name!r}."
        )


# ---- members from a model file ------------------------------------------------------------------------------------


def check_members(who: str, members: Sequence[Any], asked: Sequence[Any], n_features: int) -> None:
    """Raise unless members are of the classes that the parameters name, and of as many features."""
    if len(members) != len(asked):
        raise InputError(f"{who}: estimators_ must hold {len(asked)} members; got {len(members)}.")
    for member, (_, wanted) in zip(members, asked, strict=True):
        check_same_class(who, "estimators_", member, wanted, n_features)


def check_same_class(who: str, name: str, fitted: Any, asked: Any, n_features: int) -> None:
    """Raise unless a fitted model is of the class that a parameter names, and of as many features."""
    if type(fitted) is not type(asked):
        raise InputError(f"{who}: {name} must be of the class {type(asked).__name__}; got {type(fitted).__name__}.")
    known = getattr(fitted, "n_features_in_", n_features)
    if known != n_features:
        raise InputError(f"{who}: {name} must have {n_features} features; got {known}.")


def check_shares(who: str, shares: np.ndarray) -> None:
    """Raise unless weights are at least 0 and sum to 1."""
    if shares.min() < 0.0 or abs(shares.sum() - 1.0) > ROUNDING:
        raise InputError(f"{who}: weights_ must be at least 0 and sum to 1; got a sum of {shares.sum():g}.")


def check_decision_weights(who: str, weights: np.ndarray) -> None:
    """Raise unless weights of classes are at least 0, and one is above 0."""
    if weights.min() < 0.0 or weights.max() <= 0.0:
        raise InputError(f"{who}: decision_weights_ must be at least 0, not all of them 0; got {weights.tolist()}.")


def check_member_classes(who: str, member: Any, classes: np.ndarray, calibration: np.ndarray | None) -> None:
    """Raise unless a member says what can be made probabilities of the classes."""
    known = getattr(member, "classes_", None)
    if not is_classifier(member) or not isinstance(known, np.ndarray) or not np.isin(known, classes).all():
        raise InputError(f"{who}: estimators_ must be classifiers of the classes {classes.tolist()}.")
    if calibration is None and not hasattr(member, "predict_proba"):
        raise InputError(f"{who}: calibrations_ must hold numbers for members without predict_proba; got None.")
    if calibration is not None and not hasattr(member, "decision_function"):
        raise InputError(f"{who}: calibrations_ must be None for members without decision_function.")


def check_regressor(who: str, name: str, member: Any) -> None:
    """Raise unless a member of a model file is a regressor of one amount."""
    if not is_regressor(member) or getattr(member, "n_outputs_", 1) != 1:
        raise InputError(f"{who}: {name} must be regressors of one amount; got {type(member).__name__}.")


def check_above_zero(who: str, y: np.ndarray) -> None:
    """Raise unless all amounts have a logarithm."""
    if y.min() <= 0.0:
        raise InputError(f"{who}: y must hold numbers above 0 for scale='log'; got {y.min():g}.")
