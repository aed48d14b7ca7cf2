"""Weights of terms in plain loops: read this first, then core/text/weighting.py."""

from __future__ import annotations

import math


def weighted_rows(counts: list[list[int]], weights: list[float]) -> list[list[float]]:
    """Return rows of length 1 of (1 + ln count) times the weight of the term."""
    rows = []
    for row in counts:
        values = [(1 + math.log(count)) * weight if count else 0.0 for count, weight in zip(row, weights, strict=True)]
        length = math.sqrt(sum(value**2 for value in values))
        rows.append([value / length if length else 0.0 for value in values])
    return rows


def covariances(rows: list[list[float]], targets: list[list[float]]) -> list[float]:
    """Return the length of each term's covariances with the targets."""
    n, found = len(rows), []
    for term in range(len(rows[0])):
        squares = 0.0
        for target in range(len(targets[0])):
            mean_x = sum(row[term] for row in rows) / n
            mean_y = sum(row[target] for row in targets) / n
            products = ((x[term] - mean_x) * (y[target] - mean_y) for x, y in zip(rows, targets, strict=True))
            squares += (sum(products) / n) ** 2
        found.append(math.sqrt(squares))
    return found
