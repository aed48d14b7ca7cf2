"""The kernel perceptron: equal to the lecture's loop, with votes, averages, weights and a budget."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.kernels.functions import KERNELS, Kernel
from eigenwood.core.kernels.source import KernelValues
from eigenwood.core.margin import kernel_perceptron
from eigenwood.core.margin.kernel_perceptron import (
    CHANGE,
    KernelRule,
    kernel_perceptron_steps,
    voted_scores,
)
from tests.naive import kernel_perceptron as naive
from tests.naive import kernels as naive_kernels
from tests.naive import perceptron as naive_primal

QUADRATIC = Kernel(KERNELS["poly"], gamma=1.0, coef0=1.0, degree=2)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Several blocks and slabs even for a few rows."""
    monkeypatch.setattr(kernel_perceptron, "FEWEST_VISITS", 4)
    monkeypatch.setattr(kernel_perceptron, "MOST_VISITS", 4)
    monkeypatch.setattr(kernel_perceptron, "CATCH_UP_ROWS", 5)
    monkeypatch.setattr(kernel_perceptron, "SMALL_WORK", 0)


def whole_numbers(seed, n_rows=11, n_classes=2):
    """Rows of whole numbers, so that the kernel (1 + x·z)² and all sums are exact; labels by chance."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n_rows, 2)).astype(np.float64)
    codes = rng.integers(n_classes, size=n_rows)
    positive = [1] if n_classes == 2 else range(n_classes)
    signs = np.array([np.where(codes == code, 1.0, -1.0) for code in positive])
    K = naive_kernels.gram(X, X, lambda x, z: naive_kernels.polynomial(x, z, 1.0, 1.0, 2))
    return X, signs, K


def fit(X, signs, mass=None, rule=None, seed=None, max_bytes=1e9, kernel=QUADRATIC):
    mass = np.ones(X.shape[0]) if mass is None else mass
    values = KernelValues(X, kernel, max_bytes)
    *_, last = kernel_perceptron_steps(values, signs, mass, rule or KernelRule(6), seed, 1)
    assert last.whole
    assert last.last
    return last


def changes_of(step):
    return np.concatenate([np.empty(0, dtype=CHANGE), *step.history])


# ---- equal to the textbook ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_bytes", [0, 300, 1e9], ids=["none kept", "some kept", "all kept"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_equals_the_lecture(seed, shuffle, n_classes, dtype, max_bytes):
    X, signs, K = whole_numbers(seed, n_classes=n_classes)
    orders = naive_primal.shuffled(11, 6, seed) if shuffle else naive_primal.cyclic(11, 6)
    expected = naive.fit_kernel_perceptron(K, signs, np.ones(11), orders)
    ours = fit(X.astype(dtype), signs, seed=seed if shuffle else None, max_bytes=max_bytes)
    assert_array_equal(ours.a, expected.a)
    assert_array_equal(ours.b, expected.b)
    assert ours.mistakes.sum() == len(expected.wrong)
    assert ours.converged == expected.converged
    assert ours.clock[0] == len(expected.rules)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_the_mistakes_come_in_the_same_order(seed, intercept):
    X, signs, K = whole_numbers(seed, n_classes=3)
    orders = naive_primal.shuffled(11, 6, seed)
    expected = naive.fit_kernel_perceptron(K, signs, np.ones(11), orders, intercept)
    ours = fit(X, signs, rule=KernelRule(6, intercept, keep_history=True), seed=seed)
    changes = changes_of(ours)
    assert [(int(change["row"]), int(change["problem"])) for change in changes] == expected.wrong
    assert_array_equal(changes["a"], [signs[k, i] for i, k in expected.wrong])
    assert_array_equal(changes["b"], changes["a"] if intercept else np.zeros(len(changes)))


@pytest.mark.parametrize("seed", range(3))
def test_the_average_is_the_mean_of_all_rules(seed):
    X, signs, K = whole_numbers(seed, n_classes=3)
    mass = np.random.default_rng(seed).integers(1, 6, size=11).astype(float)
    expected = naive.averaged(naive.fit_kernel_perceptron(K, signs, mass, naive_primal.cyclic(11, 6)))
    ours = fit(X, signs, mass)
    assert_allclose(ours.averaged_a(), expected[0], rtol=1e-12, atol=1e-13)
    assert_allclose(ours.averaged_b(), expected[1], rtol=1e-12, atol=1e-13)


def votes_of(step, K_query, n_problems):
    changes = changes_of(step)
    return voted_scores(
        K_query,
        changes["row"].copy(),
        changes["problem"].copy(),
        changes["a"].copy(),
        changes["b"].copy(),
        changes["time"].copy(),
        step.clock[0],
        n_problems,
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_the_vote_is_the_mean_vote_of_all_rules(seed, n_classes):
    X, signs, K = whole_numbers(seed, n_classes=n_classes)
    queries = np.random.default_rng(seed + 50).integers(-2, 3, size=(6, 2)).astype(float)
    K_query = naive_kernels.gram(queries, X, lambda x, z: naive_kernels.polynomial(x, z, 1.0, 1.0, 2))
    expected = naive.fit_kernel_perceptron(K, signs, np.ones(11), naive_primal.cyclic(11, 6))
    ours = fit(X, signs, rule=KernelRule(6, keep_history=True))
    assert_allclose(votes_of(ours, K_query, len(signs)), naive.voted_scores(expected, K_query), rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_in_the_vote_too_a_weight_is_the_row_given_again(seed):
    X, signs, K = whole_numbers(seed)
    mass = np.random.default_rng(seed).integers(1, 9, size=11).astype(float)
    expected = naive.fit_kernel_perceptron(K, signs, mass, naive_primal.cyclic(11, 6))
    ours = fit(X, signs, mass, rule=KernelRule(6, keep_history=True))
    assert_allclose(votes_of(ours, K, 1), naive.voted_scores(expected, K), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("max_bytes", [0, 300, 1e9], ids=["none kept", "some kept", "all kept"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("budget", [1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_the_budget_equals_the_textbook(seed, budget, n_classes, max_bytes):
    X, signs, K = whole_numbers(seed, n_classes=n_classes)
    orders = naive_primal.shuffled(11, 6, seed)
    expected = naive.fit_kernel_perceptron(K, signs, np.ones(11), orders, budget=budget)
    ours = fit(X, signs, rule=KernelRule(6, budget=budget), seed=seed, max_bytes=max_bytes)
    assert_array_equal(ours.a, expected.a)
    assert_array_equal(ours.b, expected.b)
    assert ours.a.any(axis=1).sum() <= budget


def test_a_budget_that_is_never_reached_changes_nothing():
    X, signs, _ = whole_numbers(4)
    assert_array_equal(fit(X, signs, rule=KernelRule(6, budget=11)).a, fit(X, signs).a)


# ---- weights mean repeated rows ----------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), shuffle=st.booleans(), intercept=st.booleans())
def test_mass_is_repeated_rows(seed, shuffle, intercept):
    X, signs, K = whole_numbers(seed, n_rows=6)
    mass = np.random.default_rng(seed).integers(1, 12, size=6).astype(float)
    orders = naive_primal.shuffled(6, 4, seed) if shuffle else naive_primal.cyclic(6, 4)
    expected = naive.fit_kernel_perceptron(K, signs, mass, orders, intercept)
    ours = fit(X, signs, mass, KernelRule(4, intercept), seed if shuffle else None)
    assert_array_equal(ours.a, expected.a)
    assert_array_equal(ours.b, expected.b)
    assert ours.mistakes.sum() == len(expected.wrong)
    assert ours.clock[0] == len(expected.rules)


@pytest.mark.parametrize("seed", range(6))
def test_with_a_budget_too_mass_is_repeated_rows(seed):
    X, signs, K = whole_numbers(seed)
    mass = np.random.default_rng(seed).integers(1, 12, size=11).astype(float)
    expected = naive.fit_kernel_perceptron(K, signs, mass, naive_primal.cyclic(11, 6), budget=3)
    ours = fit(X, signs, mass, KernelRule(6, budget=3))
    assert_array_equal(ours.a, expected.a)
    assert ours.mistakes.sum() == len(expected.wrong)


@pytest.mark.parametrize("seed", range(3))
def test_a_fraction_of_a_presentation_is_a_fraction_of_a_step(seed):
    X, signs, _ = whole_numbers(seed)
    # with steps half as long everywhere, all scores are half as large and the mistakes the same
    halves, ones = fit(X, signs, np.full(11, 0.5)), fit(X, signs, np.ones(11))
    single = ones.a / 2.0
    assert halves.a.shape == single.shape
    assert_array_equal(halves.a, single)
    assert_array_equal(halves.b, ones.b / 2.0)


def test_the_average_counts_fractions_of_presentations():
    X, signs = np.array([[1.0], [1.0]]), np.array([[1.0, -1.0]])
    rule = KernelRule(max_epochs=1, intercept=False)
    ours = fit(X, signs, np.array([4.0, 1.5]), rule, kernel=Kernel(KERNELS["linear"]))
    assert_array_equal(ours.a[:, 0], [1.0, -1.5])
    # the first row is right from its first presentation on; the second stands at -1 for one, at -1.5 for half a one
    assert_allclose(ours.averaged_a()[:, 0], [1.0, (-1.0 - 0.5 * 1.5) / 5.5], rtol=1e-14)


A_HEAVY_ROW_UNDER_A_BUDGET = """
import numpy as np
from eigenwood import KernelPerceptron

X, y, weights = [[1.0], [2.0], [-1.0], [-2.0]], [1, 1, 0, 0], [1.0, 1e18, 1.0, 1e18]
model = KernelPerceptron(kernel="linear", max_support=2, shuffle=False, max_iter=3).fit(X, y, sample_weight=weights)
print(model.stop_reason_, model.score(X, y))
"""


@pytest.mark.slow
def test_a_very_heavy_row_under_a_budget_does_not_take_for_ever():
    # in a process of its own: a loop that does not end cannot be stopped in ours
    run = subprocess.run(
        [sys.executable, "-c", A_HEAVY_ROW_UNDER_A_BUDGET], capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout.split() == ["finished", "1.0"]


# ---- properties --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_the_size_of_the_blocks_does_not_matter(seed, monkeypatch):
    X, signs, _ = whole_numbers(seed, n_classes=3)
    small = fit(X, signs, rule=KernelRule(6, keep_history=True), seed=seed)
    monkeypatch.setattr(kernel_perceptron, "MOST_VISITS", 256)
    monkeypatch.setattr(kernel_perceptron, "CATCH_UP_ROWS", 4096)
    large = fit(X, signs, rule=KernelRule(6, keep_history=True), seed=seed)
    assert_array_equal(small.a, large.a)
    assert_array_equal(small.late_a, large.late_a)
    assert_array_equal(changes_of(small), changes_of(large))


def test_permuting_the_rows_and_their_order_permutes_the_result():
    X, signs, _ = whole_numbers(5)
    order = np.random.default_rng(5).permutation(11)
    K = naive_kernels.gram(X, X, lambda x, z: naive_kernels.polynomial(x, z, 1.0, 1.0, 2))
    expected = naive.fit_kernel_perceptron(K, signs, np.ones(11), [order] * 6)
    assert_array_equal(fit(X[order], signs[:, order]).a, expected.a[order])


def test_between_the_blocks_the_state_is_seen():
    X, signs, _ = whole_numbers(6)
    values = KernelValues(X, QUADRATIC, 1e9)
    steps = list(kernel_perceptron_steps(values, signs, np.ones(11), KernelRule(1), None, 1))
    assert [(step.whole, step.last) for step in steps] == [(False, False), (False, False), (True, True)]
    assert [step.epoch for step in steps] == [1, 1, 1]


def test_it_stops_after_an_epoch_without_a_mistake():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [2.0, 1.0], [-2.0, 1.0]])
    signs = np.array([[1.0, -1.0, 1.0, -1.0]])
    ours = fit(X, signs, rule=KernelRule(50))
    assert ours.converged
    assert ours.epoch < 50
    K = naive_kernels.gram(X, X, lambda x, z: naive_kernels.polynomial(x, z, 1.0, 1.0, 2))
    assert ((K @ ours.a[:, 0] + ours.b[0]) * signs[0] > 0).all()


def test_float_scores_match_the_definition():
    rng = np.random.default_rng(7)
    X, signs = rng.normal(size=(12, 2)), rng.choice([-1.0, 1.0], size=(1, 12))
    K = naive_kernels.gram(X, X, lambda x, z: naive_kernels.rbf(x, z, 0.8))
    expected = naive.fit_kernel_perceptron(K, signs, np.ones(12), naive_primal.shuffled(12, 40, 3))
    ours = fit(X, signs, rule=KernelRule(40), seed=3, kernel=Kernel(KERNELS["rbf"], 0.8))
    assert_array_equal(ours.a, expected.a)
    assert ours.converged == expected.converged


@pytest.mark.parametrize(("row_work", "expected"), [(1.0, 256), (7e6, 256), (20e6, 100), (1e12, 16)])
def test_where_kernel_values_are_slow_fewer_rows_are_visited_at_once(row_work, expected, monkeypatch):
    monkeypatch.undo()  # the real sizes
    assert kernel_perceptron.visits_at_once(SimpleNamespace(row_work=row_work)) == expected
