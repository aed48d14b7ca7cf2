"""What can be proved about the trees of a forest, from their questions and the rows that each of them saw.

Every tree is asked again, as a single one would be; there are many, so a few nodes of each are searched for better
questions.

    tree        0   1   2   …   99
    nodes       all     their rows, weights, values and impurities; where each question lies
    searched    4   4   4   …   4      of the questions, and of the leaves that limits do not explain
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from eigenwood.core.tree.types import Tree
from eigenwood.proofs.best_splits import SearchContext, Splits, looked_into, split_claims
from eigenwood.proofs.claim import Claim
from eigenwood.proofs.questions import odd_questions, passed, question_claim
from eigenwood.proofs.tree import TreeFit, broken_orders, fit_of, node_numbers, number_claims, order_claim

NODES_OF_A_TREE = 4  # so many questions of each tree are searched, and so many leaves


class Looked(NamedTuple):
    """What was found in one tree."""

    fit: TreeFit
    n_odd: int  # questions that do not lie where they must
    n_broken: int  # questions that break an order
    splits: Splits


def looked_at(tree: Tree, context: SearchContext, seed: int) -> Looked:
    """Return what is found in a tree when its questions are asked again of the rows it grew from."""
    found, criterion = passed(tree, context.X), context.params.criterion
    numbers = node_numbers(tree, found.leaves, context.target, criterion, context.monotonic_cst)
    exact = np.array([feature not in context.bins for feature in range(context.X.shape[1])])
    return Looked(
        fit_of(tree, numbers, criterion),
        odd_questions(tree, found, numbers.weight, exact, context.params),
        broken_orders(tree, context.monotonic_cst),
        looked_into(tree, found.leaves, numbers, context, seed, NODES_OF_A_TREE),
    )


def tree_claims(looked: Sequence[Looked], *, has_signs: bool, is_whole: bool) -> list[Claim]:
    """Return the claims about all trees; none about leaves of trees that were cut back, or did not end."""
    claims = [*number_claims([one.fit for one in looked]), question_claim(sum(one.n_odd for one in looked))]
    best, leaves = split_claims([one.splits for one in looked], at_random=False)
    if has_signs:
        claims.append(order_claim(sum(one.n_broken for one in looked)))
    return [*claims, best, leaves] if is_whole else [*claims, best]
