"""Randomness becomes integers."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from eigenwood.validation.seeds import integer_seeds


def test_the_same_state_gives_the_same_seeds():
    assert_array_equal(integer_seeds(3, 5), integer_seeds(3, 5))
    assert_array_equal(integer_seeds(np.random.RandomState(3), 5), integer_seeds(3, 5))
    assert (integer_seeds(3, 5) != integer_seeds(4, 5)).any()


def test_more_seeds_begin_with_the_same():
    assert_array_equal(integer_seeds(0, 10)[:4], integer_seeds(0, 4))


def test_a_random_state_moves_on():
    state = np.random.RandomState(0)
    assert (integer_seeds(state, 3) != integer_seeds(state, 3)).any()


def test_they_are_integers_any_generator_takes():
    seeds = integer_seeds(0, 2000)
    assert seeds.dtype == np.int64
    assert seeds.min() >= 0
    assert 2**31 < seeds.max() < 2**32  # all 32 bits are used
    assert np.unique(seeds).size > 1990
    np.random.default_rng(int(seeds[0]))


def test_none_is_not_repeatable():
    assert (integer_seeds(None, 4) != integer_seeds(None, 4)).any()


@pytest.mark.parametrize("n_seeds", [0, 1])
def test_as_many_as_asked_for(n_seeds):
    assert integer_seeds(0, n_seeds).shape == (n_seeds,)
