"""Checks of what gradient boosting is given: losses and their targets, constraints, rows held out, custom losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenwood.errors import InputError
from eigenwood.validation.arrays import brief, one_line
from eigenwood.validation.ensembles import Metric
from eigenwood.validation.params import Number

NO_INTERACTIONS, PAIRWISE = "no_interactions", "pairwise"


# ---- rules of parameters ------------------------------------------------------------------------------------------


class Quantiles:
    """The rule for several quantiles: shares that rise."""

    def allows(self, value: Any) -> bool:
        if not isinstance(value, (list, tuple, np.ndarray)) or np.ndim(value) != 1 or len(value) == 0:
            return False
        one = Number(above=0, below=1)
        return all(one.allows(share) for share in value) and bool((np.diff(np.asarray(value)) > 0).all())

    def __str__(self) -> str:
        return "a list of such numbers that rise"


class FeatureGroups:
    """The rule for ``interaction_cst``: names of choices, or groups of columns."""

    def allows(self, value: Any) -> bool:
        if value is None or isinstance(value, str):
            return value in (None, NO_INTERACTIONS, PAIRWISE)
        return isinstance(value, (list, tuple, set)) and len(value) > 0

    def __str__(self) -> str:
        return f"None, {NO_INTERACTIONS!r}, {PAIRWISE!r} or a list of lists of column indices"


class Scorer(Metric):
    """The rule for ``scoring`` beside 'loss'."""

    def allows(self, value: Any) -> bool:
        return not isinstance(value, (bool, np.bool_)) and super().allows(value)

    def __str__(self) -> str:
        return "the name of a scorer of scikit-learn, a scorer, or a function of y_true and y_pred"


def is_place(value: Any) -> bool:
    """Return whether a value can be the index of a column."""
    return Number(at_least=0, integer=True).allows(value)


# ---- targets and weights ------------------------------------------------------------------------------------------


def check_one_amount(who: str, n_columns: int) -> None:
    """Raise unless there is one amount for each row."""
    if n_columns > 1:
        raise InputError(f"{who}: y must have one column; got {n_columns}.")


def check_two_classes(who: str, loss: str, n_classes: int) -> None:
    """Raise unless a loss for two classes has two; ``loss`` is in words."""
    if n_classes != 2:
        raise InputError(
            f"{who}: loss={loss} is only suitable for a binary classification problem; got {n_classes} classes."
        )


def check_poisson(who: str, amounts: np.ndarray) -> None:
    """Raise unless amounts can come from Poisson's distribution."""
    if amounts.min() < 0 or amounts.sum() <= 0:
        raise InputError(
            f"{who}: loss='poisson' requires non-negative y and sum(y) > 0; got a least y of {amounts.min():g} "
            f"and a sum of {amounts.sum():g}."
        )


def check_class_masses(who: str, labels: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> None:
    """Raise unless every class has some weight: a class without any has no score."""
    mass = np.bincount(codes, weights, minlength=labels.size)
    if (mass <= 0).any():
        lost = labels[mass <= 0].tolist()[0]
        raise InputError(f"{who}: class_weight must be above 0 for every class; got 0 for {lost!r}.")


# ---- constraints --------------------------------------------------------------------------------------------------


def check_groups(who: str, interaction_cst: Any, n_features: int) -> None:
    """Raise unless groups of columns that may interact are of these columns."""
    if interaction_cst is None or isinstance(interaction_cst, str):
        return
    if not all(isinstance(group, (list, tuple, set)) for group in interaction_cst):
        raise InputError(
            f"{who}: Interaction constraints must be a sequence of tuples or lists (interaction_cst); "
            f"got {interaction_cst!r}."
        )
    wrong = [j for group in interaction_cst for j in group if not is_place(j) or j >= n_features]
    if wrong:
        raise InputError(
            f"{who}: Interaction constraints must consist of integer indices in [0, n_features - 1] = "
            f"[0, {n_features - 1}], specifying the position of features, here columns of X; got {wrong[0]!r}."
        )


# ---- rows held out ------------------------------------------------------------------------------------------------


def check_validation_set(who: str, X_val: Any, y_val: Any, sample_weight_val: Any, early_stopping: Any) -> None:
    """Raise unless all that is needed for validation is given, or nothing."""
    if (X_val is None) != (y_val is None):
        given, lacking = ("y_val", "X_val") if X_val is None else ("X_val", "y_val")
        raise InputError(
            f"{who}: {given} is provided, but {lacking} was not provided: X_val and y_val must be given together; "
            "got only one of them."
        )
    if X_val is None and sample_weight_val is not None:
        raise InputError(f"{who}: sample_weight_val must be given with X_val and y_val; got it alone.")
    if X_val is not None and early_stopping is False:
        raise InputError(
            f"{who}: X_val and y_val are passed to fit while at the same time early_stopping is False: X_val must be "
            "None then; got rows to stop by."
        )


def check_held_out(who: str, n_learn: int, n_held_out: int, are_all_classes: bool) -> None:
    """Raise unless there are rows to learn from, of every class, and rows to stop by."""
    if n_learn == 0 or n_held_out == 0 or not are_all_classes:
        raise InputError(
            f"{who}: early stopping needs rows to learn from, of every class, and others to stop by; got {n_learn} "
            f"and {n_held_out} by validation_fraction."
        )


def check_scorable(who: str, loss_is_custom: bool, scoring: Any) -> None:
    """Raise if early stopping is by a loss whose value nobody knows."""
    if loss_is_custom and scoring == "loss":
        raise InputError(f"{who}: scoring must be a metric when loss is a function and stopping is early; got 'loss'.")


def checked_score(who: str, scoring: Any, compute: Any) -> float:
    """Return what a metric says about the rows held out; raise in one sentence what it has against them."""
    try:
        score = float(compute())
    except (ValueError, TypeError) as problem:
        raise InputError(
            f"{who}: scoring must be a metric for targets like these; got {scoring!r}, which says: {one_line(problem)}."
        ) from problem
    if not np.isfinite(score):
        raise InputError(f"{who}: scoring must give finite numbers; got {score}.")
    return score


# ---- custom losses, other estimators ------------------------------------------------------------------------------


def check_gradients(who: str, given: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return gradient and hessian of a custom loss as finite numbers, one for each row."""
    if not isinstance(given, tuple) or len(given) != 2:
        raise InputError(f"{who}: loss must return gradient and hessian as a tuple; got {type(given).__name__}.")
    parts = [as_gradients(who, name, part) for name, part in zip(("gradient", "hessian"), given, strict=True)]
    for name, part in zip(("gradient", "hessian"), parts, strict=True):
        if part.shape != (n_rows,):
            raise InputError(f"{who}: loss must return a {name} of shape ({n_rows},); got {part.shape}.")
        if not np.isfinite(part).all():
            raise InputError(f"{who}: loss must return a finite {name}; got {part[~np.isfinite(part)][0]}.")
    if parts[1].min() < 0:
        raise InputError(f"{who}: loss must return a hessian of at least 0; got {parts[1].min():g}.")
    return parts[0], parts[1]


def as_gradients(who: str, name: str, given: Any) -> np.ndarray:
    """Return what a custom loss gives as real numbers."""
    try:
        numbers = np.asarray(given)
        if numbers.dtype.kind != "c":
            return numbers.astype(np.float64)
    except (ValueError, TypeError):
        pass
    raise InputError(f"{who}: loss must return a {name} of real numbers; got {brief(given)}.")


def check_one_share(who: str, loss: Any, quantiles: np.ndarray) -> None:
    """Raise if a loss that has one share is given several."""
    if loss == "huber" and quantiles.size > 1:
        raise InputError(f"{who}: alpha must be one number when loss='huber'; got {quantiles.tolist()}.")


def check_init_scores(who: str, scores: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return where an estimator lets boosting begin, finite numbers of the right shape."""
    if scores.shape != shape or not np.isfinite(scores).all():
        raise InputError(
            f"{who}: init must predict finite numbers of shape {shape}; got shape {scores.shape}"
            f"{'' if np.isfinite(scores).all() else ' with others'}."
        )
    return scores


def check_init_takes_weights(who: str, init: Any, takes_weights: bool) -> None:
    """Raise if rows have weights and the estimator to begin with has no use for them."""
    if not takes_weights:
        raise InputError(
            f"{who}: The initial estimator {type(init).__name__} does not support sample weights, and sample_weight "
            "must be None with it; got weights."
        )


def check_init_method(who: str, init: Any, method: str) -> None:
    """Raise if an estimator to begin with does not predict what boosting begins with."""
    if hasattr(init, "fit") and not hasattr(init, method):
        raise InputError(
            f"{who}: The 'init' parameter of {who} must be a str among {{'zero'}}, None or an object implementing "
            f"'fit' and '{method}'; got {init if isinstance(init, type) else type(init).__name__}."
        )


def check_init_with_warm_start(who: str, init: Any, warm_start: bool) -> None:
    """Raise if rounds are to go on from an estimator that would be fitted anew."""
    if warm_start and hasattr(init, "fit"):
        raise InputError(f"{who}: init must be None or 'zero' when warm_start is True; got {type(init).__name__}.")


def check_round_count(who: str, n_rounds: int, n_wanted: int) -> None:
    """Raise if there are more rounds already than there shall be."""
    if n_wanted < n_rounds:
        raise InputError(
            f"{who}: n_estimators={n_wanted} must be larger or equal to the {n_rounds} rounds there are when "
            "warm_start==True; got less."
        )


# ---- fitted attributes --------------------------------------------------------------------------------------------


def check_round_sizes(who: str, n_trees: int, n_outputs: int, sizes: dict[str, tuple[int, int]]) -> None:
    """Raise unless there is one tree for each output in each round; ``sizes`` has lengths, and how many more than
    rounds there should be.
    """
    if n_outputs == 0 or n_trees % n_outputs:
        raise InputError(f"{who}: forest_ must have as many trees for each output; got {n_trees} for {n_outputs}.")
    for name, (size, more) in sizes.items():
        if size != n_trees // n_outputs + more:
            raise InputError(f"{who}: {name} must have a number for each of {n_trees // n_outputs} rounds; got {size}.")


def check_output_count(who: str, n_outputs: int, expected: int) -> None:
    """Raise unless a model has a score for each class, or quantile."""
    if n_outputs != expected:
        raise InputError(f"{who}: baseline_ must have {expected} scores; got {n_outputs}.")


def check_no_init(who: str, has_init: bool) -> None:
    """Raise if a model began with an estimator, whose part in the predictions nobody knows by feature."""
    if has_init:
        raise InputError(f"{who}: contributions need init=None or 'zero' at the fit; got an estimator.")
