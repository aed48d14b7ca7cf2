"""What can be proved about a decision tree, from its questions and the rows alone.

Every node's rows, value and impurity are computed again from the leaves in which the rows end: what lies below a node
is what lies below its two children, so the sums are added up from the last nodes to the root. (Nodes are in preorder: a
child comes after its parent.)

    node        0   1   2   3   4   5   6          sums of 1 = 2 + 3, of 4 = 5 + 6, then of 0 = 1 + 4
    leaf rows   -   -   5   2   -   4   1
    below      12   7   5   2   5   4   1

Under monotonic constraints a value is the mean of its node, clipped to bounds that follow from the questions above it:
where a question about a feature with a sign has children with means a and b, what is below one of them stays below
(a + b) / 2, and what is below the other, above it. ``verify`` finds the leaves by asking every question again
(``proofs.questions``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.tree.criteria import (
    ABSOLUTE_ERROR,
    CLASS_CRITERIA,
    POSITIVE_MEANS,
    REGRESSION_FORMULAS,
    SHARE_IMPURITIES,
    SQUARED_ERROR,
)
from eigenwood.core.tree.structure import subtree_ends
from eigenwood.core.tree.types import LEAF, Target, Tree
from eigenwood.proofs.claim import ROUNDING, Certificate, Claim, at_least, at_most, measured
from eigenwood.proofs.questions import links_of, passed

LITTLE = 1e-6  # of a mean: a deviance that has lost its last digits
HALF = 1e-12  # a sum of weights this close to the half is the half, in whatever order they were added
TINY = float(np.finfo(np.float64).tiny)


class NodeNumbers(NamedTuple):
    """The numbers of every node, as the rows give them, and how far its value is from what it must be."""

    n_rows: np.ndarray
    weight: np.ndarray
    impurity: np.ndarray
    value_error: float  # relative to the largest value; of medians: the weight off the middle, as a share of the node's
    middle: np.ndarray  # the last mean, median or share of each node, before it is clipped


def leaf_of_rows(tree: Tree, X) -> np.ndarray:
    """Return the leaf of every row by asking every question again."""
    return passed(tree, X).leaves


def node_numbers(tree: Tree, leaves, target: Target, criterion: int, monotonic_cst=None) -> NodeNumbers:
    """Return the numbers of every node for rows that end in these leaves."""
    weights = target.weights if target.weights.size else np.ones(leaves.size)
    if criterion == ABSOLUTE_ERROR:
        return median_numbers(tree, leaves, target, weights, monotonic_cst)
    n_rows, weight = below(tree, leaves, np.ones(leaves.size)), below(tree, leaves, weights)
    mass = np.maximum(weight, TINY)
    if criterion in CLASS_CRITERIA:
        value = np.hstack([shares_of(tree, leaves, target, weights, o) for o in range(target.starts.size - 1)])
        value /= mass[:, None]
        impurities = SHARE_IMPURITIES[criterion](value, target.starts[:-1])
    else:
        numbers = [mean_numbers(tree, leaves, column, weights, mass, criterion) for column in target.y.T]
        value, impurities = (np.column_stack([part[i] for part in numbers]) for i in (0, 1))
    middle = value[:, -1].copy()
    if is_bounded(tree, monotonic_cst):
        value[:, -1] = np.clip(middle, *bounds_of(tree, monotonic_cst, middle))
        if criterion in CLASS_CRITERIA:
            value[:, 0] = 1.0 - value[:, 1]
    value_error = float(np.abs(value - tree.value).max()) / max(float(np.abs(value).max()), TINY)
    return NodeNumbers(n_rows, weight, impurities.mean(axis=1), value_error, middle)


def is_bounded(tree: Tree, monotonic_cst) -> bool:
    """Return whether a question of the tree has to keep an order."""
    return monotonic_cst is not None and bool(np.asarray(monotonic_cst)[tree.feature[tree.left != LEAF]].any())


def bounds_of(tree: Tree, monotonic_cst, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return between which numbers the value of each node must lie."""
    lower, upper = np.full(middle.size, -np.inf), np.full(middle.size, np.inf)
    for node in np.flatnonzero(tree.left != LEAF):  # preorder: a parent comes before its children
        left, right = tree.left[node], tree.right[node]
        sign = monotonic_cst[tree.feature[node]]
        lower[[left, right]], upper[[left, right]] = lower[node], upper[node]
        if sign != 0:
            smaller, greater = (left, right) if sign > 0 else (right, left)
            upper[smaller] = lower[greater] = 0.5 * (middle[left] + middle[right])
    return lower, upper


def broken_orders(tree: Tree, monotonic_cst) -> int:
    """Return how many questions about a feature with a sign have a leaf on one side that breaks the order."""
    if not is_bounded(tree, monotonic_cst):
        return 0
    least, most = tree.value[:, -1].copy(), tree.value[:, -1].copy()
    n_broken = 0
    for node in np.flatnonzero(tree.left != LEAF)[::-1]:
        left, right = tree.left[node], tree.right[node]
        sign = monotonic_cst[tree.feature[node]]
        smaller, greater = (left, right) if sign > 0 else (right, left)
        n_broken += int(sign != 0 and most[smaller] > least[greater])
        least[node], most[node] = min(least[left], least[right]), max(most[left], most[right])
    return n_broken


def order_claim(n_broken: int) -> Claim:
    """Return the claim that monotonic constraints are kept."""
    return at_most("order", "questions with leaves on their two sides that break monotonic_cst", n_broken, 0)


def below(tree: Tree, leaves, weights) -> np.ndarray:
    """Return for every node the sum of the weights of the rows that end below it."""
    total = np.bincount(leaves, weights=weights, minlength=tree.left.size)
    add_up(tree.left, tree.right, total.reshape(-1, 1))
    return total


@njit
def add_up(left, right, total):
    """Add to every node that asks a question what its children have; the leaves have theirs already."""
    for node in range(left.size - 1, -1, -1):
        if left[node] != LEAF:
            for k in range(total.shape[1]):
                total[node, k] += total[left[node], k] + total[right[node], k]


def shares_of(tree: Tree, leaves, target: Target, weights, output: int) -> np.ndarray:
    """Return the weight of each class of one output at every node."""
    n_classes = int(target.starts[output + 1] - target.starts[output])
    places = leaves.astype(np.int64) * n_classes + target.class_codes[:, output]
    total = np.bincount(places, weights=weights, minlength=tree.left.size * n_classes).reshape(-1, n_classes)
    add_up(tree.left, tree.right, total)
    return total


def mean_numbers(tree: Tree, leaves, y, weights, mass, criterion: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of one output at every node, and its impurity: those of a parent from those of its children.

    The losses of rows are taken at the means of their leaves. To them a parent adds the losses of its children's means
    at its own. Squares are of y around a centre. So nothing is lost in the difference of large numbers.
    """
    loss, inner = REGRESSION_FORMULAS[criterion].loss, np.flatnonzero(tree.left != LEAF)
    centre = np.average(y, weights=weights) if criterion == SQUARED_ERROR else 0.0
    y, mean = y - centre, np.zeros(tree.left.size)
    mean[leaves] = y  # any y of the leaf
    mean += np.bincount(leaves, weights=weights * (y - mean[leaves]), minlength=mean.size) / mass
    join_means(tree.left, tree.right, mass, mean)
    spread = np.bincount(leaves, weights=weights * loss(y, mean[leaves]), minlength=mean.size)
    for child in (tree.left[inner], tree.right[inner]):
        spread[inner] += mass[child] * loss(mean[child], mean[inner])
    add_up(tree.left, tree.right, spread.reshape(-1, 1))
    return mean + centre, np.maximum(spread / mass, 0.0)


@njit(error_model="numpy")
def join_means(left, right, mass, mean):
    """Write the means of all nodes that ask a question; the leaves have theirs already."""
    for node in range(left.size - 1, -1, -1):
        if left[node] != LEAF:
            one, other = left[node], right[node]
            mean[node] = mean[one] + mass[other] / mass[node] * (mean[other] - mean[one])


def median_numbers(tree: Tree, leaves, target: Target, weights, monotonic_cst) -> NodeNumbers:
    """Return the numbers of every node around its medians: rows sorted by leaf are sorted by node as well.

    The links of a chain after its first, which nobody sees as nodes, keep the impurities they have: to look at all rows
    of each of a thousand links takes a thousand times as long.
    """
    rows = np.argsort(leaves, kind="stable")
    first, last = stretches(tree, leaves)
    is_link, n_outputs = links_of(tree), target.y.shape[1]
    impurity = np.where(is_link, n_outputs * tree.impurity, 0.0)
    middles, off = tree.value.copy(), np.zeros(tree.left.size)
    for node in np.flatnonzero((last > first) & ~is_link):
        own = rows[first[node] : last[node]]
        for o, column in enumerate(target.y.T):
            middles[node, o] = weighted_median(column[own], weights[own])
            impurity[node] += float(np.average(np.abs(column[own] - middles[node, o]), weights=weights[own]))
            off[node] = max(off[node], off_the_middle(column[own] - tree.value[node, o], weights[own]))
    if is_bounded(tree, monotonic_cst):
        lower, upper = bounds_of(tree, monotonic_cst, middles[:, 0])
        is_clipped = (middles[:, 0] < lower) | (middles[:, 0] > upper)
        distance = abs(np.clip(middles[:, 0], lower, upper) - tree.value[:, 0]) / max(abs(middles).max(), TINY)
        off = np.where(is_clipped, distance, off)
    weight = below(tree, leaves, weights)
    return NodeNumbers(last - first, weight, impurity / n_outputs, float(off.max()), middles[:, -1])


def stretches(tree: Tree, leaves) -> tuple[np.ndarray, np.ndarray]:
    """Return where the rows of each node begin and end among all rows in the order of their leaves."""
    first = np.concatenate([[0], np.cumsum(np.bincount(leaves, minlength=tree.left.size))])
    return first[:-1], first[subtree_ends(tree.left, tree.right)]


def weighted_median(y, weights) -> float:
    """Return the y with half the weight on either side; between two such, the middle.

    >>> weighted_median(np.array([3.0, 1.0, 2.0]), np.ones(3)), weighted_median(np.array([1.0, 5.0]), np.ones(2))
    (2.0, 3.0)
    """
    order = np.argsort(y)
    up_to = np.cumsum(weights[order])
    low, high = (np.searchsorted(up_to, 0.5 * up_to[-1] * (1.0 + side * HALF)) for side in (-1.0, 1.0))
    return float(0.5 * (y[order[low]] + y[order[min(high, order.size - 1)]]))


def off_the_middle(distances, weights) -> float:
    """Return how much more than half of the weight lies on one side of 0, as a share of all; 0 is a median then."""
    one_side = max(weights[distances < 0].sum(), weights[distances > 0].sum())
    return max(float(one_side / weights.sum()) - 0.5, 0.0)


def mean_loss(tree: Tree, leaves, target: Target, criterion: int) -> float:
    """Return the mean loss of rows at the leaves where they end: wrong classes, or how far values are from y."""
    weights = target.weights if target.weights.size else np.ones(leaves.size)
    if criterion in CLASS_CRITERIA:
        pairs = zip(target.starts[:-1], target.starts[1:], strict=True)
        predicted = np.column_stack([tree.value[:, a:b].argmax(axis=1) for a, b in pairs])
        losses = predicted[leaves] != target.class_codes
    else:
        losses = REGRESSION_FORMULAS[criterion].loss(target.y, tree.value[leaves])
    return float(np.average(losses.mean(axis=1), weights=weights))


def tree_certificate(
    tree: Tree,
    numbers: NodeNumbers,
    leaves,
    target: Target,
    criterion: int,
    *,
    n_binned: int,
    monotonic_cst,
    pruning: tuple | None,
) -> Certificate:
    """Return the claims about a tree over the rows it learnt from, which end in ``leaves`` and give these numbers.

    ``monotonic_cst`` are monotonic constraints, or None; ``pruning`` is the validation error before and after.
    """
    loss_name = "training error" if criterion in CLASS_CRITERIA else "training loss"
    claims = [
        *number_claims([fit_of(tree, numbers, criterion)]),
        at_least(
            "gain", "least gain of a question, relative to the root's impurity", least_gain(tree, numbers), -ROUNDING
        ),
        measured(loss_name, f"{loss_name} of the rows it learnt from", mean_loss(tree, leaves, target, criterion)),
        bins_claim(n_binned),
    ]
    if monotonic_cst is not None:
        claims.append(order_claim(broken_orders(tree, monotonic_cst)))
    if pruning is not None:
        before, after = pruning
        bound = before * (1.0 + ROUNDING)
        if criterion in POSITIVE_MEANS:
            bound += ROUNDING * what_cancels(criterion, float(abs(target.y).max()))
        claims.append(at_most("validation error", "error on validation rows: after pruning ≤ before", after, bound))
    return Certificate(tuple(claims))


class TreeFit(NamedTuple):
    """How far the nodes of a tree are from what the rows give."""

    n_misplaced: int  # nodes that have other rows, or another weight
    value_error: float
    impurity_error: float  # relative to the root's impurity


def fit_of(tree: Tree, numbers: NodeNumbers, criterion: int) -> TreeFit:
    """Return how far a tree is from the numbers that the rows give."""
    misplaced = numbers.n_rows != tree.n_rows
    misplaced |= abs(numbers.weight - tree.weight) > ROUNDING * numbers.weight
    scale = float(numbers.impurity[0])
    if criterion in POSITIVE_MEANS:
        scale += what_cancels(criterion, float(abs(numbers.middle[0])))
    impurity_error = float(np.abs(numbers.impurity - tree.impurity).max()) / max(scale, TINY)
    return TreeFit(int(misplaced.sum()), numbers.value_error, impurity_error)


def what_cancels(criterion: int, mean: float) -> float:
    """Return what the parts of a loss may leave of rounding: they are as large as the loss of a y of 0, and where
    y hardly varies, their sum is a small difference of large numbers.
    """
    return LITTLE * float(REGRESSION_FORMULAS[criterion].loss(0.0, mean))


def number_claims(fits: Sequence[TreeFit]) -> list[Claim]:
    """Return the claims about rows, values and impurities of the nodes of all trees."""
    n_misplaced = sum(fit.n_misplaced for fit in fits)
    value_error, impurity_error = (max(fit[i] for fit in fits) for i in (1, 2))
    return [
        at_most("rows", "nodes whose rows are not those that the questions send there", n_misplaced, 0),
        at_most("values", "largest relative error of a node's value", value_error, ROUNDING),
        at_most("impurity", "largest error of a node's impurity, relative to the root's", impurity_error, ROUNDING),
    ]


def least_gain(tree: Tree, numbers: NodeNumbers) -> float:
    """Return the least decrease of weight x impurity by a question, relative to the root's."""
    mass = numbers.weight * numbers.impurity
    inner = np.flatnonzero(tree.left != LEAF)
    if inner.size == 0 or mass[0] <= 0.0:
        return 0.0
    return float((mass[inner] - mass[tree.left[inner]] - mass[tree.right[inner]]).min() / mass[0])


def bins_claim(n_binned: int) -> Claim:
    """Return how many columns were not searched exactly."""
    if n_binned == 0:
        return measured("quantile bins", "columns in bins: the search over thresholds was exact", 0)
    statement = "columns have more values than bins: their thresholds lie between quantile bins"
    return measured("quantile bins", statement, n_binned)
