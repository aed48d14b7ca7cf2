"""Boosting in plain loops: read this first, then core/boosting/rounds.py.

Each round grows a tree on the gradients of the loss. A node is a list of rows; to split it, try every cut of every
feature, missing values on either side, and keep the one that gains most. The leaf whose split gains most is split next.

    gain = G_left² / (H_left + λ) + G_right² / (H_right + λ) - G² / (H + λ)        value of a leaf = -G / (H + λ)

Among equal gains the first feature wins, then missing values right, then the first cut; and the older leaf.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

SMOOTHING = 10.0  # rows of the whole node that a category is thought to have besides its own, where it is put in order
ROUNDING = 1e-11
MISSING = -1  # the code of a missing number


class Rules(NamedTuple):
    max_leaves: float = math.inf
    max_depth: float = math.inf
    min_samples_leaf: int = 1
    min_hessian: float = 0.0
    l2: float = 0.0
    min_gain: float = 0.0
    learning_rate: float = 1.0
    monotonic_cst: tuple = ()  # of each feature: 1 where predictions may only rise with it, -1 where only fall
    groups: tuple = ()  # features that may stand on one path
    categories: tuple = ()  # which features are categories


@dataclass
class Split:
    gain: float
    feature: int
    left_codes: set
    left: list
    right: list


@dataclass
class Node:
    rows: list
    depth: int
    lower: float = -math.inf
    upper: float = math.inf
    path: tuple = ()  # features asked about above
    split: Split | None = None
    left: Node | None = None
    right: Node | None = None
    value: float = 0.0


# ---- columns → codes -----------------------------------------------------------------------------------------------


def cuts_of(values, weights, max_bins):
    """Return the cuts of a column: between all distinct values, or so that bins have about the same weight."""
    distinct = sorted({v for v in values if not math.isnan(v)})
    if len(distinct) <= max_bins:
        return [(a + b) / 2 for a, b in zip(distinct, distinct[1:], strict=False)]
    weight = dict.fromkeys(distinct, 0.0)
    for v, w in zip(values, weights, strict=True):
        if not math.isnan(v):
            weight[v] += w
    cuts, total, up_to = [], sum(weight.values()), 0.0
    for v, after in zip(distinct, distinct[1:], strict=False):
        own_bin = math.ceil((up_to + weight[v]) * max_bins / total)
        next_bin = math.ceil((up_to + weight[v] + weight[after]) * max_bins / total)
        up_to += weight[v]
        if own_bin != next_bin:
            cuts.append((v + after) / 2)
    return cuts


def code_of(value, cuts):
    """Return how many cuts lie below a value."""
    return MISSING if math.isnan(value) else sum(cut < value for cut in cuts)


# ---- losses of one row, as functions of its score ------------------------------------------------------------------


def loss_of(name, y, score, alpha=0.5, delta=1.0):
    """Return the loss of a row; for softmax, y is a class and the score a list with one for each."""
    if name == "softmax":
        return -score[int(y)] + math.log(sum(math.exp(s) for s in score))
    rest = y - score
    if name == "squared":
        return rest * rest / 2
    if name == "absolute":
        return abs(rest)
    if name == "huber":
        return rest * rest / 2 if abs(rest) <= delta else delta * abs(rest) - delta * delta / 2
    if name == "quantile":
        return alpha * rest if rest >= 0 else (alpha - 1) * rest
    if name == "poisson":
        return math.exp(score) - y * score
    if name == "logistic":
        return math.log(1 + math.exp(score)) - y * score
    return math.exp(-score if y == 1 else score)  # exponential


def gradient_of(name, y, score, alpha=0.5, delta=1.0, step=1e-6):
    """Return the slope of the loss of a row at its score, as a quotient of differences."""
    return (loss_of(name, y, score + step, alpha, delta) - loss_of(name, y, score - step, alpha, delta)) / (2 * step)


def hessian_of(name, y, score, step=1e-4):
    """Return the curvature of the loss of a row at its score, as a quotient of differences; 1 for the flat losses."""
    if name in ("squared", "absolute", "huber", "quantile"):
        return 1.0
    middle = 2 * loss_of(name, y, score)
    return (loss_of(name, y, score + step) - middle + loss_of(name, y, score - step)) / step**2


def softmax_derivatives(y, scores, k, step=1e-4):
    """Return slope and curvature of the loss of a row in the score of one class."""
    up, down = list(scores), list(scores)
    up[k] += step
    down[k] -= step
    above, at, below = (loss_of("softmax", y, s) for s in (up, scores, down))
    return (above - below) / (2 * step), (above - 2 * at + below) / step**2


# ---- one tree ------------------------------------------------------------------------------------------------------


def score_of(g, h, node, rules):
    """Return what a side is worth, and its value, which must lie within the node's bounds."""
    if h + rules.l2 <= 0:
        return None, None
    value = min(max(-g / (h + rules.l2), node.lower), node.upper)
    if any(rules.monotonic_cst):
        return -2 * g * value - (h + rules.l2) * value * value, value
    return g * g / (h + rules.l2), value


def orders_of(codes, f, node, g, h, rules):
    """Yield the orders in which the codes of a feature can be cut, each with the codes that always go left."""
    if f not in rules.categories:
        bins = sorted({row[f] for row in codes} - {MISSING})
        yield bins, set()
        if any(row[f] == MISSING for row in codes):
            yield bins, {MISSING}
        return
    mean_g = sum(g[i] for i in node.rows) / len(node.rows)
    mean_h = sum(h[i] for i in node.rows) / len(node.rows)

    def key(code):
        own = [i for i in node.rows if codes[i][f] == code]
        own_g = sum(g[i] for i in own) + SMOOTHING * mean_g
        return own_g / (sum(h[i] for i in own) + SMOOTHING * mean_h + rules.l2)

    yield sorted({codes[i][f] for i in node.rows}, key=key), set()


def best_split(codes, node, g, h, rules):
    """Return the split of a node that gains most, None if none is allowed or gains anything."""
    best, best_worth = None, 0.0
    for f in range(len(codes[0])):
        if not is_allowed(f, node, rules):
            continue
        for order, always_left in orders_of(codes, f, node, g, h, rules):
            for n in range(1, len(order) + 1):
                left_codes = set(order[:n]) | always_left
                left = [i for i in node.rows if codes[i][f] in left_codes]
                right = [i for i in node.rows if codes[i][f] not in left_codes]
                worth = worth_of_sides(left, right, f, node, g, h, rules)
                if worth is not None and worth > best_worth:
                    best, best_worth = Split(worth, f, left_codes, left, right), worth
    if best is None:
        return None
    best.gain -= score_of(sum(g[i] for i in node.rows), sum(h[i] for i in node.rows), node, rules)[0]
    return best if best.gain > ROUNDING * best_worth and best.gain > rules.min_gain else None


def worth_of_sides(left, right, f, node, g, h, rules):
    """Return what two sides are worth together, None if they are not allowed."""
    if min(len(left), len(right)) < max(rules.min_samples_leaf, 1):
        return None
    worths, values = [], []
    for side in (left, right):
        hessian = sum(h[i] for i in side)
        if hessian < rules.min_hessian:
            return None
        worth, value = score_of(sum(g[i] for i in side), hessian, node, rules)
        if worth is None:
            return None
        worths.append(worth)
        values.append(value)
    sign = rules.monotonic_cst[f] if rules.monotonic_cst else 0
    return None if sign * (values[1] - values[0]) < 0 else worths[0] + worths[1]


def is_allowed(f, node, rules):
    """Return whether one group holds a feature and all those on the path to a node."""
    return not rules.groups or any({f, *node.path} <= set(group) for group in rules.groups)


def grow(codes, g, h, rules):
    """Return a tree: the leaf whose split gains most is split first."""
    root = Node(list(range(len(codes))), 0)
    leaves = [root]
    look(root, codes, g, h, rules)
    while len(leaves) < rules.max_leaves and any(leaf.split for leaf in leaves):
        at = max(range(len(leaves)), key=lambda i: (leaves[i].split.gain if leaves[i].split else -1.0, -i))
        leaf = leaves[at]
        leaf.left, leaf.right = children_of(leaf, g, h, rules)
        leaves[at] = leaf.left
        leaves.append(leaf.right)
        for child in (leaf.left, leaf.right):
            look(child, codes, g, h, rules)
    for leaf in leaves:
        G, H = sum(g[i] for i in leaf.rows), sum(h[i] for i in leaf.rows)
        leaf.value = rules.learning_rate * min(max(-G / (H + rules.l2), leaf.lower), leaf.upper)
    return root


def look(node, codes, g, h, rules):
    """Find the best split of a node that may have one."""
    if node.depth < rules.max_depth and len(node.rows) >= 2 * rules.min_samples_leaf:
        node.split = best_split(codes, node, g, h, rules)


def children_of(node, g, h, rules):
    """Return both sides of a node; where a feature is monotone, their values keep apart."""
    split = node.split
    path = (*node.path, split.feature)
    left = Node(split.left, node.depth + 1, node.lower, node.upper, path)
    right = Node(split.right, node.depth + 1, node.lower, node.upper, path)
    sign = rules.monotonic_cst[split.feature] if rules.monotonic_cst else 0
    if sign != 0:
        values = [
            score_of(sum(g[i] for i in side), sum(h[i] for i in side), node, rules)[1]
            for side in (split.left, split.right)
        ]
        middle = sum(values) / 2
        low, high = (left, right) if sign > 0 else (right, left)
        low.upper = high.lower = middle
    return left, right


def preorder(node):
    """Yield the nodes of a tree, parents first and left before right."""
    yield node
    if node.left is not None:
        yield from preorder(node.left)
        yield from preorder(node.right)


# ---- leaves that are order statistics ------------------------------------------------------------------------------


def quantile(values, weights, share):
    """Return the value with so much of the weight at or below it; between two such values, the middle."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    wanted, up_to = share * sum(weights), 0.0
    for place, i in enumerate(order):
        up_to += weights[i]
        if math.isclose(up_to, wanted, rel_tol=1e-12, abs_tol=1e-12 * sum(weights)) and place + 1 < len(order):
            return (values[i] + values[order[place + 1]]) / 2
        if up_to > wanted:
            return values[i]
    return values[order[-1]]


def leaf_value(name, y, scores, weights, l2=0.0, alpha=0.5, delta=1.0):
    """Return by how much the scores of a leaf's rows should change."""
    rest = [y[i] - scores[i] for i in range(len(y))]
    if name in ("absolute", "quantile"):
        return quantile(rest, weights, alpha if name == "quantile" else 0.5)
    if name == "huber":
        middle = quantile(rest, weights, 0.5)
        near = [w * min(max(r - middle, -delta), delta) for r, w in zip(rest, weights, strict=True)]
        return middle + sum(near) / sum(weights)
    G = sum(w * gradient(name, y[i], scores[i]) for i, w in enumerate(weights))
    H = sum(w * hessian(name, scores[i]) for i, w in enumerate(weights))
    return -G / (H + l2)


def gradient(name, y, score):
    """Return the slope of a smooth loss, by its formula."""
    if name == "squared":
        return score - y
    if name == "poisson":
        return math.exp(score) - y
    if name == "logistic":
        return 1 / (1 + math.exp(-score)) - y
    return -math.exp(-score) if y == 1 else math.exp(score)  # exponential


def hessian(name, score):
    """Return the curvature of a smooth loss, by its formula; that of the exponential loss is its slope's size."""
    if name == "squared":
        return 1.0
    if name == "poisson":
        return math.exp(score)
    return math.exp(-score) / (1 + math.exp(-score)) ** 2


def boosted_squares(X, y, n_rounds, rules, max_bins=255):
    """Return the scores of the rows after each round of least squares boosting."""
    cuts = [cuts_of(column, [1.0] * len(column), max_bins) for column in np.transpose(X).tolist()]
    codes = [[code_of(value, own) for value, own in zip(row, cuts, strict=True)] for row in X.tolist()]
    scores, history = [sum(y) / len(y)] * len(y), []
    for _ in range(n_rounds):
        gradients = [gradient("squared", y[i], scores[i]) for i in range(len(y))]
        for leaf in preorder(grow(codes, gradients, [1.0] * len(y), rules)):
            if leaf.left is None:
                for i in leaf.rows:
                    scores[i] += leaf.value
        history.append(list(scores))
    return history
