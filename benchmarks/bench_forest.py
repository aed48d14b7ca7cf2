"""Random forests of 100 trees: the same rows, the same number of features at each node, trees to the last pure leaf.

The column "peak MB" of a fit is the memory of the fit; its quality is that of the forest on rows it has not seen.
"""

from __future__ import annotations

import time
from importlib import import_module
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from benchmarks.bench_tree import EXPLAINED, SHARE_RIGHT, all_rows_to_learn_from, predicting, with_large_nodes
from benchmarks.case import Case, Quality
from benchmarks.data import california_ten_times, covertype_seven_classes, covertype_two_classes, mnist_split
from benchmarks.quality import TEST_ACCURACY

TREES = 100
CALLS = 300  # of one row each
HALF_OF_54, ROOT_OF_54, ROOT_OF_784, ALL_OF_8 = 27, 7, 28, 8  # features at each node; all is what scikit-learn does
MOST_LEAVES = 16_384  # of LightGBM, which must be told; 5,400 are enough for covertype with two classes
LIGHTGBM_POOL = 1024  # MB for histograms: one for each leaf that may come would be many GB for digits


# ---- contenders: fit


def forest_of(module, k, kind="Classifier", **params):
    """Return the contender of a library that has scikit-learn's classes."""

    def contender(threads):
        forest = getattr(import_module(module), f"RandomForest{kind}")
        options = {"n_estimators": TREES, "max_features": k, "random_state": 0, "n_jobs": threads, **params}
        return lambda arrays: forest(**options).fit(arrays["X"], arrays["y"])

    return contender


def intelex(k, kind="Classifier", **params):
    def contender(threads):
        import daal4py

        daal4py.daalinit(threads)
        return forest_of("sklearnex.ensemble", k, kind, **params)(threads)

    return contender


def lightgbm(k, kind="Classifier", most_leaves=MOST_LEAVES, **params):
    """Return LightGBM's nearest: 63.2 % of the rows without replacement; of several classes, one tree for each."""

    def contender(threads):
        import lightgbm

        forest = getattr(lightgbm, f"LGBM{kind}")
        options = {
            "boosting_type": "rf",
            "n_estimators": TREES,
            "min_child_samples": 1,
            "min_child_weight": 0.0,
            "subsample": 0.632,
            "subsample_freq": 1,
            "histogram_pool_size": LIGHTGBM_POOL,
            "random_state": 0,
            "n_jobs": threads,
            "verbose": -1,
            **params,
        }

        def run(arrays):
            n_rows, n_features = arrays["X"].shape
            size = {"feature_fraction_bynode": k / n_features, "num_leaves": min(n_rows, most_leaves)}
            return forest(**options, **size).fit(arrays["X"], arrays["y"])

        return run

    return contender


class YdfForest(NamedTuple):
    """A model of ydf that takes an array and answers with labels, or with numbers where it has no classes."""

    model: Any
    classes: np.ndarray | None
    threads: int

    def predict(self, X):
        said = self.model.predict({"x": X}, num_threads=self.threads)
        if self.classes is None:
            return said
        return self.classes[said.argmax(axis=1) if said.ndim == 2 else (said > 0.5).astype(np.intp)]


def ydf(k, kind="Classifier", **params):
    def contender(threads):
        import ydf

        ydf.verbose(0)
        options = {"num_trees": TREES, "max_depth": -1, "min_examples": 1, **params}
        learner = ydf.RandomForestLearner(
            label="y",
            task=ydf.Task.CLASSIFICATION if kind == "Classifier" else ydf.Task.REGRESSION,
            num_candidate_attributes=k,
            winner_take_all=False,
            compute_oob_performances=False,
            random_seed=0,
            num_threads=threads,
            **options,
        )

        def run(arrays):
            model = learner.train({"x": arrays["X"], "y": arrays["y"]})
            classes = np.array(model.label_classes(), dtype=arrays["y"].dtype) if kind == "Classifier" else None
            return YdfForest(model, classes, threads)

        return run

    return contender


def all_of_them(k, kind="Classifier"):
    return {
        "eigenwood": forest_of("eigenwood", k, kind),
        "scikit-learn": forest_of("sklearn.ensemble", k, kind),
        "scikit-learn-intelex": intelex(k, kind),
        "ydf": ydf(k, kind),
        "LightGBM rf": lightgbm(k, kind),
    }


def on_one_thread(contender):
    return lambda threads: contender(1)


def each(wrapped, contenders):
    return {name: wrapped(contender) for name, contender in contenders.items()}


# ---- contenders: one row


class Calls(NamedTuple):
    """The model, the seconds of every call and its answer; call i was about row i of X_test."""

    model: Any
    seconds: list[float]
    said: np.ndarray


class OneRow:
    """Fits when it warms up; when the clock is on, predicts one row at a time."""

    def __init__(self, fit):
        self.fit, self.model = fit, None

    def __call__(self, arrays):
        if self.model is None:
            self.model = self.fit(arrays)
        seconds, said = [], []
        for i in range(min(CALLS, len(arrays["X_test"]))):
            row = arrays["X_test"][i : i + 1]
            start = time.perf_counter()
            answer = self.model.predict(row)
            seconds.append(time.perf_counter() - start)
            said.append(answer[0])
        return Calls(self.model, seconds, np.array(said))


def one_row(contender):
    return lambda threads: OneRow(contender(threads))


def milliseconds_of_a_call(arrays, calls):
    """Return the median; a row that gets another answer alone than among others is an error."""
    if (calls.said != calls.model.predict(arrays["X_test"][: len(calls.said)])).any():
        raise ValueError("a row alone must get the answer it gets among others")
    return 1e3 * median(calls.seconds)


# ---- contenders: the model file


class Saving:
    """Fits when it warms up; when the clock is on, writes the model and returns the bytes on disk."""

    def __init__(self, fit, save):
        self.fit, self.save, self.model = fit, save, None

    def __call__(self, arrays):
        if self.model is None:
            self.model = self.fit(arrays)
        with TemporaryDirectory() as folder:
            self.save(self.model, Path(folder) / "model")
            return sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())


def saving(contender, save):
    return lambda threads: Saving(contender(threads), save)


def save_ours(model, path):
    import eigenwood

    eigenwood.save(model, path)


def save_by_joblib(compress):
    def save(model, path):
        import joblib

        joblib.dump(model, path, compress=compress)

    return save


def all_files(k):
    fit = all_of_them(k)
    return {
        "eigenwood": saving(fit["eigenwood"], save_ours),
        "scikit-learn": saving(fit["scikit-learn"], save_by_joblib(0)),
        "scikit-learn compressed": saving(fit["scikit-learn"], save_by_joblib(3)),
        "scikit-learn-intelex": saving(fit["scikit-learn-intelex"], save_by_joblib(0)),
        "ydf": saving(fit["ydf"], lambda forest, path: forest.model.save(str(path))),
        "LightGBM rf": saving(fit["LightGBM rf"], lambda model, path: model.booster_.save_model(path)),
    }


MS_OF_A_CALL = Quality("ms for one row (median)", milliseconds_of_a_call, better="lower")
MB_ON_DISK = Quality("MB of the file", lambda arrays, n_bytes: n_bytes / 1e6, better="lower")


def fifty_thousand_digits():
    return mnist_split(50_000)


CASES = [
    Case(
        name="covertype_two_classes_half_the_features",
        make=covertype_two_classes,
        contenders=all_of_them(HALF_OF_54),
        quality=TEST_ACCURACY,
        target="faster than all at equal or better accuracy",
        small=with_large_nodes,
    ),
    Case(
        name="covertype_seven_classes_root_of_the_features",
        make=covertype_seven_classes,
        # entropy tells the rare classes better apart; ydf takes nothing else, and intelex nothing but gini
        contenders=all_of_them(ROOT_OF_54)
        | {
            "eigenwood": forest_of("eigenwood", ROOT_OF_54, criterion="entropy"),
            "eigenwood by gini": forest_of("eigenwood", ROOT_OF_54),
        },
        quality=TEST_ACCURACY,
        target="faster than all at equal or better accuracy",
        small=with_large_nodes,
        time_limit=1800.0,
    ),
    Case(
        name="digits_50000",
        make=fifty_thousand_digits,
        contenders=all_of_them(ROOT_OF_784),
        quality=TEST_ACCURACY,
        target="faster than all at equal or better accuracy",
        small=with_large_nodes,
        time_limit=1800.0,
    ),
    Case(
        name="california_ten_times",
        make=california_ten_times,
        contenders=all_of_them(ALL_OF_8, "Regressor"),
        quality=EXPLAINED,
        target="faster than all at equal or better R²",
        small=with_large_nodes,
        time_limit=1800.0,
    ),
    Case(
        name="predict_445627_rows",
        make=covertype_two_classes,
        contenders=each(predicting, all_of_them(HALF_OF_54)),
        quality=SHARE_RIGHT,
        target="faster than all",
        small=all_rows_to_learn_from,
    ),
    Case(
        name="one_row",
        make=covertype_two_classes,
        contenders=each(
            one_row,
            all_of_them(HALF_OF_54)
            | {
                "eigenwood on one thread": on_one_thread(forest_of("eigenwood", HALF_OF_54)),
                "scikit-learn on one thread": on_one_thread(forest_of("sklearn.ensemble", HALF_OF_54)),
                "LightGBM rf on one thread": on_one_thread(lightgbm(HALF_OF_54)),
            },
        ),
        quality=MS_OF_A_CALL,
        target=f"faster than all; the seconds are those of {CALLS} calls",
        small=all_rows_to_learn_from,
    ),
    Case(
        name="model_file",
        make=covertype_two_classes,
        contenders=all_files(HALF_OF_54),
        quality=MB_ON_DISK,
        target="smaller than all; the seconds are those of writing it",
        small=all_rows_to_learn_from,
    ),
    Case(
        name="rows",
        make=covertype_seven_classes,
        sizes=(50_000, 100_000, 200_000),
        contenders={
            "eigenwood": forest_of("eigenwood", ROOT_OF_54),
            "scikit-learn": forest_of("sklearn.ensemble", ROOT_OF_54),
        },
        quality=TEST_ACCURACY,
        target="seconds ~ n log n",
        small=with_large_nodes,
    ),
]
