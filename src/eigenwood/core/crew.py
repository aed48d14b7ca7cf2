"""Compiled code that shares its work, while it runs, with whoever comes to help.

    leader       opens a job of n tasks ──► takes tasks ──► waits for those that others took ──► the next job …
    helpers      look for a task ──► take it ──► say that it is done ──► look again, until nothing comes for a while

Handing a task to a Python thread takes longer than many a task. Here it takes the time in which one core sees what
another has written. The leader never waits for somebody to come, only for tasks that were taken; so a helper that comes
late, or not at all, costs time and nothing else.

One word says which job is open and which of its tasks are left, so a task can be taken of the open job only:

    bits   63 … 40   number of the job        39 … 20   the first task left        19 … 0   behind the last one

The leader takes the first task that is left, and helpers the last one. So in job after job over the same rows a core
gets much the same rows, and finds them in its own cache: what another core has written comes from there slowly.

A helper that has read the ticket of a job that is over takes nothing: the swap fails, as the number is another one
(numbers come again after 2^24 jobs, of which it would have to miss every one). Who takes a task sees all that was
written before the job was opened, on any processor: the ticket is written with release, read with acquire, and swaps of
others in between hand that on. In the same way the leader sees what helpers wrote before the additions to ``DONE`` that
it waits for. Nobody has a task when a job is opened, so ``DONE`` can begin at 0.

A helper whose task fails, for want of memory or for any other reason, never says that the task is done. It says that it
failed: then the leader stops waiting, and the call of both ends with the helper's error.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from eigenwood.compiling import instructions_in, njit_no_refcount
from eigenwood.core.threads import helped

instructions_in("eigenwood.core.llvm.crew")

TICKET, DONE, CLOSED, FAILED = 0, 8, 16, 24  # each in a cache line of its own
N_WORDS = 32
NUMBER, FIRST = np.int64(40), np.int64(20)
NUMBERS, TASKS = np.int64((1 << 24) - 1), np.int64((1 << 20) - 1)
MOST_TASKS = int(TASKS)  # of a job
LEADER = 0
MOST_LOOKS = 20_000  # for a task before a helper takes a nap: some tenths of a millisecond
NAP = 5e-5  # seconds


def new_crew() -> np.ndarray:
    """Return the words by which a leader and its helpers agree."""
    return np.zeros(N_WORDS, dtype=np.int64)


@njit_no_refcount
def open_job(crew, n_tasks):
    """Offer the tasks of a job; what they need to know must be written before."""
    write_word(crew, DONE, np.int64(0))
    number = ((read_word(crew, TICKET) >> NUMBER) + 1) & NUMBERS
    write_word(crew, TICKET, (number << NUMBER) | np.int64(n_tasks))


@njit_no_refcount
def taken_task(crew, thread):
    """Return a task of the open job that nobody else has or will have; -1 if none is left."""
    while True:
        ticket = read_word(crew, TICKET)
        first, end = (ticket >> FIRST) & TASKS, ticket & TASKS
        if first >= end:
            return np.int64(-1)
        if thread == LEADER:
            if swap_word(crew, TICKET, ticket, ticket + (np.int64(1) << FIRST)):
                return first
        elif swap_word(crew, TICKET, ticket, ticket - np.int64(1)):
            return end - 1


@njit_no_refcount
def finish_task(crew):
    """Say that a task is done."""
    add_word(crew, DONE, np.int64(1))


@njit_no_refcount
def wait_for_tasks(crew, n_tasks):
    """Return when all tasks of the open job are done; raise if one never will be."""
    while read_word(crew, DONE) < n_tasks:
        if read_word(crew, FAILED) != 0:
            raise RuntimeError("A helper failed.")
        rest()


@njit_no_refcount
def close_crew(crew):
    """Send the helpers home."""
    write_word(crew, CLOSED, np.int64(1))


@njit_no_refcount
def is_closed(crew):
    """Return whether nothing will come any more."""
    return read_word(crew, CLOSED) != 0


@njit_no_refcount
def report_failure(crew):
    """Say that a task will never be done."""
    write_word(crew, FAILED, np.int64(1))


# ---- from Python ---------------------------------------------------------------------------------------------------


@contextmanager
def crew_of(crew: np.ndarray, help_for_a_while: Callable[[int], None], n_helpers: int) -> Iterator[None]:
    """Let helpers work beside the leader, who is inside, until it is done; an error of any of them comes out."""
    with helped(lambda thread: help_until_closed(crew, help_for_a_while, thread), n_helpers):
        try:
            yield
        finally:
            close_crew(crew)


def help_until_closed(crew: np.ndarray, help_for_a_while: Callable[[int], None], thread: int) -> None:
    """Do tasks of all jobs that come; where none comes for a while, leave the core to others for a moment."""
    try:
        while not is_closed(crew):
            help_for_a_while(thread)
            time.sleep(NAP)
    except BaseException:
        report_failure(crew)
        raise


# ---- words that several threads read and write ---------------------------------------------------------------------
# Without a compiler a lock makes one step of what they do.

_LOCK = threading.Lock()


def read_word(words, i):
    """Return a word, and see all that was written before it was."""
    return words[i]


def write_word(words, i, word):
    """Write a word, after all that was written before."""
    words[i] = word


def add_word(words, i, amount):
    """Add to a word in one step."""
    with _LOCK:
        words[i] += amount


def swap_word(words, i, old, new):
    """Write a word if it is still the old one, in one step; return whether it was."""
    with _LOCK:
        is_old = words[i] == old
        if is_old:
            words[i] = new
    return is_old


def rest():
    """Let the other thread of this core work for a moment."""
    time.sleep(0)
