"""A dual problem of few columns from within: all variables approach their bounds at once (Mehrotra 1992).

Where K = X Xᵀ has few columns and C is large, nearly all rows end at a bound, and pairs take millions of moves to find
out which. A step from within costs a product Xᵀ D X and a system with as many lines as there are columns, and some
twenty to forty steps are enough, whatever C is (Fine and Scheinberg 2001).

    β = Σ σ z,  0 ≤ z ≤ u        one z for each row and side to which β may go: σ = +1 rises, σ = -1 falls
    s, v                         what the bounds 0 and u hold back
    z s = (u - z) v = μ  ──► 0   the path that is followed

What comes out is within its bounds, adds up to 0, and has its ends settled: a place from which few rounds are left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.core.margin.dual_svm import Dual, feasible
from eigenwood.core.margin.working_set import rise_and_fall
from eigenwood.core.pieces import Pieces

MOST_STEPS = 60
CLOSE_TO_ALL = 0.995  # of the way to the first bound
ENOUGH = 1e-7  # of tol times u: where μ is that small
AT_END = 1e-7  # of u, or less than that times what the bound holds back: at the bound
SHARED = 1e-3  # of the room of those between their bounds, which may be given
USUAL_STEPS, STEP_WORK, SIDE_WORK = 25, 2e5, 40.0  # of a step, and of each row in it, beside the product
MOST_ROOM = 1e7  # of a variable


class Sides(NamedTuple):
    """The variables z."""

    row: np.ndarray
    sign: np.ndarray
    most: np.ndarray  # u
    cost: np.ndarray  # p: the linear part of what is made least


def interior_work(n_rows: int, n_columns: int) -> float:
    """Return what it takes to go through, in additions along a row."""
    product = n_columns * (n_columns / 4.0 + 1.0)
    return USUAL_STEPS * (n_rows * (product + SIDE_WORK) + n_columns**3 + STEP_WORK)


def can_go_through(dual: Dual) -> bool:
    """Return whether slack has a cost that leaves numbers to follow the path with."""
    room = dual.high - dual.low
    return bool(not dual.ridge.any() and room.max() < MOST_ROOM and (dual.high > 0.0).any() and (dual.low < 0.0).any())


def sides_of(dual: Dual) -> Sides:
    """Return the variables z of a problem, of finite bounds."""
    rising, falling = np.flatnonzero(dual.high > 0.0), np.flatnonzero(dual.low < 0.0)
    row = np.concatenate([rising, falling])
    sign = np.concatenate([np.ones(rising.size), -np.ones(falling.size)])
    return Sides(row, sign, np.where(sign > 0.0, dual.high[row], -dual.low[row]), dual.epsilon - sign * dual.target[row])


def interior_solution(X: np.ndarray, dual: Dual, tol: float) -> Pieces[np.ndarray]:
    """Return coefficients close to the solution for K = X Xᵀ: feasible, and at their bounds where they should be.

    There is a pause after every step.
    """
    sides, n_rows = sides_of(dual), dual.target.size
    row, sign, most, cost = sides

    def by_row(values: np.ndarray) -> np.ndarray:
        return np.bincount(row, weights=sign * values, minlength=n_rows)

    z = 0.5 * most
    share = z[sign < 0.0].sum() / z[sign > 0.0].sum()
    z *= np.where(sign > 0.0, min(1.0, share), min(1.0, 1.0 / share))
    slope = cost + sign * (X @ (X.T @ by_row(z)))[row]
    free = float(-np.median(sign * slope))
    gap = slope + free * sign
    size = max(float(np.abs(gap).mean()), 1e-8)
    s, v = np.maximum(gap, 0.0) + size, np.maximum(-gap, 0.0) + size
    enough, far = ENOUGH * tol * float(most.min()), 1.0
    for _ in range(MOST_STEPS):
        yield
        t = most - z
        slope = cost + sign * (X @ (X.T @ by_row(z)))[row] + free * sign - s + v
        off = float(sign @ z)
        mu = float(z @ s + t @ v) / (2 * z.size)
        if mu <= enough and np.abs(slope).max() <= 0.1 * tol:
            break
        theta = 1.0 / (s / z + v / t)
        inner = (X * np.bincount(row, weights=theta, minlength=n_rows)[:, None]).T @ X
        inner[np.diag_indices_from(inner)] += 1.0
        try:
            corner = np.linalg.cholesky(inner)
        except np.linalg.LinAlgError:
            break

        def solved(right: np.ndarray) -> np.ndarray:
            scaled = theta * right
            part = np.linalg.solve(corner.T, np.linalg.solve(corner, X.T @ by_row(scaled)))
            return scaled - theta * sign * (X @ part)[row]

        along = solved(sign)

        def direction(rs: np.ndarray, rv: np.ndarray) -> tuple[np.ndarray, float]:
            there = solved(-slope + rs / z - rv / t)
            shift = (float(sign @ there) + off) / float(sign @ along)
            return there - shift * along, shift

        dz, _ = direction(-z * s, -t * v)
        ds, dv = -s - s / z * dz, -v + v / t * dz
        primal, held = _room(z, dz, t), min(_room_up(s, ds), _room_up(v, dv))
        ahead = float((z + primal * dz) @ (s + held * ds) + (t - primal * dz) @ (v + held * dv)) / (2 * z.size)
        goal = mu * max(min(1.0, ahead / mu) ** 3, 0.5 * (1.0 - far) ** 2)
        trust = min(primal, held, 1.0) ** 2
        rs, rv = goal - z * s - trust * dz * ds, goal - t * v + trust * dz * dv
        dz, shift = direction(rs, rv)
        ds, dv = (rs - s * dz) / z, (rv + v * dz) / t
        primal, held = CLOSE_TO_ALL * _room(z, dz, t), CLOSE_TO_ALL * min(_room_up(s, ds), _room_up(v, dv))
        far = min(primal, held, 1.0)
        if not np.isfinite(far) or far < 1e-8:
            break
        z, s, v, free = z + far * dz, s + far * ds, v + far * dv, free + far * shift
    t = most - z
    z = np.where(z <= AT_END * most * np.minimum(1.0, s / v), 0.0, z)
    z = np.where(t <= AT_END * most * np.minimum(1.0, v / s), most, z)
    return balanced(X, dual, by_row(z))


def balanced(X: np.ndarray, dual: Dual, beta: np.ndarray) -> np.ndarray:
    """Return coefficients that add up to 0: those between bounds give what is left over, or else who loses least by it."""
    beta = np.clip(beta, dual.low, dual.high)
    off = float(beta.sum())
    room = np.minimum(beta - dual.low, dual.high - beta)
    if dual.epsilon > 0.0:
        room = np.minimum(room, np.abs(beta))
    if abs(off) < SHARED * float(room.sum()):
        beta -= off * (room / float(room.sum()))
        beta[np.argmax(room)] -= float(beta.sum())
        return beta
    rise, fall = rise_and_fall(dual.target - X @ (X.T @ beta), beta, dual.low, dual.high, dual.epsilon)
    order = np.argsort(fall if off > 0.0 else -rise, kind="stable")
    end = np.where(beta > 0.0, np.maximum(dual.low, 0.0), dual.low) if off > 0.0 else dual.high
    if off < 0.0:
        end = np.where(beta < 0.0, np.minimum(dual.high, 0.0), dual.high)
    room = np.abs(end - beta)[order].cumsum()
    last = int(np.searchsorted(room, abs(off)))
    if last >= beta.size:
        return feasible(dual, beta)
    beta[order[:last]] = end[order[:last]]
    beta[order[last]] -= float(beta.sum())
    return beta if abs(float(beta.sum())) <= 1e-12 * float(np.abs(beta).sum()) else feasible(dual, beta)


def _room(z: np.ndarray, dz: np.ndarray, t: np.ndarray) -> float:
    """Return how far z can go before it is at a bound; at most 1 / CLOSE_TO_ALL."""
    return min(_room_up(z, dz), _room_up(t, -dz))


def _room_up(values: np.ndarray, change: np.ndarray) -> float:
    """Return how far values can go before one is 0."""
    falling = change < 0.0
    return min(1.0 / CLOSE_TO_ALL, float((-values[falling] / change[falling]).min(initial=np.inf)))
