"""The perceptron with the interface of scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.margin.perceptron import (
    MISTAKES,
    PerceptronRule,
    PerceptronStep,
    StopRule,
    perceptron_start,
    perceptron_steps,
)
from eigenwood.core.margin.scores import linear_scores
from eigenwood.core.rows import rows_of, squared_row_norms
from eigenwood.estimators.classifying import ScoringClassifier, deduplicated_rows, problem_labels, scores_for_users
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.perceptron.early_stopping import NoGain, split
from eigenwood.estimators.state import CLASS_STATE, COUNT, FEATURE_STATE, FIT_STATE, FLAG, PER_PROBLEM
from eigenwood.estimators.watching import FINISHED, TIME_LIMIT, Outcome, Watch
from eigenwood.proofs.perceptron import PerceptronFacts, perceptron_certificate
from eigenwood.validation.arrays import check_numbers, check_rows, check_squares
from eigenwood.validation.params import AnyOf, Choice, ClassWeights, Flag, Nothing, Number, Seed, check_params
from eigenwood.validation.perceptron import check_batch_weights
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.state import Array
from eigenwood.validation.targets import Training, check_given_classes, check_training, class_weights, one_against_rest
from eigenwood.validation.threads import N_JOBS, thread_count

L1_SHARES = {"l1": lambda ratio: 1.0, "l2": lambda ratio: 0.0, "elasticnet": lambda ratio: float(ratio)}


@describe
class Perceptron(ScoringClassifier):
    """Learn a hyperplane from its mistakes alone.

    Like :class:`sklearn.linear_model.Perceptron`, with its parameters and attributes. Differences: (1) weights mean
    repeated rows, exactly; (2) the fit stops after an epoch without a mistake, when nothing can change any more;
    (3) ``time_limit``, callbacks, and a ``certificate_``; (4) sparse and dense rows give the
    same answer (under elastic net, to second order in ``alpha``).

    Parameters
    ----------
    penalty : 'l1', 'l2', 'elasticnet' or None, default=None
        What shrinks the weights at every presentation.
    alpha : float, default=0.0001
        The strength of the penalty.
    l1_ratio : float, default=0.15
        The share of L1 in 'elasticnet'.
    tol : float or None, default=1e-3
        Stop when the mean loss of an epoch has not fallen by this much for ``n_iter_no_change`` epochs.
    eta0 : float, default=1.0
        The length of a step.
    early_stopping, validation_fraction, n_iter_no_change
        With ``early_stopping=True`` the accuracy on a held-out fraction takes the place of the loss.
    warm_start : bool, default=False
        Begin where the last fit ended.
    verbose : int, default=0
        Accepted for scikit-learn's sake; progress is shown by ``model.set_callbacks(ProgressBar())``.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, t_, n_features_in_, feature_names_in_
        As in scikit-learn.
    n_mistakes_ : ndarray of shape (n_problems,)
        Steps taken because of a mistake, by weight.
    stop_reason_ : 'finished', 'time_limit', 'callback' or 'early_stopping'
    certificate_ : Certificate

    Examples
    --------
    >>> from eigenwood import Perceptron
    >>> X = [[1.0, 1.0], [2.0, 1.0], [-1.0, -1.0], [-2.0, 1.0]]
    >>> model = Perceptron(shuffle=False).fit(X, ["right", "right", "left", "left"])
    >>> model.predict([[3.0, 0.0]]), int(model.n_mistakes_[0]), model.certificate_.holds
    (array(['right'], dtype='<U5'), 2, True)
    """

    n_mistakes_: np.ndarray
    t_: int

    PARAMS = {
        "penalty": AnyOf(Nothing(), Choice(tuple(L1_SHARES))),
        "alpha": Number(at_least=0),
        "l1_ratio": Number(at_least=0, at_most=1),
        "fit_intercept": Flag(),
        "max_iter": Number(at_least=1, integer=True),
        "tol": AnyOf(Nothing(), Number(at_least=0)),
        "shuffle": Flag(),
        "verbose": Number(at_least=0, integer=True),
        "eta0": Number(above=0),
        "n_jobs": N_JOBS,
        "random_state": Seed(),
        "early_stopping": Flag(),
        "validation_fraction": Number(above=0, below=1),
        "n_iter_no_change": Number(at_least=1, integer=True),
        "class_weight": ClassWeights(),
        "warm_start": Flag(),
        "time_limit": TIME_LIMIT,
    }
    FITTED = {
        **CLASS_STATE,
        **FEATURE_STATE,
        "coef_": Array("f", ("n_problems", "n_features")),
        "intercept_": PER_PROBLEM,
        "n_iter_": COUNT,
        "t_": COUNT,
        "n_mistakes_": PER_PROBLEM,
        "converged_": Array("b", ("n_problems",)),
        "from_zero_": FLAG,
        **FIT_STATE,
    }

    def __init__(
        self,
        *,
        penalty=None,
        alpha=0.0001,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        shuffle=True,
        verbose=0,
        eta0=1.0,
        n_jobs=None,
        random_state=0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        class_weight=None,
        warm_start=False,
        time_limit=None,
    ):
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.time_limit = time_limit

    @with_callbacks
    def fit(self, X, y, coef_init=None, intercept_init=None, sample_weight=None):
        """Learn from the rows of X and their labels y, starting at zero or where ``coef_init`` says."""
        check_params(self)
        watch = Watch(self)
        data = self._prepared(check_training(self, X, y, sample_weight, accept_sparse=True))
        start = self._start(data, coef_init, intercept_init)
        from_zero = not start.directions.any() and not start.intercepts().any()

        seed, split_seed = integer_seeds(self.random_state, 2)
        learn, held_out = split(data, self.validation_fraction, split_seed) if self.early_stopping else (data, None)
        outcome = self._follow(watch, learn, start, seed, self.max_iter, held_out)

        self._store(data, outcome, from_zero)
        if outcome.reason == FINISHED and outcome.n_rounds == self.max_iter and not self._settled(outcome):
            warnings.warn(
                f"Perceptron: max_iter={self.max_iter} epochs were not enough to finish.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    @with_callbacks
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Go once over the rows of X, beginning where the model stands; the first call names all ``classes``."""
        check_params(self)
        watch = Watch(self)
        check_batch_weights(self.class_weight)
        first = not hasattr(self, "coef_")
        known = check_given_classes(self, classes, None if first else self.classes_)
        data = check_training(self, X, y, sample_weight, accept_sparse=True, known=known, reset=first)
        data = self._prepared(data)
        start = self._zero(data) if first else perceptron_start(self.coef_, self.intercept_, self.n_mistakes_)
        presented_before = 0 if first else self.t_ - 1

        outcome = self._follow(watch, data, start, integer_seeds(self.random_state, 1)[0], 1, None)

        self._store(data, outcome, False)
        self.t_ = presented_before + data.weights.size + 1
        return self

    def decision_function(self, X):
        """Return X wᵀ + b."""
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, accept_sparse=True)
        threads = thread_count("Perceptron", self.n_jobs)
        return scores_for_users(linear_scores(X, self.coef_, self.intercept_, threads))

    def _prepared(self, data: Training) -> Training:
        """Return the rows as they are visited: equal ones merged if the order is free, with their final weights."""
        check_squares("Perceptron", data.X)
        data = deduplicated_rows(data) if self.shuffle else data
        return data._replace(weights=class_weights(self, self.class_weight, data))

    def _zero(self, data: Training) -> PerceptronStep:
        n_problems = len(problem_labels(data.classes.labels))
        return perceptron_start(np.zeros((n_problems, data.X.shape[1])), np.zeros(n_problems))

    def _start(self, data: Training, coef_init: Any, intercept_init: Any) -> PerceptronStep:
        """Return where the fit begins: zero, the last fit, or what the caller gave."""
        zero = self._zero(data)
        coef, intercept = zero.coefficients(), zero.intercepts()
        if self.warm_start and hasattr(self, "coef_") and self.coef_.shape == coef.shape:
            coef, intercept = self.coef_, self.intercept_
        if coef_init is not None:
            coef = check_numbers("Perceptron", "coef_init", coef_init, coef.shape)
        if intercept_init is not None:
            intercept = check_numbers("Perceptron", "intercept_init", intercept_init, intercept.shape)
        return perceptron_start(coef, intercept)

    def _follow(self, watch, data: Training, start, seed, max_rounds: int, held_out: Training | None) -> Outcome:
        """Run the epochs and return how they ended."""
        tol = -np.inf if self.tol is None or held_out is not None else self.tol
        steps = perceptron_steps(
            rows_of(data.X),
            one_against_rest(data.classes),
            data.weights,
            self._rule(),
            StopRule(max_rounds, tol, self.n_iter_no_change),
            start,
            int(seed) if self.shuffle else None,
            thread_count("Perceptron", self.n_jobs),
        )
        return watch.follow(
            steps,
            max_rounds=max_rounds,
            fitted=lambda step: self._attributes(data, step),
            X=data.X,
            y=data.classes.labels[data.classes.codes],
            wants_stop=(lambda step: False) if held_out is None else NoGain(held_out, self.tol, self.n_iter_no_change),
        )

    def _rule(self) -> PerceptronRule:
        step, intercept = float(self.eta0), bool(self.fit_intercept)
        if self.penalty is None:
            return PerceptronRule(step, intercept)
        share = L1_SHARES[self.penalty](self.l1_ratio)
        return PerceptronRule(step, intercept, l1=self.alpha * share, l2=self.alpha * (1.0 - share))

    def _attributes(self, data: Training, step: PerceptronStep) -> dict:
        """Return the fitted attributes that a step stands for."""
        return {
            "classes_": data.classes.labels,
            "coef_": step.coefficients(),
            "intercept_": step.intercepts(),
            "n_iter_": int(step.epochs.max()),
            "t_": int(step.epochs.max()) * data.weights.size + 1,
            "n_mistakes_": step.numbers[:, MISTAKES].copy(),
        }

    def _settled(self, outcome: Outcome) -> bool:
        return bool(outcome.step.converged.all()) or self.tol is None

    def _store(self, data: Training, outcome: Outcome, from_zero: bool) -> None:
        for name, value in self._attributes(data, outcome.step).items():
            setattr(self, name, value)
        self.converged_ = outcome.step.converged.copy()
        self.from_zero_ = from_zero
        self.stop_reason_ = outcome.reason
        self.certificate_ = perceptron_certificate(perceptron_facts(self, data))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def perceptron_facts(model: Perceptron, data: Training) -> list[PerceptronFacts]:
    """Return what the certificate speaks about, measured on the rows with the final weights."""
    scores = linear_scores(data.X, model.coef_, model.intercept_)
    wrong = (one_against_rest(data.classes).T * scores <= 0.0).T @ data.weights
    constant = 1.0 if model.fit_intercept else 0.0
    radius = float(np.sqrt(squared_row_norms(rows_of(data.X)).max() + constant))
    norms = np.sqrt((model.coef_**2).sum(axis=1) + model.intercept_**2) / model.eta0
    return [
        PerceptronFacts(
            label=label,
            steps=float(model.n_mistakes_[i]),
            norm=float(norms[i]),
            radius=radius,
            counted=None,
            n_wrong=float(wrong[i]),
            converged=bool(model.converged_[i]) and not model.early_stopping and model.penalty is None,
            novikoff=model.from_zero_ and model.penalty is None,
        )
        for i, label in enumerate(problem_labels(data.classes.labels))
    ]
