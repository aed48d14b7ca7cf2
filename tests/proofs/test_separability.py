"""The widest margin, against a quadratic programme, a linear programme and a support vector machine."""

import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from eigenwood.core.kernels.functions import KERNELS, Kernel
from eigenwood.proofs import separability as module
from eigenwood.proofs.separability import nearest_point, separability
from tests.naive import expansion as naive_expansion
from tests.naive import kernels as naive_kernels
from tests.naive import separability as naive

LINEAR = Kernel(KERNELS["linear"])
QUADRATIC = Kernel(KERNELS["poly"], gamma=1.0, coef0=1.0, degree=2)


def separable(seed, n_rows=20, n_features=2):
    """Rows on both sides of a random hyperplane."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    scores = X @ rng.normal(size=n_features)
    return X, np.where(scores > np.median(scores), 1.0, -1.0)


def by_chance(seed, n_rows=20, n_features=2):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_features)), rng.choice([-1.0, 1.0], size=n_rows)


def mirrored_svm_margin(K, signs):
    """Return the margin of a machine through the origin: each row also stands opposite, with the other sign."""
    G = np.block([[K, -K], [-K, K]])
    y = np.concatenate([signs, -signs])
    machine = SVC(C=1e10, kernel="precomputed", tol=1e-9).fit(G, y)
    a = np.zeros(y.size)
    a[machine.support_] = machine.dual_coef_[0]
    return 1.0 / np.sqrt(a @ G @ a)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_equals_the_quadratic_programme(seed, intercept):
    X, signs = separable(seed) if seed % 2 else by_chance(seed, n_rows=6)
    Z = naive.signed(X, signs, intercept)
    expected = naive.widest_margin(Z)
    found = separability(X, signs, LINEAR, intercept)
    assert found.separable == (expected > 0) == naive.can_be_separated(Z)
    assert found.reached == pytest.approx(expected, rel=1e-5)
    assert found.limit == pytest.approx(expected, rel=1e-5, abs=1e-7 * found.radius)
    assert found.hopeless == (expected == 0)
    assert found.radius == pytest.approx(np.linalg.norm(Z, axis=1).max())


@pytest.mark.parametrize("seed", range(4))
def test_equals_a_hard_margin_support_vector_machine(seed):
    X, signs = separable(seed, n_rows=30, n_features=3)
    found = separability(X, signs, LINEAR, True)
    assert found.reached == pytest.approx(mirrored_svm_margin(X @ X.T + 1.0, signs), rel=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_in_the_space_of_phi(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(14, 2))
    signs = np.where((X**2).sum(axis=1) > 1.2, 1.0, -1.0)  # a circle: not linear, but quadratic
    phi = naive_expansion.expand(X, 2, scaled=True)
    found = separability(X, signs, QUADRATIC, True)
    assert found.reached == pytest.approx(naive.widest_margin(naive.signed(phi, signs, True)), rel=1e-4)


def test_in_the_space_of_the_rbf():
    X, signs = by_chance(3, n_rows=12)
    K = naive_kernels.gram(X, X, lambda x, z: naive_kernels.rbf(x, z, 2.0))
    found = separability(X, signs, Kernel(KERNELS["rbf"], 2.0), True)
    assert found.separable
    assert found.reached == pytest.approx(mirrored_svm_margin(K + 1.0, signs), rel=1e-3)


@pytest.mark.parametrize("seed", range(12))
def test_a_hard_problem_is_answered_not_dropped(seed):
    X, signs = by_chance(seed, n_rows=55)  # separable in theory, with a margin that is close to nothing
    found = separability(X, signs, Kernel(KERNELS["rbf"], 0.1), True)
    assert 0.0 <= found.reached <= found.limit * (1 + 1e-6)


# ---- what reached and limit promise ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_reached_is_never_above_the_truth_and_limit_never_below(seed):
    X, signs = separable(seed, n_rows=25, n_features=4)
    found = separability(X, signs, LINEAR, True)
    truth = naive.widest_margin(naive.signed(X, signs, True))
    assert found.reached <= truth * (1 + 1e-7)
    assert found.limit >= truth * (1 - 1e-7)
    assert found.mistake_bound() >= (found.radius / truth) ** 2 * (1 - 1e-6)


def test_two_points_by_hand():
    found = separability(np.array([[1.0, 0.0], [-3.0, 0.0]]), np.array([1.0, -1.0]), LINEAR, False)
    assert found.reached == pytest.approx(1.0)
    assert found.radius == 3.0
    assert found.mistake_bound() == pytest.approx(9.0)


def test_the_working_set_grows_when_it_must(monkeypatch):
    monkeypatch.setattr(module, "JOIN_AT_ONCE", 1)
    X, signs = separable(5, n_rows=40, n_features=3)
    expected = naive.widest_margin(naive.signed(X, signs, True))
    assert separability(X, signs, LINEAR, True).reached == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
def test_the_margin_grows_with_the_data(size):
    X, signs = separable(6)
    small = separability(X, signs, LINEAR, False)
    large = separability(X * size, signs, LINEAR, False)
    assert large.reached == pytest.approx(size * small.reached, rel=1e-5)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_form_of_rows(form, dtype):
    X, signs = separable(7)
    rows = X.astype(dtype)
    expected = naive.widest_margin(naive.signed(rows.astype(np.float64), signs, True))
    assert separability(form(rows), signs, LINEAR, True).reached == pytest.approx(expected, rel=1e-5)


# ---- what cannot be separated ------------------------------------------------------------------------------------


def test_exclusive_or():
    X, signs = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([1.0, 1.0, -1.0, -1.0])
    found = separability(X, signs, LINEAR, True)
    assert not found.separable
    assert found.reached == 0.0
    assert found.hopeless
    assert separability(X, signs, QUADRATIC, True).separable


def test_one_row_with_both_labels():
    X = np.array([[1.0, 2.0], [1.0, 2.0], [5.0, 1.0]])
    assert not separability(X, np.array([1.0, -1.0, 1.0]), Kernel(KERNELS["rbf"], 1.0), True).separable


@pytest.mark.parametrize("seed", range(4))
def test_many_rows_by_chance(seed):
    X, signs = by_chance(seed, n_rows=60)
    assert not naive.can_be_separated(naive.signed(X, signs, True))
    assert not separability(X, signs, LINEAR, True).separable


def test_a_tiny_but_real_margin_is_seen():
    X = np.array([[1.0], [1.0 + 1e-4]])
    found = separability(X, np.array([1.0, -1.0]), LINEAR, True)
    assert found.separable
    assert found.reached == pytest.approx(naive.widest_margin(naive.signed(X, np.array([1.0, -1.0]), True)), rel=1e-3)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rows_of_one_sign_only(sign):
    X = np.array([[1.0, 0.0], [0.5, 2.0], [2.0, -1.0]])
    signs = np.full(3, sign)
    expected = naive.widest_margin(naive.signed(X, signs, True))
    assert separability(X, signs, LINEAR, True).reached == pytest.approx(expected, rel=1e-6)


# ---- the nearest point of a hull ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_point_of_a_hull(seed):
    Z = np.random.default_rng(seed).normal(loc=[2.0, 0.0, 0.0], size=(6, 3))
    weights, distance = nearest_point(Z @ Z.T)
    u = weights @ Z
    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0).all()
    assert np.linalg.norm(u) == pytest.approx(distance, rel=1e-7)
    assert (Z @ u >= distance**2 * (1 - 1e-7) - 1e-12).all()  # no point of the hull is nearer


def test_a_gap_too_thin_to_see_is_not_called_none():
    found = separability(np.array([[10_000.0], [10_001.0]]), np.array([-1.0, 1.0]), LINEAR, True)
    truth = naive.widest_margin(naive.signed(np.array([[10_000.0], [10_001.0]]), np.array([-1.0, 1.0]), True))
    assert found.reached <= truth <= found.limit * (1 + 1e-6) + 1e-7 * found.radius


@pytest.mark.slow
def test_many_rows_that_nothing_separates_are_answered_in_seconds():
    X, signs = by_chance(0, n_rows=2000)
    started = time.perf_counter()
    found = separability(X, signs, Kernel(KERNELS["rbf"], 0.05), True)
    assert time.perf_counter() - started < 60
    assert found.reached <= found.limit
