"""From what a user gives to dual problems and a kernel, checked by the functions of ``validation``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.kernels.blocks import KernelFunction
from eigenwood.core.kernels.functions import Kernel
from eigenwood.core.margin.dual_problems import (
    DualProblems,
    WeightedRows,
    dual_problem_of_amounts,
    dual_problems_of_classes,
)
from eigenwood.estimators.kernels import check_kernel_range, resolved_kernel, takes_sparse
from eigenwood.validation.arrays import check_rows, check_weights
from eigenwood.validation.kernels import check_dense_gram, check_square, check_symmetric, symmetric_function
from eigenwood.validation.svm import check_class_factors, check_one_amount
from eigenwood.validation.targets import Training, check_amounts, check_training, class_weights

COLUMN_GIVEN = "A column-vector y was passed when a 1d array was expected; y.ravel() makes one of it."
SAMPLED_ROWS = 64  # whose similarities are looked at before a function of the user's is believed


def check_gram(model: Any, X: Any) -> None:
    """Raise unless precomputed similarities are dense."""
    if model.kernel == "precomputed":
        check_dense_gram(type(model).__name__, X)


def checked_query(model: Any, X: Any) -> Any:
    """Return rows to predict."""
    check_is_fitted(model)
    check_gram(model, X)
    X = check_rows(model, X, reset=False, accept_sparse=takes_sparse(model))
    check_kernel_range(model, model.gamma_, X)
    return X


def rows_or_similarities(model: Any, rows: Any, places: np.ndarray, given: Any) -> Any:
    """Return checked rows as they are, or the similarities among them if they are precomputed."""
    if model.kernel != "precomputed":
        return rows
    who = type(model).__name__
    check_square(who, np.asarray(given))
    K = rows if places.size == rows.shape[1] else rows[:, places]
    check_symmetric(who, K, "a precomputed X", places)
    return K


def problems_of_classes(model: Any, X: Any, y: Any, sample_weight: Any, cost: float, reset: bool) -> DualProblems:
    """Return the dual problems of a classifier; ``cost`` is C."""
    known = None if reset else model.classes_
    data = check_training(model, X, y, sample_weight, accept_sparse=takes_sparse(model), known=known, reset=reset)
    rows = WeightedRows(rows_or_similarities(model, data.X, data.places, X), data.weights, data.places)
    costs = cost * class_factors(model, data)
    return dual_problems_of_classes(rows, *data.classes, costs, model.slack, model.kernel == "precomputed")


def class_factors(model: Any, data: Training) -> np.ndarray:
    """Return the weight of each class, all above 0."""
    labels, codes = data.classes
    factors = np.full(labels.size, np.nan)
    factors[codes] = class_weights(model, model.class_weight, data) / data.weights
    return check_class_factors(type(model).__name__, labels, factors)


def problem_of_amounts(model: Any, X: Any, y: Any, sample_weight: Any, cost: float, reset: bool) -> DualProblems:
    """Return the dual problem of a regressor; ``cost`` is C."""
    rows = check_rows(model, X, reset=reset, accept_sparse=takes_sparse(model))
    amounts = check_amounts(model, y, rows.shape[0])
    check_one_amount(amounts.shape[1])
    if np.asarray(y).ndim == 2:
        warnings.warn(COLUMN_GIVEN, DataConversionWarning, stacklevel=6)
    weights = check_weights(model, sample_weight, rows.shape[0])
    places = np.flatnonzero(weights)
    rows = rows if places.size == weights.size else rows[places]
    weighted = WeightedRows(rows_or_similarities(model, rows, places, X), weights[places], places)
    is_gram = model.kernel == "precomputed"
    return dual_problem_of_amounts(weighted, amounts[places, 0], cost, model.slack, float(model.epsilon), is_gram)


def checked_kernel(model: Any, duals: DualProblems, gamma: float) -> Kernel | KernelFunction | None:
    """Return the kernel of the distinct rows of a fit; None where X holds its values."""
    return symmetric_kernel(model, duals.X, duals.deduplicated_places(), gamma)


def symmetric_kernel(model: Any, X: Any, places: np.ndarray, gamma: float) -> Kernel | KernelFunction | None:
    """Return the kernel, symmetric as far as one can see; None where X holds its values."""
    if model.kernel == "precomputed":
        return None
    check_kernel_range(model, gamma, X)
    kernel = resolved_kernel(model, gamma)
    if callable(kernel):
        some = np.unique(np.linspace(0, X.shape[0] - 1, SAMPLED_ROWS).astype(np.intp))
        check_symmetric(type(model).__name__, kernel(X[some], X[some]), "kernel", places[some])
        return symmetric_function(type(model).__name__, kernel)
    return kernel
