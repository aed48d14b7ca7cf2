"""What can be proved about a support vector machine, from its coefficients and the scores of the rows alone.

    primal   ½‖w‖² + Σ loss(y_i, f_i)                  f_i = (Kβ)_i + b
    dual     yᵀβ - ε Σ|β| - ½ βᵀ(K + R)β               never above the primal, for any feasible β: weak duality
    gap      primal - dual                             0 at the solution: strong duality (the boosting and SVM lecture)

The loss of a row that may rise (high > 0) is high · max(0, e - ε) with e = y_i - f_i; that of one that may fall is
-low · max(0, -e - ε). Where the bounds are infinite there is R instead, and the loss is its square over 2R.

The gap is a sum over rows, each term what the row loses with f_i and with β_i together, less β_i (y_i - f_i). A rise
brings ``top`` at most, a fall costs ``bottom`` at least, and v = top - bottom is the violation (0 if below 0). If b
lies between the two, then y_i - f_i misses what β_i asks for by v at most, and so, for any feasible β,

    slack ξ      gap ≤ v Σ (high - low)        each term is the room that β_i has left, times what it would bring
    slack ξ²     gap ≤ v² Σ 1/(2R)             each term is a square: what the row could still gain by itself

with v + d in place of v if b lies outside by d. The mean of what variables between their bounds say lies between: for
these a rise brings what a fall costs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.core.margin.dual_svm import Dual, cheapest_offset, offset
from eigenwood.core.margin.working_set import rise_and_fall
from eigenwood.proofs.claim import Certificate, Claim, at_least, at_most, claimed, measured

EQUATION_ERROR = 1e-9  # a share by which sums may miss an exact equation
OF_GAP = 1e-6  # a share of the primal or dual by which their difference may be off
SOME_ROUNDINGS = 10.0
FLOAT64 = 1e-12  # a share by which scores in float64 may be off


class SVMFacts(NamedTuple):
    """The numbers of one problem."""

    label: str
    primal: float
    dual: float
    violation: float  # of the KKT conditions, as LIBSVM measures it
    offset_off: float  # how far b is from where the conditions have it, between the least fall and the largest rise
    middle_off: float  # and from the mean of what free coefficients say, or the middle where none is free
    gap_bound: float  # what follows from the two before it for the gap
    squared_norm: float  # ‖w‖², less than 0 if K is not that of a Mercer kernel
    least_norm: float  # below which ‖w‖² is little more than rounding
    balance: float  # |Σβ| beside Σ|β|
    out_of_bounds: float  # how far a coefficient is out of its bounds, beside the largest
    n_bound: int  # support vectors at their upper bound
    n_free: int  # and between
    left_out_bound: float | None  # what share of the rows can be wrong when left out; None for amounts
    rounding: float  # by which scores may be off
    gap_rounding: float  # by which the gap may be off because of it
    most: float  # what the best constant f costs, and what ``tol`` leaves to gain

    def gap(self) -> float:
        """Return primal less dual."""
        return self.primal - self.dual


def svm_facts(
    dual: Dual,
    beta: np.ndarray,
    scores: np.ndarray,
    intercept: float,
    mass: np.ndarray,
    label: str,
    rounding: float,
    tol: float,
) -> SVMFacts:
    """Return the numbers of one problem; ``scores`` are Kβ up to ``rounding``, ``mass`` the weights of the rows."""
    squared_norm = float(beta @ scores)
    errors = dual.target - scores - intercept
    losses = row_losses(dual, errors)
    rounding += FLOAT64 * float((np.abs(dual.target) + np.abs(scores)).max() + abs(intercept))
    rise, fall = rise_and_fall(dual.target - scores - dual.ridge * beta, beta, dual.low, dual.high, dual.epsilon)
    top, bottom = float(rise.max()), float(fall.min())
    violation = max(top - bottom, 0.0)
    offset_off = max(intercept - max(top, bottom), min(top, bottom) - intercept, 0.0)
    size = np.abs(beta)
    at_bound = (beta != 0.0) & ((beta == dual.low) | (beta == dual.high))
    beyond = np.maximum(np.maximum(dual.low - beta, beta - dual.high), 0.0)
    is_classes = dual.epsilon == 0.0 and bool(np.isin(dual.target, (-1.0, 1.0)).all())
    primal = 0.5 * squared_norm + float(losses.sum())
    dual_value = float(
        dual.target @ beta - dual.epsilon * size.sum() - 0.5 * (squared_norm + dual.ridge @ (beta * beta))
    )
    return SVMFacts(
        label,
        primal=primal,
        dual=dual_value,
        violation=violation,
        offset_off=offset_off,
        middle_off=abs(intercept - offset(dual, beta, scores)),
        gap_bound=gap_bound(dual, violation + offset_off),
        squared_norm=squared_norm,
        least_norm=SOME_ROUNDINGS * rounding * float(size.sum()),
        balance=abs(float(beta.sum())) / max(float(size.sum()), 1e-300),
        out_of_bounds=float(beyond.max()) / max(float(size.max()), 1e-300),
        n_bound=int(at_bound.sum()),
        n_free=int(np.count_nonzero(beta)) - int(at_bound.sum()),
        left_out_bound=float(mass[beta != 0.0].sum() / mass.sum()) if is_classes else None,
        rounding=rounding,
        gap_rounding=OF_GAP * max(abs(primal), abs(dual_value)) + moved_losses(dual, errors, rounding),
        most=constant_cost(dual) + gap_bound(dual, tol + 2.0 * rounding),
    )


def moved_losses(dual: Dual, errors: np.ndarray, rounding: float) -> float:
    """Return by how much the losses may be off where errors are off by ``rounding``."""
    ends = [row_losses(dual, errors + off) for off in (-rounding, 0.0, rounding)]
    return float((np.max(ends, axis=0) - np.min(ends, axis=0)).sum())


def constant_cost(dual: Dual) -> float:
    """Return what the best model without a single support vector costs: a constant."""
    nothing = np.zeros(dual.target.size)
    return float(row_losses(dual, dual.target - cheapest_offset(dual, nothing, nothing)).sum())


def row_losses(dual: Dual, errors: np.ndarray) -> np.ndarray:
    """Return what each row costs in the primal, for errors y - f."""
    above, below = np.maximum(errors - dual.epsilon, 0.0), np.maximum(-errors - dual.epsilon, 0.0)
    above, below = np.where(dual.high > 0.0, above, 0.0), np.where(dual.low < 0.0, below, 0.0)
    if dual.ridge.any():
        return (above**2 + below**2) / (2.0 * dual.ridge)
    return np.where(above > 0.0, dual.high, 0.0) * above - np.where(below > 0.0, dual.low, 0.0) * below


def gap_bound(dual: Dual, violation: float) -> float:
    """Return what the gap is at most, if b is where the conditions have it up to this violation; see above."""
    if dual.ridge.any():
        return violation**2 * float((0.5 / dual.ridge).sum())
    return violation * float((dual.high - dual.low).sum())


def svm_certificate(
    problems: list[SVMFacts], tol: float, converged: bool, shortfalls: np.ndarray | None = None, kind: str = ""
) -> Certificate:
    """Return the claims about every problem; how far the conditions may be violated is claimed of a finished fit.

    With landmarks, F Fᵀ stands for K in all of them, and the dual is less by ``shortfalls`` with K, or by no
    more than that, if their ``kind`` is that of bounds.
    """
    claims = [claim for facts in problems for claim in svm_claims(facts, tol, converged)]
    for facts, left in zip(problems, [] if shortfalls is None else shortfalls, strict=shortfalls is not None):
        claims += whole_kernel_claims(facts, float(left), kind)
    return Certificate(tuple(claims))


def whole_kernel_claims(facts: SVMFacts, left: float, kind: str) -> list[Claim]:
    """Return what a model on landmarks is worth beside the best one with the whole kernel: f costs there what it costs
    with F Fᵀ, and the dual is another one.
    """
    size = facts.gap_rounding + OF_GAP * max(abs(facts.primal), abs(facts.dual - left), 1e-300)
    return [
        measured(f"whole dual{kind}{facts.label}", "no model costs less with the whole kernel", facts.dual - left),
        measured(f"whole gap{kind}{facts.label}", "primal - dual, with the whole kernel", facts.gap() + left),
        at_least(f"whole duality{kind}{facts.label}", "primal - dual, up to rounding", facts.gap() + left, -size),
    ]


def svm_claims(facts: SVMFacts, tol: float, converged: bool) -> list[Claim]:
    """Return the claims about one problem."""
    gap = facts.primal - facts.dual
    size = OF_GAP * max(abs(facts.primal), abs(facts.dual), 1e-300)
    claims = [
        measured(f"primal{facts.label}", "½‖w‖² + what slack costs", facts.primal),
        measured(f"dual{facts.label}", "no model costs less than this, if the kernel is Mercer's", facts.dual),
        at_most(
            f"gap{facts.label}",
            "primal - dual: what the model costs beyond the best one, at most; the violation bounds it",
            gap,
            facts.gap_bound + size,
        ),
        at_least(f"duality{facts.label}", "primal - dual, up to rounding", gap, -size),
        claimed(
            at_most(
                f"constant{facts.label}",
                "primal ≤ what the best constant costs, and what tol leaves to gain",
                facts.primal,
                facts.most + facts.gap_rounding,
            ),
            converged,
            "primal; the fit was stopped before it was better than a constant for sure",
        ),
        violation_claim(facts, tol, converged),
        at_most(f"offset{facts.label}", "b is off from where the conditions have it", facts.offset_off, facts.rounding),
        claimed(
            at_most(
                f"middle{facts.label}",
                "b is off from the mean of what free coefficients say, or from the middle of what is possible",
                facts.middle_off,
                facts.violation + facts.rounding,
            ),
            converged,
            "b is off from the middle of what is possible; the fit was stopped, and b is where it costs least",
        ),
        at_most(f"balance{facts.label}", "|Σβ| beside Σ|β|", facts.balance, EQUATION_ERROR),
        at_most(f"bounds{facts.label}", "coefficients out of their bounds", facts.out_of_bounds, EQUATION_ERROR),
    ]
    if facts.squared_norm > facts.least_norm and facts.left_out_bound is not None:
        claims.append(measured(f"margin{facts.label}", "2/‖w‖", 2.0 / np.sqrt(facts.squared_norm)))
    claims.append(measured(f"support at bound{facts.label}", "coefficients at their bound C", facts.n_bound))
    claims.append(measured(f"support free{facts.label}", "coefficients in between", facts.n_free))
    if facts.left_out_bound is not None:
        claims.append(
            measured(
                f"left out{facts.label}",
                "leave-one-out error ≤ this, with this kernel",
                facts.left_out_bound,
            )
        )
    return claims


def violation_claim(facts: SVMFacts, tol: float, converged: bool) -> Claim:
    """Return the violation of the KKT conditions, below ``tol`` and rounding if the fit was finished."""
    statement = "no pair of coefficients gains more, at first"
    claim = at_most(f"KKT violation{facts.label}", statement, facts.violation, tol + facts.rounding)
    return claimed(claim, converged, "what a pair of coefficients could still gain, at first; the fit was stopped")


class Stated(NamedTuple):
    """A number that a model states, and what was found again; it may be off by ``allowed``."""

    value: np.ndarray | float
    again: np.ndarray | float
    allowed: np.ndarray | float


def stated_claim(numbers: list[Stated], which: str = "gap, violation, weights of classes, gamma") -> Claim:
    """Return that the numbers which a model states beside its coefficients are those that the rows give."""
    off = [np.max(np.abs(np.asarray(one.value) - one.again) / one.allowed) for one in numbers]
    return at_most("stated numbers", f"{which}: the largest error, beside what it may be", float(np.max(off)), 1.0)


def support_claim(n_others: int) -> Claim:
    """Return that the support vectors are rows of the table, from where the model says."""
    return at_most(
        "support vectors", "support vectors that are not the rows from which they are said to be", n_others, 0
    )


def landmark_claim(n_others: int) -> Claim:
    """Return that the landmarks are rows of the table, from where the model says."""
    return at_most("landmarks", "landmarks that are not the rows from which they are said to be", n_others, 0)
