"""What can be proved about f = Σ β_i k(x_i, ·) with any smooth convex loss, from its scores and from α alone.

    primal   P(f) = ½‖f‖² + Σ l_i(f_i)                     f_i = f(x_i) + b,   α_i = -l_i'(f_i):  what row i asks for
    dual     D(α) = -½ αᵀKα - Σ l_i*(-α_i)                 never above the primal, where Σα = 0 (or b = 0)
    gap      P(f) - D(α) = ½ ‖f - Σ α_i k(x_i, ·)‖²        half the squared gradient, in the space of the kernel

    logistic   l_i = c_i (-log p_i,y)     α_i = c_i (1_y - p_i)     -l* = c_i H(p_i), the entropy
    ridge      l_i = ½ c_i (y_i - f_i)²   α_i = c_i (y_i - f_i)     -l* = α_i y_i - ½ α_i² / c_i

With landmarks, f = Σ γ_s k(x_s, ·) = F W and ‖f‖ = ‖W‖ in the space of the whole kernel too, so that P(f) is what f
costs there. The gradient has a part in the landmarks' span and one at right angles to it:

    gap = ½ ‖W - Fᵀα‖² + ½ αᵀ(K - F Fᵀ)α                   the first is what a fit makes 0
    αᵀ(K - F Fᵀ)α ≤ tr(K - F Fᵀ) ‖α‖²,  (Σ |α_i| √r_i)²    r is the diagonal of K - F Fᵀ, which is positive semidefinite

So the distance from the best model with the *whole* kernel is bounded without looking at the whole kernel, and measured
where all of its values are affordable, a block at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.proofs.claim import ROUNDING, Certificate, Claim, at_least, at_most, claimed, measured

BALANCE = 1e-9  # Σα beside Σ|α|


class RepresenterFacts(NamedTuple):
    """The numbers of a fit."""

    primal: float
    in_span: float  # ½‖W - Fᵀα‖²
    outside_bound: float  # of ½ αᵀ(K - F Fᵀ)α
    outside: float | None  # itself, where the whole kernel was looked at
    trace_error: float
    balance: float | None  # |Σα| beside Σ|α|, where there are offsets
    constant: float  # what the best model without rows costs
    rounding: float = 0.0  # by which gaps may be off
    label: str = ""  # at the end of the names of claims

    def gap_bound(self) -> float:
        """Return what the model costs beyond the best one with the whole kernel, at most: never more than it costs."""
        return min(self.in_span + self.outside_bound, self.primal)


class Measured(NamedTuple):
    """What a pass over the rows comes to; W and Fᵀα in any orthonormal basis of the landmarks' span."""

    weights: np.ndarray  # (k, n_scores) W
    asked: np.ndarray  # (k, n_scores) Fᵀα
    alpha: np.ndarray  # (n, n_scores)
    residual: np.ndarray  # (n,) the diagonal of K - F Fᵀ
    loss: float  # of all rows
    constant: float  # what the best model without rows costs
    outside: float | None = None  # ½ αᵀ(K - F Fᵀ)α


def representer_facts(found: Measured, is_balanced: bool) -> RepresenterFacts:
    """Return the numbers of a fit; ``is_balanced`` says that there are offsets, so that Σα = 0."""
    residual, alpha = np.maximum(found.residual, 0.0), found.alpha
    balance = float(np.abs(alpha.sum(axis=0)).max() / max(np.abs(alpha).sum(), 1e-300)) if is_balanced else None
    return RepresenterFacts(
        primal=0.5 * float(np.vdot(found.weights, found.weights)) + found.loss,
        in_span=0.5 * float(np.square(found.weights - found.asked).sum()),
        outside_bound=outside_bound(alpha, residual),
        outside=found.outside,
        trace_error=float(residual.sum()),
        balance=balance,
        constant=found.constant,
    )


def outside_bound(alpha: np.ndarray, residual: np.ndarray) -> float:
    """Return what ½ αᵀ(K - F Fᵀ)α is at most, added up over the columns of α."""
    by_trace = residual.sum() * np.square(alpha).sum(axis=0)
    by_rows = np.square(np.abs(alpha).T @ np.sqrt(residual))
    return 0.5 * float(np.minimum(by_trace, by_rows).sum())


def representer_certificate(facts: RepresenterFacts, tol: float, converged: bool) -> Certificate:
    """Return the claims; that nothing is left to gain is claimed of a finished fit."""
    return Certificate(tuple(representer_claims(facts, tol, converged)))


def representer_claims(facts: RepresenterFacts, tol: float, converged: bool) -> list[Claim]:
    """Return the claims, those about the whole kernel only where it was looked at."""
    size, label = ROUNDING * max(abs(facts.primal), 1e-300) + facts.rounding, facts.label
    claims = [
        measured(f"primal{label}", "½‖f‖² and the loss of all rows, with the whole kernel", facts.primal),
        claimed(
            at_most(
                f"gap of landmarks{label}",
                "½‖gradient‖²: what the model costs beyond the best one with these landmarks, at most",
                facts.in_span,
                (1.0 + ROUNDING) * tol * facts.primal + size,
            ),
            converged,
            "½‖gradient‖²: what the model costs beyond the best one with these landmarks; the fit was stopped",
        ),
        measured(f"trace error{label}", "tr(K - F Fᵀ): what the landmarks leave of the kernel", facts.trace_error),
        measured(
            f"gap bound{label}",
            "what the model costs beyond the best one with the whole kernel, at most, by the trace error",
            facts.gap_bound(),
        ),
        measured(f"lower bound{label}", "no model with the whole kernel costs less", facts.primal - facts.gap_bound()),
        at_most(f"constant{label}", "primal ≤ what the best constant costs", facts.primal, facts.constant + size),
    ]
    if facts.balance is not None:
        claims.append(
            at_most(
                f"balance{label}", "|Σα| beside Σ|α|: each class is as likely as it is frequent", facts.balance, BALANCE
            )
        )
    if facts.outside is not None:
        claims += whole_kernel_claims(facts, facts.outside, size)
    return claims


def whole_kernel_claims(facts: RepresenterFacts, outside: float, size: float) -> list[Claim]:
    """Return the claims for which all kernel values were computed, block by block."""
    gap, bound, label = facts.in_span + outside, facts.in_span + facts.outside_bound, facts.label
    return [
        measured(f"dual{label}", "D(α), with the whole kernel: no model costs less", facts.primal - gap),
        at_most(f"gap{label}", "primal - dual, with the whole kernel; the trace error bounds it", gap, bound + size),
        at_least(f"duality{label}", "primal - dual, up to rounding", gap, -size),
    ]
