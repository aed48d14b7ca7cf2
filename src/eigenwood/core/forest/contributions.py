"""Contributions of features to what a packed forest predicts."""

from __future__ import annotations

from eigenwood.core.forest.packing import Forest, all_trees, trees_at
from eigenwood.core.tree.contributions import Explainer, make_explainer
from eigenwood.core.tree.criteria import is_classifying


def forest_explainer(forest: Forest, n_features: int, *, n_interleaved: int = 1, factor: float = 1.0) -> Explainer:
    """Return a forest, ready to be explained; it predicts ``factor`` times the sum over its trees.

    Each tree has the values of all outputs, or tree t has that of output t modulo ``n_interleaved``.
    """
    starts = forest.output_start if is_classifying(int(forest.criterion[0])) else (0,)
    trees = trees_at(forest, all_trees(forest))
    return make_explainer(
        trees, forest.node_start, n_features, n_interleaved=n_interleaved, factor=factor, starts=starts
    )
