"""Support vector machines for classes and for amounts, with scikit-learn's faces."""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import closing
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.callback import with_callbacks
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.kernels.blocks import KernelFunction, gram_diagonal
from eigenwood.core.kernels.functions import Kernel
from eigenwood.core.kernels.sums import kernel_sums
from eigenwood.core.margin.dual_svm import FELT, DualRule, DualStep, KernelRows, cheapest_offset, offset, settled
from eigenwood.core.margin.scores import linear_scores
from eigenwood.core.margin.side_by_side import SideBySideStep
from eigenwood.core.pieces import at_once
from eigenwood.core.threads import results_of, row_blocks
from eigenwood.errors import InputError
from eigenwood.estimators.classifying import scores_for_users
from eigenwood.estimators.kernels import KERNEL_PARAMS, check_kernel_range, resolved_kernel
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.state import CLASS_STATE, COUNT, FEATURE_STATE, FIT_STATE, FLAG, POSITIVE
from eigenwood.estimators.svm_problems import (
    SLACKS,
    Measured,
    Room,
    Task,
    amount_task,
    class_task,
    coefficients,
    gathered,
    shared,
    sources,
    stacked,
    starts,
    steps_of,
    to_rows,
    unstacked,
    value_rounding,
    with_small_steps,
)
from eigenwood.estimators.watching import FINISHED, TIME_LIMIT, TIME_UP, Deadline, Watch, Watched
from eigenwood.proofs.claim import Claim
from eigenwood.proofs.svm import (
    MachineFacts,
    Stated,
    machine_certificate,
    machine_facts,
    stated_claim,
    support_claim,
)
from eigenwood.validation.arrays import check_rows, check_weights, negative_left_out
from eigenwood.validation.kernels import (
    check_dense_gram,
    check_holds_rows,
    check_square,
    check_symmetric,
    gamma_value,
    symmetric_function,
)
from eigenwood.validation.memory import MEMORY_LIMIT, memory_bytes
from eigenwood.validation.params import AnyOf, Choice, ClassWeights, Flag, Infinite, Number, Seed, check_params
from eigenwood.validation.state import Array
from eigenwood.validation.targets import Training, check_amounts, check_training, class_weights
from eigenwood.validation.threads import N_JOBS, thread_count

LIKE_LIBSVM, STEPS_PER_ROW = 10_000_000, 100  # moves of pairs after which a fit is given up, at least
COLUMN_GIVEN = "A column-vector y was passed when a 1d array was expected; y.ravel() makes one of it."
MEASURED_ROWS = 512  # for each thread
SAMPLED_ROWS = 64  # whose similarities are looked at before a function of the user's is believed
DENSE_ENTRIES = 50_000_000  # of sparse support vectors that are made dense to predict
HARD = 1e10  # what slack costs where none is allowed
NARROW, WIDE = 1e-15, 1e15  # gamma of a kernel that can be computed in float32
OFF_BY = 1e-4  # of a score in float32; where it could be more, float64 is used
LEAST_COST, LARGEST_COST = 1e-150, 1e150  # whose squares are numbers
DEVIATIONS = 6.0  # of a normal error, which no score exceeds
SAME = 1e-9  # a share by which what follows from the same rows may differ
OF_TERMS = 1e-13  # by which a sum in float64 is off, as a share of its terms without their signs
VERIFIED_VALUES = 2**24  # of the kernel, between two looks at the clock
ONE_AGAINST_ONE, ONE_AGAINST_REST = SHAPES = ("ovo", "ovr")

MACHINE_PARAMS = {
    "C": AnyOf(Number(above=0), Infinite()),
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
PER_PAIR = Array("f", ("n_pairs",))  # of classes, or for the one problem of two classes or of amounts
MACHINE_STATE = {
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


class Rounding(NamedTuple):
    """How exact kernel values and their sums are."""

    of_value: float  # by which a value that the solver uses is off, about
    tol: float  # of scores that may be off by more than a share of this, the solver computes new ones in float64
    lengths: np.ndarray  # √|k(x, x)| of the rows: |k(x, z)| is at most the product of two, for a Mercer kernel

    def of_scores(self, task: Task, column: int, beta: np.ndarray) -> float:
        """Return by how much the scores of a problem may be off.

        The errors of many values add up like the lengths of vectors; in float64, a sum is as exact as its largest
        terms.
        """
        from_values = min(self.of_value * float(np.linalg.norm(gathered(task, column, beta))), FELT * self.tol)
        lengths = self.lengths[task.group[task.problems[column].places()]]
        return DEVIATIONS * from_values + OF_TERMS * float(np.abs(beta) @ lengths) * float(lengths.max())


def rounding_of(X: Any, kernel: Kernel | KernelFunction | None, of_value: float, tol: float) -> Rounding:
    """Return how exact the kernel values of these rows are; without a kernel, X holds them."""
    diagonal = X.diagonal() if kernel is None else gram_diagonal(X, kernel)
    return Rounding(of_value, tol, np.sqrt(np.abs(diagonal)))


class Solved(NamedTuple):
    """One problem after the fit."""

    beta: np.ndarray  # of all its rows
    intercept: float
    facts: MachineFacts


class Afterwards:
    """How long it takes to make a model of a step, or to go on: the scores of rows that are set aside must be computed.

    That is measured once, on a few rows. It is not kept back in vain: who finishes needs the same time for it.
    """

    def __init__(self, rows: list[KernelRows], n_threads: int) -> None:
        self._rows, self._threads = rows, n_threads
        self._per_value: float | None = None
        self._seen: list[DualStep | None] = [None] * len(rows)
        self._n_values = [0] * len(rows)

    def seconds(self, step: SideBySideStep) -> float:
        """Return about how many."""
        for k, one in enumerate(step.steps):
            if one is not self._seen[k]:  # of many problems, few have changed
                self._seen[k] = one
                self._n_values[k] = int(np.count_nonzero(one.beta)) * one.due
        n_problems = sum(n > 0 for n in self._n_values)
        if n_problems == 0:
            return 0.0
        if self._per_value is None:
            first = next(k for k, n in enumerate(self._n_values) if n > 0)
            self._per_value = self._measured(self._rows[first], step.steps[first])
        return self._per_value * sum(self._n_values) / min(n_problems, self._threads)

    def _measured(self, rows: KernelRows, step: DualStep) -> float:
        """Return the seconds that a kernel value takes."""
        support, some = np.flatnonzero(step.beta), np.arange(min(step.beta.size, MEASURED_ROWS * self._threads))
        seconds = []
        for of in (some[:1], some, some):  # the first may have to load compiled code; the others are not alone here
            start = time.perf_counter()
            at_once(rows.exact_scores(support, step.beta[support], of))
            seconds.append(time.perf_counter() - start)
        return min(seconds[1:]) / (support.size * some.size)


class Machine(Watched, BaseEstimator, ABC):
    """What both machines share: the way from rows to coefficients, and from rows to scores."""

    @abstractmethod
    def _task(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Task:
        """Return what is to be solved, checked."""

    def _checked_task(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Task:
        """Return what is to be solved, with costs whose products are numbers."""
        self._check_gram(X)
        task = self._task(X, y, negative_left_out(self, sample_weight), reset)
        for problem in (*task.problems, *task.joined):
            for cost in (problem.costs.min(), problem.costs.max()):
                if not LEAST_COST <= cost <= LARGEST_COST:
                    raise InputError(
                        f"{type(self).__name__}: C times the weight of a row must be from {LEAST_COST:g} to "
                        f"{LARGEST_COST:g}; got {cost:.2g}."
                    )
        return task

    @abstractmethod
    def _own_attributes(self, task: Task, n_moves: list[int]) -> dict:
        """Return the fitted attributes that classes and amounts do not share."""

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Learn from the rows of X (or their Gram matrix, if precomputed) and y; a weight multiplies C."""
        check_params(self)
        watch = Watch(self)
        start = self._earlier() if self.warm_start else None
        task = self._checked_task(X, y, sample_weight, reset=True)
        gamma = gamma_value(type(self).__name__, self.gamma, task.X, task.joined_mass())
        kernel = self._checked_kernel(task, gamma)
        room = self._room()

        where, rule = sources(task.X, kernel, task.joined, room), self._rule(task)
        errors = rounding_of(task.X, kernel, where.rows[0].rounding, self.tol)
        begun = starts(task, None if start is None else self._begun(start, task))
        with closing(steps_of(where, task, rule, begun, room.n_threads)) as steps:
            outcome = watch.follow(
                steps,
                max_rounds=len(task.problems) if len(task.problems) > 1 else None,
                fitted=lambda step: self._attributes(task, gamma, self._solved(task, where.rows, step, errors), step),
                X=task.X,
                y=task.y,
                seconds_after=Afterwards(where.rows, room.n_threads).seconds,
            )
        step = outcome.step
        if outcome.reason == TIME_UP:
            step = with_small_steps(step, where.rows, task, rule, room.n_threads)

        solved = self._solved(task, where.rows, step, errors)
        for name, value in self._attributes(task, gamma, solved, step).items():
            setattr(self, name, value)
        self._C_of_fit, self.stop_reason_ = self._cost(), outcome.reason
        self.certificate_ = machine_certificate([one.facts for one in solved], self.tol, self.converged_)
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
            return X[:, self.support_] @ table
        if self.kernel == "linear":
            return linear_scores(X, self._directions(), np.zeros(table.shape[1]), threads)
        X, vectors = self._alike(X, self.support_vectors_)
        rounding = np.finfo(X.dtype).eps * np.linalg.norm(table, axis=0).max(initial=0.0)
        if rounding > OFF_BY or not NARROW < self.gamma_ < WIDE:
            X, vectors = X.astype(np.float64), vectors.astype(np.float64)
        return kernel_sums(X, vectors, resolved_kernel(self, self.gamma_), table, threads)

    def _alike(self, X: Any, vectors: Any) -> tuple[Any, Any]:
        """Return rows and support vectors of one dtype; both dense, where these are not too many, or both sparse."""
        if sparse.issparse(X) or sparse.issparse(vectors):
            is_large = max(X.shape[0], vectors.shape[0]) * X.shape[1] > DENSE_ENTRIES
            X, vectors = (sparse.csr_array(rows) if is_large else dense(rows) for rows in (X, vectors))
        dtype = np.result_type(X, vectors)
        return X.astype(dtype, copy=False), vectors.astype(dtype, copy=False)

    def _check_gram(self, X: Any) -> None:
        if self.kernel == "precomputed":
            check_dense_gram(type(self).__name__, X)

    def _among(self, rows: Any, places: np.ndarray, given: Any) -> Any:
        """Return checked rows as they are, or the similarities among them if they are precomputed."""
        if self.kernel != "precomputed":
            return rows
        who = type(self).__name__
        check_square(who, np.asarray(given))
        K = rows if places.size == rows.shape[1] else rows[:, places]
        check_symmetric(who, K, "a precomputed X", places)
        return K

    def _checked_query(self, X: Any) -> Any:
        check_is_fitted(self)
        self._check_gram(X)
        X = check_rows(self, X, reset=False, accept_sparse=self._takes_sparse())
        check_kernel_range(self, self.gamma_, X)
        return X

    def _checked_kernel(self, task: Task, gamma: float) -> Kernel | KernelFunction | None:
        """Return the kernel, symmetric as far as one can see; None where X holds its values."""
        if self.kernel == "precomputed":
            return None
        check_kernel_range(self, gamma, task.X)
        kernel = resolved_kernel(self, gamma)
        if callable(kernel):
            some = np.unique(np.linspace(0, task.y.size - 1, SAMPLED_ROWS).astype(np.intp))
            K = kernel(task.X[some], task.X[some])
            check_symmetric(type(self).__name__, K, "kernel", task.joined_places()[some])
            return symmetric_function(type(self).__name__, kernel)
        return kernel

    def _room(self) -> Room:
        """Return the memory and the threads that may be used."""
        limit = self.cache_size if self.memory_limit is None else self.memory_limit
        return Room(memory_bytes(limit), self._threads())

    def _threads(self) -> int:
        """Return how many threads may be used: a function of the user's is never called from two at once."""
        asked = thread_count(type(self).__name__, self.n_jobs)
        return 1 if callable(self.kernel) else asked

    def _rule(self, task: Task) -> DualRule:
        most = max(LIKE_LIBSVM, STEPS_PER_ROW * task.places.size)
        return DualRule(float(self.tol), most if self.max_iter == -1 else int(self.max_iter), bool(self.shrinking))

    def _solved(self, task: Task, rows: list[KernelRows], step: SideBySideStep, errors: Rounding) -> list[Solved]:
        """Return the coefficients, offset and numbers of each problem."""
        threads = self._threads() if len(rows) > 1 else 1
        return results_of(
            lambda column: self._solved_one(task, column, rows[column], step.steps[column], errors),
            range(len(rows)),
            threads,
        )

    def _solved_one(self, task: Task, column: int, source: KernelRows, step: DualStep, errors: Rounding) -> Solved:
        joined, scores = task.joined[column], step.scores
        beta = settled(joined.dual, step.beta) if step.converged else step.beta
        if step.aside.any():
            support, aside = np.flatnonzero(beta), np.flatnonzero(step.aside)
            scores[aside] = at_once(source.exact_scores(support, beta[support], aside))
        intercept = (offset if step.converged else cheapest_offset)(joined.dual, beta, scores)
        own_beta, own_scores = shared(task, column, beta), to_rows(task, column, scores)
        facts = problem_facts(task, column, own_beta, own_scores, intercept, errors)
        used = np.flatnonzero(beta)
        return Solved(own_beta, intercept - source.shift(used, beta[used]), facts)

    def _attributes(self, task: Task, gamma: float, solved: list[Solved], step: SideBySideStep) -> dict:
        """Return the fitted attributes that a step stands for."""
        table = coefficients(task.problems, [one.beta for one in solved], task.places.size)
        used = np.flatnonzero(table.any(axis=1))
        used = used[np.argsort(task.codes[used], kind="stable")]
        n_classes = int(task.codes.max()) + 1
        converged = all(one.converged for one in step.steps)
        return {
            **self._own_attributes(task, [one.n_steps for one in step.steps]),
            "support_": task.places[used].astype(np.int32),
            "shape_fit_": np.array([task.places.size, self.n_features_in_], dtype=np.int64),
            "support_vectors_": np.empty((0, 0)) if self.kernel == "precomputed" else task.X[task.group[used]],
            "n_support_": np.bincount(task.codes[used], minlength=n_classes).astype(np.int32),
            "dual_coef_": stacked(table[used], task.codes[used], n_classes),
            "intercept_": np.array([one.intercept for one in solved]),
            "duality_gap_": np.array([one.facts.primal - one.facts.dual for one in solved]),
            "kkt_violation_": np.array([one.facts.violation for one in solved]),
            "gamma_": gamma,
            "fit_status_": 0 if converged else 1,
            "converged_": converged,
        }

    def _earlier(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the support and its coefficients of an earlier fit, if there was one, as if for the C of now.

        Most of them are at the bound C, before as after.
        """
        if not hasattr(self, "dual_coef_"):
            return None
        table = unstacked(self.dual_coef_, self.n_support_)
        return self.support_, table * (self._cost() / getattr(self, "_C_of_fit", self._cost()))

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
        directions = self._directions()
        directions.setflags(write=False)  # a change would be lost
        return directions

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
        if np.unique(self.support_).size < self.support_.size:
            raise InputError(f"{who}: support_ must hold different rows; got one twice.")
        if self.fit_status_ != (0 if self.converged_ else 1):
            raise InputError(f"{who}: fit_status_ must be 0 where the fit converged, else 1; got {self.fit_status_}.")
        if self.converged_ and self.stop_reason_ != FINISHED:
            raise InputError(f"{who}: stop_reason_ must be {FINISHED!r} for a fit that converged.")

    def _cost(self) -> float:
        """Return C as a number; where it is infinite, no slack is allowed, and so much of it would cost too much."""
        return HARD if np.isinf(self.C) else float(self.C)

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
    max_iter : int, default=-1
        The most moves of a pair of coefficients; -1 is as many as LIBSVM takes before it gives up.
    memory_limit : float or None, default=None
        Megabytes for kernel values that are kept; None is half of what is free.
    n_jobs : int, default=-1
        Threads; -1 is all, None is 1. The result has the same bits for any number.
    random_state : None
        Taken for scikit-learn's sake: there is nothing random here.

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
        "n_iter_": Array("i", ("n_pairs",)),
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
        data = data._replace(X=self._among(data.X, data.places, X))
        return class_task(data, self._cost() * self._class_factors(data), self.slack, self.kernel == "precomputed")

    def _class_factors(self, data: Training) -> np.ndarray:
        """Return the weight of each class, all above 0."""
        labels, codes = data.classes
        factors = np.full(labels.size, np.nan)
        factors[codes] = class_weights(self, self.class_weight, data) / data.weights
        for label, factor in zip(labels.tolist(), factors, strict=True):
            if np.isnan(factor):
                raise InputError(f"SVC: y must hold all classes of the model; got none of {label!r}.")
            if factor == 0.0:
                raise InputError(f"SVC: class_weight must be above 0 for every class; got 0 for {label!r}.")
        return factors

    def _own_attributes(self, task: Task, n_moves: list[int]) -> dict:
        return {
            "classes_": task.labels,
            "class_weight_": task.costs / self._cost(),
            "n_iter_": np.array(n_moves, dtype=np.int32),
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
    max_iter : int, default=-1
        The most moves of a pair of coefficients; -1 is as many as LIBSVM takes before it gives up.
    memory_limit : float or None, default=None
        Megabytes for kernel values that are kept; None is half of what is free.
    n_jobs : int, default=-1
        Threads; -1 is all, None is 1. The result has the same bits for any number.

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
    FITTED = {**MACHINE_STATE, "n_iter_": COUNT}

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
        amounts = check_amounts(self, y, rows.shape[0])
        if amounts.shape[1] > 1:
            raise InputError(f"SVR: y must have one column; got {amounts.shape[1]}.")
        if np.asarray(y).ndim == 2:
            warnings.warn(COLUMN_GIVEN, DataConversionWarning, stacklevel=5)
        weights = check_weights(self, sample_weight, rows.shape[0])
        places = np.flatnonzero(weights)
        rows = rows if places.size == weights.size else rows[places]
        data = Measured(self._among(rows, places, X), amounts[places, 0], weights[places], places)
        return amount_task(data, self._cost(), self.slack, float(self.epsilon), self.kernel == "precomputed")

    def _own_attributes(self, task: Task, n_moves: list[int]) -> dict:
        return {"n_iter_": n_moves[0]}


def betas_at(places: np.ndarray, support: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return the coefficients of rows that stood at ``places``; 0 for those that are no support."""
    betas = np.zeros((places.size, table.shape[1]))
    order = np.argsort(support)
    found = np.searchsorted(support[order], places).clip(max=max(support.size - 1, 0))
    if support.size:
        here = support[order][found] == places
        betas[here] = table[order][found[here]]
    return betas


def dense(rows: Any) -> np.ndarray:
    """Return rows as an array."""
    return rows.toarray() if sparse.issparse(rows) else rows


def pair_votes(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Return how many pairs each class wins."""
    votes = np.zeros((scores.shape[0], n_classes))
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        wins = scores[:, column] > 0.0
        votes[wins, i] += 1.0
        votes[~wins, j] += 1.0
    return votes


def class_scores(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Return votes and, less than any vote, how clear the pairs were: what scikit-learn calls 'ovr'.

    A pair whose score is exactly 0 counts for its first class here, and for its second in ``pair_votes``: as there.
    """
    clarity = np.zeros((scores.shape[0], n_classes))
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        clarity[:, i] += scores[:, column]
        clarity[:, j] -= scores[:, column]
    votes = n_classes - 1.0 - pair_votes(-scores, n_classes)
    return votes + clarity / (3.0 * (np.abs(clarity) + 1.0))


def problem_facts(
    task: Task, column: int, beta: np.ndarray, scores: np.ndarray, intercept: float, errors: Rounding
) -> MachineFacts:
    """Return the numbers of one problem, from the coefficients and scores of its rows."""
    problem, rounding = task.problems[column], errors.of_scores(task, column, beta)
    mass = task.mass[problem.places()]
    return machine_facts(problem.dual, beta, scores, intercept, mass, problem.label, rounding, errors.tol)


def verify_machine(model: SVC | SVR, X: Any, y: Any, sample_weight: Any, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, recomputed from the rows and the fitted numbers, in float64."""
    task = model._checked_task(X, y, sample_weight, reset=False)
    betas = betas_at(task.places, model.support_, unstacked(model.dual_coef_, model.n_support_))
    if model.kernel == "precomputed":
        check_holds_rows(type(model).__name__, task.places, model.support_)
        sums = task.X @ betas
    else:
        sums = sums_within(model, task.X.astype(np.float64), deadline)
    kernel = model._checked_kernel(task, model.gamma_)
    errors = rounding_of(task.X, kernel, value_rounding(task.X, kernel, model._room()), model.tol)
    facts = []
    for column, problem in enumerate(task.problems):
        deadline.check()
        beta, scores = betas[problem.places(), column], sums[task.group[problem.places()], column]
        facts.append(problem_facts(task, column, beta, scores, float(model.intercept_[column]), errors))
    yield from machine_certificate(facts, model.tol, model.converged_)
    deadline.check()
    yield support_claim(n_other_support(model, task))
    yield stated_claim(stated_numbers(model, task, facts))


def sums_within(model: Machine, X: Any, deadline: Deadline) -> np.ndarray:
    """Return the scores less b of some rows, a block at a time: there may not be time for all."""
    sums = []
    for rows in row_blocks(X.shape[0], max(1, VERIFIED_VALUES // max(1, model.support_.size))):
        deadline.check()
        sums.append(model._sums(X[rows]))
    return np.concatenate(sums)


def n_other_support(model: Machine, task: Task) -> int:
    """Return how many support vectors are not what stands in the table where they are said to come from."""
    order = np.argsort(task.places)
    found = order[np.searchsorted(task.places[order], model.support_).clip(max=order.size - 1)]
    others = task.places[found] != model.support_
    others |= task.codes[found] != np.repeat(np.arange(model.n_support_.size), model.n_support_)
    if model.kernel != "precomputed":
        others |= are_different(task.X[task.group[found]], model.support_vectors_)
    return int(others.sum())


def are_different(rows: Any, others: Any) -> np.ndarray:
    """Return for each of some rows whether it differs from the other in its place; what is sparse stays so."""
    if sparse.issparse(rows) or sparse.issparse(others):
        rows, others = sparse.csr_array(rows), sparse.csr_array(others)
    return np.asarray(abs(rows - others).sum(axis=1)).ravel() != 0.0


def stated_numbers(model: Machine, task: Task, facts: list[MachineFacts]) -> list[Stated]:
    """Return what the model states beside its coefficients."""
    gamma = gamma_value(type(model).__name__, model.gamma, task.X, task.joined_mass())
    shape = np.array([task.places.size, model.n_features_in_])
    weights = model._own_attributes(task, [0] * len(facts)).get("class_weight_")
    gaps, violations = np.array([[one.primal - one.dual, one.violation] for one in facts]).T
    off_gaps, off_violations = np.array([[one.gap_rounding, 2.0 * one.rounding] for one in facts]).T
    return [
        Stated(model.duality_gap_, gaps, off_gaps),
        Stated(model.kkt_violation_, violations, off_violations),
        Stated(model.gamma_, gamma, SAME * gamma),
        Stated(model.shape_fit_, shape, SAME),
        *([] if weights is None else [Stated(model.class_weight_, weights, SAME * weights)]),
    ]
