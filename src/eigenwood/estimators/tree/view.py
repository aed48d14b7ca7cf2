"""A fitted tree under scikit-learn's names, to look at: ``plot_tree``, ``export_text`` and dtreeviz read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from eigenwood.core.tree.partial_dependence import partial_dependence
from eigenwood.core.tree.predict import Predictor, decision_path, leaves_of, make_predictor
from eigenwood.core.tree.structure import node_depths
from eigenwood.core.tree.types import LEAF, Tree

MOST_LABELS = 12  # categories that are spelt out in a threshold


def read_only(array: np.ndarray) -> np.ndarray:
    """Return the array, which cannot be written to any more."""
    array.setflags(write=False)
    return array


def read_only_nodes(nodes: Tree) -> Tree:
    """Return the nodes of a tree as arrays that cannot be written to; kernels keep those that can."""
    return Tree(*(read_only(array.view()) for array in nodes))


class Subset(float):
    """The threshold of a question about categories: NaN, but it is written as the categories that go left.

    ``export_text``, ``export_graphviz`` and ``plot_tree`` write a threshold by ``format`` or ``round``.

    >>> threshold = Subset("{rain, sunny}")
    >>> f"outlook <= {threshold:.2f}", round(threshold, 3), threshold <= 0.5
    ('outlook <= {rain, sunny}', {rain, sunny}, False)
    """

    def __new__(cls, words: str) -> Subset:
        return super().__new__(cls, np.nan)

    def __init__(self, words: str) -> None:
        self.words = words

    def __format__(self, how: str) -> str:
        return self.words

    def __round__(self, n_digits: Any = None) -> Any:
        return self

    def __str__(self) -> str:
        return self.words

    __repr__ = __str__


class Thresholds(np.ndarray):
    """Thresholds of nodes; a single one is taken out as a ``Subset`` where a category is asked."""

    subset_of: Callable[[int], Subset | None] | None = None

    def __getitem__(self, place: Any) -> Any:
        if self.subset_of is not None and isinstance(place, (int, np.integer)):
            return self.subset_of(int(place)) or np.asarray(self)[place]
        return np.asarray(self)[place]


class TreeView:
    """The nodes of a tree as read-only arrays with the names of ``sklearn.tree._tree.Tree``.

    A question about categories has no threshold: the array has NaN there, which is written as the categories that go
    left. ``categories(i)`` are the codes that go to the lighter branch of node i, ``chained[i]`` says that its right
    child asks the rest of the same question.
    """

    n_features: int
    n_outputs: int
    n_classes: np.ndarray
    max_n_classes: int
    node_count: int
    capacity: int
    n_leaves: int
    max_depth: int
    children_left: np.ndarray
    children_right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_go_to_left: np.ndarray
    chained: np.ndarray
    impurity: np.ndarray
    n_node_samples: np.ndarray
    weighted_n_node_samples: np.ndarray
    value: np.ndarray
    predictor: Predictor
    _nodes: Tree
    _labels: list

    def __init__(self, nodes: Tree, n_features: int, n_classes: list[int], labels: list) -> None:
        """``labels`` are those of each column's categories, None for a column of numbers."""
        vars(self).update(
            n_features=n_features,
            n_outputs=len(n_classes),
            n_classes=read_only(np.array(n_classes, dtype=np.intp)),
            max_n_classes=max(n_classes),
            node_count=nodes.left.size,
            capacity=nodes.left.size,
            n_leaves=int((nodes.left == LEAF).sum()),
            max_depth=int(node_depths(nodes.left, nodes.right, nodes.chained).max()),
            children_left=read_only(nodes.left.astype(np.int64)),
            children_right=read_only(nodes.right.astype(np.int64)),
            feature=read_only(nodes.feature.astype(np.int64)),
            threshold=thresholds_of(nodes, labels),
            missing_go_to_left=read_only(nodes.default_left.astype(np.uint8)),
            chained=read_only(nodes.chained.copy()),
            impurity=read_only(nodes.impurity.copy()),
            n_node_samples=read_only(nodes.n_rows.copy()),
            weighted_n_node_samples=read_only(nodes.weight.copy()),
            value=read_only(padded_values(nodes.value, n_classes)),
            predictor=make_predictor(nodes),
            _nodes=nodes,
            _labels=labels,
        )

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"tree_: {name} is not writable; a tree is changed by fitting it again.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"tree_: {name} cannot be deleted; a tree is changed by fitting it again.")

    def __reduce__(self) -> tuple:
        """Pickle the nodes alone: all other arrays follow from them."""
        return TreeView, (self._nodes, self.n_features, self.n_classes.tolist(), self._labels)

    def categories(self, node: int) -> np.ndarray:
        """Return the codes of the categories that go to the lighter branch of a node."""
        first, last = self._nodes.category_start[node : node + 2]
        return read_only(self._nodes.categories[first:last])

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf of every row; categories stand in X by their codes."""
        return leaves_of(self.predictor, X.tocsr() if sparse.issparse(X) else np.asarray(X)).nodes.astype(np.int64)

    def decision_path(self, X: Any) -> sparse.csr_matrix:
        """Return which nodes every row visits."""
        return sparse.csr_matrix(decision_path(self._nodes, self.apply(X)))

    def predict(self, X: Any) -> np.ndarray:
        """Return the values of the leaves: shape (n_rows, n_classes), or (n_rows, n_outputs, n_classes)."""
        values = self.value[self.apply(X)]
        return values[:, 0] if self.n_outputs == 1 else values

    def compute_node_depths(self) -> np.ndarray:
        """Return the depth of each node, the root's being 1."""
        return node_depths(self._nodes.left, self._nodes.right, self._nodes.chained) + 1

    def compute_feature_importances(self, normalize: bool = True) -> np.ndarray:
        """Return how much each feature lowers the impurity, as shares of the total."""
        mass = self.weighted_n_node_samples * self.impurity
        inner = np.flatnonzero(self.children_left != LEAF)
        gains = mass[inner] - mass[self.children_left[inner]] - mass[self.children_right[inner]]
        importances = np.bincount(self.feature[inner], weights=gains, minlength=self.n_features)
        importances = importances / self.weighted_n_node_samples[0]
        total = importances.sum()
        return importances / total if normalize and total > 0.0 else importances

    def compute_partial_dependence(self, X: Any, target_features: Any, out: np.ndarray) -> None:
        """Write the mean prediction for each row of X, a grid of values of the target features."""
        out[:] = partial_dependence(self._nodes, np.asarray(X), np.asarray(target_features))


def thresholds_of(nodes: Tree, labels: list) -> np.ndarray:
    """Return the thresholds of the nodes, read-only; questions about categories have none."""
    about_categories = np.diff(nodes.category_start) > 0
    thresholds = np.where(about_categories, np.nan, nodes.threshold)
    if not about_categories.any():
        return read_only(thresholds)

    def subset_of(node: int) -> Subset | None:
        node %= about_categories.size
        return Subset(left_answer(nodes, node, labels)) if about_categories[node] else None

    readable = thresholds.view(Thresholds)
    readable.subset_of = subset_of
    return read_only(readable)


def left_answer(nodes: Tree, node: int, labels: list) -> str:
    """Return in words which categories go left; those of the other side, if it is they that a node lists."""
    codes = nodes.categories[nodes.category_start[node] : nodes.category_start[node + 1]]
    known = labels[nodes.feature[node]]
    words = ["missing" if known[code] is None else str(known[code]) for code in codes]
    return subset_text(words, bool(nodes.default_left[node]))


def subset_text(words: list[str], excluded: bool) -> str:
    """Return a set of categories in words, or all but those; of a long list only the beginning.

    >>> subset_text(["rain", "sunny"], excluded=False), subset_text(["rain"], excluded=True)
    ('{rain, sunny}', 'not {rain}')
    """
    more = [f"{len(words) - MOST_LABELS} more"] if len(words) > MOST_LABELS else []
    return ("not " if excluded else "") + "{" + ", ".join(words[:MOST_LABELS] + more) + "}"


def padded_values(value: np.ndarray, n_classes: list[int]) -> np.ndarray:
    """Return values of shape (n_nodes, n_outputs, most classes), with zeros where an output has fewer classes."""
    if len(set(n_classes)) == 1:
        return value.reshape(value.shape[0], len(n_classes), n_classes[0])
    padded = np.zeros((value.shape[0], len(n_classes), max(n_classes)))
    first = 0
    for o, n in enumerate(n_classes):
        padded[:, o, :n] = value[:, first : first + n]
        first += n
    return padded
