"""What every route of a kernel PCA is asked, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from eigenwood.core.kernels.functions import LAPLACIAN, LINEAR, POLYNOMIAL, RBF, Kernel
from eigenwood.core.kernels.matrix import KernelMatrix
from eigenwood.estimators.pca.clock import Clock


class Request(NamedTuple):
    """What a user asks for, as numbers that every route understands."""

    count: int  # type: ignore[assignment]  # of components
    keeps_zeros: bool  # components of eigenvalue 0 are kept
    n_landmarks: int | None  # of the low-rank route, at most; None: as many as usual
    error: float  # the share of the trace at which fewer landmarks are enough
    tol: float  # ‖Kv - λv‖ / λ₁; 0: the route's own
    max_products: int | None  # with blocks of vectors
    n_iter: int  # of the randomised route
    seed: int
    n_threads: int
    bytes: float  # of memory
    clock: Clock
    check: Callable[[], None]  # raises when time is up


class Problem(NamedTuple):
    """Rows, or their Gram matrix where there is no kernel."""

    X: Any
    K: KernelMatrix
    gamma: float
    places: np.ndarray | None = None  # of the rows among all of a stream; None: these are all

    def n_rows(self) -> int:
        return self.K.n_rows()

    def is_mercer(self) -> bool:
        """Return whether the kernel is known to be positive semidefinite, whatever the rows."""
        kernel = self.K.kernel
        if not isinstance(kernel, Kernel):
            return False
        return kernel.code in (LINEAR, RBF, LAPLACIAN) or (kernel.code == POLYNOMIAL and kernel.coef0 >= 0.0)


class Result(NamedTuple):
    """Components, and how rows are projected on them: k(x, rows) @ projection - offset.

    ``rows`` are all training rows, or the landmarks of a low-rank kernel.
    """

    values: np.ndarray  # (k,)
    vectors: np.ndarray | None  # (n, k); None where the rows came in blocks
    projection: np.ndarray  # (m, k)
    offset: np.ndarray  # (k,)
    mean_weights: np.ndarray  # (m,) what the mean of all rows is made of, in the kernel's space
    landmarks: np.ndarray | None  # (m,) their places; None: all rows
    residuals: np.ndarray  # (k,) ‖Kv - λv‖, of the low-rank kernel where there is one
    intervals: np.ndarray  # (k, 2)
    total: float  # trace of the centred K
    trace: float  # tr K
    trace_error: float  # of the low-rank kernel, 0 where there is none
    n_rows: int
    rounding: float  # of an eigenvalue
    smallest: float | None = None  # eigenvalue of the centred K, where it is not known to be at least 0
    is_cut: bool = False  # a limit on the products came before the end


class Step(NamedTuple):
    """A point at which a route can be stopped; ``result`` computes the components that are known by then."""

    result: Callable[[], Result]
    route: str
    reason: str
    whole: bool  # a round is complete
    last: bool
    seconds_after: float = 0.0  # that the next call takes which cannot be cut


Steps = Iterator[Step]


def once(function: Callable[..., Result], *arguments: Any) -> Callable[[], Result]:
    """Return a function without arguments that computes its result when it is first called, and remembers it."""
    return cache(partial(function, *arguments))
