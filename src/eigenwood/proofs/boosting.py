"""What can be proved about gradient boosting, from its rows and its trees: the rounds are gone through once more.

    scores before a round ──► gradients g, hessians h ──► rows go down the tree ──► Σg, Σh of each node
                                                                │
    scores after it  ◄── + value of the leaf        value = - rate · Σg / (Σh + λ), or an order statistic of the rest

It shares nothing with the code that grows trees: no histogram, no rounding, plain NumPy in float64. Splits were found
in rounded gradients; with u the unit they were rounded to, a sum over n rows is off by at most n u, and by some u √n if
the errors are those of a fair draw. No split may be better than the one chosen by more than that explains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from eigenwood.core.boosting.losses import (
    ABSOLUTE,
    CUSTOM,
    EXPONENTIAL,
    FLAT,
    HUBER,
    LOGISTIC,
    LONGEST_STEP,
    POISSON,
    QUANTILE,
    SOFTMAX,
    SQUARED,
    mean_loss,
    weighted_quantile,
)
from eigenwood.core.boosting.types import BoostParams
from eigenwood.core.tree.types import LEAF, Tree
from eigenwood.proofs.claim import Certificate, Claim, at_most, measured, not_claimed
from eigenwood.proofs.questions import entries, passed
from eigenwood.proofs.tree import broken_orders, order_claim

ALIKE = 1e-6  # relative: stated losses have seven digits
SAME_VALUE = 1e-7  # of the largest value of a tree
SAME_BOUND = 1e-2  # the same where values are bounded by sums of rounded gradients
SAME_GAINS = 5e-3  # of all gains, which are stated by rounded gradients
SIGMAS = 3.0  # times the unit of rounding and √n: six standard deviations
TINY = 1e-150
SEARCHED = 4  # nodes of a tree
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


class BoostedRows(NamedTuple):
    """Training rows, in the order in which they were drawn from."""

    X: Any
    y: np.ndarray
    weights: np.ndarray
    is_category: np.ndarray  # (n_features,)
    monotonic_cst: np.ndarray  # (n_features,)
    cuts: list[np.ndarray]  # of each column of numbers
    most_alike: float  # the weight of the most frequent row, if weights count rows


def are_counts(rows: BoostedRows) -> bool:
    """Return whether weights count rows."""
    return bool((rows.weights == np.round(rows.weights)).all())


class NodeSums(NamedTuple):
    """What the rows of each node of a tree add up to."""

    n_rows: np.ndarray
    weight: np.ndarray
    gradient: np.ndarray
    hessian: np.ndarray


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


# ---- trees --------------------------------------------------------------------------------------------------------


def node_sums(tree: Tree, leaves: np.ndarray, weights: np.ndarray, g: np.ndarray, h: np.ndarray) -> NodeSums:
    """Return the sums of all nodes, from those of the leaves up."""
    n, parts = tree.left.size, []
    for values in (None, weights, weights * g, weights * h):
        own = np.bincount(leaves, values, minlength=n).astype(np.float64)
        for node in range(n - 1, -1, -1):
            if tree.left[node] != LEAF:
                own[node] = own[tree.left[node]] + own[tree.right[node]]
        parts.append(own)
    return NodeSums(*parts)


def leaf_values(
    tree: Tree,
    sums: NodeSums,
    leaves: np.ndarray,
    rows: BoostedRows,
    rest: np.ndarray,
    params: BoostParams,
    alpha: float,
    delta: float,
) -> np.ndarray:
    """Return what each node adds to the scores of its rows; NaN where it is no leaf of any row."""
    if params.loss not in (ABSOLUTE, HUBER, QUANTILE):
        longest = LONGEST_STEP if params.loss in (POISSON, LOGISTIC, EXPONENTIAL, SOFTMAX) else np.inf
        return params.learning_rate * bounded_steps(tree, sums, params.l2, rows.monotonic_cst, longest)
    values = np.full(sums.n_rows.size, np.nan)
    order = np.argsort(leaves, kind="stable")
    nodes, starts = np.unique(leaves[order], return_index=True)
    for node, own in zip(nodes, np.split(order, starts[1:]), strict=True):
        middle = weighted_quantile(rest[own], rows.weights[own], alpha if params.loss == QUANTILE else 0.5)
        if params.loss == HUBER:
            middle += np.average(np.clip(rest[own] - middle, -delta, delta), weights=rows.weights[own])
        values[node] = params.learning_rate * middle
    return values


def bounded_steps(
    tree: Tree, sums: NodeSums, l2: float, monotonic_cst: np.ndarray, longest: float = np.inf
) -> np.ndarray:
    """Return the step of Newton's method at each node, at leaves not too long, within the bounds of constraints.

    Below a question about a feature with a sign, values lie on their side of the middle between those of its parts.
    """
    hessian = sums.hessian + l2
    newton = np.where(hessian > TINY, -sums.gradient / np.maximum(hessian, TINY), 0.0)
    steps = np.where(tree.left == LEAF, np.clip(newton, -longest, longest), newton)
    lower, upper = np.full(steps.size, -np.inf), np.full(steps.size, np.inf)
    for node in range(steps.size):
        steps[node] = min(max(steps[node], lower[node]), upper[node])
        left, right, sign = tree.left[node], tree.right[node], monotonic_cst[tree.feature[node]]
        if left == LEAF:
            continue
        for child in (left, right):
            lower[child], upper[child] = lower[node], upper[node]
        if sign != 0:
            middle = 0.5 * np.clip(newton[[left, right]], lower[node], upper[node]).sum()
            low, high = (left, right) if sign > 0 else (right, left)
            upper[low] = lower[high] = middle
    return steps


def question_gains(tree: Tree, sums: NodeSums, params: BoostParams, monotonic_cst: np.ndarray) -> np.ndarray:
    """Return what the question of each node gains; 0 at a leaf."""
    steps = bounded_steps(tree, sums, params.l2, monotonic_cst)
    worth = -2.0 * sums.gradient * steps - (sums.hessian + params.l2) * steps**2
    inner = tree.left != LEAF
    return np.where(inner, worth[tree.left] + worth[tree.right] - worth, 0.0)


def odd_questions(tree: Tree, found: Any, sums: NodeSums, rows: BoostedRows) -> int:
    """Return how many questions are not at a cut between bins, or send what was never seen to the lighter side."""
    n_odd, n_rows = 0, sums.weight if are_counts(rows) else sums.n_rows
    for node in np.flatnonzero(tree.left != LEAF):
        listed = slice(tree.category_start[node], tree.category_start[node + 1])
        if listed.stop > listed.start:
            is_right = True  # a category that is not seen at the node may share its bin with one that is
        else:
            cuts = rows.cuts[tree.feature[node]]
            at = np.searchsorted(cuts, tree.threshold[node])
            is_right = at < cuts.size and cuts[at] == tree.threshold[node]
        left_heavier = n_rows[tree.left[node]] > n_rows[tree.right[node]]
        n_odd += not is_right or (not found.met_missing[node] and tree.default_left[node] != left_heavier)
    return n_odd


# ---- is there a better split? -------------------------------------------------------------------------------------


class Rounding(NamedTuple):
    """By how much sums of a tree's gradients and hessians may be off."""

    gradient: float  # the units they were rounded to
    hessian: float
    most_alike: float

    def errors(self, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        most = np.minimum(n, SIGMAS * np.sqrt(n * self.most_alike))
        return self.gradient * most, self.hessian * most


def worst_gain_error(G: np.ndarray, H: np.ndarray, n: np.ndarray, l2: float, rounding: Rounding) -> np.ndarray:
    """Return by how much G² / (H + λ) of a side may be off."""
    dG, dH = rounding.errors(n)
    least = np.maximum(H + l2 - dH, TINY)
    return (2.0 * np.abs(G) * dG + dG**2) / least + G**2 * dH / (least * np.maximum(H + l2, TINY))


def shortfall_at(
    node_rows: np.ndarray,
    chosen: float,
    features: list[int],
    g: np.ndarray,
    h: np.ndarray,
    rows: BoostedRows,
    params: BoostParams,
    rounding: Rounding,
) -> float:
    """Return by how much the best cut of some columns gains more than the one that was made, beyond all rounding."""
    w = rows.weights[node_rows]
    own_g, own_h = w * g[node_rows], w * h[node_rows]
    counts = w if are_counts(rows) else np.ones(node_rows.size)
    G, H, C = own_g.sum(), own_h.sum(), counts.sum()
    worst = -np.inf
    for feature in features:
        x = entries(rows.X, node_rows, np.full(node_rows.size, feature))
        known = ~np.isnan(x)
        codes = np.searchsorted(rows.cuts[feature], x[known])
        n_bins = rows.cuts[feature].size
        left = [np.cumsum(np.bincount(codes, part[known], minlength=n_bins)) for part in (own_g, own_h, counts)]
        worst = max(worst, best_cut(left, (G, H, C), params, rounding) - chosen)
    return worst


def best_cut(left: list[np.ndarray], total: tuple, params: BoostParams, rounding: Rounding) -> float:
    """Return the gain of the best cut that was allowed whatever the rounding, less its error; missing rows go right."""
    (g, h, c), (G, H, C), l2 = left, total, params.l2
    _, dH = rounding.errors(np.full(c.size, C))
    least_h = params.min_hessian + (dH if params.loss not in FLAT else 0.0)
    allowed = (np.minimum(c, C - c) >= params.min_samples_leaf) & (np.minimum(h, H - h) >= least_h) & (c > 0) & (c < C)
    if not allowed.any():
        return -np.inf
    worth = g**2 / np.maximum(h + l2, TINY) + (G - g) ** 2 / np.maximum(H - h + l2, TINY) - G**2 / max(H + l2, TINY)
    error = worst_gain_error(g, h, c, l2, rounding) + worst_gain_error(G - g, H - h, C - c, l2, rounding)
    at = int(np.argmax(np.where(allowed, worth - error, -np.inf)))
    return float(worth[at] - error[at])


def searched_shortfall(
    tree: Tree,
    leaves: np.ndarray,
    sums: NodeSums,
    g: np.ndarray,
    h: np.ndarray,
    rows: BoostedRows,
    params: BoostParams,
    rng: np.random.Generator,
) -> tuple[float, int]:
    """Return the worst shortfall at the root and some other questions, as a share of the root's gain; and how many."""
    questions = np.flatnonzero(tree.left != LEAF)
    if questions.size == 0 or params.has_bounds:
        return 0.0, 0
    others = rng.choice(questions[1:], min(SEARCHED - 1, questions.size - 1), replace=False)
    gains, worst = question_gains(tree, sums, params, rows.monotonic_cst), 0.0
    levels = (1 << params.scale_bits) - 1
    is_flat = params.loss in FLAT and are_counts(rows)
    scale = 1.0 if are_counts(rows) else float(rows.weights.max())
    rounding = Rounding(
        scale * float(np.abs(g).max()) / levels, 0.0 if is_flat else scale * float(h.max()) / levels, rows.most_alike
    )
    for node in [0, *sorted(others.tolist())]:
        inside = np.flatnonzero(is_below(tree, node)[leaves])
        sides = [tree.left[node], tree.right[node]]
        error = sum(
            float(worst_gain_error(sums.gradient[i], sums.hessian[i], sums.weight[i], params.l2, rounding))
            for i in (*sides,)
        )
        features = [int(tree.feature[node])]
        if params.max_features == rows.is_category.size and not params.has_groups:
            features = list(range(rows.is_category.size))
        features = [j for j in features if not rows.is_category[j]]
        lost = shortfall_at(inside, float(gains[node]) + error, features, g, h, rows, params, rounding)
        worst = max(worst, lost / max(float(gains.sum()), TINY))
    return worst, 1 + len(others)


def is_below(tree: Tree, node: int) -> np.ndarray:
    """Return which nodes are a node or below it; trees are in preorder."""
    inside = np.zeros(tree.left.size, dtype=bool)
    inside[node] = True
    for i in range(node, tree.left.size):
        if inside[i] and tree.left[i] != LEAF:
            inside[tree.left[i]] = inside[tree.right[i]] = True
    return inside


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
    losses, gains, oob = [], np.zeros(rows.is_category.size), []
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
        wanted = leaf_values(tree, sums, leaves, part, (rows.y - before[k])[inside], params, alphas[k], delta)
        n_counts += counts_differ(tree, sums, part)
        n_values += values_differ(tree.value[ends, 0], wanted[ends], params.has_bounds)
        own = passed(tree, part.X) if picked is not None else found
        n_questions += odd_questions(tree, own, sums, rows)
        asked = question_gains(tree, sums, params, rows.monotonic_cst)
        gains += np.bincount(tree.feature[~ends], asked[~ends], minlength=gains.size)
        if number in looks_at:
            lost, n = searched_shortfall(tree, leaves, sums, g[inside], h[inside], part, params, rng)
            shortfall, n_searched = max(shortfall, lost), n_searched + n
        n_broken += broken_orders(tree, rows.monotonic_cst)
        scores[k] += tree.value[found.leaves, 0]
        if k == K - 1 and picked is not None and params.loss != CUSTOM:
            others = np.setdiff1d(everything, picked)
            oob.append([
                total_loss(params.loss, alphas, delta, rows.y[others], own[:, others], rows.weights[others])
                for own in (before, scores)
            ])  # fmt: skip
        if k == K - 1:
            if params.loss == HUBER:
                delta = weighted_quantile(np.abs(rows.y - scores[0]), rows.weights, params.alpha)
            losses.append(np.nan if params.loss == CUSTOM else total_loss(
                params.loss, alphas, delta, rows.y, scores, rows.weights
            ))  # fmt: skip
    return RoundsFound(
        np.array(losses), gains, n_values, n_counts, n_questions, shortfall, n_searched, n_broken, np.array(oob), scores
    )  # fmt: skip


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


def values_differ(stated: np.ndarray, wanted: np.ndarray, has_bounds: bool) -> int:
    """Return how many values of leaves are others; bounds follow from rounded sums."""
    slack = (SAME_BOUND if has_bounds else SAME_VALUE) * max(float(np.nanmax(np.abs(wanted))), 1e-12)
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
    off = float(np.abs(stated_gains - found.gains).sum()) / max(float(found.gains.sum()), TINY)
    yield at_most("gains", statement, off if found.gains.sum() > TINY else float(stated_gains.any()), SAME_GAINS)
    if has_bounds:
        yield order_claim(found.n_broken)
