"""S8 (the PCA and boosting lecture): kernel PCA is PCA in the space of a kernel, and unfolds rings and parabolas."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from eigenwood import PCA, KernelPCA, gamma_from_sigma, verify
from tests.naive import kernel_pca as naive


def rings(seed, n_rows=300):
    """Three rings around one centre, as in the deck's figure."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3
    angle, radius = rng.uniform(0.0, 2.0 * np.pi, n_rows), 1.0 + 2.0 * y + 0.15 * rng.normal(size=n_rows)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


def parabolas(seed, n_rows=300):
    """Three parabolas above each other."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3
    across = rng.uniform(-1.0, 1.0, n_rows)
    return np.column_stack([across, across**2 + 0.35 * y + 0.05 * rng.normal(size=n_rows)]), y


def accuracy(model, data):
    """Return how many of other rows a linear classifier on the scores gets right."""
    (X, y), (Z, wanted) = data(0), data(1)
    known = model.fit_transform(X)
    scale = known.std(axis=0)
    return LogisticRegression(C=100.0, max_iter=2000).fit(known / scale, y).score(model.transform(Z) / scale, wanted)


def test_the_linear_kernel_gives_pca():
    X = np.random.default_rng(0).normal(size=(60, 5)) @ np.diag([5.0, 3.0, 2.0, 1.0, 0.5]) + 7.0
    kernel, plain = KernelPCA(3, kernel="linear").fit(X), PCA(3).fit(X)
    assert_allclose(np.abs(kernel.transform(X)), np.abs(plain.transform(X)), atol=1e-9)
    assert_allclose(kernel.eigenvalues_ / 59.0, plain.explained_variance_)
    assert_allclose(kernel.explained_variance_ratio_, plain.explained_variance_ratio_)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_eigenvectors_over_the_root_of_lambda_are_axes_of_length_one(kernel):
    """u = Σ a_i (φ(x_i) - mean) has ‖u‖² = aᵀ K̃ a = 1 for a = v / √λ."""
    X, _ = rings(2, 90)
    model = KernelPCA(4, kernel=kernel, gamma=0.3).fit(X)
    K = naive.centred(kernel_values(kernel, X, X))
    real = model.eigenvalues_ > 0.0  # two columns have two components of the linear kernel
    axes = (model.eigenvectors_ / np.sqrt(np.where(real, model.eigenvalues_, 1.0)))[:, real]
    assert_allclose(axes.T @ K @ axes, np.eye(int(real.sum())), atol=1e-9)
    assert_allclose(model.projection_[:, real], axes, atol=1e-9)


def kernel_values(kernel, X, Z):
    squares = ((X[:, None] - Z[None]) ** 2).sum(axis=2)
    return {"linear": X @ Z.T, "poly": (0.3 * X @ Z.T + 1.0) ** 3, "rbf": np.exp(-0.3 * squares)}[kernel]


def quadratic_features(X):
    """Return Φ with Φ(x)·Φ(z) = (x·z + 1)² for two columns, written down one by one."""
    a, b, root = X[:, 0], X[:, 1], np.sqrt(2.0)
    return np.column_stack([np.ones(len(X)), root * a, root * b, a**2, b**2, root * a * b])


def test_centring_the_matrix_is_centring_the_features():
    """K - EK - KE + EKE, new points included, is what the quadratic features say when their mean is taken away."""
    (X, _), (Z, _) = rings(3, 60), rings(4, 9)
    known, new = quadratic_features(X), quadratic_features(Z)
    mean = known.mean(axis=0)
    assert_allclose(naive.centred(known @ known.T), (known - mean) @ (known - mean).T, atol=1e-9)
    model = KernelPCA(3, kernel="poly", gamma=1.0, coef0=1.0, degree=2).fit(X)
    plain = PCA(3).fit(known)
    assert_allclose(np.abs(model.transform(Z)), np.abs(plain.transform(new)), atol=1e-8)


QUADRATIC = {"kernel": "poly", "gamma": 1.0, "coef0": 1.0, "degree": 2}
UNFOLDED = {  # the two kernels of the deck; how many components, and the stated accuracy of a linear classifier on them
    "rings, polynomial": (rings, QUADRATIC, 3, 0.40, 0.99),
    "rings, Gaussian": (rings, {"kernel": "rbf", "gamma": gamma_from_sigma(1.5)}, 2, 0.40, 0.99),
    "parabolas, polynomial": (parabolas, QUADRATIC, 4, 0.60, 0.98),
    "parabolas, Gaussian": (parabolas, {"kernel": "rbf", "gamma": gamma_from_sigma(0.6)}, 6, 0.60, 0.98),
}


@pytest.mark.parametrize(("data", "params", "k", "most", "least"), UNFOLDED.values(), ids=UNFOLDED)
def test_rings_and_parabolas_unfold(data, params, k, most, least):
    """What no line parts in the plane, one parts after kernel PCA."""
    assert accuracy(PCA(2), data) <= most
    model = KernelPCA(k, **params)
    assert accuracy(model, data) >= least
    assert verify(model, data(0)[0]).holds
