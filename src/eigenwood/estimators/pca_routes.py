"""The routes to the same components, each a generator of steps; and which of them ``auto`` takes, and why.

    covariance_eigh   moments ──► C ──► eigenpairs                   d² memory, one pass
    gram_eigh         AAᵀ ──► eigenpairs ──► v = Aᵀu / s             n² memory, three passes
    gram_refined      AAᵀ of bytes ──► guess ──► exact products      n² memory, a few passes
    full              the SVD of A                                   A itself in memory
    krylov, randomized, power, oja      products with A alone        a few vectors in memory, one pass each

A step can always be made into a model (``Step.found``): what is known by then. So a time limit leaves a usable one.
Where a single call of a route would take longer than the time that is left (``pca_clock``), it is not begun:

    products fit, their decomposition does not      Lanczos on the matrix in hand, step by step
    products do not fit either                      Krylov on some rows, then on more, until time is up
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.core.spectral.bytes import multiplies_bytes
from eigenwood.core.spectral.dimension import likeliest_count
from eigenwood.core.spectral.full import svd_pairs
from eigenwood.core.spectral.krylov import KrylovRule, KrylovStep, krylov_steps
from eigenwood.core.spectral.moments import ColumnMoments, Moments, columns_of
from eigenwood.core.spectral.oja import OjaState, after_batch, oja_start
from eigenwood.core.spectral.packed import GROUP
from eigenwood.core.spectral.pairs import (
    MANY,
    Pairs,
    Wanted,
    chosen_count,
    settled_at,
    signed,
    straightened,
    with_null_pairs,
)
from eigenwood.core.spectral.power import PowerRule, power_steps
from eigenwood.core.spectral.randomized import SubspaceStep, randomized_steps
from eigenwood.core.spectral.refining import RefinedStep, refined_steps
from eigenwood.core.spectral.symmetric import FEW, LARGE, are_few, lanczos_steps, leading_pairs
from eigenwood.errors import InputError
from eigenwood.estimators.pca_clock import NO_LIMIT, Clock
from eigenwood.estimators.pca_sources import RowStream, Scaling, Whole
from eigenwood.estimators.pca_units import BeyondRangeError, Units, check_range, check_variance, units_for

SMALL = 500  # rows and columns: below, the SVD of the whole table takes milliseconds
BASIS_BYTES = 2**28
MOST_MEMORY = 2**32  # bytes that a matrix of products may take before ``auto`` looks for another way
OJA_BATCH, OJA_ROWS, OJA_EPOCHS = 64, 30_000, 5  # rows of a batch; of all batches at least; passes at least
OJA_ROUND = 16  # batches between two looks at the model so far
SETTLED = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-8}  # ‖Cv - λv‖ / λ₁ at which an iteration ends
MACHINE_PRECISION = {np.dtype(np.float32): 3e-6, np.dtype(np.float64): 1e-12}
NEXT_TO_NOTHING = 1e-8  # ‖AᵀAv - s²v‖ beside the largest s²
LIFTED = 1.0 / 16.0  # of a tolerance, where pairs of AAᵀ are found one by one: on the way back to AᵀA errors grow
MOST_PRODUCTS = 20  # times the size of the matrix, should an iteration never settle
NARROWEST, WIDEST, SHARE_BLOCK = 8, 32, 32  # columns of a block that is multiplied at once
PACKED_SHARE = 0.4  # of the wanted pairs, where the table is packed

# Work in multiplications of a large matrix product, as measured by benchmarks/bench_pca.py.
LAPACK_COST = 30.0  # all pairs, m³ times this
FEW_COST = 6.0  # some pairs by LAPACK, m³ times this
SVD_COST = 20.0  # of an n x m table, n m² times this
LANCZOS_COST = 5000.0  # few pairs of a matrix in hand, m² times this
SKINNY_COST = 4.5  # a product with a block of vectors, for every entry of A and column of the block
READING_COST, PACKED_COST = 100.0, 5.0  # once for a block: to gather and centre A, or to read a packed copy
BYTE_COST = 0.3  # a product of bytes
REFINING_ROUNDS, REFINED_READING, REFINED_COST = 2, 35.0, 2.2  # exact products; to read A, and for every column
LIKELY_BLOCKS = 11  # until Krylov settles, where the spectrum falls
SHARE_OF_PAIRS = 0.3  # that hold the share of variance, as a guess
KRYLOV_MUST_SAVE = 1.3  # times the work: what is direct is also sure
PATIENCE = 4  # products before Krylov is judged
SAMPLE_SHARE, FEWEST_ROWS, SAMPLE_GROWTH = 0.1, 50, 4  # of the time left, for one product with some rows; their growth


class Request(NamedTuple):
    """What is asked for, whatever the route."""

    wanted: Wanted
    mle: bool
    scale: Callable[[ColumnMoments], np.ndarray]
    tol: float
    n_oversamples: int
    n_iter: int | None  # of randomised and power iterations; None: as many as usual
    seed: int
    n_threads: int
    dtype: np.dtype  # of the rows
    nothing: float  # a variance that is at most so many times the largest is rounding
    by_column: bool  # each column is divided by its deviation, so it may have a unit of its own
    units: Units | None = None  # of the rows; None: nobody has looked whether they need any
    clock: Clock = NO_LIMIT


class Found(NamedTuple):
    """A PCA in numbers. ``residuals`` are ‖Cv - λv‖, as the route knows them."""

    columns: ColumnMoments
    scale: np.ndarray
    total: float  # trace of C
    variances: np.ndarray
    components: np.ndarray  # (k, d)
    residuals: np.ndarray
    filling: tuple[int, float] | None = None  # rounds of filling holes, and the relative change in the last
    is_cut: bool = False  # a limit on the products or rounds came before the end


class Step(NamedTuple):
    """Where a route stands."""

    found: Callable[[], Found]
    route: str
    reason: str
    whole: bool
    last: bool
    seconds_after: float = 0.0  # to make it into a model


Steps = Iterator[Step]


def once(function: Callable[..., Found], *arguments: Any) -> Callable[[], Found]:
    """Return a function of nothing that computes its result when first asked, and remembers it."""
    return cache(partial(function, *arguments))


# --- covariance -----------------------------------------------------------------------------------


def covariance_steps(source: Any, request: Request) -> Steps:
    """Yield the components of the rows so far."""
    after = decomposition_seconds(source.shape[1], request)
    for moments, last in source.moments(request.n_threads):
        check_units(columns_of(moments), source.dtype, request, source.sizes_at if last else np.zeros_like)
        if not last:
            yield Step(once(from_moments, moments, request), "covariance_eigh", "", True, False, after)
    scaling, M = scaled_scatter(moments, request)
    count = min(request.wanted.count, int(moments.weight))
    asked = request._replace(wanted=request.wanted._replace(count=count))
    yield from decomposition_steps(M, asked, partial(found, scaling), "covariance_eigh")


def from_moments(moments: Moments, request: Request) -> Found:
    """Return the components from the moments of the rows."""
    scaling, M = scaled_scatter(moments, request)
    count = min(request.wanted.count, int(moments.weight))
    return found(scaling, pairs_in_time(M, request._replace(wanted=request.wanted._replace(count=count))), request)


def scaled_scatter(moments: Moments, request: Request) -> tuple[Scaling, np.ndarray]:
    """Return mean and scale, and AᵀA."""
    scaling = checked_scaling(columns_of(moments), request)
    return scaling, moments.scatter / scaling.scale[:, None] / scaling.scale[None, :]


# --- Gram -----------------------------------------------------------------------------------------


def gram_steps(source: Any, request: Request) -> Steps:
    """Yield the components from the columns so far."""
    scaling = scaling_of(source, request)
    after = decomposition_seconds(source.shape[0], request) + 2.0 * lifting_seconds(source, request)
    for gram, last in source.gram(scaling, request.n_threads):
        if not last:
            guess = once(from_some_columns, gram, source, scaling, request)
            yield Step(guess, "gram_eigh", "", True, False, after)
    finish = partial(lifted_from, source, scaling)
    for step in decomposition_steps(gram, request, finish, "gram_eigh"):
        yield step._replace(seconds_after=step.seconds_after + lifting_seconds(source, request))


def from_some_columns(gram: np.ndarray, source: Any, scaling: Scaling, request: Request) -> Found:
    """Return components whose directions are a guess from some columns; their variances are then those of all."""
    pairs = pairs_in_time(gram, request)
    pairs = measured(pairs.vectors, pairs.values.size, source.operator(scaling, request.n_threads))
    return lifted(pairs, source, scaling, request)


def lifted_from(source: Any, scaling: Scaling, pairs: Pairs, request: Request) -> Found:
    return lifted(pairs, source, scaling, request)


# --- a matrix in hand -----------------------------------------------------------------------------


def decomposition_steps(
    M: np.ndarray, request: Request, finish: Callable[[Pairs, Request], Found], route: str
) -> Steps:
    """Yield the components of a matrix of products: LAPACK's at once where time allows it, otherwise by Lanczos."""
    wanted, is_hurried = request.wanted, not request.clock.affords(lapack_work(M.shape[0], request.wanted))
    if not is_hurried and not are_few(M.shape[0], wanted):
        yield Step(once(lambda: finish(leading_pairs(M, wanted, request.n_threads), request)), route, "", True, True)
        return
    for step in lanczos_steps(M, wanted, request.n_threads):
        yield Step(once(finished, step, finish, request), route, "", step.last, step.last)


def finished(step: KrylovStep, finish: Callable[[Pairs, Request], Found], request: Request) -> Found:
    """Return the components that a step of Lanczos stands for; what is not known yet is not there."""
    pairs = step.pairs()
    if not step.last:
        request = request._replace(wanted=Wanted(min(request.wanted.count, pairs.values.size)))
    return finish(pairs, request)


def pairs_in_time(M: np.ndarray, request: Request) -> Pairs:
    """Return the leading pairs of a matrix; where there is no time for all digits, as good as they are by then."""
    wanted = request.wanted
    if request.clock.affords(lapack_work(M.shape[0], wanted)) and not are_few(M.shape[0], wanted):
        return leading_pairs(M, wanted, request.n_threads)
    steps = lanczos_steps(M, wanted, request.n_threads)
    step = next(steps)
    while not step.last and not request.clock.is_up():
        step = next(steps)
    return step.pairs()


def decomposition_seconds(size: int, request: Request) -> float:
    """Return how long a model waits for the pairs of a matrix, if they are computed at once."""
    work = lapack_work(size, request.wanted)
    return request.clock.seconds_for(work) if request.clock.affords(work) else 0.0


def lapack_work(size: int, wanted: Wanted) -> float:
    """Return the multiplications that LAPACK's pairs take."""
    if are_few(size, wanted):
        return 0.0
    is_many = wanted.share is not None or wanted.count >= MANY * size
    return (LAPACK_COST if is_many else FEW_COST) * float(size) ** 3


def lifting_seconds(source: Any, request: Request) -> float:
    """Return how long it takes to bring pairs of AAᵀ to features."""
    if not source.is_wide():
        return 0.0
    return request.clock.seconds_for(product_cost(source, request.wanted.count), request.n_threads)


def refined_route(source: Whole, request: Request) -> Steps:
    """Yield guesses from a rough Gram matrix, then pairs by exact products; should these not do, the exact one.

    Beside giant numbers, bytes lose small ones. A direction that is nowhere but in what was lost leaves no residual, so
    its variance must not be one of the largest: it is at most all that was lost.
    """
    scaling = scaling_of(source, request)
    for rough, is_whole in source.rough_grams(scaling, request.n_threads):
        if not is_whole:
            guess = once(from_some_columns, rough, source, scaling, request)
            yield Step(guess, "gram_refined", "", True, False, lifting_seconds(source, request))
    lost = scaling.total() - float(np.trace(rough))
    products, count = source.both_ways(scaling, request.n_threads), min(request.wanted.count, source.shape[0])
    for step in refined_steps(products, rough, count, settled(source, request), request.n_threads):
        is_last = step.last and lost <= step.values[count - 1]
        yield Step(once(from_refined, step, source, scaling, request), "gram_refined", "", True, is_last)
    if not is_last:
        reason = "products of bytes were too rough a guess"
        yield from (exact._replace(reason=reason) for exact in gram_steps(source, request))


def from_refined(step: RefinedStep, source: Whole, scaling: Scaling, request: Request) -> Found:
    """Return the components, which the products have lifted already, and the lengths of what is left of them."""
    pairs = step.pairs()
    values, factors = lifting_factors(pairs, request)
    left = np.sqrt(values.max(initial=0.0)) * factors * pairs.residuals()  # at most
    if (left > settled_at(values, settled(source, request))).any():
        left = source.lifted_lengths(pairs.leftovers, scaling, request.n_threads) * factors
    vectors = straightened(step.images(request.n_threads), request.n_threads)
    return found(scaling, Pairs(values, vectors, left[None, :]), request)


# --- the whole ------------------------------------------------------------------------------------


def full_steps(source: Whole, request: Request) -> Steps:
    """Yield once: nothing is known before all is."""
    scaling = scaling_of(source, request)
    roots = np.sqrt(source.weights)[:, None]

    def all_pairs() -> Found:
        pairs = svd_pairs(roots * ((source.X - scaling.columns.mean) / scaling.scale))
        if not request.mle:
            count = chosen_count(pairs.values, request.wanted, scaling.total())
            pairs = pairs.first(count)
        return found(scaling, pairs, request._replace(nothing=request.nothing**2))  # singular values, not squares

    yield Step(cache(all_pairs), "full", "", True, True)


# --- products with A ------------------------------------------------------------------------------


def krylov_route(source: Any, request: Request) -> Iterator[tuple[Step, KrylovStep]]:
    """Yield steps of block Lanczos beside what the core says of them."""
    scaling = scaling_of(source, request)
    size = operator_size(source)
    wanted, block = request.wanted, block_width(request.wanted, source)
    room = BASIS_BYTES // (8 * size)
    least = 2 * wanted.count + 4 * block if wanted.share is None else 16 * block
    rule = KrylovRule(settled(source, request), block, max(least, min(room, 1024)), request.seed, MOST_PRODUCTS * size)
    operator, after = source.operator(scaling, request.n_threads), lifting_seconds(source, request)
    for step in krylov_steps(operator, size, wanted, scaling.total(), rule):
        components = once(in_features, step, source, scaling, request)
        yield Step(components, "krylov", "", step.whole, step.last, after), step


def krylov_only(source: Any, request: Request) -> Steps:
    return (step for step, _ in krylov_route(source, request))


def arpack_steps(source: Any, request: Request) -> Steps:
    """Yield the same steps with what scikit-learn means by this name: without a tolerance, to machine precision."""
    return krylov_only(source, request._replace(tol=request.tol or MACHINE_PRECISION[source.dtype]))


def randomized_route(source: Any, request: Request) -> Steps:
    scaling, size = scaling_of(source, request), operator_size(source)
    count = request.wanted.count
    n_iter = request.n_iter if request.n_iter is not None else (8 if count < 0.1 * size else 5)
    operator, after = source.operator(scaling, request.n_threads), lifting_seconds(source, request)
    for step in randomized_steps(operator, size, count, request.n_oversamples, n_iter, request.seed):
        components = once(in_features, step, source, scaling, request)
        yield Step(components, "randomized", "", step.whole, step.last, after)


def power_route(source: Any, request: Request) -> Steps:
    scaling, size = scaling_of(source, request), operator_size(source)
    operator = source.operator(scaling, request.n_threads)
    limit = max(1, request.n_iter) if request.n_iter is not None else 10_000
    tol = settled(source, request) * (LIFTED if source.is_wide() else 1.0)
    rule = PowerRule(tol, limit, request.seed, request.nothing)
    for step in power_steps(operator, size, request.wanted, scaling.total(), rule):
        yield Step(once(in_features, step, source, scaling, request), "power", "", step.whole, step.last)


def oja_route(source: Any, request: Request) -> Steps:
    """Yield after every batch of rows: one pass over a stream, a few over rows in memory."""
    scaling, count = scaling_of(source, request), request.wanted.count
    state = oja_start(source.shape[1], count, request.seed)
    n_epochs = OJA_EPOCHS if source.shape[0] is None else max(OJA_EPOCHS, -(-OJA_ROWS // source.shape[0]))
    batches = source.batches(max(OJA_BATCH, 2 * count), n_epochs, request.seed)
    upcoming = next(batches)
    after = (
        0.0 if source.shape[0] is None else request.clock.seconds_for(product_cost(source, count), request.n_threads)
    )
    while upcoming is not None:
        (X, weights), upcoming = upcoming, next(batches, None)
        A = np.sqrt(weights)[:, None] * ((X - scaling.columns.mean) / scaling.scale)
        state = after_batch(state, A, float(weights.sum()))
        is_whole = upcoming is None or state.n_batches % OJA_ROUND == 0
        yield Step(once(from_oja, state, source, scaling, request), "oja", "", is_whole, upcoming is None, after)


def from_oja(state: OjaState, source: Any, scaling: Scaling, request: Request) -> Found:
    operator = source.feature_operator(scaling, request.n_threads)
    return found(scaling, measured(state.directions, request.wanted.count, operator), request)._replace(is_cut=True)


# --- what auto does -------------------------------------------------------------------------------


class Plan(NamedTuple):
    """A route, the route to turn to should the first be slow, and the words for the choice."""

    route: str
    fallback: str | None
    reason: str


def auto_steps(source: Any, request: Request) -> Steps:
    """Yield the steps of the planned route; from Krylov it turns to a direct one when that is the shorter way."""
    plan = planned(source, request)
    if plan.fallback is None:
        yield from (step._replace(reason=step.reason or plan.reason) for step in ROUTES[plan.route](source, request))
        return
    if not request.clock.affords(longest_work("krylov", source, request), request.n_threads):
        yield from hasty_steps(source, request, "krylov")
        return
    errors: list[float] = []
    for step, inner in krylov_route(source, request):
        is_slower = is_slow(errors_of(errors, inner), settled(source, request), source, inner.block)
        if is_slower and not inner.last and affords_directly(source, request):
            break
        yield step._replace(reason=plan.reason)
    else:
        return
    reason = f"after {len(errors)} products krylov was too slow: the spectrum is flat"
    yield from (step._replace(reason=reason) for step in ROUTES[plan.fallback](source, request))


def affords_directly(source: Any, request: Request) -> bool:
    """Return whether there is time for the smaller matrix of products and its decomposition."""
    n, d = source.shape
    return request.clock.affords(direct_cost(n, d, request.wanted), request.n_threads)


def planned(source: Any, request: Request) -> Plan:
    """Return the cheapest route for the shape, the count and the memory."""
    n, d = source.shape
    if isinstance(source, RowStream):
        if 8 * d * d <= MOST_MEMORY:
            return Plan("covariance_eigh", None, f"one pass over the stream, and {d} x {d} products fit in memory")
        return Plan("krylov", None, f"{d} x {d} products do not fit in memory")
    is_sparse = isinstance(source, Whole) and sparse.issparse(source.X)
    if isinstance(source, Whole) and max(n, d) <= SMALL and not is_sparse:
        return Plan("full", None, f"{n} x {d} is small")
    direct = "gram_eigh" if source.is_wide() else "covariance_eigh"
    size = min(n, d)
    if request.mle:
        return Plan(direct, None, "all eigenvalues are needed")
    if 8 * size * size > MOST_MEMORY:
        return Plan("krylov", None, f"{size} x {size} products do not fit in memory")
    if is_sparse and size > SMALL:
        return Plan("krylov", None, "sparse rows are multiplied as they are")
    words = f"{size} x {size} products of {max(n, d)} numbers"
    if is_refinable(source, request.wanted):
        refined = refined_cost(n, d, request.wanted.count)
        if refined < min(direct_cost(n, d, request.wanted), krylov_cost(source, request.wanted)):
            return Plan("gram_refined", None, f"bytes and a few exact products cost less than {words}")
    if direct_cost(n, d, request.wanted) <= KRYLOV_MUST_SAVE * krylov_cost(source, request.wanted):
        return Plan(direct, None, f"{words} cost less than an iteration")
    return Plan("krylov", direct, f"a few products with blocks of vectors cost less than {words}")


def direct_cost(n: int, d: int, wanted: Wanted) -> float:
    """Return the work to make the smaller matrix of products and to decompose it, in multiplications."""
    size = min(n, d)
    all_pairs = wanted.share is not None or wanted.count > FEW * size or size < LARGE
    return float(n) * d * size + (LAPACK_COST * size**3 if all_pairs else LANCZOS_COST * size**2)


def is_refinable(source: Any, wanted: Wanted) -> bool:
    """Return whether bytes may show the way: few pairs of a dense wide table, on a machine that multiplies bytes."""
    is_dense = isinstance(source, Whole) and not sparse.issparse(source.X)
    return (
        is_dense
        and source.is_wide()
        and wanted.share is None
        and 0 < wanted.count <= FEW * source.shape[0]
        and multiplies_bytes()
    )


def refined_cost(n: int, d: int, count: int) -> float:
    """Return the work of a rough Gram matrix and what follows it."""
    rounds = REFINING_ROUNDS * (REFINED_READING + REFINED_COST * count)
    return float(n) * d * (BYTE_COST * n + rounds) + LANCZOS_COST * n**2


def krylov_cost(source: Any, wanted: Wanted) -> float:
    """Return the work of an iteration that settles as fast as it does where the spectrum falls."""
    block = block_width(wanted, source)
    n_blocks = LIKELY_BLOCKS + (wanted.count if wanted.share is None else SHARE_OF_PAIRS * min(source.shape)) / block
    return n_blocks * product_cost(source, block)


def product_cost(source: Any, block: int) -> float:
    """Return the work of one product with a block: reading A costs as much as many of its columns."""
    n, d = source.shape
    return float(n) * d * ((PACKED_COST if is_packed(source) else READING_COST) + SKINNY_COST * block)


def errors_of(errors: list[float], step: KrylovStep) -> list[float]:
    """Add the largest relative residual of the wanted pairs, if there are so many yet; return all so far."""
    is_known = step.count <= step.values.size
    errors.append(float(step.residuals[: step.count].max(initial=0.0) / step.values[0]) if is_known else 1.0)
    return errors


def is_slow(errors: list[float], tol: float, source: Any, block: int) -> bool:
    """Return whether the products that are left, at the rate so far, cost more than the direct route."""
    if len(errors) < PATIENCE:
        return False
    rate = np.sqrt(errors[-1] / errors[-3]) if errors[-3] > 0.0 else 0.0
    n_left = np.inf if rate >= 1.0 else np.log(tol / errors[-1]) / np.log(rate)
    n, d = source.shape
    return n_left * product_cost(source, block) > direct_cost(n, d, Wanted(1))


def block_width(wanted: Wanted, source: Any) -> int:
    """Return how many vectors are multiplied at once.

    With fewer at once fewer are needed in all. But a table is read once for each block, and BLAS likes wide ones; a
    packed table is read fast. Of sparse rows wide blocks leave the cache.
    """
    if isinstance(source, Whole) and sparse.issparse(source.X):
        width = NARROWEST
    elif wanted.share is not None:
        width = SHARE_BLOCK
    elif is_packed(source):
        width = int(np.clip(round(PACKED_SHARE * wanted.count / GROUP) * GROUP, GROUP, WIDEST))
    else:
        width = int(np.clip(wanted.count + 6, NARROWEST, WIDEST))
    return min(width, operator_size(source))


def is_packed(source: Any) -> bool:
    return isinstance(source, Whole) and source.is_packed()


# --- what a time limit does -----------------------------------------------------------------------


def in_time(name: str, route: Callable[[Any, Request], Steps], source: Any, request: Request) -> Steps:
    """Yield the steps of a route, unless its longest call takes more time than there is."""
    if isinstance(source, Whole) and not request.clock.affords(longest_work(name, source, request), request.n_threads):
        return hasty_steps(source, request, name)
    return route(source, request)


def longest_work(name: str, source: Any, request: Request) -> float:
    """Return the multiplications until a route looks at the clock for the first time, on all threads."""
    if not isinstance(source, Whole):
        return 0.0
    n, d = source.shape
    if name in ("covariance_eigh", "gram_eigh"):
        return float(n) * d * (d if name == "covariance_eigh" else n)
    if name == "full":
        return SVD_COST * n * d * min(n, d) * request.n_threads  # LAPACK takes one
    if name == "gram_refined":
        return BYTE_COST * float(n) * d * n + LANCZOS_COST * n**2
    columns = {"randomized": request.wanted.count + request.n_oversamples, "power": 1, "oja": 1}
    return 2.0 * product_cost(source, columns.get(name, block_width(request.wanted, source)))


def hasty_steps(source: Whole, request: Request, name: str) -> Steps:
    """Yield steps of Krylov on rows taken evenly from all, and on more of them until time is up or these are all."""
    reason, n_rows = f"there was no time for {name}", source.shape[0]
    block = block_width(request.wanted, source)
    n_some = int(n_rows * request.clock.work_within(SAMPLE_SHARE) / product_cost(source, block))
    while True:
        n_some = n_rows if 2 * n_some >= n_rows else max(n_some, min(FEWEST_ROWS, n_rows))
        some = source if n_some == n_rows else source.some_rows(n_some)
        if some.weight() < 2:  # their weights are so small that they count as one row
            some = source
        count = min(request.wanted.count, some.weight())
        asked = request._replace(wanted=request.wanted._replace(count=count))
        for step in krylov_only(some, asked):
            yield step._replace(reason=reason, last=step.last and some is source)
        if some is source:
            return
        n_some *= SAMPLE_GROWTH


ROUTES: dict[str, Callable[[Any, Request], Steps]] = {
    "auto": auto_steps,
    "full": partial(in_time, "full", full_steps),
    "covariance_eigh": partial(in_time, "covariance_eigh", covariance_steps),
    "gram_eigh": partial(in_time, "gram_eigh", gram_steps),
    "gram_refined": partial(in_time, "gram_refined", refined_route),
    "krylov": partial(in_time, "krylov", krylov_only),
    "arpack": partial(in_time, "krylov", arpack_steps),
    "randomized": partial(in_time, "randomized", randomized_route),
    "power": partial(in_time, "power", power_route),
    "oja": partial(in_time, "oja", oja_route),
}


# --- from eigenpairs to components ----------------------------------------------------------------


def scaling_of(source: Any, request: Request) -> Scaling:
    columns = source.column_moments(request.n_threads)
    check_units(columns, source.dtype, request, source.sizes_at)
    return checked_scaling(columns, request)


def check_units(columns: ColumnMoments, dtype: np.dtype, request: Request, sizes_at: Callable) -> None:
    """Raise ``BeyondRangeError`` where rows need units and have none."""
    if request.units is None:
        check_range(columns, request.by_column, dtype, sizes_at)


def checked_scaling(columns: ColumnMoments, request: Request) -> Scaling:
    """Return mean and scale; raise where the variance is beyond all floats."""
    is_own = request.units is None or request.by_column  # a deviation has the unit of its column
    scaling = Scaling(columns, request.scale(columns if is_own else request.units.of_columns(columns)))  # type: ignore[union-attr]
    total, degrees = scaling.total(), columns.weight - 1.0
    if not np.isfinite(total):
        raise InputError(f"PCA: X must have a sum of squares of at most {np.finfo(np.float64).max:.2g}; got more.")
    if request.units is not None:
        check_variance(total / degrees, request.units)
    return scaling


def in_range(source: Any, request: Request, route: Callable[[Any, Request], Steps]) -> Steps:
    """Yield the steps of a route; where numbers turn out to be huge or tiny, those of the same rows in other units."""
    try:
        yield from route(source, request)
        return
    except BeyondRangeError:
        units = units_for(source.sizes(), request.by_column, source.dtype)
    for step in route(source.divided(units), request._replace(units=units)):
        yield step._replace(found=once(in_true_units, step.found, units))


def in_true_units(found_in_units: Callable[[], Found], units: Units) -> Found:
    """Return a PCA of rows in units as that of the rows themselves."""
    found = found_in_units()
    return found._replace(
        columns=units.of_columns(found.columns),
        scale=units.of_scale(found.scale),
        total=float(units.of_variances(found.total)),
        variances=units.of_variances(found.variances),
        residuals=units.of_variances(found.residuals),
    )


def operator_size(source: Any) -> int:
    return source.shape[0] if source.is_wide() else source.shape[1]


def settled(source: Any, request: Request) -> float:
    return request.tol if request.tol > 0.0 else SETTLED[source.dtype]


def in_features(step: Any, source: Any, scaling: Scaling, request: Request) -> Found:
    """Return the components that a step of an iteration stands for."""
    pairs, is_cut = step.pairs(), step.is_cut
    if not step.last:  # what is not known yet is not there, rather than without variance
        request = request._replace(wanted=Wanted(min(request.wanted.count, pairs.values.size)))
    components = lifted(pairs, source, scaling, request) if source.is_wide() else found(scaling, pairs, request)
    return components._replace(is_cut=is_cut)


def lifted(pairs: Pairs, source: Any, scaling: Scaling, request: Request) -> Found:
    """Return the components of pairs (s², u) of AAᵀ: v = Aᵀu / s, at right angles also where s is only rounding.

    What is left is lifted in the same way: AᵀA v - s²v = Aᵀ(AAᵀu - s²u) / s. Where next to nothing is left, its length
    is bounded instead, by that of A.
    """
    values, factors = lifting_factors(pairs, request)
    largest = float(values.max(initial=0.0))
    left = np.sqrt(largest) * factors * pairs.residuals()
    if left.max(initial=0.0) <= NEXT_TO_NOTHING * largest:
        both, leftovers = source.lifted(pairs.vectors, scaling, request.n_threads), left[None, :]
    else:
        both = source.lifted(np.hstack([pairs.vectors, pairs.leftovers]), scaling, request.n_threads)
        leftovers = both[:, values.size :] * factors
    vectors = straightened(both[:, : values.size], request.n_threads)
    return found(scaling, Pairs(values, vectors, leftovers), request)


def lifting_factors(pairs: Pairs, request: Request) -> tuple[np.ndarray, np.ndarray]:
    """Return s² and 1 / s of every pair, but 0 where s is nothing at all."""
    values = np.maximum(pairs.values, 0.0)
    lengths = np.sqrt(np.maximum(values, request.nothing * values.max(initial=0.0)))
    return values, np.divide(1.0, lengths, out=np.zeros(lengths.size), where=lengths > 0.0)


def measured(directions: np.ndarray, count: int, operator: Callable[[np.ndarray], np.ndarray]) -> Pairs:
    """Return the best pairs in the span of some directions, by one exact product."""
    return SubspaceStep(directions, operator(directions), count, True, True).pairs()


def found(scaling: Scaling, pairs: Pairs, request: Request) -> Found:
    """Return the components, their variances and signs, from pairs of AᵀA."""
    degrees = scaling.columns.weight - 1.0
    if request.wanted.share is None:
        pairs = with_null_pairs(pairs, min(request.wanted.count, int(scaling.columns.weight)), request.nothing)
    values = np.maximum(pairs.values, 0.0) / degrees
    count = likeliest_count(values, scaling.columns.weight) if request.mle else values.size
    return Found(
        scaling.columns,
        scaling.scale,
        scaling.total() / degrees,
        values[:count],
        signed(np.ascontiguousarray(pairs.vectors.T[:count])),
        pairs.residuals()[:count] / degrees,
    )
