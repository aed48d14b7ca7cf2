"""Where solved problems have come to: coefficients, offset, gap and violation, of all problems in a few operations.

Problems stand one after the other in the same arrays, as in ``rounds``; what is asked of each is a sum or an extreme
over its part. The numbers are those of ``dual_svm.offset`` and of the certificate, which is proved elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.core.margin.dual_svm import EQUAL_WITHIN, Dual, cheapest_offset
from eigenwood.core.margin.working_set import rise_and_fall


class Ends(NamedTuple):
    """The ends of all problems; coefficients are one after the other."""

    starts: np.ndarray  # (n_problems + 1,)
    beta: np.ndarray
    offsets: np.ndarray  # (n_problems,)
    gaps: np.ndarray
    violations: np.ndarray

    def part(self, number: int) -> slice:
        """Return where the coefficients of a problem are."""
        return slice(int(self.starts[number]), int(self.starts[number + 1]))


def ends_of(duals: list[Dual], betas: list[np.ndarray], scores: list[np.ndarray], converged: np.ndarray) -> Ends:
    """Return the ends of all problems; ``scores`` are Kβ. Who has not converged gets the offset that costs least."""
    starts = np.cumsum([0, *(beta.size for beta in betas)])
    first, sizes = starts[:-1], np.diff(starts)
    target, low, high, ridge = (np.concatenate([getattr(one, name) for one in duals]) for name in Dual._fields[:4])
    epsilon, beta, Kb = duals[0].epsilon, np.concatenate(betas), np.concatenate(scores)
    largest = np.maximum.reduceat(np.abs(beta), first)
    near = np.repeat(np.where(converged, EQUAL_WITHIN * largest, -1.0), sizes)
    for bound in (0.0, low, high):  # what misses one by rounding alone is there: 0.03 + 0.01 is not 0.02 + 0.02
        beta = np.where(np.abs(beta - bound) <= near, bound, beta)

    rise, fall = rise_and_fall(target - Kb - ridge * beta, beta, low, high, epsilon)
    top, bottom = np.maximum.reduceat(rise, first), np.minimum.reduceat(fall, first)
    inside = (beta > low) & (beta < high) & ((beta != 0.0) | (epsilon == 0.0))
    n_inside = np.add.reduceat(inside, first, dtype=np.int64)
    said = np.add.reduceat(np.where(inside, rise, 0.0), first)
    offsets = np.where(n_inside > 0, said / np.maximum(n_inside, 1), 0.5 * (top + bottom))
    for number in np.flatnonzero(~converged):
        part = slice(starts[number], starts[number + 1])
        offsets[number] = cheapest_offset(duals[number], beta[part], Kb[part])

    errors = target - Kb - np.repeat(offsets, sizes)
    above, below = np.maximum(errors - epsilon, 0.0), np.maximum(-errors - epsilon, 0.0)
    above, below = np.where(high > 0.0, above, 0.0), np.where(low < 0.0, below, 0.0)
    if ridge.any():
        losses = (above**2 + below**2) / (2.0 * ridge)
    else:
        losses = np.where(above > 0.0, high, 0.0) * above - np.where(below > 0.0, low, 0.0) * below
    terms = losses + beta * Kb - target * beta + epsilon * np.abs(beta) + 0.5 * ridge * beta * beta
    return Ends(starts, beta, offsets, np.add.reduceat(terms, first), np.maximum(top - bottom, 0.0))
