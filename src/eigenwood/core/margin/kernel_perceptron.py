"""Kernel perceptron: the perceptron in the space of Φ, without Φ (the kernel lecture).

    a = 0, b = 0
    while some y_j (Σ_i a_i k(x_i, x_j) + b) ≤ 0:   a_j ← a_j + y_j,   b ← b + y_j

The scores of all rows are kept up to date. Rows are visited in blocks, so that kernel values come from matrix
products: inside a block a mistake changes the scores of the block at once; behind it, those of all rows.

    visit        │ block of rows │ → who changed, by how much        needs k(block ∪ support, block)
    catch up     scores of all rows += change · k(changed, all rows)     one row of K for each change

With a budget, the example that matters least to w leaves when one too many has come: the smallest ‖a_i‖²·k(x_i, x_i)
is the smallest possible change of w, and among equals the oldest goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.kernels.source import KernelValues
from eigenwood.core.threads import results_of, row_blocks

MOST_VISITS, FEWEST_VISITS = 256, 16  # rows in a block
BLOCK_WORK = 2_000_000_000  # what the kernel values of one block may cost, in multiplications
CATCH_UP_ROWS = 4096
SMALL_WORK = 4_000_000  # below this a thread costs more than it brings


class KernelRule(NamedTuple):
    """How the fit goes."""

    max_epochs: int
    intercept: bool = True
    budget: int = 0  # most examples to keep; 0: all
    keep_history: bool = False


class KernelPerceptronStep(NamedTuple):
    """Where the fit stands; the arrays are live. ``a`` is signed: a_ik = (mistakes on i in problem k) · y_ik."""

    a: np.ndarray  # (n_rows, n_problems)
    b: np.ndarray  # (n_problems,)
    late_a: np.ndarray  # Σ change · time of the change: what the average of all rounds lacks of a
    late_b: np.ndarray
    mistakes: np.ndarray  # (n_problems,)
    scores: np.ndarray  # (n_problems, n_rows) Σ_i a_i k(x_i, x_j), without b
    clock: np.ndarray  # (1,) presentations so far
    history: list  # Change arrays, one for each block
    epoch: int
    converged: bool
    whole: bool
    last: bool

    def averaged_a(self) -> np.ndarray:
        return self.a - self.late_a / self.clock[0]

    def averaged_b(self) -> np.ndarray:
        return self.b - self.late_b / self.clock[0]


CHANGE = np.dtype([("row", "i8"), ("problem", "i8"), ("a", "f8"), ("b", "f8"), ("time", "f8")])


def kernel_perceptron_steps(
    kernel: KernelValues,
    signs: np.ndarray,
    mass: np.ndarray,
    rule: KernelRule,
    seed: int | None,
    n_threads: int,
) -> Iterator[KernelPerceptronStep]:
    """Yield the state after every block of rows, until an epoch passes without a mistake."""
    n_problems, n_rows = signs.shape
    born = np.zeros(n_rows)
    diagonal, at_once = kernel.diagonal(), visits_at_once(kernel)
    rng = None if seed is None else np.random.default_rng(seed)
    step = _before_the_first(n_rows, n_problems)
    for epoch in range(1, rule.max_epochs + 1):
        order = np.arange(n_rows) if rng is None else rng.permutation(n_rows)
        mistakes_before = step.mistakes.sum()
        for block in row_blocks(n_rows, at_once):
            visited = order[block]
            members = _members(visited, step.a, rule)
            before = step.a[members]
            if not _all_right(visited, signs, step):
                _visit(kernel, visited, members, signs, mass, born, diagonal, step, rule)
                _catch_up(kernel, members, step.a[members] - before, step.scores, n_threads)
            else:
                step.clock[0] += mass[visited].sum()
            if block.stop < n_rows:
                yield step._replace(epoch=epoch)

        converged = bool(step.mistakes.sum() == mistakes_before)
        step = step._replace(epoch=epoch, converged=converged)
        yield step._replace(whole=True, last=converged or epoch == rule.max_epochs)
        if converged:
            return


def _before_the_first(n_rows: int, n_problems: int) -> KernelPerceptronStep:
    return KernelPerceptronStep(
        a=np.zeros((n_rows, n_problems)),
        b=np.zeros(n_problems),
        late_a=np.zeros((n_rows, n_problems)),
        late_b=np.zeros(n_problems),
        mistakes=np.zeros(n_problems),
        scores=np.zeros((n_problems, n_rows)),
        clock=np.zeros(1),
        history=[],
        epoch=0,
        converged=False,
        whole=False,
        last=False,
    )


def visits_at_once(kernel: KernelValues) -> int:
    """Return how many rows are visited before all rows catch up: fewer where that is slow, to see the clock often."""
    return max(FEWEST_VISITS, min(MOST_VISITS, int(BLOCK_WORK // kernel.row_work)))


def _all_right(visited: np.ndarray, signs: np.ndarray, step: KernelPerceptronStep) -> bool:
    """Return whether no visited row is wrong: then nothing changes, and no kernel value is needed."""
    return bool((signs[:, visited] * (step.scores[:, visited] + step.b[:, None]) > 0.0).all())


def _members(visited: np.ndarray, a: np.ndarray, rule: KernelRule) -> np.ndarray:
    """Return the rows that may change: those visited, then with a budget the support that may have to leave."""
    if rule.budget == 0:
        return visited
    support = np.flatnonzero(a.any(axis=1))
    return np.concatenate([visited, np.setdiff1d(support, visited)])


def _visit(kernel, visited, members, signs, mass, born, diagonal, step, rule) -> None:
    """Visit one block; update the step and the scores of its rows."""
    local = step.scores[:, visited]
    a, late_a, ages = step.a[members], step.late_a[members], born[members]
    most_changes = visited.size * signs.shape[0] if rule.keep_history else 0
    history = np.zeros(most_changes, dtype=CHANGE)
    K, p, q = kernel.block(members, visited)
    n_changes = visit_block(
        K,
        p,
        q,
        np.ascontiguousarray(signs[:, visited]),
        mass[visited],
        diagonal[members],
        local,
        a,
        step.b,
        late_a,
        step.late_b,
        step.mistakes,
        step.clock,
        ages,
        rule.intercept,
        rule.budget,
        history,
    )
    step.a[members], step.late_a[members], born[members] = a, late_a, ages
    if n_changes:
        history = history[:n_changes]
        history["row"] = members[history["row"]]
        step.history.append(history)


def _catch_up(kernel, members, change, scores, n_threads) -> None:
    """Add what changed in ``members`` to the scores of all rows."""
    moved = np.flatnonzero(change.any(axis=1))
    if moved.size == 0:
        return
    rows, change = members[moved], change[moved]

    fresh = kernel.reserve(rows)

    def add(columns: slice) -> None:
        kernel.fill(fresh, columns)
        K, places = kernel.slab(rows, columns)
        add_changes(K, places, change, scores[:, columns])

    small = rows.size * scores.shape[1] + fresh.size * kernel.row_work < SMALL_WORK
    threads = n_threads if kernel.takes_threads and not small else 1
    results_of(add, row_blocks(scores.shape[1], catch_up_rows(scores.shape[1])), threads)


def catch_up_rows(n_rows: int) -> int:
    """Return the size of equal blocks, an even number of them, so that two threads have the same to do."""
    n_blocks = 2 * ceil(n_rows / (2 * CATCH_UP_ROWS))
    return ceil(n_rows / n_blocks)


@njit(fastmath={"contract"})
def add_changes(K, places, change, scores):
    """Add change[i, k] · K[places[i]] to scores[k], for every change that is not zero."""
    for i in range(places.size):
        row = K[places[i]]
        for k in range(scores.shape[0]):
            if change[i, k] != 0.0:
                line = scores[k]
                for j in range(line.size):
                    line[j] += change[i, k] * row[j]


@njit
def visit_block(
    K, p, q, signs, mass, diagonal, scores, a, b, late_a, late_b, mistakes, clock, ages, intercept, budget, history
):
    """Present the rows of a block one after the other; return how many changes were written to ``history``.

    K[p[m], q[j]] = k(member m, row j); the first members are the rows themselves. Kernel values are looked up for
    mistakes only.
    """
    n_problems, n_rows = signs.shape
    n_support = count_support(a) if budget > 0 else 0
    n_changes = 0
    for j in range(n_rows):
        growth = diagonal[j] + (1.0 if intercept else 0.0)
        left = mass[j]
        while left > 0.0:
            newcomer = budget > 0 and not has_weight(a[j])
            part = min(1.0, left) if newcomer else left  # a newcomer may make another leave after its first step
            wrong = False
            for k in range(n_problems):
                margin = signs[k, j] * (scores[k, j] + b[k])
                if margin > 0.0:
                    continue
                wrong = True
                n_steps = steps_needed(margin, growth, part)
                change, late = n_steps * signs[k, j], signs[k, j] * time_of_steps(clock[0], n_steps)
                mistakes[k] += n_steps
                a[j, k] += change
                late_a[j, k] += late
                for i in range(n_rows):
                    scores[k, i] += change * K[p[j], q[i]]
                if intercept:
                    b[k] += change
                    late_b[k] += late
                if history.size > 0:
                    write_change(history, n_changes, j, k, change, change if intercept else 0.0, clock[0])
                    n_changes += 1
            if not wrong:
                part = left  # right in every problem, and so however often it is presented
            clock[0] += part
            left -= part
            if newcomer and has_weight(a[j]):
                ages[j] = clock[0]
                n_support += 1
                if n_support > budget:
                    leave(least_needed(a, diagonal, ages, j), K, p, q, scores, a)
                    n_support -= 1
    return n_changes


@njit
def steps_needed(margin, growth, most):
    """Return how many steps make a wrong row right: the margin grows by ``growth`` each time; at most ``most``."""
    return min(np.floor(-margin / growth) + 1.0, most) if growth > 0.0 else most


@njit
def time_of_steps(clock, n_steps):
    """Return the sum of size · time over the steps that begin at ``clock``, one after each presentation."""
    n_full = np.floor(n_steps)
    return clock * n_steps + n_full * (n_full - 1.0) / 2.0 + n_full * (n_steps - n_full)


@njit
def write_change(history, place, row, problem, a, b, time):
    history[place]["row"] = row
    history[place]["problem"] = problem
    history[place]["a"] = a
    history[place]["b"] = b
    history[place]["time"] = time


@njit
def has_weight(coefficients):
    for k in range(coefficients.size):
        if coefficients[k] != 0.0:
            return True
    return False


@njit
def count_support(a):
    count = 0
    for i in range(a.shape[0]):
        if has_weight(a[i]):
            count += 1
    return count


@njit
def least_needed(a, diagonal, ages, newcomer):
    """Return the member, not the newcomer, whose leaving changes w least; the oldest among equals."""
    best, least, oldest = -1, np.inf, np.inf
    for i in range(a.shape[0]):
        if i == newcomer or not has_weight(a[i]):
            continue
        size = 0.0
        for k in range(a.shape[1]):
            size += a[i, k] * a[i, k]
        size *= diagonal[i]
        if size < least or (size == least and ages[i] < oldest):
            best, least, oldest = i, size, ages[i]
    return best


@njit
def leave(member, K, p, q, scores, a):
    """Take ``member`` out of the support and out of the scores of the block."""
    for k in range(a.shape[1]):
        for i in range(scores.shape[1]):
            scores[k, i] -= a[member, k] * K[p[member], q[i]]
        a[member, k] = 0.0


@njit
def voted_scores(K, positions, problems, change_a, change_b, times, end, n_problems):
    """Return for each row of K the votes of all the rules along the way, as a share of all votes.

    A rule votes sign(f) as often as rows were presented before it changed (Freund and Schapire 1999).
    K[i, p] is the kernel value of query i and support p; changes come in the order in which they were made. A change of
    size n is n steps of size 1 (the last may be shorter), so n - 1 rules in between have one vote each.
    """
    votes = np.zeros((K.shape[0], n_problems))
    until = np.empty(times.size)
    next_time = np.full(n_problems, end)
    for c in range(times.size - 1, -1, -1):
        until[c] = next_time[problems[c]]
        next_time[problems[c]] = times[c]
    for i in range(K.shape[0]):
        f = np.zeros(n_problems)
        for c in range(times.size):
            k = problems[c]
            n_steps = abs(change_a[c])
            n_between = np.ceil(n_steps) - 1.0
            step = (change_a[c] * K[i, positions[c]] + change_b[c]) / n_steps
            if n_between > 0.0:
                votes[i, k] += votes_between(f[k], step, n_between)
            f[k] += step * n_steps
            votes[i, k] += np.sign(f[k]) * (until[c] - times[c] - n_between)
    return votes / end


@njit
def votes_between(f, step, count):
    """Return Σ sign(f + s·step) for s = 1 … count: the sign changes at most once on the way."""
    if step == 0.0:
        return count * np.sign(f)
    crossing = -f / step  # f + s·step is 0 at s = crossing
    before = min(max(np.ceil(crossing) - 1.0, 0.0), count)  # how many s lie strictly before it
    after = min(max(count - np.floor(crossing), 0.0), count)  # and strictly behind it
    return np.sign(step) * (after - before)
