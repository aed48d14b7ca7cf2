"""Kernel logistic regression beside scikit-learn's substitute: landmarks by Nystroem, then a linear one."""

from __future__ import annotations

from functools import partial
from importlib import import_module

from benchmarks.bench_svm import forest_rows
from benchmarks.case import Arrays, Case, Quality, first_rows
from benchmarks.data import census_in_zeros_and_ones

CENSUS = {"C": 1.0, "gamma": 0.05, "n_components": 500}
FOREST = {"C": 10.0, "gamma": 0.02, "n_components": 500}
ENOUGH = 1000  # steps of scikit-learn's solver: all that it wants


# ---- contenders


def ours(**options):
    def contender(threads):
        made = partial(import_module("eigenwood").KernelLogisticRegression, n_jobs=threads, **options)
        return lambda arrays: made().fit(arrays["X"], arrays["y"])

    return contender


def sklearn(C, gamma, n_components):
    def contender(threads):
        made = import_module("sklearn.pipeline").make_pipeline
        nystroem = partial(import_module("sklearn.kernel_approximation").Nystroem, gamma=gamma, random_state=0)
        linear = partial(import_module("sklearn.linear_model").LogisticRegression, C=C, max_iter=ENOUGH)
        return lambda arrays: made(nystroem(n_components=n_components), linear()).fit(arrays["X"], arrays["y"])

    return contender


def both(**options):
    return {"eigenwood": ours(**options), "scikit-learn": sklearn(**options)}


# ---- quality


def log_loss_of_test(arrays: Arrays, model) -> float:
    """Return the mean -log p of the rows that nobody learnt from."""
    from sklearn.metrics import log_loss

    return float(log_loss(arrays["y_test"], model.predict_proba(arrays["X_test"]), labels=model.classes_))


TEST_LOG_LOSS = Quality("test log loss", log_loss_of_test, better="lower")


def enough_to_compile(arrays: Arrays) -> Arrays:
    return first_rows(arrays, 2048)


CASES = [
    Case(
        name="census",
        make=census_in_zeros_and_ones,
        contenders=both(**CENSUS),
        quality=TEST_LOG_LOSS,
        target="faster than scikit-learn at equal log loss",
        small=enough_to_compile,
    ),
    Case(
        name="covertype_20000",
        make=forest_rows,
        contenders=both(**FOREST),
        quality=TEST_LOG_LOSS,
        target="faster than scikit-learn at equal log loss",
        small=enough_to_compile,
    ),
]
