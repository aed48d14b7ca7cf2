"""Learners that are fitted side by side, each on rows and features of its own.

    number     0      1      2      3      4
    threads    ████   ██████ ███    █████            whoever is free takes the next number
    steps      0 ───► 1 ───► 2 ───► 3 ───► …         in order of number, whichever was ready first

A learner that time has cut short is left out, unless it is the only one: then the ensemble is the first learners of the
complete ensemble, however fast the machine was.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from threading import get_ident
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn import config_context, get_config

from eigenwood.core.threads import results_of, row_blocks
from eigenwood.estimators.blockwise import task_queue
from eigenwood.estimators.ensemble.out_of_bag import OobPrediction

MOST_BLOCKS = 16  # of learners, whose predictions are added up apart from each other


class FittedLearner(NamedTuple):
    """One learner, its features, whether it had the time it needed, and its predictions out of bag."""

    learner: Any
    features: np.ndarray
    complete: bool
    oob: OobPrediction | None  # None if no score is wanted


class Step(NamedTuple):
    """The learners so far."""

    learners: tuple[FittedLearner, ...]
    whole: bool  # whether a round is complete, as ``Watch`` wants to know
    last: bool


class LearnerFitter(Protocol):
    """Fits the learners of some numbers, as many together as a batch has, or scores one that was fitted before."""

    def batch_size(self) -> int: ...

    def fit_many(self, numbers: range) -> list[FittedLearner | None]: ...

    def rescore(self, number: int, learner: Any) -> FittedLearner: ...


def learner_steps(
    fitter: LearnerFitter, earlier: Sequence[Any], n_learners: int, n_threads: int, add: Callable[[OobPrediction], None]
) -> Iterator[Step]:
    """Yield the learners so far after each new one, in the order of their numbers; ``earlier`` ones are there already.

    ``add`` takes the predictions out of bag of each of them, in the same order.
    """
    work = BatchFitter(fitter, earlier, get_config(), (os.getpid(), get_ident()))
    waiting = iter(batches(len(earlier), n_learners, fitter.batch_size()))
    ready: dict[int, FittedLearner | None] = {}
    fitted: list[FittedLearner] = []
    with task_queue(work, n_threads) as queue:
        for batch in islice(waiting, queue.width):
            queue.add(batch)
        while len(fitted) < n_learners:
            batch, results = queue.next_result()
            ready.update(zip(batch, results, strict=True))
            for batch in islice(waiting, 1):
                queue.add(batch)
            while len(fitted) in ready:
                found = ready.pop(len(fitted))
                if found is None or (fitted and not found.complete):
                    yield Step(tuple(fitted), whole=False, last=False)
                    return
                if found.oob is not None:
                    add(found.oob)
                fitted.append(found._replace(oob=None))
                if len(fitted) > len(earlier) or len(earlier) == len(fitted) == n_learners:
                    yield Step(tuple(fitted), whole=True, last=len(fitted) == n_learners and found.complete)


@dataclass(frozen=True)
class BatchFitter:
    """Fits batches of learners, on any thread of any process."""

    fitter: LearnerFitter
    earlier: Sequence[Any]
    config: dict[str, Any]  # scikit-learn's, of the thread that fits the ensemble; others have their own
    home: tuple[int, int]  # that process, and that thread

    def __call__(self, batch: range) -> Sequence[FittedLearner | None]:
        """Return the learners of some numbers."""
        with nullcontext() if (os.getpid(), get_ident()) == self.home else config_context(**self.config):
            if batch.start < len(self.earlier):
                return [self.fitter.rescore(number, self.earlier[number]) for number in batch]
            return self.fitter.fit_many(batch)


def batches(n_earlier: int, n_learners: int, size: int) -> list[range]:
    """Return the numbers of learners that are fitted together; those that were fitted before come one by one.

    >>> batches(2, 7, 3)
    [range(0, 1), range(1, 2), range(2, 5), range(5, 7)]
    """
    alone = [range(number, number + 1) for number in range(min(n_earlier, n_learners))]
    return alone + [range(first, min(first + size, n_learners)) for first in range(n_earlier, n_learners, size)]


def sum_predictions(predict: Callable[[int], np.ndarray], n_learners: int, n_threads: int) -> np.ndarray:
    """Return the sum of what learners predict, added in an order that the number of threads does not change."""
    config = get_config()

    def work(block: slice) -> np.ndarray:
        with config_context(**config):
            total = np.array(predict(block.start), dtype=np.float64)
            for number in range(block.start + 1, block.stop):
                total += predict(number)
            return total

    total, *others = results_of(work, row_blocks(n_learners, -(-n_learners // MOST_BLOCKS)), n_threads)
    for other in others:
        total += other
    return total
