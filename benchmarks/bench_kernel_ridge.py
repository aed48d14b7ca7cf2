"""Kernel ridge regression: the same rows, alpha and gamma, so the same linear system for everybody."""

from __future__ import annotations

from functools import partial
from importlib import import_module

from benchmarks.bench_tree import EXPLAINED
from benchmarks.case import Arrays, Case, first_rows
from benchmarks.data import california_scaled

HOUSES = {"alpha": 0.1, "kernel": "rbf", "gamma": 0.125}


# ---- contenders


def ours(**options):
    def contender(threads):
        made = partial(import_module("eigenwood").KernelRidge, n_jobs=threads, **options)
        return lambda arrays: made().fit(arrays["X"], arrays["y"])

    return contender


def sklearn(**options):
    def contender(threads):
        made = partial(import_module("sklearn.kernel_ridge").KernelRidge, **options)
        return lambda arrays: made().fit(arrays["X"], arrays["y"])

    return contender


# ---- data


def houses(n_rows: int = 5_000) -> Arrays:
    """Return so many districts to learn from."""
    arrays = california_scaled()
    return {**arrays, "X": arrays["X"][:n_rows], "y": arrays["y"][:n_rows]}


def enough_to_compile(arrays: Arrays) -> Arrays:
    return first_rows(arrays, 512)


CASES = [
    Case(
        name="houses_5000",
        make=houses,
        contenders={
            "eigenwood": ours(**HOUSES),
            "eigenwood with 500 landmarks": ours(**HOUSES, n_components=500),
            "scikit-learn": sklearn(**HOUSES),
        },
        quality=EXPLAINED,
        target="not slower than scikit-learn, and the same answer",
        small=enough_to_compile,
    ),
]
