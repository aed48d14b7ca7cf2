"""Leader and helpers: every task is done once, whoever comes, and nobody waits for somebody who does not."""

import threading
from contextlib import contextmanager

import numpy as np
import pytest
from numba import config

from eigenwood.compiling import njit_no_refcount
from eigenwood.core.crew import (
    LEADER,
    MOST_TASKS,
    NUMBER,
    TASKS,
    TICKET,
    add_word,
    close_crew,
    crew_of,
    finish_task,
    is_closed,
    new_crew,
    open_job,
    read_word,
    report_failure,
    rest,
    swap_word,
    taken_task,
    wait_for_tasks,
    write_word,
)
from eigenwood.core.threads import helped

MANY, EFFORT = (20_000, 100) if not config.DISABLE_JIT else (100, 3)  # jobs, and how long a task takes


@njit_no_refcount
def use_words(words):
    """Use every word that threads share, as one thread sees it; return what was read."""
    write_word(words, 0, np.int64(40))
    add_word(words, 0, np.int64(3))
    wrong = swap_word(words, 0, np.int64(40), np.int64(7))
    before = read_word(words, 0)
    right = swap_word(words, 0, np.int64(43), np.int64(-7))
    rest()
    return before, wrong, right, read_word(words, 0)


@njit_no_refcount
def add_many(words, n):
    """Add 1 to a word, by an addition and by a swap, so many times each."""
    for _ in range(n):
        add_word(words, 0, np.int64(1))
        while True:
            old = read_word(words, 8)
            if swap_word(words, 8, old, old + 1):
                break


@njit_no_refcount
def lead(crew, data, done, n_jobs):
    """Open jobs one after the other; each task reads what the leader wrote before it, and writes what it reads next."""
    for number in range(n_jobs):
        n_tasks = 1 + number % (done.shape[1] - 1)
        data[0], data[1] = number, -number
        for task in range(n_tasks):
            data[2 + task] = 0
        open_job(crew, n_tasks)
        work(crew, data, done, 0)
        wait_for_tasks(crew, n_tasks)
        for task in range(n_tasks):  # plain reads of what others wrote
            if data[2 + task] != number + 1:
                done[0, 0] += 1


@njit_no_refcount
def work(crew, data, done, thread):
    """Do tasks of the open job until none is left; return how many."""
    n, task = 0, taken_task(crew, thread)
    while task >= 0:
        if data[0] != -data[1]:
            done[thread, 0] += 1
        bits = np.int64(0)
        for i in range(EFFORT * (1 + task % 3)):
            bits = (5 * bits + i) & 1023  # one step after the other
        data[2 + task] += data[0] + 1 + (bits == -1)  # which it never is
        done[thread, 1 + task] += 1
        finish_task(crew)
        task, n = taken_task(crew, thread), n + 1
    return n


@njit_no_refcount
def help_to_the_end(crew, data, done, thread):
    """Do tasks until the crew is sent home."""
    while not is_closed(crew):
        work(crew, data, done, thread)
        rest()


@contextmanager
def all_together(work, n_helpers):
    """Let helpers work beside what is inside, which begins when all of them have begun."""
    begun = threading.Barrier(n_helpers + 1, timeout=60)

    def begin(thread):
        begun.wait()
        work(thread)

    with helped(begin, n_helpers):
        begun.wait()
        yield


def expected_tasks(n_jobs, most):
    return [sum(number % most >= task for number in range(n_jobs)) for task in range(most)]


def test_words_do_what_they_say():
    assert [int(x) for x in use_words(np.zeros(24, dtype=np.int64))] == [43, 0, 1, -7]


def test_no_addition_and_no_swap_is_lost():
    words = np.zeros(24, dtype=np.int64)
    with all_together(lambda thread: add_many(words, MANY), 2):
        add_many(words, MANY)
    assert words[[0, 8]].tolist() == [3 * MANY, 3 * MANY]


@pytest.mark.parametrize("n_helpers", [0, 1, 3])
def test_every_task_is_done_once(n_helpers):
    crew, most = new_crew(), 7
    data, done = np.zeros(2 + most, dtype=np.int64), np.zeros((n_helpers + 1, 1 + most), dtype=np.int64)
    n_times = 0
    with all_together(lambda thread: help_to_the_end(crew, data, done, thread), n_helpers):
        while n_times == 0 or (n_helpers > 0 and not done[1:, 1:].any()):  # until somebody has helped
            lead(crew, data, done, MANY)
            n_times += 1
        close_crew(crew)
    assert done[:, 0].sum() == 0  # nobody saw half of what was written
    assert done[:, 1:].sum(axis=0).tolist() == [n_times * n for n in expected_tasks(MANY, most)]


def test_a_helper_that_comes_while_a_job_is_open_takes_what_is_left():
    crew, data, done = new_crew(), np.zeros(9, dtype=np.int64), np.zeros((2, 8), dtype=np.int64)
    open_job(crew, 5)
    assert taken_task(crew, LEADER) == 0
    helper = threading.Thread(target=work, args=(crew, data, done, 1))
    helper.start()
    helper.join(60)
    assert done[1, 1:].tolist() == [0, 1, 1, 1, 1, 0, 0]
    finish_task(crew)
    wait_for_tasks(crew, 5)


def test_a_helper_that_comes_after_the_end_goes_at_once():
    crew, data, done = new_crew(), np.zeros(9, dtype=np.int64), np.zeros((2, 8), dtype=np.int64)
    lead(crew, data, done, 3)
    close_crew(crew)
    help_to_the_end(crew, data, done, 1)
    assert done[1].sum() == 0


def test_a_ticket_of_an_older_job_takes_nothing():
    """A helper read the ticket of a job and was held up; meanwhile that job ended and one of the same size is open."""
    crew = new_crew()
    open_job(crew, 2)
    old = read_word(crew, TICKET)
    while taken_task(crew, LEADER) >= 0:
        finish_task(crew)
    open_job(crew, 2)
    assert old & TASKS == read_word(crew, TICKET) & TASKS
    assert not swap_word(crew, TICKET, old, old - 1)


def test_the_leader_takes_the_first_task_and_helpers_the_last():
    crew = new_crew()
    open_job(crew, 5)
    assert [int(taken_task(crew, thread)) for thread in (LEADER, 1, 2, LEADER, 1, LEADER, 1)] == [0, 4, 3, 1, 2, -1, -1]


def test_a_job_may_have_very_many_tasks():
    crew = new_crew()
    open_job(crew, MOST_TASKS)
    assert int(taken_task(crew, 1)) == MOST_TASKS - 1
    assert int(taken_task(crew, LEADER)) == 0


def test_numbers_of_jobs_begin_again_when_there_is_none_larger():
    crew = new_crew()
    crew[TICKET] = -1 << NUMBER  # the largest number of a job
    for n_tasks in (3, 1):
        open_job(crew, n_tasks)
        assert [int(taken_task(crew, LEADER)) for _ in range(n_tasks + 1)] == [*range(n_tasks), -1]
    assert int(crew[TICKET]) >> NUMBER == 1


# ---- helpers that fail ---------------------------------------------------------------------------------------------


@njit_no_refcount
def lead_one_job(crew, n_tasks):
    """Open a job, do its tasks once a helper has one, and wait for what it has."""
    open_job(crew, n_tasks)
    while read_word(crew, TICKET) & TASKS == n_tasks:
        rest()
    while taken_task(crew, LEADER) >= 0:
        finish_task(crew)
    wait_for_tasks(crew, n_tasks)


@njit_no_refcount
def fail_at_a_task(crew, thread):
    """Take a task and fail at it."""
    if taken_task(crew, thread) >= 0:
        raise MemoryError("No memory for a task.")


@pytest.mark.parametrize("n_helpers", [1, 3])
def test_a_helper_that_fails_ends_the_call_with_its_error(n_helpers):
    crew = new_crew()
    with (
        pytest.raises(MemoryError, match=r"^No memory for a task\.$"),
        crew_of(crew, lambda thread: fail_at_a_task(crew, thread), n_helpers),
    ):
        lead_one_job(crew, 5)
    assert is_closed(crew)


def test_a_failure_in_python_ends_the_call_as_well():
    crew = new_crew()

    def fail(thread):
        if taken_task(crew, thread) >= 0:
            raise KeyError("a task")

    with pytest.raises(KeyError, match="a task"), crew_of(crew, fail, 1):
        lead_one_job(crew, 5)


def test_a_leader_that_fails_ends_the_call_with_its_own_error():
    crew, data, done = new_crew(), np.zeros(9, dtype=np.int64), np.zeros((2, 8), dtype=np.int64)

    def fail():
        open_job(crew, 5)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), crew_of(crew, lambda thread: work(crew, data, done, thread), 1):
        fail()
    assert is_closed(crew)


def test_the_leader_waits_no_longer_than_for_the_first_failure():
    crew = new_crew()
    report_failure(crew)
    with pytest.raises(RuntimeError, match="A helper failed"):
        wait_for_tasks(crew, 1)
