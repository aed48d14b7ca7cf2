"""From codes back to values: lists of categories, and columns that have no value."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from eigenwood.core.adaboost.decoding import DEFAULT_LEFT, entries_at, listed_categories


@pytest.mark.parametrize("default_left", [0, 1])
def test_more_categories_than_a_word_has_bits(default_left):
    """Those that go right stand as bits in words of 64."""
    goes_right = np.random.default_rng(0).random(150) < 0.4
    words = np.zeros(3, dtype=np.uint64)
    for code in np.flatnonzero(goes_right):
        words[code // 64] |= np.uint64(1) << np.uint64(code % 64)
    cut = np.zeros(16, dtype=np.int64)
    cut[DEFAULT_LEFT] = default_left
    assert_array_equal(listed_categories(cut, words, 150), np.flatnonzero(goes_right == bool(default_left)))


def test_behind_the_end_there_is_0():
    assert_array_equal(entries_at(np.array([3.0, 4.0]), np.array([1, 2, 7])), [4.0, 0.0, 0.0])
    assert_array_equal(entries_at(np.empty(0), np.array([0])), [0.0])
