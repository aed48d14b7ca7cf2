"""Run fixed blocks of work on n threads; the result does not depend on n.

    rows      0 ─────── 512 ────── 1024 ────── 1536 ─ 1700
    tasks     [ block 0 ][ block 1 ][ block 2 ][ block 3 ]      cut by the data's size alone
    threads   whoever is free takes the next block
    results   [ r0, r1, r2, r3 ]                                always in this order

Two things would make bits depend on the number of threads: cutting the work by n, and a BLAS that splits one
product over several cores. So blocks are cut by size, and while a pool runs every BLAS call is single-threaded.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import Generic, TypeVar

from scipy.linalg import blas  # noqa: F401 - loads SciPy's own BLAS, so that the controller below sees it
from threadpoolctl import OpenBLASController, ThreadpoolController

Task = TypeVar("Task")
Result = TypeVar("Result")


def row_blocks(n_rows: int, block_rows: int) -> list[slice]:
    """Return the slices that cut ``n_rows`` rows into blocks of ``block_rows``; the last may be shorter.

    >>> row_blocks(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + block_rows, n_rows)) for start in range(0, n_rows, block_rows)]


def results_of(work: Callable[[Task], Result], tasks: Sequence[Task], n_threads: int) -> list[Result]:
    """Return ``[work(task) for task in tasks]``, computed on ``n_threads`` threads.

    >>> results_of(lambda block: block.stop - block.start, row_blocks(5, 2), n_threads=2)
    [2, 2, 1]
    """
    return list(results_in_turn(work, tasks, n_threads))


def results_in_turn(work: Callable[[Task], Result], tasks: Sequence[Task], n_threads: int) -> Iterator[Result]:
    """Yield the same results one by one; whoever closes the generator leaves the tasks undone that nobody has begun.

    >>> next(results_in_turn(lambda block: block.stop - block.start, row_blocks(5, 2), n_threads=2))
    2
    """
    with one_blas_thread():
        if n_threads == 1 or len(tasks) < 2:
            yield from map(work, tasks)
            return
        with _workers(n_threads) as pool:
            futures = [pool.submit(work, task) for task in tasks]
            try:
                for future in futures:
                    yield future.result()
            finally:
                wait_for_begun(futures)


@contextmanager
def helped(work: Callable[[int], None], n_helpers: int) -> Iterator[None]:
    """Let ``work(1)``, ``work(2)``, … run on other threads while what is inside runs; those not begun by then never do.

    >>> done = []
    >>> with helped(done.append, n_helpers=1):
    ...     while not done:
    ...         pass
    >>> done
    [1]
    """
    if n_helpers == 0:
        yield
        return
    with _workers(n_helpers) as pool:
        futures = [pool.submit(work, number + 1) for number in range(n_helpers)]
        try:
            yield
        finally:
            for future in wait_for_begun(futures):
                future.result()  # an error of a helper comes out, also where what is inside failed for want of it


def wait_for_begun(futures: Sequence[Future[Result]]) -> list[Future[Result]]:
    """Wait for tasks that have begun, and return them; the others never begin.

    A cancelled one counts as done when a thread would have taken it, and all of them may be busy for somebody else.
    """
    begun = [future for future in futures if not future.cancel()]
    wait(begun)
    return begun


@contextmanager
def _workers(n_threads: int) -> Iterator[ThreadPoolExecutor]:
    """Give threads that have waited since the last call, as starting them takes as long as many a task.

    A task that itself has tasks gets new ones: those that wait may all be waiting for it.
    """
    if getattr(_THIS_THREAD, "is_worker", False):
        with _new_workers(n_threads) as pool:
            yield pool
    else:
        yield _waiting_workers(n_threads)


def _new_workers(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, "eigenwood", initializer=_become_worker)


_waiting_workers = cache(_new_workers)


def _become_worker() -> None:
    _THIS_THREAD.is_worker = True


_THIS_THREAD = threading.local()
if hasattr(os, "register_at_fork"):  # a child process has the table of threads, but not the threads
    os.register_at_fork(after_in_child=_waiting_workers.cache_clear)


def ahead(items: Iterator[Task]) -> Iterator[Task]:
    """Yield the same items, while the next one is being made on another thread: reading and computing overlap.

    >>> list(ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    nothing = object()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(next, items, nothing)
        while (item := waiting.result()) is not nothing:
            waiting = pool.submit(next, items, nothing)
            yield item  # type: ignore[misc]


class WorkQueue(Generic[Task, Result]):
    """Work that is found while working: whoever is free takes the task that waits longest.

    With one thread the results come in the order of the tasks; with more, as they are ready. So what is made of them
    must not depend on their order.

    >>> with WorkQueue(lambda n: n * n, n_threads=1) as queue:
    ...     queue.add(3)
    ...     queue.next_result(), queue.is_open()
    ((3, 9), False)
    """

    def __init__(self, work: Callable[[Task], Result], n_threads: int) -> None:
        self.width = 2 * n_threads  # tasks that keep all threads busy: as many wait as are at work
        self._work = work
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None
        self._waiting: deque[Task] = deque()
        self._running: dict[Future[Result], Task] = {}

    def __enter__(self) -> WorkQueue[Task, Result]:
        _BLAS_LIMIT.enter()
        return self

    def __exit__(self, *problem: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        _BLAS_LIMIT.leave()

    def add(self, task: Task) -> None:
        """Let a task wait for its turn."""
        if self._pool is None:
            self._waiting.append(task)
        else:
            self._running[self._pool.submit(self._work, task)] = task

    def is_open(self) -> bool:
        """Return whether there is a task whose result was not taken yet."""
        return bool(self._waiting or self._running)

    def next_result(self) -> tuple[Task, Result]:
        """Return a task and its result."""
        result = self.result_within(None)
        assert result is not None
        return result

    def result_within(self, seconds: float | None) -> tuple[Task, Result] | None:
        """Return a task and its result, or None if there is none within so many seconds; on one thread there is."""
        if self._pool is None:
            task = self._waiting.popleft()
            return task, self._work(task)
        done, _ = wait(self._running, timeout=seconds, return_when=FIRST_COMPLETED)
        if not done:
            return None
        future = next(future for future in self._running if future in done)
        return self._running.pop(future), future.result()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS single-threaded inside; safe to enter from several Python threads at once.

    The limit is a setting of the whole process. The first one in sets it and the last one out takes it back,
    so no thread lifts the limit while another still works under it.
    """
    _BLAS_LIMIT.enter()
    try:
        yield
    finally:
        _BLAS_LIMIT.leave()


class _SharedLimit:
    """Counts who is inside; holds the process-wide limit while anybody is."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0

    def enter(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                _take_control()
                self._limit = _blas_libraries().limit(limits=1, user_api="blas")
            self._n_inside += 1

    def leave(self) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                _take_control()
                self._limit.restore_original_limits()
                _take_control()


def _take_control() -> None:
    """Let this thread set the limit, and after us any other.

    Newer versions of threadpoolctl listen only to the thread that set a limit first; here whoever comes first sets it
    and whoever leaves last lifts it, and these may be two.
    """
    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


@cache
def _blas_libraries() -> ThreadpoolController:
    """Return the controller of the BLAS libraries in this process; looking for them takes milliseconds."""
    return ThreadpoolController()


_BLAS_LIMIT = _SharedLimit()
