"""Rows with holes: a PCA of the filled table says what stands in the holes, again and again until nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from eigenwood.core.spectral.filling import low_rank_values
from eigenwood.estimators.pca.sources import InMemory
from eigenwood.estimators.pca.types import PCAResult, Request, Step, Steps
from eigenwood.proofs.pca import FILLED

MOST_ROUNDS = 500


def filling_steps(source: InMemory, request: Request, route: Callable[[InMemory, Request], Steps]) -> Iterator[Step]:
    """Yield a whole PCA after each round; the last is the first that changes the holes by no more than ``FILLED``.

    ``source.X`` has the means in its holes.
    """
    rows, columns = holes = source.holes  # type: ignore[misc]
    X = source.X.copy()
    previous: Step | None = None
    for n_rounds in range(1, MOST_ROUNDS + 1):
        for step in route(replace(source, X=X, holes=None), request):
            if not step.last:
                yield (previous or step)._replace(whole=False, last=False, seconds_after=step.seconds_after)
        result = step.result()
        values = low_rank_values(X, holes, result.columns.mean, result.scale, result.components)
        change = relative_change(values, X[holes], result)
        last = change <= FILLED or n_rounds == MOST_ROUNDS
        filled = result._replace(filling=(n_rounds, change), is_cut=result.is_cut or change > FILLED)
        previous = step._replace(result=partial(PCAResult, *filled), whole=True, last=last)
        yield previous
        X[rows, columns] = values


def relative_change(new: np.ndarray, old: np.ndarray, result: PCAResult) -> float:
    """Return how much the filled values changed, beside the standard deviation of a column."""
    typical = np.sqrt(result.columns.squares.sum() / result.columns.weight / result.columns.mean.size)
    return float(np.sqrt(np.mean((new - old) ** 2)) / typical) if typical > 0.0 else 0.0
