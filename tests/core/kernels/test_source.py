"""Kernel values, kept or computed on demand: the same numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.kernels.functions import KERNELS, Kernel
from eigenwood.core.kernels.source import KernelValues
from tests.naive import kernels as naive

X = np.random.default_rng(0).normal(size=(9, 3))
RBF = Kernel(KERNELS["rbf"], 0.4)
EXPECTED = naive.gram(X, X, lambda x, z: naive.rbf(x, z, 0.4))
ROWS, COLUMNS = np.array([5, 0, 7]), np.array([1, 8, 2, 5])


@pytest.fixture(params=["kept", "on demand", "precomputed"])
def values(request):
    if request.param == "precomputed":
        return KernelValues.precomputed(EXPECTED)
    return KernelValues(X, RBF, 1, max_bytes=1e6 if request.param == "kept" else 9 * 9 * 8 - 1)


def test_blocks_slabs_and_diagonal(values):
    assert values.n_rows == 9
    K, p, q = values.block(ROWS, COLUMNS)
    assert_allclose(K[np.ix_(p, q)], EXPECTED[np.ix_(ROWS, COLUMNS)], rtol=1e-13)
    K, p = values.slab(ROWS, slice(2, 6))
    assert_allclose(K[p], EXPECTED[ROWS, 2:6], rtol=1e-13)
    assert values.diagonal().dtype == np.float64
    assert_allclose(values.diagonal(), EXPECTED.diagonal())


def counted(calls):
    def function(rows, columns):
        calls.append(len(rows) * len(columns))
        return rows @ columns.T

    return function


def test_what_fits_is_computed_once():
    calls = []
    values = KernelValues(X, counted(calls), 1, max_bytes=9 * 9 * 8)
    values.block(ROWS, COLUMNS)
    values.slab(ROWS, slice(0, 9))
    assert sum(calls) == 81


def test_what_does_not_fit_is_never_held_whole():
    calls = []
    values = KernelValues(X, counted(calls), 1, max_bytes=9 * 9 * 8 - 1)
    assert calls == []
    K, p, q = values.block(ROWS, COLUMNS)
    assert_array_equal(K[np.ix_(p, q)].shape, (3, 4))
    assert calls == [12]
