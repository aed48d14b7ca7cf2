"""Check which columns were chosen: ask each question again, look for better ones, and choose again.

It shares nothing with the code that looks for questions: impurities have their own formulas, and cuts are tried on
sorted values instead of codes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from eigenwood.proofs.claim import Claim, at_most

EQUAL = 1e-9  # of the impurity of all rows: gains that differ by less are equal


class Chosen(NamedTuple):
    """What a selection states of its columns."""

    gains: np.ndarray
    scores: np.ndarray
    redundancies: np.ndarray
    thresholds: np.ndarray
    missing_left: np.ndarray
    ranking: np.ndarray  # 1 for the column chosen first
    n_selected: int


class Rows(NamedTuple):
    """The rows of a selection: a column by its place, which columns are categories, classes and weights."""

    column: Callable[[int], np.ndarray]
    is_category: Sequence[bool]
    classes: np.ndarray
    weights: np.ndarray


def entropy(shares) -> np.ndarray:
    return -(shares * np.log2(np.where(shares > 0.0, shares, 1.0))).sum(axis=-1)


IMPURITIES: dict[str, Callable] = {
    "entropy": entropy,
    "gini": lambda shares: 1.0 - (shares**2).sum(axis=-1),
    "error": lambda shares: 1.0 - shares.max(axis=-1),
}


def mixed(sums, criterion: str) -> np.ndarray:
    """Return weight x impurity of each line of sums of classes."""
    weight = sums.sum(axis=-1)
    shares = sums / np.where(weight > 0.0, weight, 1.0)[..., None]
    return np.where(weight > 0.0, weight * IMPURITIES[criterion](shares), 0.0)


def one_hot(classes, weights) -> np.ndarray:
    """Return the weight of each row in the column of its class."""
    table = np.zeros((classes.size, int(classes.max()) + 1))
    table[np.arange(classes.size), classes] = weights
    return table


def branches(values, is_category: bool, threshold: float, missing_left: bool) -> np.ndarray:
    """Return where each row goes."""
    if is_category:
        return values.astype(np.int64) + 1  # one that was never seen is a branch of its own
    return np.where(np.isnan(values), not missing_left, ~(values <= threshold)).astype(np.int64)


def gain_of(answers, classes, weights, criterion: str) -> tuple[float, float]:
    """Return the gain about the classes that some answers give, and the entropy of the answers."""
    n_answers, n_classes = int(answers.max()) + 1, int(classes.max()) + 1
    cells = np.bincount(answers * n_classes + classes, weights, n_answers * n_classes)
    sums = cells.reshape(n_answers, n_classes)
    total = sums.sum()
    gain = (mixed(sums.sum(axis=0), criterion) - mixed(sums, criterion).sum()) / total
    return float(gain), float(entropy(sums.sum(axis=1) / total))


def best_gain(values, classes, weights, criterion: str) -> float:
    """Return the highest gain of any cut of a column of numbers, with missing ones on either side."""
    order = np.argsort(values, kind="stable")
    order = order[: values.size - int(np.isnan(values).sum())]
    table = one_hot(classes, weights)
    left, total = np.cumsum(table[order], axis=0), table.sum(axis=0)
    ends = np.flatnonzero(np.append(values[order][1:] != values[order][:-1], True)) if order.size else order
    whole, missing, best = float(mixed(total, criterion)), total - table[order].sum(axis=0), 0.0
    for sides in (left[ends], left[ends[:-1]] + missing):
        if sides.shape[0] > 0:
            cost = mixed(sides, criterion) + mixed(np.maximum(total - sides, 0.0), criterion)
            best = max(best, (whole - float(cost.min())) / float(total.sum()))
    return best


def selection_claims(
    rows: Rows, chosen: Chosen, criterion: str, by_ratio: bool, is_aware: bool, check_time: Callable[[], None]
) -> Iterator[Claim]:
    """Yield that gains and scores are those of the stated questions, and that they were chosen by them."""
    unit = max(float(IMPURITIES[criterion](np.bincount(rows.classes, rows.weights) / rows.weights.sum())), 1e-300)
    off, off_scores = 0.0, 0.0
    for j in range(chosen.gains.size):
        check_time()
        gain, spread = gain_of(answers_of(rows, chosen, j), rows.classes, rows.weights, criterion)
        score = 0.0 if by_ratio and spread == 0.0 else gain / spread if by_ratio else gain
        off = max(off, abs(gain - chosen.gains[j]))
        off_scores = max(off_scores, abs(score - chosen.scores[j]))
    yield at_most("gains", "largest |gain stated - gain of the stated question|", off, EQUAL * unit)
    yield at_most("scores", "largest |score stated - score of the stated question|", off_scores, EQUAL * max(unit, 1.0))
    if is_aware:
        check_time()
        off = redundancy_error(rows, chosen, criterion)
        yield at_most("redundancy", "largest |redundancy stated - measured| of a chosen column", off, EQUAL)
    off = order_error(chosen, is_aware)
    yield at_most("order", "largest score of a column less that of one chosen before it", off, EQUAL * max(unit, 1.0))


def answers_of(rows: Rows, chosen: Chosen, j: int) -> np.ndarray:
    """Return the answers of all rows to the question about a column."""
    if chosen.gains[j] == 0.0 and not rows.is_category[j]:
        return np.zeros(rows.classes.size, dtype=np.int64)  # nothing is asked
    return branches(rows.column(j), rows.is_category[j], chosen.thresholds[j], bool(chosen.missing_left[j]))


def redundancy_error(rows: Rows, chosen: Chosen, criterion: str) -> float:
    """Return by how much the redundancy of a chosen column with those before it is at most off."""
    order = np.argsort(chosen.ranking)[: chosen.n_selected]
    off, before = 0.0, list[np.ndarray]()
    for j in order:
        answers = answers_of(rows, chosen, int(j))
        measured = [gain_of(answers, other, rows.weights, criterion)[0] for other in before]
        mean = float(np.mean(measured)) if measured else 0.0
        off = max(off, abs(mean - chosen.redundancies[j]))
        before.append(answers)
    return off


def order_error(chosen: Chosen, is_aware: bool) -> float:
    """Return by how much a column at most scores more than one that was chosen before it.

    Where redundancy counts, the score of a column changes as others are chosen: then those behind the chosen ones are
    compared, and the first with all others.
    """
    order = np.argsort(chosen.ranking)
    scores = chosen.scores[order] - chosen.redundancies[order]
    if is_aware:
        first, rest = chosen.scores.max() - chosen.scores[order[0]], scores[chosen.n_selected :]
        return max(float(first), float(np.diff(rest).max(initial=0.0)))
    return float(np.diff(scores).max(initial=0.0))


def best_questions_claim(rows: Rows, chosen: Chosen, criterion: str, check_time: Callable[[], None]) -> Claim:
    """Return that no cut of any column of numbers gains more than the one stated."""
    unit = float(IMPURITIES[criterion](np.bincount(rows.classes, rows.weights) / rows.weights.sum()))
    more = 0.0
    for j in np.flatnonzero(~np.asarray(rows.is_category, dtype=bool)):
        check_time()
        more = max(more, best_gain(rows.column(int(j)), rows.classes, rows.weights, criterion) - chosen.gains[j])
    return at_most("best questions", "gain of another cut of a column less that of the stated one", more, EQUAL * unit)
