"""The parameters of kernel logistic regression, and the rules of its fitted attributes."""

from __future__ import annotations

from eigenwood.estimators.kernels import KERNEL_PARAMS
from eigenwood.estimators.logistic.planning import SOLVERS
from eigenwood.estimators.state import AMOUNT, CLASS_STATE, COUNT, FEATURE_STATE, FIT_STATE, FLAG, PER_PROBLEM, POSITIVE
from eigenwood.estimators.watching import TIME_LIMIT
from eigenwood.validation.memory import MEMORY_LIMIT
from eigenwood.validation.params import AnyOf, Choice, ClassWeights, Flag, Nothing, Number, Seed, Share
from eigenwood.validation.state import Array, Scalar, Sentence
from eigenwood.validation.threads import N_JOBS

LOGISTIC_PARAMS = {
    "C": Number(above=0),
    **KERNEL_PARAMS,
    "n_components": AnyOf(Nothing(), Number(at_least=1, integer=True), Share(below=1.0)),
    "fit_intercept": Flag(),
    "class_weight": ClassWeights(),
    "tol": Number(above=0),
    "max_iter": Number(at_least=1, integer=True),
    "memory_limit": MEMORY_LIMIT,
    "time_limit": TIME_LIMIT,
    "random_state": Seed(),
    "n_jobs": N_JOBS,
}
LOGISTIC_STATE = {
    **CLASS_STATE,
    **FEATURE_STATE,
    "support_": Array("i", ("n_support",)),
    "support_vectors_": Array("f", ("n_vectors", "n_vector_features"), or_sparse=True),
    "dual_coef_": Array("f", ("n_problems", "n_support")),
    "intercept_": PER_PROBLEM,
    "class_weight_": Array("f", ("n_classes",)),
    "gamma_": POSITIVE,
    "solver_": Scalar(Choice(SOLVERS)),
    "solver_reason_": Sentence(),
    "trace_error_": AMOUNT,
    "duality_gap_": AMOUNT,
    "n_iter_": COUNT,
    "converged_": FLAG,
    **FIT_STATE,
}
