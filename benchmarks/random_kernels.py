"""Random kernel PCAs: kernels, sizes, widths and spectra that nobody tuned for.

Scikit-learn stands here with each of its exact solvers, so its best one is the rival whatever its default takes. The
answer is scored by 1 less the largest relative error of its eigenvalues: the sum of squares of each score is one, and
the reference is LAPACK's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.anywhere import Workload
from benchmarks.case import OURS, Arrays, Contender

KERNELS = ("rbf", "poly", "linear", "cosine")
MOST_ENTRIES = 4_000_000  # of X
MOST_DENSE = 1000  # rows


def draw_workload(rng: np.random.Generator) -> Workload:
    """Return rows on a curved surface with noise, a kernel with a width near the usual one, and how many components."""
    n_rows = int(2.0 ** rng.uniform(np.log2(200), np.log2(4000)))
    n_columns = int(min(2.0 ** rng.uniform(1.0, 9.5), MOST_ENTRIES / n_rows))
    count = int(rng.choice([2, 5, 10, 20]))
    kernel = str(rng.choice(KERNELS, p=[0.55, 0.2, 0.15, 0.1]))
    dtype = rng.choice([np.float64, np.float32])
    hidden = rng.normal(size=(n_rows, int(rng.integers(1, 8))))
    curved = np.sin(hidden @ rng.normal(size=(hidden.shape[1], n_columns)))
    X = (curved + float(rng.choice([0.01, 0.3, 1.0])) * rng.normal(size=(n_rows, n_columns))).astype(dtype)
    gamma = float(2.0 ** rng.uniform(-3, 2) / (n_columns * X.var()))
    params = {"kernel": kernel, "gamma": gamma, "degree": 2, "coef0": 1.0}
    words = f"{kernel}, {n_rows} x {n_columns} {np.dtype(dtype).name}, k = {count}, gamma = {gamma:.3g}"
    contenders = contenders_of(params, count, n_rows)
    return Workload(words, {"X": X, "exact": exact_values(X, params, count)}, contenders)


def exact_values(X: np.ndarray, params: dict[str, Any], count: int) -> np.ndarray:
    """Return the leading eigenvalues of the centred Gram matrix, in float64 by LAPACK."""
    from scipy.linalg import eigvalsh
    from sklearn.metrics.pairwise import pairwise_kernels

    K = pairwise_kernels(X.astype(np.float64), metric=params["kernel"], filter_params=True, **without(params))
    K -= K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    n = K.shape[0]
    return np.maximum(eigvalsh((K + K.T) / 2.0, subset_by_index=[max(n - count, 0), n - 1])[::-1], 0.0)


def without(params: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if name != "kernel"}


def contenders_of(params: dict[str, Any], count: int, n_rows: int) -> dict[str, Contender]:
    """Return ours, and scikit-learn with its exact solvers; LAPACK is no rival where there are many rows."""

    def ours(threads: int):
        from eigenwood import KernelPCA

        return lambda arrays: KernelPCA(count, n_jobs=threads, **params).fit_transform(arrays["X"])

    def theirs(solver: str) -> Contender:
        def contender(threads: int):
            from sklearn.decomposition import KernelPCA

            return lambda arrays: KernelPCA(count, eigen_solver=solver, **params).fit_transform(arrays["X"])

        return contender

    dense = {"scikit-learn dense": theirs("dense")} if n_rows <= MOST_DENSE else {}
    return {OURS: ours, "scikit-learn arpack": theirs("arpack"), **dense}


def eigenvalue_accuracy(arrays: Arrays, scores: Any) -> float:
    """Return 1 less the largest error of an eigenvalue, beside the largest one."""
    exact = arrays["exact"]
    found = np.square(np.asarray(scores, dtype=np.float64)).sum(axis=0)
    found = np.append(found, np.zeros(exact.size))[: exact.size]
    return 1.0 - float(np.abs(found - exact).max() / exact[0])
