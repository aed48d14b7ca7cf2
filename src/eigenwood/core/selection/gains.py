"""How much a column tells about the classes: the gain of its best question (the boosting and SVM lecture).

    column of numbers   2.5  2.5 │ 4.0  7.0      the cut with the highest gain; rows without a number go to either side
    categories          a  │  b  │  c            one branch for each

    gain = impurity of all rows - Σ share of a branch x its impurity        gain ratio = gain / entropy of those shares

Columns become codes as for trees (``tree.binning``), impurities are those of ``tree.criteria``, and cuts as good as
each other are told apart as there. Every distinct number has its own code here, however many there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from eigenwood.core.threads import row_blocks
from eigenwood.core.tree.binning import ITSELF, MOST_CODES, Ranked, ranked
from eigenwood.core.tree.criteria import ENTROPY, TIE, impurity_of_shares

MOST_SUMS = 1 << 22  # sums of classes by code that are held at once
LARGEST = float(np.finfo(np.float64).max)


class Labels(NamedTuple):
    """What rows are to be told apart by."""

    codes: np.ndarray  # (n_rows,) the class of each row
    weights: np.ndarray  # (n_rows,), or empty if all are 1
    n_classes: int


class Question(NamedTuple):
    """The best question about a column."""

    gain: float
    split_entropy: float  # of the shares of its branches
    threshold: float  # numbers up to this go left; 0 for categories, and where nothing can be asked
    missing_left: bool
    n_branches: int


NO_QUESTION = Question(0.0, 0.0, 0.0, False, 1)


class Cut(NamedTuple):
    """A cut between two codes of a column of numbers."""

    cost: float
    code: int  # the last on the left
    missing_left: bool
    left_weight: float


def distinct_codes(values, n_categories: int) -> Ranked:
    """Return a column as codes, one for each distinct value; missing numbers come last."""
    found = ranked(values, n_categories, MOST_CODES)
    if not found.exact:
        distinct, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
        n_missing = int(np.isnan(values).sum())
        distinct = distinct[: distinct.size - (n_missing > 0)]
        return Ranked(codes, ITSELF, distinct, distinct, counts, n_missing, True)
    return found if found.rank.size == 0 else found._replace(codes=found.rank[found.codes], rank=ITSELF)


def best_question(values, n_categories: int, labels: Labels, criterion: int) -> Question:
    """Return the best question about a column; ``n_categories`` is -1 for numbers, which NaN may stand among."""
    column = distinct_codes(values, n_categories)
    total = class_sums(np.zeros(values.size, dtype=np.int64), 1, labels)
    whole, weight = float(costs_of(total, criterion)[0]), float(total.sum())
    if n_categories >= 0:
        cost, branch_weights = multiway_cost(column.codes, n_categories, labels, criterion)
        return question_of(whole, cost, branch_weights, 0.0, False, weight)
    cut = best_cut(column, labels, total[0], whole, criterion)
    if cut is None or cut.cost >= whole * (1.0 - TIE):
        return NO_QUESTION
    sides = np.array([cut.left_weight, weight - cut.left_weight])
    return question_of(whole, cut.cost, sides, threshold_of(column.lows, cut.code), cut.missing_left, weight)


def question_of(whole: float, cost: float, branches, threshold: float, missing_left: bool, weight: float) -> Question:
    """Return a question from its cost, and that of all rows; what rounding may leave is no gain."""
    gain = (whole - cost) / weight if cost < whole * (1.0 - TIE) else 0.0
    return Question(gain, entropy_of(branches), threshold, missing_left, branches.size)


def multiway_cost(codes, n_codes: int, labels: Labels, criterion: int) -> tuple[float, np.ndarray]:
    """Return the cost of one branch for each code, and the weights of the branches."""
    cost, weights = 0.0, []
    for sums in sums_by_code(codes, n_codes, labels):
        cost += float(costs_of(sums, criterion).sum())
        weights.append(sums.sum(axis=1))
    return cost, np.concatenate(weights)


def best_cut(column: Ranked, labels: Labels, total, whole: float, criterion: int) -> Cut | None:
    """Return the cut that costs least: of equal ones the first, with missing numbers on the right; None without any."""
    n_numbers, best = column.lows.size, None
    missing = np.zeros(labels.n_classes)
    if column.n_missing > 0:
        missing = class_sums(np.zeros(column.n_missing, np.int64), 1, taken(labels, column.codes == n_numbers))[0]
    n_codes, left, first = n_numbers + (column.n_missing > 0), np.zeros(labels.n_classes), 0
    for sums in sums_by_code(column.codes, n_codes, labels):
        lefts = left + np.cumsum(sums[: n_numbers - first], axis=0)
        for missing_left in (False, True) if column.n_missing > 0 else (False,):
            # the last number is cut off only from missing ones on the right
            n_cuts = min(lefts.shape[0], n_numbers - first - (missing_left or column.n_missing == 0))
            sides = lefts[:n_cuts] + missing if missing_left else lefts[:n_cuts]
            best = better(best, first_least(sides, total, first, missing_left, criterion, TIE * whole), TIE * whole)
        left, first = lefts[-1] if lefts.shape[0] else left, first + sums.shape[0]
    return best


def first_least(sides, total, first: int, missing_left: bool, criterion: int, tie: float) -> Cut | None:
    """Return the first of the cuts that cost least, of those with these sums on the left."""
    if sides.shape[0] == 0:
        return None
    costs = costs_of(sides, criterion) + costs_of(total - sides, criterion)
    place = int(np.argmax(costs <= costs.min() + tie))
    return Cut(float(costs[place]), first + place, missing_left, float(sides[place].sum()))


def better(one: Cut | None, other: Cut | None, tie: float) -> Cut | None:
    """Return the cut that costs less; the first of two that cost the same."""
    if one is None or other is None:
        return one or other
    return other if other.cost < one.cost - tie else one


def costs_of(sums, criterion: int) -> np.ndarray:
    """Return weight x impurity of each line of sums of classes."""
    weights = sums.sum(axis=1)
    shares = sums / np.where(weights > 0.0, weights, 1.0)[:, None]
    return weights * impurity_of_shares(shares, np.array([0, sums.shape[1]]), criterion)


def entropy_of(weights) -> float:
    """Return the entropy, in bits, of the shares of some weights."""
    return float(impurity_of_shares((weights / weights.sum())[None], np.array([0, weights.size]), ENTROPY)[0])


def threshold_of(values, code: int) -> float:
    """Return the middle between two values, as trees do; the largest number if all numbers go left."""
    if code == values.size - 1:
        return LARGEST
    below, above = float(values[code]), float(values[code + 1])
    middle = 0.5 * below + 0.5 * above
    return middle if below <= middle < above else below


# ---- sums of classes ---------------------------------------------------------------------------------------------


def class_sums(codes, n_codes: int, labels: Labels) -> np.ndarray:
    """Return the weight of each class among the rows of each code."""
    joint = codes * np.int64(labels.n_classes) + labels.codes
    weights = labels.weights if labels.weights.size else None
    sums = np.bincount(joint, weights, minlength=n_codes * labels.n_classes)
    return sums.reshape(n_codes, labels.n_classes).astype(np.float64, copy=False)


def sums_by_code(codes, n_codes: int, labels: Labels) -> Iterator[np.ndarray]:
    """Yield the sums of ``class_sums`` for some codes after the other, no more at once than memory is for."""
    blocks = row_blocks(n_codes, max(1, MOST_SUMS // labels.n_classes))
    if len(blocks) == 1:
        yield class_sums(codes, n_codes, labels)
        return
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], [block.stop for block in blocks])
    for block, begin, end in zip(blocks, [0, *ends], ends, strict=False):
        rows = order[begin:end]
        yield class_sums(codes[rows] - block.start, block.stop - block.start, taken(labels, rows))


def taken(labels: Labels, rows) -> Labels:
    """Return the labels of some rows."""
    return labels._replace(
        codes=labels.codes[rows], weights=labels.weights[rows] if labels.weights.size else labels.weights
    )


# ---- branches ----------------------------------------------------------------------------------------------------


def branches_of(values, n_categories: int, question: Question) -> np.ndarray:
    """Return to which branch of its question each row of a column goes."""
    if n_categories >= 0:
        return values.astype(np.int64)
    right = np.where(np.isnan(values), not question.missing_left, values > question.threshold)
    return right.astype(np.int64) if question.n_branches > 1 else np.zeros(values.size, dtype=np.int64)


def gain_of_branches(branches, n_branches: int, labels: Labels, criterion: int) -> float:
    """Return the gain of telling the labels apart by branches that are known."""
    total = class_sums(np.zeros(branches.size, dtype=np.int64), 1, labels)
    whole, weight = float(costs_of(total, criterion)[0]), float(total.sum())
    cost, _ = multiway_cost(branches, n_branches, labels, criterion)
    return max(whole - cost, 0.0) / weight
