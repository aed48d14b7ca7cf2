"""Perceptron and kernel perceptron: the same passes over the same rows in the same order."""

from __future__ import annotations

import numpy as np

from benchmarks.case import Arrays, Case
from benchmarks.data import covertype_two_classes, mnist_split
from benchmarks.quality import TEST_ACCURACY

PASSES = {"max_iter": 10, "tol": None, "shuffle": False}
KERNEL_PASSES = 10
GAMMA = 0.02


def six_thousand_digits() -> Arrays:
    """Return 6,000 digits to learn from: their 6,000 x 6,000 gram matrix fits everywhere."""
    return mnist_split(6000)


# ---- contenders: perceptron


def ours(threads):
    from eigenwood.estimators.perceptron import Perceptron

    return lambda arrays: Perceptron(n_jobs=threads, **PASSES).fit(arrays["X"], arrays["y"])


def sklearn(threads):
    from sklearn.linear_model import Perceptron

    return lambda arrays: Perceptron(n_jobs=threads, **PASSES).fit(arrays["X"], arrays["y"])


# ---- contenders: kernel perceptron


def kernel_ours(threads):
    from eigenwood.estimators.perceptron import KernelPerceptron

    options = {"kernel": "rbf", "gamma": GAMMA, "max_iter": KERNEL_PASSES, "shuffle": False}
    return lambda arrays: KernelPerceptron(n_jobs=threads, **options).fit(arrays["X"], arrays["y"])


def kernel_numpy(threads):
    from sklearn.metrics.pairwise import rbf_kernel  # imported here, so that no import is clocked

    return lambda arrays: NumpyKernelPerceptron(rbf_kernel).fit(arrays["X"], arrays["y"])


class NumpyKernelPerceptron:
    """What a careful user writes today: the whole gram matrix, a loop over samples, NumPy for each row."""

    def __init__(self, rbf_kernel):
        self.rbf_kernel = rbf_kernel

    def fit(self, X, y):
        """Learn one class against the rest, for every class."""
        K = self.rbf_kernel(X, gamma=GAMMA)
        self.X, self.classes = X, np.unique(y)
        fits = [signed_mistakes(K, np.where(y == c, 1.0, -1.0)) for c in self.classes]
        self.dual_coef, self.intercept = map(np.array, zip(*fits, strict=True))
        return self

    def predict(self, X):
        """Return the class with the largest score."""
        scores = self.rbf_kernel(X, self.X, gamma=GAMMA) @ self.dual_coef.T + self.intercept
        return self.classes[scores.argmax(axis=1)]


def signed_mistakes(K, signs):
    """Return how often each sample was wrong, times its sign, and the intercept."""
    mistakes, bias = np.zeros(signs.size), 0.0
    scores = np.zeros(signs.size, dtype=K.dtype)
    for _ in range(KERNEL_PASSES):
        n_wrong = 0
        for i in range(signs.size):
            if signs[i] * (scores[i] + bias) <= 0.0:
                mistakes[i] += 1.0
                bias += signs[i]
                scores += K.dtype.type(signs[i]) * K[i]
                n_wrong += 1
        if n_wrong == 0:
            break
    return mistakes * signs, bias


CASES = [
    Case(
        name="covertype_two_classes",
        make=covertype_two_classes,
        contenders={"eigenwood": ours, "scikit-learn": sklearn},
        quality=TEST_ACCURACY,
        target="faster than scikit-learn at the same accuracy",
    ),
    Case(
        name="mnist",
        make=mnist_split,
        contenders={"eigenwood": ours, "scikit-learn": sklearn},
        quality=TEST_ACCURACY,
        target="faster than scikit-learn at the same accuracy",
    ),
    Case(
        name="kernel_mnist_6000",
        make=six_thousand_digits,
        contenders={"eigenwood": kernel_ours, "numpy loop": kernel_numpy},
        quality=TEST_ACCURACY,
        target="as fast as a loop on the whole Gram matrix, in half its memory",
    ),
]
