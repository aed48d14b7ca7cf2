"""From what a user has to a problem with a kernel, checked by the functions of ``validation``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from eigenwood.core.kernels.matrix import kernel_matrix
from eigenwood.core.kernels.source import work_of_a_value
from eigenwood.data.row_blocks import Blocks
from eigenwood.estimators.kernel_pca.types import Problem, Request
from eigenwood.estimators.kernels import check_similarity_range, similarity, similarity_gamma, takes_sparse
from eigenwood.estimators.pca.clock import Clock
from eigenwood.estimators.pca.input_checks import checked_blocks
from eigenwood.estimators.watching import Watch
from eigenwood.validation.arrays import check_rows
from eigenwood.validation.kernel_pca import (
    WHO,
    check_dense_rows,
    check_enough_rows,
    preimage_of,
    symmetric_once_centred,
)
from eigenwood.validation.kernels import check_dense_gram, check_square
from eigenwood.validation.memory import memory_bytes
from eigenwood.validation.pca import check_column_names
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.threads import thread_count

USUAL_ITERATIONS = 4  # of the randomised route
LITTLE_WORK = 2e7  # multiplications; up to here, handing work to a second thread takes longer than the work


def checked_problem(model: Any, X: Any) -> Problem:
    """Return the rows to learn from with their kernel."""
    rows = checked_rows(model, X, reset=True)
    check_enough_rows(rows.shape[0])
    check_dense_rows(preimage_of(model), sparse.issparse(rows))
    if model.kernel == "precomputed":
        return Problem(rows, kernel_matrix(symmetric_once_centred(check_square(WHO, rows)), None), 1.0)
    if model.copy_X and rows is X:
        rows = rows.copy()
    gamma = similarity_gamma(model, rows)
    kernel = similarity(model, gamma, rows)
    check_similarity_range(WHO, kernel, rows)
    return Problem(rows, kernel_matrix(rows, kernel), gamma)


def checked_rows(model: Any, X: Any, reset: bool) -> Any:
    """Return checked rows; the similarities of rows to those of fit, if precomputed."""
    if model.kernel == "precomputed":
        check_dense_gram(WHO, X)
    return check_rows(model, X, reset=reset, accept_sparse=takes_sparse(model))


def checked_queries(model: Any, X: Any) -> Any:
    """Return rows to project."""
    rows = checked_rows(model, X, reset=False)
    if model.kernel != "precomputed":
        check_similarity_range(WHO, similarity(model, model.gamma_, model.X_fit_), rows)
    return rows


def query_blocks(model: Any, X: Blocks) -> Any:
    """Return the checked blocks of a stream, which must have the columns of fit."""
    check_column_names(X.columns, model.n_features_in_, getattr(model, "feature_names_in_", None), WHO)
    return finite_blocks(X)


def finite_blocks(X: Blocks) -> Iterator[np.ndarray]:
    """Yield the blocks of a stream, each checked for NaN and infinity."""
    return checked_blocks(X, None, who=WHO, nan_cure="")


def request_of(model: Any, problem: Problem, watch: Watch) -> Request:
    """Return what a model asks for, as numbers."""
    n_rows = problem.n_rows()
    wanted = n_rows if model.n_components is None else min(int(model.n_components), n_rows)
    landmarks = model.n_landmarks
    is_share = landmarks is not None and not isinstance(landmarks, int | np.integer)
    of_value = 1.0 if problem.K.kernel is None else work_of_a_value(problem.X, problem.K.kernel)
    threads = threads_of(model) if float(n_rows) ** 2 * of_value > LITTLE_WORK else 1
    return Request(
        count=wanted,
        keeps_zeros=model.n_components is not None and not model.remove_zero_eig,
        n_landmarks=n_rows if is_share else None if landmarks is None else int(landmarks),
        error=float(landmarks) if is_share else 0.0,
        tol=float(model.tol),
        max_products=None if model.max_iter is None else int(model.max_iter),
        n_iter=USUAL_ITERATIONS if model.iterated_power == "auto" else int(model.iterated_power),
        seed=int(integer_seeds(model.random_state, 1)[0]),
        n_threads=threads,
        bytes=memory_bytes(model.memory_limit),
        clock=Clock(watch.seconds_left, threads),
        check=watch.check,
    )


def threads_of(model: Any) -> int:
    """Return how many threads may be used: a function of the user's is never called from two at once."""
    asked = thread_count(WHO, model.n_jobs)
    return 1 if callable(model.kernel) else asked
