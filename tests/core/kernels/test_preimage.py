"""Pre-images: equal to the iteration of one point by one start, stationary, and a failure is said."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.kernels import preimage
from eigenwood.core.kernels.blocks import gram
from eigenwood.core.kernels.functions import KERNELS, Kernel
from eigenwood.core.kernels.preimage import fixed_points, from_distances
from tests.naive import kernel_pca as naive

GAMMA = 0.3
RBF = Kernel(KERNELS["rbf"], GAMMA)


def case(seed=0, n_rows=20, n_points=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2))
    return X, rng.random(size=(n_points, n_rows)) ** 4 / n_rows


def test_it_is_where_the_iteration_of_one_start_ends():
    X, weights = case()
    found = fixed_points(weights, X, GAMMA)
    for g, z in zip(weights, found.rows, strict=True):
        ends = [naive.fixed_point(g, X, GAMMA, X[i], 500) for i in np.argsort(-g)[:3]]
        values = [g @ gram(end[None], X, RBF)[0] for end in ends]
        assert_allclose(z, ends[int(np.argmax(values))], atol=1e-4)
    assert not found.failed.any()


def test_no_point_nearby_is_closer():
    X, weights = case(1)
    found = fixed_points(weights, X, GAMMA).rows
    at = (weights * gram(found, X, RBF)).sum(axis=1)
    for step in 1e-2 * np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]):
        assert ((weights * gram(found + step, X, RBF)).sum(axis=1) <= at + 1e-9).all()


def test_the_best_of_several_starts():
    """Two hills, the higher one beside the row of second largest weight: the start of largest weight is not enough."""
    X = np.array([[0.0], [10.0], [10.1], [9.9]])
    weights = np.array([[0.4, 0.3, 0.3, 0.3]])
    assert abs(fixed_points(weights, X, 1.0).rows[0, 0] - 10.0) < 0.1
    only = preimage.settled(X[:1], weights, X, Kernel(KERNELS["rbf"], 1.0))
    assert abs(only[0][0, 0]) < 0.1


def test_a_start_of_the_callers_own():
    X = np.array([[0.0], [1.0], [2.0], [30.0]])
    weights = np.array([[0.3, 0.3, 0.3, 0.95]])
    assert abs(fixed_points(weights[:, :3], X[:3], 1.0).rows[0, 0] - 1.0) < 1e-3
    assert abs(fixed_points(weights, X, 1.0, np.array([[29.0]])).rows[0, 0] - 30.0) < 1e-3


@pytest.mark.parametrize("weights", [[[0.0, 0.0]], [[-1.0, -2.0]], [[1e-300, 1e-300]]])
def test_a_sum_that_is_not_above_nothing_is_a_failure_and_no_number_is_lost(weights):
    X = np.array([[1.0], [5.0]])
    found = fixed_points(np.array(weights), X, 1.0)
    assert np.isfinite(found.rows).all()
    if weights[0][0] <= 0.0:
        assert_array_equal(found.failed, [True])
        assert found.rows[0] in X


def test_no_points():
    assert fixed_points(np.empty((0, 2)), np.eye(2), 1.0).rows.shape == (0, 2)


def test_distances_give_back_a_point_among_its_neighbours():
    X = np.random.default_rng(2).normal(size=(40, 3))
    z = 0.3 * np.random.default_rng(3).normal(size=(5, 3))
    squares = 2.0 - 2.0 * gram(z, X, RBF)
    assert_allclose(from_distances(squares, X, GAMMA), z, atol=1e-6)


def test_distances_of_rows_that_are_all_alike():
    X = np.ones((12, 2))
    assert_allclose(from_distances(np.full((1, 12), 0.5), X, GAMMA), [[1.0, 1.0]])


def test_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(preimage, "QUERIES", 2)
    X, weights = case(4)
    assert_array_equal(
        fixed_points(weights, X, GAMMA, n_threads=1).rows, fixed_points(weights, X, GAMMA, n_threads=3).rows
    )
