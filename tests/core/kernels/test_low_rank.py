"""Low-rank kernels: equal to one column at a time, drawn with the right probabilities, and honest about their error."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from eigenwood.core.kernels import low_rank
from eigenwood.core.kernels.blocks import gram
from eigenwood.core.kernels.functions import KERNELS, Kernel
from eigenwood.core.kernels.low_rank import Rank, given_pivots, low_rank_features, random_pivots
from eigenwood.core.kernels.matrix import kernel_matrix
from tests.naive import low_rank as naive

RBF = Kernel(KERNELS["rbf"], 0.3)
LINEAR = Kernel(KERNELS["linear"])


def table(seed, n_rows=60, n_features=3):
    return np.random.default_rng(seed).normal(size=(n_rows, n_features))


def last(steps):
    *_, step = steps
    assert step.last
    return step.result


def drawn(X, kernel, rank, seed=0, n_threads=1):
    return last(random_pivots(kernel_matrix(X, kernel), rank, seed, n_threads))


@pytest.fixture(params=["narrow", "real"])
def widths(monkeypatch, request):
    """Rounds of a few columns and blocks of a few rows, so that small tables have several; and the real ones."""
    if request.param == "narrow":
        monkeypatch.setattr(low_rank, "WIDTH", 5)
        monkeypatch.setattr(low_rank, "BLOCK_ROWS", 7)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "poly", "linear"])
@pytest.mark.parametrize("seed", range(3))
def test_equals_one_column_at_a_time(seed, name, widths):
    X, kernel = table(seed), Kernel(KERNELS[name], 0.3, 1.0, 2)
    found = drawn(X, kernel, Rank(20), seed)
    K = gram(X, X, kernel)
    F, errors = naive.pivoted_cholesky(K, found.pivots)
    assert_allclose(found.factor, F, atol=1e-7)
    assert_allclose(found.errors, errors, atol=1e-9 * errors[0])
    assert_allclose(found.triangle, F[found.pivots], atol=1e-7)
    assert_array_equal(found.triangle, np.tril(found.triangle))
    assert len(set(found.pivots)) == found.pivots.size
    assert found.lowest > -1e-12


@pytest.mark.parametrize("seed", range(3))
def test_what_is_left_is_positive_semidefinite_and_its_trace_is_the_error(seed, widths):
    X = table(seed)
    found, K = drawn(X, RBF, Rank(25), seed), gram(X, X, RBF)
    left = K - found.factor @ found.factor.T
    assert np.linalg.eigvalsh(left)[0] > -1e-12
    assert_allclose(np.trace(left), found.trace_error(), atol=1e-11)
    assert_allclose(found.trace(), 60.0)
    assert (np.diff(found.errors) < 0.0).all()


def test_every_order_of_landmarks_is_as_likely_as_one_draw_at_a_time_makes_it(monkeypatch):
    """Rejection changes no probability: the order of all landmarks, against its exact distribution."""
    X = np.array([[0.0], [0.1], [1.0], [3.0]])
    K = gram(X, X, RBF)

    def probability(order):
        rest, product = K.copy(), 1.0
        for s in order:
            product *= rest[s, s] / rest.trace()
            rest = rest - np.outer(rest[:, s], rest[:, s]) / rest[s, s]
        return product

    orders = list(permutations(range(4), 3))
    n_draws = 1500
    counts = dict.fromkeys(orders, 0)
    for seed in range(n_draws):
        counts[tuple(int(s) for s in drawn(X, RBF, Rank(3), seed).pivots)] += 1
    expected = np.array([probability(order) for order in orders]) * n_draws
    assert_allclose(expected.sum(), n_draws)
    chi_square = ((np.array(list(counts.values())) - expected) ** 2 / expected).sum()
    assert chi_square < 50.0  # 23 degrees of freedom: one in a thousand is above 49.7


def test_pivots_find_small_groups_that_uniform_ones_miss():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(500, 2)) * 0.01, 100.0 * rng.normal(size=(10, 2))])
    pivoted = drawn(X, RBF, Rank(12)).trace_error()
    uniform = last(given_pivots(kernel_matrix(X, RBF), rng.permutation(510)[:12], Rank(12))).trace_error()
    assert pivoted < 0.1 * uniform


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_target_error_is_kept_with_no_column_too_many(dtype):
    X = table(1, 200).astype(dtype)
    found = drawn(X, RBF, Rank(200, 0.01))
    assert found.trace_error() <= 0.01 * found.trace() < found.errors[-2]
    assert found.factor.dtype == dtype
    assert found.factor.shape == (200, found.pivots.size)


def test_a_target_of_everything_needs_no_column():
    found = drawn(table(1), RBF, Rank(60, 1.0))
    assert found.pivots.size == 0
    assert found.trace_error() == found.trace()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_repeats_and_rank_deficiency_are_rejected_not_factored(dtype, widths):
    X = np.repeat(table(2, 8, 3), 9, axis=0).astype(dtype)
    assert drawn(X, LINEAR, Rank(50)).pivots.size == 3
    found = drawn(X, RBF, Rank(50))
    assert found.pivots.size == 8
    assert np.isfinite(found.factor).all()
    assert found.trace_error() < 1e-4 * found.trace() if dtype == np.float32 else 1e-11 * found.trace()


@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_near_duplicates_far_from_the_origin_in_float32(shift):
    rng = np.random.default_rng(3)
    X = (np.repeat(rng.normal(size=(20, 4)), 5, axis=0) + shift + 1e-3 * rng.normal(size=(100, 4))).astype(np.float32)
    found = drawn(X, RBF, Rank(60))
    exact = gram(X.astype(np.float64), X.astype(np.float64), RBF)
    assert np.abs(exact - found.factor @ found.factor.T).max() < 1e-2 + found.trace_error()
    assert np.isfinite(found.factor).all()
    assert found.lowest > -1e-3


def test_rows_of_nothing_and_a_matrix_of_nothing():
    X = np.vstack([np.zeros((5, 2)), np.eye(2)])
    assert set(drawn(X, LINEAR, Rank(7)).pivots) == {5, 6}
    nothing = drawn(np.zeros((4, 2)), LINEAR, Rank(3))
    assert nothing.factor.shape == (4, 0)
    assert nothing.trace_error() == 0.0


def test_same_bits_for_any_number_of_threads(widths):
    X = table(4, 300)
    one, two = (drawn(X, RBF, Rank(40), 7, n_threads) for n_threads in (1, 2))
    assert_array_equal(one.factor, two.factor)
    assert_array_equal(one.errors, two.errors)


def test_all_columns_give_all_of_the_matrix(widths):
    X = table(5)
    found = drawn(X, RBF, Rank(1000))
    assert_allclose(found.factor @ found.factor.T, gram(X, X, RBF), atol=1e-10)


@pytest.mark.parametrize("form", ["dense", "sparse", "function", "precomputed"])
def test_features_of_the_rows_are_the_factor_and_of_new_rows_the_best_fit(form):
    X, Z = table(6), table(7, 11)
    K = gram(X, X, RBF)
    kernel = {"function": lambda a, b: gram(np.asarray(a), np.asarray(b), RBF), "precomputed": None}.get(form, RBF)
    rows = {"sparse": sparse.csr_array(X), "precomputed": K}.get(form, X)
    found = drawn(rows, kernel, Rank(15), 1)
    queries = {"sparse": sparse.csr_array(Z), "precomputed": gram(Z, X[found.pivots], RBF)}.get(form, Z)
    landmarks = None if form == "precomputed" else rows[found.pivots]
    again = low_rank_features(K[:, found.pivots] if landmarks is None else rows, landmarks, kernel, found.triangle)
    assert_allclose(again, found.factor, atol=1e-6)
    new = low_rank_features(queries, landmarks, kernel, found.triangle, 2)
    among, beside = gram(X[found.pivots], X[found.pivots], RBF), gram(Z, X[found.pivots], RBF)
    assert_allclose(new @ new.T, beside @ np.linalg.solve(among, beside.T), atol=1e-6)


def test_given_landmarks_in_their_order_without_repeats():
    X = table(8)
    found = last(given_pivots(kernel_matrix(X, RBF), np.array([9, 3, 9, 30, 3]), Rank(4)))
    assert_array_equal(found.pivots, [9, 3, 30])


def test_what_is_no_kernel_leaves_a_negative_diagonal():
    X = table(9)
    sigmoid = Kernel(KERNELS["sigmoid"], 1.0, -1.0)
    K = gram(X, X, sigmoid) + 2.0 * np.eye(60) * 0.9
    assert np.linalg.eigvalsh(K)[0] < -0.1
    assert drawn(K, None, Rank(60)).lowest < -1e-3


def test_a_few_columns_cost_few_kernel_values():
    X, seen = table(10, 400), []

    def counted(a, b):
        seen.append(len(a) * len(b))
        return gram(a, b, RBF)

    found = drawn(X, counted, Rank(30))
    assert found.pivots.size == 30
    assert sum(seen) < 400 * (30 + 32) + 3 * 110**2  # columns, the diagonal in tiles, and the proposals
