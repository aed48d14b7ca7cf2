"""How a tree is fitted: rows → codes → growth → pruning."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from eigenwood.core.tree.binning import MOST_CODES, binned_dense, binned_sparse
from eigenwood.core.tree.grower import growth_steps
from eigenwood.core.tree.prune import collapse_alphas, pruned_at
from eigenwood.core.tree.types import BinnedTable, GrowthParams, Tree
from eigenwood.estimators.state import FEATURE_STATE
from eigenwood.estimators.tree.data import SharedTable, TreeData
from eigenwood.estimators.tree.input_checks import check_training
from eigenwood.estimators.tree.params import criterion_code, feature_count
from eigenwood.estimators.tree.pruning import CrossValidation, Grow, Pruned, folds, prune_by_validation, unpruned
from eigenwood.estimators.watching import Watch
from eigenwood.validation.trees import COST_COMPLEXITY_CV, MULTIWAY

RARE_SHARE = 0.5  # a column is kept by its rare entries when those are at most this share of its rows
NO_DEPTH = 2**31 - 1
MOST_ROWS = 2**60
EXACT = 2.0**52  # sums of integers up to this are exact


# ---- rows → codes -------------------------------------------------------------------------------------------------


def binned_table(data: TreeData, max_bins: int | None, threads: int, rare_share: float = RARE_SHARE) -> BinnedTable:
    """Return the rows as codes; a column whose rare entries are at most ``rare_share`` is kept by those."""
    counts, most = data.mixed.counts(), MOST_CODES if max_bins is None else int(max_bins)
    if sparse.issparse(data.mixed.X):
        return binned_sparse(data.mixed.X.tocsc(), counts, threads, most)
    return binned_dense(data.mixed.X, counts, rare_share, threads, most)


def shared_table(tree: Any, X: Any, y: Any, threads: int) -> SharedTable | None:
    """Return what trees like this one share when they get the same rows with other weights; None if they cannot.

    Pruning and balanced classes depend on the rows a tree got; such a tree must be fitted to them alone.
    """
    if tree.prune is not None or getattr(tree, "class_weight", None) is not None:
        return None
    checker = clone(tree)  # a check of X writes down its columns, and this tree is not fitted
    data = check_training(checker, X, y, None)
    columns = {name: value for name, value in vars(checker).items() if name in FEATURE_STATE}
    return SharedTable(data, binned_table(data, tree.max_bins, threads), columns, X, y)


# ---- growth -------------------------------------------------------------------------------------------------------


def tree_grower(tree: Any, binned: BinnedTable, data: TreeData, seed: int, threads: int) -> Grow:
    """Return the function that grows a tree over some rows."""
    weights = data.weights()
    n_undrawn = int((weights == 0).sum())  # shares of rows are of all rows, also of those that a draw left out
    max_features = feature_count(tree.max_features, data.n_features())
    signs, max_leaves = monotonic_signs(tree, data.n_features()), max_leaf_count(tree)

    def grow(rows: np.ndarray):
        params = growth_params(tree, data, rows.size + n_undrawn, float(weights[rows].sum()), max_features)
        return growth_steps(binned, data.target, rows, params, signs, max_leaves, np.uint64(seed), threads)

    return grow


def growth_params(model: Any, data: TreeData, n_rows: int, total_weight: float, max_features: int) -> GrowthParams:
    """Return the core's parameters for a tree, or for those of a forest: fractions become numbers of rows."""
    min_samples_leaf = row_count(model.min_samples_leaf, n_rows)
    return GrowthParams(
        criterion=criterion_code(model.criterion),
        max_depth=NO_DEPTH if model.max_depth is None else min(int(model.max_depth), NO_DEPTH),
        min_samples_split=max(2, row_count(model.min_samples_split, n_rows), 2 * min_samples_leaf),
        min_samples_leaf=min_samples_leaf,
        min_weight_leaf=float(model.min_weight_fraction_leaf * total_weight),
        min_decrease=float(model.min_impurity_decrease),
        max_leaf_impurity=float(model.leaf_uncertainty),
        max_features=max_features,
        at_random=model.splitter == "random",
        multiway=model.categorical_split == MULTIWAY,
        integer_weights=are_integers(data.target.weights),
        total_weight=float(total_weight),
    )


def monotonic_signs(model: Any, n_features: int) -> np.ndarray:
    """Return the monotonic constraint of each feature; 0 is none."""
    return np.zeros(n_features) if model.monotonic_cst is None else np.asarray(model.monotonic_cst)


def max_leaf_count(model: Any) -> int:
    """Return how many leaves a tree may have; 0 is no limit."""
    return 0 if model.max_leaf_nodes is None else int(model.max_leaf_nodes)


def row_count(given: float, n_rows: int) -> int:
    """Return a number of rows, given as such or as a share of all."""
    return min(int(given), MOST_ROWS) if isinstance(given, (int, np.integer)) else math.ceil(given * n_rows)


def are_integers(weights: np.ndarray) -> bool:
    """Return whether weights, if there are any, count rows: sums of them are then exact."""
    return bool((weights == np.round(weights)).all() and weights.sum() < EXACT)


# ---- pruning ------------------------------------------------------------------------------------------------------


def tree_pruner(
    tree: Any, data: TreeData, held_out: TreeData | None, grow: Grow, watch: Watch, seed: int, threads: int
) -> Callable[[Tree], Pruned]:
    """Return the function that prunes a grown tree as ``prune`` and ``ccp_alpha`` say."""
    criterion = criterion_code(tree.criterion)
    if tree.prune == COST_COMPLEXITY_CV:
        parts = folds(type(tree).__name__, data, tree.n_folds, seed)
        return CrossValidation(data, parts, grow, watch.seconds_left, criterion, threads)

    def prune(grown_tree: Tree) -> Pruned:
        in_time = tree.ccp_alpha == 0 or not watch.time_is_up()
        if tree.ccp_alpha > 0 and in_time:
            grown_tree = pruned_at(grown_tree, collapse_alphas(grown_tree), float(tree.ccp_alpha))
        if held_out is None:
            return unpruned(grown_tree)._replace(in_time=in_time)
        return prune_by_validation(grown_tree, held_out, criterion, threads)._replace(in_time=in_time)

    return prune
