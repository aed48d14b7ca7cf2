"""What is special to the kernel perceptron: kernels of all kinds, votes, the budget, and hostile data."""

from __future__ import annotations

import contextlib
import re
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import eigenwood
from eigenwood import KernelPerceptron, Perceptron, PolynomialExpansion
from eigenwood.core.kernels.blocks import gram
from eigenwood.core.kernels.functions import KERNELS, Kernel
from eigenwood.errors import InputError
from tests.estimators.exam import assert_learnt_the_same, classes_on, table
from tests.models.crafting import assert_one_sentence

VOTES = ("last", "averaged", "voted")


@pytest.fixture(scope="module")
def data():
    X = table(90, 3)
    return X, classes_on(X, 3, noise=0.1)


def linear(X, Z):
    return X @ Z.T


# -------------------------------------------------------------------------------------- the same answer


@pytest.mark.parametrize("max_iter", [1, 3, 10])
def test_with_a_linear_kernel_it_is_the_perceptron(max_iter, data):
    X, y = data
    dual = KernelPerceptron(kernel="linear", shuffle=False, max_iter=max_iter).fit(X, y)
    primal = Perceptron(shuffle=False, tol=None, max_iter=max_iter).fit(X, y)
    np.testing.assert_array_equal(dual.n_mistakes_, primal.n_mistakes_)
    np.testing.assert_allclose(dual.dual_coef_ @ dual.support_vectors_, primal.coef_, atol=1e-9)
    np.testing.assert_allclose(dual.decision_function(X), primal.decision_function(X), atol=1e-9)


def test_with_a_polynomial_kernel_it_is_the_perceptron_on_the_expansion(data):
    X, y = data
    dual = KernelPerceptron(kernel="poly", gamma=1.0, coef0=1.0, degree=2, shuffle=False, fit_intercept=False).fit(X, y)
    terms = PolynomialExpansion(degree=2).fit_transform(X)
    primal = Perceptron(shuffle=False, tol=None, fit_intercept=False, max_iter=100).fit(terms, y)
    np.testing.assert_array_equal(dual.n_mistakes_, primal.n_mistakes_)
    np.testing.assert_allclose(dual.decision_function(X), primal.decision_function(terms), atol=1e-7)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("vote", VOTES)
def test_precomputed_is_the_kernel_of_that_name(kernel, vote, data):
    X, y = data
    K = gram(X, X, Kernel(KERNELS[kernel], 0.5, 1.0, 3))
    settings = {"vote": vote, "shuffle": False, "max_iter": 8}
    named = KernelPerceptron(kernel=kernel, gamma=0.5, coef0=1.0, **settings).fit(X, y)
    given = KernelPerceptron(kernel="precomputed", **settings).fit(K, y)
    np.testing.assert_array_equal(given.support_, named.support_)
    np.testing.assert_allclose(given.dual_coef_, named.dual_coef_, rtol=1e-9)
    np.testing.assert_allclose(given.decision_function(K), named.decision_function(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("vote", VOTES)
def test_a_function_is_the_kernel_of_that_name(vote, data):
    X, y = data
    named = KernelPerceptron(kernel="linear", vote=vote, max_iter=8).fit(X, y)
    given = KernelPerceptron(kernel=linear, vote=vote, max_iter=8).fit(X, y)
    np.testing.assert_allclose(given.decision_function(X), named.decision_function(X), rtol=1e-6, atol=1e-9)
    assert eigenwood.verify(given, X, y).holds is not False


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_sparse_rows_are_rows(kernel, container, data):
    X, y = np.where(np.abs(data[0]) > 1, 0.0, data[0]), data[1]
    dense = KernelPerceptron(kernel=kernel, gamma=0.5, max_iter=8).fit(X, y)
    thin = KernelPerceptron(kernel=kernel, gamma=0.5, max_iter=8).fit(container(X), y)
    assert sparse.issparse(thin.support_vectors_)
    np.testing.assert_allclose(thin.decision_function(container(X)), dense.decision_function(X), atol=1e-8)
    np.testing.assert_allclose(thin.decision_function(X), dense.decision_function(container(X)), atol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("max_support", [None, 9])
def test_little_memory_gives_the_same_rule(kernel, max_support, data):
    X, y = data
    settings = {"kernel": kernel, "gamma": 0.5, "max_iter": 8, "max_support": max_support}
    kept = KernelPerceptron(**settings).fit(X, y)
    again = KernelPerceptron(memory_limit=1e-6, **settings).fit(X, y)
    np.testing.assert_array_equal(again.support_, kept.support_)
    np.testing.assert_allclose(again.decision_function(X), kept.decision_function(X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_support_vectors_keep_their_dtype(dtype, data):
    X, y = data[0].astype(dtype), data[1]
    model = KernelPerceptron(max_iter=10).fit(X, y)
    assert model.support_vectors_.dtype == dtype
    assert model.score(X, y) > 0.7


def test_it_keeps_only_what_it_erred_on(data):
    X, y = data
    model = KernelPerceptron(max_iter=10).fit(X, y)
    assert model.dual_coef_.any(axis=0).all()
    assert model.support_.size < y.size
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    np.testing.assert_allclose(np.abs(model.dual_coef_).sum(axis=1), model.n_mistakes_)


def test_gamma_is_stored_as_a_number(data):
    X, y = data
    gammas = {gamma: KernelPerceptron(gamma=gamma, max_iter=1).fit(X, y).gamma_ for gamma in ("scale", "auto", 2)}
    assert gammas == {"scale": pytest.approx(1.0 / (3 * X.var())), "auto": pytest.approx(1.0 / 3), 2: 2.0}


@pytest.mark.slow
def test_a_ring_is_learnt():
    X = table(300, 2)
    y = np.where((X**2).sum(axis=1) > 1.4, "outside", "inside")
    assert KernelPerceptron(max_iter=200).fit(X, y).score(X, y) == 1.0
    assert Perceptron().fit(X, y).score(X, y) < 0.8


# -------------------------------------------------------------------------------------- votes


def naive_votes(model, X):
    """Return the share of votes for each row and problem, rule by rule."""
    K = np.exp(-model.gamma_ * ((X[:, None] - model.support_vectors_[None]) ** 2).sum(axis=2))
    n_problems = model.dual_coef_.shape[0]
    votes = np.zeros((X.shape[0], n_problems))
    for k in range(n_problems):
        of_k = np.flatnonzero(model.history_problem_ == k)
        scores = np.zeros(X.shape[0])
        times = [*model.history_changes_[of_k, 2], model.n_presented_]
        for c, change in enumerate(of_k):
            a, b, _ = model.history_changes_[change]
            scores = scores + a * K[:, model.history_support_[change]] + b
            votes[:, k] += np.sign(scores) * (times[c + 1] - times[c])
    return votes / model.n_presented_


def test_the_vote_is_a_vote(data):
    X, y = data
    model = KernelPerceptron(vote="voted", max_iter=6).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), naive_votes(model, X), atol=1e-9)
    assert np.abs(model.decision_function(X)).max() <= 1.0


def test_the_average_is_the_mean_of_all_rules():
    """Presented one row at a time, each rule counts once."""
    X, y = table(12, 2), classes_on(table(12, 2), 2)
    average = KernelPerceptron(kernel="linear", vote="averaged", shuffle=False, max_iter=1).fit(X, y)
    w, b, total_w, total_b = np.zeros(2), 0.0, np.zeros(2), 0.0
    for x, sign in zip(X, 2 * y - 1, strict=True):
        if sign * (w @ x + b) <= 0:
            w, b = w + sign * x, b + sign
        total_w, total_b = total_w + w, total_b + b
    np.testing.assert_allclose(average.dual_coef_ @ average.support_vectors_, [total_w / 12], atol=1e-12)
    np.testing.assert_allclose(average.intercept_, [total_b / 12], atol=1e-12)


@pytest.mark.slow
def test_votes_steady_a_noisy_border():
    X = table(600, 2)
    y = classes_on(X, 2, noise=0.8)
    test = table(2000, 2, seed=9)
    truth = classes_on(test, 2, noise=0.0)
    scores = {vote: KernelPerceptron(vote=vote, max_iter=5).fit(X, y).score(test, truth) for vote in VOTES}
    assert scores["averaged"] > scores["last"]
    assert scores["voted"] > scores["last"]


# -------------------------------------------------------------------------------------- the budget


@pytest.mark.parametrize("max_support", [1, 2, 10, 30])
def test_the_budget_is_kept(max_support, data):
    X, y = data
    model = KernelPerceptron(max_support=max_support, max_iter=10).fit(X, y)
    assert model.support_.size <= max_support
    assert model.support_vectors_.shape[0] == model.dual_coef_.shape[1] == model.support_.size
    assert eigenwood.verify(model, X, y).holds is not False


@pytest.mark.slow
def test_with_a_budget_it_still_learns():
    X = table(500, 2)
    y = classes_on(X, 2, noise=0.0)
    free = KernelPerceptron(max_iter=30).fit(X, y)
    tight = KernelPerceptron(max_iter=30, max_support=20).fit(X, y)
    assert tight.support_.size < free.support_.size
    assert tight.score(X, y) > 0.85


def test_a_budget_that_is_never_reached_changes_nothing(data):
    X, y = data
    assert_learnt_the_same(
        KernelPerceptron(max_support=1000, max_iter=5).fit(X, y),
        KernelPerceptron(max_iter=5).fit(X, y),
        but=("certificate_",),
    )


@pytest.mark.parametrize("vote", ["averaged", "voted"])
def test_a_budget_and_a_vote_do_not_go_together(vote, data):
    with pytest.raises(InputError) as caught:
        KernelPerceptron(max_support=3, vote=vote).fit(*data)
    assert str(caught.value).startswith("KernelPerceptron: max_support must be None unless vote='last'; got 3 with ")


def test_a_budget_with_rows_of_no_size():
    model = KernelPerceptron(kernel="linear", max_support=1, max_iter=3).fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert model.support_.size <= 1


# -------------------------------------------------------------------------------------- the user's own function


NONSENSE = {
    "NaN": lambda X, Z: linear(X, Z) * np.nan,
    "infinity": lambda X, Z: linear(X, Z) + np.inf,
    "a vector": lambda X, Z: linear(X, Z)[0],
    "too narrow": lambda X, Z: linear(X, Z)[:, :-1],
    "a number": lambda X, Z: 1.0,
    "a string": lambda X, Z: "much",
    "nothing": lambda X, Z: None,
    "complex": lambda X, Z: linear(X, Z) * 1j,
    "sparse": lambda X, Z: sparse.csr_array(linear(X, Z)),
    "texts": lambda X, Z: linear(X, Z).astype(str).astype(object) + "!",
}


@pytest.mark.parametrize("function", NONSENSE.values(), ids=NONSENSE)
def test_a_function_that_returns_nonsense(function, data):
    with pytest.raises(InputError) as caught:
        KernelPerceptron(kernel=function).fit(*data)
    assert_one_sentence(str(caught.value))
    assert re.fullmatch(r"KernelPerceptron: kernel must return .+; got .+\.", str(caught.value))


def test_nonsense_is_named(data):
    with pytest.raises(InputError) as caught:
        KernelPerceptron(kernel=NONSENSE["NaN"]).fit(*data)
    assert str(caught.value) == "KernelPerceptron: kernel must return finite numbers; got NaN."


def test_a_function_that_turns_bad_after_fit(data):
    X, y = data
    factor = [1.0]
    model = KernelPerceptron(kernel=lambda X, Z: linear(X, Z) * factor[0]).fit(X, y)
    factor[0] = np.nan
    with pytest.raises(InputError, match="kernel must return finite numbers; got NaN"):
        model.predict(X[:1])


def test_the_users_own_error_is_not_hidden(data):
    def broken(X, Z):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        KernelPerceptron(kernel=broken).fit(*data)


def test_a_function_that_writes_into_its_rows_spoils_nothing(data):
    """It is given rows of the user's own table."""
    X, y = data[0].copy(), data[1]

    def writing(A, B):
        K = linear(A, B)
        if A.flags.writeable:
            A[:] = 0.0
        return K

    KernelPerceptron(kernel=writing, max_iter=2).fit(X, y)
    np.testing.assert_array_equal(X, data[0])


def test_a_function_takes_no_sparse_rows(data):
    with pytest.raises(
        TypeError, match=r"KernelPerceptron: Sparse data was passed for X, but dense data is required\."
    ):
        KernelPerceptron(kernel=linear).fit(sparse.csr_array(data[0]), data[1])


def test_a_function_that_is_not_symmetric_still_gives_a_model(data):
    X, y = data
    model = KernelPerceptron(kernel=lambda A, B: linear(A, B) + A[:, :1], max_iter=3).fit(X, y)
    assert set(model.predict(X)) <= set(y)


# -------------------------------------------------------------------------------------- precomputed


def test_a_gram_matrix_must_be_square(data):
    with pytest.raises(InputError) as caught:
        KernelPerceptron(kernel="precomputed").fit(data[0], data[1])
    assert str(caught.value) == (
        "KernelPerceptron: a precomputed X must be a square matrix of similarities; got shape (90, 3)."
    )


def test_queries_need_a_column_for_every_training_row(data):
    K = linear(data[0], data[0])
    model = KernelPerceptron(kernel="precomputed", max_iter=3).fit(K, data[1])
    assert model.predict(K[:5]).shape == (5,)
    with pytest.raises(InputError, match="X has 5 features, but KernelPerceptron is expecting 90"):
        model.predict(K[:, :5])


@pytest.mark.parametrize("vote", VOTES)
@pytest.mark.parametrize("shuffle", [True, False])
def test_rows_of_weight_zero_in_a_gram_matrix(vote, shuffle, data):
    X, y = data
    K, there = linear(X, X), np.arange(90) % 3 > 0
    settings = {"kernel": "precomputed", "vote": vote, "shuffle": shuffle, "max_iter": 5}
    weighted = KernelPerceptron(**settings).fit(K, y, sample_weight=there.astype(float))
    without = KernelPerceptron(**settings).fit(K[np.ix_(there, there)], y[there])
    np.testing.assert_array_equal(weighted.support_, np.flatnonzero(there)[without.support_])
    np.testing.assert_allclose(weighted.decision_function(K), without.decision_function(K[:, there]), atol=1e-9)
    assert eigenwood.verify(weighted, K, y, sample_weight=there.astype(float)).holds is not False


# -------------------------------------------------------------------------------------- hostile data


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e100, 1e155, 1e300])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_of_any_size(kernel, scale):
    """What can be learnt is learnt; what cannot is said. Never is a model made of NaN, and it can be saved."""
    X = table(40, 2)
    y = classes_on(X, 2, noise=0.0)
    allowed = (InputError,) if scale >= 1e100 else ()
    with contextlib.suppress(*allowed):
        model = KernelPerceptron(kernel=kernel, max_iter=5).fit(X * scale, y)
        assert np.isfinite(model.dual_coef_).all()
        assert np.isfinite(model.decision_function(X * scale)).all()
        assert model.gamma_ > 0


@pytest.mark.parametrize("weight", [1e-300, 1e-9, 0.3, 1e9, 1e300])
@pytest.mark.parametrize("vote", VOTES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_weights_of_any_size(weight, vote):
    X = table(40, 2)
    y = classes_on(X, 2, noise=0.0)
    model = KernelPerceptron(max_iter=5, vote=vote).fit(X, y, sample_weight=np.full(40, weight))
    assert np.isfinite(model.decision_function(X)).all()


def test_equal_rows_with_opposite_labels():
    X = np.tile(table(20, 2), (2, 1))
    y = np.arange(40) // 20
    model = KernelPerceptron(max_iter=10).fit(X, y)
    assert not model.converged_
    assert model.score(X, y) == 0.5
    assert eigenwood.verify(model, X, y).holds is None


@pytest.mark.parametrize("kernel", KERNELS)
def test_constant_rows(kernel):
    model = KernelPerceptron(kernel=kernel, max_iter=3).fit(np.full((4, 2), 3.0), [0, 1, 0, 1])
    assert set(model.predict(np.full((2, 2), 3.0))) <= {0, 1}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_power_that_overflows_is_said():
    X = table(30, 2) * 1e6
    with pytest.raises(InputError) as caught:
        KernelPerceptron(kernel="poly", degree=100, gamma=1.0).fit(X, classes_on(X, 2))
    assert_one_sentence(str(caught.value))


def test_time_that_is_up_at_once(data):
    X, y = data
    model = KernelPerceptron(time_limit=1e-9, vote="voted").fit(X, y)
    assert model.decision_function(X).shape == (90, 3)


@pytest.mark.slow
def test_much_data_keeps_a_time_limit():
    """Neither the kernel values before the first epoch nor the certificate behind the last are free of the clock."""
    X = table(8000, 400).astype(np.float32)
    y = np.arange(8000) % 2
    KernelPerceptron(max_iter=1).fit(X[:300], y[:300])
    start = time.perf_counter()
    model = KernelPerceptron(time_limit=0.3, max_iter=10**6).fit(X, y)
    assert time.perf_counter() - start <= 1.2 * 0.3 + 0.2
    assert model.stop_reason_ == "time_limit"


@pytest.mark.parametrize("vote", VOTES)
def test_verify_tells_a_wrong_model(vote, data):
    X, y = data
    model = KernelPerceptron(vote=vote, kernel="linear", max_iter=3).fit(X, y)
    before = eigenwood.verify(model, X, y)
    assert before.holds is None
    for factor in (1e6, -1.0, 0.0):
        liar = clone(model).fit(X, y)
        liar.dual_coef_ = liar.dual_coef_ * factor
        assert eigenwood.verify(liar, X, y).holds is False
