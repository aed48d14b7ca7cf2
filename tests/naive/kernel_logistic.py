"""Kernel logistic regression with the whole kernel, in plain loops: read this first, then core/kernels/logistic.py.

    minimise   ½ Σ_r β_rᵀ K β_r + Σ_i c_i (log Σ_r exp f_ir - f_i,y)      f_ir = Σ_j K_ij β_jr + b_r

by Newton's method in all unknowns at once. Two classes have one column of scores; that of the first class is 0.
"""

from math import exp, log
from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    beta: np.ndarray  # (n, n_scores)
    b: np.ndarray
    scores: np.ndarray
    primal: float
    dual: float


def fit(K, codes, costs, n_classes, has_offset=True, n_steps=60):
    """Return the best model."""
    n, m = len(K), 1 if n_classes == 2 else n_classes
    unknowns = np.zeros((n + has_offset) * m)
    for _ in range(n_steps):
        gradient, curvature = derivatives(K, codes, costs, unknowns, m, has_offset)
        step = np.linalg.lstsq(curvature, -gradient, rcond=1e-12)[0]
        size, here = 1.0, cost(K, codes, costs, unknowns, m, has_offset)
        while size > 1e-9 and cost(K, codes, costs, unknowns + size * step, m, has_offset) > here:
            size /= 2.0
        if size <= 1e-9:
            break
        unknowns = unknowns + size * step
    beta, b = parts(unknowns, n, m, has_offset)
    scores = K @ beta + b
    return Fit(beta, b, scores, cost(K, codes, costs, unknowns, m, has_offset), dual(K, codes, costs, scores))


def parts(unknowns, n, m, has_offset):
    """Return β and b."""
    table = unknowns.reshape(n + has_offset, m)
    return table[:n], table[n] if has_offset else np.zeros(m)


def shares(scores):
    """Return the probabilities of the classes, from one row of scores."""
    whole = [0.0, *scores] if len(scores) == 1 else list(scores)
    top = max(whole)
    total = sum(exp(score - top) for score in whole)
    return [exp(score - top) / total for score in whole]


def cost(K, codes, costs, unknowns, m, has_offset):
    """Return the primal."""
    beta, b = parts(unknowns, len(K), m, has_offset)
    scores = K @ beta + b
    losses = [-c * log(max(shares(row)[code], 1e-300)) for c, code, row in zip(costs, codes, scores, strict=True)]
    return 0.5 * sum(beta[:, r] @ K @ beta[:, r] for r in range(m)) + sum(losses)


def asked_for(codes, costs, scores):
    """Return α_i = c_i (1_y - p_i)."""
    m = scores.shape[1]
    alpha = np.zeros(scores.shape)
    for i, row in enumerate(scores):
        p = shares(row)
        for r in range(m):
            own = r + 1 if m == 1 else r
            alpha[i, r] = costs[i] * ((codes[i] == own) - p[own])
    return alpha


def dual(K, codes, costs, scores):
    """Return -½ αᵀKα + Σ c H(p), for the α that the scores ask for."""
    alpha = asked_for(codes, costs, scores)
    entropies = [-c * sum(p * log(p) for p in shares(row) if p > 0.0) for c, row in zip(costs, scores, strict=True)]
    return -0.5 * sum(alpha[:, r] @ K @ alpha[:, r] for r in range(scores.shape[1])) + sum(entropies)


def derivatives(K, codes, costs, unknowns, m, has_offset):
    """Return the gradient and the matrix of second derivatives, one row of the table after the other."""
    n = len(K)
    beta, b = parts(unknowns, n, m, has_offset)
    scores = K @ beta + b
    alpha = asked_for(codes, costs, scores)
    gradient, curvature = np.zeros(unknowns.size), np.zeros((unknowns.size, unknowns.size))
    for r in range(m):
        gradient[r : n * m : m] += K @ beta[:, r]
        curvature[r : n * m : m, r : n * m : m] += K
    for i in range(n):
        reach = np.append(K[i], 1.0) if has_offset else K[i]  # how a score of row i changes with β and b
        p = shares(scores[i])
        for r in range(m):
            gradient[r::m] -= alpha[i, r] * reach
            for s in range(m):
                own, other = (1, 1) if m == 1 else (r, s)
                bend = costs[i] * p[own] * ((r == s) - p[other])
                curvature[r::m, s::m] += bend * np.outer(reach, reach)
    return gradient, curvature
