"""Pairs of columns that rise and fall together, and their two principal components.

Trees ask about one column at a time, so a border that runs across two of them becomes a staircase. Where two columns go
together, the sum and the difference of their standardized values are their principal components, and one question
about these is an oblique one about the pair:

    north │ ╲  coast             z_a = (a - mean) / deviation
          │   ╲        ──►       z_a + z_b    along the coast
          │     ╲                z_a - z_b    away from it
          └────── east
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Pairs(NamedTuple):
    """Which columns are paired, and how they are standardized."""

    places: np.ndarray  # (n_pairs, 2) column numbers, the first one smaller
    means: np.ndarray  # (n_pairs, 2)
    scales: np.ndarray  # (n_pairs, 2) standard deviations


def correlated_pairs(X: np.ndarray, least: float, most: int) -> Pairs:
    """Return the most strongly correlated pairs of columns, at most so many and with at least such a correlation.

    A missing value counts as the mean of its column. Columns that are always the same, or whose squares are not
    finite, are in no pair.

    >>> a, b = np.arange(4.0), np.array([1.0, 0.0, 0.0, 1.0])
    >>> correlated_pairs(np.column_stack([a, b, -2.0 * a]), 0.7, 5).places.tolist()
    [[0, 2]]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        known = ~np.isnan(X)
        means = np.where(known, X, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        centred = np.where(known, X - means, 0.0)
        scales = np.sqrt((centred**2).sum(axis=0) / max(len(X), 1))
    used = np.flatnonzero(np.isfinite(means) & np.isfinite(scales) & (scales > 0.0))
    z = centred[:, used] / scales[used]
    sizes = np.abs(np.triu(z.T @ z, k=1)) / max(len(X), 1)
    first, second = np.nonzero(sizes >= least)
    order = np.argsort(-sizes[first, second], kind="stable")[:most]
    places = used[np.column_stack([first[order], second[order]])]
    return Pairs(places, means[places], scales[places])


def sums_and_differences(X: np.ndarray, pairs: Pairs) -> np.ndarray:
    """Return the sum and the difference of each pair, standardized: (n_rows, 2 n_pairs).

    >>> pairs = Pairs(np.array([[0, 1]]), np.array([[1.0, 2.0]]), np.array([[1.0, 2.0]]))
    >>> sums_and_differences(np.array([[2.0, 6.0]]), pairs)
    array([[ 3., -1.]])
    """
    z = (X[:, pairs.places] - pairs.means) / pairs.scales  # (n_rows, n_pairs, 2)
    return np.stack([z[..., 0] + z[..., 1], z[..., 0] - z[..., 1]], axis=-1).reshape(len(X), -1)
