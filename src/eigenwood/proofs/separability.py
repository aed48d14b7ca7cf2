"""The largest margin of a hyperplane, found without any learner: the point of a convex hull nearest to the origin.

Let z_i = y_i (Φ(x_i), 1). A hyperplane through the origin of that space separates the data with margin γ exactly when
the hull of the z_i stays γ away from the origin, and the nearest point u of the hull is the normal of the widest one.

    working set W        nearest point u of hull(W) by non-negative least squares
    all rows             smallest z_i·u/‖u‖  =  a margin that is reached        (from below)
                         ‖u‖                 =  a margin that cannot be passed  (from above, since W is a part)
    violated rows        join W, until both meet

If the hull of some W comes as near to the origin as rounding lets us see, no hyperplane separates by more than that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import lsq_linear, nnls

from eigenwood.core.kernels.blocks import gram, gram_diagonal
from eigenwood.core.threads import one_blas_thread

MOST_ROUNDS, MOST_MEMBERS = 60, 400  # beyond these the search stops with the margins it has: seconds, not hours
JOIN_AT_ONCE = 32
MEET = 1e-6  # the two margins count as equal within this share
AT_ORIGIN = 1e-7  # a hull this near to the origin, in units of the radius, contains it


class Separability(NamedTuple):
    """The margin lies between ``reached`` and ``limit``; ``reached`` is 0 when no hyperplane was found.

    Every weighted mean of the z_i gives a valid limit and every direction a valid margin, so both stay true where the
    search had to stop before they met.
    """

    reached: float
    limit: float
    radius: float  # the largest ‖z_i‖

    @property
    def separable(self) -> bool:
        return self.reached > 0.0

    @property
    def hopeless(self) -> bool:
        """Whether no hyperplane separates by more than rounding can tell from 0."""
        return self.limit <= AT_ORIGIN * self.radius

    def mistake_bound(self) -> float:
        """Return (R/γ)², which no perceptron exceeds."""
        return (self.radius / self.reached) ** 2


def separability(
    X, signs: np.ndarray, kernel, intercept: bool, check: Callable[[], None] = lambda: None
) -> Separability:
    """Return the margin of the widest hyperplane that separates the signs; ``check`` is called often, and may raise."""
    constant = 1.0 if intercept else 0.0
    radius = float(np.sqrt(gram_diagonal(X, kernel).max() + constant))
    members = np.array([int(np.argmax(signs > 0)), int(np.argmax(signs < 0))])
    reached, limit = 0.0, np.inf
    for _ in range(MOST_ROUNDS):
        check()
        Q = signed_products(X[members], X[members], signs[members], signs[members], kernel, constant)
        with one_blas_thread():  # BLAS is called for short vectors, for which threads only wait
            weights, limit = nearest_point(Q)
        if limit <= AT_ORIGIN * radius:
            return Separability(0.0, limit, radius)
        kept = weights > 0
        members, weights = members[kept], weights[kept]
        margins = signed_products(X, X[members], signs, signs[members], kernel, constant) @ weights / limit
        reached = max(reached, float(margins.min()))
        if reached >= limit * (1.0 - MEET):
            break
        worst = np.argsort(margins, kind="stable")[:JOIN_AT_ONCE]
        joined = np.union1d(members, worst[margins[worst] < limit])
        if joined.size == members.size or joined.size > MOST_MEMBERS:
            break
        members = joined
    return Separability(reached, limit, radius)


def signed_products(X, Z, x_signs, z_signs, kernel, constant: float) -> np.ndarray:
    """Return the inner products of the z_i, in float64."""
    K = gram(X.astype(np.float64), Z.astype(np.float64), kernel) + constant
    return x_signs[:, None] * K * z_signs[None, :]


def nearest_point(Q: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the weights of the hull's point nearest to the origin, and its distance, from inner products Q.

    min ‖Σ a_i z_i‖² + (Σ a_i - 1)² over a ≥ 0 has its answer on the ray through that point (Lawson and Hanson).
    """
    scale = np.sqrt(max(Q.diagonal().max(), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(Q / scale**2)
    factor = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    weights = _least_squares(np.vstack([factor, np.ones(Q.shape[0])]), np.append(np.zeros(Q.shape[0]), 1.0))
    weights /= weights.sum()
    return weights, scale * float(np.linalg.norm(factor @ weights))


def _least_squares(A: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return a ≥ 0 with the smallest ‖A a - target‖; by a slower, tougher road where the exact one does not end."""
    try:
        return nnls(A, target, maxiter=30 * A.shape[1])[0]
    except RuntimeError:
        return np.maximum(lsq_linear(A, target, bounds=(0.0, np.inf), tol=1e-14).x, 0.0)
