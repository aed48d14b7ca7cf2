"""Greedy landmarks as they are defined: after each choice, look at what every candidate would explain."""

import numpy as np


def greedy_landmarks(K, candidates, count):
    """Return the chosen candidates, and the trace that each one takes from what is left of K."""
    left = K.copy()
    chosen, gains = [], []
    for _ in range(count):
        best, most = None, -1.0
        for s in candidates:
            if s in chosen:
                continue
            gain = sum(left[x, s] ** 2 for x in range(len(K))) / left[s, s]
            if gain > most:
                best, most = s, gain
        chosen.append(best)
        gains.append(most)
        left = left - np.outer(left[:, best], left[:, best]) / left[best, best]
    return chosen, gains
