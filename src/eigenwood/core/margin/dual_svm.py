"""Support vector machines in their dual form (the kernel lecture and the boosting and SVM lecture), for classes and
for amounts alike.

    maximise   yᵀβ - ε Σ|β| - ½ βᵀ(K + R)β      with  Σβ = 0  and  low ≤ β ≤ high        f(x) = Σ β_i k(x_i, x) + b

    classes, slack ξ        y = ±1, β = yα       0 ≤ α ≤ C                R = 0        ε = 0
    classes, slack ξ²       the same             0 ≤ α                    R = 1/(2C)
    amounts                 y as they are        -C ≤ β ≤ C, or any β     the same     ε: the tube without cost

A round takes a working set of about a thousand variables, does the best it can with them (``working_set``), and adds
what changed to the scores Kβ of all rows. Variables that have been at a bound for good are shrunk away, as in LIBSVM:

    rounds … ──► what rounds cost since the start ≥ what it costs to come back ──► shrink ──► rounds among the rest
                 … none of them violates tol ──► scores of the others ──► those that violate come back ──► … none: done

K may be approximate (float32). Where rounding could be felt, the scores are computed anew from the rows in float64
when all is done, and the work goes on with these until they agree.

Rounds over many rows are long, and so are new scores: both are work in pieces. A step in the middle of a round stands
where the round began, because the scores of the new β are not known yet.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from eigenwood.core.margin.working_set import improve, improve_all, most_violating, rise_and_fall
from eigenwood.core.pieces import Pieces, at_once

Result = TypeVar("Result")

MOST_MEMBERS, LEAST_MEMBERS, MEMBER_SHARE = 1536, 256, 8  # of a working set: an eighth of all rows, within these
SHARE = 0.1
FEW_ROWS = 1536  # of which the working set is all, where their kernel values are at hand
STEPS_PER_VARIABLE = 20  # in a round
ADD_WORK = 16.0  # multiplications of a matrix product that take as long as adding one kept value to a score
WORTH = 0.7  # shrink if no more than this share of the columns would be left
FELT = 0.25  # rounding of scores that is more than this share of tol is felt
FELT_BY_COST = 1e-4  # and so is that of the slack of all rows, beyond this share of the dual
MOST_RENEWALS = 10  # of the scores
EQUAL_WITHIN = 1e-12  # a share by which numbers that are equal may differ
HARDLY, MOST_IDLE = 1e-14, 100  # rounds after which the sum grew by less than this share and no less is violated


class KernelRows(Protocol):
    """Where the kernel values come from, in pieces: ``KernelRowCache``, ``LinearRows`` or ``GivenRows``.

    They may be those of k(x, z) - g(x) - g(z), which are smaller and have the same solution, because Σβ = 0.
    """

    n_rows: int
    columns: np.ndarray
    value_work: float
    has_all: bool  # none is computed when it is asked for

    @property
    def rounding(self) -> float: ...
    def among(self, rows: np.ndarray) -> Pieces[np.ndarray]: ...
    def add(self, rows: np.ndarray, change: np.ndarray, scores: np.ndarray, again: np.ndarray) -> Pieces[None]: ...
    def shrink_to(self, columns: np.ndarray) -> None: ...
    def unshrink(self, columns: np.ndarray) -> None: ...
    def begin_anew(self) -> None: ...
    def exact_scores(self, rows: np.ndarray, beta: np.ndarray, of: np.ndarray) -> Pieces[np.ndarray]: ...
    def shift(self, rows: np.ndarray, beta: np.ndarray) -> float: ...  # Σ β_i k(x_i, ·) less the scores it hands out


class Dual(NamedTuple):
    """The problem; see the picture above."""

    target: np.ndarray  # (n,) y
    low: np.ndarray
    high: np.ndarray
    ridge: np.ndarray  # R
    epsilon: float = 0.0


class DualRule(NamedTuple):
    """When to stop, and how."""

    tol: float
    max_steps: int
    shrinking: bool = True
    most_members: int = MOST_MEMBERS


class DualStep(NamedTuple):
    """Where the solver stands: always a feasible point. The arrays are copies."""

    beta: np.ndarray
    scores: np.ndarray  # Kβ; of rows that are shrunk away, as they were
    shrunk: np.ndarray  # which rows are
    violation: float  # among the others
    n_steps: int
    n_rounds: int
    converged: bool
    whole: bool  # no round is under way
    last: bool
    due: int = 0  # rows whose scores must be computed before anything else, if no step follows or if one does


def dual_svm_steps(
    rows: KernelRows, dual: Dual, rule: DualRule, start: np.ndarray | None = None
) -> Generator[DualStep, None, None]:
    """Yield often, and whole steps after every round, until no pair violates ``tol`` or nothing grows.

    ``start`` must be feasible. The last step is measured on all rows, wherever it stands.
    """
    work = _Work(rows, dual, rule, start)
    while True:
        is_done = yield from _standing(work.step, work.is_done(), due=0)
        last = is_done or work.n_steps >= rule.max_steps or work.is_stuck()
        if last:
            yield from _standing(work.step, work.measure(), due=0)
        step = work.step(is_done and not work.is_at_limit(), last)._replace(whole=True)
        yield step
        if last:
            return
        yield from _standing(partial(step._replace, whole=False), work.do_round())
        if rule.shrinking:
            work.shrink()


def small_step(rows: KernelRows, dual: Dual, rule: DualRule) -> DualStep:
    """Return what one round of at most ``rule.most_members`` variables comes to, where there is no time for more."""
    rows.begin_anew()
    work = _Work(rows, dual, rule, None)
    if not at_once(work.is_done()):
        at_once(work.do_round())
    return work.step()


def _standing(
    where: Callable[[], DualStep], work: Pieces[Result], due: int | None = None
) -> Generator[DualStep, None, Result]:
    """Do some work and return its result; at its pauses, yield where the solver stood at the first of them.

    ``due`` is what is due after the first pause: who was let go on then is not stopped for it again.
    """
    step = None
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value
        if step is None:
            step = where()
            yield step
            step = step if due is None else step._replace(due=due)
        else:
            yield step


class _Work:
    """What changes from round to round."""

    def __init__(self, rows: KernelRows, dual: Dual, rule: DualRule, start: np.ndarray | None) -> None:
        self._limits = limits(dual)
        bounds = {"low": np.maximum(dual.low, -self._limits), "high": np.minimum(dual.high, self._limits)}
        self._rows, self._dual, self._rule = rows, dual._replace(**bounds), rule
        self._beta = np.zeros(rows.n_rows) if start is None else start.copy()
        self._scores, self._exact_at = np.zeros(rows.n_rows), self._beta.copy()  # rounding has not touched them yet
        if self._beta.any():
            at_once(self._renew_scores(np.arange(rows.n_rows)))
        self._members = np.empty(0, dtype=np.int64)
        self._is_complete = True  # the scores of all rows are known
        self._due = 0  # rows whose scores are about to be computed
        self._takes_all = rows.has_all and rows.n_rows <= min(FEW_ROWS, rule.most_members)
        share = max(LEAST_MEMBERS, rows.n_rows // MEMBER_SHARE)
        self._size = max(2, min(rule.most_members, share, rows.n_rows))
        self._spent = self._total = 0.0
        self._lowest = np.inf  # violation before a round
        self.n_steps = self.n_rounds = self._n_idle = self._n_renewals = 0

    def is_done(self) -> Pieces[bool]:
        """Return whether no pair violates ``tol``; what was shrunk away and violates it comes back."""
        self._look(self._rows.columns)
        if self._violation > self._rule.tol:
            return False
        yield from self.measure()
        if self._violation <= self._rule.tol:
            return True
        top, bottom = self._rise.max(), self._fall.min()
        middle = 0.5 * (top + bottom)
        violating = np.flatnonzero((self._rise > middle) | (self._fall < middle))
        if np.setdiff1d(violating, self._rows.columns).size:
            self._rows.unshrink(violating)
            self._spent = 0.0
        self._look(self._rows.columns)
        self._lowest = np.inf
        return False

    def measure(self) -> Pieces[None]:
        """Bring the scores of all rows up to date, and what they violate."""
        yield from self._complete_scores()
        self._look(np.arange(self._rows.n_rows))

    def is_at_limit(self) -> bool:
        """Return whether there is no solution, because K is not that of a Mercer kernel."""
        return bool(((np.abs(self._beta) >= self._limits) & (self._beta != 0.0)).any())

    def is_stuck(self) -> bool:
        """Return whether the sum grows no more, or rounding undoes what rounds do."""
        return self._n_idle >= MOST_IDLE or self._n_renewals >= MOST_RENEWALS

    def step(self, converged: bool = False, last: bool = False) -> DualStep:
        """Return where the solver stands; that a round is complete is for others to say."""
        shrunk = np.zeros(self._rows.n_rows, dtype=bool)
        if not self._is_complete:
            shrunk[:] = True
            shrunk[self._rows.columns] = False
        return DualStep(
            self._beta.copy(),
            self._scores.copy(),
            shrunk,
            self._violation,
            self.n_steps,
            self.n_rounds,
            converged,
            whole=False,
            last=last,
            due=max(self._due, int(np.count_nonzero(shrunk))),
        )

    def do_round(self) -> Pieces[None]:
        """Improve a working set and add what changed to the scores of all columns."""
        dual = self._dual
        members = self._working_set()
        K = yield from self._rows.among(members)
        beta, errors = self._beta[members], self._errors(members)
        bounds = dual.low[members], dual.high[members]
        told = dual.ridge[members], errors, beta, *bounds, dual.epsilon, self._rule.tol
        left = self._rule.max_steps - self.n_steps
        if self._takes_all:
            n_steps, growth = improve_all(K, *told, SHARE, left)
        else:
            n_steps, growth = improve(K, *told, SHARE, min(STEPS_PER_VARIABLE * members.size, left))
        del K  # what follows is long
        inside = (beta > bounds[0]) & (beta < bounds[1]) & (beta != 0.0)
        yield
        yield from self._add(members, beta, inside)
        self._members = members[np.argsort(~inside, kind="stable")]  # those in between are likely to move again
        self.n_steps, self.n_rounds, self._total = self.n_steps + n_steps, self.n_rounds + 1, self._total + growth
        is_idle = growth <= HARDLY * self._total and self._violation >= self._lowest
        self._n_idle = self._n_idle + 1 if is_idle else 0
        self._lowest = min(self._lowest, self._violation)

    def _working_set(self) -> np.ndarray:
        """Return the members of the next round."""
        active = self._rows.columns
        if self._takes_all:
            return active
        before = np.searchsorted(active, self._members[np.isin(self._members, active)])
        return active[most_violating(self._rise, self._fall, before, self._size)]

    def shrink(self) -> None:
        """Leave out variables at a bound they do not wish to leave, once rounds have cost as much as coming back."""
        active = self._rows.columns
        back = self._rows.value_work * np.count_nonzero(self._beta) * self._rows.n_rows
        if self._spent < back or self._takes_all:
            return
        self._look(active)
        if self._violation <= self._rule.tol:
            return  # it may be done
        top, bottom = self._rise.max(), self._fall.min()
        stays = (self._rise >= bottom) | (self._fall <= top)
        if np.count_nonzero(stays) <= WORTH * active.size:
            self._rows.shrink_to(active[stays])
            self._is_complete, self._spent = False, 0.0

    def _look(self, among: np.ndarray) -> None:
        """Find out what rises bring and falls cost."""
        bounds = self._dual.low[among], self._dual.high[among]
        self._rise, self._fall = rise_and_fall(self._errors(among), self._beta[among], *bounds, self._dual.epsilon)
        self._violation = max(float(self._rise.max() - self._fall.min()), 0.0)

    def _errors(self, among: np.ndarray) -> np.ndarray:
        dual = self._dual
        return dual.target[among] - self._scores[among] - dual.ridge[among] * self._beta[among]

    def _add(self, members: np.ndarray, beta: np.ndarray, inside: np.ndarray) -> Pieces[None]:
        """Give the members their new values, and add the change to the scores of all columns."""
        change, active = beta - self._beta[members], self._rows.columns
        self._beta[members] = beta
        moved = np.flatnonzero(change)
        told = members[moved], change[moved]
        if active.size == self._rows.n_rows:
            yield from self._rows.add(*told, self._scores, inside[moved])
        else:
            scores = self._scores[active]
            yield from self._rows.add(*told, scores, inside[moved])
            self._scores[active], self._is_complete = scores, False
        self._spent += ADD_WORK * moved.size * active.size

    def _complete_scores(self) -> Pieces[None]:
        """Compute the scores of those shrunk away, and all of them where rounding could be felt."""
        if self._is_rounding_felt():
            yield from self._renew_scores(np.arange(self._rows.n_rows))
            self._exact_at, self._n_renewals = self._beta.copy(), self._n_renewals + 1
        elif not self._is_complete:
            yield from self._renew_scores(np.setdiff1d(np.arange(self._rows.n_rows), self._rows.columns))
        self._is_complete = True

    def _is_rounding_felt(self) -> bool:
        """Return whether scores may be off by too much for ``tol``, or slack for what the model costs."""
        off = self._rows.rounding * float(np.linalg.norm(self._beta - self._exact_at))
        room = self._dual.high - self._dual.low
        slack = float(np.minimum(room, 2.0 * np.abs(self._beta)).sum())
        return off > FELT * self._rule.tol or off * slack > FELT_BY_COST * self._total

    def _renew_scores(self, of: np.ndarray) -> Pieces[None]:
        if of.size == 0:
            return
        self._due = of.size
        yield
        self._due = 0
        support = np.flatnonzero(self._beta)
        self._scores[of] = yield from self._rows.exact_scores(support, self._beta[support], of)


def limits(dual: Dual) -> np.ndarray:
    """Return what no coefficient of a solution reaches, if K is that of a Mercer kernel and slack is squared.

    At the solution ½ R_i β_i² is less than the dual, which is at most what a constant f costs. Without a Mercer kernel
    the dual may grow without end.
    """
    if not dual.ridge.any():
        return np.full(dual.target.size, np.inf)
    slack = np.maximum(np.abs(dual.target - dual.target.mean()) - dual.epsilon, 0.0)
    return 2.0 * np.sqrt((slack * slack / dual.ridge).sum() / dual.ridge)


def offset(dual: Dual, beta: np.ndarray, scores: np.ndarray) -> float:
    """Return b: the mean of what variables between their bounds say, or else the middle of what is possible."""
    errors = dual.target - scores - dual.ridge * beta
    rise, fall = rise_and_fall(errors, beta, dual.low, dual.high, dual.epsilon)
    inside = (beta > dual.low) & (beta < dual.high) & ((beta != 0.0) | (dual.epsilon == 0.0))
    if inside.any():
        return float(rise[inside].mean())
    return float(0.5 * (rise.max() + fall.min()))


def cheapest_offset(dual: Dual, beta: np.ndarray, scores: np.ndarray) -> float:
    """Return b at which the model costs least, whatever its β: for those that are far from the solution.

    The slope of the cost grows with b: at every place the slack of a row ends (if β may rise) or begins (if it may
    fall). Where it is 0, b is between what a rise brings at most and what a fall costs at least, as at the solution.
    """
    errors, rising, falling = dual.target - scores, dual.high > 0.0, dual.low < 0.0
    places = np.concatenate([errors[rising] - dual.epsilon, errors[falling] + dual.epsilon])
    order, is_end = np.argsort(places, kind="stable"), np.arange(places.size) < np.count_nonzero(rising)
    places, is_end = places[order], is_end[order]
    if dual.ridge.any():
        weights = np.concatenate([1.0 / dual.ridge[rising], 1.0 / dual.ridge[falling]])[order]
        total, moment = slopes(weights, is_end), slopes(weights * places, is_end)
        last = int(np.count_nonzero(total * places <= moment)) - 1
        best = moment[last] / total[last] if total[last] > 0.0 else places[last]
    else:
        weights = np.concatenate([dual.high[rising], -dual.low[falling]])[order]
        slope = np.cumsum(weights) - weights[is_end].sum()
        last = int(np.count_nonzero(slope < 0.0))
        best = places[min(last, places.size - 1)]
    rise, fall = rise_and_fall(errors - dual.ridge * beta, beta, dual.low, dual.high, dual.epsilon)
    least, most = sorted((float(rise.max()), float(fall.min())))
    return min(max(float(best), least), most)


def slopes(weights: np.ndarray, is_end: np.ndarray) -> np.ndarray:
    """Return the sum of the weights of rows with slack, for b from each place to the next."""
    ended, begun = np.where(is_end, weights, 0.0), np.where(is_end, 0.0, weights)
    return ended.sum() - ended.cumsum() + begun.cumsum()


def feasible(dual: Dual, beta: np.ndarray) -> np.ndarray:
    """Return coefficients within their bounds that add up to 0, close to those given: the longer side is shortened.

    What is at a bound but for rounding is there, and sums that differ by no more are left alone: a bound is a bound.

    >>> dual = Dual(np.array([1.0, 1.0, -1.0]), np.array([0.0, 0.0, -2.0]), np.array([2.0, 2.0, 0.0]), np.zeros(3))
    >>> feasible(dual, np.array([3.0, 2.0, -1.0]))
    array([ 0.5,  0.5, -1. ])
    """
    beta = np.clip(beta, dual.low, dual.high)
    for bound in (dual.low, dual.high):
        beta = np.where(np.isclose(beta, bound, rtol=EQUAL_WITHIN, atol=0.0), bound, beta)
    rising, falling = beta[beta > 0.0].sum(), -beta[beta < 0.0].sum()
    if min(rising, falling) == 0.0:
        return np.zeros(beta.size)
    if np.isclose(rising, falling, rtol=EQUAL_WITHIN, atol=0.0):
        return beta
    beta[beta > 0.0] *= min(1.0, falling / rising)
    beta[beta < 0.0] *= min(1.0, rising / falling)
    return beta
