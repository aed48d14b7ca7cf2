"""Moments: equal to plain loops and to NumPy, mergeable at any cut, exact in float32 wherever the rows lie."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from eigenwood.core.spectral import moments
from eigenwood.core.spectral.moments import (
    block_rows,
    column_moments_of,
    diagonal_moments,
    even_slices,
    lanes_of,
    merged,
    merged_columns,
    moments_of,
    no_column_moments,
    no_moments,
)
from eigenwood.core.threads import row_blocks
from tests.core.spectral.cases import DTYPES, FORMS, THREADS, some_weights, table
from tests.naive import pca as naive

KINDS = ("ones", "whole", "fractions")
COLUMNS = (1, 3, 5, 11)  # one tile, one, two (then two lanes), three


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch, request):
    """Tiles of a few columns and blocks of a few rows; tests marked slow see the real size."""
    if "slow" not in request.keywords:
        monkeypatch.setattr(moments, "TILE", 4)
        monkeypatch.setattr(moments, "BLOCK_VALUES", 20)
        monkeypatch.setattr(moments, "FEWEST_ROWS", 2)
        monkeypatch.setattr(moments, "MOST_ROWS", 6)
        monkeypatch.setattr(moments, "FIRST_ROWS", 3)


def mean_near(dtype):
    return {"rtol": 1e-7, "atol": 1e-7} if dtype == np.float32 else {"rtol": 1e-12, "atol": 1e-14}


def near(dtype, size=1.0):
    return {"rtol": 2e-6, "atol": 2e-6 * size} if dtype == np.float32 else {"rtol": 1e-11, "atol": 1e-12 * size}


def assert_same_moments(one, other, rtol=1e-11):
    """Two sums over the same rows, up to rounding."""
    size = np.abs(other[3]).max(initial=0.0)
    assert one.n_rows == other.n_rows
    assert one.weight == pytest.approx(other.weight)
    assert_allclose(one.mean, other.mean, rtol=rtol, atol=rtol)
    assert_allclose(one[3], other[3], rtol=rtol, atol=rtol * size)


def assert_same_bits(one, other):
    for a, b in zip(one, other, strict=True):
        assert_array_equal(a, b)


# ---- equal to the textbook and to NumPy --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_columns", COLUMNS)
def test_equals_plain_loops(n_columns, form, dtype, kind):
    X, weights = table(n_columns, 23, n_columns, dtype), some_weights(23, kind)
    S = naive.scatter(X, weights)
    assert_allclose(naive.scatter_of_pairs(X, weights), S, rtol=1e-10, atol=1e-10)  # the loops agree among themselves
    got = moments_of(form(X), weights)
    assert got.n_rows == 23
    assert got.weight == pytest.approx(weights.sum())
    assert got.scatter.dtype == got.mean.dtype == np.float64
    assert_allclose(got.mean, naive.mean(X, weights), **mean_near(dtype))
    assert_allclose(got.scatter, S, **near(dtype, np.abs(S).max()))

    columns = column_moments_of(form(X), weights)
    assert_allclose(columns.mean, naive.mean(X, weights), rtol=1e-12, atol=1e-14)
    assert_allclose(columns.squares, S.diagonal(), rtol=1e-11)


def test_equals_numpy():
    X, weights = table(1, 40, 7), some_weights(40, "whole")
    got = moments_of(X, weights)
    assert_allclose(got.mean, np.average(X, axis=0, weights=weights))
    expected = np.cov(X, rowvar=False, fweights=weights.astype(int)) * (weights.sum() - 1)
    assert_allclose(got.scatter, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2500, 1100), (9000, 30)])
def test_equals_numpy_over_real_tiles_and_blocks(shape, dtype):
    X, weights = table(2, *shape, dtype), some_weights(shape[0])
    got = moments_of(X, weights, 2)
    wide = X.astype(np.float64)
    A = wide - np.average(wide, axis=0, weights=weights)
    S = (A.T * weights) @ A
    assert_allclose(got.scatter, S, **near(dtype, np.abs(S).max()))
    assert_allclose(column_moments_of(X, weights, 2).squares, S.diagonal(), rtol=1e-11)
    assert_array_equal(got.scatter, got.scatter.T)


# ---- exact in float32, wherever the rows lie ---------------------------------------------------------------------


def relative_errors(scatter, true_scatter):
    true = np.linalg.eigvalsh(true_scatter)
    return np.abs(np.linalg.eigvalsh(scatter) - true) / true


def far_rows(n_rows, n_columns, mean):
    """Return float32 rows of unit variance about a mean that is the same for no two columns."""
    rng = np.random.default_rng(3)
    return (rng.normal(size=(n_rows, n_columns)) + mean * rng.uniform(1.0, 1.5, n_columns)).astype(np.float32)


def by_one_product(X):
    """Return XᵀX - n μμᵀ in float32: what must not be done."""
    middle = X.mean(axis=0)
    return X.T @ X - len(X) * np.outer(middle, middle)


def assert_far_rows_lose_nothing(X, weights):
    wide = X.astype(np.float64)
    A = np.sqrt(weights)[:, None] * (wide - np.average(wide, axis=0, weights=weights))
    assert relative_errors(moments_of(X, weights).scatter, A.T @ A).max() <= 1e-5
    assert_allclose(column_moments_of(X, weights).squares, (A**2).sum(axis=0), rtol=1e-9)
    if (weights == 1.0).all():
        assert relative_errors(by_one_product(X).astype(np.float64), A.T @ A).max() > 1e-4  # this test can fail


@pytest.mark.parametrize("kind", ["ones", "fractions"])
@pytest.mark.parametrize("mean", [0.0, 100.0, 1e4])
def test_float32_rows_far_from_the_origin_keep_their_eigenvalues(mean, kind):
    X = far_rows(400, 6, mean)
    weights = some_weights(400, kind)
    if mean == 0.0:
        wide = X.astype(np.float64) - np.average(X.astype(np.float64), axis=0, weights=weights)
        assert relative_errors(moments_of(X, weights).scatter, (wide.T * weights) @ wide).max() <= 1e-5
    else:
        assert_far_rows_lose_nothing(X, weights)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ones", "fractions"])
@pytest.mark.parametrize("mean", [100.0, 1e4])
def test_float32_rows_far_from_the_origin_keep_their_eigenvalues_in_real_blocks(mean, kind):
    assert_far_rows_lose_nothing(far_rows(30_000, 50, mean), some_weights(30_000, kind))


@pytest.mark.slow
def test_float32_columns_of_two_values_keep_their_eigenvalues():
    """The same square added again and again is rounded the same way each time: errors do not average out."""
    rng = np.random.default_rng(4)
    signs = np.where(rng.random((10_000, 40)) < 0.5, 1.0, -1.0) * rng.uniform(0.5, 1.0, 40)
    X = np.vstack([signs, -signs]).astype(np.float32)
    wide = X.astype(np.float64)
    assert relative_errors(moments_of(X, np.ones(len(X))).scatter, wide.T @ wide).max() <= 1e-5


@pytest.mark.parametrize("dtype", DTYPES)
def test_blocks_whose_means_differ(dtype):
    """Each block takes its own mean off; what lies between the means comes back."""
    X = table(5, 40, 5, dtype) + (np.arange(40)[:, None] * 50).astype(dtype)
    S = naive.scatter(X, np.ones(40))
    assert_allclose(moments_of(X, np.ones(40)).scatter, S, **near(dtype, np.abs(S).max()))


@pytest.mark.parametrize("dtype", DTYPES)
def test_constant_columns_have_no_scatter_at_all(dtype):
    X = table(6, 50, 5, dtype)
    X[:, 2] = dtype(0.1)
    X[:, 4] = dtype(1e6)
    got = moments_of(X, some_weights(50))
    assert_array_equal(got.scatter[[2, 4]], 0.0)
    assert_array_equal(got.scatter[:, [2, 4]], 0.0)
    assert_array_equal(got.mean[[2, 4]], X[0, [2, 4]])
    noise = 50 * 3 * (4 * np.finfo(np.float64).eps * np.array([0.1, 1e6])) ** 2
    assert (column_moments_of(X, some_weights(50)).squares[[2, 4]] <= noise).all()


@pytest.mark.parametrize("seed", range(5))
def test_constant_columns_of_sparse_rows_have_no_scatter_whatever_the_weights(seed):
    """All of their entries are stored, so no weight is left for zeros: not even the rounding of two sums of weights."""
    X, weights = table(seed, 60, 3), some_weights(60, seed=seed)
    X[:, 2] = 1.5
    noise = 60 * 3 * (4 * np.finfo(np.float64).eps * 1.5) ** 2
    assert 0.0 <= column_moments_of(sparse.csr_array(X), weights).squares[2] <= noise
    assert 0.0 <= moments_of(sparse.csr_array(X), weights).scatter[2, 2] <= noise


def test_a_table_of_constants():
    got = moments_of(np.full((20, 7), 0.3), some_weights(20))
    assert_array_equal(got.scatter, np.zeros((7, 7)))
    assert_array_equal(got.mean, np.full(7, 0.3))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_columns", COLUMNS)
def test_columns_that_are_constant_in_some_blocks(n_columns, dtype):
    """A block leaves out the columns that do not vary in it; which these are differs from block to block."""
    X = table(13, 48, n_columns, dtype)
    for j in range(n_columns):
        X[(4 * j) % 40 : (4 * j) % 40 + 16, j] = dtype(j + 0.5)
    X[:12] = dtype(3.0)  # whole blocks without any variation
    weights = some_weights(48)
    S = naive.scatter(X, weights)
    got = moments_of(X, weights)
    assert_allclose(got.scatter, S, **near(dtype, np.abs(S).max()))
    assert_allclose(got.mean, naive.mean(X, weights), **mean_near(dtype))


@pytest.mark.slow
@pytest.mark.parametrize("last", [1, 15, 17, 63, 64, 65, 2000, 3999])
def test_a_column_in_which_one_row_differs(last):
    """Wherever in the block that row stands; the looks at what varies so far are far between."""
    X = np.tile(np.array([2.0, 5.0, -1.0]), (4000, 1))
    X[last, 1] += 1.0
    X[1, 0] += 1.0
    got = moments_of(X, np.ones(4000)).scatter
    assert_allclose(got.diagonal(), [1.0 - 1.0 / 4000, 1.0 - 1.0 / 4000, 0.0], rtol=1e-12)


@given(columns=st.sets(st.integers(0, 20)))
def test_runs_are_the_neighbours_among_columns(columns):
    columns = np.array(sorted(columns), dtype=np.int64)
    runs = moments.runs_of(columns)
    assert runs.shape == (len(runs), 2)
    assert [j for first, stop in runs for j in range(first, stop)] == list(columns)
    assert all(runs[i, 1] < runs[i + 1, 0] for i in range(len(runs) - 1))  # no two of them touch


# ---- merging -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@settings(max_examples=20, deadline=None)
@given(cuts=st.lists(st.integers(1, 17), max_size=4, unique=True), seed=st.integers(0, 2**32 - 1))
def test_merging_the_parts_of_any_cut_is_all_at_once(form, cuts, seed):
    X, weights = form(table(seed, 18, 5, mean=float(seed % 3))), some_weights(18, seed=seed)
    bounds = [0, *sorted(cuts), 18]
    total, by_column = no_moments(5), no_column_moments(5)
    for start, stop in zip(bounds[:-1], bounds[1:], strict=True):
        total = merged(total, moments_of(X[start:stop], weights[start:stop]))
        by_column = merged_columns(by_column, column_moments_of(X[start:stop], weights[start:stop]))
    assert_same_moments(total, moments_of(X, weights))
    assert_same_moments(by_column, column_moments_of(X, weights))


def test_merging_does_not_ask_who_comes_first():
    one, other = (moments_of(table(seed, 9, 4, mean=seed), some_weights(9, seed=seed)) for seed in (1, 2))
    assert_same_moments(merged(one, other), merged(other, one))


def test_no_rows_change_nothing_on_either_side():
    some, by_column = moments_of(table(1, 9, 4), np.ones(9)), column_moments_of(table(1, 9, 4), np.ones(9))
    assert_same_bits(merged(no_moments(4), some), some)
    assert_same_bits(merged(some, no_moments(4)), some)
    assert_same_bits(merged_columns(no_column_moments(4), by_column), by_column)
    assert_same_bits(merged_columns(by_column, no_column_moments(4)), by_column)


def test_merging_leaves_its_parts_as_they_are():
    one, other = (moments_of(table(seed, 9, 4), np.ones(9)) for seed in (1, 2))
    before = one.scatter.copy(), one.mean.copy(), other.scatter.copy(), other.mean.copy()
    merged(one, other)
    assert_same_bits((one.scatter, one.mean, other.scatter, other.mean), before)


# ---- properties --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@settings(max_examples=15, deadline=None)
@given(counts=st.lists(st.integers(1, 4), min_size=2, max_size=9), seed=st.integers(0, 2**32 - 1))
def test_a_weight_is_a_row_given_so_often(form, counts, seed):
    X = table(seed, len(counts), 5)
    weighted = moments_of(form(X), np.array(counts, dtype=float))
    repeated = moments_of(form(np.repeat(X, counts, axis=0)), np.ones(sum(counts)))
    assert (weighted.n_rows, repeated.n_rows) == (len(counts), sum(counts))
    assert_same_moments(weighted._replace(n_rows=0), repeated._replace(n_rows=0))
    by_column = column_moments_of(form(X), np.array(counts, dtype=float))
    assert_allclose(by_column.squares, diagonal_moments(repeated).squares, rtol=1e-11, atol=1e-12)


def test_larger_weights_make_a_larger_scatter_about_the_same_mean():
    X, weights = table(7, 20, 5), some_weights(20)
    one, thrice = moments_of(X, weights), moments_of(X, 3.0 * weights)
    assert_allclose(thrice.mean, one.mean, rtol=1e-12, atol=1e-14)
    assert_allclose(thrice.scatter, 3.0 * one.scatter, rtol=1e-11, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_and_columns_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, weights = table(seed, 15, 6), some_weights(15, seed=seed)
    rows, columns = rng.permutation(15), rng.permutation(6)
    whole = moments_of(X, weights)
    moved = moments_of(np.ascontiguousarray(X[rows][:, columns]), weights[rows])
    assert_allclose(moved.scatter, whole.scatter[np.ix_(columns, columns)], rtol=1e-11, atol=1e-11)
    assert_allclose(moved.mean, whole.mean[columns], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_columns", COLUMNS)
def test_symmetric_to_the_last_bit_and_x_is_not_written_to(n_columns, dtype):
    X = table(8, 23, n_columns, dtype, mean=3.0)
    before = X.copy()
    S = moments_of(X, some_weights(23)).scatter
    assert_array_equal(S, S.T)
    assert_array_equal(X, before)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_columns", COLUMNS)
def test_the_columns_of_the_scatter_matrix(n_columns, dtype):
    X, weights = table(9, 23, n_columns, dtype, mean=2.0), some_weights(23)
    whole = moments_of(X, weights)
    diagonal, by_column = diagonal_moments(whole), column_moments_of(X, weights)
    assert (diagonal.n_rows, diagonal.weight) == (whole.n_rows, whole.weight)
    assert_allclose(diagonal.squares, by_column.squares, **near(dtype))
    assert_allclose(diagonal.mean, by_column.mean, **mean_near(dtype))
    diagonal.squares[:] = -1.0  # a copy
    assert (whole.scatter.diagonal() > 0).all()


def test_stored_zeros_of_sparse_rows_are_zeros():
    X = table(10, 12, 4)
    stored = sparse.csr_array((X.ravel(), np.tile(np.arange(4), 12), np.arange(0, 49, 4)), shape=X.shape)
    assert stored.nnz == 48
    assert_same_moments(moments_of(stored, np.ones(12)), moments_of(X, np.ones(12)))
    assert_same_moments(column_moments_of(stored, np.ones(12)), column_moments_of(X, np.ones(12)))


# ---- the same bits for any number of threads ---------------------------------------------------------------------


def n_tasks(shape):
    """Return in how many tiles and how many blocks a table is cut."""
    n_rows, n_columns = shape
    tiles = even_slices(n_columns, moments.TILE)
    return len(tiles), len(row_blocks(n_rows, block_rows(min(n_columns, moments.TILE))))


def assert_threads_change_nothing(X, weights):
    one, *others = (moments_of(X, weights, n_threads) for n_threads in THREADS)
    for other in others:
        assert_same_bits(other, one)
    one, *others = (column_moments_of(X, weights, n_threads) for n_threads in THREADS)
    for other in others:
        assert_same_bits(other, one)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_columns", COLUMNS)
def test_same_bits_for_any_number_of_threads(n_columns, dtype):
    X, weights = table(11, 60, n_columns, dtype, mean=1.0), some_weights(60)
    n_tiles, n_blocks = n_tasks(X.shape)
    assert n_blocks > 8
    assert n_tiles > 1 or n_columns < 5
    assert_threads_change_nothing(X, weights)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "least"), [((4500, 1100), (2, 2)), ((700, 2100), (3, 1)), ((70_000, 8), (1, 4))])
def test_same_bits_for_any_number_of_threads_with_real_tiles(shape, least, dtype):
    assert all(n >= m for n, m in zip(n_tasks(shape), least, strict=True))
    assert_threads_change_nothing(table(12, *shape, dtype, mean=1.0), some_weights(shape[0]))


# ---- how the work is cut -----------------------------------------------------------------------------------------


@given(n=st.integers(1, 300), most=st.integers(1, 60))
def test_even_slices_cover_all_in_order_and_are_even(n, most):
    cut = even_slices(n, most)
    assert [i for part in cut for i in range(n)[part]] == list(range(n))
    lengths = [part.stop - part.start for part in cut]
    assert max(lengths) <= most
    assert max(lengths) - min(lengths) <= 1
    assert len(cut) == -(-n // most)  # no more parts than needed


@given(n_rows=st.integers(1, 300), n_lanes=st.integers(1, 9))
def test_lanes_hold_neighbouring_blocks_and_are_no_more_than_asked_for(n_rows, n_lanes):
    blocks = row_blocks(n_rows, 7)
    lanes = lanes_of(blocks, n_lanes)
    assert [block for lane in lanes for block in lane] == blocks
    assert all(lanes)
    assert len(lanes) <= n_lanes


@given(n_columns=st.integers(1, 10**6))
def test_wider_rows_make_shorter_blocks_within_bounds(n_columns):
    assert moments.FEWEST_ROWS <= block_rows(n_columns + 1) <= block_rows(n_columns) <= moments.MOST_ROWS
