"""Names of columns for transformers: those of fit, or those the caller gives, which must be the same."""

from __future__ import annotations

from typing import Any

import numpy as np


def input_names(estimator: Any, given: Any) -> np.ndarray:
    """Return the names of the input columns: given, known from fit, or x0, x1, …"""
    known = getattr(estimator, "feature_names_in_", None)
    n_columns = estimator.n_features_in_
    if given is None:
        return np.array([f"x{j}" for j in range(n_columns)], dtype=object) if known is None else known
    names = np.asarray(given, dtype=object)
    if known is not None and not np.array_equal(names, known):
        raise ValueError("input_features is not equal to feature_names_in_")
    if names.size != n_columns:
        raise ValueError(f"input_features should have length equal to number of features ({n_columns})")
    return names
