"""The kernel perceptron with the interface of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.kernels.source import KernelValues
from eigenwood.core.margin.kernel_perceptron import (
    CHANGE,
    KernelPerceptronStep,
    KernelRule,
    kernel_perceptron_steps,
    voted_scores,
)
from eigenwood.core.threads import results_of, row_blocks
from eigenwood.estimators.classifying import ScoringClassifier, deduplicated_rows, problem_labels, scores_for_users
from eigenwood.estimators.kernels import KERNEL_PARAMS, check_kernel_range, query_gram, resolved_kernel, takes_sparse
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.state import (
    AMOUNT,
    CLASS_STATE,
    COUNT,
    FEATURE_STATE,
    FIT_STATE,
    FLAG,
    PER_PROBLEM,
    POSITIVE,
)
from eigenwood.estimators.watching import TIME_LIMIT, Watch
from eigenwood.proofs.perceptron import PerceptronFacts, perceptron_certificate
from eigenwood.validation.arrays import check_rows
from eigenwood.validation.kernels import check_square, check_support_vectors, gamma_value
from eigenwood.validation.params import AnyOf, Choice, ClassWeights, Flag, Nothing, Number, Seed, check_params
from eigenwood.validation.perceptron import AVERAGED, LAST, VOTED, VOTES, check_budget, check_history
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.state import Array
from eigenwood.validation.targets import Training, check_training, class_weights, one_against_rest
from eigenwood.validation.threads import N_JOBS, thread_count

PREDICT_ROWS = 1024  # rows whose kernel values are in memory at a time


@describe
class KernelPerceptron(ScoringClassifier):
    """Learn from mistakes in the space of a kernel; only the examples it erred on are kept.

    Scikit-learn has no twin of it. With ``kernel='linear'`` it makes the same mistakes as :class:`Perceptron`, and
    with ``kernel='poly', coef0=1`` the same as a perceptron on :class:`PolynomialExpansion`.

    Parameters
    ----------
    degree : int, default=3
        The power of 'poly'.
    vote : 'last', 'averaged' or 'voted', default='last'
        Which of the rules along the way predicts: the last one, their mean, or a vote in which each counts as often
        as rows passed before it erred (Freund and Schapire 1999).
    max_support : int or None, default=None
        The most examples to keep; when one too many has come, the one that matters least to w leaves.

    Attributes
    ----------
    support_, support_vectors_ : the examples it erred on, by place and by value
    dual_coef_ : ndarray of shape (n_problems, n_support), signed
    intercept_, classes_, n_iter_, n_mistakes_, gamma_, stop_reason_, certificate_
    history_support_, history_problem_, history_changes_ : the changes one by one, when ``vote='voted'``

    Examples
    --------
    >>> from eigenwood import KernelPerceptron
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], ["same", "same", "other", "other"]
    >>> model = KernelPerceptron(kernel="rbf", gamma=2.0).fit(X, y)
    >>> model.score(X, y), model.certificate_.holds
    (1.0, True)
    """

    PARAMS = {
        **KERNEL_PARAMS,
        "vote": Choice(VOTES),
        "max_support": AnyOf(Nothing(), Number(at_least=1, integer=True)),
        "fit_intercept": Flag(),
        "max_iter": Number(at_least=1, integer=True),
        "shuffle": Flag(),
        "random_state": Seed(),
        "n_jobs": N_JOBS,
        "class_weight": ClassWeights(),
        "memory_limit": Number(above=0),
        "time_limit": TIME_LIMIT,
    }
    FITTED = {
        **CLASS_STATE,
        **FEATURE_STATE,
        "dual_coef_": Array("f", ("n_problems", "n_support")),
        "support_": Array("i", ("n_support",)),
        "support_vectors_": Array("f", ("n_vectors", "n_vector_features"), or_sparse=True),
        "intercept_": PER_PROBLEM,
        "gamma_": POSITIVE,
        "n_iter_": COUNT,
        "n_mistakes_": PER_PROBLEM,
        "n_presented_": AMOUNT,
        "converged_": FLAG,
        "history_support_": Array("i", ("n_changes",), below="n_support"),
        "history_problem_": Array("i", ("n_changes",), below="n_problems"),
        "history_changes_": Array("f", ("n_changes", 3)),
        **FIT_STATE,
    }
    OPTIONAL = frozenset({"history_support_", "history_problem_", "history_changes_"})

    def __init__(
        self,
        *,
        kernel="rbf",
        gamma="scale",
        coef0=0.0,
        degree=3,
        vote="last",
        max_support=None,
        fit_intercept=True,
        max_iter=100,
        shuffle=True,
        random_state=0,
        n_jobs=None,
        class_weight=None,
        memory_limit=1000,
        time_limit=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.vote = vote
        self.max_support = max_support
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.class_weight = class_weight
        self.memory_limit = memory_limit
        self.time_limit = time_limit

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Learn from the rows of X (or their Gram matrix, if precomputed) and their labels y."""
        check_params(self)
        watch = Watch(self)
        check_budget(self.max_support, self.vote)
        data = self._checked(X, y, sample_weight)
        gamma = gamma_value("KernelPerceptron", self.gamma, data.X, data.weights)
        check_kernel_range(self, gamma, data.X)
        data = data._replace(weights=class_weights(self, self.class_weight, data))

        threads = thread_count("KernelPerceptron", self.n_jobs)
        values = self._kernel_values(data, gamma)
        steps = kernel_perceptron_steps(
            values,
            one_against_rest(data.classes),
            data.weights,
            self._rule(),
            int(integer_seeds(self.random_state, 1)[0]) if self.shuffle else None,
            threads,
        )
        outcome = watch.follow(
            steps,
            max_rounds=self.max_iter,
            fitted=lambda step: self._attributes(data, gamma, step),
            X=data.X,
            y=data.classes.labels[data.classes.codes],
        )

        for name, value in self._attributes(data, gamma, outcome.step).items():
            setattr(self, name, value)
        self.converged_ = outcome.step.converged
        self.stop_reason_ = outcome.reason
        self.certificate_ = perceptron_certificate(self._facts_of_the_fit(data, values, outcome.step))
        return self

    def decision_function(self, X):
        """Return Σ a_i k(x_i, x) + b, or the share of votes if ``vote='voted'``."""
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, accept_sparse=takes_sparse(self))
        check_kernel_range(self, self.gamma_, X)
        return scores_for_users(self._scores(X))

    def _scores(self, X: Any) -> np.ndarray:
        """Return scores of shape (n_rows, n_problems), a block of rows at a time."""

        def scores(rows: slice) -> np.ndarray:
            K = query_gram(self, X[rows], self.support_, 1)
            if self.vote == VOTED:
                return voted_scores(K.astype(np.float64), *self._votes())
            return K @ self.dual_coef_.T + self.intercept_

        threads = 1 if callable(self.kernel) else thread_count("KernelPerceptron", self.n_jobs)
        return np.vstack(results_of(scores, row_blocks(X.shape[0], PREDICT_ROWS), threads))

    def _votes(self) -> tuple:
        """Return the changes one by one, as the vote wants them."""
        changes_a, changes_b, times = np.ascontiguousarray(self.history_changes_.T)
        n_problems = self.dual_coef_.shape[0]
        return (
            self.history_support_,
            self.history_problem_,
            changes_a,
            changes_b,
            times,
            self.n_presented_,
            n_problems,
        )

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> Training:
        """Return the training data, equal rows merged if the order is free; a precomputed matrix must be square."""
        data = check_training(self, X, y, sample_weight, accept_sparse=takes_sparse(self))
        if self.kernel == "precomputed":
            check_square("KernelPerceptron", np.asarray(X))
            return data
        return deduplicated_rows(data) if self.shuffle else data

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes fit the parameters: what a model file says is not taken on trust."""
        is_gram, vectors = self.kernel == "precomputed", self.support_vectors_.shape
        check_support_vectors("KernelPerceptron", is_gram, self.support_, vectors, self.n_features_in_)
        check_history(self.vote, {name: getattr(self, name, None) for name in self.OPTIONAL}, self.n_presented_)

    def _kernel_values(self, data: Training, gamma: float) -> KernelValues:
        if self.kernel == "precomputed":
            return KernelValues.precomputed(np.ascontiguousarray(data.X[:, data.places].T))
        return KernelValues(data.X, resolved_kernel(self, gamma), self.memory_limit * 1e6)

    def _rule(self) -> KernelRule:
        return KernelRule(self.max_iter, bool(self.fit_intercept), self.max_support or 0, self.vote == VOTED)

    def _attributes(self, data: Training, gamma: float, step: KernelPerceptronStep) -> dict:
        """Return the fitted attributes that a step stands for."""
        a, b = (step.averaged_a(), step.averaged_b()) if self.vote == AVERAGED else (step.a, step.b)
        used = np.asarray(step.a.any(axis=1))
        attributes = {
            "classes_": data.classes.labels,
            "support_": data.places[used],
            "support_vectors_": np.empty((0, 0)) if self.kernel == "precomputed" else data.X[used],
            "dual_coef_": np.ascontiguousarray(a[used].T),
            "intercept_": b.copy(),
            "gamma_": gamma,
            "n_iter_": step.epoch,
            "n_mistakes_": step.mistakes.copy(),
            "n_presented_": float(step.clock[0]),
        }
        if self.vote == VOTED:
            attributes |= _history(step.history, used)
        return attributes

    def _facts_of_the_fit(self, data: Training, values: KernelValues, step: KernelPerceptronStep) -> list:
        """Return what the certificate speaks about, from the scores that the fit kept: nothing is computed again.

        The scores are those of the last rule, so an averaged or voted one does not say which rows are wrong.
        """
        signs = one_against_rest(data.classes)
        wrong = (signs * (step.scores + step.b[:, None]) <= 0.0) @ data.weights if self.vote == LAST else None
        squares = np.einsum("ik,ki->k", step.a, step.scores) + step.b**2
        return self._facts(float(values.diagonal().max()), wrong, squares)

    def _facts(self, largest: float, wrong: np.ndarray | None, squares: np.ndarray) -> list[PerceptronFacts]:
        """Return the facts of each problem; ``squares`` are ‖(w, b)‖²."""
        constant = 1.0 if self.fit_intercept else 0.0
        radius = float(np.sqrt(max(largest + constant, 0.0)))
        return [
            PerceptronFacts(
                label=label,
                steps=float(self.n_mistakes_[i]),
                norm=None if self.vote == AVERAGED else float(np.sqrt(max(squares[i], 0.0))),
                radius=radius,
                counted=float(np.abs(self.dual_coef_[i]).sum()) if self.vote != AVERAGED else None,
                n_wrong=None if wrong is None else float(wrong[i]),
                converged=self.converged_ and self.vote == LAST,
                novikoff=self.max_support is None and self.kernel != "sigmoid",  # which has no space of Φ
            )
            for i, label in enumerate(problem_labels(self.classes_))
        ]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self)
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _history(blocks: list[np.ndarray], used: np.ndarray) -> dict:
    """Return the changes in order: which support vector, in which problem, [change of a, change of b, time]."""
    changes = np.concatenate([np.empty(0, dtype=CHANGE), *blocks])
    positions = np.cumsum(used) - 1
    return {
        "history_support_": positions[changes["row"]],
        "history_problem_": changes["problem"].copy(),
        "history_changes_": np.column_stack([changes["a"], changes["b"], changes["time"]]),
    }
