"""Leaves that are order statistics: NumPy's medians and quantiles, and repeated rows where there are weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenwood.core.boosting.losses import weighted_quantile
from tests.core.boosting.cases import boost
from tests.naive import boosting as naive

SHARES = [0.05, 0.25, 0.5, 0.7, 0.95]


def leaf_of(y, loss="quantile", **settings):
    """Return the value of a tree that is one leaf, from scores of 0."""
    found = boost(np.zeros((y.size, 1)), y, loss, max_leaves=1, base=0.0, **settings)
    assert np.ptp(found.scores) == 0.0
    return found.scores[0, 0]


@pytest.mark.parametrize("n_rows", [1, 2, 9, 20])
@pytest.mark.parametrize("share", SHARES)
def test_values_are_numpys_quantiles(n_rows, share):
    y = np.random.default_rng(n_rows).normal(size=n_rows)
    expected = np.quantile(y, share, method="averaged_inverted_cdf")
    assert_allclose(leaf_of(y, alpha=share), expected, rtol=1e-14)
    assert_allclose(weighted_quantile(y, np.ones(n_rows), share), expected, rtol=1e-14)
    assert_allclose(naive.quantile(y.tolist(), [1.0] * n_rows, share), expected, rtol=1e-14)


@pytest.mark.parametrize("n_rows", [1, 8, 9])
def test_values_of_the_absolute_error_are_medians(n_rows):
    y = np.random.default_rng(n_rows).normal(size=n_rows)
    assert_allclose(leaf_of(y, "absolute"), np.median(y), rtol=1e-14)
    assert_allclose(leaf_of(y, "absolute", learning_rate=0.25), 0.25 * np.median(y), rtol=1e-14)


@pytest.mark.parametrize("loss", ["absolute", "quantile", "huber"])
def test_weights_are_repeated_rows(loss):
    rng = np.random.default_rng(5)
    y, counts = rng.normal(size=11), rng.integers(1, 4, size=11)
    one = leaf_of(y, loss, weights=counts.astype(float), alpha=0.4)
    assert_allclose(one, leaf_of(np.repeat(y, counts), loss, alpha=0.4), rtol=1e-13)
    assert_allclose(one, leaf_of(y, loss, weights=counts.astype(float), repeats=True, alpha=0.4), rtol=1e-13)


@pytest.mark.parametrize("loss", ["absolute", "quantile", "huber"])
def test_values_are_the_naive_ones_with_any_weights(loss):
    rng = np.random.default_rng(6)
    y, weights = rng.normal(size=12), rng.uniform(0.1, 3.0, size=12)
    delta = naive.quantile(np.abs(y).tolist(), weights.tolist(), 0.4)
    expected = naive.leaf_value(loss, y, np.zeros(12), weights.tolist(), alpha=0.4, delta=delta)
    assert_allclose(leaf_of(y, loss, weights=weights, alpha=0.4), expected, rtol=1e-12)
