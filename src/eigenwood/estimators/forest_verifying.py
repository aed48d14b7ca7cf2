"""Verify a forest: draw every tree's rows again, and find in them what its leaves say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eigenwood.core.forest.nodes import tree_at
from eigenwood.core.tree.nodes import Tree
from eigenwood.core.tree.predicting import leaves_of, walk_of
from eigenwood.estimators.forest import RandomForest
from eigenwood.estimators.forest_gate import has_accuracy
from eigenwood.estimators.forest_growing import Nursery
from eigenwood.estimators.watching import TIME_UP
from eigenwood.proofs.claim import Certificate, at_most
from eigenwood.proofs.forest import LeafNumbers, leaf_claims, leaf_numbers


def verify_forest(model: RandomForest, X, y, sample_weight=None) -> Certificate:
    """Return the certificate, recomputed from the rows that were given to ``fit``.

    Every tree's rows are drawn again: those it saw must give the values of its leaves, and it is asked about the
    others, which must give the score that the model states. The first tree is grown again, to see that it is the one
    that follows from these rows.
    """
    data = model._checked_query(model.categories_, model._class_lists(), X, y, sample_weight)
    draws = model._draws(data, model.seed_)
    tally = model._heard(data, draws)
    can_be_scored = model.bootstrap and (model._wants_score() or has_accuracy(data.labels))
    score = model._scored(data, data.weights(), tally) if can_be_scored else None
    nursery = model._nursery(data, draws, None, 1)._replace(max_features=model.max_features_)
    claims = [*model._proved(data, tally, score).claims, *model._stated_claims(score)]
    claims += leaf_claims(forest_leaf_numbers(model, nursery))
    if len(model) > 1 or model.stop_reason_ != TIME_UP:  # or time has cut the only tree short, nobody can say where
        first, _ = nursery.grown(0, nursery.counts(0))
        n_others = question_differences(first, tree_at(model.forest_, 0))
        statement = "questions of the first tree, grown again, that are other ones"
        claims.append(at_most("first tree", statement, n_others, 0))
    return Certificate(tuple(claims))


def forest_leaf_numbers(model: RandomForest, nursery: Nursery) -> Iterator[LeafNumbers]:
    """Yield how far the leaves of each tree are from what the rows it saw give."""
    for number, tree in enumerate(model._trees()):
        weights = nursery.weights(nursery.counts(number))
        seen = nursery.data.weighted(weights).taken(np.flatnonzero(weights))
        leaves = leaves_of(walk_of(tree), seen.mixed.X).nodes
        yield leaf_numbers(tree, leaves, seen.target, nursery.criterion, bounded=bool(nursery.signs.any()))


def question_differences(tree: Tree, other: Tree) -> int:
    """Return how many questions of two trees differ."""
    if tree.feature.size != other.feature.size or not np.array_equal(tree.category_start, other.category_start):
        return max(abs(tree.feature.size - other.feature.size), 1)
    differ = (tree.feature != other.feature) | (tree.threshold != other.threshold) | (tree.right != other.right)
    node = np.repeat(np.arange(differ.size), np.diff(tree.category_start))
    differ[node[tree.categories != other.categories]] = True
    return int((differ | (tree.default_left != other.default_left)).sum())
