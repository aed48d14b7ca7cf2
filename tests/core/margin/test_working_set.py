"""Which variables are worked on, and the best they can do: equal to the textbook's loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.margin.working_set import EFFORT, improve, improve_all, most_violating, movable, rise_and_fall
from tests.naive import svm as naive


def test_what_a_rise_brings_and_a_fall_costs():
    #                 at 0   at 0   inside  inside  at high  at low
    beta = np.array([0.0, 0.0, 0.5, -0.5, 1.0, -1.0])
    rise, fall = rise_and_fall(np.full(6, 3.0), beta, np.full(6, -1.0), np.full(6, 1.0), epsilon=0.25)
    assert_array_equal(rise, [2.75, 2.75, 2.75, 3.25, -np.inf, 3.25])
    assert_array_equal(fall, [3.25, 3.25, 2.75, 3.25, 2.75, np.inf])


def test_a_label_says_in_which_direction_a_variable_may_go():
    rise, fall = rise_and_fall(np.array([1.0, -1.0]), np.zeros(2), np.array([0.0, -2.0]), np.array([2.0, 0.0]), 0.0)
    assert_array_equal(rise, [1.0, -np.inf])
    assert_array_equal(fall, [np.inf, -1.0])


def test_half_of_those_before_stay():
    rise, fall = np.arange(8.0), np.arange(8.0)
    chosen = most_violating(rise, fall, np.array([3, 4, 5]), 5)
    assert_array_equal(chosen, [7, 0, 3, 4, 5])  # the pair that violates most, two that stay, and who is left


def test_who_does_not_violate_is_not_chosen():
    rise, fall = np.array([5.0, -np.inf, 0.5, -np.inf]), np.array([np.inf, 1.0, np.inf, 9.0])
    assert_array_equal(np.sort(most_violating(rise, fall, np.empty(0, dtype=np.int64), 4)), [0, 1])


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 14), n_before=st.integers(0, 14))
def test_the_pair_that_violates_most_is_always_chosen(seed, size, n_before):
    rng = np.random.default_rng(seed)
    errors, state = rng.integers(-3, 4, size=12).astype(float), rng.integers(3, size=12)
    rise, fall = np.where(state != 0, errors, -np.inf), np.where(state != 1, errors, np.inf)
    if not rise.max() > fall.min():
        return
    before = rng.permutation(12)[: min(n_before, size, 12)]
    chosen = most_violating(rise, fall, before, min(size, 12))
    assert np.unique(chosen).size == chosen.size <= size
    assert rise[chosen].max() == rise.max()
    assert fall[chosen].min() == fall.min()


def problem(seed, n_rows=10, squared=False):
    """A positive definite K, labels, a C for each row, and the state of all variables at 0."""
    rng = np.random.default_rng(seed)
    A, signs = rng.normal(size=(n_rows, n_rows + 2)), rng.choice([-1.0, 1.0], size=n_rows)
    signs[:2] = 1.0, -1.0
    costs = rng.uniform(0.05, 1.0, size=n_rows)
    most = np.full(n_rows, np.inf) if squared else costs
    low, high = np.where(signs > 0, 0.0, -most), np.where(signs > 0, most, 0.0)
    ridge = 0.5 / costs if squared else np.zeros(n_rows)
    return A @ A.T / n_rows, signs, costs, low, high, ridge


both = pytest.mark.parametrize("solve", [improve, improve_all])


def improved(K, ridge, target, low, high, epsilon=0.0, tol=1e-10, share=0.0, max_steps=10**5, solve=improve):
    beta, errors = np.zeros(target.size), target.copy()
    n_steps, growth = solve(K, ridge, errors, beta, low, high, epsilon, tol, share, max_steps)
    return beta, errors, n_steps, growth


@both
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_classes_equal_the_textbook(seed, squared, solve):
    K, signs, costs, low, high, ridge = problem(seed, squared=squared)
    expected = naive.fit_classes(K, signs, costs, squared)
    beta, errors, _, growth = improved(K, ridge, signs, low, high, solve=solve)
    assert_allclose(beta, expected.beta, atol=1e-8)
    assert_allclose(errors, signs - K @ beta - ridge * beta, atol=1e-12)
    assert growth == pytest.approx(expected.dual, rel=1e-9)


@both
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("epsilon", [0.0, 0.4])
@pytest.mark.parametrize("seed", range(2))
def test_amounts_equal_the_textbook(seed, epsilon, squared, solve):
    K, _, costs, _, _, ridge = problem(seed, squared=squared)
    amounts = np.random.default_rng(seed).normal(size=10)
    expected = naive.fit_amounts(K, amounts, costs, epsilon, squared)
    most = np.full(10, np.inf) if squared else costs
    beta, _, _, growth = improved(K, ridge, amounts, -most, most, epsilon, solve=solve)
    assert_allclose(beta, expected.beta, atol=1e-8)
    assert growth == pytest.approx(expected.dual, rel=1e-9)


@both
@given(seed=st.integers(0, 2**32 - 1), max_steps=st.integers(0, 12))
def test_every_move_brings_what_it_says(solve, seed, max_steps):
    K, signs, _, low, high, ridge = problem(seed)
    beta, _, n_steps, growth = improved(K, ridge, signs, low, high, max_steps=max_steps, solve=solve)
    assert n_steps <= max_steps
    assert growth == pytest.approx(signs @ beta - 0.5 * beta @ K @ beta, rel=1e-9, abs=1e-14)
    assert beta.sum() == pytest.approx(0.0, abs=1e-14)
    assert ((low <= beta) & (beta <= high)).all()


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_a_share_of_the_violation_may_be_left(share):
    K, signs, _, low, high, ridge = problem(4)
    few, many = (improved(K, ridge, signs, low, high, share=part) for part in (share, 0.0))
    beta, errors = few[:2]
    rise, fall = rise_and_fall(errors, beta, low, high, 0.0)
    assert 1e-10 < rise.max() - fall.min() <= share * 2.0  # at first a pair of labels violates by 2
    assert few[2] < many[2]


def test_a_kernel_without_curvature_goes_to_the_bounds():
    signs = np.array([1.0, -1.0])
    low, high = np.array([0.0, -0.3]), np.array([2.0, 0.0])
    beta, _, n_steps, _ = improved(np.ones((2, 2), dtype=np.float32), np.zeros(2), signs, low, high)
    assert n_steps == 1
    assert_array_equal(beta, [0.3, -0.3])


def test_a_ridge_below_the_rounding_of_k_is_felt():
    ridge, signs = np.full(2, 5e-7), np.array([1.0, -1.0])
    low, high = np.array([0.0, -np.inf]), np.array([np.inf, 0.0])
    K = np.full((2, 2), 1e3, dtype=np.float32)
    beta, errors, n_steps, _ = improved(K, ridge, signs, low, high, tol=1e-5)
    assert n_steps == 1
    assert_allclose(beta, [2e6, -2e6], rtol=1e-6)
    assert_allclose(errors, 0.0, atol=1e-6)


@given(seed=st.integers(0, 2**32 - 1), n_steps=st.integers(0, 12))
def test_only_those_that_violate_beside_somebody_may_move(seed, n_steps):
    K, signs, _, low, high, ridge = problem(seed)
    beta, errors, _, _ = improved(K, ridge, signs, low, high, max_steps=n_steps)
    rise, fall = rise_and_fall(errors, beta, low, high, 0.0)
    pairs = rise[:, None] > fall
    expected = np.flatnonzero(pairs.any(axis=1) | pairs.any(axis=0))
    assert_array_equal(movable(errors, beta, low, high, 0.0, 0.0), expected)
    assert movable(errors, beta, low, high, 0.0, max(rise.max() - fall.min(), 0.0)).size == 0


@both
def test_where_nobody_may_rise_nothing_moves(solve):
    told = np.eye(2), np.zeros(2), np.ones(2), np.full(2, -1.0), np.zeros(2)
    beta, _, n_steps, growth = improved(*told, solve=solve)
    assert (n_steps, growth) == (0, 0.0)
    assert_array_equal(beta, [0.0, 0.0])


def test_a_move_that_rounding_swallows_is_none():
    beta, errors = np.array([1e8, -1e8]), np.array([1e-2, 0.0])
    bounds = np.full(2, -1e9), np.full(2, 1e9)
    n_steps, growth = improve(1e12 * np.eye(2), np.zeros(2), errors, beta, *bounds, 0.0, 1e-3, 0.0, 100)
    assert (n_steps, growth) == (0, 0.0)
    assert_array_equal(beta, [1e8, -1e8])
    assert_array_equal(errors, [1e-2, 0.0])


def test_what_takes_long_is_left_to_another_call():
    """With a large cost and K of rank 3 the moves hardly end; the caller looks at the clock in between."""
    rng = np.random.default_rng(0)
    rows, signs = rng.normal(size=(100, 3)), rng.choice([-1.0, 1.0], 100)
    bounds = {"low": np.minimum(1e5 * signs, 0.0), "high": np.maximum(1e5 * signs, 0.0)}
    _, _, n_steps, growth = improved(
        rows @ rows.T, np.zeros(100), signs, **bounds, share=0.1, max_steps=10**9, solve=improve_all
    )
    assert EFFORT / 2 < n_steps < 1.1 * EFFORT
    assert growth > 0.0
