"""The words for parameters that several estimators share, written once.

``@describe`` appends whole entries to a class's docstring, for those of its ``PARAMS`` that have words here; it never
cuts text.
"""

from __future__ import annotations

from textwrap import fill, indent
from typing import NamedTuple, TypeVar

Class = TypeVar("Class", bound=type)


class Words(NamedTuple):
    """What a parameter may be, and what it does."""

    kind: str
    text: str


SHARED = {
    "fit_intercept": Words("bool, default=True", "Whether to learn an offset b."),
    "max_iter": Words("int", "The most passes over the data (epochs)."),
    "shuffle": Words(
        "bool, default=True",
        "Visit the rows in a new random order in each epoch. Equal rows are joined first, so the result does not "
        "depend on the order of the table, and a weight of 2 is the same as the row given twice. False is the "
        "lecture's cyclic order: the rows as they stand, again and again.",
    ),
    "random_state": Words("int, RandomState or None, default=0", "Draws the orders when ``shuffle`` is True."),
    "n_jobs": Words(
        "int or None, default=None",
        "Threads, as in scikit-learn: None is 1 unless a joblib context says otherwise, -1 is all. The result has the "
        "same bits for any number.",
    ),
    "class_weight": Words(
        "dict, 'balanced' or None, default=None", "A factor for the weights of each class, as in scikit-learn."
    ),
    "time_limit": Words(
        "float or None, default=None",
        "Seconds after which the fit stops with the model it has; ``stop_reason_`` says so. The very first fit on a "
        "machine also compiles its kernels, which takes a few seconds that no limit can cut.",
    ),
    "kernel": Words(
        "str or function, default='rbf'",
        "'linear', 'poly' (gamma x·z + coef0)^degree, 'rbf' exp(-gamma ‖x-z‖²), 'laplacian' exp(-gamma Σ|x_j-z_j|), "
        "'sigmoid' tanh(gamma x·z + coef0), 'precomputed', or a function of two blocks of rows that returns their "
        "similarities.",
    ),
    "gamma": Words(
        "'scale', 'auto' or float, default='scale'",
        "The kernel's width: 'scale' is 1 / (n_features · variance of X), 'auto' is 1 / n_features. The lectures' "
        "widths are ``eigenwood.gamma_from_s(s)`` for exp(-‖x-z‖²/s²) and ``eigenwood.gamma_from_sigma(sigma)`` for "
        "exp(-‖x-z‖²/2σ²).",
    ),
    "coef0": Words("float, default=0.0", "The constant of 'poly' and 'sigmoid'."),
    "memory_limit": Words(
        "float, default=1000",
        "Megabytes for kernel values that are kept; what does not fit is computed again in blocks.",
    ),
}


def describe(described: Class) -> Class:
    """Append the shared entries to the class's docstring."""
    names = [name for name in described.PARAMS if name in SHARED]  # type: ignore[attr-defined]
    entries = "\n\n".join(_entry(name, SHARED[name]) for name in names)
    text = indent(f"\n\nShared parameters\n-----------------\n{entries}\n", "    ")
    described.__doc__ = (described.__doc__ or "").rstrip() + text
    return described


def _entry(name: str, words: Words) -> str:
    return f"{name} : {words.kind}\n" + indent(fill(words.text, width=110), "    ")
