"""From raw columns to clean ones, each with its kind: detected, or as somebody asked for it.

raw columns ──► look at each: what reads its strings? ──► choose readings, by all columns ──► clean columns
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from eigenwood.data.kinds import (
    CATEGORY,
    DATE,
    KINDS,
    NUMBER,
    TEXT,
    CleanColumn,
    count_distinct,
    date_column,
    integers_of,
    is_datelike,
    is_stringlike,
    named_column,
    number_column,
    text_column,
    to_days,
    to_numbers,
    to_text,
    without_markers,
)
from eigenwood.data.naming import suggestion, unknown_column
from eigenwood.data.readings import (
    COMMA_DECIMAL,
    DATE_READINGS,
    NUMBER_READINGS,
    PLAIN,
    PLAIN_READINGS,
    READINGS,
    Fits,
    Read,
    all_fits,
    chosen_readings,
    plainly_read,
    read_as,
    treatment_of,
)
from eigenwood.errors import TableError

MOST_TASKS = 64
MANY_VALUES = 100_000  # of a table whose columns are read side by side
LOOKED_AT_ONCE = 4096  # strings, to find one that cannot be read
BY_KIND = {NUMBER: NUMBER_READINGS, DATE: DATE_READINGS}


AS_IN_TRAINING = "as it did in training"


class Asked(NamedTuple):
    """What was asked for, and how error sentences say so."""

    kinds: Mapping[str, str] = {}
    readings: Mapping[str, str] = {}  # to be preferred where they fit
    why: str = "as its kind says"


NOTHING_ASKED = Asked()


class Look(NamedTuple):
    """A column of strings before it is decided how they are read, or any other column."""

    values: pa.ChunkedArray
    read: Read | None = None  # by one reading that fits
    fit: Fits | None = None  # None where nothing is to be read


def clean_columns(
    raw: pa.Table, markers: tuple[str, ...], who: str, first_row: int = 1, asked: Asked = NOTHING_ASKED
) -> list[CleanColumn]:
    """Return the columns with their kinds; ``markers`` mean "missing", ``who`` begins the error sentences."""
    names = raw.column_names
    with workers_for(raw) as pool:
        looks, readings = looks_and_readings(raw, markers, who, first_row, asked, pool)
        return mapped(pool, lambda name: cleaned(looks[name], readings.get(name), asked.kinds.get(name)), names)


class AskedColumns(NamedTuple):
    """Columns of the kinds that were asked for, and how their strings were read."""

    table: pa.Table
    readings: dict[str, str]


def columns_as_asked(raw: pa.Table, markers: tuple[str, ...], who: str, first_row: int, asked: Asked) -> AskedColumns:
    """Return the columns whose kinds were asked for as they are of that kind, and nothing is counted."""
    names = list(asked.kinds)
    with workers_for(raw) as pool:
        looks, readings = looks_and_readings(raw.select(names), markers, who, first_row, asked, pool)
        values = mapped(pool, lambda name: of_kind(looks[name], readings.get(name), asked.kinds[name]), names)
        used = {name: reading for name, reading in readings.items() if reading and reading not in PLAIN_READINGS}
        return AskedColumns(pa.table(values, names=names), used)


def looks_and_readings(
    raw: pa.Table, markers: tuple[str, ...], who: str, first_row: int, asked: Asked, pool: ThreadPoolExecutor | None
) -> tuple[dict[str, Look], dict[str, str | None]]:
    """Return a look at each column, and how its strings are to be read; raise where a kind cannot be."""
    names = raw.column_names
    check_kinds(who, asked.kinds, names)
    columns = dict(zip(names, raw.columns, strict=True))
    looks = dict(
        zip(names, mapped(pool, lambda name: look_at(columns[name], name, markers, asked), names), strict=True)
    )
    looks = looked_closer(looks)
    found = {name: look.fit for name, look in looks.items() if look.fit is not None}
    readings = chosen_readings(found, asked.readings)
    for name, kind in asked.kinds.items():
        check_readable(looks[name], name, readings.get(name), kind, asked.why, who, first_row)
    return looks, readings


def workers_for(raw: pa.Table) -> AbstractContextManager[ThreadPoolExecutor | None]:
    """Return threads for the columns of a table, which Arrow reads outside the GIL; none for a small one."""
    return ThreadPoolExecutor() if raw.num_rows * raw.num_columns >= MANY_VALUES else nullcontext()


def mapped(pool: ThreadPoolExecutor | None, function: Callable[[str], Any], names: list[str]) -> list[Any]:
    """Return what a function makes of each name, in order: very many columns go in a few tasks."""
    if pool is None:
        return [function(name) for name in names]
    size = max(1, len(names) // MOST_TASKS)
    parts = [names[start : start + size] for start in range(0, len(names), size)]
    return [value for values in pool.map(lambda part: list(map(function, part)), parts) for value in values]


def check_kinds(who: str, kinds: Mapping[str, str], names: list[str]) -> None:
    """Raise for the first column that the table does not have, or kind that is none."""
    known = set(names)
    for name, kind in kinds.items():
        if name not in known:
            raise unknown_column(who, name, names)
        if kind not in KINDS:
            raise TableError(
                f"{who}: the kind of column {name!r} must be one of {', '.join(KINDS)}; "
                f"got {kind!r}{suggestion(str(kind), KINDS)}."
            )


# --- looking --------------------------------------------------------------------------------------


def look_at(values: pa.ChunkedArray, name: str, markers: tuple[str, ...], asked: Asked, closely: bool = False) -> Look:
    """Return the values with what reads them, if they are strings that may be numbers or dates.

    Where one reading is enough, the others are tried only if somebody looks ``closely``.
    """
    kind = asked.kinds.get(name)
    is_named = pa.types.is_dictionary(values.type) and kind is None
    if kind in (CATEGORY, TEXT) or is_named:
        return Look(without_markers(to_text(values), markers))
    is_written = is_stringlike(values.type) or pa.types.is_dictionary(values.type)
    if not is_written and not (kind == DATE and pa.types.is_integer(values.type)):
        return Look(values)
    text = without_markers(to_text(values), markers)
    wanted = BY_KIND.get(kind or "", tuple(READINGS))
    read = known_read(text, asked.readings.get(name), wanted) or plainly_read(text)
    if read is None or closely or read.name not in wanted:
        return Look(text, read, all_fits(text).of(wanted))
    return Look(text, read, Fits(frozenset((read.name,))))


def known_read(text: pa.ChunkedArray, reading: str | None, wanted: tuple[str, ...]) -> Read | None:
    """Return strings by the reading of a table before, if it is one of those wanted and fits."""
    if reading not in wanted:
        return None
    values = read_as(text, reading)
    return None if values is None else Read(reading, values)


def looked_closer(looks: Mapping[str, Look]) -> dict[str, Look]:
    """Return the looks, with all readings of numbers with a point if another column writes decimals with a comma."""
    if not any(look.fit is not None and COMMA_DECIMAL in look.fit.evidence() for look in looks.values()):
        return dict(looks)
    return {
        name: look._replace(fit=all_fits(look.values)) if may_have_thousands(look) else look
        for name, look in looks.items()
    }


def may_have_thousands(look: Look) -> bool:
    """Whether these are plain numbers whose points may stand between thousands."""
    is_plain = look.read is not None and look.read.name == PLAIN
    return is_plain and bool(pc.any(pc.match_substring(look.values, ".")).as_py())


# --- cleaning -------------------------------------------------------------------------------------


def cleaned(look: Look, reading: str | None, kind: str | None) -> CleanColumn:
    """Return a column of the kind that was asked for, or of the one that it looks like."""
    if kind is None:
        column = detected(look, reading)
    else:
        values = of_kind(look, reading, kind)
        column = CleanColumn(values, kind, count_distinct(values), f"a {kind}, as asked")
    if reading is None or reading in PLAIN_READINGS:
        return column
    assert look.fit is not None
    words = (treatment_of(look.values, reading, look.fit), column.treatment)
    return column._replace(treatment="; ".join(filter(None, words)), reading=reading)


def of_kind(look: Look, reading: str | None, kind: str) -> pa.ChunkedArray:
    """Return the values of a column as a kind has them."""
    values = look.values if reading is None else values_read(look, reading)
    return to_numbers(values) if kind in BY_KIND else values


def values_read(look: Look, reading: str) -> pa.ChunkedArray:
    """Return the strings of a column by a reading that fits."""
    if look.read is not None and look.read.name == reading:
        return look.read.values
    return read_as(look.values, reading)


def detected(look: Look, reading: str | None) -> CleanColumn:
    """Return a column of the kind that it looks like."""
    values = look.values
    if look.fit is not None:
        if reading is None:
            return text_column(values)
        numbers = values_read(look, reading)
        return date_column(numbers) if reading in DATE_READINGS else number_column(numbers, values)
    if is_stringlike(values.type) or pa.types.is_boolean(values.type):
        return named_column(values.cast(pa.string()))
    if is_datelike(values.type):
        return date_column(to_days(values))
    return number_column(to_numbers(values), integers_of(values))


# --- what cannot be ---------------------------------------------------------------------------------


def wanted_words(who: str, name: str, kind: str, why: str) -> str:
    return f"{who}: column {name!r} must hold {kind}s {why}"


def check_readable(look: Look, name: str, reading: str | None, kind: str, why: str, who: str, first_row: int) -> None:
    """Raise where a value cannot be of the kind that was asked for."""
    if kind not in BY_KIND:
        return
    wanted = wanted_words(who, name, kind, why)
    if look.fit is None:
        if kind == DATE and not may_be_days(look.values.type):
            raise TableError(f"{wanted}; got {look.values.type}.")
    elif reading is None:
        raise misfit_error(wanted, look.values, misfit(look.values, BY_KIND[kind]), first_row)


def may_be_days(kind: pa.DataType) -> bool:
    return is_datelike(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)


def misfit_error(wanted: str, text: pa.ChunkedArray, place: int, first_row: int) -> TableError:
    """Return the error that names a string that cannot be read, and its row."""
    return TableError(f"{wanted}; got {text[place].as_py()!r} in row {first_row + place}.")


def misfit(text: pa.ChunkedArray, readings: Iterable[str]) -> int:
    """Return the place of the first string that no reading can read together with all before it."""
    before = Fits(frozenset(readings))
    for start in range(0, len(text), LOOKED_AT_ONCE):
        part = text[start : start + LOOKED_AT_ONCE]
        joined = before.joined(all_fits(part))
        if not joined.readings:
            known = before
            return start + bisect_left(
                range(len(part)), True, key=lambda i: not known.joined(all_fits(part[: i + 1])).readings
            )
        before = joined
    raise AssertionError("all strings can be read")
