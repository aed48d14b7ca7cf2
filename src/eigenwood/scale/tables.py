"""Dask's arrays and frames as blocks of rows: cut by row number, never by how somebody partitioned them.

partitions   [ 0 … 9 ][ 10 … 34 ][][ 35 … 61 ]
blocks       [ 0 … 15 ][ 16 … 31 ][ 32 … 47 ][ 48 … 61 ]      the same rows in the same blocks, however they lie
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed

from eigenwood.data.blocks import blocks as blocks_of
from eigenwood.data.blocks import check_block_rows, check_chosen, default_block_rows
from eigenwood.data.row_blocks import Blocks, Sections
from eigenwood.errors import TableError

WHO = "scale.blocks"


def blocks(source: Any, *, columns: Sequence[str] | None = None, block_rows: int | None = None) -> Blocks:
    """Return the rows of a Dask array or frame, or of anything that ``data.blocks`` takes, as a stream of blocks.

    How long the partitions are is computed first, by one pass over them.
    """
    if not dask.is_dask_collection(source):
        return blocks_of(source, columns=columns, block_rows=block_rows)
    names, dtype, partitions = array_parts(source) if hasattr(source, "chunks") else frame_parts(source)
    chosen = tuple(names) if columns is None else tuple(columns)
    check_chosen(WHO, chosen, names)
    rows = default_block_rows(len(chosen), dtype) if block_rows is None else block_rows
    check_block_rows(rows)
    lengths = dask.compute(*[dask.delayed(len)(partition) for partition in partitions])
    reader = PartitionReader(tuple(partitions), (0, *accumulate(lengths)), tuple(names), chosen, dtype)
    n_rows = sum(lengths)
    return Blocks(chosen, n_rows, dtype, rows, lambda: reader(0, n_rows), Sections(reader.firsts[:-1], reader))


def array_parts(array: Any) -> tuple[list[str], np.dtype, list[Delayed]]:
    """Return the columns of a Dask array, the type of its blocks, and its partitions."""
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise TableError(f"{WHO}: array must have 2 dimensions and hold numbers; got {array.ndim} and {array.dtype}.")
    whole_rows = array.rechunk({1: -1})
    return (
        [f"x{j}" for j in range(array.shape[1])],
        np.dtype(np.float32 if array.dtype == np.float32 else np.float64),
        list(whole_rows.to_delayed().ravel()),
    )


def frame_parts(frame: Any) -> tuple[list[str], np.dtype, list[Delayed]]:
    """Return the columns of a Dask frame, the type of its blocks, and its partitions."""
    is_float32 = all(dtype == np.float32 for dtype in frame.dtypes)
    return list(map(str, frame.columns)), np.dtype(np.float32 if is_float32 else np.float64), frame.to_delayed()


@dataclass(frozen=True)
class PartitionReader:
    """Reads rows of partitions; partition i begins at row ``firsts[i]``."""

    partitions: tuple[Delayed, ...]
    firsts: tuple[int, ...]
    names: tuple[str, ...]
    chosen: tuple[str, ...]
    dtype: np.dtype

    def __call__(self, start: int, stop: int) -> Iterator[np.ndarray]:
        """Yield rows that are computed here, one partition after the other."""
        for i in self.numbers(start, stop):
            yield from self.pieces([i], dask.compute(self.partitions[i]), start, stop)

    def numbers(self, start: int, stop: int) -> range:
        """Return the numbers of the partitions that hold some rows."""
        return range(bisect_right(self.firsts, start) - 1, bisect_left(self.firsts, stop))

    def without_graphs(self) -> PartitionReader:
        """Return what cuts the same rows out of partitions that somebody else has computed."""
        return PartitionReader((), self.firsts, self.names, self.chosen, self.dtype)

    def pieces(self, numbers: Iterable[int], partitions: Iterable[Any], start: int, stop: int) -> Iterator[np.ndarray]:
        """Yield rows of some partitions that are here, as arrays of the chosen columns."""
        for i, partition in zip(numbers, partitions, strict=True):
            low, high = max(start, self.firsts[i]) - self.firsts[i], min(stop, self.firsts[i + 1]) - self.firsts[i]
            if low < high:
                rows = partition[low:high] if isinstance(partition, np.ndarray) else partition.iloc[low:high]
                yield from blocks_of(rows, columns=self.chosen, dtype=self.dtype)
