"""What is drawn at random while word vectors are trained, as tables that are made once.

Subsampling (Mikolov et al. 2013, as in word2vec.c): a word of relative frequency f is kept with the probability
(√(f / t) + 1) t / f. Negatives are drawn with a probability that goes with count^a, by Walker's alias method:

    bin        0          1          2          as many bins as words, each drawn as often as any other
    holds   [ 0 0 0 2 ] [ 1 1 2 2 ] [ 2 2 2 2 ]     its own word, and one other
"""

from __future__ import annotations

import numpy as np

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
    own = (shares * shares.size).tolist()
    other = list(range(shares.size))
    short = [word for word, part in enumerate(own) if part < 1.0]
    long = [word for word, part in enumerate(own) if part >= 1.0]
    while short and long:
        taker, giver = short.pop(), long[-1]
        other[taker] = giver
        own[giver] -= 1.0 - own[taker]
        if own[giver] < 1.0:
            short.append(long.pop())
    for word in short + long:  # what rounding left over is full
        own[word] = 1.0
    parts = np.minimum(np.array(own) * BITS, BITS - 1.0)
    return parts.astype(np.uint32), np.array(other, dtype=np.int32)
