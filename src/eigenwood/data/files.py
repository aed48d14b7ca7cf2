"""Files that hold a table, as raw Arrow tables; and files that are written whole or not at all.

    .csv .tsv .tab .txt  (also with .gz or .xz behind)    one header row, every value still a string; UTF-8, or
                                                          UTF-16 that says so by its first two bytes
    .parquet                                              typed
    .feather .arrow                                       typed

What the values mean is decided in ``kinds``. A row is counted as a spreadsheet counts it: the header is row 1
and blank lines do not count.
"""

import codecs
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
FIRST_TEXT_ROW = 2  # the header is row 1
UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
COMMAS_INSTEAD = (";", "\t", "|")  # in files called .csv whose header has no comma
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
    """Open a text file for reading, decompressed and as UTF-8."""
    stream = OPENERS.get(path.suffix.lower(), open)(path, "rb")
    begin = stream.read(len(UTF_16_MARKS[0]))
    stream.seek(0)
    if begin not in UTF_16_MARKS:
        return stream
    return io.BufferedReader(FromUtf16(stream, path.name))


class FromUtf16(io.RawIOBase):
    """The text of a stream of UTF-16 as bytes of UTF-8."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        super().__init__()
        self._stream, self._name = stream, name
        self._decoder = codecs.getincrementaldecoder("utf-16")()
        self._ready = b""
        self._n_read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        """Fill the buffer as far as there is text; return how many bytes that were."""
        is_over = False
        while not self._ready and not is_over:
            begun = len(self._decoder.getstate()[0])  # bytes of a letter whose rest comes now
            some = self._stream.read(io.DEFAULT_BUFFER_SIZE)
            is_over = not some
            try:
                self._ready = self._decoder.decode(some, final=is_over).encode()
            except UnicodeDecodeError as error:
                place = self._n_read - begun + error.start
                raise TableError(
                    f"{self._name}: must be UTF-16 throughout; got other bytes at byte {place}."
                ) from error
            self._n_read += len(some)
        part, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._stream.close()
        super().close()


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
    where the comma is the decimal mark; the same goes for tabs and bars.
    """
    with text_errors(path), opened(path) as stream:
        lines = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
        first = next(filled(lines), None)
        if first is None:
            raise TableError(f"{path.name}: must have a header and at least one row; got an empty file.")
        check_is_text(path, first)
        delimiter = DELIMITERS[ending(path)]
        if delimiter == "," and "," not in first:
            delimiter = next((mark for mark in COMMAS_INSTEAD if mark in first), ",")
        header = next(csv.reader(chain([first], lines), delimiter=delimiter))
        if next(filled(lines), None) is None:
            raise no_rows(path)
    names = [name.strip() or f"column_{position}" for position, name in enumerate(header, 1)]
    check_names(path.name, names)
    return TextLayout(delimiter, header, names)


def check_is_text(path: Path, header: str) -> None:
    """Raise for a file of bytes that only happen to be UTF-8."""
    if "\0" in header:
        raise TableError(f"{path.name}: row 1 must be text; got a zero byte, as in UTF-16 without its mark.")


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
        f"got {bad.actual_columns}, {ragged_words(layout.names, bad.actual_columns)}."
    ) from cause


def ragged_words(names: list[str], n_columns: int) -> str:
    """Return which column a row of so many values lacks first, or goes on after."""
    return f"more after {names[-1]!r}" if n_columns > len(names) else f"nothing for {names[n_columns]!r}"
