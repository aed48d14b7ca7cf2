"""One dual problem for two classes or for amounts, one for each pair of several classes; and what the pairs say.

    rows, by class    │ a ········ │ b ······ │ c ····· │        several classes: sorted, so that a class is a slice
    problems          (a, b): slices a and b          (a, c)          (b, c)
    coefficients      (n_rows, n_problems), 0 where a row takes no part

Scikit-learn's ``dual_coef_`` has one line less than there are classes: a support vector of class i has its coefficient
of the problem (i, j) in line j - 1 if j > i, else in line j.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from eigenwood.core.margin.dual_svm import Dual

HINGE, SQUARED = SLACKS = ("hinge", "squared")


# --- problems -------------------------------------------------------------------------------------


class Problem(NamedTuple):
    """A dual problem and the slices of the rows that take part in it."""

    slices: tuple[slice, ...]
    dual: Dual
    costs: np.ndarray  # C of each row
    label: str = ""

    def places(self) -> np.ndarray:
        """Return the rows that take part."""
        return np.concatenate([np.arange(part.start, part.stop) for part in self.slices])


def class_problems(codes: np.ndarray, costs: np.ndarray, labels: np.ndarray, slack: str) -> list[Problem]:
    """Return the problem of two classes, or those of all pairs; the rows of several classes must be sorted."""
    if labels.size == 2:
        dual = class_dual(np.where(codes == 1, 1.0, -1.0), costs, slack)
        return [Problem((slice(0, codes.size),), dual, costs)]
    ends = np.searchsorted(codes, np.arange(labels.size + 1)).tolist()
    return pair_problems([slice(*end) for end in pairwise(ends)], costs, labels.tolist(), slack)


def pair_problems(slices: list[slice], costs: np.ndarray, labels: list, slack: str) -> list[Problem]:
    """Return the problems of all pairs of classes, of which the first is +1, as in LIBSVM.

    They are made one after the other in the same arrays, because there may be many small ones.
    """
    pairs = list(combinations(range(len(slices)), 2))
    sizes = [part.stop - part.start for part in slices]
    signs = np.repeat([sign for _ in pairs for sign in (1.0, -1.0)], [sizes[k] for pair in pairs for k in pair])
    own = np.concatenate([costs[slices[k]] for pair in pairs for k in pair])
    dual, problems, start = class_dual(signs, own, slack), [], 0
    for i, j in pairs:
        here = slice(start, start + sizes[i] + sizes[j])
        part = Dual(dual.target[here], dual.low[here], dual.high[here], dual.ridge[here])
        problems.append(Problem((slices[i], slices[j]), part, own[here], f" [{labels[i]} or {labels[j]}]"))
        start = here.stop
    return problems


def class_dual(signs: np.ndarray, costs: np.ndarray, slack: str) -> Dual:
    """Return the dual of C Σξ or C Σξ², with a C for each row (the kernel lecture and the boosting and SVM lecture)."""
    most, ridge = bound_and_ridge(costs, slack)
    return Dual(signs, np.where(signs > 0, 0.0, -most), np.where(signs > 0, most, 0.0), ridge)


def amount_problem(amounts: np.ndarray, costs: np.ndarray, slack: str, epsilon: float) -> Problem:
    """Return the problem of amounts: what lies within ε of the curve costs nothing."""
    most, ridge = bound_and_ridge(costs, slack)
    return Problem((slice(0, costs.size),), Dual(amounts, -most, most, ridge, epsilon), costs)


def bound_and_ridge(costs: np.ndarray, slack: str) -> tuple[np.ndarray, np.ndarray]:
    """Return how large |β| of each row may be, and R: slack ξ bounds coefficients, slack ξ² adds to the diagonal.

    >>> bound_and_ridge(np.array([2.0]), "hinge"), bound_and_ridge(np.array([2.0]), "squared")
    ((array([2.]), array([0.])), (array([inf]), array([0.25])))
    """
    if slack == HINGE:
        return costs, np.zeros(costs.size)
    return np.full(costs.size, np.inf), 0.5 / costs


# --- coefficients ---------------------------------------------------------------------------------


def coefficients(problems: list[Problem], betas: list[np.ndarray], n_rows: int) -> np.ndarray:
    """Return the coefficients of all rows in all problems."""
    table = np.zeros((n_rows, len(problems)))
    for column, (problem, beta) in enumerate(zip(problems, betas, strict=True)):
        table[problem.places(), column] = beta
    return table


def stacked(table: np.ndarray, codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the coefficients of support vectors as scikit-learn has them, one line less than there are classes."""
    if table.shape[1] == 1:
        return np.ascontiguousarray(table.T)
    lines = np.zeros((n_classes - 1, codes.size))
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        lines[j - 1, codes == i] = table[codes == i, column]
        lines[i, codes == j] = table[codes == j, column]
    return lines


def unstacked(lines: np.ndarray, n_support: np.ndarray) -> np.ndarray:
    """Return the coefficients of support vectors in all problems, from what scikit-learn has.

    >>> table = np.array([[1.0, 2.0, 0.0], [-1.0, 0.0, 3.0], [0.0, -2.0, -3.0]])
    >>> bool((unstacked(stacked(table, np.arange(3), 3), np.ones(3, dtype=int)) == table).all())
    True
    """
    if lines.shape[0] == 1:
        return np.ascontiguousarray(lines.T)
    codes = np.repeat(np.arange(n_support.size), n_support)
    pairs = list(combinations(range(n_support.size), 2))
    table = np.zeros((codes.size, len(pairs)))
    for column, (i, j) in enumerate(pairs):
        table[codes == i, column] = lines[j - 1, codes == i]
        table[codes == j, column] = lines[i, codes == j]
    return table


# --- votes ----------------------------------------------------------------------------------------


def pair_votes(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Return how many pairs each class wins."""
    votes = np.zeros((scores.shape[0], n_classes))
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        wins = scores[:, column] > 0.0
        votes[wins, i] += 1.0
        votes[~wins, j] += 1.0
    return votes


def class_scores(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Return votes and, less than any vote, how clear the pairs were: what scikit-learn calls 'ovr'.

    A pair whose score is exactly 0 counts for its first class here, and for its second in ``pair_votes``: as there.
    """
    clarity = np.zeros((scores.shape[0], n_classes))
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        clarity[:, i] += scores[:, column]
        clarity[:, j] -= scores[:, column]
    votes = n_classes - 1.0 - pair_votes(-scores, n_classes)
    return votes + clarity / (3.0 * (np.abs(clarity) + 1.0))
