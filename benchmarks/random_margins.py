"""Random work for support vector machines: mixed columns, scaled and not, kernels, C, classes and amounts.

Everybody gets the same numbers, ``tol`` among them. An answer is the test accuracy (or R²); 1 is taken off where the
conditions of the optimum are violated by more than a few times ``tol``, measured here from coefficients and rows:
whoever stops earlier has not done the same work.
"""

from __future__ import annotations

from importlib import import_module
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.anywhere import Workload
from benchmarks.case import OURS, Arrays, Contender
from benchmarks.random_tables import log_uniform, random_column

FEWEST, MOST = 200, 9_000  # rows to learn from
TOL, ALLOWED = 1e-3, 5.0  # as many times the tolerance may be violated: scores of some are in float32
MOST_MOVES = 200_000  # after which anybody gives up
BLOCK = 1024
UNFINISHED = 1.0  # what is taken off


def draw_classes(rng: np.random.Generator) -> Workload:
    """Return random rows of 2 to 10 classes."""
    X, score = random_rows(rng)
    n_classes = int(rng.choice([2, 2, 2, 3, 4, 5, 7, 10]))
    cuts = np.quantile(score, np.sort(rng.dirichlet(np.full(n_classes, 4.0)).cumsum()[:-1]))
    return workload(rng, "SVC", X, np.searchsorted(cuts, score).astype(np.int64), {})


def draw_amounts(rng: np.random.Generator) -> Workload:
    """Return random rows with amounts, and a tube of some width."""
    X, score = random_rows(rng)
    y = (score - score.mean()) / score.std() * float(rng.choice([1.0, 1.0, 3.0]))
    return workload(rng, "SVR", X, y, {"epsilon": float(np.exp(rng.uniform(np.log(0.01), np.log(0.5))))})


def random_rows(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return mixed columns, standardised or as they are, a third as many rows again to test on, and a score of each."""
    n_rows, n_columns = log_uniform(rng, FEWEST, MOST), log_uniform(rng, 2, 200)
    n_rows += n_rows // 3
    X = np.column_stack([random_column(rng, n_rows) for _ in range(n_columns)])
    ranks = X.argsort(axis=0).argsort(axis=0) / n_rows
    used = rng.choice(n_columns, size=min(n_columns, int(rng.integers(3, 12))), replace=False)
    score = sum(rng.normal() * np.sin(rng.uniform(1, 6) * ranks[:, j]) for j in used)
    score = score + rng.uniform(0.05, 1.0) * np.std(score) * rng.normal(size=n_rows)
    if rng.random() < 0.7:
        X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    return X, score


def workload(rng: np.random.Generator, machine: str, X: np.ndarray, y: np.ndarray, own: dict[str, Any]) -> Workload:
    """Return the rows with a kernel and a cost."""
    n_test = len(X) // 4
    kernel = str(rng.choice(["rbf", "rbf", "linear", "poly"]))
    options = {
        "kernel": kernel,
        "C": float(np.exp(rng.uniform(np.log(0.1), np.log(1000.0)))),
        "gamma": float(2.0 ** rng.uniform(-2.0, 2.0) / (X.shape[1] * X.var())),
        "degree": int(rng.choice([2, 3])),
        "coef0": float(rng.choice([0.0, 1.0])),
        "tol": TOL,
        **own,
    }
    arrays = {"X": X[n_test:], "y": y[n_test:], "X_test": X[:n_test], "y_test": y[:n_test]}
    n_classes = "" if y.dtype.kind == "f" else f", {np.unique(arrays['y']).size} classes"
    words = f"{len(X) - n_test} x {X.shape[1]}{n_classes}, {kernel}, C {options['C']:.3g}, gamma {options['gamma']:.2g}"
    return Workload(words, arrays, contenders(machine, options))


def contenders(machine: str, options: dict[str, Any]) -> dict[str, Contender]:
    """Return ours and the rivals, with the same options."""
    options = {**options, "max_iter": MOST_MOVES}

    def ours(threads: int):
        model = getattr(import_module("eigenwood"), machine)(**options, n_jobs=threads)
        return lambda arrays: model.fit(arrays["X"], arrays["y"])

    def sklearn(threads: int):
        model = getattr(import_module("sklearn.svm"), machine)(**options)
        return lambda arrays: model.fit(arrays["X"], arrays["y"])

    def intelex(threads: int):
        import_module("daal4py").daalinit(threads)
        model = getattr(import_module("sklearnex.svm"), machine)(**options)
        return lambda arrays: model.fit(arrays["X"], arrays["y"])

    return {OURS: ours, "scikit-learn": sklearn, "scikit-learn-intelex": intelex}


# ---- quality


def solved_quality(arrays: Arrays, model: Any) -> float:
    """Return the test accuracy or R², less 1 if the dual problems are not solved."""
    is_solved = largest_violation(arrays, model) <= ALLOWED * TOL
    return float(model.score(arrays["X_test"], arrays["y_test"])) - (0.0 if is_solved else UNFINISHED)


def largest_violation(arrays: Arrays, model: Any) -> float:
    """Return by how much a pair of coefficients of any problem could still gain, at first."""
    X, y, support = arrays["X"], arrays["y"], np.asarray(model.support_)
    betas = np.zeros((len(y), _table(model).shape[1]))
    betas[support] = _table(model)
    scores = _scores(X, support, betas[support], model)
    if y.dtype.kind == "f":
        return _violation(y - scores[:, 0], betas[:, 0], -model.C, model.C, model.epsilon)
    labels = np.unique(y)
    if labels.size == 2:
        signs = np.where(y == labels[1], 1.0, -1.0)
        return _violation_of_signs(signs, scores[:, 0], betas[:, 0], model.C)
    worst = 0.0
    for column, (i, j) in enumerate(combinations(labels, 2)):
        rows = (y == i) | (y == j)
        signs = np.where(y[rows] == i, 1.0, -1.0)
        worst = max(worst, _violation_of_signs(signs, scores[rows, column], betas[rows, column], model.C))
    return worst


def _table(model: Any) -> np.ndarray:
    """Return the coefficients of the support vectors in all problems."""
    lines, sizes = np.asarray(model.dual_coef_), np.asarray(getattr(model, "n_support_", [0]))
    if lines.shape[0] == 1:
        return lines.T
    codes = np.repeat(np.arange(sizes.size), sizes)
    pairs = list(combinations(range(sizes.size), 2))
    table = np.zeros((codes.size, len(pairs)))
    for column, (i, j) in enumerate(pairs):
        table[codes == i, column] = lines[j - 1, codes == i]
        table[codes == j, column] = lines[i, codes == j]
    return table


def _scores(X: np.ndarray, support: np.ndarray, table: np.ndarray, model: Any) -> np.ndarray:
    from sklearn.metrics.pairwise import pairwise_kernels

    params = {"gamma": model.gamma, "degree": model.degree, "coef0": model.coef0}
    return np.vstack(
        [
            pairwise_kernels(X[start : start + BLOCK], X[support], metric=model.kernel, filter_params=True, **params)
            @ table
            for start in range(0, len(X), BLOCK)
        ]
    )


def _violation_of_signs(signs: np.ndarray, scores: np.ndarray, beta: np.ndarray, cost: float) -> float:
    low, high = np.where(signs > 0, 0.0, -cost), np.where(signs > 0, cost, 0.0)
    return _violation(signs - scores, beta, low, high, 0.0)


def _violation(errors: np.ndarray, beta: np.ndarray, low: Any, high: Any, epsilon: float) -> float:
    near = 1e-9 * np.abs(beta).max()
    rise = np.where(beta < high - near, errors - np.where(beta >= 0.0, epsilon, -epsilon), -np.inf)
    fall = np.where(beta > low + near, errors - np.where(beta > 0.0, epsilon, -epsilon), np.inf)
    return float(rise.max() - fall.min())
