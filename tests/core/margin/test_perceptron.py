"""The perceptron: equal to the lecture's loop, to scikit-learn, and weights mean repeated rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import linear_model

from eigenwood.core.margin import perceptron
from eigenwood.core.margin.perceptron import (
    LOSS,
    MISTAKES,
    SCALE,
    PerceptronRule,
    StopRule,
    perceptron_start,
    perceptron_steps,
)
from eigenwood.core.rows import rows_of
from tests.naive import perceptron as naive

DTYPES = (np.float32, np.float64)
FORMS = (np.asarray, sparse.csr_array)


def whole_numbers(seed, n_rows=12, n_features=3):
    """Rows of whole numbers, so that every sum is exact; labels by chance, so that there are many mistakes."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(n_rows, n_features)).astype(np.float64)
    return X, rng.choice([-1.0, 1.0], size=n_rows)


def fit(X, signs, mass=None, rule=None, epochs=8, seed=None, stop=None, start=None, n_threads=1):
    """Return the last step of a fit."""
    signs = np.atleast_2d(signs)
    mass = np.ones(X.shape[0]) if mass is None else mass
    stop = StopRule(epochs, -np.inf, 5) if stop is None else stop
    zero = perceptron_start(np.zeros((signs.shape[0], X.shape[1])), np.zeros(signs.shape[0]))
    steps = perceptron_steps(rows_of(X), signs, mass, rule or PerceptronRule(), stop, start or zero, seed, n_threads)
    *_, last = steps
    assert last.whole
    assert last.last
    return last


# ---- equal to the textbook ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_cyclic_order_equals_the_lecture(seed, intercept, form, dtype):
    X, y = whole_numbers(seed)
    expected = naive.fit_perceptron(X, y, np.ones(12), naive.cyclic(12, 8), eta=0.5, intercept=intercept)
    ours = fit(form(X.astype(dtype)), y, rule=PerceptronRule(step=0.5, intercept=intercept))
    assert_array_equal(ours.coefficients()[0], expected.w)
    assert ours.intercepts()[0] == expected.b
    assert ours.numbers[0, MISTAKES] == len(expected.wrong)
    assert ours.numbers[0, LOSS] == expected.losses[-1]
    assert ours.converged[0] == expected.converged
    assert ours.epochs[0] == len(expected.losses)


@pytest.mark.parametrize("seed", range(4))
def test_shuffled_order_equals_the_lecture_in_that_order(seed):
    X, y = whole_numbers(seed)
    expected = naive.fit_perceptron(X, y, np.ones(12), naive.shuffled(12, 8, seed))
    ours = fit(X, y, seed=seed)
    assert_array_equal(ours.coefficients()[0], expected.w)
    assert ours.numbers[0, MISTAKES] == len(expected.wrong)
    cyclic = naive.fit_perceptron(X, y, np.ones(12), naive.cyclic(12, 8))
    assert cyclic.wrong != expected.wrong  # the order matters here


@pytest.mark.parametrize("penalty", [(0.02, 0.0), (0.0, 0.02), (0.01, 0.03), (0.0, 0.9)])
@pytest.mark.parametrize("seed", range(3))
def test_penalties_equal_the_textbook(seed, penalty):
    X, y = whole_numbers(seed)
    X += np.random.default_rng(seed).normal(size=X.shape) * 0.1
    l1, l2 = penalty
    mass = np.random.default_rng(seed).integers(1, 4, size=12).astype(float)
    w, b = naive.fit_penalised(X, y, mass, naive.shuffled(12, 5, seed), eta=0.7, l1=l1, l2=l2)
    ours = fit(X, y, mass, PerceptronRule(0.7, True, l1, l2), epochs=5, seed=seed)
    assert_allclose(ours.coefficients()[0], w, rtol=1e-9, atol=1e-12)
    assert ours.intercepts()[0] == pytest.approx(b)


def test_a_small_scale_is_carried_out(monkeypatch):
    X, y = whole_numbers(1)
    rule = PerceptronRule(1.0, True, 0.0, 0.5)
    w, _ = naive.fit_penalised(X, y, np.ones(12), naive.cyclic(12, 6), l2=0.5)
    ours = fit(X, y, rule=rule, epochs=6)  # 0.5^72 is far below the smallest scale
    assert_allclose(ours.coefficients()[0], w, rtol=1e-9)
    assert ours.numbers[0, SCALE] > 1e-10


# ---- weights mean repeated rows ----------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), shuffle=st.booleans())
def test_mass_is_repeated_rows(intercept, seed, shuffle):
    X, y = whole_numbers(seed, n_rows=7, n_features=2)
    mass = np.random.default_rng(seed).integers(1, 12, size=7).astype(float)
    orders = naive.shuffled(7, 5, seed) if shuffle else naive.cyclic(7, 5)
    expected = naive.fit_perceptron(X, y, mass, orders, intercept=intercept)
    ours = fit(X, y, mass, PerceptronRule(intercept=intercept), epochs=5, seed=seed if shuffle else None)
    assert_array_equal(ours.coefficients()[0], expected.w)
    assert ours.intercepts()[0] == expected.b
    assert ours.numbers[0, MISTAKES] == len(expected.wrong)
    assert ours.numbers[0, LOSS] == expected.losses[-1]
    assert ours.converged[0] == expected.converged


@pytest.mark.parametrize("rule", [PerceptronRule(), PerceptronRule(l1=0.01), PerceptronRule(l2=0.01)])
@pytest.mark.parametrize("seed", range(3))
def test_in_cyclic_order_mass_is_the_row_given_again(seed, rule):
    X, y = whole_numbers(seed)
    mass = np.random.default_rng(seed).integers(1, 5, size=12)
    weighted = fit(X, y, mass.astype(float), rule)
    repeated = fit(np.repeat(X, mass, axis=0), np.repeat(y, mass), None, rule)
    assert_allclose(weighted.coefficients(), repeated.coefficients(), rtol=1e-12)
    assert_allclose(weighted.numbers[:, [LOSS, MISTAKES]], repeated.numbers[:, [LOSS, MISTAKES]], rtol=1e-12)


def test_a_fraction_of_a_presentation_is_a_fraction_of_a_step():
    X = np.array([[2.0]])
    ours = fit(X, [1.0], np.array([0.25]), epochs=1)
    assert ours.coefficients()[0, 0] == 0.5
    assert ours.intercepts()[0] == 0.25
    assert ours.numbers[0, MISTAKES] == 0.25


def test_the_loss_of_a_fraction_is_a_fraction_of_the_loss():
    begin = perceptron_start(np.array([[-10.0]]), np.zeros(1))
    ours = fit(np.array([[1.0]]), [1.0], np.array([2.5]), PerceptronRule(intercept=False), epochs=1, start=begin)
    assert ours.coefficients()[0, 0] == -7.5
    assert ours.numbers[0, LOSS] == 10.0 + 9.0 + 0.5 * 8.0  # counted before each step
    assert ours.numbers[0, MISTAKES] == 2.5


def test_a_very_heavy_row_does_not_take_for_ever():
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    plain = fit(X, y, np.array([1e15, 1.0]))
    assert plain.converged[0]
    penalised = fit(X, y, np.array([1e9, 1.0]), PerceptronRule(l2=1e-9), epochs=2)
    assert np.isfinite(penalised.coefficients()).all()


def test_a_row_of_zeros_without_offset_is_wrong_for_ever_and_changes_nothing():
    ours = fit(np.array([[0.0], [1.0]]), [1.0, 1.0], np.array([3.0, 1.0]), PerceptronRule(intercept=False), epochs=4)
    assert ours.numbers[0, MISTAKES] == 4 * 3 + 1
    assert ours.coefficients()[0, 0] == 1.0
    assert not ours.converged[0]


# ---- properties --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_several_problems_are_the_problems_one_by_one(seed):
    X, _ = whole_numbers(seed)
    codes = np.random.default_rng(seed).integers(3, size=12)
    signs = np.array([np.where(codes == code, 1.0, -1.0) for code in range(3)])
    together = fit(X, signs, seed=5)
    for k in range(3):
        alone = fit(X, signs[k], seed=5)
        assert_array_equal(together.coefficients()[k], alone.coefficients()[0])
        assert_array_equal(together.numbers[k], alone.numbers[0])
        assert together.epochs[k] == alone.epochs[0]


@pytest.mark.parametrize("rule", [PerceptronRule(), PerceptronRule(l2=0.01)])
def test_permuting_the_features_permutes_the_weights(rule):
    X, y = whole_numbers(3)
    order = np.array([2, 0, 1])
    assert_allclose(fit(X[:, order], y, rule=rule).coefficients(), fit(X, y, rule=rule).coefficients()[:, order])


@pytest.mark.parametrize("rule", [PerceptronRule(), PerceptronRule(l2=0.01), PerceptronRule(l1=0.05)])
@pytest.mark.parametrize("seed", range(3))
def test_sparse_rows_give_the_answer_of_dense_rows(seed, rule):
    X, y = whole_numbers(seed)
    X *= np.random.default_rng(seed).random(X.shape) < 0.5
    dense, csr = fit(X, y, rule=rule), fit(sparse.csr_array(X), y, rule=rule)
    assert_allclose(csr.coefficients(), dense.coefficients(), rtol=1e-12, atol=1e-14)


def test_stored_zeros_change_nothing():
    X, y = whole_numbers(4)
    X[::2, 1] = 0.0
    stored = sparse.csr_array((X.ravel(), np.tile(np.arange(3), 12), 3 * np.arange(13)))
    assert_array_equal(fit(stored, y).coefficients(), fit(sparse.csr_array(X), y).coefficients())


def test_where_it_begins():
    X, _ = whole_numbers(5)
    separable = np.sign(X @ [1.0, 2.0, -1.0] + 0.5)
    begin = perceptron_start(np.array([[1.0, 2.0, -1.0]]), np.array([0.5]))
    ours = fit(X, separable, start=begin)
    assert ours.numbers[0, MISTAKES] == 0
    assert ours.epochs[0] == 1
    assert_array_equal(ours.coefficients(), [[1.0, 2.0, -1.0]])


def test_the_start_is_a_copy():
    coefficients = np.zeros((1, 3))
    X, y = whole_numbers(6)
    fit(X, y, start=perceptron_start(coefficients, np.zeros(1)))
    assert not coefficients.any()


def test_steps_between_the_epochs_are_seen(monkeypatch):
    monkeypatch.setattr(perceptron, "CHUNK_WORK", 15)  # five rows of three features
    X, y = whole_numbers(7)
    start = perceptron_start(np.zeros((1, 3)), np.zeros(1))
    steps = perceptron_steps(
        rows_of(X), y[None], np.ones(12), PerceptronRule(), StopRule(2, -np.inf, 5), start, None, 1
    )
    flags = [(step.whole, step.last) for step in steps]
    assert flags == [(False, False), (False, False), (True, False), (False, False), (False, False), (True, True)]
    assert_array_equal(start.coefficients(), fit(X, y, epochs=2).coefficients())


def test_the_loss_decides_when_tol_says_so():
    X, y = whole_numbers(8)
    losses = naive.fit_perceptron(X, y, np.ones(12), naive.cyclic(12, 60)).losses
    assert len(losses) == 60  # it never converges
    best, without_gain, expected = np.inf, 0, 0
    while without_gain < 3:  # scikit-learn's rule
        without_gain = without_gain + 1 if losses[expected] > best - 0.01 * 12 else 0
        best = min(best, losses[expected])
        expected += 1
    ours = fit(X, y, stop=StopRule(60, 0.01, 3))
    assert ours.epochs[0] == expected < 60
    assert not ours.converged[0]


# ---- a trusted reference -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("penalty", "l1_share"), [(None, 0.0), ("l1", 1.0), ("l2", 0.0), ("elasticnet", 0.3)], ids=str)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("eta0", [1.0, 0.1])
def test_the_coefficients_of_scikit_learn(penalty, l1_share, intercept, eta0):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), rng.choice([-1.0, 1.0], size=30)
    alpha = 0.003
    reference = linear_model.Perceptron(
        penalty=penalty,
        alpha=alpha,
        l1_ratio=0.3,
        fit_intercept=intercept,
        eta0=eta0,
        max_iter=7,
        tol=None,
        shuffle=False,
    ).fit(X, y)
    strength = 0.0 if penalty is None else alpha
    rule = PerceptronRule(eta0, intercept, l1=strength * l1_share, l2=strength * (1 - l1_share))
    ours = fit(X, y, rule=rule, epochs=7)
    assert_allclose(ours.coefficients(), reference.coef_, rtol=1e-9, atol=1e-12)
    assert_allclose(ours.intercepts(), reference.intercept_, rtol=1e-9, atol=1e-12)


def test_the_coefficients_of_scikit_learn_for_three_classes():
    rng = np.random.default_rng(1)
    X, codes = rng.normal(size=(30, 4)), rng.integers(3, size=30)
    reference = linear_model.Perceptron(penalty="l2", alpha=0.01, max_iter=6, tol=None, shuffle=False).fit(X, codes)
    signs = np.array([np.where(codes == code, 1.0, -1.0) for code in range(3)])
    ours = fit(X, signs, rule=PerceptronRule(l2=0.01), epochs=6)
    assert_allclose(ours.coefficients(), reference.coef_, rtol=1e-9)
    assert_allclose(ours.intercepts(), reference.intercept_, rtol=1e-9)
