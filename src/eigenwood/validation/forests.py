"""The rule for the trees of a forest (``core.forest.packing.Forest``) from a model file.

A forest is a set of arrays that refer to each other: bits give the shape of the trees, codes point into tables,
counts divide lists. Kernels read them without looking, so all of this is checked here, in an order in
which each check may trust those before it: types, trees, lengths, shape, questions, leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eigenwood.errors import InputError
from eigenwood.validation.state import Sizes, agreed
from eigenwood.validation.targets import LARGEST_AMOUNT

BITS, INDEX = ("uint8",), ("int64",)
WHOLE = ("uint8", "uint16", "uint32")
NUMBERS = (*WHOLE, "float32", "float64")
MOST_NODES = 2**31 - 1  # a node has an int32 as its number,
MOST_TREE_NODES = 2**30 - 1  # and the way to the right, twice, another
SHARE_ROUNDING = 1e-6  # of shares that sum to 1
LARGEST_MEAN = 2.0 * LARGEST_AMOUNT  # a mean may be rounded up


class LeafValues(NamedTuple):
    """What the values of leaves are, which depends on the criterion."""

    are_shares: bool = False  # of classes
    add_up: bool = True  # those of a parent follow from those of its children
    least: float = -np.inf


class Counts(NamedTuple):
    """How many there are of everything."""

    trees: int
    nodes: int
    questions: int
    leaves: int
    valued: int  # leaves, or nodes, that have a value
    impurities: int  # those that have an impurity too


@dataclass(frozen=True)
class Kept:
    """An array of a forest: its dtypes, one of ``Counts`` for its length, and whether there may be none of it."""

    dtypes: tuple[str, ...]
    count: str = ""  # any length
    packed: bool = False  # eight to a byte
    or_none: bool = False
    n_dimensions: int = 1

    def has_type(self, array: Any) -> bool:
        return isinstance(array, np.ndarray) and array.dtype.name in self.dtypes and array.ndim == self.n_dimensions

    def has_length(self, array: np.ndarray, counts: Counts) -> bool:
        if self.count == "" or (self.or_none and array.size == 0):
            return True
        wanted = getattr(counts, self.count)
        return len(array) == ((wanted + 7) // 8 if self.packed else wanted)

    def ends_with_zeros(self, array: np.ndarray, counts: Counts) -> bool:
        """Return whether the bits of the last byte that stand for nothing are 0."""
        n_spare = 8 * len(array) - getattr(counts, self.count)
        return array.size == 0 or int(array[-1]) % (1 << n_spare) == 0


FOREST_ARRAYS = {
    "criterion": Kept(("uint8",)),
    "bounded": Kept(("bool",)),
    "output_start": Kept(INDEX),
    "node_start": Kept(INDEX),
    "inner": Kept(BITS, "nodes", packed=True),
    "feature": Kept(WHOLE, "questions"),
    "threshold": Kept(NUMBERS, "questions"),
    "default_left": Kept(BITS, "questions", packed=True),
    "chained": Kept(BITS, "questions", packed=True, or_none=True),
    "n_listed": Kept(WHOLE, "questions", or_none=True),
    "categories": Kept(WHOLE),
    "n_rows": Kept(WHOLE, "leaves"),
    "weight": Kept(NUMBERS, "leaves", or_none=True),
    "value": Kept(NUMBERS, n_dimensions=2),
    "value_code": Kept(WHOLE, "valued", or_none=True),
    "impure": Kept(BITS, "impurities", packed=True),
    "impurity": Kept(NUMBERS),
}


@dataclass(frozen=True)
class ForestNodes:
    """The arrays of a forest that has grown by one of some criteria: the core's code of each, and its values."""

    n_features: str
    n_values: str
    criteria: Mapping[int, LeafValues]

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        return next((problem for problem in self._problems(value, sizes) if problem), None)

    def _problems(self, forest: Any, sizes: Sizes) -> Iterator[str | None]:
        """Yield the result of each check; the caller stops at the first problem."""
        yield types_problem(forest)
        yield self._criterion_problem(forest)
        yield trees_problem(forest.node_start)
        values = self.criteria[int(forest.criterion[0])]
        counts = counts_of(forest, values)
        yield lengths_problem(forest, counts)
        yield shape_problem(forest, counts)
        yield questions_problem(forest, sizes[self.n_features])
        yield lists_problem(forest)
        yield chains_problem(forest, counts)
        yield weights_problem(forest, counts)
        yield values_problem(forest, counts)
        if not agreed((self.n_values,), forest.value.shape[1:], sizes):
            yield f"must have {sizes[self.n_values]} values for each leaf; got {forest.value.shape[1]}"
        yield shares_problem(forest) if values.are_shares else means_problem(forest, values.least)
        yield impurities_problem(forest, counts)
        yield bits_problem(forest, counts)

    def _criterion_problem(self, forest: Any) -> str | None:
        if forest.criterion.size != 1 or forest.bounded.size != 1:
            return "must have one criterion, and say once whether values are bounded"
        code, known = int(forest.criterion[0]), sorted(self.criteria)
        return None if code in known else f"must have a criterion among {', '.join(map(str, known))}; got {code}"


def counts_of(forest: Any, values: LeafValues) -> Counts:
    """Return how many there are of everything, if the trees are as long as they say."""
    n_trees, n_nodes = forest.node_start.size - 1, int(forest.node_start[-1])
    n_questions = (n_nodes - n_trees) // 2
    n_leaves = n_nodes - n_questions
    inner_too = bool(forest.bounded[0]) or not values.add_up
    n_valued = n_nodes if inner_too else n_leaves
    n_impurities = 0 if values.are_shares and not inner_too else n_valued
    return Counts(n_trees, n_nodes, n_questions, n_leaves, n_valued, n_impurities)


def types_problem(forest: Any) -> str | None:
    """Return which array is not there or of another type."""
    if getattr(forest, "_fields", None) != tuple(FOREST_ARRAYS):
        return "must be a forest"
    for name, kept in FOREST_ARRAYS.items():
        array = getattr(forest, name)
        if not kept.has_type(array):
            shape = "(n,)" if kept.n_dimensions == 1 else "(n, n_values)"
            return f"must have {name} of dtype {' or '.join(kept.dtypes)} and shape {shape}"
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            return f"must have a finite {name}; got NaN or infinity"
    return None


def trees_problem(starts: np.ndarray) -> str | None:
    """Return whether trees do not follow each other, or are too large to be walked through."""
    if starts.size < 2:
        return "must have at least 1 tree"
    if starts[0] != 0 or (starts[1:] <= starts[:-1]).any():
        return "must have trees that follow each other"
    if starts[-1] > MOST_NODES or np.diff(starts).max() > MOST_TREE_NODES:
        return f"must have at most {MOST_NODES} nodes, and {MOST_TREE_NODES} in a tree"
    return None


def lengths_problem(forest: Any, counts: Counts) -> str | None:
    """Return which array is longer or shorter than the trees say."""
    for name, kept in FOREST_ARRAYS.items():
        array = getattr(forest, name)
        if not kept.has_length(array, counts):
            unit = " bytes" if kept.packed else ""
            return f"must have {name} for {getattr(counts, kept.count)} {kept.count}; got {len(array)}{unit}"
    return None


def bits_problem(forest: Any, counts: Counts) -> str | None:
    """Return which array of bits has some after its last one."""
    for name, kept in FOREST_ARRAYS.items():
        if kept.packed and not kept.ends_with_zeros(getattr(forest, name), counts):
            return f"must have nothing but zeros after the last bit of {name}"
    return None


def shape_problem(forest: Any, counts: Counts) -> str | None:
    """Return whether the bits of the nodes are not those of the trees: a tree ends with a leaf more than questions."""
    least = np.minimum.accumulate(open_places(forest.inner, counts.nodes))
    ends = np.flatnonzero(np.diff(least))
    return None if np.array_equal(ends + 1, forest.node_start[1:]) else "must have the nodes of each tree in preorder"


def open_places(inner: np.ndarray, n_nodes: int) -> np.ndarray:
    """Return how many more questions than leaves stand before each node, and before the end.

    >>> open_places(np.packbits([1, 0, 1, 0, 0]), 5)
    array([ 0,  1,  0,  1,  0, -1], dtype=int32)
    """
    steps = np.zeros(n_nodes + 1, dtype=np.int32)
    steps[1:] = np.unpackbits(inner, count=n_nodes)
    steps[1:] *= 2
    steps[1:] -= 1
    return np.cumsum(steps, dtype=np.int32)


def questions_problem(forest: Any, n_features: int) -> str | None:
    """Return whether a column is asked that is not there; prediction reads the first column even at a leaf."""
    most = int(forest.feature.max(initial=0))
    return None if most < n_features else f"must ask about features below {n_features}; got {most}"


def lists_problem(forest: Any) -> str | None:
    """Return whether categories are not those that the questions list, or do not ascend."""
    if int(forest.n_listed.sum(dtype=np.int64)) != forest.categories.size:
        return "must have as many categories as its questions list"
    question = np.repeat(np.arange(forest.n_listed.size), forest.n_listed)
    ascending = (forest.categories[1:] > forest.categories[:-1]) | (question[1:] > question[:-1])
    return None if ascending.all() else "must list categories that ascend"


def chains_problem(forest: Any, counts: Counts) -> str | None:
    """Return whether a chained question does not go on with the same feature."""
    chained = np.unpackbits(forest.chained, count=counts.questions if forest.chained.size else 0).astype(bool)
    if not chained.any():
        return None
    asked = np.unpackbits(forest.inner, count=counts.nodes).astype(np.int64)
    asked[asked > 0] = 1 + forest.feature.astype(np.int64)
    nodes = np.flatnonzero(asked)[chained]
    same = asked[right_children(open_places(forest.inner, counts.nodes))[nodes]] == asked[nodes]
    return None if same.all() else "must go on with the same feature where a question is chained"


def right_children(places: np.ndarray) -> np.ndarray:
    """Return the right child of each inner node: the next one with as many open places before it.

    >>> right_children(np.array([0, 1, 0, 1, 0, -1]))[[0, 2]]  # the nodes 0 and 2 are inner
    array([2, 4])
    """
    order = np.argsort(places[:-1], kind="stable")
    right = np.empty(order.size, dtype=np.int64)
    right[order] = np.append(order[1:], 0)
    return right


def weights_problem(forest: Any, counts: Counts) -> str | None:
    """Return whether a leaf has no rows or no weight, or weights do not add up to a number."""
    if forest.n_rows.min() <= 0 or (forest.weight.size > 0 and forest.weight.min() <= 0):
        return "must have rows of positive weight at every leaf"
    first_leaf = (forest.node_start[:-1] + np.arange(counts.trees)) // 2
    with np.errstate(over="ignore"):
        totals = np.add.reduceat(forest.weight, first_leaf, dtype=np.float64) if forest.weight.size > 0 else np.ones(1)
    return None if np.isfinite(totals).all() else "must have weights whose sum is finite"


def values_problem(forest: Any, counts: Counts) -> str | None:
    """Return whether a value is not there: plain ones stand by leaf or node, distinct ones by code."""
    (n_different, n_values), codes, starts = forest.value.shape, forest.value_code, forest.output_start
    if starts.size < 2 or starts[0] != 0 or starts[-1] != n_values or (starts[1:] <= starts[:-1]).any():
        return "must have outputs that follow each other and share its values"
    if codes.size == 0:
        return None if n_different == counts.valued else f"must have {counts.valued} values; got {n_different}"
    if n_different > counts.valued or codes.max() >= n_different:
        return "must have codes of values within their table"
    return None


def shares_problem(forest: Any) -> str | None:
    """Return whether values are no shares of classes, output by output."""
    sums = np.add.reduceat(forest.value, forest.output_start[:-1], axis=1, dtype=np.float64)
    is_right = forest.value.min() >= 0 and (abs(sums - 1.0) <= SHARE_ROUNDING).all()
    return None if is_right else "must have shares of classes from 0 to 1 that sum to 1"


def means_problem(forest: Any, at_least: float) -> str | None:
    """Return whether values are not one number for each output that can be squared and added up."""
    least, most = float(forest.value.min()), float(forest.value.max())
    if forest.output_start.size != forest.value.shape[1] + 1:
        return "must have one value for each output"
    if max(most, -least) > LARGEST_MEAN:
        return f"must have values of size at most {LARGEST_MEAN:g}"
    return f"must have values of at least {at_least:g}" if least < at_least else None


def impurities_problem(forest: Any, counts: Counts) -> str | None:
    """Return whether impurities are not those that the bits announce, or are not positive."""
    n_impure = int(np.unpackbits(forest.impure, count=counts.impurities).sum(dtype=np.int64))
    is_right = forest.impurity.size == n_impure and (n_impure == 0 or forest.impurity.min() > 0)
    return None if is_right else "must have a positive impurity for each that is said to be impure"


def forest_lists_known_categories(forest: Any, n_labels: np.ndarray) -> bool:
    """Return whether questions about categories, and only those, list some that are known.

    ``n_labels`` has how many labels a column of categories has, and -1 for a column of numbers; the forest has passed
    its rule.
    """
    n_listed = forest.n_listed if forest.n_listed.size > 0 else np.zeros(forest.feature.size, dtype=np.uint8)
    asked = n_labels[forest.feature]
    if ((asked >= 0) != (n_listed > 0)).any():
        return False
    return bool((forest.categories < np.repeat(asked, n_listed)).all())


def check_forest_values(
    who: str, output_sizes: Sequence[int], n_outputs: int, class_lists: Sequence[np.ndarray]
) -> None:
    """Raise unless the leaves of a forest have one value for each class, or for each output of numbers."""
    expected = [labels.size for labels in class_lists] if class_lists else [1] * len(output_sizes)
    if n_outputs != len(output_sizes) or list(output_sizes) != expected:
        raise InputError(f"{who}: forest_ must have one value for each class or output.")


def check_forest(
    who: str, forest: Any, n_labels: np.ndarray, *, is_bounded: bool, criterion: tuple[str, int], no_threshold: float
) -> None:
    """Raise unless the trees of a forest agree with its columns and parameters; ``criterion`` is its name and code."""
    if not forest_lists_known_categories(forest, n_labels):
        raise InputError(f"{who}: forest_ must list known categories, ascending, where a category is asked.")
    if bool(forest.bounded[0]) != is_bounded:
        raise InputError(f"{who}: forest_ must be bounded if monotonic_cst has signs, and only then.")
    if forest.n_listed.size > 0 and (forest.threshold[forest.n_listed > 0] != no_threshold).any():
        raise InputError(f"{who}: forest_ must have no threshold where a category is asked.")
    if forest.chained.any():
        raise InputError(f"{who}: forest_ must have no chains of questions.")
    name, code = criterion
    if int(forest.criterion[0]) != code:
        raise InputError(f"{who}: forest_ must have grown by criterion={name!r}; got another.")
