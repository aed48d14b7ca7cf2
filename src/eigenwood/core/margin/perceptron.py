"""Perceptron: learn only from mistakes (the kernel lecture).

    w = 0, b = 0
    while some y (w·x + b) ≤ 0:   w ← w + η y x,   b ← b + η y

One problem per row of ``signs`` (one against the rest). A row of mass m is presented m times in succession, a
fraction of a presentation being a fraction of a step. Steps that must follow each other before the row is right
are taken at once: with δ = η(‖x‖² + 1) the margin grows by δ each time, so ⌊-margin/δ⌋ + 1 steps are needed.

With a penalty (as in scikit-learn) the weights shrink at every presentation: L2 by a common factor that is kept
apart (w = scale · v), L1 by the cumulative rule of Tsuruoka, Tsujii and Ananiadou (2009): every coordinate owes
the penalty since the start and pays before it is next used, which for a sparse row may be much later.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.rows import Rows, dense_add, dense_dot, entries_per_row, sparse_add, sparse_dot, squared_row_norms
from eigenwood.core.threads import results_of, row_blocks

SCALE, INTERCEPT, OWED, LOSS, MISTAKES = range(5)  # the columns of PerceptronStep.numbers

CHUNK_WORK = 8_000_000  # multiplications between two looks at the clock: about ten milliseconds
SMALL_WORK = 400_000  # below this a thread costs more than it brings
SMALLEST_SCALE = 1e-9
MOST_PRESENTATIONS = 1000  # with a penalty, a heavier row takes longer steps instead of more of them


class PerceptronRule(NamedTuple):
    """How a step is taken."""

    step: float = 1.0  # η
    intercept: bool = True
    l1: float = 0.0  # penalty per presentation
    l2: float = 0.0


class StopRule(NamedTuple):
    """When a problem is finished: no mistake in an epoch, or the loss did not fall for ``patience`` epochs."""

    max_epochs: int
    tol: float  # -inf: never by the loss
    patience: int


class PerceptronStep(NamedTuple):
    """Where the fit stands; the arrays are live, one row for each problem.

    numbers     [scale, intercept, penalty owed, loss in this epoch, mistakes since the start]
    """

    directions: np.ndarray  # (n_problems, n_features) v, with w = scale · v
    paid: np.ndarray  # (n_problems, n_features) L1 penalty already paid
    numbers: np.ndarray  # (n_problems, 5)
    epochs: np.ndarray  # (n_problems,) epochs begun
    converged: np.ndarray  # (n_problems,) an epoch without a mistake was seen
    whole: bool  # an epoch is complete
    last: bool  # nothing is left to do

    def coefficients(self) -> np.ndarray:
        return self.directions * self.numbers[:, [SCALE]]

    def intercepts(self) -> np.ndarray:
        return self.numbers[:, INTERCEPT].copy()


def perceptron_start(
    coefficients: np.ndarray, intercepts: np.ndarray, mistakes: np.ndarray | float = 0.0
) -> PerceptronStep:
    """Return the step that stands before the first epoch; ``mistakes`` were made on the way there."""
    n_problems = coefficients.shape[0]
    numbers = np.zeros((n_problems, 5))
    numbers[:, SCALE] = 1.0
    numbers[:, INTERCEPT] = intercepts
    numbers[:, MISTAKES] = mistakes
    return PerceptronStep(
        directions=np.array(coefficients, dtype=np.float64),
        paid=np.zeros(coefficients.shape),
        numbers=numbers,
        epochs=np.zeros(n_problems, dtype=np.int64),
        converged=np.zeros(n_problems, dtype=bool),
        whole=False,
        last=False,
    )


def perceptron_steps(
    rows: Rows,
    signs: np.ndarray,
    mass: np.ndarray,
    rule: PerceptronRule,
    stop: StopRule,
    start: PerceptronStep,
    seed: int | None,
    n_threads: int,
) -> Iterator[PerceptronStep]:
    """Yield the state after every chunk of rows, until all problems are finished.

    ``seed`` draws a new order in each epoch; None visits the rows as they stand, again and again (the kernel lecture).
    """
    norms = squared_row_norms(rows)
    chunk_rows = max(1, int(CHUNK_WORK // entries_per_row(rows)))
    rng = None if seed is None else np.random.default_rng(seed)
    best_loss = np.full(signs.shape[0], np.inf)
    epochs_without_gain = np.zeros(signs.shape[0], dtype=np.int64)
    active = np.arange(signs.shape[0])
    step = start
    for epoch in range(1, stop.max_epochs + 1):
        order = np.arange(mass.size) if rng is None else rng.permutation(mass.size)
        step.epochs[active] = epoch
        step.numbers[active, LOSS] = 0.0
        before = step.numbers[:, MISTAKES].copy()
        for chunk in row_blocks(mass.size, chunk_rows):
            _visit_problems(rows, order[chunk], signs, mass, norms, rule, step, active, n_threads)
            if chunk.stop < mass.size:
                yield step

        no_mistake = step.numbers[:, MISTAKES] == before
        step.converged[active] = no_mistake[active]
        gained = step.numbers[:, LOSS] <= best_loss - stop.tol * mass.sum()
        epochs_without_gain = np.where(gained, 0, epochs_without_gain + 1)
        best_loss = np.minimum(best_loss, step.numbers[:, LOSS])
        settled = no_mistake & (rule.l1 == 0.0) & (rule.l2 == 0.0)
        active = active[~(settled | (epochs_without_gain >= stop.patience))[active]]
        yield step._replace(whole=True, last=active.size == 0 or epoch == stop.max_epochs)
        if active.size == 0:
            return


def _visit_problems(rows, order, signs, mass, norms, rule, step, active, n_threads) -> None:
    """Let every active problem visit the rows in ``order``; problems do not touch each other."""

    def visit(problem: int) -> None:
        visit_rows(
            rows,
            order,
            signs[problem],
            mass,
            norms,
            rule,
            step.directions[problem],
            step.paid[problem],
            step.numbers[problem],
        )

    small = order.size * entries_per_row(rows) < SMALL_WORK
    if small or active.size == 1:
        for problem in active:
            visit(problem)
    else:
        results_of(visit, active, n_threads)


@njit
def visit_rows(rows, order, signs, mass, norms, rule, direction, paid, numbers):
    """Present the rows in ``order`` once each; update ``direction``, ``paid`` and ``numbers`` in place."""
    dense, data, indices, indptr = rows
    penalised = rule.l1 > 0.0 or rule.l2 > 0.0
    for i in order:
        if indptr.size > 0:
            values, columns = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
            if penalised:
                present_sparse(values, columns, signs[i], mass[i], rule, direction, paid, numbers)
            else:
                margin = signs[i] * (sparse_dot(values, columns, direction) + numbers[INTERCEPT])
                if margin <= 0.0:
                    n_steps = steps_taken(margin, norms[i], mass[i], signs[i], rule, numbers)
                    sparse_add(values, columns, rule.step * n_steps * signs[i], direction)
        elif penalised:
            present_dense(dense[i], signs[i], mass[i], rule, direction, paid, numbers)
        else:
            margin = signs[i] * (dense_dot(dense[i], direction) + numbers[INTERCEPT])
            if margin <= 0.0:
                n_steps = steps_taken(margin, norms[i], mass[i], signs[i], rule, numbers)
                dense_add(dense[i], rule.step * n_steps * signs[i], direction)
    if rule.l1 > 0.0:
        for j in range(direction.size):  # what columns of sparse rows still owe
            pay_l1(j, direction, paid, numbers)


@njit
def steps_taken(margin, norm, mass, sign, rule, numbers):
    """Return how many steps a wrong row takes: until it is right or was presented ``mass`` times."""
    growth = rule.step * (norm + (1.0 if rule.intercept else 0.0))
    needed = np.floor(-margin / growth) + 1.0 if growth > 0.0 else np.inf
    n_steps = min(needed, mass)
    n_full = np.floor(n_steps)
    # the loss -margin is counted before each step: it falls by ``growth`` from one to the next
    numbers[LOSS] += -margin * n_steps - growth * (n_full * (n_full - 1.0) / 2.0 + n_full * (n_steps - n_full))
    numbers[MISTAKES] += n_steps
    if rule.intercept:
        numbers[INTERCEPT] += rule.step * n_steps * sign
    return n_steps


@njit
def present_dense(x, sign, mass, rule, direction, paid, numbers):
    """Present a row ``mass`` times; the weights shrink at each presentation, right or wrong."""
    longest = max(1.0, mass / MOST_PRESENTATIONS)
    left = mass
    while left > 0.0:
        part = min(longest, left)
        left -= part
        margin = sign * (numbers[SCALE] * dense_dot(x, direction) + numbers[INTERCEPT])
        factor = penalised_step(margin, sign, part, rule, direction, numbers)
        if factor != 0.0:
            dense_add(x, factor, direction)
        if rule.l1 > 0.0:
            for j in range(direction.size):
                pay_l1(j, direction, paid, numbers)


@njit
def present_sparse(values, columns, sign, mass, rule, direction, paid, numbers):
    """Present a sparse row ``mass`` times; its columns pay the L1 penalty that they owe before they are used."""
    longest = max(1.0, mass / MOST_PRESENTATIONS)
    left = mass
    while left > 0.0:
        part = min(longest, left)
        left -= part
        if rule.l1 > 0.0:
            for j in columns:
                pay_l1(j, direction, paid, numbers)
        margin = sign * (numbers[SCALE] * sparse_dot(values, columns, direction) + numbers[INTERCEPT])
        factor = penalised_step(margin, sign, part, rule, direction, numbers)
        if factor != 0.0:
            sparse_add(values, columns, factor, direction)
        if rule.l1 > 0.0:
            for j in columns:
                pay_l1(j, direction, paid, numbers)


@njit
def penalised_step(margin, sign, part, rule, direction, numbers):
    """Shrink, count a mistake, move the offset; return by which factor the row is to be added to the direction."""
    if rule.l2 > 0.0:
        shrink(direction, max(0.0, 1.0 - rule.step * rule.l2 * part), numbers)
    numbers[OWED] += rule.step * rule.l1 * part
    if margin > 0.0:
        return 0.0
    numbers[LOSS] -= margin * part
    numbers[MISTAKES] += part
    if rule.intercept:
        numbers[INTERCEPT] += rule.step * part * sign
    return rule.step * part * sign / numbers[SCALE]


@njit
def shrink(direction, factor, numbers):
    """Multiply the weights by ``factor``; the product is carried out before the scale gets too small."""
    numbers[SCALE] *= factor
    if numbers[SCALE] < SMALLEST_SCALE:
        for j in range(direction.size):
            direction[j] *= numbers[SCALE]
        numbers[SCALE] = 1.0


@njit
def pay_l1(j, direction, paid, numbers):
    """Let coordinate j pay what it owes, but never past zero."""
    before = direction[j]
    if before > 0.0:
        direction[j] = max(0.0, before - (numbers[OWED] + paid[j]) / numbers[SCALE])
    elif before < 0.0:
        direction[j] = min(0.0, before + (numbers[OWED] - paid[j]) / numbers[SCALE])
    paid[j] += (direction[j] - before) * numbers[SCALE]
