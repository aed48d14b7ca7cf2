"""How strings are read as numbers and dates: one reading for a whole column, chosen by looking at all of its values.

    strings                                     reading                      value
    1.5   -2e3                                  plain                        the number
    1.234,56   1234,5   1.234,56 €              1.234,56                     the number
    1,234.56   $1,234   12.5 %                  1,234.56                     the number; 12.5 for 12.5 %
    1 234,56   1 234.56   1'234.56              three more, named like this  the number
    23:59   7:05:30                             hours:minutes                days
    2024-12-31   2024-12-31T23:59               ISO date                     days since 1970-01-01
    2024-12-31T23:59Z                           ISO date with zone           days since 1970-01-01
    31.12.2024   31/12/24 23:59   31 Dec 2024   day month year               days since 1970-01-01
    12/31/2024 11:59 pm   Dec 31, 2024          month day year               days since 1970-01-01
    2024/12/31 7:05                             year month day               days since 1970-01-01

A reading fits a column when it can read every string that is not missing. Where several fit and give different
values ("1,234", "01/02/2024"), the other columns of the table decide, and then what is more usual.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

MICROSECONDS_PER_DAY = 86_400_000_000.0

PLAIN, ISO, ISO_ZONED, CLOCK = "plain", "ISO date", "ISO date with zone", "hours:minutes"
COMMA_DECIMAL, POINT_DECIMAL = "1.234,56", "1,234.56"
DAY_FIRST, MONTH_FIRST, YEAR_FIRST = "day month year", "month day year", "year month day"
DIGITS, YEARS = "20241231", "2024"  # dates only where somebody says that they are

FIRST_LOOK = 32  # different strings that a reading must fit before all are looked at
MOST_EXAMPLES = 1000


class Marks(NamedTuple):
    """What stands between thousands, and before decimals."""

    thousands: str  # inside the brackets of a regular expression
    decimal: str


NUMBER_MARKS = {  # the more usual first
    POINT_DECIMAL: Marks(",", "."),
    COMMA_DECIMAL: Marks(".", ","),
    "1 234,56": Marks(" \u00a0\u2009\u202f", ","),
    "1 234.56": Marks(" \u00a0\u2009\u202f", "."),
    "1'234.56": Marks("'’", "."),
}
DATE_ORDERS = {DAY_FIRST: "dmy", MONTH_FIRST: "mdy", YEAR_FIRST: "ymd"}

CURRENCY = (
    r"\p{Sc}|US\$|EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|kr\.?|zł|Kč|Fr\.?|Ft"
)
UNIT = rf"(?:{CURRENCY}|%)"
NOT_A_UNIT = r"[eE][+\-]?\d+|[-+−\d.,'’\s\x{00a0}\x{2009}\x{202f}]"
TIME_PART = (
    r"(?:[T ,]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,6})\d*)?)?"
    r"\s*(?P<half>(?i:[ap])\.?(?i:m)\.?)?)?"
)
DATE = (
    r"^(?P<first>\d{1,4})(?P<mark>[./-]) ?(?P<second_part>\d{1,2})(?P<mark_again>[./-]) ?(?P<third>\d{1,4})"
    + TIME_PART
    + "$"
)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH_ENDS = "uary|ruary|ch|il|e|y|ust|t|tember|ober|ember"
MONTH = rf"(?P<month>(?i:{'|'.join(MONTHS)}))(?i:{MONTH_ENDS})?\.?"
NAMED_DATES = {
    DAY_FIRST: rf"^(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.?[ -]{MONTH}[ ,-]+(?P<year>\d{{4}}|\d{{2}}){TIME_PART}$",
    MONTH_FIRST: rf"^{MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? +(?P<year>\d{{4}}){TIME_PART}$",
}
CLOCK_PATTERN = r"^(?P<hour>\d{1,4}):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:[.,](?P<fraction>\d{1,6})\d*)?)?$"
LAST_SHORT_YEAR = 68  # 68 is 2068 and 69 is 1969, as POSIX has it


class Fits(NamedTuple):
    """The readings that fit some strings, and what tells between two that fit alike."""

    readings: frozenset[str]
    first_is_1: bool = True  # the first number of every date, as days are where months are listed
    second_is_1: bool = True
    has_slashes: bool = False  # between the numbers of dates

    def joined(self, other: Fits) -> Fits:
        """Return what fits these strings and the other ones."""
        return Fits(
            self.readings & other.readings,
            self.first_is_1 and other.first_is_1,
            self.second_is_1 and other.second_is_1,
            self.has_slashes or other.has_slashes,
        )

    def of(self, names: Iterable[str]) -> Fits:
        """Return the same with these readings alone."""
        return self._replace(readings=self.readings & frozenset(names))

    def best(self, preferred: Sequence[str] = ()) -> str | None:
        """Return the likeliest reading, the preferred ones first; None if nothing fits."""
        months = (MONTH_FIRST,) if self.puts_months_first() else ()
        return next((name for name in (*preferred, *months, *READINGS) if name in self.readings), None)

    def puts_months_first(self) -> bool:
        """Return whether the month is likelier to come first than the day: with slashes, unless months are listed."""
        return self.has_slashes and (self.second_is_1 or not self.first_is_1)

    def evidence(self) -> set[str]:
        """Return the readings that these strings speak for: the other one of a pair does not fit."""
        return {one for one, other in PAIRS if one in self.readings and other not in self.readings}


class Read(NamedTuple):
    """Strings as one reading has them."""

    name: str
    values: pa.ChunkedArray


def plainly_read(text: pa.ChunkedArray) -> Read | None:
    """Return strings as Arrow reads them, if it reads them all."""
    for name in PLAIN_READINGS:
        values = read_as(text, name)
        if values is not None:
            return Read(name, values)
    return None


def all_fits(text: pa.ChunkedArray) -> Fits:
    """Return all readings that fit strings."""
    strings = pc.unique(text).drop_null()
    if len(strings) == 0:
        return Fits(frozenset(READINGS))
    found = frozenset(name for name in READINGS if could_fit(strings, name) and READINGS[name](strings) is not None)
    if not {DAY_FIRST, MONTH_FIRST} <= found:
        return Fits(found)
    parts = pc.extract_regex(strings, DATE)
    first, mark, second = (pc.struct_field(parts, name) for name in ("first", "mark", "second_part"))
    return Fits(found, all_are_1(first), all_are_1(second), bool(pc.any(pc.equal(mark, "/")).as_py()))


def could_fit(strings: pa.Array, name: str) -> bool:
    return READINGS[name](strings.slice(0, FIRST_LOOK)) is not None


def all_are_1(numbers: pa.Array) -> bool:
    return bool(pc.all(pc.is_in(numbers, value_set=pa.array(["1", "01"]))).as_py())


def read_as(text: pa.ChunkedArray, name: str) -> pa.ChunkedArray | None:
    """Return the strings by one reading, null where one is missing; None if it does not fit them all."""
    if name in PLAIN_READINGS:
        return READINGS[name](text)
    encoded = text.combine_chunks().dictionary_encode()
    values = READINGS[name](encoded.dictionary)
    return None if values is None else pa.chunked_array([values.take(encoded.indices)])


def first_misfit(text: pa.ChunkedArray, name: str) -> int:
    """Return the place of the first string that a reading cannot read, found by halving."""
    return bisect_left(range(len(text)), True, key=lambda i: read_as(text[: i + 1], name) is None)


# --- choosing for a table -------------------------------------------------------------------------


def chosen_readings(found: Mapping[str, Fits], preferred: Mapping[str, str]) -> dict[str, str | None]:
    """Return one reading for each column: the preferred one if it fits, else by what the other columns speak for."""
    spoken_for = [name for name, _ in PAIRS if any(name in fit.evidence() for fit in found.values())]
    contested = {name for pair in PAIRS for name in pair if set(pair) <= set(spoken_for)}
    usual = [name for name in spoken_for if name not in contested]
    return {
        column: fit.best([preferred[column], *usual] if column in preferred else usual) for column, fit in found.items()
    }


def treatment_of(text: pa.ChunkedArray, name: str, fit: Fits) -> str:
    """Return how the strings were read, by an example; nothing where they are read as they stand."""
    if name in PLAIN_READINGS or text.null_count == len(text):
        return ""
    other = next((b for a, b in PAIRS if a == name and b in fit.readings), None)
    example = telling_example(text, name, other)
    words = f"{example} read as {shown(example, name)}"
    if other is None or shown(example, other) == shown(example, name):
        return words
    return f"{words} ({shown(example, other)} is possible, too)"


def telling_example(text: pa.ChunkedArray, name: str, other: str | None) -> str:
    """Return a string that shows the reading: one that has another value by the other reading, or the longest."""
    some = pc.unique(text.drop_null()[:MOST_EXAMPLES]).to_pylist()
    rival = other or next((b for a, b in PAIRS if a == name), None)
    if rival is not None:
        some = [string for string in some if shown(string, rival) != shown(string, name)] or some
    return max(some, key=len)


def shown(string: str, name: str) -> str:
    """Return the value of one string as people write it, or nothing if the reading does not fit."""
    values = read_as(pa.chunked_array([[string]]), name)
    if values is None:
        return ""
    value = values[0].as_py()
    if name not in DATE_READINGS:
        return f"{value:.15g} days" if name == CLOCK else f"{value:.15g}"
    return (
        str(np.datetime64(round(value * MICROSECONDS_PER_DAY), "us")).removesuffix(".000000").removesuffix("T00:00:00")
    )


# --- as they stand --------------------------------------------------------------------------------


def read_plain(text: Any) -> Any:
    """Return strings as Arrow reads numbers."""
    try:
        return without_nan(pc.cast(text, pa.float64()))
    except pa.ArrowInvalid:
        return None


def read_iso(text: Any, kind: pa.DataType) -> Any:
    """Return strings as Arrow reads dates."""
    try:
        return timestamps_to_days(pc.cast(text, kind))
    except pa.ArrowInvalid:
        return None


def without_nan(numbers: Any) -> Any:
    """Return the numbers with null for NaN."""
    is_nan = pc.is_nan(numbers)
    if not pc.any(is_nan).as_py():
        return numbers
    return pc.if_else(is_nan, pa.scalar(None, numbers.type), numbers)


def timestamps_to_days(values: Any) -> Any:
    return pc.divide(pc.cast(values.cast(pa.int64()), pa.float64(), safe=False), MICROSECONDS_PER_DAY)


# --- numbers --------------------------------------------------------------------------------------


def number_pattern(marks: Marks) -> str:
    """Return the regular expression of numbers with these marks, a unit before or behind them."""
    decimal = rf"\{marks.decimal}"
    thousands = "".join(rf"\{mark}" if mark in ".," else mark for mark in marks.thousands)
    whole = rf"(?:[1-9]\d{{0,2}}(?:[{thousands}]\d{{3}})+|\d+)"
    number = rf"(?:{whole}(?:{decimal}\d*)?|{decimal}\d+)(?:[eE][+\-]?\d+)?"
    return rf"^[-+−]?\s?(?:{UNIT}\s?)?[-+−]?{number}(?:\s?{UNIT})?$"


NUMBER_PATTERNS = {name: number_pattern(marks) for name, marks in NUMBER_MARKS.items()}


def read_numbers(strings: pa.Array, name: str) -> pa.Array | None:
    """Return strings with marks and units as numbers; None if one is none, or units differ."""
    if not pc.all(pc.match_substring_regex(strings, NUMBER_PATTERNS[name])).as_py():
        return None
    if pc.any(pc.match_substring_regex(strings, UNIT)).as_py():
        if not is_one_unit(strings):
            return None
        strings = pc.replace_substring_regex(strings, UNIT, "")
    marks = NUMBER_MARKS[name]
    for mark in [*marks.thousands, " ", "\u00a0"]:
        strings = pc.replace_substring(strings, mark, "")
    if marks.decimal != ".":
        strings = pc.replace_substring(strings, marks.decimal, ".")
    try:
        return pc.cast(pc.replace_substring(strings, "−", "-"), pa.float64())
    except pa.ArrowInvalid:  # two signs
        return None


def is_one_unit(strings: pa.Array) -> bool:
    """Return whether the numbers are amounts of one thing: a currency that some may lack, or percent throughout."""
    units = pc.unique(pc.drop_null(pc.replace_substring_regex(strings, NOT_A_UNIT, ""))).to_pylist()
    return len(units) == 1 or (len(units) == 2 and "" in units and "%" not in units)


def read_clock(strings: pa.Array) -> pa.Array | None:
    """Return times of day and durations in days."""
    parts = extracted(strings, CLOCK_PATTERN)
    return None if parts is None else pa.array(day_shares(parts), mask=is_missing(strings))


# --- dates ----------------------------------------------------------------------------------------


def read_dates(strings: pa.Array, name: str) -> pa.Array | None:
    """Return dates in one order as days since 1970-01-01; None if one is none."""
    parts = extracted(strings, DATE)
    if parts is not None:
        return days_of(strings, numbered_parts(parts, DATE_ORDERS[name]), parts)
    if name in NAMED_DATES and (parts := extracted(strings, NAMED_DATES[name])) is not None:
        return days_of(strings, named_parts(parts), parts)
    return None


def extracted(strings: pa.Array, pattern: str) -> pa.StructArray | None:
    """Return the parts of the strings that a pattern names; None if it does not match them all."""
    parts = pc.extract_regex(strings, pattern)
    return parts if parts.null_count == strings.null_count else None


class DateParts(NamedTuple):
    """Year, month and day of each date, and whether the three may be a date."""

    year: np.ndarray
    month: np.ndarray
    day: np.ndarray
    may_be: np.ndarray


def numbered_parts(parts: pa.StructArray, order: str) -> DateParts:
    """Return the parts of dates that are three numbers; a year has four digits, or the last number has two."""
    texts = dict(zip(order, (parts.field(name) for name in ("first", "second_part", "third")), strict=True))
    numbers = {name: whole_numbers(part) for name, part in texts.items()}
    lengths = {name: text_lengths(part) for name, part in texts.items()}
    marks = parts.field("mark")
    may_be = filled(pc.equal(marks, parts.field("mark_again"))) & (lengths["d"] <= 2)
    is_short = lengths["y"] == 2
    if order[2] == "y":
        both_two = (lengths["d"] == 2) & (lengths["m"] == 2)
        may_be &= (lengths["y"] == 4) | (is_short & (both_two | filled(pc.equal(marks, "/"))))
    else:
        may_be &= lengths["y"] == 4
    return DateParts(full_years(numbers["y"], is_short), numbers["m"], numbers["d"], may_be)


def named_parts(parts: pa.StructArray) -> DateParts:
    """Return the parts of dates whose month is a word."""
    months = pc.index_in(pc.ascii_lower(parts.field("month")), value_set=pa.array(MONTHS))
    years = whole_numbers(parts.field("year"))
    month = 1 + months.fill_null(0).to_numpy(zero_copy_only=False)
    is_short = text_lengths(parts.field("year")) == 2
    return DateParts(full_years(years, is_short), month, whole_numbers(parts.field("day")), np.ones(month.size, bool))


def full_years(years: np.ndarray, is_short: np.ndarray) -> np.ndarray:
    return np.where(is_short, years + np.where(years <= LAST_SHORT_YEAR, 2000, 1900), years)


def days_of(strings: pa.Array, parts: DateParts, times: pa.StructArray) -> pa.Array | None:
    """Return dates with their times as days since 1970-01-01; None if one does not exist."""
    is_null = is_missing(strings)
    months = ((parts.year - 1970) * 12 + parts.month - 1).astype("M8[M]")
    days = months.astype("M8[D]") + (parts.day - 1)
    exists = (parts.month >= 1) & (parts.month <= 12) & (parts.day >= 1) & (days.astype("M8[M]") == months)
    hours = whole_numbers(times.field("hour"))
    is_time = (hours < 24) & (whole_numbers(times.field("minute")) < 60) & (whole_numbers(times.field("second")) < 61)
    if not (is_null | (parts.may_be & exists & is_time & half_days_fit(times, hours))).all():
        return None
    shares = day_shares(times, hours_of_halves(times, hours))
    return pa.array(days.astype(np.int64) + shares, mask=is_null)


def half_days_fit(times: pa.StructArray, hours: np.ndarray) -> np.ndarray:
    """Return whether hours with am or pm are those of a clock with twelve of them."""
    has_half = text_lengths(times.field("half")) > 0
    return ~has_half | ((hours >= 1) & (hours <= 12))


def hours_of_halves(times: pa.StructArray, hours: np.ndarray) -> np.ndarray:
    """Return the hours of the day: 12 am is 0 and 1 pm is 13."""
    half = pc.ascii_lower(times.field("half"))
    is_pm = filled(pc.starts_with(half, "p"))
    return np.where(text_lengths(half) > 0, hours % 12 + 12 * is_pm, hours)


def day_shares(times: pa.StructArray, hours: np.ndarray | None = None) -> np.ndarray:
    """Return times as parts of a day, exact to the microsecond."""
    hours = whole_numbers(times.field("hour")) if hours is None else hours
    minutes, seconds = whole_numbers(times.field("minute")), whole_numbers(times.field("second"))
    digits = pc.utf8_rpad(times.field("fraction"), width=6, padding="0")
    micros = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + whole_numbers(digits)
    return micros / MICROSECONDS_PER_DAY


def whole_numbers(text: pa.Array) -> np.ndarray:
    """Return strings of digits as integers, 0 for a part that is not there."""
    is_nothing = pc.fill_null(pc.equal(text, ""), True)
    return pc.cast(pc.if_else(is_nothing, "0", text), pa.int64()).to_numpy(zero_copy_only=False)


def text_lengths(text: pa.Array) -> np.ndarray:
    return pc.utf8_length(text).fill_null(0).to_numpy(zero_copy_only=False)


def filled(flags: pa.BooleanArray) -> np.ndarray:
    return flags.fill_null(False).to_numpy(zero_copy_only=False)


def is_missing(strings: pa.Array) -> np.ndarray:
    return strings.is_null().to_numpy(zero_copy_only=False)


def read_digits(strings: pa.Array) -> pa.Array | None:
    """Return dates of eight digits, as 20241231, as days since 1970-01-01."""
    if not pc.all(pc.match_substring_regex(strings, r"^\d{8}$")).as_py():
        return None
    parts = [pc.utf8_slice_codeunits(strings, start, stop) for start, stop in ((0, 4), (4, 6), (6, 8))]
    return read_dates(pc.binary_join_element_wise(*parts, "-"), YEAR_FIRST)


def read_years(strings: pa.Array) -> pa.Array | None:
    """Return years, as 2024, as the days of their first of January since 1970-01-01."""
    if not pc.all(pc.match_substring_regex(strings, r"^\d{4}$")).as_py():
        return None
    return read_dates(pc.binary_join_element_wise(strings, "01", "01", "-"), YEAR_FIRST)


READINGS: dict[str, Callable[[Any], Any]] = {  # the likelier first
    PLAIN: read_plain,
    ISO: partial(read_iso, kind=pa.timestamp("us")),
    ISO_ZONED: partial(read_iso, kind=pa.timestamp("us", "UTC")),
    **{name: partial(read_numbers, name=name) for name in NUMBER_MARKS},
    **{name: partial(read_dates, name=name) for name in DATE_ORDERS},
    CLOCK: read_clock,
    DIGITS: read_digits,
    YEARS: read_years,
}
PLAIN_READINGS = (PLAIN, ISO, ISO_ZONED)
DATE_READINGS = (ISO, ISO_ZONED, *DATE_ORDERS, DIGITS, YEARS)
NUMBER_READINGS = tuple(name for name in READINGS if name not in DATE_READINGS)
# of two readings that may fit the same strings and give other values; each way round
PAIRS = (
    (POINT_DECIMAL, COMMA_DECIMAL),
    (COMMA_DECIMAL, POINT_DECIMAL),
    (DAY_FIRST, MONTH_FIRST),
    (MONTH_FIRST, DAY_FIRST),
)
