"""Rounds of dual problems whose kernel values are all at hand: compiled calls that work on many problems each.

    K           all rows of the fit, class by class; a problem looks at one or two slices of it, and copies none
    variables   of all problems, one problem after the other in the same arrays

         problem 0 (a, b)      problem 1 (a, c)      …
    beta  ├─── a ──┼─ b ──┤├─── a ──┼──── c ───┤

A round takes the variables that may still have to move, or the most violating of them, copies the values among them,
moves pairs (``working_set``) and faces (``faces``), and brings the errors of all up to date.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.margin.faces import LEAST, free_variables, solving_work, step_on_face
from eigenwood.core.margin.working_set import improve, movable, rise_fall_of

MOST_MEMBERS = 1024  # of a round
SHARE = 0.1  # of the violation within a round that may be left
CHUNK = 2  # moves for each member before a face is tried
CHUNKS = 10  # of these in a round
MOVE_WORK = 60.0  # of a move beyond what it takes for each member, in additions along a row

HARDLY, MOST_IDLE = 1e-14, 100  # rounds on end by which the sum grew by less than this share, after which it is stuck

OPEN, DONE, STUCK = range(3)


class AtHand(NamedTuple):
    """All problems; see the picture above."""

    slices: np.ndarray  # (n_problems, 4): where both slices begin and end
    starts: np.ndarray  # (n_problems + 1,) where the variables of each begin
    target: np.ndarray
    low: np.ndarray
    high: np.ndarray
    ridge: np.ndarray
    epsilon: float


class Standing(NamedTuple):
    """How far all problems are; the arrays are changed."""

    beta: np.ndarray
    errors: np.ndarray  # y - Kβ - Rβ
    status: np.ndarray  # (n_problems,)
    n_steps: np.ndarray
    n_rounds: np.ndarray
    n_idle: np.ndarray  # rounds on end that brought hardly anything
    total: np.ndarray  # by how much each sum has grown


class Effort(NamedTuple):
    """How much may be done in a call."""

    tol: float
    max_steps: int
    most_members: int
    most_work: float  # of each problem, in additions along a row


@njit
def solve_problems(K, problems, standing, todo, effort):
    """Work on some of the problems, until each is solved or has had its share of work."""
    for number in todo:
        solve_problem(K, problems, standing, number, effort)


@njit
def solve_problem(K, problems, standing, number, effort):
    """Do rounds until no pair violates ``tol``, nothing moves, or there was enough work."""
    first, last = problems.starts[number], problems.starts[number + 1]
    low, high = problems.low[first:last], problems.high[first:last]
    ridge, beta, errors = problems.ridge[first:last], standing.beta[first:last], standing.errors[first:last]
    epsilon, tol, slices = problems.epsilon, effort.tol, problems.slices[number]
    places = places_of(slices)
    work = on_pairs = on_faces = 0.0
    is_begun = standing.n_rounds[number] == 0 and beta.any()  # elsewhere: the best point of that face is near
    if is_begun:
        on_pairs = solving_work(free_variables(beta, low, high, epsilon).size, beta.size)
    before = np.empty(0, np.int64)
    while work < effort.most_work:
        members = members_of_round(errors, beta, low, high, epsilon, tol, before, effort.most_members)
        if members.size == 0:
            standing.status[number] = DONE
            return
        if standing.n_steps[number] >= effort.max_steps:
            standing.status[number] = STUCK
            return
        size = members.size
        within = values_among(K, places[members])
        own, own_errors, own_ridge = beta[members], errors[members], ridge[members]
        floor, ceiling = low[members], high[members]
        share, growth = SHARE, 0.0
        for chunk in range(CHUNKS):
            while chunk > 0 or is_begun:
                free = free_variables(own, floor, ceiling, epsilon)
                cost, n_pairs = solving_work(free.size, size), 1 + free.size // 2  # as many have moved, at least
                left = effort.max_steps - standing.n_steps[number]
                if free.size < LEAST or on_faces + cost > on_pairs or n_pairs > left:
                    break
                on_faces += cost
                grown = step_on_face(within, own_ridge, own_errors, own, floor, ceiling, epsilon, free)
                growth += grown
                standing.n_steps[number] += n_pairs
                if grown <= 0.0 or free_variables(own, floor, ceiling, epsilon).size == free.size:
                    break
            is_begun = False
            most = min(CHUNK * size, effort.max_steps - standing.n_steps[number])
            moves, grown = improve(within, own_ridge, own_errors, own, floor, ceiling, epsilon, tol, share, most)
            standing.n_steps[number] += moves
            growth += grown
            on_pairs += moves * (size + MOVE_WORK)
            share = 0.5
            if moves < most:
                break
        n_moved = add_changes(K, places, slices, members, own - beta[members], ridge, errors)
        inside = (own > floor) & (own < ceiling) & (own != 0.0)
        beta[members] = own
        standing.total[number] += growth
        standing.n_rounds[number] += 1
        standing.n_idle[number] = standing.n_idle[number] + 1 if growth <= HARDLY * standing.total[number] else 0
        if n_moved == 0 or standing.n_idle[number] >= MOST_IDLE:
            standing.status[number] = STUCK
            return
        before = np.concatenate((members[inside], members[~inside]))
        work += 2.0 * size * size + n_moved * errors.size + on_pairs + on_faces
        on_pairs, on_faces = max(on_pairs - on_faces, 0.0), 0.0


@njit
def begin_at(K, problems, standing, numbers):
    """Write the errors at the coefficients that some of the problems begin with."""
    for number in numbers:
        first, last = problems.starts[number], problems.starts[number + 1]
        slices, beta = problems.slices[number], standing.beta[first:last]
        standing.errors[first:last] = problems.target[first:last]
        members = np.flatnonzero(beta)
        add_changes(
            K,
            places_of(slices),
            slices,
            members,
            beta[members],
            problems.ridge[first:last],
            standing.errors[first:last],
        )


@njit
def places_of(slices):
    """Return the rows of K that take part in a problem."""
    return np.concatenate((np.arange(slices[0], slices[1]), np.arange(slices[2], slices[3])))


@njit
def members_of_round(errors, beta, low, high, epsilon, tol, before, most):
    """Return the variables that may still have to move; of many, half of those before and the most violating."""
    members = movable(errors, beta, low, high, epsilon, tol)
    if members.size <= most:
        return members
    size = errors.size
    rise, fall, top, bottom = rise_fall_of(errors, beta, low, high, epsilon)
    is_in, chosen, n_chosen = np.zeros(size, np.bool_), np.empty(most, np.int64), 0
    for k in before[: (most - 2) // 2]:
        is_in[k] = True
        chosen[n_chosen] = k
        n_chosen += 1
    rising, falling = np.argsort(-rise, kind="mergesort"), np.argsort(fall, kind="mergesort")
    at_rise = at_fall = 0
    while n_chosen < most and (at_rise < size or at_fall < size):
        while at_rise < size and is_in[rising[at_rise]]:
            at_rise += 1
        if at_rise < size and rise[rising[at_rise]] > bottom:
            is_in[rising[at_rise]] = True
            chosen[n_chosen] = rising[at_rise]
            n_chosen += 1
        else:
            at_rise = size
        while at_fall < size and is_in[falling[at_fall]]:
            at_fall += 1
        if n_chosen < most and at_fall < size and fall[falling[at_fall]] < top:
            is_in[falling[at_fall]] = True
            chosen[n_chosen] = falling[at_fall]
            n_chosen += 1
        elif n_chosen < most:
            at_fall = size
    return np.sort(chosen[:n_chosen])


@njit
def values_among(K, places):
    """Return the values among some rows of K."""
    within = np.empty((places.size, places.size))
    for a in range(places.size):
        row, line = K[places[a]], within[a]
        for b in range(places.size):
            line[b] = row[places[b]]
    return within


@njit
def add_changes(K, places, slices, members, change, ridge, errors):
    """Take what changed from the errors of all variables; return how many have moved."""
    moved, n_moved = np.empty(members.size, np.int64), 0
    for a in range(members.size):
        if change[a] != 0.0:
            moved[n_moved] = a
            n_moved += 1
            errors[members[a]] -= change[a] * ridge[members[a]]
    moved = moved[:n_moved]
    middle = slices[1] - slices[0]
    subtract_rows(K, places[members[moved]], change[moved], slices[0], errors[:middle])
    subtract_rows(K, places[members[moved]], change[moved], slices[2], errors[middle:])
    return n_moved


@njit(fastmath={"contract"})
def subtract_rows(K, rows, change, start, errors):
    """Take Σ change_i K[row_i, start:] from the errors; four rows at a time, so that these stay put."""
    n_fours = rows.size - rows.size % 4
    for i in range(0, n_fours, 4):
        stop = start + errors.size
        a, b, c, d = (
            K[rows[i], start:stop],
            K[rows[i + 1], start:stop],
            K[rows[i + 2], start:stop],
            K[rows[i + 3], start:stop],
        )
        p, q, r, s = change[i], change[i + 1], change[i + 2], change[i + 3]
        for j in range(errors.size):
            errors[j] -= (p * a[j] + q * b[j]) + (r * c[j] + s * d[j])
    for i in range(n_fours, rows.size):
        row = K[rows[i], start : start + errors.size]
        for j in range(errors.size):
            errors[j] -= change[i] * row[j]
