"""Which route a kernel PCA takes: by the number of rows and components, and by the memory that K may take."""

from __future__ import annotations

from typing import NamedTuple

from eigenwood.core.kernels.functions import Kernel
from eigenwood.core.kernels.source import work_of_a_value
from eigenwood.estimators.kernel_pca.types import Problem, Request
from eigenwood.validation.kernel_pca import check_room_for_dense

DENSE, KRYLOV, TILES, RANDOMIZED, LOW_RANK = ROUTES = ("dense", "krylov", "krylov_tiles", "randomized", "low_rank")
SMALL = 250  # rows: LAPACK has all pairs of K before an iteration has settled
FEW = 0.1  # of all components: from here on LAPACK costs no more
COPIES = 4  # of K in float64 while LAPACK works
WORK = 1e12  # multiplications for the values of K that an exact fit may compute again and again: about a minute
NAMES = {"arpack": KRYLOV}


class Plan(NamedTuple):
    """A route, and why it was taken."""

    route: str
    reason: str


def planned(problem: Problem, asked: str, request: Request) -> Plan:
    """Return the route for what was asked: 'auto' takes what is exact as long as memory and time allow it."""
    asked = NAMES.get(asked, asked)
    n = problem.n_rows()
    in_hand = problem.K.kernel is None
    half = 0.5 if isinstance(problem.K.kernel, Kernel) else 1.0  # a function of the user's is not taken to be symmetric
    stored = 0.0 if in_hand else half * float(n) ** 2 * problem.K.dtype().itemsize
    dense = float(n) ** 2 * 8.0 * COPIES
    if asked in (KRYLOV, RANDOMIZED):
        return stored_or_tiles(asked, stored, request)
    if asked == DENSE:
        check_room_for_dense(dense, request.bytes)
    if asked != "auto":
        return Plan(asked, f"eigen_solver={asked!r}")
    few = request.count <= FEW * n
    what = f"{request.count:,} components of {n:,} rows"
    if dense <= request.bytes and (n <= SMALL or not few):
        return Plan(DENSE, f"{what}: all of K at once by LAPACK")
    if few and stored <= request.bytes:
        return Plan(KRYLOV, f"{what}: K is in memory ({size(stored)})")
    work = float(n) ** 2 * work_of_a_value(problem.X, problem.K.kernel) if not in_hand else 0.0
    too_large = f"{what}: K would take {size(stored if few else dense)}, more than memory_limit allows"
    if few and work <= WORK:
        return Plan(TILES, f"{too_large}, so what has no room is computed again for each product")
    return Plan(LOW_RANK, f"{too_large}, and its values are too many to compute them again")


def stored_or_tiles(asked: str, stored: float, request: Request) -> Plan:
    """Return an iteration, with K in memory if there is room for it."""
    if stored <= request.bytes:
        return Plan(asked, f"eigen_solver={asked!r}; K is in memory ({size(stored)})")
    if asked == RANDOMIZED:
        return Plan(RANDOMIZED, f"eigen_solver={asked!r}; K is computed again for each product")
    return Plan(
        TILES,
        f"eigen_solver={asked!r}; K would take {size(stored)}, so what has no room is computed again for each product",
    )


def size(n_bytes: float) -> str:
    """Return a number of bytes in words.

    >>> size(8e8), size(2.5e9)
    ('800 MB', '2.5 GB')
    """
    return f"{n_bytes / 1e9:.3g} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.3g} MB"
