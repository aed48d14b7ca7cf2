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

import cloudpickle
import numpy as np
from dask.sizeof import sizeof
from distributed import CancelledError, Client, Future, KilledWorker, wait

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


class Workers:
    """Compute what is asked for; tasks are counted, and the bytes that come back."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.n_tasks = self.n_bytes = 0

    def block_results(self, work: Work, X: Blocks, weights: np.ndarray | None) -> Iterator[Any]:
        """Yield ``work(block, weights of its rows, its first row)`` for each block, in order."""
        under_way: deque[Future] = deque()
        try:
            for run, read, parts in self._tasks_of(X):
                of_run = part_of(weights, run.start, run.stop - run.start)
                task = results_of_run, work, read, parts, X.block_rows, run, of_run
                under_way.append(self.submitted(*task))
                if len(under_way) >= self.width():
                    yield from self.result_of(under_way.popleft())
            while under_way:
                yield from self.result_of(under_way.popleft())
        finally:
            self._client.cancel(list(under_way))

    def queue(self, work: Callable[[Any], Any], n_threads: int) -> TaskQueue:
        """Return a queue of tasks on the workers, however many threads there are here."""
        return TaskQueue(self, work)

    def width(self) -> int:
        """Return how many tasks keep all workers busy."""
        return TASKS_PER_THREAD * max(1, sum(self._client.nthreads().values()))

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

    def submitted(self, function: Callable[..., Any], *arguments: Any) -> Future:
        """Return a task that a worker will do."""
        self.n_tasks += 1
        return self._client.submit(function, *arguments, pure=False, retries=RETRIES)

    def result_of(self, future: Future) -> Any:
        """Return what a task came to."""
        try:
            results = future.result()
        except KilledWorker as error:
            raise ClusterError(
                "cluster: a worker must have enough memory for a block and its result; got "
                f"{error.allowed_failures + 1} workers that died of the same task."
            ) from error
        except CancelledError as error:
            raise ClusterError("cluster: the scheduler must stay until the end; got no answer from it.") from error
        self.n_bytes += sizeof(results)
        return results


class TaskQueue:
    """Tasks for workers, each of which gets the work once, with all that it holds."""

    def __init__(self, workers: Workers, work: Callable[[Any], Any]) -> None:
        self._workers, self._work = workers, work
        self._under_way: dict[Future, Any] = {}

    @property
    def width(self) -> int:
        """Return how many tasks keep all workers busy."""
        return self._workers.width()

    def __enter__(self) -> TaskQueue:
        # as a task of its own, so that it can be had again when the worker that had it is lost
        self._there = self._workers.submitted(cloudpickle.loads, cloudpickle.dumps(self._work))
        return self

    def __exit__(self, *problem: object) -> None:
        for future in self._under_way:
            future.cancel()
        self._there.release()

    def add(self, task: Any) -> None:
        """Let a task wait for its turn."""
        self._under_way[self._workers.submitted(result_of_task, self._there, task)] = task

    def next_result(self) -> tuple[Any, Any]:
        """Return a task that is done, and its result."""
        done = wait(list(self._under_way), return_when="FIRST_COMPLETED").done
        future = next(future for future in self._under_way if future in done)
        return self._under_way.pop(future), self._workers.result_of(future)


def result_of_task(work: Callable[[Any], Any], task: Any) -> Any:
    """Return the result of a task: what a worker does."""
    with one_blas_thread():
        return work(task)


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


def pieces_of_files(
    read: Callable[[int, int], Iterable[np.ndarray]], run: Run, parts: list[Any]
) -> Iterable[np.ndarray]:
    """Return the rows of a run, from files that the worker reaches."""
    return read(run.start, run.stop)


def pieces_of_parts(reader: PartitionReader, numbers: range, run: Run, parts: list[Any]) -> Iterable[np.ndarray]:
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
