"""The routes to the same components by the names of ``svd_solver``: as asked for, as planned, or as time allows.

A step can always be made into a model (``Step.result``): what is known by then. So a time limit leaves a usable one.
Where a single call of a route would take longer than the time that is left (``clock``), it is not begun:

    products fit, their decomposition does not      Lanczos on the matrix in memory, step by step
    products do not fit either                      Krylov on some rows, then on more, until time is up
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeGuard

from eigenwood.core.spectral.judging import Look, is_slow, look_at
from eigenwood.estimators.pca.costs import block_width, longest_work, product_cost
from eigenwood.estimators.pca.direct_routes import covariance_steps, full_steps, gram_steps, refined_steps_of
from eigenwood.estimators.pca.iterative_routes import (
    arpack_route,
    krylov_route,
    krylov_steps_beside_core,
    oja_route,
    power_route,
    randomized_route,
)
from eigenwood.estimators.pca.planning import affords_directly, plan_route
from eigenwood.estimators.pca.sources import InMemory, Source
from eigenwood.estimators.pca.types import Request, Steps

SAMPLE_SHARE, FEWEST_ROWS, SAMPLE_GROWTH = 0.1, 50, 4  # of the time left, for one product with some rows; their growth

Route = Callable[[Any, Request], Steps]


# --- what auto does -------------------------------------------------------------------------------


def auto_route(source: Source, request: Request) -> Steps:
    """Yield the steps of the planned route; from Krylov it turns to a direct one when that is the shorter way."""
    plan = plan_route(source, request)
    if plan.fallback is None:
        yield from (step._replace(reason=step.reason or plan.reason) for step in ROUTES[plan.route](source, request))
        return
    if has_no_time_for(source, request, "krylov"):
        yield from hasty_steps(source, request, "krylov")
        return
    looks: list[Look] = []
    for step, inner in krylov_steps_beside_core(source, request):
        looks.append(look_at(inner))
        per_product = product_cost(source, inner.block) / inner.block
        is_slower = is_slow(looks, per_product, plan.other_cost)
        if is_slower and not inner.last and affords_directly(source, request):
            break
        yield step._replace(reason=plan.reason)
    else:
        return
    reason = f"after {inner.n_products} products krylov was too slow: the spectrum is flat"
    yield from (step._replace(reason=reason) for step in ROUTES[plan.fallback](source, request))


# --- what a time limit does -----------------------------------------------------------------------


def in_time(name: str, route: Route, source: Source, request: Request) -> Steps:
    """Yield the steps of a route, unless its longest call takes more time than there is."""
    if has_no_time_for(source, request, name):
        return hasty_steps(source, request, name)
    return route(source, request)


def has_no_time_for(source: Source, request: Request, name: str) -> TypeGuard[InMemory]:
    """Return whether the longest call of a route takes more time than there is; sources on disk are read in blocks."""
    is_long = isinstance(source, InMemory)
    return is_long and not request.clock.affords(longest_work(name, source, request), request.n_threads)


def hasty_steps(source: InMemory, request: Request, name: str) -> Steps:
    """Yield steps of Krylov on rows taken evenly from all, and on more of them until time is up or these are all."""
    reason, n_rows = f"there was no time for {name}", source.shape[0]
    block = block_width(request.wanted, source)
    n_some = int(n_rows * request.clock.work_within(SAMPLE_SHARE) / product_cost(source, block))
    while True:
        n_some = n_rows if 2 * n_some >= n_rows else max(n_some, min(FEWEST_ROWS, n_rows))
        some = source if n_some == n_rows else source.some_rows(n_some)
        if some.weight() < 2:  # their weights are so small that they count as one row
            some = source
        for step in krylov_route(some, request.at_most(some.weight())):
            yield step._replace(reason=reason, last=step.last and some is source)
        if some is source:
            return
        n_some *= SAMPLE_GROWTH


ROUTES: dict[str, Route] = {
    "auto": auto_route,
    "full": partial(in_time, "full", full_steps),
    "covariance_eigh": partial(in_time, "covariance_eigh", covariance_steps),
    "gram_eigh": partial(in_time, "gram_eigh", gram_steps),
    "gram_refined": partial(in_time, "gram_refined", refined_steps_of),
    "krylov": partial(in_time, "krylov", krylov_route),
    "arpack": partial(in_time, "krylov", arpack_route),
    "randomized": partial(in_time, "randomized", randomized_route),
    "power": partial(in_time, "power", power_route),
    "oja": partial(in_time, "oja", oja_route),
}
