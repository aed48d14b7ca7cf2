"""The checks of what a PCA is given and asked for, and of the numbers in its model file."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from eigenwood.errors import InputError
from eigenwood.validation.arrays import check_finite

WHO = "PCA"
NAN_CURE = "missing='em' fills it by a low-rank fit"
STREAM_CURE = "missing='mean' fills blocks with the mean"
MAY_FIND_NOTHING = ("auto", "full", "covariance_eigh")  # take n_components=0, as in scikit-learn
MAY_GUESS = ("auto", "full", "covariance_eigh")  # know all eigenvalues, which n_components='mle' needs
LEAST_VARIANCE = float(np.finfo(np.float64).tiny / np.finfo(np.float64).eps)  # all digits of its parts are floats
MOST_VARIANCE = float(np.finfo(np.float64).max / 16.0)
DENSE, SPARSE, ROW_BLOCKS, COLUMN_BLOCKS = "dense rows", "sparse rows", "blocks of rows", "blocks of variants"
READS = {  # which kinds of rows a solver cannot read, and what it must have instead
    "full": ((SPARSE, COLUMN_BLOCKS, ROW_BLOCKS), "a dense table in memory"),
    "gram_refined": ((SPARSE, COLUMN_BLOCKS, ROW_BLOCKS), "a dense table in memory"),
    "covariance_eigh": ((COLUMN_BLOCKS,), "rows; blocks of variants take 'gram_eigh' or 'krylov'"),
    "gram_eigh": ((ROW_BLOCKS,), "a table in memory or genotypes; blocks of rows take 'covariance_eigh' or 'krylov'"),
    "oja": ((COLUMN_BLOCKS,), "rows; blocks of variants take 'gram_eigh' or 'krylov'"),
}


# --- rows -----------------------------------------------------------------------------------------


def check_numbers(X: Any, names: Any, missing: bool) -> None:
    """Raise for the first NaN or infinity in X, whose means are not all finite; else for numbers that are too large."""
    is_sparse = sparse.issparse(X)
    check_finite(WHO, X, names, missing=missing and not is_sparse, nan_cure="" if is_sparse else NAN_CURE)
    raise InputError(f"{WHO}: X must hold numbers whose sums are finite; got some that are too large.")


def check_sum_of_squares(total: float) -> None:
    """Raise unless the sum of the squares of all centred numbers is finite."""
    if not np.isfinite(total):
        raise InputError(f"{WHO}: X must have a sum of squares of at most {np.finfo(np.float64).max:.2g}; got more.")


def check_variance(variance: float) -> None:
    """Raise unless a variance above 0 is a float with all its digits."""
    if not LEAST_VARIANCE <= variance <= MOST_VARIANCE:
        raise InputError(
            f"{WHO}: X must have a variance between {LEAST_VARIANCE:.1e} and {MOST_VARIANCE:.1e}, or none; got numbers "
            f"whose squares are {'larger' if variance > 1.0 else 'smaller'} (X times a constant has the same "
            "components)."
        )


def check_enough(n_rows: int, weight: float) -> None:
    """Raise unless there are degrees of freedom."""
    if weight <= 1.0:
        raise InputError(
            f"{WHO}: X must have rows of a weight above 1 in all, at least 2 rows; got {n_rows} sample(s)."
        )


def check_batch(X: Any, is_table: bool, n_missing: int) -> None:
    """Raise unless a batch for ``partial_fit`` is a table in memory without missing values."""
    if not is_table:
        raise InputError(f"{WHO}: partial_fit must have an array; got {type(X).__name__} (fit takes it as a whole).")
    if n_missing:
        raise InputError(f"{WHO}: partial_fit must have X without NaN; got {n_missing} (fit fills them).")


def check_block_weights(weights: np.ndarray, n_before: int, n_rows: int) -> np.ndarray:
    """Return the weights of a block of rows in a stream, after so many rows before it; raise where they are fewer."""
    if weights.size < n_rows:
        raise InputError(f"{WHO}: sample_weight must have a weight for every row; got {n_before + weights.size}.")
    return weights


def check_no_weights_left(weights: np.ndarray, n_rows: int) -> None:
    """Raise unless a stream had as many rows as there are weights."""
    if n_rows < weights.size:
        raise InputError(f"{WHO}: sample_weight must have shape ({n_rows},); got {weights.shape}.")


# --- columns --------------------------------------------------------------------------------------


def check_column_names(columns: tuple[str, ...], n_features: int, known: Any, who: str = WHO) -> None:
    """Raise unless a stream has the columns of fit; x0, x1, … are no names."""
    if len(columns) != n_features:
        raise InputError(f"{who}: X must have {n_features} columns, as in fit; got {len(columns)}.")
    if known is not None and not are_unnamed(columns) and tuple(known) != columns:
        raise InputError(f"{who}: X must have the columns of fit in their order; got other names.")


def are_unnamed(columns: tuple[str, ...]) -> bool:
    """Return whether the columns have only the numbers that every column gets.

    >>> are_unnamed(("x0", "x1")), are_unnamed(("x1", "x0"))
    (True, False)
    """
    return columns == tuple(f"x{j}" for j in range(len(columns)))


def check_variant_count(n_variants: int, n_features: int) -> None:
    """Raise unless there are as many variants as columns in fit."""
    if n_variants != n_features:
        raise InputError(f"{WHO}: X must have {n_features} columns, as in fit; got {n_variants} variants.")


def check_score_columns(n_columns: int, n_components: int) -> None:
    """Raise unless scores have a column for each component."""
    if n_columns != n_components:
        raise InputError(f"{WHO}: X must have {n_components} columns; got {n_columns}.")


def check_output_of_blocks(container: str, who: str = WHO) -> None:
    """Raise where ``set_output`` asks for frames: scores of blocks are blocks, and a frame would hold all of them."""
    if container != "default":
        raise InputError(
            f"{who}: set_output must be 'default' for blocks, whose scores are blocks with names in .columns; "
            f"got {container!r}."
        )


# --- what is asked for ----------------------------------------------------------------------------


def check_filling(missing: str | None, n_components: Any) -> None:
    """Raise unless a low-rank fit is asked for with a rank."""
    if missing == "em" and (n_components is None or isinstance(n_components, (str, float))):
        raise InputError(f"{WHO}: missing='em' must have an integer n_components; got {n_components!r}.")


def check_filling_of_stream(missing: str | None) -> None:
    """Raise where a low-rank fit should fill a stream."""
    if missing == "em":
        raise InputError(f"{WHO}: missing='em' must have a table in memory; got blocks of rows ({STREAM_CURE}).")


def asked_count(asked: Any, svd_solver: str, n_rows: int | None, n_columns: int) -> tuple[int, float | None]:
    """Return how many components at most, and the share of variance that they must hold, if one is asked for."""
    most = n_columns if n_rows is None else min(n_rows, n_columns)
    if asked is None:
        return most, None
    if asked == "mle":
        if n_rows is not None and n_rows < n_columns:
            raise InputError(
                f"{WHO}: n_components='mle' is only supported if n_samples >= n_features; got {n_rows} < {n_columns}."
            )
        return most, None
    if isinstance(asked, (float, np.floating)):
        return most, float(asked)
    least = 0 if svd_solver in MAY_FIND_NOTHING else 1
    if not least <= asked <= most:
        raise InputError(
            f"{WHO}: n_components={asked} must be between {least} and min(n_samples, n_features)={most} with "
            f"svd_solver={svd_solver!r}."
        )
    return int(asked), None


def check_route(svd_solver: str, n_components: Any, kind: str) -> None:
    """Raise where a solver cannot read a kind of rows, or cannot find what is asked for."""
    refused, needed = READS.get(svd_solver, ((), ""))
    if kind in refused:
        raise InputError(f"{WHO}: svd_solver={svd_solver!r} must have {needed}; got {kind}.")
    if n_components == "mle" and (kind == COLUMN_BLOCKS or svd_solver not in MAY_GUESS):
        raise InputError(
            f"{WHO}: n_components='mle' cannot be a string with svd_solver={svd_solver!r}; 'full' finds it."
        )


# --- model files ----------------------------------------------------------------------------------


def check_fitted_numbers(
    *,
    scale: np.ndarray,
    n_samples: int,
    variances: np.ndarray,
    singular_values: np.ndarray,
    ratios: np.ndarray,
    intervals: np.ndarray,
) -> None:
    """Raise unless the fitted numbers can be those of some rows."""
    low, high = intervals.T
    is_falling = bool((np.diff(variances) <= 0.0).all())
    rules = {
        "scale_": ((scale > 0.0).all(), "be above 0"),
        "n_samples_": (n_samples >= 1, "be at least 1"),
        "explained_variance_": ((variances >= 0.0).all() and is_falling, "be at least 0 and descend"),
        "singular_values_": ((singular_values >= 0.0).all(), "be at least 0"),
        "explained_variance_ratio_": ((ratios >= 0.0).all(), "be at least 0"),
        "explained_variance_interval_": (
            ((low >= 0.0) & (low <= variances) & (variances <= high)).all(),
            "hold the variances, from 0 on",
        ),
    }
    for name, (is_kept, rule) in rules.items():
        if not is_kept:
            raise InputError(f"{WHO}: {name} must {rule}; got other numbers.")
