"""Weights of terms: equal to plain loops and to scikit-learn's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from eigenwood.core.text.weighting import covariances, inverse_frequencies, weighted_rows
from tests.naive import weighting as naive


def counts_of(seed, n_rows=12, n_terms=5):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.7, size=(n_rows, n_terms))
    counts[0] = 0  # a document without terms
    counts[1] = 1
    return counts


@pytest.mark.parametrize("seed", range(4))
def test_equals_plain_loops(seed):
    counts, rng = counts_of(seed), np.random.default_rng(seed)
    weights, targets = rng.uniform(0.5, 2.0, counts.shape[1]), rng.normal(size=(counts.shape[0], 3))
    rows = weighted_rows(sparse.csr_array(counts), weights)
    assert_allclose(rows.toarray(), naive.weighted_rows(counts.tolist(), weights.tolist()), rtol=1e-12)
    expected = naive.covariances(rows.toarray().tolist(), targets.tolist())
    assert_allclose(covariances(rows, targets), expected, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("seed", range(4))
def test_equals_scikit_learn(seed):
    counts = counts_of(seed)
    weights = inverse_frequencies((counts > 0).sum(axis=0), counts.shape[0])
    theirs = TfidfTransformer(sublinear_tf=True).fit(counts)
    assert_allclose(weights, theirs.idf_, rtol=1e-12)
    rows = weighted_rows(sparse.csr_array(counts), weights).toarray()
    assert_allclose(rows, theirs.transform(counts).toarray(), rtol=1e-12)


def test_a_row_does_not_depend_on_the_others():
    counts = counts_of(0, 200, 30)
    weights = inverse_frequencies((counts > 0).sum(axis=0), 200)
    whole = weighted_rows(sparse.csr_array(counts), weights).toarray()
    for rows in (slice(0, 1), slice(7, 8), slice(3, 150)):
        np.testing.assert_array_equal(weighted_rows(sparse.csr_array(counts[rows]), weights).toarray(), whole[rows])
