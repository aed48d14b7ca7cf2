"""Φ(x): equal to the products one by one, in scikit-learn's order, and Φ(x)·Φ(z) = (1 + x·z)^p."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.preprocessing import PolynomialFeatures

from eigenwood.core.kernels import expansion as expanding
from eigenwood.core.kernels.expansion import (
    expand,
    expansion,
    features_of,
    nonzero_terms,
    parent_of_each,
    term_count,
)
from tests.naive import expansion as naive

DTYPES = (np.float32, np.float64)
SHAPES = [(1, 1), (1, 6), (2, 2), (3, 3), (4, 2), (5, 1)]


def table(seed, n_features, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(7, n_features)) * (rng.random((7, n_features)) < 0.7)).astype(dtype)


@pytest.mark.parametrize(("n_features", "degree"), SHAPES)
def test_terms_and_factors_equal_the_textbook(n_features, degree):
    shape = expansion(n_features, degree, kernel_factors=True)
    terms = naive.terms(n_features, degree)
    assert [features_of(shape, t) for t in range(shape.last.size)] == terms
    assert term_count(n_features, degree) == len(terms)
    assert_allclose(shape.factors, [naive.factor(term, n_features, degree) for term in terms], rtol=1e-14)
    assert_array_equal(expansion(n_features, degree, kernel_factors=False).factors, np.ones(len(terms)))


@pytest.mark.parametrize(("n_features", "degree"), SHAPES)
def test_a_term_is_its_parent_and_one_feature_more(n_features, degree):
    shape = expansion(n_features, degree, False)
    parents = parent_of_each(shape)
    assert parents[0] == -1
    for term in range(1, shape.last.size):
        assert features_of(shape, term) == (*features_of(shape, int(parents[term])), shape.last[term])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize(("n_features", "degree"), SHAPES)
def test_equals_the_products_one_by_one(n_features, degree, scaled, form, dtype, monkeypatch):
    monkeypatch.setattr(expanding, "BLOCK_VALUES", 30)  # several blocks
    X = table(n_features, n_features, dtype)
    shape = expansion(n_features, degree, scaled)
    expected = naive.expand(X, degree, scaled)
    near = {"rtol": 2e-6} if dtype == np.float32 else {"rtol": 1e-13}
    for with_constant in (True, False):
        phi = expand(form(X), shape, with_constant, 1)
        assert phi.dtype == dtype
        assert sparse.issparse(phi) == (form is not np.asarray)
        phi = phi.toarray() if sparse.issparse(phi) else phi
        assert_allclose(phi, expected if with_constant else expected[:, 1:], **near)


@pytest.mark.parametrize(("n_features", "degree"), SHAPES)
def test_the_order_of_scikit_learn(n_features, degree):
    X = table(3, n_features)
    reference = PolynomialFeatures(degree).fit(X)
    phi = expand(X, expansion(n_features, degree, False), True, 1)
    assert_allclose(phi, reference.transform(X), rtol=1e-13)
    powers = [np.bincount(term, minlength=n_features) for term in naive.terms(n_features, degree)[1:]]
    assert_array_equal(reference.powers_[1:], powers)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 4),
    st.integers(1, 5),
    st.lists(st.floats(-3, 3), min_size=8, max_size=8),
)
def test_products_of_phi_are_the_polynomial_kernel(n_features, degree, numbers):
    X = np.array(numbers).reshape(2, 4)[:, :n_features]
    phi = expand(np.ascontiguousarray(X), expansion(n_features, degree, True), True, 1)
    lengths = np.sqrt((1 + (X**2).sum(axis=1)) ** degree)
    assert phi[0] @ phi[1] == pytest.approx((1 + X[0] @ X[1]) ** degree, abs=1e-13 * lengths.prod())


def test_factors_of_a_high_degree_stay_exact():
    shape = expansion(1, 25, True)  # 25! does not fit in 64 bits
    expected = [naive.factor((0,) * k, 1, 25) for k in range(26)]
    assert_allclose(shape.factors, expected, rtol=1e-13)


def test_how_many_terms():
    assert [term_count(d, 2) - 1 for d in (2, 3, 784)] == [5, 9, 308504]
    assert term_count(1, 100) == 101


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_nonzero_terms_are_counted_right(degree):
    X = table(5, 4)
    phi = expand(X, expansion(4, degree, False), True, 1)
    assert_array_equal(nonzero_terms(X, degree), np.count_nonzero(phi, axis=1))
    assert_array_equal(nonzero_terms(sparse.csr_array(X), degree), np.count_nonzero(phi, axis=1))


def test_sparse_rows_with_stored_zeros_and_unsorted_columns():
    X = np.array([[0.0, 2.0, 3.0], [1.0, 0.0, 0.0]])
    untidy = sparse.csr_array(([3.0, 0.0, 2.0, 1.0], [2, 0, 1, 0], [0, 3, 4]), shape=(2, 3))
    before = untidy.data.copy(), untidy.indices.copy()
    phi = expand(untidy, expansion(3, 2, True), True, 1)
    assert_allclose(phi.toarray(), naive.expand(X, 2, True))
    assert phi.has_sorted_indices
    assert_array_equal(untidy.data, before[0])  # the caller's matrix is as it was
    assert_array_equal(untidy.indices, before[1])


def test_sparse_output_stores_no_zeros():
    X = sparse.csr_array(table(6, 4))
    phi = expand(X, expansion(4, 3, True), True, 1)
    assert phi.nnz == np.count_nonzero(phi.toarray()) == nonzero_terms(X, 3).sum()
