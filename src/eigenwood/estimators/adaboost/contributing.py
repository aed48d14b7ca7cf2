"""Contributions of features to the weighted vote of stumps, or of our trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenwood.core.adaboost.stumps import Stumps
from eigenwood.core.forest.contributions import forest_explainer
from eigenwood.core.forest.packing import Forest, pack
from eigenwood.core.tree.contributions import Contributions
from eigenwood.core.tree.criteria import SQUARED_ERROR
from eigenwood.core.tree.types import LEAF, NO_FEATURE, NO_THRESHOLD, Tree
from eigenwood.estimators.adaboost.votes import scores_of
from eigenwood.estimators.tree.contributing import checked_contributions
from eigenwood.estimators.tree.faces import DecisionTreeClassifier
from eigenwood.validation.adaboost import check_explainable, check_has_shares
from eigenwood.validation.categories import check_mixed


def vote_contributions(model: Any, X: Any) -> Contributions:
    """Return the contributions to the ``decision_function`` of a fitted model."""
    has_stumps = hasattr(model, "stumps_")
    check_explainable(type(model).__name__, model._learner(), has_stumps or are_trees(model.learners_))
    rows = check_mixed(model, X, known=model.categories_ if has_stumps else model.learners_[0].categories_).X
    explainer = forest_explainer(voting_forest(model), model.n_features_in_)
    values, base = checked_contributions(model, explainer, rows, model._threads())
    return (
        Contributions(values[:, :, 0], float(np.asarray(base)[0]))
        if values.shape[2] == 1
        else Contributions(values, base)
    )


def are_trees(learners: list) -> bool:
    """Return whether learners are our trees, which know the same columns."""
    return all(type(learner) is DecisionTreeClassifier for learner in learners)


def voting_forest(model: Any) -> Forest:
    """Return trees whose leaves have the scores that each learner adds."""
    weights, n_classes = model.estimator_weights_, model.classes_.size
    total, real = float(weights.sum()), model._is_real()
    if hasattr(model, "stumps_"):
        check_has_shares(type(model).__name__, hasattr(model, "left_shares_"))
        trees, votes = stump_trees(model.stumps_, model.left_shares_), stump_leaves(model.stumps_, n_classes)
    else:
        trees = [learner.nodes_ for learner in model.learners_]
        votes = [tree_votes(learner, n_classes, real) for learner in model.learners_]
    scores = [column_of_two(scores_of(w * pred, total, real)) for w, pred in zip(weights, votes, strict=True)]
    valued = [tree._replace(value=own, impurity=np.zeros_like(own)) for tree, own in zip(trees, scores, strict=True)]
    return pack(valued, SQUARED_ERROR, np.arange(scores[0].shape[1] + 1))


def column_of_two(scores: np.ndarray) -> np.ndarray:
    """Return scores as ``decision_function`` has them: the difference of both for two classes, as a column."""
    return scores[:, 1:] - scores[:, :1] if scores.shape[1] == 2 else scores


def tree_votes(learner: DecisionTreeClassifier, n_classes: int, real: bool) -> np.ndarray:
    """Return what each node of a tree says of each class: h = 2p - 1, or 1 for the class it votes for, else 0."""
    value, codes = learner.nodes_.value, np.asarray(learner.classes_, dtype=np.intp)
    pred = np.full((value.shape[0], n_classes), -1.0 if real else 0.0)
    pred[:, codes] = 2.0 * value - 1.0 if real else np.arange(codes.size) == value.argmax(axis=1)[:, None]
    return pred


def stump_leaves(stumps: Stumps, n_classes: int) -> list[np.ndarray]:
    """Return what the nodes of stumps as trees say of each class; nothing is asked of the root."""
    sides = np.column_stack([stumps.left, stumps.left, stumps.right])
    return list((np.arange(n_classes) == sides[:, :, None]).astype(np.float64))


def stump_trees(stumps: Stumps, left_shares: np.ndarray) -> list[Tree]:
    """Return stumps as trees of three nodes; values are not those of the stumps yet."""
    return [stump_tree(stumps, t, float(share)) for t, share in enumerate(left_shares)]


def stump_tree(stumps: Stumps, t: int, left_share: float) -> Tree:
    """Return a stump as a tree of three nodes whose weights are shares of the rows."""
    listed = stumps.categories[stumps.category_start[t] : stumps.category_start[t + 1]]
    return Tree(
        left=np.array([1, LEAF, LEAF], dtype=np.int32),
        right=np.array([2, LEAF, LEAF], dtype=np.int32),
        feature=np.array([stumps.feature[t], NO_FEATURE, NO_FEATURE], dtype=np.int32),
        threshold=np.array([stumps.threshold[t], NO_THRESHOLD, NO_THRESHOLD]),
        default_left=np.array([stumps.default_left[t], False, False]),
        chained=np.zeros(3, dtype=bool),
        category_start=np.array([0, listed.size, listed.size, listed.size]),
        categories=listed,
        impurity=np.zeros((3, 1)),
        n_rows=np.array([2, 1, 1]),
        weight=np.array([1.0, left_share, 1.0 - left_share]),
        value=np.zeros((3, 1)),
    )
