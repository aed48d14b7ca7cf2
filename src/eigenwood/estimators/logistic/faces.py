"""Kernel logistic regression, with the interface of scikit-learn's classifiers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.exceptions import ConvergenceWarning

from eigenwood.core.kernels.logistic import (
    LogisticRule,
    LogisticStep,
    log_probabilities,
    logistic_steps,
    probabilities,
)
from eigenwood.core.kernels.matrix import kernel_matrix
from eigenwood.core.kernels.sums import given_sums, kernel_sums
from eigenwood.estimators.classifying import ScoringClassifier, scores_for_users
from eigenwood.estimators.kernels import alike, resolved_kernel, takes_sparse
from eigenwood.estimators.logistic.fitting import facts_of, fitted_values, outside_of
from eigenwood.estimators.logistic.input_checks import checked_data
from eigenwood.estimators.logistic.params import LOGISTIC_PARAMS, LOGISTIC_STATE
from eigenwood.estimators.logistic.planning import plan_of
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.svm.input_checks import checked_query
from eigenwood.estimators.watching import FINISHED, Watch
from eigenwood.proofs.representer import representer_certificate
from eigenwood.validation.kernels import check_different_support, check_mercer_residual, check_support_vectors
from eigenwood.validation.memory import memory_bytes
from eigenwood.validation.params import check_params
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.svm import check_fitted_end
from eigenwood.validation.threads import thread_count

MEASURED_ROWS = 4096  # whose kernel values are all computed for the certificate


@describe
class KernelLogisticRegression(ScoringClassifier):
    """Learn the probabilities of classes, in the space of a kernel.

    Scikit-learn has no twin of it: it is :class:`sklearn.linear_model.LogisticRegression` with a kernel, with the
    parameters of :class:`SVC`. Several classes are one model (softmax). The kernel stands on landmarks, rows of the
    table that randomly pivoted Cholesky finds; how far the model is from the best one with the whole kernel is bounded.

    Parameters
    ----------
    C : float, default=1.0
        What the loss of a row costs beside ½‖f‖²: a large C follows the rows closely.
    degree : int, default=3
        The power of 'poly'.
    n_components : int, float or None, default=None
        How many landmarks, at most; a fraction is the share of the kernel's trace that they may leave. None is all that
        tell anything (2,000 rows or fewer), or at most 500.
    tol : float, default=1e-6
        What the model may cost beyond the best one with these landmarks, as a share of what it costs.
    max_iter : int, default=100
        The most steps of Newton's method.
    memory_limit : float or None, default=None
        Megabytes for the kernel's factor; None is half of what is free.
    random_state : int, RandomState or None, default=0
        Draws the landmarks.
    n_jobs : int, default=-1
        Threads; -1 is all, None is 1. The result has the same bits for any number.

    Attributes
    ----------
    support_, support_vectors_ : the landmarks, by place and by value
    dual_coef_ : ndarray of shape (n_problems, n_support), what each landmark adds to the scores
    intercept_, classes_, class_weight_, gamma_, n_iter_
    solver_, solver_reason_ : 'full' or 'low_rank', and why
    trace_error_ : what the landmarks leave of the kernel's trace
    duality_gap_ : how much the model costs beyond the best one with the whole kernel, at most
    converged_, stop_reason_, certificate_

    Examples
    --------
    >>> from eigenwood import KernelLogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], ["a", "a", "b", "b", "a", "a"]
    >>> model = KernelLogisticRegression(C=10.0, gamma=1.0).fit(X, y)
    >>> model.predict([[0.5], [2.5]]).tolist(), model.predict_proba([[2.5]]).round(2).tolist(), model.solver_
    (['a', 'b'], [[0.12, 0.88]], 'full')
    """

    PARAMS = LOGISTIC_PARAMS
    FITTED = LOGISTIC_STATE

    def __init__(
        self,
        *,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        n_components=None,
        fit_intercept=True,
        class_weight=None,
        tol=1e-6,
        max_iter=100,
        memory_limit=None,
        time_limit=None,
        random_state=0,
        n_jobs=-1,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.n_components = n_components
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Learn from the rows of X (or their Gram matrix, if precomputed) and y; a weight multiplies C."""
        check_params(self)
        watch = Watch(self)
        data = checked_data(self, X, y, sample_weight, reset=True)
        K, threads = kernel_matrix(data.rows, data.kernel), self._threads()
        plan = plan_of(K.n_rows(), self.n_components, memory_bytes(self.memory_limit))
        rule, seed = LogisticRule(float(self.tol), int(self.max_iter)), int(integer_seeds(self.random_state, 1)[0])
        is_gram = self.kernel == "precomputed"

        with closing(logistic_steps(K, plan.rank, seed, data.outcomes, rule, threads)) as steps:
            outcome = watch.follow(
                self._with_a_kernel(steps),
                max_rounds=None,
                fitted=lambda step: fitted_values(data, step, facts_of(data, step), is_gram),
                X=data.X,
                y=data.y(),
            )
        step, finished = outcome.step, outcome.reason == FINISHED
        is_small = finished and K.n_rows() <= MEASURED_ROWS
        facts = facts_of(data, step, outside_of(data, step, K, threads) if is_small else None)

        for name, value in fitted_values(data, step, facts, is_gram).items():
            setattr(self, name, value)
        self.solver_, self.solver_reason_, self.stop_reason_ = plan.solver, plan.reason, outcome.reason
        self.certificate_ = representer_certificate(facts, self.tol, self.converged_)
        if finished and not self.converged_:
            warnings.warn(self._unfinished(facts.in_span / facts.primal), ConvergenceWarning, stacklevel=2)
        return self

    def decision_function(self, X):
        """Return the scores, whose softmax are the probabilities: one for two classes, else one for each class."""
        return scores_for_users(self._scores(X))

    def predict_proba(self, X):
        """Return the probability of each class, in the order of ``classes_``."""
        return np.ascontiguousarray(probabilities(self._scores(X)))

    def predict_log_proba(self, X):
        """Return the logarithm of the probability of each class."""
        return np.ascontiguousarray(log_probabilities(self._scores(X)))

    def _scores(self, X: Any) -> np.ndarray:
        """Return Σ γ_s k(x_s, x) + b, shape (n_rows, n_problems)."""
        X = checked_query(self, X)
        if self.kernel == "precomputed":
            return given_sums(X[:, self.support_], self.dual_coef_.T, self._threads()) + self.intercept_
        X, vectors = alike(X.astype(np.float64, copy=False), self.support_vectors_.astype(np.float64, copy=False))
        table = np.ascontiguousarray(self.dual_coef_.T)
        return kernel_sums(X, vectors, resolved_kernel(self, self.gamma_), table, self._threads()) + self.intercept_

    def _with_a_kernel(self, steps: Iterator[LogisticStep]) -> Iterator[LogisticStep]:
        """Yield the steps, and raise when K turns out not to be that of a Mercer kernel."""
        for step in steps:
            check_mercer_residual(type(self).__name__, step.low_rank.lowest)
            yield step

    def _unfinished(self, share: float) -> str:
        return (
            f"{type(self).__name__}: the fit stopped at n_iter_={self.n_iter_}, where the share {share:.2g} of the "
            f"primal may be left to gain instead of tol={self.tol:g}; max_iter={self.max_iter} may be more."
        )

    def _threads(self) -> int:
        """Return how many threads may be used: a function of the user's is never called from two at once."""
        asked = thread_count(type(self).__name__, self.n_jobs)
        return 1 if callable(self.kernel) else asked

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes fit the parameters and each other: a model file is not taken on trust."""
        who, is_gram = type(self).__name__, self.kernel == "precomputed"
        check_support_vectors(who, is_gram, self.support_, self.support_vectors_.shape, self.n_features_in_)
        check_different_support(who, self.support_)
        check_fitted_end(who, 0 if self.converged_ else 1, self.converged_, self.stop_reason_, FINISHED)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self)
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
