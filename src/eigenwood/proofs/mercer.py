"""Mercer's condition: a similarity is a kernel when every matrix of similarities is positive semidefinite (the kernel
lecture)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from eigenwood.proofs.claim import Certificate, at_least, at_most

DENSE_ROWS = 5000  # up to here all of LAPACK costs less than a careful search for one eigenvalue among many near 0
EIGENVALUES_OFF = 1e-10  # in units of the largest |K_ij|·n: what rounding alone may do


@dataclass(frozen=True)
class MercerReport:
    """The smallest eigenvalue of a Gram matrix, and the direction c with cᵀKc = smallest (‖c‖ = 1)."""

    smallest: float
    direction: np.ndarray
    worst_rows: np.ndarray  # the rows that weigh most in the direction, most first
    certificate: Certificate

    @property
    def holds(self) -> bool:
        return self.certificate.holds is True

    def __str__(self) -> str:
        return str(self.certificate)


def mercer_report(K: np.ndarray) -> MercerReport:
    """Return whether K is symmetric and positive semidefinite, up to rounding."""
    n = K.shape[0]
    size = max(float(np.abs(K).max()), np.finfo(float).tiny)
    rounding = max(EIGENVALUES_OFF, 4 * np.finfo(K.dtype).eps) * size * n
    asymmetry = float(np.abs(K - K.T).max())
    smallest, direction = smallest_eigenpair((K.astype(np.float64) + K.T) / 2.0)
    certificate = Certificate(
        (
            at_most("symmetry", "max |k(x,z) - k(z,x)|", asymmetry, rounding),
            at_least("smallest eigenvalue", "cᵀKc ≥ 0 for every c, up to rounding", smallest, -rounding),
        )
    )
    return MercerReport(smallest, direction, np.argsort(-np.abs(direction), kind="stable")[:5], certificate)


def smallest_eigenpair(K: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the smallest eigenvalue of a symmetric K and its eigenvector, largest entry positive."""
    vectors = eigh(K, subset_by_index=[0, 0])[1] if K.shape[0] <= DENSE_ROWS else _smallest_of_many(K)
    direction = vectors[:, 0]
    smallest = float(direction @ K @ direction)  # closer to the truth than what the search stopped at
    return smallest, direction * np.sign(direction[np.argmax(np.abs(direction))])


def _smallest_of_many(K: np.ndarray) -> np.ndarray:
    """Return the eigenvector of the smallest eigenvalue by Lanczos, or by all of LAPACK if that does not settle.

    Small eigenvalues of a Gram matrix crowd at 0. Measured from the largest one they are the far end of the spectrum,
    where an accuracy relative to the whole matrix is enough.
    """
    start = np.ones(K.shape[0])
    try:
        largest = eigsh(K, k=1, which="LA", v0=start, tol=1e-6, return_eigenvectors=False)[0]
        return eigsh(largest * np.eye(K.shape[0]) - K, k=1, which="LA", v0=start, tol=1e-8)[1]
    except ArpackNoConvergence:
        return eigh(K, subset_by_index=[0, 0])[1]
