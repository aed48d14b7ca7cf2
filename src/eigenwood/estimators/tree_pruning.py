"""How a grown tree is cut back: by rows put aside, or by cross-validation.

Both are functions from the grown tree to a ``Pruned``; a callback that looks at the tree while it grows has it cut back
in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from time import perf_counter
from typing import NamedTuple

import numpy as np

from eigenwood.core.tree.grower import GrowthStep, grown
from eigenwood.core.tree.predict import leaves_of, make_predictor
from eigenwood.core.tree.prune import alpha_errors, collapse_alphas, pruned_at, pruning_path, reduced_error
from eigenwood.core.tree.types import Tree
from eigenwood.estimators.tree_data import TreeData

MOST_ALPHAS = 500  # that cross-validation looks at
EQUAL = 1e-12  # relative: errors closer than this are equal
LARGEST = float(np.finfo(np.float64).max)

Grow = Callable[[np.ndarray], Iterator[GrowthStep]]  # rows → the growth of a tree over them


class Pruned(NamedTuple):
    """A tree after it was cut back."""

    tree: Tree
    curve: np.ndarray  # (n_trees, 3) alpha, leaves and validation error of each tree on the way
    in_time: bool = True  # nothing was left out because the time was up


class Fold(NamedTuple):
    """A tree grown without some rows, the alpha at which each node falls, and where those rows end."""

    tree: Tree
    falls: np.ndarray
    leaves: np.ndarray
    part: TreeData


def uncut(tree: Tree) -> Pruned:
    """Return the tree as it is."""
    return Pruned(tree, np.empty((0, 3)))


def cut_by_validation(tree: Tree, held_out: TreeData, criterion: int, threads: int) -> Pruned:
    """Return the tree without the questions that do not help the rows put aside."""
    leaves = leaves_of(make_predictor(tree), held_out.mixed.X, threads).nodes
    found = reduced_error(tree, leaves, held_out.target, criterion)
    return Pruned(found.tree, np.column_stack([np.zeros(found.errors.size), found.n_leaves, finite(found.errors)]))


def finite(errors: np.ndarray) -> np.ndarray:
    """Return errors as a model file can hold them: that of amounts where a tree says 0 has no end (Poisson)."""
    return np.nan_to_num(errors, nan=LARGEST, posinf=LARGEST)


class CrossValidation:
    """Cuts a tree at the alpha with the least error over the folds; of equal ones, at the largest.

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
        self._seconds = 0.0  # that it takes to find out when the nodes of a tree fall

    def __call__(self, tree: Tree) -> Pruned:
        if self._is_late():
            return uncut(tree)._replace(in_time=False)
        falls = self._falls(tree)
        folds = self._folds
        if not folds:
            return uncut(tree)._replace(in_time=False)
        path = pruning_path(tree, falls)
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
        return Pruned(pruned_at(tree, falls, alphas[best]), curve, len(folds) == len(self._rows))

    @cached_property
    def _folds(self) -> list[Fold]:
        grown_folds = (self._fold(learn, check) for learn, check in self._rows)
        return [fold for fold in grown_folds if fold is not None]

    def _fold(self, learn: np.ndarray, check: np.ndarray) -> Fold | None:
        """Return the tree of one fold, or nothing if the time is up before it is grown and known when it falls."""
        for step in self._grow(learn):
            if self._is_late():
                break
            if step.last:
                tree, part = grown(step), self._data.taken(check)
                leaves = leaves_of(make_predictor(tree), part.mixed.X, self._threads).nodes
                return Fold(tree, self._falls(tree), leaves, part)
        return None

    def _falls(self, tree: Tree) -> np.ndarray:
        """Return the alpha at which each node falls, and note how long it took to find out."""
        start = perf_counter()
        falls = collapse_alphas(tree)
        self._seconds = max(self._seconds, perf_counter() - start)
        return falls

    def _is_late(self) -> bool:
        """Return whether there is no time for another tree to be cut back."""
        left = self._seconds_left()
        return left is not None and left <= self._seconds

    def _errors(self, fold: Fold, alphas: np.ndarray) -> np.ndarray:
        return alpha_errors(fold.tree, fold.falls, fold.leaves, fold.part.target, self._criterion, alphas)
