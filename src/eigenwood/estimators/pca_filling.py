"""Rows with holes: a PCA of the filled table says what stands in the holes, again and again until nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from eigenwood.core.spectral.filling import low_rank_values
from eigenwood.estimators.pca_routes import Found, Request, Step, Steps
from eigenwood.estimators.pca_sources import Whole
from eigenwood.proofs.pca import FILLED

MOST_ROUNDS = 500


def filling_steps(source: Whole, request: Request, route: Callable[[Whole, Request], Steps]) -> Iterator[Step]:
    """Yield a whole PCA after each round; the last is the first that changes the holes by no more than ``FILLED``.

    ``source.X`` has the means in its holes.
    """
    rows, columns = holes = source.holes  # type: ignore[misc]
    X = source.X.copy()
    known: Step | None = None  # the round before
    for n_rounds in range(1, MOST_ROUNDS + 1):
        for step in route(replace(source, X=X, holes=None), request):
            if not step.last:
                yield (known or step)._replace(whole=False, last=False, seconds_after=step.seconds_after)
        found = step.found()
        values = low_rank_values(X, holes, found.columns.mean, found.scale, found.components)
        change = relative_change(values, X[holes], found)
        last = change <= FILLED or n_rounds == MOST_ROUNDS
        filled = found._replace(filling=(n_rounds, change), is_cut=found.is_cut or change > FILLED)
        known = step._replace(found=partial(Found, *filled), whole=True, last=last)
        yield known
        X[rows, columns] = values


def relative_change(new: np.ndarray, old: np.ndarray, found: Found) -> float:
    """Return how much the filled values changed, beside the standard deviation of a column."""
    typical = np.sqrt(found.columns.squares.sum() / found.columns.weight / found.columns.mean.size)
    return float(np.sqrt(np.mean((new - old) ** 2)) / typical) if typical > 0.0 else 0.0
