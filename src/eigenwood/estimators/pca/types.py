"""What every route of a PCA is asked, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from eigenwood.core.spectral.moments import ColumnMoments
from eigenwood.core.spectral.pairs import Wanted
from eigenwood.estimators.pca.clock import NO_LIMIT, Clock
from eigenwood.estimators.pca.units import Units


class Request(NamedTuple):
    """What a user asks for, as numbers that every route understands."""

    wanted: Wanted
    mle: bool
    scale: Callable[[ColumnMoments], np.ndarray]
    tol: float
    loss: float  # share of what the components may hold that may be lost; 0: none, up to tol
    n_oversamples: int
    n_iter: int | None  # of randomised and power iterations; None: as many as usual
    seed: int
    n_threads: int
    dtype: np.dtype  # of the rows
    nothing: float  # a variance that is at most so many times the largest is rounding
    by_column: bool  # each column is divided by its deviation, so it may have a unit of its own
    units: Units | None = None  # of the rows; None: nobody has looked whether they need any
    clock: Clock = NO_LIMIT

    def at_most(self, count: int) -> Request:
        """Return a request for no more than so many components."""
        return self._replace(wanted=self.wanted._replace(count=min(self.wanted.count, count)))

    def by_count(self, count: int) -> Request:
        """Return a request for no more than so many components, whatever share of the variance they hold."""
        return self._replace(wanted=Wanted(min(self.wanted.count, count)))


class PCAResult(NamedTuple):
    """The components of a table, with their variances and residuals ‖Cv - λv‖ as the route knows them."""

    columns: ColumnMoments
    scale: np.ndarray
    total: float  # trace of C
    variances: np.ndarray
    components: np.ndarray  # (k, d)
    residuals: np.ndarray
    filling: tuple[int, float] | None = None  # rounds of filling missing values, and the relative change in the last
    is_cut: bool = False  # a limit on the products or rounds came before the end

    def first(self, count: int) -> PCAResult:
        """Return the result with its first components alone."""
        return self._replace(
            variances=self.variances[:count], components=self.components[:count], residuals=self.residuals[:count]
        )


class Step(NamedTuple):
    """A point at which a route can be stopped; ``result`` computes the components that are known by then."""

    result: Callable[[], PCAResult]
    route: str
    reason: str
    whole: bool  # a round is complete
    last: bool
    seconds_after: float = 0.0  # that ``result`` takes


Steps = Iterator[Step]


def once(function: Callable[..., PCAResult], *arguments: Any) -> Callable[[], PCAResult]:
    """Return a function without arguments that computes its result when it is first called, and remembers it."""
    return cache(partial(function, *arguments))
