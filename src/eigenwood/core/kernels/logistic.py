"""Kernel logistic regression (the boosting and SVM lecture): the loss of probabilities in the space of a kernel, by
Newton's method.

    minimise   ½‖W‖² + Σ c_i (log Σ_r exp f_ir - f_i,y)      f = F W + b,   K ≈ F Fᵀ   (``low_rank``)
    α_i      = c_i (1_y - p_i)                               what row i still asks for; p_i = softmax(f_i)
    gradient = W - Fᵀα                                       0 at the optimum, where f = Σ α_i k(x_i, ·): representers
    ½‖gradient‖²                                             bounds what is left to gain, as ½‖W‖² is strongly convex

Two classes need one column of scores; the other is 0. The offsets b are not punished: they are always the best ones
for these F W, so that Σα = 0, and each class is predicted as often as it occurs.

A direction solves  V + Fᵀ D F V = -gradient  by conjugate gradients, where D is the second derivative of the loss.
They are preconditioned by  I + Fᵀ D̄ F  with the mean D̄ of all columns, so that two classes need a single product. That
matrix is made in float32 where this is as good: what it loses, the products in float64 put right.

F comes in levels of 64, 256, … columns. The weights of a level begin the next, which then needs few steps; and whoever
stops early has a model.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import NamedTuple

import numpy as np
from scipy import linalg

from eigenwood.core.kernels.features import Features
from eigenwood.core.kernels.low_rank import LowRank, Rank, random_pivots
from eigenwood.core.kernels.matrix import KernelMatrix
from eigenwood.core.pieces import Pieces, while_at
from eigenwood.core.threads import one_blas_thread

FIRST_LEVEL, GROWTH = 64, 4  # columns of F with which steps begin, and how many times as many the next level has
ROUGHLY = 1e-2  # a share of the primal that a level but the last may leave to gain
ROOM_OF_FLOAT32 = 1e-2  # rounding of the preconditioner beside the 1 of its diagonal
MOST_PRODUCTS = 100  # in the search for one direction
ENOUGH = 1e-4  # of the promised gain, for a step to be taken
HALVINGS = 40
BALANCED, MOST_SHIFTS = 1e-13, 100  # Σα beside Σc, and the steps of b towards it


class Outcomes(NamedTuple):
    """What is to be predicted: the class of each row, and what its loss costs."""

    codes: np.ndarray  # (n,) int
    costs: np.ndarray  # (n,) C times the weight
    n_classes: int
    has_offset: bool

    def n_scores(self) -> int:
        """Return how many columns of scores there are."""
        return 1 if self.n_classes == 2 else self.n_classes


class LogisticPoint(NamedTuple):
    """Weights and what follows from them."""

    weights: np.ndarray  # (k, n_scores) W
    offsets: np.ndarray  # (n_scores,) b
    scores: np.ndarray  # (n, n_scores) F W
    gradient: np.ndarray  # (k, n_scores)
    primal: float

    def gap(self) -> float:
        """Return what is left to gain with these F, at most."""
        return 0.5 * float(np.vdot(self.gradient, self.gradient))


class LogisticRule(NamedTuple):
    """When to stop: where no more than a share ``tol`` of the primal is left to gain."""

    tol: float
    max_iter: int


class LogisticStep(NamedTuple):
    """Where the fit stands; ``low_rank`` has as many columns as ``point`` has weights."""

    low_rank: LowRank
    point: LogisticPoint
    n_iter: int
    converged: bool
    whole: bool
    last: bool


def logistic_steps(
    K: KernelMatrix, rank: Rank, seed: int, outcomes: Outcomes, rule: LogisticRule, n_threads: int
) -> Generator[LogisticStep, None, None]:
    """Yield often, and whole steps after every step of Newton's, until the last level is solved."""
    step, level = None, FIRST_LEVEL
    for found in random_pivots(K, rank, seed, n_threads):
        low_rank = found.result
        if step is None:
            step = LogisticStep(without_columns(low_rank), nothing_learnt(outcomes), 0, False, whole=False, last=False)
        yield step._replace(whole=False, last=False)
        if found.last or low_rank.pivots.size >= level:
            tol = rule.tol if found.last else max(rule.tol, ROUGHLY)
            for lower in level_steps(low_rank, outcomes, step, rule._replace(tol=tol), n_threads):
                step, is_last = lower, bool(lower.last and found.last) or (lower.last and lower.n_iter >= rule.max_iter)
                yield step._replace(last=is_last, converged=step.converged and bool(found.last))
                if is_last:
                    return
            level = GROWTH * low_rank.pivots.size


def level_steps(
    low_rank: LowRank, outcomes: Outcomes, before: LogisticStep, rule: LogisticRule, n_threads: int
) -> Iterator[LogisticStep]:
    """Yield steps with these F, from the weights of fewer columns on; ``converged`` and ``last`` are of the level."""
    landscape = Landscape(low_rank.factor.T, outcomes, n_threads)
    new = np.zeros((low_rank.pivots.size - before.point.weights.shape[0], outcomes.n_scores()))
    weights, n_iter = np.vstack([before.point.weights, new]), before.n_iter
    here = before._replace(whole=False, last=False, converged=False)
    point = yield from while_at(here, landscape.point(weights, before.point.scores, before.point.offsets))
    while True:
        lower = point
        here = LogisticStep(low_rank, point, n_iter, converged=False, whole=False, last=False)
        if point.gap() > rule.tol * point.primal:
            lower = yield from while_at(here, landscape.lower(point))
        is_stuck, point = lower is point, lower
        converged, n_iter = point.gap() <= rule.tol * point.primal, n_iter + 1
        last = converged or is_stuck or n_iter >= rule.max_iter
        yield LogisticStep(low_rank, point, n_iter, converged, whole=True, last=last)
        if last:
            return


def without_columns(low_rank: LowRank) -> LowRank:
    """Return the factorisation before its first column."""
    return low_rank._replace(
        factor=low_rank.factor[:, :0],
        pivots=low_rank.pivots[:0],
        triangle=low_rank.triangle[:0, :0],
        errors=low_rank.errors[:1],
    )


def nothing_learnt(outcomes: Outcomes) -> LogisticPoint:
    """Return the point that knows no more than how often each class occurs."""
    scores = np.zeros((outcomes.codes.size, outcomes.n_scores()))
    offsets = best_offsets(outcomes, scores, np.zeros(outcomes.n_scores()))
    empty = np.empty((0, outcomes.n_scores()))
    return LogisticPoint(empty, offsets, scores, empty, total_loss(outcomes, scores + offsets))


# --- the loss of some scores ----------------------------------------------------------------------


def padded(scores: np.ndarray) -> np.ndarray:
    """Return a column for each class, each in one piece: of two classes, the first has the score 0.

    >>> padded(np.array([[3.0]]))
    array([[0., 3.]])
    """
    return np.asfortranarray(scores) if scores.shape[1] > 1 else np.array([np.zeros(len(scores)), scores[:, 0]]).T


def log_probabilities(scores: np.ndarray) -> np.ndarray:
    """Return the logarithm of the probability of each class, shape (n, n_classes)."""
    whole = padded(scores)
    below = whole - whole.max(axis=1, keepdims=True)
    return below - np.log(np.exp(below).sum(axis=1, keepdims=True))


def probabilities(scores: np.ndarray) -> np.ndarray:
    """Return the probability of each class, shape (n, n_classes)."""
    return np.exp(log_probabilities(scores))


def total_loss(outcomes: Outcomes, scores: np.ndarray) -> float:
    """Return Σ c_i (-log p_i,y)."""
    return -float(outcomes.costs @ log_probabilities(scores)[np.arange(outcomes.codes.size), outcomes.codes])


def asked_for(outcomes: Outcomes, scores: np.ndarray) -> np.ndarray:
    """Return α_i = c_i (1_y - p_i), for each column of scores."""
    asked = -probabilities(scores)
    asked[np.arange(outcomes.codes.size), outcomes.codes] += 1.0
    return (outcomes.costs[:, None] * asked)[:, -scores.shape[1] :]


def best_offsets(outcomes: Outcomes, scores: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return the b that cost least beside these scores, by Newton's method from ``start``; then Σα = 0."""
    offsets, total = start, float(outcomes.costs.sum())
    if not outcomes.has_offset:
        return offsets
    loss = total_loss(outcomes, scores + offsets)
    for _ in range(MOST_SHIFTS):
        wanted = asked_for(outcomes, scores + offsets).sum(axis=0)
        if np.abs(wanted).max() <= BALANCED * total:
            break
        P = probabilities(scores + offsets)
        shift = balance_of(P, outcomes.costs, scores.shape[1]) @ wanted
        size, lower = 1.0, np.inf
        while (lower := total_loss(outcomes, scores + offsets + size * shift)) > loss * (1.0 + BALANCED):
            size *= 0.5
        offsets, loss = offsets + size * shift, lower
    return offsets


def balance_of(P: np.ndarray, costs: np.ndarray, n_scores: int) -> np.ndarray:
    """Return the inverse of Σ c_i (diag p_i - p_i p_iᵀ), for the columns of scores: from Σα to a change of b.

    Of several classes, b is free up to a constant: its sum stays as it is.
    """
    weighted = P * costs[:, None]
    curvature = (np.diag(weighted.sum(axis=0)) - P.T @ weighted)[-n_scores:, -n_scores:]
    constant = np.trace(curvature) / n_scores**2 if n_scores > 1 else 0.0
    return np.linalg.pinv(curvature + constant, hermitian=True)


# --- the way down ---------------------------------------------------------------------------------


class Landscape:
    """What the weights of some features cost, and how it falls."""

    def __init__(self, columns: np.ndarray, outcomes: Outcomes, n_threads: int) -> None:
        self.features, self.outcomes = Features(columns, n_threads), outcomes
        self.squares = self.features.squares()

    def point(self, weights: np.ndarray, scores: np.ndarray, offsets: np.ndarray) -> Pieces[LogisticPoint]:
        """Return the point with these weights and scores F W, and the best offsets."""
        offsets = best_offsets(self.outcomes, scores, offsets)
        gradient = weights - (yield from self.features.back(asked_for(self.outcomes, scores + offsets)))
        primal = 0.5 * float(np.vdot(weights, weights)) + total_loss(self.outcomes, scores + offsets)
        return LogisticPoint(weights, offsets, scores, gradient, primal)

    def lower(self, point: LogisticPoint) -> Pieces[LogisticPoint]:
        """Return a point that costs less, or the same point if none is found."""
        curvature = yield from Curvature.at(self, point)
        V, change = yield from curvature.direction(point.gradient)
        shift = curvature.balancing(change)
        size, promised = 1.0, float(np.vdot(point.gradient, V))
        for _ in range(HALVINGS):
            weights, scores = point.weights + size * V, point.scores + size * change
            offsets = point.offsets + size * shift
            primal = 0.5 * float(np.vdot(weights, weights)) + total_loss(self.outcomes, scores + offsets)
            if primal <= point.primal + ENOUGH * size * promised:
                return (yield from self.point(weights, scores, offsets))
            size *= 0.5
        return point


class Curvature(NamedTuple):
    """The second derivative at a point, and a matrix that is nearly that of each column of weights."""

    landscape: Landscape
    shares: np.ndarray  # (n, n_classes) p
    balance: np.ndarray  # (n_scores, n_scores) from Σα to the change of b that takes it away
    preconditioner: tuple  # its Cholesky factor

    @classmethod
    def at(cls, landscape: Landscape, point: LogisticPoint) -> Pieces[Curvature]:
        """Return the curvature at a point."""
        outcomes, n_scores = landscape.outcomes, point.offsets.size
        P = probabilities(point.scores + point.offsets)
        balance = np.zeros((n_scores, n_scores))
        if outcomes.has_offset:
            balance = balance_of(P, outcomes.costs, n_scores)
        mean = outcomes.costs * (P * (1.0 - P))[:, -n_scores:].mean(axis=1)
        centre = np.zeros(point.weights.shape[0])
        if outcomes.has_offset and mean.any():
            centre = (yield from landscape.features.back(mean[:, None]))[:, 0] / mean.sum()
        is_enough = np.finfo(np.float32).eps * float(mean @ landscape.squares) <= ROOM_OF_FLOAT32  # tr FᵀD̄F
        matrix = yield from landscape.features.weighted_gram(
            mean, centre, np.dtype(np.float32 if is_enough else np.float64)
        )
        matrix[np.diag_indices_from(matrix)] += 1.0
        with one_blas_thread():
            return cls(landscape, P, balance, linalg.cho_factor(matrix, lower=True, check_finite=False))

    def direction(self, gradient: np.ndarray) -> Pieces[tuple[np.ndarray, np.ndarray]]:
        """Return V with V + Fᵀ D F V ≈ -gradient, and F V: the closer, the smaller the gradient is."""
        V, change, rest = np.zeros_like(gradient), np.zeros(self._change_shape(gradient)), -gradient
        goal = min(0.1, float(np.linalg.norm(gradient)) ** 0.5) * float(np.linalg.norm(gradient))
        solved = self._solved(rest)
        towards, size = solved, float(np.vdot(rest, solved))
        for _ in range(MOST_PRODUCTS):
            ahead = yield from self.landscape.features.ahead(towards)
            product = towards + (yield from self.landscape.features.back(self._bent(ahead)))
            length = size / float(np.vdot(towards, product))
            V, change, rest = V + length * towards, change + length * ahead, rest - length * product
            if np.linalg.norm(rest) <= goal:
                break
            solved, before = self._solved(rest), size
            size = float(np.vdot(rest, solved))
            towards = solved + (size / before) * towards
        return V, change

    def balancing(self, change: np.ndarray) -> np.ndarray:
        """Return the change of b that goes with a change of F W."""
        return -self.balance @ self._plainly_bent(change).sum(axis=0)

    def _bent(self, change: np.ndarray) -> np.ndarray:
        """Return D times a change of the scores, with the change of b that keeps Σα = 0."""
        return self._plainly_bent(change + self.balancing(change))

    def _plainly_bent(self, change: np.ndarray) -> np.ndarray:
        whole, costs = padded(change), self.landscape.outcomes.costs
        mean = np.einsum("ic,ic->i", self.shares, whole)
        return (costs[:, None] * self.shares * (whole - mean[:, None]))[:, -change.shape[1] :]

    def _solved(self, rest: np.ndarray) -> np.ndarray:
        with one_blas_thread():
            return linalg.cho_solve(self.preconditioner, rest, check_finite=False)

    def _change_shape(self, gradient: np.ndarray) -> tuple[int, int]:
        return self.shares.shape[0], gradient.shape[1]
