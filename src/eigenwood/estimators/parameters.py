"""The words for parameters that several estimators share, written once.

``@describe`` appends whole entries to a class's docstring, for those of its ``PARAMS`` that have words here and none
there; it never cuts text.
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
        "Visit the rows in a new random order in each epoch. Equal rows are merged first, so the result does not "
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
        "machine also compiles its kernels, which takes seconds (trees: a minute and a half) that no limit can cut.",
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
    "splitter": Words(
        "'best' or 'random', default='best'", "The best cut of every feature, or one cut drawn at random for each."
    ),
    "max_depth": Words("int or None, default=None", "The most questions on the way to a leaf; None is no limit."),
    "min_samples_split": Words(
        "int or float, default=2", "The least rows of a node that is split, as a number or as a fraction of all."
    ),
    "min_samples_leaf": Words(
        "int or float, default=1",
        "The least rows of a leaf, as a number or as a fraction of all. Rows are counted here, not weights.",
    ),
    "min_weight_fraction_leaf": Words("float, default=0.0", "The least weight of a leaf, as a fraction of all."),
    "max_features": Words(
        "int, float, 'sqrt', 'log2' or None, default=None",
        "How many features, drawn at random, are looked at for each split; a float is a fraction of all.",
    ),
    "max_leaf_nodes": Words(
        "int or None, default=None", "Split the node with the largest gain next, until there are so many leaves."
    ),
    "min_impurity_decrease": Words("float, default=0.0", "The least gain of a split, as a share of all weight."),
    "ccp_alpha": Words("float, default=0.0", "What a leaf costs in minimal cost-complexity pruning."),
    "monotonic_cst": Words(
        "array of int or None, default=None",
        "For each feature 1 if predictions must not fall as it rises, -1 if they must not rise, else 0.",
    ),
    "leaf_uncertainty": Words("float, default=0.0", "A node whose impurity is at most this is not split."),
    "categorical_features": Words(
        "'from_dtype', None or list, default='from_dtype'",
        "Which columns are categories: the texts and categoricals of a frame, none, or names, indices or a mask.",
    ),
    "categorical_split": Words(
        "'subset' or 'multiway', default='subset'", "Two sets of categories, or one branch for each category."
    ),
    "prune": Words(
        "'validation', 'cost_complexity_cv' or None, default=None",
        "Cut the tree back by rows put aside (or given to ``fit``) as long as they are not worse off, or at the "
        "``ccp_alpha`` that cross-validation finds.",
    ),
    "validation_fraction": Words("float, default=0.25", "The rows put aside for ``prune='validation'``."),
    "n_folds": Words("int, default=5", "The folds of ``prune='cost_complexity_cv'``."),
    "C": Words(
        "float, default=1.0",
        "What slack costs, for each unit of it: a large C follows the rows closely, infinity is the hard margin.",
    ),
    "slack": Words(
        "'hinge' or 'squared', default='hinge'",
        "Whether slack ξ costs C ξ, as in scikit-learn, or C ξ² (the boosting and SVM lecture).",
    ),
    "approximation": Words(
        "'low_rank' or None, default=None",
        "'low_rank' solves on landmarks where the kernel values among all rows do not fit in ``memory_limit``; the "
        "duality gap is that of the whole kernel, whose values are then computed once, block by block.",
    ),
    "shrinking": Words(
        "bool, default=True",
        "Set rows aside that have settled, when that saves work; at the end all are looked at again.",
    ),
    "tol": Words("float, default=1e-3", "The violation of the KKT conditions at which the fit is done, as in LIBSVM."),
    "cache_size": Words("float or None, default=None", "Scikit-learn's name for ``memory_limit``, which goes first."),
    "warm_start": Words(
        "bool, default=False", "Begin with the coefficients of the fit before: a path of C is faster that way."
    ),
    "verbose": Words("bool or int, default=False", "Taken for scikit-learn's sake; progress comes by callbacks."),
    "memory_limit": Words(
        "float, default=1000",
        "Megabytes for kernel values that are kept; what does not fit is computed again in blocks.",
    ),
}


def describe(described: Class) -> Class:
    """Append the shared entries to the class's docstring."""
    own = described.__doc__ or ""
    names = [name for name in described.PARAMS if name in SHARED and not is_described(name, own)]  # type: ignore[attr-defined]
    entries = "\n\n".join(_entry(name, SHARED[name]) for name in names)
    text = indent(f"\n\nOther Parameters\n----------------\n{entries}\n", "    ")
    described.__doc__ = own.rstrip() + text
    return described


def is_described(name: str, text: str) -> bool:
    """Return whether a docstring has words for a parameter, alone or in a list."""
    return any(pattern in text for pattern in (f"{name} : ", f"{name}, ", f", {name}\n"))


def _entry(name: str, words: Words) -> str:
    return f"{name} : {words.kind}\n" + indent(fill(words.text, width=110), "    ")
