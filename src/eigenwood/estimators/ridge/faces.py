"""Kernel ridge regression, with the interface of scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin

from eigenwood.core.kernels.functions import LINEAR, Kernel
from eigenwood.core.kernels.low_rank import Rank
from eigenwood.core.kernels.matrix import kernel_matrix
from eigenwood.core.kernels.sums import given_sums, kernel_sums
from eigenwood.estimators.kernels import alike, resolved_kernel, takes_sparse
from eigenwood.estimators.logistic.planning import FULL, FULL_ERROR, FULL_ROWS, LOW_RANK, Plan, plan_of
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.ridge.fitting import landmark_fit, ridge_certificate, whole_fit
from eigenwood.estimators.ridge.input_checks import RidgeData, checked_data
from eigenwood.estimators.ridge.params import RIDGE_PARAMS, RIDGE_STATE
from eigenwood.estimators.svm.input_checks import checked_query
from eigenwood.validation.kernels import check_different_support, check_support_vectors
from eigenwood.validation.memory import memory_bytes
from eigenwood.validation.params import check_params
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.threads import thread_count

MOST_WHOLE = 10_000  # rows whose whole kernel is factored where nobody asks for landmarks


@describe
class KernelRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Fit amounts by least squares in the space of a kernel, with α‖f‖² as the price of f.

    Like :class:`sklearn.kernel_ridge.KernelRidge`; differs in (1) a kernel of the user's takes two blocks of rows,
    (2) many rows are fitted on landmarks, and (3) the certificate says how far the model is from the best one.

    Parameters
    ----------
    alpha : float or list of floats, default=1.0
        What ‖f‖² costs, for all columns of y or for each.
    gamma : float, 'scale', 'auto' or None, default=None
        The kernel's width: 'scale' is 1 / (n_features · variance of X); None and 'auto' are 1 / n_features.
    degree : int, default=3
        The power of 'poly'.
    coef0 : float, default=1.0
        The constant of 'poly' and 'sigmoid'.
    kernel_params : dict or None, default=None
        More arguments for a kernel of the user's.
    n_components : int, float or None, default=None
        How many landmarks, at most; a fraction is the share of the kernel's trace that they may leave. None is the
        whole kernel of 10,000 rows or fewer, if it fits, or at most 500; a linear kernel needs no more than columns.
    memory_limit : float or None, default=None
        Megabytes for the kernel or its factor; None is half of what is free.
    random_state : int, RandomState or None, default=0
        Draws the landmarks.
    n_jobs : int, default=-1
        Threads; -1 is all, None is 1. The result has the same bits for any number.

    Attributes
    ----------
    dual_coef_, X_fit_ : the coefficients, and the rows that they belong to
    support_ : where these rows stood in what was given
    gamma_, solver_, solver_reason_, trace_error_, certificate_

    Examples
    --------
    >>> from eigenwood import KernelRidge
    >>> model = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0])
    >>> model.predict([[1.5], [2.5]]).round(2).tolist(), model.certificate_.holds
    ([2.08, 6.67], True)
    """

    PARAMS = RIDGE_PARAMS
    FITTED = RIDGE_STATE

    def __init__(
        self,
        alpha=1.0,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1.0,
        kernel_params=None,
        n_components=None,
        memory_limit=None,
        random_state=0,
        n_jobs=-1,
    ):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y, sample_weight=None):
        """Learn from the rows of X (or their Gram matrix, if precomputed) and one or more columns of y."""
        check_params(self)
        data = checked_data(self, X, y, sample_weight, reset=True)
        K, plan, threads = kernel_matrix(data.rows, data.kernel), self._plan(data), self._threads()

        if plan.solver == FULL:
            found = whole_fit(data, K, threads)
        else:
            seed = int(integer_seeds(self.random_state, 1)[0])
            found = landmark_fit(data, K, plan.rank, seed, threads)

        self.support_ = data.places[found.support]
        self.X_fit_ = np.empty((0, 0)) if self.kernel == "precomputed" else data.X[found.support]
        self.dual_coef_ = found.beta[:, 0] if np.asarray(y).ndim == 1 else found.beta
        self.gamma_, self.trace_error_ = data.gamma, found.trace_error
        self.solver_, self.solver_reason_ = plan.solver, plan.reason
        self.certificate_ = ridge_certificate(data, found.facts)
        return self

    def predict(self, X):
        """Return the amounts of every row."""
        X = checked_query(self, X)
        table = self._coefficients()
        if self.kernel == "precomputed":
            sums = given_sums(X[:, self.support_], table, self._threads())
        else:
            X, rows = alike(X.astype(np.float64, copy=False), self.X_fit_.astype(np.float64, copy=False))
            sums = kernel_sums(X, rows, resolved_kernel(self, self.gamma_), table, self._threads())
        return sums[:, 0] if self.dual_coef_.ndim == 1 else sums

    def _coefficients(self) -> np.ndarray:
        """Return the coefficients as a table, whatever y was."""
        return np.ascontiguousarray(self.dual_coef_.reshape(len(self.dual_coef_), -1))

    def _plan(self, data: RidgeData) -> Plan:
        """Return which way the model is found."""
        n_rows, n_columns = data.rows.shape
        is_linear = isinstance(data.kernel, Kernel) and data.kernel.code == LINEAR
        if self.n_components is None and is_linear and n_rows > max(FULL_ROWS, n_columns):
            return Plan(
                LOW_RANK, Rank(n_columns, FULL_ERROR), f"a linear kernel needs no more than {n_columns} landmarks"
            )
        return plan_of(n_rows, self.n_components, memory_bytes(self.memory_limit), MOST_WHOLE)

    def _threads(self) -> int:
        """Return how many threads may be used: a function of the user's is never called from two at once."""
        asked = thread_count(type(self).__name__, self.n_jobs)
        return 1 if callable(self.kernel) else asked

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes fit the parameters and each other: a model file is not taken on trust."""
        who, is_gram = type(self).__name__, self.kernel == "precomputed"
        check_support_vectors(who, is_gram, self.support_, self.X_fit_.shape, self.n_features_in_, "X_fit_")
        check_different_support(who, self.support_)

    def __sklearn_tags__(self):
        tags: Any = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self)
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
