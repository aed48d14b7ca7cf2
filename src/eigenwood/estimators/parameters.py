"""The words for parameters that several estimators share, written once.

``@describe("max_iter", "time_limit")`` appends whole entries to a class's docstring; it never cuts text.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent
from typing import TypeVar

Class = TypeVar("Class", bound=type)

TEXTS = {
    "fit_intercept": "bool, default=True\nWhether to learn an offset b.",
    "max_iter": "int\nThe most passes over the data (epochs).",
    "shuffle": (
        "bool, default=True\nVisit the rows in a new random order in each epoch. Equal rows are joined first, so the\n"
        "result does not depend on the order of the table, and a weight of 2 is the same as the row given twice.\n"
        "False is the lecture's cyclic order: the rows as they stand, again and again."
    ),
    "random_state": "int, RandomState or None, default=0\nDraws the orders when ``shuffle`` is True.",
    "n_jobs": (
        "int or None, default=None\nThreads, as in scikit-learn: None is 1 unless a joblib context says otherwise, -1 is\n"
        "all. The result has the same bits for any number."
    ),
    "class_weight": (
        "dict, 'balanced' or None, default=None\nA factor for the weights of each class, as in scikit-learn."
    ),
    "time_limit": (
        "float or None, default=None\nSeconds after which the fit stops with the model it has; ``stop_reason_`` says so."
    ),
    "kernel": (
        "str or function, default='rbf'\n'linear', 'poly' (gamma x·z + coef0)^degree, 'rbf' exp(-gamma ‖x-z‖²), 'laplacian',\n"
        "'sigmoid', 'precomputed', or a function of two blocks of rows that returns their similarities."
    ),
    "gamma": (
        "'scale', 'auto' or float, default='scale'\nThe kernel's width: 'scale' is 1 / (n_features · variance of X), 'auto' is 1 /\n"
        "n_features. The lectures' widths are ``eigenwood.gamma_from_s(s)`` for exp(-‖x-z‖²/s²) and\n"
        "``eigenwood.gamma_from_sigma(sigma)`` for exp(-‖x-z‖²/2σ²)."
    ),
    "coef0": "float, default=0.0\nThe constant of 'poly' and 'sigmoid'.",
    "degree": "int, default=3\nThe power of 'poly'.",
    "memory_limit": (
        "float, default=1000\nMegabytes for kernel values that are kept; what does not fit is computed again in blocks."
    ),
}


def describe(*names: str) -> Callable[[Class], Class]:
    """Append the shared entries for ``names`` to the class's docstring."""
    entries = "\n\n".join(f"{name} : " + TEXTS[name].replace("\n", "\n    ") for name in names)

    def add(described: Class) -> Class:
        text = indent(f"\n\nShared parameters\n-----------------\n{entries}\n", "    ")
        described.__doc__ = (described.__doc__ or "").rstrip() + text
        return described

    return add
