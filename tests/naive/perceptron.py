"""The perceptron of the kernel lecture in plain loops: read this first, then core/margin/perceptron.py."""

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    w: np.ndarray
    b: float
    wrong: list  # the rows it erred on, in the order of the mistakes
    losses: list  # for each epoch, the sum of -margin over the mistakes
    converged: bool


def cyclic(n_rows, n_epochs):
    """Return the lecture's order: the rows as they stand, again and again."""
    return [np.arange(n_rows)] * n_epochs


def shuffled(n_rows, n_epochs, seed):
    """Return a new random order for each epoch."""
    rng = np.random.default_rng(seed)
    return [rng.permutation(n_rows) for _ in range(n_epochs)]


def repeated(order, mass):
    """Return the order with each row as often as its mass says, in succession."""
    return [i for i in order for _ in range(int(mass[i]))]


def fit_perceptron(X, y, mass, orders, eta=1.0, intercept=True):
    """Visit the rows in one order after the other, until a whole one brings no mistake."""
    w, b = np.zeros(X.shape[1]), 0.0
    wrong, losses = [], []
    for order in orders:
        mistakes, loss = 0, 0.0
        for i in repeated(order, mass):
            margin = y[i] * (sum(w[j] * float(X[i, j]) for j in range(len(w))) + b)
            if margin <= 0:
                w = w + eta * y[i] * X[i].astype(float)
                b = b + eta * y[i] if intercept else b
                mistakes += 1
                loss -= margin
                wrong.append(int(i))
        losses.append(loss)
        if mistakes == 0:
            return Fit(w, b, wrong, losses, True)
    return Fit(w, b, wrong, losses, False)


def fit_penalised(X, y, mass, orders, eta=1.0, l1=0.0, l2=0.0):
    """The rule of scikit-learn's SGD: shrink by L2, step if wrong, then pay the L1 penalty owed since the start."""
    w, b = np.zeros(X.shape[1]), 0.0
    owed, paid = 0.0, np.zeros(X.shape[1])
    for order in orders:
        for i in repeated(order, mass):
            margin = y[i] * (w @ X[i] + b)
            w = w * max(0.0, 1.0 - eta * l2)
            if margin <= 0:
                w = w + eta * y[i] * X[i]
                b = b + eta * y[i]
            owed += eta * l1
            for j in range(len(w)):
                before = w[j]
                if before > 0:
                    w[j] = max(0.0, before - (owed + paid[j]))
                elif before < 0:
                    w[j] = min(0.0, before + (owed - paid[j]))
                paid[j] += w[j] - before
    return w, b
