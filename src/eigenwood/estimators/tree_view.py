"""A fitted tree under scikit-learn's names, to look at: ``plot_tree``, ``export_text`` and dtreeviz read it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from eigenwood.core.tree.nodes import LEAF, Tree, node_depths
from eigenwood.core.tree.partial import partial_dependence
from eigenwood.core.tree.predicting import Walk, decision_path, leaves_of, walk_of


def read_only(array: np.ndarray) -> np.ndarray:
    """Return the array, which cannot be written to any more."""
    array.setflags(write=False)
    return array


def seen_only(nodes: Tree) -> Tree:
    """Return the same nodes to look at: kernels, which are compiled for arrays that can be written to, keep theirs."""
    return Tree(*(read_only(array.view()) for array in nodes))


class TreeView:
    """The nodes of a tree as read-only arrays with the names of ``sklearn.tree._tree.Tree``.

    A question about categories has no threshold: it shows NaN. ``categories(i)`` are the codes that go to the lighter
    branch of node i, ``chained[i]`` says that its right child asks the rest of the same question.
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
    walk: Walk
    _nodes: Tree

    def __init__(self, nodes: Tree, n_features: int, n_classes: list[int]) -> None:
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
            threshold=read_only(np.where(np.diff(nodes.category_start) > 0, np.nan, nodes.threshold)),
            missing_go_to_left=read_only(nodes.default_left.astype(np.uint8)),
            chained=read_only(nodes.chained.copy()),
            impurity=read_only(nodes.impurity.copy()),
            n_node_samples=read_only(nodes.n_rows.copy()),
            weighted_n_node_samples=read_only(nodes.weight.copy()),
            value=read_only(padded_values(nodes.value, n_classes)),
            walk=walk_of(nodes),
            _nodes=nodes,
        )

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"tree_: {name} is not writable; a tree is changed by fitting it again.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"tree_: {name} cannot be deleted; a tree is changed by fitting it again.")

    def __reduce__(self) -> tuple:
        """Pickle the nodes alone: what is made of them is made again, to be read only."""
        return TreeView, (self._nodes, self.n_features, self.n_classes.tolist())

    def categories(self, node: int) -> np.ndarray:
        """Return the codes of the categories that go to the lighter branch of a node."""
        first, last = self._nodes.category_start[node : node + 2]
        return read_only(self._nodes.categories[first:last])

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf of every row; categories stand in X by their codes."""
        return leaves_of(self.walk, X.tocsr() if sparse.issparse(X) else np.asarray(X)).nodes.astype(np.int64)

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
        """Return how much each feature lowers the impurity, as shares of the whole."""
        mass = self.weighted_n_node_samples * self.impurity
        inner = np.flatnonzero(self.children_left != LEAF)
        gains = mass[inner] - mass[self.children_left[inner]] - mass[self.children_right[inner]]
        importances = np.bincount(self.feature[inner], weights=gains, minlength=self.n_features)
        importances = importances / self.weighted_n_node_samples[0]
        total = importances.sum()
        return importances / total if normalize and total > 0.0 else importances

    def compute_partial_dependence(self, X: Any, target_features: Any, out: np.ndarray) -> None:
        """Write the mean prediction for each line of X, a grid of values of the target features."""
        out[:] = partial_dependence(self._nodes, np.asarray(X), np.asarray(target_features))


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
