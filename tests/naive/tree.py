"""The decision tree in plain loops: read this first, then core/tree/grower.py.

A node is a list of rows. To split it, try every question about every feature and keep the one whose answers are least
mixed; then do the same with the rows of each answer. Among equals the first feature wins, and then the first question.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np

TIE = 1e-11  # of what is mixed at the node: costs closer than this are equal
ROUNDING = 1e-12


class Data(NamedTuple):
    X: np.ndarray  # (n_rows, n_features): nan is a missing number, a category is given by its code
    y: np.ndarray  # (n_rows, n_outputs): classes 0, 1, … or amounts
    weights: np.ndarray  # (n_rows,)
    n_classes: tuple = ()  # for each output; none for amounts
    categories: tuple = ()  # which features are categories


class Rules(NamedTuple):
    criterion: str
    max_depth: float = math.inf
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_decrease: float = 0.0
    pure_enough: float = 0.0  # a node with at most this impurity is left alone
    max_leaves: int | None = None  # best first if given
    monotonic_cst: tuple = ()  # of each feature: 1 where predictions may only rise with it, -1 where only fall
    multiway: bool = False  # one branch for each category
    every_subset: bool = True  # of the categories; else only the cuts of their order


@dataclass
class Node:
    rows: list
    path: tuple  # the answers from the root to it
    lower: float  # its value must lie between these
    upper: float
    weight: float
    impurity: float
    value: np.ndarray
    question: Threshold | Subset | Each | None = None
    decrease: float = 0.0
    children: list = field(default_factory=list)


# ---- how mixed some rows are: y has one label or amount for each, w their weights ---------------------------------


def shares(y, w, n_classes=None):
    """Return the share of the weight that each class has."""
    n_classes = int(max(y)) + 1 if n_classes is None else n_classes
    return [sum(w[i] for i in range(len(y)) if y[i] == k) / sum(w) for k in range(n_classes)]


def mean(y, w):
    return sum(w[i] * y[i] for i in range(len(y))) / sum(w)


def median(y, w):
    """Return the amount with half the weight on either side; between two such amounts, the middle."""
    half, below = sum(w) / 2, 0.0
    order = sorted(range(len(y)), key=lambda i: y[i])
    for place, i in enumerate(order):
        below += w[i]
        if math.isclose(below, half, rel_tol=1e-12) and place + 1 < len(order):
            return (y[i] + y[order[place + 1]]) / 2
        if below > half:
            return y[i]
    return y[order[-1]]


def gini(y, w):
    return 1 - sum(p * p for p in shares(y, w))


def entropy(y, w):
    return -sum(p * math.log2(p) for p in shares(y, w) if p > 0)


def error(y, w):
    return 1 - max(shares(y, w))


def squared_error(y, w):
    centre = mean(y, w)
    return mean([(amount - centre) ** 2 for amount in y], w)


def poisson(y, w):
    centre = mean(y, w)
    return mean([amount * math.log(amount / centre) if amount > 0 else 0.0 for amount in y], w)


def absolute_error(y, w):
    centre = median(y, w)
    return mean([abs(amount - centre) for amount in y], w)


IMPURITIES = {
    "gini": gini,
    "entropy": entropy,
    "error": error,
    "squared_error": squared_error,
    "poisson": poisson,
    "absolute_error": absolute_error,
}

SECOND_CRITERIA = {"error": "gini", "absolute_error": "squared_error"}


def impurity(data, rows, rules):
    """Return the impurity of some rows, averaged over the outputs."""
    measure, w = IMPURITIES[rules.criterion], data.weights[rows]
    if (data.y[rows] == data.y[rows[0]]).all():
        return 0.0
    return np.mean([measure(data.y[rows, o], w) for o in range(data.y.shape[1])])


def value(data, rows, rules):
    """Return what is predicted for some rows: the shares of the classes of each output, or one amount for each."""
    w = data.weights[rows]
    if data.n_classes:
        return np.concatenate([shares(data.y[rows, o], w, k) for o, k in enumerate(data.n_classes)])
    middle = median if rules.criterion == "absolute_error" else mean
    return np.array([middle(data.y[rows, o], w) for o in range(data.y.shape[1])])


# ---- questions ----------------------------------------------------------------------------------------------------


class Threshold(NamedTuple):
    feature: int
    threshold: float  # infinity: all that is not missing goes left
    missing_left: bool

    def answer(self, x):
        return 0 if (self.missing_left if math.isnan(x) else x <= self.threshold) else 1


class Subset(NamedTuple):
    feature: int
    left: frozenset

    def answer(self, x):
        return 0 if x in self.left else 1


class Each(NamedTuple):
    feature: int
    categories: list

    def answer(self, x):
        return self.categories.index(x)


def questions(data, rows, feature, rules):
    """Return all that can be asked about a feature, in the order in which they are tried."""
    column = data.X[rows, feature]
    if feature not in data.categories:
        return number_questions(column, feature)
    present = sorted(set(column))
    if rules.multiway:
        return [Each(feature, present)] if len(present) > 1 else []
    if rules.every_subset:
        return subset_questions(data, rows, feature, present, rules)
    order = categories_in_order(data, rows, feature, present)
    return [Subset(feature, frozenset(order[: i + 1])) for i in range(len(order) - 1)]


def number_questions(column, feature):
    """A threshold between any two neighbours; what is missing goes right, and then left."""
    numbers = sorted(set(column[~np.isnan(column)]))
    middles = [below / 2 + above / 2 for below, above in zip(numbers, numbers[1:], strict=False)]
    found = [Threshold(feature, middle, False) for middle in middles]
    if np.isnan(column).any() and numbers:
        found.append(Threshold(feature, math.inf, False))
        found += [Threshold(feature, middle, True) for middle in middles]
    return found


def subset_questions(data, rows, feature, present, rules):
    """All ways to divide the categories in two; the side with the lower value is the left one."""
    found = []
    for size in range(len(present) - 1):
        for others in combinations(present[1:], size):
            parts = frozenset([present[0], *others]), frozenset(present[1:]) - frozenset(others)
            found.append(Subset(feature, min(parts, key=lambda part: side_value(data, rows, feature, part, rules))))
    return found


def side_value(data, rows, feature, part, rules):
    """Return the value of the rows whose category is in a part; between equals, the lowest category decides."""
    own = [i for i in rows if data.X[i, feature] in part]
    return round(value(data, own, rules)[-1], 10), min(part)


def categories_in_order(data, rows, feature, present):
    """By the mean or the share of the second class; else along the first principal component of what they are like."""
    parts = [[i for i in rows if data.X[i, feature] == category] for category in present]
    means = Rules("squared_error")  # also for the absolute error
    table = np.array([value(data, part, means) for part in parts]) - value(data, rows, means)
    if table.shape[1] == 1 or data.n_classes == (2,):
        places = table[:, -1]
    else:
        weights = np.array([data.weights[part].sum() for part in parts])
        direction = np.linalg.eigh(table.T @ (weights[:, None] * table))[1][:, -1]
        largest = np.abs(direction).max()
        first = next(entry for entry in direction if abs(entry) > largest - 1e-9)  # of the largest entries
        places = table @ direction * np.sign(first)
    return [present[i] for i in sorted(range(len(present)), key=lambda i: (round(places[i], 10), present[i]))]


# ---- growth -------------------------------------------------------------------------------------------------------


def first(node, equal):
    return equal[0]


def grow(data, rules, choose=first):
    """Return the root of the tree; ``choose`` decides between questions about features that are equally good."""
    root = new_node(data, list(range(len(data.X))), (), (-math.inf, math.inf), rules, choose)
    open_nodes, n_leaves = [root], 1
    while open_nodes:
        node = max(open_nodes, key=lambda node: round(node.decrease, 12)) if rules.max_leaves else open_nodes[0]
        open_nodes.remove(node)
        parts = answered(data, node.rows, node.question) if node.question else []
        if len(parts) < 2 or n_leaves + len(parts) - 1 > (rules.max_leaves or math.inf):
            node.question = None
            continue
        n_leaves += len(parts) - 1
        bounds = bounds_below(data, node, parts, rules)
        for i, part in enumerate(parts):
            node.children.append(new_node(data, part, (*node.path, i), bounds[i], rules, choose))
        open_nodes += node.children
    return root


def new_node(data, rows, path, bounds, rules, choose):
    """Return a node without children, and the question that should be asked there, if any."""
    (lower, upper), known = bounds, value(data, rows, rules)
    if rules.monotonic_cst:
        known[-1] = min(max(known[-1], lower), upper)
        known[0] = 1 - known[-1] if data.n_classes else known[0]
    node = Node(rows, path, lower, upper, data.weights[rows].sum(), impurity(data, rows, rules), known)
    if (
        node.impurity > rules.pure_enough
        and len(path) < rules.max_depth
        and len(rows) >= rules.min_samples_split
        and node.weight >= 2 * rules.min_weight_leaf
    ):
        ask_best_question(data, node, rules, choose)
    return node


def ask_best_question(data, node, rules, choose):
    """Set the question after which the parts are least mixed, if that is worth the while."""
    mixed = node.weight * node.impurity
    best = [best_about(data, node, feature, rules) for feature in range(data.X.shape[1])]
    least = min(cost for cost, _ in best)
    equal = [question for cost, question in best if question and cost <= least + TIE * mixed]
    node.decrease = (mixed - least) / data.weights.sum()
    if equal and node.decrease + ROUNDING >= rules.min_decrease:
        node.question = choose(node, equal)


def best_about(data, node, feature, rules):
    """Return the least cost of a question about a feature, and that question.

    Of those that are equal it is the first; of those that gain nothing, the one with the least second cost, if the
    criterion has one.
    """
    least, least_second, best = math.inf, math.inf, None
    tie = TIE * node.weight * node.impurity
    second_tie = tie * node.impurity if rules.criterion == "absolute_error" else tie
    for question in questions(data, node.rows, feature, rules):
        parts = answered(data, node.rows, question)
        if is_allowed(data, node, question, parts, rules):
            cost = cost_of(data, parts, rules)
            second = second_cost(data, parts, rules) if cost >= node.weight * node.impurity - tie else 0.0
            if cost < least - tie or (cost <= least + tie and second < least_second - second_tie):
                least, least_second, best = cost, second, question
    return least, best


def cost_of(data, parts, rules):
    return sum(data.weights[part].sum() * impurity(data, part, rules) for part in parts)


def second_cost(data, parts, rules):
    """Return what decides between questions that the criterion finds equally good."""
    second = SECOND_CRITERIA.get(rules.criterion)
    return cost_of(data, parts, rules._replace(criterion=second)) if second else 0.0


def answered(data, rows, question):
    """Return the rows of each answer."""
    answers = [question.answer(data.X[i, question.feature]) for i in rows]
    return [[i for i, answer in zip(rows, answers, strict=True) if answer == k] for k in range(max(answers) + 1)]


def is_allowed(data, node, question, parts, rules):
    """Return whether no part is too small and the values keep the order that is wanted."""
    for part in parts:
        if len(part) < rules.min_samples_leaf or data.weights[part].sum() < rules.min_weight_leaf:
            return False
        if rules.criterion == "poisson" and (data.y[part].sum(axis=0) <= 0).any():
            return False  # a Poisson mean is above 0
    sign = rules.monotonic_cst[question.feature] if rules.monotonic_cst else 0
    if sign == 0:
        return True
    left, right = (value(data, part, rules)[-1] for part in parts)
    return node.lower <= min(left, right) and max(left, right) <= node.upper and sign * (right - left) >= 0


def bounds_below(data, node, parts, rules):
    """Return the bounds of the children: where the order is to be kept, the middle of their values is between them."""
    sign = rules.monotonic_cst[node.question.feature] if rules.monotonic_cst else 0
    if sign == 0:
        return [(node.lower, node.upper)] * len(parts)
    middle = sum(value(data, part, rules)[-1] for part in parts) / 2
    below, above = (node.lower, middle), (middle, node.upper)
    return [below, above] if sign > 0 else [above, below]


# ---- trees in arrays ----------------------------------------------------------------------------------------------


def leaf_of(tree, x, categories=()):
    """Return the leaf at which a row ends, in a tree as core/tree/types.py draws it."""
    node = 0
    while tree.left[node] >= 0:
        node = tree.left[node] if goes_left(tree, node, x, categories) else tree.right[node]
    return int(node)


def goes_left(tree, node, x, categories=()):
    """Return whether a row goes left at a node."""
    answer, default_left = x[tree.feature[node]], tree.default_left[node]
    if tree.feature[node] in categories:
        return default_left != (answer in tree.categories[tree.category_start[node] : tree.category_start[node + 1]])
    return default_left if math.isnan(answer) else answer <= tree.threshold[node]
