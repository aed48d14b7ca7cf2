"""Equal rows become one row; what does not change the numbers does not change the fingerprint."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from eigenwood.core.distinct import distinct_rows, fingerprints, splitmix64
from eigenwood.core.rows import rows_of
from tests.naive import distinct as naive

DTYPES = (np.float32, np.float64)


def table(seed, dtype=np.float64):
    """Rows of few different values, so that many are equal."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, size=(30, 3)).astype(dtype)
    return X, rng.integers(2, size=30), rng.integers(1, 4, size=30).astype(float)


def as_dictionary(X, codes, joined):
    keys = [(tuple(map(float, X[i])), int(codes[i])) for i in joined.first]
    return dict(zip(keys, joined.mass, strict=True))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("seed", range(3))
def test_equals_the_dictionary(seed, form, dtype):
    X, codes, weights = table(seed, dtype)
    joined = distinct_rows(rows_of(form(X)), codes, weights)
    expected = naive.distinct_rows(X, codes, weights)
    assert 1 < joined.first.size < 30
    assert len(set(joined.first)) == joined.first.size
    assert as_dictionary(X, codes, joined) == expected


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_rows_does_not_matter(seed):
    X, codes, weights = table(seed)
    order = np.random.default_rng(seed).permutation(30)
    here = distinct_rows(rows_of(X), codes, weights)
    there = distinct_rows(rows_of(X[order]), codes[order], weights[order])
    assert_array_equal(X[here.first], X[order][there.first])
    assert_array_equal(codes[here.first], codes[order][there.first])
    assert_array_equal(here.mass, there.mass)


def test_the_first_of_equal_rows_is_named():
    X = np.array([[2.0], [1.0], [2.0], [1.0]])
    joined = distinct_rows(rows_of(X), np.zeros(4, dtype=int), np.ones(4))
    assert sorted(joined.first) == [0, 1]
    assert_array_equal(joined.mass, [2.0, 2.0])


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 3, 8]))
def test_fingerprints_see_numbers_not_storage(seed, n_features):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4, n_features)) * (rng.random((4, n_features)) < 0.5)
    codes = rng.integers(3, size=4)
    expected = fingerprints(rows_of(X), codes)

    stored_zeros = sparse.csr_array((X.ravel(), np.tile(np.arange(n_features), 4), n_features * np.arange(5)))
    assert stored_zeros.nnz == X.size
    assert_array_equal(fingerprints(rows_of(stored_zeros), codes), expected)

    any_order = np.concatenate([rng.permutation(n_features) for _ in range(4)])
    values = X[np.repeat(np.arange(4), n_features), any_order]
    unsorted = sparse.csr_array((values, any_order, n_features * np.arange(5)), shape=X.shape)
    assert_array_equal(fingerprints(rows_of(unsorted), codes), expected)

    negative_zeros = np.where(X == 0, -0.0, X)
    assert_array_equal(fingerprints(rows_of(negative_zeros), codes), expected)


def test_float32_and_float64_of_the_same_numbers_are_equal():
    X = np.array([[0.5, 0.0, -3.25]])
    codes = np.zeros(1, dtype=np.int64)
    assert_array_equal(fingerprints(rows_of(X), codes), fingerprints(rows_of(X.astype(np.float32)), codes))


def test_different_things_have_different_fingerprints():
    X = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [1.0, 2.0 + 2**-51], [-1.0, 2.0], [0.0, 0.0], [0.0, 0.0]])
    codes = np.array([0, 0, 1, 0, 0, 0, 1])
    assert len(set(fingerprints(rows_of(X), codes).tolist())) == 7


@pytest.mark.slow
def test_no_collision_among_many_rows():
    X = np.indices((60, 60, 30)).reshape(3, -1).T.astype(np.float64)
    marks = fingerprints(rows_of(X), np.zeros(len(X), dtype=np.int64))
    assert np.unique(marks).size == len(X)


def test_mixing_loses_no_bit():
    """Before its last step, which can be undone, every bit of a product by an odd number is 0 or 1 equally often."""
    mixed = np.array([splitmix64(np.uint64(i)) for i in range(1, 2001)], dtype=np.uint64)
    undone = mixed ^ (mixed >> np.uint64(31)) ^ (mixed >> np.uint64(62))
    shares = [((undone >> np.uint64(bit)) & np.uint64(1)).mean() for bit in range(64)]
    assert 0.4 < min(shares) <= max(shares) < 0.6
