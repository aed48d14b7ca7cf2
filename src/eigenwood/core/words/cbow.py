"""Continuous bag of words with negative sampling, in rounds: shards side by side, then all that they changed.

    epoch    ├ round ┤├ round ┤├ round ┤ …          some rounds are one call of compiled code
    round    train shards 0 … 7 ──► add changes     each of both is a job whose tasks all threads share

The learning rate falls from round to round, by the place in the text and not by the clock. The loss of an epoch is the
sum of what each example lost when it was trained, in float64, in the order of the shards.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit_no_refcount
from eigenwood.core.crew import (
    LEADER,
    MOST_LOOKS,
    crew_of,
    finish_task,
    is_closed,
    new_crew,
    open_job,
    rest,
    taken_task,
    wait_for_tasks,
)
from eigenwood.core.words.shards import add_changes, train_shard
from eigenwood.core.words.workspace import (
    FIRST_WORD,
    KIND,
    MERGES,
    N_THREADS,
    RATE,
    SEED,
    SHARD_WORDS,
    ContextParams,
    Text,
    Training,
    new_training,
)

TRAIN, ADD = range(2)
SECONDS = 0.05  # of one call
TRIED_AGAIN = 24  # calls, after which the other number of threads is tried again


class Schedule(NamedTuple):
    """How often the text is read, and how large the steps are; the rate falls by the same amount in every round."""

    epochs: int
    rate: float
    last_rate: float


class ThreadChoice:
    """Whether all threads are called, or one does all: whatever was faster lately, since the result is the same.

    On a machine that others keep busy, threads that share a round wait for those that are not running.
    """

    def __init__(self, n_threads: int) -> None:
        self._options = (n_threads, 1)
        self._speeds = dict.fromkeys(self._options, float("inf"))  # unknown ones are tried
        self._n_told = 0

    def next(self) -> int:
        """Return how many threads the next call is for; now and then the slower option is tried again."""
        slower, faster = sorted(self._options, key=lambda option: self._speeds[option])
        return slower if self._n_told % TRIED_AGAIN == TRIED_AGAIN - 1 else faster

    def tell(self, n_threads: int, n_rounds: int, seconds: float) -> None:
        """Learn how long some rounds took; a short call tells little."""
        if seconds >= SECONDS / 4.0:
            self._n_told += 1
            self._speeds[n_threads] = n_rounds / seconds


class EmbeddingStep(NamedTuple):
    """The weights after some rounds, and the losses of the epochs so far; the last may not be over."""

    weights: np.ndarray  # (2 V, width) float32: of contexts, then of answers
    losses: np.ndarray  # (epochs begun,): the mean over all examples
    n_examples: np.ndarray  # (epochs begun,) int64
    share: float  # of the epoch that is done
    whole: bool
    last: bool


# ---- in compiled code ----------------------------------------------------------------------------------------------


@njit_no_refcount
def train_rounds(b, thread, first_word, n_rounds, rate, change, loss):
    """Train on some rounds; return the sum of all losses so far, of which some may be known, and how many are new.

    A helper's thread does tasks for a while instead: both ways are one entry, so that a task is compiled once.
    """
    if thread != LEADER:
        help_training(b, thread)
        return loss, 0
    n_examples, n_shards = 0, b.shards.n_rows.size
    for r in range(n_rounds):
        b.whole[FIRST_WORD] = first_word + r * n_shards * b.whole[SHARD_WORDS]
        b.real[RATE] = rate + r * change
        run_job(b, TRAIN, n_shards)
        run_job(b, ADD, MERGES)
        for s in range(n_shards):
            loss += b.shards.loss[s, 0]
            n_examples += b.shards.n_examples[s, 0]
    return loss, n_examples


@njit_no_refcount
def run_job(b, kind, n_tasks):
    """Do all tasks of a job with whoever helps."""
    b.whole[KIND] = kind
    if b.whole[N_THREADS] == 1:
        for task in range(n_tasks):
            do_task(b, task)
        return
    open_job(b.crew, n_tasks)
    task = taken_task(b.crew, LEADER)
    while task >= 0:
        do_task(b, task)
        finish_task(b.crew)
        task = taken_task(b.crew, LEADER)
    wait_for_tasks(b.crew, n_tasks)


@njit_no_refcount
def help_training(b, thread):
    """Do tasks as helper number ``thread`` until nothing comes for a while."""
    n_looks = 0
    while n_looks < MOST_LOOKS and not is_closed(b.crew):
        task = taken_task(b.crew, thread)
        if task < 0:
            n_looks += 1
            rest()
        else:
            n_looks = 0
            do_task(b, task)
            finish_task(b.crew)


@njit_no_refcount
def do_task(b, task):
    """Do one task of the open job."""
    if b.whole[KIND] == TRAIN:
        train_shard(b, task)
    else:
        add_changes(b, task)


# ---- from Python ---------------------------------------------------------------------------------------------------


def cbow_steps(
    weights: np.ndarray,
    text: Text,
    rule: ContextParams,
    schedule: Schedule,
    seeds: np.ndarray,
    n_threads: int = 1,
    seconds: float = SECONDS,
) -> Iterator[EmbeddingStep]:
    """Train ``weights`` in place; yield each time when about so many ``seconds`` have passed, and after each epoch."""
    b = new_training(weights, text, rule, max(schedule.rate, schedule.last_rate), new_crew())
    n_shards = b.shards.n_rows.size
    choice = ThreadChoice(min(n_threads, n_shards))
    per_round = int(n_shards * b.whole[SHARD_WORDS])
    n_rounds = -(-text.ids.size // per_round)
    change = (schedule.last_rate - schedule.rate) / (n_rounds * schedule.epochs)
    losses, counts, n_next = np.zeros(schedule.epochs), np.zeros(schedule.epochs, dtype=np.int64), 1
    for epoch in range(schedule.epochs):
        b.whole[SEED] = seeds[epoch]
        done = 0
        while done < n_rounds:
            b.whole[N_THREADS] = choice.next()
            n_now, start = min(n_next, n_rounds - done), time.perf_counter()
            rate = schedule.rate + (epoch * n_rounds + done) * change
            losses[epoch], count = rounds_with_helpers(b, done * per_round, n_now, rate, change, losses[epoch])
            counts[epoch], done = counts[epoch] + count, done + n_now
            took = max(time.perf_counter() - start, 1e-9)
            choice.tell(int(b.whole[N_THREADS]), n_now, took)
            n_next = min(max(1, int(seconds * n_now / took)), 4 * n_next)
            whole = done == n_rounds
            yield EmbeddingStep(
                weights,
                losses[: epoch + 1] / np.maximum(counts[: epoch + 1], 1),
                counts[: epoch + 1].copy(),
                done / n_rounds,
                whole,
                whole and epoch + 1 == schedule.epochs,
            )


def rounds_with_helpers(
    b: Training, first_word: int, n_rounds: int, rate: float, change: float, loss: float
) -> tuple[float, int]:
    """Train on some rounds with helpers on other threads; return the sum of all losses so far, and how many are new."""
    with_crew = b._replace(crew=new_crew())
    n_helpers = int(b.whole[N_THREADS]) - 1
    with crew_of(with_crew.crew, partial(help_others, with_crew), n_helpers):
        return train_rounds(with_crew, LEADER, first_word, n_rounds, rate, change, loss)


def help_others(b: Training, thread: int) -> None:
    """Do tasks of rounds that another thread leads, until nothing comes for a while."""
    train_rounds(b, thread, 0, 0, 0.0, 0.0, 0.0)
