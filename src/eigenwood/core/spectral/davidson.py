"""Exact eigenpairs of AAᵀ from an approximate one, by the method of Jacobi and Davidson.

    guess       U = leading vectors of the approximate matrix G
    measure     AAᵀU, exact           Ritz pairs (θ, u) of the span, what is left: r = AAᵀu - θu
    correct     (θ - G) δ = r  beside U, roughly      G stands for AAᵀ, which is never made; the span grows by the δ

A round takes off what G knows right of AAᵀ: with bytes a factor of ten and more. It ends where
the residuals of the components, ‖AᵀAv - θv‖ = ‖Aᵀr‖ / √θ, are settled; G estimates these lengths too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import linalg

from eigenwood.core.spectral.krylov import KrylovRule, krylov_steps
from eigenwood.core.spectral.pairs import Pairs, Wanted, orthonormal, settled_at
from eigenwood.core.spectral.symmetric import product_of
from eigenwood.core.threads import one_blas_thread, results_of, row_blocks

BothProducts = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]  # AᵀB and AAᵀB

GUESS_TOL = 1e-5
GUESS_BLOCK, GUESS_BASIS = 16, 256
GUESS_PRODUCTS = 4  # times the basis, at most: a guess need not settle, and rounding in float32 may keep it from that
IMAGE_COLUMNS = 4096
GUARDS = 2  # pairs beyond the wanted, at least: they keep the last wanted one from its neighbours
WIDTH = 4  # vectors come in whole groups of so many
CORRECTED, MOST_CORRECTIONS = 0.03, 24  # of r is left in δ; steps of conjugate gradients until there, at most
NEAR = 1e-4  # of a value: pairs of the guess that are nearer say nothing of a correction
STEEP = 1e-8  # cosine between a direction and its image: below, there is nothing to go by
NOTHING = 1e-14  # beside the largest value
LEAST_GAIN = 0.6  # a round that leaves more of the residuals was no help: G says nothing more
SURE = 0.8  # of a tolerance, because G only estimates


class DavidsonStep(NamedTuple):
    """Ritz pairs in the span so far."""

    basis: np.ndarray  # (n, m), orthonormal columns
    in_features: np.ndarray  # (d, m), Aᵀ times it
    product: np.ndarray  # (n, m), AAᵀ times it
    values: np.ndarray  # (m,) all Ritz values of AAᵀ, descending
    rotation: np.ndarray  # (m, m)
    count: int  # type: ignore[assignment]
    errors: np.ndarray  # (count,) of the residuals' tolerances
    last: bool
    is_stuck: bool  # the approximate matrix leads no further

    def pairs(self) -> Pairs:
        """Return the wanted pairs: u, and the variance along Aᵀu; that is more exact than the one along u.

        With ‖u‖ = 1 and θ = uᵀAAᵀu, the variance along v = Aᵀu / √θ is ‖Av‖² = ‖AAᵀu‖² / θ.
        """
        turn, along = self.rotation[:, : self.count], self.values[: self.count]
        with one_blas_thread():
            vectors, product = self.basis @ turn, self.product @ turn
        is_real = along > NOTHING * along.max(initial=0.0)
        lengths = np.sqrt(along, out=np.ones_like(along), where=is_real)  # first, because squares of squares overflow
        values = np.where(is_real, squares_of(product / lengths), along)
        return Pairs(values, vectors, product - vectors * values)

    def images(self, n_threads: int = 1) -> np.ndarray:
        """Return Aᵀu of the wanted pairs, (d, count)."""
        turn = np.ascontiguousarray(self.rotation[:, : self.count].T, dtype=self.in_features.dtype)
        images = np.empty((self.count, self.in_features.shape[0]), dtype=self.in_features.dtype)

        def work(columns: slice) -> None:
            images[:, columns] = turn @ self.in_features.T[:, columns]

        results_of(work, row_blocks(images.shape[1], IMAGE_COLUMNS), n_threads)
        return images.T


def davidson_steps(
    products: BothProducts, approximate: np.ndarray, count: int, tol: float, n_threads: int = 1
) -> Iterator[DavidsonStep]:
    """Yield after every exact product, until the pairs have settled or the approximate matrix leads no further.

    >>> A = np.diag([3.0, 2.0, 1.0])
    >>> approximate = A @ A.T + 0.01
    >>> *_, step = davidson_steps(lambda B: (A.T @ B, A @ (A.T @ B)), approximate, 1, 1e-10)
    >>> step.values[:1].round(9), step.is_stuck
    (array([9.]), False)
    """
    guess = first_guess(approximate, count, n_threads)
    basis = orthonormal(guess.vectors[:, : n_guarded(count, guess.values.size)])
    images, product = products(basis)
    largest_error = np.inf
    while True:
        step = ritz_step(basis, images, product, approximate, count, tol, largest_error, n_threads)
        yield step
        if step.last or step.is_stuck:
            return
        largest_error = float(step.errors.max())
        added = orthonormal_beside(basis, corrections(step, guess, approximate, n_threads))
        more_images, more_product = products(added)
        basis, product = np.hstack([basis, added]), np.hstack([product, more_product])
        images = np.hstack([images, more_images])


def n_guarded(count: int, most: int) -> int:
    """Return how many vectors are begun with: the wanted, a few beyond, and what fills their group."""
    return min(-(-(count + GUARDS) // WIDTH) * WIDTH, most)


def first_guess(approximate: np.ndarray, count: int, n_threads: int) -> Pairs:
    """Return the pairs of the approximate matrix that Lanczos knows by the time the wanted ones have settled, or soon.

    They are only a first guess, so float32 and few products will do.
    """
    unit = float(approximate.diagonal().max()) or 1.0
    narrow = (approximate / unit).astype(np.float32)  # far more exact than a guess need be

    def operator(B: np.ndarray) -> np.ndarray:
        return product_of(narrow, B.astype(np.float32), n_threads).astype(np.float64)

    block = WIDTH if count <= GUESS_BLOCK else GUESS_BLOCK
    capacity = max(3 * count, GUESS_BASIS)
    rule = KrylovRule(GUESS_TOL, block, capacity, 0, GUESS_PRODUCTS * capacity, spare=capacity)
    *_, step = krylov_steps(operator, approximate.shape[0], Wanted(count), float(np.trace(approximate)) / unit, rule)
    with one_blas_thread():
        return Pairs(unit * step.values, step.basis @ step.rotation, np.empty((0, step.values.size)))


def ritz_step(basis, images, product, approximate, count, tol, before, n_threads) -> DavidsonStep:
    """Return the Ritz pairs in the span of the basis, and how far they are from their tolerances."""
    with one_blas_thread():
        H = basis.T @ product
        values, rotation = linalg.eigh((H + H.T) / 2.0, check_finite=False)
    values, rotation = values[::-1].copy(), np.ascontiguousarray(rotation[:, ::-1])
    step = DavidsonStep(basis, images, product, values, rotation, count, np.empty(0), False, False)
    pairs = step.pairs()
    unit = float(pairs.values.max(initial=0.0)) or 1.0
    left = pairs.residual_vectors / unit
    squares = np.einsum("ij,ij->j", left, product_of(approximate, left, n_threads))
    floor = max(tol * unit, np.finfo(float).tiny)
    lengths = unit * np.sqrt(np.maximum(squares, 0.0) / np.maximum(pairs.values, floor))
    bounds = SURE * settled_at(pairs.values, tol)
    errors = np.divide(lengths, bounds, out=np.zeros(count), where=bounds > 0.0)  # without variance nothing is left
    largest, is_all = float(errors.max()), basis.shape[1] == basis.shape[0]
    is_last, is_better = largest <= 1.0, largest <= LEAST_GAIN * before
    return step._replace(errors=errors, last=is_last, is_stuck=not is_last and (is_all or not is_better))


def corrections(step: DavidsonStep, guess: Pairs, approximate: np.ndarray, n_threads: int) -> np.ndarray:
    """Return δ with (θ - G) δ = r beside the span, for each pair that is not settled.

    The guess solves it along its own vectors, and conjugate gradients do the rest.
    """
    pairs, chosen = step.pairs(), np.flatnonzero(step.errors > 1.0)
    unit = float(pairs.values.max())  # of θ, G and r, whose squares may be too large or too small
    theta, r = pairs.values[chosen] / unit, beside(step.basis, pairs.residual_vectors[:, chosen] / unit)
    n_begun = n_guarded(step.count, guess.values.size)
    others = guess.vectors[:, n_begun:]
    with one_blas_thread():
        gaps, inside = theta[None, :] - guess.values[n_begun:, None] / unit, others.T @ r
        known = np.divide(inside, gaps, out=np.zeros_like(inside), where=gaps > NEAR * theta)
        solved = beside(step.basis, others @ known)

    def applied(B: np.ndarray) -> np.ndarray:
        return beside(step.basis, theta * B - product_of(approximate, B / unit, n_threads))

    return solved_roughly(applied, r, solved)


def solved_roughly(applied: Callable[[np.ndarray], np.ndarray], r: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return x with M x = r up to a few percent, from a first x, by conjugate gradients; each column by itself.

    Where M is not positive along a direction, that column stays what it is.
    """
    left = r - applied(x)
    direction, length = left.copy(), squares_of(left)
    enough = CORRECTED**2 * squares_of(r)
    for _ in range(MOST_CORRECTIONS):
        if (length <= enough).all():
            break
        image = applied(direction)
        curvature = np.einsum("ij,ij->j", direction, image)
        is_steep = curvature > STEEP * np.sqrt(squares_of(direction) * squares_of(image))
        pace = np.divide(length, curvature, out=np.zeros_like(length), where=is_steep & (length > enough))
        x = x + pace * direction
        left -= pace * image
        before, length = length, squares_of(left)
        direction = left + np.divide(length, before, out=np.zeros_like(length), where=before > 0.0) * direction
    return x


def squares_of(columns: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", columns, columns)


def beside(basis: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return what is left of the vectors beside an orthonormal basis."""
    with one_blas_thread():
        return vectors - basis @ (basis.T @ vectors)


def orthonormal_beside(basis: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return orthonormal columns beside the basis that span the rest of the vectors."""
    lengths = np.sqrt(squares_of(vectors))
    columns = (vectors[:, lengths > 0.0] / lengths[lengths > 0.0])[:, : basis.shape[0] - basis.shape[1]]
    for _ in range(2):
        columns = orthonormal(beside(basis, columns))
    return columns
