"""What a column is: a number, a category, a text, an id, or a constant.

    column as it came                       kind        values afterwards
    integers, floats, decimals              number      float64 (float32 stays float32)
    strings that all read as numbers        number      float64
    dates, times, durations, ISO strings    number      float64, in days (dates: since 1970-01-01)
    booleans                                category    "false" / "true"
    dictionary / pandas category            category    string
    other strings                           category    string
    strings, mostly distinct, many words    text        string
    strings, nearly all distinct            id          string
    a run of consecutive integers           id          string
    one value, or none                      constant    as above

A missing value is null afterwards. An id is set apart because it names a row and says nothing about the next
one; a constant because it says nothing at all. A date becomes a number because its order is what a method
can use.
"""

from collections.abc import Iterable
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

# A text file can write "missing" only as a word. A frame has nulls of its own, so there "NA" may be Namibia
# and "None" a garage type; only the two marks that are never a value are taken as missing.
MISSING_IN_TEXT_FILES = ("", "?", "NA", "N/A", "nan", "NaN", "null", "NULL", "None", "-")
MISSING_IN_FRAMES = ("", "?")

ID_SHARE = 0.95  # an id column may have a few repeated rows
TEXT_SHARE = 0.5  # free text hardly repeats; a long category name does
TEXT_WORDS = 3.0  # on average; names of people and places are shorter

MICROSECONDS_PER_DAY = 86_400_000_000.0


class CleanColumn(NamedTuple):
    """A column after cleaning, with its kind."""

    values: pa.ChunkedArray
    kind: str
    n_distinct: int  # missing values are not counted


def clean_column(values: pa.ChunkedArray, markers: tuple[str, ...]) -> CleanColumn:
    """Return the column's clean values and kind; ``markers`` are the strings that mean "missing"."""
    if pa.types.is_dictionary(values.type):
        return named_column(without_markers(to_text(values), markers))
    if pa.types.is_boolean(values.type):
        return named_column(values.cast(pa.string()))
    if not is_stringlike(values.type):
        return number_column(to_numbers(values), integers_of(values))
    text = without_markers(to_text(values), markers)
    numbers = parsed_numbers(text)
    return text_column(text) if numbers is None else number_column(numbers, text)


# --- one function per way a column can go ---------------------------------------------------------


def named_column(text: pa.ChunkedArray) -> CleanColumn:
    """Return a column whose type already says that it is a category."""
    n_distinct = count_distinct(text)
    return CleanColumn(text, "constant" if is_constant(n_distinct) else "category", n_distinct)


def text_column(text: pa.ChunkedArray) -> CleanColumn:
    """Return a column of strings as category, text, id or constant."""
    n_distinct = count_distinct(text)
    n_present = len(text) - text.null_count
    if is_constant(n_distinct):
        kind = "constant"
    elif is_free_text(text, n_distinct, n_present):
        kind = "text"
    elif n_distinct >= ID_SHARE * n_present:
        kind = "id"
    else:
        kind = "category"
    return CleanColumn(text, kind, n_distinct)


def number_column(numbers: pa.ChunkedArray, written: pa.ChunkedArray | None) -> CleanColumn:
    """Return a column of numbers as number, id or constant; ``written`` is how the file wrote them."""
    n_distinct = count_distinct(numbers)
    if is_constant(n_distinct):
        return CleanColumn(numbers, "constant", n_distinct)
    if is_run(numbers, n_distinct) and is_written_as_integers(written):
        return CleanColumn(to_text(written), "id", n_distinct)
    return CleanColumn(numbers, "number", n_distinct)


# --- the rules ------------------------------------------------------------------------------------


def is_constant(n_distinct: int) -> bool:
    return n_distinct <= 1


def is_free_text(text: pa.ChunkedArray, n_distinct: int, n_present: int) -> bool:
    """Free text: mostly distinct strings of several words."""
    if n_distinct < TEXT_SHARE * n_present:
        return False
    return pc.mean(pc.count_substring_regex(text, r"\S+")).as_py() >= TEXT_WORDS


def is_run(numbers: pa.ChunkedArray, n_distinct: int) -> bool:
    """Row numbers: each of first, first + 1, … last exactly once, in any order.

    Distinct integers with gaps are not a run: a population or a price is seldom the same twice either.
    """
    if n_distinct != len(numbers):
        return False
    low, high = pc.min_max(numbers).as_py().values()
    return high - low == len(numbers) - 1


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
    tests = (pa.types.is_date, pa.types.is_timestamp, pa.types.is_time, pa.types.is_duration)
    return any(test(kind) for test in tests)


def to_text(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values as strings without the spaces around them."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    return pc.utf8_trim_whitespace(values.cast(pa.string()))


def without_markers(text: pa.ChunkedArray, markers: tuple[str, ...]) -> pa.ChunkedArray:
    """Return the strings with null in place of every missing marker."""
    is_marker = pc.is_in(text, value_set=pa.array(markers, pa.string()))
    if not pc.any(is_marker).as_py():
        return text
    return pc.if_else(is_marker, pa.scalar(None, pa.string()), text)


NUMBER_READINGS = (pa.float64(), pa.timestamp("us"), pa.timestamp("us", "UTC"))


def parsed_numbers(text: pa.ChunkedArray, readings: Iterable[pa.DataType] = NUMBER_READINGS) -> pa.ChunkedArray | None:
    """Return the strings as numbers when every one of them reads as a number, or every one as a date."""
    for kind in readings:
        try:
            return to_numbers(pc.cast(text, kind))
        except pa.ArrowInvalid:
            continue
    return None


def to_numbers(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return float32 as it is and every other number or date as float64, with null for NaN."""
    if is_timelike(values.type):
        return to_days(values)
    keeps_float32 = pa.types.is_float32(values.type) or pa.types.is_float16(values.type)
    # safe=False: an integer above 2^53 is rounded, as it would be in any float array.
    numbers = pc.cast(values, pa.float32() if keeps_float32 else pa.float64(), safe=False)
    is_nan = pc.is_nan(numbers)
    if not pc.any(is_nan).as_py():
        return numbers
    return pc.if_else(is_nan, pa.scalar(None, numbers.type), numbers)


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
