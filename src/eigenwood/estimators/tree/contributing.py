"""What each feature adds to the predictions of a fitted tree or forest."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenwood.core.tree.contributions import Contributions, Explainer, contributions, make_explainer
from eigenwood.core.tree.types import Tree
from eigenwood.estimators.tree.data import class_lists, one_or_list, values_per_output
from eigenwood.estimators.tree.input_checks import check_no_infinity
from eigenwood.validation.arrays import check_room


def tree_explainer(nodes: Tree, model: Any) -> Explainer:
    """Return the nodes of a fitted tree, ready to be explained."""
    ends = np.cumsum(values_per_output(model))
    starts = np.append(0, ends) if class_lists(model) else (0,)
    return make_explainer(nodes, np.array([0, nodes.left.size]), model.n_features_in_, starts=starts)


def contributions_of(model: Any, explainer: Explainer, rows: Any, n_threads: int) -> Any:
    """Return the contributions to what a tree or forest predicts for checked rows; a list for several class outputs."""
    values, base = checked_contributions(model, explainer, rows, n_threads)
    if class_lists(model):
        ends = np.cumsum(values_per_output(model))[:-1]
        parts = zip(np.split(values, ends, axis=2), np.split(np.asarray(base), ends), strict=True)
        return one_or_list([Contributions(*part) for part in parts])
    if model.n_outputs_ == 1:
        return Contributions(values[:, :, 0], float(np.asarray(base)[0]))
    return Contributions(values, base)


def checked_contributions(model: Any, explainer: Explainer, rows: Any, n_threads: int) -> Contributions:
    """Return the contributions to the sums of a model's trees, if its rows are finite and there is room for them."""
    check_no_infinity(model, rows)
    n_bytes = 8.0 * rows.shape[0] * model.n_features_in_ * len(explainer.outputs)
    check_room(type(model).__name__, "the contributions", n_bytes, "fewer rows at a time take less")
    return contributions(explainer, rows, n_threads)
