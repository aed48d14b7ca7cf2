"""From what a user gives to rows, outcomes and a kernel, checked by the functions of ``validation``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eigenwood.core.kernels.blocks import KernelFunction
from eigenwood.core.kernels.functions import Kernel
from eigenwood.core.kernels.logistic import Outcomes
from eigenwood.estimators.classifying import deduplicated_rows
from eigenwood.estimators.kernels import takes_sparse
from eigenwood.estimators.svm.input_checks import check_gram, class_factors, rows_or_similarities, symmetric_kernel
from eigenwood.validation.kernels import gamma_value
from eigenwood.validation.svm import check_costs
from eigenwood.validation.targets import LARGEST_WEIGHT, LEAST_LARGEST, check_training


class LogisticData(NamedTuple):
    """What a fit is about: distinct rows, or the similarities among all."""

    X: Any  # as given
    rows: Any  # in float64
    places: np.ndarray  # where each row stood in what was given
    labels: np.ndarray  # of the classes
    factors: np.ndarray  # the weight of each class
    outcomes: Outcomes
    kernel: Kernel | KernelFunction | None
    gamma: float

    def y(self) -> np.ndarray:
        """Return the label of every row."""
        return self.labels[self.outcomes.codes]


def checked_data(model: Any, X: Any, y: Any, sample_weight: Any, reset: bool) -> LogisticData:
    """Return the data of a fit, or of a model that is verified; equal rows are one row with their weights added."""
    who = type(model).__name__
    check_gram(model, X)
    known = None if reset else model.classes_
    data = check_training(model, X, y, sample_weight, accept_sparse=takes_sparse(model), known=known, reset=reset)
    factors = class_factors(model, data)
    if model.kernel == "precomputed":
        data = data._replace(X=rows_or_similarities(model, data.X, data.places, X))
    else:
        data = deduplicated_rows(data)
    labels, codes = data.classes
    costs = float(model.C) * factors[codes] * data.weights
    check_costs(who, [costs], LEAST_LARGEST, LARGEST_WEIGHT)
    gamma = gamma_value(who, model.gamma, data.X, data.weights) if reset else model.gamma_
    rows = data.X.astype(np.float64, copy=False)
    kernel = symmetric_kernel(model, rows, data.places, gamma)
    outcomes = Outcomes(codes, costs, labels.size, bool(model.fit_intercept))
    return LogisticData(data.X, rows, data.places, labels, factors, outcomes, kernel, gamma)
