"""K6 (the boosting and SVM lecture): the representer theorem. Whatever the loss, the best f is a sum over the
training rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from eigenwood import KernelLogisticRegression, PolynomialExpansion
from eigenwood.core.kernels.blocks import gram
from eigenwood.core.kernels.functions import KERNELS, Kernel
from tests.naive import kernels as naive

QUADRATIC = {"kernel": "poly", "gamma": 1.0, "coef0": 1.0, "degree": 2}  # (1 + x·z)²
CLOSE = {"tol": 1e-14, "n_components": 1e-12}


def rings(n_rows=60, seed=0):
    """Two rings that overlap a little, as labels 0 and 1."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 2
    radius, angle = 1.0 + y + 0.3 * rng.normal(size=n_rows), rng.uniform(0, 7, n_rows)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), y


def test_the_logistic_loss_in_the_space_of_phi():
    """The primal, over all w and b, by SciPy: the same probabilities as with the kernel."""
    X, y = rings()
    expansion = PolynomialExpansion(include_bias=True).fit(X)
    Phi, C, signs = expansion.transform(X), 2.0, 2.0 * y - 1.0

    def primal(unknowns):
        w, b = unknowns[:-1], unknowns[-1]
        return 0.5 * w @ w + C * np.logaddexp(0.0, -signs * (Phi @ w + b)).sum()

    best = minimize(primal, np.zeros(Phi.shape[1] + 1), method="BFGS", options={"gtol": 1e-8})
    model = KernelLogisticRegression(**QUADRATIC, C=C, **CLOSE).fit(X, y)
    assert model.certificate_["primal"].value == pytest.approx(best.fun, rel=1e-8)
    assert_allclose(model.decision_function(X), Phi @ best.x[:-1] + best.x[-1], atol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_best_f_is_a_sum_over_rows_whose_coefficients_are_what_the_loss_asks_for(n_classes):
    """f = Σ α_i k(x_i, ·) + b with α_i = C (1_y - p_i): the derivative of the loss, and no other part of w."""
    X, y = rings()
    y = y + (n_classes - 2) * (X[:, 0] > 1.0)
    C = 5.0
    model = KernelLogisticRegression(C=C, gamma=0.5, **CLOSE).fit(X, y)
    alpha = C * (np.eye(n_classes)[y] - model.predict_proba(X))
    alpha = alpha if n_classes > 2 else alpha[:, 1:]
    f = gram(X, X, Kernel(KERNELS["rbf"], 0.5)) @ alpha + model.intercept_
    assert_allclose(f.ravel(), model.decision_function(X).ravel(), atol=1e-4)
    assert_allclose(alpha.sum(axis=0), 0.0, atol=1e-8)


def test_a_part_at_right_angles_to_all_rows_only_costs():
    """The proof in numbers: add to w what no row sees; no score changes, and ‖w‖ grows."""
    X, _ = rings(4)
    Phi = PolynomialExpansion().fit_transform(X)
    w = Phi.T @ np.random.default_rng(1).normal(size=4)
    aside = np.linalg.svd(Phi)[2][-1]  # in the kernel of Φ: 4 rows, 6 columns
    assert_allclose(Phi @ (w + aside), Phi @ w, atol=1e-12)
    assert (w + aside) @ (w + aside) == pytest.approx(w @ w + 1.0)
    assert_allclose(naive.gram(X, X, lambda x, z: (1.0 + naive.dot(x, z)) ** 2), Phi @ Phi.T, atol=1e-12)


def test_every_row_has_a_say_in_the_logistic_loss_and_few_in_the_hinge():
    """The derivative of the hinge is 0 beyond the margin; that of the logistic loss is 0 nowhere."""
    from eigenwood import SVC

    X, y = rings(200)
    model = KernelLogisticRegression(gamma=0.5).fit(X, y)
    alpha = (y - model.predict_proba(X)[:, 1])[:, None]
    assert np.abs(alpha).min() > 0.0
    assert SVC(gamma=0.5).fit(X, y).support_.size < 150


def test_strong_duality():
    X, y = rings()
    gaps = []
    for tol in (1e-2, 1e-4, 1e-12):
        certificate = KernelLogisticRegression(C=100.0, gamma=2.0, tol=tol).fit(X, y).certificate_
        gaps.append((certificate["primal"].value - certificate["dual"].value) / certificate["primal"].value)
    assert gaps[0] > gaps[2]
    assert -1e-9 < gaps[2] < 1e-6
