"""What no k columns can do better: lower bounds on the residual of the best k-subset of a linear regression.

All columns together leave no more than any k of them, and so do all that a search has not removed yet. A tree removes
columns one by one, those that matter most first (leaps and bounds, Furnival and Wilson 1974):

    all columns, residual 1.0
    ├── without 0: 9.0   no better than what was found: nothing below can be
    └── without 1: 1.4   ── without 2: 1.5 …        column 0 stays

When the search ends, or has looked at so many subsets, the least residual of what is still open is a lower bound. It
needs more rows than columns. Where there are fewer, every α gives one by duality for coefficients of norm at most R:

    min ‖b − Aβ‖² over k columns, ‖β‖ ≤ R   ≥   2 αᵀb − ‖α‖² − 2 R · (norm of the k largest entries of Aᵀα)

which is taken for α = s(b − Aβ̂) with the best s, and R the norm of the coefficients found.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

import numpy as np

from eigenwood.proofs.claim import ROUNDING, Claim, at_most, measured

MOST_SUBSETS, MOST_COLUMNS = 1000, 60
BLOCK_NUMBERS = 2**17  # of A that are made at a time, and stay in the cache
WORST_CONDITION = 1e10


class Regression(NamedTuple):
    """Columns less their means and of norm 1, times the roots of the weights, and the target.

    A = (X - center) · root / norms is made some rows at a time: a copy of X takes longer than all that is asked of it.
    """

    X: np.ndarray
    center: np.ndarray
    root: np.ndarray  # of the weights
    norms: np.ndarray  # 1 for a column that does not vary
    b: np.ndarray

    def columns(self, places: np.ndarray) -> np.ndarray:
        """Return some columns of A."""
        return (self.X[:, places] - self.center[places]) * self.root[:, None] / self.norms[places]

    def products(self, left: np.ndarray) -> np.ndarray:
        """Return a vector times A, or each row of a matrix."""
        found = np.zeros((*left.shape[:-1], self.X.shape[1]))
        for rows, part in centred_blocks(self.X, self.center, self.root):
            found += left[..., rows] @ part
        return found / self.norms


def regression_of(X: np.ndarray, y: np.ndarray, weights: np.ndarray, is_centred: bool) -> Regression:
    """Return the regression that a fit with an intercept, or without one, solves."""
    root, total = np.sqrt(weights), weights.sum()
    center = weights @ X / total if is_centred else np.zeros(X.shape[1])
    squares = np.zeros(X.shape[1])
    for _, part in centred_blocks(X, center, root):
        np.multiply(part, part, out=part)
        squares += part.sum(axis=0)
    norms = np.where(squares > 0.0, np.sqrt(squares), 1.0)
    return Regression(X, center, root, norms, root * (y - (weights @ y / total if is_centred else 0.0)))


def centred_blocks(X: np.ndarray, center: np.ndarray, root: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield (X - center) · root, some rows at a time, each time in the same memory."""
    n_rows = max(1, BLOCK_NUMBERS // X.shape[1])
    memory = np.empty((n_rows, X.shape[1]))
    for begin in range(0, X.shape[0], n_rows):
        rows = slice(begin, min(begin + n_rows, X.shape[0]))
        part = np.subtract(X[rows], center, out=memory[: rows.stop - begin])
        yield rows, np.multiply(part, root[rows, None], out=part)


class Stated(NamedTuple):
    """What a fit states."""

    support: np.ndarray
    coef: np.ndarray  # of the columns of A
    residual: float
    path: np.ndarray


def rest_of(regression: Regression, stated: Stated) -> np.ndarray:
    """Return what the stated coefficients leave of the target."""
    used = np.flatnonzero(stated.coef)
    return regression.b - regression.columns(used) @ stated.coef[used]


def lower_bound(regression: Regression, stated: Stated) -> tuple[float, str]:
    """Return a number below the residual of every k columns, and for which coefficients it is one."""
    k, (n_rows, n_columns) = stated.support.size, regression.X.shape
    if n_columns <= min(MOST_COLUMNS, n_rows - 1):
        A = regression.columns(np.arange(n_columns))
        products = A.T @ A
        if np.linalg.cond(products) < WORST_CONDITION:
            return bound_by_search(A, regression.b, products, k, stated.residual), "of any k columns"
    rest = rest_of(regression, stated)
    return dual_bound(regression, rest, k, float(np.linalg.norm(stated.coef))), "of any k columns, ‖β‖ no larger"


def dual_bound(regression: Regression, rest: np.ndarray, k: int, radius: float) -> float:
    """Return the bound by duality for the best multiple of a vector."""
    slopes = np.sort(np.abs(regression.products(rest)))[::-1][:k]
    straight = float(rest @ regression.b) - radius * float(np.linalg.norm(slopes))
    return max(straight, 0.0) ** 2 / max(float(rest @ rest), np.finfo(np.float64).tiny)


def bound_by_search(A: np.ndarray, b: np.ndarray, products: np.ndarray, k: int, residual: float) -> float:
    """Return the least residual of the subsets that are open when the search ends, at most the one found."""
    inverse = np.linalg.inv(products)
    coef = inverse @ (A.T @ b)
    order = np.argsort(-(coef**2) / np.diag(inverse))  # what matters most is removed first
    inverse, coef = inverse[np.ix_(order, order)], coef[order]
    rest = b - A[:, order] @ coef
    numbers = count()
    nodes = [(float(rest @ rest), next(numbers), 0, coef.size, inverse, coef)]
    for _ in range(MOST_SUBSETS):
        if not nodes or nodes[0][0] >= residual * (1.0 - ROUNDING):
            return residual
        own, _, first, n_left, inverse, coef = heapq.heappop(nodes)
        if n_left <= k:
            return own  # k columns that leave less than the fit
        # the columns before one that is removed stay: at most k can
        for j in range(first, min(coef.size, coef.size - (n_left - k) + 1)):
            without = own + coef[j] ** 2 / inverse[j, j]
            if without < residual * (1.0 - ROUNDING):
                share = inverse[:, j] / inverse[j, j]
                less = inverse - np.outer(share, inverse[j])
                heapq.heappush(nodes, (without, next(numbers), j + 1, n_left - 1, less, coef - share * coef[j]))
    return min(nodes[0][0], residual) if nodes else residual


def subset_claims(regression: Regression, stated: Stated) -> Iterator[Claim]:
    """Yield that a fit is least squares on its columns, that its steps went down, and its gap to the best."""
    rest = rest_of(regression, stated)
    residual, size = float(rest @ rest), float(regression.b @ regression.b)
    off = abs(residual - stated.residual) / max(size, 1e-300)
    yield at_most("residual", "|residual stated - measured|, of the target's sum of squares", off, ROUNDING)
    slopes = np.abs(regression.columns(stated.support).T @ rest)
    norms = np.sqrt(max(size, 1e-300))
    yield at_most("least squares", "largest |aᵀr| / ‖b‖ of the columns chosen", slopes.max(initial=0.0) / norms, 1e-7)
    up = float(np.diff(stated.path).max(initial=-np.inf)) if stated.path.size > 1 else 0.0
    yield at_most("descent", "largest increase of the residual in a step", max(up, 0.0), 0.0)
    off = abs(float(stated.path[-1]) - stated.residual) / max(size, 1e-300)
    yield at_most("end", "|residual of the last step - residual stated|, of the target's", off, ROUNDING)
    bound, what = lower_bound(regression, stated)
    gap = 1.0 - min(bound / residual, 1.0) if residual > ROUNDING * size else 0.0
    yield measured("gap", f"1 - (proved least residual {what}) / residual", gap)


def exchange_claim(regression: Regression, stated: Stated) -> Claim:
    """Return that no exchange of one column for another would leave less."""
    rest, size = rest_of(regression, stated), float(regression.b @ regression.b)
    gain = gain_of_exchange(regression, stated.support, rest) / max(size, 1e-300)
    return at_most("exchange", "most that one exchange of columns would gain, of the target's squares", gain, 1e-7)


def gain_of_exchange(regression: Regression, support: np.ndarray, rest: np.ndarray) -> float:
    """Return by how much one column for another would decrease the residual, by projections one column at a time."""
    best, residual = 0.0, float(rest @ rest)
    for place in range(support.size):
        others = np.delete(support, place)
        basis = np.linalg.qr(regression.columns(others))[0] if others.size else np.zeros((rest.size, 0))
        left = regression.b - basis @ (basis.T @ regression.b)
        lengths = 1.0 - (regression.products(basis.T) ** 2).sum(axis=0)
        usable = lengths > 1e-7
        usable[others] = False
        gains = regression.products(left)[usable] ** 2 / lengths[usable]
        best = max(best, residual - (float(left @ left) - float(gains.max(initial=0.0))))
    return best
