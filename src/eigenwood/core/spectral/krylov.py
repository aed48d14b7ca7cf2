"""Block Lanczos: the leading eigenpairs of a symmetric operator from a few products with blocks of vectors.

    basis     [ kept | block | block | block ]       orthonormal; the last block is multiplied next
    M basis = basis H + next R                       H = basisᵀ M basis, in hand; R is what sticks out
    pair i    value θ_i and coefficients s_i of H    ‖M v - θ v‖ = ‖R s_i(last block)‖: known without a product

Orthogonality is kept in full, twice each time. When the basis is full the best pairs are kept and the rest is let go
(thick restart). From b vectors at most b copies of a repeated eigenvalue grow; where so many were found, new random
vectors come in to look for more. A share of the trace works like a count: Ritz values are never too large, so as soon
as they hold the share, and have settled, the count is known, and the rest of the spectrum is never computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import linalg

from eigenwood.core.spectral.pairs import Pairs, Wanted, count_for_share, settled_at
from eigenwood.core.threads import one_blas_thread

Operator = Callable[[np.ndarray], np.ndarray]  # (m, b) → M times it

NEGLIGIBLE = 1e-13  # what is shorter than this share of the largest value is rounding
SHORT = 1e-3  # what is shorter than this has rounding of the longer ones in it


class KrylovRule(NamedTuple):
    """When a pair has settled, and how large things are."""

    tol: float  # ‖Mv - θv‖ beside the largest θ, see settled_at
    block: int
    capacity: int  # columns of the basis
    seed: int
    max_products: int = 10**9
    loss: float = 0.0  # share of what the wanted pairs hold that may be lost: then their residuals together decide
    spare: int = 4  # pairs beside the wanted ones that a look takes
    between: float = 0.0  # share of the basis that may come in between two looks at its pairs, which cost its cube
    least_products: int = 0  # before a start that has settled at once is believed: a copy of a value may be missing


class KrylovStep(NamedTuple):
    """Where the iteration stands; ``count`` pairs are wanted as far as is known by now.

    ``values`` are the leading ones, as many as are wanted at least, as far as there are any.
    """

    basis: np.ndarray
    rotation: np.ndarray
    values: np.ndarray
    residuals: np.ndarray
    outward: np.ndarray  # M basis = basis H + outward, which is 0 but for the last block: (m, b) times (b, all)
    factor: np.ndarray
    count: int  # type: ignore[assignment]
    block: int  # columns of the block that was multiplied last
    n_products: int
    whole: bool
    last: bool
    excess: float  # how many times the residuals are larger than they may be
    is_cut: bool = False  # no more products are allowed, and not all wanted pairs have settled

    def pairs(self) -> Pairs:
        """Return the wanted pairs, as good as they are by now."""
        count = min(self.count, self.values.size)
        with one_blas_thread():
            vectors = self.basis @ self.rotation[:, :count]
            residual_vectors = self.outward @ self.factor[:, :count]
        return Pairs(self.values[:count].copy(), vectors, residual_vectors)


def krylov_steps(
    operator: Operator, size: int, wanted: Wanted, trace: float, rule: KrylovRule, start: np.ndarray | None = None
) -> Iterator[KrylovStep]:
    """Yield after every look, until all wanted pairs have settled; ``start`` are orthonormal columns to begin with.

    >>> M = np.diag([5.0, 3.0, 1.0, 0.5])
    >>> *_, step = krylov_steps(lambda B: M @ B, 4, Wanted(1), 9.5, KrylovRule(1e-12, 1, 4, 0))
    >>> round(float(step.pairs().values[0]), 10)
    5.0
    """
    capacity = min(rule.capacity, size)
    rng = np.random.default_rng(rule.seed)
    basis, H = np.empty((size, capacity), order="F"), np.zeros((capacity, capacity))
    block = _fresh(rng, basis[:, :0], min(rule.block, capacity)) if start is None else start
    n_kept = n_products = n_next = 0
    n_starts = 1
    while True:
        n_old, n_kept = n_kept, n_kept + block.shape[1]
        n_products += block.shape[1]
        with one_blas_thread():
            basis[:, n_old:n_kept] = block
            sticking_out = _projected(operator(block), basis[:, :n_kept], H, n_old)
            scale = max(float(H.diagonal().max()), 0.0)
            following, R = _block_and_factor(sticking_out, basis[:, :n_kept], scale)
        is_spent = n_products >= rule.max_products
        is_all = n_kept == size or is_spent
        wanted_width = max(rule.block, following.shape[1])
        is_full = n_kept + wanted_width > capacity and n_kept < size
        if n_kept < n_next and not (is_all or is_full):
            block = _filled(following, rng, basis[:, :n_kept], min(wanted_width, capacity - n_kept))
            continue
        n_next = n_kept + int(rule.between * n_kept)
        with one_blas_thread():
            values, rotation = _leading(H[:n_kept, :n_kept], wanted, rule.spare)
            factor = R @ rotation[n_old:]
            residuals = np.linalg.norm(factor, axis=0)
        count = _count(values, wanted, trace, is_all)
        excess = _excess(values, residuals, count, rule)
        is_believed = n_products >= rule.least_products or following.shape[1] == 0
        last = is_all or (excess <= 1.0 and is_believed)
        renew = last and not is_all and most_alike(values[:count], rule.tol) >= n_starts * rule.block
        if renew:
            last, n_starts = False, n_starts + 1
        width, outward = n_kept - n_old, following[:, : R.shape[0]]
        stand = basis[:, :n_kept], rotation, values, residuals, outward, factor[: outward.shape[1]]
        is_cut = is_spent and excess > 1.0
        yield KrylovStep(*stand, count, width, n_products, whole=True, last=last, excess=excess, is_cut=is_cut)
        if last:
            return
        if renew:
            wanted_width = max(min(following.shape[1] + rule.block, capacity - count), following.shape[1], 1)
        if n_kept + wanted_width > capacity and n_kept < size:
            n_keep = max(min(count + (n_kept - count) // 2, capacity - wanted_width), 1)
            with one_blas_thread():
                n_kept = _restart(basis, H, n_kept, n_keep)
            n_next = 0
        block = _filled(following, rng, basis[:, :n_kept], min(wanted_width, capacity - n_kept))


def most_alike(values: np.ndarray, tol: float) -> int:
    """Return how many values in descending order are the same, up to ``tol`` times the largest, at most.

    >>> most_alike(np.array([5.0, 3.0, 3.0, 3.0, 1.0]), 1e-8)
    3
    """
    same = np.abs(np.diff(values)) <= tol * max(float(values.max(initial=0.0)), 0.0)
    most = run = 1
    for is_same in same:
        run = run + 1 if is_same else 1
        most = max(most, run)
    return most


def _count(values: np.ndarray, wanted: Wanted, trace: float, is_all: bool) -> int:
    """Return how many pairs are wanted; one more than there are while these do not hold the share."""
    if wanted.share is None:
        return min(wanted.count, values.size) if is_all else wanted.count
    found = count_for_share(np.maximum(values, 0.0), wanted.share, trace)
    return found or (values.size if is_all else values.size + 1)


def _excess(values: np.ndarray, residuals: np.ndarray, count: int, rule: KrylovRule) -> float:
    """Return how many times too large the residuals of the wanted pairs are; infinite if there are not so many yet.

    A residual is the distance of a value from an eigenvalue. So no more than their sum is lost of what the pairs hold.
    """
    if count > values.size:
        return np.inf
    ratios = residuals[:count] / np.maximum(settled_at(values, rule.tol)[:count], np.finfo(float).tiny)
    excess = float(ratios.max(initial=0.0))
    if rule.loss == 0.0:
        return excess
    held = max(float(values[:count].sum()), np.finfo(float).tiny)
    return min(excess, float(residuals[:count].sum()) / (rule.loss * held))


def _projected(product: np.ndarray, basis: np.ndarray, H: np.ndarray, n_old: int) -> np.ndarray:
    """Write the new rows and columns of H; return what is left of the product beside the basis."""
    n_kept = basis.shape[1]
    inside = basis.T @ product
    product = product - basis @ inside
    again = basis.T @ product
    product -= basis @ again
    inside += again
    H[:n_kept, n_old:n_kept] = inside
    H[n_old:n_kept, :n_kept] = inside.T
    corner = H[n_old:n_kept, n_old:n_kept]
    corner[:] = (corner + corner.T) / 2.0
    return product


def _leading(H: np.ndarray, wanted: Wanted, spare: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the leading pairs of H, largest first: those wanted and some more, or all where a share is wanted."""
    size = H.shape[0]
    count = min(size, wanted.count + spare) if wanted.share is None else size
    return _descending(H, count)


def _descending(H: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the leading pairs; in a unit, because LAPACK's thresholds are absolute."""
    size, unit = H.shape[0], np.ldexp(1.0, np.frexp(H.diagonal().max())[1])
    if 2 * count >= size:
        values, vectors = linalg.eigh(H / unit, driver="evd", check_finite=False)
    else:
        values, vectors = linalg.eigh(H / unit, subset_by_index=[size - count, size - 1], check_finite=False)
    return unit * values[::-1][:count], np.ascontiguousarray(vectors[:, ::-1][:, :count])


def _block_and_factor(sticking_out: np.ndarray, basis: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return orthonormal columns Q and R with Q R = what sticks out; columns that are only rounding are left out."""
    Q, R, order = linalg.qr(sticking_out, mode="economic", pivoting=True, check_finite=False)
    lengths = np.abs(R.diagonal())
    rank = int((lengths > NEGLIGIBLE * scale).sum())
    in_order = np.empty_like(R)
    in_order[:, order] = R
    Q = Q[:, :rank]
    if rank and lengths[rank - 1] < SHORT * scale:
        for _ in range(2):
            Q -= basis @ (basis.T @ Q)
            Q, turn = linalg.qr(Q, mode="economic", check_finite=False)
            in_order[:rank] = turn @ in_order[:rank]
    return Q, in_order


def _restart(basis, H, n_kept: int, n_keep: int) -> int:
    """Keep the best pairs as the basis; return how many."""
    values, rotation = _descending(H[:n_kept, :n_kept], n_keep)
    basis[:, :n_keep] = basis[:, :n_kept] @ rotation
    H[:] = 0.0
    H[np.arange(n_keep), np.arange(n_keep)] = values
    return n_keep


def _filled(block: np.ndarray, rng, basis: np.ndarray, width: int) -> np.ndarray:
    """Return the block with as many columns as wanted; where it has fewer, new directions come in."""
    if block.shape[1] >= width:
        return block[:, :width]
    known = np.hstack([basis, block])
    return np.hstack([block, _fresh(rng, known, width - block.shape[1])])


def _fresh(rng, basis: np.ndarray, width: int) -> np.ndarray:
    """Return random orthonormal columns beside the basis."""
    block = rng.standard_normal((basis.shape[0], width))
    with one_blas_thread():
        for _ in range(2):
            block -= basis @ (basis.T @ block)
        return linalg.qr(block, mode="economic", check_finite=False)[0]
