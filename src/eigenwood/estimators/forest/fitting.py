"""The trees of a forest, one by one: each grows from codes that all trees share and from weights of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.core.forest.grow_batch import WorkspacePool, batch_size, grow_batch, grow_tree, is_for_batches
from eigenwood.core.forest.packing import Forest, PackedTree, pack, pack_batch, tree_at
from eigenwood.core.threads import results_of
from eigenwood.core.tree.criteria import log_table
from eigenwood.core.tree.grower import GrowthContext, growth_steps, tree_so_far
from eigenwood.core.tree.predict import leaves_of, make_predictor
from eigenwood.core.tree.prune import collapse_alphas, pruned_at
from eigenwood.core.tree.types import LEAF, BinnedTable, GrowthParams, Tree
from eigenwood.estimators.ensemble.learning import FittedLearner
from eigenwood.estimators.ensemble.out_of_bag import OobAccumulator, OobPrediction
from eigenwood.estimators.ensemble.sampling import Draws, bootstrap_of, learner_seed, row_counts, seeds_of
from eigenwood.estimators.forest.input_checks import outputs_of
from eigenwood.estimators.forest.params import BALANCED, BALANCED_SUBSAMPLE
from eigenwood.estimators.tree.data import TreeData
from eigenwood.estimators.tree.input_checks import class_weight_of
from eigenwood.estimators.watching import Watch
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.targets import check_weight_sizes, output_weights

MANY_TREES = 8  # that grow in one call: what Python does for them, on one thread at a time, is a good part of the time
TRIED_TREES = 16  # so many trees are grown for each number of features that is tried
NO_FEATURES, NO_ROWS = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)


class ForestFitter(NamedTuple):
    """All that is needed to grow tree number t."""

    data: TreeData
    binned: BinnedTable
    draws: Draws
    bootstrap: bool  # or every tree gets all rows
    criterion: int
    factors: Callable[[np.ndarray], np.ndarray] | None  # how often rows were drawn → the weights of their classes
    params: Callable[[np.ndarray], GrowthParams]  # weights of rows → how the tree is grown
    monotonic_cst: np.ndarray
    max_leaves: int
    alpha: float
    max_features: int
    wants_oob: bool  # whether trees predict the rows they did not see
    workspaces: WorkspacePool  # buffers that trees grow in
    watch: Watch | None  # looks at the clock; None if time does not matter
    ready: Sequence[PackedTree] = ()  # the first trees, if they were grown to try a number of features

    def fit_one(self, number: int) -> FittedLearner | None:
        """Return a tree; None if time is up, unless it is the first: then what has grown of it."""
        if number < len(self.ready):
            return self.rescore(number, self.ready[number])
        if number > 0 and self.time_is_up():
            return None
        counts = self.counts(number)
        tree, complete = self.grow(number, counts)
        if not complete and number > 0:
            return None
        forest = pack([tree], self.criterion, self.data.target.starts, bool(self.monotonic_cst.any()))
        oob = predict_out_of_bag(tree, self.data, counts) if self.wants_oob else None
        return FittedLearner(PackedTree(forest, 0), NO_FEATURES, complete, oob)

    def fit_many(self, numbers: range) -> list[FittedLearner | None]:
        """Return trees, in one call where they are small: that takes some milliseconds, whatever the time limit."""
        if numbers.start > 0 and self.time_is_up():
            return [None] * len(numbers)
        context = None if numbers.start < len(self.ready) else self.batch_context()
        if context is None:
            return [self.fit_one(number) for number in numbers]
        draw_seeds = np.array([seeds_of(self.draws, number).groups for number in numbers], dtype=np.uint64)
        seeds = np.array([tree_seed(self.draws, number) for number in numbers], dtype=np.uint64)
        trees, node_start = grow_batch(context, bootstrap_of(self.draws), draw_seeds, seeds, self.workspaces)
        forest = pack_batch(trees, node_start, self.criterion, self.data.target.starts)
        return [self.rescore(number, PackedTree(forest, i)) for i, number in enumerate(numbers)]

    def batch_size(self) -> int:
        """Return how many trees are grown in one call."""
        return 1 if self.batch_context() is None else batch_size(self.data.n_rows())

    def thread_count(self, n_threads: int) -> int:
        """Return how many threads trees are grown on: very small ones are done before another thread has begun."""
        return 1 if batch_size(self.data.n_rows()) >= MANY_TREES else n_threads

    def batch_context(self) -> GrowthContext | None:
        """Return what trees share that differ in nothing but their draws; None if each is grown alone, because it is
        large or has weights of its own.
        """
        if not self.bootstrap or self.factors is not None or self.max_leaves > 0 or self.alpha > 0:
            return None
        weights = np.zeros(self.data.n_rows())
        weights[0] = self.draws.n_rows  # whichever rows are drawn, their weights are whole and add up to this
        params = self.params(weights)._replace(max_features=self.max_features)
        target = self.data.target._replace(weights=weights)
        context = GrowthContext(self.binned, target, params, self.monotonic_cst, log_table(target, params), NO_ROWS)
        return context if is_for_batches(context) else None

    def has_time_limit(self) -> bool:
        """Return whether a tree may have to end before it is complete."""
        return self.watch is not None and self.watch.seconds_left() is not None

    def time_is_up(self) -> bool:
        """Return whether there is no time for another tree."""
        return self.watch is not None and self.watch.time_is_up()

    def rescore(self, number: int, tree: PackedTree) -> FittedLearner:
        """Return a tree that was grown before, with its predictions out of bag if a score is wanted."""
        oob = None
        if self.wants_oob:
            oob = predict_out_of_bag(tree_at(tree.forest, tree.number), self.data, self.counts(number))
        return FittedLearner(tree, NO_FEATURES, True, oob)

    def counts(self, number: int) -> np.ndarray:
        """Return how often a tree gets each row."""
        return row_counts(self.draws, number).astype(np.float64) if self.bootstrap else self.data.weights()

    def weights(self, counts: np.ndarray) -> np.ndarray:
        """Return the weights of rows that were drawn so often: those of their classes count too."""
        return counts if self.factors is None else counts * self.factors(counts)

    def grow(self, number: int, counts: np.ndarray) -> tuple[Tree, bool]:
        """Return a tree over rows that were drawn so often, and whether there was time for all of it."""
        weights = self.weights(counts)
        params = self.params(weights)._replace(max_features=self.max_features)
        target, seed = self.data.target._replace(weights=weights), np.uint64(tree_seed(self.draws, number))
        complete = True
        if self.watch is None or not self.has_time_limit():
            logs = log_table(target, params)
            tree = grow_tree(
                self.binned, target, params, self.monotonic_cst, self.max_leaves, logs, seed, self.workspaces
            )
        else:
            rows = np.flatnonzero(weights)
            steps = growth_steps(self.binned, target, rows, params, self.monotonic_cst, self.max_leaves, seed, 1)
            step = next(step for step in steps if step.last or self.watch.time_is_up())
            tree, complete = tree_so_far(step), step.last
        return pruned_at(tree, collapse_alphas(tree), self.alpha) if self.alpha > 0 else tree, complete


def predict_out_of_bag(tree: Tree, data: TreeData, counts: np.ndarray) -> OobPrediction:
    """Return what a tree predicts for the rows that it did not get."""
    rows = np.flatnonzero(counts == 0)
    return OobPrediction(rows, tree.value[leaves_of(make_predictor(tree), data.mixed.X[rows]).nodes])


def class_factors(forest: Any, data: TreeData) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return the function from how often rows were drawn to the weights of their classes; None if all are 1."""
    class_weight = class_weight_of(forest)
    if class_weight is None:
        return None
    if class_weight == BALANCED_SUBSAMPLE:
        return lambda counts: row_factors(forest, data, counts, BALANCED)
    same_for_all = row_factors(forest, data, data.weights(), class_weight)
    return lambda counts: same_for_all


def row_factors(forest: Any, data: TreeData, weights: np.ndarray, class_weight: Any) -> np.ndarray:
    """Return the weight of each row's classes, where rows have these weights; 0 for rows that were not drawn."""
    rows, factors = np.flatnonzero(weights), np.zeros(weights.size)
    weighted = output_weights(forest, class_weight, outputs_of(data, rows), weights[rows])
    factors[rows] = check_weight_sizes(forest, weighted) / weights[rows]
    return factors


def tree_seed(draws: Draws, number: int) -> int:
    """Return the seed that a tree with the ``random_state`` of its number grows from."""
    return int(integer_seeds(learner_seed(draws.seed, number), 2)[1])


def select_max_features(
    fitter: ForestFitter, n_trees: int, n_threads: int, curve: np.ndarray, trees: list[PackedTree]
) -> tuple[int, list[PackedTree], np.ndarray]:
    """Return the number of features with the least error out of bag, its trees, and the errors of all that were tried.

    For each number a few trees are grown from the same draws; those of the best one stay. When time is up, what was
    tried so far decides; it goes on from there when it gets the ``curve`` and the best ``trees`` it had then.
    """
    tried = [(int(max_features), float(error)) for max_features, error in curve]
    n_tried = len(trees) if tried else min(n_trees, TRIED_TREES)
    for max_features in feature_counts_to_try(fitter.data.n_features())[len(tried) :]:
        own = fitter._replace(max_features=max_features, wants_oob=True)
        fitted = results_of(own.fit_one, range(n_tried), n_threads)
        found = first_complete(fitted)
        if len(found) < n_tried:
            if not tried and found:  # not even the first number could be tried, but there are trees
                return max_features, [one.learner for one in found], curve
            break
        error = error_out_of_bag(own.data, [one.oob for one in found if one.oob is not None])
        if not tried or error < min(errors for _, errors in tried):
            trees = [one.learner for one in found]
        tried.append((max_features, error))
    if not tried:
        return int(np.sqrt(fitter.data.n_features())), [], curve
    best, _ = min(tried, key=lambda one: one[1])
    return best, trees, np.array(tried, dtype=np.float64)


def first_complete(fitted: Sequence[FittedLearner | None]) -> list[FittedLearner]:
    """Return the first trees, up to one for which there was not enough time."""
    n_complete = next((i for i, one in enumerate(fitted) if one is None or not one.complete), len(fitted))
    return [one for one in fitted[:n_complete] if one is not None]


def feature_counts_to_try(n_features: int) -> list[int]:
    """Return numbers of features from one to all, about half and twice the square root among them.

    >>> feature_counts_to_try(54)
    [1, 3, 7, 14, 27, 54]
    """
    root = np.sqrt(n_features)
    return sorted({max(1, min(n_features, int(k))) for k in (1, root / 2, root, 2 * root, n_features / 2, n_features)})


def error_out_of_bag(data: TreeData, predictions: list[OobPrediction]) -> float:
    """Return the share of wrong classes, or the mean squared error, of the rows that some tree did not see."""
    oob = OobAccumulator(data.n_rows(), data.n_values(), keeps_ballots=False)
    for prediction in predictions:
        oob.add(prediction)
    rows, means = oob.rows(), oob.means()
    return loss(data, rows, means[rows]) if rows.size else np.inf


def loss(data: TreeData, rows: np.ndarray, means: np.ndarray) -> float:
    """Return the mean loss of predictions for some rows, by weight and averaged over the outputs."""
    weights, starts = data.weights()[rows], data.target.starts
    if not data.labels:
        wrong = (means - data.target.y[rows]) ** 2
    else:
        pred = [means[:, starts[o] : starts[o + 1]].argmax(axis=1) for o in range(starts.size - 1)]
        wrong = np.column_stack(pred) != data.target.class_codes[rows]
    return float(np.average(wrong.mean(axis=1), weights=weights))


def oob_importances(forest: Forest, data: TreeData, draws: Draws, n_repeats: int, seed: int, n_threads: int):
    """Return how much worse each tree (row) gets on rows it did not see when a feature (column) is shuffled.

    NaN for trees that saw all rows. A feature that a tree does not ask about costs nothing to shuffle.
    """

    def importances_of(number: int) -> np.ndarray:
        rng = np.random.default_rng([seed, number])
        tree, rows = tree_at(forest, number), np.flatnonzero(row_counts(draws, number) == 0)
        if rows.size == 0:
            return np.full(data.n_features(), np.nan)
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

    return np.array(results_of(importances_of, range(forest.node_start.size - 1), n_threads))
