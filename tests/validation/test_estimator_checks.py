"""Checks that estimators call by name: what passes, and the sentence for what does not."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from eigenwood.core.tree.types import LEAF, NO_FEATURE, NO_THRESHOLD
from eigenwood.errors import InputError
from eigenwood.validation import adaboost, bagging, drawings, draws, expansion, forests, frames, targets, trees
from tests.models.crafting import assert_one_sentence

TWO, THREE = np.array([0, 1]), np.array([0, 1, 2])
NUMBERS_ONLY = [None, None]
MONOTONIC = {"n_outputs": 1, "class_lists": [], "categories": NUMBERS_ONLY}
CODES = SimpleNamespace(n_features_in_=2)
STATE = (np.array([True, False]), np.zeros(1), np.ones(1), [["a", "b"]])

# function, arguments that pass, arguments that do not, words of the sentence
CASES = {
    "columns": (trees.check_column_count, (3, 4), (4, 4), "X must have fewer than 4 columns; got 4."),
    "rows to prune": (trees.check_rows_to_prune, ("validation", 2), ("validation", 1), "needs at least 2 rows; got 1."),
    "X_val alone": (
        trees.check_pruning,
        ("validation", 0.0, [[1]], [1], None),
        ("validation", 0.0, [[1]], None, None),
        "X_val and y_val must be given together",
    ),
    "weights alone": (
        trees.check_pruning,
        (None, 0.0, None, None, None),
        (None, 0.0, None, None, [1]),
        "sample_weight_val must be given with X_val",
    ),
    "X_val for nothing": (
        trees.check_pruning,
        (None, 1.0, None, None, None),
        (None, 0.0, [[1]], [1], None),
        "with prune='validation' only; got prune=None.",
    ),
    "two alphas": (
        trees.check_pruning,
        ("cost_complexity_cv", 0.0, None, None, None),
        ("cost_complexity_cv", 0.5, None, None, None),
        "ccp_alpha must be 0 when prune='cost_complexity_cv' chooses it; got 0.5.",
    ),
    "curve": (
        trees.check_pruning_curve,
        ("validation", np.ones((2, 3))),
        (None, np.ones((2, 3))),
        "pruning_curve_ must be empty when prune is None; got 2",
    ),
    "values of classes": (trees.check_node_values, (5, 2, [TWO, THREE]), (4, 2, [TWO, THREE]), "one value for each"),
    "values of numbers": (trees.check_node_values, (2, 2, []), (2, 10**12, []), "one value for each class or output"),
    "lists of values": (trees.check_node_values, (2, 1, [TWO]), (2, 2, [TWO]), "one value for each class or output"),
    "category lists": (
        trees.check_category_lists,
        ([None, ["a"]], np.array([False, True])),
        ([None, ["a"]], np.array([True, True])),
        "categories_ must be there for the columns of is_categorical_.",
    ),
    "values of a forest": (
        forests.check_forest_values,
        ([2, 3], 2, [TWO, THREE]),
        ([2, 2], 2, [TWO, THREE]),
        "forest_",
    ),
    "outputs of a forest": (
        forests.check_forest_values,
        ([1, 1], 2, []),
        ([1, 1], 10**12, []),
        "forest_ must have one",
    ),
    "draws": (draws.check_draw_count, (draws.MOST_DRAWS,), (draws.MOST_DRAWS + 1,), "max_samples must come to at most"),
    "without replacement": (
        draws.check_available_rows,
        (3, 3),
        (4, 3),
        "at most 3 rows when bootstrap is False; got 4.",
    ),
    "features": (
        draws.check_drawn_feature_count,
        (3, 3),
        (4, 3),
        "max_features must be at most the 3 features; got 4.",
    ),
    "bootstrap": (draws.check_bootstrap, (True, "It is"), (False, "It is"), "It is only available if bootstrap=True"),
    "max_samples": (draws.check_max_samples, (5, True), (5, False), "cannot be set if `bootstrap=False`"),
    "accuracy": (
        draws.check_accuracy_targets,
        ([TWO, TWO],),
        ([TWO, THREE],),
        "oob_score must be a function of y_true",
    ),
    "draws of fit": (draws.check_draws_of_fit, (True, "trees"), (False, "trees"), "must be those of fit for all trees"),
    "left out": (draws.check_some_left_out, (1,), (0,), "some tree must have left out a row"),
    "learners": (draws.check_learner_count, (3, 3, "trees"), (4, 3, "trees"), "must be at least the 4 trees there are"),
    "warm columns": (draws.check_warm_columns, (True,), (False,), "X must have the columns it had before"),
    "warm classes": (draws.check_warm_targets, (True,), (False,), "y must have the classes it had before"),
    "warm features": (draws.check_warm_features, (True,), (False,), "max_features, bootstrap_features and the columns"),
    "warm signs": (
        draws.check_warm_monotonic_cst,
        ([0, 1], True),
        ([0, 1], False),
        "monotonic_cst must be there, or not",
    ),
    "voting": (
        bagging.check_voting,
        ("majority", LinearSVC()),
        ("probability", LinearSVC()),
        "voting must be 'auto' or 'majority' for a learner without predict_proba; got 'probability' and LinearSVC.",
    ),
    "all rows": (bagging.check_rows_are_left_out, (True, 2, 3.0), (True, 3, 3.0), "oob_score must be False when every"),
    "classes seen": (bagging.check_all_classes_seen, (3, 3), (2, 3), "saw all 3 classes; got one that saw 2."),
    "class of a learner": (
        bagging.check_learner,
        (CODES, SimpleNamespace, 2),
        (CODES, LinearSVC, 2),
        "estimators_ must be of the class LinearSVC; got SimpleNamespace.",
    ),
    "width of a learner": (
        bagging.check_learner,
        (CODES, SimpleNamespace, 2),
        (CODES, SimpleNamespace, 3),
        "as were drawn",
    ),
    "outputs of a learner": (
        bagging.check_learner_outputs,
        (LinearRegression(), 1),
        (LinearRegression(), 2),
        "estimators_ must be regressors of 2 outputs.",
    ),
    "outputs to draw": (
        drawings.check_drawable,
        (1, [TWO], np.ones(2)),
        (2, [], np.ones(2)),
        "must have 1 output; got 2.",
    ),
    "classes to draw": (drawings.check_drawable, (1, [], np.ones(2)), (1, [TWO[:1]], np.ones(2)), "at least 2 classes"),
    "holes to draw": (drawings.check_drawable, (1, [], np.ones(2)), (1, [], np.array([np.nan])), "no missing numbers"),
    "names": (
        drawings.check_name_count,
        ("names", "ab", 2, "columns"),
        ("names", "abc", 2, "columns"),
        "each of 2 columns",
    ),
    "length": (drawings.check_row_length, ([1, 2], 2), ([1], 2), "x must be a row of 2 values; got 1."),
    "drawn": (drawings.check_drawn_category, ("a", ["a"], "job"), ("b", ["a"], "job"), "got 'b' in 'job'."),
    "axes": (drawings.check_axes, (["a"], ["a", "b"]), (["c"], ["a", "b"]), "features must be columns of numbers"),
    "terms": (
        expansion.check_term_count,
        (expansion.MOST_TERMS, 2, 9),
        (expansion.MOST_TERMS + 1, 2, 9),
        "from degree=2 and 9 features.",
    ),
    "degree": (
        expansion.check_expansion_state,
        (2, 6, 2, 6),
        (2, 6, 3, 6),
        "must be 6 for degree 2; got 6 for degree 3.",
    ),
    "width": (expansion.check_width, (6, 6), (5, 6), "X must have 6 columns; got 5."),
    "names of terms": (expansion.check_term_names, (["a"], {"a"}), (["b"], {"a"}), "got 'b'."),
    "encoder": (
        frames.check_encoder_state,
        STATE,
        (STATE[0], np.zeros(2), *STATE[2:]),
        "is_number_ must tell of 2 columns",
    ),
    "scale": (
        frames.check_encoder_state,
        STATE,
        (*STATE[:2], np.zeros(1), STATE[3]),
        "scale_ must be above 0; got 0.0.",
    ),
    "other rounds": (adaboost.check_same_rounds, (True,), (False,), "must be those of the last fit when warm_start is"),
    "no trees": (adaboost.check_explainable, (None, True), ([], False), "got list."),
    "an old file": (adaboost.check_has_shares, (True,), (False,), "contributions need left_shares_"),
    "a share of 2": (adaboost.check_shares, (np.array([0.0, 1.0]),), (np.array([2.0]),), "from 0 to 1; got 2.0."),
    "a share of NaN": (adaboost.check_shares, (np.empty(0),), (np.array([np.nan]),), "from 0 to 1; got nan."),
    "categories": (frames.check_encoder_state, STATE, (*STATE[:3], [["b", "a"]]), "categories_ must be sorted"),
    "weights": (
        targets.check_weighted_rows,
        (np.array([0.0, 2.0]),),
        (np.zeros(2),),
        "class_weight must leave some row",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_check_lets_pass_or_raises_one_sentence(name):
    check, good, bad, words = CASES[name]
    check("Who", *good)
    with pytest.raises(InputError) as caught:
        check("Who", *bad)
    assert str(caught.value).startswith("Who: ")
    assert words in str(caught.value)
    if name != "max_samples":  # scikit-learn's own words, in two sentences
        assert_one_sentence(str(caught.value))


@pytest.mark.parametrize(
    ("signs", "other", "words"),
    [
        ([1, 0], {"n_outputs": 2}, "not supported with multiple outputs; got 2."),
        ([1, 0], {"class_lists": [THREE]}, "not supported with multiclass classification; got 3 classes."),
        ([1], {}, "monotonic_cst has shape 1 but the input data X has 2 features"),
        ([1, 0], {"categories": [["a"], None]}, "monotonic_cst must be 0 for a category"),
    ],
)
def test_monotonic_constraints(signs, other, words):
    trees.check_monotonic_cst("Who", [1, 0], **MONOTONIC)
    trees.check_monotonic_cst("Who", None, **{**MONOTONIC, **other})
    with pytest.raises(InputError, match=words):
        trees.check_monotonic_cst("Who", signs, **{**MONOTONIC, **other})


def stump(**other):
    """Return a tree that asks a category, and then nothing."""
    nodes = {
        "left": np.array([1, LEAF, LEAF]),
        "feature": np.array([1, NO_FEATURE, NO_FEATURE]),
        "threshold": np.array([NO_THRESHOLD] * 3),
        "default_left": np.zeros(3, dtype=bool),
        "chained": np.zeros(3, dtype=bool),
        "category_start": np.array([0, 2, 2, 2]),
        "categories": np.array([0, 2]),
    }
    return SimpleNamespace(**{**nodes, **other})


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"categories": np.array([0, 3])}, "must list known categories"),
        ({"categories": np.array([2, 0])}, "must list known categories"),
        ({"feature": np.array([0, NO_FEATURE, NO_FEATURE])}, "must list known categories"),
        ({"chained": np.array([True, False, False])}, "must have no chains"),
        ({"feature": np.array([1, 0, NO_FEATURE])}, "where nothing of the kind is asked"),
        ({"threshold": np.array([0.5, NO_THRESHOLD, NO_THRESHOLD])}, "where nothing of the kind is asked"),
        ({"default_left": np.array([False, True, False])}, "where nothing of the kind is asked"),
    ],
)
def test_nodes_agree_with_the_columns(other, words):
    rest = (np.array([-1, 3]), trees.SUBSET, NO_FEATURE, NO_THRESHOLD)
    trees.check_nodes("Who", stump(), *rest)
    with pytest.raises(InputError, match=words):
        trees.check_nodes("Who", stump(**other), *rest)


def test_learners_predict_codes():
    learner = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    bagging.check_learner_classes("Who", learner, 2)
    with pytest.raises(InputError, match="must know only the 1 classes"):
        bagging.check_learner_classes("Who", learner, 1)
    with pytest.raises(InputError, match="classifiers whose classes_ are codes"):
        bagging.check_learner_classes("Who", DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "b"]), 2)


def test_what_a_metric_has_against_the_targets_is_one_sentence():
    assert draws.metric_result("Who", "r2", lambda: 0.5) == 0.5
    with pytest.raises(
        InputError, match="Who: oob_score must be a metric for targets like these; got r2, which says: "
    ):
        draws.metric_result("Who", "r2", lambda: float("none"))


def test_columns_may_lose_their_names_but_not_change_them():
    names = {"n_features_in_": 2, "feature_names_in_": np.array(["a", "b"], dtype=object)}
    assert draws.has_same_columns(names, {"n_features_in_": 2})
    assert not draws.has_same_columns({"n_features_in_": 3}, {"n_features_in_": 2})
    assert not draws.has_same_columns(names, {**names, "feature_names_in_": np.array(["a", "c"], dtype=object)})
