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
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from eigenwood.core.margin.dual_svm import Dual, feasible
from eigenwood.core.margin.working_set import rise_and_fall
from eigenwood.core.pieces import Pieces

MOST_STEPS = 60
CLOSE_TO_ALL, SHORT = 0.995, 1e-8  # of the way to the first bound; too short a step
LEAST_HELD = 1e-8
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
    return Sides(
        row, sign, np.where(sign > 0.0, dual.high[row], -dual.low[row]), dual.epsilon - sign * dual.target[row]
    )


def interior_solution(X: np.ndarray, dual: Dual, tol: float) -> Pieces[np.ndarray]:
    """Return coefficients close to the solution for K = X Xᵀ: feasible, and at their bounds where they should be.

    There is a pause after every step.
    """
    path = _Path(X, dual)
    for _ in range(MOST_STEPS):
        yield
        if path.is_at_end(tol) or not path.step():
            break
    return balanced(X, dual, path.settled())


class _Path:
    """Where the path is: z with its room t = u - z, what bounds hold back (s and v), and the multiplier of Σβ = 0."""

    def __init__(self, X: np.ndarray, dual: Dual) -> None:
        self._X, self._sides, self._n_rows = X, sides_of(dual), dual.target.size
        sign, most = self._sides.sign, self._sides.most
        share = most[sign < 0.0].sum() / most[sign > 0.0].sum()
        self._z = 0.5 * most * np.where(sign > 0.0, min(1.0, share), min(1.0, 1.0 / share))
        slope = self._slope()
        self._free = -float(np.median(sign * slope))
        held = slope + self._free * sign
        size = max(float(np.abs(held).mean()), LEAST_HELD)
        self._s, self._v = np.maximum(held, 0.0) + size, np.maximum(-held, 0.0) + size
        self._far = 1.0
        self._look()

    def is_at_end(self, tol: float) -> bool:
        """Return whether the conditions hold by far better than ``tol``."""
        enough = ENOUGH * tol * float(self._sides.most.min())
        return self._mu <= enough and float(np.abs(self._rest).max()) <= 0.1 * tol

    def settled(self) -> np.ndarray:
        """Return β, at a bound where it is as good as there."""
        z, most = self._z, self._sides.most
        z = np.where(z <= AT_END * most * np.minimum(1.0, self._s / self._v), 0.0, z)
        z = np.where(self._t <= AT_END * most * np.minimum(1.0, self._v / self._s), most, z)
        return self._by_row(z)

    def step(self) -> bool:
        """Go on; return whether that was possible."""
        z, t, s, v, mu = self._z, self._t, self._s, self._v, self._mu
        self._theta = 1.0 / (s / z + v / t)
        weights = np.bincount(self._sides.row, weights=self._theta, minlength=self._n_rows)
        inner = (self._X * weights[:, None]).T @ self._X
        inner[np.diag_indices_from(inner)] += 1.0
        if not np.isfinite(inner).all():
            return False
        try:
            self._inner = cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:  # by rounding
            return False
        self._along = self._solved(self._sides.sign)

        dz, _ = self._direction(-z * s, -t * v)  # straight to the bounds: how far is that good?
        ds, dv = -s - s / z * dz, -v + v / t * dz
        far = min(_room(z, dz), _room(t, -dz), _room(s, ds), _room(v, dv), 1.0)
        ahead = float((z + far * dz) @ (s + far * ds) + (t - far * dz) @ (v + far * dv)) / (2 * z.size)
        goal = mu * max(min(1.0, ahead / mu) ** 3, 0.5 * (1.0 - self._far) ** 2)
        rs, rv = goal - z * s - far * far * dz * ds, goal - t * v + far * far * dz * dv

        dz, shift = self._direction(rs, rv)
        ds, dv = (rs - s * dz) / z, (rv + v * dz) / t
        self._far = min(CLOSE_TO_ALL * min(_room(z, dz), _room(t, -dz), _room(s, ds), _room(v, dv)), 1.0)
        if not SHORT < self._far <= 1.0:
            return False
        self._z, self._free = z + self._far * dz, self._free + self._far * shift
        self._s, self._v = s + self._far * ds, v + self._far * dv
        self._look()
        return True

    def _look(self) -> None:
        """Find out how far the conditions are from holding."""
        self._t = self._sides.most - self._z
        self._rest = self._slope() + self._free * self._sides.sign - self._s + self._v
        self._mu = float(self._z @ self._s + self._t @ self._v) / (2 * self._z.size)

    def _slope(self) -> np.ndarray:
        return self._sides.cost + self._sides.sign * (self._X @ (self._X.T @ self._by_row(self._z)))[self._sides.row]

    def _by_row(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self._sides.row, weights=self._sides.sign * values, minlength=self._n_rows)

    def _direction(self, rs: np.ndarray, rv: np.ndarray) -> tuple[np.ndarray, float]:
        """Return where to go, along Σβ = 0, so that z s and t v get what they miss; and how the multiplier changes."""
        sign = self._sides.sign
        there = self._solved(-self._rest + rs / self._z - rv / self._t)
        shift = float(sign @ (there + self._z)) / float(sign @ self._along)
        return there - shift * self._along, shift

    def _solved(self, right: np.ndarray) -> np.ndarray:
        """Return (K + Θ⁻¹)⁻¹ of a vector, by the system of the columns (Woodbury)."""
        sides, scaled = self._sides, self._theta * right
        part = cho_solve(self._inner, self._X.T @ self._by_row(scaled), check_finite=False)
        return scaled - self._theta * sides.sign * (self._X @ part)[sides.row]


def balanced(X: np.ndarray, dual: Dual, beta: np.ndarray) -> np.ndarray:
    """Return coefficients that add up to 0: who is between bounds gives what is left over, or who loses least by it."""
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


def _room(values: np.ndarray, change: np.ndarray) -> float:
    """Return how far values can go before one is 0."""
    falling = change < 0.0
    return float((-values[falling] / change[falling]).min(initial=1.0 / CLOSE_TO_ALL))
