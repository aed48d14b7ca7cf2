"""The gate for kernels: gamma becomes a number, and what a user's own function returns is checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from eigenwood.errors import InputError
from eigenwood.validation.params import Number, check_values

BLOCK_ENTRIES = 65536
SLAB_ROWS = 512
LEAST_SPREAD = 1e-300  # of which 1 / spread is a number, and whose digits are not lost
NO_MERCER = 1e-6  # a share of k(x, x) that may be missing by rounding, in float64
SYMMETRY = 1e-6  # what k(x, z) and k(z, x) may differ by, as a share of the largest value


def gamma_value(who: str, gamma: str | float, X: Any, weights: np.ndarray | None = None) -> float:
    """Return gamma as a number: "scale" is 1 / (n_features · variance of X), "auto" is 1 / n_features.

    Weights mean repeated rows, so the variance is a weighted one.
    """
    if not isinstance(gamma, str):
        return float(gamma)
    spread = X.shape[1] * _variance(X, weights) if gamma == "scale" else float(X.shape[1])
    if 0.0 < spread < LEAST_SPREAD:
        raise InputError(
            f"{who}: X must have a variance of at least {LEAST_SPREAD:g} over all columns for gamma='scale'; got "
            f"{spread:.2g}."
        )
    return 1.0 / spread if spread > 0.0 else 1.0


def gamma_from_s(s: float) -> float:
    """Return gamma for the kernel lecture's scale s: exp(-‖x-z‖²/s²).

    >>> gamma_from_s(2.0)
    0.25
    """
    check_values("gamma_from_s", {"s": Number(above=0)}, {"s": s})
    return 1.0 / s**2


def gamma_from_sigma(sigma: float) -> float:
    """Return gamma for the PCA and boosting lecture's width sigma: exp(-‖x-z‖²/2σ²).

    >>> gamma_from_sigma(2.0)
    0.125
    """
    check_values("gamma_from_sigma", {"sigma": Number(above=0)}, {"sigma": sigma})
    return 1.0 / (2.0 * sigma**2)


def _variance(X: Any, weights: np.ndarray | None) -> float:
    """Return the variance of all entries of X, in float64: first the mean, then the squares around it."""
    weights = np.ones(X.shape[0]) if weights is None else weights / weights.max()  # the same bits if all are equal
    n_entries = weights.sum() * X.shape[1]
    mean = weights @ np.asarray(X.sum(axis=1, dtype=np.float64)).ravel() / n_entries
    if not sparse.issparse(X):
        return _squares_around(X, weights, mean) / n_entries
    stored = np.repeat(weights, np.diff(X.indptr))
    zeros = n_entries - stored.sum()
    return float((stored @ np.square(X.data.astype(np.float64) - mean) + zeros * mean**2) / n_entries)


def _squares_around(X: np.ndarray, weights: np.ndarray, mean: float) -> float:
    """Return Σ w_i Σ_j (x_ij - mean)², in blocks that stay in the cache."""
    total, block_rows = 0.0, max(1, BLOCK_ENTRIES // X.shape[1])
    for start in range(0, X.shape[0], block_rows):
        block = X[start : start + block_rows] - mean
        total += float(weights[start : start + block_rows] @ np.einsum("ij,ij->i", block, block))
    return total


def checked_function(who: str, function: Any) -> Any:
    """Return the user's kernel function with its answers checked."""

    def kernel(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        answer = function(X, Z)
        K = np.asarray(answer)
        if K.dtype.kind not in "fiub":
            raise InputError(f"{who}: kernel must return an array of real numbers; got {_kind_of(answer, K)}.")
        if K.shape != (X.shape[0], Z.shape[0]):
            raise InputError(
                f"{who}: kernel must return an array of shape ({X.shape[0]}, {Z.shape[0]}); got {K.shape}."
            )
        if not np.isfinite(K).all():
            raise InputError(f"{who}: kernel must return finite numbers; got {'NaN' if np.isnan(K).any() else 'inf'}.")
        return K.astype(np.float64)

    return kernel


def symmetric_function(who: str, function: Callable) -> Callable:
    """Return a checked function that must say k(x, z) = k(z, x) whenever it is asked about both at once.

    That is where the first rows of X are those of Z.
    """

    def kernel(X, Z):
        K = function(X, Z)
        n = Z.shape[0]
        if n <= X.shape[0] and np.array_equal(X[:n], Z):
            off = np.abs(K[:n] - K[:n].T)
            if off.max(initial=0.0) > SYMMETRY * float(np.abs(K[:n]).max(initial=0.0)):
                i, j = np.unravel_index(int(off.argmax()), off.shape)
                raise InputError(
                    f"{who}: kernel must be symmetric; got {K[i, j]:.6g} for two rows, and {K[j, i]:.6g} the other way "
                    "round."
                )
        return K

    return kernel


def _kind_of(answer: Any, K: np.ndarray) -> str:
    return f"dtype {K.dtype}" if isinstance(answer, np.ndarray) else type(answer).__name__


def check_square(who: str, K: np.ndarray) -> np.ndarray:
    """Return a precomputed Gram matrix of the training rows, which must be square."""
    if K.shape[0] != K.shape[1]:
        raise InputError(f"{who}: a precomputed X must be a square matrix of similarities; got shape {K.shape}.")
    return K


def check_dense_gram(who: str, K: Any) -> None:
    """Raise unless a precomputed Gram matrix is dense."""
    if sparse.issparse(K):
        raise TypeError(
            f"{who}: Sparse precomputed similarities must be made dense by toarray(); got {type(K).__name__}."
        )


def check_holds_rows(who: str, given: np.ndarray, needed: np.ndarray) -> None:
    """Raise unless a precomputed matrix has the rows of all support vectors."""
    absent = np.setdiff1d(needed, given)
    if absent.size:
        raise InputError(
            f"{who}: a precomputed X must hold the rows of the training matrix; got none for row {absent[0]}."
        )


def check_power(who: str, largest: float, degree: int, dtype: np.dtype) -> None:
    """Raise unless ``largest`` to the power of ``degree`` is a number that the dtype can hold."""
    if degree * np.log(max(largest, 1.0)) > np.log(np.finfo(dtype).max) - 1.0:
        raise InputError(
            f"{who}: degree must keep (gamma x·z + coef0)^degree within {dtype}; got {degree} for values up to "
            f"{largest:.2g}."
        )


def check_symmetric(who: str, K: np.ndarray, what: str, places: np.ndarray | None = None) -> None:
    """Raise unless k(x, z) = k(z, x) up to rounding, a slab of rows at a time; ``places`` are their numbers."""
    allowed = SYMMETRY * float(np.abs(K).max(initial=0.0))
    for start in range(0, K.shape[0], SLAB_ROWS):
        slab = slice(start, start + SLAB_ROWS)
        off = np.abs(K[slab, start:] - K[start:, slab].T)
        if off.size and off.max() > allowed:
            i, j = start + np.array(np.unravel_index(int(off.argmax()), off.shape))
            first, second = (i, j) if places is None else places[[i, j]]
            raise InputError(
                f"{who}: {what} must be symmetric; got {K[i, j]:.6g} for rows {first} and {second}, and {K[j, i]:.6g} "
                "the other way round."
            )


def check_support_vectors(
    who: str,
    is_precomputed: bool,
    support: np.ndarray,
    vectors_shape: tuple[int, ...],
    n_features: int,
    name: str = "support_vectors_",
) -> None:
    """Raise unless the support vectors of a model file are as many and as wide as it says; none if precomputed."""
    expected = (0, 0) if is_precomputed else (support.size, n_features)
    if vectors_shape != expected:
        raise InputError(f"{who}: {name} must have shape {expected}; got {vectors_shape}.")
    if is_precomputed and support.size and support.max() >= n_features:
        raise InputError(f"{who}: support_ must be below {n_features}; got {support.max()}.")


def check_different_support(who: str, support: np.ndarray) -> None:
    """Raise unless no row is among the support vectors of a model file twice."""
    if np.unique(support).size < support.size:
        raise InputError(f"{who}: support_ must hold different rows; got one twice.")


def check_mercer_residual(who: str, lowest: float) -> None:
    """Raise where a factorisation met something that no Mercer kernel has; ``lowest`` is a share of k(x, x)."""
    if lowest < -NO_MERCER:
        raise InputError(
            f"{who}: kernel must be a Mercer kernel, whose matrices have no eigenvalue below 0; got one that leaves "
            f"{lowest:.2g} of a k(x, x)."
        )


def definite_factor(who: str, K: np.ndarray) -> np.ndarray:
    """Return the lower Cholesky factor of the kernel matrix of the support vectors of a model file."""
    try:
        return np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        raise InputError(f"{who}: support_ must hold rows that none of the others explains.") from None
