"""The claims about a fitted kernel ridge regression, recomputed from the rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from eigenwood.core.kernels.matrix import KernelMatrix, kernel_matrix
from eigenwood.core.threads import row_blocks
from eigenwood.estimators.landmarks import BLOCK_ROWS, made_again, n_other_landmarks, rows_at, whole_sum
from eigenwood.estimators.logistic.planning import FULL
from eigenwood.estimators.ridge.faces import KernelRidge
from eigenwood.estimators.ridge.fitting import (
    asked_for,
    landmark_facts,
    lengths_of,
    ridge_certificate,
    whole_facts,
)
from eigenwood.estimators.ridge.input_checks import RidgeData, checked_data
from eigenwood.estimators.watching import Deadline
from eigenwood.proofs.claim import Claim, at_most
from eigenwood.proofs.representer import RepresenterFacts
from eigenwood.proofs.svm import Stated, stated_claim, support_claim
from eigenwood.validation.kernels import check_holds_rows, gamma_value
from eigenwood.validation.ridge import check_columns

SAME = 1e-9  # a share by which what follows from the same rows may differ
OF_TRACE = 1e-10  # by which what is left of it may be off


def verify_kernel_ridge(model: KernelRidge, X: Any, y: Any, sample_weight: Any, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims: the system's residual, or the gap on landmarks, from all kernel values block by block."""
    who = type(model).__name__
    data = checked_data(model, X, y, sample_weight, reset=False)
    check_columns(data.y.shape[1], model._coefficients().shape[1])
    check_holds_rows(who, data.places, model.support_)
    K, support = kernel_matrix(data.rows, data.kernel), rows_at(data.places, model.support_)
    yield support_claim(n_other_landmarks(data.X[support], model.X_fit_, model.kernel == "precomputed"))
    if model.solver_ == FULL:
        yield at_most("every row", "rows without a coefficient", K.n_rows() - support.size, 0)
    facts = (whole_again if model.solver_ == FULL else landmarks_again)(model, data, K, support, deadline)
    yield from ridge_certificate(data, facts)
    word = "auto" if model.gamma is None else model.gamma
    gamma, trace = gamma_value(who, word, data.X, data.weights), float(K.diagonal().sum())
    numbers = [
        Stated(model.gamma_, gamma, SAME * gamma),
        Stated(model.trace_error_, facts[0].trace_error, OF_TRACE * trace + SAME * facts[0].trace_error + 1e-300),
    ]
    yield stated_claim(numbers, "trace error, gamma")


def whole_again(
    model: KernelRidge, data: RidgeData, K: KernelMatrix, support: np.ndarray, deadline: Deadline
) -> list[RepresenterFacts]:
    """Return the numbers of a model that gives every row a coefficient."""
    beta, right = np.zeros_like(data.y), K.columns(slice(None))
    beta[support] = model._coefficients()
    scores = np.empty_like(beta)
    for rows in row_blocks(K.n_rows(), BLOCK_ROWS):
        deadline.check()
        scores[rows] = K.tile(rows, right) @ beta
    lengths = lengths_of(K)
    return [whole_facts(data, j, beta[:, j], scores[:, j], lengths) for j in range(beta.shape[1])]


def landmarks_again(
    model: KernelRidge, data: RidgeData, K: KernelMatrix, support: np.ndarray, deadline: Deadline
) -> list[RepresenterFacts]:
    """Return the numbers of a model on landmarks."""
    beta, lengths = model._coefficients(), lengths_of(K)
    n_outputs = range(beta.shape[1])

    def asked(rows: slice, scores: np.ndarray) -> np.ndarray:
        return np.column_stack([asked_for(data, j, scores[:, j], rows) for j in n_outputs])

    made = made_again(type(model).__name__, K, support, beta, asked, deadline)
    wholes = [whole_sum(K, made.alpha[:, [j]], deadline) for j in n_outputs]
    return [landmark_facts(data, j, made, beta, lengths, support, wholes[j]) for j in n_outputs]
