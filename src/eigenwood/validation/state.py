"""Rules for what a fitted model holds, as data: the gate for model files.

An estimator declares ``FITTED = {"coef_": Array("f", ("n_problems", "n_features")), ...}``. Sizes are names:
the first array that uses a name fixes it, all others must agree. So a file cannot bring arrays that would be
read out of bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from eigenwood.errors import InputError
from eigenwood.validation.params import Number

Sizes = dict[str, int]


class StateRule(Protocol):
    """What a fitted attribute must be; ``problem`` says what is wrong with it, or nothing."""

    def problem(self, value: Any, sizes: Sizes) -> str | None: ...


@dataclass(frozen=True)
class Array:
    """A numeric array; ``kind`` is NumPy's letter (f, i, b). Integers are at least 0 and below ``below``."""

    kind: str
    shape: tuple[str | int, ...]
    below: str | None = None
    or_sparse: bool = False

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        if self.or_sparse and sparse.issparse(value):
            value_shape, entries = value.shape, value.data
        elif isinstance(value, np.ndarray):
            value_shape, entries = value.shape, value
        else:
            return f"must be an array; got {type(value).__name__}"
        if entries.dtype.name not in DTYPES[self.kind]:
            return f"must be of dtype {' or '.join(DTYPES[self.kind])}; got {entries.dtype}"
        if not agreed(self.shape, value_shape, sizes):
            return f"must have shape ({', '.join(map(str, self.shape))}); got {value_shape}"
        if self.kind == "f" and not np.isfinite(entries).all():
            return "must be finite; got NaN or infinity"
        if self.kind == "i" and entries.size and entries.min() < 0:
            return "must hold indices from 0; got a negative one"
        if self.below is not None and entries.size and entries.max() >= sizes[self.below]:
            return f"must hold indices below {self.below}; got {entries.max()}"
        return None


@dataclass(frozen=True)
class VectorOrTable:
    """Floats of one column, as a vector, or of several, as a table."""

    size: str
    n_columns: str

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        shape = (self.size,) if isinstance(value, np.ndarray) and value.ndim == 1 else (self.size, self.n_columns)
        return Array("f", shape).problem(value, sizes)


@dataclass(frozen=True)
class Labels:
    """Different labels: two or more classes in order (numbers, truth values, strings), or ``text_only``."""

    size: str
    text_only: bool = False
    least: int = 2

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, np.ndarray) or not self._allows(value.dtype):
            return f"must be an array of {'' if self.text_only else 'numbers, truth values or '}strings"
        if value.dtype.kind == "O" and not all(isinstance(label, str) for label in value.flat):
            return "must hold strings"
        if not agreed((self.size,), value.shape, sizes):
            return f"must have shape ({self.size},); got {value.shape}"
        if np.unique(value).size != value.size:
            return "must hold different labels"
        return None if self.text_only else self._class_problem(value)

    def _allows(self, dtype: np.dtype) -> bool:
        return dtype.kind in "UO" or (not self.text_only and dtype.name in LABEL_DTYPES)

    def _class_problem(self, classes: np.ndarray) -> str | None:
        if classes.size < self.least:
            return f"must hold at least {self.least} classes; got {classes.size}"
        if classes.dtype.kind == "f" and not np.isfinite(classes).all():
            return "must be finite; got NaN or infinity"
        return None if (np.unique(classes) == classes).all() else "must be in order"


@dataclass(frozen=True)
class Words:
    """An array of strings, each one of a few."""

    size: str
    options: tuple[str, ...]

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, np.ndarray) or value.dtype.kind != "U":
            return "must be an array of strings"
        others = [word for word in value.flat if word not in self.options]
        if others:
            return f"must hold {', '.join(map(repr, self.options))}; got {str(others[0])!r}"
        return None if agreed((self.size,), value.shape, sizes) else f"must have shape ({self.size},)"


@dataclass(frozen=True)
class TextLists:
    """A list of lists of strings."""

    size: str

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, list) or not all(isinstance(part, list) for part in value):
            return "must be a list of lists"
        if not all(isinstance(text, str) for part in value for text in part):
            return "must hold strings"
        return None if agreed((self.size,), (len(value),), sizes) else f"must have {self.size} lists"


@dataclass(frozen=True)
class Scalar:
    """A single value under a parameter rule; a number that need not be whole must be a float, as fits make it."""

    rule: Any

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        if not self.rule.allows(value):
            return f"must be {self.rule}; got {value!r}"
        is_float = isinstance(value, (float, np.floating))
        if isinstance(self.rule, Number) and not self.rule.integer and not is_float:
            return f"must be a float; got a number of type {type(value).__name__}"
        return None


@dataclass(frozen=True)
class Sentence:
    """A line of text."""

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        return None if isinstance(value, str) and value.isprintable() else f"must be a line of text; got {value!r}"


@dataclass(frozen=True)
class Size:
    """A whole number that fixes or repeats a size."""

    name: str

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            return f"must be an integer at least 0; got {value!r}"
        return None if agreed((self.name,), (value,), sizes) else f"must be {sizes[self.name]}; got {value}"


@dataclass(frozen=True)
class Proof:
    """A certificate."""

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        return None if hasattr(value, "claims") else "must be a certificate"


@dataclass(frozen=True)
class Models:
    """A list of fitted models; each has passed the rules of its own class."""

    size: str

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, list) or not value or not all(hasattr(model, "predict") for model in value):
            return "must be a list of at least 1 model"
        return None if agreed((self.size,), (len(value),), sizes) else f"must hold {sizes[self.size]} models"


@dataclass(frozen=True)
class Model:
    """A fitted model, which has passed the rules of its own class."""

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        return None if hasattr(value, "predict") else f"must be a model; got {type(value).__name__}"


@dataclass(frozen=True)
class OutputLabels:
    """The classes of one output, or a list of those of several; together they fix how many values a node has."""

    total: str

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        if isinstance(value, list) and len(value) < 2:
            return "must be an array, or a list of at least 2 arrays"
        for labels in value if isinstance(value, list) else [value]:
            problem = Labels("", least=1).problem(labels, {})
            if problem:
                return problem
        n_values = sum(len(labels) for labels in (value if isinstance(value, list) else [value]))
        return None if agreed((self.total,), (n_values,), sizes) else f"must hold {sizes[self.total]} classes"


@dataclass(frozen=True)
class CategoryLists:
    """For each column None, or the labels of its categories: strings or numbers in order; None may come last."""

    size: str

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, list) or not agreed((self.size,), (len(value),), sizes):
            return f"must be a list with one entry for each of {self.size} columns"
        for labels in value:
            if labels is not None and not self._in_order(labels):
                return "must hold lists of different labels in order"
        return None

    @staticmethod
    def _in_order(labels: Any) -> bool:
        if not isinstance(labels, list):
            return False
        named = labels[:-1] if labels and labels[-1] is None else labels
        of_one_kind = all(isinstance(label, str) for label in named) or all(isinstance(n, float) for n in named)
        return of_one_kind and all(a < b for a, b in pairwise(named))


@dataclass(frozen=True)
class Nodes:
    """The arrays of a tree (``core.tree.types.Tree``): every child, feature and list must be there."""

    n_features: str
    n_values: str

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        shapes: Sizes = {}
        fields = getattr(value, "_fields", ())
        if set(fields) != set(NODE_ARRAYS):
            return "must be a tree"
        for name, (dtype, shape) in NODE_ARRAYS.items():
            array = getattr(value, name)
            if not isinstance(array, np.ndarray) or array.dtype.name != dtype or not agreed(shape, array.shape, shapes):
                return f"must have {name} of dtype {dtype} and shape ({', '.join(map(str, shape))})"
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                return f"must have a finite {name}; got NaN or infinity"
        if not agreed((self.n_values,), (value.value.shape[1],), sizes):
            return f"must have {sizes[self.n_values]} values for each node; got {value.value.shape[1]}"
        return nodes_problem(value, sizes[self.n_features])


NODE_ARRAYS: dict[str, tuple[str, tuple[str | int, ...]]] = {
    "left": ("int32", ("n",)),
    "right": ("int32", ("n",)),
    "feature": ("int32", ("n",)),
    "threshold": ("float64", ("n",)),
    "default_left": ("bool", ("n",)),
    "chained": ("bool", ("n",)),
    "category_start": ("int64", ("n_starts",)),
    "categories": ("int32", ("n_listed",)),
    "impurity": ("float64", ("n",)),
    "n_rows": ("int64", ("n",)),
    "weight": ("float64", ("n",)),
    "value": ("float64", ("n", "n_values")),
}


def nodes_problem(tree: Any, n_features: int) -> str | None:
    """Return what is wrong with the shape of a tree, or nothing."""
    inner = tree.left != -1
    if tree.left.size == 0 or ((tree.right != -1) != inner).any():
        return "must have two children or none at every node"
    if not is_preorder(tree.left.tolist(), tree.right.tolist()):
        return "must have its nodes in preorder"
    if ((tree.feature[inner] < 0) | (tree.feature[inner] >= n_features)).any():
        return f"must ask about features below {n_features}"
    starts = tree.category_start
    lists = np.diff(starts)
    if starts.size != inner.size + 1 or starts[0] != 0 or starts[-1] != tree.categories.size or (lists < 0).any():
        return "must have lists of categories that follow each other"
    if (lists[~inner] > 0).any() or (tree.chained & ~inner).any():
        return "must have no question at a leaf"
    if (tree.feature[tree.right[tree.chained]] != tree.feature[tree.chained]).any():
        return "must go on with the same feature where a question is chained"
    if (tree.weight <= 0).any() or (tree.n_rows <= 0).any():
        return "must have rows of positive weight at every node"
    return None


def is_preorder(left: list[int], right: list[int]) -> bool:
    """Return whether a tree stands as: a node, all that is on its left, all that is on its right.

    >>> is_preorder([1, -1, -1], [2, -1, -1]), is_preorder([2, -1, -1], [1, -1, -1])
    (True, False)
    """
    expected, waiting = 0, []
    for node in range(len(left)):
        if node != expected:
            return False
        if left[node] != -1:
            if left[node] != node + 1:
                return False
            waiting.append(right[node])
            expected = node + 1
        else:
            expected = waiting.pop() if waiting else len(left)
    return expected == len(left) and not waiting


DTYPES = {"f": ("float64", "float32"), "i": ("int64", "int32"), "b": ("bool",)}
WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
LABEL_DTYPES = (*WHOLE, "bool", "float16", "float32", "float64")


def agreed(wanted: tuple[str | int, ...], shape: tuple[int, ...], sizes: Sizes) -> bool:
    """Return whether the shape fits; names that are new are fixed by it.

    >>> sizes = {}
    >>> agreed(("n", 2), (3, 2), sizes), agreed(("n",), (4,), sizes)
    (True, False)
    """
    if len(wanted) != len(shape):
        return False
    for want, got in zip(wanted, shape, strict=True):
        if sizes.setdefault(want, got) != got if isinstance(want, str) else want != got:
            return False
    return True


def check_state(who: str, rules: Mapping[str, StateRule], state: Mapping[str, Any], optional: frozenset[str]) -> None:
    """Raise for the first fitted attribute that is missing, unknown, or breaks its rule."""
    sizes: Sizes = {}
    for name, rule in rules.items():
        if name not in state:
            if name in optional:
                continue
            raise InputError(f"{who}: {name} must be there; got nothing.")
        problem = rule.problem(state[name], sizes)
        if problem:
            raise InputError(f"{who}: {name} {problem}.")
        if "n_classes" in sizes:
            sizes["n_problems"] = 1 if sizes["n_classes"] == 2 else sizes["n_classes"]
    for name in state:
        if name not in rules:
            raise InputError(f"{who}: {name} must not be there.")
