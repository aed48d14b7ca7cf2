"""A tree of gradient boosting as an estimator of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenwood.core.tree.types import Tree
from eigenwood.estimators.tree.faces import DecisionTreeRegressor
from eigenwood.estimators.tree.view import TreeView
from eigenwood.proofs.claim import Certificate

SHARED = ("n_features_in_", "max_features_", "categories_", "is_categorical_", "has_missing_", "stop_reason_")
HANDED_ON = (
    "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "max_leaf_nodes",
    "max_features", "monotonic_cst", "categorical_features",
)  # fmt: skip


def tree_estimator(model: Any, nodes: Tree) -> DecisionTreeRegressor:
    """Return one tree as an estimator: its values are what it adds to the scores."""
    tree = DecisionTreeRegressor(**{name: getattr(model, name) for name in HANDED_ON})
    attributes = {
        **{name: getattr(model, name) for name in SHARED},
        "nodes_": nodes,
        "n_outputs_": 1,
        "n_binned_": 0,
        "tree_": TreeView(nodes, model.n_features_in_, [1], model.categories_),
        "split_seed_": 0,
        "pruning_curve_": np.empty((0, 3)),
        "certificate_": Certificate(()),
    }
    for name, value in attributes.items():
        setattr(tree, name, value)
    return tree
