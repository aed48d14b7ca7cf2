"""Results of blocks from workers: pure tasks over rows that their numbers fix, in order.

    blocks    [0][1][2][3][4][5][6][7] …      as one process would cut them
    runs      [0  1  2][3  4  5][6  7] …      neighbours, begun where reading is cheap: one task each
    results    r0 r1 r2 r3 r4 r5 r6 r7 …      merged by whoever asked, in this order

Where a run ends, and who computes it, changes no bit. A task that is lost is computed again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from dask.sizeof import sizeof
from distributed import CancelledError, Client, Future, KilledWorker

from eigenwood.core.threads import one_blas_thread
from eigenwood.data.row_blocks import Blocks, regrouped
from eigenwood.errors import ClusterError
from eigenwood.estimators.blockwise import Work, part_of
from eigenwood.scale.tables import PartitionReader

MOST_BLOCKS = 8  # of one task: its results travel together
TASKS_PER_THREAD = 3  # under way: one at work, others waiting beside it
RETRIES = 3  # of a task that fails by itself


Read = Callable[[list[Any]], Iterable[np.ndarray]]


class Run(NamedTuple):
    """Neighbouring blocks, from the first row to before the last."""

    start: int
    stop: int


class BlockComputer:
    """Computes results of blocks on workers; counts tasks, and the bytes that come back."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.n_tasks = self.n_bytes = 0

    def __call__(self, work: Work, X: Blocks, weights: np.ndarray | None) -> Iterator[Any]:
        """Yield ``work(block, weights of its rows, its first row)`` for each block, in order."""
        under_way: deque[Future] = deque()
        try:
            for run, read, parts in self._tasks_of(X):
                of_run = part_of(weights, run.start, run.stop - run.start)
                under_way.append(self._submitted(work, read, parts, X.block_rows, run, of_run))
                if len(under_way) >= TASKS_PER_THREAD * sum(self._client.nthreads().values()):
                    yield from self._results(under_way.popleft())
            while under_way:
                yield from self._results(under_way.popleft())
        finally:
            self._client.cancel(list(under_way))

    def _tasks_of(self, X: Blocks) -> Iterator[tuple[Run, Read, list[Future]]]:
        """Yield the runs of a stream, each with what reads its rows on a worker, and the parts that it reads them from.

        Rows of files are read there; partitions are computed there; a table in memory goes with its tasks.
        """
        if X.sections is None or X.n_rows is None:
            start = 0
            for block in X:
                yield Run(start, start + len(block)), partial(as_pieces, block), []
                start += len(block)
            return
        reader = X.sections.read
        for run in runs_of(X.n_rows, X.block_rows, X.sections.starts):
            if isinstance(reader, PartitionReader):
                numbers = reader.numbers(run.start, run.stop)
                parts = self._client.compute([reader.partitions[i] for i in numbers])
                yield run, partial(pieces_of_parts, reader.without_graphs(), numbers, run), parts
            else:
                yield run, partial(pieces_of_files, reader, run), []

    def _submitted(self, *arguments: Any) -> Future:
        self.n_tasks += 1
        return self._client.submit(results_of_run, *arguments, pure=False, retries=RETRIES)

    def _results(self, future: Future) -> list[Any]:
        """Return what a task came to."""
        try:
            results = future.result()
        except KilledWorker as error:
            raise ClusterError(
                f"cluster: a worker must have enough memory for a block and its result; got {error.allowed_failures + 1} "
                "workers that died of the same task."
            ) from error
        except CancelledError as error:
            raise ClusterError("cluster: the scheduler must stay until the end; got no answer from it.") from error
        self.n_bytes += sizeof(results)
        return results


def results_of_run(
    work: Work, read: Read, parts: list[Any], block_rows: int, run: Run, weights: np.ndarray | None
) -> list[Any]:
    """Return the results of some neighbouring blocks: what a worker does."""
    results, n_before = [], 0
    with one_blas_thread():
        for block in regrouped(read(parts), block_rows):
            results.append(work(block, part_of(weights, n_before, len(block)), run.start + n_before))
            n_before += len(block)
    return results


def as_pieces(block: np.ndarray, parts: list[Any]) -> list[np.ndarray]:
    """Return a block that came with its task."""
    return [block]


def pieces_of_files(read: Callable[[int, int], Iterable[np.ndarray]], run: Run, parts: list[Any]) -> Iterable[np.ndarray]:
    """Return the rows of a run, from files that the worker reaches."""
    return read(run.start, run.stop)


def pieces_of_parts(
    reader: PartitionReader, numbers: range, run: Run, parts: list[Any]
) -> Iterable[np.ndarray]:
    """Return the rows of a run, from partitions that workers have computed."""
    return reader.pieces(numbers, parts, run.start, run.stop)


def runs_of(n_rows: int, block_rows: int, starts: tuple[int, ...]) -> Iterator[Run]:
    """Yield runs of whole blocks: a new one where a block holds a row at which reading may start.

    >>> [tuple(run) for run in runs_of(100, 10, starts=(0, 45, 48))]
    [(0, 40), (40, 100)]
    """
    cuts = {start // block_rows for start in starts}
    first = 0
    n_blocks = -(-n_rows // block_rows)
    for block in range(1, n_blocks + 1):
        if block == n_blocks or block in cuts or block - first == MOST_BLOCKS:
            yield Run(first * block_rows, min(block * block_rows, n_rows))
            first = block
