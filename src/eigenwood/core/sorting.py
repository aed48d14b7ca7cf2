"""The order of numbers by size, stable; compiled once for all that sort inside a kernel."""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit

RUN = 16  # so many neighbours are sorted by insertion before runs are merged


@njit
def sorted_order(keys):
    """Return the places of the keys by size; equal keys stay in their order.

    >>> sorted_order(np.array([2.0, 1.0, 2.0, 0.0]))
    array([3, 1, 0, 2])
    """
    n = keys.size
    order, spare = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for start in range(0, n, RUN):
        for i in range(start, min(start + RUN, n)):
            j = i
            while j > start and keys[order[j - 1]] > keys[i]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
    width = RUN
    while width < n:
        for start in range(0, n, 2 * width):
            middle, end = min(start + width, n), min(start + 2 * width, n)
            i, j = start, middle
            for k in range(start, end):
                if i < middle and (j >= end or keys[order[i]] <= keys[order[j]]):
                    spare[k] = order[i]
                    i += 1
                else:
                    spare[k] = order[j]
                    j += 1
        order, spare = spare, order
        width *= 2
    return order
