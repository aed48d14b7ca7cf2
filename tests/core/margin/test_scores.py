"""X wᵀ + b, in blocks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from eigenwood.core.margin import scores
from eigenwood.core.margin.scores import linear_scores


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("seed", range(3))
def test_equals_three_loops(seed, form, dtype, monkeypatch):
    monkeypatch.setattr(scores, "BLOCK_ROWS", 4)
    rng = np.random.default_rng(seed)
    X, w, b = rng.normal(size=(11, 3)).astype(dtype), rng.normal(size=(2, 3)), rng.normal(size=2)
    expected = [[sum(float(X[i, j]) * w[k, j] for j in range(3)) + b[k] for k in range(2)] for i in range(11)]
    computed = linear_scores(form(X), w, b)
    assert isinstance(computed, np.ndarray)
    assert computed.dtype == np.float64
    assert_allclose(computed, expected, rtol=1e-12, atol=1e-13)


def test_the_order_of_the_rows_is_kept(monkeypatch):
    monkeypatch.setattr(scores, "BLOCK_ROWS", 3)
    X = np.arange(10.0)[:, None]
    assert linear_scores(X, np.ones((1, 1)), np.zeros(1), 4)[:, 0].tolist() == list(range(10))
