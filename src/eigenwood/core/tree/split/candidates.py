"""Which columns a node looks at, where it may not look at all of them: a draw that is the same wherever it is made.

Each candidate has a key of random bits that follow from the seed of the node and from its feature, not from how the
table is kept; the least keys come first. No more of them are sorted than are asked for:

    all keys ──► those below a bar ──► a heap of these ──► the next, the next, … ──► those of the next band
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit_no_refcount
from eigenwood.core.bits import ONE, is_member, lowest_bit
from eigenwood.core.distinct import splitmix64
from eigenwood.core.fetching import fetch_row
from eigenwood.core.tree.split.sizes import AHEAD

INDEX_BITS = np.uint64((1 << 24) - 1)  # of a key: which candidate it belongs to
NO_KEY = np.uint64(np.iinfo(np.uint64).max)  # of what cannot be drawn
SHORT = 16  # of so few keys the least is found by looking at all
BAND = 2  # keys that are looked at together, for each that is wanted


class Drawn(NamedTuple):
    """Where a draw stands: how many keys are left of the band, and where that ends."""

    n_near: int
    bar: np.uint64


NOTHING_DRAWN = Drawn(0, np.uint64(0))


@njit_no_refcount
def key_of(seed, feature):
    """Return 64 random bits for a feature at a node."""
    return splitmix64(seed ^ splitmix64(np.uint64(feature + 1)))


@njit_no_refcount
def write_all(draw, n_candidates, n_columns, constant):
    """Write all candidates but constant columns, and return how many they are."""
    n = 0
    for i in range(n_candidates):
        draw[n] = i
        n += i >= n_columns or not is_member(constant, i)
    return n


@njit_no_refcount
def drawn(draw, n_left):
    """Return the next candidate of the draw, of which ``n_left`` are left."""
    least = draw[0]
    draw[0] = draw[n_left - 1]
    sink(draw, 0, n_left - 1)
    return np.int64(least & INDEX_BITS)


@njit_no_refcount
def sink(heap, i, n):
    """Let entry ``i`` sink to where none below it is smaller."""
    key = heap[i]
    while 2 * i + 1 < n:
        child = 2 * i + 1
        if child + 1 < n and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = key


@njit_no_refcount
def make_draw(buffers, sparse_keys, n_columns, n_groups, sparse_bins, group, constant, seed):
    """Write the keys of all candidates, and return how many can be drawn: all but columns known to be constant.

    Candidates come in the order of their keys. Of many only the first few are wanted, so they are never sorted: those
    within a band of keys are taken out (``next_band``), then those of the next one.
    """
    draw, feature_keys = buffers.draw, buffers.feature_keys
    for at in range(n_columns):
        draw[at] = (splitmix64((seed + ONE) ^ feature_keys[at]) & ~INDEX_BITS) | np.uint64(at)
    n = n_columns
    for i in range(constant.size):
        word = constant[i]
        while word != 0:
            draw[64 * i + lowest_bit(word)] = NO_KEY
            n -= 1
            word &= word - ONE
    for g in range(n_groups):
        at = n_columns + g
        draw[at] = (splitmix64((seed + ONE) ^ sparse_keys[sparse_bins[group[g]]]) & ~INDEX_BITS) | np.uint64(at)
    return n + n_groups


@njit_no_refcount
def band_for(n_wanted, n_candidates):
    """Return the width of a band in which somewhat more keys are expected than are wanted."""
    n_expected = BAND * n_wanted + SHORT
    return NO_KEY if n_candidates <= n_expected else NO_KEY // np.uint64(n_candidates) * np.uint64(n_expected)


@njit_no_refcount
def next_band(draw, n, bar, band, near):
    """Write the keys from ``bar`` to before the end of the band, as a heap if they are many; return how many they are,
    and the end.
    """
    end, n_near = bar + band, 0
    if end < bar:  # beyond the last key
        end = NO_KEY
    for i in range(n):
        near[n_near] = draw[i]
        n_near += bar <= draw[i] < end
    if n_near > SHORT:
        for i in range(n_near // 2 - 1, -1, -1):
            sink(near, i, n_near)
    return n_near, end


@njit_no_refcount
def next_drawn(near, n_left):
    """Return the candidate with the least key, of which ``n_left`` are left."""
    if n_left > SHORT:
        return drawn(near, n_left)
    least = 0
    for i in range(1, n_left):
        least = i if near[i] < near[least] else least
    found = near[least]
    near[least] = near[n_left - 1]
    return np.int64(found & INDEX_BITS)


@njit_no_refcount
def next_candidate(buffers, n_all, drawn, band):
    """Return the candidate with the least key of those not drawn before, and where the draw stands then."""
    n_near, bar = drawn
    while n_near == 0:
        n_near, bar = next_band(buffers.draw, n_all, bar, band, buffers.near)
    return next_drawn(buffers.near, n_near), Drawn(n_near - 1, bar)


@njit_no_refcount
def write_drawn(buffers, n_all, n, drawn, band, candidates):
    """Write the next candidates of a draw, and return where it stands then."""
    for k in range(n):
        candidates[k], drawn = next_candidate(buffers, n_all, drawn, band)
    return drawn


@njit_no_refcount
def write_next(every, n_taken, n, candidates):
    """Write the next candidates where all are looked at, one after the other."""
    for k in range(n):
        candidates[k] = np.int64(every[n_taken + k])


@njit_no_refcount
def read_columns(by_row, rows, candidates, n, column_codes):
    """Write the codes of some rows in the first ``n`` columns of a turn; sparse ones have none, and get any."""
    last = by_row.shape[1] - 1
    for i in range(rows.size):
        fetch_row(by_row, rows[min(i + AHEAD, rows.size - 1)])
        row = by_row[rows[i]]
        for k in range(n):
            column_codes[k, i] = row[np.uint64(min(candidates[k], last))]
