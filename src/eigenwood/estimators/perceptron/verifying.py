"""The claims about fitted perceptrons, recomputed from the rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eigenwood.core.kernels.blocks import gram_diagonal
from eigenwood.core.kernels.functions import LINEAR, Kernel
from eigenwood.estimators.kernels import query_gram, resolved_kernel
from eigenwood.estimators.perceptron.kernel_perceptron import KernelPerceptron
from eigenwood.estimators.perceptron.perceptron import Perceptron, perceptron_facts
from eigenwood.estimators.watching import Deadline
from eigenwood.proofs.claim import Claim
from eigenwood.proofs.perceptron import perceptron_certificate
from eigenwood.proofs.separability import separability
from eigenwood.validation.kernels import check_holds_rows
from eigenwood.validation.targets import Training, class_weights, one_against_rest


def verify_perceptron(model: Perceptron, data: Training, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, recomputed from the rows; γ is found without the perceptron."""
    data = data._replace(weights=class_weights(model, model.class_weight, data))
    margins = []
    for signs in one_against_rest(data.classes):
        margins.append(separability(data.X, signs, Kernel(LINEAR), bool(model.fit_intercept), deadline.check))
    yield from perceptron_certificate(perceptron_facts(model, data), margins)


def verify_kernel_perceptron(model: KernelPerceptron, data: Training, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, recomputed from the rows; γ is found without the perceptron."""
    if model.kernel == "precomputed":
        check_holds_rows("KernelPerceptron", data.places, model.support_)
    data = data._replace(weights=class_weights(model, model.class_weight, data))
    signs = one_against_rest(data.classes)
    wrong = (signs.T * model._scores(data.X) <= 0.0).T @ data.weights
    among = support_gram(model, data)
    squares = np.einsum("ki,ij,kj->k", model.dual_coef_, among, model.dual_coef_) + model.intercept_**2
    facts = model._facts(largest_similarity(model, data), wrong, squares)
    margins = None
    if model.kernel != "precomputed":
        kernel, margins = resolved_kernel(model, model.gamma_), []
        for row in signs:
            margins.append(separability(data.X, row, kernel, bool(model.fit_intercept), deadline.check))
    yield from perceptron_certificate(facts, margins)


def support_gram(model: KernelPerceptron, data: Training) -> np.ndarray:
    """Return the kernel values among the support vectors, in float64."""
    precomputed = model.kernel == "precomputed"
    support = data.X[np.searchsorted(data.places, model.support_)] if precomputed else model.support_vectors_
    return query_gram(model, support, model.support_, 1).astype(np.float64)


def largest_similarity(model: KernelPerceptron, data: Training) -> float:
    """Return the largest k(x, x)."""
    if model.kernel == "precomputed":
        return float(data.X[np.arange(data.places.size), data.places].max())
    return float(gram_diagonal(data.X, resolved_kernel(model, model.gamma_)).max())
