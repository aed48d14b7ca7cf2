"""Gradient boosting: the same rows, rounds, leaves and learning rate for everybody; quality on rows not seen."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from benchmarks.bench_tree import EXPLAINED, SHARE_RIGHT, all_rows_to_learn_from, predicting, with_large_nodes
from benchmarks.case import Arrays, Case, Quality
from benchmarks.data import california_ten_times, covertype_seven_classes
from benchmarks.quality import TEST_ACCURACY

LEAVES, RATE, LEAST_ROWS = 31, 0.1, 20


# ---- contenders


def ours(kind, rounds):
    def contender(threads):
        boosting = getattr(import_module("eigenwood"), f"GradientBoosting{kind}")
        options = {"max_leaf_nodes": LEAVES, "max_depth": None, "min_samples_leaf": LEAST_ROWS, "learning_rate": RATE}
        return lambda arrays: boosting(n_estimators=rounds, n_jobs=threads, **options).fit(arrays["X"], arrays["y"])

    return contender


def lightgbm(kind, rounds, **params):
    def contender(threads):
        boosting = getattr(import_module("lightgbm"), f"LGBM{kind}")
        options = {
            "num_leaves": LEAVES,
            "learning_rate": RATE,
            "min_child_samples": LEAST_ROWS,
            **params,
        }
        return lambda arrays: boosting(n_estimators=rounds, n_jobs=threads, verbose=-1, **options).fit(
            arrays["X"], arrays["y"]
        )

    return contender


def xgboost(kind, rounds):
    """Return XGBoost's nearest: as many leaves, and the least sum of hessians that LightGBM has."""

    def contender(threads):
        boosting = getattr(import_module("xgboost"), f"XGB{'Regressor' if kind == 'Regressor' else 'Classifier'}")
        options = {
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_leaves": LEAVES,
            "max_depth": 0,
            "learning_rate": RATE,
            "min_child_weight": 1e-3,
            "reg_lambda": 0.0,
        }
        return lambda arrays: boosting(n_estimators=rounds, n_jobs=threads, **options).fit(
            arrays["X"], arrays["y"] - arrays["y"].min() if kind == "Classifier" else arrays["y"]
        )

    return contender


def sklearn(kind, rounds):
    def contender(threads):
        boosting = getattr(import_module("sklearn.ensemble"), f"HistGradientBoosting{kind}")
        options = {"max_leaf_nodes": LEAVES, "learning_rate": RATE, "min_samples_leaf": LEAST_ROWS}
        return lambda arrays: boosting(max_iter=rounds, early_stopping=False, **options).fit(arrays["X"], arrays["y"])

    return contender


def ydf(kind, rounds):
    def contender(threads):
        import ydf

        ydf.verbose(0)
        regression = kind == "Regressor"
        learner = ydf.GradientBoostedTreesLearner(
            label="y",
            task=ydf.Task.REGRESSION if regression else ydf.Task.CLASSIFICATION,
            num_trees=rounds,
            growing_strategy="BEST_FIRST_GLOBAL",
            max_num_nodes=LEAVES,
            max_depth=-1,
            shrinkage=RATE,
            min_examples=LEAST_ROWS,
            validation_ratio=0.0,
            num_threads=threads,
        )

        def fit(arrays):
            y = arrays["y"] if regression else arrays["y"].astype(np.int64)
            return YdfModel(learner.train({"X": arrays["X"], "y": y}), regression)

        return fit

    return contender


class YdfModel:
    """Predicts as scikit-learn's models do."""

    def __init__(self, model, regression):
        self.model, self.regression = model, regression

    def predict(self, X):
        found = self.model.predict({"X": X})
        if self.regression:
            return found
        classes = np.array(self.model.label_classes()).astype(np.int64)
        return classes[found.argmax(axis=1) if found.ndim == 2 else (found > 0.5).astype(int)]


def one_after_the_other(contender):
    """Return a contender that fits every table of a stack."""

    def fitting_all(threads):
        fit = contender(threads)
        return lambda arrays: [fit({"X": X, "y": y}) for X, y in zip(arrays["X"], arrays["y"], strict=True)]

    return fitting_all


def mean_explained(arrays, models):
    """Return the mean R² of models on the rows to test of their tables."""
    rows = zip(arrays["X_test"], arrays["y_test"], models, strict=True)
    return float(np.mean([1.0 - np.mean((model.predict(X) - y) ** 2) / np.var(y) for X, y, model in rows]))


def everybody(kind, rounds):
    return {
        "eigenwood": ours(kind, rounds),
        "LightGBM": lightgbm(kind, rounds),
        "LightGBM row-wise": lightgbm(kind, rounds, force_row_wise=True),
        "LightGBM column-wise": lightgbm(kind, rounds, force_col_wise=True),
        "LightGBM quantised": lightgbm(kind, rounds, use_quantized_grad=True),
        "XGBoost hist": xgboost(kind, rounds),
        "scikit-learn hist": sklearn(kind, rounds),
        "ydf": ydf(kind, rounds),
    }


# ---- data


def covertype_two_of_all(seed: int = 0) -> Arrays:
    """Return spruce-fir against lodgepole pine: 445,627 rows to learn from, 49,514 to test."""
    from eigenwood.data.datasets import load

    cover = load("covertype2")
    X, y = np.asarray(cover.X, dtype=np.float64), np.asarray(cover.y)
    train, test = np.random.default_rng(seed).permutation(cover.split.test), cover.split.train
    return {
        "X": X[train],
        "y": y[train] - 1,
        "X_test": X[test],
        "y_test": y[test] - 1,
        "source": np.array("covertype2"),
    }


def seven_classes_from_zero() -> Arrays:
    arrays = covertype_seven_classes()
    return {**arrays, "y": arrays["y"] - 1, "y_test": arrays["y_test"] - 1}


def thousand_rows(seed: int = 0) -> Arrays:
    """Return 1,000 rows of 10 columns with a smooth target and noise, and as many to test."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, 10))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=2000)
    return {"X": X[:1000], "y": y[:1000], "X_test": X[1000:], "y_test": y[1000:]}


def thirty_tables_of_thousand_rows() -> Arrays:
    """Return thirty such tables, one behind the other: R² on one of them is a matter of luck by some hundredths."""
    tables = [thousand_rows(seed) for seed in range(30)]
    return {name: np.stack([table[name] for table in tables]) for name in tables[0]}


def half_a_million_to_predict() -> Arrays:
    """Return 49,514 rows to learn from, and 500,000 to predict: the others, some of them twice."""
    arrays = covertype_two_of_all()
    rows = np.arange(500_000) % len(arrays["X"])
    return {
        "X": arrays["X_test"], "y": arrays["y_test"], "X_test": arrays["X"][rows], "y_test": arrays["y"][rows],
        "source": arrays["source"],
    }  # fmt: skip


def first_of_covertype(n: int) -> Arrays:
    arrays = covertype_two_of_all()
    return {**arrays, "X": arrays["X"][:n], "y": arrays["y"][:n]}


CASES = [
    Case(
        name="least_squares_165000_rows",
        make=california_ten_times,
        contenders=everybody("Regressor", 200),
        quality=EXPLAINED,
        target="1.5 x the fastest rival",
        small=with_large_nodes,
    ),
    Case(
        name="logistic_445627_rows",
        make=covertype_two_of_all,
        contenders=everybody("Classifier", 200),
        quality=TEST_ACCURACY,
        target="1.5 x the fastest rival",
        small=with_large_nodes,
    ),
    Case(
        name="seven_classes_100000_rows",
        make=seven_classes_from_zero,
        contenders=everybody("Classifier", 100),
        quality=TEST_ACCURACY,
        target="1.5 x the fastest rival",
        small=with_large_nodes,
    ),
    Case(
        name="thousand_rows",
        make=thousand_rows,
        contenders=everybody("Regressor", 100),
        quality=EXPLAINED,
        target="not slower than the fastest rival",
    ),
    Case(
        name="thirty_tables_of_thousand_rows",
        make=thirty_tables_of_thousand_rows,
        contenders={
            name: one_after_the_other(contender)
            for name, contender in everybody("Regressor", 100).items()
            if name != "ydf"
        },
        quality=Quality("mean test R²", mean_explained, better="higher"),
        target="not slower than the fastest rival",
        small=lambda arrays: {name: array[:1] for name, array in arrays.items()},
    ),
    Case(
        name="predict_500000_rows",
        make=half_a_million_to_predict,
        contenders={
            "eigenwood": predicting(ours("Classifier", 200)),
            "LightGBM": predicting(lightgbm("Classifier", 200)),
            "XGBoost hist": predicting(xgboost("Classifier", 200)),
            "scikit-learn hist": predicting(sklearn("Classifier", 200)),
            "ydf": predicting(ydf("Classifier", 200)),
        },
        quality=SHARE_RIGHT,
        target="2 x LightGBM",
        small=all_rows_to_learn_from,
    ),
    Case(
        name="rows",
        make=first_of_covertype,
        sizes=(50_000, 100_000, 200_000, 400_000),
        contenders={"eigenwood": ours("Classifier", 100), "LightGBM": lightgbm("Classifier", 100)},
        quality=TEST_ACCURACY,
        target="2 x the rows: at most 2.2 x the time",
        small=with_large_nodes,
    ),
]
