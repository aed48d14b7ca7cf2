"""The centred Gram matrix as an operator: equal to the one that is written down, whatever is kept of it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from eigenwood.core.kernels import centred
from eigenwood.core.kernels.blocks import gram
from eigenwood.core.kernels.centred import CentredGram, KernelTiles, column_moments, product_in_hand
from eigenwood.core.kernels.functions import KERNELS, Kernel
from eigenwood.core.kernels.matrix import kernel_matrix
from tests.naive import kernel_pca as naive

RBF = Kernel(KERNELS["rbf"], 0.3)
FORMS = ("dense", "float32", "sparse", "function")


def table(seed=0, n_rows=50, n_features=3):
    return np.random.default_rng(seed).normal(size=(n_rows, n_features))


def nothing():
    pass


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Several tiles, and a last one that is smaller, for small tables."""
    monkeypatch.setattr(centred, "TILE", 12)
    monkeypatch.setattr(centred, "WAVE", 2)
    monkeypatch.setattr(centred, "PRODUCT_ROWS", 7)


def form_of(X, form):
    rows = {"float32": X.astype(np.float32), "sparse": sparse.csr_array(X)}.get(form, X)
    return rows, (lambda a, b: gram(a, b, RBF)) if form == "function" else RBF


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_bytes", [0.0, 5 * 12 * 12 * 8.0, 1e9])
def test_equals_the_blackboard_twice(form, n_bytes):
    X, block = table(), table(1, 50, 4)
    rows, kernel = form_of(X, form)
    operator = CentredGram(KernelTiles(kernel_matrix(rows, kernel), n_bytes, 2, nothing))
    K, tolerance = gram(X, X, RBF), 1e-4 if form == "float32" else 1e-10
    expected = naive.centred(K) @ block
    for _ in range(2):
        assert_allclose(operator(block), expected, atol=tolerance)
    assert_allclose(operator.row_sums, K.sum(axis=1), atol=tolerance)


def test_the_same_bits_whatever_is_kept_and_for_any_number_of_threads():
    X, block = table(2), table(3, 50, 4)
    products = [
        KernelTiles(kernel_matrix(X, RBF), n_bytes, n_threads, nothing)(block)
        for n_bytes in (0.0, 4 * 12 * 12 * 8.0, 1e9)
        for n_threads in (1, 2, 3)
    ]
    for product in products[1:]:
        assert_array_equal(product, products[0])


def test_no_more_is_kept_than_there_is_room_for_and_what_is_kept_is_not_computed_again():
    X, asked = table(4), []

    def counted(a, b):
        asked.append(len(a) * len(b))
        return gram(a, b, RBF)

    tiles = KernelTiles(kernel_matrix(X, counted), 6 * 12 * 12 * 8.0, 1, nothing)
    tiles(table(5, 50, 2))
    assert sum(asked) == 2500
    assert sum(tile.nbytes for tile in tiles.kept.values()) <= 6 * 12 * 12 * 8
    asked.clear()
    tiles(table(5, 50, 2))
    assert sum(asked) == 2500 - sum(tile.size for tile in tiles.kept.values())


def test_half_of_the_values_are_enough_for_a_kernel_that_is_symmetric(monkeypatch):
    seen = []
    tiles = KernelTiles(kernel_matrix(table(6), RBF), 0.0, 1, lambda: seen.append(1))
    tiles(table(7, 50, 1))
    assert len(seen) == 5 * 6 // 2  # tiles on the diagonal and above it


def test_whoever_pauses_may_leave():
    def late():
        raise TimeoutError

    for product in (
        KernelTiles(kernel_matrix(table(), RBF), 0.0, 2, late),
        lambda block: product_in_hand(np.eye(50), block, 2, late),
    ):
        with pytest.raises(TimeoutError):
            product(table(1, 50, 2))


def test_a_matrix_in_hand():
    K, block = gram(table(), table(), RBF), table(8, 50, 3)
    operator = CentredGram(lambda B: product_in_hand(K, B, 2, nothing))
    assert_allclose(operator(block), naive.centred(K) @ block, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_moments_of_columns(dtype):
    F = (table(9, 60, 4) + 100.0).astype(dtype)
    mean, products = column_moments(F, 2)
    assert_allclose(mean, F.mean(axis=0, dtype=np.float64), rtol=1e-12)
    centred_rows = F.astype(np.float64) - F.mean(axis=0, dtype=np.float64)
    assert_allclose(products, centred_rows.T @ centred_rows, rtol=1e-3 if dtype == np.float32 else 1e-10, atol=1e-3)
