"""Kernel ridge regression in plain loops: read this first, then core/kernels/ridge.py."""

import numpy as np


def fit(K, y, costs):
    """Return β with (K + diag 1/c) β = y, by Gauss's elimination with the largest pivot."""
    n = len(y)
    A = [[float(K[i, j]) + (1.0 / costs[i] if i == j else 0.0) for j in range(n)] + [float(y[i])] for i in range(n)]
    for p in range(n):
        q = max(range(p, n), key=lambda i: abs(A[i][p]))
        A[p], A[q] = A[q], A[p]
        for i in range(p + 1, n):
            share = A[i][p] / A[p][p]
            A[i] = [a - share * b for a, b in zip(A[i], A[p], strict=True)]
    beta = np.zeros(n)
    for i in reversed(range(n)):
        beta[i] = (A[i][n] - sum(A[i][j] * beta[j] for j in range(i + 1, n))) / A[i][i]
    return beta


def primal(K, y, costs, beta):
    """Return ½‖f‖² + Σ ½ c (y - f)²."""
    f = K @ beta
    return 0.5 * beta @ f + 0.5 * sum(c * (a - b) ** 2 for c, a, b in zip(costs, y, f, strict=True))


def dual(K, y, costs, alpha):
    """Return αᵀy - Σ ½ α²/c - ½ αᵀKα."""
    return alpha @ y - 0.5 * sum(a * a / c for a, c in zip(alpha, costs, strict=True)) - 0.5 * alpha @ K @ alpha
