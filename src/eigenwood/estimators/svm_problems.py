"""From training rows to dual problems and back: one for two classes or for amounts, one for each pair of classes.

    rows, by class    │ a ········ │ b ······ │ c ····· │        several classes: sorted, so that a class is a slice
    problems          (a, b): slices a and b          (a, c)          (b, c)
    coefficients      (n_rows, n_problems), 0 where a row takes no part

Weights mean repeated rows: equal rows of one target are joined before they are solved, in the order of their
fingerprints, and share what was found in proportion to what they cost. So a weight of 2 is the row given twice, and
the order of the table changes nothing.

    rows        a   b   a   c       cost   1   1   2   1       coefficient   1   .5   2   0
    distinct    b   a   c                  1   3   1                        .5   3   0

Scikit-learn's ``dual_coef_`` has one line less than there are classes: a support vector of class i has its coefficient
of the problem (i, j) in line j - 1 if j > i, else in line j.
"""

from __future__ import annotations

from collections.abc import Generator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.core.distinct import fingerprints
from eigenwood.core.kernels.blocks import KernelFunction, taken, write_symmetric
from eigenwood.core.kernels.functions import (
    LINEAR,
    POLYNOMIAL,
    POLYNOMIAL_ABOUT,
    RBF,
    RBF_LESS_ONE,
    SIGMOID,
    SIGMOID_ABOUT,
    Kernel,
)
from eigenwood.core.kernels.plain import GivenRows, LinearRows
from eigenwood.core.kernels.recent import KernelTable, Part, RecentRows, kernel_table
from eigenwood.core.margin.dual_svm import Dual, DualRule, DualStep, KernelRows, dual_svm_steps, feasible, small_step
from eigenwood.core.margin.side_by_side import SideBySideStep, side_by_side
from eigenwood.core.pieces import Pieces
from eigenwood.core.rows import rows_of
from eigenwood.core.threads import results_of
from eigenwood.validation.targets import Training

HINGE, SQUARED = SLACKS = ("hinge", "squared")
IN_DUAL = {RBF: RBF_LESS_ONE, POLYNOMIAL: POLYNOMIAL_ABOUT, SIGMOID: SIGMOID_ABOUT}
MANY_CLASSES = 4  # from here on the kernel values within a class serve several problems
SMALL_WORK = 2e9  # multiplications, a fraction of a second: of rounds where there was no time for any
LEAST_SMALL, MOST_SMALL = 8, 128  # rows in each of these
DENSE_SHARE = 0.25  # of the memory, for sparse rows made dense and for kernel values within classes


class Problem(NamedTuple):
    """A dual problem and the slices of the rows that take part in it."""

    slices: tuple[slice, ...]
    dual: Dual
    costs: np.ndarray  # C of each row
    label: str = ""

    def places(self) -> np.ndarray:
        """Return the rows that take part."""
        return np.concatenate([np.arange(part.start, part.stop) for part in self.slices])


class Task(NamedTuple):
    """What is to be solved: the rows, classes one after the other, and the distinct ones among them."""

    X: Any  # the distinct rows, or all similarities
    y: np.ndarray  # their labels or amounts
    group: np.ndarray  # (n_rows,) which of the distinct rows each row is
    codes: np.ndarray  # (n_rows,) of the classes; all 0 for amounts
    mass: np.ndarray  # (n_rows,) the weights
    places: np.ndarray  # (n_rows,) where each row stood in what was given
    problems: list[Problem]  # among the rows
    joined: list[Problem]  # among the distinct rows
    labels: np.ndarray  # of the classes; none for amounts
    costs: np.ndarray  # C of each class

    def joined_mass(self) -> np.ndarray:
        """Return the weights of the distinct rows."""
        return np.bincount(self.group, weights=self.mass)

    def joined_places(self) -> np.ndarray:
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


class Measured(NamedTuple):
    """Rows with their amounts, checked, as ``Training`` has them with their classes."""

    X: Any
    amounts: np.ndarray
    weights: np.ndarray
    places: np.ndarray


def class_task(data: Training, costs: np.ndarray, slack: str, is_gram: bool) -> Task:
    """Return the problem of two classes, or those of all pairs; ``costs`` are the C of each class."""
    labels, codes = data.classes
    order = np.arange(codes.size) if labels.size == 2 else np.argsort(codes, kind="stable")
    if is_gram:
        distinct = Distinct(order, np.argsort(order))
        X = data.X if labels.size == 2 else data.X[np.ix_(order, order)]
    else:
        distinct = distinct_rows(data.X, codes, codes if labels.size > 2 else None)
        X = data.X[distinct.first]
    own, row_costs = codes[distinct.first], costs[codes] * data.weights
    return Task(
        X,
        labels[own],
        distinct.group[order],
        codes[order],
        data.weights[order],
        data.places[order],
        class_problems(codes[order], row_costs[order], labels, slack),
        class_problems(own, costs[own] * distinct.added(data.weights), labels, slack),
        labels,
        costs,
    )


def amount_task(data: Measured, cost: float, slack: str, epsilon: float, is_gram: bool) -> Task:
    """Return the problem of amounts; ``cost`` is C."""
    X, amounts, mass, places = data
    everybody, marks = np.arange(amounts.size), (amounts + 0.0).view(np.int64)  # 0 has no sign
    distinct = Distinct(everybody, everybody) if is_gram else distinct_rows(X, marks)
    own = amounts[distinct.first]
    return Task(
        X if is_gram else X[distinct.first],
        own,
        distinct.group,
        np.zeros(amounts.size, dtype=np.intp),
        mass,
        places,
        [amount_problem(amounts, cost * mass, slack, epsilon)],
        [amount_problem(own, cost * distinct.added(mass), slack, epsilon)],
        np.empty(0),
        np.array([cost]),
    )


def distinct_rows(X: Any, marks: np.ndarray, codes: np.ndarray | None = None) -> Distinct:
    """Return the distinct (row, mark) in the order of their fingerprints, or within codes in this order."""
    _, first, group = np.unique(
        fingerprints(rows_of(X), marks.astype(np.int64)), return_index=True, return_inverse=True
    )
    order = np.arange(first.size) if codes is None else np.argsort(codes[first], kind="stable")
    return Distinct(first[order], np.argsort(order)[group])


def to_rows(task: Task, column: int, values: np.ndarray) -> np.ndarray:
    """Return for all rows of a problem what its distinct rows have."""
    whole = np.zeros(task.y.size)
    whole[task.joined[column].places()] = values
    return whole[task.group[task.problems[column].places()]]


def shared(task: Task, column: int, beta: np.ndarray) -> np.ndarray:
    """Return the coefficients of all rows of a problem: equal rows share one as they share its cost.

    So if it is at a bound, each is at its own.
    """
    own, costs = task.problems[column].costs, to_rows(task, column, task.joined[column].costs)
    together = to_rows(task, column, beta)
    return np.where(own == costs, together, together / costs * own)


def gathered(task: Task, column: int, beta: np.ndarray) -> np.ndarray:
    """Return the coefficients of the distinct rows of a problem, from those of all its rows."""
    places = task.problems[column].places()
    whole = np.bincount(task.group[places], weights=beta, minlength=task.y.size)
    return whole[task.joined[column].places()]


def class_problems(codes: np.ndarray, costs: np.ndarray, labels: np.ndarray, slack: str) -> list[Problem]:
    """Return the problem of two classes, or those of all pairs; the rows of several classes must be sorted."""
    if labels.size == 2:
        dual = class_dual(np.where(codes == 1, 1.0, -1.0), costs, slack)
        return [Problem((slice(0, codes.size),), dual, costs)]
    ends = np.searchsorted(codes, np.arange(labels.size + 1))
    slices = [slice(int(ends[code]), int(ends[code + 1])) for code in range(labels.size)]
    return [
        pair_problem(slices[i], slices[j], costs, slack, f" [{labels[i]} or {labels[j]}]")
        for i, j in combinations(range(labels.size), 2)
    ]


def pair_problem(first: slice, second: slice, costs: np.ndarray, slack: str, label: str) -> Problem:
    """Return the problem of two classes, of which the first is +1, as in LIBSVM."""
    signs = np.concatenate([np.ones(first.stop - first.start), -np.ones(second.stop - second.start)])
    costs = np.concatenate([costs[first], costs[second]])
    return Problem((first, second), class_dual(signs, costs, slack), costs, label)


def class_dual(signs: np.ndarray, costs: np.ndarray, slack: str) -> Dual:
    """Return the dual of C Σξ or C Σξ², with a C for each row (decks C and E)."""
    most = costs if slack == HINGE else np.full(costs.size, np.inf)
    ridge = np.zeros(costs.size) if slack == HINGE else 0.5 / costs
    return Dual(signs, np.where(signs > 0, 0.0, -most), np.where(signs > 0, most, 0.0), ridge)


def amount_problem(amounts: np.ndarray, costs: np.ndarray, slack: str, epsilon: float) -> Problem:
    """Return the problem of amounts: what lies within ε of the curve costs nothing."""
    most = costs if slack == HINGE else np.full(costs.size, np.inf)
    ridge = np.zeros(costs.size) if slack == HINGE else 0.5 / costs
    return Problem((slice(0, costs.size),), Dual(amounts, -most, most, ridge, epsilon), costs)


class Room(NamedTuple):
    """What the solvers may use."""

    max_bytes: float
    n_threads: int


class Sources(NamedTuple):
    """Where each problem gets its kernel values, and what must be written before it does."""

    rows: list[KernelRows]
    writing: Pieces[None]


def sources(X: Any, kernel: Kernel | KernelFunction | None, problems: list[Problem], room: Room) -> Sources:
    """Return where each problem gets its kernel values; without a kernel, X holds them."""
    threads = room.n_threads if len(problems) == 1 else 1  # several problems run side by side
    if kernel is None:
        return Sources([GivenRows(given_part(X, problem), threads) for problem in problems], nothing_to_write())
    if isinstance(kernel, Kernel) and kernel.code == LINEAR:
        return Sources([LinearRows(rows_in(X, problem), threads) for problem in problems], nothing_to_write())
    table = table_of(X, kernel, room)
    known = known_within(table, problems, room)
    rows = shared_rows(table, known, problems, room, threads)
    return Sources(rows, writing_known(table, known, room.n_threads))


def nothing_to_write() -> Pieces[None]:
    """Do nothing, in no piece."""
    yield from ()


def shared_rows(
    table: KernelTable, known: dict[int, np.ndarray], problems: list[Problem], room: Room, threads: int
) -> list[KernelRows]:
    """Return the rows of each problem; the memory that is left is shared as their sizes ask for."""
    left = room.max_bytes - sum(values.nbytes for values in known.values())
    sizes = np.array([problem.dual.target.size for problem in problems], dtype=np.float64)
    shares = np.square(sizes) / np.square(sizes).sum()
    return [
        RecentRows(
            table, tuple(Part(s.start, s.stop, known.get(s.start)) for s in problem.slices), share * left, threads
        )
        for problem, share in zip(problems, shares, strict=True)
    ]


def table_of(X: Any, kernel: Kernel | KernelFunction, room: Room) -> KernelTable:
    """Return the rows of all problems, ready for the kernel."""
    return kernel_table(dense_if_small(X, room), dual_kernel(kernel))


def value_rounding(X: Any, kernel: Kernel | KernelFunction | None, room: Room) -> float:
    """Return how far the kernel values are off that ``sources`` hand out, about."""
    if kernel is None or (isinstance(kernel, Kernel) and kernel.code == LINEAR):
        return 0.0
    return RecentRows(table_of(X, kernel, room), (Part(0, X.shape[0]),), 0.0).rounding


def dual_kernel(kernel: Kernel | KernelFunction) -> Kernel | KernelFunction:
    """Return the kernel that the solver uses: k - g(x) - g(z) is as good as k, and may have more digits."""
    return kernel._replace(code=IN_DUAL.get(kernel.code, kernel.code)) if isinstance(kernel, Kernel) else kernel


def dense_if_small(X: Any, room: Room) -> Any:
    """Return sparse rows as dense ones where they fit: BLAS is far ahead of any walk along lists."""
    if not sparse.issparse(X) or X.shape[0] * X.shape[1] * X.dtype.itemsize > DENSE_SHARE * room.max_bytes:
        return X
    return X.toarray()


def known_within(table: KernelTable, problems: list[Problem], room: Room) -> dict[int, np.ndarray]:
    """Return room for the kernel values within each class, by its first row, where several problems can share them."""
    slices = {part.start: part for problem in problems for part in problem.slices}
    needed = sum(4.0 * (part.stop - part.start) ** 2 for part in slices.values())
    by_products = isinstance(table.scaled, Kernel) and not sparse.issparse(table.X)
    if len(slices) < MANY_CLASSES or not by_products or needed > DENSE_SHARE * room.max_bytes:
        return {}
    sizes = {first: part.stop - part.start for first, part in slices.items()}
    return {first: np.empty((size, size), dtype=np.float32) for first, size in sizes.items()}


def writing_known(table: KernelTable, known: dict[int, np.ndarray], n_threads: int) -> Pieces[None]:
    """Write the kernel values within classes, in pieces."""
    kernel = table.scaled
    for first, values in known.items():
        assert isinstance(kernel, Kernel)  # else nothing is known
        yield from write_symmetric(values, taken(table.rows, slice(first, first + len(values))), kernel, n_threads)


def rows_in(X: Any, problem: Problem) -> Any:
    """Return the rows of a problem, without a copy where these are all."""
    return X if problem.dual.target.size == X.shape[0] else X[problem.places()]


def given_part(K: np.ndarray, problem: Problem) -> np.ndarray:
    """Return the similarities among the rows of a problem."""
    places = problem.places()
    return K if places.size == K.shape[0] else np.ascontiguousarray(K[np.ix_(places, places)])


def starts(task: Task, earlier: np.ndarray | None) -> list[np.ndarray]:
    """Return the coefficients that each problem begins with: those of all rows in an earlier fit, or else 0."""
    if earlier is None:
        return [np.zeros(problem.costs.size) for problem in task.joined]
    betas = [gathered(task, k, earlier[problem.places(), k]) for k, problem in enumerate(task.problems)]
    return [feasible(problem.dual, beta) for problem, beta in zip(task.joined, betas, strict=True)]


def steps_of(
    sources: Sources, task: Task, rule: DualRule, starts: list[np.ndarray], n_threads: int
) -> Generator[SideBySideStep, None, None]:
    """Yield where the problems stand: at their starts until all is written, then side by side."""
    begin = SideBySideStep(tuple(unmeasured(beta) for beta in starts), whole=False, last=False)
    for _ in sources.writing:
        yield begin
    yield from side_by_side(
        [
            dual_svm_steps(rows, problem.dual, rule, beta)
            for rows, problem, beta in zip(sources.rows, task.joined, starts, strict=True)
        ],
        n_threads,
    )


def unmeasured(beta: np.ndarray) -> DualStep:
    """Return the step of a problem that was not begun: its scores are known only where no coefficient is above 0."""
    aside = np.full(beta.size, bool(beta.any()))
    due = int(np.count_nonzero(aside))
    return DualStep(beta, np.zeros(beta.size), aside, np.inf, 0, 0, converged=False, whole=False, last=False, due=due)


def with_small_steps(
    step: SideBySideStep, rows: list[KernelRows], task: Task, rule: DualRule, n_threads: int
) -> SideBySideStep:
    """Return the step with a small round for each problem that has had none: few rows, but a model."""
    is_empty = [not (one.beta.any() or one.last) for one in step.steps]
    work = sum(own.value_work * own.n_rows for own, empty in zip(rows, is_empty, strict=True) if empty)
    size = int(np.clip(SMALL_WORK / max(work, 1.0), LEAST_SMALL, MOST_SMALL))
    small = rule._replace(most_members=size)

    def moved(number: int) -> DualStep:
        if not is_empty[number]:
            return step.steps[number]
        return small_step(rows[number], task.joined[number].dual, small)

    return step._replace(steps=tuple(results_of(moved, range(len(rows)), n_threads)))


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
