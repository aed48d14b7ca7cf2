"""What support vector machines for classes and for amounts share."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.callback import with_callbacks
from sklearn.exceptions import ConvergenceWarning

from eigenwood.core.kernels.blocks import KernelFunction
from eigenwood.core.kernels.functions import LINEAR, Kernel
from eigenwood.core.kernels.sums import given_sums, kernel_sums
from eigenwood.core.margin.dual_problems import DualProblems, betas_at, initial_coefficients
from eigenwood.core.margin.dual_svm import DualRule
from eigenwood.core.margin.kernel_sources import Resources, kernel_sources, resources_worth_using
from eigenwood.core.margin.one_against_one import SLACKS, unstacked
from eigenwood.core.margin.scores import linear_scores
from eigenwood.core.margin.side_by_side import SideBySideStep
from eigenwood.core.margin.solving import solver_steps, with_small_steps
from eigenwood.core.threads import one_blas_thread
from eigenwood.estimators.certified import CertifiedWhenRead
from eigenwood.estimators.kernels import KERNEL_PARAMS, alike, resolved_kernel, takes_sparse
from eigenwood.estimators.state import COUNT, FEATURE_STATE, FIT_STATE, FLAG, POSITIVE
from eigenwood.estimators.svm.fitting import (
    Solved,
    TimeToFinish,
    attributes_of_problems,
    certificate_of,
    finish_all,
    rounding_of,
)
from eigenwood.estimators.svm.input_checks import check_gram, checked_kernel
from eigenwood.estimators.svm.landmarks import LOW_RANK, Landmarks, found_landmarks, kernel_of_landmarks
from eigenwood.estimators.watching import FINISHED, TIME_LIMIT, TIME_UP, Watch, Watched
from eigenwood.validation.arrays import negative_left_out
from eigenwood.validation.kernels import check_support_vectors, gamma_value
from eigenwood.validation.memory import MEMORY_LIMIT, memory_bytes
from eigenwood.validation.params import AnyOf, Choice, Flag, Infinite, Nothing, Number, check_params
from eigenwood.validation.state import Array
from eigenwood.validation.svm import check_costs, check_fitted_end, check_fitted_problems, check_landmarks
from eigenwood.validation.threads import N_JOBS, thread_count

LIKE_LIBSVM, STEPS_PER_ROW = 10_000_000, 100  # moves of pairs after which a fit is given up, at least
HARD = 1e10  # what slack costs where none is allowed
NARROW, WIDE = 1e-15, 1e15  # gamma of a kernel that can be computed in float32
OFF_BY = 1e-4  # of a score in float32; where it could be more, float64 is used

SVM_PARAMS = {
    "C": AnyOf(Number(above=0), Infinite()),
    **KERNEL_PARAMS,
    "slack": Choice(SLACKS),
    "approximation": AnyOf(Nothing(), Choice((LOW_RANK,))),
    "shrinking": Flag(),
    "tol": Number(above=0),
    "cache_size": MEMORY_LIMIT,
    "memory_limit": MEMORY_LIMIT,
    "time_limit": TIME_LIMIT,
    "max_iter": Number(at_least=-1, integer=True),
    "warm_start": Flag(),
    "verbose": AnyOf(Flag(), Number(at_least=0, integer=True)),
    "n_jobs": N_JOBS,
}
PER_PAIR = Array("f", ("n_pairs",))  # of classes, or for the one problem of two classes or of amounts
SVM_STATE = {
    **FEATURE_STATE,
    "support_": Array("i", ("n_support",)),
    "support_vectors_": Array("f", ("n_vectors", "n_vector_features"), or_sparse=True),
    "n_support_": Array("i", ("n_groups",)),
    "dual_coef_": Array("f", ("n_lines", "n_support")),
    "intercept_": PER_PAIR,
    "duality_gap_": PER_PAIR,
    "kkt_violation_": PER_PAIR,
    "gamma_": POSITIVE,
    "fit_status_": COUNT,
    "converged_": FLAG,
    "shape_fit_": Array("i", (2,)),
    **FIT_STATE,
}


LANDMARK_STATE = {
    "landmarks_": Array("i", ("n_landmarks",)),
    "landmark_vectors_": Array("f", ("n_landmarks", "n_features"), or_sparse=True),
    "landmark_coef_": Array("f", ("n_pairs", "n_landmarks")),
}
SVM_STATE |= LANDMARK_STATE


class BaseSVM(CertifiedWhenRead, Watched, BaseEstimator, ABC):
    """What classifier and regressor share: the way from rows to coefficients, and from rows to scores."""

    LATER_PARAMS = frozenset({"approximation"})  # files that were written before have their defaults
    OPTIONAL = frozenset(LANDMARK_STATE)

    @abstractmethod
    def _duals(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> DualProblems:
        """Return what is to be solved, checked."""

    def _checked_duals(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> DualProblems:
        """Return what is to be solved, with costs whose products are numbers."""
        check_gram(self, X)
        duals = self._duals(X, y, negative_left_out(self, sample_weight), reset)
        problems = (*duals.problems, *duals.deduplicated)
        check_costs(type(self).__name__, (problem.costs for problem in problems))
        return duals

    @abstractmethod
    def _own_attributes(self, duals: DualProblems, n_moves: list[int]) -> dict:
        """Return the fitted attributes that classes and amounts do not share."""

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Learn from the rows of X (or their Gram matrix, if precomputed) and y; a weight multiplies C."""
        check_params(self)
        watch = Watch(self)
        start = self._earlier() if self.warm_start else None
        duals = self._checked_duals(X, y, sample_weight, reset=True)
        gamma = gamma_value(type(self).__name__, self.gamma, duals.X, duals.deduplicated_mass())
        kernel = checked_kernel(self, duals, gamma)
        resources = resources_worth_using(duals.deduplicated, self._resources())

        landmarks = self._landmarks(duals, kernel, resources, watch)
        among, plain = (duals, kernel) if landmarks is None else (landmarks.features_for(duals), Kernel(LINEAR))
        sources, rule = kernel_sources(among.X, plain, among.deduplicated, resources), self._rule(duals)
        errors = rounding_of(among.X, plain, sources.rows[0].rounding, self.tol)
        betas = initial_coefficients(duals, None if start is None else self._coefficients_of(start, duals))

        def solved_at(step: SideBySideStep) -> list[Solved]:
            return finish_all(among, sources.rows, step, errors, resources.n_threads)

        def attributes_at(step: SideBySideStep, solved: list[Solved], is_late: bool = True) -> dict[str, Any]:
            own = self._attributes(duals, gamma, solved, step)
            if landmarks is None:
                return own
            norms = (
                landmarks.largest_norms(duals, solved)
                if is_late
                else landmarks.norms(duals, solved, resources.n_threads)
            )
            return landmarks.completed(own, duals, solved, norms)

        with one_blas_thread(), closing(solver_steps(sources, among, rule, betas, resources.n_threads)) as steps:
            outcome = watch.follow(
                steps,
                max_rounds=len(duals.problems) if len(duals.problems) > 1 else None,
                fitted=lambda step: attributes_at(step, solved_at(step)),
                X=duals.X,
                y=duals.y,
                seconds_after=TimeToFinish(sources.rows, resources.n_threads).seconds,
            )
        step = outcome.step
        if outcome.reason == TIME_UP:
            step = with_small_steps(step, sources.rows, duals, rule, resources.n_threads)
        solved = solved_at(step)

        for name in self.OPTIONAL & vars(self).keys():  # of an earlier fit
            delattr(self, name)
        is_late = outcome.reason == TIME_UP
        for name, value in attributes_at(step, solved, is_late).items():
            setattr(self, name, value)
        self._C_of_fit, self.stop_reason_ = self._cost(), outcome.reason
        shortfalls = None if landmarks is None else self.duality_gap_ - np.array([one.gap for one in solved])
        kind = " bound" if is_late else ""
        self.certify_when_read(partial(certificate_of, solved, self.tol, self.converged_, shortfalls, kind))
        if not self.converged_ and step.last:
            warnings.warn(self._unfinished(), ConvergenceWarning, stacklevel=3)
        return self

    def _unfinished(self) -> str:
        """Return a sentence about a fit that was given up, and the words that scikit-learn has for it."""
        return (
            f"{type(self).__name__}: the fit stopped at n_iter_={int(np.max(self.n_iter_))}, with a KKT violation of "
            f"{self.kkt_violation_.max():.2g} instead of tol={self.tol:g} (Solver terminated early "
            f"(max_iter={self.max_iter}).  Consider pre-processing your data with StandardScaler or MinMaxScaler.)."
        )

    def _scores(self, X: Any) -> np.ndarray:
        """Return the scores of all problems, shape (n_rows, n_problems)."""
        return self._sums(X) + self.intercept_

    def _sums(self, X: Any) -> np.ndarray:
        """Return the scores less b, Σ β_i k(x_i, x); only support vectors are touched."""
        table = unstacked(self.dual_coef_, self.n_support_)
        threads = self._threads()
        if self.kernel == "precomputed":
            return given_sums(X[:, self.support_], table, threads)
        if self.kernel == "linear":
            return linear_scores(X, self._directions(), np.zeros(table.shape[1]), threads)
        if self._has_landmarks():
            table = np.ascontiguousarray(self.landmark_coef_.T)
            X, vectors = alike(X.astype(np.float64), self.landmark_vectors_.astype(np.float64))
            return kernel_sums(X, vectors, resolved_kernel(self, self.gamma_), table, threads)
        X, vectors = alike(X, self.support_vectors_)
        rounding = np.finfo(X.dtype).eps * np.linalg.norm(table, axis=0).max(initial=0.0)
        if rounding > OFF_BY or not NARROW < self.gamma_ < WIDE:
            X, vectors = X.astype(np.float64), vectors.astype(np.float64)
        return kernel_sums(X, vectors, resolved_kernel(self, self.gamma_), table, threads)

    def _landmarks(
        self, duals: DualProblems, kernel: Kernel | KernelFunction | None, resources: Resources, watch: Watch
    ) -> Landmarks | None:
        """Return the landmarks of a fit that asks for some and needs them."""
        curved = kernel_of_landmarks(self, duals, kernel, resources.max_bytes)
        if curved is None:
            return None
        who = type(self).__name__
        return found_landmarks(who, duals, curved, resources.max_bytes, resources.n_threads, watch.time_is_up)

    def _has_landmarks(self) -> bool:
        """Return whether the scores are sums over landmarks instead of support vectors."""
        return hasattr(self, "landmarks_")

    def _resources(self) -> Resources:
        """Return the memory and the threads that may be used."""
        limit = self.cache_size if self.memory_limit is None else self.memory_limit
        return Resources(memory_bytes(limit), self._threads())

    def _threads(self) -> int:
        """Return how many threads may be used: a function of the user's is never called from two at once."""
        asked = thread_count(type(self).__name__, self.n_jobs)
        return 1 if callable(self.kernel) else asked

    def _rule(self, duals: DualProblems) -> DualRule:
        most = max(LIKE_LIBSVM, STEPS_PER_ROW * duals.places.size)
        return DualRule(float(self.tol), most if self.max_iter == -1 else int(self.max_iter), bool(self.shrinking))

    def _attributes(self, duals: DualProblems, gamma: float, solved: list[Solved], step: SideBySideStep) -> dict:
        """Return the fitted attributes that a step stands for."""
        return {
            **self._own_attributes(duals, [one.n_steps for one in step.steps]),
            **attributes_of_problems(duals, solved, step, self.kernel == "precomputed"),
            "shape_fit_": np.array([duals.places.size, self.n_features_in_], dtype=np.int64),
            "gamma_": gamma,
        }

    def _earlier(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the support and its coefficients of an earlier fit, if there was one, as if for the C of now.

        Most of them are at the bound C, before as after.
        """
        if not hasattr(self, "dual_coef_"):
            return None
        table = unstacked(self.dual_coef_, self.n_support_)
        return self.support_, table * (self._cost() / getattr(self, "_C_of_fit", self._cost()))

    def _coefficients_of(self, earlier: tuple[np.ndarray, np.ndarray], duals: DualProblems) -> np.ndarray | None:
        """Return the coefficients to begin with: those of an earlier fit, where its rows are there again."""
        support, table = earlier
        if table.shape[1] != len(duals.problems):
            return None
        return betas_at(duals.places, support, table)

    def _directions(self) -> np.ndarray:
        """Return w of every problem, for a linear kernel."""
        table = unstacked(self.dual_coef_, self.n_support_)
        directions = self.support_vectors_.astype(np.float64).T @ table
        return np.ascontiguousarray(directions.T)

    @property
    def coef_(self) -> np.ndarray:
        """The weights of the features, one line for each problem; of a linear kernel only."""
        if self.kernel != "linear":
            raise AttributeError(f"{type(self).__name__}: coef_ is there for kernel='linear' only.")
        directions = self._directions()
        directions.setflags(write=False)  # a change would be lost
        return directions

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes fit the parameters and each other: a model file is not taken on trust."""
        who, is_gram = type(self).__name__, self.kernel == "precomputed"
        check_support_vectors(who, is_gram, self.support_, self.support_vectors_.shape, self.n_features_in_)
        given = [name for name in self.OPTIONAL if hasattr(self, name)]
        check_landmarks(who, len(given) in (0, len(self.OPTIONAL)), getattr(self, "landmarks_", None))
        check_fitted_problems(who, self.support_, self.n_support_, self.dual_coef_.shape, self.intercept_.size)
        check_fitted_end(who, self.fit_status_, self.converged_, self.stop_reason_, FINISHED)

    def _cost(self) -> float:
        """Return C as a number; where it is infinite, no slack is allowed, and so much of it would cost too much."""
        return HARD if np.isinf(self.C) else float(self.C)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self)
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
