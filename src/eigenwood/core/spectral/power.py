"""The lecture's power iteration: one component at a time, then deflation.

    v ← M v / ‖M v‖      until ‖M v - λ v‖ is small; then M ← M - λ v vᵀ, and again

The operator is not changed: what was found is taken out of every product instead, which is the same in exact
arithmetic and does not let rounding bring it back. Where nothing but rounding is left of M, the iteration is over: all
directions that were not found are without variance, and there is nothing to choose between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from eigenwood.core.spectral.krylov import Operator
from eigenwood.core.spectral.pairs import Pairs, Wanted, count_for_share, settled_at
from eigenwood.core.spectral.randomized import SubspaceStep
from eigenwood.core.threads import one_blas_thread

LONG = 0.9  # of a length of 1, after it was turned aside twice
LOOKS = 3  # products of which none is longer than rounding, until all that is left counts as nothing


class PowerRule(NamedTuple):
    """When a pair has settled, how long to wait for it, and what is nothing."""

    tol: float  # ‖Mv - λv‖ beside the largest λ, see settled_at
    max_iter: int  # products for one pair
    seed: int
    nothing: float = 1e-14  # ‖Mv‖ beside the largest λ: what is shorter is rounding


class PowerStep(NamedTuple):
    """The pairs so far; the last one has not settled yet unless the step is whole."""

    values: np.ndarray
    vectors: np.ndarray
    residual_vectors: np.ndarray
    n_products: int
    whole: bool
    last: bool
    is_cut: bool  # a pair has not settled in ``max_iter`` products

    def pairs(self) -> Pairs:
        """Return the best pairs in the span of those so far: pairs that are not settled may lean towards each other."""
        product = self.vectors * self.values + self.residual_vectors  # what M made of them
        return SubspaceStep(self.vectors, product, self.values.size, self.whole, self.last).pairs()


def power_steps(operator: Operator, size: int, wanted: Wanted, trace: float, rule: PowerRule) -> Iterator[PowerStep]:
    """Yield after every product; a step is whole when its last pair has settled or ``max_iter`` products were made.

    The last step has fewer pairs than wanted where there are no more with any variance.
    """
    rng = np.random.default_rng(rule.seed)
    values, vectors, residual_vectors = np.empty(0), np.empty((size, 0)), np.empty((size, 0))
    n_looks, n_products, is_cut = min(LOOKS, rule.max_iter), 0, False
    while True:
        v = _beside(vectors, rng.standard_normal(size), rng)
        longest = 0.0
        for i in range(1, rule.max_iter + 1):
            product = operator(v[:, None])[:, 0]
            n_products += 1
            value = float(v @ product)
            found = np.append(values, value), np.hstack([vectors, v[:, None]])
            left = product - value * v
            beside = left - vectors @ (vectors.T @ left)  # what the pairs before left is not this one's to mend
            rest = float(np.linalg.norm(beside))
            longest = max(longest, abs(value), rest)
            is_nothing = values.size > 0 and longest <= rule.nothing * values.max()
            has_settled = 2.0 * rest <= settled_at(found[0], rule.tol)[-1] and (not is_nothing or i >= n_looks)
            if has_settled or i == rule.max_iter:
                break
            yield PowerStep(*found, np.hstack([residual_vectors, left[:, None]]), n_products, False, False, is_cut)
            v = _beside(vectors, product, rng)
        is_cut |= not has_settled
        if is_nothing and has_settled:
            yield PowerStep(values, vectors, residual_vectors, n_products, True, True, is_cut)
            return
        values, vectors = found
        residual_vectors = np.hstack([residual_vectors, left[:, None]])
        last = _is_enough(values, wanted, trace, size)
        yield PowerStep(values, vectors, residual_vectors, n_products, True, last, is_cut)
        if last:
            return


def _is_enough(values: np.ndarray, wanted: Wanted, trace: float, size: int) -> bool:
    if values.size == size:
        return True
    if wanted.share is None:
        return values.size >= wanted.count
    return count_for_share(np.maximum(values, 0.0), wanted.share, trace) is not None


def _beside(found: np.ndarray, vector: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the part of a vector at right angles to what was found, of length 1; where there is none, a random one.

    What is only rounding points anywhere once it has length 1: it may lie in the span of what was found.
    """
    with one_blas_thread():
        for _ in range(2):
            vector = vector - found @ (found.T @ vector)
            before = float(np.linalg.norm(vector))
            vector = vector / before if before > 0.0 else vector
        turned = vector - found @ (found.T @ vector)
    length = float(np.linalg.norm(turned))
    return turned / length if length > LONG else _beside(found, rng.standard_normal(vector.size), rng)
