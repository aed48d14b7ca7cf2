"""Which columns are suspects: one sort of each column tells.

    blocks ──► likeness of all labels, of each label against the others, or of amounts ──► Suspect, the strongest first

What a suspect is (a copy, an id, a group, or an honest strong column) is found out later, for it alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from eigenwood.runs.leaks.neighbours import (
    Order,
    changes_of,
    label_likeness,
    log_chance_of,
    log_chance_of_ranks,
    order_of,
    rank_likeness,
)
from eigenwood.runs.leaks.sample import Block, Sample, Target
from eigenwood.runs.leaks.suspect import CHANCE, Suspect

LEAST_LIKENESS = 0.4  # persons with two rows each, whose target is always the same, have about 0.5
MOST_CLASSES = 20  # that are looked at one by one
MOST_SUSPECTS = 100  # that are looked at more closely; where so many columns tell the target, it is easy
MOST_RANGES = 20  # values of a column that cuts amounts into ranges; more of them are groups


class Question(NamedTuple):
    """What a column may tell: all labels, or one label from the others."""

    label: int | None
    codes: np.ndarray
    n_classes: int


def suspects_in(block: Block, sample: Sample) -> list[Suspect]:
    """Return the suspects of a block."""
    order = order_of(block.values)
    if sample.target.ranks is not None:
        return list(suspects_of_amounts(block, order, sample))
    asked = questions(sample.target)
    return [suspect for question in asked for suspect in suspects_of_labels(block, order, sample, question)]


def questions(target: Target) -> Iterator[Question]:
    """Yield all labels, then each of the more frequent ones against all others."""
    assert target.codes is not None
    counts = np.bincount(target.codes)
    yield Question(None, target.codes, counts.size)
    if counts.size > 2:
        for label in np.argsort(-counts, kind="stable")[:MOST_CLASSES]:
            yield Question(int(label), (target.codes == label).astype(np.int64), 2)


def suspects_of_labels(block: Block, order: Order, sample: Sample, question: Question) -> Iterator[Suspect]:
    is_class = question.codes[:, None] == np.arange(question.n_classes)
    counts = (~np.isnan(block.values)).astype(float) @ is_class.astype(float)
    changes = changes_of(order, question.codes)
    likeness = label_likeness(changes, counts)
    for i in np.flatnonzero(likeness >= LEAST_LIKENESS):
        sizes = counts[i][counts[i] > 0]
        if log_chance_of(int(changes[i]), sizes) <= log_level(sample):
            n = float(sizes.sum())
            yield Suspect(block.lines[i], question.label, float(likeness[i]), int(n), at_stake(sizes))


def suspects_of_amounts(block: Block, order: Order, sample: Sample) -> Iterator[Suspect]:
    assert sample.target.ranks is not None
    likeness = rank_likeness(order, sample.target.ranks)
    for i in np.flatnonzero(likeness >= LEAST_LIKENESS):
        n = int(order.n_present[i])
        if log_chance_of_ranks(likeness[i], n) <= log_level(sample):
            yield Suspect(block.lines[i], None, float(likeness[i]), n, n / 2)


def ranges_in(block: Block, sample: Sample) -> Iterator[Suspect]:
    """Yield the columns of few values that are alike along the amounts: copies that were rounded or cut into ranges."""
    if sample.target.ranks is None:
        return
    order = np.argsort(sample.target.ranks, kind="stable")
    for line in block.lines:
        along = line.values[order]
        levels, codes = np.unique(along[~np.isnan(along)], return_inverse=True)
        if not 2 <= levels.size <= MOST_RANGES:
            continue
        sizes, changes = np.bincount(codes).astype(float), int((np.diff(codes) != 0).sum())
        likeness = float(label_likeness(np.array([changes]), sizes[None])[0])
        if likeness >= LEAST_LIKENESS and log_chance_of(changes, sizes) <= log_level(sample):
            yield Suspect(line, None, likeness, codes.size, at_stake(sizes))


def at_stake(sizes: np.ndarray) -> float:
    """Return how many rows a guess at random gets wrong, for classes of these sizes."""
    return float(sizes.sum() - (sizes**2).sum() / sizes.sum())


def log_level(sample: Sample) -> float:
    """Return the logarithm of ``CHANCE`` shared out among all questions that are asked of the table."""
    n_labels = len(sample.target.labels)
    n_questions = 1 if n_labels <= 2 else 1 + min(n_labels, MOST_CLASSES)
    return float(np.log(CHANCE / ((len(sample.table.columns) + 1) * n_questions)))


def strongest(suspects: list[Suspect]) -> list[Suspect]:
    """Return the strongest suspect of each column for all labels, then for one label, the strongest first."""

    def rank(suspect: Suspect) -> tuple[bool, float]:
        return suspect.label is not None, -suspect.likeness

    first = dict[tuple[str, bool], Suspect]()
    for suspect in sorted(suspects, key=rank):
        first.setdefault((suspect.line.name, suspect.label is None), suspect)
    return list(first.values())[:MOST_SUSPECTS]
