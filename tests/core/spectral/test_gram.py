"""The Gram matrix AAᵀ: every row with every row, and the same eigenvalues as AᵀA."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.preprocessing import KernelCenterer

from eigenwood.core.spectral import gram
from eigenwood.core.spectral.centred import Centred
from eigenwood.core.spectral.gram import gram_of
from tests.core.spectral.cases import DTYPES, FORMS, THREADS, some_weights, table
from tests.naive import pca as naive

SHAPES = ((1, 1), (2, 7), (7, 2), (9, 26), (4, 30))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch, request):
    """Tiles of a few rows and blocks of a few columns; tests marked slow see the real size."""
    if "slow" not in request.keywords:
        monkeypatch.setattr(gram, "TILE", 4)
        monkeypatch.setattr(gram, "GRAM_COLUMNS", 5)


def example(seed, shape, dtype=np.float64, form=np.asarray, mean=0.0):
    """Return A as the core has it, and A made by loops."""
    X, weights = table(seed, *shape, dtype, mean), some_weights(shape[0], seed=seed)
    middle = naive.mean(X, weights)
    scale = np.random.default_rng(seed).uniform(0.5, 2.0, shape[1])
    return Centred(form(X), np.sqrt(weights), middle, scale), naive.centred(X, weights, middle, scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES)
def test_equals_two_loops(shape, form, dtype):
    A, whole = example(1, shape, dtype, form)
    G = gram_of(A, slice(0, shape[1]))
    assert G.dtype == np.float64
    expected = naive.gram(whole)
    assert_allclose(G, expected, atol=(2e-6 if dtype == np.float32 else 1e-12) * max(1.0, expected.max()))


@pytest.mark.parametrize("form", FORMS)
def test_equals_scikit_learn(form):
    X = table(2, 11, 30)
    A = Centred(form(X), np.ones(11), X.mean(axis=0), np.ones(30))
    assert_allclose(gram_of(A, slice(0, 30)), KernelCenterer().fit_transform(X @ X.T), atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_equals_one_product_over_real_tiles(form, dtype):
    X = table(3, 1100, 4200, dtype)
    X *= np.random.default_rng(0).random(X.shape) < 0.1
    middle = X.mean(axis=0, dtype=np.float64)
    G = gram_of(Centred(form(X), np.ones(1100), middle, np.ones(4200)), slice(0, 4200), 2)
    whole = X.astype(np.float64) - middle
    expected = whole @ whole.T
    assert_allclose(G, expected, atol=(2e-6 if dtype == np.float32 else 1e-12) * expected.max())


# ---- properties --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cuts", [(0, 26), (0, 1, 26), (0, 7, 13, 26), tuple(range(27))])
def test_ranges_of_columns_add_up(cuts, form):
    A, whole = example(4, (9, 26), form=form)
    parts = [slice(*pair) for pair in zip(cuts[:-1], cuts[1:], strict=True)]
    assert_allclose(sum(gram_of(A, part) for part in parts), whole @ whole.T, atol=1e-12)
    assert_allclose(gram_of(A, parts[-1]), whole[:, parts[-1]] @ whole[:, parts[-1]].T, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(5, 23), (23, 5)])
def test_its_eigenvalues_are_those_of_the_scatter_matrix(shape, form):
    A, whole = example(5, shape, form=form)
    values = np.linalg.eigvalsh(gram_of(A, slice(0, shape[1])))[::-1]
    others = np.linalg.eigvalsh(whole.T @ whole)[::-1]
    least = min(shape)
    assert_allclose(values[:least], others[:least], atol=1e-11)
    assert_allclose(values[least:], 0.0, atol=1e-11)
    weights = A.roots**2
    assert_allclose(gram_of(A, slice(0, shape[1])) @ np.sqrt(weights), 0.0, atol=1e-11)  # A has mean zero


@pytest.mark.parametrize("dtype", DTYPES)
def test_symmetric_to_the_last_bit_and_nothing_is_written_to(dtype):
    A, _ = example(6, (11, 17), dtype)
    before = A.X.copy()
    G = gram_of(A, slice(0, 17))
    assert_array_equal(G, G.T)
    assert_array_equal(A.X, before)


@pytest.mark.parametrize("mean", [100.0, 1e4])
def test_float32_rows_far_from_the_origin(mean):
    A, whole = example(7, (9, 60), np.float32, mean=mean)
    expected = whole @ whole.T
    step = mean * np.finfo(np.float32).eps  # the mean itself is rounded to float32
    assert np.abs(gram_of(A, slice(0, 60)) - expected).max() <= (1e-5 + 2.0 * step) * expected.max()
    scaled = A.X / A.scale.astype(np.float32)
    uncentred = KernelCenterer().fit_transform((scaled @ scaled.T).astype(np.float64)) * np.outer(A.roots, A.roots)
    assert np.abs(uncentred - expected).max() > (1e-5 + 2.0 * step) * expected.max()  # this test can fail


# ---- the same bits for any number of threads ---------------------------------------------------------------------


def assert_threads_change_nothing(A):
    one, *others = (gram_of(A, slice(0, A.X.shape[1]), n_threads) for n_threads in THREADS)
    for other in others:
        assert_array_equal(other, one)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 60), (6, 60), (11, 60)])  # one tile and eight lanes; two and two; three and one
def test_same_bits_for_any_number_of_threads(shape, dtype):
    assert_threads_change_nothing(example(8, shape, dtype)[0])


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(100, 30_000), (1100, 9000)])
def test_same_bits_for_any_number_of_threads_over_real_tiles(shape):
    X = table(9, *shape, np.float32)
    weights = some_weights(shape[0])
    assert_threads_change_nothing(Centred(X, np.sqrt(weights), X.mean(axis=0, dtype=np.float64), np.ones(shape[1])))
