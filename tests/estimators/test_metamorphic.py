"""The metamorphic exam: what a change of the data that means nothing must not change, for every estimator.

Numbers are quarters, so that scaling by powers of two and shifting by whole numbers are exact: a tree must not move at
all, and what adds up squares may move by rounding. A machine is solved to ``tol``, so its scores may move by that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sklearn import ensemble, metrics
from sklearn import svm as scikit
from sklearn import tree as scikit_tree
from sklearn.base import clone
from sklearn.decomposition import PCA as ScikitPCA

from eigenwood import (
    PCA,
    SVC,
    SVR,
    AdaBoostClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    verify,
)
from eigenwood.estimators.registry import CLASSIFICATION, ENTRIES, Entry
from tests.estimators.exam import TABLE_ENTRIES, made, result, short, takes_weights

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

SEEDS = st.integers(0, 2**32 - 1)
every_entry = pytest.mark.parametrize("entry", TABLE_ENTRIES, ids=lambda entry: entry.name)

TREES = ("DecisionTreeClassifier", "DecisionTreeRegressor")
BOOSTED = ("GradientBoostingClassifier", "GradientBoostingRegressor")
ENSEMBLES = ("RandomForestClassifier", "RandomForestRegressor", "BaggingClassifier", "BaggingRegressor")
MACHINES = ("SVC", "SVR")
AROUND_TREES = ("WeightedEnsembleClassifier", "WeightedEnsembleRegressor", "ScaledTargetRegressor")
DRAWS_BY_ROWS, DRAWN = ("AdaBoostRegressor",), "rows are drawn by what they hold, and each round by the one before"
ON_LANDMARKS = ("KernelLogisticRegression", "KernelRidge")
PERCEPTRONS = ("Perceptron", "KernelPerceptron")
SELECTORS = ("GainSelector",)
KEEP_NUMBERS = (*SELECTORS, "TableColumns")
DRAWS_LANDMARKS, LANDMARKS = ("LowRankKernel",), "landmarks are drawn by their place in the table"

# Rows are drawn in the order of their fingerprints, so that a weight is a repeated row; other numbers have other ones.
# So an ensemble is asked twice: without draws, and what each learner learnt from the rows that it says it drew.
WITHOUT_DRAWS = {"bootstrap": False}

# Of quarters its sums are exact in either float; elsewhere a mistake may hang on the last digit of a score.
EXACT_KERNEL = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}


def some(n_cases: int) -> Callable:
    """Return settings for random cases that are drawn anew for each version of this file, and alike in each run."""
    return settings(
        max_examples=n_cases, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.differing_executors]
    )


class Case(NamedTuple):
    """Rows to learn from, their target, rows to ask about, and whole weights."""

    X: np.ndarray
    y: np.ndarray
    queries: np.ndarray
    weights: np.ndarray


def case_of(entry: Entry, seed: int, holes: float = 0.0) -> Case:
    """Return a small case with equal rows and, where the estimator takes them, holes."""
    rng = np.random.default_rng(seed)
    n_rows, n_features = int(rng.integers(12, 60)), int(rng.integers(2, 5))
    X = rng.integers(-6, 7, size=(n_rows, n_features)) / 4.0
    X[rng.integers(0, n_rows, n_rows // 4)] = X[0]
    score = X[:, 0] - X[:, 1] + rng.normal(size=n_rows) / 2.0
    y = np.digitize(score, np.quantile(score, [1 / 3, 2 / 3])) if entry.task == CLASSIFICATION else np.round(8 * score)
    if entry.task == CLASSIFICATION:
        y[:3] = 0, 1, 2
    queries = rng.integers(-8, 9, size=(40, n_features)) / 4.0
    for rows in (X, queries):
        rows[rng.random(rows.shape) < holes] = np.nan
    return Case(X, y, queries, rng.integers(1, 4, n_rows).astype(float))


def takes_holes(entry: Entry) -> bool:
    return entry.estimator().__sklearn_tags__().input_tags.allow_nan and entry.estimator.__name__ != "PCA"


def holes_for(entry: Entry, seed: int) -> float:
    return 0.2 * (seed % 2) if takes_holes(entry) else 0.0


def allowed(entry: Entry) -> dict[str, float]:
    """Return by how much answers may differ."""
    if entry.estimator.__name__ in MACHINES:
        return {"rtol": 0.0, "atol": 0.01}
    return {"rtol": 1e-7, "atol": 1e-7}


def answers(entry: Entry, case: Case, params: dict[str, Any] | None = None, **fit_params: Any) -> np.ndarray:
    """Return what is made of the queries after a fit."""
    model = model_of(entry, params)
    return result(model.fit(case.X, case.y, **fit_params), case.queries)


def model_of(entry: Entry, params: dict[str, Any] | None = None) -> Any:
    """Return the estimator with few epochs or learners; a machine is solved to the end."""
    make = made if entry.estimator.__name__ in MACHINES else short
    return make(entry, {**params_of(entry), **(params or {})})


def params_of(entry: Entry) -> dict[str, Any]:
    """Return parameters for which a change that means nothing changes nothing."""
    name = entry.estimator.__name__
    if name in MACHINES:
        # votes of pairs would turn a score that is nearly 0 into a whole vote
        return {"decision_function_shape": "ovo", "tol": 1e-5} if name == "SVC" else {"tol": 1e-5}
    if name in (*ENSEMBLES, *TREES, *BOOSTED):
        return {"random_state": 7}
    if name == "ScaledTargetRegressor":
        return {"regressor": DecisionTreeRegressor(random_state=7)}
    if name == "KernelRidge":
        return {"kernel": "rbf", "gamma": "scale"}
    if name in (*DRAWS_LANDMARKS, "KernelPCA"):
        return {"gamma": "scale"}
    return {"svd_solver": "full"} if name == "PCA" else {}


# ---- rows --------------------------------------------------------------------------------------------------------


@every_entry
@some(4)
@given(seed=SEEDS)
def test_the_order_of_rows(entry, seed):
    if entry.estimator.__name__ in DRAWS_LANDMARKS:
        pytest.skip(LANDMARKS)
    case = case_of(entry, seed, holes_for(entry, seed))
    order = np.random.default_rng(seed + 1).permutation(len(case.X))
    turned = case._replace(X=case.X[order], y=case.y[order])
    np.testing.assert_allclose(answers(entry, turned), answers(entry, case), **allowed(entry))


@every_entry
@some(4)
@given(seed=SEEDS)
def test_a_weight_is_a_repeated_row(entry, seed):
    if not takes_weights(entry):
        pytest.skip("takes no weights")
    case = case_of(entry, seed, holes_for(entry, seed))
    copies = np.repeat(np.arange(len(case.X)), case.weights.astype(int))
    repeated = case._replace(X=case.X[copies], y=case.y[copies])
    weighted = answers(entry, case, sample_weight=case.weights)
    np.testing.assert_allclose(answers(entry, repeated), weighted, **allowed(entry))


@pytest.mark.parametrize("entry", [one for one in ENTRIES if one.takes_tables], ids=lambda entry: entry.name)
@some(4)
@given(seed=SEEDS)
def test_a_weight_is_a_repeated_row_where_columns_are_categories(entry, seed):
    case = case_of(entry, seed, 0.2 * (seed % 2))
    case = case._replace(X=np.round(case.X), queries=np.round(case.queries))
    name = "categorical_features" if "categorical_features" in entry.estimator.PARAMS else "estimator"
    tree = DecisionTreeClassifier if entry.task == CLASSIFICATION else DecisionTreeRegressor
    params = {name: tree(categorical_features=[0]) if name == "estimator" else [0]}
    copies = np.repeat(np.arange(len(case.X)), case.weights.astype(int))
    repeated = case._replace(X=case.X[copies], y=case.y[copies])
    weighted = answers(entry, case, params, sample_weight=case.weights)
    np.testing.assert_allclose(answers(entry, repeated, params), weighted, **allowed(entry))


TAKE_CLASS_WEIGHTS = [one for one in ENTRIES if "class_weight" in one.estimator.PARAMS]


@pytest.mark.parametrize("entry", TAKE_CLASS_WEIGHTS, ids=lambda entry: entry.name)
@pytest.mark.parametrize("class_weight", ["balanced", {0: 0.3, 1: 1.7, 2: 0.77}])
@some(3)
@given(seed=SEEDS)
def test_a_weight_is_a_repeated_row_where_classes_have_weights(entry, class_weight, seed):
    """Their products count no rows any more."""
    case = case_of(entry, seed, holes_for(entry, seed))
    params = {"class_weight": class_weight}
    if entry.estimator.__name__ in BOOSTED:  # in which a weight is as many rows for this as well
        params["min_samples_leaf"] = 4
    copies = np.repeat(np.arange(len(case.X)), case.weights.astype(int))
    repeated = case._replace(X=case.X[copies], y=case.y[copies])
    weighted = answers(entry, case, params, sample_weight=case.weights)
    np.testing.assert_allclose(answers(entry, repeated, params), weighted, **allowed(entry))


# ---- columns -----------------------------------------------------------------------------------------------------


@every_entry
@some(3)
@given(seed=SEEDS, power=st.integers(-20, 20))
def test_the_unit_of_all_columns(entry, seed, power):
    name = entry.estimator.__name__
    if name == "PolynomialExpansion":
        pytest.skip("its terms are of several degrees")
    if name in DRAWS_BY_ROWS:
        pytest.skip(DRAWN)
    case = case_of(entry, seed, holes_for(entry, seed))
    scaled = case._replace(X=case.X * 2.0**power, queries=case.queries * 2.0**power)
    # 1 is no column of a perceptron then, and the order of rows is that of the table
    params = {"fit_intercept": False, "shuffle": False} if name in PERCEPTRONS else without_draws(entry)
    before, after = (answers(entry, one, params) for one in (case, scaled))
    if name in ("PCA", "Perceptron"):
        after = after * 2.0**-power if name == "PCA" else after * 4.0**-power
    if name in KEEP_NUMBERS:
        after = after * 2.0**-power
    np.testing.assert_allclose(after, before, **allowed(entry))


@every_entry
@some(4)
@given(seed=SEEDS, shift=st.integers(-1000, 1000))
def test_the_zero_of_columns(entry, seed, shift):
    name = entry.estimator.__name__
    if name in (*PERCEPTRONS, "PolynomialExpansion"):
        pytest.skip("a direction is measured from 0")
    if name in DRAWS_BY_ROWS:
        pytest.skip(DRAWN)
    case = case_of(entry, seed, holes_for(entry, seed))
    moved = case._replace(X=case.X + shift, queries=case.queries + shift)
    params, back = without_draws(entry), shift if name in KEEP_NUMBERS else 0
    np.testing.assert_allclose(answers(entry, moved, params) - back, answers(entry, case, params), **allowed(entry))


@pytest.mark.parametrize("entry", [one for one in ENTRIES if one.estimator.__name__ in ENSEMBLES], ids=lambda e: e.name)
@some(4)
@given(seed=SEEDS, power=st.integers(-20, 20), shift=st.integers(-1000, 1000))
def test_the_unit_and_the_zero_where_rows_are_drawn(entry, seed, power, shift):
    """What a learner learnt from its draw it learns from the same rows as they were before, to the last bit."""
    case = case_of(entry, seed, holes_for(entry, seed))
    changed = case._replace(X=(case.X + shift) * 2.0**power, queries=(case.queries + shift) * 2.0**power)
    model = model_of(entry).fit(changed.X, changed.y)
    for learner, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        counts = np.bincount(rows, minlength=len(case.X)).astype(float)
        if entry.task == CLASSIFICATION and np.unique(case.y[counts > 0]).size < 3:
            continue  # a tree of two classes knows no others
        before = clone(learner).fit(case.X, case.y, sample_weight=counts)
        np.testing.assert_array_equal(result(learner, changed.queries), result(before, case.queries))


def without_draws(entry: Entry) -> dict[str, Any]:
    """Return parameters by which every learner of an ensemble gets all rows."""
    return WITHOUT_DRAWS if entry.estimator.__name__ in ENSEMBLES else {}


@every_entry
@some(4)
@given(seed=SEEDS)
def test_the_order_of_columns(entry, seed):
    """Ties are broken by it, so the first question of trees and what a machine costs are looked at."""
    name = entry.estimator.__name__
    if name in DRAWS_BY_ROWS:
        pytest.skip(DRAWN)
    case = case_of(entry, seed, holes_for(entry, seed))
    order = np.random.default_rng(seed + 1).permutation(case.X.shape[1])
    models = [model_of(entry, in_order(entry)).fit(X, case.y) for X in (case.X, case.X[:, order])]
    if name in BOOSTED:  # features are asked in their order where gains are equal
        one, other = (model.train_score_ for model in models)
        np.testing.assert_allclose(one, other, rtol=0.05)
    elif name in (*TREES, *ENSEMBLES, *AROUND_TREES):
        one, other = ([first_gain(tree) for tree in trees_of(model)] for model in models)
        assert one == pytest.approx(other, rel=1e-9)
    elif name in PERCEPTRONS:
        one, other = (result(model, rows) for model, rows in zip(models, turned(case, order), strict=True))
        np.testing.assert_allclose(one, other, **allowed(entry))
    elif name == "AdaBoostClassifier":
        assert models[0].estimator_errors_[0] == models[1].estimator_errors_[0]
    elif name in MACHINES:
        one, other = (sum(c.value for c in model.certificate_ if c.name.startswith("dual")) for model in models)
        assert one == pytest.approx(other, rel=1e-4, abs=1e-9)
    elif name in ON_LANDMARKS:  # which are drawn by what they hold
        one, other = (model.certificate_["primal"].value for model in models)
        assert one == pytest.approx(other, rel=1e-6)
    elif name == "PolynomialExpansion":
        one, other = (np.sort(result(model, rows)) for model, rows in zip(models, turned(case, order), strict=True))
        np.testing.assert_allclose(one, other)
    elif name in SELECTORS:
        np.testing.assert_array_equal(models[0].scores_[order], models[1].scores_)
    elif name == "KernelPCA":
        np.testing.assert_allclose(models[0].eigenvalues_, models[1].eigenvalues_, atol=1e-9)
    elif name in DRAWS_LANDMARKS:
        assert models[0].trace_error_ == pytest.approx(models[1].trace_error_, abs=1e-9)
    elif name == "Autoencoder":  # its first weights are drawn column by column
        np.testing.assert_array_equal(models[0].mean_[order], models[1].mean_)
    elif name == "IterativeHardThresholding":
        assert models[0].residual_ == pytest.approx(models[1].residual_, rel=1e-9)
    elif name in ("TableColumns", "TableEncoder"):
        one, other = (result(model, rows) for model, rows in zip(models, turned(case, order), strict=True))
        np.testing.assert_allclose(one[:, order], other)
    else:
        np.testing.assert_allclose(models[0].explained_variance_, models[1].explained_variance_, rtol=1e-9, atol=1e-12)


def in_order(entry: Entry) -> dict[str, Any]:
    """Return parameters by which rows are visited in the table's order, and all rows and columns are looked at."""
    if entry.estimator.__name__.startswith("RandomForest"):
        return {**WITHOUT_DRAWS, "max_features": 1.0}
    if entry.estimator.__name__ == "KernelPerceptron":
        return {"shuffle": False, **EXACT_KERNEL}
    return {"shuffle": False} if entry.estimator.__name__ in PERCEPTRONS else without_draws(entry)


def turned(case: Case, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return case.queries, case.queries[:, order]


def trees_of(model: Any) -> list[Any]:
    """Return the trees of an ensemble, the one inside another model, or the model."""
    members = getattr(model, "estimators_", [getattr(model, "regressor_", model)])
    return [member for member in members if hasattr(member, "nodes_")]


def first_gain(model: Any) -> float:
    """Return by how much the first question of a tree lowers the impurity."""
    nodes = model.nodes_
    if nodes.left[0] == -1:
        return 0.0
    sides = [nodes.left[0], nodes.right[0]]
    return float(nodes.impurity[0] - (nodes.weight[sides] * nodes.impurity[sides]).sum() / nodes.weight[0])


# ---- labels, threads, floats -------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", [one for one in ENTRIES if one.task == CLASSIFICATION], ids=lambda entry: entry.name)
@some(4)
@given(seed=SEEDS)
def test_the_names_of_classes(entry, seed):
    case = case_of(entry, seed, holes_for(entry, seed))
    names = np.array(["ant", "bee", "cat"])
    model = model_of(entry).fit(case.X, case.y)
    named = clone(model).fit(case.X, names[case.y])
    np.testing.assert_array_equal(names[model.predict(case.queries)], named.predict(case.queries))


@pytest.mark.parametrize("entry", [one for one in ENTRIES if one.task == CLASSIFICATION], ids=lambda entry: entry.name)
@some(4)
@given(seed=SEEDS)
def test_the_order_of_classes(entry, seed):
    """Where two classes are equally good the first is taken, so rows are asked whose largest scores differ."""
    name = entry.estimator.__name__
    if name == "AdaBoostClassifier":
        pytest.skip("a stump that is as good for two classes takes the first, and rounds follow from each other")
    case = case_of(entry, seed, holes_for(entry, seed))
    order = np.array([2, 0, 1])
    params = {"decision_function_shape": "ovr"} if name == "SVC" else in_order(entry)  # rows are marked by class
    models = [model_of(entry, params).fit(case.X, y) for y in (case.y, order[case.y])]
    if name in BOOSTED:  # where gains are equal but for rounding, either may be the largest
        np.testing.assert_allclose(models[1].train_score_, models[0].train_score_, rtol=0.05)
        return
    one, other = (result(model, case.queries) for model in models)
    clear = np.diff(np.sort(one, axis=1)[:, -2:], axis=1)[:, 0] > 0.02
    assert name == "DecisionTreeClassifier" or clear.sum() > 5
    np.testing.assert_array_equal(order[one.argmax(axis=1)][clear], other.argmax(axis=1)[clear])


@every_entry
@some(3)
@given(seed=SEEDS)
def test_threads_layouts_and_floats(entry, seed):
    """Quarters are the same numbers in float32; what is learnt from them may be rounded to it."""
    name = entry.estimator.__name__
    case = case_of(entry, seed, holes_for(entry, seed))
    params = EXACT_KERNEL if name == "KernelPerceptron" else {}
    if name in DRAWS_LANDMARKS:
        params = {"n_components": 3}  # of as many as there are rows, the last are drawn by what is rounding
    before = answers(entry, case, params)
    if "n_jobs" in entry.estimator.PARAMS:
        np.testing.assert_array_equal(answers(entry, case, {"n_jobs": 2, **params}), before)
    np.testing.assert_array_equal(answers(entry, case._replace(X=np.asfortranarray(case.X)), params), before)
    single = case._replace(X=case.X.astype(np.float32), queries=case.queries.astype(np.float32))
    kept = name in (*TREES, "RandomForestClassifier", "RandomForestRegressor")
    tolerance = {"rtol": 0.0, "atol": 0.0} if kept else {"rtol": 1e-3, "atol": 1e-2}
    after = answers(entry, single, params)
    np.testing.assert_allclose(after, before, **tolerance)


# ---- beside scikit-learn -----------------------------------------------------------------------------------------


@some(12)
@given(seed=SEEDS, power=st.floats(-4, 4), kernel=st.sampled_from(["linear", "rbf", "poly"]))
def test_machines_cost_no_more_than_those_of_scikit_learn(seed, power, kernel):
    """Compared by the dual that both maximise, where both say that they are done."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (int(rng.integers(10, 60)), 2)).astype(float) * 2.0 ** int(rng.integers(-4, 5))
    score = X[:, 0] - X[:, 1] + X.std() * rng.normal(size=len(X))
    params = {
        "C": min(10.0**power, 10.0) if kernel == "poly" else 10.0**power,
        "kernel": kernel,
        "degree": 2,
        "coef0": 1.0,
    }
    for ours, theirs, y in ((SVC, scikit.SVC, score > np.median(score)), (SVR, scikit.SVR, score / X.std())):
        if len(np.unique(y)) < 2:
            continue
        reference = theirs(**params, max_iter=100_000).fit(X, y)
        model = ours(**params, time_limit=2.0).fit(X, y)
        if reference.fit_status_ != 0 or not model.converged_:
            continue
        assert verify(model, X, y).holds
        own, other = (dual_of(one, X, y) for one in (model, reference))
        slack = 2e-3 * params["C"] * len(X)  # what tol leaves open
        assert own >= other - max(slack, 1e-6 * abs(other))


def dual_of(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return what the dual is worth, from the coefficients alone."""
    beta = np.zeros(len(X))
    beta[model.support_] = model.dual_coef_[0]
    target = np.where(y, 1.0, -1.0) if y.dtype == bool else y
    epsilon = 0.0 if y.dtype == bool else model.epsilon
    gamma = 1.0 / (X.shape[1] * X.var())
    K = scikit_kernel(model.kernel, X, gamma)
    return float(target @ beta - epsilon * np.abs(beta).sum() - 0.5 * beta @ K @ beta)


def scikit_kernel(name: str, X: np.ndarray, gamma: float) -> np.ndarray:
    if name == "rbf":
        return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    return X @ X.T if name == "linear" else (gamma * X @ X.T + 1.0) ** 2


@some(12)
@given(seed=SEEDS, power=st.integers(-10, 60), criterion=st.sampled_from(["gini", "entropy", "squared_error"]))
def test_first_questions_gain_as_much_as_those_of_scikit_learn(seed, power, criterion):
    """Not at smaller scales: to scikit-learn, numbers that differ by less than 1e-7 are equal."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (int(rng.integers(5, 80)), 3)).astype(float) * 2.0**power
    classes = criterion != "squared_error"
    y = rng.integers(0, 3, len(X)) if classes else np.round(rng.normal(size=len(X)), 1)
    ours, theirs = (
        (DecisionTreeClassifier, scikit_tree.DecisionTreeClassifier)
        if classes
        else (DecisionTreeRegressor, scikit_tree.DecisionTreeRegressor)
    )
    model = ours(criterion=criterion, max_depth=1, random_state=0).fit(X, y)
    reference = theirs(criterion=criterion, max_depth=1, random_state=0).fit(X, y).tree_
    shares = reference.weighted_n_node_samples / len(X)
    gain = reference.impurity[0] - (shares * reference.impurity)[1:].sum()
    assert first_gain(model) == pytest.approx(gain if reference.node_count > 1 else 0.0, rel=1e-9, abs=1e-12)


LOSSES = {
    "log_loss": lambda rng, score: np.digitize(score, np.quantile(score, [0.3, 0.6][: rng.integers(1, 3)])),
    "squared_error": lambda rng, score: np.round(score, 1),
    "poisson": lambda rng, score: np.round(np.exp(np.clip(score, -1.0, 1.0))),  # no leaf takes the longest step of ours
}


@some(6)
@given(seed=SEEDS, power=st.integers(-8, 60), loss=st.sampled_from(sorted(LOSSES)))
def test_rounds_of_boosting_lower_the_loss_as_those_of_scikit_learn(seed, power, loss):
    """One question each, and as many bins as values: the best split is the same, or as good as another."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (int(rng.integers(20, 80)), 3)).astype(float)
    y = LOSSES[loss](rng, X[:, 0] - X[:, 1] / 2.0 + rng.normal(size=len(X)))
    X *= 2.0**power
    is_class = loss == "log_loss"
    one_question = {"max_leaf_nodes": 2, "min_samples_leaf": 1, "learning_rate": 0.3, "loss": loss}
    ours = (GradientBoostingClassifier if is_class else GradientBoostingRegressor)(
        n_estimators=8, max_depth=None, **one_question
    ).fit(X, y)
    theirs = (ensemble.HistGradientBoostingClassifier if is_class else ensemble.HistGradientBoostingRegressor)(
        max_iter=8, early_stopping=False, **one_question
    )
    first = clone(theirs).set_params(max_iter=1).fit(X, y)
    assert mean_loss_of(next(iter_of(ours, X)), y, loss) == pytest.approx(mean_loss_of(first, y, loss, X), rel=1e-5)
    assert verify(ours, X, y).holds


def mean_loss_of(pred: Any, y: np.ndarray, loss: str, X: np.ndarray | None = None) -> float:
    """Return the mean loss of predictions, or of a model."""
    if X is not None:
        pred = pred.predict_proba(X) if loss == "log_loss" else pred.predict(X)
    if loss == "log_loss":
        return metrics.log_loss(y, pred)
    return metrics.mean_squared_error(y, pred) if loss == "squared_error" else metrics.mean_poisson_deviance(y, pred)


def iter_of(model: Any, X: np.ndarray) -> Any:
    return model.staged_predict_proba(X) if hasattr(model, "classes_") else model.staged_predict(X)


@some(8)
@given(seed=SEEDS, power=st.integers(-8, 60), rate=st.sampled_from([0.1, 0.5, 1.0]))
def test_rounds_of_adaboost_are_those_of_scikit_learn(seed, power, rate):
    """With the same tree for both, all numbers are the same; of one question each, ours errs no more."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(int(rng.integers(20, 60)), 3)), 2, axis=0)  # on a grid, its tree draws among ties
    y = np.digitize(X[:, 0] - X[:, 1] / 2.0 + rng.normal(size=len(X)), [-0.5, 0.5][: int(rng.integers(1, 3))])
    X *= 2.0**power
    tree = scikit_tree.DecisionTreeClassifier(max_depth=2, random_state=0)
    ours, theirs = (
        made_of(tree, n_estimators=6, learning_rate=rate, random_state=0).fit(X, y)
        for made_of in (AdaBoostClassifier, ensemble.AdaBoostClassifier)
    )
    for seed_of_ties in range(1, 5):  # where questions of its tree are equally good, a draw or rounding decides
        nearly_one = 1.0 + 1e-14 * rng.normal(size=len(X))
        again = clone(theirs).set_params(random_state=seed_of_ties).fit(X, y, sample_weight=nearly_one)
        assume(np.allclose(again.predict_proba(X), theirs.predict_proba(X)))
    n_rounds = len(ours.estimator_errors_)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:n_rounds], rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)
    stumps, others = AdaBoostClassifier(n_estimators=1).fit(X, y), ensemble.AdaBoostClassifier(n_estimators=1).fit(X, y)
    assert stumps.estimator_errors_[0] <= others.estimator_errors_[0] + 1e-12
    assert verify(stumps, X, y).holds


@some(12)
@given(seed=SEEDS, power=st.integers(-100, 100), solver=st.sampled_from(["auto", "full", "covariance_eigh"]))
def test_components_are_those_of_scikit_learn_at_any_scale(seed, power, solver):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(8, 40)), 4)) * [4.0, 3.0, 2.0, 1.0]
    reference = ScikitPCA(2, svd_solver="full").fit(X)
    model = PCA(2, svd_solver=solver).fit(X * 2.0**power)
    np.testing.assert_allclose(model.explained_variance_, reference.explained_variance_ * 4.0**power, rtol=1e-6)
    np.testing.assert_allclose(np.abs(model.components_ @ reference.components_.T), np.eye(2), atol=1e-6)
    assert verify(model, X * 2.0**power).holds


def test_what_is_named_above_is_registered():
    """A name that is none would be asked nothing, and nobody would notice."""
    named = {*TREES, *ENSEMBLES, *BOOSTED, *MACHINES, *PERCEPTRONS, *SELECTORS, *ON_LANDMARKS, *DRAWS_BY_ROWS}
    named |= {*DRAWS_LANDMARKS, *AROUND_TREES}
    assert named <= {entry.estimator.__name__ for entry in ENTRIES}
