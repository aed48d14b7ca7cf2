"""Metrics and their influences in plain loops."""

from __future__ import annotations


def auc(scores, is_of_class, weights):
    """Return the share of pairs, one row of the class and one other, in which the former has the higher score."""
    won = total = 0.0
    for i in range(len(scores)):
        for j in range(len(scores)):
            if is_of_class[i] and not is_of_class[j]:
                pair = weights[i] * weights[j]
                won += pair * (1.0 if scores[i] > scores[j] else 0.5 if scores[i] == scores[j] else 0.0)
                total += pair
    return won / total


def average_precision(scores, is_of_class, weights):
    """Return the mean, over the rows of the class, of the precision among the rows with at least their score."""
    found = total = 0.0
    for i in range(len(scores)):
        if is_of_class[i]:
            above = [j for j in range(len(scores)) if scores[j] >= scores[i]]
            of_class = sum(weights[j] for j in above if is_of_class[j])
            found += weights[i] * of_class / sum(weights[j] for j in above)
            total += weights[i]
    return found / total


def influences(value, weights):
    """Return how a value follows the weight of each row, by moving each weight a little."""
    found = []
    for i in range(len(weights)):
        above, below = list(weights), list(weights)
        above[i] += 1e-5
        below[i] -= 1e-5
        found.append((value(above) - value(below)) / 2e-5)
    return found
