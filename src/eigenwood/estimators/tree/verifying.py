"""Verify a tree: ask its questions of the rows again, look for better ones, and grow it again if it was pruned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from eigenwood.core.tree.binning import MOST_CODES
from eigenwood.estimators.tree.data import TreeData, class_lists
from eigenwood.estimators.tree.fitting import binned_table, growth_params, max_leaf_count, monotonic_signs
from eigenwood.estimators.tree.input_checks import check_query
from eigenwood.estimators.tree.params import criterion_code, feature_count
from eigenwood.estimators.tree.pruning import validation_split
from eigenwood.estimators.watching import FINISHED, NO_GAIN, TIME_UP, Deadline, OutOfTimeError
from eigenwood.proofs.best_splits import SearchContext, data_seed, looked_into, split_claims
from eigenwood.proofs.claim import Claim, at_most, not_claimed
from eigenwood.proofs.questions import Passed, odd_questions, passed, question_claim, question_differences
from eigenwood.proofs.tree import NodeNumbers, mean_loss
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.trees import VALIDATION

if TYPE_CHECKING:
    from eigenwood.estimators.tree.faces import DecisionTree

STOPPED_EARLY = "growth was stopped before its end"
SHARES = ("min_samples_split", "min_samples_leaf")


def verify_tree(model: DecisionTree, X, y, sample_weight, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, recomputed from the rows that were given to ``fit``.

    A pruned tree is grown again, if its ``random_state`` is a number. If ``fit`` was given ``X_val``, that is not here:
    no claim is made about the pruning then.
    """
    data = check_query(model, model.categories_, class_lists(model), X, y, sample_weight)
    found, pruning, learnt = passed(model.nodes_, data.mixed.X), None, data
    if model.pruning_curve_.size > 0 and model.prune != VALIDATION:
        pruning = float(model.pruning_curve_[0, 2]), float(model.pruning_curve_[:, 2].min())
    if has_held_out(model, data):
        learn, held_out = validation_split(type(model).__name__, data, model.validation_fraction, model.split_seed_)
        criterion = criterion_code(model.criterion)
        after = mean_loss(model.nodes_, found.leaves[held_out], data.taken(held_out).target, criterion)
        pruning, learnt = (float(model.pruning_curve_[0, 2]), after), data.taken(learn)
        found = passed(model.nodes_, learnt.mixed.X)
    deadline.check()
    numbers = model._node_numbers(learnt, found.leaves)
    yield from model._certify(learnt, found.leaves, numbers, pruning)
    yield stated_claim(differing(model, data, X))
    deadline.check()
    yield from searched_claims(model, learnt, found, numbers, deadline)
    if is_pruned(model):
        yield regrown_claim(model, data, X, y, sample_weight, deadline)


def has_held_out(model: DecisionTree, data: TreeData) -> bool:
    """Return whether some of the rows were held out for validation."""
    if model.pruning_curve_.size == 0 or model.prune != VALIDATION:
        return False
    return data.n_rows() != model.nodes_.n_rows[0]


def is_pruned(model: DecisionTree) -> bool:
    """Return whether the tree was pruned."""
    return model.prune is not None or model.ccp_alpha > 0


# ---- stated numbers -----------------------------------------------------------------------------------------------


def stated_claim(names: Sequence[str]) -> Claim:
    """Return the claim that what a model states beside its nodes is found again."""
    statement = "stated numbers that are not found again" + (f": {', '.join(names)}" if names else "")
    return at_most("stated numbers", statement, len(names), 0)


def differing(model: DecisionTree, data: TreeData, X: Any) -> list[str]:
    """Return the names of fitted attributes that are not what the rows give.

    A tree of bagging may have grown from codes of all rows, or only of those it drew: either is right.
    """
    n_features, drew_some = data.mixed.X.shape[1], data.n_rows() < data.n_given
    here = data.mixed
    everywhere = model._known_rows(X) if drew_some else here.X
    is_number = ~model.is_categorical_
    least_missing, most_missing = (missing_in(rows) & is_number for rows in (here.X, everywhere))
    n_least, n_most = (int(in_bins(rows, is_number, model.max_bins).sum()) for rows in (here.X, everywhere))
    is_right = {
        "max_features_": model.max_features_ == feature_count(model.max_features, n_features),
        "has_missing_": not (least_missing & ~model.has_missing_).any()
        and not (model.has_missing_ & ~most_missing).any(),
        "categories_": has_all_categories(model.categories_, here.X, everywhere),
        "n_binned_": n_least <= model.n_binned_ <= n_most,
        "split_seed_": not has_seed(model) or model.split_seed_ == int(integer_seeds(model.random_state, 2)[0]),
    }
    return [name for name, right in is_right.items() if not right]


def has_right_stop_reason(model: Any, is_complete: bool) -> bool:
    """Return whether ``stop_reason_`` is 'finished' just where an ensemble has all learners and nothing is missing.

    The time limit may have cut short a single learner, or the score.
    """
    is_complete &= len(model) == model.n_estimators
    lacks_interval = model._wants_score() and not hasattr(model, "oob_interval_")
    if model.stop_reason_ == TIME_UP and (len(model) == 1 or lacks_interval):
        return True
    return (model.stop_reason_ == FINISHED) == is_complete and model.stop_reason_ != NO_GAIN


def has_all_categories(categories: list, here: Any, everywhere: Any) -> bool:
    """Return whether every category that rows have is known, and every one that is known occurs."""
    for j in (j for j, labels in enumerate(categories) if labels is not None):
        own, seen = (np.unique(column_of(rows, j)) for rows in (here, everywhere))
        if own[0] < 0 or not np.isin(np.arange(len(categories[j])), seen).all():
            return False
    return True


def column_of(X: Any, j: int) -> np.ndarray:
    """Return a column of a matrix that may be sparse."""
    return X[:, [j]].toarray()[:, 0] if sparse.issparse(X) else X[:, j]


def missing_in(X: Any) -> np.ndarray:
    """Return in which columns a number is missing."""
    if sparse.issparse(X):
        columns = X.tocsc()
        owner = np.repeat(np.arange(X.shape[1]), np.diff(columns.indptr))
        return np.bincount(owner[np.isnan(columns.data)], minlength=X.shape[1]) > 0
    return np.isnan(X).any(axis=0)


def in_bins(X: Any, is_number: np.ndarray, max_bins: int | None) -> np.ndarray:
    """Return which columns of numbers have more different ones than there may be bins."""
    most = MOST_CODES if max_bins is None else int(max_bins)
    found = np.zeros(X.shape[1], dtype=bool)
    if X.shape[0] <= min(most, MOST_CODES - 1):
        return found
    columns = X.tocsc() if sparse.issparse(X) else X
    for j in np.flatnonzero(is_number):
        values = columns[:, [j]].data if sparse.issparse(X) else columns[:, j]
        zero_too = np.zeros(int(sparse.issparse(X) and values.size < X.shape[0]))
        distinct = np.unique(np.concatenate([values, zero_too]))
        n_missing = int(np.isnan(distinct[-1]))
        found[j] = distinct.size - n_missing > min(most, MOST_CODES - n_missing)
    return found


# ---- the search for better questions ------------------------------------------------------------------------------


def searched_claims(
    model: DecisionTree, data: TreeData, found: Passed, numbers: NodeNumbers, deadline: Deadline
) -> Iterator[Claim]:
    """Yield the claims that follow from a search for better questions at some nodes of the tree."""
    tree, context = model.nodes_, search_context_of(model, data)
    exact = np.array([feature not in context.bins for feature in range(data.mixed.X.shape[1])])
    yield question_claim(odd_questions(tree, found, numbers.weight, exact, context.params))
    splits = looked_into(tree, found.leaves, numbers, context, data_seed(data.target), check=deadline.check)
    searched = split_claims([splits], context.params.at_random)
    yield from (claim for claim in searched if claim.name != "leaves" or context.is_whole)


def search_context_of(model: DecisionTree, data: TreeData) -> SearchContext:
    """Return what a tree grew from. Shares of rows are of all that were given: no limit was larger."""
    is_binned = in_bins(data.mixed.X, ~model.is_categorical_, model.max_bins)
    bins: dict[int, np.ndarray] = {}
    if is_binned.any():
        features = binned_table(data, model.max_bins, 1).features
        bins = {int(j): features.highs[features.start[j] : features.start[j + 1]] for j in np.flatnonzero(is_binned)}
    drew_some = data.n_rows() < data.n_given
    if drew_some:  # bins may be those of all rows, which nobody knows: such columns are not searched
        bins = dict.fromkeys(bins, np.empty(0))
    n_features = data.n_features()
    max_features = feature_count(model.max_features, n_features)
    return SearchContext(
        X=data.mixed.X,
        target=data.target,
        params=growth_params(model, data, data.n_given, float(data.weights().sum()), max_features),
        max_leaves=max_leaf_count(model),
        monotonic_cst=monotonic_signs(model, n_features),
        is_category=model.is_categorical_,
        bins=bins,
        seed=int(integer_seeds(model.random_state, 2)[1]) if has_seed(model) and not (drew_some and bins) else None,
        is_whole=model.stop_reason_ == FINISHED and not is_pruned(model),
    )


def has_seed(model: Any) -> bool:
    """Return whether what a model drew can be drawn again."""
    return isinstance(model.random_state, Integral)


# ---- pruned trees -------------------------------------------------------------------------------------------------


def regrown_claim(model: DecisionTree, data: TreeData, X, y, sample_weight, deadline: Deadline) -> Claim:
    """Return the claim that the same tree is found when it is grown and pruned once more."""
    name = "grown again"
    statement = "questions, and lines of pruning_curve_, that are other ones when the tree is grown and pruned again"
    reason = why_not_regrown(model, data)
    if reason:
        return not_claimed(name, f"{statement}; {reason}", float("nan"))
    fresh = clone(model).set_params(time_limit=deadline.time_limit()).fit(X, y, sample_weight=sample_weight)
    if fresh.stop_reason_ == TIME_UP:
        raise OutOfTimeError
    n_others = question_differences(model.nodes_, fresh.nodes_)
    return at_most(name, statement, n_others + curve_differences(model.pruning_curve_, fresh.pruning_curve_), 0)


def why_not_regrown(model: DecisionTree, data: TreeData) -> str:
    """Return why a pruned tree cannot be grown again; an empty string if it can."""
    if model.stop_reason_ != FINISHED:
        return STOPPED_EARLY
    if not has_seed(model):
        return "random_state is not a number"
    if model.prune == VALIDATION and data.n_rows() == model.nodes_.n_rows[0]:
        return "X_val is not here"
    depends_on_all = model.n_binned_ > 0 or model.is_categorical_.any() or any(is_share(model, name) for name in SHARES)
    if data.n_rows() < data.n_given and depends_on_all:
        return "it may have grown from more rows than have a weight"
    return ""


def is_share(model: DecisionTree, name: str) -> bool:
    """Return whether a limit is given as a share of the rows."""
    return not isinstance(getattr(model, name), Integral)


def curve_differences(curve: np.ndarray, other: np.ndarray) -> int:
    """Return how many rows of two pruning curves differ."""
    if curve.shape != other.shape:
        return max(abs(len(curve) - len(other)), 1)
    return int((~np.isclose(curve, other, rtol=1e-9, atol=1e-12)).any(axis=1).sum())
