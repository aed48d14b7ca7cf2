"""All dual problems of a fit, among the rows and among the distinct ones; and coefficients on the way between both.

Weights mean repeated rows: equal rows of one target are solved as one, in the order of their fingerprints, and share
what was found in proportion to what they cost. So a weight of 2 is the row given twice, and the order of the table
changes nothing.

    rows        a   b   a   c       cost   1   1   2   1       coefficient   1   .5   2   0
    distinct    b   a   c                  1   3   1                        .5   3   0
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eigenwood.core.distinct import fingerprints
from eigenwood.core.margin.dual_svm import feasible
from eigenwood.core.margin.one_against_one import Problem, amount_problem, class_problems
from eigenwood.core.rows import rows_of


class WeightedRows(NamedTuple):
    """Rows of weight above 0, or the similarities among them."""

    X: Any
    weights: np.ndarray
    places: np.ndarray  # where each row stood in what was given


class DualProblems(NamedTuple):
    """What a fit has to solve: the rows, classes one after the other, and the distinct ones among them."""

    X: Any  # the distinct rows, or all similarities
    y: np.ndarray  # their labels or amounts
    group: np.ndarray  # (n_rows,) which of the distinct rows each row is
    codes: np.ndarray  # (n_rows,) of the classes; all 0 for amounts
    mass: np.ndarray  # (n_rows,) the weights
    places: np.ndarray  # (n_rows,) where each row stood in what was given
    problems: list[Problem]  # among the rows
    deduplicated: list[Problem]  # among the distinct rows
    labels: np.ndarray  # of the classes; none for amounts
    costs: np.ndarray  # C of each class

    def deduplicated_mass(self) -> np.ndarray:
        """Return the weights of the distinct rows."""
        return np.bincount(self.group, weights=self.mass)

    def deduplicated_places(self) -> np.ndarray:
        """Return where each distinct row stood in what was given; of equal ones, one of them."""
        places = np.empty(self.y.size, dtype=np.intp)
        places[self.group[::-1]] = self.places[::-1]
        return places


class Distinct(NamedTuple):
    """Where each distinct row stands first, and for every row which of them it is."""

    first: np.ndarray
    group: np.ndarray

    def added(self, weights: np.ndarray) -> np.ndarray:
        """Return the weights of equal rows added up."""
        return np.bincount(self.group, weights=weights, minlength=self.first.size)


def dual_problems_of_classes(
    rows: WeightedRows, labels: np.ndarray, codes: np.ndarray, costs: np.ndarray, slack: str, is_gram: bool
) -> DualProblems:
    """Return the problem of two classes, or those of all pairs; ``costs`` are the C of each class."""
    order = np.arange(codes.size) if labels.size == 2 else np.argsort(codes, kind="stable")
    if is_gram:
        distinct = Distinct(order, np.argsort(order))
        X = rows.X if labels.size == 2 else rows.X[np.ix_(order, order)]
    else:
        distinct = deduplicate(rows.X, codes, codes if labels.size > 2 else None)
        X = rows.X[distinct.first]
    own, row_costs = codes[distinct.first], costs[codes] * rows.weights
    return DualProblems(
        X,
        labels[own],
        distinct.group[order],
        codes[order],
        rows.weights[order],
        rows.places[order],
        class_problems(codes[order], row_costs[order], labels, slack),
        class_problems(own, costs[own] * distinct.added(rows.weights), labels, slack),
        labels,
        costs,
    )


def dual_problem_of_amounts(
    rows: WeightedRows, amounts: np.ndarray, cost: float, slack: str, epsilon: float, is_gram: bool
) -> DualProblems:
    """Return the problem of amounts; ``cost`` is C."""
    everybody, marks = np.arange(amounts.size), (amounts + 0.0).view(np.int64)  # 0 has no sign
    distinct = Distinct(everybody, everybody) if is_gram else deduplicate(rows.X, marks)
    own = amounts[distinct.first]
    return DualProblems(
        rows.X if is_gram else rows.X[distinct.first],
        own,
        distinct.group,
        np.zeros(amounts.size, dtype=np.intp),
        rows.weights,
        rows.places,
        [amount_problem(amounts, cost * rows.weights, slack, epsilon)],
        [amount_problem(own, cost * distinct.added(rows.weights), slack, epsilon)],
        np.empty(0),
        np.array([cost]),
    )


def deduplicate(X: Any, marks: np.ndarray, codes: np.ndarray | None = None) -> Distinct:
    """Return the distinct (row, mark) in the order of their fingerprints, or within codes in this order."""
    _, first, group = np.unique(
        fingerprints(rows_of(X), marks.astype(np.int64)), return_index=True, return_inverse=True
    )
    order = np.arange(first.size) if codes is None else np.argsort(codes[first], kind="stable")
    return Distinct(first[order], np.argsort(order)[group])


# --- between rows and distinct rows ---------------------------------------------------------------


def to_rows(duals: DualProblems, column: int, values: np.ndarray) -> np.ndarray:
    """Return for all rows of a problem what its distinct rows have."""
    values_by_row = np.zeros(duals.y.size)
    values_by_row[duals.deduplicated[column].places()] = values
    return values_by_row[duals.group[duals.problems[column].places()]]


def all_shared(duals: DualProblems, betas: np.ndarray, starts: np.ndarray) -> list[np.ndarray]:
    """Return the coefficients of all rows in each problem: equal rows share one as they share its cost.

    So if it is at a bound, each is at its own. ``betas`` are those of the distinct rows, the problems one after the
    other.
    """
    own = np.concatenate([problem.costs for problem in duals.problems])
    among = np.concatenate(
        [
            duals.group[rows] + (start - distinct.start)
            for problem, distinct_problem, first in zip(duals.problems, duals.deduplicated, starts, strict=False)
            for rows, distinct, start in zip(
                problem.slices, distinct_problem.slices, first_of_parts(distinct_problem, int(first)), strict=True
            )
        ]
    )
    costs = np.concatenate([problem.costs for problem in duals.deduplicated])[among]
    together = betas[among]
    shares = np.where(own == costs, together, together / costs * own)
    return np.split(shares, np.cumsum([problem.costs.size for problem in duals.problems])[:-1])


def first_of_parts(problem: Problem, first: int) -> list[int]:
    """Return where the parts of a problem begin, one after the other.

    >>> first_of_parts(Problem((slice(2, 5), slice(7, 9)), None, None), 10)
    [10, 13]
    """
    sizes = [part.stop - part.start for part in problem.slices]
    return [first + sum(sizes[:number]) for number in range(len(sizes))]


def gathered(duals: DualProblems, column: int, beta: np.ndarray) -> np.ndarray:
    """Return the coefficients of the distinct rows of a problem, from those of all its rows."""
    places = duals.problems[column].places()
    values_by_row = np.bincount(duals.group[places], weights=beta, minlength=duals.y.size)
    return values_by_row[duals.deduplicated[column].places()]


def initial_coefficients(duals: DualProblems, earlier: np.ndarray | None) -> list[np.ndarray]:
    """Return the coefficients that each problem begins with: those of all rows in an earlier fit, or else 0."""
    if earlier is None:
        return [np.zeros(problem.costs.size) for problem in duals.deduplicated]
    betas = [gathered(duals, k, earlier[problem.places(), k]) for k, problem in enumerate(duals.problems)]
    return [feasible(problem.dual, beta) for problem, beta in zip(duals.deduplicated, betas, strict=True)]


def betas_at(places: np.ndarray, support: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return the coefficients of rows that stood at ``places``; 0 for those that are no support."""
    betas = np.zeros((places.size, table.shape[1]))
    order = np.argsort(support)
    found = np.searchsorted(support[order], places).clip(max=max(support.size - 1, 0))
    if support.size:
        here = support[order][found] == places
        betas[here] = table[order][found[here]]
    return betas
