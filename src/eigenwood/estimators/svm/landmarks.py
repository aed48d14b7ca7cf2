"""Support vector machines on landmarks (``approximation="low_rank"``), where the kernel values of all rows do not fit.

    K ≈ F Fᵀ      randomly pivoted Cholesky, as many columns as fit; from here on F are the rows, the kernel is linear
    β, b          the same variables and bounds, and the linear solver: no kernel value is computed any more
    f             Σ γ_s k(x_s, ·) + b over the landmarks s, with γ = L⁻ᵀ Fᵀβ: it costs with K what it costs with F Fᵀ

With the whole kernel the dual of β is another one. βᵀKβ is measured among the support vectors, a tile at a time, and
the best of all tβ, which are feasible too, is what no model costs less than. So the gap is that of the whole problem.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from eigenwood.core.kernels.blocks import KernelFunction
from eigenwood.core.kernels.functions import LINEAR, Kernel
from eigenwood.core.kernels.low_rank import LowRank, Rank, random_pivots
from eigenwood.core.kernels.matrix import kernel_matrix, tile_sums
from eigenwood.core.margin.dual_problems import DualProblems, gathered
from eigenwood.core.margin.dual_svm import Dual
from eigenwood.estimators.svm.fitting import Solved
from eigenwood.proofs.representer import outside_bound
from eigenwood.validation.kernels import check_mercer_residual

LOW_RANK = "low_rank"
VALUE_BYTES = 4.0  # of a kernel value that is kept
MOST_LANDMARKS, ENOUGH = 500, 1e-4  # and the share of the trace that may be left
OWN_COPIES, COPIES_OF_PROBLEM = 1.0, 2.0  # of F, and of the rows of F in each problem, in float64
SEED = 0  # nothing is drawn that a user could wish to draw again


def kernel_of_landmarks(
    model: Any, duals: DualProblems, kernel: Kernel | KernelFunction | None, most: float
) -> Kernel | KernelFunction | None:
    """Return the kernel where landmarks are asked for, and the values among all rows do not fit in so many bytes."""
    is_plain = isinstance(kernel, Kernel) and kernel.code == LINEAR  # of which no matrix is made
    fits = VALUE_BYTES * float(duals.y.size) ** 2 <= most
    return None if model.approximation != LOW_RANK or is_plain or fits else kernel


class Landmarks(NamedTuple):
    """The factor of the kernel among the distinct rows of a fit, and the kernel itself."""

    low_rank: LowRank
    kernel: Kernel | KernelFunction

    def features_for(self, duals: DualProblems) -> DualProblems:
        """Return the dual problems among the rows of F."""
        return duals._replace(X=self.low_rank.factor.astype(np.float64, copy=False))

    def completed(
        self, attributes: dict[str, Any], duals: DualProblems, solved: list[Solved], norms: list[float]
    ) -> dict[str, Any]:
        """Return the attributes of a fit with those of landmarks, and with the gap that follows from βᵀKβ."""
        gap = attributes["duality_gap_"] + shortfalls(duals, solved, norms)
        return {**attributes, **self.attributes(duals, solved), "duality_gap_": gap}

    def attributes(self, duals: DualProblems, solved: list[Solved]) -> dict[str, Any]:
        """Return the fitted attributes that say which rows are landmarks, and what each adds to the scores."""
        pivots, triangle = self.low_rank.pivots, self.low_rank.triangle
        directions = np.column_stack([self._direction(duals, k, one) for k, one in enumerate(solved)])
        table = linalg.solve_triangular(triangle, directions, lower=True, trans="T", check_finite=False)
        return {
            "landmarks_": duals.deduplicated_places()[pivots],
            "landmark_vectors_": duals.X[pivots],
            "landmark_coef_": np.ascontiguousarray(table.T),
        }

    def norms(self, duals: DualProblems, solved: list[Solved], n_threads: int) -> list[float]:
        """Return βᵀKβ of every problem, from the kernel values among its support vectors."""
        return [whole_norm(duals, k, one.beta, self.kernel, n_threads) for k, one in enumerate(solved)]

    def largest_norms(self, duals: DualProblems, solved: list[Solved]) -> list[float]:
        """Return what βᵀKβ is at most, by what the landmarks leave of the diagonal: where there is no time for it."""
        factor, parts = self.low_rank.factor, list[float]()
        residual = np.maximum(self.low_rank.diagonal - np.einsum("ik,ik->i", factor, factor), 0.0)
        for column, one in enumerate(solved):
            places = duals.deduplicated[column].places()
            w, beta = self._direction(duals, column, one), gathered(duals, column, one.beta)
            parts.append(float(w @ w) + 2.0 * outside_bound(beta[:, None], residual[places]))
        return parts

    def _direction(self, duals: DualProblems, column: int, one: Solved) -> np.ndarray:
        """Return w = Fᵀβ."""
        beta, places = gathered(duals, column, one.beta), duals.deduplicated[column].places()
        used = np.flatnonzero(beta)
        return self.low_rank.factor[places[used]].T @ beta[used]


def shortfalls(duals: DualProblems, solved: list[Solved], norms: list[float]) -> np.ndarray:
    """Return by how much the dual of every problem is less with the whole kernel, from βᵀKβ."""
    pairs = zip(duals.problems, solved, norms, strict=True)
    return np.array([one.facts.dual - best_dual(problem.dual, one.beta, norm) for problem, one, norm in pairs])


def best_dual(dual: Dual, beta: np.ndarray, whole: float) -> float:
    """Return the largest dual of tβ for t from 0 to 1; ``whole`` is βᵀKβ.

    >>> dual = Dual(np.array([1.0, -1.0]), np.array([0.0, -9.0]), np.array([9.0, 0.0]), np.zeros(2))
    >>> best_dual(dual, np.array([1.0, -1.0]), 8.0)
    0.25
    """
    gain = max(float(dual.target @ beta - dual.epsilon * np.abs(beta).sum()), 0.0)
    price = whole + float(dual.ridge @ (beta * beta))
    t = min(1.0, gain / price) if price > 0.0 else 1.0
    return t * gain - 0.5 * t * t * price


def whole_norm(
    duals: DualProblems,
    column: int,
    beta: np.ndarray,
    kernel: Kernel | KernelFunction,
    n_threads: int,
    check: Callable[[], None] = lambda: None,
) -> float:
    """Return βᵀKβ of a problem, a tile at a time; ``check`` is called after each."""
    own, places = gathered(duals, column, beta), duals.deduplicated[column].places()
    used = np.flatnonzero(own)
    K = kernel_matrix(duals.X[places[used]].astype(np.float64, copy=False), kernel)
    total = 0.0
    for part in tile_sums(K, own[used][:, None], n_threads):
        total += part
        check()
    return total


def found_landmarks(
    who: str,
    duals: DualProblems,
    kernel: Kernel | KernelFunction,
    max_bytes: float,
    n_threads: int,
    time_is_up: Callable[[], bool],
) -> Landmarks:
    """Return the landmarks; fewer, where time is up before."""
    K = kernel_matrix(duals.X.astype(np.float64, copy=False), kernel)
    for step in random_pivots(K, rank_of(duals, max_bytes), SEED, n_threads):
        found = step.result
        check_mercer_residual(who, found.lowest)
        if time_is_up():
            break
    return Landmarks(found, kernel)


def rank_of(duals: DualProblems, max_bytes: float) -> Rank:
    """Return how many landmarks fit: F, and its rows in each problem."""
    n_in_problems = sum(problem.costs.size for problem in duals.deduplicated)
    bytes_of_column = 8.0 * (OWN_COPIES * duals.y.size + COPIES_OF_PROBLEM * n_in_problems)
    return Rank(int(np.clip(max_bytes // bytes_of_column, 1, MOST_LANDMARKS)), ENOUGH)
