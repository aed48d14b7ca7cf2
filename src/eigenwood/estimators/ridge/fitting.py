"""From rows and amounts to the coefficients of a kernel ridge regression, and the numbers of its certificate."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy import linalg

from eigenwood.core.kernels.blocks import gram_symmetric
from eigenwood.core.kernels.features import Features
from eigenwood.core.kernels.low_rank import Rank, random_pivots
from eigenwood.core.kernels.matrix import KernelMatrix, tile_sums
from eigenwood.core.kernels.ridge import WholeRidge, landmark_ridge, whole_ridge
from eigenwood.core.pieces import at_once
from eigenwood.estimators.landmarks import MadeAgain
from eigenwood.estimators.ridge.input_checks import RidgeData
from eigenwood.proofs.claim import Certificate, Claim, not_claimed
from eigenwood.proofs.representer import Measured, RepresenterFacts, representer_claims, representer_facts
from eigenwood.validation.kernels import check_mercer_residual

MEASURED_ROWS = 4096  # whose kernel values are all looked at for the certificate of landmarks
EXACT = 1e-9  # a share of the primal that may be left to gain
OF_TERMS = 1e-13  # by which a sum in float64 is off, as a share of its terms without their signs
SINGULAR = "Singular matrix in solving dual problem. Using least-squares solution instead."


class Fit(NamedTuple):
    """The rows that f stands on, their coefficients, what they leave of the trace, and the numbers of each output."""

    support: np.ndarray
    beta: np.ndarray  # (n_support, n_outputs)
    trace_error: float
    facts: list[RepresenterFacts]


def whole_fit(data: RidgeData, K: KernelMatrix, n_threads: int) -> Fit:
    """Return the model of the whole kernel: every row has a coefficient."""
    beta, facts, lengths = np.empty_like(data.y), list[RepresenterFacts](), lengths_of(K)
    solved = {alpha: solved_for(data, alpha, n_threads) for alpha in np.unique(data.alphas)}
    for column, alpha in enumerate(data.alphas):
        beta[:, column] = solved[alpha].beta[:, column]
        facts.append(whole_facts(data, column, beta[:, column], solved[alpha].scores[:, column], lengths))
    return Fit(np.arange(len(beta)), beta, 0.0, facts)


def solved_for(data: RidgeData, alpha: float, n_threads: int) -> WholeRidge:
    """Return the solution of the system with one alpha, the shortest where it is singular."""
    try:
        return whole_ridge(gram_of(data, n_threads), data.y, alpha / data.weights, n_threads)
    except np.linalg.LinAlgError:
        warnings.warn(SINGULAR, stacklevel=5)
        K, roots = gram_of(data, n_threads), np.sqrt(data.weights)[:, None]
        system = roots * K * roots.T
        system[np.diag_indices_from(system)] += alpha
        beta = roots * linalg.lstsq(system, roots * data.y, check_finite=False)[0]
        return WholeRidge(beta, K @ beta, np.zeros_like(beta))


def gram_of(data: RidgeData, n_threads: int) -> np.ndarray:
    """Return the whole kernel matrix, to be written to."""
    return data.rows.copy() if data.kernel is None else gram_symmetric(data.rows, data.kernel, n_threads)


def landmark_fit(data: RidgeData, K: KernelMatrix, rank: Rank, seed: int, n_threads: int) -> Fit:
    """Return the model on landmarks."""
    for step in random_pivots(K, rank, seed, n_threads):
        found = step.result
        check_mercer_residual("KernelRidge", found.lowest)
    features, weights = Features(found.factor.T, n_threads), np.empty((found.pivots.size, data.y.shape[1]))
    for alpha in np.unique(data.alphas):
        columns = data.alphas == alpha
        weights[:, columns] = weights_for(features, data.y[:, columns], data.weights, alpha)
    beta = linalg.solve_triangular(found.triangle, weights, lower=True, trans="T", check_finite=False)
    scores = at_once(features.ahead(weights))
    alphas = np.column_stack([asked_for(data, column, scores[:, column]) for column in range(scores.shape[1])])
    residual = found.diagonal - features.squares()
    made = MadeAgain(scores, weights, at_once(features.back(alphas)), alphas, residual)
    is_small = K.n_rows() <= MEASURED_ROWS
    facts = []
    for column in range(scores.shape[1]):
        whole = sum(tile_sums(K, alphas[:, [column]], n_threads)) if is_small else None
        facts.append(landmark_facts(data, column, made, beta, lengths_of(K), found.pivots, whole))
    return Fit(found.pivots, beta, found.trace_error(), facts)


def weights_for(features: Features, y: np.ndarray, weights: np.ndarray, alpha: float) -> np.ndarray:
    """Return W for one alpha; where it is 0, the shortest of those with the least squares."""
    if alpha > 0.0:
        return landmark_ridge(features, y, weights / alpha)
    roots = np.sqrt(weights)[:, None]
    return linalg.lstsq(roots * features.columns.T, roots * y, check_finite=False)[0]


# --- numbers --------------------------------------------------------------------------------------


def lengths_of(K: KernelMatrix) -> np.ndarray:
    """Return √k(x, x) of every row."""
    return np.sqrt(np.maximum(K.diagonal(), 0.0))


def costs_of(data: RidgeData, column: int) -> np.ndarray:
    """Return c = w / alpha; where alpha is 0, the losses alone."""
    return data.weights / (data.alphas[column] or 1.0)


def asked_for(data: RidgeData, column: int, scores: np.ndarray, rows: slice = slice(None)) -> np.ndarray:
    """Return α = c (y - f) of some rows."""
    return costs_of(data, column)[rows] * (data.y[rows, column] - scores)


def rounding_of(data: RidgeData, column: int, lengths: np.ndarray, reach: float) -> float:
    """Return by how much a gap may be off; ``reach`` is Σ |β_s| √k(x_s, x_s)."""
    off = OF_TERMS * (np.abs(data.y[:, column]) + lengths * reach)
    return 0.5 * float((costs_of(data, column) * off) @ lengths) ** 2


def whole_facts(
    data: RidgeData, column: int, beta: np.ndarray, scores: np.ndarray, lengths: np.ndarray
) -> RepresenterFacts:
    """Return the numbers of one output, with a coefficient for every row: ‖Σ d_i k(x_i, ·)‖ ≤ Σ |d_i| √k(x_i, x_i)."""
    costs, y = costs_of(data, column), data.y[:, column]
    left = y - scores
    return RepresenterFacts(
        primal=0.5 * float(beta @ scores) + 0.5 * float(costs @ left**2),
        in_span=0.5 * float(np.abs(beta - costs * left) @ lengths) ** 2,
        outside_bound=0.0,
        outside=0.0,
        trace_error=0.0,
        balance=None,
        constant=0.5 * float(costs @ y**2),
        rounding=rounding_of(data, column, lengths, float(np.abs(beta) @ lengths)),
        label=label_of(data, column),
    )


def landmark_facts(
    data: RidgeData,
    column: int,
    made: MadeAgain,
    beta: np.ndarray,
    lengths: np.ndarray,
    support: np.ndarray,
    whole: float | None,
) -> RepresenterFacts:
    """Return the numbers of one output on landmarks; ``whole`` is αᵀKα, where it was measured."""
    weights, asked, alpha = (part[:, [column]] for part in (made.weights, made.asked, made.alpha))
    costs, y = costs_of(data, column), data.y[:, column]
    loss = 0.5 * float(costs @ (y - made.scores[:, column]) ** 2)
    outside = None if whole is None else 0.5 * (whole - float(np.vdot(asked, asked)))
    measured = Measured(weights, asked, alpha, made.residual, loss, 0.5 * float(costs @ y**2), outside)
    reach = float(np.abs(beta[:, column]) @ lengths[support])
    return representer_facts(measured, is_balanced=False)._replace(
        rounding=rounding_of(data, column, lengths, reach), label=label_of(data, column)
    )


def label_of(data: RidgeData, column: int) -> str:
    """Return the end of the names of an output's claims."""
    return "" if data.alphas.size == 1 else f" [{column}]"


def ridge_certificate(data: RidgeData, facts: list[RepresenterFacts]) -> Certificate:
    """Return the claims about every output."""
    claims = list[Claim]()
    for alpha, one in zip(data.alphas, facts, strict=True):
        if alpha > 0.0:
            claims += representer_claims(one, EXACT, converged=True)
        else:
            words = "Σ ½ w (y - f)²: alpha is 0, so that nothing holds ‖f‖ and no gap follows from it"
            claims.append(not_claimed(f"primal{one.label}", words, one.primal))
    return Certificate(tuple(claims))
