"""What the tests of the spectral core share: tables, weights, matrices with a spectrum that is known."""

from __future__ import annotations

import numpy as np
from scipy import sparse

DTYPES = (np.float32, np.float64)
FORMS = (np.asarray, sparse.csr_array, sparse.csr_matrix)
THREADS = (1, 2, 8)


def table(seed, n_rows, n_columns, dtype=np.float64, mean=0.0):
    """Return rows with columns that go together, a third of the entries zero unless a mean is added."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) + rng.normal(size=(n_rows, 1))
    X = X * (rng.random(X.shape) < 0.7) if mean == 0.0 else X + mean
    return X.astype(dtype)


def some_weights(n_rows, kind="fractions", seed=0):
    """Return a weight for every row, all above zero."""
    rng = np.random.default_rng(seed)
    kinds = {
        "ones": np.ones(n_rows),
        "whole": rng.integers(1, 4, size=n_rows).astype(float),
        "fractions": rng.uniform(0.1, 3.0, size=n_rows),
    }
    return kinds[kind]


def rotation(size, seed=0):
    """Return a random orthogonal matrix."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(size, size)))[0]


def with_spectrum(values, seed=0):
    """Return a symmetric matrix with these eigenvalues, its vectors in general position."""
    Q = rotation(len(values), seed)
    M = (Q * np.asarray(values, dtype=float)) @ Q.T
    return (M + M.T) / 2.0


def true_residuals(M, pairs):
    """Return ‖Mv - λv‖ for each pair."""
    return np.linalg.norm(M @ pairs.vectors - pairs.vectors * pairs.values, axis=0)


def assert_honest(M, pairs, atol=1e-12):
    """What the pairs say is left of Mv - λv is what is left of it."""
    np.testing.assert_allclose(pairs.residual_vectors, M @ pairs.vectors - pairs.vectors * pairs.values, atol=atol)
    np.testing.assert_allclose(pairs.residuals(), true_residuals(M, pairs), atol=atol)


def assert_orthonormal(vectors, atol=1e-12):
    """The columns have length 1 and stand at right angles."""
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(vectors.shape[1]), atol=atol)


def assert_same_span(one, other, atol=1e-10):
    """Two sets of orthonormal columns span the same."""
    assert one.shape == other.shape
    np.testing.assert_allclose(one @ (one.T @ other), other, atol=atol)
