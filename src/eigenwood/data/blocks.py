"""Blocks: the rows of any source, a fixed number at a time, as often as needed.

    array, .npy, Parquet, CSV, frame, .bed  ──►  Blocks  ──►  (block_rows, d), (block_rows, d), … (the rest, d)

Every source gives the same blocks for the same rows, however its file was cut into row groups or batches: a
result downstream must not depend on who wrote the file. Memory is bounded by the block, never by the source.
"""

import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.dataset
import pyarrow.ipc
import pyarrow.parquet

from eigenwood.data.files import FIRST_TEXT_ROW, readable, stream_text, text_layout
from eigenwood.data.genotypes import BLOCK_BYTES, genotypes
from eigenwood.data.kinds import (
    MISSING_IN_FRAMES,
    MISSING_IN_TEXT_FILES,
    is_convertible,
    is_stringlike,
    to_numbers,
    to_text,
    without_markers,
)
from eigenwood.data.naming import (
    ARROW_ENDINGS,
    PARQUET_ENDINGS,
    READ_ENDINGS,
    check_is_file,
    check_names,
    is_text_file,
    listing,
    unknown_column,
    unknown_ending,
)
from eigenwood.data.readings import DATE_READINGS, PLAIN, all_fits, first_misfit, plainly_read, read_as
from eigenwood.data.row_blocks import Blocks, Sections, joined_sections
from eigenwood.data.tables import FRAME_NAME, Table, narwhals_to_arrow, to_narwhals
from eigenwood.errors import TableError

PAGE_BUFFER_BYTES = 2**16  # Parquet pages are read in this step, not a whole column of a row group at once
SECTION_ROWS = 2**14  # that are decoded at once where a file is read from the middle
BATCHES = 4  # of Parquet in a block: what Arrow holds of a batch, several times over, comes beside the block

PERSON = "person"  # what the ids in a .fam file are called as a column


def blocks(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    block_rows: int | None = None,
    dtype: npt.DTypeLike | None = None,
) -> Blocks:
    """Return the rows of ``source`` as a stream of C-contiguous float blocks, NaN where a value is missing.

    ``source`` is a 2-d array or memmap, a path to .npy, .parquet, .feather, .arrow, PLINK's .bed or a text file,
    a list of such paths (their rows follow each other), or a frame. ``columns`` picks and orders columns by name
    (an array's are x0, x1, …); all of them must hold numbers. ``block_rows`` defaults to about 32 MB per block.
    ``dtype`` defaults to float32 when every column is float32, else float64. Blocks are copies: writing into one
    changes nothing else.

    >>> from eigenwood.data.datasets import bundled_file
    >>> with bundled_file("ten_points.csv") as path:
    ...     [float(block.sum()) for block in blocks(path, columns=["x1", "x2"], block_rows=5)]
    [37.0, 67.0]
    """
    opened = open_source(source)
    chosen = tuple(opened.names) if columns is None else tuple(columns)
    check_chosen(opened.who, chosen, opened.names)
    final = float_dtype(opened, chosen, dtype)
    rows = default_block_rows(len(chosen), final) if block_rows is None else block_rows
    check_block_rows(rows)
    sections = None if opened.sections is None else opened.sections(chosen, final)
    return Blocks(chosen, opened.n_rows, final, rows, partial(opened.pieces, chosen, final, rows), sections)


# --- the sources ----------------------------------------------------------------------------------


class Stored(NamedTuple):
    """Columns as they are stored, numbers or not; ``batches(chosen, rows)`` yields them as Arrow tables or batches."""

    names: list[str]
    markers: tuple[str, ...]  # the strings that mean "missing"
    batches: Callable[[tuple[str, ...], int], Iterable[Any]]
    first_row: int = 1  # the number of the first row in error sentences


@dataclass(frozen=True)
class Source:
    """What the sources have in common; ``pieces(chosen, dtype, rows)`` yields arrays of any length."""

    who: str  # begins the error sentences
    names: list[str]
    float32: frozenset[str]  # the columns that are stored as float32
    n_rows: int | None
    pieces: Callable[[tuple[str, ...], np.dtype, int], Iterable[np.ndarray]]
    stored: Stored | None = None  # None: numbers are all it has
    sections: Callable[[tuple[str, ...], np.dtype], Sections | None] | None = None


def open_source(source: Any) -> Source:
    """Return the source behind a path, an array or a frame."""
    if isinstance(source, str | os.PathLike):
        return open_path(Path(source))
    if isinstance(source, list | tuple):
        return joined_source([open_path(Path(path)) for path in check_paths(source)])
    if isinstance(source, np.ndarray):
        return array_source("blocks", source, reopener(source))
    if isinstance(source, Table):
        return frame_source(source.frame, source.name)
    return frame_source(source, FRAME_NAME)


def open_path(path: Path) -> Source:
    check_is_file(path)
    if path.suffix.lower() == ".npy":
        return npy_source(path)
    if path.suffix.lower() in PARQUET_ENDINGS:
        return parquet_source(path)
    if path.suffix.lower() in ARROW_ENDINGS:
        return arrow_source(path)
    if is_text_file(path):
        return text_source(path)
    if path.suffix.lower() == ".bed":
        return bed_source(path)
    raise unknown_ending(path, (".npy", *READ_ENDINGS, ".bed"))


def npy_source(path: Path) -> Source:
    reopen = partial(np.load, path.resolve(), mmap_mode="r", allow_pickle=False)
    try:
        return replace(array_source(path.name, reopen(), reopen), sections=partial(npy_sections, reopen))
    except (ValueError, EOFError) as error:
        if isinstance(error, TableError):
            raise
        raise TableError(f"{path.name}: must be a whole .npy file of numbers; got one that breaks: {error}.") from error


def npy_sections(reopen: Callable[[], np.ndarray], chosen: tuple[str, ...], dtype: np.dtype) -> Sections:
    """Return the rows of a file that is mapped, which can be read from anywhere."""
    names = [f"x{j}" for j in range(reopen().shape[1])]
    order = None if list(chosen) == names else positions(names, chosen)
    return Sections((0,), partial(read_mapped, reopen, order, dtype))


def read_mapped(
    reopen: Callable[[], np.ndarray], order: list[int] | None, dtype: np.dtype, start: int, stop: int
) -> Iterator[np.ndarray]:
    """Yield rows of an array, in one piece."""
    piece = reopen()[start:stop]
    yield np.array(piece if order is None else piece[:, order], dtype=dtype, order="C")


def array_source(who: str, array: np.ndarray, reopen: Callable[[], np.ndarray]) -> Source:
    """Return an array as a source; ``reopen`` gives the array again."""
    if array.ndim != 2:
        raise TableError(f"{who}: array must have 2 dimensions; got {array.ndim}.")
    if array.dtype.kind not in "fiub":
        raise TableError(f"{who}: array must hold numbers; got dtype {array.dtype}.")
    names = [f"x{j}" for j in range(array.shape[1])]
    stored = frozenset(names if array.dtype.itemsize <= 4 and array.dtype.kind == "f" else [])
    n_rows = array.shape[0]

    def pieces(chosen, dtype, rows):
        order = None if list(chosen) == names else positions(names, chosen)
        for start in range(0, n_rows, rows):
            yield from read_mapped(reopen, order, dtype, start, start + rows)

    return Source(who, names, stored, n_rows, pieces)


def reopener(array: np.ndarray) -> Callable[[], np.ndarray]:
    """Return a function that gives the array again; a memory map is mapped anew each time.

    The pages that a map has touched stay resident as long as it lives, so one map over the whole file would
    let memory grow to the size of the file. A view into a map, and one with changes of its own (mode "c"),
    cannot be mapped anew by name and is used as it is.
    """
    if not isinstance(array, np.memmap) or isinstance(array.base, np.ndarray):
        return lambda: array
    if array.mode == "c" or array.filename is None:
        return lambda: array
    order = "C" if array.flags.c_contiguous else "F"
    return partial(
        np.memmap, array.filename, array.dtype, mode="r", offset=array.offset, shape=array.shape, order=order
    )


def parquet_source(path: Path) -> Source:
    with readable(path, "Parquet"), pyarrow.parquet.ParquetFile(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows

    def batches(chosen, rows):
        with readable(path, "Parquet"), open_parquet(path) as file:
            yield from file.iter_batches(batch_size=max(1, rows // BATCHES), columns=list(chosen))

    return replace(
        typed_source(path.name, schema, n_rows, batches), sections=partial(parquet_sections, path.resolve(), schema)
    )


def parquet_sections(path: Path, schema: pa.Schema, chosen: tuple[str, ...], dtype: np.dtype) -> Sections | None:
    """Return the rows of a file by its row groups; None where strings are read as numbers, which takes all of them."""
    if any(is_stringlike(schema.field(name).type) for name in chosen):
        return None
    with readable(path, "Parquet"), pyarrow.parquet.ParquetFile(path) as file:
        lengths = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
    firsts = [0, *accumulate(lengths)]
    return Sections(tuple(firsts[:-1]), partial(read_row_groups, path, firsts, chosen, dtype))


def read_row_groups(
    path: Path, firsts: list[int], chosen: tuple[str, ...], dtype: np.dtype, start: int, stop: int
) -> Iterator[np.ndarray]:
    """Yield rows of a Parquet file, from the row groups that hold them; group i begins at row ``firsts[i]``."""
    first, last = bisect_right(firsts, start) - 1, bisect_left(firsts, stop)
    row = firsts[first]
    with readable(path, "Parquet"), open_parquet(path) as file:
        for batch in file.iter_batches(SECTION_ROWS, row_groups=list(range(first, last)), columns=list(chosen)):
            low, high = max(start - row, 0), min(stop - row, batch.num_rows)
            row += batch.num_rows
            if low < high:
                yield to_floats(batch.slice(low, high - low), chosen, dtype, MISSING_IN_FRAMES, path.name, 1, {})


def open_parquet(path: Path) -> pyarrow.parquet.ParquetFile:
    return pyarrow.parquet.ParquetFile(path, buffer_size=PAGE_BUFFER_BYTES, pre_buffer=False)


def arrow_source(path: Path) -> Source:
    with readable(path, "Arrow"), pa.ipc.open_file(str(path)) as file:
        schema = file.schema
        n_rows = pyarrow.dataset.dataset(path, format="ipc").count_rows()  # from the footer, not the rows

    def batches(chosen, rows):
        options = pa.ipc.IpcReadOptions(included_fields=[schema.get_field_index(name) for name in chosen])
        with readable(path, "Arrow"), pa.ipc.open_file(str(path), options=options) as file:
            for i in range(file.num_record_batches):
                yield from slices(file.get_batch(i), rows)

    return typed_source(path.name, schema, n_rows, batches)


def frame_source(source: Any, who: str) -> Source:
    """Return a pandas, polars or pyarrow frame as a source, turned into Arrow slice by slice."""
    frame = to_narwhals(source)
    names = [str(name) for name in frame.columns]

    def batches(chosen, rows):
        picked = frame[:, positions(names, chosen)]
        for start in range(0, len(frame), rows):
            yield narwhals_to_arrow(picked[start : start + rows])

    return typed_source(who, narwhals_to_arrow(frame.head(0)).schema, len(frame), batches)


def text_source(path: Path) -> Source:
    layout = text_layout(path)

    def batches(chosen, rows):
        return (batch.select(chosen) for batch in stream_text(path, layout))

    stored = Stored(layout.names, MISSING_IN_TEXT_FILES, batches, first_row=FIRST_TEXT_ROW)
    return Source(path.name, layout.names, frozenset(), None, partial(float_pieces, path.name, stored), stored)


def bed_source(path: Path) -> Source:
    """Return PLINK's people as rows. The file lies by columns: each block of rows is one pass over all of it."""
    everyone = genotypes(path)

    def pieces(chosen, dtype, rows):
        picked = everyone.aligned(chosen)
        for start in range(0, everyone.n_people, rows):
            yield picked.read(slice(start, start + rows), slice(None)).astype(dtype, copy=False)

    people = Stored([PERSON], (), lambda chosen, rows: [pa.table({PERSON: everyone.people}).select(chosen)])
    names = list(everyone.columns)
    return Source(path.name, names, frozenset(names), everyone.n_people, pieces, people)


def joined_source(sources: Sequence[Source]) -> Source:
    """Return the rows of several files as one source, with the columns of the first."""
    first = sources[0]
    for other in sources[1:]:
        check_same_columns(other.who, other.names, first.names, first.who)
    lengths = [source.n_rows for source in sources]
    known = [length for length in lengths if length is not None]

    def pieces(chosen, dtype, rows):
        for source in sources:
            yield from source.pieces(chosen, dtype, rows)

    def sections(chosen, dtype):
        parts = [source.sections(chosen, dtype) for source in sources if source.sections is not None]
        there = [part for part in parts if part is not None]
        return joined_sections(there, known) if len(there) == len(sources) else None

    float32 = frozenset.intersection(*(source.float32 for source in sources))
    n_rows = sum(known) if len(known) == len(lengths) else None
    return Source(first.who, first.names, float32, n_rows, pieces, joined_stored(sources), sections)


def joined_stored(sources: Sequence[Source]) -> Stored | None:
    """Return the columns of several files as they are stored."""
    parts = [source.stored for source in sources if source.stored is not None]
    if len(parts) < len(sources):
        return None
    return parts[0]._replace(
        batches=lambda chosen, rows: chain.from_iterable(part.batches(chosen, rows) for part in parts)
    )


def typed_source(who: str, schema: pa.Schema, n_rows: int, batches: Callable) -> Source:
    """Return a source whose columns have types; ``batches(chosen, rows)`` yields them as Arrow batches."""
    check_names(who, schema.names)
    float32 = frozenset(field.name for field in schema if pa.types.is_float32(field.type))
    stored = Stored(schema.names, MISSING_IN_FRAMES, batches)

    def pieces(chosen, dtype, rows):
        check_number_types(who, schema, chosen)
        yield from float_pieces(who, stored, chosen, dtype, rows)

    return Source(who, schema.names, float32, n_rows, pieces, stored)


# --- from Arrow to arrays -------------------------------------------------------------------------


def float_pieces(who: str, stored: Stored, chosen, dtype, rows) -> Iterator[np.ndarray]:
    """Yield the chosen columns as arrays."""
    settled: dict[str, str] = {}
    first_row = stored.first_row
    for batch in stored.batches(chosen, rows):
        yield to_floats(batch, chosen, dtype, stored.markers, who, first_row, settled)
        first_row += batch.num_rows


def to_floats(batch, chosen, dtype, markers, who, first_row, settled) -> np.ndarray:
    """Return the chosen columns of a batch as one array, NaN where a value is missing.

    ``settled`` remembers how the strings of a column are read: the first batch decides for all.
    """
    out = np.empty((batch.num_rows, len(chosen)), dtype=dtype)
    for j, name in enumerate(chosen):
        column = batch.column(batch.schema.get_field_index(name))
        out[:, j] = floats_of(column, markers, f"{who}: column {name!r}", first_row, settled)
    return out


def floats_of(column, markers, who, first_row, settled) -> np.ndarray:
    if is_stringlike(column.type):
        text = without_markers(to_text(pa.chunked_array([column]) if isinstance(column, pa.Array) else column), markers)
        numbers = settled_numbers(text, who, settled)
        if numbers is None:
            raise not_a_number(text, who, first_row, settled.get(who, PLAIN))
    else:
        numbers = to_numbers(column)
    return numbers.to_numpy(zero_copy_only=False) if isinstance(numbers, pa.Array) else numbers.to_numpy()


def settled_numbers(text, who, settled):
    """Return the strings as numbers, read in the one way that the column is settled on; None if that fails."""
    if who in settled:
        return read_as(text, settled[who])
    plain = plainly_read(text)
    reading = all_fits(text).best() if plain is None else plain.name
    if reading is None:
        return None
    if text.null_count < len(text):
        settled[who] = reading
    return plain.values if plain else read_as(text, reading)


def not_a_number(text, who, first_row, reading) -> TableError:
    """Return the error that names the first string which does not read like the rest."""
    i = first_misfit(text, reading)
    wanted = "dates" if reading in DATE_READINGS else "numbers"
    return TableError(f"{who} must hold {wanted}; got {text[i].as_py()!r} in row {first_row + i}.")


def slices(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


# --- choices and checks ---------------------------------------------------------------------------


def positions(names: list[str], chosen: tuple[str, ...]) -> list[int]:
    place = {name: j for j, name in enumerate(names)}
    return [place[name] for name in chosen]


def default_block_rows(n_columns: int, dtype: np.dtype) -> int:
    return max(1, BLOCK_BYTES // (n_columns * dtype.itemsize))


def float_dtype(source: Source, chosen: tuple[str, ...], dtype: npt.DTypeLike | None) -> np.dtype:
    """Return the dtype of the blocks: the one asked for, else float32 only when nothing is lost by it."""
    if dtype is None:
        return np.dtype(np.float32 if source.float32.issuperset(chosen) else np.float64)
    try:
        wanted = np.dtype(dtype)
    except TypeError:
        raise TableError(f"blocks: dtype must be float32 or float64; got {dtype!r}.") from None
    if wanted not in (np.float32, np.float64):
        raise TableError(f"blocks: dtype must be float32 or float64; got {wanted}.")
    return wanted


def check_chosen(who: str, chosen: tuple[str, ...], names: list[str]) -> None:
    """Raise for a column that the source does not have, or that was asked for twice."""
    check_names(who, list(chosen))
    known = set(names)
    for name in chosen:
        if name not in known:
            raise unknown_column(who, name, names)


def check_paths(paths: Sequence[Any]) -> Sequence[Any]:
    """Return the paths of several files; raise for none, and for what is no path."""
    if not paths:
        raise TableError("blocks: source must have at least one file; got an empty list.")
    for path in paths:
        if not isinstance(path, str | os.PathLike):
            raise TableError(f"blocks: a list must hold paths of files; got {type(path).__name__}.")
    return paths


def check_same_columns(who: str, names: list[str], expected: list[str], first: str) -> None:
    """Raise unless a file has the columns of the first one; their order does not matter."""
    missing = [name for name in expected if name not in set(names)]
    if missing:
        raise TableError(f"{who}: must have the columns of {first}; got none named {listing(missing)}.")


def check_number_types(who: str, schema: pa.Schema, chosen: tuple[str, ...]) -> None:
    """Raise for a column whose type cannot be numbers. Strings may be: they are tried value by value."""
    for name in chosen:
        kind = schema.field(name).type
        if not is_convertible(kind) or pa.types.is_dictionary(kind):
            raise TableError(f"{who}: column {name!r} must hold numbers; got {kind}.")


def check_block_rows(rows: Any) -> None:
    if not isinstance(rows, int | np.integer) or isinstance(rows, bool) or rows < 1:
        raise TableError(f"blocks: block_rows must be an integer above 0; got {rows!r}.")
