"""Verify bagging: draw every learner's rows again, find in them what trees say, and fit some learners again."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from eigenwood.core.threads import one_blas_thread
from eigenwood.core.tree.predicting import leaves_of, walk_of
from eigenwood.estimators.bagging import Bagging
from eigenwood.estimators.ensemble_learning import Material, Workshop, seeds_in
from eigenwood.estimators.ensemble_sampling import drawn_features
from eigenwood.estimators.tree import VALIDATION, DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor
from eigenwood.estimators.watching import TIME_UP
from eigenwood.proofs.claim import Certificate, Claim, at_most
from eigenwood.proofs.forest import LeafNumbers, leaf_claims, leaf_numbers
from eigenwood.validation.ensembles import check_query


def verify_bagging(model: Bagging, X, y, sample_weight=None) -> Certificate:
    """Return the certificate, recomputed from the rows that were given to ``fit``.

    Every learner must have the features and seeds that were drawn for it. Its rows are drawn again: in those it saw,
    the values of its leaves must be found if it is a tree of ours, and it is asked about the others, which must give
    the score that the model states. Some learners are fitted again, to see that they are those that follow from these
    rows: √n of n, drawn by the seed, since all would take as long as the fit.
    """
    check_query(model, X, has_text=model.has_text_, finite=model._is_strict())
    again = clone(model)
    data = again._checked(X, y, sample_weight, {}, known=getattr(model, "classes_", None))
    draws = again._draws(data, model.seed_)
    workshop = again._workshop(data, draws, None, 1, asks=True)
    tally = model._heard(data, workshop)
    score = model._scored(data, data.weights, tally)
    claims = [*model._proved(data, tally, score).claims, *model._stated_claims(score), drawn_claim(model, workshop)]
    claims += tree_claims(model, workshop)
    if len(model) > 1 or model.stop_reason_ != TIME_UP:  # or time has cut the only learner short, nobody can say where
        claims.append(refitted_claim(model, workshop, data.n_values()))
    return Certificate(tuple(claims))


def drawn_claim(model: Bagging, workshop: Workshop) -> Claim:
    """Return the claim that every learner has the features and seeds that were drawn for it."""
    others = sum(
        not np.array_equal(features, drawn_features(workshop.draws, number))
        or seeds_in(learner) != seeds_in(workshop.unfitted(number))
        for number, (learner, features) in enumerate(zip(model.estimators_, model.drawn_features_, strict=True))
    )
    return at_most("draws", "learners whose features or seeds are not those that were drawn for them", others, 0)


def tree_claims(model: Bagging, workshop: Workshop) -> list[Claim]:
    """Return the claims about the leaves of all trees; none of other learners, or of trees that put rows aside."""
    learner = workshop.learner
    if type(learner) not in (DecisionTreeClassifier, DecisionTreeRegressor) or learner.prune == VALIDATION:
        return []
    return leaf_claims(tree_numbers(tree, workshop.given(number)) for number, tree in enumerate(model.estimators_))


def tree_numbers(tree: DecisionTree, given: Material) -> LeafNumbers:
    """Return how far the leaves of a tree are from the rows that it was given."""
    weights, labels = given.fit_params.get("sample_weight"), tree._class_lists()
    seen = given.y if weights is None else given.y[weights > 0]
    if labels and not np.isin(seen, labels[0]).all():  # it cannot have learnt from these rows
        return LeafNumbers(tree.get_n_leaves(), 0.0)
    data = tree._checked_query(tree.categories_, labels, given.X, given.y, weights)
    leaves = leaves_of(walk_of(tree.nodes_), data.mixed.X).nodes
    target = data.target._replace(weights=data.weights())
    return leaf_numbers(tree.nodes_, leaves, target, tree._criterion(), bounded=bool(np.any(tree.monotonic_cst)))


def refitted_claim(model: Bagging, workshop: Workshop, n_values: int) -> Claim:
    """Return the claim that learners which are fitted again say the same about all rows."""
    n_others, numbers = 0, refitted_numbers(len(model), model.seed_)
    for number in numbers:
        with one_blas_thread():
            learnt = workshop.fitted(number)
        X = workshop.columns_of(number)
        fresh, stored = (model._said(learner, X, n_values, {}) for learner in (learnt.learner, model[number]))
        n_others += int((fresh != stored).reshape(X.shape[0], -1).any(axis=1).sum())
    statement = f"rows on which {len(numbers)} of {len(model)} learners, drawn and fitted again, say something else"
    return at_most("fitted again", statement, n_others, 0)


def refitted_numbers(n_learners: int, seed: int) -> list[int]:
    """Return the numbers of the learners that are fitted again to verify an ensemble.

    >>> refitted_numbers(1, 0), len(refitted_numbers(10, 0)), len(refitted_numbers(100, 0))
    ([0], 4, 10)
    """
    rng = np.random.default_rng([seed, n_learners])
    return sorted(rng.choice(n_learners, size=int(np.ceil(np.sqrt(n_learners))), replace=False).tolist())
