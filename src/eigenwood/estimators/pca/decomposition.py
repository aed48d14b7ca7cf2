"""The leading eigenpairs of a matrix of products in memory, within the time that is left."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eigenwood.core.spectral.krylov import KrylovStep
from eigenwood.core.spectral.pairs import Pairs, symmetric_pairs
from eigenwood.core.spectral.symmetric import are_few, judged_lanczos_steps, lanczos_steps
from eigenwood.estimators.pca.costs import lapack_work
from eigenwood.estimators.pca.types import PCAResult, Request, Step, Steps, once

Finish = Callable[[Pairs, Request], PCAResult]  # from eigenpairs to components


def decomposition_steps(M: np.ndarray, request: Request, finish: Finish, route: str) -> Steps:
    """Yield the components of a matrix of products: LAPACK's at once where time allows it, otherwise by Lanczos."""
    if takes_lapack(M.shape[0], request):
        yield Step(once(by_lapack, M, finish, request), route, "", whole=True, last=True)
        return
    for step, is_slower in judged_lanczos_steps(M, request.wanted, request.n_threads):
        if is_slower and request.clock.affords(lapack_work(M.shape[0], request.wanted)):
            yield Step(once(by_lapack, M, finish, request), route, "", whole=True, last=True)
            return
        yield Step(once(by_lanczos, step, finish, request), route, "", whole=step.last, last=step.last)


def takes_lapack(size: int, request: Request) -> bool:
    """Return whether LAPACK finds the pairs of a matrix: it is the faster way, and there is time for it."""
    return request.clock.affords(lapack_work(size, request.wanted)) and not are_few(size, request.wanted)


def by_lapack(M: np.ndarray, finish: Finish, request: Request) -> PCAResult:
    """Return the components from the pairs that LAPACK finds."""
    return finish(symmetric_pairs(M, request.wanted, request.n_threads), request)


def by_lanczos(step: KrylovStep, finish: Finish, request: Request) -> PCAResult:
    """Return the components that a step of Lanczos stands for; what is not known yet is not there."""
    pairs = step.pairs()
    return finish(pairs, request if step.last else request.by_count(pairs.values.size))


def pairs_in_time(M: np.ndarray, request: Request) -> Pairs:
    """Return the leading pairs of a matrix; where there is no time for all digits, as good as they are by then."""
    if takes_lapack(M.shape[0], request):
        return symmetric_pairs(M, request.wanted, request.n_threads)
    steps = lanczos_steps(M, request.wanted, request.n_threads)
    step = next(steps)
    while not step.last and not request.clock.is_up():
        step = next(steps)
    return step.pairs()
