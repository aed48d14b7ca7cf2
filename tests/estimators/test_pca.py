"""PCA: every route and every source to the same components, what scikit-learn says of them, and what is refused."""

import pickle
import subprocess
import sys
import textwrap
import time
from copy import deepcopy
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.decomposition import PCA as Theirs
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import eigenwood
from eigenwood import PCA, verify
from eigenwood.core.spectral.judging import PROBE
from eigenwood.core.spectral.pairs import Wanted
from eigenwood.data.blocks import blocks
from eigenwood.data.row_blocks import Blocks
from eigenwood.estimators import watching
from eigenwood.estimators.pca import clock, costs, decomposition, direct_routes, growing, planning, routes, sources
from tests.estimators.exam import Recorder
from tests.models.crafting import assert_one_sentence
from tests.naive import pca as naive

EXACT = ("auto", "full", "covariance_eigh", "gram_eigh", "gram_refined", "krylov", "arpack", "power")
ROUTES = (*EXACT, "randomized", "oja")
STREAMED = ("auto", "covariance_eigh", "krylov", "arpack", "power", "randomized", "oja")
TALL, WIDE = (70, 9), (9, 40)
DTYPES = (np.float32, np.float64)


def rows(seed=0, shape=TALL, dtype=np.float64, decay=0.6, mean=2.0):
    """Return rows whose variances fall, along directions in general position."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = shape
    Q = np.linalg.qr(rng.normal(size=(n_columns, n_columns)))[0]
    X = rng.normal(size=shape) * 3.0 * decay ** np.arange(n_columns)
    return (X @ Q.T + mean * rng.uniform(0.5, 1.5, n_columns)).astype(dtype)


def true_pairs(X, weights=None, scale=1.0):
    """Return the eigenvalues of the covariance and its eigenvectors as rows, largest first, by LAPACK in float64."""
    weights = np.ones(X.shape[0]) if weights is None else np.asarray(weights, dtype=float)
    X = (X.toarray() if sparse.issparse(X) else X).astype(np.float64) / scale
    A = np.sqrt(weights)[:, None] * (X - np.average(X, axis=0, weights=weights))
    values, vectors = np.linalg.eigh(A.T @ A / (weights.sum() - 1.0))
    return values[::-1], vectors.T[::-1]


def assert_within_the_certificate(model, values, vectors):
    """The variances are off by no more than their intervals, the components by no more than residual over gap."""
    k = model.n_components_
    low, high = model.explained_variance_interval_.T
    assert ((low <= values[:k]) & (values[:k] <= high)).all()
    half_widths = (high - low) / 2.0 + 1e-12 * values[0]
    for i in range(k):
        gap = np.abs(np.delete(values, i) - values[i]).min() - half_widths[i]
        if gap > 0:
            sine = np.sqrt(max(0.0, 1.0 - float(model.components_[i] @ vectors[i]) ** 2))
            rounding = 4.0 * np.sqrt(np.finfo(model.components_.dtype).eps)  # of 1 - cos²
            assert sine <= 2.0 * half_widths[i] / gap + rounding


def assert_alike(one, other, rtol=1e-8):
    """Two models say the same, up to rounding."""
    assert one.n_components_ == other.n_components_
    largest = max(other.explained_variance_.max(initial=0.0), 1e-300)
    assert_allclose(one.explained_variance_, other.explained_variance_, rtol=rtol, atol=rtol * largest)
    assert_allclose(one.mean_, other.mean_, rtol=rtol, atol=rtol)
    assert_allclose(one.scale_, other.scale_, rtol=rtol)
    assert_allclose(one.components_, other.components_, atol=np.sqrt(rtol))
    assert_allclose(one.noise_variance_, other.noise_variance_, rtol=rtol, atol=rtol * largest)


def sentence_of(function, *args, **kwargs):
    """Return the one sentence of the error that a call raises."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the sentence is looked at by the caller
        function(*args, **kwargs)
    assert_one_sentence(str(caught.value))
    return str(caught.value)


# ---- all routes agree --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("route", EXACT)
def test_exact_routes_agree_with_lapack_and_scikit_learn(route, shape, dtype):
    X = rows(1, shape, dtype)
    model = PCA(4, svd_solver=route).fit(X)
    assert_within_the_certificate(model, *true_pairs(X))
    assert model.certificate_.holds
    theirs = Theirs(4, svd_solver="full").fit(X.astype(np.float64))
    near = {"rtol": 1e-4 if dtype == np.float32 else 1e-8}
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "noise_variance_"):
        assert_allclose(getattr(model, name), getattr(theirs, name), **near)
    assert_allclose(model.mean_, theirs.mean_, rtol=1e-6)
    assert (model.n_components_, model.n_samples_, model.n_features_in_) == (4, *shape)
    assert model.components_.dtype == model.transform(X).dtype == dtype
    signs = np.sign(np.sum(model.components_ * theirs.components_, axis=1))
    assert_allclose(model.transform(X), theirs.transform(X.astype(np.float64)) * signs, atol=2e-3)
    assert model.total_variance_ == pytest.approx(true_pairs(X)[0].sum(), rel=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("route", ["randomized", "oja"])
def test_approximate_routes_are_close_and_say_how_close(route, shape, dtype):
    X = rows(2, shape, dtype)
    model = PCA(2, svd_solver=route).fit(X)
    values, vectors = true_pairs(X)
    assert_allclose(model.explained_variance_, values[:2], rtol=0.02)
    assert (np.abs(np.sum(model.components_ * vectors[:2], axis=1)) > 0.99).all()
    low, high = model.explained_variance_interval_.T
    assert ((values >= low[:, None]) & (values <= high[:, None])).any(axis=1).all()


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("route", [route for route in ROUTES if route not in ("full", "gram_refined", "oja")])
def test_sparse_rows_are_dense_rows(route, shape, form):
    X = rows(3, shape) * (np.random.default_rng(0).random(shape) < 0.4)
    dense, model = PCA(3, svd_solver=route).fit(X), PCA(3, svd_solver=route).fit(form(X))
    if route in EXACT:
        assert_within_the_certificate(model, *true_pairs(X))
    assert_alike(model, dense, rtol=1e-6)
    assert_allclose(model.transform(form(X)), model.transform(X), atol=1e-10)
    assert isinstance(model.transform(form(X)), np.ndarray)


def test_sparse_rows_are_dense_rows_in_batches_too():
    X = rows(3) * (np.random.default_rng(0).random(TALL) < 0.4)
    dense, model = (PCA(2, svd_solver="oja").fit(form(X)) for form in (np.asarray, sparse.csr_array))
    assert_alike(model, dense, rtol=1e-6)


@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("route", EXACT)
def test_weights_are_rows_given_so_often(route, shape):
    X = rows(4, shape)
    weights = np.random.default_rng(0).integers(0, 4, size=shape[0])
    weights[:2] = 0, 2
    repeated = np.repeat(X, weights, axis=0)
    model = PCA(3, svd_solver=route).fit(X, sample_weight=weights)
    assert_within_the_certificate(model, *true_pairs(X, weights))
    assert_alike(model, PCA(3, svd_solver=route).fit(repeated), rtol=1e-6)
    assert_allclose(model.explained_variance_, Theirs(3).fit(repeated).explained_variance_, rtol=1e-8)
    assert model.n_samples_ == (weights > 0).sum()


@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("route", ["randomized", "oja"])
def test_weights_are_rows_given_so_often_as_far_as_a_route_is_exact(route, shape):
    X = rows(4, shape)
    weights = np.random.default_rng(0).integers(0, 4, size=shape[0])
    repeated = np.repeat(X, weights, axis=0)
    one, other = PCA(3, svd_solver=route).fit(X, sample_weight=weights), PCA(3, svd_solver=route).fit(repeated)
    for name in ("mean_", "total_variance_"):
        assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12)
    assert_allclose(one.singular_values_**2 / one.explained_variance_, weights.sum() - 1.0)
    assert_allclose(one.explained_variance_, other.explained_variance_, rtol=0.02)
    values = true_pairs(X, weights)[0]
    for low, high in one.explained_variance_interval_:
        assert ((low <= values) & (values <= high)).any()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("route", ["covariance_eigh", "gram_eigh", "krylov", "power"])
def test_weights_may_be_fractions(route, form):
    X, weights = rows(5), np.random.default_rng(0).uniform(0.1, 2.0, TALL[0])
    model = PCA(3, svd_solver=route).fit(form(X), sample_weight=weights)
    assert_within_the_certificate(model, *true_pairs(X, weights))


def test_few_rows_of_large_weight_have_as_many_components_as_their_weight():
    X = rows(6, (3, 8))
    for route in EXACT:
        model = PCA(svd_solver=route).fit(X, sample_weight=[2, 2, 2])
        assert model.n_components_ == 6
        assert_allclose(model.components_ @ model.components_.T, np.eye(6), atol=1e-10)
        assert_allclose(model.explained_variance_[2:], 0.0, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("route", EXACT)
def test_scale_is_a_standard_scaler_before(route, shape, dtype):
    X = rows(7, shape, dtype) * np.logspace(-2, 2, shape[1]).astype(dtype)
    X[:, 1] = dtype(0.3)  # constant: divided by 1
    model = PCA(3, scale=True, svd_solver=route).fit(X)
    scaler = StandardScaler().fit(X.astype(np.float64))
    theirs = Theirs(3, svd_solver="full").fit(scaler.transform(X.astype(np.float64)))
    assert_allclose(model.scale_, scaler.scale_, rtol=1e-6)
    assert_allclose(model.explained_variance_, theirs.explained_variance_, rtol=2e-5)
    assert_within_the_certificate(model, *true_pairs(X, scale=model.scale_))
    pipeline = make_pipeline(StandardScaler(), PCA(3, svd_solver=route)).fit(X)
    assert_allclose(
        np.abs(model.transform(X)), np.abs(pipeline.transform(X)), atol=5e-3 if dtype == np.float32 else 1e-5
    )
    back = model.inverse_transform(model.transform(X))
    assert_allclose(back[:, 1], 0.3, rtol=1e-5)


def test_scale_with_weights_is_a_weighted_standard_scaler():
    X, weights = rows(8), np.random.default_rng(0).uniform(0.1, 2.0, TALL[0])
    scaler = StandardScaler().fit(X, sample_weight=weights)
    model = PCA(3, scale=True).fit(X, sample_weight=weights)
    assert_allclose(model.scale_, scaler.scale_)
    assert_allclose(model.mean_, scaler.mean_)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("route", ["covariance_eigh", "gram_eigh", "krylov", "power"])
def test_a_constant_column_is_divided_by_one_whatever_the_weights(route, form):
    X = rows(8)
    X[:, 2] = 1.5
    for seed in range(6):
        weights = np.random.default_rng(seed).uniform(0.2, 3.0, TALL[0])
        model = PCA(3, scale=True, svd_solver=route).fit(form(X), sample_weight=weights)
        assert model.scale_[2] == 1.0
        assert_allclose(model.components_[:, 2], 0.0, atol=1e-12)


@pytest.mark.parametrize("route", EXACT)
@pytest.mark.parametrize("shape", [(2, 1), (1, 1), (2, 2), (5, 1), (2, 7)])
def test_the_smallest_tables(route, shape):
    X = np.arange(1.0, 1.0 + shape[0] * shape[1]).reshape(shape) ** 2
    if shape == (1, 1):
        assert "at least 2 rows; got 1 sample(s)" in sentence_of(PCA(svd_solver=route).fit, X)
        return
    model = PCA(svd_solver=route).fit(X)
    values, _ = true_pairs(X)
    assert_allclose(model.explained_variance_, values[: min(shape)], atol=1e-9 * values[0])
    assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-7 * np.abs(X).max())


def refusal_of(function, *args):
    """Return the sentence with which a call is refused, None if it is not."""
    try:
        function(*args)
    except ValueError as problem:
        return str(problem)
    return None


@pytest.mark.parametrize(("size", "dtype"), [(1e200, np.float64), (1e25, np.float32)])
@pytest.mark.parametrize("route", ROUTES)
def test_numbers_whose_squares_overflow_are_refused_or_right(route, size, dtype):
    X = (rows(9) * size).astype(dtype)
    model = PCA(2, svd_solver=route, iterated_power=20)
    sentence = refusal_of(model.fit, X)
    if sentence is None:
        assert_allclose(model.explained_variance_ / size / size, true_pairs(X / dtype(size))[0][:2], rtol=0.02)
    else:
        assert_one_sentence(sentence)
        assert sentence.startswith("PCA: X must ")


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("route", ROUTES)
def test_the_unit_of_the_numbers_changes_no_bit(route, form, scale):
    """Times a power of two, every number is exact: the components are the same, the variances have its square."""
    if form is not np.asarray and route in ("full", "gram_refined"):
        return
    X = rows(33, (60, 12), decay=0.8) + 0.3
    one = PCA(3, svd_solver=route, scale=scale).fit(form(X))
    for exponent in (-450, -300, -280, -65, -64, -1, 1, 64, 65, 250, 300, 450):
        other = PCA(3, svd_solver=route, scale=scale).fit(form(np.ldexp(X, exponent)))
        of_variances = 0 if scale else 2 * exponent
        assert_array_equal(other.components_, one.components_)
        assert_array_equal(other.explained_variance_, np.ldexp(one.explained_variance_, of_variances))
        assert_array_equal(other.mean_, np.ldexp(one.mean_, exponent))
        assert_array_equal(other.scale_, np.ldexp(one.scale_, exponent if scale else 0))
        assert other.total_variance_ == np.ldexp(one.total_variance_, of_variances)


@pytest.mark.parametrize("exponent", [-60, -30, 30, 60])
@pytest.mark.parametrize("route", EXACT)
def test_the_unit_of_float32_numbers(route, exponent):
    """Squares of 1e-18 and 1e18 are no float32."""
    X = rows(33, (60, 12), np.float32, decay=0.8)
    one, other = PCA(3, svd_solver=route).fit(X), PCA(3, svd_solver=route).fit(np.ldexp(X, exponent))
    assert_array_equal(other.components_, one.components_)
    assert_array_equal(other.explained_variance_, np.ldexp(one.explained_variance_, 2 * exponent))


@pytest.mark.parametrize("exponent", [-400, -100, 100, 400])
def test_the_unit_of_blocks_batches_holes_and_whitened_scores(exponent):
    X = rows(34, (90, 7), decay=0.7)
    far, holed = np.ldexp(X, exponent), with_holes(X)
    for fit in (
        lambda X: PCA(3).fit(blocks(X, block_rows=40)),
        lambda X: PCA(3, svd_solver="krylov").fit(blocks(X, block_rows=40)),
        lambda X: PCA(3).partial_fit(X[:50]).partial_fit(X[50:]),
        lambda X: PCA(3, whiten=True).fit(X),
        lambda X: PCA("mle").fit(X),
    ):
        one, other = fit(X), fit(far)
        assert_array_equal(other.components_, one.components_)
        assert_allclose(np.ldexp(other.explained_variance_, -2 * exponent), one.explained_variance_, rtol=1e-12)
        scores = np.ldexp(one.transform(X), 0 if one.whiten else exponent)
        assert_allclose(other.transform(far), scores, rtol=1e-9, atol=1e-12 * np.abs(scores).max())
        assert verify(other, far).holds
    one, other = PCA(2, missing="em").fit(holed), PCA(2, missing="em").fit(np.ldexp(holed, exponent))
    assert_allclose(other.components_, one.components_, rtol=1e-9)
    assert verify(other, np.ldexp(holed, exponent)).holds


def test_columns_of_very_different_size_are_scaled_one_by_one():
    X = rows(35, (50, 4))
    sizes = np.array([0, -600, 700, 3])
    one, other = PCA(2, scale=True).fit(X), PCA(2, scale=True).fit(np.ldexp(X, sizes))
    assert_array_equal(other.components_, one.components_)
    assert_array_equal(other.scale_, np.ldexp(one.scale_, sizes))
    assert verify(other, np.ldexp(X, sizes)).holds


@pytest.mark.parametrize("scale", [False, True])
def test_columns_of_zeros_and_constants_need_no_unit(scale):
    X = np.hstack([rows(35, (50, 4)), np.zeros((50, 1)), np.full((50, 1), 7.0)])
    model = PCA(2, scale=scale).fit(X)
    assert_array_equal(model.scale_[4:], 1.0)
    assert verify(model, X).holds


@pytest.mark.parametrize("size", [1e-170, 1e-150, 1e160, 1e300])
@pytest.mark.parametrize("route", ROUTES)
def test_variances_that_are_no_floats_are_refused(route, size):
    sentence = sentence_of(PCA(2, svd_solver=route).fit, rows(9) * size)
    assert "PCA: X must have a variance between" in sentence
    assert ("larger" if size > 1.0 else "smaller") in sentence
    assert PCA(2, svd_solver=route, scale=True).fit(rows(9) * size).n_components_ == 2


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_power_iteration_fills_directions_without_variance_at_once(form):
    rng = np.random.default_rng(0)
    X = form(rng.normal(size=(400, 3)) @ (rng.normal(size=(3, 400)) * (rng.random((3, 400)) < 0.3)))
    looks = Recorder()
    model = PCA(399, svd_solver="power").set_callbacks(looks).fit(X)
    assert looks.count("end", "round") == 4  # three pairs, and that there are no more
    assert model.n_components_ == 399
    assert_allclose(model.explained_variance_[3:], 0.0)
    assert verify(model, X).holds


@pytest.mark.parametrize("route", ["auto", "covariance_eigh", "gram_eigh", "gram_refined", "krylov"])
def test_same_bits_for_any_number_of_threads(route):
    X = rows(10, (700, 60), np.float32)
    one, *others = (PCA(4, svd_solver=route, n_jobs=n_jobs).fit(X) for n_jobs in (1, 2, 8))
    for other in others:
        assert_array_equal(other.components_, one.components_)
        assert_array_equal(other.explained_variance_, one.explained_variance_)
        assert_array_equal(other.transform(X), one.transform(X))


def numbers_of(model, X):
    """Return everything that a model says of rows."""
    Z = model.transform(X)
    claims = [claim.value for certificate in (model.certificate_, verify(model, X)) for claim in certificate]
    likelihoods = [] if np.isnan(X).any() else [model.score_samples(X)]
    return [
        *(model.components_, model.explained_variance_, model.explained_variance_interval_, model.mean_, Z),
        *(model.inverse_transform(Z), model.get_covariance(), model.get_precision(), np.array(claims), *likelihoods),
    ]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1500, 300), (200, 700)], ids=["tall", "wide"])
@pytest.mark.parametrize("route", ["auto", "gram_eigh", "gram_refined", "krylov", "randomized", "oja"])
def test_same_bits_for_any_number_of_threads_of_blas(route, shape, dtype):
    """A product that BLAS splits over its threads has other bits than one that it does not."""
    X = rows(10, shape, dtype, decay=0.995)
    found = []
    for n_threads in (1, 2, 8):
        with threadpool_limits(n_threads):
            found.append(numbers_of(PCA(20, svd_solver=route).fit(X), X))
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            assert_array_equal(other, one)


def test_same_bits_for_any_number_of_threads_of_blas_with_holes_and_in_batches():
    X = with_holes(rows(10, (600, 200), decay=0.8))
    filled = np.nan_to_num(X)
    found = []
    for n_threads in (1, 2, 8):
        with threadpool_limits(n_threads):
            batched = PCA(20).partial_fit(filled[:300]).partial_fit(filled[300:])
            with_means = PCA(20, missing="mean").fit(blocks(X, block_rows=100))
            found.append(
                [
                    *numbers_of(PCA(5, missing="em", time_limit=60).fit(X), X),
                    *numbers_of(batched, filled),
                    *(with_means.components_, with_means.mean_),
                ]
            )
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            assert_array_equal(other, one)


@pytest.mark.parametrize("route", ROUTES)
def test_x_is_not_written_to_and_parameters_stay(route):
    X = rows(11)
    before = X.copy()
    model = PCA(2, svd_solver=route)
    params = model.get_params()
    assert model.fit(X) is model
    assert_array_equal(X, before)
    assert model.get_params() == params


def test_the_seed_decides_what_is_drawn():
    X = rows(12, decay=0.95)
    for route in ("randomized", "krylov", "oja", "power"):
        one, same = (PCA(2, svd_solver=route, random_state=1, iterated_power=3).fit(X) for _ in range(2))
        assert_array_equal(one.components_, same.components_)
    one, other = (PCA(2, svd_solver="randomized", random_state=s, iterated_power=0).fit(X) for s in (1, 2))
    assert not np.array_equal(one.components_, other.components_)


@pytest.mark.parametrize("route", ["power", "randomized"])
@pytest.mark.parametrize("n_iter", [0, 1, 5])
def test_few_products_are_allowed(route, n_iter):
    X = rows(13)
    model = PCA(2, svd_solver=route, iterated_power=n_iter).fit(X)
    assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-10)
    values, _ = true_pairs(X)
    low, high = model.explained_variance_interval_.T
    assert ((values >= low[:, None]) & (values <= high[:, None])).any(axis=1).all()


@pytest.mark.parametrize("shape", [(200, 30), (30, 200)], ids=["tall", "wide"])
@pytest.mark.parametrize("route", ["krylov", "power"])
@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_tol_is_the_residual_at_which_an_iteration_ends(tol, route, shape):
    """Also where AAᵀ is multiplied, and a residual grows on its way back to the columns."""
    X = rows(14, shape, decay=0.8)
    values, _ = true_pairs(X)
    C = np.cov(X, rowvar=False)
    model = PCA(6, svd_solver=route, tol=tol).fit(X)
    V = model.components_.T
    residuals = np.linalg.norm(C @ V - V * model.explained_variance_, axis=0)
    assert (residuals <= 1.01 * tol * values[0]).all()
    assert model.certificate_.holds
    assert verify(model, X).holds


# ---- how many components -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("route", EXACT)
def test_a_share_of_variance_on_every_exact_route(route, shape, share):
    X = rows(15, shape, decay=0.8)
    model = PCA(share, svd_solver=route).fit(X)
    assert model.n_components_ == Theirs(share, svd_solver="full").fit(X).n_components_
    assert model.explained_variance_ratio_.sum() > share
    assert model.explained_variance_ratio_[:-1].sum() <= share
    assert_within_the_certificate(model, *true_pairs(X))


@pytest.mark.parametrize("first", [1, 4, 16])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("route", ["randomized", "oja"])
def test_a_share_of_variance_on_approximate_routes(monkeypatch, route, shape, share, first):
    """They hold the share, and are the fewest of theirs that do; the best ones may be fewer, and never more."""
    monkeypatch.setattr(growing, "FIRST_COUNT", first)
    X = rows(15, shape, decay=0.8)
    model = PCA(share, svd_solver=route).fit(X)
    held = model.transform(X).var(axis=0, ddof=1) / X.var(axis=0, ddof=1).sum()
    assert_allclose(held, model.explained_variance_ratio_, rtol=1e-6)
    assert held.sum() > share
    assert held[:-1].sum() <= share
    best = Theirs(share, svd_solver="full").fit(X).n_components_
    assert best <= model.n_components_ <= best + 1
    assert model.solver_ == route
    assert model.components_.shape == (model.n_components_, shape[1])


def test_a_share_that_approximate_components_cannot_reach_takes_all_of_them():
    X = rows(15)
    model = PCA(1.0 - 1e-16, svd_solver="randomized").fit(X)
    assert model.n_components_ == 9


@pytest.mark.parametrize("route", ["randomized", "oja"])
def test_a_share_by_approximate_routes_from_blocks_with_callbacks_and_time(monkeypatch, route):
    monkeypatch.setattr(growing, "FIRST_COUNT", 1)
    X = rows(15, decay=0.9)
    streamed = PCA(0.7, svd_solver=route).fit(blocks(X, block_rows=16))
    assert streamed.explained_variance_ratio_.sum() > 0.7
    recorder = Recorder()
    model = PCA(0.7, svd_solver=route).set_callbacks(recorder).fit(X)
    counts = [seen.n_components_ for seen in recorder.models]
    assert {1, 2, 4}.issubset(counts)
    assert counts[-1] == model.n_components_
    assert PCA(0.7, svd_solver=route, time_limit=1e-9).fit(X).stop_reason_ == "time_limit"


@pytest.mark.parametrize("route", [route for route in ROUTES if route not in ("full", "gram_refined")])
def test_a_share_of_variance_of_sparse_and_weighted_rows(route):
    X = rows(16, decay=0.8)
    weights = np.random.default_rng(0).integers(1, 4, size=TALL[0])
    model = PCA(0.7, svd_solver=route).fit(sparse.csr_array(X), sample_weight=weights)
    assert_allclose(model.total_variance_, np.repeat(X, weights, axis=0).var(axis=0, ddof=1).sum())
    assert model.n_components_ == Theirs(0.7, svd_solver="full").fit(np.repeat(X, weights, axis=0)).n_components_


@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("route", EXACT)
def test_none_means_all(route, shape):
    X = rows(17, shape, decay=0.8)
    model = PCA(svd_solver=route).fit(X)
    assert model.n_components_ == min(shape)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1.0)
    assert model.noise_variance_ == 0.0
    assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-6)
    assert_allclose(model.components_ @ model.components_.T, np.eye(min(shape)), atol=1e-9)


@pytest.mark.parametrize("route", ["auto", "full", "covariance_eigh"])
@pytest.mark.parametrize("seed", range(3))
def test_mle_is_scikit_learns(route, seed):
    X = rows(seed, (100, 8), decay=0.5) + 0.3 * np.random.default_rng(seed).normal(size=(100, 8))
    theirs = Theirs("mle").fit(X)
    model = PCA("mle", svd_solver=route).fit(X)
    assert model.n_components_ == theirs.n_components_
    assert_allclose(model.explained_variance_, theirs.explained_variance_)
    assert model.noise_variance_ == pytest.approx(theirs.noise_variance_)


def test_rank_deficient_rows_have_components_of_no_variance():
    X = rows(18)[:, :4] @ np.random.default_rng(0).normal(size=(4, 9))
    for route in EXACT:
        model = PCA(7, svd_solver=route).fit(X)
        assert_array_equal(model.explained_variance_[4:], 0.0)
        assert (model.explained_variance_[:4] > 1e-3).all()
        assert_allclose(model.components_ @ model.components_.T, np.eye(7), atol=1e-9)
        assert model.certificate_.holds


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_components": 10}, "min(n_samples, n_features)=9"),
        ({"n_components": -1}, "n_components must be "),
        ({"n_components": 1.0}, "n_components must be "),
        ({"n_components": 0.0}, "n_components must be "),
        ({"n_components": True}, "n_components must be "),
        ({"n_components": "mel"}, "n_components must be "),
        ({"n_components": 0, "svd_solver": "krylov"}, "n_components=0 must be "),
        ({"n_components": "mle", "svd_solver": "krylov"}, "n_components='mle'"),
        ({"n_components": "mle", "svd_solver": "oja"}, "n_components='mle'"),
        ({"svd_solver": "svd"}, "svd_solver must be one of 'auto'"),
        ({"scale": "unit"}, "scale must be "),
        ({"missing": "median"}, "missing must be "),
        ({"tol": -1.0}, "tol must be "),
        ({"iterated_power": -1}, "iterated_power must be "),
        ({"n_oversamples": 0}, "n_oversamples must be "),
        ({"whiten": 1}, "whiten must be "),
        ({"time_limit": 0}, "time_limit must be "),
        ({"random_state": "seed"}, "random_state must be "),
        ({"n_jobs": 0}, "n_jobs must be "),
    ],
    ids=str,
)
def test_what_cannot_be_asked_for_is_refused_in_one_sentence(options, words):
    sentence = sentence_of(PCA(**options).fit, rows(19))
    assert sentence.startswith("PCA: ")
    assert words in sentence


def test_mle_needs_as_many_rows_as_columns():
    assert "n_samples >= n_features; got 9 < 40" in sentence_of(PCA("mle").fit, rows(19, WIDE))


def test_a_fit_that_is_refused_leaves_the_model_as_it_was():
    model = PCA(3).fit(rows(20))
    before = deepcopy(vars(model))
    model.n_components = 10
    sentence_of(model.fit, rows(21))
    for name in ("components_", "explained_variance_", "mean_"):
        assert_array_equal(getattr(model, name), before[name])


# ---- what auto does ----------------------------------------------------------------------------------------------


def test_auto_says_what_it_took_and_why():
    small = PCA(2).fit(rows(22))
    assert (small.solver_, small.solver_reason_) == ("full", "70 x 9 is small")
    tall = PCA(2).fit(rows(22, (600, 9)))
    assert tall.solver_ == "covariance_eigh"
    assert tall.solver_reason_ == "9 x 9 products of 600 numbers cost less than an iteration"
    wide = PCA(2).fit(rows(22, (9, 600)))
    assert (wide.solver_, wide.solver_reason_) == ("gram_eigh", tall.solver_reason_)
    stream = PCA(2).fit(blocks(rows(22), block_rows=20))
    assert stream.solver_ == "covariance_eigh"
    assert stream.solver_reason_ == "one pass over the stream, and 9 x 9 products fit in memory"


@pytest.mark.parametrize("route", [route for route in ROUTES if route != "auto"])
def test_a_route_that_was_asked_for_is_its_own_reason(route):
    model = PCA(2, svd_solver=route).fit(rows(22))
    assert model.solver_ == ("krylov" if route == "arpack" else route)
    assert model.solver_reason_ == f"svd_solver={route!r}"


def test_auto_multiplies_sparse_rows_as_they_are(monkeypatch):
    monkeypatch.setattr(planning, "SMALL", 5)
    X = sparse.csr_array(rows(23))
    model = PCA(2).fit(X)
    assert (model.solver_, model.solver_reason_) == ("krylov", "sparse rows are multiplied as they are")
    assert_within_the_certificate(model, *true_pairs(X))


@pytest.mark.parametrize("given_as", [np.asarray, blocks])
def test_auto_makes_no_matrix_that_does_not_fit(monkeypatch, given_as):
    monkeypatch.setattr(planning, "SMALL", 5)
    monkeypatch.setattr(planning, "MOST_MEMORY", 8 * 9 * 9 - 1)
    model = PCA(2).fit(given_as(rows(23)))
    assert (model.solver_, model.solver_reason_) == ("krylov", "9 x 9 products do not fit in memory")
    assert_within_the_certificate(model, *true_pairs(rows(23)))


@pytest.mark.slow
def test_auto_takes_an_iteration_where_that_saves_work():
    X = np.random.default_rng(0).normal(size=(1000, 5)) @ np.random.default_rng(1).normal(size=(5, 900))
    X += 0.01 * np.random.default_rng(2).normal(size=X.shape)
    model = PCA(3).fit(X)
    assert model.solver_ == "krylov"
    assert model.solver_reason_.startswith("a few products with blocks of vectors cost less than 900 x 900 products")
    assert_within_the_certificate(model, *true_pairs(X))


def test_auto_turns_to_the_direct_way_where_the_iteration_is_slow(monkeypatch):
    monkeypatch.setattr(planning, "SMALL", 5)
    monkeypatch.setattr(planning, "KRYLOV_MUST_SAVE", 0.0)
    monkeypatch.setattr(planning, "direct_cost", lambda *_: 1.0)
    X = np.random.default_rng(0).normal(size=(300, 100))
    model = PCA(3).fit(X)
    assert model.solver_ == "covariance_eigh"
    assert model.solver_reason_.startswith("after ")
    assert model.solver_reason_.endswith("products krylov was too slow: the spectrum is flat")
    assert_within_the_certificate(model, *true_pairs(X))


@pytest.mark.parametrize("shape", [(900, 700), (600, 800)], ids=["tall", "wide"])
def test_a_flat_spectrum_costs_no_more_than_a_part_of_the_direct_way(monkeypatch, shape):
    """Products are counted: what Krylov did before it gave way, beside what the direct way takes."""
    monkeypatch.setattr(planning, "KRYLOV_MUST_SAVE", 0.0)
    X = np.random.default_rng(0).normal(size=shape)
    model = PCA(3, n_jobs=1).fit(X)
    assert model.solver_ == ("covariance_eigh" if shape[0] > shape[1] else "gram_eigh")
    n_products = int(model.solver_reason_.split()[1])
    wanted = Wanted(3)
    source = sources.InMemory(X, np.ones(len(X)), lambda: None)
    block = costs.block_width(wanted, source)
    spent = n_products / block * costs.product_cost(source, block)
    assert spent <= 1.5 * PROBE * costs.direct_cost(source, wanted, 1)


@pytest.mark.parametrize("asked", [5, 0.7])
@pytest.mark.parametrize("shape", [(400, 90), (90, 400)], ids=["tall", "wide"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_more_than_the_accuracy_is_lost(shape, asked, dtype):
    X = rows(41, shape, dtype=dtype, decay=0.97)
    model = PCA(asked, svd_solver="krylov", accuracy=0.02).fit(X)
    k = model.n_components_
    best = true_pairs(X)[0][:k].sum()
    assert (1.0 - 0.02) * best <= model.explained_variance_.sum() <= best * (1.0 + 1e-5)
    exact = PCA(asked, svd_solver="krylov").fit(X)
    assert residuals_of(exact).sum() < 0.1 * residuals_of(model).sum()  # it ended sooner
    for certificate in (model.certificate_, verify(model, X)):
        assert certificate.holds
        claim = next(claim for claim in certificate if claim.name == "accuracy")
        assert 0.0 < claim.value <= claim.bound < 0.0201


def residuals_of(model):
    low, high = model.explained_variance_interval_.T
    return (high - low) / 2.0


def test_a_model_that_lost_more_than_its_accuracy_is_not_believed():
    X = rows(42, (300, 60), decay=0.97)
    model = PCA(5, svd_solver="krylov", accuracy=0.3).fit(X)
    model.accuracy = 1e-6
    assert "accuracy" in failed_claims(verify(model, X))


def failed_claims(certificate):
    return [claim.name for claim in certificate if claim.holds is False]


@pytest.mark.parametrize("route", ["randomized", "power", "oja"])
def test_a_route_that_does_not_know_what_it_loses_takes_no_accuracy(route):
    sentence = sentence_of(PCA(2, svd_solver=route, accuracy=0.01).fit, rows(1))
    assert sentence.startswith(f"PCA: accuracy must be None with svd_solver='{route}'")


def test_the_certificate_is_made_when_it_is_read_and_of_the_last_fit():
    model = PCA(2).fit(rows(1))
    assert "certificate_" not in vars(model)
    before = model.certificate_
    assert model.certificate_ == before
    model.components_ *= -1.0
    assert model.certificate_ == before  # it is of the fit
    assert pickle.loads(pickle.dumps(PCA(2).fit(rows(1)))).certificate_ == before
    assert model.fit(rows(2)).certificate_ != before
    assert not hasattr(PCA(2), "certificate_")


@pytest.fixture
def bytes_are_fast(monkeypatch):
    """Make the plan think that a small table is worth its bytes, on a machine that multiplies them."""
    monkeypatch.setattr(planning, "multiplies_bytes", lambda: True)
    monkeypatch.setattr(planning, "SMALL", 0)
    monkeypatch.setattr(costs, "COSTS", costs.COSTS._replace(lanczos=0.0, refined_reading=0.0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 4])
def test_few_components_of_a_wide_table_are_refined(bytes_are_fast, k, dtype):
    X = np.random.default_rng(k).normal(size=(90, 700)).astype(dtype)
    model = PCA(k).fit(X)
    assert (model.solver_, model.solver_reason_) == (
        "gram_refined",
        "bytes and a few exact products cost less than 90 x 90 products of 700 numbers",
    )
    assert model.certificate_.holds
    assert verify(model, X).holds
    assert_within_the_certificate(model, *true_pairs(X))
    exact = PCA(k, svd_solver="full").fit(X.astype(np.float64)).explained_variance_
    assert_allclose(model.explained_variance_, exact, rtol=1e-6 if dtype == np.float32 else 1e-10)


def test_no_components_are_not_refined(bytes_are_fast):
    model = PCA(0).fit(np.random.default_rng(0).normal(size=(90, 700)))
    assert model.solver_ != "gram_refined"
    assert model.components_.shape == (0, 700)


def test_without_the_instruction_bytes_are_not_tried(bytes_are_fast, monkeypatch):
    monkeypatch.setattr(planning, "multiplies_bytes", lambda: False)
    assert PCA(2).fit(np.random.default_rng(0).normal(size=(90, 700))).solver_ != "gram_refined"


@pytest.mark.parametrize("route", ["auto", "gram_refined"])
def test_a_guess_that_leads_nowhere_ends_with_the_exact_matrix(bytes_are_fast, monkeypatch, route):
    X = np.random.default_rng(0).normal(size=(40, 300))
    noise = np.random.default_rng(1).normal(size=(40, 40))
    monkeypatch.setattr(sources, "int8_grams", lambda A, n_threads: iter([(noise @ noise.T, 300)]))
    model = PCA(3, svd_solver=route).fit(X)
    assert (model.solver_, model.solver_reason_) == ("gram_eigh", "products of bytes were too rough a guess")
    assert_within_the_certificate(model, *true_pairs(X))


def test_a_direction_that_bytes_cannot_see_is_found():
    """Half of the rows have giant numbers, so their bytes are 0 elsewhere, where their common direction is."""
    rng, n, d = np.random.default_rng(0), 400, 8064
    signs, X = np.tile([1.0, -1.0], n // 4)[:, None], np.zeros((n, 2 * d), dtype=np.float32)
    X[: n // 2, :d] = signs * rng.normal(size=d) + 0.05 * rng.normal(size=(n // 2, d))
    X[n // 2 :, d:] = 1.3 * signs * rng.choice([-1.0, 1.0], size=d)
    for i in range(0, n // 2, 2):
        X[n // 2 + i : n // 2 + i + 2, [d + i, d + d // 2 + i]] = 400.0
    model = PCA(1, svd_solver="gram_refined").fit(X)
    assert model.solver_reason_ == "products of bytes were too rough a guess"
    assert_allclose(model.explained_variance_, PCA(1, svd_solver="gram_eigh").fit(X).explained_variance_, rtol=1e-6)


# ---- time limit and callbacks ------------------------------------------------------------------------------------


@pytest.fixture
def many_steps(monkeypatch):
    """Let every route look at the clock several times, also with little data."""
    monkeypatch.setattr(sources, "CHUNK_VALUES", 9 * 20)
    monkeypatch.setattr(sources, "GRAM_WORK", 1)


def assert_usable(model, X, k):
    """The model has components, and they can be used."""
    assert 1 <= model.n_components_ <= k
    V = model.components_.astype(float)
    assert_allclose(V @ V.T, np.eye(model.n_components_), atol=1e-5)
    assert (model.explained_variance_ >= 0).all()
    assert np.isfinite(model.transform(X)).all()
    assert np.isfinite(model.explained_variance_interval_).all()
    assert model.mean_.shape == model.scale_.shape == (X.shape[1],)
    assert_allclose(model.inverse_transform(model.transform(X)).shape, X.shape)


@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("route", ROUTES)
def test_a_time_limit_leaves_a_usable_model(many_steps, route, shape):
    X = rows(24, shape, decay=0.97)
    model = PCA(3, svd_solver=route, time_limit=1e-9).fit(X)
    assert_usable(model, X, 3)
    n_looks = {"full": 1, "auto": 1}
    finished = n_looks.get(route, 2) == 1 or (route == "gram_eigh" and shape == TALL)
    finished |= route in ("krylov", "arpack")  # a block of all nine directions
    assert model.stop_reason_ == ("finished" if finished else "time_limit")


def test_a_time_limit_that_is_long_enough_changes_nothing():
    one, other = PCA(3, time_limit=60).fit(rows(24)), PCA(3).fit(rows(24))
    assert_array_equal(one.components_, other.components_)
    assert one.stop_reason_ == "finished"


@pytest.mark.parametrize("block_rows", [1, 2, 30])
@pytest.mark.parametrize("route", ["covariance_eigh", "krylov", "oja"])
def test_a_time_limit_leaves_a_usable_model_of_a_stream(route, block_rows):
    X = rows(25, decay=0.97)
    model = PCA(3, svd_solver=route, time_limit=1e-9).fit(blocks(X, block_rows=block_rows))
    assert_usable(model, X, 3)


def test_what_time_allowed_is_the_pca_of_the_rows_so_far(many_steps):
    X = rows(26)
    model = PCA(3, svd_solver="covariance_eigh", time_limit=1e-9).fit(X)
    assert model.n_samples_ == 20
    assert_within_the_certificate(model, *true_pairs(X[:20]))


class Ticking:
    """A clock that moves on by a twentieth of a second whenever somebody looks at it, and at no other time."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        self.now += 0.05
        return self.now


@pytest.fixture
def slow_machine(monkeypatch):
    """Let multiplications take long, as far as anybody can tell, and time go by with every look at the clock."""
    monkeypatch.setattr(watching, "time", Ticking())
    monkeypatch.setattr(clock, "multiplications_per_second", lambda: 1e5)


def never(*args, **kwargs):
    raise AssertionError("there was no time for this")


@pytest.mark.parametrize("shape", [(300, 40), (60, 200)], ids=["tall", "wide"])
@pytest.mark.parametrize("route", ["auto", "full", "covariance_eigh", "gram_eigh", "gram_refined"])
def test_no_long_call_is_begun_that_time_does_not_allow(monkeypatch, slow_machine, route, shape):
    monkeypatch.setattr(direct_routes, "svd_pairs", never)
    monkeypatch.setattr(decomposition, "symmetric_pairs", never)
    for name in ("moments_of", "gram_of", "int8_grams"):
        monkeypatch.setattr(sources, name, never)
    X = rows(29, shape, decay=0.99)
    model = PCA(30, svd_solver=route, time_limit=0.3).fit(X)
    assert model.stop_reason_ == "time_limit"
    assert model.solver_ == "krylov"
    assert "no time" in model.solver_reason_
    assert_usable(model, X, 30)
    assert model.certificate_.holds is None
    assert verify(model, X).holds is None


@pytest.mark.parametrize("shape", [(300, 40), (40, 90)], ids=["tall", "wide"])
def test_products_that_fit_are_decomposed_step_by_step_where_lapack_does_not(monkeypatch, slow_machine, shape):
    """A pace at which AᵀA takes four seconds and all of its eigenvectors take six, half as much again with caution."""
    monkeypatch.setattr(clock, "multiplications_per_second", lambda: 6e4)
    monkeypatch.setattr(decomposition, "symmetric_pairs", never)
    X, route = rows(30, shape, decay=0.95), "covariance_eigh" if shape[0] > shape[1] else "gram_eigh"
    model = PCA(20, svd_solver=route, time_limit=8, n_jobs=1).fit(X)
    assert model.solver_ == route
    assert model.n_samples_ == shape[0]
    assert_allclose(model.explained_variance_, true_pairs(X)[0][:20], rtol=1e-6)
    assert model.stop_reason_ == "finished"  # Lanczos has settled
    assert verify(model, X).holds


def test_some_rows_stand_for_all_until_there_is_time_for_more(monkeypatch, slow_machine):
    monkeypatch.setattr(routes, "FEWEST_ROWS", 20)
    monkeypatch.setattr(routes, "SAMPLE_GROWTH", 2)
    X = rows(31, (5000, 6), decay=0.5)
    short = PCA(2, svd_solver="covariance_eigh", time_limit=0.4).fit(X)
    longer = PCA(2, svd_solver="covariance_eigh", time_limit=0.5).fit(X)
    assert 20 <= short.n_samples_ < longer.n_samples_
    assert_allclose(short.explained_variance_, true_pairs(X)[0][:2], rtol=0.5)
    assert longer.certificate_.holds is None
    assert verify(longer, X).holds is None
    whole = PCA(2, svd_solver="covariance_eigh", time_limit=1e9).fit(X)
    assert whole.stop_reason_ == "finished"
    assert verify(whole, X).holds


def test_a_round_of_filling_holes_looks_at_the_clock(slow_machine):
    X = with_holes(rows(32, (200, 30), decay=0.9))
    model = PCA(5, missing="em", time_limit=0.4).fit(X)
    assert model.stop_reason_ == "time_limit"
    assert_usable(model, np.nan_to_num(X), 5)
    assert model.certificate_.holds is None
    assert verify(model, X).holds is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "limit"),
    [
        ({"n_components": 50}, 1.0),
        ({"n_components": 50, "svd_solver": "covariance_eigh"}, 0.5),
        ({"n_components": 50, "svd_solver": "full"}, 0.5),
        ({}, 0.5),
        ({"n_components": 0.9}, 1.0),
    ],
    ids=str,
)
def test_a_large_table_keeps_the_time_limit(options, limit):
    X = np.random.default_rng(0).normal(size=(3000, 3000))
    PCA(2, time_limit=9.0).fit(X[:50, :50])  # the first fit loads machine code
    start = time.perf_counter()
    model = PCA(**options, time_limit=limit).fit(X)
    assert time.perf_counter() - start <= 3.0 * limit + 1.0  # 1.5 times and 0.2 s where nobody else works
    assert model.stop_reason_ == "time_limit"
    assert model.certificate_.holds is None


@pytest.mark.parametrize("route", ["covariance_eigh", "krylov", "randomized", "power", "oja"])
def test_callbacks_see_every_round_and_the_model_so_far(many_steps, route):
    X = rows(27, (200, 9), decay=0.9)
    recorder = Recorder()
    model = PCA(2, svd_solver=route).set_callbacks(recorder).fit(X)
    assert recorder.count("end", "round") >= 1
    assert recorder.count("begin", "round") == recorder.count("end", "round")
    assert recorder.count("setup") == recorder.count("teardown") == 1
    for seen in recorder.models:
        assert_usable(seen, X, 2)
    assert_array_equal(recorder.models[-1].components_, model.components_)
    assert model.stop_reason_ == "finished"


@pytest.mark.parametrize("route", ["covariance_eigh", "randomized", "power", "oja"])
def test_a_callback_calls_it_off(many_steps, route):
    X = rows(28, (200, 9), decay=0.9)
    recorder = Recorder(stop_after=1)
    model = PCA(2, svd_solver=route).set_callbacks(recorder).fit(X)
    assert model.stop_reason_ == "callback"
    assert recorder.count("end", "round") == 1
    assert_usable(model, X, 2)


# ---- scores and back ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("route", ["full", "covariance_eigh", "gram_eigh"])
def test_whitened_scores_have_unit_variance_and_go_back(route, dtype):
    X = rows(29, dtype=dtype)
    model = PCA(4, whiten=True, svd_solver=route).fit(X)
    Z = model.transform(X)
    assert_allclose(np.cov(Z, rowvar=False), np.eye(4), atol=1e-4 if dtype == np.float32 else 1e-8)
    plain = PCA(4, svd_solver=route).fit(X)
    assert_allclose(model.inverse_transform(Z), plain.inverse_transform(plain.transform(X)), atol=1e-4)
    theirs = Theirs(4, whiten=True, svd_solver="full").fit(X.astype(float))
    assert_allclose(np.abs(Z), np.abs(theirs.transform(X.astype(float))), atol=2e-3)
    all_of_it = PCA(whiten=True, svd_solver=route).fit(X)
    assert_allclose(all_of_it.inverse_transform(all_of_it.transform(X)), X, atol=1e-3)


def test_whitened_scores_of_directions_without_variance_are_finite():
    X = np.column_stack([rows(30)[:, :2], np.ones(70)])
    model = PCA(whiten=True).fit(X)
    assert np.isfinite(model.transform(X)).all()
    assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-8)


@pytest.mark.parametrize("scale", [False, True])
def test_going_back_is_the_textbooks_reconstruction(scale):
    X = rows(31)
    model = PCA(3, scale=scale).fit(X)
    expected = naive.reconstruction(X / model.scale_, model.mean_ / model.scale_, model.components_) * model.scale_
    assert_allclose(model.inverse_transform(model.transform(X)), expected, atol=1e-10)


def test_fit_transform_is_fit_then_transform():
    X = rows(32)
    assert_array_equal(PCA(3).fit_transform(X), PCA(3).fit(X).transform(X))


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_set_output(name):
    package = pytest.importorskip(name)
    X = pd.DataFrame(rows(33), columns=[f"c{j}" for j in range(9)])
    model = PCA(2).set_output(transform=name).fit(X)
    Z = model.transform(X)
    assert isinstance(Z, package.DataFrame)
    assert list(Z.columns) == list(model.get_feature_names_out()) == ["pca0", "pca1"]
    assert_allclose(Z.to_numpy(), PCA(2).fit_transform(X.to_numpy()))
    assert list(model.feature_names_in_) == list(X.columns)


@pytest.mark.parametrize("given_as", [pa.table, lambda frame: frame])
def test_frames_are_rows(given_as):
    frame = pd.DataFrame(rows(34), columns=[f"c{j}" for j in range(9)])
    table = pa.Table.from_pandas(frame) if given_as is pa.table else frame
    model = PCA(2).fit(table)
    assert_array_equal(model.components_, PCA(2).fit(frame.to_numpy()).components_)
    assert sentence_of(model.transform, frame.rename(columns={"c1": "other"})).startswith("PCA: ")


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.ones((3, 8)), "8"),
        (np.ones(9), "2-d array"),
        (np.full((3, 9), np.nan), "missing='em'"),
        (np.full((3, 9), np.inf), "infinity"),
    ],
    ids=["columns", "vector", "nan", "inf"],
)
def test_rows_that_cannot_be_projected(X, words):
    sentence = sentence_of(PCA(2).fit(rows(35)).transform, X)
    assert sentence.startswith("PCA: ")
    assert words in sentence


def test_scores_that_cannot_go_back():
    model = PCA(2).fit(rows(35))
    assert sentence_of(model.inverse_transform, np.ones((3, 4))) == "PCA: X must have 2 columns; got 4."


# ---- the model of the rows: covariance, precision, likelihood ----------------------------------------------------


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("k", [1, 3, 8, 9])
def test_covariance_precision_and_likelihood_are_scikit_learns(k, whiten):
    X, new = rows(36, decay=0.8), rows(37, decay=0.8)
    model, theirs = PCA(k, whiten=whiten).fit(X), Theirs(k, svd_solver="full").fit(X)
    assert_allclose(model.get_covariance(), theirs.get_covariance(), atol=1e-9)
    assert_allclose(model.get_precision(), theirs.get_precision(), rtol=1e-6, atol=1e-6)
    assert_allclose(model.score_samples(new), theirs.score_samples(new), rtol=1e-8)
    assert model.score(new) == pytest.approx(theirs.score(new))
    assert_allclose(model.get_covariance() @ model.get_precision(), np.eye(9), atol=1e-8)


@pytest.mark.parametrize("k", [2, 7])
def test_the_same_where_there_are_fewer_rows_than_columns(k):
    X = rows(38, WIDE, decay=0.95)
    model, theirs = PCA(k).fit(X), Theirs(k, svd_solver="full").fit(X)
    assert model.noise_variance_ == pytest.approx(theirs.noise_variance_)
    assert_allclose(model.get_covariance(), theirs.get_covariance(), atol=1e-9)
    assert_allclose(model.score_samples(X), theirs.score_samples(X), rtol=1e-6)


def test_float32_rows_have_the_same_likelihood():
    X = rows(39, dtype=np.float32)
    theirs = Theirs(3, svd_solver="full").fit(X.astype(float))
    assert_allclose(PCA(3).fit(X).score_samples(X), theirs.score_samples(X.astype(float)), rtol=1e-4)


@pytest.mark.parametrize("k", [3, 9])
def test_covariance_and_likelihood_of_scaled_rows(k):
    """The covariance is that of X itself, and the density is that of X, not that of X / scale."""
    X = rows(40, decay=0.8) * np.logspace(-1, 1, 9)
    model = PCA(k, scale=True).fit(X)
    if k == 9:
        assert_allclose(model.get_covariance(), np.cov(X, rowvar=False), rtol=1e-8, atol=1e-10)
    scaler = StandardScaler().fit(X)
    theirs = Theirs(k, svd_solver="full").fit(scaler.transform(X))
    expected = theirs.score_samples(scaler.transform(X)) - np.log(scaler.scale_).sum()
    assert_allclose(model.score_samples(X), expected, rtol=1e-8)
    assert_allclose(model.get_covariance() @ model.get_precision(), np.eye(9), atol=1e-8)


# ---- rows in batches ---------------------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(cuts=st.lists(st.integers(10, 69), max_size=4, unique=True), seed=st.integers(0, 2**32 - 1), scale=st.booleans())
def test_batches_of_any_size_are_one_fit(cuts, seed, scale):
    X = rows(seed)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, 70)
    model = PCA(3, scale=scale)
    bounds = [0, *sorted(cuts), 70]
    for start, stop in zip(bounds[:-1], bounds[1:], strict=True):
        model.partial_fit(X[start:stop], sample_weight=weights[start:stop])
    assert_alike(model, PCA(3, scale=scale).fit(X, sample_weight=weights))
    assert model.n_samples_ == 70
    assert model.certificate_.holds
    assert verify(model, X, sample_weight=weights).holds
    assert model.solver_reason_ == "the moments of all batches"


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_may_come_one_by_one(form):
    X = rows(41)
    model = PCA(2).partial_fit(form(X[:5]))
    for i in range(5, 70):
        model.partial_fit(form(X[i : i + 1]))
    assert_alike(model, PCA(2).fit(X))


@pytest.mark.parametrize("asked", [0.9, "mle", None, 3])
def test_batches_with_every_way_to_ask_for_components(asked):
    X = rows(42, (100, 6), decay=0.5)
    model = PCA(asked)
    for batch in np.array_split(X, 4):
        model.partial_fit(batch)
    assert_alike(model, PCA(asked).fit(X))


def test_batches_of_float32_far_from_the_origin():
    X = rows(43, (300, 6), np.float32, mean=1e4)
    model = PCA(3)
    for batch in np.array_split(X, 7):
        model.partial_fit(batch)
    assert_allclose(model.explained_variance_, true_pairs(X)[0][:3], rtol=1e-5)
    assert model.components_.dtype == np.float32


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("first", ["fit", "partial_fit"])
def test_batches_go_on_after_load(tmp_path, first, scale):
    """With all components nothing is lost in the file."""
    X = rows(44)
    path = tmp_path / "model.safetensors"
    eigenwood.save(getattr(PCA(scale=scale), first)(X[:40]), path)
    model = eigenwood.load(path).partial_fit(X[40:])
    assert_alike(model, PCA(scale=scale).fit(X))
    assert model.n_samples_ == 70
    assert_allclose(model.singular_values_, PCA(scale=scale).fit(X).singular_values_)


def test_batches_go_on_after_load_with_weights(tmp_path):
    X, weights = rows(45), np.random.default_rng(0).uniform(0.5, 2.0, 70)
    path = tmp_path / "model.safetensors"
    eigenwood.save(PCA().fit(X[:40], sample_weight=weights[:40]), path)
    model = eigenwood.load(path).partial_fit(X[40:], sample_weight=weights[40:])
    assert_alike(model, PCA().fit(X, sample_weight=weights))


def test_after_a_fit_with_few_components_equal_noise_stands_for_the_rest():
    X = rows(46, (200, 9))
    model = PCA(3).fit(X[:150]).partial_fit(X[150:])
    whole = PCA(3).fit(X)
    assert_allclose(model.mean_, whole.mean_)
    assert model.total_variance_ == pytest.approx(whole.total_variance_)
    assert_allclose(model.explained_variance_, whole.explained_variance_, rtol=0.02)


def test_fit_forgets_the_batches_before():
    X = rows(47)
    model = PCA(2).partial_fit(rows(48) + 100.0).fit(X)
    assert_alike(model, PCA(2).fit(X))


@pytest.mark.parametrize("missing", ["em", "mean"])
def test_batches_with_holes_are_refused(missing):
    X = rows(49)
    X[3, 1] = np.nan
    model = PCA(2, missing=missing).partial_fit(rows(50))
    before = model.components_.copy()
    assert "partial_fit" in sentence_of(model.partial_fit, X)
    assert_array_equal(model.components_, before)


def test_what_is_no_batch_is_refused():
    model = PCA(2).partial_fit(rows(50))
    assert "partial_fit" in sentence_of(model.partial_fit, blocks(rows(50)))
    assert "8" in sentence_of(model.partial_fit, rows(50)[:, :8])
    assert "NaN in row 0" in sentence_of(model.partial_fit, np.full((3, 9), np.nan))
    assert "infinity" in sentence_of(model.partial_fit, np.full((3, 9), np.inf))
    assert model.n_samples_ == 70
    assert_alike(model.partial_fit(rows(51)), PCA(2).fit(np.vstack([rows(50), rows(51)])))


# ---- missing values ----------------------------------------------------------------------------------------------


def with_holes(X, share=0.1, seed=0):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def test_a_hole_is_refused_and_the_option_is_named():
    X = rows(52)
    X[5, 2] = np.nan
    expected = "PCA: X must be finite; got NaN in row 5, column 2 (missing='em' fills it by a low-rank fit)."
    for route in ROUTES:
        assert sentence_of(PCA(2, svd_solver=route).fit, X) == expected
    assert sentence_of(PCA(2).fit(rows(52)).transform, X) == expected
    named = pd.DataFrame(X, columns=list("abcdefghi"))
    assert "row 5, column 'c' (missing='em'" in sentence_of(PCA(2).fit, named)
    assert "missing=" not in sentence_of(PCA(2).fit, sparse.csr_array(X))  # where it would not help


@pytest.mark.parametrize("route", ROUTES)
def test_infinity_is_always_refused(route):
    X = rows(52)
    X[5, 2] = np.inf
    for missing in (None, "em", "mean"):
        assert "inf (infinity) in row 5, column 2" in sentence_of(PCA(2, missing=missing, svd_solver=route).fit, X)


@pytest.mark.parametrize("route", EXACT)
def test_means_in_the_holes_are_scikit_learns_imputer(route):
    X = with_holes(rows(53))
    imputer = SimpleImputer().fit(X)
    model = PCA(3, missing="mean", svd_solver=route).fit(X)
    assert_alike(model, PCA(3, svd_solver=route).fit(imputer.transform(X)))
    assert_allclose(model.transform(X), model.transform(imputer.transform(X)), atol=1e-10)


@pytest.mark.parametrize("route", ["auto", "covariance_eigh", "gram_eigh", "krylov"])
@pytest.mark.parametrize("scale", [False, True])
def test_rows_of_low_rank_with_holes_are_recovered(route, scale):
    whole = rows(54, (80, 3)) @ np.random.default_rng(0).normal(size=(3, 12)) + 5.0
    X = with_holes(whole, 0.15)
    model = PCA(3, missing="em", scale=scale, svd_solver=route).fit(X)
    assert model.certificate_.holds
    assert model.certificate_["missing values"].value <= 1e-4
    holes = np.isnan(X)
    back = model.inverse_transform(model.transform(X))
    off, by_means = (
        np.sqrt(np.mean((given_rows - whole)[holes] ** 2))
        for given_rows in (back, np.broadcast_to(np.nanmean(X, axis=0), X.shape))
    )
    assert off < 0.02 * by_means
    complete = PCA(3, scale=scale).fit(whole)
    assert_allclose(model.explained_variance_, complete.explained_variance_, rtol=0.02)


def test_each_round_brings_the_fit_closer_to_what_is_observed():
    X = with_holes(rows(55, (60, 8), decay=0.7), 0.2)
    recorder = Recorder()
    PCA(2, missing="em").set_callbacks(recorder).fit(X)
    seen, errors = ~np.isnan(X), []
    fit = np.broadcast_to(np.nanmean(X, axis=0), X.shape)
    for model in recorder.models[:-1]:
        filled = np.where(seen, X, fit)
        fit = model.inverse_transform(model.set_params(missing=None).transform(filled))
        errors.append(((X - fit)[seen] ** 2).sum())
    assert len(errors) > 3
    assert (np.diff(errors) <= 1e-9 * errors[0]).all()


def test_scores_of_rows_with_holes_are_least_squares():
    X = with_holes(rows(56), 0.2)
    model = PCA(2, missing="em", whiten=True).fit(X)
    few = X[(~np.isnan(X)).sum(axis=1) >= 4]
    expected = [naive.observed_score(row, model.components_) for row in few - model.mean_]
    assert_allclose(model.transform(few), expected / np.sqrt(model.explained_variance_), atol=1e-8)


@pytest.mark.parametrize("missing", ["em", "mean"])
def test_without_holes_nothing_is_filled(missing):
    X = rows(57)
    one, other = PCA(3, missing=missing).fit(X), PCA(3).fit(X)
    assert_array_equal(one.components_, other.components_)
    assert_array_equal(one.transform(X), other.transform(X))
    assert "missing values" not in [claim.name for claim in one.certificate_]


def test_weights_are_rows_given_so_often_with_holes_too():
    X = with_holes(rows(58))
    weights = np.random.default_rng(0).integers(1, 4, size=70)
    for missing in ("em", "mean"):
        weighted = PCA(2, missing=missing).fit(X, sample_weight=weights)
        repeated = PCA(2, missing=missing).fit(np.repeat(X, weights, axis=0))
        assert_alike(weighted, repeated, rtol=1e-3 if missing == "em" else 1e-8)


def test_a_low_rank_fit_needs_a_rank():
    X = with_holes(rows(59))
    for asked in (None, 0.5, "mle"):
        assert "missing='em' must have an integer n_components" in sentence_of(PCA(asked, missing="em").fit, X)


def test_a_column_without_any_value_is_constant():
    X = rows(60)
    X[:, 4] = np.nan
    model = PCA(2, missing="mean").fit(X)
    assert_allclose(model.components_[:, 4], 0.0, atol=1e-12)
    assert np.isfinite(model.transform(X)).all()


# ---- rows in blocks ----------------------------------------------------------------------------------------------


@pytest.fixture(params=["array", "npy", "parquet", "csv", "frame"])
def stream_of(request, tmp_path):
    """A function that gives rows as blocks, from one of the sources."""
    names = [f"c{j}" for j in range(9)]

    def array(X):
        return X

    def npy(X):
        np.save(tmp_path / "rows.npy", X)
        return tmp_path / "rows.npy"

    def parquet(X):
        table = pa.table({name: X[:, j] for j, name in enumerate(names)})
        pyarrow.parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=13)
        return tmp_path / "rows.parquet"

    def csv(X):
        pd.DataFrame(X, columns=names).to_csv(tmp_path / "rows.csv", index=False, float_format="%.17g")
        return tmp_path / "rows.csv"

    def frame(X):
        return pd.DataFrame(X, columns=names)

    sources = {"array": array, "npy": npy, "parquet": parquet, "csv": csv, "frame": frame}
    return lambda X, **options: blocks(sources[request.param](X), **options)


@pytest.mark.parametrize("route", STREAMED)
def test_blocks_are_rows_in_memory(stream_of, route):
    X = rows(61)
    model = PCA(3, svd_solver=route).fit(stream_of(X, block_rows=16))
    if route == "oja":  # one pass over the stream, several over rows in memory
        assert_allclose(model.explained_variance_[:2], true_pairs(X)[0][:2], rtol=0.05)
    else:
        same = "covariance_eigh" if route == "auto" else route
        assert_alike(model, PCA(3, svd_solver=same).fit(X), rtol=1e-6)
    assert model.n_samples_ == 70
    assert model.certificate_.holds or route == "oja"


def test_scores_of_blocks_are_blocks_made_when_asked_for(stream_of):
    X = rows(62)
    stream = stream_of(X, block_rows=16)
    model = PCA(3, whiten=True).fit(X)
    scores = model.transform(stream)
    assert isinstance(scores, Blocks)
    assert scores.columns == ("pca0", "pca1", "pca2")
    assert (scores.n_rows, scores.block_rows, scores.dtype) == (stream.n_rows, 16, np.float64)
    for _ in range(2):  # each loop starts again
        parts = list(scores)
        assert [part.shape for part in parts] == [(16, 3)] * 4 + [(6, 3)]
        assert_allclose(np.concatenate(parts), model.transform(X), atol=1e-10)


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_frames_of_blocks_are_refused_in_one_sentence(name):
    """Scores of blocks are blocks: a frame would hold all of them."""
    pytest.importorskip(name)
    stream = blocks(rows(62), block_rows=16)
    model = PCA(2).set_output(transform=name).fit(stream)
    expected = (
        f"PCA: set_output must be 'default' for blocks, whose scores are blocks with names in .columns; got '{name}'."
    )
    assert sentence_of(model.transform, stream) == expected
    assert sentence_of(clone(model).fit_transform, stream) == expected
    assert isinstance(model.set_output(transform="default").transform(stream), Blocks)
    with config_context(transform_output=name):
        assert sentence_of(PCA(2).fit(stream).transform, stream) == expected


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("whiten", [False, True])
def test_blocks_of_scores_go_back_to_blocks_of_rows(whiten, dtype):
    frame = pd.DataFrame(rows(62, dtype=dtype), columns=[f"c{j}" for j in range(9)])
    model = PCA(3, whiten=whiten, scale=True).fit(frame)
    again = model.inverse_transform(model.transform(blocks(frame, block_rows=16)))
    assert isinstance(again, Blocks)
    assert again.columns == tuple(frame.columns)
    parts = list(again)
    assert [part.shape for part in parts] == [(16, 9)] * 4 + [(6, 9)]
    assert parts[0].dtype == dtype
    assert_allclose(np.concatenate(parts), model.inverse_transform(model.transform(frame)), rtol=1e-5)
    assert sentence_of(model.inverse_transform, blocks(frame)) == "PCA: X must have 3 columns; got 9."


def test_the_likelihood_of_blocks_is_that_of_their_rows():
    X = rows(62)
    model = PCA(3).fit(X)
    stream = blocks(X, block_rows=16)
    assert_allclose(model.score_samples(stream), model.score_samples(X))
    assert_allclose(model.score(stream), model.score(X))
    assert "must have 9 columns, as in fit; got 8" in sentence_of(model.score, blocks(X[:, 1:]))
    X[40, 2] = np.nan
    assert "NaN in row 40, column 'x2'" in sentence_of(model.score, blocks(X, block_rows=16))


def test_blocks_with_weights_scale_and_a_share(stream_of):
    X = rows(63, decay=0.8)
    weights = np.random.default_rng(0).integers(0, 4, size=70)
    for options in ({"scale": True}, {"n_components": 0.7}, {"n_components": "mle"}, {"n_components": None}):
        model = PCA(**{"n_components": 3, **options}, svd_solver="covariance_eigh")
        streamed = clone(model).fit(stream_of(X, block_rows=16), sample_weight=weights)
        assert_alike(streamed, model.fit(X, sample_weight=weights), rtol=1e-8)
        assert verify(streamed, stream_of(X, block_rows=9), sample_weight=weights).holds


def test_blocks_of_float32_keep_their_type_and_their_digits(tmp_path):
    X = rows(64, (500, 9), np.float32, mean=1e4)
    np.save(tmp_path / "rows.npy", X)
    stream = blocks(tmp_path / "rows.npy", block_rows=100)
    for route in ("covariance_eigh", "krylov"):
        model = PCA(3, svd_solver=route).fit(stream)
        assert_allclose(model.explained_variance_, true_pairs(X)[0][:3], rtol=1e-5)
        assert model.components_.dtype == np.float32
        assert next(iter(model.transform(stream))).dtype == np.float32


def test_columns_of_blocks_are_known_by_name():
    frame = pd.DataFrame(rows(65), columns=[f"c{j}" for j in range(9)])
    model = PCA(2).fit(blocks(frame, block_rows=30))
    assert list(model.feature_names_in_) == list(frame.columns)
    assert_allclose(model.transform(frame), np.concatenate(list(model.transform(blocks(frame)))), atol=1e-10)
    unnamed = model.transform(blocks(frame.to_numpy()))
    assert_allclose(np.concatenate(list(unnamed)), model.transform(frame), atol=1e-10)
    assert "other names" in sentence_of(model.transform, blocks(frame[frame.columns[::-1]]))
    assert "must have 9 columns, as in fit; got 8" in sentence_of(model.transform, blocks(frame.iloc[:, 1:]))
    assert not hasattr(PCA(2).fit(blocks(frame.to_numpy())), "feature_names_in_")


@pytest.mark.parametrize("known", [False, True])
def test_holes_in_blocks_are_refused_by_name_of_the_place(known):
    X = rows(66)
    X[40, 2] = np.nan
    model = PCA(2).fit(rows(66)) if known else PCA(2)
    sentence = sentence_of(model.fit, blocks(X, block_rows=16))
    assert "NaN in row 40, column 'x2' (missing='mean' " in sentence
    model.set_params(missing="em")
    assert "missing='em' must have a table in memory; got blocks of rows" in sentence_of(model.fit, blocks(X))


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("route", ["covariance_eigh", "krylov"])
def test_means_in_the_holes_of_blocks_are_those_of_all_rows(stream_of, route, known):
    """Of these rows, whatever was learnt before."""
    X, weights = with_holes(rows(66)), np.random.default_rng(0).integers(0, 4, size=70)
    model = PCA(3, missing="mean", svd_solver=route)
    if known:
        model.fit(rows(71) + 100.0)
    model.fit(stream_of(X, block_rows=16), sample_weight=weights)
    assert_alike(model, PCA(3, missing="mean", svd_solver=route).fit(X, sample_weight=weights), rtol=1e-6)
    assert verify(model, stream_of(X, block_rows=9), sample_weight=weights).holds


@pytest.mark.parametrize("missing", ["em", "mean"])
def test_holes_in_blocks_to_project_are_filled(missing):
    X = with_holes(rows(67))
    model = PCA(2, missing=missing).fit(X)
    scores = np.concatenate(list(model.transform(blocks(X, block_rows=16))))
    assert_allclose(scores, model.transform(X), atol=1e-10)


@pytest.fixture
def text_of(tmp_path):
    """A function that writes rows as a text file, which tells only at its end how many rows it has."""

    def write(X):
        pd.DataFrame(X).to_csv(tmp_path / "rows.csv", index=False)
        stream = blocks(tmp_path / "rows.csv", block_rows=3)
        assert stream.n_rows is None
        return stream

    return write


def test_all_components_of_a_text_file_of_few_rows(text_of):
    assert PCA().fit(text_of(rows(68)[:4])).n_components_ == 4


def test_more_components_than_a_text_file_has_rows(text_of):
    """In memory this is refused; a file may not give fewer than asked for without a word."""
    assert "n_components" in sentence_of(PCA(5).fit, text_of(rows(68)[:4]))


def test_mle_of_a_text_file_with_fewer_rows_than_columns(text_of):
    assert "'mle'" in sentence_of(PCA("mle").fit, text_of(rows(68)[:4]))


@pytest.mark.parametrize("weights", [[1, 1, 1], [1] * 9, [1, 1, 1, -1], [1, 1, 1, np.nan]], ids=str)
def test_weights_that_do_not_fit_a_text_file(text_of, weights):
    assert "weight" in sentence_of(PCA(1).fit, text_of(rows(68)[:4]), sample_weight=weights)


def test_a_text_file_of_one_row(text_of):
    assert "at least 2 rows" in sentence_of(PCA(1).fit, text_of(rows(68)[:1]))


@pytest.mark.parametrize("route", ["full", "gram_eigh", "gram_refined"])
def test_routes_that_cannot_read_blocks(route):
    sentence = sentence_of(PCA(2, svd_solver=route).fit, blocks(rows(69)))
    assert sentence.startswith(f"PCA: svd_solver={route!r} must have ")
    assert sentence.endswith("got blocks of rows.")


def test_the_svd_cannot_read_sparse_rows():
    sentence = sentence_of(PCA(2, svd_solver="full").fit, sparse.csr_array(rows(69)))
    assert sentence == "PCA: svd_solver='full' must have a dense table in memory; got sparse rows."


@pytest.mark.parametrize(
    "weights", [np.ones(3), np.full(70, -1.0), np.full(70, np.nan), np.zeros(70), np.full(70, 0.01)]
)
@pytest.mark.parametrize("given_as", [np.asarray, blocks])
def test_weights_that_are_refused(given_as, weights):
    assert sentence_of(PCA(2).fit, given_as(rows(70)), sample_weight=weights).startswith("PCA: ")


# ---- genotypes ---------------------------------------------------------------------------------------------------

LETTERS = np.array(["A", "C", "G", "T"])
N_PEOPLE, N_VARIANTS = 14, 45


def counts(n_people=N_PEOPLE, seed=0):
    """Return counts of an allele in two populations, some of them missing."""
    rng = np.random.default_rng(seed)
    p = np.random.default_rng(99).uniform(0.1, 0.9, (2, N_VARIANTS))
    X = rng.binomial(2, p[np.arange(n_people) % 2]).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X


def write_bed(path, X, order=None, swapped=None):
    """Write counts as a PLINK file; variants may stand in another order and count their other allele."""
    bed_reader = pytest.importorskip("bed_reader", reason="needs bed-reader: pip install 'eigenwood[genetics]'")
    order = np.arange(N_VARIANTS) if order is None else order
    swapped = np.zeros(N_VARIANTS, dtype=bool) if swapped is None else swapped[order]
    one, other = LETTERS[order % 4], LETTERS[order % 4 - 1]
    X = X[:, order].copy()
    X[:, swapped] = 2 - X[:, swapped]
    properties = {
        "iid": [f"P{i}" for i in range(len(X))],
        "sid": [f"rs{j}" for j in order],
        "allele_1": np.where(swapped, other, one),
        "allele_2": np.where(swapped, one, other),
    }
    bed_reader.to_bed(path, X, properties=properties)
    return path


@pytest.fixture
def study(tmp_path):
    from eigenwood.data.genotypes import genotypes

    return genotypes(write_bed(tmp_path / "study.bed", counts()), block_variants=13)


def dense_genotypes():
    """Return the counts with means in their holes, and √(2p(1-p)) of every variant."""
    X = counts().astype(np.float64)
    mean = np.nanmean(X, axis=0)
    p = mean / 2.0
    return np.where(np.isnan(X), mean, X), np.sqrt(2.0 * p * (1.0 - p))


@pytest.mark.parametrize("scale", ["allele_frequency", True, False])
@pytest.mark.parametrize("route", ["auto", "gram_eigh", "krylov", "power", "randomized"])
def test_genotypes_are_a_dense_table_with_means_in_its_holes(study, route, scale):
    X, deviation = dense_genotypes()
    model = PCA(2, scale=scale, svd_solver=route).fit(study)
    if scale == "allele_frequency":
        assert_allclose(model.scale_, deviation, rtol=1e-6)
        values, vectors = true_pairs(X, scale=deviation)
    else:
        values, vectors = true_pairs(X, scale=X.std(axis=0) if scale else 1.0)
    if route != "randomized":
        assert_within_the_certificate(model, values, vectors)
        assert model.certificate_.holds
    assert_allclose(model.explained_variance_, values[:2], rtol=1e-3)
    assert_allclose(model.mean_, X.mean(axis=0), rtol=1e-6)
    assert verify(model, study).holds or route == "randomized"
    assert model.n_samples_ == N_PEOPLE
    assert list(model.feature_names_in_) == list(study.columns)


def test_scores_of_genotypes_are_those_of_the_dense_table(study):
    X, deviation = dense_genotypes()
    model = PCA(2, scale="allele_frequency").fit(study)
    expected = ((X - X.mean(axis=0)) / deviation) @ model.components_.T
    assert_allclose(model.transform(study), expected, atol=1e-4)
    assert model.transform(study).shape == (N_PEOPLE, 2)
    apart = model.transform(study)[:, 0]
    assert abs(apart[::2].mean() - apart[1::2].mean()) > 2.0 * apart[::2].std()  # two populations
    whitened = PCA(2, scale="allele_frequency", whiten=True).fit(study).transform(study)
    assert_allclose(whitened.std(axis=0, ddof=1), 1.0, rtol=1e-4)


def test_new_people_whose_file_counts_other_alleles_in_another_order(study, tmp_path):
    from eigenwood.data.genotypes import genotypes

    rng = np.random.default_rng(1)
    new = counts(6, seed=5)
    straight = genotypes(write_bed(tmp_path / "new.bed", new))
    swapped = rng.random(N_VARIANTS) < 0.4
    mixed = genotypes(write_bed(tmp_path / "mixed.bed", new, rng.permutation(N_VARIANTS), swapped), block_variants=7)
    model = PCA(2, scale="allele_frequency").fit(study)
    assert list(mixed.columns) != list(study.columns)
    assert_allclose(model.transform(mixed), model.transform(straight), atol=1e-5)
    filled = np.where(np.isnan(new), model.mean_, new)
    expected = ((filled - model.mean_) / model.scale_) @ model.components_.T
    assert_allclose(model.transform(mixed), expected, atol=1e-4)  # a hole is the mean of fit


def test_genotypes_with_weights(study):
    X, _ = dense_genotypes()
    raw, weights = counts(), np.random.default_rng(0).integers(0, 3, size=N_PEOPLE)
    weights[:2] = 0, 2
    model = PCA(2, svd_solver="gram_eigh").fit(study, sample_weight=weights)
    mean = np.nansum(raw * weights[:, None], axis=0) / (weights[:, None] * ~np.isnan(raw)).sum(axis=0)
    filled = np.where(np.isnan(raw), mean, raw)
    assert_allclose(model.explained_variance_, true_pairs(filled, weights)[0][:2], rtol=1e-4)
    assert_allclose(model.mean_, mean, rtol=1e-5)


def test_a_share_of_the_variance_of_genotypes(study):
    X, deviation = dense_genotypes()
    values, _ = true_pairs(X, scale=deviation)
    expected = 1 + int((np.cumsum(values) <= 0.6 * values.sum()).sum())
    for route in ("gram_eigh", "krylov", "power"):
        assert PCA(0.6, scale="allele_frequency", svd_solver=route).fit(study).n_components_ == expected


def test_a_model_of_genotypes_is_saved_and_projects(study, tmp_path):
    model = PCA(2, scale="allele_frequency").fit(study)
    eigenwood.save(model, tmp_path / "model.safetensors")
    assert_array_equal(eigenwood.load(tmp_path / "model.safetensors").transform(study), model.transform(study))


@pytest.mark.parametrize("route", ["full", "gram_refined", "covariance_eigh", "oja"])
def test_routes_that_cannot_read_blocks_of_variants(study, route):
    sentence = sentence_of(PCA(2, svd_solver=route).fit, study)
    assert sentence.startswith(f"PCA: svd_solver={route!r} must have ")
    assert sentence.endswith("got blocks of variants.")
    assert sentence_of(PCA("mle").fit, study)
    assert "partial_fit" in sentence_of(PCA(2).partial_fit, study)


def test_genotypes_for_a_model_of_other_columns(study):
    """A model of unnamed columns can only count them."""
    X, _ = dense_genotypes()
    assert_allclose(PCA(2).fit(X).transform(study).shape, (N_PEOPLE, 2))
    assert "44" in sentence_of(PCA(2).fit(X[:, 1:]).transform, study)
    frame = pd.DataFrame(X, columns=[f"other{j}" for j in range(N_VARIANTS)])
    assert "other0" in sentence_of(PCA(2).fit(frame).transform, study)


def test_alleles_that_do_not_vary_are_divided_by_one(tmp_path):
    from eigenwood.data.genotypes import genotypes

    X = counts()
    X[:, 3], X[:, 4] = 0.0, 2.0
    model = PCA(2, scale="allele_frequency").fit(genotypes(write_bed(tmp_path / "same.bed", X)))
    assert_array_equal(model.scale_[[3, 4]], 1.0)
    assert_allclose(model.components_[:, [3, 4]], 0.0, atol=1e-6)


# ---- memory ------------------------------------------------------------------------------------------------------

MEASURE = """
    import re, sys
    from pathlib import Path
    from eigenwood import PCA
    from eigenwood.data.blocks import blocks

    def peak():  # not ru_maxrss: a child process starts with its parent's peak
        return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

    def sweep(path):
        rows = blocks(path, block_rows=2_000)
        for block in PCA(3).fit(rows).transform(rows):
            pass

    small, large = sys.argv[1:]
    sweep(small)
    before = peak()
    sweep(large)
    print(peak() - before)
"""


def write_many(path, n_rows):
    """Write rows of 50 columns."""
    X = np.random.default_rng(0).normal(size=(n_rows, 50))
    if path.suffix == ".npy":
        np.save(path, X)
    else:
        table = pa.table(list(X.T), names=[f"c{j}" for j in range(50)])
        pyarrow.parquet.write_table(table, path, row_group_size=20_000)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
@pytest.mark.parametrize(("ending", "n_rows"), [(".npy", 200_000), (".parquet", 400_000)])
def test_memory_of_fit_and_transform_does_not_grow_with_the_rows(ending, n_rows, tmp_path):
    """Reading ahead costs Arrow 20 to 40 MB whatever the size of the file, so the files are well above that."""
    small, large = tmp_path / f"small{ending}", tmp_path / f"large{ending}"
    write_many(small, 20_000)
    write_many(large, n_rows)
    command = [sys.executable, "-c", textwrap.dedent(MEASURE), str(small), str(large)]
    grown = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert grown < 0.25 * large.stat().st_size
