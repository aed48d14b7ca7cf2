"""Scikit-learn's histogram-based gradient boosting: our gradient boosting with its defaults and its spelling."""

from __future__ import annotations

from eigenwood import GradientBoostingClassifier, GradientBoostingRegressor
from tests.drop_in.extra_trees import init_of

DEFAULTS = {
    "max_iter": 100,
    "max_leaf_nodes": 31,
    "max_depth": None,
    "min_samples_leaf": 20,
    "early_stopping": "auto",
    "n_iter_no_change": None,
    "tol": 1e-7,
}


class HistGradientBoostingClassifier(GradientBoostingClassifier):
    """A classifier with the defaults of its twin."""

    __init__ = init_of(GradientBoostingClassifier, **DEFAULTS)


class HistGradientBoostingRegressor(GradientBoostingRegressor):
    """A regressor with the defaults of its twin."""

    __init__ = init_of(GradientBoostingRegressor, **DEFAULTS)


OURS = {
    "sklearn.ensemble": {
        "HistGradientBoostingClassifier": HistGradientBoostingClassifier,
        "HistGradientBoostingRegressor": HistGradientBoostingRegressor,
    }
}
