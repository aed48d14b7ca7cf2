"""The checks of what a kernel PCA is given and asked for, and of the numbers in its model file."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from eigenwood.errors import InputError
from eigenwood.validation.kernels import check_symmetric

WHO = "KernelPCA"
NEGATIVE = 1e-5  # beside the largest eigenvalue: what is further below 0 is no rounding (scikit-learn's bound)
NO_REST = {np.dtype(np.float32): 1e-3, np.dtype(np.float64): 1e-6}  # a share of k(x, x) that is rounding
RIDGE, FIXED_POINT, DISTANCES = PREIMAGES = ("ridge", "fixed_point", "distances")
GAUSSIAN_ONLY = {FIXED_POINT: ("rbf",), DISTANCES: ("rbf",)}


# --- kernels --------------------------------------------------------------------------------------


def check_positive(least: float, largest: float, rounding: float, smallest: float | None) -> None:
    """Raise where a wanted eigenvalue is far below 0: the similarity has no space in which components are axes.

    ``least`` is the smallest of those wanted, ``smallest`` that of all, if it is known.
    """
    if least < -max(NEGATIVE * largest, 10.0 * rounding):
        told = least if smallest is None else min(least, smallest)
        raise InputError(
            f"{WHO}: kernel must be positive semidefinite as far as components are wanted; got an eigenvalue of "
            f"{told:.6g} (There are significant negative eigenvalues; fewer n_components may do)."
        )


def check_no_negative_rest(lowest: float, dtype: np.dtype) -> None:
    """Raise where landmarks leave less than nothing of a k(x, x): what they say of eigenvalues would be false.

    ``lowest`` is a share of k(x, x).
    """
    if lowest < -NO_REST[dtype]:
        raise InputError(
            f"{WHO}: kernel must be positive semidefinite with eigen_solver='low_rank', rows in blocks, or more rows "
            f"than memory_limit has room for; got one that leaves {lowest:.2g} of a k(x, x) (eigen_solver='krylov' "
            "finds the components of positive eigenvalues)."
        )


def warn_of_negative(smallest: float | None, certificate: Any) -> None:
    """Warn where a similarity has turned out to be no kernel."""
    told = [claim for claim in certificate if claim.name == "smallest eigenvalue" and claim.holds is False]
    if told:
        warnings.warn(
            f"{WHO}: kernel is not positive semidefinite on these rows, the smallest eigenvalue of the centred Gram "
            f"matrix is {smallest:.6g}; components of positive eigenvalues are there nevertheless.",
            UserWarning,
            stacklevel=4,
        )


def symmetric_once_centred(K: np.ndarray) -> np.ndarray:
    """Return similarities made symmetric; raise unless centring would make them so, as scikit-learn takes them."""
    off = (K - K.T) / 2.0
    slant = off.mean(axis=1)
    if not off.any():
        return K
    check_symmetric(WHO, K - (slant[:, None] - slant), "a precomputed X")
    return (K + K.T) / 2.0


def check_room_for_dense(n_bytes: float, limit: float) -> None:
    """Raise unless LAPACK has room for all of K."""
    if n_bytes > limit:
        raise InputError(
            f"{WHO}: memory_limit must have room for K and its copies with eigen_solver='dense', "
            f"{n_bytes / 1e6:.4g} MB; got {limit / 1e6:.4g} MB (eigen_solver='auto' finds another way)."
        )


def check_enough_rows(n_rows: int) -> None:
    """Raise unless there is something to centre."""
    if n_rows < 1:
        raise InputError(f"{WHO}: X must have at least 1 row; got {n_rows}.")


def check_blocks(asked: str, is_precomputed: bool, preimage: str | None) -> None:
    """Raise where rows in blocks are given to what must have all of them."""
    if asked not in ("auto", "low_rank"):
        raise InputError(f"{WHO}: eigen_solver must be 'auto' or 'low_rank' for blocks of rows; got {asked!r}.")
    if is_precomputed:
        raise InputError(f"{WHO}: kernel must not be 'precomputed' for blocks of rows; got {'precomputed'!r}.")
    if preimage == RIDGE:
        raise InputError(f"{WHO}: preimage must be None, 'fixed_point' or 'distances' for blocks of rows; got 'ridge'.")


# --- going back -----------------------------------------------------------------------------------


def preimage_of(model: Any) -> str | None:
    """Return how a model goes back; raise where its kernel does not allow it."""
    asked = RIDGE if model.preimage is None and model.fit_inverse_transform else model.preimage
    if asked is None:
        return None
    if model.kernel == "precomputed":
        raise InputError(
            f"{WHO}: kernel must be a function of rows to go back to them; got 'precomputed' (Cannot "
            "fit_inverse_transform with a precomputed kernel.)."
        )
    if asked in GAUSSIAN_ONLY and model.kernel not in GAUSSIAN_ONLY[asked]:
        raise InputError(f"{WHO}: kernel must be 'rbf' with preimage={asked!r}; got {model.kernel!r}.")
    return asked


def check_can_go_back(preimage: str | None) -> None:
    """Raise unless a way back was asked for."""
    if preimage is None:
        raise NotFittedError(
            f"{WHO}: preimage must be 'ridge', 'fixed_point' or 'distances' before the fit, or fit_inverse_transform "
            "True, to go back; got None."
        )


def check_dense_rows(preimage: str | None, is_sparse: bool) -> None:
    """Raise where sparse rows should come back, which no way gives."""
    if preimage is not None and is_sparse:
        raise InputError(f"{WHO}: X must be dense to go back; got a sparse matrix (preimage=None takes it).")


def check_room_for_ridge(n_rows: int, itemsize: int, limit: float) -> None:
    """Raise unless the kernel values of all pairs of scores have room."""
    n_bytes = float(n_rows) ** 2 * itemsize
    if n_bytes > limit:
        raise InputError(
            f"{WHO}: memory_limit must have room for {n_bytes / 1e6:.4g} MB with preimage='ridge'; got "
            f"{limit / 1e6:.4g} MB (preimage='fixed_point' needs none)."
        )


@contextmanager
def check_definite(alpha: float) -> Iterator[None]:
    """Raise a sentence where a matrix cannot be factored."""
    try:
        yield
    except np.linalg.LinAlgError as problem:
        raise InputError(
            f"{WHO}: alpha must be large enough for K + alpha I to be positive definite; got {alpha}."
        ) from problem


def check_score_columns(n_columns: int, n_components: int) -> None:
    """Raise unless scores have a column for each component."""
    if n_columns != n_components:
        raise InputError(f"{WHO}: X must have {n_components} columns; got {n_columns}.")


# --- model files ----------------------------------------------------------------------------------


def check_fitted_shapes(
    *,
    is_precomputed: bool,
    is_low_rank: bool,
    vectors: tuple[int, ...],
    n_kept: int,
    landmarks: np.ndarray,
    n_samples: int,
    n_features: int,
) -> None:
    """Raise unless the rows that scores are made of are as many and as wide as they must be."""
    expected = (0, 0) if is_precomputed else (n_kept, n_features)
    if vectors != expected:
        raise InputError(f"{WHO}: X_fit_ must have shape {expected}; got {vectors}.")
    if landmarks.size != (n_kept if is_low_rank else 0):
        raise InputError(
            f"{WHO}: landmark_indices_ must have {n_kept if is_low_rank else 0} entries; got {landmarks.size}."
        )
    if landmarks.size and landmarks.max() >= n_samples:
        raise InputError(f"{WHO}: landmark_indices_ must be below {n_samples}; got {landmarks.max()}.")
    if not is_low_rank and n_kept != n_samples:
        raise InputError(f"{WHO}: mean_weights_ must have {n_samples} entries; got {n_kept}.")
    if is_precomputed and n_features != n_samples:
        raise InputError(f"{WHO}: n_samples_ must be {n_features}, the rows of a precomputed X; got {n_samples}.")


def check_fitted_numbers(values: np.ndarray, intervals: np.ndarray, ratios: np.ndarray, total: float) -> None:
    """Raise unless the fitted numbers can be those of some rows."""
    low, high = intervals.T
    rules = {
        "eigenvalues_": ((values >= 0.0).all() and (np.diff(values) <= 0.0).all(), "be at least 0 and descend"),
        "eigenvalue_interval_": (
            ((low <= high) & (values <= high)).all(),
            "begin before they end, not below the values",
        ),
        "explained_variance_ratio_": ((ratios >= 0.0).all(), "be at least 0"),
        "total_variance_": (total >= 0.0, "be at least 0"),
    }
    for name, (is_kept, rule) in rules.items():
        if not is_kept:
            raise InputError(f"{WHO}: {name} must {rule}; got other numbers.")
