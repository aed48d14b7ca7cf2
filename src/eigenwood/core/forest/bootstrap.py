"""Rows drawn with replacement, as counts.

Draw number i is a point between 0 and the total weight that follows from the seed and i alone; a row owns as long a
stretch as its weight.

    weights     1    2         1    1
    stretches   0 ─► 1 ──────► 3 ─► 4 ─► 5          a draw at 2.7 is the second row
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.distinct import splitmix64

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # SplitMix64's step from one draw to the next
MANTISSA = 1.0 / (1 << 53)


class Bootstrap(NamedTuple):
    """How trees draw their rows."""

    n_draws: int
    ends: np.ndarray  # cumulative weights of the rows, or empty where all are 1
    rows: np.ndarray  # (n_rows,) the row of the table that each of them is


@njit
def drawn_counts(seed, n_draws, ends, n_rows):
    """Return how often each row is drawn; ``ends`` are the cumulative weights, or empty where all are 1.

    >>> int(drawn_counts(np.uint64(7), 100, np.empty(0), 5).sum())
    100
    """
    counts = np.zeros(n_rows, dtype=np.int64)
    total = ends[-1] if ends.size > 0 else float(n_rows)
    state = splitmix64(seed)
    for _ in range(n_draws):
        state += GOLDEN
        point = (splitmix64(state) >> np.uint64(11)) * MANTISSA * total
        row = np.searchsorted(ends, point, side="right") if ends.size > 0 else int(point)
        counts[min(row, n_rows - 1)] += 1  # rounding may reach the very end
    return counts


@njit
def drawn_rows(seeds, bootstrap):
    """Return the rows that trees with these seeds draw, ascending for each; how often; and where each tree begins."""
    n_rows, n = bootstrap.rows.size, 0
    rows, counts = np.empty(seeds.size * n_rows, dtype=np.int32), np.empty(seeds.size * n_rows)
    starts, by_row = np.zeros(seeds.size + 1, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    for t in range(seeds.size):
        by_row[bootstrap.rows] = drawn_counts(seeds[t], bootstrap.n_draws, bootstrap.ends, n_rows)
        for row in range(n_rows):
            rows[n], counts[n] = row, by_row[row]
            n += by_row[row] > 0
        starts[t + 1] = n
    return rows[:n].copy(), counts[:n].copy(), starts
