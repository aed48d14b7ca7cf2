"""Minka's count of components: the formula term by term, and scikit-learn's answer."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA

from eigenwood.core.spectral.dimension import likeliest_count, log_evidence
from tests.core.spectral.cases import rotation
from tests.naive import pca as naive


def variances(X):
    return np.linalg.eigvalsh(np.cov(X, rowvar=False))[::-1]


def with_strong_directions(seed, n_rows, n_strong, n_columns=8, noise=0.3):
    rng = np.random.default_rng(seed)
    spreads = np.append(np.linspace(4.0, 2.0, n_strong), np.full(n_columns - n_strong, noise))
    return (rng.normal(size=(n_rows, n_columns)) * spreads) @ rotation(n_columns, seed).T


@pytest.mark.parametrize("n_rows", [10, 200])
@pytest.mark.parametrize("count", [1, 3, 7])
def test_equals_the_formula_term_by_term(count, n_rows):
    values = variances(with_strong_directions(0, 100, 3))
    assert_allclose(log_evidence(values, count, n_rows), naive.log_evidence(values, count, n_rows), rtol=1e-12)


@pytest.mark.parametrize("n_strong", [1, 2, 5, 7])
@pytest.mark.parametrize("seed", range(3))
def test_equals_scikit_learn(seed, n_strong):
    X = with_strong_directions(seed, 60, n_strong)
    expected = PCA(n_components="mle", svd_solver="full").fit(X).n_components_
    assert likeliest_count(variances(X), 60) == expected


@pytest.mark.parametrize("seed", range(8))
def test_equals_scikit_learn_where_nothing_is_clear(seed):
    X = np.random.default_rng(seed).normal(size=(25, 6)) * np.linspace(2.0, 1.0, 6)
    assert likeliest_count(variances(X), 25) == PCA(n_components="mle").fit(X).n_components_


@pytest.mark.parametrize("n_strong", [1, 2, 4])
def test_finds_the_strong_directions(n_strong):
    assert likeliest_count(variances(with_strong_directions(1, 500, n_strong)), 500) == n_strong


def test_directions_without_variance_are_no_components():
    values = np.array([4.0, 3.0, 0.5, 0.0, 0.0])
    assert log_evidence(values, 4, 50) == -np.inf
    assert 1 <= likeliest_count(values, 50) <= 3


@pytest.mark.parametrize("exponent", [-900, -100, 100, 900])
def test_the_unit_of_the_variances_does_not_count(exponent):
    values = np.array([9.0, 8.0, 0.12, 0.1, 0.09])
    assert likeliest_count(values * 2.0**exponent, 100) == likeliest_count(values, 100) == 2


@pytest.mark.parametrize(("values", "count"), [([5.0, 5.0, 0.12, 0.11, 0.1], 2), ([5.0, 5.0, 5.0, 0.11, 0.1], 3)])
def test_two_equal_variances_do_not_decide(values, count):
    """Their gap is 0, and its logarithm would make the evidence for any count infinite."""
    values = np.array(values)
    assert likeliest_count(values * [1.0 + 1e-9, 1.0, 1.0 - 1e-9, 1.0, 1.0], 200) == count
    assert likeliest_count(values, 200) == count


def test_one_column_has_one_component():
    assert likeliest_count(np.array([2.0]), 10) == 1
