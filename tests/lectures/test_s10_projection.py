"""S10 (decks D, E): the strawman, a random projection; and a relative, the linear autoencoder."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from sklearn.datasets import load_digits
from sklearn.random_projection import GaussianRandomProjection

from eigenwood import PCA, Autoencoder, verify


@pytest.fixture(scope="module")
def digits():
    """1,797 digits of 8 x 8 pixels, centred."""
    X = load_digits().data
    return X - X.mean(axis=0)


def kept_by(X, directions):
    """Return the share of the variance in the span of some directions, and the least squared error of coming back."""
    basis, _ = np.linalg.qr(directions.T)
    scores = X @ basis
    return float((scores**2).sum() / (X**2).sum()), float(((X - scores @ basis.T) ** 2).sum())


@pytest.mark.parametrize(("k", "share"), [(2, 0.285), (10, 0.738), (30, 0.959)])
def test_random_directions_keep_less(digits, k, share):
    """k random ones of 64 directions keep about k/64 of the variance: 3.1 %, 15.6 %, 46.9 %.

    Measured: the best of 20 draws keeps 4.9 %, 17.6 %, 50.4 %; PCA keeps 28.5 %, 73.8 %, 95.9 %.
    """
    draws = [GaussianRandomProjection(k, random_state=seed).fit(digits).components_ for seed in range(20)]
    kept, errors = np.transpose([kept_by(digits, directions) for directions in draws])
    of_pca, error_of_pca = kept_by(digits, PCA(k).fit(digits).components_)
    assert of_pca == pytest.approx(share, abs=5e-4)
    assert kept.mean() == pytest.approx(k / 64, abs=0.01)
    assert kept.max() < 0.6 * of_pca
    assert errors.min() > 1.3 * error_of_pca


def test_no_directions_keep_more(digits):
    """Maximal variance and minimal error are one (the PCA lecture): not even directions that start from the
    components."""
    best, least = kept_by(digits, PCA(5).fit(digits).components_)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        nearby = PCA(5).fit(digits).components_ + size * rng.standard_normal((5, 64))
        kept, error = kept_by(digits, nearby)
        assert kept < best
        assert error > least


@pytest.mark.parametrize("seed", range(3))
def test_a_linear_autoencoder_spans_the_components(seed):
    """12 numbers through 3 hidden ones and back, no bend: the weights out of them span what 3 components span.

    At most 0.05° between the two; the error is that of PCA. The weights themselves are not the components: they
    need not be at right angles.
    """
    rng = np.random.default_rng(0)
    rotation, _ = np.linalg.qr(rng.standard_normal((12, 12)))
    X = rng.standard_normal((500, 12)) * np.r_[3.0, 2.5, 2.0, np.full(9, 0.3)] @ rotation
    X -= X.mean(axis=0)
    network, model = Autoencoder(3, random_state=seed).fit(X), PCA(3).fit(X)
    assert np.degrees(subspace_angles(network.decoder_.T, model.components_.T)).max() < 0.05
    again = network.inverse_transform(network.transform(X))
    lost = float(((X - again) ** 2).sum() / (len(X) - 1.0))
    assert lost == pytest.approx(model.total_variance_ - model.explained_variance_.sum(), rel=1e-4)
    assert np.abs(np.triu(network.decoder_ @ network.decoder_.T, 1)).max() > 0.01
    assert network.certificate_["principal angles"].value < 0.001
    assert verify(network, X).holds
