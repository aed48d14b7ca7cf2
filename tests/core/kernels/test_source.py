"""Kernel values, kept or computed each time: the same numbers, within the bound on memory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from eigenwood.core.kernels.functions import KERNELS, Kernel
from eigenwood.core.kernels.source import KernelValues
from tests.naive import kernels as naive

X = np.random.default_rng(0).normal(size=(9, 3))
RBF = Kernel(KERNELS["rbf"], 0.4)
EXPECTED = naive.gram(X, X, lambda x, z: naive.rbf(x, z, 0.4))
ROWS, COLUMNS = np.array([5, 0, 7]), np.array([1, 8, 2, 5])
ROW_BYTES = 9 * 8


def keep(values, rows):
    """Do what a learner does: reserve, then fill block by block."""
    fresh = values.reserve(rows)
    values.fill(fresh, slice(0, 4))
    values.fill(fresh, slice(4, 9))
    return fresh


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_kept", [0, 2, 9])
def test_kept_or_not_the_numbers_are_the_same(n_kept, form):
    values = KernelValues(form(X), RBF, max_bytes=n_kept * ROW_BYTES)
    for rows in (ROWS, ROWS, np.array([7, 3]), np.arange(9)):
        keep(values, rows)
        K, p, q = values.block(rows, COLUMNS)
        assert_allclose(K[np.ix_(p, q)], EXPECTED[np.ix_(rows, COLUMNS)], rtol=1e-13)
        K, p = values.slab(rows, slice(2, 6))
        assert_allclose(K[p], EXPECTED[rows, 2:6], rtol=1e-13)
    assert values.n_rows == 9
    assert values.diagonal().dtype == np.float64
    assert_allclose(values.diagonal(), EXPECTED.diagonal())


def test_a_gram_matrix_of_the_user_is_looked_up():
    values = KernelValues.precomputed(EXPECTED.astype(np.float32))
    assert values.reserve(ROWS).size == 0
    K, p, q = values.block(ROWS, COLUMNS)
    assert_array_equal(K[np.ix_(p, q)], EXPECTED.astype(np.float32)[np.ix_(ROWS, COLUMNS)])
    assert values.diagonal().dtype == np.float64
    assert_array_equal(values.diagonal(), np.ones(9))


@pytest.mark.parametrize("bytes_given", [0, ROW_BYTES - 1, 2 * ROW_BYTES, 2.5 * ROW_BYTES, 1e9])
def test_not_more_rows_are_kept_than_fit(bytes_given):
    values = KernelValues(X, RBF, max_bytes=bytes_given)
    kept = [int(i) for rows in (ROWS, ROWS, np.array([2, 0, 1]), np.arange(9)) for i in keep(values, rows)]
    first_come = [5, 0, 7, 2, 1, 3, 4, 6, 8]
    assert kept == first_come[: min(9, int(bytes_given // ROW_BYTES))]


def counted(calls):
    def function(rows, columns):
        calls.append((len(rows), len(columns)))
        return rows @ columns.T

    return function


def test_a_kept_row_is_computed_once():
    calls = []
    values = KernelValues(X, counted(calls), max_bytes=1e9)
    assert calls == []  # nothing before it is needed
    for _ in range(3):
        keep(values, ROWS)
        values.block(ROWS, COLUMNS)
        values.slab(ROWS, slice(0, 9))
    assert calls == [(4, 3), (5, 3)]


def test_what_is_not_kept_is_computed_for_the_request_alone():
    calls = []
    values = KernelValues(X, counted(calls), max_bytes=0)
    keep(values, ROWS)
    values.block(ROWS, COLUMNS)
    values.slab(ROWS, slice(2, 6))
    assert calls == [(4, 3), (4, 3)]


def test_a_function_of_the_user_is_not_handed_to_several_threads():
    assert not KernelValues(X, counted([]), 0).takes_threads
    assert KernelValues(X, RBF, 0).takes_threads


def test_a_function_that_is_not_symmetric_is_asked_as_in_predicting():
    values = KernelValues(X, lambda queries, voters: queries[:, :1] - 2.0 * voters[:, 0][None, :], max_bytes=0)
    expected = naive.gram(X, X, lambda query, voter: query[0] - 2.0 * voter[0])
    K, p, q = values.block(ROWS, COLUMNS)
    assert_allclose(K[np.ix_(p, q)], expected[np.ix_(COLUMNS, ROWS)].T)
    K, p = values.slab(ROWS, slice(2, 6))
    assert_allclose(K[p], expected[2:6, ROWS].T)
