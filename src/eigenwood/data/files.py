"""Files that hold a table, as raw Arrow tables; and files that are written whole or not at all.

    .csv .tsv .tab .txt  (also with .gz or .xz behind)    one header row, UTF-8, every value still a string
    .parquet                                              typed
    .feather .arrow                                       typed

What the values mean is decided in ``kinds``. A row is counted as a spreadsheet counts it: the header is row 1
and blank lines do not count.
"""

import csv
import io
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple, NoReturn

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from eigenwood.data.naming import (
    ARROW_ENDINGS,
    DELIMITERS,
    OPENERS,
    PARQUET_ENDINGS,
    READ_ENDINGS,
    check_is_file,
    check_names,
    ending,
    is_text_file,
    unknown_ending,
)
from eigenwood.errors import TableError

BROKEN_FILE = (pa.ArrowException, OSError, EOFError, lzma.LZMAError, csv.Error)
BLANK_LINES = ("\n", "\r\n", "\r", b"\n", b"\r\n", b"\r")


class TextLayout(NamedTuple):
    """How the rows of a text file are cut into columns."""

    delimiter: str
    header: list[str]  # as it stands in the file
    names: list[str]  # stripped, and never empty

    def parse_options(self, on_bad_row=None) -> pyarrow.csv.ParseOptions:
        return pyarrow.csv.ParseOptions(
            delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=on_bad_row
        )

    def convert_options(self) -> pyarrow.csv.ConvertOptions:
        # Arrow would guess a column's type from the first megabyte and stumble over the second.
        return pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(self.header, pa.string()))


# --- reading --------------------------------------------------------------------------------------


def read_file(path: Path) -> pa.Table:
    """Return the table in a file; the columns of a text file are strings."""
    check_is_file(path)
    if is_text_file(path):
        return read_text(path)
    if path.suffix.lower() in PARQUET_ENDINGS:
        with readable(path, "Parquet"):
            return pyarrow.parquet.read_table(path)
    if path.suffix.lower() in ARROW_ENDINGS:
        with readable(path, "Arrow"), pa.ipc.open_file(pa.memory_map(str(path))) as reader:
            return reader.read_all()
    raise unknown_ending(path, READ_ENDINGS)


@contextmanager
def readable(path: Path, format_name: str) -> Iterator[None]:
    """Turn the many errors of a broken file into one sentence."""
    try:
        yield
    except BROKEN_FILE as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise TableError(f"{path.name}: must be a whole {format_name} file; got one that breaks: {reason}.") from error


def opened(path: Path) -> IO[bytes]:
    """Open a file for reading, decompressed."""
    return OPENERS.get(path.suffix.lower(), open)(path, "rb")


def read_text(path: Path) -> pa.Table:
    """Return a text file as a table of strings."""
    layout = text_layout(path)
    with text_errors(path, layout), opened(path) as stream:
        raw = pyarrow.csv.read_csv(
            stream, parse_options=layout.parse_options(), convert_options=layout.convert_options()
        )
    if raw.num_rows == 0:
        raise no_rows(path)
    return raw.rename_columns(layout.names)


def stream_text(path: Path, layout: TextLayout) -> Iterator[pa.RecordBatch]:
    """Yield a text file as batches of strings, about a megabyte of file at a time."""
    with text_errors(path, layout), opened(path) as stream:
        reader = pyarrow.csv.open_csv(
            stream, parse_options=layout.parse_options(), convert_options=layout.convert_options()
        )
        for batch in reader:
            yield batch.rename_columns(layout.names)


def text_layout(path: Path) -> TextLayout:
    """Return delimiter and column names, from the header.

    A ``.csv`` file whose header has semicolons and no comma is cut at semicolons, as spreadsheets write it
    where the comma is the decimal mark.
    """
    with text_errors(path), opened(path) as stream:
        lines = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
        first = next(filled(lines), None)
        if first is None:
            raise TableError(f"{path.name}: must have a header and at least one row; got an empty file.")
        delimiter = DELIMITERS[ending(path)]
        if delimiter == "," and "," not in first and ";" in first:
            delimiter = ";"
        header = next(csv.reader(chain([first], lines), delimiter=delimiter))
        if next(filled(lines), None) is None:
            raise no_rows(path)
    names = [name.strip() or f"column_{position}" for position, name in enumerate(header, 1)]
    check_names(path.name, names)
    return TextLayout(delimiter, header, names)


def filled(lines):
    """Yield the lines that are not blank. A line of delimiters alone is a row: all its values are missing."""
    return (line for line in lines if line not in BLANK_LINES)


def no_rows(path: Path) -> TableError:
    return TableError(f"{path.name}: must have at least one row below the header; got none.")


@contextmanager
def text_errors(path: Path, layout: TextLayout | None = None) -> Iterator[None]:
    """Say in which row a text file is wrong. The file is read again for that, slowly: only errors pay."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise_not_utf8(path, error)
    except BROKEN_FILE as error:
        if "invalid UTF8" in str(error):
            raise_not_utf8(path, error)
        if layout is not None and "columns, got" in str(error):
            raise_ragged(path, layout, error)
        with readable(path, "text"):
            raise


def raise_not_utf8(path: Path, cause: Exception) -> NoReturn:
    with opened(path) as stream:
        for row, line in enumerate(filled(stream), 1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                byte = line[error.start]
                raise TableError(f"{path.name}: row {row} must be UTF-8 text; got the byte 0x{byte:02x}.") from cause
    raise TableError(f"{path.name}: must be UTF-8 text; got other bytes.") from cause


def raise_ragged(path: Path, layout: TextLayout, cause: Exception) -> NoReturn:
    found = []

    def record(row):
        found.append(row)
        return "error"

    options = pyarrow.csv.ReadOptions(use_threads=False)  # Arrow counts rows only in one thread
    try:
        with opened(path) as stream:
            pyarrow.csv.read_csv(
                stream,
                read_options=options,
                parse_options=layout.parse_options(record),
                convert_options=layout.convert_options(),
            )
    except pa.ArrowException as error:
        if not found:  # another error comes first in the file
            raise_not_utf8(path, error)
    bad = found[0]
    raise TableError(
        f"{path.name}: row {bad.number} must have {bad.expected_columns} columns like the header; "
        f"got {bad.actual_columns}."
    ) from cause
