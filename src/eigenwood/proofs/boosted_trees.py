"""The trees of gradient boosting, from gradients in float64: sums of nodes, values, gains, a search for better cuts.

Splits were found in rounded gradients; with u the unit they were rounded to, a sum over n rows is off by at most n u,
and by some u √n if the errors are those of a fair draw. No split may be better than the one chosen by more than that
explains.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eigenwood.core.boosting.losses import (
    ABSOLUTE,
    EXPONENTIAL,
    FLAT,
    HUBER,
    LOGISTIC,
    LONGEST_STEP,
    POISSON,
    QUANTILE,
    SOFTMAX,
    weighted_quantile,
)
from eigenwood.core.boosting.types import BoostParams
from eigenwood.core.tree.types import LEAF, Tree
from eigenwood.proofs.questions import entries

SIGMAS = 3.0  # times the unit of rounding and √n: six standard deviations
TINY = 1e-150
SEARCHED = 4  # nodes of a tree
SMOOTHING = 10.0  # rows of the whole node that a category is thought to have besides its own, where it is put in order


class BoostedRows(NamedTuple):
    """Training rows, in the order in which they were drawn from."""

    X: Any
    y: np.ndarray
    weights: np.ndarray
    is_category: np.ndarray  # (n_features,)
    monotonic_cst: np.ndarray  # (n_features,)
    cuts: list[np.ndarray]  # of each column of numbers
    bins: list[np.ndarray]  # of the categories of each column
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
    return kept_in_order(tree, values, rows.monotonic_cst)


def kept_in_order(tree: Tree, values: np.ndarray, monotonic_cst: np.ndarray) -> np.ndarray:
    """Return values of leaves, cut off where they are not in the order of monotone features.

    Of every question about one, from the last to the first, the values of both parts are cut off at the middle of where
    they overlap.
    """
    ends, kept = tree.left == LEAF, values.copy()
    for node in np.flatnonzero(~ends)[::-1]:
        sign = monotonic_cst[tree.feature[node]]
        if sign != 0:
            low, high = (ends & is_below(tree, child) for child in (tree.left[node], tree.right[node])[:: int(sign)])
            most, least = kept[low].max(), kept[high].min()
            if most > least:
                kept[low] = np.minimum(kept[low], 0.5 * (most + least))
                kept[high] = np.maximum(kept[high], 0.5 * (most + least))
    return kept


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
        left, right = tree.left[node], tree.right[node]
        if left == LEAF:
            continue
        sign = monotonic_cst[tree.feature[node]]
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
    return (2.0 * np.abs(G) * dG + dG**2) / least + (G / least) * (G / np.maximum(H + l2, TINY)) * dH


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
        is_category = rows.is_category[feature]
        codes = rows.bins[feature][x.astype(int)] if is_category else np.searchsorted(rows.cuts[feature], x[known])
        n_bins = rows.bins[feature].max() + 1 if is_category else rows.cuts[feature].size
        bins = np.array([np.bincount(codes, part[known], minlength=n_bins) for part in (own_g, own_h, counts)])
        cuts = category_cuts(bins, (G, H, C), params.l2, rounding) if is_category else np.cumsum(bins, axis=1)
        worst = max(worst, best_cut(cuts, (G, H, C), params, rounding) - chosen)
    return worst


def category_cuts(bins: np.ndarray, total: tuple, l2: float, rounding: Rounding) -> np.ndarray:
    """Return the sums of the first categories, put in order by gradient over hessian, smoothed towards the node's.

    Only cuts between categories whose order is the same whatever the rounding.
    """
    (G, H, C), (g, h, c) = total, bins[:, bins[2] > 0]
    dG, dH = rounding.errors(c)
    down = h + SMOOTHING * H / C + l2
    key = (g + SMOOTHING * G / C) / down
    all_G, all_H = rounding.errors(np.array([C]))
    off = (dG + SMOOTHING * all_G / C + np.abs(key) * (dH + SMOOTHING * all_H / C)) / np.maximum(down - dH, TINY)
    order = np.argsort(key, kind="stable")
    behind = np.minimum.accumulate((key - off)[order][::-1])[::-1]
    is_sure = np.maximum.accumulate((key + off)[order])[:-1] < behind[1:]
    return np.cumsum(np.array([g, h, c])[:, order], axis=1)[:, :-1][:, is_sure]


def best_cut(left: np.ndarray, total: tuple, params: BoostParams, rounding: Rounding) -> float:
    """Return the gain of the best cut that was allowed whatever the rounding, less its error; missing rows go right."""
    (g, h, c), (G, H, C), l2 = left, total, params.l2
    if c.size == 0:
        return -np.inf
    _, dH = rounding.errors(np.full(c.size, C))
    least_h = params.min_hessian + (dH if params.loss not in FLAT else 0.0)
    allowed = (np.minimum(c, C - c) >= params.min_samples_leaf) & (np.minimum(h, H - h) >= least_h) & (c > 0) & (c < C)
    if not allowed.any():
        return -np.inf
    g, h, c, other_g, other_h, other_c = (part[allowed] for part in (g, h, c, G - g, H - h, C - c))
    worth = g**2 / np.maximum(h + l2, TINY) + other_g**2 / np.maximum(other_h + l2, TINY) - G**2 / max(H + l2, TINY)
    error = worst_gain_error(g, h, c, l2, rounding) + worst_gain_error(other_g, other_h, other_c, l2, rounding)
    return float((worth - error).max())


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
