"""Checks of what weak classifiers say, and of the two classes that they are asked about."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenwood.errors import InputError
from eigenwood.validation.params import Choice
from eigenwood.validation.targets import Classes, labels_of

ANY_SIGN, NONNEGATIVE = "any", "nonnegative"
SIGN_OF_WEIGHTS = Choice((ANY_SIGN, NONNEGATIVE))


def check_two_classes(who: str, y: Any) -> Classes:
    """Return the two classes of y, and for each row the place of its own."""
    labels, codes = np.unique(labels_of(who, y), return_inverse=True)
    if labels.size != 2:
        raise InputError(f"{who}: y must hold 2 classes; got {labels.size}.")
    return Classes(labels, codes)


def check_votes(who: str, classifiers: Any, classes: Classes, X: Any = None) -> np.ndarray:
    """Return -1 or 1 for each row and classifier, given labels, such numbers, or fitted classifiers and rows."""
    votes = predictions_of(who, classifiers, X)
    n_rows = classes.codes.size
    if votes.ndim != 2 or votes.shape[0] != n_rows or votes.shape[1] == 0:
        raise InputError(
            f"{who}: the votes must be of shape (n_rows, n_classifiers) with {n_rows} rows; got {votes.shape}."
        )
    is_label = [votes == label for label in classes.labels]
    if np.all(is_label[0] | is_label[1]):
        return np.where(is_label[1], 1, -1)
    is_sign = [votes == -1, votes == 1]
    if np.all(is_sign[0] | is_sign[1]):
        return np.where(is_sign[1], 1, -1)
    strange = votes[~(is_label[0] | is_label[1])].tolist()[0]
    raise InputError(f"{who}: the votes must be -1 and 1, or the classes {classes.labels.tolist()}; got {strange!r}.")


def predictions_of(who: str, classifiers: Any, X: Any) -> np.ndarray:
    """Return what each classifier predicts for each row."""
    models = list(classifiers) if isinstance(classifiers, list | tuple | np.ndarray) else []
    if not (models and all(hasattr(model, "predict") for model in models)):
        if X is not None:
            raise InputError(f"{who}: X must go with fitted classifiers, in a list; got votes and X.")
        return np.asarray(classifiers)
    if X is None:
        raise InputError(f"{who}: X must be given with fitted classifiers; got None.")
    return np.column_stack([model.predict(X) for model in models])
