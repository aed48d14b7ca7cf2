"""The ways to the components, each a generator of steps: it can be stopped at any of them, and leaves a model.

    dense         all of K, centred, by LAPACK
    krylov        block Lanczos on K in memory; or on tiles of K that are computed for each product
    randomized    a few products with a random block
    low_rank      F Fᵀ ≈ K by randomly pivoted Cholesky, then the covariance of F

Iterations begin with the components of a small low-rank kernel. They save products, and are there if time is up. Of few
rows they begin with what ARPACK finds, which is soonest there; what it may miss of repeated eigenvalues, and how exact
its pairs are, is left to the iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackError, eigsh

from eigenwood.core.kernels.blocks import BLOCK_ROWS, write_symmetric
from eigenwood.core.kernels.centred import WAVE, CentredGram, KernelTiles, product_in_hand
from eigenwood.core.kernels.functions import Kernel
from eigenwood.core.kernels.low_rank import LowRank, Rank, random_pivots
from eigenwood.core.spectral.krylov import KrylovRule, KrylovStep, krylov_steps
from eigenwood.core.spectral.pairs import Wanted, orthonormal, settled_at, symmetric_pairs
from eigenwood.core.spectral.randomized import SubspaceStep, randomized_steps
from eigenwood.core.threads import one_blas_thread, row_blocks
from eigenwood.estimators.kernel_pca.planning import DENSE, KRYLOV, LOW_RANK, RANDOMIZED, SMALL, TILES, Plan
from eigenwood.estimators.kernel_pca.results import (
    Features,
    centred_times,
    exact_result,
    features_of,
    first_of,
    low_rank_result,
)
from eigenwood.estimators.kernel_pca.types import Problem, Request, Result, Step, Steps, once
from eigenwood.estimators.watching import OutOfTimeError
from eigenwood.proofs.kernel_pca import bracketed
from eigenwood.validation.kernel_pca import NEGATIVE, check_no_negative_rest

SETTLED = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-8}  # ‖Kv - λv‖ / λ₁ at which an iteration ends
SETTLED_IN_TILES = 1e-6  # where a product takes as long as K itself
NARROW, WIDE, OF_TILES = 8, 32, 64  # columns of a block; with tiles, a product costs little beside its values of K
START = 10  # landmarks for each column of the first block
FEW_ROWS, PROBES = 1500, 4  # up to so many rows ARPACK comes first; random columns beside what it finds
PROBED = 4  # products with such columns
ARPACK_PRODUCTS = 100  # with single vectors, about
LANDMARKS, PER_COMPONENT = 300, 10  # of the low-rank route, at least
ALL_LANDMARKS = 1000  # of the low-rank route where all components are wanted
OVERSAMPLES = 10
TIGHTENED_ROWS = 10_000  # up to here one product with all of K is worth the narrower intervals
LOWEST_TOL, LOWEST_PRODUCTS, LOWEST_BLOCK = 1e-6, 400, 4
NOTHING_BESIDE = 1e-6  # of the size of the smallest eigenvalue: what is below 0 or smaller is no component
ROW_PIECE = 512
STRIPES, FEWEST_ROWS = 8, 64  # of a small K: as many blocks of rows, or rows of one
TINY = float(np.finfo(np.float64).tiny)
COPIES, AT_WORK = 3, 8  # of the basis, and blocks of vectors, that there are while an iteration works with them


def solver_steps(problem: Problem, plan: Plan, request: Request) -> Steps:
    """Return the steps of a route."""
    if plan.route == LOW_RANK:
        return low_rank_steps(problem, plan, request)
    if plan.route == DENSE:
        return dense_steps(problem, plan, request)
    return iterative_steps(problem, plan, request)


# --- low rank -------------------------------------------------------------------------------------


def low_rank_steps(problem: Problem, plan: Plan, request: Request) -> Steps:
    """Yield after every round of landmarks."""
    rank = Rank(landmark_count(problem, request), request.error)
    for step in random_pivots(problem.K, rank, request.seed, request.n_threads):
        check_landmarks(problem, step.result)
        result = once(components_of, problem, step.result, request, step.last)
        yield Step(result, LOW_RANK, plan.reason, True, step.last, seconds_of(step.result, request))


def check_landmarks(problem: Problem, found: LowRank) -> None:
    """Raise where landmarks show that a similarity is no kernel: that K̂ ≤ K is what all claims about them rest on."""
    if not problem.is_mercer():
        least = float(found.diagonal.min(initial=0.0)) / max(float(np.abs(found.diagonal).max(initial=0.0)), TINY)
        check_no_negative_rest(min(found.lowest, least), problem.K.dtype())


def seconds_of(found: LowRank, request: Request) -> float:
    """Return how long the components of a factorisation take."""
    n_rows, rank = found.factor.shape
    return request.clock.seconds_for(2.0 * n_rows * float(rank) ** 2, 1)


def landmark_count(problem: Problem, request: Request) -> int:
    """Return how many landmarks there may be at most."""
    n = problem.n_rows()
    wanted = request.n_landmarks
    if wanted is None:
        wanted = ALL_LANDMARKS if request.count == n else max(LANDMARKS, PER_COMPONENT * request.count)
    most = int(request.bytes // (n * problem.K.dtype().itemsize))
    return max(1, min(wanted, most, n))


def components_of(problem: Problem, found: LowRank, request: Request, is_whole: bool) -> Result:
    """Return the components of a factorisation; with narrower intervals where one look at all of K is cheap."""
    features = features_of(found, request.n_threads)
    result = low_rank_result(features, found.factor, request)
    if not is_whole or problem.n_rows() > TIGHTENED_ROWS or result.vectors is None or result.values.size == 0:
        return result
    try:
        return tightened(problem, features, result, request)
    except OutOfTimeError:
        return result


def tightened(problem: Problem, features: Features, result: Result, request: Request) -> Result:
    """Return the same components, with intervals from their residuals in K itself."""
    assert result.vectors is not None
    real = int((result.values > 0.0).sum())
    V = result.vectors[:, :real]
    product = CentredGram(gram_product(problem, request, 0.0))(V)
    ritz = V.T @ product
    beyond = features.leading(real, request.n_threads).values
    most = (float(beyond[real]) if beyond.size > real else 0.0) + result.trace_error
    rest = float(np.linalg.norm(product - V @ ritz, 2))
    values = np.linalg.eigvalsh((ritz + ritz.T) / 2.0)[::-1]
    narrow = bracketed(result.values[:real], result.trace_error, result.rounding, (values, rest, most))
    residuals = np.append(np.linalg.norm(product - V * result.values[:real], axis=0), result.residuals[real:])
    return result._replace(intervals=np.vstack([narrow, result.intervals[real:]]), residuals=residuals)


# --- all of K -------------------------------------------------------------------------------------


def dense_steps(problem: Problem, plan: Plan, request: Request) -> Steps:
    """Yield a small low-rank model if there is time to wait for, then the result of LAPACK, which cannot be cut."""
    n = problem.n_rows()
    if n > SMALL:
        seconds = request.clock.seconds_for(2.0 * float(n) ** 3)
        first = Step(first_components(problem, request), LOW_RANK, "time_limit came first", True, False, seconds)
        yield first
        for _ in gram_in_pieces(problem, holder := GramHolder(), request.n_threads):
            yield first._replace(whole=False)
        K = holder.K
    else:
        K = whole_gram(problem, request.n_threads)
    yield Step(once(dense_result, problem, K, request), DENSE, plan.reason, whole=True, last=True)


def dense_result(problem: Problem, K: np.ndarray, request: Request) -> Result:
    """Return the pairs of the centred K by LAPACK."""
    row_sums = K.sum(axis=1, dtype=np.float64)
    column_means = K.mean(axis=0, dtype=np.float64)
    centred = K.astype(np.float64)
    centred -= column_means
    centred -= (row_sums / len(K))[:, None]
    centred += column_means.mean()
    with one_blas_thread():
        pairs = symmetric_pairs((centred + centred.T) / 2.0, Wanted(request.count))
        smallest = None
        if not problem.is_mercer():
            smallest = float(linalg.eigvalsh(centred, subset_by_index=[0, 0])[0])
    return exact_result(problem, pairs, row_sums, request, smallest)


class GramHolder:
    """Where a Gram matrix is put that was made in pieces."""

    K: np.ndarray


def gram_in_pieces(problem: Problem, holder: GramHolder, n_threads: int) -> Iterator[None]:
    """Put K into the holder, with a pause after every block of rows."""
    K, n = problem.K, problem.n_rows()
    if K.kernel is None:
        holder.K = K.rows.rows
        return
    holder.K = np.empty((n, n), dtype=K.dtype())
    if isinstance(K.kernel, Kernel):
        height = min(BLOCK_ROWS, max(FEWEST_ROWS, -(-n // STRIPES)))  # of few rows, half of K is less work in stripes
        yield from write_symmetric(holder.K, K.rows, K.kernel, n_threads, height)
        return
    every = K.columns(slice(0, n))
    for rows in row_blocks(n, ROW_PIECE):
        holder.K[rows] = K.tile(rows, every)
        yield


def whole_gram(problem: Problem, n_threads: int) -> np.ndarray:
    """Return K."""
    holder = GramHolder()
    for _ in gram_in_pieces(problem, holder, n_threads):
        pass
    return holder.K


# --- iterations -----------------------------------------------------------------------------------


class Iteration(NamedTuple):
    """The rules of an iteration."""

    rule: KrylovRule
    rank: Rank  # of the first components


def iterative_steps(problem: Problem, plan: Plan, request: Request) -> Steps:
    """Yield a small low-rank model, then after every product with K."""
    if plan.route == KRYLOV and problem.n_rows() <= FEW_ROWS and request.max_products is None:
        yield from steps_of_few_rows(problem, plan, request)
        return
    iteration = iteration_of(problem, plan.route, request)
    for small in random_pivots(problem.K, iteration.rank, request.seed, request.n_threads):
        early = once(components_of, problem, small.result, request, False)
        why = "time_limit came before the first product with K"
        last = Step(early, LOW_RANK, why, small.last, False, seconds_of(small.result, request))
        yield last
    operator = CentredGram(gram_product(problem, request, kept_bytes(problem, iteration, request)))
    block = first_block(small.result, iteration.rule.block, request.n_threads)
    try:
        yield from products(problem, plan, request, iteration.rule, operator, block)
    except OutOfTimeError:
        yield last


def steps_of_few_rows(problem: Problem, plan: Plan, request: Request) -> Steps:
    """Yield a small low-rank model if time is up, then after every product with K; ARPACK comes before them."""
    n = problem.n_rows()
    seconds = request.clock.seconds_for(ARPACK_PRODUCTS * 2.0 * float(n) ** 2)
    first = Step(first_components(problem, request), LOW_RANK, "time_limit came first", True, False, seconds)
    yield first
    for _ in gram_in_pieces(problem, holder := GramHolder(), request.n_threads):
        yield first._replace(whole=False)
    K = holder.K
    operator = CentredGram(lambda block: product_in_hand(K, block, 1, lambda: None))
    block = arpack_vectors(K, request.count, request.seed)
    width = PROBES if block is not None else min(max(request.count, NARROW), WIDE)
    least = 0 if block is None else block.shape[1] + PROBED * PROBES
    capacity = max(3 * request.count, 128) + least
    rule = KrylovRule(request.tol or SETTLED[problem.K.dtype()], width, capacity, request.seed, least_products=least)
    rule = rule._replace(spare=looked_at(problem, rule))
    yield from products(problem, plan, request, rule, operator, block if n > least else None)


def arpack_vectors(K: np.ndarray, count: int, seed: int) -> np.ndarray | None:
    """Return orthonormal columns: the leading eigenvectors of the centred K, and some random ones beside them."""
    rng = np.random.default_rng(seed)
    centred = K - K.mean(axis=0)
    centred -= centred.mean(axis=1)[:, None]
    with one_blas_thread():
        try:
            vectors = eigsh(centred, count, which="LA", v0=rng.uniform(-1.0, 1.0, len(K)).astype(K.dtype))[1]
        except ArpackError:
            return None
    return orthonormal(np.hstack([vectors[:, ::-1], rng.standard_normal((len(K), PROBES))]))


def iteration_of(problem: Problem, route: str, request: Request) -> Iteration:
    """Return how wide the blocks are, how long the iteration goes on, and with what it begins."""
    n, k, dtype = problem.n_rows(), request.count, problem.K.dtype()
    in_tiles = route == TILES
    block = int(np.clip(3 * k if in_tiles else k, NARROW, OF_TILES if in_tiles else WIDE))
    block = min(max(block, -(-k // 8)), n)
    settled = max(SETTLED[dtype], SETTLED_IN_TILES) if in_tiles else SETTLED[dtype]
    most = 10**9 if request.max_products is None else request.max_products * block
    capacity = max(3 * k, (4 if in_tiles else 8) * block, 128)
    rule = KrylovRule(request.tol or settled, block, capacity, request.seed, most)
    rule = rule._replace(spare=looked_at(problem, rule))
    return Iteration(rule, Rank(min(n, max(min(START * block, LANDMARKS), 2 * k))))


def looked_at(problem: Problem, rule: KrylovRule) -> int:
    """Return how many pairs beside the wanted ones tell where an iteration stands: the lowest, where K is no kernel."""
    return rule.spare if problem.is_mercer() else rule.capacity


def products(
    problem: Problem, plan: Plan, request: Request, rule: KrylovRule, operator: CentredGram, block: np.ndarray | None
) -> Steps:
    """Yield after every product."""
    n, wanted = problem.n_rows(), Wanted(request.count)
    smallest = cache(lambda: None if problem.is_mercer() else lowest_value(operator, n, request.seed))

    def step_of(inner: KrylovStep | SubspaceStep, is_cut: bool) -> Step:
        pairs = inner.pairs()  # now: the next product may overwrite the basis
        found = once(lambda: exact_result(problem, pairs, sums_of(operator), request, smallest(), is_cut))
        return Step(found, plan.route, plan.reason, whole=inner.whole, last=inner.last)

    if plan.route == RANDOMIZED:
        inner = randomized_steps(operator, n, request.count, OVERSAMPLES, request.n_iter, request.seed)
        yield from (step_of(one, False) for one in inner)
        return
    trace = float(problem.K.diagonal().sum())
    previous = None
    try:
        for one in krylov_steps(operator, n, wanted, trace, rule, block):
            is_over = not problem.is_mercer() and has_no_more_components(one, request.count, rule.tol)
            previous = step_of(one._replace(last=one.last or is_over), one.is_cut)
            yield previous
            if is_over:
                return
    except OutOfTimeError:
        if previous is None:
            raise
        yield previous


def has_no_more_components(step: KrylovStep, count: int, tol: float) -> bool:
    """Return whether a similarity is no kernel, and those of the wanted pairs that have not settled are no components.

    Eigenvalues just below 0 lie so close together that no iteration tells their vectors apart.
    """
    values, residuals = step.values, step.residuals
    lowest = -float(values[-1])
    if values.size < count or lowest <= NEGATIVE * max(float(values[0]), 0.0):
        return False
    has_settled = residuals <= settled_at(values, tol)
    is_nothing = values + residuals <= NOTHING_BESIDE * lowest
    return bool(is_nothing[:count].any() and (has_settled | is_nothing)[:count].all())


def sums_of(operator: CentredGram) -> np.ndarray:
    assert operator.row_sums is not None
    return operator.row_sums


def gram_product(problem: Problem, request: Request, n_bytes: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return what multiplies with K: in hand, or in tiles of which so many bytes are kept."""
    K = problem.K
    if K.kernel is None:
        return lambda block: product_in_hand(K.rows.rows, block, request.n_threads, request.check)
    return KernelTiles(K, n_bytes, request.n_threads, request.check)


def kept_bytes(problem: Problem, iteration: Iteration, request: Request) -> float:
    """Return how much room there is for tiles of K beside the rows, their features and the vectors of the iteration."""
    itemsize, n_columns = problem.K.dtype().itemsize, problem.X.shape[1]
    rows = problem.X.nnz / problem.n_rows() if sparse.issparse(problem.X) else n_columns
    vectors = COPIES * iteration.rule.capacity + (WAVE + AT_WORK) * iteration.rule.block
    of_row = itemsize * (2.0 * rows + iteration.rank.count) + 8.0 * vectors
    return max(request.bytes - problem.n_rows() * of_row, 0.0)


def first_components(problem: Problem, request: Request) -> Callable[[], Result]:
    """Return what computes the components of a small low-rank kernel."""
    rank = Rank(min(problem.n_rows(), max(START * NARROW, 2 * min(request.count, LANDMARKS))))

    def computed() -> Result:
        *_, small = random_pivots(problem.K, rank, request.seed, request.n_threads)
        return components_of(problem, small.result, request, False)

    return once(computed)


def first_block(found: LowRank, width: int, n_threads: int) -> np.ndarray | None:
    """Return orthonormal columns that span about the leading components; None where there are too few."""
    features = features_of(found, n_threads)
    pairs = features.leading(width, n_threads).first(width)
    if pairs.values.size < width or pairs.values[-1] <= 1e-6 * first_of(pairs.values):
        return None
    with one_blas_thread():
        return orthonormal(centred_times(found.factor, features.mean, pairs.vectors) / np.sqrt(pairs.values))


def lowest_value(operator: CentredGram, n: int, seed: int) -> float:
    """Return the smallest eigenvalue of the centred K: the largest of what is left of the largest one, turned over."""
    block = min(LOWEST_BLOCK, n)
    rule = KrylovRule(LOWEST_TOL, block, max(64, 2 * block), seed, LOWEST_PRODUCTS)
    *_, top = krylov_steps(operator, n, Wanted(1), 1.0, rule)
    most = first_of(top.pairs().values)
    *_, low = krylov_steps(lambda B: most * B - operator(B), n, Wanted(1), 1.0, rule)
    return most - float(low.pairs().values[0])
