"""The checks of what support vector machines are given and asked for, and of the numbers in their model files."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from eigenwood.errors import InputError
from eigenwood.validation.kernels import check_different_support

LEAST_COST, LARGEST_COST = 1e-150, 1e150  # whose squares are numbers
ONE_AGAINST_ONE, ONE_AGAINST_REST = SHAPES = ("ovo", "ovr")


def check_costs(
    who: str, costs_of_problems: Iterable[np.ndarray], least: float = LEAST_COST, largest: float = LARGEST_COST
) -> None:
    """Raise unless what a row costs in each problem has a square that is a number."""
    for costs in costs_of_problems:
        for cost in (costs.min(), costs.max()):
            if not least <= cost <= largest:
                raise InputError(
                    f"{who}: C times the weight of a row must be from {least:g} to {largest:g}; got {cost:.2g}."
                )


def check_class_factors(who: str, labels: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Return the weight of each class, above 0; it is NaN for a class of the model without any row."""
    for label, factor in zip(labels.tolist(), factors, strict=True):
        if np.isnan(factor):
            raise InputError(f"{who}: y must hold all classes of the model; got none of {label!r}.")
        if factor == 0.0:
            raise InputError(f"{who}: class_weight must be above 0 for every class; got 0 for {label!r}.")
    return factors


def check_one_amount(n_columns: int) -> None:
    """Raise unless there is one amount for each row."""
    if n_columns > 1:
        raise InputError(f"SVR: y must have one column; got {n_columns}.")


def check_tie_breaking(break_ties: bool, shape: str) -> None:
    """Raise where ties are to be broken by scores that are not those of classes."""
    if break_ties and shape == ONE_AGAINST_ONE:
        raise InputError("SVC: break_ties must be False when decision_function_shape is 'ovo'; got True.")


def check_fitted_problems(
    who: str, support: np.ndarray, n_support: np.ndarray, shape: tuple, n_intercepts: int
) -> None:
    """Raise unless the coefficients of a model file, of this ``shape``, fit its support vectors and its problems."""
    n_groups = n_support.size
    n_problems = max(1, n_groups * (n_groups - 1) // 2)
    if shape != (max(1, n_groups - 1), int(n_support.sum())) or n_intercepts != n_problems:
        raise InputError(f"{who}: dual_coef_, n_support_ and intercept_ must be of the same problems.")
    check_different_support(who, support)


def check_landmarks(who: str, is_complete: bool, landmarks: np.ndarray | None) -> None:
    """Raise unless a model file has all that belongs to landmarks, or nothing of it."""
    if not is_complete:
        raise InputError(f"{who}: landmarks_, landmark_vectors_ and landmark_coef_ must be there together.")
    if landmarks is not None and np.unique(landmarks).size < landmarks.size:
        raise InputError(f"{who}: landmarks_ must hold different rows; got one twice.")


def check_fitted_end(who: str, fit_status: int, converged: bool, stop_reason: str, finished: str) -> None:
    """Raise unless a model file says the same about the end of its fit wherever it speaks of it."""
    if fit_status != (0 if converged else 1):
        raise InputError(f"{who}: fit_status_ must be 0 where the fit converged, else 1; got {fit_status}.")
    if converged and stop_reason != finished:
        raise InputError(f"{who}: stop_reason_ must be {finished!r} for a fit that converged.")
