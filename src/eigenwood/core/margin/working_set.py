"""A few hundred variables of a dual problem at a time: which, and the best they can do while all others stand still.

    maximise   yᵀβ - ε Σ|β| - ½ βᵀ(K + R)β      with  Σβ = 0  and  low ≤ β ≤ high

A pair (i, j) moves along Σβ = 0: β_i rises and β_j falls by the same amount. What a rise of i brings at first is its
error e_i = y_i - (Kβ)_i - R_i β_i, less ε if |β_i| grows by it; what a fall of j costs is the like. So the sum can
still grow where somebody's rise brings more than somebody's fall costs:

    brings    e_i - ε (β_i ≥ 0),  e_i + ε (β_i < 0),  -∞ if β_i is at its upper bound
    costs     e_j - ε (β_j > 0),  e_j + ε (β_j ≤ 0),  +∞ if β_j is at its lower bound

The largest "brings" less the smallest "costs" is the violation of the KKT conditions, as LIBSVM measures it.
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit

NEVER = 1e300
STEPS_PER_MEMBER = 20  # in a round among a few of all variables
EFFORT = 50_000  # moves, and members of rounds, whose values are copied: a fraction of a second, which may be enough
FLAT = 1e-12  # the least curvature along a pair, as in LIBSVM
REASSOCIATED = {"nnan", "nsz", "contract", "reassoc", "ninf"}


def rise_and_fall(errors, beta, low, high, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """Return what a rise of each variable brings and what a fall costs, at first."""
    rise = np.where(beta < high, errors - np.where(beta >= 0.0, epsilon, -epsilon), -np.inf)
    fall = np.where(beta > low, errors - np.where(beta > 0.0, epsilon, -epsilon), np.inf)
    return rise, fall


def most_violating(rise, fall, previous: np.ndarray, size: int) -> np.ndarray:
    """Return ``size`` variables: half of those before (in their order), and those that violate most.

    >>> most_violating(np.array([3.0, 1.0, 2.0]), np.array([0.0, 2.0, 5.0]), np.array([1]), 2).tolist()
    [0, 1]
    """
    top, bottom = rise.max(), fall.min()
    kept = previous[: (size - 1) // 2]  # there is room for the pair that violates most, always
    rise, fall = rise.copy(), fall.copy()
    rise[kept], fall[kept] = -np.inf, np.inf
    half = max(1, (size - kept.size) // 2)
    rising = _first(-rise, half)
    rising = rising[rise[rising] > bottom]
    fall[rising] = np.inf
    falling = _first(fall, half)
    falling = falling[fall[falling] < top]
    fresh = np.concatenate([rising, falling])[: size - kept.size]
    again = np.setdiff1d(previous[kept.size :], fresh, assume_unique=True)[: size - kept.size - fresh.size]
    return np.concatenate([fresh, kept, again])


def _first(values: np.ndarray, count: int) -> np.ndarray:
    """Return where the smallest values stand, in order."""
    places = np.arange(values.size) if count >= values.size else np.argpartition(values, count)[:count]
    return places[np.argsort(values[places], kind="stable")]


@njit
def improve(K, ridge, errors, beta, low, high, epsilon, tol, share, max_steps):
    """Move pairs of the working set until the violation within is at most ``tol``, or a share of what it was.

    The first of a pair is the one whose rise brings most, the second the one with which the sum grows most to second
    order (Fan, Chen and Lin 2005). ``ridge`` is R, beside K because it may be less than K's rounding. ``errors`` and
    ``beta`` are changed; returns the number of moves, and the growth.
    """
    size = beta.size
    offset, cost_offset, brings, growths = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    diagonal, flat = np.empty(size), max(FLAT, 2.0 * ridge.min())
    for k in range(size):
        diagonal[k] = K[k, k] + ridge[k]
        write_offsets(k, beta, low, high, epsilon, offset, cost_offset)
    top, bottom = moved(errors, offset, cost_offset, K[0], K[0], 0.0, brings)
    enough, n_steps, growth = max(tol, share * (top - bottom)), 0, 0.0
    while top - bottom > enough and n_steps < max_steps:
        i = first_at(brings, top)
        j = first_at(growths, growth_with(errors, cost_offset, K[i], diagonal, diagonal[i], flat, top, growths))
        slope = top - (errors[j] + cost_offset[j])
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * K[i, j], flat)
        ceiling, floor = 0.0 if beta[i] < 0.0 else high[i], 0.0 if beta[j] > 0.0 else low[j]
        step = min(slope / curvature, ceiling - beta[i], beta[j] - floor)
        risen = ceiling if step == ceiling - beta[i] else beta[i] + step
        fallen = floor if step == beta[j] - floor else beta[j] - step
        if risen == beta[i] and fallen == beta[j]:
            break  # the move is lost in rounding
        beta[i], beta[j] = risen, fallen
        write_offsets(i, beta, low, high, epsilon, offset, cost_offset)
        write_offsets(j, beta, low, high, epsilon, offset, cost_offset)
        errors[i], errors[j] = errors[i] - step * ridge[i], errors[j] + step * ridge[j]
        top, bottom = moved(errors, offset, cost_offset, K[i], K[j], step, brings)
        growth += step * (slope - 0.5 * step * curvature)
        n_steps += 1
    return n_steps, growth


@njit
def improve_all(K, ridge, errors, beta, low, high, epsilon, tol, share, max_steps):
    """Move pairs of all variables until none violates ``tol``, in rounds of those that may still have to move.

    Most variables soon stay at a bound for good, so that rounds are short. What takes more than some effort is left to
    another call. Changes ``errors`` and ``beta``; returns the number of moves, and the growth.
    """
    n_steps, effort, growth = 0, 0, 0.0
    members = movable(errors, beta, low, high, epsilon, tol)
    while members.size > 0 and n_steps < max_steps and effort < EFFORT:
        within = np.empty((members.size, members.size))
        for a in range(members.size):
            for b in range(members.size):
                within[a, b] = K[members[a], members[b]]
        own, most = beta[members], min(STEPS_PER_MEMBER * members.size, max_steps - n_steps)
        bounds = low[members], high[members]
        moves, grown = improve(
            within, ridge[members], errors[members], own, bounds[0], bounds[1], epsilon, tol, share, most
        )
        if moves == 0:
            break
        for a in range(members.size):
            move_one(K, ridge, errors, beta, members[a], own[a])
        n_steps, effort, growth = n_steps + moves, effort + moves + members.size, growth + grown
        members = movable(errors, beta, low, high, epsilon, tol)
    return n_steps, growth


@njit
def movable(errors, beta, low, high, epsilon, tol):
    """Return the variables that violate the conditions beside somebody; none if no pair does by more than ``tol``."""
    rise, fall, top, bottom = rise_fall_of(errors, beta, low, high, epsilon)
    found, n_found = np.empty(errors.size, np.int64), 0
    for k in range(errors.size):
        if top - bottom > tol and (rise[k] > bottom or fall[k] < top):
            found[n_found] = k
            n_found += 1
    return found[:n_found]


@njit
def rise_fall_of(errors, beta, low, high, epsilon):
    """Return what rises bring and falls cost, as ``rise_and_fall``; the most a rise brings, the least a fall costs."""
    size = errors.size
    rise, fall = np.empty(size), np.empty(size)
    top, bottom = -NEVER, NEVER
    for k in range(size):
        write_offsets(k, beta, low, high, epsilon, rise, fall)
        rise[k], fall[k] = errors[k] + rise[k], errors[k] + fall[k]
        top, bottom = max(top, rise[k]), min(bottom, fall[k])
    return rise, fall, top, bottom


@njit
def move_one(K, ridge, errors, beta, k, value):
    """Give a variable another value, and bring the errors of all up to date."""
    change = value - beta[k]
    if change != 0.0:
        beta[k] = value
        for other in range(errors.size):
            errors[other] -= change * K[k, other]
        errors[k] -= change * ridge[k]


@njit
def write_offsets(k, beta, low, high, epsilon, offset, cost_offset):
    """Write what is to be added to the error of variable k to know what its rise brings and what its fall costs."""
    offset[k], cost_offset[k] = -NEVER, NEVER
    if beta[k] < high[k]:
        offset[k] = -epsilon if beta[k] >= 0.0 else epsilon
    if beta[k] > low[k]:
        cost_offset[k] = -epsilon if beta[k] > 0.0 else epsilon


@njit(fastmath=REASSOCIATED)
def moved(errors, offset, cost_offset, risen, fallen, step, brings):
    """Bring the errors up to date after a move; return the largest that a rise brings, the least that a fall costs."""
    top, bottom = -2.0 * NEVER, 2.0 * NEVER
    for k in range(errors.size):
        error = errors[k] - step * (risen[k] - fallen[k])
        errors[k] = error
        up, down = error + offset[k], error + cost_offset[k]
        brings[k] = up
        top = up if up > top else top
        bottom = down if down < bottom else bottom
    return top, bottom


@njit(fastmath=REASSOCIATED)
def growth_with(errors, cost_offset, row, diagonal, own, flat, top, growths):
    """Write by how much the sum would grow with each partner, were there no bounds; return the most."""
    most = -1.0
    for k in range(errors.size):
        slope = top - (errors[k] + cost_offset[k])
        slope = slope if slope > 0.0 else 0.0
        curvature = own + diagonal[k] - 2.0 * row[k]
        curvature = curvature if curvature > flat else flat
        growth = slope * slope / curvature
        growths[k] = growth
        most = growth if growth > most else most
    return most


@njit
def first_at(values, value):
    """Return the first place of a value that is there."""
    for k in range(values.size):
        if values[k] == value:
            return k
    return 0
