"""S3 (decks A, B): what is kept and what is lost make the trace, so a share of it needs few eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest

from eigenwood import PCA
from eigenwood.core.spectral.krylov import KrylovRule, krylov_steps
from eigenwood.core.spectral.pairs import Wanted
from eigenwood.data import datasets

EXACT = ("full", "covariance_eigh", "gram_eigh", "gram_refined", "krylov", "power")


def table(n_rows, n_columns, fall):
    """Return rows whose deviations fall by a factor from each direction to the next."""
    rng = np.random.default_rng(0)
    rotation, _ = np.linalg.qr(rng.standard_normal((n_columns, n_columns)))
    return rng.standard_normal((n_rows, n_columns)) * fall ** np.arange(n_columns) @ rotation + 3.0


def lost_by(model, X):
    """Return the mean squared distance of the (scaled) rows from what the components make of them."""
    again = model.inverse_transform(model.transform(X))
    return float((((X - again) / model.scale_) ** 2).sum() / (len(X) - 1.0))


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("route", [*EXACT, "randomized", "oja"])
def test_kept_and_lost_make_the_trace(route, scale, k):
    """To rounding, whatever the directions are, as long as they are at right angles: also the approximate ones."""
    X = table(200, 20, 0.8) * np.arange(1.0, 21.0)
    model = PCA(k, scale=scale, svd_solver=route).fit(X)
    trace = float((((X - X.mean(axis=0)) / model.scale_) ** 2).sum() / (len(X) - 1.0))
    assert model.total_variance_ == pytest.approx(trace, rel=1e-13)
    assert model.explained_variance_.sum() + lost_by(model, X) == pytest.approx(trace, rel=1e-13)


def test_the_foods_kept_and_lost():
    X = datasets.load("uk_foods").X
    for k in (1, 2, 3):
        model = PCA(k).fit(X)
        kept = model.explained_variance_.sum()
        assert kept + lost_by(model, X) == pytest.approx(np.trace(np.cov(X.T)), rel=1e-13)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("route", EXACT)
def test_the_fewest_components_that_hold_the_share(route, share):
    X = table(200, 20, 0.8)
    held = np.cumsum(np.linalg.eigvalsh(np.cov(X.T))[::-1]) / np.trace(np.cov(X.T))
    model = PCA(share, svd_solver=route).fit(X)
    assert model.n_components_ == np.flatnonzero(held > share)[0] + 1
    assert model.explained_variance_ratio_.sum() == pytest.approx(held[model.n_components_ - 1], rel=1e-10)


def test_the_share_is_found_without_all_eigenvalues():
    """Of 500 directions 23 hold 90 %; they are known after products with 160 vectors: 500 would make C itself."""
    X = table(1000, 500, 0.95)
    A = X - X.mean(axis=0)
    rule = KrylovRule(tol=1e-8, block=32, capacity=512, seed=0)
    *_, step = krylov_steps(lambda B: A.T @ (A @ B), 500, Wanted(500, 0.9), float((A**2).sum()), rule)
    model = PCA(0.9, svd_solver="krylov").fit(X)
    held = np.cumsum(PCA(svd_solver="covariance_eigh").fit(X).explained_variance_ratio_)
    assert step.count == model.n_components_ == np.flatnonzero(held > 0.9)[0] + 1 == 23
    assert step.n_products <= 200
    assert model.certificate_.holds
