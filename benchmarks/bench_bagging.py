"""Bagging of learners that take longer the more rows they get: a tenth of the rows each, as rows or as weights.

Kernel ridge regression solves a system with as many unknowns as it is given rows, those of weight 0 among them.
"""

from __future__ import annotations

from importlib import import_module

from benchmarks.bench_tree import EXPLAINED
from benchmarks.case import Arrays, Case
from benchmarks.data import california_scaled

LEARNERS, SHARE, ROWS = 10, 0.1, 4_000


def bag_of(module: str, **params):
    def contender(threads):
        from sklearn.kernel_ridge import KernelRidge

        bagging = import_module(module).BaggingRegressor
        learner = KernelRidge(kernel="rbf", alpha=0.1, gamma=0.1)
        options = {"n_estimators": LEARNERS, "max_samples": SHARE, "random_state": 0, "n_jobs": threads, **params}
        return lambda arrays: bagging(learner, **options).fit(arrays["X"], arrays["y"])

    return contender


def some_thousand_rows() -> Arrays:
    arrays = california_scaled()
    return {**arrays, "X": arrays["X"][:ROWS], "y": arrays["y"][:ROWS]}


CASES = [
    Case(
        name="kernel_ridge_on_a_tenth_of_the_rows",
        make=some_thousand_rows,
        contenders={
            "eigenwood": bag_of("eigenwood", resample=True),
            "eigenwood by weights": bag_of("eigenwood"),
            "scikit-learn": bag_of("sklearn.ensemble"),
        },
        quality=EXPLAINED,
        target="far faster than by weights, as good",
    )
]
