"""Digests of the trees that many fits grow: how trees are grown may change, which trees grow may not.

    python -m tests.estimators.tree_digests        # writes tree_digests.json anew, after a change that is wanted

A digest is taken of the structure: children, features, thresholds, categories, rows and values. It does not depend on
the processor: sums are added in one order, and costs that differ in their last bits count as equal.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import eigenwood as ew

FILE = Path(__file__).with_suffix(".json")
STRUCTURE = ("left", "right", "feature", "threshold", "default_left", "categories", "category_start", "n_rows", "value")
OF_FORESTS = ("node_start", "inner", "feature", "threshold", "default_left", "n_rows", "value_code", "value")
CRITERIA = {
    "DecisionTreeClassifier": ("gini", "entropy", "error"),
    "DecisionTreeRegressor": ("squared_error", "absolute_error", "poisson"),
}
LIMITS = {
    "to the end": {},
    "depth 4": {"max_depth": 4},
    "leaves of 7": {"min_samples_leaf": 7},
    "20 to split": {"min_samples_split": 20, "min_impurity_decrease": 1e-3},
    "leaf weight": {"min_weight_fraction_leaf": 0.03},
    "best first": {"max_leaf_nodes": 12},
    "some features": {"max_features": 3},
    "at random": {"splitter": "random"},
}
TABLES = ("numbers", "missing", "categories", "sparse", "few values", "duplicates")


def table(kind: str, n_rows: int, n_columns: int = 9, seed: int = 0) -> Any:
    """Return a table of some kind."""
    rng = np.random.default_rng([seed, n_rows, n_columns])
    X = rng.normal(size=(n_rows, n_columns))
    if kind == "missing":
        X[rng.random(X.shape) < 0.1] = np.nan
    elif kind == "categories":
        X[:, :3] = rng.integers(0, 6, (n_rows, 3))
    elif kind == "sparse":
        return sparse.csr_array(np.where(rng.random(X.shape) < 0.2, np.round(X, 1), 0.0))
    elif kind == "few values":
        X = np.round(2.0 * X)
    elif kind == "duplicates":
        X = X[rng.integers(0, n_rows // 2, n_rows)]
    return X


def target(X: Any, classes: bool, seed: int = 1) -> np.ndarray:
    """Return classes, or amounts of which some are equal, that have to do with the table."""
    rng, dense = np.random.default_rng(seed), np.nan_to_num(X.toarray() if sparse.issparse(X) else X)
    score = dense[:, 0] + dense[:, 1] * dense[:, 2] + 0.5 * rng.normal(size=dense.shape[0])
    return np.digitize(score, [-0.7, 0.0, 1.1]) if classes else np.round(np.abs(score), 1)


def of_kind(kind: str) -> dict:
    return {"categorical_features": [0, 1, 2]} if kind == "categories" else {}


def fitted(name: str, X: Any, y: np.ndarray, weights: np.ndarray | None = None, **params: Any) -> Any:
    return getattr(ew, name)(random_state=3, **params).fit(X, y, sample_weight=weights)


def tree_cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield fits of single trees: criteria, limits, tables, weights."""
    for name, criteria in CRITERIA.items():
        classes = name.endswith("Classifier")
        for criterion, limit in product(criteria, LIMITS):
            kind = TABLES[(list(LIMITS).index(limit) + criteria.index(criterion)) % len(TABLES)]
            for weighted in (False, True):
                words = f"{name}, {criterion}, {limit}, {kind}" + (", weights" if weighted else "")
                params = {"criterion": criterion, **LIMITS[limit], **of_kind(kind)}
                yield words, lambda n=name, k=kind, c=classes, w=weighted, p=params: one_tree(n, k, c, w, p)
        for kind in TABLES:
            params = of_kind(kind)
            words = f"{name}, 9,000 rows, {kind}"
            yield words, lambda n=name, k=kind, c=classes, p=params: one_tree(n, k, c, False, p, 9_000)
        yield f"{name}, wide", lambda n=name, c=classes: one_tree(n, "numbers", c, False, {}, 150, 700)
        yield f"{name}, wide and sparse", lambda n=name, c=classes: one_tree(n, "sparse", c, False, {}, 5_000, 200)
        branches = {"categorical_split": "multiway", **of_kind("categories")}
        yield f"{name}, multiway", lambda n=name, c=classes, p=branches: one_tree(n, "categories", c, True, p, 500)
        yield f"{name}, two outputs", lambda n=name, c=classes: two_outputs(n, c)
    for sign in (1, -1):
        yield f"monotone {sign}, two classes", lambda s=sign: monotone("DecisionTreeClassifier", s)
        yield f"monotone {sign}, amounts", lambda s=sign: monotone("DecisionTreeRegressor", s)


def one_tree(name, kind, classes, weighted, params, n_rows=400, n_columns=9):
    X = table(kind, n_rows, n_columns)
    weights = np.random.default_rng(5).integers(0, 4, n_rows).astype(float) if weighted else None
    if weighted and params.get("max_depth"):
        weights = weights + 0.25  # no whole numbers
    return fitted(name, X, target(X, classes), weights, **params).nodes_


def two_outputs(name, classes):
    X = table("numbers", 300)
    return fitted(name, X, np.column_stack([target(X, classes), target(X, classes, 2)])).nodes_


def monotone(name, sign):
    X = table("numbers", 2_000)
    y = target(X, name.endswith("Classifier"))
    y = y > 1 if name.endswith("Classifier") else y
    return fitted(name, X, y, monotonic_cst=[sign, 0, -sign, 0, 0, 0, 0, 0, 0]).nodes_


def ensemble_cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield fits of forests and bags, with their ways to draw, and on one and two threads."""
    for name in ("RandomForestClassifier", "RandomForestRegressor"):
        classes = name.endswith("Classifier")
        for kind, n_rows in product(TABLES, (80, 500, 9_000)):
            yield f"{name}, {kind}, {n_rows}", lambda n=name, k=kind, r=n_rows, c=classes: one_forest(n, k, c, r, {})
        for words, params in {
            "all features": {"max_features": None},
            "no bootstrap": {"bootstrap": False},
            "half of the rows": {"max_samples": 0.5},
            "two threads": {"n_jobs": 2},
            "best first": {"max_leaf_nodes": 9},
            "depth 5": {"max_depth": 5, "min_samples_leaf": 3},
            "few bins": {"max_bins": 8},
            "pruned": {"ccp_alpha": 0.01},
        }.items():
            yield f"{name}, {words}", lambda n=name, c=classes, p=params: one_forest(n, "numbers", c, 700, p)
        yield f"{name}, warm start", lambda n=name, c=classes: warm_forest(n, c)
    for name in ("BaggingClassifier", "BaggingRegressor"):
        yield name, lambda n=name: bag(n)


def one_forest(name, kind, classes, n_rows, params):
    X = table(kind, n_rows)
    return fitted(name, X, target(X, classes), n_estimators=5, **params, **of_kind(kind)).forest_


def warm_forest(name, classes):
    X = table("numbers", 300)
    model = getattr(ew, name)(3, warm_start=True, random_state=3).fit(X, target(X, classes))
    return model.set_params(n_estimators=7).fit(X, target(X, classes)).forest_


def bag(name):
    X = table("numbers", 300)
    model = fitted(name, X, target(X, name.endswith("Classifier")), n_estimators=5, max_features=0.6)
    return [learner.nodes_ for learner in model.estimators_]


CASES = dict([*tree_cases(), *ensemble_cases()])


def digest(grown: Any) -> str:
    """Return the digest of a tree, a forest, or some trees."""
    made = hashlib.sha256()
    for tree in grown if isinstance(grown, list) else [grown]:
        for name in STRUCTURE if hasattr(tree, "left") else OF_FORESTS:
            array = np.ascontiguousarray(getattr(tree, name))
            wide = array.astype(np.float64) if array.dtype.kind == "f" else array.astype(np.int64)
            made.update(f"{name} {array.shape}".encode() + wide.tobytes())
    return made.hexdigest()[:24]


if __name__ == "__main__":
    FILE.write_text(json.dumps({name: digest(case()) for name, case in CASES.items()}, indent=1) + "\n")
