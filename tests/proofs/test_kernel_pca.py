"""Intervals of a low-rank kernel hold the eigenvalues whatever is missing, and the search finds what was missed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenwood import KernelPCA, verify
from eigenwood.proofs import kernel_pca
from eigenwood.proofs.kernel_pca import (
    KernelPcaFacts,
    bracketed,
    kernel_pca_certificate,
    largest_beside,
    missed_claim,
    smallest_found,
)
from eigenwood.proofs.low_rank import factor_error, inverse_of


def split(seed, n=30, k=4):
    """Return K and a part K̂ of it so that K - K̂ is positive semidefinite, with a spectrum that falls."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    below = (Q * np.geomspace(10.0, 0.01, n)) @ Q.T
    rest = rng.normal(size=(n, 3)) * 0.3
    return below + rest @ rest.T, below, k


@pytest.mark.parametrize("seed", range(20))
def test_brackets_hold_the_eigenvalues_and_residuals_make_them_narrower(seed):
    K, below, k = split(seed)
    exact = np.linalg.eigvalsh(K)[::-1][:k]
    values, vectors = np.linalg.eigh(below)
    values, V = values[::-1], vectors[:, ::-1][:, :k]
    missing = np.trace(K - below)
    wide = bracketed(values[:k], missing, 0.0)
    ritz = V.T @ K @ V
    rest = np.linalg.norm(K @ V - V @ ritz, 2)
    narrow = bracketed(values[:k], missing, 0.0, (np.linalg.eigvalsh(ritz)[::-1], rest, values[k] + missing))
    for low, high in (wide.T, narrow.T):
        assert (low <= exact + 1e-12).all()
        assert (exact <= high + 1e-12).all()
    assert (narrow[:, 0] >= wide[:, 0]).all()
    assert (narrow[:, 1] <= wide[:, 1]).all()
    assert narrow[0, 1] - narrow[0, 0] < wide[0, 1] - wide[0, 0]


@pytest.mark.parametrize("dense", [1000, 10])
def test_the_search_finds_what_stands_beside_the_components(dense, monkeypatch):
    monkeypatch.setattr(kernel_pca, "DENSE", dense)
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(60, 60)))[0]
    values = np.append(np.geomspace(8.0, 0.1, 59), -3.0)
    M = (Q * values) @ Q.T
    assert largest_beside(lambda B: M @ B, Q[:, [0, 1, 3]], 60, 1e9) == pytest.approx(values[2], rel=1e-2)
    assert smallest_found(lambda B: M @ B, 60, 8.0) == pytest.approx(-3.0, rel=1e-2)
    assert largest_beside(lambda B: M @ B, Q, 60, 1e9) == 0.0


def facts(**more):
    plain = {
        "values": np.array([4.0, 1.0]),
        "residuals": np.array([1e-9, 1e-9]),
        "intervals": np.array([[3.9, 4.1], [0.9, 1.1]]),
        "skew": 0.0,
        "total": 6.0,
        "tolerance": 1e-8,
        "rounding": 1e-12,
        "exact": 1e-7,
    }
    return KernelPcaFacts(**{**plain, **more})


@pytest.mark.parametrize(
    ("more", "broken"),
    [
        ({}, None),
        ({"residuals": np.array([1e-9, 1e-6])}, "component 2"),
        ({"skew": 1e-3}, "orthonormality"),
        ({"total": 4.9}, "kept"),
        ({"smallest": -0.1}, "smallest eigenvalue"),
        ({"n_other_rows": 1}, "rows"),
        ({"interval_error": 1e-3}, "intervals"),
        ({"checks": (("offset", "words", 1e-3),)}, "offset"),
    ],
)
def test_each_claim_fails_by_its_own_number(more, broken):
    certificate = kernel_pca_certificate(facts(**more), None)
    assert [claim.name for claim in certificate if claim.holds is False] == ([] if broken is None else [broken])


def test_a_fit_that_was_cut_claims_no_component():
    certificate = kernel_pca_certificate(facts(), "time_limit")
    assert certificate.holds is None
    assert not [claim for claim in certificate if claim.name.startswith("component")]


def test_components_that_are_not_the_first_ones_are_found_out():
    X = np.random.default_rng(1).normal(size=(80, 3))
    model = KernelPCA(3, kernel="rbf", gamma=0.3).fit(X)
    for name in ("eigenvectors_", "projection_"):
        setattr(model, name, getattr(model, name)[:, 1:])
    for name in ("eigenvalues_", "explained_variance_ratio_", "offset_", "eigenvalue_interval_"):
        setattr(model, name, getattr(model, name)[1:])
    found = verify(model, X)
    assert found["nothing missed"].holds is False
    assert missed_claim(facts(), 3.0).holds is False


def test_factors():
    A = np.random.default_rng(2).normal(size=(5, 5))
    among = A @ A.T + np.eye(5)
    L = np.linalg.cholesky(among)
    assert_allclose(inverse_of(L) @ L, np.eye(5), atol=1e-12)
    assert factor_error(np.linalg.inv(L), among) < 1e-12
    assert factor_error(2.0 * np.linalg.inv(L), among) > 0.1
    assert factor_error(np.zeros((5, 5)), among) == np.inf
