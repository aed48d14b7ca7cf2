"""LowRankKernel: beside scikit-learn's Nystroem, its error, its targets, and every form of kernel."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import pairwise_kernels

from eigenwood import LowRankKernel, verify
from eigenwood.errors import InputError

NAMES = ("linear", "poly", "rbf", "laplacian", "cosine", "chi2")


def table(seed=0, n_rows=60, n_features=3):
    return np.random.default_rng(seed).random(size=(n_rows, n_features))


@pytest.mark.parametrize("name", NAMES)
def test_all_rows_as_landmarks_give_the_kernel_of_scikit_learn(name):
    X, Z = table(), table(1, 9)
    model = LowRankKernel(name, n_components=60).fit(X)
    assert_allclose(model.transform(Z) @ model.transform(X).T, pairwise_kernels(Z, X, metric=name), atol=1e-5)


@pytest.mark.parametrize("method", ["rpcholesky", "uniform", "kmeans++"])
def test_the_same_landmarks_give_the_kernel_of_nystroem(method):
    """Both approximate K by the same matrix, whatever square root they take of it."""
    X = table()
    model = LowRankKernel(gamma=2.0, n_components=10, method=method).fit(X)
    theirs = Nystroem(gamma=2.0, n_components=model.component_indices_.size).fit(X[model.component_indices_])
    ours, other = model.transform(X), theirs.transform(X)
    assert_allclose(ours @ ours.T, other @ other.T, atol=1e-8)
    beside = pairwise_kernels(X, model.components_, metric="rbf", gamma=2.0)
    assert_allclose(beside @ model.normalization_.T, ours, atol=1e-9)
    assert_allclose(model.trace_error_, 60.0 - np.square(ours).sum(), atol=1e-9)
    assert_array_equal(model.components_, X[model.component_indices_])


def test_pivoted_landmarks_leave_less_than_uniform_ones():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(500, 2)) * 0.01, 100.0 * rng.normal(size=(10, 2))])
    errors = {
        method: LowRankKernel(gamma=0.3, n_components=12, method=method).fit(X).trace_error_
        for method in ("rpcholesky", "uniform", "kmeans++")
    }
    assert errors["rpcholesky"] < 0.1 * errors["uniform"]
    assert errors["kmeans++"] < 0.1 * errors["uniform"]


@pytest.mark.parametrize("target", [0.3, 0.01])
def test_a_share_of_the_trace_is_kept(target):
    model = LowRankKernel(gamma=3.0, n_components=target).fit(table(n_rows=200))
    fewer = LowRankKernel(gamma=3.0, n_components=model.component_indices_.size - 1, method="rpcholesky")
    fewer.fit(table(n_rows=200))
    assert model.trace_error_ <= target * model.trace_ < fewer.trace_error_
    assert model.certificate_.holds
    assert model.certificate_["trace error"].bound == pytest.approx(target, abs=1e-5)


def test_no_room_is_said_and_claimed_nowhere():
    X = table(n_rows=1000)
    with pytest.raises(InputError) as caught:
        LowRankKernel(n_components=500, memory_limit=0.1).fit(X)
    assert str(caught.value) == (
        "LowRankKernel: memory_limit must have room for the features of all rows, 4 MB; got 0.1 MB."
    )
    model = LowRankKernel(gamma=50.0, n_components=1e-6, memory_limit=0.1).fit(X)
    assert model.component_indices_.size == 12
    assert model.certificate_["trace error"].holds is None
    assert verify(model, X).holds is None


@pytest.mark.parametrize("form", ["dense", "float32", "sparse", "function", "row function", "precomputed"])
def test_every_form_of_rows_and_kernels(form):
    X, Z = table(2), table(3, 8)
    K = pairwise_kernels(X, metric="rbf", gamma=1.0)
    kernel = {
        "function": lambda a, b: pairwise_kernels(a, b, metric="rbf", gamma=1.0),
        "row function": lambda a, b, width: np.exp(-np.square(a - b).sum() / width),
        "precomputed": "precomputed",
    }.get(form, "rbf")
    given = {"float32": X.astype(np.float32), "sparse": sparse.csr_array(X), "precomputed": K}.get(form, X)
    queries = {
        "float32": Z.astype(np.float32),
        "sparse": sparse.csr_array(Z),
        "precomputed": pairwise_kernels(Z, X, metric="rbf", gamma=1.0),
    }.get(form, Z)
    own = {"kernel_params": {"width": 1.0}} if form == "row function" else {}
    gamma = 1.0 if kernel == "rbf" else None
    model = LowRankKernel(kernel, gamma=gamma, n_components=10, **own).fit(given)
    plain = LowRankKernel("rbf", gamma=1.0, n_components=10).fit(X)
    tolerance = 1e-3 if form == "float32" else 1e-8
    assert_allclose(model.transform(queries), plain.transform(Z), atol=tolerance)
    assert_allclose(model.fit_transform(given), model.transform(given), atol=tolerance)
    assert model.transform(queries).dtype == (np.float32 if form == "float32" else np.float64)
    assert verify(model, given).holds


def test_rows_that_add_nothing_are_no_landmarks():
    X = np.repeat(table(4, 10, 2), 5, axis=0)
    assert LowRankKernel("linear", n_components=30).fit(X).component_indices_.size == 2
    assert LowRankKernel(gamma=1.0, n_components=30).fit(X).component_indices_.size == 10


@pytest.mark.parametrize("name", ["linear", "cosine"])
def test_rows_of_nothing_have_no_feature(name):
    model = LowRankKernel(name).fit(np.zeros((5, 2)))
    assert model.transform(np.ones((3, 2))).shape == (3, 0)
    assert verify(model, np.zeros((5, 2))).holds


def test_a_similarity_that_is_no_kernel_fails():
    X = table(5)
    model = LowRankKernel("sigmoid", gamma=1.0, coef0=-1.0, n_components=60).fit(X)
    assert model.certificate_["positive semidefinite"].holds is False
    assert verify(model, X).holds is False


SENTENCES = {
    "numbers beside a function": (
        {"kernel": lambda a, b: a @ b.T, "gamma": 1.0},
        "LowRankKernel: gamma must be None beside a function or 'precomputed'; got 1.0 (in scikit-learn's words: "
        "Don't pass gamma, coef0 or degree to Nystroem).",
    ),
    "means of a matrix": (
        {"kernel": "precomputed", "method": "kmeans++"},
        "LowRankKernel: method must be 'rpcholesky' or 'uniform' for a precomputed X; got 'kmeans++'.",
    ),
    "no square": (
        {"kernel": "precomputed"},
        "LowRankKernel: a precomputed X must be a square matrix of similarities; got shape (60, 3).",
    ),
}


@pytest.mark.parametrize(("params", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_what_it_cannot_use_is_said_in_one_sentence(params, sentence):
    with pytest.raises(InputError) as caught:
        LowRankKernel(**params).fit(table())
    assert str(caught.value) == sentence


def test_landmarks_are_drawn_from_the_seed_alone():
    X = table(6, 3000)
    one, two = (LowRankKernel(gamma=5.0, n_components=300, random_state=3, n_jobs=n).fit(X) for n in (1, 2))
    assert_array_equal(one.component_indices_, two.component_indices_)
    assert_array_equal(one.transform(X), two.transform(X))
    other = LowRankKernel(gamma=5.0, n_components=300, random_state=4).fit(X)
    assert not np.array_equal(one.component_indices_, other.component_indices_)
