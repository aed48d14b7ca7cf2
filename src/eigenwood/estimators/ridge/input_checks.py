"""From what a user gives to rows, amounts and a kernel, checked by the functions of ``validation``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eigenwood.core.kernels.blocks import KernelFunction
from eigenwood.core.kernels.functions import Kernel
from eigenwood.estimators.kernels import takes_sparse
from eigenwood.estimators.svm.input_checks import check_gram, rows_or_similarities, symmetric_kernel
from eigenwood.validation.arrays import check_rows, check_weights
from eigenwood.validation.kernels import gamma_value
from eigenwood.validation.ridge import check_ratios, penalties
from eigenwood.validation.targets import check_amounts


class RidgeData(NamedTuple):
    """What a fit is about: rows, or the similarities among them."""

    X: Any  # as given
    rows: Any  # in float64
    places: np.ndarray  # where each row stood in what was given
    y: np.ndarray  # (n, n_outputs)
    weights: np.ndarray
    alphas: np.ndarray  # (n_outputs,)
    kernel: Kernel | KernelFunction | None
    gamma: float


def checked_data(model: Any, X: Any, y: Any, sample_weight: Any, reset: bool) -> RidgeData:
    """Return the data of a fit, or of a model that is verified; rows of weight 0 are gone."""
    who = type(model).__name__
    check_gram(model, X)
    rows = check_rows(model, X, reset=reset, accept_sparse=takes_sparse(model))
    amounts = check_amounts(model, y, rows.shape[0])
    weights = check_weights(model, sample_weight, rows.shape[0])
    places = np.flatnonzero(weights)
    rows = rows if places.size == weights.size else rows[places]
    rows = rows_or_similarities(model, rows, places, X)
    alphas = penalties(model.alpha, amounts.shape[1])
    check_ratios(weights[places], alphas)
    word = "auto" if model.gamma is None else model.gamma
    gamma = gamma_value(who, word, rows, weights[places]) if reset else model.gamma_
    exact = rows.astype(np.float64, copy=False)
    kernel = symmetric_kernel(model, exact, places, gamma)
    return RidgeData(rows, exact, places, amounts[places], weights[places], alphas, kernel, gamma)
