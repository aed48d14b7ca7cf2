"""Training rows and their columns as numbers, a block of columns at a time.

    Table ──► Sample(table, target, positions) ──► Block(lines, values)      values  (columns, rows), NaN where missing
                                                          strings as their place in alphabetical order,
                                                          ids as their prefix and as their number

Rows are drawn and shuffled by a fixed seed, so that rows of equal value stand in an order that says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.stats import rankdata

from eigenwood.data.tables import Table
from eigenwood.estimators.registry import CLASSIFICATION
from eigenwood.runs.frames import amounts_of, labels_of
from eigenwood.runs.settings import Split

MOST_ROWS = 20_000  # shares of 1 % are then known to a tenth of a per cent
BLOCK_VALUES = 2_000_000  # sorted at a time
FILE_ORDER = ""  # the name of the line that holds the position of each row in the file
ID_PARTS = r"^(?P<prefix>.*?)(?P<number>\d{1,15})\D*$"


class Target(NamedTuple):
    """The target of the sampled rows: class codes, or amounts with their ranks."""

    name: str
    codes: np.ndarray | None  # (n,) of classes
    labels: list[str]  # of the codes; none for amounts
    amounts: np.ndarray | None
    ranks: np.ndarray | None  # (n,) of amounts, between 0 and 1


class Sample(NamedTuple):
    """Training rows in random order, and where they stand in the file."""

    table: Table  # without the target
    target: Target
    positions: np.ndarray

    @property
    def n_rows(self) -> int:
        return self.positions.size


class Line(NamedTuple):
    """One column, or one part of an id, as numbers."""

    name: str
    kind: str
    values: np.ndarray


class Block(NamedTuple):
    """Some lines, and their values as one matrix."""

    lines: list[Line]
    values: np.ndarray  # (lines, rows)


def sample_of(table: Table, target: str, task: str, split: Split) -> Sample:
    """Return at most ``MOST_ROWS`` training rows in random order."""
    rows = np.random.default_rng(0).permutation(split.train)[:MOST_ROWS]
    frame = table.frame.take(pa.array(rows, type=pa.int64()))
    others = [column for column in table.columns if column.name != target]
    features = Table(table.name, frame.select([column.name for column in others]), tuple(others))
    return Sample(features, target_of(Table(table.name, frame, table.columns), target, task), rows)


def target_of(rows: Table, name: str, task: str) -> Target:
    if task == CLASSIFICATION:
        labels, codes = np.unique(labels_of(rows, name), return_inverse=True)
        return Target(name, codes.astype(np.int64), labels.tolist(), None, None)
    amounts = amounts_of(rows, name)
    return Target(name, None, [], amounts, rankdata(amounts) / amounts.size)


# --- lines -------------------------------------------------------------------------------------------


def blocks(sample: Sample) -> Iterator[Block]:
    """Yield the order of the file and all columns as numbers, so many at a time that a block is sorted in 50 MB."""
    width = max(1, BLOCK_VALUES // max(sample.n_rows, 1))
    lines = [Line(FILE_ORDER, "id", sample.positions.astype(float))]
    for column in sample.table.columns:
        lines += lines_of(column.name, column.kind, sample.table.frame[column.name])
        if len(lines) >= width:
            yield Block(lines, np.array([line.values for line in lines]))
            lines = []
    if lines:
        yield Block(lines, np.array([line.values for line in lines]))


def lines_of(name: str, kind: str, column: pa.ChunkedArray) -> list[Line]:
    """Return the column as one line, an id of letters and digits as two, and a constant without gaps as none."""
    if kind == "constant" and not column.null_count:
        return []
    parts = id_parts(column) if kind == "id" else [column]
    return [Line(name, kind, as_line(part)) for part in parts]


def id_parts(column: pa.ChunkedArray) -> list[pa.ChunkedArray]:
    """Return the number in each id, and what stands before it where that differs; ids without numbers as they are."""
    if not pa.types.is_string(column.type):
        return [column]
    parts = pc.extract_regex(column, ID_PARTS)
    if parts.null_count > column.null_count:
        return [column]
    prefix, number = (pc.struct_field(parts, name) for name in ("prefix", "number"))
    varies = pc.count_distinct(prefix).as_py() > 1
    return [pc.cast(number, pa.float64()), *([prefix] if varies else [])]


def as_line(column: pa.ChunkedArray) -> np.ndarray:
    """Return numbers as they are, and strings as their place in alphabetical order."""
    if pa.types.is_floating(column.type):
        return column.to_numpy().astype(np.float64, copy=False)
    encoded = column.combine_chunks().dictionary_encode()
    words = np.array(encoded.dictionary.to_pylist(), dtype=object)
    place = np.empty(words.size + 1)
    place[np.argsort(words)] = np.arange(words.size)
    place[-1] = np.nan
    return place[pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)]
