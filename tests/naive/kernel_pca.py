"""Kernel PCA as on the blackboard: read this first, then core/kernels/centred.py and preimage.py."""

import numpy as np


def centred(K):
    """Return K - EK - KE + EKE, entry by entry."""
    n = len(K)
    of_columns, of_rows, of_all = K.mean(axis=0), K.mean(axis=1), K.mean()
    result = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            result[i, j] = K[i, j] - of_columns[j] - of_rows[i] + of_all
    return result


def components(K, count):
    """Return eigenvalues, eigenvectors, and eigenvectors divided by √λ, so that axes have length 1."""
    values, vectors = np.linalg.eigh(centred(K))
    values, vectors = values[::-1][:count], vectors[:, ::-1][:, :count]
    return values, vectors, vectors / np.sqrt(values)


def scores(K, near, axes):
    """Return the scores of new rows, whose similarities to the training rows are ``near``."""
    result = np.zeros((len(near), axes.shape[1]))
    for q in range(len(near)):
        moved = near[q] - near[q].mean() - K.mean(axis=0) + K.mean()
        for k in range(axes.shape[1]):
            result[q, k] = sum(axes[i, k] * moved[i] for i in range(len(K)))
    return result


def weights(score, axes):
    """Return g with P = Σ g_i φ(x_i), for the point P that the scores stand for."""
    n = len(axes)
    g = np.full(n, 1.0 / n)
    for i in range(n):
        for k in range(axes.shape[1]):
            g[i] += score[k] * (axes[i, k] - axes[:, k].mean())
    return g


def fixed_point(g, X, gamma, z, n_steps):
    """Return where the iteration is after so many steps, for one start."""
    for _ in range(n_steps):
        parts = [g[i] * np.exp(-gamma * np.sum((z - X[i]) ** 2)) for i in range(len(X))]
        z = sum(part * x for part, x in zip(parts, X, strict=True)) / sum(parts)
    return z


def distance(g, K, near, own):
    """Return ‖Σ g_i φ(x_i) - φ(z)‖²; ``near`` are k(z, x_i), ``own`` is k(z, z)."""
    return g @ K @ g - 2.0 * g @ near + own
