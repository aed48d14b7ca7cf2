"""Support vector machines for classes and for amounts, with scikit-learn's faces."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.callback import with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.kernels.blocks import KernelFunction
from eigenwood.core.kernels.functions import Kernel
from eigenwood.core.kernels.sums import kernel_sums
from eigenwood.core.margin.dual_svm import DualRule, DualStep, KernelRows, offset
from eigenwood.core.margin.scores import linear_scores
from eigenwood.core.margin.side_by_side import SideBySideStep, side_by_side
from eigenwood.errors import InputError
from eigenwood.estimators.classifying import scores_for_users
from eigenwood.estimators.kernels import KERNEL_PARAMS, check_kernel_range, resolved_kernel
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.state import AMOUNT, CLASS_STATE, FEATURE_STATE, FIT_STATE, FLAG, PER_PROBLEM, POSITIVE
from eigenwood.estimators.svm_problems import (
    SLACKS,
    Problem,
    Room,
    amount_problem,
    class_problems,
    coefficients,
    solvers,
    sources,
    stacked,
    unstacked,
)
from eigenwood.estimators.watching import TIME_LIMIT, Watch, Watched
from eigenwood.proofs.claim import Certificate
from eigenwood.proofs.svm import MachineFacts, machine_certificate, machine_facts
from eigenwood.validation.arrays import check_rows, check_weights
from eigenwood.validation.kernels import check_holds_rows, check_square, check_symmetric, gamma_value
from eigenwood.validation.memory import MEMORY_LIMIT, memory_bytes
from eigenwood.validation.params import AnyOf, Choice, ClassWeights, Flag, Number, Seed, check_params
from eigenwood.validation.state import Array
from eigenwood.validation.targets import Training, check_amounts, check_training, class_weights
from eigenwood.validation.threads import N_JOBS, thread_count

LIKE_LIBSVM, STEPS_PER_ROW = 10_000_000, 100  # moves of pairs after which a fit is given up, at least
SAMPLED_ROWS = 64  # whose similarities are looked at before a function of the user's is believed
DENSE_ENTRIES = 50_000_000  # of sparse support vectors that are made dense to predict
OFF_BY = 1e-4  # of a score in float32; where it could be more, float64 is used
ONE_AGAINST_ONE, ONE_AGAINST_REST = SHAPES = ("ovo", "ovr")

MACHINE_PARAMS = {
    "C": Number(above=0),
    **KERNEL_PARAMS,
    "slack": Choice(SLACKS),
    "shrinking": Flag(),
    "tol": Number(above=0),
    "cache_size": MEMORY_LIMIT,
    "memory_limit": MEMORY_LIMIT,
    "time_limit": TIME_LIMIT,
    "max_iter": Number(at_least=-1, whole=True),
    "warm_start": Flag(),
    "verbose": AnyOf(Flag(), Number(at_least=0, whole=True)),
    "n_jobs": N_JOBS,
}
MACHINE_STATE = {
    **FEATURE_STATE,
    "support_": Array("i", ("n_support",)),
    "support_vectors_": Array("f", ("n_vectors", "n_vector_features"), or_sparse=True),
    "n_support_": Array("i", ("n_groups",)),
    "dual_coef_": Array("f", ("n_lines", "n_support")),
    "intercept_": PER_PROBLEM,
    "n_iter_": Array("i", ("n_problems",)),
    "duality_gap_": PER_PROBLEM,
    "kkt_violation_": PER_PROBLEM,
    "gamma_": POSITIVE,
    "fit_status_": AMOUNT,
    "converged_": FLAG,
    **FIT_STATE,
}


class Task(NamedTuple):
    """The training rows, checked and in the order of the problems, and the problems."""

    X: Any
    y: np.ndarray
    codes: np.ndarray  # of the classes; all 0 for amounts
    mass: np.ndarray  # the weights of the rows
    places: np.ndarray  # where each row stood in what was given
    problems: list[Problem]


class Solved(NamedTuple):
    """One problem after the fit."""

    beta: np.ndarray
    intercept: float
    facts: MachineFacts


class Machine(Watched, BaseEstimator, ABC):
    """What both machines share: the way from rows to coefficients, and from rows to scores."""

    @abstractmethod
    def _task(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Task:
        """Return what is to be solved, checked."""

    @abstractmethod
    def _target_attributes(self, task: Task) -> dict:
        """Return the fitted attributes that are about y."""

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Learn from the rows of X (or their Gram matrix, if precomputed) and y; a weight multiplies C."""
        check_params(self)
        watch = Watch(self)
        start = self._earlier() if self.warm_start else None
        task = self._task(X, y, sample_weight, reset=True)
        gamma = gamma_value(self.gamma, task.X, task.mass)
        kernel = self._checked_kernel(task, gamma)
        room = Room(self._max_bytes(), thread_count(type(self).__name__, self.n_jobs))

        rows = sources(task.X, kernel, task.problems, room)
        begun = None if start is None else self._begun(start, task)
        steps = side_by_side(solvers(rows, task.problems, self._rule(task), begun), room.n_threads)
        outcome = watch.follow(
            steps,
            max_rounds=len(task.problems) if len(task.problems) > 1 else None,
            fitted=lambda step: self._attributes(task, gamma, self._solved(task, rows, step), step),
            X=task.X,
            y=task.y,
        )

        solved = self._solved(task, rows, outcome.step)
        for name, value in self._attributes(task, gamma, solved, outcome.step).items():
            setattr(self, name, value)
        self.stop_reason_ = outcome.reason
        self.certificate_ = machine_certificate([one.facts for one in solved], self.tol, self.converged_)
        if not self.converged_ and outcome.step.last:
            warnings.warn(
                f"{type(self).__name__}: the fit stopped at {int(self.n_iter_.max())} moves, with a KKT violation of "
                f"{self.kkt_violation_.max():.2g} instead of tol={self.tol:g}; rows on one scale, or a smaller C, "
                "would be solved faster.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _scores(self, X: Any) -> np.ndarray:
        """Return the scores of all problems, shape (n_rows, n_problems); only support vectors are touched."""
        table = unstacked(self.dual_coef_, self.n_support_)
        threads = thread_count(type(self).__name__, self.n_jobs)
        if self.kernel == "precomputed":
            return X[:, self.support_] @ table + self.intercept_
        if self.kernel == "linear":
            return linear_scores(X, self._directions(), self.intercept_, threads)
        vectors = self.support_vectors_
        if sparse.issparse(X) or sparse.issparse(vectors):
            X, vectors = self._alike(X, vectors)
        if X.dtype == np.float32 and np.finfo(np.float32).eps * np.linalg.norm(table, axis=0).max(initial=0.0) > OFF_BY:
            X, vectors = X.astype(np.float64), vectors.astype(np.float64)
        sums = kernel_sums(X, vectors, resolved_kernel(self, self.gamma_), table, threads)
        return sums + self.intercept_

    def _alike(self, X: Any, vectors: Any) -> tuple[Any, Any]:
        """Return rows and support vectors both dense, where these are not too many, or both sparse."""
        if vectors.shape[0] * vectors.shape[1] > DENSE_ENTRIES or X.shape[0] * X.shape[1] > DENSE_ENTRIES:
            return sparse.csr_array(X), sparse.csr_array(vectors)
        return tuple(rows.toarray() if sparse.issparse(rows) else rows for rows in (X, vectors))  # type: ignore[return-value]

    def _checked_query(self, X: Any) -> Any:
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, accept_sparse=self._takes_sparse())
        check_kernel_range(self, self.gamma_, X)
        return X

    def _checked_kernel(self, task: Task, gamma: float) -> Kernel | KernelFunction | None:
        """Return the kernel, or None where X holds its values; both must be symmetric as far as one can see."""
        who = type(self).__name__
        if self.kernel == "precomputed":
            check_symmetric(who, task.X, "a precomputed X")
            return None
        check_kernel_range(self, gamma, task.X)
        kernel = resolved_kernel(self, gamma)
        if callable(kernel):
            some = task.X[np.unique(np.linspace(0, task.X.shape[0] - 1, SAMPLED_ROWS).astype(np.intp))]
            check_symmetric(who, kernel(some, some), "kernel")
        return kernel

    def _max_bytes(self) -> float:
        return memory_bytes(self.cache_size if self.memory_limit is None else self.memory_limit)

    def _rule(self, task: Task) -> DualRule:
        most = max(LIKE_LIBSVM, STEPS_PER_ROW * task.places.size)
        return DualRule(float(self.tol), most if self.max_iter == -1 else int(self.max_iter), bool(self.shrinking))

    def _solved(self, task: Task, rows: list[KernelRows], step: SideBySideStep) -> list[Solved]:
        """Return the coefficients, offset and numbers of each problem."""
        return [
            self._solved_one(task, source, problem, one)
            for source, problem, one in zip(rows, task.problems, step.steps, strict=True)
        ]

    def _solved_one(self, task: Task, source: KernelRows, problem: Problem, step: DualStep) -> Solved:
        beta, scores = step.beta, step.scores
        if step.aside.any():
            support, aside = np.flatnonzero(beta), np.flatnonzero(step.aside)
            scores[aside] = source.exact_scores(support, beta[support], aside)
        intercept = offset(problem.dual, beta, scores)
        rounding = 6.0 * source.rounding * float(np.linalg.norm(beta))
        mass = task.mass[problem.places()]
        facts = machine_facts(problem.dual, beta, scores, intercept, mass, problem.label, rounding)
        if self.kernel == "linear" and not sparse.issparse(task.X):  # scores were measured from the mean of the rows
            used = beta != 0.0
            own = task.X[problem.places()].astype(np.float64)
            intercept -= float((beta[used] @ own[used]) @ own.mean(axis=0))
        return Solved(beta, intercept, facts)

    def _attributes(self, task: Task, gamma: float, solved: list[Solved], step: SideBySideStep) -> dict:
        """Return the fitted attributes that a step stands for."""
        table = coefficients(task.problems, [one.beta for one in solved], task.places.size)
        used = np.flatnonzero(table.any(axis=1))
        used = used[np.argsort(task.codes[used], kind="stable")]
        n_classes = int(task.codes.max()) + 1
        converged = all(one.converged for one in step.steps)
        return {
            **self._target_attributes(task),
            "support_": task.places[used].astype(np.int32),
            "support_vectors_": np.empty((0, 0)) if self.kernel == "precomputed" else task.X[used],
            "n_support_": np.bincount(task.codes[used], minlength=n_classes).astype(np.int32),
            "dual_coef_": stacked(table[used], task.codes[used], n_classes),
            "intercept_": np.array([one.intercept for one in solved]),
            "n_iter_": np.array([one.n_steps for one in step.steps], dtype=np.int32),
            "duality_gap_": np.array([one.facts.primal - one.facts.dual for one in solved]),
            "kkt_violation_": np.array([one.facts.violation for one in solved]),
            "gamma_": gamma,
            "fit_status_": 0 if converged else 1,
            "converged_": converged,
        }

    def _earlier(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the support and its coefficients of an earlier fit, if there was one."""
        if not hasattr(self, "dual_coef_"):
            return None
        return self.support_, unstacked(self.dual_coef_, self.n_support_)

    def _begun(self, earlier: tuple[np.ndarray, np.ndarray], task: Task) -> np.ndarray | None:
        """Return the coefficients to begin with: those of an earlier fit, where its rows are there again."""
        support, table = earlier
        if table.shape[1] != len(task.problems):
            return None
        return betas_at(task.places, support, table)

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
        return self._directions()

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes fit the parameters and each other: a model file is not taken on trust."""
        who = type(self).__name__
        vectors = (0, 0) if self.kernel == "precomputed" else (self.support_.size, self.n_features_in_)
        if self.support_vectors_.shape != vectors:
            raise InputError(f"{who}: support_vectors_ must have shape {vectors}; got {self.support_vectors_.shape}.")
        if self.kernel == "precomputed" and self.support_.size and self.support_.max() >= self.n_features_in_:
            raise InputError(f"{who}: support_ must be below {self.n_features_in_}; got {self.support_.max()}.")
        n_groups = self.n_support_.size
        shape = max(1, n_groups - 1), int(self.n_support_.sum())
        n_problems = max(1, n_groups * (n_groups - 1) // 2)
        if self.dual_coef_.shape != shape or self.intercept_.size != n_problems:
            raise InputError(f"{who}: dual_coef_, n_support_ and intercept_ must be of the same problems.")

    def _takes_sparse(self) -> bool:
        return not callable(self.kernel) and self.kernel != "precomputed"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


@describe
class SVC(ClassifierMixin, Machine):
    """Separate classes by the widest margin, in the space of a kernel.

    More than two classes are separated pair by pair, as in scikit-learn.

    Parameters
    ----------
    degree : int, default=3
        The power of 'poly'.
    decision_function_shape : 'ovr' or 'ovo', default='ovr'
        For more than two classes: a score for each class, or one for each pair.
    break_ties : bool, default=False
        Let the scores decide where several classes win equally many pairs, instead of the order of the classes.

    Attributes
    ----------
    support_, support_vectors_, n_support_ : the rows that matter, by place, by value, and how many of each class
    dual_coef_, intercept_, coef_, classes_, class_weight_, gamma_, n_iter_, fit_status_, shape_fit_
    duality_gap_, kkt_violation_ : ndarray of shape (n_problems,)
        How much the model costs beyond the best one, at most; how far the conditions of the optimum are violated.
    converged_, stop_reason_, certificate_

    Examples
    --------
    >>> from eigenwood import SVC
    >>> model = SVC(kernel="linear", C=100.0).fit([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]], ["low", "low", "high"])
    >>> model.support_, model.certificate_.holds, round(model.certificate_["margin"].value, 3)
    (array([2, 1], dtype=int32), True, 2.828)
    """

    PARAMS = {
        **MACHINE_PARAMS,
        "class_weight": ClassWeights(),
        "decision_function_shape": Choice(SHAPES),
        "break_ties": Flag(),
        "random_state": Seed(),
    }
    FITTED = {
        **CLASS_STATE,
        **MACHINE_STATE,
        "class_weight_": Array("f", ("n_classes",)),
        "shape_fit_": Array("i", (2,)),
    }

    def __init__(
        self,
        *,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        slack="hinge",
        shrinking=True,
        tol=1e-3,
        cache_size=None,
        memory_limit=None,
        time_limit=None,
        class_weight=None,
        max_iter=-1,
        warm_start=False,
        decision_function_shape="ovr",
        break_ties=False,
        verbose=False,
        random_state=None,
        n_jobs=-1,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.slack = slack
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    def decision_function(self, X):
        """Return signed distances from the surface: one for two classes, else one for each class or pair."""
        scores = self._scores(self._checked_query(X))
        if scores.shape[1] == 1 or self.decision_function_shape == ONE_AGAINST_ONE:
            return scores_for_users(scores)
        return class_scores(scores, self.classes_.size)

    def predict(self, X):
        """Return the class of every row; of several, the one that wins most pairs."""
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == ONE_AGAINST_ONE:
            raise InputError("SVC: break_ties must be False when decision_function_shape is 'ovo'; got True.")
        scores = self._scores(self._checked_query(X))
        if scores.shape[1] == 1:
            return self.classes_[(scores[:, 0] > 0.0).astype(np.intp)]
        ranks = class_scores(scores, self.classes_.size) if self.break_ties else pair_votes(scores, self.classes_.size)
        return self.classes_[ranks.argmax(axis=1)]

    def _task(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Task:
        known = None if reset else self.classes_
        data = check_training(self, X, y, sample_weight, accept_sparse=self._takes_sparse(), known=known, reset=reset)
        if self.kernel == "precomputed":
            check_square("SVC", np.asarray(X))
        return self._class_task(data)

    def _class_task(self, data: Training) -> Task:
        """Return the problems of checked data; several classes are sorted."""
        labels, codes = data.classes
        weights = class_weights(self, self.class_weight, data)
        order = np.arange(codes.size) if labels.size == 2 else np.argsort(codes, kind="stable")
        order = order[weights[order] > 0.0]
        absent = np.setdiff1d(np.arange(labels.size), codes[order])
        if absent.size:
            raise InputError(f"SVC: class_weight must be above 0 for every class; got 0 for {labels[absent[0]]!r}.")
        data = data if (order == np.arange(codes.size)).all() and order.size == codes.size else data.taken(order)
        X = data.X[:, data.places] if self.kernel == "precomputed" else data.X
        codes, costs = data.classes.codes, float(self.C) * weights[order]
        problems = class_problems(codes, costs, labels, self.slack)
        return Task(X, labels[codes], codes, data.weights, data.places, problems)

    def _target_attributes(self, task: Task) -> dict:
        classes, codes = np.unique(task.y, return_inverse=True)
        costs = np.zeros(classes.size)
        for problem in task.problems:
            places = problem.places()
            dual = problem.dual
            own = np.maximum(dual.high, -dual.low) if self.slack == SLACKS[0] else 0.5 / dual.ridge
            costs[codes[places]] = own / (self.C * task.mass[places])
        return {
            "classes_": classes,
            "class_weight_": costs,
            "shape_fit_": np.array(task.X.shape, dtype=np.int64),
        }


@describe
class SVR(RegressorMixin, Machine):
    """Fit a curve with a tube around it: what lies inside costs nothing, what lies outside its distance.

    Parameters
    ----------
    degree : int, default=3
        The power of 'poly'.
    epsilon : float, default=0.1
        Half the width of the tube.

    Attributes
    ----------
    support_, support_vectors_, n_support_ : the rows on the tube or outside, by place, by value, and how many
    dual_coef_, intercept_, coef_, gamma_, n_iter_, fit_status_
    duality_gap_, kkt_violation_ : ndarray of shape (1,)
        How much the model costs beyond the best one, at most; how far the conditions of the optimum are violated.
    converged_, stop_reason_, certificate_

    Examples
    --------
    >>> from eigenwood import SVR
    >>> model = SVR(kernel="linear", C=100.0, epsilon=0.5).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> model.predict([[4.0]]).round(3), model.coef_.round(3)  # the flattest line within the tube
    (array([2.5]), array([[0.5]]))
    """

    PARAMS = {**MACHINE_PARAMS, "epsilon": Number(at_least=0)}
    FITTED = {**MACHINE_STATE, "shape_fit_": Array("i", (2,))}

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        C=1.0,
        epsilon=0.1,
        slack="hinge",
        shrinking=True,
        cache_size=None,
        memory_limit=None,
        time_limit=None,
        verbose=False,
        max_iter=-1,
        warm_start=False,
        n_jobs=-1,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.slack = slack
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.verbose = verbose
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def predict(self, X):
        """Return the amount of every row."""
        return self._scores(self._checked_query(X))[:, 0]

    def _task(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Task:
        rows = check_rows(self, X, reset=reset, accept_sparse=self._takes_sparse())
        if self.kernel == "precomputed":
            check_square("SVR", np.asarray(X))
        amounts = check_amounts(self, y, rows.shape[0])
        if amounts.shape[1] > 1:
            raise InputError(f"SVR: y must have one column; got {amounts.shape[1]}.")
        weights = check_weights(self, sample_weight, rows.shape[0])
        places = np.flatnonzero(weights)
        rows = rows if places.size == weights.size else rows[places]
        rows = rows[:, places] if self.kernel == "precomputed" and places.size < weights.size else rows
        amounts, mass = amounts[places, 0], weights[places]
        problem = amount_problem(amounts, float(self.C) * mass, self.slack, float(self.epsilon))
        return Task(rows, amounts, np.zeros(places.size, dtype=np.intp), mass, places, [problem])

    def _target_attributes(self, task: Task) -> dict:
        return {"shape_fit_": np.array(task.X.shape, dtype=np.int64)}


def betas_at(places: np.ndarray, support: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return the coefficients of rows that stood at ``places``; 0 for those that are no support."""
    betas = np.zeros((places.size, table.shape[1]))
    order = np.argsort(support)
    found = np.searchsorted(support[order], places).clip(max=max(support.size - 1, 0))
    if support.size:
        here = support[order][found] == places
        betas[here] = table[order][found[here]]
    return betas


def pair_votes(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Return how many pairs each class wins."""
    votes = np.zeros((scores.shape[0], n_classes))
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        wins = scores[:, column] > 0.0
        votes[wins, i] += 1.0
        votes[~wins, j] += 1.0
    return votes


def class_scores(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Return votes and, less than any vote, how clear the pairs were: what scikit-learn calls 'ovr'."""
    clarity = np.zeros((scores.shape[0], n_classes))
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        clarity[:, i] += scores[:, column]
        clarity[:, j] -= scores[:, column]
    return pair_votes(scores, n_classes) + clarity / (3.0 * (np.abs(clarity) + 1.0))


def verify_machine(model: SVC | SVR, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
    """Return the certificate, recomputed from the rows and the fitted numbers, in float64."""
    task = model._task(X, y, sample_weight, reset=False)
    if model.kernel == "precomputed":
        check_holds_rows(type(model).__name__, task.places, model.support_)
    table = unstacked(model.dual_coef_, model.n_support_)
    betas = betas_at(task.places, model.support_, table)
    facts = [
        _recomputed(model, task, problem, betas[problem.places(), column], float(model.intercept_[column]))
        for column, problem in enumerate(task.problems)
    ]
    return machine_certificate(facts, model.tol, model.converged_)


def _recomputed(model: Any, task: Task, problem: Problem, beta: np.ndarray, intercept: float) -> MachineFacts:
    """Return the numbers of one problem, from the rows."""
    places, used = problem.places(), beta != 0.0
    if model.kernel == "precomputed":
        scores = task.X[np.ix_(places, places[used])] @ beta[used]
    else:
        X = task.X.astype(np.float64)
        kernel = resolved_kernel(model, model.gamma_)
        threads = thread_count(type(model).__name__, model.n_jobs)
        scores = kernel_sums(X[places], X[places[used]], kernel, beta[used][:, None], threads)[:, 0]
    rounding = 6.0 * float(np.finfo(np.float32).eps) * float(np.linalg.norm(beta))
    return machine_facts(problem.dual, beta, scores, intercept, task.mass[places], problem.label, rounding)
