"""Checks of what bagging is given, and of the learners that a model file holds."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from eigenwood.errors import InputError

AUTO, PROBABILITY, MAJORITY = VOTINGS = ("auto", "probability", "majority")


def check_voting(who: str, voting: str, learner: Any) -> None:
    """Raise if votes are to be probabilities and the learner has none."""
    if voting == PROBABILITY and not hasattr(learner, "predict_proba"):
        raise InputError(
            f"{who}: voting must be 'auto' or 'majority' for a learner without predict_proba; got 'probability' and "
            f"{type(learner).__name__}."
        )


def check_rows_are_left_out(who: str, oob_score: Any, n_draws: int, n_available: float) -> None:
    """Raise if a score out of bag is wanted from learners that get all rows."""
    if n_draws >= n_available:
        raise InputError(f"{who}: oob_score must be False when every learner gets all rows; got {oob_score!r}.")


def check_all_classes_seen(who: str, n_seen: int, n_classes: int) -> None:
    """Raise if a learner saw too few classes to have a score for each."""
    if n_seen < n_classes:
        raise InputError(
            f"{who}: decision_function must have learners that saw all {n_classes} classes; got one that saw {n_seen}."
        )


# ---- learners from a model file -----------------------------------------------------------------------------------


def check_learner(who: str, learner: Any, expected: type[Any], n_features: int) -> None:
    """Raise unless a learner is of the class that its parameters say and has as many features as were drawn."""
    if type(learner) is not expected:
        raise InputError(f"{who}: estimators_ must be of the class {expected.__name__}; got {type(learner).__name__}.")
    if learner.n_features_in_ != n_features:
        raise InputError(f"{who}: estimators_ must have as many features as were drawn for each.")


def check_learner_classes(who: str, learner: Any, n_classes: int) -> None:
    """Raise unless a learner predicts codes of the classes."""
    codes = getattr(learner, "classes_", None)
    if not is_classifier(learner) or not isinstance(codes, np.ndarray) or codes.dtype.kind not in "iu":
        raise InputError(f"{who}: estimators_ must be classifiers whose classes_ are codes.")
    if codes.min() < 0 or codes.max() >= n_classes:
        raise InputError(f"{who}: estimators_ must know only the {n_classes} classes; got another.")


def check_learner_outputs(who: str, learner: Any, n_outputs: int) -> None:
    """Raise unless a learner predicts a number for each output."""
    if not is_regressor(learner) or getattr(learner, "n_outputs_", 1) != n_outputs:
        raise InputError(f"{who}: estimators_ must be regressors of {n_outputs} outputs.")
