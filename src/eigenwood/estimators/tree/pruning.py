"""How a grown tree is pruned: by a validation set, or by cross-validation.

Both are functions from the grown tree to a ``Pruned``; a callback that looks at the tree while it grows has it pruned
in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from time import perf_counter
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from eigenwood.core.tree.grower import GrowthStep, tree_so_far
from eigenwood.core.tree.predict import leaves_of, make_predictor
from eigenwood.core.tree.prune import alpha_errors, collapse_alphas, pruned_at, pruning_path, reduced_error
from eigenwood.core.tree.types import Tree
from eigenwood.estimators.tree.data import TreeData
from eigenwood.validation.trees import COST_COMPLEXITY_CV, VALIDATION, check_rows_to_prune

MOST_ALPHAS = 500  # that cross-validation looks at
EQUAL = 1e-12  # relative: errors closer than this are equal
LARGEST = float(np.finfo(np.float64).max)

Grow = Callable[[np.ndarray], Iterator[GrowthStep]]  # rows → the growth of a tree over them


class Pruned(NamedTuple):
    """A tree after it was pruned."""

    tree: Tree
    curve: np.ndarray  # (n_trees, 3) alpha, leaves and validation error of each tree on the way
    in_time: bool = True  # nothing was left out because the time was up


class Fold(NamedTuple):
    """A tree grown without some rows, the alpha at which each node is pruned, and the leaves of those rows."""

    tree: Tree
    alphas: np.ndarray
    leaves: np.ndarray
    part: TreeData


def unpruned(tree: Tree) -> Pruned:
    """Return the tree as it is."""
    return Pruned(tree, np.empty((0, 3)))


# ---- by a validation set ------------------------------------------------------------------------------------------


def validation_split(who: str, data: TreeData, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to learn from and a fraction held out, stratified by class if every class has enough rows."""
    check_rows_to_prune(who, VALIDATION, data.n_rows())
    rows = np.arange(data.n_rows())
    n_held_out = min(max(1, round(fraction * rows.size)), rows.size - 1)
    classes = strata(data, n_held_out)
    learn, held_out = train_test_split(rows, test_size=n_held_out, stratify=classes, random_state=seed)
    return np.sort(learn), np.sort(held_out)


def strata(data: TreeData, n_least: int) -> np.ndarray | None:
    """Return the classes of a single output if each has at least 2 rows and there are few enough of them."""
    if len(data.labels) != 1:
        return None
    codes = np.unique(data.target.class_codes[:, 0], return_inverse=True)[1]
    counts = np.bincount(codes)
    enough = counts.min() >= 2 and counts.size <= min(n_least, codes.size - n_least)
    return codes if enough else None


def prune_by_validation(tree: Tree, held_out: TreeData, criterion: int, threads: int) -> Pruned:
    """Return the tree without the questions that do not help the validation set."""
    leaves = leaves_of(make_predictor(tree), held_out.mixed.X, threads).nodes
    found = reduced_error(tree, leaves, held_out.target, criterion)
    return Pruned(found.tree, np.column_stack([np.zeros(found.errors.size), found.n_leaves, finite(found.errors)]))


def finite(errors: np.ndarray) -> np.ndarray:
    """Return errors that a model file can hold: Poisson's is infinite where a tree predicts 0 for a larger count."""
    return np.nan_to_num(errors, nan=LARGEST, posinf=LARGEST)


# ---- by cross-validation ------------------------------------------------------------------------------------------


def folds(who: str, data: TreeData, n_folds: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Return the folds of cross-validation, stratified by class where every class has enough rows."""
    check_rows_to_prune(who, COST_COMPLEXITY_CV, data.n_rows())
    n_folds = min(n_folds, data.n_rows())
    rows, classes = np.arange(data.n_rows()), strata(data, n_folds)
    if classes is None or np.bincount(classes).min() < n_folds:
        return KFold(n_folds, shuffle=True, random_state=seed).split(rows)
    return StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(rows, classes)


class CrossValidation:
    """Prunes a tree at the alpha with the least error over the folds; of equal ones, at the largest.

    The trees of the folds are grown once, when they are first needed. A fold that cannot be finished in time is left
    out; without any fold the tree stays as it is.
    """

    def __init__(
        self,
        data: TreeData,
        folds: Iterator,
        grow: Grow,
        seconds_left: Callable[[], float | None],
        criterion: int,
        threads: int,
    ) -> None:
        self._data, self._rows, self._grow = data, list(folds), grow
        self._seconds_left, self._criterion, self._threads = seconds_left, criterion, threads
        self._seconds = 0.0  # that it takes to find the alphas of a tree

    def __call__(self, tree: Tree) -> Pruned:
        if self._is_late():
            return unpruned(tree)._replace(in_time=False)
        node_alphas = self._alphas(tree)
        folds = self._folds
        if not folds:
            return unpruned(tree)._replace(in_time=False)
        path = pruning_path(tree, node_alphas)
        places = np.unique(np.linspace(0, path.alphas.size - 1, min(MOST_ALPHAS, path.alphas.size)).astype(int))
        # between two alphas the tree is the same; the geometric mean stands for all of them (Breiman et al. 1984)
        alphas = np.sqrt(path.alphas * np.append(path.alphas[1:], path.alphas[-1:]))[places]
        errors = np.average(
            [self._errors(fold, alphas) for fold in folds],
            axis=0,
            weights=[fold.part.weights().sum() for fold in folds],
        )
        best = int(np.flatnonzero(errors <= errors.min() * (1.0 + EQUAL))[-1])
        curve = np.column_stack([alphas, path.n_leaves[places], finite(errors)])
        return Pruned(pruned_at(tree, node_alphas, alphas[best]), curve, len(folds) == len(self._rows))

    @cached_property
    def _folds(self) -> list[Fold]:
        grown_folds = (self._fold(learn, check) for learn, check in self._rows)
        return [fold for fold in grown_folds if fold is not None]

    def _fold(self, learn: np.ndarray, check: np.ndarray) -> Fold | None:
        """Return the tree of one fold; None if time is up before it is grown and its alphas are known."""
        for step in self._grow(learn):
            if self._is_late():
                break
            if step.last:
                tree, part = tree_so_far(step), self._data.taken(check)
                leaves = leaves_of(make_predictor(tree), part.mixed.X, self._threads).nodes
                return Fold(tree, self._alphas(tree), leaves, part)
        return None

    def _alphas(self, tree: Tree) -> np.ndarray:
        """Return the alpha at which each node is pruned, and note how long that took."""
        start = perf_counter()
        alphas = collapse_alphas(tree)
        self._seconds = max(self._seconds, perf_counter() - start)
        return alphas

    def _is_late(self) -> bool:
        """Return whether there is no time to prune another tree."""
        left = self._seconds_left()
        return left is not None and left <= self._seconds

    def _errors(self, fold: Fold, alphas: np.ndarray) -> np.ndarray:
        return alpha_errors(fold.tree, fold.alphas, fold.leaves, fold.part.target, self._criterion, alphas)
