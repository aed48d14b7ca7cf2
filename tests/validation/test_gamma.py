"""gamma="scale" is 1 / (d · variance), also where the variance is small beside the mean."""

import numpy as np
import pytest
from scipy import sparse

from eigenwood.validation.kernels import gamma_value


@pytest.mark.parametrize(("offset", "spread"), [(0.0, 1.0), (1e4, 1e-3), (1.7e9, 10.0)])
def test_an_offset_does_not_matter(offset, spread):
    X = offset + spread * np.random.default_rng(0).normal(size=(200, 3))
    assert gamma_value("SVC", "scale", X) == pytest.approx(1.0 / (3 * X.var()), rel=1e-6)


def test_weights_are_repeated_rows():
    rng = np.random.default_rng(1)
    X, weights = rng.normal(size=(20, 4)), rng.integers(1, 5, size=20)
    assert gamma_value("SVC", "scale", X, weights) == pytest.approx(
        gamma_value("SVC", "scale", X.repeat(weights, axis=0))
    )


def test_sparse_rows_have_the_gamma_of_dense_rows():
    X = np.random.default_rng(2).normal(size=(30, 5)) * (np.random.default_rng(3).random((30, 5)) < 0.4)
    weights = np.arange(1.0, 31.0)
    assert gamma_value("SVC", "scale", sparse.csr_array(X), weights) == pytest.approx(
        gamma_value("SVC", "scale", X, weights)
    )


def test_rows_that_are_all_the_same_have_gamma_one():
    assert gamma_value("SVC", "scale", np.full((4, 2), 3.0)) == 1.0
