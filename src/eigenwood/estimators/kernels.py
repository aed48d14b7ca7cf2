"""What estimators with a kernel share: their parameters, and the step from the user's words to a ``Kernel``."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from eigenwood.core.kernels.blocks import KernelFunction, gram, gram_symmetric
from eigenwood.core.kernels.functions import KERNELS, POLYNOMIAL, Kernel
from eigenwood.core.rows import rows_of, squared_row_norms
from eigenwood.proofs.mercer import MercerReport, mercer_report
from eigenwood.validation.arrays import check_matrix, check_squares
from eigenwood.validation.kernels import check_power, check_square, checked_function, gamma_value
from eigenwood.validation.params import AnyOf, Choice, Function, Number, Rule, check_values
from eigenwood.validation.threads import N_JOBS, thread_count

KERNEL_PARAMS: dict[str, Rule] = {
    "kernel": AnyOf(Choice((*KERNELS, "precomputed")), Function("two blocks of rows")),
    "gamma": AnyOf(Choice(("scale", "auto")), Number(above=0)),
    "coef0": Number(),
    "degree": Number(at_least=1, at_most=100, whole=True),
}


def takes_sparse(estimator: Any) -> bool:
    """Return whether the estimator's kernel takes sparse rows."""
    return not callable(estimator.kernel) and estimator.kernel != "precomputed"


def resolved_kernel(estimator: Any, gamma: float) -> Kernel | KernelFunction:
    """Return the estimator's kernel for the core, with gamma as a number."""
    if callable(estimator.kernel):
        return checked_function(type(estimator).__name__, estimator.kernel)
    return Kernel(KERNELS[estimator.kernel], gamma, float(estimator.coef0), int(estimator.degree))


def check_kernel_range(estimator: Any, gamma: float, X: Any) -> None:
    """Raise unless the estimator's kernel values are numbers that the dtype of X can hold."""
    kernel = None if estimator.kernel == "precomputed" else resolved_kernel(estimator, gamma)
    if isinstance(kernel, Kernel):
        check_range(type(estimator).__name__, kernel, X)


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
