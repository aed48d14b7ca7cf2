"""Reduce a table to fewer columns: rows are read in blocks, and their scores are written in blocks.

    source ──► which columns ──► fit ──► scores, block by block ──► file
                                                └► a few rows, evenly spaced, for the figure

The methods stand in ``reducers``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from eigenwood.data.blocks import blocks, open_source
from eigenwood.data.columns import beside, number_columns, stored_columns
from eigenwood.data.genotypes import Genotypes, genotypes
from eigenwood.data.row_blocks import Blocks
from eigenwood.data.writing import format_of, write_rows
from eigenwood.errors import TableError
from eigenwood.estimators.kernel_pca import KernelPCA
from eigenwood.estimators.pca import PCA
from eigenwood.runs.reduce_record import ComponentRecord, ReduceRecord
from eigenwood.runs.reducers import METHODS, ReduceSettings, check_count, check_settings
from eigenwood.validation.arrays import check_finite

MOST_SHOWN = 2000  # rows that the record keeps for the figure

Report = Callable[[str, int, int | None], None]  # what is being done, how many rows are done, of how many if known


class Columns(NamedTuple):
    """What happens to the columns of a table."""

    taken: tuple[str, ...]
    left_out: dict[str, str]  # each with what it is
    kept: tuple[str, ...] = ()  # copied to the result


class Reduction(NamedTuple):
    """The fitted model and the record of what was done."""

    model: Any
    record: ReduceRecord


# --- columns --------------------------------------------------------------------------------------


def choose_columns(source: Any, wanted: tuple[str, ...], keep: tuple[str, ...], target: str | None) -> Columns:
    """Return the columns to compute with: the ``wanted`` ones, or all with numbers but ``keep`` and ``target``."""
    if keep:
        stored_columns(source, keep)
    if wanted:
        blocks(source, columns=wanted)
        return Columns(wanted, {}, keep)
    found = number_columns(source)
    left_out = found.left_out | ({target: "target"} if target in found.taken else {})
    left_out = {name: what for name, what in left_out.items() if name not in keep}
    taken = tuple(name for name in found.taken if name not in keep and name != target)
    if not taken:
        who = open_source(source).who
        raise TableError(f"{who}: must have a column of numbers that is not kept and no target; got none.")
    return Columns(taken, left_out, keep)


# --- the job --------------------------------------------------------------------------------------


def reduce(
    source: Any, name: str, columns: Columns, out: Path, settings: ReduceSettings, report: Report = lambda *_: None
) -> Reduction:
    """Write the scores of all rows of ``source`` to ``out``; return the model and what was done."""
    check_settings(settings)
    check_output(out, columns.kept)
    started = time.perf_counter()
    stage = Stage("reading", report)
    reduced = METHODS[settings.method].reduce(opened_rows(source, columns.taken, settings, stage), settings)
    fitted = time.perf_counter()

    stage.what = "writing"
    sample, names = EvenSample(MOST_SHOWN), reduced.scores.columns
    n_rows = write_rows(sample.of(beside(reduced.scores, source, columns.kept), [*columns.kept, *names[:2]]), out)
    record = ReduceRecord(
        version=version("eigenwood"),
        table=name,
        **{key: getattr(settings, key) for key in ("method", "components", "scale", "missing", "seed")},
        how=reduced.how,
        notes=list(reduced.notes),
        n_rows=n_rows,
        columns=list(columns.taken),
        left_out=columns.left_out,
        kept=list(columns.kept),
        names=list(names),
        **principal_parts(reduced.model),
        shown=sample.rows().to_pydict(),
        shown_every=sample.every,
        seconds={"fit": fitted - started, "writing": time.perf_counter() - fitted},
        kernel_view=reduced.kernel_view,
    )
    return Reduction(reduced.model, record)


def check_output(out: Path, kept: tuple[str, ...]) -> None:
    """Raise for a file whose ending names no format, or one that cannot hold columns that are kept."""
    format_of(out)
    if kept and out.suffix.lower() == ".npy":
        raise TableError(f"{out.name}: must be a table to hold columns that are kept; got an array, without names.")


def opened_rows(source: Any, columns: tuple[str, ...], settings: ReduceSettings, stage: Stage) -> Blocks | Genotypes:
    """Return the rows to learn from, checked as they are read; genotypes are read by columns where the method can."""
    if settings.method == "pca" and isinstance(source, Path) and source.suffix.lower() == ".bed":
        people = genotypes(source).aligned(columns)
        check_count(settings, people.n_people, people.n_variants)
        return people
    rows = blocks(source, columns=columns)
    check_count(settings, rows.n_rows, rows.n_columns)
    return stage.of(checked(rows, source, settings))


def checked(rows: Blocks, source: Any, settings: ReduceSettings) -> Blocks:
    """Return the rows; a block with infinity, or with a hole that nothing is to fill, raises and names its place."""
    opened = open_source(source)
    first = 0 if opened.stored is None else opened.stored.first_row
    names = np.array(rows.columns, dtype=object)

    def pieces() -> Iterator[np.ndarray]:
        first_row = first
        for block in rows:
            check_finite(
                opened.who,
                block,
                names,
                missing=settings.missing is not None,
                first_row=first_row,
                nan_cure="--missing mean fills it",
                what="every value",
            )
            first_row += len(block)
            yield block

    return rows.changed(pieces)


def principal_parts(model: Any) -> dict[str, Any]:
    """Return what a record says of principal components."""
    if isinstance(model, PCA):
        variances, intervals, total = model.explained_variance_, model.explained_variance_interval_, 1.0
    elif isinstance(model, KernelPCA):  # λ of the centred Gram matrix is n times the variance along its axis
        variances, intervals, total = model.eigenvalues_, model.eigenvalue_interval_, float(model.n_samples_)
    else:
        return {"principal": [], "total_variance": None, "certificate": None}
    numbers = zip(variances / total, model.explained_variance_ratio_, *(intervals / total).T, strict=True)
    return {
        "principal": [ComponentRecord(*map(float, row)) for row in numbers],
        "total_variance": float(model.total_variance_) / total,
        "certificate": model.certificate_.as_dict(),
    }


# --- along the way --------------------------------------------------------------------------------


class Stage:
    """What is being done while rows are read; tells every block of them to ``report``."""

    def __init__(self, what: str, report: Report) -> None:
        self.what, self._report = what, report

    def of(self, rows: Blocks) -> Blocks:
        """Return the same rows."""

        def pieces() -> Iterator[np.ndarray]:
            n_done = 0
            for block in rows:
                self._report(self.what, n_done, rows.n_rows)
                n_done += len(block)
                yield block

        return rows.changed(pieces)


class EvenSample:
    """Rows of a stream at equal distances, at most so many; how long the stream is nobody needs to know.

    >>> sample = EvenSample(most=4)
    >>> for table in sample.of([pa.table({"x": [0, 1, 2]}), pa.table({"x": [3, 4, 5, 6, 7, 8, 9]})], ["x"]):
    ...     pass
    >>> sample.rows()["x"].to_pylist(), sample.every
    ([0, 4, 8], 4)
    """

    def __init__(self, most: int) -> None:
        self.every = 1
        self._most, self._n_seen = most, 0
        self._parts: list[pa.Table] = []

    def of(self, tables: Iterable[pa.Table], names: list[str]) -> Iterator[pa.Table]:
        """Yield the same tables, and remember some rows of their columns ``names``."""
        for table in tables:
            self._add(table.select(names))
            yield table

    def rows(self) -> pa.Table:
        return pa.concat_tables(self._parts)

    def _add(self, table: pa.Table) -> None:
        places = np.arange(-self._n_seen % self.every, table.num_rows, self.every)
        self._parts.append(table.take(places))
        self._n_seen += table.num_rows
        while sum(part.num_rows for part in self._parts) > self._most:
            kept = self.rows()
            self._parts, self.every = [kept.take(np.arange(0, kept.num_rows, 2))], 2 * self.every
