"""What can be proved about principal components.

C is the covariance of the (scaled) rows. For a direction v of length 1 and any number λ, C has an eigenvalue within
‖Cv - λv‖ of λ: a residual is an interval, whoever computed v. Directions at right angles keep Σ λ of the trace of C,
and lose the rest. That nothing larger was missed is searched for beside the components, by the verifier alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from eigenwood.proofs.claim import Certificate, Claim, at_most

SHOWN = 25  # components with a claim of their own; the others share one
FILLED = 1e-4  # relative change of the filled values at which their iteration ends
N_PROBES, N_PASSES = 4, 6  # of the verifier's search beside the components

Pieces = Callable[[], Iterator[tuple[np.ndarray, np.ndarray]]]  # rows with their weights, again and again


class PcaFacts(NamedTuple):
    """The numbers that the claims are about."""

    variances: np.ndarray  # (k,) λ, in descending order
    residuals: np.ndarray  # (k,) ‖Cv - λv‖
    skew: float  # largest entry of |VVᵀ - I|
    kept_and_lost: float  # what the components keep, and what is left without them
    total: float  # the trace of C
    beside: float | None  # the largest variance found beside the components; None where nobody searched
    filling: tuple[int, float] | None  # rounds, and how much the filled values changed in the last one
    tolerance: float  # of a residual, relative to the largest variance
    rounding: float  # of everything else, relative
    off_centre: float | None = None  # how far the mean is off, beside the standard deviation of all columns together
    misstated: float | None = None  # the largest relative error of the other numbers that the model states


class Tolerances(NamedTuple):
    """How exact a route is meant to be, and the floats it computes with."""

    residual: float
    rounding: float


def pca_certificate(facts: PcaFacts) -> Certificate:
    """Return the claims: a residual with its interval for every component, and three about all of them."""
    claims: list[Claim] = [component_claim(facts, i) for i in range(min(SHOWN, facts.variances.size))]
    if facts.variances.size > SHOWN:
        claims.append(remaining_claim(facts))
    claims.append(at_most("orthonormality", "largest entry of |V Vᵀ - I|", facts.skew, facts.rounding))
    claims.append(trace_claim(facts))
    if facts.beside is not None and facts.variances.size > 0:
        claims.append(missed_claim(facts, facts.beside))
    if facts.off_centre is not None:
        statement = "‖mean of the centred rows‖ / √trace"
        claims.append(at_most("mean", statement, facts.off_centre, max(np.sqrt(facts.rounding), facts.tolerance)))
    if facts.misstated is not None:
        statement = "largest relative error of total, ratios and singular values"
        claims.append(at_most("stated numbers", statement, facts.misstated, facts.tolerance + facts.rounding))
    if facts.filling is not None:
        n_rounds, change = facts.filling
        statement = f"relative change of the filled values in the last of {n_rounds} rounds"
        claims.append(at_most("missing values", statement, change, FILLED))
    return Certificate(tuple(claims))


def intervals(variances: np.ndarray, residuals: np.ndarray, rounding: float) -> np.ndarray:
    """Return for every variance an interval that holds an eigenvalue of C, shape (k, 2)."""
    width = residuals + rounding * max(float(variances.max(initial=0.0)), 0.0)
    return np.column_stack([np.maximum(variances - width, 0.0), variances + width])


def component_claim(facts: PcaFacts, i: int) -> Claim:
    """Return ‖Cv - λv‖ of one component, with the interval that follows from it."""
    low, high = intervals(facts.variances, facts.residuals, facts.rounding)[i]
    statement = f"‖Cv - λv‖; an eigenvalue lies in [{low:.6g}, {high:.6g}]"
    return at_most(f"component {i + 1}", statement, facts.residuals[i], bound_of(facts))


def remaining_claim(facts: PcaFacts) -> Claim:
    k = facts.variances.size
    return at_most(
        f"components {SHOWN + 1} to {k}", "largest ‖Cv - λv‖ of these", facts.residuals[SHOWN:].max(), bound_of(facts)
    )


def bound_of(facts: PcaFacts) -> float:
    return facts.tolerance * float(facts.variances.max(initial=0.0))


def trace_claim(facts: PcaFacts) -> Claim:
    """Return |kept + lost - trace| / trace."""
    share = 0.0 if facts.total == 0.0 else facts.variances.sum() / facts.total
    statement = f"|kept + lost - trace| / trace; the components keep {share:.4%}"
    error = 0.0 if facts.total == 0.0 else abs(facts.kept_and_lost - facts.total) / facts.total
    return at_most("kept + lost", statement, error, facts.rounding)


def missed_claim(facts: PcaFacts, beside: float) -> Claim:
    """Return that no direction beside the components has more variance than the last of them."""
    smallest = float(facts.variances[-1])
    slack = (facts.tolerance + facts.rounding) * float(facts.variances[0])
    return at_most("nothing missed", "largest variance found beside the components", beside, smallest + slack)


# --- the verifier ---------------------------------------------------------------------------------


class Stated(NamedTuple):
    """What a model says."""

    mean: np.ndarray
    scale: np.ndarray
    components: np.ndarray
    variances: np.ndarray
    ratios: np.ndarray
    singular_values: np.ndarray
    total: float


def facts_from_rows(pieces: Pieces, stated: Stated, tolerances: Tolerances) -> PcaFacts:
    """Return the facts, measured on the rows in float64 with plain products: no solver has a say in them."""
    mean, scale, variances = stated.mean, stated.scale, stated.variances
    V = stated.components.astype(np.float64).T
    centre = np.zeros(mean.size)
    weight = lost = total = 0.0
    CV = np.zeros(V.shape)
    for A, weights in centred(pieces, mean, scale):
        scores = A @ V
        CV += A.T @ scores
        total += float((A**2).sum())
        lost += float(((A - scores @ V.T) ** 2).sum())
        weight += float(weights.sum())
        centre += np.sqrt(weights) @ A
    degrees = weight - 1.0
    kept = float(np.einsum("ij,ij->", V, CV))
    skew = float(np.abs(V.T @ V - np.eye(V.shape[1])).max(initial=0.0))
    return PcaFacts(
        variances=variances.astype(np.float64),
        residuals=np.linalg.norm(CV / degrees - V * variances, axis=0),
        skew=skew,
        kept_and_lost=(kept + lost) / degrees,
        total=total / degrees,
        beside=largest_beside(pieces, mean, scale, V) / degrees,
        filling=None,
        off_centre=float(np.linalg.norm(centre) / weight / np.sqrt(total / degrees)) if total > 0.0 else 0.0,
        misstated=misstatement(stated, total / degrees, degrees),
        tolerance=tolerances.residual,
        rounding=tolerances.rounding,
    )


def misstatement(stated: Stated, total: float, degrees: float) -> float:
    """Return the largest relative error of total, ratios and singular values, beside what the variances tell."""
    if total == 0.0:
        return 0.0
    largest = max(float(stated.variances.max(initial=0.0)), np.finfo(np.float64).tiny)
    errors = [
        abs(stated.total - total) / total,
        float(np.abs(stated.ratios - stated.variances / total).max(initial=0.0)),
        float(np.abs(stated.singular_values**2 / degrees - stated.variances).max(initial=0.0)) / largest,
    ]
    return float(np.max(errors))


def centred(pieces: Pieces, mean: np.ndarray, scale: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield √w (x - μ) / σ in float64, beside the weights."""
    for X, weights in pieces():
        dense = X.toarray() if hasattr(X, "toarray") else X
        yield np.sqrt(weights)[:, None] * ((dense.astype(np.float64) - mean) / scale), weights


def largest_beside(pieces: Pieces, mean: np.ndarray, scale: np.ndarray, V: np.ndarray) -> float:
    """Return the largest Rayleigh quotient of AᵀA that a few power steps find at right angles to V."""
    if V.shape[1] >= V.shape[0]:
        return 0.0
    probe = np.random.default_rng(1).standard_normal((V.shape[0], min(N_PROBES, V.shape[0] - V.shape[1])))
    largest = 0.0
    for _ in range(N_PASSES):
        for _ in range(2):  # what is only rounding points anywhere once it has length 1, so it is turned aside again
            probe, _ = np.linalg.qr(probe - V @ (V.T @ probe))
        probe = probe - V @ (V.T @ probe)
        product = np.zeros(probe.shape)
        for A, _ in centred(pieces, mean, scale):
            product += A.T @ (A @ probe)
        largest = float(np.linalg.eigvalsh(probe.T @ product)[-1])
        probe = product
    return largest
