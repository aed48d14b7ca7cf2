"""The lecture's power iteration (decks B, D): one component at a time, then deflation.

    v ← M v / ‖M v‖      until ‖M v - λ v‖ is small; then M ← M - λ v vᵀ, and again

The operator is not changed: what was found is taken out of every product instead, which is the same in exact
arithmetic and does not let rounding bring it back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from eigenwood.core.spectral.krylov import Operator
from eigenwood.core.spectral.pairs import Pairs, Wanted, count_for_share, settled_at
from eigenwood.core.threads import one_blas_thread


class PowerStep(NamedTuple):
    """The pairs so far; the last one is still on its way unless the step is whole."""

    values: np.ndarray
    vectors: np.ndarray
    leftovers: np.ndarray
    n_products: int
    whole: bool
    last: bool

    def pairs(self) -> Pairs:
        """Return the pairs in descending order: close values may have been found in the other order."""
        order = np.argsort(-self.values, kind="stable")
        return Pairs(self.values[order], self.vectors[:, order], self.leftovers[:, order])


def power_steps(
    operator: Operator, size: int, wanted: Wanted, trace: float, tol: float, max_iter: int, seed: int
) -> Iterator[PowerStep]:
    """Yield after every product; a step is whole when its last pair has settled or ``max_iter`` products were made."""
    rng = np.random.default_rng(seed)
    values, vectors, leftovers = np.empty(0), np.empty((size, 0)), np.empty((size, 0))
    n_products = 0
    while True:
        v = _beside(vectors, rng.standard_normal(size))
        for i in range(1, max_iter + 1):
            product = operator(v[:, None])[:, 0]
            n_products += 1
            value = float(v @ product)
            found = np.append(values, value), np.hstack([vectors, v[:, None]])
            left = product - value * v
            beside = left - vectors @ (vectors.T @ left)  # what the pairs before left is not this one's to mend
            settled = 2.0 * float(np.linalg.norm(beside)) <= settled_at(found[0], tol)[-1] or i == max_iter
            if settled:
                break
            yield PowerStep(*found, np.hstack([leftovers, left[:, None]]), n_products, False, False)
            v = _beside(vectors, product)
        values, vectors = found
        leftovers = np.hstack([leftovers, left[:, None]])
        last = _is_enough(values, wanted, trace, size)
        yield PowerStep(values, vectors, leftovers, n_products, True, last)
        if last:
            return


def _is_enough(values: np.ndarray, wanted: Wanted, trace: float, size: int) -> bool:
    if values.size == size:
        return True
    if wanted.share is None:
        return values.size >= wanted.count
    return count_for_share(np.maximum(values, 0.0), wanted.share, trace) is not None


def _beside(found: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return the part of a vector at right angles to what was found, of length 1."""
    with one_blas_thread():
        for _ in range(2):
            vector = vector - found @ (found.T @ vector)
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0.0 else vector
