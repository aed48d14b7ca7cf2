"""Random work for trees and forests: mixed columns, classes or amounts, depths, leaves, features at a node."""

from __future__ import annotations

from functools import partial
from importlib import import_module

import numpy as np

from benchmarks.anywhere import Workload
from benchmarks.bench_forest import forest_of, intelex, lightgbm, ydf
from benchmarks.case import Arrays, Contender
from benchmarks.random_tables import random_table

FOREST_TREES = 50
FOREST_CELLS = 1_000_000  # of a table: scikit-learn takes half a minute for as many
PREDICTED_ROWS = 40_000
MOST_LEAVES = 4096  # of LightGBM, which must be told


def draw_tree(kind: str, rng: np.random.Generator) -> Workload:
    """Return a table for one tree of a kind: "Classifier" or "Regressor"."""
    arrays, words = table_to_learn(kind, rng)
    options = random_options(rng)
    return Workload(
        f"{words}, {said(options)}",
        arrays,
        {name: tree_of(module, kind, options) for name, module in SAME_TREES.items()},
    )


SAME_TREES = {"eigenwood": "eigenwood", "scikit-learn": "sklearn.tree"}


def draw_forest(kind: str, rng: np.random.Generator) -> Workload:
    """Return a table for a forest of a kind."""
    arrays, words = table_to_learn(kind, rng, FOREST_CELLS)
    options = random_options(rng)
    n_features = random_features(arrays["X"].shape[1], rng)
    return Workload(f"{words}, {n_features} features, {said(options)}", arrays, forests(kind, n_features, options))


def draw_forest_to_predict(rng: np.random.Generator) -> Workload:
    """Return a forest's table, 40,000 rows to predict, and the forests, which are fitted before the clock runs."""
    kind = str(rng.choice(["Classifier", "Regressor"]))
    arrays, words = table_to_learn(kind, rng, FOREST_CELLS)
    options = random_options(rng)
    n_features = random_features(arrays["X"].shape[1], rng)
    rows = rng.integers(len(arrays["X_test"]), size=PREDICTED_ROWS)
    arrays |= {"X_test": arrays["X_test"][rows], "y_test": arrays["y_test"][rows]}
    fits = forests(kind, n_features, options)
    return Workload(
        f"{words}, {n_features} features, {said(options)}",
        arrays,
        {name: predicting(fit, arrays) for name, fit in fits.items()},
    )


# ---- tables and options


def table_to_learn(kind: str, rng: np.random.Generator, most_cells: int = 4_000_000) -> tuple[Arrays, str]:
    """Return rows to learn and at most 10,000 to test on, and what they are."""
    X, y = random_table(rng, 400, 100_000, most_cells)
    n_test, n_classes = min(len(X) // 2, 10_000), 0
    if kind == "Classifier":
        n_classes = int(rng.choice([2, 2, 3, 5, 10, 26]))
        cuts = np.quantile(y, np.sort(rng.dirichlet(np.full(n_classes, 4.0)).cumsum()[:-1]))
        y = np.searchsorted(cuts, y).astype(np.int64)
        n_classes = np.unique(y).size
    words = f"{len(X) - n_test} x {X.shape[1]}, {n_classes or 'no'} classes"
    return {"X": X[n_test:], "y": y[n_test:], "X_test": X[:n_test], "y_test": y[:n_test]}, words


def random_options(rng: np.random.Generator) -> dict:
    """Return a depth, often none, and the fewest rows of a leaf."""
    depth = int(rng.choice([0, 0, 0, 4, 8, 14]))
    return {"max_depth": depth or None, "min_samples_leaf": int(rng.choice([1, 1, 1, 5, 20]))}


def random_features(n_columns: int, rng: np.random.Generator) -> int:
    """Return how many features are tried at a node: the root of all, a third, or all."""
    return int(rng.choice([max(1, int(np.sqrt(n_columns))), max(1, n_columns // 3), n_columns], p=[0.5, 0.3, 0.2]))


def said(options: dict) -> str:
    return ", ".join(f"{name} {value}" for name, value in options.items())


# ---- contenders


def tree_of(module: str, kind: str, options: dict) -> Contender:
    def contender(threads):
        tree = getattr(import_module(module), f"DecisionTree{kind}")
        own = {"n_jobs": threads} if module == "eigenwood" else {}
        return lambda arrays: tree(random_state=0, **own, **options).fit(arrays["X"], arrays["y"])

    return contender


def forests(kind: str, n_features: int, options: dict) -> dict[str, Contender]:
    """Return ours and the rivals, with the same options where they have them."""
    same = {"n_estimators": FOREST_TREES, **options}
    depth, leaf = options["max_depth"], options["min_samples_leaf"]
    return {
        "eigenwood": forest_of("eigenwood", n_features, kind, **same),
        "scikit-learn": forest_of("sklearn.ensemble", n_features, kind, **same),
        "scikit-learn-intelex": intelex(n_features, kind, **same),
        "ydf": ydf(n_features, kind, num_trees=FOREST_TREES, max_depth=depth or -1, min_examples=leaf),
        "LightGBM rf": lightgbm(
            n_features,
            kind,
            most_leaves=MOST_LEAVES,
            n_estimators=FOREST_TREES,
            max_depth=depth or -1,
            min_child_samples=leaf,
        ),
    }


def predicting(fit: Contender, arrays: Arrays) -> Contender:
    """Return a contender whose forest is there before the clock runs."""

    def contender(threads):
        model = fit(threads)(arrays)
        return lambda arrays: model.predict(arrays["X_test"])

    return contender


# ---- quality


def quality_on_test_rows(arrays: Arrays, model) -> float:
    """Return R² or the accuracy of a model on the rows to test."""
    return quality_of_answers(arrays, model.predict(arrays["X_test"]))


def quality_of_answers(arrays: Arrays, answers: np.ndarray) -> float:
    """Return R², or the share that is right where the targets are classes."""
    y = arrays["y_test"]
    if y.dtype.kind == "i":
        return float(np.mean(answers == y))
    return float(1.0 - np.mean((answers - y) ** 2) / np.var(y))


draw_decision_tree, draw_regression_tree = partial(draw_tree, "Classifier"), partial(draw_tree, "Regressor")
draw_random_forest, draw_regression_forest = partial(draw_forest, "Classifier"), partial(draw_forest, "Regressor")
