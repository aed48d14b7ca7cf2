"""Bins: a code is the number of cuts below a value, and columns that share a place lose nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from eigenwood.core.boosting.binning import boost_table, category_bins, learn_cuts
from eigenwood.core.boosting.columns import code_weights, column_cuts, last_of_bins
from tests.core.boosting.cases import NONE, table_of
from tests.naive import boosting as naive

NUMBERS = st.one_of(st.sampled_from([0.0, -0.0, 1.0, 1.5, np.nan, 5e-324, 1e308, -1e308]), st.floats(-9, 9))


def bins_of(table, feature):
    """Return the bin of every row in a feature, from the words of codes."""
    column = table.column[feature]
    codes = (table.codes[column // 8] >> np.uint64(8 * (column % 8))).astype(np.int64) & 255
    common, first = table.common[feature], table.first_code[feature]
    if common < 0:
        return codes
    place = codes - first
    inside = (place >= 0) & (place < table.n_bins[feature] - 1)
    return np.where(inside, place + (place >= common), common)


@given(st.lists(NUMBERS, min_size=1, max_size=40), st.sampled_from([2, 3, 5, 255]))
def test_cuts_and_codes_are_the_naive_ones(values, max_bins):
    column = np.array(values)
    cuts = column_cuts(column, NONE, max_bins)
    expected = naive.cuts_of(column.tolist(), [1.0] * column.size, max_bins)
    assert_allclose(cuts, expected, rtol=1e-15, atol=5e-324)
    table, _, _ = table_of(column[:, None], max_bins=max_bins)
    codes = [naive.code_of(value, cuts.tolist()) for value in column.tolist()]
    missing = cuts.size + 1 if np.isnan(column).any() else -1
    assert_array_equal(bins_of(table, 0), [missing if code == naive.MISSING else code for code in codes])
    assert (table.n_bins[0], table.missing[0]) == (cuts.size + 1 + (missing >= 0), missing)


def test_cuts_lie_between_neighbours_however_close():
    low = np.array([1.0, 0.0, -5e-324, 1.7e308])
    for value in low:
        pair = np.array([value, np.nextafter(value, np.inf)])
        (cut,) = column_cuts(pair, NONE, 255)
        assert pair[0] <= cut < pair[1]


@given(st.integers(0, 1000))
def test_weights_of_bins_are_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    values, counts = rng.integers(30, size=50).astype(float), rng.integers(1, 5, size=50)
    values[:3] = np.nan
    repeated = np.repeat(values, counts)
    weighted = column_cuts(values, counts.astype(float), 7)
    assert_array_equal(weighted, column_cuts(repeated, NONE, 7))
    assert_array_equal(weighted, naive.cuts_of(values.tolist(), counts.tolist(), 7))


def test_there_are_never_more_bins_than_asked_for():
    """255 times a sum of weights, by that sum, may be more than 255."""
    rng = np.random.default_rng(0)
    totals = rng.uniform(1.0, 2.0, size=10_000)
    (beyond,) = np.nonzero(np.ceil(totals * 255 / totals) > 255)
    assert beyond.size > 0
    for total in totals[beyond[:20]]:
        weights = np.append(np.full(400, total / 512), 0.0)
        weights[-1] = total - np.cumsum(weights)[-2]
        assert last_of_bins(weights, 255).size <= 255


def test_bins_have_about_the_same_weight():
    values = np.random.default_rng(1).normal(size=5000)
    codes = np.searchsorted(column_cuts(values, NONE, 50), values)
    assert_array_equal(np.bincount(codes), np.full(50, 100))


def test_the_rarest_categories_share_the_last_bin():
    assert_array_equal(category_bins(np.array([5, 1, 3, 3, 0]), 5), range(5))
    assert_array_equal(category_bins(np.array([5, 1, 3, 3, 0]), 3), [0, 2, 1, 2, 2])
    counts = np.random.default_rng(2).permutation(300)
    bins = category_bins(counts, 255)
    assert_array_equal(np.flatnonzero(bins == 254), np.flatnonzero(counts < 300 - 254))
    assert np.unique(bins[bins < 254]).size == 254


def sparse_features(rng, n_rows, n_features, together):
    """Return columns of which at most ``together`` are rare in the same row."""
    X = np.zeros((n_rows, n_features))
    for i in range(n_rows):
        own = rng.choice(n_features, size=rng.integers(0, together + 1), replace=False)
        X[i, own] = rng.integers(1, 4, size=own.size)
    X[rng.random(n_rows) < 0.1, 0] = np.nan
    return X


@pytest.mark.parametrize("together", [1, 2])
def test_features_that_share_a_column_keep_their_bins(together):
    X = sparse_features(np.random.default_rng(3), 200, 30, together)
    table, cuts, _ = table_of(X)
    assert table.bin_start.size - 1 < 30  # columns
    for j in range(30):
        own = cuts.cuts[cuts.start[j] : cuts.start[j + 1] - 1].tolist()
        codes = [naive.code_of(value, own) for value in X[:, j].tolist()]
        assert_array_equal(bins_of(table, j), [table.missing[j] if c == naive.MISSING else c for c in codes])


def test_a_shared_column_has_no_more_codes_than_a_byte_can_tell_apart():
    """Forty features of ten rare codes each, no two in one row: 25 of them and the common code are 251 codes."""
    n_rows = 40 * 10 * 2
    X = np.zeros((n_rows, 40))
    X[np.arange(n_rows), np.arange(n_rows) // 20] = 1 + np.arange(n_rows) % 10
    table, _, _ = table_of(X)
    assert_array_equal(np.bincount(table.column), [25, 15])
    assert_array_equal(np.diff(table.bin_start), [256, 160])
    for j in range(40):
        assert_array_equal(bins_of(table, j), X[:, j])


def test_sparse_and_dense_tables_are_the_same():
    X = np.nan_to_num(sparse_features(np.random.default_rng(4), 60, 12, 2))
    dense, _, counts = table_of(X, categories=(2,))
    held = sparse.csc_array(X)
    found = boost_table(held, learn_cuts(held, counts, NONE, 255, 2), counts, 2)
    for name, one, other in zip(dense._fields, dense, found, strict=True):
        assert_array_equal(one, other, err_msg=name)


def test_rows_with_the_same_codes_have_the_same_hash_and_others_do_not():
    rng = np.random.default_rng(5)
    X = rng.integers(3, size=(300, 11)).astype(float)
    table, _, _ = table_of(X)
    _, groups = np.unique(X, axis=0, return_inverse=True)
    _, hashes = np.unique(table.row_hash, return_inverse=True)
    assert_array_equal(groups[:, None] == groups, hashes[:, None] == hashes)


@pytest.mark.parametrize("n_values", [4, 255, 400])
def test_a_number_that_only_later_rows_miss_has_a_bin_of_its_own(n_values):
    """Cuts are learnt from rows for training; rows for validation stand in the same table."""
    rng = np.random.default_rng(6)
    X = np.column_stack([rng.permutation(n_values), rng.permutation(n_values) == 0, rng.permutation(n_values) == 0])
    X = np.vstack([X.astype(float), np.full((2, 3), np.nan)])
    counts = np.full(3, -1)
    table = boost_table(X, learn_cuts(X[:-2], counts, NONE, 255, 1), counts, 1)
    for j in range(3):
        bins = bins_of(table, j)
        assert table.missing[j] == table.n_bins[j] - 1 == bins[-1] == bins[-2]
        assert bins[:-2].max() == table.missing[j] - 1


@pytest.mark.parametrize("n_values", [2, 40, 5000])
def test_whole_numbers_are_counted_to_the_cuts_of_sorted_ones(n_values):
    """Half a step further all are fractions: then they are sorted."""
    values = np.random.default_rng(n_values).integers(-n_values, n_values, size=3000).astype(float)
    cuts = column_cuts(values, NONE, 255)
    assert_array_equal(cuts, column_cuts(values + 0.5, NONE, 255) - 0.5)
    assert_array_equal(cuts[:254], naive.cuts_of(values.tolist(), [1.0] * values.size, 255))


def test_weights_of_codes_are_those_of_their_rows():
    rng = np.random.default_rng(7)
    codes, weights = rng.integers(200, size=1003).astype(np.uint8), rng.integers(1, 9, size=1003).astype(float)
    assert_array_equal(code_weights(codes, weights, 200), np.bincount(codes, weights, minlength=200))
    assert_array_equal(code_weights(codes, NONE, 200), np.bincount(codes, minlength=200))
