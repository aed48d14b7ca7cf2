"""The fitted attributes that many estimators share, for the rules of the model file, and how they are compared."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigenwood.estimators.watching import STOP_REASONS
from eigenwood.validation.params import Choice, Flag, Number
from eigenwood.validation.state import Array, Labels, Proof, Scalar, Size

FEATURE_STATE = {"n_features_in_": Size("n_features"), "feature_names_in_": Labels("n_features", text_only=True)}

OPTIONAL = frozenset({"feature_names_in_"})

FIT_STATE = {
    "stop_reason_": Scalar(Choice(STOP_REASONS)),
    "certificate_": Proof(),
}

CLASS_STATE = {"classes_": Labels("n_classes")}

COUNT = Scalar(Number(at_least=0, integer=True))
FLAG = Scalar(Flag())
POSITIVE = Scalar(Number(above=0))
AMOUNT = Scalar(Number(at_least=0))
PER_PROBLEM = Array("f", ("n_problems",))


def other_attributes(model: Any, other: Any) -> list[str]:
    """Return the fitted attributes, but for the certificate, that two models of one class do not have alike."""
    nothing = object()
    return [
        name
        for name in model.FITTED
        if name != "certificate_" and not is_same(getattr(model, name, nothing), getattr(other, name, nothing))
    ]


def is_same(one: Any, other: Any) -> bool:
    """Return whether two fitted attributes are the same, to the last bit."""
    if issparse(one):
        return issparse(other) and is_same(one.toarray(), other.toarray())
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(is_same(*pair) for pair in zip(one, other, strict=True))
    if hasattr(one, "FITTED"):
        return not other_attributes(one, other)
    return bool(one == other)
