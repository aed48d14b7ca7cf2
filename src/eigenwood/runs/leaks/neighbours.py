"""How alike the targets of rows are that are neighbours in the order of a column.

    sorted by column     0.1  0.1  0.4  0.7  0.9  0.9          likeness = 1 − differences between neighbours
    target                a    a    a    b    b    b                          ──────────────────────────────────
    neighbours differ         0    0    1    0    0                           differences between any two rows

A column that says nothing has likeness 0, a copy of the target 1, whatever it was recoded to; a copy in which
a share ε of the rows was exchanged has (1 − ε)². The target differs by 1 between two labels, or by the distance of
two ranks (Chatterjee's coefficient). k classes need k − 1 differences, which are not counted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp
from scipy.stats import norm


class Order(NamedTuple):
    """The rows along each line, those with a value first."""

    rows: np.ndarray  # (lines, n)
    n_present: np.ndarray  # (lines,)
    are_neighbours: np.ndarray  # (lines, n - 1) whether both have a value


def order_of(values: np.ndarray) -> Order:
    """Return the rows sorted by each line of ``values``."""
    rows = np.argsort(values, axis=1, kind="stable")
    n_present = values.shape[1] - np.isnan(values).sum(axis=1)
    return Order(rows, n_present, np.arange(values.shape[1] - 1) < n_present[:, None] - 1)


def changes_of(order: Order, codes: np.ndarray) -> np.ndarray:
    """Return how often the label changes along each line."""
    along = codes[order.rows]
    return ((along[:, 1:] != along[:, :-1]) & order.are_neighbours).sum(axis=1)


def label_likeness(changes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the likeness of labels along lines with so many changes; ``counts`` (lines, classes) are the rows."""
    n = counts.sum(axis=1)
    same = (counts * (counts - 1)).sum(axis=1) / np.maximum(n * (n - 1), 1)
    expected = (n - 1) * (1 - same)
    needed = (counts > 0).sum(axis=1) - 1
    countable = expected - needed >= 0.5
    return np.where(countable, 1 - (changes - needed) / np.where(countable, expected - needed, 1.0), 0.0)


def rank_likeness(order: Order, ranks: np.ndarray) -> np.ndarray:
    """Return the likeness of ranks along each line."""
    along = ranks[order.rows]
    distance = (np.abs(np.diff(along, axis=1)) * order.are_neighbours).sum(axis=1)
    expected = np.maximum(order.n_present - 1, 1) * mean_distance(ranks)
    return np.where(order.n_present < 3, 0.0, 1 - distance / expected)


def mean_distance(amounts: np.ndarray) -> float:
    """Return the mean distance of two different amounts of a sample; of ranks it is a third, less with ties."""
    n = amounts.size
    return float(2 * ((2 * np.arange(1, n + 1) - n - 1) @ np.sort(amounts)) / (n * (n - 1)))


# --- chance ------------------------------------------------------------------------------------------


def log_chance_of_ranks(likeness: float, n: int) -> float:
    """Return the log probability of a likeness without any relation: normal with variance 2 / (5 n)."""
    return float(norm.logsf(likeness * np.sqrt(2.5 * n)))


def log_chance_of(changes: int, counts: np.ndarray) -> float:
    """Return a bound on the log probability that labels in random order change at most so often.

    Of n! / (n₁! … n_k!) orders those with c changes are at most C(n − 1, c) · k · (k − 1)^c; those of two classes
    are counted exactly.
    """
    n, k = counts.sum(), counts.size
    if k < 2:
        return 0.0
    n_orders = gammaln(n + 1) - gammaln(counts + 1).sum()
    if k == 2:
        return min(log_arrangements(changes, *counts) - n_orders, 0.0)
    up_to = np.arange(k - 1, changes + 1)
    return min(float(logsumexp(log_choose(n - 1, up_to) + np.log(k) + up_to * np.log(k - 1)) - n_orders), 0.0)


def log_arrangements(changes: int, first: float, second: float) -> float:
    """Return the log number of orders of two labels with 1 to ``changes`` changes."""
    runs = np.arange(2, changes + 2)
    half, odd = runs // 2, runs % 2 == 1
    even_runs = np.log(2) + log_choose(first - 1, half - 1) + log_choose(second - 1, half - 1)
    odd_runs = np.logaddexp(
        log_choose(first - 1, half) + log_choose(second - 1, half - 1),
        log_choose(first - 1, half - 1) + log_choose(second - 1, half),
    )
    return float(logsumexp(np.where(odd, odd_runs, even_runs)))


def log_choose(n, k):
    """Return the logarithm of n over k, −∞ where there is none."""
    possible = (k >= 0) & (k <= n)
    k = np.where(possible, k, 0)
    return np.where(possible, gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), -np.inf)
