"""What a model with a kernel predicts: sums over tiles, equal to the definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from eigenwood.core.kernels import sums
from eigenwood.core.kernels.functions import KERNELS, Kernel
from eigenwood.core.kernels.sums import kernel_sums
from tests.naive import kernels as naive

RNG = np.random.default_rng(0)
X, Z, COEFFICIENTS = RNG.normal(size=(9, 3)), RNG.normal(size=(7, 3)), RNG.normal(size=(7, 2))
X[np.abs(X) < 0.3], Z[np.abs(Z) < 0.3] = 0.0, 0.0
SIMPLE = {
    "linear": naive.linear,
    "poly": lambda x, z: naive.polynomial(x, z, 0.7, 1.0, 3),
    "rbf": lambda x, z: naive.rbf(x, z, 0.7),
    "laplacian": lambda x, z: naive.laplacian(x, z, 0.7),
    "sigmoid": lambda x, z: naive.sigmoid(x, z, 0.7, 1.0),
}


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setattr(sums, "BLOCK_ROWS", 4)
    monkeypatch.setattr(sums, "TILE_COLUMNS", 3)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", SIMPLE)
def test_sums_are_those_of_the_definition(name, dtype, form):
    kernel = Kernel(KERNELS[name], 0.7, 1.0, 3)
    ours = kernel_sums(form(X.astype(dtype)), form(Z.astype(dtype)), kernel, COEFFICIENTS)
    expected = naive.gram(X, Z, SIMPLE[name]) @ COEFFICIENTS
    assert ours.dtype == np.float64
    scale = np.abs(naive.gram(X, Z, SIMPLE[name])).max()
    assert_allclose(ours, expected, atol=(1e-5 if dtype == np.float32 else 1e-12) * scale)


def test_a_function_of_the_users_gets_queries_first_and_one_thread():
    def function(rows, columns):
        return rows[:, :1] + 10.0 * columns[:, 0]

    expected = (X[:, :1] + 10.0 * Z[:, 0]) @ COEFFICIENTS
    assert_allclose(kernel_sums(X, Z, function, COEFFICIENTS, n_threads=4), expected, atol=1e-12)


@pytest.mark.parametrize("n_threads", [2, 8])
def test_threads_change_no_bit(n_threads):
    kernel = Kernel(KERNELS["rbf"], 0.7)
    assert_array_equal(kernel_sums(X, Z, kernel, COEFFICIENTS), kernel_sums(X, Z, kernel, COEFFICIENTS, n_threads))


@pytest.mark.parametrize("kernel", [Kernel(KERNELS["rbf"], 0.7), lambda rows, columns: rows @ columns.T])
def test_without_anybody_the_sum_is_zero(kernel):
    assert_array_equal(kernel_sums(X, Z[:0], kernel, COEFFICIENTS[:0]), np.zeros((9, 2)))
    assert kernel_sums(X[:0], Z, kernel, COEFFICIENTS).shape == (0, 2)
