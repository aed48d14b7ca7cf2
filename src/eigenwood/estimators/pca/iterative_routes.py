"""Routes that multiply the table with blocks of vectors: a few vectors in memory, one pass for each product.

Each is a generator of steps: block Lanczos (``krylov``), subspace iteration (``randomized``), one component at a time
(``power``), and stochastic gradients (``oja``).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eigenwood.core.spectral.krylov import KrylovRule, KrylovStep, krylov_steps
from eigenwood.core.spectral.oja import OjaState, after_batch, oja_start
from eigenwood.core.spectral.power import PowerRule, power_steps
from eigenwood.core.spectral.randomized import randomized_steps
from eigenwood.core.spectral.symmetric import BETWEEN
from eigenwood.estimators.pca.back_transform import best_pairs_in_span, make_result, result_of_step
from eigenwood.estimators.pca.costs import back_transform_seconds, block_width, product_cost
from eigenwood.estimators.pca.scaling import scaling_of
from eigenwood.estimators.pca.sources import InMemory, RowSource, Scaling, Source, operator_size
from eigenwood.estimators.pca.types import PCAResult, Request, Step, Steps, once

SETTLED = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-8}  # ‖Cv - λv‖ / λ₁ at which an iteration ends
MACHINE_PRECISION = {np.dtype(np.float32): 3e-6, np.dtype(np.float64): 1e-12}
ONE_BY_ONE = 1.0 / 16.0  # of a tolerance, where pairs of AAᵀ are found one by one: errors grow on the way back to AᵀA
CAUTION = 0.5  # of the share that may be lost: residuals do not see a direction that is still missing
BASIS_BYTES = 2**28
MOST_PRODUCTS = 20  # times the size of the matrix, should an iteration never settle
OJA_BATCH, OJA_ROWS, OJA_EPOCHS = 64, 30_000, 5  # rows of a batch; of all batches at least; passes at least
OJA_ROUND = 16  # batches between two looks at the model so far


def settled(source: Source, request: Request) -> float:
    """Return ‖Cv - λv‖ / λ₁ at which an iteration ends."""
    return request.tol if request.tol > 0.0 else SETTLED[source.dtype]


# --- Lanczos --------------------------------------------------------------------------------------


def krylov_steps_beside_core(source: Source, request: Request) -> Iterator[tuple[Step, KrylovStep]]:
    """Yield steps of block Lanczos beside what the core says of them."""
    scaling = scaling_of(source, request)
    size = operator_size(source)
    wanted, block = request.wanted, block_width(request.wanted, source)
    room = BASIS_BYTES // (8 * size)
    least = 2 * wanted.count + 4 * block if wanted.share is None else 16 * block
    capacity = max(least, min(room, 1024))
    is_quick = isinstance(source, InMemory) and request.loss == 0.0
    between = BETWEEN if is_quick else 0.0  # a product is then a pass over a file
    most, loss = MOST_PRODUCTS * size, CAUTION * request.loss
    rule = KrylovRule(settled(source, request), block, capacity, request.seed, most, loss, between=between)
    operator, after = source.operator(scaling, request.n_threads), back_transform_seconds(source, request)
    for step in krylov_steps(operator, size, wanted, scaling.total(), rule):
        result = once(result_of_step, step, source, scaling, request)
        yield Step(result, "krylov", "", step.whole, step.last, after), step


def krylov_route(source: Source, request: Request) -> Steps:
    """Yield the steps of block Lanczos."""
    return (step for step, _ in krylov_steps_beside_core(source, request))


def arpack_route(source: Source, request: Request) -> Steps:
    """Yield the steps of block Lanczos to machine precision unless there is a tolerance, as scikit-learn's 'arpack'."""
    return krylov_route(source, request._replace(tol=request.tol or MACHINE_PRECISION[source.dtype]))


# --- subspace and power iteration -----------------------------------------------------------------


def randomized_route(source: Source, request: Request) -> Steps:
    """Yield the steps of a randomised subspace iteration."""
    scaling, size = scaling_of(source, request), operator_size(source)
    count = request.wanted.count
    n_iter = request.n_iter if request.n_iter is not None else (8 if count < 0.1 * size else 5)
    operator, after = source.operator(scaling, request.n_threads), back_transform_seconds(source, request)
    for step in randomized_steps(operator, size, count, request.n_oversamples, n_iter, request.seed):
        result = once(result_of_step, step, source, scaling, request)
        yield Step(result, "randomized", "", step.whole, step.last, after)


def power_route(source: Source, request: Request) -> Steps:
    """Yield the steps of the power method, one component after the other."""
    scaling, size = scaling_of(source, request), operator_size(source)
    operator = source.operator(scaling, request.n_threads)
    limit = max(1, request.n_iter) if request.n_iter is not None else 10_000
    tol = settled(source, request) * (ONE_BY_ONE if source.is_wide() else 1.0)
    rule = PowerRule(tol, limit, request.seed, request.nothing)
    for step in power_steps(operator, size, request.wanted, scaling.total(), rule):
        yield Step(once(result_of_step, step, source, scaling, request), "power", "", step.whole, step.last)


# --- Oja ------------------------------------------------------------------------------------------


def oja_route(source: RowSource, request: Request) -> Steps:
    """Yield after every batch of rows: one pass over a stream, a few over rows in memory."""
    scaling, count, n_rows = scaling_of(source, request), request.wanted.count, source.shape[0]
    state = oja_start(source.shape[1], count, request.seed)
    n_epochs = OJA_EPOCHS if n_rows is None else max(OJA_EPOCHS, -(-OJA_ROWS // n_rows))
    batches = source.batches(max(OJA_BATCH, 2 * count), n_epochs, request.seed)
    after = 0.0 if n_rows is None else request.clock.seconds_for(product_cost(source, count), request.n_threads)
    upcoming = next(batches, None)
    while upcoming is not None:
        (X, weights), upcoming = upcoming, next(batches, None)
        A = np.sqrt(weights)[:, None] * ((X - scaling.columns.mean) / scaling.scale)
        state = after_batch(state, A, float(weights.sum()))
        is_whole = upcoming is None or state.n_batches % OJA_ROUND == 0
        yield Step(once(result_of_oja, state, source, scaling, request), "oja", "", is_whole, upcoming is None, after)


def result_of_oja(state: OjaState, source: RowSource, scaling: Scaling, request: Request) -> PCAResult:
    """Return the components in the span of the directions so far."""
    operator = source.feature_operator(scaling, request.n_threads)
    pairs = best_pairs_in_span(state.directions, request.wanted.count, operator)
    return make_result(pairs, scaling, request)._replace(is_cut=True)
