"""The parameters of kernel ridge regression, and the rules of its fitted attributes."""

from __future__ import annotations

from eigenwood.estimators.kernels import KERNEL_PARAMS
from eigenwood.estimators.logistic.planning import SOLVERS
from eigenwood.estimators.state import FEATURE_STATE, POSITIVE
from eigenwood.validation.memory import MEMORY_LIMIT
from eigenwood.validation.params import AnyOf, Choice, Nothing, Number, Seed, Share
from eigenwood.validation.ridge import KernelArguments, Penalties
from eigenwood.validation.state import Array, Proof, Scalar, Sentence, VectorOrTable
from eigenwood.validation.threads import N_JOBS

RIDGE_PARAMS = {
    "alpha": Penalties(),
    **KERNEL_PARAMS,
    "gamma": AnyOf(Nothing(), Choice(("scale", "auto")), Number(above=0)),
    "kernel_params": KernelArguments(),
    "n_components": AnyOf(Nothing(), Number(at_least=1, integer=True), Share(below=1.0)),
    "memory_limit": MEMORY_LIMIT,
    "random_state": Seed(),
    "n_jobs": N_JOBS,
}
RIDGE_STATE = {
    **FEATURE_STATE,
    "support_": Array("i", ("n_support",)),
    "X_fit_": Array("f", ("n_vectors", "n_vector_features"), or_sparse=True),
    "dual_coef_": VectorOrTable("n_support", "n_outputs"),
    "gamma_": POSITIVE,
    "solver_": Scalar(Choice(SOLVERS)),
    "solver_reason_": Sentence(),
    "trace_error_": Scalar(Number(at_least=0)),
    "certificate_": Proof(),
}
