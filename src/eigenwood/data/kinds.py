"""What a column is: a number, a category, a date, a text, an id, or a constant.

    column as it came                                  kind        values afterwards
    integers, floats, decimals, times, durations       number      float64 (float32 stays float32), times in days
    strings that all read as numbers                   number      float64
    dates, timestamps, strings that all read as dates  date        float64, days since 1970-01-01
    booleans                                           category    "false" / "true"
    dictionary / pandas category                       category    string
    other strings                                      category    string
    strings, mostly distinct, many words               text        string
    strings, nearly all distinct                       id          string
    consecutive integers that number the rows          id          string
    one value, or none                                 constant    as above

A missing value is null afterwards. An id is set apart because it names a row and says nothing about the next
one; a constant because it says nothing at all. How strings are read as numbers and dates stands in ``readings``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eigenwood.data.readings import MICROSECONDS_PER_DAY, without_nan

# A text file can write "missing" only as a word. A frame has nulls of its own, so there "NA" may be Namibia
# and "None" a garage type; only the two marks that are never a value are taken as missing.
MISSING_IN_TEXT_FILES = ("", "?", "NA", "N/A", "nan", "NaN", "null", "NULL", "None", "-")
MISSING_IN_FRAMES = ("", "?")

ID_SHARE = 0.95  # an id column may have a few repeated rows
TEXT_SHARE = 0.5  # free text hardly repeats; a long category name does
TEXT_WORDS = 3.0  # on average; names of people and places are shorter
MOST_EXACT = 2.0**53  # integers below are exact as floats
MANY_ROWS = 30  # of which no measure takes each of as many consecutive values just once
FIRST_YEAR, LAST_YEAR = 1500, 2200  # a run of integers between them is years
LOOKS_LIKE_YEARS = "consecutive numbers that look like years: no ID"

NUMBER, CATEGORY, DATE, TEXT, ID, CONSTANT = "number", "category", "date", "text", "id", "constant"
KINDS = (NUMBER, CATEGORY, DATE, TEXT)  # that can be asked for


class CleanColumn(NamedTuple):
    """A column after cleaning, with its kind."""

    values: pa.ChunkedArray
    kind: str
    n_distinct: int  # missing values are not counted
    treatment: str = ""  # how its values were read, where that is not plain
    reading: str = ""  # of strings that became numbers or dates, where it is not plain


# --- one function per way a column can go ---------------------------------------------------------


def named_column(text: pa.ChunkedArray) -> CleanColumn:
    """Return a column whose type already says that it is a category."""
    n_distinct = count_distinct(text)
    return CleanColumn(text, CONSTANT if is_constant(n_distinct) else CATEGORY, n_distinct)


def text_column(text: pa.ChunkedArray) -> CleanColumn:
    """Return a column of strings as category, text, id or constant."""
    n_distinct = count_distinct(text)
    n_present = len(text) - text.null_count
    if is_constant(n_distinct):
        kind = CONSTANT
    elif is_free_text(text, n_distinct, n_present):
        kind = TEXT
    elif n_distinct >= ID_SHARE * n_present:
        kind = ID
    else:
        kind = CATEGORY
    return CleanColumn(text, kind, n_distinct)


def number_column(numbers: pa.ChunkedArray, written: pa.ChunkedArray | None) -> CleanColumn:
    """Return a column of numbers as number, id or constant; ``written`` is how the file wrote them."""
    n_distinct = count_distinct(numbers)
    if is_constant(n_distinct):
        return CleanColumn(numbers, CONSTANT, n_distinct)
    if not (is_run(numbers, n_distinct) and is_written_as_integers(written)):
        return CleanColumn(numbers, NUMBER, n_distinct)
    if are_years(numbers):
        return CleanColumn(numbers, NUMBER, n_distinct, LOOKS_LIKE_YEARS)
    if not numbers_rows(numbers):
        return CleanColumn(numbers, NUMBER, n_distinct)
    return CleanColumn(to_text(written), ID, n_distinct)


def date_column(days: pa.ChunkedArray) -> CleanColumn:
    """Return a column of dates as date or constant."""
    n_distinct = count_distinct(days)
    return CleanColumn(days, CONSTANT if is_constant(n_distinct) else DATE, n_distinct)


# --- the rules ------------------------------------------------------------------------------------


def is_constant(n_distinct: int) -> bool:
    return n_distinct <= 1


def is_free_text(text: pa.ChunkedArray, n_distinct: int, n_present: int) -> bool:
    """Free text: mostly distinct strings of several words."""
    if n_distinct < TEXT_SHARE * n_present:
        return False
    return pc.mean(pc.count_substring_regex(text, r"\S+")).as_py() >= TEXT_WORDS


def is_run(numbers: pa.ChunkedArray, n_distinct: int) -> bool:
    """Whether each of first, first + 1, … last is there exactly once, in any order.

    Distinct integers with gaps are not a run: a population or a price is seldom the same twice either.
    """
    if n_distinct != len(numbers):
        return False
    low, high = pc.min_max(numbers).as_py().values()
    return high - low == len(numbers) - 1


def are_years(run: pa.ChunkedArray) -> bool:
    low, high = pc.min_max(run).as_py().values()
    return low >= FIRST_YEAR and high <= LAST_YEAR


def numbers_rows(run: pa.ChunkedArray) -> bool:
    """Whether consecutive integers number the rows: from 0 or 1, or from any positive number in order or if many.

    A few that are out of order may as well be ages or sizes that happen to be different.
    """
    values = run.to_numpy()
    if values.min() in (0, 1):
        return True
    steps = np.diff(values)
    is_in_order = (steps == 1).all() or (steps == -1).all()
    return bool(values.min() > 0 and (is_in_order or values.size >= MANY_ROWS))


def is_written_as_integers(written: pa.ChunkedArray | None) -> bool:
    """Whether the run was written 1, 2, 3: one written 1.0, 2.0, 3.0 is a measurement."""
    if written is None:
        return False
    try:
        pc.cast(written, pa.int64())
    except pa.ArrowInvalid:
        return False
    return True


def count_distinct(values: pa.ChunkedArray) -> int:
    return pc.count_distinct(values, mode="only_valid").as_py()


# --- conversions ----------------------------------------------------------------------------------


def is_stringlike(kind: pa.DataType) -> bool:
    return any(
        test(kind)
        for test in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_string_view,
            pa.types.is_binary,
            pa.types.is_large_binary,
        )
    )


def is_convertible(kind: pa.DataType) -> bool:
    """Whether a column of this type can be cleaned; lists and structs cannot."""
    if pa.types.is_dictionary(kind):
        return is_convertible(kind.value_type)
    tests = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return is_stringlike(kind) or is_timelike(kind) or pa.types.is_null(kind) or any(test(kind) for test in tests)


def is_timelike(kind: pa.DataType) -> bool:
    return is_datelike(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind)


def is_datelike(kind: pa.DataType) -> bool:
    return pa.types.is_date(kind) or pa.types.is_timestamp(kind)


def to_text(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values as strings without the spaces around them; whole numbers are written without a point."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_floating(values.type) and are_whole(values):
        values = values.cast(pa.int64())
    return pc.utf8_trim_whitespace(values.cast(pa.string()))


def are_whole(numbers: pa.ChunkedArray) -> bool:
    is_whole = pc.and_(pc.equal(numbers, pc.floor(numbers)), pc.less(pc.abs(numbers), MOST_EXACT))
    return pc.all(is_whole).as_py()


def without_markers(text: pa.ChunkedArray, markers: tuple[str, ...]) -> pa.ChunkedArray:
    """Return the strings with null in place of every missing marker."""
    is_marker = pc.is_in(text, value_set=pa.array(markers, pa.string()))
    if not pc.any(is_marker).as_py():
        return text
    return pc.if_else(is_marker, pa.scalar(None, pa.string()), text)


def to_numbers(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return float32 as it is and every other number or date as float64, with null for NaN."""
    if is_timelike(values.type):
        return to_days(values)
    keeps_float32 = pa.types.is_float32(values.type) or pa.types.is_float16(values.type)
    # safe=False: an integer above 2^53 is rounded, as it would be in any float array.
    return without_nan(pc.cast(values, pa.float32() if keeps_float32 else pa.float64(), safe=False))


def to_days(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return dates as days since 1970-01-01, times of day and durations as days."""
    if pa.types.is_date(values.type):
        values = values.cast(pa.timestamp("us"))
    elif pa.types.is_timestamp(values.type):
        values = pc.cast(values, pa.timestamp("us", values.type.tz), safe=False)
    elif pa.types.is_time(values.type):
        values = pc.cast(values, pa.time64("us"), safe=False)
    else:
        values = pc.cast(values, pa.duration("us"), safe=False)
    return pc.divide(pc.cast(values.cast(pa.int64()), pa.float64(), safe=False), MICROSECONDS_PER_DAY)


def integers_of(values: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return the values when their type is an integer type."""
    return values if pa.types.is_integer(values.type) else None
