"""Whether the questions of a tree are the best ones, and whether its leaves had to be leaves.

At some nodes, drawn by a seed that follows from the data, every cut of every column that the node looked at is tried
again with plain NumPy. With B the part of a side's weight x impurity that depends on how rows are divided, a cut gains

    B(left) + B(right) - B(node)         gini Σa²/W    entropy Σ a log₂ a - W log₂ W    error max a
                                         squared error S²/W    poisson S log(S/W)    absolute error -Σ w |y - median|

where a are the weights of the classes, W is their sum, and S = Σ w y. No cut that was allowed may gain more than the
one that was made. A leaf must be pure, or as deep or small as the limits say, or there was no cut to be made.

A condition that is met by every right tree is looked for, so where rounding could decide, a cut is left out.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple
from zlib import crc32

import numpy as np

from eigenwood.core.tree.criteria import (
    ABSOLUTE_ERROR,
    CLASS_CRITERIA,
    POSITIVE_MEANS,
    REGRESSION_FORMULAS,
    SHARE_IMPURITIES,
    SQUARED_ERROR,
)
from eigenwood.core.tree.structure import node_depths
from eigenwood.core.tree.types import LEAF, GrowthParams, Target, Tree
from eigenwood.proofs.claim import ROUNDING, Claim, at_most
from eigenwood.proofs.questions import entries, links_of
from eigenwood.proofs.tree import TINY, NodeNumbers, bounds_of, is_bounded, stretches, weighted_median

MOST_MEDIANS = 16  # cuts of a column that are tried by the absolute error, each with two medians of its own
MOST_TOGETHER = 2000  # rows of a node whose columns are tried together
LEAST_NODES = 8
ANY_GAIN = -np.inf  # also of a cut that gains nothing
ALL_BITS = 2**64 - 1
KEY_BITS = 2**64 - 2**24  # of a feature's random bits, those that decide in which order columns are tried
LEAST_SHARE = 1e-9  # of the sum of a node's y on each side of a cut, where a mean of 0 is not allowed


class SearchContext(NamedTuple):
    """What a tree grew from, and by which rule."""

    X: np.ndarray  # or a sparse matrix
    target: Target
    params: GrowthParams
    max_leaves: int  # 0: as many as there are
    monotonic_cst: np.ndarray  # (n_features,) monotonic constraints
    is_category: np.ndarray  # (n_features,)
    bins: dict[int, np.ndarray]  # the upper ends of the bins of a feature that is in bins
    seed: int | None  # from which the tree grew; None if nobody knows
    is_whole: bool  # nothing was cut off afterwards, and growth was not stopped

    def weights(self) -> np.ndarray:
        return self.target.weights if self.target.weights.size else np.ones(self.X.shape[0])


class Splits(NamedTuple):
    """What was found at some nodes of a tree."""

    n_questions: int  # that were looked at
    shortfall: float  # by which the best cut gains more than the one that was made, as a share of the node's impurity
    n_leaves: int
    n_early: int  # leaves for which there was a cut


class SearchedNode(NamedTuple):
    """The rows of a node."""

    rows: np.ndarray
    weights: np.ndarray
    sums: np.ndarray  # (n_rows, n_sums) what is added up on each side: weights of classes, or weight and weighted y
    y: np.ndarray  # (n_rows, n_outputs) for medians
    part: float  # B of all rows
    lower: float  # its values must lie between these
    upper: float


class Cuts(NamedTuple):
    """All cuts of one column that were allowed."""

    gains: np.ndarray
    n_others: int  # cuts that were not


# ---- nodes that are looked at -------------------------------------------------------------------------------------


def looked_into(
    tree: Tree,
    leaves: np.ndarray,
    numbers: NodeNumbers,
    context: SearchContext,
    seed: int,
    most: int | None = None,
    check: Callable[[], None] = lambda: None,
) -> Splits:
    """Return what is found at some questions and leaves of a tree: at most so many of each, or √n of n.

    ``check`` is called before each node, and may raise.
    """
    rng, order = np.random.default_rng(seed), np.argsort(leaves, kind="stable")
    first, last = stretches(tree, leaves)
    if (last <= first).any():  # rows do not end where they should; that is another claim
        return Splits(0, 0.0, 0, 0)
    lower, upper = value_bounds(tree, context, numbers)
    mass = numbers.weight * numbers.impurity

    def node_at(place: int) -> SearchedNode:
        check()
        return node_of(context, order[first[place] : last[place]], lower[place], upper[place])

    questions = np.flatnonzero((tree.left != LEAF) & ~links_of(tree) & (not context.params.at_random))
    asked, shortfall = drawn(rng, questions, most), 0.0
    for place in asked:
        node, seed_there = node_at(place), seed_at(tree, context.seed, place)
        sides = [order[first[end] : last[end]] for end in branches(tree, place)]
        lost = best_gain(context, node, int(tree.feature[place]), seed_there) - gain_of(context, node, sides)
        if lost > slack(context, node):
            shortfall = max(shortfall, lost / max(mass[place], TINY))
    ends = drawn(rng, np.flatnonzero(without_reason(tree, numbers, context) & context.is_whole), most)
    n_early = sum(
        could_be_split(
            context, node_at(place), seed_at(tree, context.seed, place), early_bar(tree, mass, context, place)
        )
        for place in ends
    )
    return Splits(len(asked), shortfall, len(ends), n_early)


def drawn(rng: np.random.Generator, places: np.ndarray, most: int | None) -> list[int]:
    """Return some of the places: at most so many, or √n of n but not fewer than a few."""
    wanted = max(LEAST_NODES, int(np.sqrt(places.size))) if most is None else most
    return sorted(rng.choice(places, min(wanted, places.size), replace=False).tolist())


def data_seed(target: Target, number: int = 0) -> int:
    """Return a seed for the draw of nodes, which no model can choose: it follows from the targets of the rows."""
    content = b"".join(np.ascontiguousarray(part).tobytes() for part in target[:3])
    return crc32(content, number)


def branches(tree: Tree, node: int) -> list[int]:
    """Return the nodes to which a question leads; a chain of questions is one with many branches."""
    ends = []
    while tree.chained[node]:
        ends.append(int(tree.left[node]))
        node = int(tree.right[node])
    return [*ends, int(tree.left[node]), int(tree.right[node])]


def seed_at(tree: Tree, seed: int | None, node: int) -> int | None:
    """Return the seed of a node: that of the root, mixed with the way from there."""
    if seed is None:
        return None
    at = 0
    while at != node:
        goes_left = node < tree.right[at]  # preorder: all that is left comes first
        seed = hashed((seed + (1 if goes_left else 2)) & ALL_BITS)
        at = at + 1 if goes_left else int(tree.right[at])
    return seed


def hashed(bits: int) -> int:
    """Return 64 well-mixed bits (the finisher of SplitMix64)."""
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & ALL_BITS
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & ALL_BITS
    return bits ^ (bits >> 31)


def value_bounds(tree: Tree, context: SearchContext, numbers: NodeNumbers) -> tuple[np.ndarray, np.ndarray]:
    """Return between which numbers the value of every node must lie."""
    if is_bounded(tree, context.monotonic_cst):
        return bounds_of(tree, context.monotonic_cst, numbers.middle)
    return np.full(tree.left.size, -np.inf), np.full(tree.left.size, np.inf)


def node_of(context: SearchContext, rows: np.ndarray, lower: float = -np.inf, upper: float = np.inf) -> SearchedNode:
    """Return the rows of a node with what is added up; y is counted from its mean."""
    weights, target = context.weights()[rows], context.target
    y = target.y[rows] if target.y.size else np.empty((0, 0))
    if context.params.criterion in CLASS_CRITERIA:
        sums = np.zeros((rows.size, int(target.starts[-1])))
        for codes, start in zip(target.class_codes[rows].T, target.starts[:-1], strict=True):
            sums[np.arange(rows.size), start + codes] = weights
    else:
        if context.params.criterion == SQUARED_ERROR:
            y = y - np.average(y, axis=0, weights=weights)
        sums = np.column_stack([weights, weights[:, None] * y])
    part = part_of(context, weights, sums, y)
    return SearchedNode(rows, weights, sums, y, part, lower, upper)


# ---- what cuts gain -----------------------------------------------------------------------------------------------


def best_gain(context: SearchContext, node: SearchedNode, own: int, seed: int | None) -> float:
    """Return the most that a cut of the columns gains at which the node looked; ``own`` is the one it asks about."""
    best, together = -np.inf, []
    for feature, x in columns_tried(context, node, own, seed):
        if allows_small_nodes(context, feature, x):
            together.append(x)
        else:
            best = max(best, cuts_of(context, node, feature, x).gains.max(initial=-np.inf))
    if together:
        best = max(best, plain_cuts(context, node, np.column_stack(together)).gains.max(initial=-np.inf))
    return float(best)


def allows_small_nodes(context: SearchContext, feature: int, x: np.ndarray) -> bool:
    """Return whether the cuts of a column can be tried together with those of others."""
    if (
        context.is_category[feature]
        or context.monotonic_cst[feature] != 0
        or context.params.criterion == ABSOLUTE_ERROR
    ):
        return False
    return x.size <= MOST_TOGETHER and not np.isnan(x).any()


def plain_cuts(context: SearchContext, node: SearchedNode, columns: np.ndarray) -> Cuts:
    """Return the cuts of some columns of numbers, none of which is missing, that are allowed."""
    order = np.argsort(columns, axis=0)
    ordered, sums = np.take_along_axis(columns, order, axis=0), node.sums[order]
    is_cut = ordered[1:] > ordered[:-1]
    left, right = np.cumsum(sums, axis=0)[:-1][is_cut], np.cumsum(sums[::-1], axis=0)[::-1][1:][is_cut]
    n_left = np.broadcast_to(np.arange(1, len(columns))[:, None], is_cut.shape)[is_cut]
    return allowed_sides(context, node, left, right, n_left, 0)


def could_be_split(context: SearchContext, node: SearchedNode, seed: int | None, bar: float) -> bool:
    """Return whether a leaf left out a cut that was allowed, and gains enough."""
    if seed is None and context.params.max_features < context.X.shape[1] and bar > ANY_GAIN:
        return False  # nobody knows at which columns it looked
    for feature, x in columns_tried(context, node, None, seed if bar > ANY_GAIN else None):
        cuts = cuts_of(context, node, feature, x)
        if cuts.gains.size == 0 or (context.params.at_random and cuts.n_others > 0):
            continue
        gain = cuts.gains.min() if context.params.at_random else cuts.gains.max()
        if bar == ANY_GAIN or gain > bar * (1.0 + ROUNDING) + slack(context, node):
            return True
    return False


def columns_tried(
    context: SearchContext, node: SearchedNode, own: int | None, seed: int | None
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each column at which a node looked: ``own`` alone if it drew some and nobody knows which.

    A node that drew columns without any cut has looked at more; those are left out.
    """
    n_features, n_wanted = context.X.shape[1], context.params.max_features
    features = list(range(n_features))
    if n_wanted < n_features and seed is not None:
        features = drawing_order(n_features, seed)
    elif n_wanted < n_features and own is not None:
        features = [own]
    columns = ((feature, column_of(context, node, feature)) for feature in features)
    varying = ((feature, x) for feature, x in columns if x is not None)
    yield from islice(varying, n_features if seed is None else n_wanted)


def drawing_order(n_features: int, seed: int) -> list[int]:
    """Return features in the order in which a node tries them: that of random bits which follow from its seed."""
    first = (seed + 1) & ALL_BITS
    return sorted(range(n_features), key=lambda feature: (hashed(first ^ hashed(feature + 1)) & KEY_BITS, feature))


def column_of(context: SearchContext, node: SearchedNode, feature: int) -> np.ndarray | None:
    """Return a column of the node's rows, numbers in bins as these; nothing if all are equal."""
    x = entries(context.X, node.rows, np.full(node.rows.size, feature))
    if feature in context.bins:
        x = np.where(np.isnan(x), x, np.searchsorted(context.bins[feature], x))
    if np.isnan(x[0]):
        return None if np.isnan(x).all() else x
    return None if (x == x[0]).all() else x


def cuts_of(context: SearchContext, node: SearchedNode, feature: int, x: np.ndarray) -> Cuts:
    """Return all cuts of a column that are allowed."""
    is_missing = np.isnan(x)
    _, lines = np.unique(x, return_inverse=True)  # missing numbers are the last line
    n_lines = int(lines.max()) + 1
    if context.is_category[feature]:
        return category_cuts(context, node, lines, n_lines)
    sign = int(context.monotonic_cst[feature])
    right = [(lines <= line) for line in places_of(context, n_lines - 1)]
    if not is_missing.any():
        return allowed_cuts(context, node, lines, np.arange(n_lines), sign, right)
    left = [(lines <= line) | is_missing for line in places_of(context, n_lines - 2)]
    both = allowed_cuts(context, node, lines, np.arange(n_lines), sign, right)
    if n_lines == 2:
        return both
    turned = np.concatenate([[n_lines - 1], np.arange(n_lines - 1)])
    other = allowed_cuts(context, node, lines, turned, sign, left, skipped=1)
    return Cuts(np.concatenate([both.gains, other.gains]), both.n_others + other.n_others)


def places_of(context: SearchContext, n_cuts: int) -> np.ndarray:
    """Return the cuts that are tried one by one: some of all, and only where sums do not tell what they gain."""
    if context.params.criterion != ABSOLUTE_ERROR:
        return np.empty(0, dtype=np.int64)
    return np.unique(np.linspace(0, n_cuts - 1, min(MOST_MEDIANS, n_cuts)).astype(np.int64))


def category_cuts(context: SearchContext, node: SearchedNode, lines: np.ndarray, n_lines: int) -> Cuts:
    """Return the cuts of categories in the order of what they are like, or the one with a branch for each."""
    if context.params.multiway and n_lines > 2:
        return branch_gain(context, node, lines, n_lines)
    keys = category_keys(context, line_sums(node, lines, n_lines))
    if keys is None:
        return Cuts(np.empty(0), 1)
    order = np.argsort(keys, kind="stable")
    is_clear = np.diff(keys[order]) > ROUNDING * max(float(abs(keys).max()), TINY)
    place = np.empty(n_lines, dtype=np.int64)
    place[order] = np.arange(n_lines)
    sides = [place[lines] <= at for at in places_of(context, n_lines - 1)]
    if sides:
        clear = [is_clear[at] for at in places_of(context, n_lines - 1)]
        return allowed_cuts(context, node, lines, order, 0, [side for side, ok in zip(sides, clear, strict=True) if ok])
    return allowed_cuts(context, node, lines, order, 0, [], is_clear=is_clear)


def category_keys(context: SearchContext, sums: np.ndarray) -> np.ndarray | None:
    """Return what puts categories in order: a share, a mean, or the place along the first principal component.

    Nothing if two components are equally long: then the order is anybody's choice.
    """
    classifying, starts = context.params.criterion in CLASS_CRITERIA, context.target.starts
    weight = sums[:, : starts[1]].sum(axis=1) if classifying else sums[:, 0]
    table = (sums if classifying else sums[:, 1:]) / weight[:, None]
    if table.shape[1] == 1 or (classifying and sums.shape[1] == 2):
        return table[:, -1]
    table = table - np.average(table, axis=0, weights=weight)
    lengths, directions = np.linalg.eigh((table * weight[:, None]).T @ table)
    return None if lengths[-2] > (1.0 - 1e-6) * lengths[-1] else table @ directions[:, -1]


def branch_gain(context: SearchContext, node: SearchedNode, lines: np.ndarray, n_lines: int) -> Cuts:
    """Return what a question with a branch for each category gains, if none is too small."""
    params, counts = context.params, np.bincount(lines)
    weight = np.bincount(lines, weights=node.weights)
    if counts.min() < params.min_samples_leaf or weight.min() < params.min_weight_leaf * (1.0 + ROUNDING):
        return Cuts(np.empty(0), 1)
    sides = [node.rows[lines == line] for line in range(n_lines)]
    return Cuts(np.array([gain_of(context, node, sides)]), 0)


def line_sums(node: SearchedNode, lines: np.ndarray, n_lines: int) -> np.ndarray:
    """Return what is added up, line by line."""
    return np.column_stack([np.bincount(lines, weights=column, minlength=n_lines) for column in node.sums.T])


def allowed_cuts(
    context: SearchContext,
    node: SearchedNode,
    lines: np.ndarray,
    order: np.ndarray,
    sign: int,
    sides: list[np.ndarray],
    skipped: int = 0,
    is_clear: np.ndarray | None = None,
) -> Cuts:
    """Return the cuts of lines in some order; the first ones may be ``skipped``. For medians ``sides`` says who goes
    left, since sums do not tell what those cuts gain.
    """
    if context.params.criterion == ABSOLUTE_ERROR:
        return median_cuts(context, node, sign, sides)
    sums = line_sums(node, lines, order.size)[order]
    counts = np.bincount(lines, minlength=order.size)[order]
    left, n_left = np.cumsum(sums, axis=0)[skipped:-1], np.cumsum(counts)[skipped:-1]
    right = np.cumsum(sums[::-1], axis=0)[::-1][skipped + 1 :]
    if is_clear is not None:
        left, right, n_left = left[is_clear], right[is_clear], n_left[is_clear]
    found = allowed_sides(context, node, left, right, n_left, sign)
    return found._replace(n_others=order.size - 1 - skipped - found.gains.size)


def allowed_sides(
    context: SearchContext, node: SearchedNode, left: np.ndarray, right: np.ndarray, n_left: np.ndarray, sign: int
) -> Cuts:
    """Return the cuts that are allowed of those with these sums on their sides."""
    params, starts = context.params, context.target.starts
    classifying = params.criterion in CLASS_CRITERIA
    weights = [side[:, : starts[1]].sum(axis=1) if classifying else side[:, 0] for side in (left, right)]
    n_least, least = np.minimum(n_left, node.rows.size - n_left), np.minimum(*weights)
    allowed = (
        (n_least >= params.min_samples_leaf) & (least >= params.min_weight_leaf * (1.0 + ROUNDING)) & (least > 0.0)
    )
    if sign != 0:
        centre = 0.0
        if params.criterion == SQUARED_ERROR:  # y was counted from its mean
            centre = float(np.average(context.target.y[node.rows, 0], weights=node.weights))
        values = [side[:, 1] / weight + centre for side, weight in zip((left, right), weights, strict=True)]
        allowed &= keep_order(node, sign, *values)
    if params.criterion in POSITIVE_MEANS:
        allowed &= (np.minimum(left, right)[:, 1:] > LEAST_SHARE * node.sums.sum(axis=0)[1:]).all(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = benefit(left, context) + benefit(right, context) - node.part
    allowed &= np.isfinite(gains)
    return Cuts(gains[allowed], int((~allowed).sum()))


def median_cuts(context: SearchContext, node: SearchedNode, sign: int, sides: list[np.ndarray]) -> Cuts:
    """Return the cuts with these sides that are allowed, by the absolute error."""
    gains, params = [], context.params
    for is_left in sides:
        pair = [node.rows[is_left], node.rows[~is_left]]
        if min(map(len, pair)) < params.min_samples_leaf:
            continue
        weights = node.weights[is_left].sum(), node.weights[~is_left].sum()
        if min(weights) < params.min_weight_leaf * (1.0 + ROUNDING):
            continue
        values = (np.array([side_value(node_of(context, side), context)]) for side in pair)
        if sign == 0 or keep_order(node, sign, *values)[0]:
            gains.append(gain_of(context, node, pair))
    return Cuts(np.array(gains), len(sides) - len(gains))


def keep_order(node: SearchedNode, sign: int, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return which pairs of values are clearly in the right order and between the bounds of the node."""
    room = ROUNDING * np.maximum(abs(left), abs(right))
    within = (np.minimum(left, right) > node.lower + room) & (np.maximum(left, right) < node.upper - room)
    return within & ((right - left) * sign > room)


def side_value(node: SearchedNode, context: SearchContext) -> float:
    """Return the share of the second class, or the mean or median of y."""
    if context.params.criterion in CLASS_CRITERIA:
        return float(node.sums[:, -1].sum() / node.weights.sum())
    y = context.target.y[node.rows, 0]
    if context.params.criterion == ABSOLUTE_ERROR:
        return weighted_median(y, node.weights)
    return float(np.average(y, weights=node.weights))


def gain_of(context: SearchContext, node: SearchedNode, sides: list[np.ndarray]) -> float:
    """Return what a question gains that sends rows to these sides."""
    total = -node.part
    for side in sides:
        own = np.isin(node.rows, side)
        total += part_of(context, node.weights[own], node.sums[own], node.y[own[: len(node.y)]])
    return total


def part_of(context: SearchContext, weights: np.ndarray, sums: np.ndarray, y: np.ndarray) -> float:
    """Return B of some rows, given what is to be added up; medians need y."""
    if context.params.criterion != ABSOLUTE_ERROR:
        return float(benefit(sums.sum(axis=0)[None], context)[0])
    return -float(np.mean([weights @ abs(column - weighted_median(column, weights)) for column in y.T]))


def benefit(sums: np.ndarray, context: SearchContext) -> np.ndarray:
    """Return B of each line of sums, in the mean over the outputs."""
    criterion, starts = context.params.criterion, context.target.starts
    if criterion in CLASS_CRITERIA:
        weight = sums[:, : starts[1]].sum(axis=1)
        return weight * (1.0 - SHARE_IMPURITIES[criterion](sums / weight[:, None], starts[:-1]).mean(axis=1))
    return REGRESSION_FORMULAS[criterion].part(sums[:, :1], sums[:, 1:]).mean(axis=1)


def slack(context: SearchContext, node: SearchedNode) -> float:
    """Return what rounding may do to a gain."""
    if context.params.criterion == ABSOLUTE_ERROR:
        return ROUNDING * abs(node.part)
    total = abs(node.sums).sum(axis=0)
    if context.params.criterion in CLASS_CRITERIA:
        return 1e-12 * float(total.sum())
    return 1e-12 * float(abs(benefit(total[None], context)[0]))


# ---- leaves -------------------------------------------------------------------------------------------------------


def without_reason(tree: Tree, numbers: NodeNumbers, context: SearchContext) -> np.ndarray:
    """Return which leaves are not pure, and neither as deep nor as small as the limits say."""
    params = context.params
    is_open = (tree.left == LEAF) & (numbers.impurity > 1e-12 * numbers.impurity[0])
    is_open &= numbers.impurity > params.max_leaf_impurity * (1.0 + ROUNDING)
    is_open &= node_depths(tree.left, tree.right, tree.chained) < params.max_depth
    is_open &= (numbers.n_rows >= params.min_samples_split) & (
        numbers.weight > 2.0 * params.min_weight_leaf * (1.0 + ROUNDING)
    )
    # a question with many branches may not have found room among so many leaves
    return is_open & (not (context.max_leaves > 0 and params.multiway))


def early_bar(tree: Tree, mass: np.ndarray, context: SearchContext, leaf: int) -> float:
    """Return above which gain a leaf should have been split: any, that of ``min_decrease`` or, where the leaves were
    counted and the largest gain came first, the least gain of those that came after its parent.
    """
    wanted = context.params.min_decrease * context.params.total_weight
    bar = wanted if wanted > 0.0 else ANY_GAIN
    if context.max_leaves == 0 or int((tree.left == LEAF).sum()) < context.max_leaves:
        return bar
    inner, gains = tree.left != LEAF, np.zeros(tree.left.size)
    gains[inner] = mass[inner] - mass[tree.left[inner]] - mass[tree.right[inner]]
    return max(bar, least_after(tree, gains, ROUNDING * mass[0], leaf))


def least_after(tree: Tree, gains: np.ndarray, tie: float, leaf: int) -> float:
    """Return the least gain of the questions that came after the one above a leaf, if the largest came first.

    Of equal gains nobody knows which came first; those above the leaf come as late as they may have.
    """
    keys, at, parent = -gains, 0, LEAF
    while at != leaf:
        keys[at], parent = tie - gains[at], at
        at = at + 1 if leaf < tree.right[at] else int(tree.right[at])
    heap, least, is_after = [(keys[0], 0)], np.inf, False
    while heap:
        _, node = heapq.heappop(heap)
        least = min(least, float(gains[node])) if is_after else np.inf
        is_after |= node == parent
        for child in (int(tree.left[node]), int(tree.right[node])):
            if tree.left[child] != LEAF:
                heapq.heappush(heap, (keys[child], child))
    return least


# ---- claims -------------------------------------------------------------------------------------------------------


def split_claims(found: list[Splits], at_random: bool) -> list[Claim]:
    """Return the claims about questions and leaves that were looked at; random questions need not be the best ones."""
    n_questions, n_leaves = (sum(one[i] for one in found) for i in (0, 2))
    shortfall, n_early = max(one.shortfall for one in found), sum(one.n_early for one in found)
    best = f"share of its impurity that one of {n_questions} drawn nodes would gain by a better question"
    early = f"of {n_leaves} drawn leaves that limits do not explain, those with a question to be asked"
    claims = [at_most("best questions", best, shortfall, ROUNDING), at_most("leaves", early, n_early, 0)]
    return claims[1:] if at_random else claims
