"""From what a user gives to trusted rows, for AdaBoost.

our stumps      X, y, weights ─► StumpData       rows as they stand: all sums are of whole numbers
any learner     X, y, weights ─► LearnerData     equal rows merged, in an order that is not the table's
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eigenwood.estimators.bagging.fitting import TrainingData
from eigenwood.estimators.bagging.input_checks import check_training as check_bagging
from eigenwood.estimators.ensemble.sampling import Population
from eigenwood.estimators.tree.input_checks import check_no_infinity
from eigenwood.validation.adaboost import check_class_count
from eigenwood.validation.arrays import check_weights
from eigenwood.validation.categories import Mixed, check_mixed, seen_only
from eigenwood.validation.ensembles import part_of
from eigenwood.validation.targets import Classes, check_classes, check_known, check_labels


class StumpData(NamedTuple):
    """Checked rows with their classes; rows of weight 0 are gone."""

    mixed: Mixed
    classes: Classes
    weights: np.ndarray

    def taken(self, rows: np.ndarray) -> StumpData:
        """Return some of the rows."""
        mixed, codes = self.mixed._replace(X=self.mixed.X[rows]), self.classes.codes[rows]
        return StumpData(mixed, self.classes._replace(codes=codes), self.weights[rows])


class LearnerData(NamedTuple):
    """Checked rows, each once, with the weight of its copies; rows of weight 0 are gone."""

    training: TrainingData
    codes: np.ndarray  # classes as codes; what tells equal targets for regression
    labels: np.ndarray | None  # the classes; None for regression
    mass: np.ndarray
    n_meant: int  # how many rows the weights stand for
    has_text: bool

    def taken(self, rows: np.ndarray) -> LearnerData:
        """Return some of the rows."""
        training = self.training._replace(X=part_of(self.training.X, rows, None), y=self.training.y[rows])
        mass = self.mass[rows]
        n_meant = max(rows.size, round(float(mass.sum())))
        return self._replace(training=training, codes=self.codes[rows], mass=mass, n_meant=n_meant)


def check_stump_rows(
    model: Any, X: Any, y: Any, sample_weight: Any, known: tuple[np.ndarray, list] | None = None
) -> StumpData:
    """Return the rows that stumps learn from; ``known`` are classes and categories, to verify."""
    mixed = check_mixed(model, X, model.categorical_features, None if known is None else known[1])
    check_no_infinity(model, mixed.X)
    n_rows = mixed.X.shape[0]
    labels, weights = check_labels(model, y, n_rows), check_weights(model, sample_weight, n_rows)
    kept = np.flatnonzero(weights)
    if kept.size < n_rows:
        mixed = Mixed(mixed.X[kept], mixed.categories)
        mixed = seen_only(mixed) if known is None else mixed
        labels, weights = labels[kept], weights[kept]
    is_whole = kept.size == n_rows
    classes = check_classes(model, labels, is_whole) if known is None else check_known(model, labels, known[0])
    return StumpData(mixed, classes, weights)


def check_learner_rows(model: Any, X: Any, y: Any, sample_weight: Any, known: np.ndarray | None = None) -> LearnerData:
    """Return the rows that learners learn from; ``known`` are the classes, to verify."""
    data = check_bagging(model, X, y, sample_weight, {}, known)
    if data.labels is not None:
        check_class_count(type(model).__name__, data.labels, data.weights.size < data.n_given)
    population: Population = data.population
    rows = population.rows[population.start[:-1]]
    training = TrainingData(part_of(data.training.X, rows, None), data.training.y[rows], {})
    return LearnerData(training, data.codes[rows], data.labels, population.mass(), population.n_meant(), data.has_text)
