"""Rounds that were made before, repeated: all there is to do is what a stump does to the weights, nothing is searched.

What rounds leave behind, the votes and the weights of the rows and all sums, follows from what the stumps said and from
their weights alone, in whole numbers. So rounds that go on from here are those of one long fit, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit_no_refcount
from eigenwood.core.adaboost.rounds import (
    MOST,
    add_to_totals,
    begin,
    factor_of,
    note_largest_loss,
    renew_weights,
    stump_weight,
    write_sums,
)
from eigenwood.core.adaboost.stumps import Stumps, part_of_stumps, stump_classes
from eigenwood.core.adaboost.tasks import raise_block
from eigenwood.core.adaboost.workspace import ALPHA, FACTOR, StumpBoosting

MOST_SAID = 1 << 22  # classes that stumps say of rows, held at once


class Repeated(NamedTuple):
    """What is found again of rounds that are repeated."""

    errors: np.ndarray  # (n_rounds,)
    alphas: np.ndarray  # (n_rounds,) that follow from these errors


def repeat_stumps(
    b: StumpBoosting, stumps: Stumps, alphas: np.ndarray, X, learning_rate: float, n_threads: int
) -> Repeated:
    """Repeat the rounds of some stumps on the rows X of ``b``, and leave it as it was after them."""
    parts = []
    for first, pred in preds_in_parts(stumps, X, n_threads):
        found = Repeated(np.empty(pred.shape[0]), np.empty(pred.shape[0]))
        own = alphas[first : first + pred.shape[0]].copy()  # those of a file may be read-only
        repeat_rounds(b, pred, own, learning_rate, found, first == 0)
        parts.append(found)
    return Repeated(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def preds_in_parts(stumps: Stumps, X, n_threads: int) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the classes that some stumps say of the rows X, (n_stumps, n_rows), and the number of the first one."""
    n_rounds, n_together = stumps.feature.size, max(1, MOST_SAID // X.shape[0])
    for first in range(0, n_rounds, n_together):
        part = part_of_stumps(stumps, first, min(first + n_together, n_rounds))
        yield first, stump_classes(part, X, n_threads)


@njit_no_refcount
def repeat_rounds(b, pred, alphas, learning_rate, found, is_first):
    """Repeat some rounds, given what their stumps say and their weights; write their errors and the weights for these.

    The sums are right again after the last one.
    """
    work, job = b.work, b.job
    if is_first:
        begin(b)
    for t in range(alphas.size):
        for i in range(work.pred_of_row.size):
            work.pred_of_row[i] = pred[t, i]
        total, wrong_total = work.total[0], wrong_weight(b.rows, work.pred_of_row)
        found.errors[t] = wrong_total / total
        found.alphas[t] = stump_weight(found.errors[t], b.rows, learning_rate, work.votes[0])
        work.votes[0] += alphas[t]
        factor, expected = factor_of(total, wrong_total, alphas[t])
        job.real[ALPHA], job.real[FACTOR] = alphas[t], 0.0 if expected > MOST else factor
        for block in range(job.n_wrong.size):
            raise_block(b.rows, work, job, block)
        note_largest_loss(b)
        if expected > MOST:
            renew_weights(b.rows, work, factor, expected)
            write_sums(b)
        elif alphas[t] > 0.0:
            add_to_totals(b)
    write_sums(b)


@njit_no_refcount
def wrong_weight(rows, pred):
    """Return the weight of the rows of which something wrong is said."""
    total = np.int64(0)
    for i in range(pred.size):
        total += rows.counts[i] * rows.factors[i] if pred[i] != rows.classes[i] else 0
    return total
