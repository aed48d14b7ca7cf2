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
"""

from __future__ import annotations

import threading
import time

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from eigenwood.compiling import njit_no_refcount

TICKET, DONE, CLOSED = 0, 8, 16  # each in a cache line of its own
N_WORDS = 24
NUMBER, FIRST = np.int64(40), np.int64(20)
NUMBERS, TASKS = np.int64((1 << 24) - 1), np.int64((1 << 20) - 1)
MOST_TASKS = int(TASKS)  # of a job
LEADER = 0
MOST_LOOKS = 20_000  # for a task before a helper takes a nap: some tenths of a millisecond


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
    """Return when all tasks of the open job are done."""
    while read_word(crew, DONE) < n_tasks:
        rest()


@njit_no_refcount
def close_crew(crew):
    """Send the helpers home."""
    write_word(crew, CLOSED, np.int64(1))


@njit_no_refcount
def is_closed(crew):
    """Return whether nothing will come any more."""
    return read_word(crew, CLOSED) != 0


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


def _pointer(context, builder, kind, array, i):
    made = context.make_array(kind)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, kind, made, [i], wraparound=False)


@intrinsic
def _read(_typing_context, words, i):
    def generate(context, builder, signature, args):
        place = _pointer(context, builder, signature.args[0], args[0], args[1])
        return builder.load_atomic(place, "acquire", 8)

    return types.int64(words, types.intp), generate


@intrinsic
def _write(_typing_context, words, i, word):
    def generate(context, builder, signature, args):
        place = _pointer(context, builder, signature.args[0], args[0], args[1])
        builder.store_atomic(args[2], place, "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(words, types.intp, types.int64), generate


@intrinsic
def _add(_typing_context, words, i, amount):
    def generate(context, builder, signature, args):
        place = _pointer(context, builder, signature.args[0], args[0], args[1])
        builder.atomic_rmw("add", place, args[2], "seq_cst")
        return context.get_dummy_value()

    return types.void(words, types.intp, types.int64), generate


@intrinsic
def _swap(_typing_context, words, i, old, new):
    def generate(context, builder, signature, args):
        place = _pointer(context, builder, signature.args[0], args[0], args[1])
        return builder.extract_value(builder.cmpxchg(place, args[2], args[3], "seq_cst", "acquire"), 1)

    return types.boolean(words, types.intp, types.int64, types.int64), generate


@intrinsic
def _rest(_typing_context):
    def generate(context, builder, signature, args):
        if builder.module.triple.startswith("x86_64"):
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), generate


@overload(read_word)
def _compiled_read(words, i):
    return lambda words, i: _read(words, i)


@overload(write_word)
def _compiled_write(words, i, word):
    return lambda words, i, word: _write(words, i, word)


@overload(add_word)
def _compiled_add(words, i, amount):
    return lambda words, i, amount: _add(words, i, amount)


@overload(swap_word)
def _compiled_swap(words, i, old, new):
    return lambda words, i, old, new: _swap(words, i, old, new)


@overload(rest)
def _compiled_rest():
    return lambda: _rest()
