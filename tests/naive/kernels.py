"""Kernels in plain loops: read this first, then core/kernels/functions.py and blocks.py."""

from math import exp, tanh

import numpy as np


def dot(x, z):
    return sum(float(a) * float(b) for a, b in zip(x, z, strict=True))


def linear(x, z):
    return dot(x, z)


def polynomial(x, z, gamma, coef0, degree):
    return (gamma * dot(x, z) + coef0) ** degree


def rbf(x, z, gamma):
    return exp(-gamma * sum((float(a) - float(b)) ** 2 for a, b in zip(x, z, strict=True)))


def laplacian(x, z, gamma):
    return exp(-gamma * sum(abs(float(a) - float(b)) for a, b in zip(x, z, strict=True)))


def sigmoid(x, z, gamma, coef0):
    return tanh(gamma * dot(x, z) + coef0)


def gram(X, Z, k):
    """Return K with K[i, j] = k(X[i], Z[j])."""
    K = np.empty((len(X), len(Z)))
    for i in range(len(X)):
        for j in range(len(Z)):
            K[i, j] = k(X[i], Z[j])
    return K
