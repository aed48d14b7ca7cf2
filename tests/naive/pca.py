"""PCA of the textbook in plain loops: read this first, then core/spectral/moments.py, gram.py, power.py and oja.py."""

from math import inf, lgamma, log, pi, sqrt

import numpy as np


def mean(X, weights):
    """Return the weighted mean of each column."""
    total = [0.0] * X.shape[1]
    for w, x in zip(weights, X, strict=True):
        for j in range(len(x)):
            total[j] += float(w) * float(x[j])
    return np.array(total) / float(sum(weights))


def scatter(X, weights):
    """Return Σ w (x - mean)(x - mean)ᵀ, as it is defined."""
    d, middle = X.shape[1], mean(X, weights)
    S = np.zeros((d, d))
    for w, x in zip(weights, X, strict=True):
        for i in range(d):
            for j in range(d):
                S[i, j] += float(w) * (float(x[i]) - middle[i]) * (float(x[j]) - middle[j])
    return S


def scatter_of_pairs(X, weights):
    """Return the same without any mean: Σ over pairs of rows of w w' (x - x')(x - x')ᵀ, by twice the weight of all."""
    S = np.zeros((X.shape[1], X.shape[1]))
    for w, x in zip(weights, X.astype(float), strict=True):
        for v, z in zip(weights, X.astype(float), strict=True):
            S += float(w) * float(v) * np.outer(x - z, x - z)
    return S / (2.0 * float(sum(weights)))


def centred(X, weights, middle, scale):
    """Return A = √w (X - mean) / scale, entry by entry."""
    A = np.empty(X.shape)
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            A[i, j] = sqrt(weights[i]) * (float(X[i, j]) - middle[j]) / scale[j]
    return A


def gram(A):
    """Return AAᵀ: the products of every row with every row."""
    n = len(A)
    G = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            G[i, j] = sum(float(a) * float(b) for a, b in zip(A[i], A[j], strict=True))
    return G


def power_iteration(M, count, tol=1e-12, most=100_000):
    """Return the leading pairs of M one by one: multiply and shorten until it points the same way, then deflate."""
    M = np.array(M, dtype=float)
    values, vectors = [], []
    for c in range(count):
        v = np.cos(np.arange(len(M)) + c + 1.0)  # any start that is not at right angles to what is looked for
        for _ in range(most):
            v = v / sqrt(sum(v * v))
            product = M @ v
            value = float(v @ product)
            if np.linalg.norm(product - value * v) <= tol * max([*values, value]):
                break
            v = product
        values.append(value)
        vectors.append(v)
        M = M - value * np.outer(v, v)
    return np.array(values), np.column_stack(vectors)


def oja(A, batches, weight, start, memory):
    """Return the direction and its length after some batches of centred rows: a step of memory / t towards each."""
    w, length = start / sqrt(sum(start * start)), 0.0
    for t, rows in enumerate(batches, 1):
        learnt = np.zeros(len(w))
        for x in A[rows]:
            learnt += x * float(x @ w) / weight
        share = min(1.0, memory / t)
        w = (1.0 - share) * length * w + share * learnt
        length = sqrt(sum(w * w))
        w = w / length
    return w, length


def reconstruction(X, middle, components):
    """Return each row as the mean and its parts along the components."""
    rows = []
    for x in X:
        row = np.array(middle, dtype=float)
        for v in components:
            row = row + sum((float(x[j]) - middle[j]) * v[j] for j in range(len(v))) * v
        rows.append(row)
    return np.array(rows)


def observed_score(x, components):
    """Return the least-squares scores of a centred row, NaN where it has holes, by the normal equations."""
    seen = [j for j in range(len(x)) if not np.isnan(x[j])]
    k = len(components)
    left, right = np.zeros((k, k)), np.zeros(k)
    for a in range(k):
        right[a] = sum(components[a][j] * x[j] for j in seen)
        for b in range(k):
            left[a, b] = sum(components[a][j] * components[b][j] for j in seen)
    return np.linalg.solve(left, right)


def log_evidence(values, count, n_rows):
    """Return Minka's approximation of the log evidence for so many components, term by term."""
    d = len(values)
    if values[count - 1] <= 0.0:
        return -inf
    noise = sum(values[count:]) / (d - count)
    flat = list(values[:count]) + [noise] * (d - count)
    evidence = -count * log(2.0)
    for i in range(1, count + 1):
        evidence += lgamma((d - i + 1) / 2.0) - log(pi) * (d - i + 1) / 2.0
        evidence -= n_rows / 2.0 * log(values[i - 1])
    evidence -= n_rows * (d - count) / 2.0 * log(noise)
    m = d * count - count * (count + 1) / 2.0
    evidence += (m + count) / 2.0 * log(2.0 * pi)
    for i in range(count):
        for j in range(i + 1, d):
            evidence -= log((values[i] - values[j]) * (1.0 / flat[j] - 1.0 / flat[i]) * n_rows) / 2.0
    return evidence - count / 2.0 * log(n_rows)
