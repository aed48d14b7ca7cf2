"""Random work for gradient boosting: tables of mixed columns, targets, sizes of trees, learning rates."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from benchmarks.anywhere import Workload
from benchmarks.case import Arrays, Contender
from benchmarks.random_tables import log_uniform, random_table


def draw_workload(rng: np.random.Generator) -> Workload:
    """Return a random table with amounts or classes, half of it at most 10,000 rows to test on."""
    X, score = random_table(rng, 300, 100_000)
    n_test = min(len(X) // 2, 10_000)
    n_classes = int(rng.choice([0, 0, 2, 2, 3, 5, 10]))
    y = score
    if n_classes:
        cuts = np.quantile(score, np.sort(rng.dirichlet(np.full(n_classes, 4.0)).cumsum()[:-1]))
        y = np.searchsorted(cuts, score).astype(np.int64)
        n_classes = np.unique(y).size
    options = {
        "leaves": int(rng.choice([7, 15, 31, 31, 63, 127])),
        "depth": int(rng.choice([-1, -1, 4, 6, 8])),
        "rate": float(rng.choice([0.05, 0.1, 0.1, 0.3])),
        "rounds": log_uniform(rng, 20, 200) // (1 if n_classes < 3 else 2),
        "least": int(rng.choice([5, 20, 20, 50])),
    }
    arrays = {"X": X[n_test:], "y": y[n_test:], "X_test": X[:n_test], "y_test": y[:n_test]}
    kind = "Classifier" if n_classes else "Regressor"
    words = f"{len(X) - n_test} x {X.shape[1]}, {n_classes or 'no'} classes, " + ", ".join(
        f"{name} {value:g}" for name, value in options.items()
    )
    return Workload(words, arrays, contenders(kind, options))


def contenders(kind: str, options: dict) -> dict[str, Contender]:
    """Return ours and the rivals, with the same options."""
    return {
        "eigenwood": ours(kind, options),
        "LightGBM": lightgbm(kind, options),
        "LightGBM quantised": lightgbm(kind, options, use_quantized_grad=True),
        "XGBoost hist": xgboost(kind, options),
        "scikit-learn hist": sklearn(kind, options),
    }


def ours(kind: str, options: dict) -> Contender:
    def contender(threads):
        boosting = getattr(import_module("eigenwood"), f"GradientBoosting{kind}")
        model = boosting(
            n_estimators=options["rounds"],
            learning_rate=options["rate"],
            max_leaf_nodes=options["leaves"],
            max_depth=options["depth"] if options["depth"] > 0 else None,
            min_samples_leaf=options["least"],
            n_jobs=threads,
        )
        return lambda arrays: model.fit(arrays["X"], arrays["y"])

    return contender


def lightgbm(kind: str, options: dict, **params) -> Contender:
    def contender(threads):
        model = getattr(import_module("lightgbm"), f"LGBM{kind}")(
            n_estimators=options["rounds"],
            learning_rate=options["rate"],
            num_leaves=options["leaves"],
            max_depth=options["depth"],
            min_child_samples=options["least"],
            n_jobs=threads,
            verbose=-1,
            **params,
        )
        return lambda arrays: model.fit(arrays["X"], arrays["y"])

    return contender


def xgboost(kind: str, options: dict) -> Contender:
    def contender(threads):
        model = getattr(import_module("xgboost"), f"XGB{kind}")(
            n_estimators=options["rounds"],
            learning_rate=options["rate"],
            max_leaves=options["leaves"],
            max_depth=max(options["depth"], 0),
            grow_policy="lossguide",
            tree_method="hist",
            min_child_weight=1e-3,
            reg_lambda=0.0,
            n_jobs=threads,
        )
        return lambda arrays: model.fit(arrays["X"], arrays["y"])

    return contender


def sklearn(kind: str, options: dict) -> Contender:
    def contender(threads):
        model = getattr(import_module("sklearn.ensemble"), f"HistGradientBoosting{kind}")(
            max_iter=options["rounds"],
            learning_rate=options["rate"],
            max_leaf_nodes=options["leaves"],
            max_depth=options["depth"] if options["depth"] > 0 else None,
            min_samples_leaf=options["least"],
            early_stopping=False,
        )
        return lambda arrays: model.fit(arrays["X"], arrays["y"])

    return contender


def relative_quality(arrays: Arrays, model) -> float:
    """Return R² or the accuracy on the rows to test."""
    return float(model.score(arrays["X_test"], arrays["y_test"]))
