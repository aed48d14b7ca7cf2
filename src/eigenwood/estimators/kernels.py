"""What estimators with a kernel share: their parameters, and the step from the user's words to a ``Kernel``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from eigenwood.core.kernels.blocks import KernelFunction, gram, gram_symmetric
from eigenwood.core.kernels.functions import KERNELS, POLYNOMIAL, Kernel
from eigenwood.core.rows import rows_of, squared_row_norms
from eigenwood.proofs.mercer import MercerReport, mercer_report
from eigenwood.validation.arrays import check_matrix, check_squares
from eigenwood.validation.kernels import check_power, check_square, checked_function, gamma_value
from eigenwood.validation.params import AnyOf, Choice, Function, Keywords, Nothing, Number, Rule, check_values
from eigenwood.validation.threads import N_JOBS, thread_count

DENSE_ENTRIES = 50_000_000  # of sparse support vectors that are made dense to predict

KERNEL_PARAMS: dict[str, Rule] = {
    "kernel": AnyOf(Choice((*KERNELS, "precomputed")), Function("two blocks of rows")),
    "gamma": AnyOf(Choice(("scale", "auto")), Number(above=0)),
    "coef0": Number(),
    "degree": Number(at_least=1, at_most=100, integer=True),
}

OF_SCIKIT = ("cosine", "chi2")  # kernels that scikit-learn computes
SIMILARITY_PARAMS: dict[str, Rule] = {  # with the names and the defaults of scikit-learn's transformers
    "kernel": AnyOf(Choice((*KERNELS, "polynomial", *OF_SCIKIT, "precomputed")), Function("two blocks of rows")),
    "gamma": AnyOf(Nothing(), Choice(("scale", "auto")), Number(above=0)),
    "coef0": AnyOf(Nothing(), Number()),
    "degree": AnyOf(Nothing(), Number(at_least=1, at_most=100)),
    "kernel_params": AnyOf(Nothing(), Keywords()),
}


def takes_sparse(estimator: Any) -> bool:
    """Return whether the estimator's kernel takes sparse rows."""
    return not callable(estimator.kernel) and estimator.kernel not in ("precomputed", "chi2")


def resolved_kernel(estimator: Any, gamma: float) -> Kernel | KernelFunction:
    """Return the estimator's kernel for the core, with gamma as a number."""
    if callable(estimator.kernel):
        arguments = getattr(estimator, "kernel_params", None) or {}
        return checked_function(type(estimator).__name__, partial(estimator.kernel, **arguments))
    return Kernel(KERNELS[estimator.kernel], gamma, float(estimator.coef0), int(estimator.degree))


def similarity_gamma(estimator: Any, X: Any) -> float:
    """Return gamma as a number; None is scikit-learn's default: 1 for 'chi2', 1 / n_features for others."""
    if estimator.gamma is not None:
        return gamma_value(type(estimator).__name__, estimator.gamma, X)
    return 1.0 if estimator.kernel == "chi2" else 1.0 / X.shape[1]


def similarity(estimator: Any, gamma: float, rows: Any) -> Kernel | KernelFunction | None:
    """Return the kernel of a transformer for the core; None if it is precomputed. A function is tried on some rows."""
    who, name = type(estimator).__name__, estimator.kernel
    if callable(name):
        return checked_function(who, function_of_blocks(name, estimator.kernel_params or {}, rows))
    if name == "precomputed":
        return None
    coef0 = 1.0 if estimator.coef0 is None else float(estimator.coef0)
    degree = 3 if estimator.degree is None else estimator.degree
    name = "poly" if name == "polynomial" else name
    if name in KERNELS and (name != "poly" or degree == int(degree)):
        return Kernel(KERNELS[name], gamma, coef0, int(degree))
    more = {"gamma": gamma, "coef0": coef0, "degree": degree}
    return checked_function(who, partial(pairwise_kernels, metric=name, filter_params=True, **more))


def function_of_blocks(function: Callable, params: dict, rows: Any) -> KernelFunction:
    """Return a function of two blocks of rows; one that compares two single rows, as scikit-learn's do, is looped."""

    def of_blocks(X, Z):
        return function(X, Z, **params)

    def of_rows(X, Z):
        return np.array([[function(x, z, **params) for z in Z] for x in X], dtype=np.float64)

    try:
        takes_blocks = np.shape(of_blocks(rows[:1], rows[:1])) == (1, 1)
    except (ValueError, TypeError, IndexError):
        takes_blocks = False
    return of_blocks if takes_blocks else of_rows


def check_kernel_range(estimator: Any, gamma: float, X: Any) -> None:
    """Raise unless the estimator's kernel values are numbers that the dtype of X can hold."""
    kernel = None if estimator.kernel == "precomputed" else resolved_kernel(estimator, gamma)
    check_similarity_range(type(estimator).__name__, kernel, X)


def check_similarity_range(who: str, kernel: Kernel | KernelFunction | None, X: Any) -> None:
    """Raise unless all values of a kernel of the core are numbers that the dtype of X can hold."""
    if isinstance(kernel, Kernel):
        check_range(who, kernel, X)


def check_range(who: str, kernel: Kernel, X: Any) -> None:
    """Raise unless all values of the kernel are numbers that the dtype of X can hold."""
    check_squares(who, X)
    if kernel.code == POLYNOMIAL:
        largest = kernel.gamma * squared_row_norms(rows_of(X)).max(initial=0.0) + abs(kernel.coef0)
        check_power(who, largest, kernel.degree, X.dtype)


def query_gram(estimator: Any, X: Any, support: np.ndarray, n_threads: int) -> np.ndarray:
    """Return the kernel values of query rows and support vectors; ``support`` numbers the columns if precomputed."""
    if estimator.kernel == "precomputed":
        return X[:, support]
    vectors = estimator.support_vectors_
    if sparse.issparse(X) != sparse.issparse(vectors):
        X, vectors = sparse.csr_array(X), sparse.csr_array(vectors)
    return gram(X, vectors, resolved_kernel(estimator, estimator.gamma_), n_threads)


def alike(X: Any, vectors: Any) -> tuple[Any, Any]:
    """Return rows and support vectors of one dtype; both dense, where these are not too many, or both sparse."""
    if sparse.issparse(X) or sparse.issparse(vectors):
        is_large = max(X.shape[0], vectors.shape[0]) * X.shape[1] > DENSE_ENTRIES
        X, vectors = (sparse.csr_array(rows) if is_large else dense(rows) for rows in (X, vectors))
    dtype = np.result_type(X, vectors)
    return X.astype(dtype, copy=False), vectors.astype(dtype, copy=False)


def dense(rows: Any) -> np.ndarray:
    """Return rows as an array."""
    return rows.toarray() if sparse.issparse(rows) else rows


def check_mercer(kernel, X, *, gamma="scale", coef0=0.0, degree=3, n_jobs=None) -> MercerReport:
    """Report whether a similarity is a kernel on the rows of X: the smallest eigenvalue and the offending direction.

    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> check_mercer("rbf", X, gamma=1.0).holds
    True
    >>> report = check_mercer("sigmoid", X, gamma=1.0, coef0=-1.0)
    >>> report.holds, round(report.smallest, 3)
    (False, -0.762)
    """
    who = "check_mercer"
    values = {"kernel": kernel, "gamma": gamma, "coef0": coef0, "degree": degree, "n_jobs": n_jobs}
    check_values(who, KERNEL_PARAMS | {"n_jobs": N_JOBS}, values)
    rows = check_matrix(who, X)
    if kernel == "precomputed":
        return mercer_report(check_square(who, rows))
    if callable(kernel):
        return mercer_report(gram(rows, rows, checked_function(who, kernel)))
    rows = rows.astype(np.float64)
    similarity = Kernel(KERNELS[kernel], gamma_value(who, gamma, rows), float(coef0), int(degree))
    check_range(who, similarity, rows)
    return mercer_report(gram_symmetric(rows, similarity, thread_count(who, n_jobs)))
