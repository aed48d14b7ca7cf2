"""S2 (decks B, D, E): eigenvectors that are known, and all the routes to the same components."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenwood import PCA, verify
from eigenwood.data import datasets

EXACT = ("full", "covariance_eigh", "gram_eigh", "gram_refined", "krylov", "power")
ROUTES = (*EXACT, "randomized", "oja")


def rows_with_covariance(C, n_rows=50):
    """Return rows whose sample covariance is C to rounding."""
    noise = np.random.default_rng(0).standard_normal((n_rows, len(C)))
    white, _ = np.linalg.qr(noise - noise.mean(axis=0))
    return np.sqrt(n_rows - 1.0) * white @ np.linalg.cholesky(C).T


def falling_spectrum(n_rows, n_columns=30):
    """Return rows whose variances fall to a half from each direction to the next, along no axis, around no origin."""
    rng = np.random.default_rng(0)
    rotation, _ = np.linalg.qr(rng.standard_normal((n_columns, n_columns)))
    return rng.standard_normal((n_rows, n_columns)) * 0.7 ** np.arange(n_columns) @ rotation + 5.0


def assert_same_axes(found, expected, atol):
    """Compare directions, which have no sign."""
    signs = np.sign(np.sum(found * expected, axis=1))
    assert_allclose(signs[:, None] * found, expected, rtol=0.0, atol=atol)


# ---- eigenvectors that are known ---------------------------------------------------------------------------------


@pytest.mark.parametrize("route", ROUTES)
def test_a_diagonal_in_disguise(route):
    """The ensembles lecture: [[3/2, 1/2], [1/2, 3/2]] stretches by 2 and by 1, along axes that are turned by 45°."""
    model = PCA(2, svd_solver=route).fit(rows_with_covariance(np.array([[1.5, 0.5], [0.5, 1.5]])))
    assert_allclose(model.explained_variance_, [2.0, 1.0], rtol=1e-12)
    assert_same_axes(model.components_, np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2.0), atol=1e-7)


@pytest.mark.parametrize("theta", [0.9, 0.3, -0.3, -0.9])
def test_two_unit_normals_with_covariance_theta(theta):
    """The boosting and SVM lecture: 1 + θ along (1, 1)/√2 and 1 − θ along (1, −1)/√2, the larger one first."""
    model = PCA().fit(rows_with_covariance(np.array([[1.0, theta], [theta, 1.0]])))
    axes = np.array([[1.0, np.sign(theta)], [1.0, -np.sign(theta)]]) / np.sqrt(2.0)
    assert_allclose(model.explained_variance_, [1.0 + abs(theta), 1.0 - abs(theta)], rtol=1e-12)
    assert_same_axes(model.components_, axes, atol=1e-12)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("p", [2, 6, 25])
def test_equal_variances_and_equal_covariances(route, p):
    """The boosting and SVM lecture: λ²I + α²11ᵀ has (1, …, 1)/√p first, with λ² + pα², and λ² in every other
    direction."""
    lam, alpha = 2.0, 3.0
    X = rows_with_covariance(lam**2 * np.eye(p) + alpha**2 * np.ones((p, p)))
    model = PCA(1, svd_solver=route).fit(X)
    assert_allclose(model.explained_variance_, [lam**2 + p * alpha**2], rtol=1e-12)
    assert_allclose(model.components_, np.full((1, p), 1.0 / np.sqrt(p)), atol=1e-8)
    assert_allclose(PCA().fit(X).explained_variance_[1:], lam**2, rtol=1e-12)


# ---- the routes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [2000, 20], ids=["more rows", "more columns"])
@pytest.mark.parametrize("route", [*EXACT, "randomized"])
def test_every_route_comes_to_the_same_components(route, n_rows):
    """Power iteration and refining stop at a residual of 1e-8, so their axes agree to 6 digits, the others to 9."""
    X = falling_spectrum(n_rows)
    by_svd, model = (PCA(5, svd_solver=solver).fit(X) for solver in ("full", route))
    assert model.solver_ == route
    assert_allclose(model.explained_variance_, by_svd.explained_variance_, rtol=1e-11)
    assert_allclose(model.components_, by_svd.components_, atol=1e-6 if route in ("power", "gram_refined") else 1e-9)
    assert verify(model, X).holds


def test_the_svd_of_the_rows_and_the_eigenvectors_of_their_products():
    """The PCA lecture: X = UΛVᵀ, so XᵀX = VΛ²Vᵀ; options A and B by NumPy alone."""
    X = falling_spectrum(200)
    A = X - X.mean(axis=0)
    model = PCA(5).fit(X)
    _, singular, Vt = np.linalg.svd(A, full_matrices=False)
    values, vectors = np.linalg.eigh(A.T @ A)
    assert_allclose(model.singular_values_, singular[:5], rtol=1e-12)
    assert_allclose(model.singular_values_**2, values[::-1][:5], rtol=1e-12)
    assert_same_axes(model.components_, Vt[:5], atol=1e-10)
    assert_same_axes(model.components_, vectors.T[::-1][:5], atol=1e-10)


@pytest.mark.parametrize("route", [*EXACT, "randomized"])
def test_the_foods_by_every_route(route):
    X = datasets.load("uk_foods").X
    model = PCA(3, svd_solver=route).fit(X)
    assert_allclose(100 * model.explained_variance_ratio_, [67.44, 29.05, 3.50], atol=0.005)
    assert verify(model, X).holds


def test_the_stochastic_route_is_as_good_as_its_certificate_says():
    """The PCA lecture: approximate. Each interval holds an eigenvalue, and ‖Cv − λv‖ is at most 1 % of the first."""
    X = falling_spectrum(2000)
    exact, model = PCA().fit(X), PCA(5, svd_solver="oja").fit(X)
    assert model.certificate_.holds
    assert verify(model, X).holds
    for low, high in model.explained_variance_interval_:
        assert ((exact.explained_variance_ >= low) & (exact.explained_variance_ <= high)).any()
    angles = np.abs(np.sum(model.components_ * exact.components_[:5], axis=1))
    assert (angles > 0.999).all()


def test_power_iteration_gains_the_ratio_of_the_eigenvalues_with_every_product():
    """Of λ = 2 and λ = 1: what is wrong with the direction, its tangent, is halved by each product."""
    X = rows_with_covariance(np.array([[1.5, 0.5], [0.5, 1.5]]))
    axes = [PCA(1, svd_solver="power", iterated_power=i).fit(X).components_[0] for i in range(2, 9)]
    tangents = [abs(v[0] - v[1]) / abs(v[0] + v[1]) for v in axes]
    assert_allclose(np.divide(tangents[1:], tangents[:-1]), 0.5, rtol=1e-9)


def test_a_power_iteration_that_was_cut_short_is_found_out():
    X = rows_with_covariance(np.array([[1.5, 0.5], [0.5, 1.5]]))
    model = PCA(1, svd_solver="power", iterated_power=3).fit(X)
    assert not model.certificate_.holds
    assert not verify(model, X).holds
