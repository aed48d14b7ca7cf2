"""The boosting core driven by the textbook's words, and its trees in the form of the naive ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.core.boosting import losses
from eigenwood.core.boosting.binning import FeatureCuts, boost_table, learn_cuts
from eigenwood.core.boosting.rounds import BoostingRun
from eigenwood.core.boosting.trees import trees_of
from eigenwood.core.boosting.types import BoostNodes, BoostParams, BoostTable, BoostTarget, Constraints
from eigenwood.core.tree.types import LEAF, Tree

NONE = np.empty(0)
LOSSES = {
    "squared": losses.SQUARED,
    "absolute": losses.ABSOLUTE,
    "huber": losses.HUBER,
    "quantile": losses.QUANTILE,
    "poisson": losses.POISSON,
    "logistic": losses.LOGISTIC,
    "exponential": losses.EXPONENTIAL,
    "softmax": losses.SOFTMAX,
    "custom": losses.CUSTOM,
}
PARAMS = {
    "learning_rate": 1.0,
    "max_leaves": 31,
    "best_first": True,
    "max_depth": 1 << 40,
    "min_samples_leaf": 1,
    "min_hessian": 0.0,
    "l2": 0.0,
    "min_gain": 0.0,
    "alpha": 0.5,
    "scale_bits": 12,
    "seed": np.uint64(1),
}
EXACT = 4095.0  # gradients that are whole numbers up to this are not rounded


class Boosted(NamedTuple):
    run: BoostingRun
    cuts: FeatureCuts
    table: BoostTable
    nodes: BoostNodes
    losses: np.ndarray  # (n_rounds + 1, 2)

    @property
    def trees(self) -> Tree:
        return trees_of(self.nodes, self.cuts)

    @property
    def scores(self) -> np.ndarray:
        return self.run.work.rows.scores

    @property
    def roots(self) -> np.ndarray:
        return self.nodes.start[:-1]


def table_of(X, categories=(), max_bins=255, weights=NONE, n_threads=1) -> tuple[BoostTable, FeatureCuts, np.ndarray]:
    """Return the coded table, what its bins are, and how many categories each feature has."""
    counts = np.array([int(X[:, j].max()) + 1 if j in categories else -1 for j in range(X.shape[1])])
    cuts = learn_cuts(X, counts, weights, max_bins, n_threads)
    return boost_table(X, cuts, counts, n_threads, weights), cuts, counts


def constraints_of(n_features, monotonic_cst=(), groups=()) -> Constraints:
    """Return what splits must keep to."""
    bits = np.zeros((n_features, (len(groups) + 63) // 64), dtype=np.uint64)
    for number, group in enumerate(groups):
        bits[list(group), number >> 6] |= np.uint64(1) << np.uint64(number & 63)
    return Constraints(np.array(monotonic_cst or [0] * n_features, dtype=np.int64), bits)


def new_run(
    table, y, loss, *, weights=NONE, n_outputs=1, n_train=None, n_threads=1, repeats=False, alphas=None,
    monotonic_cst=(), groups=(), **params,
) -> BoostingRun:  # fmt: skip
    """Return rounds that have not begun."""
    n_train, n_features = y.size if n_train is None else n_train, table.column.size
    chosen = {**PARAMS, "max_features": n_features, "n_drawn": n_train, **params}
    settings = BoostParams(
        loss=LOSSES[loss], n_outputs=n_outputs, has_bounds=any(monotonic_cst), has_groups=bool(groups), **chosen
    )
    target = BoostTarget(np.ascontiguousarray(y, dtype=np.float64), weights)
    alphas = np.full(n_outputs, settings.alpha) if alphas is None else np.asarray(alphas, dtype=np.float64)
    held = constraints_of(n_features, monotonic_cst, groups)
    return BoostingRun(table, target, settings, held, alphas, n_train, repeats, n_threads)


def boost(X, y, loss="squared", n_rounds=1, *, categories=(), max_bins=255, base=None, **settings) -> Boosted:
    """Return rounds of boosting that began with the best constant, or with ``base``."""
    y, weights = np.ascontiguousarray(y, dtype=np.float64), settings.get("weights", NONE)
    n_train = settings.get("n_train") or y.size
    table, cuts, _ = table_of(X, categories, max_bins, weights if settings.get("repeats") else NONE)
    run = new_run(table, y, loss, **settings)
    params = run.work.params
    if base is None:
        base = losses.base_scores(params.loss, y[:n_train], weights[:n_train], params.n_outputs, params.alpha)
    first = run.start(np.repeat(np.broadcast_to(base, params.n_outputs)[:, None], y.size, axis=1).astype(np.float64))
    nodes, later = run.go_on(0, n_rounds)
    return Boosted(run, cuts, table, nodes, np.vstack([first, later]))


def follow(X, gradients, hessians, *, categories=(), max_bins=255, **settings) -> Boosted:
    """Return one tree that follows gradients and hessians. Whole numbers, the largest of both ``EXACT``, stay whole."""
    table, cuts, _ = table_of(X, categories, max_bins)
    run = new_run(table, np.zeros(len(X)), "custom", **settings)
    run.start(np.zeros((1, len(X))))
    run.follow(gradients, hessians)
    nodes, later = run.go_on(0, 1)
    return Boosted(run, cuts, table, nodes, later)


# ---- trees, row by row ---------------------------------------------------------------------------------------------


def goes_left(tree, node, x, categories=()) -> bool:
    """Return whether a row goes left at a node, as the description of a tree says."""
    value = x[tree.feature[node]]
    if np.isnan(value):
        return bool(tree.default_left[node])
    if tree.feature[node] in categories:
        listed = tree.categories[tree.category_start[node] : tree.category_start[node + 1]]
        return bool(tree.default_left[node]) != (value in listed)
    return bool(value <= tree.threshold[node])


def split_rows(tree, X, root=0, categories=()):
    """Return (node, feature, rows) of a tree in preorder; -1 for the feature of a leaf."""
    found, waiting = [], [(root, list(range(len(X))))]
    while waiting:
        node, rows = waiting.pop()
        is_leaf = tree.left[node] == LEAF
        found.append((node, -1 if is_leaf else int(tree.feature[node]), rows))
        if not is_leaf:
            left = [i for i in rows if goes_left(tree, node, X[i], categories)]
            waiting.append((int(tree.right[node]), sorted(set(rows) - set(left))))
            waiting.append((int(tree.left[node]), left))
    return found


def predicted(boosted, X, categories=()):
    """Return what the trees add to the scores of rows, tree by tree."""
    tree, sums = boosted.trees, np.zeros((boosted.run.work.params.n_outputs, len(X)))
    for number, root in enumerate(boosted.roots):
        for node, feature, rows in split_rows(tree, X, int(root), categories):
            if feature < 0:
                sums[number % len(sums), rows] += tree.value[node, 0]
    return sums


def same_bits(one: Boosted, other: Boosted) -> None:
    """Check that two fits have the same nodes, scores and losses, bit by bit."""
    for name, a, b in zip(BoostNodes._fields, one.nodes, other.nodes, strict=True):
        assert a.tobytes() == b.tobytes(), name
    assert one.losses.tobytes() == other.losses.tobytes()
