"""The checks of what kernel ridge regression is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from eigenwood.errors import InputError
from eigenwood.validation.params import Number

LARGEST_RATIO = 1e60  # of a weight and alpha, or of alpha and a weight


class Penalties:
    """The rule for ``alpha``: a number, or one for each column of y."""

    def allows(self, value: Any) -> bool:
        one = Number(at_least=0)
        if isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value) == 1:
            return len(value) > 0 and all(one.allows(part) for part in value)
        return one.allows(value)

    def __str__(self) -> str:
        return "a number at least 0 or a list of such numbers"


class KernelArguments:
    """The rule for ``kernel_params``: arguments by name, or none."""

    def allows(self, value: Any) -> bool:
        return value is None or (isinstance(value, Mapping) and all(isinstance(name, str) for name in value))

    def __str__(self) -> str:
        return "None or a dict of arguments by name"


def penalties(alpha: Any, n_outputs: int) -> np.ndarray:
    """Return alpha for every column of y."""
    values = np.atleast_1d(np.asarray(alpha, dtype=np.float64))
    if values.size not in (1, n_outputs):
        raise InputError(
            f"KernelRidge: alpha must be one number, or one for each of the {n_outputs} columns of y; got {values.size}"
            " (Number of targets and number of penalties do not correspond)."
        )
    return np.broadcast_to(values, (n_outputs,))


def check_columns(n_columns: int, fitted: int) -> None:
    """Raise unless y has as many columns as the y that a model was fitted to."""
    if n_columns != fitted:
        raise InputError(f"KernelRidge: y must have {fitted} columns; got {n_columns}.")


def check_ratios(weights: np.ndarray, alphas: np.ndarray) -> None:
    """Raise unless weights and penalties are of sizes that can be compared."""
    for alpha in alphas[alphas > 0.0]:
        largest = max(float(weights.max()) / alpha, alpha / float(weights.min()))
        if largest > LARGEST_RATIO:
            raise InputError(
                f"KernelRidge: alpha and weights must be within {LARGEST_RATIO:g} of each other; got {largest:.2g}."
            )
