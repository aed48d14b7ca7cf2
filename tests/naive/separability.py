"""The widest margin as the textbook's quadratic programme: read this first, then proofs/separability.py."""

import numpy as np
from scipy.optimize import linprog, minimize


def can_be_separated(Z):
    """Return whether some v has z·v ≥ 1 for every row z of Z (a linear programme)."""
    free = [(None, None)] * Z.shape[1]
    return linprog(np.zeros(Z.shape[1]), A_ub=-Z, b_ub=-np.ones(len(Z)), bounds=free).status == 0


def widest_margin(Z):
    """Return 1/‖v‖ for the shortest v with z·v ≥ 1 for every row z of Z; 0 if there is none."""
    free = [(None, None)] * Z.shape[1]
    feasible = linprog(np.zeros(Z.shape[1]), A_ub=-Z, b_ub=-np.ones(len(Z)), bounds=free)
    if feasible.status != 0:
        return 0.0
    shortest = minimize(
        lambda v: 0.5 * v @ v,
        feasible.x,
        jac=lambda v: v,
        constraints={"type": "ineq", "fun": lambda v: Z @ v - 1.0, "jac": lambda v: Z},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return 1.0 / np.linalg.norm(shortest.x)


def signed(X, signs, intercept):
    """Return z_i = y_i (x_i, 1), or y_i x_i without the constant."""
    rows = np.column_stack([X, np.ones(len(X))]) if intercept else np.asarray(X, dtype=float)
    return signs[:, None] * rows
