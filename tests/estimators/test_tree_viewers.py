"""What others make of our trees: scikit-learn's pictures, texts, inspection and meta-estimators, and dtreeviz.

Where a tree has no two questions that are equally good, ours is the same as scikit-learn's, so what is said about both
must be the same.
"""

from __future__ import annotations

import importlib
import logging
import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor, BaggingClassifier, BaggingRegressor
from sklearn.inspection import PartialDependenceDisplay, partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV, cross_validate

import eigenwood
from eigenwood import DecisionTreeClassifier, DecisionTreeRegressor

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
NAMES = ["length", "width", "height", "weight"]


@pytest.fixture(scope="module")
def rows():
    """Rows that float32 holds exactly, and numbers and classes that follow from them, with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(np.float32).astype(np.float64)
    numbers = X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=300)
    return SimpleNamespace(X=X, numbers=numbers, classes=np.digitize(numbers, [0.3, 1.2]))


@pytest.fixture(scope="module")
def classifiers(rows):
    """Our tree and scikit-learn's."""
    kinds = (DecisionTreeClassifier, sklearn.tree.DecisionTreeClassifier)
    return [kind(max_depth=3, min_samples_leaf=8, random_state=0).fit(rows.X, rows.classes) for kind in kinds]


@pytest.fixture(scope="module")
def regressors(rows):
    kinds = (DecisionTreeRegressor, sklearn.tree.DecisionTreeRegressor)
    return [kind(max_depth=4, min_samples_leaf=8, random_state=0).fit(rows.X, rows.numbers) for kind in kinds]


@pytest.fixture(params=["classifiers", "regressors"])
def pair(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def pyplot():
    pyplot = importlib.import_module("matplotlib.pyplot")
    yield pyplot
    pyplot.close("all")


# ---------------------------------------------------------------------------------- the tree itself


ARRAYS = (
    "children_left",
    "children_right",
    "feature",
    "threshold",
    "n_node_samples",
    "weighted_n_node_samples",
    "missing_go_to_left",
    "n_classes",
)
NUMBERS = ("node_count", "capacity", "max_depth", "n_leaves", "n_features", "n_outputs", "max_n_classes")


def test_the_tree_has_scikit_learns_arrays(pair):
    ours, theirs = (model.tree_ for model in pair)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)
        assert getattr(ours, name).dtype == getattr(theirs, name).dtype, name
    for name in NUMBERS:
        if name != "capacity":
            assert getattr(ours, name) == getattr(theirs, name), name
    for name in ("impurity", "value"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12, atol=1e-12)


def test_nobody_can_write_to_the_tree(pair):
    for name in (*ARRAYS, "impurity", "value"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(pair[0].tree_, name)[...] = 0


def test_the_tree_answers_as_scikit_learns(pair, rows):
    ours, theirs = (model.tree_ for model in pair)
    X = rows.X.astype(np.float32)
    np.testing.assert_array_equal(ours.apply(X), theirs.apply(X))
    np.testing.assert_array_equal(ours.decision_path(X).toarray(), theirs.decision_path(X).toarray())
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.compute_node_depths(), theirs.compute_node_depths())
    for normalize in (True, False):
        np.testing.assert_allclose(
            ours.compute_feature_importances(normalize=normalize),
            theirs.compute_feature_importances(normalize=normalize),
        )


def test_pruning_paths_are_scikit_learns(pair, rows):
    y = rows.classes if isinstance(pair[0], DecisionTreeClassifier) else rows.numbers
    ours, theirs = (model.cost_complexity_pruning_path(rows.X, y) for model in pair)
    np.testing.assert_allclose(ours.ccp_alphas, theirs.ccp_alphas, atol=1e-12)
    np.testing.assert_allclose(ours.impurities, theirs.impurities, atol=1e-12)
    for alpha in (theirs.ccp_alphas[:-1] + theirs.ccp_alphas[1:]) / 2:
        cut = [clone(model).set_params(ccp_alpha=alpha).fit(rows.X, y) for model in pair]
        np.testing.assert_array_equal(cut[0].tree_.threshold, cut[1].tree_.threshold)


# ---------------------------------------------------------------------------------- texts and pictures


@pytest.mark.parametrize("options", [{}, {"show_weights": True}, {"max_depth": 1}, {"decimals": 5, "spacing": 2}])
def test_export_text_says_the_same(pair, options):
    if not isinstance(pair[0], DecisionTreeClassifier):
        options = {name: value for name, value in options.items() if name != "show_weights"}
    ours, theirs = (sklearn.tree.export_text(model, feature_names=NAMES, **options) for model in pair)
    assert ours == theirs
    assert "width" in ours


@pytest.mark.parametrize("options", [{}, {"filled": True, "rounded": True, "proportion": True, "node_ids": True}])
def test_export_graphviz_says_the_same(pair, options):
    ours, theirs = (sklearn.tree.export_graphviz(model, feature_names=NAMES, **options) for model in pair)
    assert ours == theirs


def test_plot_tree_draws_the_same(pair, pyplot):
    drawn = []
    for model in pair:
        figure = pyplot.figure()
        drawn.append([note.get_text() for note in sklearn.tree.plot_tree(model, feature_names=NAMES, filled=True)])
        assert figure.axes
    assert drawn[0] == drawn[1]


def mixed_table():
    rng = np.random.default_rng(1)
    job = rng.choice(["clerk", "farmer", "pilot", None], size=200)
    age = np.where(rng.random(200) < 0.1, np.nan, rng.normal(40, 10, size=200))
    y = np.where(np.isin(job.astype(str), ["clerk", "None"]), "poor", np.where(age > 40, "rich", "poor"))
    return pd.DataFrame({"job": job, "age": age}), y


@pytest.mark.parametrize("split", ["subset", "multiway"])
def test_a_tree_with_categories_is_written_with_its_categories(split, pyplot):
    X, y = mixed_table()
    model = DecisionTreeClassifier(random_state=0, categorical_split=split).fit(X, y)
    texts = [
        sklearn.tree.export_text(model, feature_names=["job", "age"]),
        sklearn.tree.export_graphviz(model, feature_names=["job", "age"], class_names=["poor", "rich"]),
        "".join(note.get_text() for note in sklearn.tree.plot_tree(model, feature_names=["job", "age"])),
    ]
    for text in texts:
        assert "nan" not in text
        for name in ("clerk", "missing") if split == "subset" else ("{clerk}", "{farmer}", "{pilot}"):
            assert name in text


@pytest.mark.parametrize(("left", "text"), [(["red"], "{red}"), (["blue", "green"], "not {red}")])
def test_what_is_written_of_a_subset_is_what_goes_left(left, text):
    """The first class goes left; the lighter side is listed."""
    X = pd.DataFrame({"colour": ["red"] * 5 + ["blue"] * 3 + ["green"] * 4})
    tree = (model := DecisionTreeClassifier().fit(X, ~X["colour"].isin(left))).tree_
    assert str(tree.threshold[0]) == str(tree.threshold[-3]) == text
    assert np.isnan(tree.threshold).tolist() == [True, False, False]
    assert f"{tree.threshold[1]:.1f}" == "-2.0"
    assert set(model.apply(pd.DataFrame({"colour": left}))) == {tree.children_left[0]}


def test_of_very_many_categories_some_are_written():
    codes = np.arange(100.0)[:, None]
    model = DecisionTreeClassifier(categorical_features=[0]).fit(codes, codes[:, 0] % 3 == 0)
    assert str(model.tree_.threshold[0]).endswith("33.0, 22 more}")


@pytest.fixture
def views(rows, classifiers, regressors):
    """Each model as dtreeviz sees it."""
    dtreeviz = pytest.importorskip("dtreeviz")
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    common = {"X_train": rows.X, "feature_names": NAMES, "target_name": "size"}
    return {
        "classifiers": [
            dtreeviz.model(model, y_train=rows.classes, class_names=["small", "middle", "large"], **common)
            for model in classifiers
        ],
        "regressors": [dtreeviz.model(model, y_train=rows.numbers, **common) for model in regressors],
    }


@pytest.mark.parametrize("kind", ["classifiers", "regressors"])
def test_dtreeviz_explains_the_same(kind, views, rows, capsys):
    for i in (0, 7, 20):
        ours, theirs = (view.explain_prediction_path(rows.X[i]) for view in views[kind])
        assert ours == theirs
        assert "width" in ours or "length" in ours
    for view in views[kind]:
        view.node_stats(0)
    told = capsys.readouterr().out
    assert told[: len(told) // 2] == told[len(told) // 2 :]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("kind", "drawing", "options"),
    [
        ("classifiers", "ctree_leaf_distributions", {}),
        ("classifiers", "ctree_feature_space", {"features": ["length", "width"]}),
        ("classifiers", "leaf_sizes", {}),
        ("classifiers", "leaf_purity", {}),
        ("regressors", "rtree_leaf_distributions", {}),
        ("regressors", "rtree_feature_space", {"features": ["length", "width"]}),
        ("regressors", "leaf_sizes", {}),
    ],
)
def test_dtreeviz_draws(kind, drawing, options, views, pyplot):
    """What it draws with Matplotlib alone."""
    getattr(views[kind][0], drawing)(**options)
    assert pyplot.gcf().axes


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["classifiers", "regressors"])
def test_dtreeviz_describes_the_picture_of_the_tree(kind, views, pyplot):
    """The picture itself is made by the program ``dot``; what is handed to it is the same for both trees."""
    ours, theirs = (view.view(fontname="DejaVu Sans").dot for view in views[kind])
    lines = [[line for line in dot.splitlines() if "->" in line] for dot in (ours, theirs)]
    assert lines[0] == lines[1]
    assert len(lines[0]) >= 6


# ---------------------------------------------------------------------------------- inspection


@pytest.mark.parametrize("method", ["recursion", "brute"])
@pytest.mark.parametrize("features", [[0], [1], [0, 1], [3]])
def test_partial_dependence_is_scikit_learns(regressors, rows, method, features):
    ours, theirs = (
        partial_dependence(model, rows.X, features, method=method, kind="average", grid_resolution=20)
        for model in regressors
    )
    np.testing.assert_allclose(ours["average"], theirs["average"], rtol=1e-10)


def test_partial_dependence_of_a_classifier(classifiers, rows):
    ours, theirs = (partial_dependence(model, rows.X, [1], kind="both") for model in classifiers)
    np.testing.assert_allclose(ours["average"], theirs["average"])
    np.testing.assert_allclose(ours["individual"], theirs["individual"])


def test_partial_dependence_by_recursion_weighs_rows(rows):
    weights = np.random.default_rng(0).integers(1, 5, size=300)
    averages = []
    for kind in (DecisionTreeRegressor, sklearn.tree.DecisionTreeRegressor):
        model = kind(max_depth=3, min_samples_leaf=8).fit(rows.X, rows.numbers, sample_weight=weights)
        averages.append(partial_dependence(model, rows.X, [0], method="recursion")["average"])
    np.testing.assert_allclose(*averages, rtol=1e-10)


def test_partial_dependence_of_a_category(pyplot):
    X, y = mixed_table()
    model = DecisionTreeClassifier(random_state=0, max_depth=3).fit(X, y)
    shares = partial_dependence(model, X.dropna(), ["job"], categorical_features=["job"])
    by_job = dict(zip(shares["grid_values"][0], shares["average"][0], strict=True))
    assert by_job["clerk"] < by_job["farmer"]
    PartialDependenceDisplay.from_estimator(model, X.dropna(), ["job", "age"], categorical_features=["job"])


def test_permutation_importance_is_scikit_learns(pair, rows):
    y = rows.classes if isinstance(pair[0], DecisionTreeClassifier) else rows.numbers
    ours, theirs = (permutation_importance(model, rows.X, y, n_repeats=3, random_state=0) for model in pair)
    np.testing.assert_allclose(ours.importances, theirs.importances, atol=1e-12)


# ---------------------------------------------------------------------------------- inside others


def test_calibration(rows):
    model = CalibratedClassifierCV(DecisionTreeClassifier(max_depth=4, random_state=0), cv=3)
    assert model.fit(rows.X, rows.classes).score(rows.X, rows.classes) > 0.7


@pytest.mark.parametrize("booster", [AdaBoostClassifier, BaggingClassifier])
def test_many_classifiers_are_better_than_one(booster, rows):
    learn, check = slice(0, 200), slice(200, 300)
    one = DecisionTreeClassifier(max_depth=2, random_state=0).fit(rows.X[learn], rows.classes[learn])
    many = booster(DecisionTreeClassifier(max_depth=2), n_estimators=30, random_state=0)
    many.fit(rows.X[learn], rows.classes[learn])
    assert all(type(model) is DecisionTreeClassifier for model in many.estimators_)
    assert many.score(rows.X[check], rows.classes[check]) >= one.score(rows.X[check], rows.classes[check])


@pytest.mark.parametrize("booster", [AdaBoostRegressor, BaggingRegressor])
def test_many_regressors_are_better_than_one(booster, rows):
    learn, check = slice(0, 200), slice(200, 300)
    one = DecisionTreeRegressor(max_depth=3, random_state=0).fit(rows.X[learn], rows.numbers[learn])
    many = booster(DecisionTreeRegressor(max_depth=3), n_estimators=30, random_state=0)
    many.fit(rows.X[learn], rows.numbers[learn])
    assert many.score(rows.X[check], rows.numbers[check]) >= one.score(rows.X[check], rows.numbers[check])


def test_a_search_over_what_only_ours_has():
    X, y = mixed_table()
    grid = {"prune": [None, "validation", "cost_complexity_cv"], "categorical_split": ["subset", "multiway"]}
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    assert search.predict(X).shape == (200,)


def test_scores_of_several_kinds(rows):
    scores = cross_validate(
        DecisionTreeClassifier(max_depth=3, random_state=0),
        rows.X,
        rows.classes,
        scoring=["accuracy", "neg_log_loss", "roc_auc_ovr"],
        cv=3,
        error_score="raise",
    )
    assert scores["test_accuracy"].min() > 0.5


def test_a_clone_and_a_pickle(pair, rows):
    model = pair[0]
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.apply(rows.X), model.apply(rows.X))
    assert copied.certificate_ == model.certificate_
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "tree_")
    assert not hasattr(model, "set_output")


def test_our_trees_are_trees_to_scikit_learn():
    assert isinstance(DecisionTreeClassifier(), sklearn.tree.DecisionTreeClassifier)
    assert isinstance(DecisionTreeRegressor(), sklearn.tree.DecisionTreeRegressor)
    assert not isinstance(DecisionTreeRegressor(), sklearn.tree.DecisionTreeClassifier)
    assert not isinstance(eigenwood.Perceptron(), sklearn.tree.DecisionTreeClassifier)
