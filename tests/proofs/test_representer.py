"""The certificate of kernel logistic regression: the textbook's numbers, and it notices what is wrong."""

import numpy as np
import pytest

from eigenwood import KernelLogisticRegression, verify
from eigenwood.core.kernels.blocks import gram
from eigenwood.core.kernels.functions import KERNELS, Kernel
from eigenwood.core.kernels.logistic import Outcomes
from eigenwood.core.kernels.low_rank import Rank, random_pivots
from eigenwood.core.kernels.matrix import kernel_matrix
from eigenwood.proofs.representer import Measured, outside_bound, representer_certificate, representer_facts
from tests.naive import kernel_logistic as naive

KERNEL = Kernel(KERNELS["rbf"], 0.3)


def case(n_classes, n_rows=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    score = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n_rows)
    return X, np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_the_gap_of_any_weights_is_primal_less_dual(n_classes, seed):
    """Of weights that nobody fitted, with landmarks that leave much of the kernel."""
    X, codes = case(n_classes, seed=seed)
    outcomes, rng = Outcomes(codes, np.full(60, 2.0), n_classes, False), np.random.default_rng(seed)
    *_, step = random_pivots(kernel_matrix(X, KERNEL), Rank(7), seed)
    F, K = step.result.factor, gram(X, X, KERNEL)
    W = rng.normal(size=(7, outcomes.n_scores()))
    scores = F @ W
    alpha = naive.asked_for(codes, outcomes.costs, scores)
    left = K - F @ F.T
    loss = sum(-2.0 * np.log(naive.shares(row)[code]) for row, code in zip(scores, codes, strict=True))
    outside = 0.5 * float(np.vdot(alpha, left @ alpha))
    facts = representer_facts(Measured(W, F.T @ alpha, alpha, left.diagonal(), loss, 1e9, outside), is_balanced=False)
    primal = 0.5 * np.vdot(W, W) + loss
    assert facts.primal == pytest.approx(primal)
    certificate = representer_certificate(facts, 1e-6, converged=True)
    assert certificate["gap"].value == pytest.approx(primal - naive.dual(K, codes, outcomes.costs, scores))
    assert certificate["dual"].value == pytest.approx(naive.dual(K, codes, outcomes.costs, scores))
    assert certificate["duality"].holds
    assert not certificate["gap of landmarks"].holds
    assert certificate["gap bound"].value == pytest.approx(min(primal, facts.in_span + facts.outside_bound))


@pytest.mark.parametrize("seed", range(5))
def test_what_lies_outside_is_bounded(seed):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(20, 1 + seed))
    left, alpha = B @ B.T, rng.normal(size=(20, 3)) * (rng.random((20, 3)) < 0.3)
    assert 0.5 * np.vdot(alpha, left @ alpha) <= outside_bound(alpha, left.diagonal()) * (1.0 + 1e-12)
    one = np.zeros((20, 1))
    one[3] = 2.0
    assert outside_bound(one, left.diagonal()) == pytest.approx(0.5 * 4.0 * left[3, 3])  # and tight for one row


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_components", [None, 8, 0.05])
def test_the_bounds_hold_for_the_best_model_with_the_whole_kernel(n_classes, n_components):
    X, codes = case(n_classes)
    model = KernelLogisticRegression(C=2.0, gamma=0.3, n_components=n_components).fit(X, codes)
    best = naive.fit(gram(X, X, KERNEL), codes, np.full(60, 2.0), n_classes).primal
    for certificate in (model.certificate_, verify(model, X, codes)):
        assert certificate.holds
        slack = 1e-6 * best
        assert certificate["lower bound"].value <= certificate["dual"].value + slack <= best + 2.0 * slack
        assert best - slack <= certificate["primal"].value <= best + certificate["gap"].value + slack


def test_verify_looks_at_the_whole_kernel_where_the_fit_did_not(monkeypatch):
    from eigenwood.estimators.logistic import faces

    X, codes = case(2)
    monkeypatch.setattr(faces, "MEASURED_ROWS", 10)
    model = KernelLogisticRegression(n_components=5).fit(X, codes)
    assert "gap" not in [claim.name for claim in model.certificate_]
    found = verify(model, X, codes)
    assert found.holds
    assert found["gap"].value > 0.0
    assert model.duality_gap_ == pytest.approx(found["gap bound"].value)


def test_a_fit_of_other_rows_is_noticed():
    X, codes = case(2)
    model = KernelLogisticRegression(gamma=0.3).fit(X, codes)
    moved = X.copy()
    moved[5] += 0.1
    assert verify(model, moved, codes).holds is False
    assert verify(model, X, 1 - codes).holds is False
