"""Choose columns one by one, the one with the highest score next (the boosting and SVM lecture).

Where columns may say the same twice, a score is less by the mean redundancy with the columns chosen before
(mRMR; Peng, Long and Ding 2005). What is redundant: the gain about the branches of a chosen column's question that the
branches of the other column's question give. By entropy that is the mutual information of the two questions.

    scores         0.5  0.4  0.3      chosen: 0
    redundancy      -   0.4  0.0      0.4 - 0.4 < 0.3 - 0.0, so the next is column 2
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from eigenwood.core.selection.gains import Labels, Question, best_question, branches_of, gain_of_branches
from eigenwood.core.threads import results_of, row_blocks
from eigenwood.core.tree.binning import COLUMN_BLOCK, copy_columns
from eigenwood.core.tree.criteria import TIE


class MixedColumns(NamedTuple):
    """A dense matrix or one in csc, and for each column how many categories it has, -1 for numbers."""

    X: Any
    n_categories: list[int]
    n_threads: int


class Order(NamedTuple):
    """The columns in the order in which they are chosen, and how redundant each was when it was."""

    columns: np.ndarray
    redundancies: np.ndarray  # by column, 0 where nothing was chosen before


def questions_of(columns: MixedColumns, labels: Labels, criterion: int) -> list[Question]:
    """Return the best question about each column."""
    return for_each_column(columns, lambda j, values: best_question(values, columns.n_categories[j], labels, criterion))


def for_each_column(columns: MixedColumns, work: Callable) -> list:
    """Return ``work(j, values)`` for each column, some columns at a time."""

    def block(places: slice) -> list:
        values = column_block(columns.X, places)
        return [work(places.start + i, values[i]) for i in range(values.shape[0])]

    parts = results_of(block, row_blocks(columns.X.shape[1], COLUMN_BLOCK), columns.n_threads)
    return [result for part in parts for result in part]


def column_block(X, places: slice) -> np.ndarray:
    """Return some columns as float64 rows."""
    if not isinstance(X, np.ndarray):
        return X[:, places].toarray().T.astype(np.float64)
    values = np.empty((places.stop - places.start, X.shape[0]))
    copy_columns(X, places.start, values)
    return values


def greedy_order(scores, n_selected: int, redundancies_with: Callable | None, unit: float) -> Order:
    """Return the columns by how they are chosen; those behind the first ``n_selected`` by their scores at the end.

    ``redundancies_with(j)`` says how redundant every column is with column j. Scores that are closer than rounding may
    take them, by the ``unit`` they are counted in, are equal: then the first column is chosen.
    """
    redundancies = np.zeros(scores.size)
    if redundancies_with is None:
        return Order(by_score(scores, TIE * unit), redundancies)
    chosen, open_columns, total = [], np.ones(scores.size, dtype=bool), np.zeros(scores.size)
    for n_chosen in range(n_selected):
        mean = total / max(n_chosen, 1)
        current = np.where(open_columns, scores - mean, -np.inf)
        column = int(np.argmax(current >= current.max() - TIE * unit))
        chosen.append(column)
        open_columns[column], redundancies[column] = False, mean[column]
        total += redundancies_with(column)
    rest = np.flatnonzero(open_columns)
    redundancies[rest] = total[rest] / n_selected
    rest = rest[by_score((scores - redundancies)[rest], TIE * unit)]
    return Order(np.concatenate([np.array(chosen, dtype=np.int64), rest]), redundancies)


def by_score(scores, tie: float) -> np.ndarray:
    """Return the places of scores from the highest to the lowest; of equal ones the first comes first."""
    order = np.argsort(-scores, kind="stable")
    begins = np.ones(scores.size, dtype=bool)
    top = np.inf
    for i, score in enumerate(scores[order]):
        begins[i] = score < top - tie
        top = score if begins[i] else top
    return order[np.lexsort((order, np.cumsum(begins)))]


def redundancy_function(columns: MixedColumns, questions: list[Question], weights, criterion: int) -> Callable:
    """Return what says how redundant every column is with one of them."""
    n_branches = [question.n_branches for question in questions]

    def branches(j: int, values) -> np.ndarray:
        return branches_of(values, columns.n_categories[j], questions[j])

    def redundancies_with(chosen: int) -> np.ndarray:
        values = column_block(columns.X, slice(chosen, chosen + 1))[0]
        target = Labels(branches(chosen, values), weights, n_branches[chosen])
        return np.array(
            for_each_column(
                columns, lambda j, values: gain_of_branches(branches(j, values), n_branches[j], target, criterion)
            )
        )

    return redundancies_with
