"""Best k columns of a linear regression: the residual that is left, and how long it takes to find them."""

from __future__ import annotations

import numpy as np

from benchmarks.case import Arrays, Case, Quality

K = 20


def correlated(n_rows: int = 2000, n_columns: int = 5000, correlation: float = 0.5, noise: float = 2.0) -> Arrays:
    """Return columns of which each is like its neighbour, and a target that depends on twenty of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    for j in range(1, n_columns):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1.0 - correlation**2) * X[:, j]
    chosen = rng.choice(n_columns, K, replace=False)
    effects = rng.choice([-1.0, 1.0], K) * rng.uniform(0.1, 1.0, K)
    return {"X": X, "y": X[:, chosen] @ effects + noise * rng.normal(size=n_rows)}


def ours(threads):
    from eigenwood import IterativeHardThresholding

    return lambda arrays: IterativeHardThresholding(K).fit(arrays["X"], arrays["y"])


def abess(threads):
    from abess import LinearRegression

    return lambda arrays: LinearRegression(support_size=K, thread=threads).fit(arrays["X"], arrays["y"])


def pursuit(threads):
    from sklearn.linear_model import OrthogonalMatchingPursuit

    return lambda arrays: OrthogonalMatchingPursuit(n_nonzero_coefs=K).fit(arrays["X"], arrays["y"])


def residual(arrays: Arrays, model) -> float:
    """Return the sum of squares that is left; it must be that of at most k columns."""
    if np.count_nonzero(model.coef_) > K:
        raise ValueError("more columns than allowed")
    rest = arrays["y"] - arrays["X"] @ model.coef_ - model.intercept_
    return float(rest @ rest)


CONTENDERS = {"eigenwood": ours, "abess": abess, "scikit-learn OMP": pursuit}
QUALITY = Quality("residual", residual, better="lower")
TARGET = "faster than abess at equal or smaller residual"

CASES = [
    Case("2000_x_5000", correlated, CONTENDERS, QUALITY, TARGET),
    Case("2000_x_5000_alike", lambda: correlated(correlation=0.9), CONTENDERS, QUALITY, TARGET),
]
