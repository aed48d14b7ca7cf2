"""The kernel perceptron of the kernel lecture in plain loops: read this first, then
core/margin/kernel_perceptron.py."""

from typing import NamedTuple

import numpy as np

from tests.naive.perceptron import repeated


class Fit(NamedTuple):
    a: np.ndarray  # (n_rows, n_problems) mistakes times sign
    b: np.ndarray
    rules: list  # (a, b) after every single presentation
    wrong: list  # (row, problem) of every mistake, in order
    converged: bool


def fit_kernel_perceptron(K, signs, mass, orders, intercept=True, budget=None):
    """Visit the rows in one order after the other, until a whole one brings no mistake in any problem."""
    n_problems, n_rows = signs.shape
    a, b = np.zeros((n_rows, n_problems)), np.zeros(n_problems)
    arrivals, rules, wrong = [], [], []
    for order in orders:
        mistakes = 0
        for j in repeated(order, mass):
            for k in range(n_problems):
                score = sum(a[i, k] * K[i, j] for i in range(n_rows)) + b[k]
                if signs[k, j] * score <= 0:
                    a[j, k] += signs[k, j]
                    b[k] += signs[k, j] if intercept else 0.0
                    mistakes += 1
                    wrong.append((int(j), k))
            arrive(a, j, K, arrivals, budget)
            rules.append((a.copy(), b.copy()))
        if mistakes == 0:
            return Fit(a, b, rules, wrong, True)
    return Fit(a, b, rules, wrong, False)


def arrive(a, j, K, arrivals, budget):
    """Note that j is now among the support; if that is one too many, the one that matters least to w leaves."""
    if not a[j].any() or j in arrivals:
        return
    arrivals.append(j)
    if budget is not None and len(arrivals) > budget:
        others = [i for i in arrivals if i != j]
        least = min(others, key=lambda i: (a[i] ** 2).sum() * K[i, i])  # among equals the first to arrive
        a[least] = 0.0
        arrivals.remove(least)


def averaged(fit):
    """Return the mean of the rules after every presentation."""
    return (
        np.mean([a for a, _ in fit.rules], axis=0),
        np.mean([b for _, b in fit.rules], axis=0),
    )


def voted_scores(fit, K_query):
    """Return for each query the mean of sign(f) over the rules after every presentation; K_query[q, i] = k(q, x_i)."""
    return np.mean([np.sign(K_query @ a + b) for a, b in fit.rules], axis=0)
