"""Steps on a face: where the sum grows no more along any direction of the free variables, or a smaller face."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from eigenwood.core.margin.faces import free_variables, projected, step_on_face


def drawn(seed, size=9, cost=3.0):
    """A positive definite K, labels and a feasible point with free variables; the errors there."""
    rng = np.random.default_rng(seed)
    A, target = rng.normal(size=(size, size + 2)), rng.normal(size=size)
    low, high = np.full(size, -cost), np.full(size, cost)
    beta = rng.uniform(-0.5, 0.5, size=size)
    beta -= beta.mean()
    K = A @ A.T / size
    return K, target, low, high, beta, target - K @ beta


def grown(K, target, epsilon, beta):
    return target @ beta - epsilon * np.abs(beta).sum() - 0.5 * beta @ K @ beta


def test_without_bounds_in_the_way_it_is_the_best_point():
    K, target, low, high, beta, errors = drawn(0, cost=1e6)
    ridge = np.zeros(9)
    step_on_face(K, ridge, errors, beta, low, high, 0.0, np.arange(9))
    assert_allclose(errors, errors.mean(), atol=1e-8)  # nobody gains by giving to another
    assert_allclose(errors, target - K @ beta, atol=1e-9)
    assert abs(beta.sum()) <= 1e-12


@given(seed=st.integers(0, 2**32 - 1), epsilon=st.sampled_from([0.0, 0.2]), cost=st.sampled_from([0.6, 1.0, 5.0]))
def test_it_stays_within_bounds_and_grows_by_what_it_says(seed, epsilon, cost):
    K, target, low, high, beta, errors = drawn(seed, cost=cost)
    free, before, ridge = free_variables(beta, low, high, epsilon), beta.copy(), np.full(9, 0.1)
    errors -= ridge * beta
    growth = step_on_face(K, ridge, errors, beta, low, high, epsilon, free)
    soft = K + np.diag(ridge)
    assert growth >= 0.0
    assert growth == pytest.approx(grown(soft, target, epsilon, beta) - grown(soft, target, epsilon, before), abs=1e-9)
    assert abs(beta.sum()) <= 1e-12
    assert ((low <= beta) & (beta <= high)).all()
    assert (beta * before >= 0.0).all() if epsilon else True  # with a tube nobody steps over 0
    assert_allclose(errors, target - soft @ beta, atol=1e-9)


def test_steps_end_at_the_best_point_of_a_face():
    K, _, low, high, beta, errors = drawn(3, cost=0.6)
    for _ in range(9):
        free = free_variables(beta, low, high, 0.0)
        step_on_face(K, np.zeros(9), errors, beta, low, high, 0.0, free)
        if free_variables(beta, low, high, 0.0).size == free.size:
            break
    assert_allclose(errors[free], errors[free].mean(), atol=1e-8)


def test_equal_rows_make_no_system_that_cannot_be_solved():
    errors, beta = np.array([1.0, -1.0, 0.5, 0.0]), np.array([0.1, 0.2, -0.1, -0.2])
    growth = step_on_face(
        np.zeros((4, 4)), np.zeros(4), errors, beta, np.full(4, -1.0), np.full(4, 1.0), 0.0, np.arange(4)
    )
    assert growth > 0.0
    assert abs(beta.sum()) <= 1e-12
    assert (np.abs(beta) <= 1.0).all()


@given(seed=st.integers(0, 2**32 - 1))
def test_no_point_within_bounds_is_nearer(seed):
    rng = np.random.default_rng(seed)
    floor, ceiling = np.full(5, -1.0), np.full(5, 1.0)
    own, wish = rng.uniform(-1, 1, size=5), rng.normal(size=5)
    point = projected(own, wish, floor, ceiling)
    assert point.sum() == pytest.approx(own.sum(), abs=1e-12)
    least = ((own + wish - point) ** 2).sum()
    for _ in range(20):
        i, j = rng.choice(5, size=2, replace=False)
        other = point.copy()
        step = min(1e-3, 1.0 - other[i], other[j] + 1.0)
        other[i], other[j] = other[i] + step, other[j] - step
        assert ((own + wish - other) ** 2).sum() >= least - 1e-12
