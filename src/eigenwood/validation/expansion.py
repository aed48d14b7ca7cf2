"""Checks of what a polynomial expansion is given, and of what a model file says of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from eigenwood.errors import InputError

MOST_TERMS = 2**31 - 1


def check_term_count(who: str, n_terms: int, degree: int, n_features: int) -> None:
    """Raise if there are too many terms."""
    if n_terms > MOST_TERMS:
        raise InputError(
            f"{who}: degree must give at most {MOST_TERMS} terms; got {n_terms} from degree={degree} and {n_features} "
            "features."
        )


def check_expansion_state(who: str, degree: int, n_terms: int, fitted_degree: int, n_fitted_terms: int) -> None:
    """Raise unless the fitted degree and number of terms are those that the parameters give."""
    if fitted_degree != degree or n_fitted_terms != n_terms or n_terms > MOST_TERMS:
        raise InputError(
            f"{who}: n_output_features_ must be {n_terms} for degree {degree}; got {n_fitted_terms} for degree "
            f"{fitted_degree}."
        )


def check_width(who: str, n_columns: int, expected: int) -> None:
    """Raise unless X has as many columns as there are terms."""
    if n_columns != expected:
        raise InputError(f"{who}: X must have {expected} columns; got {n_columns}.")


def check_term_names(who: str, names: Sequence[str], known: Collection[str]) -> None:
    """Raise for the first name that no term has."""
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(f"{who}: names must be from get_feature_names_out(); got {unknown[0]!r}.")


def check_scale(who: str, scale: np.ndarray) -> None:
    """Raise unless columns are divided by numbers above 0."""
    if (scale <= 0.0).any():
        raise InputError(f"{who}: scale_ must hold numbers above 0; got {scale.min()}.")
