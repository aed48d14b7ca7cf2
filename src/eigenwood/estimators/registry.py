"""Every estimator, one line each: the exam, the model file, ``verify`` and ``learn`` follow from here."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from eigenwood.estimators.adaboost import AdaBoostClassifier, AdaBoostRegressor
from eigenwood.estimators.adaboost.verifying import verify_adaboost, verify_adaboost_regressor
from eigenwood.estimators.autoencoder import Autoencoder, verify_autoencoder
from eigenwood.estimators.bagging import BaggingClassifier, BaggingRegressor
from eigenwood.estimators.bagging.verifying import verify_bagging
from eigenwood.estimators.blending import (
    ScaledTargetRegressor,
    WeightedEnsembleClassifier,
    WeightedEnsembleRegressor,
)
from eigenwood.estimators.blending.verifying import (
    verify_ensemble_of_classifiers,
    verify_ensemble_of_regressors,
    verify_scaled_target,
)
from eigenwood.estimators.boosting import GradientBoostingClassifier, GradientBoostingRegressor
from eigenwood.estimators.boosting.verifying import verify_boosting
from eigenwood.estimators.columns import TableColumns, verify_columns
from eigenwood.estimators.encoder import TableEncoder, verify_encoder
from eigenwood.estimators.expansion import PolynomialExpansion, verify_expansion
from eigenwood.estimators.forest import RandomForestClassifier, RandomForestRegressor
from eigenwood.estimators.forest.verifying import verify_forest
from eigenwood.estimators.kernel_pca import KernelPCA
from eigenwood.estimators.kernel_pca.verifying import verify_kernel_pca
from eigenwood.estimators.logistic import KernelLogisticRegression
from eigenwood.estimators.logistic.verifying import verify_kernel_logistic
from eigenwood.estimators.low_rank_kernel import LowRankKernel, verify_low_rank_kernel
from eigenwood.estimators.pca import PCA
from eigenwood.estimators.pca.verifying import verify_pca
from eigenwood.estimators.perceptron import KernelPerceptron, Perceptron
from eigenwood.estimators.perceptron.verifying import verify_kernel_perceptron, verify_perceptron
from eigenwood.estimators.ridge import KernelRidge
from eigenwood.estimators.ridge.verifying import verify_kernel_ridge
from eigenwood.estimators.selection import GainSelector, IterativeHardThresholding
from eigenwood.estimators.selection.gains import verify_selection
from eigenwood.estimators.selection.hard_thresholding import verify_subset
from eigenwood.estimators.state import OPTIONAL, other_attributes
from eigenwood.estimators.svm import SVC, SVR
from eigenwood.estimators.svm.verifying import verify_svm
from eigenwood.estimators.text import BagOfWords
from eigenwood.estimators.text.bag_of_words import verify_bag
from eigenwood.estimators.tree import DecisionTreeClassifier, DecisionTreeRegressor
from eigenwood.estimators.tree.verifying import verify_tree
from eigenwood.estimators.watching import CALLED_OFF, FINISHED, TIME_LIMIT, TIME_UP, Deadline, OutOfTimeError
from eigenwood.estimators.words import CBOW, CovarianceEmbedding
from eigenwood.estimators.words.verifying import verify_cbow, verify_covariance
from eigenwood.proofs.claim import Certificate, Claim, agreement_claim, at_most, not_claimed
from eigenwood.validation.models import check_kind
from eigenwood.validation.params import check_params, check_values
from eigenwood.validation.state import check_state
from eigenwood.validation.targets import check_training

CLASSIFICATION, REGRESSION, TRANSFORMATION = "classification", "regression", "transformation"
TEXT = "text"  # learns from documents or sentences: exams that give tables of numbers do not apply
LARGE_TREES = {"n_estimators": 200, "max_leaf_nodes": 31, "max_depth": None, "min_samples_leaf": 20}


@dataclass(frozen=True)
class Entry:
    """One method: its name on the command line, its class, its verifier, and choices of parameters that are tried."""

    name: str
    estimator: type
    task: str
    verify: Callable[..., Iterator[Claim]]
    tries: tuple[dict[str, Any], ...] = field(default=())
    takes_tables: bool = False  # categories and missing values themselves, without an encoder in front
    checks_rows: bool = False  # its verifier takes X, y and weights as they are
    is_candidate: bool = True  # of ``learn``; perceptrons have no probabilities and claim nothing where classes overlap
    fits_again: bool = False  # what was learnt follows from seed and rows alone, soon enough to be learnt once more


ENTRIES = (
    Entry("table-columns", TableColumns, TRANSFORMATION, verify_columns, checks_rows=True, fits_again=True),
    Entry("table-encoder", TableEncoder, TRANSFORMATION, verify_encoder, fits_again=True),
    Entry("polynomial-expansion", PolynomialExpansion, TRANSFORMATION, verify_expansion, fits_again=True),
    Entry("pca", PCA, TRANSFORMATION, verify_pca),
    Entry("autoencoder", Autoencoder, TRANSFORMATION, verify_autoencoder, fits_again=True),
    Entry("gain-selector", GainSelector, TRANSFORMATION, verify_selection, takes_tables=True, fits_again=True),
    Entry("kernel-pca", KernelPCA, TRANSFORMATION, verify_kernel_pca),
    Entry("low-rank-kernel", LowRankKernel, TRANSFORMATION, verify_low_rank_kernel, fits_again=True),
    Entry("bag-of-words", BagOfWords, TEXT, verify_bag, fits_again=True),
    Entry(
        "hard-thresholding",
        IterativeHardThresholding,
        REGRESSION,
        verify_subset,
        checks_rows=True,
        fits_again=True,
    ),
    Entry(
        "perceptron",
        Perceptron,
        CLASSIFICATION,
        verify_perceptron,
        ({}, {"penalty": "l2", "alpha": 1e-3}),
        is_candidate=False,
        fits_again=True,
    ),
    Entry(
        "kernel-perceptron",
        KernelPerceptron,
        CLASSIFICATION,
        verify_kernel_perceptron,
        tuple(
            {"vote": "averaged", "max_iter": 20, **kernel}
            for kernel in ({"kernel": "linear"}, {"kernel": "rbf"}, {"kernel": "poly", "degree": 2, "coef0": 1.0})
        ),
        is_candidate=False,
        fits_again=True,
    ),
    Entry("svm", SVC, CLASSIFICATION, verify_svm, ({}, {"C": 10.0}), checks_rows=True),
    Entry("svm-regression", SVR, REGRESSION, verify_svm, ({}, {"C": 10.0}), checks_rows=True),
    Entry(
        "kernel-logistic",
        KernelLogisticRegression,
        CLASSIFICATION,
        verify_kernel_logistic,
        ({},),
        checks_rows=True,
    ),
    Entry("kernel-ridge", KernelRidge, REGRESSION, verify_kernel_ridge, checks_rows=True),
    Entry(
        "decision-tree",
        DecisionTreeClassifier,
        CLASSIFICATION,
        verify_tree,
        ({"prune": "cost_complexity_cv"}, {"prune": "validation"}, {"min_samples_leaf": 5}),
        takes_tables=True,
    ),
    Entry(
        "regression-tree",
        DecisionTreeRegressor,
        REGRESSION,
        verify_tree,
        ({"prune": "cost_complexity_cv"}, {"prune": "validation"}, {"min_samples_leaf": 5}),
        takes_tables=True,
    ),
    Entry(
        "random-forest",
        RandomForestClassifier,
        CLASSIFICATION,
        verify_forest,
        ({}, {"max_features": 0.5}),
        takes_tables=True,
    ),
    Entry(
        "random-forest-regression",
        RandomForestRegressor,
        REGRESSION,
        verify_forest,
        ({}, {"max_features": 0.34}),
        takes_tables=True,
    ),
    Entry("bagging", BaggingClassifier, CLASSIFICATION, verify_bagging, takes_tables=True),
    Entry("bagging-regression", BaggingRegressor, REGRESSION, verify_bagging, takes_tables=True),
    Entry(
        "gradient-boosting",
        GradientBoostingClassifier,
        CLASSIFICATION,
        verify_boosting,
        ({}, LARGE_TREES),
        takes_tables=True,
    ),
    Entry(
        "gradient-boosting-regression",
        GradientBoostingRegressor,
        REGRESSION,
        verify_boosting,
        ({}, LARGE_TREES),
        takes_tables=True,
    ),
    Entry("adaboost", AdaBoostClassifier, CLASSIFICATION, verify_adaboost, ({"n_estimators": 100},), takes_tables=True),
    Entry("adaboost-regression", AdaBoostRegressor, REGRESSION, verify_adaboost_regressor, takes_tables=True),
    Entry(
        "weighted-ensemble",
        WeightedEnsembleClassifier,
        CLASSIFICATION,
        verify_ensemble_of_classifiers,
        checks_rows=True,
        is_candidate=False,
    ),
    Entry(
        "weighted-ensemble-regression",
        WeightedEnsembleRegressor,
        REGRESSION,
        verify_ensemble_of_regressors,
        checks_rows=True,
        is_candidate=False,
    ),
    Entry(
        "scaled-target",
        ScaledTargetRegressor,
        REGRESSION,
        verify_scaled_target,
        checks_rows=True,
        is_candidate=False,
    ),
    Entry("cbow", CBOW, TEXT, verify_cbow, fits_again=True),
    Entry("covariance-embedding", CovarianceEmbedding, TEXT, verify_covariance, fits_again=True),
)

BY_CLASS = {entry.estimator.__name__: entry for entry in ENTRIES}


def entry_of(model: Any) -> Entry:
    """Return the registry's line for a model."""
    entry = BY_CLASS.get(type(model).__name__)
    is_ours = entry is not None and type(model) is entry.estimator
    check_kind("eigenwood", model, is_ours, "one of eigenwood's estimators")
    return BY_CLASS[type(model).__name__]


def verify(
    model: Any, X: Any, y: Any = None, sample_weight: Any = None, *, time_limit: float | None = None
) -> Certificate:
    """Return the model's certificate, with every claim recomputed from the data and the fitted numbers.

    A pipeline is verified by its last step, on what the steps before it make of X. After ``time_limit`` seconds the
    certificate says that what it has not come to is not claimed.

    >>> from eigenwood import Perceptron, verify
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> certificate = verify(Perceptron().fit(X, y), X, y)
    >>> certificate.holds, certificate["mistakes"].value <= certificate["mistakes"].bound
    (True, True)
    """
    check_values("verify", {"time_limit": TIME_LIMIT}, {"time_limit": time_limit})
    deadline, claims = Deadline(time_limit), list[Claim]()
    if isinstance(model, Pipeline):
        for _, step in model.steps[:-1]:
            X = step.transform(X)
        model = model.steps[-1][1]
    try:
        for claim in recomputed_claims(model, X, y, sample_weight, deadline):
            claims.append(claim)
    except OutOfTimeError:
        statement = "seconds have passed: what is not listed here was not checked"
        claims.append(not_claimed("time limit", statement, time_limit or 0.0))
    return Certificate(tuple(claims))


def recomputed_claims(model: Any, X: Any, y: Any, sample_weight: Any, deadline: Deadline) -> Iterator[Claim]:
    """Yield all claims about a model; raise when time is up."""
    entry = entry_of(model)
    check_is_fitted(model)
    check_model(model)
    claims = list[Claim]()
    for claim in claims_of_method(entry, model, X, y, sample_weight, deadline):
        claims.append(claim)
        yield claim
    if hasattr(model, "certificate_"):
        yield agreement_claim(model.certificate_, Certificate(tuple(claims)))
    if entry.fits_again and can_fit_again(model):
        yield fitted_again_claim(model, X, y, sample_weight, deadline)


def claims_of_steps(
    model: Any, X: Any, y: Any, sample_weight: Any, deadline: Deadline
) -> Iterator[tuple[str | None, Claim]]:
    """Yield all claims about a model, or about every step of a pipeline; those before its last with their names."""
    steps = model.steps if isinstance(model, Pipeline) else [("", model)]
    for name, step in steps[:-1]:
        for claim in recomputed_claims(step, X, y, None, deadline):
            yield name, claim
        X = step.transform(X)
    for claim in recomputed_claims(steps[-1][1], X, y, sample_weight, deadline):
        yield None, claim


def claims_of_method(
    entry: Entry, model: Any, X: Any, y: Any, sample_weight: Any, deadline: Deadline
) -> Iterator[Claim]:
    """Return what the verifier of a method finds."""
    if entry.task == TEXT:
        return entry.verify(model, X, deadline=deadline)
    if entry.takes_tables or entry.checks_rows:
        return entry.verify(model, X, y, sample_weight, deadline=deadline)
    if entry.task == TRANSFORMATION:
        return entry.verify(model, X, *(() if sample_weight is None else (sample_weight,)), deadline=deadline)
    data = check_training(
        model, X, y, sample_weight, accept_sparse=True, known=getattr(model, "classes_", None), reset=False
    )
    return entry.verify(model, data, deadline=deadline)


def can_fit_again(model: Any) -> bool:
    """Return whether another fit goes the same way: the seed is a number, and it began at nothing."""
    return isinstance(getattr(model, "random_state", 0), Integral) and getattr(model, "from_zero_", True)


def fitted_again_claim(model: Any, X: Any, y: Any, sample_weight: Any, deadline: Deadline) -> Claim:
    """Return that a fit to the same rows learns the same, to the last bit; one that was stopped cannot be repeated."""
    name = "fitted again"
    if getattr(model, "stop_reason_", FINISHED) in (TIME_UP, CALLED_OFF):
        return not_claimed(name, f"the fit was stopped: {model.stop_reason_}", 0)
    again = clone(model)
    if "time_limit" in model.PARAMS:
        again.set_params(time_limit=deadline.time_limit())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        again.fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
    if getattr(again, "stop_reason_", FINISHED) == TIME_UP:
        raise OutOfTimeError
    others = other_attributes(model, again)
    return at_most(name, "attributes that are others after another fit to these rows", len(others), 0)


def check_model(model: Any) -> None:
    """Raise unless parameters and fitted attributes keep the rules of the model's class, and of those inside it.

    Kernels read arrays without looking at their bounds: what stands in memory is trusted no more than a file.
    """
    check_params(model)
    state = {name: getattr(model, name) for name in model.FITTED if hasattr(model, name)}
    check_state(type(model).__name__, model.FITTED, state, OPTIONAL | getattr(model, "OPTIONAL", frozenset()))
    if hasattr(model, "check_fitted"):
        model.check_fitted()
    for learner in models_inside(model):
        for part in [step for _, step in learner.steps] if isinstance(learner, Pipeline) else [learner]:
            if hasattr(part, "FITTED"):
                check_model(part)


def models_inside(model: Any) -> list[Any]:
    """Return the fitted models that a model is made of."""
    if "regressor_" in model.FITTED:
        return [model.regressor_]
    name = next((name for name in ("estimators_", "learners_") if name in model.FITTED), "")
    return getattr(model, name, [])
