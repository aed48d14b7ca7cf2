"""AdaBoost over stumps in plain loops and whole numbers: read this first, then core/adaboost."""

import math
from typing import NamedTuple


class Stump(NamedTuple):
    feature: int
    below: float  # the largest value that goes left; NaN stands for "missing", and goes where ``missing_left`` says
    missing_left: bool
    left: int
    right: int


def candidates(X):
    """Yield every cut of every column: the feature, the last value on the left, where missing numbers go."""
    for feature in range(len(X[0])):
        known = sorted({row[feature] for row in X if row[feature] == row[feature]})
        has_missing = any(row[feature] != row[feature] for row in X)
        for place, value in enumerate(known):
            is_last = place == len(known) - 1
            if not is_last and has_missing:
                yield feature, value, True
            if not is_last or has_missing:
                yield feature, value, False


def goes_left(row, feature, below, missing_left):
    x = row[feature]
    return missing_left if x != x else x <= below


def winner(weight_of_class):
    """Return the class with the largest weight, the first among equals."""
    return max(range(len(weight_of_class)), key=lambda c: (weight_of_class[c], -c))


def best_stump(X, y, D, n_classes):
    """Return the stump with the largest weight on its side, and that weight."""
    best, most = None, -1
    for feature, below, missing_left in candidates(X):
        sides = [[0] * n_classes, [0] * n_classes]
        for row, label, weight in zip(X, y, D, strict=True):
            sides[0 if goes_left(row, feature, below, missing_left) else 1][label] += weight
        right = max(sides[0]) + max(sides[1])
        if right > most:
            best, most = Stump(feature, below, missing_left, winner(sides[0]), winner(sides[1])), right
    totals = [sum(weight for label, weight in zip(y, D, strict=True) if label == c) for c in range(n_classes)]
    if max(totals) > most:
        best, most = Stump(0, math.inf, True, winner(totals), winner(totals)), max(totals)
    return best, most


def boost(X, y, weights, n_classes, n_rounds, learning_rate=1.0, bits=40):
    """Return the stumps, their errors and their weights α; the rows weigh w_i q_i, all whole numbers."""
    q = [1 << bits] * len(y)
    stumps, errors, alphas = [], [], []
    for _ in range(n_rounds):
        D = [w * factor for w, factor in zip(weights, q, strict=True)]
        stump, right = best_stump(X, y, D, n_classes)
        error = (sum(D) - right) / sum(D)
        if error >= 1 - 1 / n_classes:
            break
        stumps.append(stump)
        errors.append(error)
        if error == 0:
            alphas.append(1.0 + sum(alphas))
            break
        alphas.append(learning_rate * (math.log((1 - error) / error) + math.log(n_classes - 1)))
        for i, (row, label) in enumerate(zip(X, y, strict=True)):
            left = goes_left(row, stump.feature, stump.below, stump.missing_left)
            if (stump.left if left else stump.right) != label:
                q[i] = round(q[i] * math.exp(alphas[-1]))
    return stumps, errors, alphas


def real_rounds(X, y, learners):
    """Return r and α of learners h(x) in [-1, 1], one after the other, for labels -1 and 1 (the kernel lecture,
    *AdaBoost*)."""
    D = [1.0 / len(y)] * len(y)
    edges, alphas = [], []
    for h in learners:
        r = sum(weight * label * h(row) for weight, label, row in zip(D, y, X, strict=True))
        alpha = 0.5 * math.log((1 + r) / (1 - r))
        D = [weight * math.exp(-alpha * label * h(row)) for weight, label, row in zip(D, y, X, strict=True)]
        D = [weight / sum(D) for weight in D]
        edges.append(r)
        alphas.append(alpha)
    return edges, alphas
