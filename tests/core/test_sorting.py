"""The stable order of numbers: as NumPy has it, for any length."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from eigenwood.core.sorting import RUN, sorted_numbers, sorted_order

LENGTHS = (0, 1, 2, RUN - 1, RUN, RUN + 1, 2 * RUN, 2 * RUN + 1, 3 * RUN, 4 * RUN, 5 * RUN + 3, 8 * RUN + 1)


def inserted(keys):
    """The places of the keys by size: each goes behind all that are not larger."""
    order = []
    for i, key in enumerate(keys):
        place = sum(1 for j in order if keys[j] <= key)
        order.insert(place, i)
    return np.array(order, dtype=np.int64)


@pytest.mark.parametrize("n_values", [1, 2, 5, 10**6], ids=["all equal", "two values", "ties", "no ties"])
@pytest.mark.parametrize("length", LENGTHS)
def test_equals_the_textbook(length, n_values):
    keys = np.random.default_rng(length).integers(n_values, size=length).astype(float)
    assert_array_equal(sorted_order(keys), inserted(keys))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(allow_nan=False), max_size=70))
def test_same_as_numpy(keys):
    keys = np.array(keys, dtype=float)
    assert_array_equal(sorted_order(keys), np.argsort(keys, kind="stable"))


@pytest.mark.parametrize("length", LENGTHS)
def test_what_is_sorted_stays_as_it_is(length):
    keys = np.sort(np.random.default_rng(length).integers(4, size=length).astype(float))
    assert_array_equal(sorted_order(keys), np.arange(length))


FLOATS = st.one_of(
    st.floats(),
    st.sampled_from([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 5e-324, -5e-324]),
)


@given(st.lists(FLOATS, max_size=60))
def test_numbers_are_in_numpys_order_without_the_missing_ones(values):
    column = np.array(values, dtype=np.float64)
    before = column.copy()
    expected = np.sort(column[~np.isnan(column)])
    assert_array_equal(sorted_numbers(column), expected)
    assert_array_equal(column, before)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_many_numbers_of_any_size_are_in_order(scale):
    column = scale * np.random.default_rng(1).standard_cauchy(3000)
    assert_array_equal(sorted_numbers(column), np.sort(column))
