"""What can be proved about gradient boosting, from its rows and its trees: the rounds are gone through once more.

    scores before a round ──► gradients g, hessians h ──► rows go down the tree ──► Σg, Σh of each node
                                                                │
    scores after it  ◄── + value of the leaf        value = - rate · Σg / (Σh + λ), or an order statistic of the rest

It shares nothing with the code that grows trees: no histogram, no rounding, plain NumPy in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from eigenwood.core.boosting.losses import (
    ABSOLUTE,
    BY_ORDER,
    CUSTOM,
    EXPONENTIAL,
    HUBER,
    LOGISTIC,
    POISSON,
    QUANTILE,
    SOFTMAX,
    SQUARED,
    mean_loss,
    weighted_quantile,
)
from eigenwood.core.boosting.types import BoostParams
from eigenwood.core.tree.types import LEAF, Tree
from eigenwood.proofs.boosted_trees import (
    TINY,
    BoostedRows,
    NodeSums,
    are_counts,
    leaf_values,
    node_sums,
    odd_questions,
    question_gains,
    searched_shortfall,
)
from eigenwood.proofs.claim import Certificate, Claim, at_most, measured, not_claimed
from eigenwood.proofs.questions import passed
from eigenwood.proofs.tree import broken_orders, order_claim

ALIKE = 1e-6  # relative: stated losses have seven digits
SAME_VALUE = 1e-7  # of the largest value of a tree
SUM_ERROR = 1e-12  # by which sums in float64 may be off, beside what their terms come to without signs
SAME_BOUND, BOUND_ERROR = 1e-2, 1e-3  # the same where values are bounded by sums of rounded gradients
LEAST_GAIN = 1e-300  # of all questions, which is the square of amounts
SAME_GAINS = 5e-3  # of all gains, which are stated by rounded gradients
ROUND_SEED = 0xD1B54A32D192ED03
CUT_SHORT = ("time_limit", "callback")


class Trained(NamedTuple):
    """What the rounds of a fit say of themselves."""

    loss: int
    n_rounds: int
    n_wanted: int
    stop_reason: str
    losses: np.ndarray  # of training rows after each round
    learning_rate: float
    is_plain: bool  # every round saw all rows, and nothing bounds its values
    error: float  # share of training rows on the wrong side, for the exponential loss


class RoundsFound(NamedTuple):
    """What was found when all rounds were gone through."""

    losses: np.ndarray
    gains: np.ndarray  # (n_features,)
    n_values: int  # leaves whose value is another one
    n_counts: int  # leaves with other rows or weights
    n_questions: int  # questions that are not at a cut between bins, or do not send what is new to the heavier side
    shortfall: float  # of the worst split that was looked at, as a share of its tree's gain
    n_searched: int
    n_broken: int  # questions that break an order
    oob: np.ndarray  # (n_rounds, 2) loss of the rows that a round did not draw, before and after it
    scores: np.ndarray  # after the last round
    deltas: np.ndarray  # (n_rounds + 1,) where Huber's loss turns into lines, before each round and at the end


# ---- claims that follow from the rounds themselves ----------------------------------------------------------------


def certificate_of(trained: Trained) -> Certificate:
    """Return the claims of a fit."""
    return Certificate(tuple(round_claims(trained)))


def round_claims(trained: Trained) -> Iterator[Claim]:
    """Yield what is claimed about the number of rounds and the training loss."""
    statement = "rounds that were kept"
    if trained.stop_reason in CUT_SHORT:
        told = f"{statement}, of {trained.n_wanted}; stop_reason_ is '{trained.stop_reason}'"
        yield not_claimed("rounds", told, trained.n_rounds)
    else:
        yield at_most("rounds", f"{statement}, and how many there may be", trained.n_rounds, trained.n_wanted)
    if trained.losses.size:
        yield measured("training loss", "mean loss of the training rows", float(trained.losses[-1]))
    if trained.loss == SQUARED and trained.is_plain and trained.learning_rate <= 1.0:
        rises = np.diff(trained.losses) > ALIKE * trained.losses[:-1]
        yield at_most("loss never rose", "rounds after which the training loss was larger", int(rises.sum()), 0)
    if trained.loss == EXPONENTIAL:
        told = "share of the training rows on the wrong side ≤ mean exponential loss"
        yield at_most("training error", told, trained.error, float(trained.losses[-1]) * (1.0 + ALIKE))


def training_error(y: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> float:
    """Return the share of rows, by weight, that a score has on the wrong side of 0."""
    return float(np.average((scores > 0) != (y > 0), weights=weights))


# ---- losses in plain NumPy ----------------------------------------------------------------------------------------


def gradients_of(loss: int, alpha: float, delta: float, y: np.ndarray, scores: np.ndarray, k: int) -> tuple:
    """Return gradient and hessian of the scores ``(n_outputs, n_rows)`` for output k."""
    F = scores[k]
    ones = np.ones(y.size)
    if loss == SQUARED:
        return F - y, ones
    if loss == ABSOLUTE:
        return np.sign(F - y), ones
    if loss == HUBER:
        return np.clip(F - y, -delta, delta), ones
    if loss == QUANTILE:
        return np.where(y < F, 1.0 - alpha, -alpha), ones
    if loss == POISSON:
        return np.exp(F) - y, np.exp(F)
    if loss == LOGISTIC:
        p, q = 1.0 / (1.0 + np.exp(-F)), 1.0 / (1.0 + np.exp(F))
        return np.where(y > 0, -q, p), p * q
    if loss == EXPONENTIAL:
        each = np.exp(np.where(y > 0, -F, F))
        return np.where(y > 0, -each, each), each
    shares = np.exp(scores - scores.max(axis=0))
    shares /= shares.sum(axis=0)
    p = shares[k]
    return p - (y == k), p * (1.0 - p)


def total_loss(
    loss: int, alphas: np.ndarray, delta: float, y: np.ndarray, scores: np.ndarray, weights: np.ndarray
) -> float:
    """Return the mean loss of all outputs."""
    if loss == SOFTMAX:
        return mean_loss(loss, y, scores, weights, 0.5, delta)
    return sum(mean_loss(loss, y, own[None], weights, alpha, delta) for own, alpha in zip(scores, alphas, strict=True))


# ---- all rounds ---------------------------------------------------------------------------------------------------


def gone_through(
    trees: Iterator[Tree],
    rows: BoostedRows,
    start: np.ndarray,
    params: BoostParams,
    alphas: np.ndarray,
    loss: Callable[[np.ndarray, np.ndarray], Any] | None,
    drawn: Callable[[int], np.ndarray | None],
    looks_at: set[int],
    seed: int,
    check: Callable[[], None],
) -> RoundsFound:
    """Return what is found when the rounds are gone through; ``drawn`` gives the rows of a round, None for all.

    ``looks_at`` has the numbers of the trees whose splits are searched.
    """
    scores, K, rng = start.copy(), start.shape[0], np.random.default_rng(seed)
    losses, gains, oob, deltas = [], np.zeros(rows.is_category.size), [], []
    n_values = n_counts = n_questions = n_searched = n_broken = 0
    shortfall, everything = 0.0, np.arange(rows.y.size)
    delta, before = np.nan, scores
    for number, tree in enumerate(trees):
        check()
        t, k = divmod(number, K)
        if k == 0:
            before = scores.copy()
            if params.loss == HUBER:
                delta = weighted_quantile(np.abs(rows.y - scores[0]), rows.weights, params.alpha)
            deltas.append(delta)
        found = passed(tree, rows.X)
        if k == 0:
            picked = drawn(t)
        inside = everything if picked is None else picked
        part = taken(rows, inside)
        g, h = (
            loss(rows.y, before[0])
            if loss is not None
            else gradients_of(params.loss, alphas[k], delta, rows.y, before, k)
        )
        leaves = found.leaves[inside]
        sums = node_sums(tree, leaves, part.weights, g[inside], h[inside])
        ends = tree.left == LEAF
        rest = (rows.y - before[k])[inside]
        wanted = leaf_values(tree, sums, leaves, part, rest, params, alphas[k], delta)
        least = BOUND_ERROR if params.has_bounds else SUM_ERROR
        least *= step_size(part.weights, g[inside], h[inside], rest, params)
        n_counts += counts_differ(tree, sums, part)
        n_values += values_differ(tree.value[ends, 0], wanted[ends], params.has_bounds, least)
        own = passed(tree, part.X) if picked is not None else found
        n_questions += odd_questions(tree, own, sums, rows)
        asked = question_gains(tree, sums, params, rows.monotonic_cst)
        gains += np.bincount(tree.feature[~ends], asked[~ends], minlength=gains.size)
        if number in looks_at:
            lost, n = searched_shortfall(tree, leaves, sums, g[inside], h[inside], part, params, rng)
            shortfall, n_searched = max(shortfall, lost), n_searched + n
        n_broken += broken_orders(tree, rows.monotonic_cst)
        scores[k] += tree.value[found.leaves, 0]
        if params.loss == HUBER:  # losses are those of the rest after the round
            delta = weighted_quantile(np.abs(rows.y - scores[0]), rows.weights, params.alpha)
        if k == K - 1 and picked is not None and params.loss != CUSTOM:
            others = np.setdiff1d(everything, picked)
            oob.append([
                total_loss(params.loss, alphas, delta, rows.y[others], own[:, others], rows.weights[others])
                for own in (before, scores)
            ])  # fmt: skip
        if k == K - 1:
            losses.append(np.nan if params.loss == CUSTOM else total_loss(
                params.loss, alphas, delta, rows.y, scores, rows.weights
            ))  # fmt: skip
    return RoundsFound(
        np.array(losses),
        gains,
        n_values,
        n_counts,
        n_questions,
        shortfall,
        n_searched,
        n_broken,
        np.array(oob),
        scores,
        np.array([*deltas, delta]),
    )


def round_draw(seed: int, number: int, n_rows: int, n_wanted: int) -> np.ndarray:
    """Return the rows that a round draws, each with the same chance: row i with the share that is still wanted."""
    with np.errstate(over="ignore"):
        first = scrambled(np.array([seed], dtype=np.uint64) ^ np.uint64(ROUND_SEED * (number + 1) % 2**64))
        bits = scrambled(first + np.arange(n_rows, dtype=np.uint64))
    chances, drawn = (bits >> np.uint64(11)).astype(np.float64) / 2.0**53, list[int]()
    for i, chance in enumerate(chances.tolist()):
        if chance * (n_rows - i) < n_wanted - len(drawn):
            drawn.append(i)
    return np.array(drawn, dtype=np.int64)


def scrambled(bits: np.ndarray) -> np.ndarray:
    """Return well-mixed bits (the finisher of SplitMix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def taken(rows: BoostedRows, inside: np.ndarray) -> BoostedRows:
    """Return some of the rows."""
    return rows if inside.size == rows.y.size else rows._replace(
        X=rows.X[inside], y=rows.y[inside], weights=rows.weights[inside]
    )  # fmt: skip


def counts_differ(tree: Tree, sums: NodeSums, rows: BoostedRows) -> int:
    """Return how many leaves have other rows or another weight than they say."""
    ends = tree.left == LEAF
    n_rows = sums.weight if are_counts(rows) else sums.n_rows
    off = np.abs(tree.n_rows - n_rows) > 0.5
    off |= np.abs(tree.weight - sums.weight) > SAME_VALUE * np.maximum(sums.weight, TINY)
    return int(off[ends].sum())


def step_size(weights: np.ndarray, g: np.ndarray, h: np.ndarray, rest: np.ndarray, params: BoostParams) -> float:
    """Return how long steps of a tree can be, about: its rounding errors are as large as shares of this."""
    if params.loss in BY_ORDER:
        return params.learning_rate * float(np.abs(rest).max())
    return params.learning_rate * float(weights @ np.abs(g)) / max(float(weights @ h) + params.l2, TINY)


def values_differ(stated: np.ndarray, wanted: np.ndarray, has_bounds: bool, least: float) -> int:
    """Return how many values of leaves are others, by more than ``least``; bounds follow from rounded sums."""
    slack = max((SAME_BOUND if has_bounds else SAME_VALUE) * float(np.nanmax(np.abs(wanted))), least)
    return int((~(np.abs(stated - wanted) <= slack)).sum())


def oob_claim(found: RoundsFound, stated: np.ndarray, improvement: np.ndarray) -> Claim:
    """Return the claim that losses of rows that rounds did not draw are found again; earlier ones are not there."""
    before, after = found.oob[-stated.size :].T
    off = np.abs(stated - after) > ALIKE * np.maximum(np.abs(after), 1e-12)
    off |= np.abs(improvement - (before - after)) > ALIKE * np.maximum(np.abs(before), 1e-12)
    return at_most("out of bag", "losses of rows not drawn that are not found again", int(off.sum()), 0)


def found_claims(
    found: RoundsFound, stated_losses: np.ndarray, stated_gains: np.ndarray, has_bounds: bool
) -> Iterator[Claim]:
    """Yield the claims that follow from the rounds."""
    yield at_most("leaf values", "leaves whose value is not what the gradients of their rows give", found.n_values, 0)
    yield at_most("leaf rows", "leaves with other rows or another weight than they say", found.n_counts, 0)
    told = "questions not at a cut between bins, or with the lighter side for what is new"
    yield at_most("questions", told, found.n_questions, 0)
    told = f"share of a tree's gain by which another split was better than one of {found.n_searched} that were searched"
    yield at_most("best splits", told, found.shortfall, ALIKE)
    if stated_losses.size:
        off = np.abs(stated_losses - found.losses) > ALIKE * np.maximum(np.abs(found.losses), 1e-12)
        yield at_most("losses", "training losses that are not found again", int(off.sum()), 0)
    statement = "share of all gains by which feature_gains_ differ from those found again"
    total, off = float(found.gains.sum()), float(np.abs(stated_gains - found.gains).sum())
    yield at_most("gains", statement, off / total if total > LEAST_GAIN else float(stated_gains.any()), SAME_GAINS)
    if has_bounds:
        yield order_claim(found.n_broken)
