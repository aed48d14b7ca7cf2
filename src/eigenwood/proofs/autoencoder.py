"""What an autoencoder of one linear layer can do: no less error than principal components, and at best their subspace.

With λ the eigenvalues of the rows' covariance (scaled as the network sees them), a projection on k directions loses at
least λ_{k+1} + λ_{k+2} + …, and what it loses beyond that bounds its angles with the principal subspace:

    excess ≥ (λ_k − λ_{k+1}) · Σ sin²θ
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import subspace_angles
from scipy.sparse.linalg import svds

from eigenwood.proofs.claim import ROUNDING, Claim, at_least, at_most, claimed, measured

SETTLED = 1e-3  # of the variance: what a network that has settled may lose beyond the least
MOST_PAIRS = 500


def reconstruction_claim(rows: np.ndarray, again: np.ndarray, stated: float) -> Claim:
    """Return that the error stated is the mean squared error of the rows that come back, in scaled units."""
    error = float(((rows - again) ** 2).sum() / len(rows))
    size = max(float((rows**2).sum() / len(rows)), np.finfo(np.float64).tiny)
    return at_most("error", "|error stated - measured|, of the rows' variance", abs(error - stated) / size, 1e-6)


def principal_pairs(rows: np.ndarray, wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest eigenvalues of the rows' covariance and their vectors; of a large one no more than wanted."""
    if min(rows.shape) <= max(MOST_PAIRS, wanted):
        _, values, vectors = np.linalg.svd(rows, full_matrices=False)
    else:
        _, values, vectors = svds(rows, wanted, v0=np.ones(min(rows.shape)))
        values, vectors = values[::-1], vectors[::-1]
    return values**2 / len(rows), vectors.T


def linear_claims(rows: np.ndarray, decoder: np.ndarray, stated: float, has_settled: bool) -> Iterator[Claim]:
    """Yield how the error and the span of a linear network stand to those of the principal components."""
    k = decoder.shape[0]
    values, vectors = principal_pairs(rows, k + 1)
    total = max(float((rows**2).sum() / len(rows)), np.finfo(np.float64).tiny)
    least = max(total - float(values[:k].sum()), 0.0)
    yield at_least("not below PCA", "(error - least error of k directions) / variance", (stated - least) / total, -1e-6)
    excess = (stated - least) / total
    near = at_most("as good as PCA", "(error - least error of k directions) / variance", excess, SETTLED)
    yield claimed(near, has_settled, "the network has not settled: its error is above the least by")
    if k < values.size and k < rows.shape[1] and np.linalg.matrix_rank(decoder) == k:
        sine = float(np.sin(subspace_angles(decoder.T, vectors[:, :k]).max()))
        gap = (values[k - 1] - values[k]) / total
        if gap > ROUNDING:
            bound = float(np.sqrt(max(excess, 0.0) / gap)) + 1e-4
            yield at_most(
                "principal angles", "sine of the largest angle to PCA's subspace ≤ √(excess / gap)", sine, bound
            )
        else:
            yield measured("principal angles", "sine of the largest angle to PCA's subspace, which is not unique", sine)
