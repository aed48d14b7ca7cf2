"""Tables: named columns whose kinds are known, from any file or frame.

    read_table("heart.csv")  ──►  Table(name, frame, columns)  ──►  target_task(table, "disease")
                                         │
                                  frame: a clean pyarrow.Table
                                    number              → float, null where missing
                                    date                → float, days since 1970-01-01
                                    category, text, id  → string, null where missing

How a kind is detected, and what counts as missing, stands in ``kinds``; how numbers and dates are written, in
``readings``; how a file is read, in ``files``.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from eigenwood.data.cleaning import NOTHING_ASKED, Asked, check_kinds, clean_columns
from eigenwood.data.files import FIRST_TEXT_ROW, read_file
from eigenwood.data.kinds import (
    MISSING_IN_FRAMES,
    MISSING_IN_TEXT_FILES,
    CleanColumn,
    count_distinct,
    is_convertible,
)
from eigenwood.data.naming import check_names, is_text_file, stem, unknown_column
from eigenwood.data.writing import write_rows
from eigenwood.errors import TableError

MAX_INTEGER_CLASSES = 20  # more distinct integers than this are an amount, not a label
MIN_ROWS_PER_CLASS = 2  # on average; integers that hardly repeat are an amount too

FRAME_NAME = "table"


class Column(NamedTuple):
    """What is known of one column."""

    name: str
    kind: str  # "number", "category", "date", "text", "id" or "constant"
    n_missing: int
    n_distinct: int  # missing values are not counted
    treatment: str = ""  # how its values were read, where that is not plain
    reading: str = ""  # of strings that became numbers or dates, where it is not plain


@dataclass(frozen=True)
class Table:
    """Named columns of known kind, with clean values.

    >>> table = read_table({"row": [1, 2, 3, 4], "colour": ["red", "?", "red", "blue"]})
    >>> table.kinds()
    {'row': 'id', 'colour': 'category'}
    >>> table.column("colour")
    Column(name='colour', kind='category', n_missing=1, n_distinct=2, treatment='', reading='')
    """

    name: str
    frame: pa.Table = field(repr=False)
    columns: tuple[Column, ...]

    @property
    def n_rows(self) -> int:
        return self.frame.num_rows

    def column(self, name: str) -> Column:
        """Return what is known of one column."""
        return self._chosen([name])[0]

    def kinds(self) -> dict[str, str]:
        """Return the kind of every column, by name."""
        return {column.name: column.kind for column in self.columns}

    def treatments(self) -> dict[str, str]:
        """Return how the values of columns were read, where that is not plain, by name.

        >>> read_table({"price": ["1.234,50", "7,5"]}).treatments()
        {'price': '1.234,50 read as 1234.5'}
        """
        return {column.name: column.treatment for column in self.columns if column.treatment}

    def readings(self) -> dict[str, str]:
        """Return the readings of columns whose strings are no numbers or dates as they stand, by name."""
        return {column.name: column.reading for column in self.columns if column.reading}

    def select(self, names: Iterable[str]) -> "Table":
        """Return the named columns, in the order given."""
        chosen = self._chosen(names)
        check_names(self.name, [column.name for column in chosen])
        return Table(self.name, self.frame.select([column.name for column in chosen]), chosen)

    def drop(self, names: Iterable[str]) -> "Table":
        """Return the table without the named columns."""
        dropped = {column.name for column in self._chosen(names)}
        return self.select(name for name in self.frame.column_names if name not in dropped)

    def take(self, indices) -> "Table":
        """Return the rows of these indices. The kinds stay: a part of a category is still a category."""
        frame = self.frame.take(pa.array(indices, type=pa.int64()))
        columns = (
            column._replace(n_missing=values.null_count, n_distinct=count_distinct(values))
            for column, values in zip(self.columns, frame.columns, strict=True)
        )
        return Table(self.name, frame, tuple(columns))

    def of_kinds(self, asked: Asked) -> "Table":
        """Return the table with columns of the kinds that were asked for; the others stay as they are."""
        if not asked.kinds:
            return self
        check_kinds(self.name, asked.kinds, self.frame.column_names)
        changed = clean_table(self.frame.select(list(asked.kinds)), MISSING_IN_FRAMES, self.name, self.name, asked)
        columns = {column.name: column for column in (*self.columns, *changed.columns)}
        values = dict(zip(self.frame.column_names, self.frame.columns, strict=True))
        values |= dict(zip(changed.frame.column_names, changed.frame.columns, strict=True))
        return Table(self.name, pa.table(values), tuple(columns.values()))

    def _chosen(self, names: Iterable[str]) -> tuple[Column, ...]:
        known = {column.name: column for column in self.columns}
        chosen = tuple(names)
        for name in chosen:
            if name not in known:
                raise unknown_column(self.name, name, list(known))
        return tuple(known[name] for name in chosen)


def read_table(
    source: Any, *, kinds: Mapping[str, str] | None = None, readings: Mapping[str, str] | None = None
) -> Table:
    """Return the table in a file or frame, cleaned, with the kind of every column.

    ``source`` is a path to .csv, .tsv, .tab, .txt (tabs; all four also as .gz or .xz), .parquet, .feather or
    .arrow; or a pandas, polars or pyarrow frame; or a mapping from column names to values. ``kinds`` says what
    columns are, whatever they look like: number, category, date or text. ``readings`` are those of a table read
    before, for values such as 01/02/2024 that could be read in several ways.

    >>> from eigenwood.data.datasets import bundled_file
    >>> with bundled_file("play_tennis.csv") as path:
    ...     table = read_table(path)
    >>> table.n_rows, table.kinds()["outlook"], table.kinds()["day"]
    (14, 'category', 'id')
    >>> read_table({"zip": ["01067", "80331", "80331"]}, kinds={"zip": "category"}).frame["zip"].to_pylist()
    ['01067', '80331', '80331']
    """
    asked = Asked(kinds or {}, readings or {})
    if isinstance(source, Table):
        return source.of_kinds(asked)
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if is_text_file(path):
            return clean_table(read_file(path), MISSING_IN_TEXT_FILES, stem(path), path.name, asked, FIRST_TEXT_ROW)
        return clean_table(read_file(path), MISSING_IN_FRAMES, stem(path), path.name, asked)
    return clean_table(to_arrow(source), MISSING_IN_FRAMES, FRAME_NAME, FRAME_NAME, asked)


def clean_table(
    raw: pa.Table, markers: tuple[str, ...], name: str, who: str, asked: Asked = NOTHING_ASKED, first_row: int = 1
) -> Table:
    """Return ``raw`` as a Table called ``name``; ``who`` begins the error sentences."""
    check_names(who, raw.column_names)
    check_types(who, raw.schema)
    if raw.num_rows == 0:
        raise TableError(f"{who}: must have at least one row; got none.")
    cleaned = clean_columns(raw, markers, who, first_row, asked)
    columns = tuple(described(*pair) for pair in zip(raw.column_names, cleaned, strict=True))
    frame = pa.table([column.values for column in cleaned], names=raw.column_names)
    return Table(name, frame, columns)


def check_types(who: str, schema: pa.Schema) -> None:
    """Raise for the first column whose type cannot be a number or a string."""
    for column in schema:
        if not is_convertible(column.type):
            raise TableError(
                f"{who}: column {column.name!r} must hold numbers, strings, booleans or dates; got {column.type}."
            )


def described(name: str, column: CleanColumn) -> Column:
    return Column(name, column.kind, column.values.null_count, column.n_distinct, column.treatment, column.reading)


def to_arrow(source: Any) -> pa.Table:
    """Return a frame, a Table, or a mapping from names to values as an Arrow table."""
    if isinstance(source, Table):
        return source.frame
    if isinstance(source, Mapping):
        with one_type_per_column():
            return pa.table({str(name): values for name, values in source.items()})
    return narwhals_to_arrow(to_narwhals(source))


def to_narwhals(source: Any) -> nw.DataFrame:
    """Return a pandas, polars or pyarrow frame behind the face that they share."""
    with one_type_per_column():
        try:
            frame = nw.from_native(source)
        except TypeError as error:
            raise not_a_frame(source) from error
        return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def narwhals_to_arrow(frame: nw.DataFrame) -> pa.Table:
    """Return the frame as an Arrow table; the index of pandas, which comes last, is left out."""
    names = [str(name) for name in frame.columns]
    with one_type_per_column():
        return frame.to_arrow().select(range(len(names))).rename_columns(names)


@contextmanager
def one_type_per_column() -> Iterator[None]:
    """Turn what pandas allows and Arrow refuses into one sentence."""
    try:
        yield
    except (pa.ArrowException, nw.exceptions.NarwhalsError) as error:
        reason = " ".join(" ".join(map(str, error.args)).split())
        raise TableError(f"{FRAME_NAME}: columns must differ in name and hold one type each; got: {reason}.") from error


def not_a_frame(source: Any) -> TableError:
    return TableError(
        f"{FRAME_NAME}: must be a path, a pandas, polars or pyarrow frame, or a mapping of columns; "
        f"got {type(source).__name__}."
    )


def target_task(table: Table, target: str) -> str:
    """Return "classification" or "regression", from the values of the target column.

    Strings, booleans and categories are classes. Whole numbers are classes when there are only two of them,
    or at most 20 that come back at least twice on average. All other numbers are amounts; so is an id that
    is a run of integers.

    >>> target_task(read_table({"y": [0, 1, 1, 0]}), "y")
    'classification'
    >>> target_task(read_table({"y": [0.5, 1.25, 1.5, 9.0]}), "y")
    'regression'
    """
    column = table.column(target)
    values = table.frame[target]
    if column.n_distinct < 2:
        raise TableError(
            f"{table.name}: target {target!r} must hold at least two different values; got {column.n_distinct}."
        )
    if pa.types.is_string(values.type):
        return "regression" if is_row_number(column, values) else "classification"
    return "classification" if are_labels(values, column) else "regression"


def is_row_number(column: Column, values: pa.ChunkedArray) -> bool:
    return column.kind == "id" and pc.all(pc.match_substring_regex(values, r"^-?\d+$")).as_py()


def are_labels(values: pa.ChunkedArray, column: Column) -> bool:
    """Whether numbers are class labels: whole, few, and repeated."""
    if not pc.all(pc.equal(values, pc.floor(values))).as_py():
        return False
    n_present = len(values) - column.n_missing
    few = column.n_distinct <= MAX_INTEGER_CLASSES
    return column.n_distinct == 2 or (few and n_present >= MIN_ROWS_PER_CLASS * column.n_distinct)


def write_table(frame: Any, path: str | os.PathLike) -> None:
    """Write a frame, a Table or a mapping of columns to .csv, .tsv, .parquet, .arrow or .npy, whole or not at all.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table({"x": [1.5, None], "y": ["a", "b"]}, f"{folder}/small.csv")
    ...     read_table(f"{folder}/small.csv").frame["x"].to_pylist()
    [1.5, None]
    """
    table = to_arrow(frame)
    check_names(Path(path).name, table.column_names)
    write_rows([table], Path(path))
