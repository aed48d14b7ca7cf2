"""How much work each route takes, in multiplications of a large matrix product."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.core.spectral.packed import GROUP
from eigenwood.core.spectral.pairs import MANY, Wanted
from eigenwood.core.spectral.symmetric import ALL_PAIRS, SOME_PAIRS, are_few
from eigenwood.estimators.pca.sources import InMemory, Source, known_shape, operator_size
from eigenwood.estimators.pca.types import Request

NARROWEST, WIDEST, SHARE_BLOCK = 8, 32, 32  # columns of a block that is multiplied at once
PACKED_SHARE = 0.4  # of the wanted pairs, where the table is packed


class Costs(NamedTuple):
    """What a unit of each kind of work costs, beside one multiplication of a large product of two float matrices of the
    type of the rows; how they are measured stands in docs/design/pca.md."""

    symmetric: float = 0.5  # a product of a matrix with itself, for each of n m²
    svd: float = 20.0  # of an n x m table, for each of n m²
    reading: float = 48.0  # to gather and centre A once for a block, for each entry
    block_column: float = 2.0  # a product with a block, for each entry of A and column of the block
    packed_reading: float = 1.0  # to read a copy of bytes instead
    packed_column: float = 3.5  # and to multiply it
    byte_product: float = 0.3  # a product of bytes
    lanczos: float = 5000.0  # few eigenpairs of a matrix of bytes, for each of m²
    refining_rounds: float = 2.0  # exact products after the matrix of bytes,
    refined_reading: float = 35.0  # each of which reads A,
    refined_column: float = 2.2  # and multiplies it with every column
    krylov_blocks: float = 11.0  # that Krylov takes to settle, where the spectrum falls
    rough_blocks: float = 4.0  # the same, where a hundredth may be lost
    share_of_pairs: float = 0.3  # that hold the share of variance that is asked for, as a guess


COSTS = Costs()


def svd_cost(n: int, d: int) -> float:
    """Return the work of the SVD of a table."""
    return COSTS.svd * n * d * min(n, d)


def direct_cost(source: Source, wanted: Wanted, n_threads: int) -> float:
    """Return the work to make the smaller matrix of products on all threads and to decompose it on one."""
    n, d = known_shape(source)
    size, double = min(n, d), 8 / source.dtype.itemsize
    return COSTS.symmetric * float(n) * d * size + n_threads * double * lapack_work(size, wanted)


def refined_cost(source: Source, count: int) -> float:
    """Return the work of a Gram matrix of bytes and of the exact products that follow it."""
    n, d = known_shape(source)
    rounds = COSTS.refining_rounds * (COSTS.refined_reading + COSTS.refined_column * count)
    return float(n) * d * (COSTS.byte_product * n + rounds) + COSTS.lanczos * n**2


def krylov_cost(source: Source, wanted: Wanted, loss: float) -> float:
    """Return the work of an iteration that settles as fast as it does where the spectrum falls."""
    block = block_width(wanted, source)
    n_pairs = wanted.count if wanted.share is None else COSTS.share_of_pairs * min(known_shape(source))
    n_blocks = COSTS.krylov_blocks if loss == 0.0 else COSTS.rough_blocks
    return (n_blocks + n_pairs / block) * product_cost(source, block)


def product_cost(source: Source, block: int) -> float:
    """Return the work of one product with a block: reading A costs as much as many of its columns."""
    n, d = known_shape(source)
    if is_packed(source):
        return float(n) * d * (COSTS.packed_reading + COSTS.packed_column * block)
    return float(n) * d * (COSTS.reading + COSTS.block_column * block)


def lapack_work(size: int, wanted: Wanted) -> float:
    """Return the work of the pairs that LAPACK computes."""
    is_many = wanted.share is not None or wanted.count >= MANY * size
    return (ALL_PAIRS if is_many else SOME_PAIRS) * float(size) ** 3


def longest_work(name: str, source: Source, request: Request) -> float:
    """Return the work until a route looks at the clock for the first time, on all threads."""
    if not isinstance(source, InMemory):
        return 0.0
    n, d = source.shape
    if name in ("covariance_eigh", "gram_eigh"):
        return COSTS.symmetric * float(n) * d * (d if name == "covariance_eigh" else n)
    if name == "full":
        return svd_cost(n, d) * request.n_threads  # LAPACK takes one
    if name == "gram_refined":
        return COSTS.byte_product * float(n) * d * n + COSTS.lanczos * n**2
    columns = {"randomized": request.wanted.count + request.n_oversamples, "power": 1, "oja": 1}
    return 2.0 * product_cost(source, columns.get(name, block_width(request.wanted, source)))


def decomposition_seconds(size: int, request: Request) -> float:
    """Return how long the pairs of a matrix take if they are computed at once; 0 if there is no time for that."""
    work = 0.0 if are_few(size, request.wanted) else lapack_work(size, request.wanted)
    return request.clock.seconds_for(work) if request.clock.affords(work) else 0.0


def back_transform_seconds(source: Source, request: Request) -> float:
    """Return how long it takes to bring pairs of AAᵀ to the space of the features; 0 where AᵀA is used."""
    if not source.is_wide():
        return 0.0
    return request.clock.seconds_for(product_cost(source, request.wanted.count), request.n_threads)


def block_width(wanted: Wanted, source: Source) -> int:
    """Return how many vectors are multiplied at once.

    With fewer at once fewer are needed in all. But a table is read once for each block, and BLAS likes wide ones; a
    packed table is read fast. Of sparse rows wide blocks leave the cache.
    """
    if isinstance(source, InMemory) and sparse.issparse(source.X):
        width = NARROWEST
    elif wanted.share is not None:
        width = SHARE_BLOCK
    elif is_packed(source):
        width = int(np.clip(round(PACKED_SHARE * wanted.count / GROUP) * GROUP, GROUP, WIDEST))
    else:
        width = int(np.clip(wanted.count + 6, NARROWEST, WIDEST))
    return min(width, operator_size(source))


def is_packed(source: Source) -> bool:
    """Return whether products are made from a copy of bytes."""
    return isinstance(source, InMemory) and source.grid is not None
