"""Pairs of correlated columns against the slow twin, and what must not change them."""

from __future__ import annotations

import numpy as np
import pytest

from eigenwood.core.pairs import correlated_pairs, sums_and_differences
from eigenwood.estimators.pca import PCA
from tests.naive import pairs as naive


def columns(seed: int, n_rows: int = 80) -> np.ndarray:
    """Return columns some of which go together; one is always the same, and some values are missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    X[:, 1] = -3.0 * X[:, 0] + 0.3 * X[:, 1] + 10.0
    X[:, 3] = X[:, 2] + 0.6 * X[:, 3]
    X[:, 5] = 7.0
    X[rng.random(X.shape) < 0.05] = np.nan
    return X


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("most", [1, 10])
def test_pairs_are_those_of_the_slow_twin(seed, most):
    X = columns(seed)
    pairs = correlated_pairs(X, 0.5, most)
    assert [tuple(pair) for pair in pairs.places.tolist()] == naive.correlated_pairs(X.tolist(), 0.5, most)
    expected = naive.sums_and_differences(X.tolist(), pairs.places.tolist())
    np.testing.assert_allclose(sums_and_differences(X, pairs), expected, rtol=1e-9, atol=1e-9)


def test_a_pair_becomes_its_principal_components():
    X = columns(0)[:, :2]
    X = X[~np.isnan(X).any(axis=1)]
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    found = sums_and_differences(X, correlated_pairs(X, 0.5, 1)) / np.sqrt(2.0)
    components = PCA(2).fit_transform(z)
    order = np.argsort(-found.var(axis=0))  # of a falling pair the difference has more variance
    np.testing.assert_allclose(np.abs(found[:, order]), np.abs(components), atol=1e-9)


def test_columns_of_any_size_are_paired_and_endless_ones_left_out():
    X = columns(1, 60)
    far = X * np.array([1e150, 1e-150, 1.0, 1.0, 1.0, 1.0])
    assert correlated_pairs(far, 0.5, 5).places.tolist() == correlated_pairs(X, 0.5, 5).places.tolist()
    assert 0 not in correlated_pairs(X * np.array([1e300, 1, 1, 1, 1, 1]), 0.5, 5).places


def test_no_columns_and_no_rows_have_no_pairs():
    assert correlated_pairs(np.empty((0, 3)), 0.5, 5).places.shape == (0, 2)
    assert correlated_pairs(np.empty((5, 0)), 0.5, 5).places.shape == (0, 2)
    assert sums_and_differences(np.ones((3, 2)), correlated_pairs(np.ones((3, 2)), 0.5, 5)).shape == (3, 0)
