"""What can be proved about a low-rank kernel: F Fᵀ is at most K, and what is missing is known by its trace.

S are the landmarks, N is what k(x, S) is multiplied with, F = K[:, S] Nᵀ. Where N K[S, S] Nᵀ = I, K - F Fᵀ is a Schur
complement: positive semidefinite if K is, so that none of its eigenvalues exceeds its trace Σ k(x, x) - ‖F_x‖², which
takes the rows and the landmarks alone. A diagonal entry of it below 0 shows that K is no kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import linalg

from eigenwood.proofs.claim import Certificate, Claim, at_least, at_most, claimed, measured, not_claimed

EXACT = {np.dtype(np.float32): 1e-3, np.dtype(np.float64): 1e-6}  # relative, of what follows from a factorisation
STOPPED = "landmarks"


class LowRankFacts(NamedTuple):
    """The numbers that the claims are about; None where nobody looked."""

    n_landmarks: int
    trace: float  # tr K
    trace_error: float  # tr(K - F Fᵀ)
    lowest: float  # the least k(x, x) - ‖F_x‖² beside k(x, x), at most 0
    factor_error: float  # largest entry of |L Lᵀ - K[S, S]| beside the largest k(x, x), with L = N⁻¹
    dtype: np.dtype
    target: float | None = None  # the share of the trace that may be missing
    reason: str = ""  # why a target could not be reached
    misstated: float | None = None  # the largest relative error of the numbers that the model states


def low_rank_claims(facts: LowRankFacts) -> Iterator[Claim]:
    """Yield the claims about landmarks and their features."""
    exact, share = EXACT[facts.dtype], facts.trace_error / facts.trace if facts.trace > 0.0 else 0.0
    statement = "tr(K - F Fᵀ) / tr K: no eigenvalue of K is missed by more of the trace"
    if facts.target is None:
        yield measured("trace error", statement, share)
    else:
        reached = at_most("trace error", statement, share, facts.target + exact)
        yield claimed(reached, bool(reached.holds) or not facts.reason, facts.reason)
    yield at_most("factor", "largest entry of |L Lᵀ - K[S, S]| / max k(x, x)", facts.factor_error, exact)
    statement = "least 1 - ‖F_x‖² / k(x, x): far below 0 the similarity is no kernel"
    yield at_least("positive semidefinite", statement, facts.lowest, -exact)
    if facts.misstated is not None:
        yield at_most("stated numbers", "largest relative error of traces and gamma", facts.misstated, exact)


def low_rank_certificate(facts: LowRankFacts, is_finished: bool) -> Certificate:
    """Return all claims; of a fit that was stopped early nothing is claimed about its landmarks."""
    stopped = () if is_finished else (stopped_claim(facts.n_landmarks),)
    return Certificate((*stopped, *low_rank_claims(facts)))


def stopped_claim(n_landmarks: int) -> Claim:
    """Return that a fit was stopped before it had all its landmarks."""
    return not_claimed(STOPPED, "landmarks; the fit was stopped before it had them all", n_landmarks)


def factor_error(normalization: np.ndarray, among: np.ndarray) -> float:
    """Return the largest entry of |L Lᵀ - K[S, S]| beside the largest k(x, x); infinity where there is no L.

    >>> factor_error(np.array([[0.5]]), np.array([[4.0]]))
    0.0
    """
    if among.size == 0:
        return 0.0
    if not (np.isfinite(normalization).all() and normalization.diagonal().all() and among.any()):
        return float("inf")
    triangle = inverse_of(normalization)
    above = float(np.abs(np.triu(normalization, 1)).max(initial=0.0))
    error = float(np.abs(triangle @ triangle.T - among).max()) / float(np.abs(among.diagonal()).max())
    return float("inf") if above else error


def inverse_of(triangle: np.ndarray) -> np.ndarray:
    """Return the inverse of a lower triangular matrix."""
    if triangle.size == 0:
        return triangle
    return np.tril(linalg.lapack.dtrtri(np.asfortranarray(triangle, dtype=np.float64), lower=1)[0])
