"""Kernel values for working sets: computed, given or kept, the same numbers, within the bound on memory."""

from threading import get_ident

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from eigenwood.core.kernels import row_cache
from eigenwood.core.kernels.functions import (
    LAPLACIAN,
    POLYNOMIAL,
    POLYNOMIAL_ABOUT,
    RBF,
    RBF_LESS_ONE,
    SIGMOID,
    SIGMOID_ABOUT,
    Kernel,
)
from eigenwood.core.kernels.row_cache import KernelRowCache, Part, add_rows, kernel_table, squeeze
from eigenwood.core.kernels.source import NO_SLOT
from eigenwood.core.pieces import at_once
from tests.naive import kernels as naive

N = 24
X = np.random.default_rng(0).normal(size=(N, 3))
X[np.abs(X) < 0.4] = 0.0
ROW_BYTES = 4 * N
SIMPLE = {
    RBF_LESS_ONE: (Kernel(RBF_LESS_ONE, 0.4), lambda x, z: naive.rbf(x, z, 0.4) - 1.0),
    RBF: (Kernel(RBF, 0.4), lambda x, z: naive.rbf(x, z, 0.4)),
    LAPLACIAN: (Kernel(LAPLACIAN, 0.4), lambda x, z: naive.laplacian(x, z, 0.4)),
    POLYNOMIAL: (Kernel(POLYNOMIAL, 0.4, 1.0, 3), lambda x, z: naive.polynomial(x, z, 0.4, 1.0, 3)),
    SIGMOID: (Kernel(SIGMOID, 0.4, 0.1), lambda x, z: naive.sigmoid(x, z, 0.4, 0.1)),
}
GRAMS = {code: naive.gram(X, X, simple) for code, (_, simple) in SIMPLE.items()}
GAUSSIAN, K = SIMPLE[RBF_LESS_ONE][0], GRAMS[RBF_LESS_ONE]
NOBODY = np.empty(0, dtype=np.int64)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Several blocks and tiles even for a few rows, and everything that is needed again is kept at once."""
    for name, size in (("BLOCK_COLUMNS", 7), ("TILE_ROWS", 3), ("TILE_COLUMNS", 4)):
        monkeypatch.setattr(row_cache, name, size)
    monkeypatch.setattr(row_cache, "CHEAP", 0.0)


def function(rows, columns):
    """A function of the user's; like some of them, it does not take empty blocks."""
    assert len(rows) > 0
    assert len(columns) > 0
    return naive.gram(rows, columns, SIMPLE[RBF_LESS_ONE][1])


def whole(kernel=GAUSSIAN, rows=X, max_bytes=1e9, n_threads=1):
    return KernelRowCache(kernel_table(rows, kernel), (Part(0, rows.shape[0]),), max_bytes, n_threads)


def in_parts(has_grams, kernel=GAUSSIAN, max_bytes=1e9):
    """Rows 2 to 9 and 13 to 24, and their places in the table."""
    parts = [
        Part(start, stop, K[start:stop, start:stop].astype(np.float32) if has_grams else None)
        for start, stop in ((2, 9), (13, 24))
    ]
    return KernelRowCache(kernel_table(X, kernel), tuple(parts), max_bytes), np.r_[2:9, 13:24]


def added(source, rows, change, again=True):
    """Return what is added to the scores of all columns, which were 1."""
    scores = np.ones(source.columns.size)
    at_once(source.add(rows, change, scores, np.full(rows.size, again)))
    return scores - 1.0


def kept_rows(source):
    return np.flatnonzero(source._slots != NO_SLOT)


def assert_kept_is_right(source, gram=K):
    """Whatever is kept is a row of K, and slots and owners agree."""
    for row in kept_rows(source):
        slot = source._slots[row]
        assert source._owners[slot] == row
        assert_allclose(source._store[slot], gram[row, source.columns], atol=3e-6)
    owners = source._owners[source._owners != NO_SLOT]
    assert_array_equal(np.sort(owners), kept_rows(source))


# ---- the same numbers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("code", SIMPLE, ids=["rbf - 1", "rbf", "laplacian", "poly", "sigmoid"])
def test_values_are_the_kernels(code, dtype, form):
    source = whole(SIMPLE[code][0], form(X.astype(dtype)))
    rows, change = np.array([5, 0, 17, 9, 23]), np.array([1.0, -2.0, 0.5, 0.25, 3.0])
    expected, scale = GRAMS[code], np.abs(GRAMS[code]).max()
    assert_allclose(at_once(source.among(rows)), expected[np.ix_(rows, rows)], atol=1e-6 * scale)
    for _ in range(2):  # computed, then kept
        assert_allclose(added(source, rows, change), change @ expected[rows], atol=1e-5 * scale)
    assert_array_equal(kept_rows(source), np.sort(rows))
    of = np.array([3, 5, 22])
    exact = at_once(source.exact_scores(rows, change, of))
    assert_allclose(exact, change @ expected[np.ix_(rows, of)], atol=(1e-5 if dtype == np.float32 else 1e-12) * scale)


@pytest.mark.parametrize("has_grams", [True, False])
@pytest.mark.parametrize("max_bytes", [0, 5 * ROW_BYTES, 1e9], ids=["none kept", "some kept", "all kept"])
def test_parts_of_a_table(has_grams, max_bytes):
    source, places = in_parts(has_grams, max_bytes=max_bytes)
    own = K[np.ix_(places, places)]
    assert source.n_rows == 18
    for rows in (np.array([0, 17, 3, 8]), np.array([3, 1]), np.array([12, 8]), np.array([17, 3, 1])):
        assert_allclose(at_once(source.among(rows)), own[np.ix_(rows, rows)], atol=1e-6)
        change = np.arange(1.0, 1.0 + rows.size)
        assert_allclose(added(source, rows, change), change @ own[rows], atol=1e-5)
        assert_kept_is_right(source, own)
        assert_allclose(
            at_once(source.exact_scores(rows, change, np.array([2, 9]))), change @ own[rows][:, [2, 9]], atol=1e-12
        )


def test_a_function_of_the_users_is_exact_and_never_asked_about_nothing():
    source, places = in_parts(False, kernel=function)
    own = K[np.ix_(places, places)]
    for rows in (np.array([0, 1]), np.array([12, 8]), np.array([1, 12])):  # in one part, in the other, in both
        assert_array_equal(at_once(source.among(rows)), own[np.ix_(rows, rows)])
        for _ in range(2):
            assert_allclose(added(source, rows, np.ones(2)), own[rows].sum(axis=0), atol=1e-14)
    assert source.rounding == 0.0
    assert source._store.dtype == np.float64


@pytest.mark.parametrize("n_threads", [1, 4])
def test_a_function_of_the_users_is_asked_by_one_thread(n_threads):
    threads = set()

    def noted(rows, columns):
        threads.add(get_ident())
        return function(rows, columns)

    source = whole(noted, n_threads=n_threads)
    added(source, np.arange(N), np.ones(N))
    at_once(source.among(np.arange(N)))
    assert threads == {get_ident()}


def test_a_function_is_asked_about_queries_first():
    def lopsided(rows, columns):
        return rows[:, :1] + 100.0 * columns[:, 0]

    source = whole(lopsided, np.arange(4.0)[:, None])
    assert_array_equal(added(source, np.array([2]), np.ones(1)), [200.0, 201.0, 202.0, 203.0])


@pytest.mark.parametrize("n_threads", [2, 8])
def test_threads_change_no_bit(n_threads):
    rng = np.random.default_rng(1)
    one, many = whole(max_bytes=6 * ROW_BYTES), whole(max_bytes=6 * ROW_BYTES, n_threads=n_threads)
    for _ in range(4):
        rows, change = rng.permutation(N)[:9], rng.normal(size=9)
        assert_array_equal(at_once(one.among(rows)), at_once(many.among(rows)))
        assert_array_equal(added(one, rows, change), added(many, rows, change))
    assert_array_equal(one._store[one._owners != NO_SLOT], many._store[many._owners != NO_SLOT])


@pytest.mark.parametrize("code", [POLYNOMIAL_ABOUT, SIGMOID_ABOUT], ids=["poly", "sigmoid"])
def test_exact_scores_about_a_centre_are_the_scores(code):
    rows, change, of = np.array([5, 0, 17, 9]), np.array([1.0, -2.0, 0.5, 0.25]), np.array([3, 5, 22])
    source = whole(Kernel(code, 0.4, 0.1, 3))
    exact = at_once(source.exact_scores(rows, change, of))
    assert_allclose(exact, added(source, rows, change)[of], atol=1e-5 * np.abs(exact).max())


def test_nothing_is_added_for_nobody():
    assert_array_equal(added(whole(), NOBODY, np.empty(0)), np.zeros(N))


# ---- what is kept ------------------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 2**32 - 1),
    n_kept=st.integers(0, 8),
    kind=st.sampled_from(["whole", "function", "parts", "parts with their grams"]),
)
def test_whatever_happens_the_sums_are_right(seed, n_kept, kind):
    rng = np.random.default_rng(seed)
    if kind in ("whole", "function"):
        source, places = whole(function if kind == "function" else GAUSSIAN, max_bytes=n_kept * ROW_BYTES), np.arange(N)
    else:
        source, places = in_parts(kind == "parts with their grams", max_bytes=n_kept * ROW_BYTES)
    own, n_rows = K[np.ix_(places, places)], places.size
    for _ in range(12):
        rows = rng.permutation(n_rows)[: rng.integers(1, 6)]
        change, again = rng.normal(size=rows.size), rng.random(rows.size) < 0.7
        scores = np.zeros(source.columns.size)
        at_once(source.add(rows, change, scores, again))
        assert_allclose(scores, change @ own[np.ix_(rows, source.columns)], atol=1e-5)
        assert_kept_is_right(source, own)
        assert source._store.nbytes <= source._buffer.nbytes <= n_kept * ROW_BYTES
        if rng.random() < 0.3:
            some = source.columns[rng.random(source.columns.size) < 0.7]
            source.shrink_to(some if some.size else source.columns[:1])
        elif rng.random() < 0.3:
            source.unshrink(np.flatnonzero(rng.random(n_rows) < 0.5))


@pytest.mark.parametrize("max_bytes", [0, ROW_BYTES - 1, 2 * ROW_BYTES, 2.5 * ROW_BYTES, 1e9, np.inf])
def test_not_more_is_kept_than_fits(max_bytes):
    source = whole(max_bytes=max_bytes)
    for start in range(0, N, 6):
        added(source, np.arange(start, start + 6), np.ones(6))
    assert kept_rows(source).size == min(N, max_bytes // ROW_BYTES if np.isfinite(max_bytes) else N)
    assert source._buffer.nbytes <= max_bytes


def test_the_row_that_was_not_used_for_longest_makes_room():
    source = whole(max_bytes=3 * ROW_BYTES)
    for row in (4, 7, 9, 4, 11):
        added(source, np.array([row]), np.ones(1))
    assert_array_equal(kept_rows(source), [4, 9, 11])
    assert_kept_is_right(source)


def test_a_row_that_is_in_use_makes_no_room():
    source = whole(max_bytes=2 * ROW_BYTES)
    added(source, np.array([4, 7]), np.ones(2))
    assert_allclose(added(source, np.array([4, 7, 9]), np.ones(3)), K[[4, 7, 9]].sum(axis=0), atol=1e-5)
    assert_array_equal(kept_rows(source), [4, 7])


def test_only_what_is_needed_again_is_kept():
    source = whole()
    added(source, np.array([4]), np.ones(1), again=False)
    assert kept_rows(source).size == 0


def test_cheap_values_are_kept_when_they_are_computed_the_second_time(monkeypatch):
    monkeypatch.setattr(row_cache, "CHEAP", 1e9)
    source = whole()
    kept = [kept_rows(source).size for _ in range(3) if added(source, np.array([4]), np.ones(1)) is not None]
    assert kept == [0, 1, 1]


def test_what_is_kept_is_not_computed_again():
    asked = []

    def noted(rows, columns):
        asked.append((len(rows), len(columns)))
        return function(rows, columns)

    source = whole(noted)
    added(source, np.array([4, 5]), np.ones(2))
    before = len(asked)
    added(source, np.array([5, 4]), np.ones(2))
    assert len(asked) == before
    added(source, np.array([5, 6]), np.ones(2))
    assert len(asked) > before


def test_columns_shrunk_away_leave_room_for_more_rows():
    source = whole(max_bytes=4 * ROW_BYTES)
    added(source, np.array([1, 2, 3, 4]), np.ones(4))
    some = np.arange(0, N, 2)
    source.shrink_to(some)
    assert_array_equal(source.columns, some)
    assert_array_equal(kept_rows(source), [1, 2, 3, 4])
    assert_kept_is_right(source)
    added(source, np.array([5, 6, 7, 8]), np.ones(4))
    assert_array_equal(kept_rows(source), np.arange(1, 9))
    assert_kept_is_right(source)


def test_any_number_of_columns_of_each_part_may_be_left():
    rows, change = np.array([0, 17, 3, 8]), np.array([1.0, -2.0, 0.5, 0.25])
    for n_first in range(8):
        for n_second in range(12):
            source, places = in_parts(False)
            columns = np.r_[7 - n_first : 7, 18 - n_second : 18]
            if columns.size:
                source.shrink_to(columns)
                expected = change @ K[np.ix_(places[rows], places[columns])]
                assert_allclose(added(source, rows, change), expected, atol=1e-5)


def test_what_comes_back_makes_kept_rows_forgotten():
    source = whole(max_bytes=4 * ROW_BYTES)
    source.shrink_to(np.array([2, 3, 8]))
    added(source, np.arange(10, 20), np.ones(10))
    assert kept_rows(source).size == 10
    source.unshrink(np.array([0, 3, 20]))
    assert_array_equal(source.columns, [0, 2, 3, 8, 20])
    assert kept_rows(source).size == 0
    rows = np.array([10, 0])
    for _ in range(2):
        assert_allclose(added(source, rows, np.ones(2)), K[np.ix_(rows, source.columns)].sum(axis=0), atol=1e-6)
    source.unshrink(np.arange(N))
    assert source._store.shape == (4, N)


@given(seed=st.integers(0, 2**32 - 1), n_rows=st.integers(0, 5), width=st.integers(1, 9))
def test_entries_move_together(seed, n_rows, width):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n_rows, width))
    places = np.flatnonzero(rng.random(width) < 0.6)
    buffer = np.append(table.ravel(), [7.0])
    squeeze(buffer, width, places, n_rows)
    assert_array_equal(buffer[: n_rows * places.size].reshape(n_rows, places.size), table[:, places])
    assert buffer[-1] == 7.0


@given(seed=st.integers(0, 2**32 - 1), n_rows=st.integers(0, 9))
def test_rows_are_added_between_start_and_stop(seed, n_rows):
    rng = np.random.default_rng(seed)
    store, scores = rng.normal(size=(5, 12)).astype(np.float32), np.zeros(12)
    slots, change = rng.integers(5, size=n_rows), rng.normal(size=n_rows)
    add_rows(store, slots, change, scores, 3, 10)
    expected = change @ store[slots].astype(np.float64)
    assert_allclose(scores[3:10], expected[3:10], atol=1e-12)
    assert_array_equal(scores[[0, 1, 2, 10, 11]], 0.0)


# ---- digits ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [RBF, RBF_LESS_ONE, LAPLACIAN])
def test_far_from_the_origin_differences_keep_their_digits(code):
    rows = np.arange(6)
    far = whole(SIMPLE[code][0], X + 1e6)
    assert_allclose(at_once(far.among(rows)), GRAMS[code][:6, :6], atol=2e-6)


def test_numbers_that_would_overflow_stay_in_float64():
    kernel = Kernel(RBF_LESS_ONE, 1.0)
    assert kernel_table(1e17 * X, kernel).rows.rows.dtype == np.float64
    assert kernel_table(1e17 * X, Kernel(RBF_LESS_ONE, 1e-34)).rows.rows.dtype == np.float32  # in units of the width
    assert kernel_table(X, kernel).rows.rows.dtype == np.float32
    source = whole(Kernel(RBF_LESS_ONE, 1e-34), 1e17 * X)
    expected = np.expm1(-np.square(X[:4, None] - X[None, :4]).sum(axis=2))
    assert_allclose(at_once(source.among(np.arange(4))), expected, atol=1e-6)


@pytest.mark.parametrize("code", SIMPLE, ids=["rbf - 1", "rbf", "laplacian", "poly", "sigmoid"])
def test_rounding_is_about_what_it_says(code):
    kernel, _ = SIMPLE[code]
    source = whole(kernel, X.astype(np.float32))
    exact = naive.gram(X.astype(np.float32), X.astype(np.float32), SIMPLE[code][1])
    off = np.sqrt(np.square(at_once(source.among(np.arange(N))) - exact).mean())
    assert 0.0 < off <= 3.0 * source.rounding <= 1e-5


@pytest.mark.parametrize("code", [RBF, RBF_LESS_ONE], ids=["rbf", "rbf - 1"])
def test_rounding_is_less_where_rows_are_close(code):
    wide, narrow = (whole(Kernel(code, gamma)).rounding for gamma in (1e-4, 0.4))
    assert wide < narrow
