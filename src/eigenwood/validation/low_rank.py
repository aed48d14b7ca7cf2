"""The checks of what a low-rank kernel is given and asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenwood.errors import InputError
from eigenwood.validation.memory import memory_bytes
from eigenwood.validation.params import Number


def check_own_numbers(who: str, kernel: Any, numbers: dict[str, Any]) -> None:
    """Raise where numbers of a kernel are given beside one that has none."""
    given = [name for name, value in numbers.items() if value is not None]
    if given and (callable(kernel) or kernel == "precomputed"):
        raise InputError(
            f"{who}: {given[0]} must be None beside a function or 'precomputed'; got {numbers[given[0]]!r} (in "
            "scikit-learn's words: Don't pass gamma, coef0 or degree to Nystroem)."
        )


def landmark_capacity(who: str, wanted: Any, n_rows: int, dtype: np.dtype, memory_limit: float | None) -> int:
    """Return how many landmarks there may be: as many as wanted, or as the features of all rows have room for."""
    n_bytes = memory_bytes(memory_limit)
    most = int(n_bytes // (n_rows * dtype.itemsize))
    if Number(integer=True).allows(wanted):
        count = min(int(wanted), n_rows)
        if count > most:
            raise InputError(
                f"{who}: memory_limit must have room for the features of all rows, "
                f"{count * n_rows * dtype.itemsize / 1e6:.3g} MB; got {n_bytes / 1e6:.3g} MB."
            )
        return count
    return max(min(most, n_rows), 1)


def check_rows_for_means(who: str, method: str, is_precomputed: bool) -> None:
    """Raise where k-means++ has no rows to measure distances between."""
    if method == "kmeans++" and is_precomputed:
        raise InputError(f"{who}: method must be 'rpcholesky' or 'uniform' for a precomputed X; got 'kmeans++'.")


def check_landmarks(who: str, shape: tuple[int, ...], n_landmarks: int, n_features: int, is_precomputed: bool) -> None:
    """Raise unless the landmarks of a model file are as many and as wide as it says; none if precomputed."""
    expected = (0, 0) if is_precomputed else (n_landmarks, n_features)
    if shape != expected:
        raise InputError(f"{who}: components_ must have shape {expected}; got {shape}.")
