"""What is drawn at random while word vectors are trained, as tables that are made once.

Subsampling (Mikolov et al. 2013, as in word2vec.c): a word of relative frequency f is kept with the probability
(√(f / t) + 1) t / f. Negatives are drawn with a probability that goes with count^a, by Walker's alias method:

    bin        0          1          2          as many bins as words, each drawn as often as any other
    holds   [ 0 0 0 2 ] [ 1 1 2 2 ] [ 2 2 2 2 ]     its own word, and one other
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit

BITS = 2.0**32


def keep_thresholds(counts: np.ndarray, subsample: float | None) -> np.ndarray:
    """Return, for each word, the number of 32 bits below which a random one keeps it; None keeps all words."""
    if subsample is None:
        return np.full(counts.size, int(BITS), dtype=np.uint64)
    frequency = counts / counts.sum()
    share = np.minimum((np.sqrt(frequency / subsample) + 1.0) * subsample / frequency, 1.0)
    return (share * BITS).astype(np.uint64)


def noise_shares(counts: np.ndarray, exponent: float) -> np.ndarray:
    """Return the probability of each word to be drawn as a negative.

    >>> noise_shares(np.array([16, 1]), 0.75).round(3)
    array([0.889, 0.111])
    """
    amounts = counts.astype(np.float64) ** exponent
    return amounts / amounts.sum()


def alias_table(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the part of each bin that is its own word's, in 32 bits, and the word that has the rest."""
    own, other = shares * shares.size, np.arange(shares.size, dtype=np.int32)
    is_short = own < 1.0
    fill_bins(own, other, np.append(np.flatnonzero(is_short), 0), np.flatnonzero(~is_short))
    return np.minimum(own * BITS, BITS - 1.0).astype(np.uint32), other


@njit
def fill_bins(own, other, short, long):
    """Fill each short bin with what a long one has too much; a long one may become short: there is room for it."""
    n_short, n_long = short.size - 1, long.size
    while n_short > 0 and n_long > 0:
        taker, giver = short[n_short - 1], long[n_long - 1]
        n_short -= 1
        other[taker] = giver
        own[giver] -= 1.0 - own[taker]
        if own[giver] < 1.0:
            short[n_short] = giver
            n_short, n_long = n_short + 1, n_long - 1
    for i in range(n_short):  # what rounding left over is full
        own[short[i]] = 1.0
    for i in range(n_long):
        own[long[i]] = 1.0
