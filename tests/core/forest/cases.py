"""Small forests of every kind: single trees that have grown from weighted rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood import DecisionTreeClassifier, DecisionTreeRegressor
from eigenwood.core.tree.criteria import ABSOLUTE_ERROR, ENTROPY, ERROR, GINI, POISSON, SQUARED_ERROR
from eigenwood.core.tree.types import LEAF, NO_FEATURE, NO_THRESHOLD, Tree

CRITERIA = {
    "gini": GINI,
    "entropy": ENTROPY,
    "error": ERROR,
    "squared_error": SQUARED_ERROR,
    "poisson": POISSON,
    "absolute_error": ABSOLUTE_ERROR,
}


class Case(NamedTuple):
    trees: list
    criterion: int
    starts: np.ndarray
    bounded: bool
    X: np.ndarray
    categories: tuple


def case(
    criterion="gini", n_classes=(3,), n_rows=40, n_trees=3, seed=0, missing=False, split=None, counts=True, **parameters
):
    """Return trees grown from bootstrap counts (or uneven weights) of one table, and the table."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 4)), 1)
    X[:, 3] = rng.normal(size=n_rows)
    categories = ()
    if split is not None:
        X[:, :2], categories = rng.integers(5, size=(n_rows, 2)), (0, 1)
        parameters |= {"categorical_features": [0, 1], "categorical_split": split}
    if missing:
        X[:, 2:][rng.random((n_rows, 2)) < 0.2] = np.nan
    classifying = CRITERIA[criterion] <= ERROR
    if classifying:
        y = np.column_stack([rng.integers(k, size=n_rows) for k in n_classes])
        for o, k in enumerate(n_classes):
            y[:k, o] = np.arange(k)
    else:
        n_classes = (1,) * len(n_classes)
        y = np.round(rng.gamma(2.0, size=(n_rows, len(n_classes))), 1) + 0.1
    trees = []
    for _ in range(n_trees):
        drawn = rng.poisson(1.0, size=n_rows) if counts else rng.uniform(0.5, 2.0, size=n_rows)
        drawn[: max(n_classes)] += 1  # every class must occur
        model = (DecisionTreeClassifier if classifying else DecisionTreeRegressor)(criterion=criterion, **parameters)
        trees.append(model.set_params(random_state=seed).fit(X, y, sample_weight=drawn).nodes_)
    starts = np.concatenate([[0], np.cumsum(n_classes)])
    return Case(trees, CRITERIA[criterion], starts, "monotonic_cst" in parameters, X, categories)


def from_scikit_learn(model):
    """Return the trees of a fitted forest of scikit-learn."""
    return [converted(each.tree_) for each in model.estimators_]


def converted(tree):
    leaf = tree.children_left == -1
    return Tree(
        left=tree.children_left.astype(np.int32),
        right=tree.children_right.astype(np.int32),
        feature=np.where(leaf, NO_FEATURE, tree.feature).astype(np.int32),
        threshold=np.where(leaf, NO_THRESHOLD, tree.threshold),
        default_left=tree.missing_go_to_left.astype(bool) & ~leaf,
        chained=np.zeros(leaf.size, dtype=bool),
        category_start=np.zeros(leaf.size + 1, dtype=np.int64),
        categories=np.empty(0, dtype=np.int32),
        impurity=tree.impurity.copy(),
        n_rows=tree.n_node_samples.astype(np.int64),
        weight=tree.weighted_n_node_samples.copy(),
        value=tree.value.reshape(leaf.size, -1).copy(),
    )


def single_leaf(value):
    """Return a tree that asks nothing."""
    value = np.array([value], dtype=np.float64)
    return Tree(
        left=np.array([LEAF], dtype=np.int32),
        right=np.array([LEAF], dtype=np.int32),
        feature=np.array([NO_FEATURE], dtype=np.int32),
        threshold=np.array([NO_THRESHOLD]),
        default_left=np.zeros(1, dtype=bool),
        chained=np.zeros(1, dtype=bool),
        category_start=np.zeros(2, dtype=np.int64),
        categories=np.empty(0, dtype=np.int32),
        impurity=np.zeros(1),
        n_rows=np.array([3]),
        weight=np.array([3.0]),
        value=value,
    )


def questions_and_rows_around_zero():
    """Yield a tree that asks all features for one threshold, and rows that are equal to it and next to it."""
    tree = case(n_trees=1, n_classes=(2,)).trees[0]
    largest = np.finfo(np.float64).max
    for threshold in (0.0, -0.0, 1e-310, 0.1, largest, -largest):
        values = [0.0, -0.0, 5e-324, -5e-324, 0.1, largest, -largest, *np.nextafter(threshold, [-1e300, 1e300])]
        asked = tree._replace(threshold=np.where(tree.feature == -2, -2.0, threshold))
        yield asked, np.repeat(np.array(values)[:, None], 4, axis=1)
