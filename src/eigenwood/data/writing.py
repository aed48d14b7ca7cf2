"""Rows to a file as they come: one table after the other, in the format that the file's ending names.

    tables of some rows each  ──►  .csv .tsv .tab .txt    one header row, UTF-8
                                   .parquet               a row group for each table
                                   .feather .arrow        a batch for each table
                                   .npy                   numbers alone, without names

Memory is bounded by one table, never by the file. The file is written whole or not at all.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from eigenwood.data.naming import ARROW_ENDINGS, DELIMITERS, PARQUET_ENDINGS, unknown_ending, whole_file
from eigenwood.errors import TableError

Sink = Callable[[pa.Table], None]  # takes the next rows


class Format(NamedTuple):
    """How one format is written."""

    open: Callable[[Path, pa.Schema], AbstractContextManager[Sink]]
    shown: Callable[[pa.Table], pa.Table] = lambda table: table  # the table as the format can hold it


def write_rows(tables: Iterable[pa.Table], path: Path) -> int:
    """Write tables of the same columns below each other, whole or not at all; return how many rows there were.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_rows((pa.table({"x": [i, i + 0.5]}) for i in range(3)), Path(folder) / "x.csv")
    6
    """
    form = format_of(path)
    rest = map(form.shown, tables)
    n_rows = 0
    try:
        first = next(rest)
        with whole_file(path) as temporary, form.open(temporary, first.schema) as write:
            for table in chain([first], rest):
                write(table)
                n_rows += table.num_rows
    except pa.ArrowException as error:
        ending = path.suffix.lower()
        raise TableError(f"{path.name}: columns must be of types that {ending} can hold; got: {error}.") from error
    return n_rows


def format_of(path: Path) -> Format:
    """Return the format that a file's ending names."""
    if path.suffix.lower() not in FORMATS:
        raise unknown_ending(path, FORMATS)
    return FORMATS[path.suffix.lower()]


# --- the formats ----------------------------------------------------------------------------------


@contextmanager
def text_sink(path: Path, schema: pa.Schema, delimiter: str) -> Iterator[Sink]:
    options = pyarrow.csv.WriteOptions(delimiter=delimiter)
    with pyarrow.csv.CSVWriter(path, schema, write_options=options) as writer:
        yield writer.write_table


def printable(table: pa.Table) -> pa.Table:
    """Return the table with columns that a text file can show.

    A lone column shows a missing value as NA: an empty line would be skipped when the file is read back.
    """
    columns = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    if len(columns) == 1 and columns[0].null_count:
        columns = [columns[0].cast(pa.string()).fill_null("NA")]
    return pa.table(columns, names=table.column_names)


@contextmanager
def parquet_sink(path: Path, schema: pa.Schema) -> Iterator[Sink]:
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        yield writer.write_table


@contextmanager
def arrow_sink(path: Path, schema: pa.Schema) -> Iterator[Sink]:
    with pa.ipc.new_file(str(path), schema) as writer:
        yield writer.write_table


@contextmanager
def npy_sink(path: Path, schema: pa.Schema) -> Iterator[Sink]:
    """Take rows of numbers. How many they are stands at the begin of the file, and is known at the end."""
    dtype = number_dtype(schema)
    n_rows = 0
    with path.open("wb") as file:

        def write_header() -> None:  # NumPy leaves room in it for any number of rows
            shape = (n_rows, len(schema))
            content = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, content)

        def write(table: pa.Table) -> None:
            nonlocal n_rows
            rows = np.column_stack([column.to_numpy() for column in table.columns])
            file.write(np.ascontiguousarray(rows, dtype=dtype).data)
            n_rows += table.num_rows

        write_header()
        yield write
        file.seek(0)
        write_header()


def number_dtype(schema: pa.Schema) -> np.dtype:
    """Return float32 if every column is float32, else float64; raise for a column of anything but numbers."""
    for field in schema:
        if not (pa.types.is_integer(field.type) or pa.types.is_floating(field.type)):
            raise pa.ArrowTypeError(f"column {field.name!r} of type {field.type}")
    return np.dtype(np.float32 if all(pa.types.is_float32(field.type) for field in schema) else np.float64)


FORMATS: dict[str, Format] = {
    **{end: Format(partial(text_sink, delimiter=delimiter), printable) for end, delimiter in DELIMITERS.items()},
    **dict.fromkeys(PARQUET_ENDINGS, Format(parquet_sink)),
    **dict.fromkeys(ARROW_ENDINGS, Format(arrow_sink)),
    ".npy": Format(npy_sink),
}
