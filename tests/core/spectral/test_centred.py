"""Products with A = √w (X - μ) / σ: equal to those of A made entry by entry."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from eigenwood.core.spectral import centred
from eigenwood.core.spectral.centred import (
    Centred,
    block_length,
    column_products,
    narrow,
    normal_by_columns,
    normal_by_rows,
    row_products,
)
from tests.core.spectral.cases import DTYPES, FORMS, THREADS, some_weights, table
from tests.naive import pca as naive

SHAPES = ((1, 1), (1, 6), (7, 1), (23, 5), (6, 31))
PRODUCTS = {
    normal_by_rows: lambda A, B: A.T @ (A @ B),
    normal_by_columns: lambda A, B: A @ (A.T @ B),
    column_products: lambda A, B: A.T @ B,
    row_products: lambda A, B: A @ B,
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch, request):
    """Blocks of a few rows or columns; tests marked slow see the real size."""
    if "slow" not in request.keywords:
        monkeypatch.setattr(centred, "BUFFER_VALUES", 30)
        monkeypatch.setattr(centred, "SHORTEST", 2)
        monkeypatch.setattr(centred, "LONGEST", 6)
        monkeypatch.setattr(centred, "SPARSE_ROWS", 3)
        monkeypatch.setattr(centred, "TILE_ROWS", 3)
        monkeypatch.setattr(centred, "TILE_COLUMNS", 5)


def by_rows(product):
    """Return whether a product takes a block with a row for each column of A."""
    return product in (normal_by_rows, row_products)


def example(seed, shape, dtype=np.float64, form=np.asarray, mean=0.0):
    """Return A as the core has it, and A made by loops."""
    X, weights = table(seed, *shape, dtype, mean), some_weights(shape[0], seed=seed)
    middle = naive.mean(X, weights)
    scale = np.random.default_rng(seed).uniform(0.5, 2.0, shape[1])
    return Centred(form(X), np.sqrt(weights), middle, scale), naive.centred(X, weights, middle, scale)


def block_for(product, shape, n_columns=3, seed=1):
    return np.random.default_rng(seed).normal(size=(shape[1] if by_rows(product) else shape[0], n_columns))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("product", PRODUCTS)
def test_equals_the_product_with_a_whole_matrix(product, shape, form, dtype):
    A, whole = example(2, shape, dtype, form)
    B = block_for(product, shape)
    got, expected = product(A, B), PRODUCTS[product](whole, B)
    assert got.dtype == (
        dtype if product is row_products or (product is normal_by_columns and sparse.issparse(A.X)) else np.float64
    )
    rounding = (3e-6 if dtype == np.float32 else 1e-12) * max(1.0, np.abs(expected).max())
    assert_allclose(got, expected, atol=rounding)


def test_equals_scikit_learn():
    X = table(3, 40, 6)
    scaler = StandardScaler().fit(X)
    A = Centred(X, np.ones(40), scaler.mean_, scaler.scale_)
    assert_allclose(row_products(A, np.eye(6)), scaler.transform(X), atol=1e-13)
    assert_allclose(normal_by_rows(A, np.eye(6)) / 40, np.corrcoef(X, rowvar=False), atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(9000, 200), (200, 9000)])
@pytest.mark.parametrize("product", PRODUCTS)
def test_equals_the_product_with_a_whole_matrix_over_real_blocks(product, shape, form, dtype):
    X, weights = table(4, *shape, dtype), some_weights(shape[0])
    middle, scale = X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
    whole = np.sqrt(weights)[:, None] * ((X.astype(np.float64) - middle) / scale)
    B = block_for(product, shape)
    got = product(Centred(form(X), np.sqrt(weights), middle, scale), B, 2)
    expected = PRODUCTS[product](whole, B)
    assert_allclose(got, expected, atol=(2e-6 if dtype == np.float32 else 1e-12) * np.abs(expected).max())


# ---- properties --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 20), d=st.integers(1, 20))
def test_the_four_products_belong_to_one_matrix(form, seed, n, d):
    A, _ = example(seed, (n, d), form=form)
    rng = np.random.default_rng(seed)
    B, C = rng.normal(size=(d, 2)), rng.normal(size=(n, 2))
    there, back = row_products(A, B), column_products(A, C)
    size = 1e-12 * (1.0 + np.abs(there).max() * np.abs(C).max() * n + np.abs(back).max())
    assert_allclose(np.sum(there * C), np.sum(B * back), atol=size)  # ⟨AB, C⟩ = ⟨B, AᵀC⟩
    assert_allclose(normal_by_rows(A, B), column_products(A, there), rtol=1e-10, atol=size * 100)
    assert_allclose(normal_by_columns(A, C), row_products(A, back), rtol=1e-10, atol=size * 100)


@pytest.mark.parametrize("form", FORMS)
def test_columns_of_a_have_mean_zero(form):
    """Where the mean is the weighted one, AᵀA √w = 0: the zeros of sparse rows are centred too."""
    A, _ = example(5, (20, 6), form=form)
    assert_allclose(column_products(A, A.roots[:, None]), 0.0, atol=1e-12)


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_written_to(form, product):
    A, _ = example(6, (12, 5), form=form)
    B = block_for(product, (12, 5))
    kept = A.X.copy(), A.roots.copy(), A.mean.copy(), A.scale.copy(), B.copy()
    product(A, B)
    after = (A.X, A.roots, A.mean, A.scale, B)
    for now, before in zip(after, kept, strict=True):
        dense = [part.toarray() if sparse.issparse(part) else part for part in (now, before)]
        assert_array_equal(*dense)


@pytest.mark.parametrize("product", PRODUCTS)
def test_blocks_of_any_layout(product):
    """B may be a view: every other column, Fortran's order, float32."""
    A, whole = example(7, (9, 5))
    B = block_for(product, (9, 5), n_columns=6)
    for view in (B[:, ::2], np.asfortranarray(B), B[::-1][::-1], B.astype(np.float32)):
        assert_allclose(product(A, view), PRODUCTS[product](whole, view), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("mean", [100.0, 1e4])
@pytest.mark.parametrize("product", PRODUCTS)
def test_float32_rows_far_from_the_origin(product, mean):
    """The mean is taken off before anything is multiplied; X B - μ B would lose three digits, or five."""
    X, weights = table(8, 60, 6, np.float32, mean), some_weights(60)
    middle = naive.mean(X, weights).astype(np.float32).astype(np.float64)
    whole = naive.centred(X, weights, middle, np.ones(6))
    B = block_for(product, (60, 6))
    expected = PRODUCTS[product](whole, B)
    error = np.abs(product(Centred(X, np.sqrt(weights), middle, np.ones(6)), B) - expected).max()
    assert error <= 1e-6 * np.abs(expected).max()
    if product is row_products:
        one_product = X @ B.astype(np.float32) - (middle @ B).astype(np.float32)
        assert np.abs(np.sqrt(weights)[:, None] * one_product - expected).max() > 10 * error  # this test can fail


# ---- the same bits for any number of threads ---------------------------------------------------------------------


def assert_threads_change_nothing(product, A, B):
    one, *others = (product(A, B, n_threads) for n_threads in THREADS)
    for other in others:
        assert_array_equal(other, one)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("product", PRODUCTS)
def test_same_bits_for_any_number_of_threads(product, form, dtype):
    shape = (70, 8) if by_rows(product) else (8, 70)
    A, _ = example(9, shape, dtype, form)
    assert_threads_change_nothing(product, A, block_for(product, shape))


@pytest.mark.slow
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(9000, 200), (200, 9000)])
@pytest.mark.parametrize("product", PRODUCTS)
def test_same_bits_for_any_number_of_threads_over_real_blocks(product, shape, form):
    X = table(10, *shape, np.float32)
    A = Centred(form(X), np.sqrt(some_weights(shape[0])), X.mean(axis=0, dtype=np.float64), np.ones(shape[1]))
    assert_threads_change_nothing(product, A, block_for(product, shape, n_columns=8))


# ---- parts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_block_is_a_part_of_a(dtype):
    A, whole = example(11, (14, 9), dtype)
    part = narrow(A).block(slice(3, 8), slice(2, 9))
    assert part.dtype == dtype
    assert part.flags.c_contiguous
    assert_allclose(part, whole[3:8, 2:9], rtol=1e-5 if dtype == np.float32 else 1e-13, atol=1e-6)


@given(other_side=st.integers(1, 10**6))
def test_a_longer_other_side_makes_a_shorter_block_within_bounds(other_side):
    assert centred.SHORTEST <= block_length(other_side + 1) <= block_length(other_side) <= centred.LONGEST
