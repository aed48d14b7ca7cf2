"""What can be proved about principal components.

C is the covariance of the (scaled) rows. For a direction v of length 1 and any number λ, C has an eigenvalue within
‖Cv - λv‖ of λ: a residual is an interval, whoever computed v. Directions at right angles keep Σ λ of the trace of C,
and lose the rest. That nothing larger was missed is decided beside the components, by the verifier alone: where C or
the products of the rows are small matrices from all their eigenvalues, otherwise by Lanczos from random directions.

A fit that was cut short, by time or by a limit on its products, claims nothing about single components. What holds
nevertheless, the verifier says; what does not is not claimed either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from eigenwood.proofs.claim import Certificate, Claim, at_most, claimed, measured, not_claimed

SHOWN = 25  # components with a claim of their own; the others share one
FILLED = 1e-4  # relative change of the filled values at which their iteration ends
REFILLED = 10.0 * FILLED  # the same, of one more round from the holes as the finished model fills them
ROUNDED = 1e-9  # relative error of numbers that follow from others by a few operations
EVEN = 1e-5  # two entries of a component are alike in size, up to rounding
DENSE, DENSE_VALUES = 1000, 2**26  # rows or columns of a matrix whose eigenvalues are all computed; values in memory
N_PROBES, MOST_PASSES, FEWEST_PASSES = 8, 24, 4  # of the verifier's search beside the components, where that is large
UNSETTLED = "settled"
CENTRAL = ("component", "nothing missed", "missing values")  # what a fit that was cut may leave undone
OF_ALL_ROWS = ("rows", "mean", "total variance", "intervals", "stated numbers")  # and what it knows of some rows only

RowWork = Callable[[np.ndarray, np.ndarray], Any]  # of a block of rows and their weights
RowResults = Callable[[RowWork], Iterator[Any]]  # of each block in order, again and again


class PcaFacts(NamedTuple):
    """The numbers that the claims are about; None where nobody looked."""

    variances: np.ndarray  # (k,) λ, in descending order
    residuals: np.ndarray  # (k,) ‖Cv - λv‖
    skew: float  # largest entry of |VVᵀ - I|
    n_turned: int  # components whose largest entry is negative
    kept_and_lost: float  # what the components keep, and what is left without them
    total: float  # the trace of C
    tolerance: float  # of a residual, relative to the largest variance
    rounding: float  # of everything else, relative
    filling: tuple[str, float, float] | None = None  # which change of the filled values, its size, and the bound
    off_centre: float | None = None  # how far the mean is off, beside the standard deviation of all columns together
    total_error: float | None = None  # relative error of the stated total variance
    misstated: float | None = None  # the largest relative error of the other numbers that the model states
    interval_error: float | None = None  # how far intervals are from what residuals tell, beside the largest variance
    interval_bound: float = 0.0
    n_other_rows: int | None = None  # how many rows more or less the model says it has seen
    n_rows: int = 0  # of weight above 0
    degrees: float = 0.0  # of freedom: the weight of all rows, less 1


class Tolerances(NamedTuple):
    """How exact a route is meant to be, how well two measure the same residual, and the floats of the rows."""

    residual: float
    agreement: float
    rounding: float


def pca_certificate(facts: PcaFacts) -> Certificate:
    """Return the claims: a residual with its interval for every component, and others about all of them."""
    claims: list[Claim] = [component_claim(facts, i) for i in range(min(SHOWN, facts.variances.size))]
    if facts.variances.size > SHOWN:
        claims.append(remaining_claim(facts))
    claims.append(measured("tolerance", "‖Cv - λv‖ / λ₁ that the solver aims at, at most", facts.tolerance))
    claims.append(at_most("orthonormality", "largest entry of |V Vᵀ - I|", facts.skew, facts.rounding))
    claims.append(at_most("signs", "components whose largest entry is negative", facts.n_turned, 0))
    claims.append(trace_claim(facts))
    claims.extend(stated_claims(facts))
    if facts.filling is not None:
        which, change, bound = facts.filling
        claims.append(at_most("missing values", f"relative change of the filled values in {which}", change, bound))
    return Certificate(tuple(claims))


def stated_claims(facts: PcaFacts) -> Iterator[Claim]:
    """Yield the claims about what a model states beside its components, as far as somebody looked."""
    if facts.n_other_rows is not None:
        yield at_most("rows", "rows more or less than n_samples_", facts.n_other_rows, 0)
    if facts.off_centre is not None:
        statement = "‖mean of the centred rows‖ / √trace"
        yield at_most("mean", statement, facts.off_centre, max(np.sqrt(facts.rounding), facts.tolerance))
    if facts.total_error is not None:
        bound = facts.tolerance + facts.rounding
        yield at_most("total variance", "relative error of the total variance", facts.total_error, bound)
    if facts.misstated is not None:
        statement = "largest relative error of ratios, singular values and noise"
        yield at_most("stated numbers", statement, facts.misstated, ROUNDED)
    if facts.interval_error is not None:
        statement = "largest distance of an interval from that of the residual, beside λ₁"
        yield at_most("intervals", statement, facts.interval_error, facts.interval_bound + facts.rounding)


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
    return at_most("nothing missed", "largest variance found beside the components", beside, most_beside(facts))


def most_beside(facts: PcaFacts) -> float:
    """Return the variance that a direction beside the components may have."""
    return float(facts.variances[-1] + (facts.tolerance + facts.rounding) * facts.variances[0])


# --- fits that were cut short ---------------------------------------------------------------------


def without_components(certificate: Certificate, n_components: int, reason: str) -> Certificate:
    """Return what a fit that was cut short says of itself: nothing about single components."""
    others = [claim for claim in certificate if not claim.name.startswith(CENTRAL)]
    return Certificate((unsettled_claim(n_components, reason), *others))


def excused(claim: Claim, knew_all: bool) -> Claim:
    """Return what was measured of a fit that was cut short: what it left undone is not claimed.

    ``knew_all`` is False where it has not seen all rows, or not known what stands in their holes.
    """
    names = CENTRAL if knew_all else (*CENTRAL, *OF_ALL_ROWS)
    return claimed(claim, bool(claim.holds) or not claim.name.startswith(names), f"{claim.statement}; cut short")


def unsettled_claim(n_components: int, reason: str) -> Claim:
    statement = f"components; the fit was cut short ({reason}), and their intervals say how exact they are"
    return not_claimed(UNSETTLED, statement, n_components)


def is_cut(certificate: Certificate) -> bool:
    """Return whether a certificate says that the fit was cut short."""
    return any(claim.name == UNSETTLED for claim in certificate)


# --- the verifier ---------------------------------------------------------------------------------


class Stated(NamedTuple):
    """What a model says."""

    mean: np.ndarray
    scale: np.ndarray
    components: np.ndarray
    variances: np.ndarray
    ratios: np.ndarray
    singular_values: np.ndarray
    intervals: np.ndarray
    total: float
    noise: float
    n_rows: int


class Sums(NamedTuple):
    """What one look at the rows tells, of A = √w (x - μ) / (σ unit)."""

    n_rows: int  # of weight above 0
    weight: float
    centre: np.ndarray  # (d,) Σ w a
    products: np.ndarray  # (d, k) AᵀA V
    kept: float
    lost: float
    total: float


class Look(NamedTuple):
    """The rows of a table as the verifier sees them: about the stated mean, in the stated scale times a unit."""

    results: RowResults
    mean: np.ndarray
    scale: np.ndarray

    def of_blocks(self, work: RowWork) -> Iterator[Any]:
        """Yield ``work(A, weights)`` for each block."""
        return self.results(partial(of_centred, work, self.mean, self.scale))


def of_centred(work: RowWork, mean: np.ndarray, scale: np.ndarray, X: Any, weights: np.ndarray) -> Any:
    """Return the result of √w (x - μ) / σ in float64, for a block of rows x."""
    dense = X.toarray() if hasattr(X, "toarray") else X
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return work(np.sqrt(weights)[:, None] * ((dense.astype(np.float64) - mean) / scale), weights)


def facts_from_rows(results: RowResults, stated: Stated, tolerances: Tolerances) -> PcaFacts:
    """Return the facts, measured on the rows in float64 with plain products: no solver has a say in them.

    All is done in a unit in which the stated total is about 1. Should that be wrong, so are the numbers that follow.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        unit = unit_of(results, stated)
        facts = facts_in_units(results, in_unit(stated, unit), unit, tolerances)
        return facts._replace(
            variances=stated.variances.astype(np.float64),
            residuals=facts.residuals * unit**2,
            kept_and_lost=facts.kept_and_lost * unit**2,
            total=facts.total * unit**2,
        )


def largest_variance_beside(results: RowResults, stated: Stated, facts: PcaFacts) -> float:
    """Return the largest variance that is found at right angles to the stated components."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        unit = unit_of(results, stated)
        look, V = Look(results, stated.mean, stated.scale * unit), stated.components.astype(np.float64).T
        enough = most_beside(facts) / unit**2 * facts.degrees
        return float(largest_beside(look, V, facts.n_rows, enough) / facts.degrees * unit**2)


def unit_of(results: RowResults, stated: Stated) -> np.float64:
    """Return the power of two near the deviation of the rows: as stated, or where that is 0, as it is."""
    size = np.sqrt(stated.total)
    if size == 0.0:
        look = Look(results, stated.mean, stated.scale)
        size = max(look.of_blocks(largest_entry))
    return np.ldexp(1.0, np.frexp(size)[1])


def in_unit(stated: Stated, unit: np.float64) -> Stated:
    """Return what a model says of rows that are divided by a unit."""
    return stated._replace(
        variances=stated.variances / unit**2,
        singular_values=stated.singular_values / unit,
        intervals=stated.intervals / unit**2,
        total=stated.total / unit**2,
        noise=stated.noise / unit**2,
    )


def facts_in_units(results: RowResults, stated: Stated, unit: np.float64, tolerances: Tolerances) -> PcaFacts:
    V, variances = stated.components.astype(np.float64).T, stated.variances.astype(np.float64)
    look = Look(results, stated.mean, stated.scale * unit)
    sums = sums_of(look, V)
    degrees = sums.weight - 1.0
    facts = PcaFacts(
        variances=variances,
        residuals=np.linalg.norm(sums.products / degrees - V * variances, axis=0),
        skew=float(np.abs(V.T @ V - np.eye(V.shape[1])).max(initial=0.0)),
        n_turned=turned_count(stated.components),
        kept_and_lost=(sums.kept + sums.lost) / degrees,
        total=sums.total / degrees,
        tolerance=tolerances.residual,
        rounding=tolerances.rounding,
    )
    return facts._replace(
        off_centre=length_of(sums.centre) / sums.weight / np.sqrt(facts.total) if sums.total > 0.0 else 0.0,
        total_error=beside(abs(stated.total - facts.total), facts.total),
        misstated=misstatement(stated, sums.weight),
        interval_error=interval_error(stated, facts),
        interval_bound=tolerances.agreement,
        n_other_rows=abs(stated.n_rows - sums.n_rows),
        n_rows=sums.n_rows,
        degrees=degrees,
    )


def sums_of(look: Look, V: np.ndarray) -> Sums:
    """Return the sums over all rows."""
    total = Sums(0, 0.0, np.zeros(V.shape[0]), np.zeros(V.shape), 0.0, 0.0, 0.0)
    for of_block in look.of_blocks(partial(block_sums, V)):
        total = Sums(*(one + other for one, other in zip(total, of_block, strict=True)))
    return total


def block_sums(V: np.ndarray, A: np.ndarray, weights: np.ndarray) -> Sums:
    """Return the sums over a block."""
    scores = A @ V
    return Sums(
        n_rows=int((weights > 0.0).sum()),
        weight=float(weights.sum()),
        centre=np.sqrt(weights) @ A,
        products=A.T @ scores,
        kept=float((scores**2).sum()),
        lost=float(((A - scores @ V.T) ** 2).sum()),
        total=float((A**2).sum()),
    )


def largest_entry(A: np.ndarray, weights: np.ndarray) -> float:
    """Return the largest |a| of a block."""
    return largest_size(A)


def misstatement(stated: Stated, weight: float) -> float:
    """Return the largest relative error of ratios, singular values and noise, beside what total and variances tell."""
    variances, total = stated.variances, stated.total
    n_left = min(weight, stated.mean.size) - variances.size
    rest = max(total - float(variances.sum()), 0.0) if n_left >= 1.0 else 0.0
    largest = float(variances.max(initial=0.0))
    errors = [
        largest_size(stated.ratios * total - variances) / total if total > 0.0 else largest_size(stated.ratios),
        beside(largest_size(stated.singular_values**2 / (weight - 1.0) - variances), largest),
        beside(abs(stated.noise * max(n_left, 1.0) - rest), total),
    ]
    return float(np.max(errors))


def interval_error(stated: Stated, facts: PcaFacts) -> float:
    """Return how far the stated intervals are from those of the residuals as they were measured, beside λ₁."""
    expected = intervals(facts.variances, facts.residuals, facts.rounding)
    largest = max(float(facts.variances.max(initial=0.0)), facts.total)
    return beside(largest_size(stated.intervals - expected), largest)


def beside(error: float, size: float) -> float:
    """Return an error beside a size; any error is too large beside nothing.

    >>> beside(1.0, 4.0), beside(0.0, 0.0), beside(1.0, 0.0)
    (0.25, 0.0, inf)
    """
    if error == 0.0:
        return 0.0
    return float(error / size) if size > 0.0 else float("inf")


def largest_size(values: np.ndarray) -> float:
    return float(np.abs(values).max(initial=0.0))


def length_of(vector: np.ndarray) -> float:
    return float(np.linalg.norm(vector))


def turned_count(components: np.ndarray) -> int:
    """Return how many components have a negative entry that is larger than all positive ones.

    >>> turned_count(np.array([[0.6, -0.8], [0.8, 0.6]]))
    1
    """
    if components.size == 0:
        return 0
    return int((-components.min(axis=1) > (1.0 + EVEN) * components.max(axis=1)).sum())


# --- is anything larger beside the components? ----------------------------------------------------


def largest_beside(look: Look, V: np.ndarray, n_rows: int, enough: float) -> float:
    """Return the largest Rayleigh quotient of AᵀA at right angles to V; not a number where the rows are none.

    Of a large matrix it is a lower bound: the search ends where it has found ``enough``, or is sure to find no more.
    """
    n_columns, k = V.shape
    if k >= n_columns:
        return 0.0
    Q = np.linalg.qr(V)[0]
    if n_columns <= DENSE:
        return largest_value(products_beside(look, Q))
    if n_rows <= DENSE and n_rows * n_columns <= DENSE_VALUES:
        rest = np.concatenate(list(look.of_blocks(partial(rows_beside, Q))))
        return largest_value(rest @ rest.T)
    return largest_ritz_value(partial(normal_products, look), Q, enough)


def normal_products(look: Look, block: np.ndarray) -> np.ndarray:
    """Return AᵀA times a block of directions."""
    product = np.zeros(block.shape)
    for of_rows in look.of_blocks(partial(normal_product, block)):
        product += of_rows
    return product


def normal_product(block: np.ndarray, A: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return what some rows add to AᵀA times a block of directions."""
    return A.T @ (A @ block)


def rows_beside(Q: np.ndarray, A: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return rows without what lies in the span of Q."""
    return A - (A @ Q) @ Q.T


def scatter_of_rows(A: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return AᵀA of some rows."""
    return A.T @ A


def products_beside(look: Look, Q: np.ndarray) -> np.ndarray:
    """Return P AᵀA P with P = I - QQᵀ."""
    M = np.zeros((Q.shape[0], Q.shape[0]))
    for of_rows in look.of_blocks(scatter_of_rows):
        M += of_rows
    M -= Q @ (Q.T @ M)
    return M - (M @ Q) @ Q.T


def largest_value(M: np.ndarray) -> float:
    """Return the largest eigenvalue of a symmetric matrix."""
    return float(np.linalg.eigvalsh(M)[-1]) if np.isfinite(M).all() else float("nan")


def largest_ritz_value(times: Callable[[np.ndarray], np.ndarray], Q: np.ndarray, enough: float) -> float:
    """Return the largest Ritz value of M, by which ``times`` multiplies, in the span of a few random directions and
    their images, beside Q.

    With the values θ of H = BᵀMB and its vectors s, M has an eigenvalue within ‖R s(last block)‖ of θ, where R is what
    M B sticks out of the span of B.
    """
    probe = np.random.default_rng(1).standard_normal((Q.shape[0], min(N_PROBES, Q.shape[0] - Q.shape[1])))
    block = orthonormal_beside(Q, probe)
    basis, H = block, np.empty((0, 0))
    for n_passes in range(1, MOST_PASSES + 1):
        product = times(block)
        if not np.isfinite(product).all():
            return float("nan")
        H = bordered(H, basis.T @ product)
        sticking_out = product - Q @ (Q.T @ product) - basis @ (basis.T @ product)
        values, vectors = np.linalg.eigh(H)
        following, R = np.linalg.qr(sticking_out)
        uncertain = length_of(R @ vectors[-block.shape[1] :, -1])
        is_sure = n_passes >= FEWEST_PASSES and values[-1] + uncertain <= enough
        if values[-1] > enough or is_sure or basis.shape[1] + block.shape[1] > Q.shape[0] - Q.shape[1]:
            break
        block = orthonormal_beside(np.hstack([Q, basis]), following)
        basis = np.hstack([basis, block])
    return float(values[-1])


def bordered(H: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return a symmetric matrix with new last columns, and the same as rows."""
    n_old, width = H.shape[0], columns.shape[1]
    grown = np.zeros((n_old + width, n_old + width))
    grown[:n_old, :n_old] = H
    grown[:, n_old:] = columns
    grown[n_old:, :n_old] = columns[:n_old].T
    return (grown + grown.T) / 2.0


def orthonormal_beside(known: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return orthonormal columns beside orthonormal ones.

    What is only rounding points anywhere once it has length 1, so it is turned aside again.
    """
    for _ in range(3):
        vectors = np.linalg.qr(vectors - known @ (known.T @ vectors))[0]
    return vectors


# --- holes ----------------------------------------------------------------------------------------

Filled = Callable[[], Iterator[tuple[np.ndarray, np.ndarray]]]  # rows as the model fills them, and where they had holes


def change_of_holes(filled: Filled, results: RowResults, stated: Stated) -> float | None:
    """Return how much one more round would change the filled values, beside the deviation of a column; None of none.

    The round: the mean of the filled rows, one product with C for the components, and the rows that these stand for.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        scale = stated.scale * unit_of(results, stated)
        V = stated.components.astype(np.float64).T
        sums = sums_of(Look(results, stated.mean, scale), V)
        shift = sums.centre / sums.weight
        turned = np.linalg.qr(sums.products)[0] if np.isfinite(sums.products).all() else V
        squares, n_holes = 0.0, 0
        for X, holes in filled():
            A = (X - stated.mean) / scale - shift
            squares += float((((A @ turned) @ turned.T - A)[holes] ** 2).sum())
            n_holes += int(holes.sum())
        if n_holes == 0:
            return None
        return beside(float(np.sqrt(squares / n_holes)), float(np.sqrt(sums.total / sums.weight / shift.size)))
