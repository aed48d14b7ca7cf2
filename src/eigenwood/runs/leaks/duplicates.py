"""Rows on both sides of the split: the model has seen their answer.

    equal rows      the features of a test row are those of a training row
    by chance?      leave out a random third S of the columns: d training rows agree on the rest but not on S, and a
                    share f of all has the same S; by chance one of d rows has it with probability 1 − (1 − f)^d
    copies          equal rows that chance explains for no S

A table of three yes-no columns has equal rows by nature; a table with a measurement has none, and there f counts only
the training rows that are not equal in all columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eigenwood.data.tables import Column, Table
from eigenwood.runs.frames import FEATURE_KINDS
from eigenwood.runs.leaks.findings import DUPLICATES, Finding, share
from eigenwood.runs.leaks.sample import BLOCK_VALUES
from eigenwood.runs.settings import Split

MEASURED = 0.9  # of the rows have different values of a measurement
N_PARTS, PART = 6, 1 / 3  # random parts of the columns, and their share
BY_CHANCE = 0.01  # an equal row that chance explains so well is no copy
FEWEST, SERIOUS_SHARE = 2, 0.01  # test rows
MOST_COPIES = 0.5  # of the equal rows: where chance explains most, it made the others, too
LEAST_SAME = 0.5  # of the copies have the same target: otherwise they are other measurements of one thing
MOST_EXPLAINED = 2_000  # equal rows for which chance is asked


class Marks(NamedTuple):
    """64 bits for every row, of all columns and of each part of them; equal rows have equal bits."""

    whole: np.ndarray  # (n,)
    parts: np.ndarray  # (N_PARTS, n)


def duplicate_findings(table: Table, target: str, split: Split) -> list[Finding]:
    """Return a finding if test rows are copies of training rows."""
    columns = [column for column in table.columns if column.kind in FEATURE_KINDS and column.name != target]
    if not columns or not split.test.size:
        return []
    marks = marks_of(table, [column.name for column in columns])
    equal = split.test[count_in(np.sort(marks.whole[split.train]), marks.whole[split.test]) > 0]
    if equal.size < FEWEST:
        return []
    asked = np.random.default_rng(0).permutation(equal)[:MOST_EXPLAINED]
    has_measurement = any(is_measurement(column, table.n_rows) for column in columns)
    share_copied = float((by_chance(marks, asked, split.train, has_measurement) < BY_CHANCE).mean())
    n_copies = round(share_copied * equal.size)
    n_same = round(share_copied * same_targets(table.frame[target], marks.whole, equal, split.train))
    if n_copies < MOST_COPIES * equal.size or n_same < max(FEWEST, LEAST_SAME * n_copies):
        return []
    where = f"all {len(columns)} columns" if len(columns) > 1 else repr(columns[0].name)
    sentence = (
        f"{share(n_copies, split.test.size)} test rows are copies of training rows in {where}, "
        f"{n_same:,} of them with the same {target!r}."
    )
    evidence = {
        "n_copies": n_copies,
        "n_equal": int(equal.size),
        "n_test": int(split.test.size),
        "n_same_target": n_same,
    }
    return [Finding(DUPLICATES, [], sentence, n_same > SERIOUS_SHARE * split.test.size, evidence)]


def marks_of(table: Table, names: list[str]) -> Marks:
    """Return the marks of all rows: the mixed bits of each value, added up over columns."""
    is_in_part = np.random.default_rng(0).random((N_PARTS, len(names))) < PART
    is_in_part[np.arange(N_PARTS), np.arange(N_PARTS) % len(names)] = True  # no part is empty
    whole = np.zeros(table.n_rows, dtype=np.uint64)
    parts = np.zeros((N_PARTS, table.n_rows), dtype=np.uint64)
    width = max(1, BLOCK_VALUES // table.n_rows)
    for first in range(0, len(names), width):
        block = slice(first, first + width)
        bits = np.array([bits_of(table.frame[name]) for name in names[block]])
        mixed = mixed_bits(
            bits ^ mixed_bits(np.arange(first, first + len(bits), dtype=np.uint64) + np.uint64(1))[:, None]
        )
        whole += mixed.sum(axis=0)
        for part, chosen in zip(parts, is_in_part[:, block], strict=True):
            part += mixed[chosen].sum(axis=0)
    return Marks(whole, parts)


def bits_of(column: pa.ChunkedArray) -> np.ndarray:
    """Return 64 bits for each value: of the number itself, or the place of a string among the distinct ones."""
    if pa.types.is_floating(column.type):
        numbers = column.to_numpy().astype(np.float64) + 0.0  # −0 is 0
        numbers[np.isnan(numbers)] = np.nan
        return numbers.view(np.uint64)
    codes = pc.fill_null(column.combine_chunks().dictionary_encode().indices, -1)
    return codes.to_numpy(zero_copy_only=False).astype(np.int64).view(np.uint64)


def mixed_bits(bits):
    """Return 64 well-mixed bits (the finisher of SplitMix64)."""
    with np.errstate(over="ignore"):
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return bits ^ (bits >> np.uint64(31))


def count_in(ordered: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return how often each value stands in an ordered array."""
    return np.searchsorted(ordered, values, side="right") - np.searchsorted(ordered, values, side="left")


def is_measurement(column: Column, n_rows: int) -> bool:
    """Whether two rows hardly have the same value, unless one is a copy."""
    return column.kind == "text" or (column.kind != "category" and column.n_distinct > MEASURED * n_rows)


def by_chance(marks: Marks, rows: np.ndarray, train: np.ndarray, has_measurement: bool) -> np.ndarray:
    """Return the largest probability, among the parts, that a row has an equal one in training by chance."""
    n_equal = count_in(np.sort(marks.whole[train]), marks.whole[rows])
    best = np.zeros(rows.size)
    for part in marks.parts:
        rest, of_train = marks.whole - part, np.sort(part[train])
        n_rest, n_part = count_in(np.sort(rest[train]), rest[rows]), count_in(of_train, part[rows])
        if has_measurement:
            n_chance = n_part - n_equal
        else:
            n_chance = np.maximum(n_part - 1, (count_in(of_train, of_train) - 1).mean())
        best = np.maximum(best, 1 - (1 - n_chance / train.size) ** (n_rest - n_equal))
    return best


def same_targets(column: pa.ChunkedArray, whole: np.ndarray, equal: np.ndarray, train: np.ndarray) -> int:
    """Return how many of the test rows have an equal training row with the same target."""
    with_target = whole + mixed_bits(bits_of(column))
    return int((count_in(np.sort(with_target[train]), with_target[equal]) > 0).sum())
