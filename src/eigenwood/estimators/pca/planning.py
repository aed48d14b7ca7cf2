"""Which route ``svd_solver='auto'`` takes, and when it turns from Krylov to a direct one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.core.spectral.bytes import multiplies_bytes
from eigenwood.core.spectral.pairs import Wanted
from eigenwood.core.spectral.symmetric import FEW
from eigenwood.estimators.pca.costs import direct_cost, krylov_cost, refined_cost, svd_cost
from eigenwood.estimators.pca.sources import InMemory, RowStream, Source, known_shape
from eigenwood.estimators.pca.types import Request

SMALL = 500  # rows and columns of a table whose SVD is taken as it is,
SMALL_WORK = 2**23  # unless that takes more than so much work, some tenths of a millisecond
MOST_MEMORY = 2**32  # bytes that a matrix of products may take before ``auto`` looks for another way
KRYLOV_MUST_SAVE = 1.3  # times the work: what is direct is also sure


class Plan(NamedTuple):
    """A route, the route to turn to should the first be slow, and the words for the choice."""

    route: str
    fallback: str | None
    reason: str
    other_cost: float = np.inf  # of the fallback


def plan_route(source: Source, request: Request) -> Plan:
    """Return the cheapest route for the shape, the count and the memory."""
    if isinstance(source, RowStream):
        return plan_for_stream(source.n_columns)
    n, d = known_shape(source)
    is_sparse = isinstance(source, InMemory) and sparse.issparse(source.X)
    if isinstance(source, InMemory) and max(n, d) <= SMALL and not is_sparse and svd_cost(n, d) <= SMALL_WORK:
        return Plan("full", None, f"{n} x {d} is small")
    direct = "gram_eigh" if source.is_wide() else "covariance_eigh"
    size = min(n, d)
    if request.mle:
        return Plan(direct, None, "all eigenvalues are needed")
    if 8 * size * size > MOST_MEMORY:
        return Plan("krylov", None, f"{size} x {size} products do not fit in memory")
    if is_sparse and size > SMALL:
        return Plan("krylov", None, "sparse rows are multiplied as they are")
    return cheapest_plan(source, request, direct)


def plan_for_stream(n_columns: int) -> Plan:
    """Return the route for blocks of rows, which are read one pass at a time."""
    products = f"{n_columns} x {n_columns} products"
    if 8 * n_columns * n_columns <= MOST_MEMORY:
        return Plan("covariance_eigh", None, f"one pass over the stream, and {products} fit in memory")
    return Plan("krylov", None, f"{products} do not fit in memory")


def cheapest_plan(source: Source, request: Request, direct: str) -> Plan:
    """Return the route that takes the least work, where the matrix of products fits in memory."""
    (n, d), wanted = known_shape(source), request.wanted
    words = f"{min(n, d)} x {min(n, d)} products of {max(n, d)} numbers"
    directly, by_krylov = direct_cost(source, wanted, request.n_threads), krylov_cost(source, wanted, request.loss)
    refined = refined_cost(source, wanted.count) if is_refinable(source, wanted) else np.inf
    if refined < min(directly, by_krylov):
        return Plan("gram_refined", None, f"bytes and a few exact products cost less than {words}")
    if directly <= KRYLOV_MUST_SAVE * by_krylov:
        return Plan(direct, None, f"{words} cost less than an iteration")
    other = "gram_refined" if refined < directly else direct
    reason = f"a few products with blocks of vectors cost less than {words}"
    return Plan("krylov", other, reason, min(directly, refined))


def is_refinable(source: Source, wanted: Wanted) -> bool:
    """Return whether bytes may show the way: few pairs of a dense wide table, on a machine that multiplies bytes."""
    return (
        isinstance(source, InMemory)
        and not sparse.issparse(source.X)
        and source.is_wide()
        and wanted.share is None
        and 0 < wanted.count <= FEW * source.shape[0]
        and multiplies_bytes()
    )


def affords_directly(source: Source, request: Request) -> bool:
    """Return whether there is time for the smaller matrix of products and its decomposition."""
    return request.clock.affords(direct_cost(source, request.wanted, request.n_threads), request.n_threads)
