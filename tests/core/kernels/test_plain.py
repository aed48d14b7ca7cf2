"""A matrix in hand, and inner products without one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from eigenwood.core.kernels import plain
from eigenwood.core.kernels.plain import GivenRows, LinearRows
from eigenwood.core.pieces import at_once

X = np.random.default_rng(0).normal(size=(11, 3))
X[np.abs(X) < 0.4] = 0.0
K = X @ X.T
CENTRED = (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T
ROWS, CHANGE, OF = np.array([7, 0, 3]), np.array([1.0, -2.5, 0.5]), np.array([10, 2])
AGAIN = np.ones(3, dtype=bool)
FORMS = [np.asarray, sparse.csr_array, sparse.csr_matrix]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(plain, "BLOCK_ROWS", 4)


def added(source, n_columns=11):
    scores = np.ones(n_columns)
    at_once(source.add(ROWS, CHANGE, scores, AGAIN))
    return scores - 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_given_matrix_is_looked_up(dtype, n_threads):
    given = K.astype(dtype)
    source = GivenRows(given, n_threads)
    assert_array_equal(at_once(source.among(ROWS)), given[np.ix_(ROWS, ROWS)])
    assert at_once(source.among(ROWS)).dtype == np.float64
    assert_allclose(added(source), CHANGE @ given[ROWS].astype(np.float64), atol=1e-14)
    assert_allclose(at_once(source.exact_scores(ROWS, CHANGE, OF)), CHANGE @ given[np.ix_(ROWS, OF)], atol=1e-6)
    assert at_once(source.exact_scores(ROWS, CHANGE, OF)).dtype == np.float64


def test_of_a_given_matrix_nothing_is_shrunk_away():
    source = GivenRows(K)
    source.shrink_to(np.array([1, 2]))
    assert_array_equal(source.columns, np.arange(11))
    source.unshrink(np.array([3]))
    assert_array_equal(source.columns, np.arange(11))
    assert_allclose(added(source), CHANGE @ K[ROWS], atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", FORMS)
def test_inner_products(form, dtype):
    rows = form(X.astype(dtype))
    source, expected = LinearRows(rows), K if sparse.issparse(rows) else CENTRED
    close = {"atol": 1e-5 if dtype == np.float32 else 1e-13}
    assert isinstance(at_once(source.among(ROWS)), np.ndarray)
    assert_allclose(at_once(source.among(ROWS)), expected[np.ix_(ROWS, ROWS)], **close)
    assert_allclose(added(source), CHANGE @ expected[ROWS], **close)
    assert_allclose(at_once(source.exact_scores(ROWS, CHANGE, OF)), CHANGE @ expected[np.ix_(ROWS, OF)], **close)
    assert added(source).dtype == at_once(source.among(ROWS)).dtype == np.float64


@pytest.mark.parametrize("form", FORMS)
def test_columns_are_shrunk_away_and_come_back(form):
    rows = form(X)
    source, expected = LinearRows(rows), K if sparse.issparse(rows) else CENTRED
    source.shrink_to(np.array([2, 3, 8]))
    assert_allclose(added(source, 3), CHANGE @ expected[np.ix_(ROWS, [2, 3, 8])], atol=1e-13)
    source.unshrink(np.array([0, 3]))
    assert_array_equal(source.columns, [0, 2, 3, 8])
    assert_allclose(added(source, 4), CHANGE @ expected[np.ix_(ROWS, [0, 2, 3, 8])], atol=1e-13)
    source.unshrink(np.arange(11))
    assert_allclose(added(source), CHANGE @ expected[ROWS], atol=1e-13)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_threads", [2, 8])
def test_threads_change_no_bit(n_threads, form):
    assert_array_equal(added(LinearRows(form(X))), added(LinearRows(form(X), n_threads)))


def test_the_mean_of_dense_rows_is_taken_off_first():
    source = LinearRows(X + 1e8)
    assert_allclose(at_once(source.among(ROWS)), CENTRED[np.ix_(ROWS, ROWS)], atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_nobody_asks_for_nothing(form):
    source = LinearRows(form(X))
    nobody = np.empty(0, dtype=np.int64)
    assert at_once(source.exact_scores(ROWS, CHANGE, nobody)).shape == (0,)
    assert_array_equal(at_once(source.exact_scores(nobody, np.empty(0), OF)), [0.0, 0.0])


def test_what_the_user_gave_is_not_changed():
    given = X.copy()
    added(LinearRows(given))
    assert_array_equal(given, X)


@pytest.mark.parametrize("square", [4, 384])
def test_products_in_squares_are_symmetric_to_the_last_bit_on_any_number_of_threads(square, monkeypatch):
    monkeypatch.setattr(plain, "SQUARE", square)
    rows = np.random.default_rng(1).normal(size=(401, 7))
    products = plain.symmetric_products(rows, 1)
    assert_allclose(products, rows @ rows.T, atol=1e-13)
    assert_array_equal(products, products.T)
    assert_array_equal(plain.symmetric_products(rows, 3), products)
