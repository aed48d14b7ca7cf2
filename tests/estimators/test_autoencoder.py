"""Autoencoder: scikit-learn's network with a code; the linear one beside PCA."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from eigenwood import PCA, Autoencoder, verify
from eigenwood.core.network.autoencoder import ACTIVATIONS
from eigenwood.errors import InputError
from tests.naive import autoencoder as naive

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_equal_to_the_textbook_and_to_scikit_learns_network(activation):
    X = load_iris().data
    model = Autoencoder(2, activation=activation, max_iter=60).fit(X)
    layers = model.mean_, model.scale_
    codes = [naive.code(x, model.encoder_, model.encoder_intercept_, *layers, activation) for x in X[:20]]
    np.testing.assert_allclose(model.transform(X[:20]), codes, rtol=1e-9, atol=1e-9)
    again = [naive.row(code, model.decoder_, model.decoder_intercept_, *layers) for code in codes]
    np.testing.assert_allclose(model.inverse_transform(model.transform(X[:20])), again, rtol=1e-9)
    network = MLPRegressor()
    scaled = (X - model.mean_) / model.scale_
    network.set_params(hidden_layer_sizes=(2,), activation=activation, max_iter=1, random_state=0).fit(scaled, scaled)
    network.coefs_ = [model.encoder_, model.decoder_]
    network.intercepts_ = [model.encoder_intercept_, model.decoder_intercept_]
    np.testing.assert_allclose(
        model.inverse_transform(model.transform(X)), network.predict(scaled) * model.scale_ + model.mean_, rtol=1e-9
    )
    assert verify(model, X)["error"].holds


@pytest.mark.parametrize("k", [1, 3, 10])
def test_a_linear_one_spans_the_principal_components_of_digits(k):
    X = load_digits().data
    model = Autoencoder(k).fit(X)
    kept = PCA(k).fit(X).explained_variance_ratio_.sum()
    share = 1.0 - model.error_ / (((X - model.mean_) / model.scale_) ** 2).sum(axis=1).mean()
    assert share == pytest.approx(kept, abs=1e-4)
    assert model.certificate_["principal angles"].value < 0.01
    assert verify(model, X).holds


def test_scaled_columns_are_those_of_the_correlation_matrix():
    X = load_iris().data * [1.0, 1000.0, 0.01, 1.0]
    model = Autoencoder(2, scale=True).fit(X)
    np.testing.assert_allclose(model.scale_, X.std(axis=0))
    assert model.error_ == pytest.approx(
        4.0 * (1.0 - PCA(2, scale=True).fit(X).explained_variance_ratio_.sum()), rel=1e-3
    )


def test_bent_units_can_do_what_straight_ones_cannot():
    """Points on a parabola: one number says where, but no line passes through them."""
    t = np.linspace(-1.0, 1.0, 200)
    X = np.column_stack([t, t**2])
    errors = {name: Autoencoder(2, activation=name, random_state=1).fit(X).error_ for name in ("identity", "tanh")}
    assert errors["identity"] < 1e-6
    straight = Autoencoder(1).fit(X)
    assert straight.error_ > 0.1
    assert straight.certificate_["not below PCA"].holds


def test_a_network_that_has_not_settled_claims_less():
    X = load_digits().data
    with pytest.warns(ConvergenceWarning, match="Autoencoder: max_iter=2 iterations were not enough to settle"):
        model = Autoencoder(5, max_iter=2).fit(X)
    assert model.certificate_["as good as PCA"].holds is None
    assert model.certificate_.holds is None


def test_columns_that_do_not_vary_and_one_column():
    X = np.column_stack([np.full(20, 7.0), np.arange(20.0)])
    np.testing.assert_allclose(Autoencoder(1).fit(X).inverse_transform(Autoencoder(1).fit_transform(X)), X, atol=1e-3)
    assert Autoencoder(1).fit_transform(X[:, 1:]).shape == (20, 1)


def test_a_code_of_another_width_is_refused():
    model = Autoencoder(2).fit(load_iris().data)
    with pytest.raises(InputError) as caught:
        model.inverse_transform(np.ones((3, 4)))
    assert str(caught.value) == "Autoencoder: X must have 2 columns; got 4."
