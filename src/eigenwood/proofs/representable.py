"""Can a weighted vote of given weak classifiers get every row right? Weights, or a proof that there are none.

M has a row for each example and a column for each classifier, M_it = y_i h_t(x_i), which is 1 where it is right and
-1 where it is wrong. Weights β with Σ|β_t| = 1 give row i the margin (Mβ)_i. Two linear programmes face each other:

    largest smallest margin      max_β min_i (Mβ)_i        =        min_D max_t |(DᵀM)_t|      smallest largest edge

over weights β and over distributions D on the rows (von Neumann). If β is to be nonnegative, the edge is without the
bars. The vote can be right everywhere if and only if both sides are above 0. Otherwise there is a D under which no
classifier has an edge: then Σ_i D_i y_i f(x_i) ≤ 0 for every f = Σ_t β_t h_t, so some row is wrong or undecided.

Nothing that the solver says is trusted: β and D are its proposals, margins and edges are taken from M again. A D of
small fractions is written in whole numbers, and then its edges are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from scipy.optimize import linprog

from eigenwood.proofs.claim import Certificate, Claim, at_least, at_most, measured, not_claimed

MARGIN_ROUNDING = 1e-12  # a margin or an edge of this size may be 0
UNSEEN = 1e-9  # a share of the rows this small is 0 that the solver has not quite reached
MOST_PARTS = 10_000  # a distribution whose shares are fractions with such denominators is written in whole numbers


@dataclass(frozen=True)
class Representation:
    """Whether a weighted vote can get every row right, and what shows it.

    ``weights`` give every row at least ``margin``, and no weights of the same sum |β| give every row more than
    ``limit``: under ``distribution`` no classifier has a larger edge. ``counts`` is the distribution in whole numbers,
    None if it is none of small fractions.
    """

    holds: bool | None
    weights: np.ndarray
    margin: float
    distribution: np.ndarray
    counts: np.ndarray | None
    limit: float
    certificate: Certificate

    def __str__(self) -> str:
        return str(self.certificate)


def represented(votes: np.ndarray, signs: np.ndarray, nonnegative: bool, time_limit: float | None) -> Representation:
    """Return whether weights of the votes, -1 or 1 in (n_rows, n_classifiers), can agree with all signs."""
    right = votes.astype(np.int64) * signs.astype(np.int64)[:, None]
    distinct, first = np.unique(right, axis=0, return_index=True)
    weights, shares = proposals(distinct, nonnegative, time_limit)
    counts = whole_numbers(shares)
    if counts is not None and largest_edge(distinct, counts, nonnegative) > 0:
        counts = None
    on_rows = np.zeros(len(right), dtype=np.float64)
    on_rows[first] = shares if counts is None else counts / counts.sum()
    row_counts = None
    if counts is not None:
        row_counts = np.zeros(len(right), dtype=np.int64)
        row_counts[first] = counts
    margin, limit = float((distinct @ weights).min()), limit_of(right, on_rows, row_counts, nonnegative)
    holds = True if margin > MARGIN_ROUNDING else False if limit <= MARGIN_ROUNDING else None
    certificate = Certificate(claims_of(right, weights, on_rows, row_counts, nonnegative, holds))
    return Representation(holds, weights, margin, on_rows, row_counts, limit, certificate)


# ---- what the solver proposes --------------------------------------------------------------------------------------


def proposals(right: np.ndarray, nonnegative: bool, time_limit: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and a distribution from the linear programme; equal shares if it was stopped too early."""
    n_rows, n_classifiers = right.shape
    parts = right if nonnegative else np.hstack([right, -right])
    options = {} if time_limit is None else {"time_limit": float(time_limit)}
    solved = linprog(
        c=np.append(np.zeros(parts.shape[1]), -1.0),
        A_ub=np.hstack([-parts, np.ones((n_rows, 1))]),
        b_ub=np.zeros(n_rows),
        A_eq=np.append(np.ones(parts.shape[1]), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0.0, None)] * parts.shape[1] + [(None, None)],
        options=options,
    )
    weights, shares = np.full(n_classifiers, 1.0 / n_classifiers), np.full(n_rows, 1.0 / n_rows)
    if solved.x is not None:
        positive = np.maximum(solved.x[:-1], 0.0)
        own = positive if nonnegative else positive[:n_classifiers] - positive[n_classifiers:]
        weights = own / np.abs(own).sum() if own.any() else weights
    if solved.status == 0:
        shares = refined(right, np.maximum(-solved.ineqlin.marginals, 0.0), nonnegative)
    return weights, shares


def refined(right: np.ndarray, shares: np.ndarray, nonnegative: bool) -> np.ndarray:
    """Return a distribution near to the solver's, under which edges that should be 0 are 0 to the last digits."""
    shares = np.where(shares > UNSEEN, shares, 0.0) / shares.sum()
    support, edges = np.flatnonzero(shares), shares @ right
    near = np.flatnonzero(np.abs(edges) <= UNSEEN * 100)
    if near.size == 0:
        return shares / shares.sum()
    system = np.vstack([right[np.ix_(support, near)].T, np.ones(support.size)])
    rest = np.append(edges[near], shares.sum() - 1.0)
    better = shares.copy()
    better[support] -= np.linalg.lstsq(system, rest, rcond=None)[0]
    return better if better.min() >= 0.0 else shares / shares.sum()


def whole_numbers(shares: np.ndarray) -> np.ndarray | None:
    """Return whole numbers in the same ratios as shares of small fractions, or None.

    >>> whole_numbers(np.array([0.5, 0.0, 1 / 3, 1 / 6])).tolist()
    [3, 0, 2, 1]
    """
    fractions = [Fraction(float(share)).limit_denominator(MOST_PARTS) for share in shares]
    parts = lcm(*(fraction.denominator for fraction in fractions))
    if parts > MOST_PARTS or max(abs(float(f) - s) for f, s in zip(fractions, shares, strict=True)) > UNSEEN:
        return None
    return np.array([int(fraction * parts) for fraction in fractions], dtype=np.int64)


# ---- what is shown, without the solver -----------------------------------------------------------------------------


def largest_edge(right: np.ndarray, shares: np.ndarray, nonnegative: bool) -> float:
    """Return the largest edge of a classifier, of its opposite too if weights may be negative."""
    edges = shares @ right
    return float((edges if nonnegative else np.abs(edges)).max())


def limit_of(right: np.ndarray, shares: np.ndarray, counts: np.ndarray | None, nonnegative: bool) -> float:
    """Return the largest edge under a distribution, from whole numbers if there are any."""
    if counts is None:
        return largest_edge(right, shares, nonnegative)
    return largest_edge(right, counts, nonnegative) / float(counts.sum())


def claims_of(
    right: np.ndarray,
    weights: np.ndarray,
    shares: np.ndarray,
    counts: np.ndarray | None,
    nonnegative: bool,
    holds: bool | None,
) -> tuple[Claim, ...]:
    """Return the claims about weights and a distribution, from the votes alone."""
    margin, limit = float((right @ weights).min()), limit_of(right, shares, counts, nonnegative)
    off = max(abs(float(shares.sum()) - 1.0), -float(shares.min()), 0.0)
    size = abs(float(np.abs(weights).sum()) - 1.0) + (max(-float(weights.min()), 0.0) if nonnegative else 0.0)
    form = "β ≥ 0" if nonnegative else "β of any sign"
    exact = "exactly, in whole numbers" if counts is not None else "up to rounding"
    reached = at_least(
        "smallest margin", f"min y f(x) > 0 with Σ|β| = 1, {form}: every row is right", margin, MARGIN_ROUNDING
    )
    unbeaten = at_most(
        "largest edge",
        f"no classifier has an edge under D, {exact}: for {form} some row is never right",
        limit,
        0.0 if counts is not None else MARGIN_ROUNDING,
    )
    return (
        at_most("weights", f"|Σ|β| - 1| up to rounding, {form}", size, MARGIN_ROUNDING),
        reached if holds else found("smallest margin", "min y f(x) of the best weights that were found", margin, holds),
        at_most("distribution", "|ΣD - 1| and -min D, up to rounding", off, MARGIN_ROUNDING),
        unbeaten if holds is False else found("largest edge", "under D; no weights have more margin", limit, holds),
        at_most("duality", "smallest margin - largest edge ≤ 0, up to rounding", margin - limit, MARGIN_ROUNDING),
    )


def found(name: str, statement: str, value: float, holds: bool | None) -> Claim:
    """Return a number that is not the proof; where nothing was proved it is one that should have been."""
    return not_claimed(name, statement, value) if holds is None else measured(name, statement, value)
