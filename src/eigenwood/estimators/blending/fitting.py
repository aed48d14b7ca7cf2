"""Members of an ensemble, one by one: fitted, asked for probabilities, and their scores calibrated out of fold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from eigenwood.core.blending import calibrated, calibrations_of
from eigenwood.core.distinct import fingerprints
from eigenwood.core.rows import rows_of
from eigenwood.estimators.bagging.fitting import last_step, takes_weights
from eigenwood.estimators.blending.input_checks import MemberData
from eigenwood.validation.blending import check_has_scores, check_score_shape, check_takes_weights
from eigenwood.validation.categories import check_mixed

N_FOLDS = 5  # of the rows on which scores are calibrated


def fitted_member(ensemble: Any, name: str, member: Any, data: MemberData) -> Any:
    """Return a member fitted to the rows; of a pipeline, the last step is told the weights."""
    fresh = clone(member)
    if data.weights is None:
        return fresh.fit(data.X, data.y)
    check_takes_weights(type(ensemble).__name__, name, takes_weights(last_step(fresh)))
    prefix = f"{fresh.steps[-1][0]}__" if isinstance(fresh, Pipeline) else ""
    return fresh.fit(data.X, data.y, **{f"{prefix}sample_weight": data.weights})


def member_proba(member: Any, X: Any, classes: np.ndarray, calibration: np.ndarray | None) -> np.ndarray:
    """Return what a member says of each class; one that it never saw has probability 0."""
    if calibration is not None:
        return calibrated(member_scores(member, X, classes), calibration)
    return in_columns(np.asarray(member.predict_proba(X), dtype=np.float64), member, classes, 0.0)


def member_scores(member: Any, X: Any, classes: np.ndarray) -> np.ndarray:
    """Return the scores of a member: one column for two classes, else one for each."""
    scores = np.asarray(member.decision_function(X), dtype=np.float64)
    if classes.size == 2:
        return scores.reshape(-1, 1)
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    return in_columns(scores, member, classes, -np.inf)


def in_columns(values: np.ndarray, member: Any, classes: np.ndarray, absent: float) -> np.ndarray:
    """Return values of the classes that a member knows, with columns for all."""
    if member.classes_.size == classes.size:
        return values
    wide = np.full((values.shape[0], classes.size), absent)
    wide[:, np.searchsorted(classes, member.classes_)] = values
    return wide


# ---- calibration --------------------------------------------------------------------------------------------------


def calibration_of(
    ensemble: Any, name: str, member: Any, fitted: Any, data: MemberData, check: Callable[[], None]
) -> np.ndarray | None:
    """Return slopes and offsets of a member's scores, found on rows it had not seen; None if it has probabilities."""
    check_has_scores(type(ensemble).__name__, name, fitted)
    if hasattr(fitted, "predict_proba"):
        return None
    check_score_shape(type(ensemble).__name__, name, getattr(last_step(fitted), "decision_function_shape", ""))
    assert data.classes is not None
    codes, labels = data.classes.codes, data.classes.labels
    scores = out_of_fold(ensemble, name, member, data, check)
    if scores is None:
        scores = member_scores(fitted, data.X, labels)
    return calibrations_of(scores, codes, labels.size, data.weights)


def out_of_fold(
    ensemble: Any, name: str, member: Any, data: MemberData, check: Callable[[], None]
) -> np.ndarray | None:
    """Return the scores of each row by a fit to the other folds; None where a class has too few different rows."""
    assert data.classes is not None
    labels = data.classes.labels
    folds = folds_of(ensemble, data)
    if folds is None:
        return None
    scores = np.empty((folds.size, 1 if labels.size == 2 else labels.size))
    for fold in range(int(folds.max()) + 1):
        check()
        rows = np.flatnonzero(folds == fold)
        fitted = fitted_member(ensemble, name, member, data.taken(np.flatnonzero(folds != fold)))
        scores[rows] = member_scores(fitted, data.taken(rows).X, labels)
    return scores


def folds_of(ensemble: Any, data: MemberData) -> np.ndarray | None:
    """Return the fold of each row, in which copies of a row are together and every class is; None if that cannot be.

    Different rows of a class are dealt out in the order of their fingerprints, so that a weight is a repeated row.
    """
    assert data.classes is not None
    codes = data.classes.codes
    marks = fingerprints(rows_of(check_mixed(clone(ensemble), data.X).X), codes.astype(np.int64))
    folds = np.empty(codes.size, dtype=np.intp)
    numbers = []
    for code in range(data.classes.labels.size):
        different, place = np.unique(marks[codes == code], return_inverse=True)
        folds[codes == code] = place
        numbers.append(different.size)
    n_folds = min(N_FOLDS, *numbers)
    return folds % n_folds if n_folds > 1 else None
