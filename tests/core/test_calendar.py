"""Parts of dates: equal to Python's own calendar, and sound for dates that it does not know."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from eigenwood.core.calendar import date_parts, has_times, on_a_circle
from tests.naive import calendar as naive


@given(st.lists(st.integers(-700_000, 2_900_000).map(float) | st.just(float("nan")), min_size=1))
def test_equals_the_calendar(days):
    assert_allclose(np.column_stack(date_parts(np.array(days))), naive.date_parts(days))


@given(st.lists(st.integers(-(10**9), 10**9).map(lambda minute: minute / 1440), min_size=1))
def test_times_equal_the_calendar(days):
    assert_allclose(np.column_stack(date_parts(np.array(days))), naive.date_parts(days), atol=1e-9)


@pytest.mark.parametrize("days", [1e12, -1e12, 1e300, 4e6, -4e6])
def test_dates_that_are_far_off_are_sound(days):
    year, month, weekday, day, hour = (part[0] for part in date_parts(np.array([days])))
    assert abs(year) < 20_000
    assert (1 <= month <= 12, 0 <= weekday <= 6, 1 <= day <= 31, 0 <= hour < 24) == (True,) * 4


@pytest.mark.parametrize("hour", range(24))
def test_whole_hours_stay_whole(hour):
    days = np.arange(18_000, 18_400) + hour / 24
    assert (date_parts(days).hour == hour).all()


@pytest.mark.parametrize(
    ("days", "vary"),
    [([1.0, 2.0], False), ([1.5, 2.5], False), ([1.0, 2.5], True), ([np.nan, 1.5], False), ([], False)],
)
def test_times_vary(days, vary):
    assert has_times(np.array(days)) is vary


def test_december_stands_beside_january():
    sine, cosine = on_a_circle(np.arange(1.0, 14.0), 12.0)
    assert_allclose([sine[0], cosine[0]], [sine[12], cosine[12]], atol=1e-12)
    steps = np.hypot(np.diff(sine), np.diff(cosine))
    assert_allclose(steps, steps[0])
