"""Gram matrices: equal to two loops, to scikit-learn, and accurate where subtraction would not be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from eigenwood.core.kernels import blocks
from eigenwood.core.kernels.blocks import gram, gram_diagonal, gram_symmetric
from eigenwood.core.kernels.functions import ABOUT_A_CENTRE, KERNELS, RBF, Kernel
from tests.naive import kernels as naive

GAMMA, COEF0, DEGREE = 0.3, 0.5, 3
NAIVE = {
    "linear": naive.linear,
    "poly": lambda x, z: naive.polynomial(x, z, GAMMA, COEF0, DEGREE),
    "rbf": lambda x, z: naive.rbf(x, z, GAMMA),
    "laplacian": lambda x, z: naive.laplacian(x, z, GAMMA),
    "sigmoid": lambda x, z: naive.sigmoid(x, z, GAMMA, COEF0),
}
SKLEARN = {
    "linear": {},
    "poly": {"gamma": GAMMA, "coef0": COEF0, "degree": DEGREE},
    "rbf": {"gamma": GAMMA},
    "laplacian": {"gamma": GAMMA},
    "sigmoid": {"gamma": GAMMA, "coef0": COEF0},
}
DTYPES = (np.float32, np.float64)
FORMS = (np.asarray, sparse.csr_array, sparse.csr_matrix)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch, request):
    """Blocks of a few rows, so that small tables have several; tests marked slow see the real size."""
    if "slow" not in request.keywords:
        monkeypatch.setattr(blocks, "BLOCK_ROWS", 4)


def chosen(name):
    return Kernel(KERNELS[name], GAMMA, COEF0, DEGREE)


def table(seed, n_rows=11, n_features=3, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.7)).astype(dtype)


def near(dtype):
    return {"rtol": 4e-6, "atol": 2e-6} if dtype == np.float32 else {"rtol": 1e-12, "atol": 1e-13}


def exact_rbf(X, Z, gamma):
    differences = X.astype(np.float64)[:, None, :] - Z.astype(np.float64)[None, :, :]
    return np.exp(-gamma * (differences**2).sum(axis=2))


# ---- equal to the textbook and to scikit-learn -------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", range(2))
def test_equals_two_loops(seed, name, form, dtype):
    X, Z = table(seed, dtype=dtype), table(seed + 100, n_rows=6, dtype=dtype)
    K = gram(form(X), form(Z), chosen(name))
    assert K.dtype == dtype
    assert isinstance(K, np.ndarray)
    assert_allclose(K, naive.gram(X, Z, NAIVE[name]), **near(dtype))

    square = gram_symmetric(form(X), chosen(name))
    assert square.dtype == dtype
    assert_allclose(square, naive.gram(X, X, NAIVE[name]), **near(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", KERNELS)
def test_equals_scikit_learn(name, dtype):
    X, Z = table(1, n_rows=20, n_features=6, dtype=dtype), table(2, n_rows=9, n_features=6, dtype=dtype)
    expected = pairwise_kernels(X.astype(np.float64), Z.astype(np.float64), metric=name, **SKLEARN[name])
    assert_allclose(gram(X, Z, chosen(name)), expected, **near(dtype))


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_equals_scikit_learn_over_several_real_blocks(name):
    X, Z = table(1, n_rows=1100, n_features=20), table(2, n_rows=300, n_features=20)
    expected = pairwise_kernels(X, Z, metric=name, **SKLEARN[name])
    assert_allclose(gram(X, Z, chosen(name), 2), expected, rtol=1e-10, atol=1e-13)
    whole = pairwise_kernels(X, X, metric=name, **SKLEARN[name])
    assert_allclose(gram_symmetric(X, chosen(name), 2), whole, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("right", DTYPES)
@pytest.mark.parametrize("name", KERNELS)
def test_queries_and_support_may_differ_in_dtype(name, left, right):
    X, Z = table(3, dtype=left), table(4, dtype=right)
    K = gram(X, Z, chosen(name))
    assert K.dtype == left
    assert_allclose(K, naive.gram(X, Z, NAIVE[name]), **near(np.float32 if np.float32 in (left, right) else left))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", KERNELS)
def test_diagonal(name, form):
    X = table(5, dtype=np.float32)
    diagonal = gram_diagonal(form(X), chosen(name))
    assert diagonal.dtype == np.float64
    assert_allclose(diagonal, [NAIVE[name](x, x) for x in X], rtol=1e-12)


# ---- properties --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_permuting_the_samples_permutes_the_gram(name, dtype, seed):
    X = table(seed, dtype=dtype)
    order = np.random.default_rng(seed).permutation(len(X))
    K, permuted = gram_symmetric(X, chosen(name)), gram_symmetric(X[order], chosen(name))
    assert_allclose(permuted, K[np.ix_(order, order)], **near(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", KERNELS)
def test_symmetric_to_the_last_bit(name, form, dtype):
    X = table(8, n_rows=14, n_features=7, dtype=dtype)
    K = gram_symmetric(form(X), chosen(name))
    assert_array_equal(K, K.T)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", KERNELS)
def test_symmetric_to_the_last_bit_over_real_blocks(name, dtype):
    X = table(9, n_rows=2 * blocks.BLOCK_ROWS + 9, n_features=31, dtype=dtype)
    K = gram_symmetric(X, chosen(name), 2)
    assert_array_equal(K, K.T)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_a_row_is_exactly_one_with_itself(name, form, dtype):
    X = table(10, dtype=dtype) * 100 + 1000 * (form is np.asarray)
    assert_array_equal(gram_symmetric(form(X), chosen(name)).diagonal(), np.ones(len(X)))
    assert_array_equal(gram_diagonal(form(X), chosen(name)), np.ones(len(X)))


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_values_lie_between_zero_and_one(name):
    X = table(11, n_rows=15, dtype=np.float32) * 10
    K = gram(X, X, chosen(name))
    assert (K >= 0).all()
    assert (K <= 1).all()


def test_rows_are_measured_from_their_mean_where_only_differences_count():
    X = table(15, dtype=np.float32) + np.float32(1000)
    start = blocks.origin(X, chosen("rbf"))
    assert_allclose(start, X.mean(axis=0, dtype=np.float64))
    rows = blocks.prepared(X, chosen("rbf"), start)
    assert_allclose(rows.norms, ((X - start) ** 2).sum(axis=1), rtol=1e-5)
    assert rows.norms.max() < 100  # and not a million: few pairs are too close to be told apart
    for name in ("linear", "poly", "sigmoid", "laplacian"):
        assert blocks.origin(X, chosen(name)) is None


# ---- rbf in float32: within 2e-6 of float64 ----------------------------------------------------------------------

GAMMAS = 10.0 ** np.arange(-4, 2)


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("size", [0.01, 1.0, 30.0])
def test_float32_rbf_is_within_two_millionths(gamma, size):
    X = (np.random.default_rng(0).normal(size=(14, 12)) * size).astype(np.float32)
    kernel = Kernel(RBF, gamma)
    assert np.abs(gram(X, X[:9], kernel) - exact_rbf(X, X[:9], gamma)).max() <= 2e-6
    assert np.abs(gram_symmetric(X, kernel) - exact_rbf(X, X, gamma)).max() <= 2e-6


@pytest.mark.slow
@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("size", [0.01, 0.3, 3.0, 100.0])
def test_float32_rbf_is_within_two_millionths_in_784_dimensions(gamma, size):
    rng = np.random.default_rng(1)
    centres = rng.random((5, 784)) * size
    X = (centres[rng.integers(5, size=90)] + rng.normal(size=(90, 784)) * size * 0.1).astype(np.float32)
    kernel = Kernel(RBF, gamma)
    assert np.abs(gram(X, X[:50], kernel) - exact_rbf(X, X[:50], gamma)).max() <= 2e-6
    assert np.abs(gram_symmetric(X, kernel) - exact_rbf(X, X, gamma)).max() <= 2e-6


@pytest.mark.parametrize("gamma", [0.01, 0.5, 10.0])
@pytest.mark.parametrize("mean", [0.0, 1000.0])
def test_rbf_does_not_see_where_the_data_lie(mean, gamma):
    near_origin = np.round(np.random.default_rng(2).normal(size=(12, 5)) * 64) / 64
    X = (near_origin + mean).astype(np.float32)  # exact: whole 64ths below 2^18
    K = gram(X, X[:7], Kernel(RBF, gamma))
    assert np.abs(K - exact_rbf(near_origin, near_origin[:7], gamma)).max() <= 2e-6


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("gamma", [0.001, 1.0, 10.0])
def test_near_duplicates_with_large_norms(gamma, dtype):
    rng = np.random.default_rng(3)
    base = rng.normal(size=(4, 6)) * 500
    X = np.repeat(base, 3, axis=0).astype(dtype)
    X += (rng.normal(size=X.shape) * 0.05).astype(dtype)
    allowed = 2e-6 if dtype == np.float32 else 1e-12
    expected = exact_rbf(X, X, gamma)
    assert (expected > 0.5).sum() > len(X)  # there are close pairs off the diagonal
    assert np.abs(gram(X, X, Kernel(RBF, gamma)) - expected).max() <= allowed
    assert np.abs(gram_symmetric(X, Kernel(RBF, gamma)) - expected).max() <= allowed


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_whose_squares_overflow(dtype):
    huge = np.finfo(dtype).max ** 0.75
    X = np.array([[huge, 0.0], [huge, 0.0], [0.0, huge], [0.0, 0.0]], dtype=dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        K = gram(X, X, Kernel(RBF, 1.0))
    assert_array_equal(K, [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


# ---- functions of the user ---------------------------------------------------------------------------------------


def test_a_function_of_the_user_is_called_on_blocks_of_rows():
    X, Z = table(12), table(13, n_rows=5)
    seen = []

    def ours(rows, columns):
        seen.append((len(rows), len(columns)))
        return rows @ columns.T + 2.0

    K = gram(X, Z, ours)
    assert_allclose(K, naive.gram(X, Z, lambda x, z: naive.dot(x, z) + 2.0))
    assert seen == [(4, 5), (4, 5), (3, 5)]
    assert_allclose(gram_diagonal(X, ours), [naive.dot(x, x) + 2.0 for x in X])


def test_a_function_that_is_not_symmetric_is_evaluated_everywhere():
    X = table(14)
    K = gram_symmetric(X, lambda rows, columns: rows[:, :1] - 2.0 * columns[:, 0][None, :])
    assert_allclose(K, naive.gram(X, X, lambda x, z: x[0] - 2.0 * z[0]))
    assert np.abs(K - K.T).max() > 0.1


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_sparse_rows_that_are_close_and_far_from_the_origin(name):
    rng = np.random.default_rng(5)
    X = (1e4 + 1e-3 * rng.normal(size=(20, 6))) * (rng.random((20, 6)) < 0.7)
    kernel = Kernel(KERNELS[name], 1e5 if name == "rbf" else 10.0)
    assert_allclose(gram(sparse.csr_array(X), sparse.csr_array(X), kernel), gram(X, X, kernel), atol=1e-9)


def test_the_laplacian_of_very_wide_sparse_rows_needs_no_dense_copy():
    rows = sparse.random_array((300, 2_000_000), density=1e-5, format="csr", rng=np.random.default_rng(6))
    K = gram(rows, rows, Kernel(KERNELS["laplacian"], 0.1))
    assert_allclose(K.diagonal(), 1.0)


# ---- about a centre ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("code", ABOUT_A_CENTRE)
def test_a_kernel_about_a_centre_is_what_is_left_without_it(code, form):
    X = table(0)
    kernel = Kernel(code, GAMMA, COEF0, DEGREE)
    plain = kernel._replace(code=ABOUT_A_CENTRE[code])
    centre = X.mean(axis=0)[None]
    to_centre, own = gram(X, centre, plain), gram(centre, centre, plain)
    wanted = gram(X, X, plain) - to_centre - to_centre.T + own
    assert_allclose(gram_symmetric(form(X), kernel), wanted, rtol=1e-12, atol=1e-13)
    assert_allclose(gram_diagonal(form(X), kernel), wanted.diagonal(), rtol=1e-12, atol=1e-13)


def test_coefficients_that_add_up_to_0_see_no_centre():
    X = 100.0 + table(1)
    beta = np.random.default_rng(0).normal(size=len(X))
    beta -= beta.mean()
    for code, plain in ABOUT_A_CENTRE.items():
        about, itself = (gram_symmetric(X, Kernel(one, 1e-4, COEF0, DEGREE)) for one in (code, plain))
        assert beta @ about @ beta == pytest.approx(beta @ itself @ beta)
