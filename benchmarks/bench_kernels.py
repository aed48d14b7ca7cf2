"""Gram matrices: how far from the bare matrix product, and how far from scikit-learn.

Two bare products, because NumPy sends X @ X.T to a routine that computes one half and mirrors it:
"bare product" is the yardstick of ``gram_symmetric``, "bare general product" that of ``gram``.
"""

from __future__ import annotations

import numpy as np

from benchmarks.case import Arrays, Case, Quality
from benchmarks.data import mnist_split

RBF_GAMMA = 0.02
POLYNOMIAL = {"gamma": 0.01, "coef0": 1.0, "degree": 3}
LAPLACIAN_GAMMA = 0.01
N_SCORED_ROWS = 1000


def digits(n: int) -> Arrays:
    """Return n digits with pixels in [0, 1] twice: Z equals X but is another array."""
    from eigenwood.errors import TableError

    try:
        made = mnist_split(n)
        X, source = made["X"], made["source"]
    except TableError:  # no data home: the times are much the same, and the record says what was used
        X = np.random.default_rng(0).uniform(size=(n, 784)).astype(np.float32)
        source = np.array("random uniform")
    return {"X": X, "Z": X.copy(), "source": source}


def eight_thousand() -> Arrays:
    return digits(8000)


def four_thousand() -> Arrays:
    return digits(4000)


def two_thousand() -> Arrays:
    return digits(2000)


# ---- contenders: RBF


def bare_product(threads):
    return lambda arrays: nothing(np.matmul(arrays["X"], arrays["X"].T))


def bare_general_product(threads):
    return lambda arrays: nothing(np.matmul(arrays["X"], arrays["Z"].T))


def nothing(_product) -> None:
    """Return None: a yardstick is not scored."""


def rbf_ours(threads):
    from eigenwood.core.kernels.blocks import gram
    from eigenwood.core.kernels.functions import RBF, Kernel

    return lambda arrays: gram(arrays["X"], arrays["Z"], Kernel(RBF, gamma=RBF_GAMMA), n_threads=threads)


def rbf_ours_symmetric(threads):
    from eigenwood.core.kernels.blocks import gram_symmetric
    from eigenwood.core.kernels.functions import RBF, Kernel

    return lambda arrays: gram_symmetric(arrays["X"], Kernel(RBF, gamma=RBF_GAMMA), n_threads=threads)


def rbf_sklearn(threads):
    from sklearn.metrics.pairwise import rbf_kernel

    return lambda arrays: rbf_kernel(arrays["X"], arrays["Z"], gamma=RBF_GAMMA)


# ---- contenders: polynomial


def polynomial_ours(threads):
    from eigenwood.core.kernels import functions
    from eigenwood.core.kernels.blocks import gram

    kernel = functions.Kernel(functions.POLYNOMIAL, **POLYNOMIAL)
    return lambda arrays: gram(arrays["X"], arrays["Z"], kernel, n_threads=threads)


def polynomial_sklearn(threads):
    from sklearn.metrics.pairwise import polynomial_kernel

    return lambda arrays: polynomial_kernel(arrays["X"], arrays["Z"], **POLYNOMIAL)


# ---- contenders: Laplacian


def laplacian_ours(threads):
    from eigenwood.core.kernels.blocks import gram
    from eigenwood.core.kernels.functions import LAPLACIAN, Kernel

    kernel = Kernel(LAPLACIAN, gamma=LAPLACIAN_GAMMA)
    return lambda arrays: gram(arrays["X"], arrays["Z"], kernel, n_threads=threads)


def laplacian_sklearn(threads):
    from sklearn.metrics.pairwise import laplacian_kernel

    return lambda arrays: laplacian_kernel(arrays["X"], arrays["Z"], gamma=LAPLACIAN_GAMMA)


def laplacian_scipy(threads):
    from scipy.spatial.distance import cdist

    return lambda arrays: np.exp(-LAPLACIAN_GAMMA * cdist(arrays["X"], arrays["Z"], "cityblock"))


# ---- quality: the largest difference to float64


def largest_error(exact):
    """Return the scoring function against ``exact(X, Z)``, on the first rows only: float64 of all is slow."""

    def error(arrays, K):
        X, Z = (arrays[name].astype(np.float64) for name in "XZ")
        return np.abs(K[:N_SCORED_ROWS] - exact(X[:N_SCORED_ROWS], Z)).max()

    return error


def exact_rbf(X, Z):
    """Return the RBF values in float64, where the rounding of the expanded square is below 1e-12."""
    distances = (X * X).sum(axis=1)[:, None] + (Z * Z).sum(axis=1) - 2.0 * X @ Z.T
    return np.exp(-RBF_GAMMA * np.maximum(distances, 0.0))


def exact_polynomial(X, Z):
    """Return the polynomial values in float64."""
    return (POLYNOMIAL["gamma"] * X @ Z.T + POLYNOMIAL["coef0"]) ** POLYNOMIAL["degree"]


def exact_laplacian(X, Z):
    """Return the Laplacian values in float64."""
    from scipy.spatial.distance import cdist

    return np.exp(-LAPLACIAN_GAMMA * cdist(X, Z, "cityblock"))


CASES = [
    Case(
        name="rbf_8000",
        make=eight_thousand,
        contenders={
            "eigenwood": rbf_ours,
            "eigenwood symmetric": rbf_ours_symmetric,
            "bare product": bare_product,
            "bare general product": bare_general_product,
            "scikit-learn": rbf_sklearn,
        },
        quality=Quality("max abs error", largest_error(exact_rbf), better="lower"),
        target="at most 1.5 x the bare product",
    ),
    Case(
        name="polynomial_4000",
        make=four_thousand,
        contenders={
            "eigenwood": polynomial_ours,
            "bare general product": bare_general_product,
            "scikit-learn": polynomial_sklearn,
        },
        quality=Quality("max abs error", largest_error(exact_polynomial), better="lower"),
        target="at most 1.5 x the bare product",
    ),
    Case(
        name="laplacian_2000",
        make=two_thousand,
        contenders={
            "eigenwood": laplacian_ours,
            "scikit-learn": laplacian_sklearn,
            "scipy cdist": laplacian_scipy,
        },
        quality=Quality("max abs error", largest_error(exact_laplacian), better="lower"),
        target="faster than scikit-learn",
    ),
]
