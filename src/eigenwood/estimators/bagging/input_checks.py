"""From what a user gives to trusted rows, for bagging: X, y and weights → ``BaggingData``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin

from eigenwood.core.distinct import fingerprints
from eigenwood.core.rows import rows_of
from eigenwood.estimators.bagging.fitting import TrainingData
from eigenwood.estimators.ensemble.sampling import Draws, Population, drawn_features, population_of, target_codes
from eigenwood.validation.arrays import check_weights
from eigenwood.validation.draws import check_warm_columns, check_warm_features, check_warm_targets, has_same_columns
from eigenwood.validation.ensembles import check_handed, part_of
from eigenwood.validation.targets import Classes, check_amounts, check_known, check_labels


class BaggingData(NamedTuple):
    """Checked training data; rows of weight 0 are gone."""

    training: TrainingData
    weights: np.ndarray
    places: np.ndarray  # where each row stood in what was given
    n_given: int
    population: Population
    codes: np.ndarray  # what of y must be equal for rows to be equal
    labels: np.ndarray | None  # the classes; None for regression
    has_text: bool

    def n_values(self) -> int:
        """Return how many values a learner predicts for a row."""
        if self.labels is not None:
            return self.labels.size
        return 1 if self.training.y.ndim == 1 else self.training.y.shape[1]


class BaggingTarget(NamedTuple):
    """What learners learn to predict: y as they get it, codes that tell equal rows of y, and the classes."""

    y: np.ndarray
    codes: np.ndarray
    labels: np.ndarray | None  # None for regression


def check_training(
    bagging: Any, X: Any, y: Any, sample_weight: Any, fit_params: dict, known: np.ndarray | None = None
) -> BaggingData:
    """Return the rows that learners draw from; those of weight 0 are gone. ``known`` are the classes, if known."""
    handed = check_handed(bagging, X, finite=refuses_infinity(bagging))
    n_given = handed.mixed.X.shape[0]
    weights = check_weights(bagging, sample_weight, n_given)
    kept = np.flatnonzero(weights)
    target = check_target(bagging, y, n_given, kept, known)
    rows, numbers = handed.X, handed.mixed.X
    if kept.size < n_given:
        rows, numbers = part_of(rows, kept, None), numbers[kept]
    population = population_of(fingerprints(rows_of(numbers), target.codes.astype(np.int64)), weights[kept])
    own_params = {name: kept_values(value, kept, n_given) for name, value in fit_params.items()}
    training = TrainingData(rows, target.y, own_params)
    return BaggingData(training, weights[kept], kept, n_given, population, target.codes, target.labels, handed.has_text)


def check_target(bagging: Any, y: Any, n_rows: int, kept: np.ndarray, known: np.ndarray | None) -> BaggingTarget:
    """Return the targets of the rows that are kept, of ``n_rows``; learners get classes as their codes."""
    if not isinstance(bagging, ClassifierMixin):
        numbers = check_amounts(bagging, y, n_rows)[kept]
        return BaggingTarget(numbers if numbers.shape[1] > 1 else numbers[:, 0], target_codes(numbers), None)
    labels = check_labels(bagging, y, n_rows)[kept]
    classes = Classes(*np.unique(labels, return_inverse=True)) if known is None else check_known(bagging, labels, known)
    return BaggingTarget(classes.codes, classes.codes, classes.labels)


def refuses_infinity(bagging: Any) -> bool:
    """Return whether the learners are Eigenwood's own, which refuse infinity."""
    return hasattr(bagging._learner(), "FITTED")


def kept_values(value: Any, kept: np.ndarray, n_rows: int) -> Any:
    """Return a parameter for the rows that are kept, if it has one value for each row."""
    has_rows = hasattr(value, "__len__") and not isinstance(value, (str, dict)) and len(value) == n_rows
    return np.asarray(value)[kept] if has_rows else value


# ---- warm starts: learners that stay must know the new rows -------------------------------------------------------


def check_same_table(bagging: Any, data: BaggingData, before: dict) -> None:
    """Raise unless learners that stay know columns and targets; ``before`` has the attributes of the last fit."""
    who = type(bagging).__name__
    check_warm_columns(who, has_same_columns(vars(bagging), before) and bagging.has_text_ == data.has_text)
    if data.labels is None:
        check_warm_targets(who, data.n_values() == bagging.n_outputs_, "columns")
    else:
        check_warm_targets(who, np.array_equal(data.labels, bagging.classes_))


def check_same_features(bagging: Any, draws: Draws, n_earlier: int) -> None:
    """Raise if learners that stay would be given other features than they learnt from."""
    is_same = all(
        np.array_equal(drawn_features(draws, number), bagging.drawn_features_[number]) for number in range(n_earlier)
    )
    check_warm_features(type(bagging).__name__, is_same)
