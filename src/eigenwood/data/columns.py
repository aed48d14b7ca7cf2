"""Columns of a source that is read in blocks: which of them hold numbers, and which are copied as they are.

    number_columns("big.parquet")               ──►  the columns to compute with, and what the others are
    beside(blocks of scores, source, ["id"])    ──►  tables of id, score 0, score 1, …, to be written

Memory is bounded by a block of rows.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from eigenwood.data.blocks import Source, Stored, check_chosen, default_block_rows, open_source
from eigenwood.data.kinds import CONSTANT, NUMBER, is_convertible
from eigenwood.data.naming import check_names
from eigenwood.data.row_blocks import Blocks, regrouped
from eigenwood.data.tables import Table, clean_table
from eigenwood.errors import TableError

TABLES = 4  # to write, for a block of scores: a file format takes some copies of a table
FEWEST_ROWS, MOST_ROWS, MOST_VALUES = 20, 1000, 2**24  # that are looked at


class NumberColumns(NamedTuple):
    """The columns that hold numbers, and all others with what they are instead."""

    taken: tuple[str, ...]
    left_out: dict[str, str]


# --- numbers --------------------------------------------------------------------------------------


def number_columns(source: Any) -> NumberColumns:
    """Return the columns that hold numbers by the first rows of the source; row numbers and dates are none.

    Days since 1970 would outweigh every other column; who wants dates as numbers names their columns.

    Later rows are read as numbers too: a word among them is an error that names its row.

    >>> number_columns(pa.table({"row": [1, 2, 3], "town": ["a", "b", "a"], "size": [70.5, 65.0, 70.5]}))
    NumberColumns(taken=('size',), left_out={'row': 'id', 'town': 'category'})
    """
    opened = open_source(source)
    if opened.stored is None or opened.stored.names != opened.names:
        return NumberColumns(tuple(opened.names), {})
    left_out, table = (dict[str, str](), source) if isinstance(source, Table) else looked_at(opened, opened.stored)
    for column in table.columns:
        if column.n_distinct == 0:
            left_out[column.name] = "empty"
        elif column.kind not in (NUMBER, CONSTANT) or not pa.types.is_floating(table.frame[column.name].type):
            left_out[column.name] = column.kind
    taken = tuple(name for name in opened.names if name not in left_out)
    if not taken:
        kinds = ", ".join(sorted(set(left_out.values())))
        raise TableError(f"{opened.who}: must have a column of numbers; got {kinds}.")
    return NumberColumns(taken, {name: left_out[name] for name in opened.names if name in left_out})


def looked_at(opened: Source, stored: Stored) -> tuple[dict[str, str], Table]:
    """Return the columns whose type is none of ours, and of the others the first rows with their kinds."""
    n_rows = max(FEWEST_ROWS, min(MOST_ROWS, MOST_VALUES // len(stored.names)))
    rows = first_rows(stored, n_rows)
    nested = {field.name: str(field.type) for field in rows.schema if not is_convertible(field.type)}
    rows = rows.drop_columns(list(nested))
    return nested, clean_table(rows, stored.markers, opened.who, opened.who)


def first_rows(stored: Stored, n_rows: int) -> pa.Table:
    parts, n_read = [], 0
    for part in tables_of(stored, stored.names, n_rows):
        parts.append(part.slice(0, n_rows - n_read))
        n_read += parts[-1].num_rows
        if n_read == n_rows:
            break
    return pa.concat_tables(parts)


# --- columns as they are --------------------------------------------------------------------------


def beside(scores: Blocks, source: Any, keep: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the rows of ``scores`` as tables, to their left the columns ``keep`` of the source they were made from."""
    rows = max(1, default_block_rows(scores.n_columns, scores.dtype) // TABLES)
    blocks = regrouped(scores.pieces(), rows)
    if not keep:
        return (as_table(scores.columns, block) for block in blocks)
    names = [*keep, *scores.columns]
    check_names(open_source(source).who, names)
    kept = regrouped(map(decoded, tables_of(stored_columns(source, keep), keep, rows)), rows, pa.concat_tables)
    return (
        pa.table([*left.columns, *as_table(scores.columns, block).columns], names=names)
        for left, block in zip(kept, blocks, strict=True)
    )


def stored_columns(source: Any, keep: Sequence[str]) -> Stored:
    """Return the columns of a source as they are stored; raise for one of ``keep`` that it does not have."""
    opened = open_source(source)
    if opened.stored is None:
        raise TableError(f"{opened.who}: must be a table with names of columns to keep some; got an array.")
    check_chosen(opened.who, tuple(keep), opened.stored.names)
    return opened.stored


def tables_of(stored: Stored, chosen: Sequence[str], rows: int) -> Iterator[pa.Table]:
    for batch in stored.batches(tuple(chosen), rows):
        yield batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])


def decoded(table: pa.Table) -> pa.Table:
    """Return a table with values in place of the codes of categories, which may change between two batches."""
    kinds = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in table.schema.types]
    return table.cast(pa.schema(zip(table.column_names, kinds, strict=True)))


def as_table(names: Sequence[str], block: Any) -> pa.Table:
    return pa.table(list(block.T), names=list(names))
