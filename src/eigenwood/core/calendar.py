"""Dates as numbers: the year, month, weekday and hour of days since 1970-01-01."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SECONDS_PER_DAY, SECONDS_PER_HOUR = 86_400.0, 3_600.0
MOST_DAYS = 4e6  # about 11,000 years: dates that are further off are taken as that far
FIRST_WEEKDAY = 3  # 1970-01-01 was a Thursday, and Monday is 0


class DateParts(NamedTuple):
    """Parts of dates, each of shape (n,); NaN where a date is missing."""

    year: np.ndarray
    month: np.ndarray  # 1 to 12
    weekday: np.ndarray  # 0 is Monday
    day: np.ndarray  # of the month, from 1
    hour: np.ndarray  # with its fraction: 23.5 is half past eleven


def date_parts(days: np.ndarray) -> DateParts:
    """Return the parts of dates that are days since 1970-01-01.

    >>> [float(part[0]) for part in date_parts(np.array([20088.75]))]
    [2024.0, 12.0, 1.0, 31.0, 18.0]
    """
    is_missing = np.isnan(days)
    seconds = np.round(np.where(is_missing, 0.0, np.clip(days, -MOST_DAYS, MOST_DAYS)) * SECONDS_PER_DAY, 3)
    whole = np.floor(seconds / SECONDS_PER_DAY)
    dates = whole.astype(np.int64).astype("M8[D]")
    months, years = dates.astype("M8[M]"), dates.astype("M8[Y]")
    parts = (
        years.astype(np.int64) + 1970,
        (months - years.astype("M8[M]")).astype(np.int64) + 1,
        (whole + FIRST_WEEKDAY) % 7,
        (dates - months.astype("M8[D]")).astype(np.int64) + 1,
        (seconds - whole * SECONDS_PER_DAY) / SECONDS_PER_HOUR,
    )
    return DateParts(*(np.where(is_missing, np.nan, part) for part in parts))


def has_times(days: np.ndarray) -> bool:
    """Return whether the times of day of dates vary; a missing date has none."""
    hours = date_parts(days[~np.isnan(days)]).hour
    return bool(hours.size and (hours != hours[0]).any())


def on_a_circle(values: np.ndarray, period: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the sine and cosine of values that come round after a period: December stands beside January."""
    angles = 2.0 * np.pi / period * values
    return np.sin(angles), np.cos(angles)
