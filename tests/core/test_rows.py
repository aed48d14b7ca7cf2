"""Rows of dense and sparse matrices through one type."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from eigenwood.core.rows import (
    dense_add,
    dense_dot,
    is_sparse,
    row_count,
    rows_of,
    sparse_add,
    sparse_dot,
    squared_row_norms,
)

DTYPES = (np.float32, np.float64)


def table(seed, dtype):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(7, 5)) * (rng.random((7, 5)) < 0.6)).astype(dtype)


def forms(X):
    """Return the same matrix dense, as csr, and as csr with other index types."""
    narrow = sparse.csr_array(X)
    wide = sparse.csr_array((narrow.data, narrow.indices.astype(np.int64), narrow.indptr.astype(np.int64)), X.shape)
    return [rows_of(X), rows_of(narrow), rows_of(wide), rows_of(sparse.csr_matrix(X))]


def test_nothing_is_copied_but_the_indices():
    X = table(0, np.float64)
    assert rows_of(X).dense is X
    csr = sparse.csr_array(X)
    assert rows_of(csr).data is csr.data


def test_an_empty_table_keeps_its_kind():
    assert row_count(rows_of(np.empty((0, 3)))) == 0
    assert row_count(rows_of(sparse.csr_array((0, 3)))) == 0
    assert is_sparse(rows_of(sparse.csr_array((0, 3))))
    assert not is_sparse(rows_of(np.empty((0, 3))))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(3))
def test_products_sums_and_norms_equal_the_textbook(seed, dtype):
    X = table(seed, dtype)
    vector = np.random.default_rng(seed + 10).normal(size=5)
    for rows in forms(X):
        assert row_count(rows) == 7
        for i in range(7):
            product = sum(float(X[i, j]) * vector[j] for j in range(5))
            target, factor = vector.copy(), np.float64(-2.5)
            if is_sparse(rows):
                stored = slice(rows.indptr[i], rows.indptr[i + 1])
                computed = sparse_dot(rows.data[stored], rows.indices[stored], vector)
                sparse_add(rows.data[stored], rows.indices[stored], factor, target)
            else:
                computed = dense_dot(rows.dense[i], vector)
                dense_add(rows.dense[i], factor, target)
            assert computed == pytest.approx(product, rel=1e-13, abs=1e-14)
            assert_allclose(target, [vector[j] - 2.5 * float(X[i, j]) for j in range(5)], rtol=1e-13)
        expected = [sum(float(value) ** 2 for value in x) for x in X]
        assert_allclose(squared_row_norms(rows), expected, rtol=1e-14)


def test_norms_of_float32_rows_are_summed_in_float64():
    X = np.full((1, 1000), 1.1, dtype=np.float32)
    exact = 1000 * float(np.float32(1.1)) ** 2
    assert squared_row_norms(rows_of(X))[0] == pytest.approx(exact, rel=1e-13)


def test_norms_do_not_overflow_where_float32_would():
    X = np.array([[1e30, 0.0]], dtype=np.float32)
    assert_array_equal(squared_row_norms(rows_of(X)), [float(np.float32(1e30)) ** 2])
