"""From training rows to dual problems and back: one for two classes or for amounts, one for each pair of classes.

    rows, by class    │ a ········ │ b ······ │ c ····· │        several classes: sorted, so that a class is a slice
    problems          (a, b): slices a and b          (a, c)          (b, c)
    coefficients      (n_rows, n_problems), 0 where a row takes no part

Scikit-learn's ``dual_coef_`` has one line less than there are classes: a support vector of class i has its coefficient
of the problem (i, j) in line j - 1 if j > i, else in line j.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.core.kernels.blocks import KernelFunction, gram_symmetric
from eigenwood.core.kernels.functions import LINEAR, RBF, RBF_LESS_ONE, Kernel
from eigenwood.core.kernels.plain import GivenRows, LinearRows
from eigenwood.core.kernels.recent import KernelTable, Part, RecentRows, kernel_table
from eigenwood.core.margin.dual_svm import Dual, DualRule, DualStep, KernelRows, dual_svm_steps, feasible

HINGE, SQUARED = SLACKS = ("hinge", "squared")
MANY_CLASSES = 4  # from here on the kernel values within a class serve several problems
DENSE_SHARE = 0.25  # of the memory, for sparse rows made dense and for kernel values within classes


class Problem(NamedTuple):
    """A dual problem and the slices of the rows that take part in it."""

    slices: tuple[slice, ...]
    dual: Dual
    label: str

    def places(self) -> np.ndarray:
        """Return the rows that take part."""
        return np.concatenate([np.arange(part.start, part.stop) for part in self.slices])


def class_problems(codes: np.ndarray, costs: np.ndarray, labels: np.ndarray, slack: str) -> list[Problem]:
    """Return the problem of two classes, or those of all pairs; the rows of several classes must be sorted."""
    if labels.size == 2:
        return [Problem((slice(0, codes.size),), class_dual(np.where(codes == 1, 1.0, -1.0), costs, slack), "")]
    ends = np.searchsorted(codes, np.arange(labels.size + 1))
    slices = [slice(int(ends[code]), int(ends[code + 1])) for code in range(labels.size)]
    return [
        pair_problem(slices[i], slices[j], costs, slack, f" [{labels[i]} or {labels[j]}]")
        for i, j in combinations(range(labels.size), 2)
    ]


def pair_problem(first: slice, second: slice, costs: np.ndarray, slack: str, label: str) -> Problem:
    """Return the problem of two classes, of which the first is +1, as in LIBSVM."""
    signs = np.concatenate([np.ones(first.stop - first.start), -np.ones(second.stop - second.start)])
    dual = class_dual(signs, np.concatenate([costs[first], costs[second]]), slack)
    return Problem((first, second), dual, label)


def class_dual(signs: np.ndarray, costs: np.ndarray, slack: str) -> Dual:
    """Return the dual of C Σξ or C Σξ², with a C for each row (decks C and E)."""
    most = costs if slack == HINGE else np.full(costs.size, np.inf)
    ridge = np.zeros(costs.size) if slack == HINGE else 0.5 / costs
    return Dual(signs, np.where(signs > 0, 0.0, -most), np.where(signs > 0, most, 0.0), ridge)


def amount_problem(amounts: np.ndarray, costs: np.ndarray, slack: str, epsilon: float) -> Problem:
    """Return the problem of amounts: what lies within ε of the curve costs nothing."""
    most = costs if slack == HINGE else np.full(costs.size, np.inf)
    ridge = np.zeros(costs.size) if slack == HINGE else 0.5 / costs
    return Problem((slice(0, costs.size),), Dual(amounts, -most, most, ridge, epsilon), "")


class Room(NamedTuple):
    """What the solvers may use."""

    max_bytes: float
    n_threads: int


def sources(X: Any, kernel: Kernel | KernelFunction | None, problems: list[Problem], room: Room) -> list[KernelRows]:
    """Return where each problem gets its kernel values; without a kernel, X holds them."""
    threads = room.n_threads if len(problems) == 1 else 1  # several problems run side by side
    if kernel is None:
        return [GivenRows(given_part(X, problem), threads) for problem in problems]
    if isinstance(kernel, Kernel) and kernel.code == LINEAR:
        return [LinearRows(rows_in(X, problem), threads) for problem in problems]
    table = kernel_table(dense_if_small(X, kernel, room), dual_kernel(kernel))
    known = known_within(table, problems, room)
    left = room.max_bytes - sum(values.nbytes for values in known.values())
    sizes = np.array([problem.dual.target.size for problem in problems], dtype=np.float64)
    shares = np.square(sizes) / np.square(sizes).sum()
    return [
        RecentRows(
            table, tuple(Part(s.start, s.stop, known.get(s.start)) for s in problem.slices), share * left, threads
        )
        for problem, share in zip(problems, shares, strict=True)
    ]


def dual_kernel(kernel: Kernel | KernelFunction) -> Kernel | KernelFunction:
    """Return the kernel that the solver uses: k - 1 is as good as k, and has more digits."""
    return kernel._replace(code=RBF_LESS_ONE) if isinstance(kernel, Kernel) and kernel.code == RBF else kernel


def dense_if_small(X: Any, kernel: Kernel | KernelFunction, room: Room) -> Any:
    """Return sparse rows as dense ones where they fit: BLAS is far ahead of any walk along lists."""
    if not sparse.issparse(X) or X.shape[0] * X.shape[1] * X.dtype.itemsize > DENSE_SHARE * room.max_bytes:
        return X
    return X.toarray()


def known_within(table: KernelTable, problems: list[Problem], room: Room) -> dict[int, np.ndarray]:
    """Return the kernel values within each class, by its first row, where several problems can share them."""
    slices = {part.start: part for problem in problems for part in problem.slices}
    needed = sum(4.0 * (part.stop - part.start) ** 2 for part in slices.values())
    is_dense = table.rows is not None and not sparse.issparse(table.rows.rows)
    if len(slices) < MANY_CLASSES or not is_dense or needed > DENSE_SHARE * room.max_bytes:
        return {}
    rows, kernel = table.rows.rows, table.kernel
    values = {first: gram_symmetric(rows[part], kernel, room.n_threads) for first, part in slices.items()}
    return {first: block.astype(np.float32, copy=False) for first, block in values.items()}


def rows_in(X: Any, problem: Problem) -> Any:
    """Return the rows of a problem, without a copy where these are all."""
    return X if problem.dual.target.size == X.shape[0] else X[problem.places()]


def given_part(K: np.ndarray, problem: Problem) -> np.ndarray:
    """Return the similarities among the rows of a problem."""
    places = problem.places()
    return K if places.size == K.shape[0] else np.ascontiguousarray(K[np.ix_(places, places)])


def solvers(
    rows: list[KernelRows], problems: list[Problem], rule: DualRule, start: np.ndarray | None
) -> list[Iterator[DualStep]]:
    """Return a solver for each problem, from the coefficients of an earlier fit if there are any."""
    if start is None:
        return [dual_svm_steps(own, problem.dual, rule) for own, problem in zip(rows, problems, strict=True)]
    return [
        dual_svm_steps(own, problem.dual, rule, feasible(problem.dual, beta[problem.places()]))
        for own, problem, beta in zip(rows, problems, start.T, strict=True)
    ]


def coefficients(problems: list[Problem], betas: list[np.ndarray], n_rows: int) -> np.ndarray:
    """Return the coefficients of all rows in all problems."""
    table = np.zeros((n_rows, len(problems)))
    for column, (problem, beta) in enumerate(zip(problems, betas, strict=True)):
        table[problem.places(), column] = beta
    return table


def stacked(table: np.ndarray, codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the coefficients of support vectors as scikit-learn has them; see above."""
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
