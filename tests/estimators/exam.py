"""What the common exam needs: data for any estimator, comparisons to the last bit, and a callback that writes down."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from eigenwood import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from eigenwood.core.adaboost.stumps import Stumps
from eigenwood.core.forest.packing import Forest, tree_at
from eigenwood.core.tree.types import Tree
from eigenwood.estimators.registry import CLASSIFICATION, ENTRIES, REGRESSION, TEXT, TRANSFORMATION, Entry

# What learns from tables; what learns from documents has its own tests.
TABLE_ENTRIES = [entry for entry in ENTRIES if entry.task != TEXT]

# What says where a row stood in the table, not what was learnt from it.
PLACES = ("support_", "t_")

# What counts rows, whatever their weight.
ROW_COUNTS = ("nodes_.n_rows", "n_samples_", "solver_reason_")
COUNTS_ROWS = {"min_samples_leaf": "a leaf must have so many rows", "prune": "the rows put aside are drawn as rows"}

# What may differ in the last bits when w·y is added instead of y, w times; and a transformer's certificate is about the
# first rows of the table, whichever they are.
ROUNDED = {
    CLASSIFICATION: (),
    REGRESSION: ("nodes_.value", "nodes_.impurity", "certificate_"),
    TRANSFORMATION: ("certificate_",),
}


# What these learn are sums over all rows, whose last bits follow the order of the rows.
SUMS_OVER_ROWS = ("PCA", "IterativeHardThresholding")


# What these keep of a row they keep of each of its copies, and share the coefficient among them.
SHARES_AMONG_COPIES = ("SVC", "SVR", "KernelRidge", "ScaledTargetRegressor")

# Their n_iter_ counts moves of pairs, as in scikit-learn, of which a round has many.
COUNTS_MOVES = ("SVC", "SVR")

# These know at once that nothing can be learnt, and end in few steps where something can.
ENDS_AT_ONCE = ("KernelLogisticRegression",)

# These end by themselves where nothing can be learnt.
NEED_AN_EDGE = ("AdaBoostClassifier", "AdaBoostRegressor")

# Two of their learners have the median of one of them.
TAKE_MEDIANS = ("AdaBoostRegressor",)

# Their fit_transform returns what fit has found, which transform computes anew with other rounding.
FIT_KNOWS_RESULT = ("LowRankKernel", "KernelPCA")

# All components of n rows take n³ work.
FEW_COMPONENTS = {"n_components": 3, "kernel": "rbf"}

# Members of ensembles that have no n_estimators of their own.
FEW_MEMBERS = {
    "WeightedEnsembleClassifier": [
        ("boosting", GradientBoostingClassifier(n_estimators=4)),
        ("tree", DecisionTreeClassifier(random_state=0)),
    ],
    "WeightedEnsembleRegressor": [
        ("boosting", GradientBoostingRegressor(n_estimators=4)),
        ("tree", DecisionTreeRegressor(random_state=0)),
    ],
}

# What these predict is no mean of amounts, and may lie beyond all of them.
OVERSHOOTS = ("SVR",)


def candidates() -> list[tuple[str, Entry, dict]]:
    """Return every registered estimator with its defaults, and with the settings that ``learn`` tries."""
    settings = [
        (entry, params) for entry in TABLE_ENTRIES for params in ({}, *(tried for tried in entry.tries if tried))
    ]
    return [(case_id(entry, params), entry, params) for entry, params in settings]


def case_id(entry: Entry, params: dict) -> str:
    return "-".join([entry.name, *(f"{key}={value}" for key, value in params.items())])


def takes_weights(entry: Entry) -> bool:
    return has_fit_parameter(entry.estimator, "sample_weight")


def is_selector(entry: Entry) -> bool:
    return hasattr(entry.estimator, "get_support")


def is_classifier(entry: Entry) -> bool:
    return entry.task == CLASSIFICATION


def is_transformer(entry: Entry) -> bool:
    return entry.task == TRANSFORMATION


def made(entry: Entry, params: dict, **more: Any) -> Any:
    """Return the estimator with a fixed seed, if it draws."""
    seed = {"random_state": 0} if "random_state" in entry.estimator.PARAMS else {}
    members = FEW_MEMBERS.get(entry.estimator.__name__)
    few = {} if members is None else {"estimators": members}
    return entry.estimator(**{**seed, **few, **params, **more})


def short(entry: Entry, params: dict, **more: Any) -> Any:
    """Return the same with few epochs or learners, so that an exam on much data ends soon."""
    few = {name: 2 for name in ("max_iter", "n_estimators") if name in entry.estimator.PARAMS}
    few = FEW_COMPONENTS if entry.estimator.__name__ == "KernelPCA" else few
    return made(entry, {**params, **few, **more})


def in_rounds(entry: Entry) -> dict:
    """Return parameters with which a fit to a few hundred rows takes several rounds: memory for a few kernel rows."""
    return {"memory_limit": 0.5} if entry.estimator.__name__ in ("SVC", "SVR") else {}


def classes_on(X: np.ndarray, n_classes: int = 3, noise: float = 0.3, seed: int = 0) -> np.ndarray:
    """Return labels with a curved and blurred border, of about equal number."""
    rng = np.random.default_rng(seed)
    score = X[:, 0] + 0.5 * X[:, 1] ** 2 + noise * rng.normal(size=X.shape[0])
    return np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))


def table(n_rows: int, n_features: int, seed: int = 0, decimals: int | None = None) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(n_rows, n_features))
    return X if decimals is None else X.round(decimals)


def result(model: Any, X: Any) -> np.ndarray:
    """Return what a fitted model makes of X: scores, shares of classes, features or amounts."""
    methods = ("decision_function", "predict_proba", "transform", "predict")
    values = getattr(model, next(name for name in methods if hasattr(model, name)))(X)
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


def counted_rounds(model: Any) -> int | None:
    """Return how many rounds a fitted model says it had, if it says it."""
    return None if type(model).__name__ in COUNTS_MOVES else getattr(model, "n_iter_", None)


def learnt(model: Any) -> dict[str, Any]:
    """Return the fitted attributes that do not depend on where in the table a row stood."""
    return {name: getattr(model, name) for name in model.FITTED if hasattr(model, name) and name not in PLACES}


def assert_learnt_the_same(one: Any, other: Any, but: tuple[str, ...] = ()) -> None:
    """Both models have the same fitted attributes, to the last bit; ``but`` names what may differ."""
    assert learnt(one).keys() == learnt(other).keys()
    for name, value in learnt(one).items():
        assert_same_bits(name, value, learnt(other)[name], but)


def assert_same_bits(name: str, one: Any, other: Any, but: tuple[str, ...] = ()) -> None:
    if name in but:
        return
    if sparse.issparse(one):
        one, other = one.toarray(), other.toarray()
    if isinstance(one, Forest):
        for i in range(one.node_start.size - 1):
            assert_same_bits("nodes_", tree_at(one, i), tree_at(other, i), but)
    elif isinstance(one, (Tree, Stumps)):
        for field in one._fields:
            assert_same_bits(f"{name}.{field}", getattr(one, field), getattr(other, field), but)
    elif hasattr(one, "FITTED"):
        assert_learnt_the_same(one, other, but)
    elif is_list_of_models(one):
        for model, twin in zip(one, other, strict=True):
            assert_learnt_the_same(model, twin, but)
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, name
        np.testing.assert_array_equal(one, other, err_msg=name)
    else:
        assert one == other, name


def assert_learnt_alike(one: Any, other: Any, but: tuple[str, ...] = ()) -> None:
    """Both models have the same fitted attributes, up to the rounding of sums."""
    for name, value in learnt(one).items():
        if name not in but and isinstance(value, np.ndarray) and value.dtype.kind == "f":
            np.testing.assert_allclose(
                value, learnt(other)[name], rtol=1e-9, atol=1e-9 * abs(value).max(initial=0.0), err_msg=name
            )
        elif name not in but:
            assert value == pytest.approx(learnt(other)[name]), name


def is_list_of_models(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(hasattr(part, "FITTED") for part in value)


def refit(model: Any, X: Any, y: Any, **fit_params: Any) -> Any:
    return clone(model).fit(X, y, **fit_params)


class Recorder:
    """A callback that writes down what it is told; ``stop_after`` rounds it says stop, or raises ``problem``."""

    def __init__(self, stop_after: int | None = None, problem: Exception | None = None) -> None:
        self.events: list[tuple[str, str]] = []
        self.models: list[Any] = []
        self.data: list[tuple[Any, Any]] = []
        self.stop_after, self.problem = stop_after, problem

    def setup(self, estimator, context):
        self.events.append(("setup", context.task_name))

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        self.events.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.events.append(("end", context.task_name))
        self.models.append(fitted_estimator)
        self.data.append((X, y))
        if self.problem is not None:
            raise self.problem
        return self.stop_after is not None and self.count("end", "round") >= self.stop_after

    def teardown(self, estimator, context):
        self.events.append(("teardown", context.task_name))

    def count(self, *event: str) -> int:
        return sum(told[: len(event)] == event for told in self.events)


class PropagatedRecorder(Recorder):
    """The same for meta-estimators: it is handed down to the estimators inside."""

    max_propagation_depth = None
