"""Support vector machines in plain loops: read this first, then core/margin/working_set.py and dual_svm.py.

The textbook's dual, in variables a ≥ 0:   minimise ½ aᵀQa + pᵀa   with  Σ s_i a_i = 0  and  0 ≤ a_i ≤ C_i

    classes     one a for each row        s = y              Q = y_i y_j K_ij         p = -1
    amounts     two: above and below      s = +1 and -1      Q = s_i s_j K_ij         p = ε - y and ε + y
    slack ξ²    no upper bound, and 1/(2C) is added to the diagonal of Q
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize


class Fit(NamedTuple):
    beta: np.ndarray  # f(x) = Σ beta_i k(x_i, x) + b
    b: float
    primal: float
    dual: float


def fit_classes(K, y, costs, squared=False):
    """Return the machine for labels -1 and +1."""
    n = len(y)
    Q = np.array([[y[i] * y[j] * K[i, j] for j in range(n)] for i in range(n)])
    a = smallest(softened(Q, costs, squared), -np.ones(n), y, most(costs, squared))
    beta, losses = y * a, lambda f: np.maximum(0.0, 1.0 - y * f)
    return finished(K, beta, y @ beta, losses, costs, squared)


def fit_amounts(K, y, costs, epsilon, squared=False):
    """Return the machine for amounts, with a tube of ε on both sides."""
    n = len(y)
    s, rows, costs_of_both = [1.0] * n + [-1.0] * n, [*range(n), *range(n)], np.concatenate([costs, costs])
    Q = np.array([[s[i] * s[j] * K[rows[i], rows[j]] for j in range(2 * n)] for i in range(2 * n)])
    p = np.array([epsilon - s[i] * y[rows[i]] for i in range(2 * n)])
    a = smallest(softened(Q, costs_of_both, squared), p, s, most(costs_of_both, squared))
    beta, losses = a[:n] - a[n:], lambda f: np.maximum(0.0, np.abs(y - f) - epsilon)
    return finished(K, beta, y @ beta - epsilon * np.abs(beta).sum(), losses, costs, squared)


def softened(Q, costs, squared):
    """Return Q with 1/(2C) added to its diagonal where slack is squared."""
    return Q + np.diag(0.5 / np.asarray(costs)) if squared else Q


def most(costs, squared):
    """Return the upper bounds of the variables."""
    return np.full(len(costs), np.inf) if squared else np.asarray(costs)


def smallest(Q, p, s, high, tol=1e-10, max_moves=50_000):
    """Return a: move the pair that violates the conditions most, until none does by more than ``tol``."""
    n = len(p)
    a, gradient = np.zeros(n), np.array(p, dtype=float)
    for _ in range(max_moves):
        up = [i for i in range(n) if (a[i] < high[i] if s[i] > 0 else a[i] > 0)]
        down = [i for i in range(n) if (a[i] > 0 if s[i] > 0 else a[i] < high[i])]
        i = max(up, key=lambda k: -s[k] * gradient[k])
        j = min(down, key=lambda k: -s[k] * gradient[k])
        slope = s[j] * gradient[j] - s[i] * gradient[i]
        if slope <= tol:
            return a
        curvature = max(Q[i, i] + Q[j, j] - 2 * s[i] * s[j] * Q[i, j], 1e-12)
        room_i = high[i] - a[i] if s[i] > 0 else a[i]
        room_j = a[j] if s[j] > 0 else high[j] - a[j]
        step = min(slope / curvature, room_i, room_j)
        a[i] = min(max(a[i] + s[i] * step, 0.0), high[i])
        a[j] = min(max(a[j] - s[j] * step, 0.0), high[j])
        for k in range(n):
            gradient[k] += step * (s[i] * Q[k, i] - s[j] * Q[k, j])
    raise AssertionError("the textbook's loop did not end")


def finished(K, beta, linear, losses, costs, squared):
    """Return the fit; b is where the primal is lowest."""
    scores = K @ beta

    def primal(b):
        slack = losses(scores + b)
        return 0.5 * beta @ scores + (costs * (slack**2 if squared else slack)).sum()

    b = lowest(primal, scores)
    quadratic = beta @ scores + ((beta**2 * 0.5 / costs).sum() if squared else 0.0)
    return Fit(beta, b, primal(b), linear - 0.5 * quadratic)


def lowest(convex, scores):
    """Return where a convex function of b is lowest, by thirds."""
    low, high = -np.abs(scores).max() - 100.0, np.abs(scores).max() + 100.0
    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if convex(left) <= convex(right):
            high = right
        else:
            low = left
    return (low + high) / 2


def least_cost_of_classes(K, y, costs, squared=False):
    """Return the least of ½‖w‖² + C Σξ, by SciPy: the primal, with w = Σ v_i φ(x_i)."""
    margins = np.hstack([y[:, None] * K, y[:, None], np.eye(len(y))])
    return least_cost(K, costs, squared, margins, np.ones(len(y)))


def least_cost_of_amounts(K, y, costs, epsilon, squared=False):
    """The same for amounts; a row may have slack above the tube and below."""
    f = np.hstack([K, np.ones((len(y), 1))])
    within = np.hstack([np.vstack([f, -f]), np.eye(2 * len(y))])
    return least_cost(K, np.concatenate([costs, costs]), squared, within, np.concatenate([y, -y]) - epsilon)


def least_cost(K, costs, squared, lines, at_least):
    """Return the least cost of v, b and slack (one after the other in z) with ``lines @ z ≥ at_least``."""
    n = len(K)

    def cost(z):
        v, slack = z[:n], z[n + 1 :]
        return 0.5 * v @ K @ v + (costs * (slack**2 if squared else slack)).sum()

    def slopes(z):
        v, slack = z[:n], z[n + 1 :]
        return np.concatenate([K @ v, [0.0], costs * (2.0 * slack if squared else 1.0)])

    found = minimize(
        cost,
        np.concatenate([np.zeros(n + 1), np.maximum(at_least, 0.0)]),
        jac=slopes,
        method="SLSQP",
        bounds=[(None, None)] * (n + 1) + [(0.0, None)] * len(costs),
        constraints={"type": "ineq", "fun": lambda z: lines @ z - at_least, "jac": lambda z: lines},
        options={"maxiter": 1000, "ftol": 1e-10},
    )
    assert found.success, found.message
    return found.fun
