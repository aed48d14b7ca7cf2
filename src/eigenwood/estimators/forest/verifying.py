"""Verify a forest: draw every tree's rows again, find in them what its nodes say, and look for better questions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eigenwood.core.forest.packing import tree_at
from eigenwood.estimators.forest.faces import RandomForest
from eigenwood.estimators.forest.fitting import ForestFitter, feature_counts_to_try, select_max_features, tree_seed
from eigenwood.estimators.forest.input_checks import check_query
from eigenwood.estimators.forest.params import OOB, forest_feature_count
from eigenwood.estimators.tree.verifying import (
    STOPPED_EARLY,
    has_all_categories,
    has_right_stop_reason,
    has_seed,
    in_bins,
    missing_in,
    stated_claim,
)
from eigenwood.estimators.watching import TIME_UP, Deadline
from eigenwood.proofs.best_splits import SearchContext, data_seed
from eigenwood.proofs.claim import Claim, at_most, not_claimed
from eigenwood.proofs.forest import looked_at, tree_claims
from eigenwood.proofs.questions import question_differences
from eigenwood.validation.draws import has_accuracy
from eigenwood.validation.seeds import integer_seeds


def verify_forest(model: RandomForest, X, y, sample_weight, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, recomputed from the rows that were given to ``fit``.

    Every tree's rows are drawn again: those it saw must give the numbers of its nodes, no better question may be found
    at some of these, and it predicts the rows it did not see, which must give the score that the model states.
    The first tree is grown again, to see that it is the one that follows from these rows; all are if they were
    pruned afterwards.
    """
    data = check_query(model, X, y, sample_weight)
    if not has_all_categories(model.categories_, data.mixed.X, data.mixed.X):
        yield stated_claim(["categories_"])
        return
    draws = model._draws(data, model.seed_)
    oob = model._oob_predictions(data, draws, deadline.check)
    can_be_scored = model.bootstrap and (model._wants_score() or has_accuracy(data.labels))
    score = model._oob_score_of(data, data.weights(), oob, deadline.time_is_up) if can_be_scored else None
    deadline.check()
    yield from model._certify(data, oob, score)
    yield from model._stated_claims(score)
    fitter = model._fitter(data, draws, None, 1)._replace(max_features=model.max_features_)
    is_complete = len(model) > 1 or model.stop_reason_ != TIME_UP  # or time has cut a single tree short
    yield stated_claim(differing(model, fitter))
    yield from looked_claims(model, fitter, is_complete, deadline)
    if is_complete:
        yield regrown_claim(model, fitter, deadline)
    if model.max_features == OOB:
        deadline.check()
        yield choice_claim(model, fitter)


# ---- stated numbers -----------------------------------------------------------------------------------------------


def differing(model: RandomForest, fitter: ForestFitter) -> list[str]:
    """Return the names of fitted attributes that are not what the rows give."""
    X, is_number = fitter.data.mixed.X, ~model.is_categorical_
    is_right = {
        "max_features_": model.max_features == OOB
        or model.max_features_ == forest_feature_count(model.max_features, X.shape[1]),
        "has_missing_": np.array_equal(model.has_missing_, missing_in(X) & is_number),
        "n_binned_": model.n_binned_ == int(in_bins(X, is_number, model.max_bins).sum()),
        "n_draws_": model.n_draws_ == fitter.draws.n_rows,
        "seed_": not has_seed(model) or model.warm_start or model.seed_ == int(integer_seeds(model.random_state, 1)[0]),
        "oob_curve_": model.max_features == OOB or model.oob_curve_.size == 0,
        "stop_reason_": has_right_stop_reason(model, has_tried_all(model)),
    }
    return [name for name, right in is_right.items() if not right]


def has_tried_all(model: RandomForest) -> bool:
    """Return whether all numbers of features were tried that are to be."""
    return model.max_features != OOB or len(model.oob_curve_) == len(feature_counts_to_try(model.n_features_in_))


def choice_claim(model: RandomForest, fitter: ForestFitter) -> Claim:
    """Return the claim that the number of features is the one that the errors out of bag choose."""
    name, statement = "max_features", "numbers of features whose error out of bag is another, or that should be chosen"
    if model.stop_reason_ == TIME_UP:
        return not_claimed(name, f"{statement}; {STOPPED_EARLY}", float("nan"))
    chosen, _, curve = select_max_features(fitter, model.n_estimators, 1, np.empty((0, 2)), [])
    if curve.shape != model.oob_curve_.shape:
        return at_most(name, statement, max(abs(len(curve) - len(model.oob_curve_)), 1), 0)
    n_others = int((~np.isclose(curve, model.oob_curve_, rtol=1e-9, atol=1e-12)).any(axis=1).sum())
    return at_most(name, statement, n_others + int(chosen != model.max_features_), 0)


# ---- trees --------------------------------------------------------------------------------------------------------


def looked_claims(model: RandomForest, fitter: ForestFitter, is_whole: bool, deadline: Deadline) -> list[Claim]:
    """Return the claims about all trees, from what is found in each."""
    bins, is_whole = bins_of(model, fitter), is_whole and fitter.alpha == 0.0
    looked = []
    for number in range(len(model)):
        deadline.check()
        context = search_context_of(model, fitter, number, bins, is_whole)
        looked.append(looked_at(tree_at(model.forest_, number), context, data_seed(context.target, number)))
    return tree_claims(looked, has_signs=bool(fitter.monotonic_cst.any()), is_whole=is_whole)


def bins_of(model: RandomForest, fitter: ForestFitter) -> dict[int, np.ndarray]:
    """Return the upper ends of the bins of the columns that are in bins."""
    features = fitter.binned.features
    is_binned = in_bins(fitter.data.mixed.X, ~model.is_categorical_, model.max_bins)
    return {int(j): features.highs[features.start[j] : features.start[j + 1]] for j in np.flatnonzero(is_binned)}


def search_context_of(
    model: RandomForest, fitter: ForestFitter, number: int, bins: dict[int, np.ndarray], is_whole: bool
) -> SearchContext:
    """Return what a tree grew from."""
    weights = fitter.weights(fitter.counts(number))
    seen = fitter.data.weighted(weights).taken(np.flatnonzero(weights))
    return SearchContext(
        X=seen.mixed.X,
        target=seen.target,
        params=fitter.params(weights)._replace(max_features=fitter.max_features),
        max_leaves=fitter.max_leaves,
        monotonic_cst=fitter.monotonic_cst,
        is_category=model.is_categorical_,
        bins=bins,
        seed=tree_seed(fitter.draws, number),
        is_whole=is_whole,
    )


def regrown_claim(model: RandomForest, fitter: ForestFitter, deadline: Deadline) -> Claim:
    """Return the claim that trees which are grown again have the same questions."""
    numbers, n_others = range(1 if fitter.alpha == 0.0 else len(model)), 0
    for number in numbers:
        deadline.check()
        tree, _ = fitter.grow(number, fitter.counts(number))
        n_others += question_differences(tree, tree_at(model.forest_, number))
    trees = "the first tree" if len(numbers) == 1 else f"{len(numbers)} trees"
    return at_most("first tree", f"questions of {trees}, grown again, that are other ones", n_others, 0)
