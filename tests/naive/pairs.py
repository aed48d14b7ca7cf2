"""The slow, obvious twin of ``core/pairs.py``."""

from __future__ import annotations

import math


def columns_without_holes(X):
    """Return each column as a list, the mean in the place of what is missing."""
    found = []
    for j in range(len(X[0])):
        known = [row[j] for row in X if not math.isnan(row[j])]
        mean = sum(known) / len(known) if known else 0.0
        found.append([mean if math.isnan(row[j]) else row[j] for row in X])
    return found


def mean_and_deviation(values):
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))


def correlated_pairs(X, least, most):
    """Return (first, second) of the most strongly correlated pairs of columns, the strongest first."""
    columns, found = columns_without_holes(X), []
    for i in range(len(columns)):
        for j in range(i + 1, len(columns)):
            (mean_i, size_i), (mean_j, size_j) = mean_and_deviation(columns[i]), mean_and_deviation(columns[j])
            if size_i == 0.0 or size_j == 0.0:
                continue
            products = [(a - mean_i) * (b - mean_j) for a, b in zip(columns[i], columns[j], strict=True)]
            correlation = abs(sum(products) / len(products) / size_i / size_j)
            if correlation >= least:
                found.append((-correlation, i, j))
    return [(i, j) for _, i, j in sorted(found)[:most]]


def sums_and_differences(X, pairs):
    """Return for each row the sum and the difference of each pair of standardized columns."""
    columns = columns_without_holes(X)
    scales = [mean_and_deviation(column) for column in columns]
    rows = []
    for row in X:
        z = [(value - mean) / size if size else 0.0 for value, (mean, size) in zip(row, scales, strict=True)]
        rows.append([number for i, j in pairs for number in (z[i] + z[j], z[i] - z[j])])
    return rows
