"""Parts of dates by Python's own calendar: read this first, then core/calendar.py."""

from __future__ import annotations

import datetime
import math


def date_parts(days: list[float]) -> list[tuple[float, ...]]:
    """Return year, month, weekday, day of the month and hour of each date."""
    parts = []
    for value in days:
        if math.isnan(value):
            parts.append((math.nan,) * 5)
            continue
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(days=value)
        hour = moment.hour + moment.minute / 60 + (moment.second + moment.microsecond / 1e6) / 3600
        parts.append((moment.year, moment.month, moment.weekday(), moment.day, hour))
    return parts
