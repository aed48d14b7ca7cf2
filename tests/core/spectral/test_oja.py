"""Oja's rule: equal to plain loops for one direction, and on its way to the components where these are easy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.spectral.oja import MEMORY, OjaState, after_batch, oja_start
from eigenwood.core.threads import row_blocks
from tests.core.spectral.cases import assert_orthonormal, rotation
from tests.naive import pca as naive

SPREADS = np.array([5.0, 3.0, 1.0, 0.5, 0.3, 0.2])


def easy_rows(seed, n_rows=2000):
    """Return rows about zero with a few strong directions, and these directions."""
    Q = rotation(6, seed)
    A = (np.random.default_rng(seed).normal(size=(n_rows, 6)) * SPREADS) @ Q.T
    return A - A.mean(axis=0), Q


def learnt(A, count, batch=50, seed=0):
    state = oja_start(A.shape[1], count, seed)
    for rows in row_blocks(len(A), batch):
        state = after_batch(state, A[rows], float(rows.stop - rows.start))
    return state


def angle(directions, others):
    """Return the sine of the largest angle between two spans."""
    return float(np.linalg.norm(directions - others @ (others.T @ directions), ord=2))


def test_equals_plain_loops_for_one_direction():
    A, _ = easy_rows(0, 200)
    start = oja_start(6, 1, seed=3)
    state = learnt(A, 1, batch=20, seed=3)
    w, length = naive.oja(A, row_blocks(200, 20), 20.0, start.directions[:, 0], MEMORY)
    assert_allclose(state.directions[:, 0], w, atol=1e-12)
    assert_allclose(state.lengths[0], length, rtol=1e-12)
    assert state.n_batches == 10


@pytest.mark.parametrize("seed", range(4))
def test_approaches_the_components_of_easy_rows(seed):
    A, Q = easy_rows(seed, 4000)
    state = learnt(A, 2, seed=seed)
    assert angle(state.directions, Q[:, :2]) < 0.1
    assert_allclose(state.lengths, SPREADS[:2] ** 2, rtol=0.2)
    for j in range(2):
        assert abs(state.directions[:, j] @ Q[:, j]) > 0.98
    assert angle(oja_start(6, 2, seed).directions, Q[:, :2]) > 0.3  # where it began


def test_more_rows_bring_it_closer():
    angles = np.array(
        [
            [angle(learnt(easy_rows(seed, n)[0], 2).directions, easy_rows(seed, n)[1][:, :2]) for n in (200, 4000)]
            for seed in range(5)
        ]
    )
    assert np.median(angles[:, 1]) < 0.5 * np.median(angles[:, 0])


@pytest.mark.parametrize("count", [1, 3, 6])
def test_directions_are_orthonormal_after_every_batch(count):
    A, _ = easy_rows(1, 300)
    state = oja_start(6, count, 0)
    assert_orthonormal(state.directions)
    for rows in row_blocks(300, 7):
        state = after_batch(state, A[rows], float(rows.stop - rows.start))
        assert_orthonormal(state.directions)
        assert (state.lengths >= 0).all()


def test_one_direction_of_rows_on_a_line_is_found_at_once():
    v = rotation(5)[:, 0]
    A = np.outer(np.random.default_rng(0).normal(size=40), v)
    state = after_batch(oja_start(5, 1, 0), A, 40.0)
    assert abs(state.directions[:, 0] @ v) == pytest.approx(1.0)
    again = after_batch(state, A, 40.0)
    assert_allclose(again.lengths, [(A**2).sum() / 40.0])  # the variance, once the direction is there


def test_the_first_batch_leaves_nothing_of_the_start():
    A, _ = easy_rows(2, 100)
    start = oja_start(6, 2, 0)
    other = OjaState(0, start.directions, np.array([1e6, 1e6]))
    assert_allclose(after_batch(start, A, 100.0).directions, after_batch(other, A, 100.0).directions)


def test_a_weight_is_a_row_given_so_often():
    A, _ = easy_rows(3, 30)
    counts = np.random.default_rng(0).integers(1, 4, size=30)
    weighted = after_batch(oja_start(6, 2, 0), np.sqrt(counts)[:, None] * A, float(counts.sum()))
    repeated = after_batch(oja_start(6, 2, 0), np.repeat(A, counts, axis=0), float(counts.sum()))
    assert_allclose(weighted.directions, repeated.directions, atol=1e-12)
    assert_allclose(weighted.lengths, repeated.lengths)


def test_the_seed_decides_the_start():
    assert_array_equal(oja_start(6, 2, 1).directions, oja_start(6, 2, 1).directions)
    assert not np.array_equal(oja_start(6, 2, 1).directions, oja_start(6, 2, 2).directions)
