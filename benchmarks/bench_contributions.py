"""Contributions of features to what 200 trees of 31 leaves predict: exact Shapley values, as everybody gives them.

Trees are of about one size, and of each library's own: ours are a forest, the rivals' are boosted. What is clocked does
not depend on how the trees were grown.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.bench_tree import all_rows_to_learn_from
from benchmarks.case import Arrays, Case, Quality
from benchmarks.data import california_ten_times

TREES, LEAVES = 200, 31


class Explained(NamedTuple):
    """What was explained, and by how much."""

    predicted: np.ndarray
    values: np.ndarray  # (n_rows, n_features)
    base: float


class Explaining:
    """Fits when it warms up; when the clock is on, explains the test rows."""

    def __init__(self, fit, explain):
        self.fit, self.explain, self.model = fit, explain, None

    def __call__(self, arrays: Arrays) -> Explained:
        if self.model is None:
            self.model = self.fit(arrays["X"], arrays["y"])
        return self.explain(self.model, arrays["X_test"])


def ours(threads):
    from eigenwood import RandomForestRegressor

    forest = RandomForestRegressor(TREES, max_leaf_nodes=LEAVES, max_features=0.5, random_state=0, n_jobs=threads)
    return Explaining(forest.fit, lambda model, X: Explained(model.predict(X), *model.contributions(X)))


def lightgbm(threads):
    import lightgbm

    model = lightgbm.LGBMRegressor(n_estimators=TREES, num_leaves=LEAVES, n_jobs=threads, verbose=-1)
    return Explaining(model.fit, lambda model, X: divided(model.predict(X), model.predict(X, pred_contrib=True)))


def xgboost(threads):
    import xgboost

    model = xgboost.XGBRegressor(
        n_estimators=TREES, max_leaves=LEAVES, max_depth=0, grow_policy="lossguide", tree_method="hist", n_jobs=threads
    )

    def explain(model, X):
        return divided(model.predict(X), model.get_booster().predict(xgboost.DMatrix(X), pred_contribs=True))

    return Explaining(model.fit, explain)


def divided(predicted, table) -> Explained:
    """Return contributions from a table whose last column is the base value."""
    return Explained(predicted, table[:, :-1], table[0, -1])


def distance_from_the_prediction(arrays, explained: Explained) -> float:
    """Return by how much values and base value at most miss the prediction."""
    return float(np.abs(explained.values.sum(axis=1) + explained.base - explained.predicted).max())


CASES = [
    Case(
        name="california_200_x_31",
        make=california_ten_times,
        contenders={"eigenwood": ours, "LightGBM": lightgbm, "XGBoost": xgboost},
        quality=Quality("sum off by", distance_from_the_prediction, better="lower"),
        target="faster than all",
        small=all_rows_to_learn_from,
    )
]
