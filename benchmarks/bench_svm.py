"""Support vector machines: the same rows, the same C, gamma and tol, so the same optimum for everybody."""

from __future__ import annotations

from functools import partial
from importlib import import_module

import numpy as np

from benchmarks.bench_tree import EXPLAINED, SHARE_RIGHT, all_rows_to_learn_from, predicting
from benchmarks.case import Arrays, Case, Quality, first_rows
from benchmarks.data import california_scaled, census_in_zeros_and_ones, covertype_two_classes, mnist_split
from benchmarks.quality import TEST_ACCURACY

CENSUS = {"C": 1.0, "gamma": 0.05}
FOREST = {"C": 10.0, "gamma": 0.02}
DIGITS = {"C": 5.0, "gamma": 0.02}
HOUSES = {"C": 10.0, "gamma": 0.125, "epsilon": 0.1}
LIMIT = 60.0  # seconds


# ---- contenders


def ours(machine="SVC", **options):
    def contender(threads):
        made = partial(getattr(import_module("eigenwood"), machine), n_jobs=threads, **options)
        return lambda arrays: made().fit(arrays["X"], arrays["y"])

    return contender


def sklearn(machine="SVC", **options):
    """Return scikit-learn's, which has no threads to be told of."""

    def contender(threads):
        made = partial(getattr(import_module("sklearn.svm"), machine), **options)
        return lambda arrays: made().fit(arrays["X"], arrays["y"])

    return contender


def intelex(machine="SVC", **options):
    def contender(threads):
        import daal4py

        daal4py.daalinit(threads)
        made = partial(getattr(import_module("sklearnex.svm"), machine), **options)
        return lambda arrays: made().fit(arrays["X"], arrays["y"])

    return contender


def all_of_them(machine="SVC", **options):
    return {
        "eigenwood": ours(machine, **options),
        "scikit-learn": sklearn(machine, **options),
        "scikit-learn-intelex": intelex(machine, **options),
    }


# ---- data


def forest_rows(n_rows: int = 20_000) -> Arrays:
    """Return so many patches to learn from, and 50,000 others to test."""
    arrays = covertype_two_classes()
    learnt = {name: arrays[name][:n_rows] for name in ("X", "y")}
    return {**arrays, **learnt, "X_test": arrays["X_test"][::9], "y_test": arrays["y_test"][::9]}


def hundred_thousand_patches() -> Arrays:
    """Return 100,000 patches to learn from, drawn from those that others test with, and 50,000 more to test."""
    arrays = covertype_two_classes()
    drawn = np.random.default_rng(0).permutation(len(arrays["y_test"]))
    learnt, tested = drawn[:100_000], drawn[100_000:150_000]
    X, y = arrays["X_test"], arrays["y_test"]
    return {**arrays, "X": X[learnt], "y": y[learnt], "X_test": X[tested], "y_test": y[tested]}


def thirty_thousand_patches() -> Arrays:
    """Return 30,000 patches, whose kernel values take 3.6 GB."""
    return forest_rows(30_000)


def fifteen_thousand_digits() -> Arrays:
    """Return 20,000 digits to learn from, and 15,000 to predict: the test digits and half of them again."""
    arrays = mnist_split(20_000)
    again = list(range(10_000)) + list(range(5_000))
    return {**arrays, "X_test": arrays["X_test"][again], "y_test": arrays["y_test"][again]}


def share_of_the_gap(arrays: Arrays, model) -> float:
    """Return what a model may cost beyond the best one, as a share of what it costs."""
    return float(model.duality_gap_[0] / model.certificate_["primal"].value)


GAP = Quality("duality gap / primal", share_of_the_gap, better="lower")


def enough_to_compile(arrays: Arrays) -> Arrays:
    return first_rows(arrays, 2048)


CASES = [
    Case(
        name="census",
        make=census_in_zeros_and_ones,
        contenders=all_of_them(**CENSUS),
        quality=TEST_ACCURACY,
        target="1.3 times as fast as scikit-learn-intelex",
        small=enough_to_compile,
    ),
    Case(
        name="covertype_20000",
        make=forest_rows,
        contenders=all_of_them(**FOREST),
        quality=TEST_ACCURACY,
        target="1.3 times as fast as scikit-learn-intelex",
        small=enough_to_compile,
    ),
    Case(
        name="digits_20000",
        make=partial(mnist_split, 20_000),
        contenders=all_of_them(**DIGITS),
        quality=TEST_ACCURACY,
        target="1.5 times as fast as scikit-learn-intelex",
        small=enough_to_compile,
    ),
    Case(
        name="predict_15000_digits",
        make=fifteen_thousand_digits,
        contenders={name: predicting(fit) for name, fit in all_of_them(**DIGITS).items()},
        quality=SHARE_RIGHT,
        target="as fast as scikit-learn-intelex, 8 times as fast as scikit-learn",
        small=all_rows_to_learn_from,
    ),
    Case(
        name="houses",
        make=california_scaled,
        contenders=all_of_them("SVR", **HOUSES),
        quality=EXPLAINED,
        target="1.3 times as fast as scikit-learn-intelex",
        small=enough_to_compile,
    ),
    Case(
        name="rows",
        make=forest_rows,
        sizes=(10_000, 20_000, 40_000),
        contenders={"eigenwood": ours(**FOREST), "scikit-learn-intelex": intelex(**FOREST)},
        quality=TEST_ACCURACY,
        target="time does not grow faster than that of scikit-learn-intelex",
        small=enough_to_compile,
    ),
    Case(
        name="covertype_30000_in_400_megabytes",
        make=thirty_thousand_patches,
        contenders={
            "eigenwood": ours(**FOREST, memory_limit=400, approximation="low_rank"),
            "eigenwood with the whole kernel": ours(**FOREST, memory_limit=400),
        },
        quality=TEST_ACCURACY,
        target="landmarks: less time than the whole kernel, less memory",
        small=enough_to_compile,
    ),
    Case(
        name="covertype_100000_in_a_minute",
        make=hundred_thousand_patches,
        contenders={"eigenwood": ours(**FOREST, time_limit=LIMIT), "scikit-learn-intelex": intelex(**FOREST)},
        quality=TEST_ACCURACY,
        target="a usable model after a minute",
        small=enough_to_compile,
    ),
    Case(
        name="gap_after_a_minute",
        make=hundred_thousand_patches,
        contenders={"eigenwood": ours(**FOREST, time_limit=LIMIT)},
        quality=GAP,
        target="the model of covertype_100000_in_a_minute says how far it may be from the best one",
        small=enough_to_compile,
    ),
]
