"""What can be proved about components in the space of a kernel.

K is the Gram matrix, K̃ = H K H the centred one. For v of length 1 and any λ, K̃ has an eigenvalue within ‖K̃v - λv‖ of
λ. Of a low-rank kernel K̂ ≤ K, with E = K - K̂ positive semidefinite:

    λ_i(K̂) ≤ λ_i(K) ≤ λ_i(K̂) + tr E                    nothing but the trace is known of E

Where K̃V was computed once, V having the leading eigenvectors of K̂ as columns: the eigenvalues θ of VᵀK̃V are lower
bounds (Cauchy), and beside V no value of K̃ exceeds μ = λ_{k+1}(K̂) + tr E. So for θ_i > μ, by the Schur complement,

    λ_i(K) ≤ θ_i + ‖K̃V - V VᵀK̃V‖² / (θ_i - μ)

That no direction of larger variance was missed, and that K is positive semidefinite (Mercer), only the verifier finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from eigenwood.proofs.claim import Certificate, Claim, at_least, at_most, claimed, measured, not_claimed
from eigenwood.proofs.pca import DENSE, SHOWN, UNSETTLED, largest_ritz_value, largest_value

CENTRAL = ("component", "nothing missed")  # what a fit that was cut may leave undone
ALLOWED = 10.0  # times the rounding of an eigenvalue

Tightening = tuple[np.ndarray, float, float]  # θ, the norm of the residuals, and μ


class KernelPcaFacts(NamedTuple):
    """The numbers that the claims are about; None where nobody looked."""

    values: np.ndarray  # (k,) λ, in descending order
    residuals: np.ndarray  # (k,) ‖K̃v - λv‖
    intervals: np.ndarray  # (k, 2)
    skew: float  # largest entry of |VᵀV - I|
    total: float  # trace of K̃
    tolerance: float  # of a residual, relative to λ₁
    rounding: float  # of an eigenvalue
    exact: float  # of everything else, relative
    trace_share: float | None = None  # tr(K - K̂) / tr K of a low-rank kernel
    smallest: float | None = None  # eigenvalue of K̃
    checks: tuple[tuple[str, str, float], ...] = ()  # name, statement and relative error of what a model states
    n_other_rows: int | None = None
    interval_error: float | None = None  # beside λ₁


def bracketed(
    values: np.ndarray, trace_error: float, rounding: float, tightening: Tightening | None = None
) -> np.ndarray:
    """Return an interval for every eigenvalue of K from those of a low-rank kernel below it, shape (k, 2).

    >>> bracketed(np.array([4.0, 1.0]), 0.5, 0.0)
    array([[4. , 4.5],
           [1. , 1.5]])
    >>> bracketed(np.array([4.0, 1.0]), 0.5, 0.0, (np.array([4.125, 1.25]), 0.5, 0.75))[0]
    array([4.125     , 4.19907407])
    """
    low, high = values.astype(np.float64), values + trace_error
    if tightening is not None:
        ritz, rest, most = tightening
        low = np.maximum(low, ritz)
        above = ritz > most
        high[above] = np.minimum(high[above], ritz[above] + rest**2 / (ritz[above] - most))
    return np.column_stack([np.maximum(low - rounding, 0.0), np.maximum(high, low) + rounding])


def kernel_pca_certificate(facts: KernelPcaFacts, stop_reason: str | None) -> Certificate:
    """Return the claims; those about single components only where the fit was finished (``stop_reason`` None)."""
    claims = list(kernel_pca_claims(facts))
    if stop_reason is None:
        return Certificate(tuple(claims))
    others = [claim for claim in claims if not claim.name.startswith(CENTRAL)]
    return Certificate((unsettled(facts.values.size, stop_reason), *others))


def unsettled(n_components: int, reason: str) -> Claim:
    """Return that a fit was cut short."""
    statement = f"components; the fit was cut short ({reason}), and their intervals say how exact they are"
    return not_claimed(UNSETTLED, statement, n_components)


def excused(claim: Claim) -> Claim:
    """Return what was measured of a fit that was cut short: what it left undone is not claimed."""
    is_claimed = bool(claim.holds) or not claim.name.startswith(CENTRAL)
    return claimed(claim, is_claimed, f"{claim.statement}; cut short")


def kernel_pca_claims(facts: KernelPcaFacts) -> Iterator[Claim]:
    """Yield the claims that need no search."""
    yield from component_claims(facts)
    largest = float(facts.values.max(initial=0.0))
    if facts.trace_share is None:
        yield measured("tolerance", "‖K̃v - λv‖ / λ₁ that the solver aims at, at most", facts.tolerance)
    else:
        yield measured("trace error", "tr(K - K̂) / tr K of the low-rank kernel K̂", facts.trace_share)
    yield at_most("orthonormality", "largest entry of |VᵀV - I|", facts.skew, skew_bound(facts))
    kept = float(facts.values.sum()) / facts.total if facts.total > 0.0 else 0.0
    yield at_most("kept", "Σλ / trace of K̃", kept, 1.0 + facts.exact + relative(facts.rounding, facts.total))
    if facts.smallest is not None:
        statement = "smallest eigenvalue of K̃: far below 0 the similarity is no kernel (Mercer)"
        yield at_least("smallest eigenvalue", statement, facts.smallest, -ALLOWED * facts.rounding - 1e-6 * largest)
    if facts.n_other_rows is not None:
        yield at_most("rows", "rows of X_fit_ that are not those of the table", facts.n_other_rows, 0)
    for name, statement, error in facts.checks:
        yield at_most(name, statement, error, facts.exact + relative(ALLOWED * facts.rounding, largest))
    if facts.interval_error is not None:
        statement = "largest distance of an interval from that of the residuals, beside λ₁"
        bound = facts.tolerance + relative(ALLOWED * facts.rounding, largest)
        yield at_most("intervals", statement, facts.interval_error, bound)


def component_claims(facts: KernelPcaFacts) -> Iterator[Claim]:
    """Yield a claim for each of the first components, and one for all others."""
    bound = facts.tolerance * float(facts.values.max(initial=0.0)) + facts.rounding
    for i, (low, high) in enumerate(facts.intervals[:SHOWN]):
        if facts.trace_share is None:
            statement = f"‖K̃v - λv‖; an eigenvalue lies in [{low:.6g}, {high:.6g}]"
            yield at_most(f"component {i + 1}", statement, facts.residuals[i], bound)
        else:
            statement = f"width of [{low:.6g}, {high:.6g}], where the eigenvalue of K lies, beside λ₁"
            yield measured(f"component {i + 1}", statement, relative(high - low, float(facts.values[0])))
    if facts.values.size > SHOWN and facts.trace_share is None:
        name = f"components {SHOWN + 1} to {facts.values.size}"
        yield at_most(name, "largest ‖K̃v - λv‖ of these", facts.residuals[SHOWN:].max(), bound)


def skew_bound(facts: KernelPcaFacts) -> float:
    """Return what |VᵀV - I| may be: of a low-rank kernel, vectors of small values have the rounding of large ones."""
    real = facts.values[facts.values > 0.0]
    spread = float(real[0] / real[-1]) if facts.trace_share is not None and real.size else 1.0
    return facts.exact * max(1.0, spread)


def relative(error: float, size: float) -> float:
    """Return an error beside a size; beside nothing all is right if there is no error.

    >>> relative(1.0, 4.0), relative(0.0, 0.0)
    (0.25, 0.0)
    """
    if error == 0.0:
        return 0.0
    return float(error / size) if size > 0.0 else float(error)


# --- what only the verifier looks for -------------------------------------------------------------


def missed_claim(facts: KernelPcaFacts, beside: float) -> Claim:
    """Return that no direction beside the components has a larger eigenvalue than the last of them."""
    most = float(facts.values[-1] + facts.tolerance * facts.values[0] + ALLOWED * facts.rounding)
    return at_most("nothing missed", "largest eigenvalue of K̃ found beside the components", beside, most)


def largest_beside(times: Callable[[np.ndarray], np.ndarray], V: np.ndarray, n_rows: int, enough: float) -> float:
    """Return the largest eigenvalue of K̃, by which ``times`` multiplies, that is found at right angles to V.

    Of a large matrix it is what a search from random directions finds.
    """
    if V.shape[1] >= n_rows:
        return 0.0
    Q = np.linalg.qr(V)[0]
    if n_rows > DENSE:
        return largest_ritz_value(times, Q, enough)
    M = times(np.eye(n_rows))
    rest = (M + M.T) / 2.0
    rest -= Q @ (Q.T @ rest)
    return largest_value(rest - (rest @ Q) @ Q.T)


def smallest_found(times: Callable[[np.ndarray], np.ndarray], n_rows: int, most: float) -> float:
    """Return the smallest eigenvalue of K̃; of a large matrix what a search finds, turned over and moved by ``most``."""
    if n_rows <= DENSE:
        M = times(np.eye(n_rows))
        return -largest_value(-(M + M.T) / 2.0)
    return most - largest_ritz_value(lambda B: most * B - times(B), np.empty((n_rows, 0)), np.inf)
