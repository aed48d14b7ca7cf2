"""Codes: the ranks of the values, however they are found and however they are kept."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from eigenwood.core.tree.binning import MOST_FEW, WIDEST_TABLE, Ranked, binned_dense, binned_sparse, stored_codes
from eigenwood.core.tree.types import CATEGORY, NUMBER
from tests.core.tree import cases

SHARES = (0.0, 0.5, 1.0)


def ranks(column):
    """The rank of each value among the distinct ones; missing comes last."""
    distinct = sorted({value for value in column if not math.isnan(value)})
    return [len(distinct) if math.isnan(value) else distinct.index(value) for value in column]


def coded(binned):
    """Return the code of every row in every feature, from both kinds of storage."""
    codes, features = binned
    table = np.tile(features.common.astype(int), (codes.entry_start.size - 1, 1))
    for i, feature in enumerate(codes.feature):
        table[:, feature] = codes.bin_of_code[codes.start[i] :][codes.columns[i]]
    for row in range(len(table)):
        for sparse_bin in codes.entries[codes.entry_start[row] : codes.entry_start[row + 1]]:
            table[row, codes.sparse_feature[sparse_bin]] = codes.sparse_code[sparse_bin]
    return table


def decoded(binned):
    """Return the values behind the codes: those of the matrix, if every value has a code of its own."""
    table, features = coded(binned), binned.features
    missing = table == features.missing
    places = features.start[:-1] + np.where(missing, 0, table)
    assert_array_equal(features.lows, features.highs)
    return np.where(missing, np.nan, np.append(features.lows, np.nan)[places])


def dense_of(X, rare_share=0.5, n_threads=1, **bins):
    return binned_dense(np.ascontiguousarray(X), np.full(X.shape[1], -1), rare_share, n_threads, **bins)


def sparse_of(X, n_threads=1):
    return binned_sparse(sparse.csc_array(X), np.full(X.shape[1], -1), n_threads)


N = 3 * MOST_FEW
WAYS = {  # a column for each way in which ranks are found
    "few": lambda rng: rng.integers(-3, 4, size=N) / 4.0,
    "as many as are few": lambda rng: rng.permutation(np.arange(N) % MOST_FEW) - 7.5,
    "one more than a few": lambda rng: rng.permutation(np.arange(N) % (MOST_FEW + 1)) - 7.5,
    "whole": lambda rng: rng.integers(-500, 500, size=N).astype(float),
    "whole and far apart": lambda rng: rng.integers(-5, 6, size=N) * 2.0**40 + rng.integers(200, size=N),
    "wider than the table": lambda rng: rng.integers(-9, 10, size=N) * float(WIDEST_TABLE) + rng.integers(200, size=N),
    "real": lambda rng: rng.normal(size=N),
    "twice each": lambda rng: np.repeat(rng.normal(size=N // 2), 2),
    "two numbers": lambda rng: rng.integers(2, size=N).astype(float),
    "huge": lambda rng: rng.choice([-1e308, -5e-324, 0.0, 1e305, 1e308], size=N),
    "constant": lambda rng: np.full(N, 2.5),
    "none": lambda rng: np.full(N, np.nan),
}


@pytest.mark.parametrize("holed", [False, True], ids=["whole", "holed"])
@pytest.mark.parametrize("rare_share", SHARES)
@pytest.mark.parametrize("way", WAYS)
def test_equals_the_textbook(way, rare_share, holed):
    rng = np.random.default_rng(len(way))
    column = WAYS[way](rng)
    if holed:
        column = np.where(rng.random(column.size) < 0.2, np.nan, column)
    binned = dense_of(column[:, None], rare_share)
    expected = ranks(column)
    assert_array_equal(coded(binned)[:, 0], expected)
    assert_array_equal(decoded(binned)[:, 0], column)
    assert binned.features.exact.all()
    assert binned.features.missing[0] == (max(expected) if np.isnan(column).any() else -1)
    assert binned.features.kind[0] == NUMBER


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(allow_infinity=False), min_size=1, max_size=40), st.sampled_from(SHARES))
def test_any_numbers_keep_their_order(values, rare_share):
    """They are no more than there are bins."""
    column = np.array(values)
    codes = coded(dense_of(column[:, None], rare_share, max_bins=40))[:, 0]
    assert_array_equal(codes, ranks(column))


@pytest.mark.parametrize("as_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("seed", range(10))
def test_a_table_of_all_kinds_of_columns_comes_back(seed, as_sparse):
    rng = np.random.default_rng(seed)
    X = cases.numbers(rng, int(rng.integers(1, 30)), n_features=11)
    binned = sparse_of(X) if as_sparse else dense_of(X)
    assert_array_equal(decoded(binned), X)


@pytest.mark.parametrize("seed", range(5))
def test_permuting_the_rows_permutes_the_codes(seed):
    rng = np.random.default_rng(seed)
    X = cases.numbers(rng, 25)
    order = rng.permutation(25)
    here, there = dense_of(X), dense_of(X[order])
    assert_array_equal(coded(here)[order], coded(there))
    for name, before, after in zip(here.features._fields, here.features, there.features, strict=True):
        assert_array_equal(before, after, err_msg=name)


# ---- storage -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rare_share", "kept_thin"), [(0.0, 0), (0.2, 1), (0.25, 2), (1.0, 3)])
def test_a_column_is_thin_when_its_rare_entries_are_few(rare_share, kept_thin):
    # of 20 rows, 3, 5 and 19 are not the most common value
    X = np.zeros((20, 3))
    X[:3, 0], X[:5, 1], X[:, 2] = 1.0, np.arange(1, 6), np.arange(20)
    binned = dense_of(X, rare_share)
    assert_array_equal(binned.codes.feature, np.arange(kept_thin, 3))
    assert_array_equal(np.unique(binned.codes.sparse_feature), np.arange(kept_thin))
    assert_array_equal(binned.features.common, [0] * kept_thin + [-1] * (3 - kept_thin))
    assert binned.codes.entries.size == [0, 3, 8, 27][kept_thin]


def test_entries_and_slots_ascend():
    X = cases.numbers(np.random.default_rng(3), 30, kinds=(cases.rare_counts, cases.thin), n_features=12)
    codes = dense_of(X, 1.0).codes
    assert codes.entries.size > 30
    for row in range(30):
        assert (np.diff(codes.entries[codes.entry_start[row] : codes.entry_start[row + 1]]) > 0).all()
    sparse_bins = codes.sparse_feature.astype(int) * 1000 + codes.sparse_code
    assert (np.diff(sparse_bins) > 0).all()


def test_a_missing_value_can_be_the_common_one():
    column = np.array([[np.nan], [1.0], [np.nan], [0.0], [np.nan]])
    features = dense_of(column).features
    assert features.common[0] == features.missing[0] == 2


@pytest.mark.parametrize("seed", range(5))
def test_a_sparse_matrix_is_never_made_dense(seed):
    X = cases.numbers(np.random.default_rng(seed), 20)
    binned = sparse_of(X)
    assert binned.codes.columns.shape == (0, 20)
    assert 0 < binned.codes.entries.size <= np.count_nonzero(X)


def test_stored_zeros_are_zeros():
    X = sparse.csc_array((np.array([0.0, 2.0, 0.0, -1.0]), np.array([0, 1, 0, 2]), np.array([0, 2, 4])), shape=(3, 2))
    assert X.nnz == 4
    binned = binned_sparse(X, np.full(2, -1), 1)
    assert binned.codes.entries.size == 2
    assert_array_equal(decoded(binned), X.toarray())


def test_a_sparse_column_without_a_zero_has_no_code_for_it():
    X = np.array([[3.0], [-1.0], [np.nan], [3.0]])
    binned = sparse_of(X)
    assert_array_equal(decoded(binned), X)
    assert_array_equal(binned.features.lows, [-1.0, 3.0])


@pytest.mark.parametrize("rare_share", SHARES)
def test_float32_has_the_same_codes(rare_share):
    X = cases.numbers(np.random.default_rng(1), 25, n_features=9).astype(np.float32)
    here, there = dense_of(X, rare_share), dense_of(X.astype(np.float64), rare_share)
    assert_array_equal(coded(here), coded(there))
    assert_array_equal(here.features.lows, there.features.lows)


@pytest.mark.parametrize("compute", [dense_of, sparse_of])
def test_same_bits_for_any_number_of_threads(compute):
    X = cases.numbers(np.random.default_rng(2), 40, n_features=21)
    one, two = compute(X, n_threads=1), compute(X, n_threads=2)
    for part in ("codes", "features"):
        for here, there in zip(getattr(one, part), getattr(two, part), strict=True):
            assert here.dtype == there.dtype
            assert here.tobytes() == there.tobytes()


# ---- categories --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rare_share", SHARES)
def test_the_codes_of_categories_stand_for_themselves(rare_share):
    X = np.array([[4.0, 7.5], [1.0, 2.5], [4.0, 7.5], [0.0, 2.5]])
    binned = binned_dense(X, np.array([6, -1]), rare_share, 1)
    assert_array_equal(coded(binned), [[4, 1], [1, 0], [4, 1], [0, 0]])
    assert_array_equal(binned.features.kind, [CATEGORY, NUMBER])
    assert_array_equal(binned.features.missing, [-1, -1])
    assert_array_equal(np.diff(binned.features.start), [6, 2])


# ---- more values than codes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rare_share", [0.0, 1.0])
@pytest.mark.parametrize("holed", [False, True], ids=["whole", "holed"])
@pytest.mark.parametrize("seed", range(5))
def test_many_values_share_bins(seed, holed, rare_share):
    rng = np.random.default_rng(seed)
    column = rng.normal(size=150)
    column[:30] = column[0]  # a heavy value
    if holed:
        column[40:60] = np.nan
    binned = dense_of(rng.permutation(column)[:, None], rare_share, max_bins=40)
    features, codes = binned.features, coded(dense_of(column[:, None], rare_share, max_bins=40))[:, 0]
    n_bins, there = features.lows.size, ~np.isnan(column)

    assert not features.exact[0]
    assert n_bins <= 40
    assert_array_equal(codes[~there], n_bins)
    assert (features.lows[1:] > features.highs[:-1]).all()
    assert (features.lows[codes[there]] <= column[there]).all()
    assert (column[there] <= features.highs[codes[there]]).all()
    assert {*features.lows, *features.highs} <= set(column)
    rows_of_bin = np.bincount(codes[there])
    assert (rows_of_bin > 0).all()
    # a bin may be longer than its share by the rows of one value
    assert rows_of_bin.max() <= there.sum() / 40 + 30
    assert np.sort(rows_of_bin)[-2] <= there.sum() / 40 + 1


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("n_values", [2, 40, MOST_FEW, 2 * MOST_FEW])
def test_as_many_values_as_bins_are_exact_and_one_more_is_not(n_values, missing):
    column = np.random.default_rng(0).permutation(np.append(np.sqrt(np.arange(n_values)), [np.nan] * missing))
    enough, too_few = (dense_of(column[:, None], max_bins=n_bins) for n_bins in (n_values, n_values - 1))
    assert enough.features.exact[0]
    assert enough.features.lows.size == n_values
    assert not too_few.features.exact[0]
    assert too_few.features.lows.size <= n_values - 1


def test_sparse_columns_share_bins_too():
    X = np.where(np.arange(300) % 3 > 0, np.arange(300.0), 0.0)[:, None]
    binned = binned_sparse(sparse.csc_array(X), np.full(1, -1), 1, max_bins=20)
    assert not binned.features.exact[0]
    assert binned.features.lows.size <= 20


@pytest.mark.slow
@pytest.mark.parametrize("n_missing", [0, 5])
def test_no_more_codes_than_sixteen_bits_can_tell(n_missing):
    column = np.random.default_rng(0).normal(size=70_000)
    column[:n_missing] = np.nan
    binned = dense_of(column[:, None])
    assert not binned.features.exact[0]
    codes = binned.codes.columns[0]
    assert codes.max() <= 65_535
    order = np.argsort(column)
    assert (np.diff(codes[order].astype(int)) >= 0).all()
    n_codes = np.unique(codes).size
    assert 60_000 < n_codes <= 65_536
    assert (codes == binned.features.missing[0]).sum() == n_missing


@pytest.mark.slow
@pytest.mark.parametrize("n_values", [65_536, 65_537])
def test_as_many_whole_numbers_as_codes_are_exact_and_one_more_is_not(n_values):
    column = np.random.default_rng(0).permutation(n_values).astype(float)
    assert dense_of(column[:, None]).features.exact[0] == (n_values == 65_536)


@pytest.mark.parametrize(("n_rows", "dtype"), [(70_000, np.uint8), (70_000, np.uint16), (9, np.uint8)])
def test_only_a_large_table_of_narrow_codes_is_kept_by_row(n_rows, dtype):
    columns = np.random.default_rng(0).integers(256, size=(70, n_rows)).astype(dtype)
    nothing = np.empty(0)
    found = [(Ranked(column, nothing, nothing, nothing, nothing, 0, True), None) for column in columns]
    whole = [*range(3, 70)]  # more than are turned at once
    by_column, by_row = stored_codes(found, whole, n_rows, dtype)
    if (n_rows, dtype) == (70_000, np.uint8):
        assert by_column.shape == (67, 0)
        assert_array_equal(by_row, columns[3:].T)
    else:
        assert by_row.shape == (0, 67)
        assert_array_equal(by_column, columns[3:])
    assert by_column.dtype == dtype
    assert [one.codes.size for one, _ in found] == [n_rows] * 3 + [0] * 67  # they were given away


@pytest.mark.parametrize(("n_columns", "n_values", "n_bytes"), [(64, 256, 1), (63, 9, 2), (64, 257, 2)])
def test_codes_are_bytes_where_many_columns_have_few(n_columns, n_values, n_bytes):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.permutation(np.arange(300) % n_values) for _ in range(n_columns)]).astype(float)
    codes = dense_of(X).codes
    assert codes.columns.itemsize == n_bytes
    assert_array_equal(codes.columns, X.T)
