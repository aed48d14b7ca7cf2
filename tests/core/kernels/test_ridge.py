"""Kernel ridge regression: equal to elimination in plain loops, and the same on any number of threads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.kernels import ridge
from eigenwood.core.kernels.features import Features
from eigenwood.core.kernels.ridge import factor_below, landmark_ridge, ridge_coefficients, whole_ridge
from tests.naive import kernel_ridge as naive


def case(seed=0, n=40, k=25):
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(n, k))
    return F, rng.normal(size=(n, 2)), rng.uniform(0.5, 3.0, n)


@pytest.fixture(params=["narrow", "real"])
def panels(monkeypatch, request):
    if request.param == "narrow":
        monkeypatch.setattr(ridge, "PANEL", 7)
        monkeypatch.setattr(ridge, "TASK_ROWS", 5)


@pytest.mark.parametrize("seed", range(3))
def test_equals_elimination(seed, panels):
    F, y, costs = case(seed)
    K = F @ F.T
    beta, scores, left = whole_ridge(K.copy(), y, 1.0 / costs)
    for column in range(2):
        assert_allclose(beta[:, column], naive.fit(K, y[:, column], costs), atol=1e-9)
    assert_allclose(scores, K @ beta, atol=1e-10)
    assert_allclose(left, 0.0, atol=1e-12)


def test_the_factor_is_numpys_and_the_upper_triangle_stays(panels):
    F, _, _ = case(n=60)
    K = F @ F.T + np.eye(60)
    factored = K.copy()
    factor_below(factored, n_threads=1)
    assert_allclose(np.tril(factored), np.linalg.cholesky(K), atol=1e-10)
    assert_array_equal(np.triu(factored, 1), np.triu(K, 1))


def test_landmarks_that_span_everything_give_the_same_answer():
    F, y, costs = case()
    beta, *_ = whole_ridge(F @ F.T, y, 1.0 / costs)
    weights = landmark_ridge(Features(F.T.copy(), 1), y, costs)
    assert_allclose(weights, F.T @ beta, atol=1e-9)


def test_primal_and_dual_meet():
    F, y, costs = case()
    K = F @ F.T
    beta, scores, _ = whole_ridge(K.copy(), y, 1.0 / costs)
    assert_allclose(beta, costs[:, None] * (y - scores), atol=1e-10)  # the representers of the squared loss
    assert naive.primal(K, y[:, 0], costs, beta[:, 0]) == pytest.approx(naive.dual(K, y[:, 0], costs, beta[:, 0]))


def test_the_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(ridge, "PANEL", 32)
    monkeypatch.setattr(ridge, "TASK_ROWS", 16)
    F, y, costs = case(n=300)
    one, three = (whole_ridge(F @ F.T, y, 1.0 / costs, n_threads=n)[0] for n in (1, 3))
    assert_array_equal(one, three)


@pytest.mark.parametrize("n", [1, 7, 8, 30])
def test_many_targets_are_solved_as_all_at_once(n, panels, monkeypatch):
    monkeypatch.setattr(ridge, "TASK_COLUMNS", 2)
    F, _, _ = case(n=n)
    K, Y = F @ F.T + np.eye(n), np.random.default_rng(1).normal(size=(n, 5))
    assert_allclose(ridge_coefficients(K.copy(), 0.5, Y), np.linalg.solve(K + 0.5 * np.eye(n), Y), atol=1e-9)


def test_many_targets_have_the_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(ridge, "PANEL", 16)
    F, _, _ = case(n=100)
    K, Y = (F @ F.T + np.eye(100)).astype(np.float32), np.ones((100, 70), dtype=np.float32)
    one, three = (ridge_coefficients(K.copy(), 1.0, Y, n_threads) for n_threads in (1, 3))
    assert one.dtype == np.float32
    assert_array_equal(one, three)


def test_a_singular_system_is_said_to_be_one():
    with pytest.raises(np.linalg.LinAlgError):
        whole_ridge(np.array([[1.0, 1.0], [1.0, 1.0]]), np.ones((2, 1)), np.zeros(2))
