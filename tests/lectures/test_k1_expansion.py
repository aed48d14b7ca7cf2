"""K1 (the kernel lecture): basis expansion, quadratic and of order p."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from eigenwood import PolynomialExpansion, verify
from eigenwood.core.kernels.expansion import expand, expansion
from tests.naive import expansion as naive


def plain(n_features, degree=2):
    """The lecture's first page: the products themselves, without the constant."""
    return PolynomialExpansion(degree=degree, include_bias=False, kernel_scale=False).fit(np.ones((2, n_features)))


def test_two_features_become_five():
    phi = plain(2)
    assert phi.n_output_features_ == 5
    assert phi.get_feature_names_out().tolist() == ["x0", "x1", "x0^2", "x0 x1", "x1^2"]
    assert_allclose(phi.transform([[3.0, -2.0]]), [[3.0, -2.0, 9.0, -6.0, 4.0]])


def test_three_features_become_nine():
    phi = plain(3)
    assert phi.n_output_features_ == 9
    assert phi.transform(np.ones((1, 3))).shape == (1, 9)


@pytest.mark.parametrize("d", [1, 2, 3, 7, 20, 100])
def test_d_features_become_2d_and_all_pairs(d):
    phi = plain(d)
    assert phi.n_output_features_ == 2 * d + d * (d - 1) // 2
    assert phi.transform(np.ones((1, d))).shape[1] == phi.n_output_features_


def test_mnist_784_features_become_308504():
    phi = plain(784)
    assert phi.n_output_features_ == 308_504
    row = np.zeros((1, 784))
    row[0, [3, 500]] = 2.0, 5.0
    terms = phi.transform(row)
    assert terms.shape == (1, 308_504)
    values = terms.toarray() if hasattr(terms, "toarray") else terms
    assert sorted(values[values != 0].tolist()) == [2.0, 4.0, 5.0, 10.0, 25.0]


def test_the_scaled_phi_of_the_lecture():
    """Φ(x) = (1, √2 x₁, √2 x₂, x₁², x₂², √2 x₁x₂), here with the pair before the last square."""
    x1, x2 = 3.0, -2.0
    root = np.sqrt(2.0)
    phi = PolynomialExpansion().fit_transform([[x1, x2]])
    assert_allclose(phi, [[1.0, root * x1, root * x2, x1**2, root * x1 * x2, x2**2]], rtol=1e-15)


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_products_of_phi_are_the_kernel(d, p):
    X = np.random.default_rng(10 * d + p).normal(size=(6, d))
    phi = PolynomialExpansion(degree=p).fit_transform(X)
    assert_allclose(phi @ phi.T, (1.0 + X @ X.T) ** p, rtol=1e-11, atol=1e-11)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 4))
def test_of_order_p_for_any_x_and_z(seed, p, d):
    x, z = np.random.default_rng(seed).uniform(-1, 1, size=(2, d))
    shape = expansion(d, p, kernel_factors=True)
    phi = expand(np.vstack([x, z]), shape, True, 1)
    assert phi[0] @ phi[1] == pytest.approx((1 + x @ z) ** p, abs=1e-13 * (1 + d) ** p)


def test_order_p_has_all_terms_of_order_up_to_p():
    names = plain(3, degree=3).get_feature_names_out()
    assert len(names) == len(set(names)) == len(naive.terms(3, 3)) - 1 == 19
    assert "x0 x1^2" in names
    assert "x0 x1 x2" in names


def test_the_certificate_states_the_identity_and_verify_confirms_it():
    X = np.random.default_rng(0).normal(size=(20, 4))
    model = PolynomialExpansion(degree=3).fit(X)
    for certificate in (model.certificate_, verify(model, X)):
        assert certificate.holds
        assert certificate["kernel identity"].value < 1e-12


def test_without_the_scaling_the_identity_does_not_hold():
    X = np.random.default_rng(0).normal(size=(5, 3))
    phi = PolynomialExpansion(kernel_scale=False).fit_transform(X)
    assert np.abs(phi @ phi.T - (1 + X @ X.T) ** 2).max() > 0.1
