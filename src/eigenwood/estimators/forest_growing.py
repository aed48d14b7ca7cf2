"""The trees of a forest, one by one: from codes that all share and weights of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.core.forest.grow_batch import WorkspacePool, grown_tree
from eigenwood.core.forest.packing import Forest, pack, tree_at
from eigenwood.core.threads import results_of
from eigenwood.core.tree.criteria import log_table
from eigenwood.core.tree.grower import grown, growth_steps
from eigenwood.core.tree.predict import leaves_of, make_predictor
from eigenwood.core.tree.prune import collapse_alphas, pruned_at
from eigenwood.core.tree.types import LEAF, BinnedTable, GrowthParams, Tree
from eigenwood.estimators.ensemble_learning import Learnt, OobPrediction
from eigenwood.estimators.ensemble_sampling import Draws, learner_seed, row_counts
from eigenwood.estimators.ensemble_scoring import OobAccumulator
from eigenwood.estimators.tree_data import TreeData
from eigenwood.estimators.watching import Watch
from eigenwood.validation.seeds import integer_seeds

TRIED_TREES = 16  # so many trees are grown for each number of features that is tried
NO_FEATURES = np.empty(0, dtype=np.int64)


class ForestFitter(NamedTuple):
    """All that is needed to grow tree number t."""

    data: TreeData
    binned: BinnedTable
    draws: Draws
    bootstrap: bool  # or every tree gets all rows
    criterion: int
    factors: Callable[[np.ndarray], np.ndarray]  # how often rows were drawn → what that is multiplied with
    params: Callable[[np.ndarray], GrowthParams]  # weights of rows → how the tree is grown
    monotonic_cst: np.ndarray
    max_leaves: int
    alpha: float
    max_features: int
    asks: bool  # whether trees are asked about the rows they did not see
    workspaces: WorkspacePool  # where trees grow
    watch: Watch | None  # looks at the clock; None if time does not matter
    ready: Sequence[Forest] = ()  # the first trees, if they were grown to try a number of features

    def made(self, number: int) -> Learnt | None:
        """Return a tree; nothing if time is up, unless it is the first: then what has grown of it."""
        if number < len(self.ready):
            return self.rescore(number, self.ready[number])
        if number > 0 and self.time_is_up():
            return None
        counts = self.counts(number)
        tree, whole = self.grown(number, counts)
        if not whole and number > 0:
            return None
        forest = pack([tree], self.criterion, self.data.target.starts, bool(self.monotonic_cst.any()))
        return Learnt(forest, NO_FEATURES, whole, self.left(tree, counts))

    def time_is_up(self) -> bool:
        """Return whether there is no time for another tree."""
        return self.watch is not None and self.watch.time_is_up()

    def rescore(self, number: int, forest: Forest) -> Learnt:
        """Return a tree that was grown before."""
        return Learnt(forest, NO_FEATURES, True, self.left(tree_at(forest, 0), self.counts(number)))

    def counts(self, number: int) -> np.ndarray:
        """Return how often a tree gets each row."""
        return row_counts(self.draws, number).astype(np.float64) if self.bootstrap else self.data.weights()

    def weights(self, counts: np.ndarray) -> np.ndarray:
        """Return the weights of rows that were drawn so often: those of their classes count too."""
        return counts * self.factors(counts)

    def grown(self, number: int, counts: np.ndarray) -> tuple[Tree, bool]:
        """Return a tree over rows that were drawn so often, and whether there was time for all of it."""
        weights = self.weights(counts)
        params = self.params(weights)._replace(max_features=self.max_features)
        target, seed = self.data.target._replace(weights=weights), np.uint64(tree_seed(self.draws, number))
        whole = True
        if self.watch is None or self.watch.seconds_left() is None:
            logs = log_table(target, params)
            tree = grown_tree(
                self.binned, target, params, self.monotonic_cst, self.max_leaves, logs, seed, self.workspaces
            )
        else:
            rows = np.flatnonzero(weights)
            steps = growth_steps(self.binned, target, rows, params, self.monotonic_cst, self.max_leaves, seed, 1)
            step = next(step for step in steps if step.last or self.watch.time_is_up())
            tree, whole = grown(step), step.last
        return pruned_at(tree, collapse_alphas(tree), self.alpha) if self.alpha > 0 else tree, whole

    def left(self, tree: Tree, counts: np.ndarray) -> OobPrediction | None:
        """Return what a tree says about the rows it did not see, if somebody wants to know."""
        return predict_out_of_bag(tree, self.data, counts) if self.asks else None


def predict_out_of_bag(tree: Tree, data: TreeData, counts: np.ndarray) -> OobPrediction:
    """Return what a tree says about the rows that it did not get."""
    rows = np.flatnonzero(counts == 0)
    return OobPrediction(rows, tree.value[leaves_of(make_predictor(tree), data.mixed.X[rows]).nodes])


def tree_seed(draws: Draws, number: int) -> int:
    """Return the seed that a tree with the ``random_state`` of its number grows from."""
    return int(integer_seeds(learner_seed(draws.seed, number), 2)[1])


def tried_feature_counts(
    fitter: ForestFitter, n_trees: int, n_threads: int, curve: np.ndarray, trees: list[Forest]
) -> tuple[int, list[Forest], np.ndarray]:
    """Return the number of features with the least error out of bag, its trees, and the errors of all that were tried.

    For each number a few trees are grown from the same draws; those of the best one stay. When time is up, what was
    tried so far decides; it goes on from there when it gets the ``curve`` and the best ``trees`` it had then.
    """
    tried = [(int(max_features), float(error)) for max_features, error in curve]
    n_tried = len(trees) if tried else min(n_trees, TRIED_TREES)
    for max_features in feature_counts_to_try(fitter.data.mixed.X.shape[1])[len(tried) :]:
        own = fitter._replace(max_features=max_features, asks=True)
        learnt = results_of(own.made, range(n_tried), n_threads)
        found = first_whole(learnt)
        if len(found) < n_tried:
            if not tried and found:  # not even the first number could be tried, but there are trees
                return max_features, [one.learner for one in found], curve
            break
        error = error_out_of_bag(own.data, [one.left for one in found if one.left is not None])
        if not tried or error < min(errors for _, errors in tried):
            trees = [one.learner for one in found]
        tried.append((max_features, error))
    if not tried:
        return int(np.sqrt(fitter.data.mixed.X.shape[1])), [], curve
    best, _ = min(tried, key=lambda one: one[1])
    return best, trees, np.array(tried, dtype=np.float64)


def first_whole(learnt: Sequence[Learnt | None]) -> list[Learnt]:
    """Return the first trees, up to one for which there was not enough time."""
    n_whole = next((i for i, one in enumerate(learnt) if one is None or not one.whole), len(learnt))
    return [one for one in learnt[:n_whole] if one is not None]


def feature_counts_to_try(n_features: int) -> list[int]:
    """Return numbers of features from one to all, about half and twice the square root among them.

    >>> feature_counts_to_try(54)
    [1, 3, 7, 14, 27, 54]
    """
    root = np.sqrt(n_features)
    return sorted({max(1, min(n_features, int(k))) for k in (1, root / 2, root, 2 * root, n_features / 2, n_features)})


def error_out_of_bag(data: TreeData, lefts: list[OobPrediction]) -> float:
    """Return the share of wrong answers, or the mean squared error, of the rows that some tree did not see."""
    oob = OobAccumulator(data.n_rows(), int(data.target.starts[-1]), keeps_ballots=False)
    for left in lefts:
        oob.add(left)
    rows, means = oob.rows(), oob.means()
    return loss(data, rows, means[rows]) if rows.size else np.inf


def loss(data: TreeData, rows: np.ndarray, means: np.ndarray) -> float:
    """Return the mean loss of answers about some rows, by weight and averaged over the outputs."""
    weights, starts = data.weights()[rows], data.target.starts
    if not data.labels:
        wrong = (means - data.target.y[rows]) ** 2
    else:
        said = [means[:, starts[o] : starts[o + 1]].argmax(axis=1) for o in range(starts.size - 1)]
        wrong = np.column_stack(said) != data.target.class_codes[rows]
    return float(np.average(wrong.mean(axis=1), weights=weights))


def oob_importances(forest: Forest, data: TreeData, draws: Draws, n_repeats: int, seed: int, n_threads: int):
    """Return how much worse each tree (line) gets on rows it did not see when a feature (column) is shuffled.

    NaN for trees that saw all rows. A feature that a tree does not ask about costs nothing to shuffle.
    """

    def of_tree(number: int) -> np.ndarray:
        rng = np.random.default_rng([seed, number])
        tree, rows = tree_at(forest, number), np.flatnonzero(row_counts(draws, number) == 0)
        if rows.size == 0:
            return np.full(data.mixed.X.shape[1], np.nan)
        X, predictor = data.mixed.X[rows], make_predictor(tree)
        X = X.toarray() if sparse.issparse(X) else np.array(X)
        before = loss(data, rows, tree.value[leaves_of(predictor, X).nodes])
        worse = np.zeros(X.shape[1])
        for j in np.unique(tree.feature[tree.left != LEAF]):
            column = X[:, j].copy()
            for _ in range(n_repeats):
                X[:, j] = rng.permutation(column)
                worse[j] += (loss(data, rows, tree.value[leaves_of(predictor, X).nodes]) - before) / n_repeats
            X[:, j] = column
        return worse

    return np.array(results_of(of_tree, range(forest.node_start.size - 1), n_threads))
