"""Trees as a user breaks them: odd data, odd weights, categories, missing values, pruning, time, threads."""

from __future__ import annotations

import copy
import pickle
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.tree
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils._testing import create_memmap_backed_data

import eigenwood
from eigenwood import DecisionTreeClassifier, DecisionTreeRegressor
from eigenwood.core.tree.types import LEAF
from eigenwood.errors import InputError
from eigenwood.estimators.tree.input_checks import check_training
from eigenwood.estimators.tree.pruning import validation_split
from tests.estimators.exam import Recorder, assert_same_bits
from tests.models.crafting import assert_one_sentence

KINDS = (DecisionTreeClassifier, DecisionTreeRegressor)
both = pytest.mark.parametrize("kind", KINDS, ids=["classes", "numbers"])
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
every_frame = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
CLASS_CRITERIA = ["gini", "entropy", "log_loss", "error"]
REGRESSION_CRITERIA = ["squared_error", "absolute_error", "poisson"]


def sentence_of(problem) -> str:
    """Return the one sentence of an error."""
    sentence = str(problem.value)
    assert sentence.startswith("DecisionTree")
    assert_one_sentence(sentence)
    return sentence


def noisy_rows(n_rows=300, n_features=4, seed=0, decimals=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    X = X if decimals is None else X.round(decimals)
    score = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n_rows)
    return X, np.digitize(score, [0.3, 1.2])


def mixed_frame(n_rows=200, seed=0):
    """Return numbers and words, some missing, and labels that follow from both."""
    rng = np.random.default_rng(seed)
    job = rng.choice(["clerk", "farmer", "pilot", None], size=n_rows)
    age = np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(40, 10, size=n_rows))
    rich = (job == "pilot") | ((job == "farmer") & (age > 40))
    return pd.DataFrame({"job": job, "age": age}), np.where(rich, "rich", "poor")


def structure(model):
    """Return the arrays that say which questions are asked."""
    names = ("left", "right", "feature", "threshold", "default_left", "chained", "category_start", "categories")
    return {name: getattr(model.nodes_, name) for name in names}


def assert_same_questions(one, other):
    for name, array in structure(one).items():
        np.testing.assert_array_equal(array, structure(other)[name], err_msg=name)


# ---------------------------------------------------------------------------------- what is fitted stays


@both
def test_the_tree_can_only_be_read(kind):
    X, y = mixed_frame()
    model = kind(random_state=0).fit(X, (y == "rich").astype(int))
    for name in ("value", "threshold", "node_count", "new"):
        with pytest.raises(AttributeError, match=f"{name} is not writable"):
            setattr(model.tree_, name, None)
    with pytest.raises(AttributeError, match="cannot be deleted"):
        del model.tree_.value
    for again in (model, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        arrays = {**again.nodes_._asdict(), "listed": again.tree_.categories(0), "value of tree_": again.tree_.value}
        for name, array in arrays.items():
            assert not array.flags.writeable, name
        assert (again.predict(X) == model.predict(X)).all()
    with pytest.raises(ValueError, match="read-only"):
        model.nodes_.value[0] = 0.0
    again = clone(model).fit(X, (y == "rich").astype(int))
    assert joblib.hash(again.nodes_) == joblib.hash(model.nodes_)


def test_a_pickle_has_the_nodes_once():
    X, y = noisy_rows(3000)
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert len(pickle.dumps(model)) < 1.2 * sum(array.nbytes for array in model.nodes_) + 10_000


@both
def test_a_loaded_tree_can_only_be_read(kind, tmp_path):
    X, y = noisy_rows()
    loaded = eigenwood.load(eigenwood.save(kind(random_state=0).fit(X, y), tmp_path / "model"))
    assert not any(array.flags.writeable for array in loaded.nodes_)


# ---------------------------------------------------------------------------------- data that is hardly there


@both
def test_no_rows_and_no_columns(kind):
    for X, y in ((np.empty((0, 2)), []), (np.empty((3, 0)), [0, 1, 1]), (pd.DataFrame({"a": []}), [])):
        with pytest.raises(InputError) as problem:
            kind().fit(X, y)
        assert "minimum of 1 is required" in sentence_of(problem)


@both
def test_one_row(kind):
    model = kind().fit([[1.0, np.nan]], [7])
    assert model.predict([[5.0, 5.0]]) == [7]
    assert (model.get_depth(), model.get_n_leaves()) == (0, 1)
    assert model.certificate_.holds
    assert model.feature_importances_.tolist() == [0.0, 0.0]


@both
def test_one_class_or_number(kind, tmp_path):
    X, _ = noisy_rows(20)
    model = kind().fit(X, np.full(20, 3))
    assert model.get_n_leaves() == 1
    assert (model.predict(X) == 3).all()
    assert eigenwood.verify(model, X, np.full(20, 3)).holds
    assert (eigenwood.load(eigenwood.save(model, tmp_path / "model")).predict(X) == 3).all()


def test_one_class_has_one_column_of_shares():
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], ["yes", "yes"])
    assert model.predict_proba([[0.0]]).tolist() == [[1.0]]
    assert model.classes_.tolist() == ["yes"]
    assert model.n_classes_ == 1


@both
@pytest.mark.parametrize("value", [0.0, -1e300, np.nan])
def test_columns_that_are_always_the_same(kind, value):
    X, y = np.full((20, 3), value), np.arange(20) % 2
    model = kind().fit(X, y)
    assert model.get_n_leaves() == 1
    assert model.certificate_.holds
    X[:, 1] = y
    assert (kind(random_state=0).fit(X, y).predict(X) == y).all()


@both
def test_zeros_of_either_sign_are_equal(kind):
    assert kind().fit([[0.0], [-0.0]] * 5, [0, 1] * 5).get_n_leaves() == 1


@both
def test_a_column_from_1e_minus_300_to_1e300(kind):
    x = np.geomspace(1e-300, 1e300, 60)
    X = np.concatenate([-x, [0.0], x])[:, None]
    y = np.arange(121) % 2
    model = kind().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    assert model.certificate_.holds
    thresholds = np.sort(model.tree_.threshold[model.tree_.feature >= 0])
    assert (np.diff(thresholds) > 0).all()
    assert np.isfinite(thresholds).all()


@both
def test_the_largest_numbers_there_are(kind):
    largest = np.finfo(np.float64).max
    X, y = np.array([[-largest], [-1.0], [0.0], [5e-324], [largest]]), np.array([0, 1, 0, 1, 0])
    assert (kind().fit(X, y).predict(X) == y).all()


@both
def test_neighbours_in_the_last_bit_are_told_apart(kind):
    x = 1.0 + np.arange(16) * np.finfo(np.float64).eps
    y = np.arange(16) % 2
    assert (kind().fit(x[:, None], y).predict(x[:, None]) == y).all()


@both
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_refused_in_fit_and_predict(kind, value):
    X, y = noisy_rows(20)
    with pytest.raises(InputError) as problem:
        kind().fit(np.where(np.arange(80).reshape(20, 4) == 9, value, X), y)
    assert sentence_of(problem).endswith("X must be finite or NaN; got inf (infinity) in row 2, column 1.")
    model = kind().fit(X, y)
    for ask in (model.predict, model.apply, model.decision_path):
        with pytest.raises(InputError) as problem:
            ask([[0.0, 0.0, value, 0.0]])
        assert "got inf (infinity) in row 0, column 2" in sentence_of(problem)
    with pytest.raises(InputError) as problem:
        kind().fit(sparse.csr_array([[0.0, value], [1.0, 0.0]]), [0, 1])
    sentence_of(problem)


@both
def test_before_fit_there_is_nothing(kind):
    model = kind()
    for ask in (model.get_depth, model.get_n_leaves, lambda: model.feature_importances_, lambda: model.predict([[0]])):
        with pytest.raises(NotFittedError):
            ask()
    assert not hasattr(model, "tree_")


# ---------------------------------------------------------------------------------- targets


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([0.0, np.nan, 1.0], "y must be finite; got NaN"),
        ([0.0, np.inf, 1.0], "y must be finite; got inf (infinity)"),
        ([0.0, 1e200, 1.0], "y must hold numbers of size at most 1e+150, to be squared; got 1e+200"),
        (["a", "b", "c"], "y must hold numbers; got could not convert string to float: 'a'"),
        ([1j, 2j, 3j], "Complex data not supported"),
        ([0.0, 1.0], "y must have one number for each of the 3 rows; got 2"),
        (np.zeros((3, 2, 2)), "y must have one column or several; got the shape (3, 2, 2)"),
        (np.zeros((3, 0)), "y must have one column or several; got the shape (3, 0)"),
        (pd.Series([1, None, 2], dtype="Int64"), "y must be finite; got NaN"),
        (pl.Series([1.0, None, 2.0]), "y must be finite; got NaN"),
        (pd.date_range("2026", periods=3), "y must hold numbers; got datetime64"),
        (None, "it requires y to be passed, but the target y is None"),
    ],
    ids=str,
)
def test_numbers_that_are_none(y, words):
    with pytest.raises(InputError) as problem:
        DecisionTreeRegressor().fit([[0.0], [1.0], [2.0]], y)
    assert words in sentence_of(problem)


@pytest.mark.parametrize(
    ("y", "words"),
    [([5, -0.1, 2], "Some value(s) of y are negative"), ([0, 0, 0], "Sum of y is not strictly positive")],
)
def test_numbers_that_no_poisson_distribution_has(y, words):
    with pytest.raises(InputError) as problem:
        DecisionTreeRegressor(criterion="poisson").fit([[0.0], [1.0], [2.0]], y)
    assert words in sentence_of(problem)
    assert "Poisson" in str(problem.value)


@both
def test_a_sparse_target_is_refused(kind):
    with pytest.raises(TypeError) as problem:
        kind().fit([[0.0], [1.0]], sparse.csr_array([[0], [1]]))
    assert sentence_of(problem).endswith("y must be dense; got a sparse matrix.")


def test_a_friend_of_the_past_is_warned():
    with pytest.warns(FutureWarning, match="'friedman_mse' is deprecated"):
        DecisionTreeRegressor(criterion="friedman_mse").fit([[0.0], [1.0]], [0, 1])


TARGETS = {
    "array": np.asarray,
    "list": lambda Y: Y.tolist(),
    "columns first": np.asfortranarray,
    **{name: lambda Y, frame=frame: frame({"a": Y[:, 0], "b": Y[:, 1]}) for name, frame in FRAMES.items()},
}


@both
@pytest.mark.parametrize("seen_as", TARGETS.values(), ids=TARGETS)
def test_several_outputs_in_any_clothes(kind, seen_as, tmp_path):
    X, y = noisy_rows(100)
    Y = np.column_stack([y, y > 0]).astype(int)
    model = kind(random_state=0).fit(X, seen_as(Y))
    assert model.n_outputs_ == 2
    np.testing.assert_array_equal(model.predict(X), Y)
    assert_same_questions(model, kind(random_state=0).fit(X, Y))
    assert eigenwood.verify(model, X, seen_as(Y)).holds
    loaded = eigenwood.load(eigenwood.save(model, tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict(X), Y)


def test_words_beside_numbers_come_back_as_they_were():
    X, y = noisy_rows(60)
    Y = pd.DataFrame({"word": np.where(y > 0, "yes", "no"), "number": y})
    model = DecisionTreeClassifier(random_state=0).fit(X, Y)
    assert model.predict(X).tolist() == Y.to_numpy().tolist()
    assert [len(labels) for labels in model.classes_] == [2, 3]
    assert [shares.shape for shares in model.predict_proba(X)] == [(60, 2), (60, 3)]
    assert model.n_classes_.tolist() == [2, 3]


def test_a_column_of_labels_is_a_vector():
    X, y = noisy_rows(40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for column in (y[:, None], pd.DataFrame({"y": y}), y.tolist()):
            model = DecisionTreeClassifier(random_state=0).fit(X, column)
            assert model.predict(X).shape == (40,)
            assert model.n_outputs_ == 1


def test_labels_of_another_number_of_outputs_do_not_verify():
    X, y = noisy_rows(40)
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    with pytest.raises(InputError) as problem:
        eigenwood.verify(model, X, np.column_stack([y, y]))
    assert sentence_of(problem).endswith("y must have 1 columns; got 2.")
    with pytest.raises(InputError) as problem:
        eigenwood.verify(model, X, y + 1)
    assert "y must hold only the classes [0, 1, 2]; got" in sentence_of(problem)


# ---------------------------------------------------------------------------------- weights


def weighted_pair(kind, X, y, weights, **params):
    """Return the tree of weighted rows, and that of the same rows repeated and shuffled."""
    copies = np.random.default_rng(0).permutation(np.repeat(np.arange(len(y)), weights))
    weighted = kind(random_state=0, **params).fit(X, y, sample_weight=weights)
    return weighted, kind(random_state=0, **params).fit(X[copies], y[copies])


SETTINGS = [
    {},
    {"max_features": 2},
    {"splitter": "random"},
    {"splitter": "random", "max_features": 1},
    {"max_leaf_nodes": 20},
    {"ccp_alpha": 0.005},
    {"max_depth": 4, "min_impurity_decrease": 1e-4},
    {"min_weight_fraction_leaf": 0.05},
    {"categorical_features": [2, 3]},
    {"categorical_features": [2, 3], "categorical_split": "multiway"},
]


@pytest.mark.parametrize("params", SETTINGS, ids=str)
@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
def test_a_weight_is_a_repeated_row_for_classes(criterion, params):
    X, y = noisy_rows(150, decimals=0)
    weights = np.random.default_rng(1).integers(0, 4, size=150)
    weighted, repeated = weighted_pair(DecisionTreeClassifier, X, y, weights, criterion=criterion, **params)
    assert_same_questions(weighted, repeated)
    np.testing.assert_allclose(weighted.nodes_.value, repeated.nodes_.value, rtol=1e-13)
    np.testing.assert_array_equal(weighted.nodes_.weight, repeated.nodes_.n_rows)


@pytest.mark.parametrize("params", SETTINGS, ids=str)
@pytest.mark.parametrize("criterion", REGRESSION_CRITERIA)
def test_a_weight_is_a_repeated_row_for_numbers(criterion, params):
    X, y = noisy_rows(150, decimals=0)
    numbers = y + np.random.default_rng(2).random(150)
    weights = np.random.default_rng(1).integers(0, 4, size=150)
    weighted, repeated = weighted_pair(DecisionTreeRegressor, X, numbers, weights, criterion=criterion, **params)
    assert_same_questions(weighted, repeated)
    np.testing.assert_allclose(weighted.nodes_.value, repeated.nodes_.value, rtol=1e-12)


@both
def test_a_weight_is_a_repeated_row_where_tables_grow_large(kind):
    """So many that the repeated rows, but not the weighted ones, are cut into tables of their own."""
    X, y = noisy_rows(1500, decimals=1)
    weighted, repeated = weighted_pair(kind, X, y, np.full(1500, 3), max_features=2)
    assert_same_questions(weighted, repeated)


@both
@pytest.mark.parametrize("prune", [None, "validation", "cost_complexity_cv"])
def test_a_row_of_weight_0_was_never_given(kind, prune):
    X, y = mixed_frame()
    y = (y == "rich").astype(int)
    weights = np.random.default_rng(0).integers(0, 2, size=200)
    there = weights > 0
    X.loc[~there, "job"] = "never heard of"
    X.loc[~there, "age"] = 1e6
    weighted = kind(random_state=0, prune=prune).fit(X, y, sample_weight=weights)
    without = kind(random_state=0, prune=prune).fit(X[there], y[there])
    assert weighted.categories_ == without.categories_
    assert_same_bits("nodes_", weighted.nodes_, without.nodes_)
    # where rows have no weight, nobody can say from which of them a pruned tree has grown
    assert eigenwood.verify(weighted, X, y, sample_weight=weights).holds is (None if prune else True)


def test_a_class_of_weight_0_is_not_learnt():
    X, y = noisy_rows(60)
    model = DecisionTreeClassifier(random_state=0, class_weight={0: 0, 1: 1, 2: 1}).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert set(model.predict(X)) == {1, 2}
    assert model.nodes_.n_rows[0] == (y > 0).sum()
    with pytest.raises(InputError) as problem:
        DecisionTreeClassifier(class_weight={0: 0, 1: 0, 2: 0}).fit(X, y)
    assert sentence_of(problem).endswith("class_weight must leave some row a weight above 0; got none.")


@both
@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0, -1.0, 1.0], "Negative values in data passed to `sample_weight`, which must be at least 0; got -1.0"),
        ([0, 0, 0], "sample_weight must hold at least one weight above zero; got only zeros"),
        ([1.0, np.nan, 1.0], "sample_weight must be finite and at least 0; got nan"),
        ([1e200, 1.0, 1.0], "the largest sample_weight times class_weight must be from 1e-60 to 1e+90; got 1e+200"),
        ([1e-200] * 3, "the largest sample_weight times class_weight must be from 1e-60 to 1e+90; got 1e-200"),
        ([1.0, 1.0], "sample_weight must have shape (3,); got (2,)"),
    ],
    ids=str,
)
def test_weights_that_are_none(kind, weights, words):
    with pytest.raises(InputError) as problem:
        kind().fit([[0.0], [1.0], [2.0]], [0, 1, 0], sample_weight=weights)
    assert words in sentence_of(problem)


@pytest.mark.parametrize("criterion", CLASS_CRITERIA + REGRESSION_CRITERIA)
def test_weights_that_are_nothing_beside_others(criterion):
    kind = DecisionTreeClassifier if criterion in CLASS_CRITERIA else DecisionTreeRegressor
    X, y = noisy_rows(100)
    weights = 10.0 ** np.random.default_rng(0).uniform(-120, 60, size=100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = kind(random_state=0, criterion=criterion).fit(X, y, sample_weight=weights)
    assert model.certificate_.holds
    heaviest = weights.argmax()
    assert model.predict(X[[heaviest]])[0] == pytest.approx(y[heaviest])


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1, 1: 2.5, 2: 0.5}, {1: 3}], ids=str)
def test_class_weights_are_scikit_learns(class_weight):
    X, y = noisy_rows()
    params = {"max_depth": 3, "min_samples_leaf": 8, "class_weight": class_weight, "random_state": 0}
    weights = None if class_weight == "balanced" else np.random.default_rng(0).random(300) + 0.5
    ours = DecisionTreeClassifier(**params).fit(X, y, sample_weight=weights)
    theirs = sklearn.tree.DecisionTreeClassifier(**params).fit(X.astype(np.float32), y, sample_weight=weights)
    np.testing.assert_allclose(ours.tree_.value, theirs.tree_.value, atol=1e-12)
    np.testing.assert_allclose(ours.tree_.weighted_n_node_samples, theirs.tree_.weighted_n_node_samples)


def test_balanced_classes_are_balanced_by_weight():
    """Scikit-learn counts rows here, so that a weight would not be a repeated row."""
    X, y = noisy_rows(150)
    weights = np.random.default_rng(1).integers(0, 4, size=150)
    weighted, repeated = weighted_pair(DecisionTreeClassifier, X, y, weights, class_weight="balanced")
    assert_same_questions(weighted, repeated)
    np.testing.assert_allclose(weighted.nodes_.value[0], 1 / 3)


@pytest.mark.parametrize(
    ("class_weight", "words"),
    [
        ([{0: 1}, {0: 1}], "number of elements in class_weight should match number of outputs, 1; got 2"),
        ([], "number of elements in class_weight should match number of outputs, 1; got 0"),
        ({9: 1.0}, "are not in class_weight"),
        ({0: -1}, "each weight a number at least 0"),
        ("fair", "None, 'balanced' or a dict"),
    ],
    ids=str,
)
def test_class_weights_that_are_none(class_weight, words):
    with pytest.raises(InputError) as problem:
        DecisionTreeClassifier(class_weight=class_weight).fit([[0.0], [1.0]], [0, 1])
    assert words in sentence_of(problem)


# ---------------------------------------------------------------------------------- layouts


LAYOUTS = {
    "columns first": np.asfortranarray,
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "read-only": lambda X: [X.setflags(write=False), X][1],
    "memory map": create_memmap_backed_data,
    "lists": lambda X: X.tolist(),
    "objects": lambda X: X.astype(object),
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "csr matrix": sparse.csr_matrix,
    "lil": sparse.lil_array,
    "pandas": lambda X: pd.DataFrame(X, columns=list("abcd")),
    "polars": lambda X: pl.DataFrame(X, schema=list("abcd")),
    "pyarrow": lambda X: pa.table(dict(zip("abcd", X.T, strict=True))),
}


@both
@pytest.mark.parametrize("seen_as", LAYOUTS.values(), ids=LAYOUTS)
def test_the_same_tree_from_any_layout(kind, seen_as):
    X, y = noisy_rows(200, decimals=0)
    plain = kind(random_state=0).fit(X, y)
    other = kind(random_state=0).fit(seen_as(X.copy()), y)
    assert_same_bits("nodes_", other.nodes_, plain.nodes_)
    np.testing.assert_array_equal(other.predict(seen_as(X.copy())), plain.predict(X))
    np.testing.assert_array_equal(other.apply(seen_as(X.copy())), plain.apply(X))


@both
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, np.uint16, bool, np.float16])
def test_numbers_of_any_type(kind, dtype):
    X, y = noisy_rows(200, decimals=0)
    X = np.abs(X).astype(dtype)
    plain = kind(random_state=0).fit(X.astype(np.float64), y)
    given = kind(random_state=0).fit(X, y)
    assert_same_questions(given, plain)
    np.testing.assert_array_equal(given.predict(X), plain.predict(X.astype(np.float64)))


@pytest.mark.parametrize("layout", [sparse.csr_array, sparse.csc_array, sparse.coo_array])
@both
def test_sparse_rows_with_stored_zeros_and_missing_values(kind, layout):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((200, 5)) < 0.7, 0.0, rng.normal(size=(200, 5)).round(1))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) + np.isnan(X[:, 1]) + 0.3 * rng.normal(size=200) > 0.2).astype(int)
    rows, columns = np.indices(X.shape).reshape(2, -1)
    stored = layout((X.ravel(), (rows, columns)), shape=X.shape)  # every zero is stored
    dense = kind(random_state=0).fit(X, y)
    for given in (stored, layout(X)):
        model = kind(random_state=0).fit(given, y)
        assert_same_bits("nodes_", model.nodes_, dense.nodes_)
        np.testing.assert_array_equal(model.apply(given), dense.apply(X))
        assert eigenwood.verify(model, given, y).holds


def test_an_entry_that_is_stored_twice_means_the_sum():
    X = sparse.coo_array(([1.0, 1.0, 3.0], ([0, 0, 1], [0, 0, 0])), shape=(3, 1))
    model = DecisionTreeRegressor().fit(X, [2.0, 3.0, 0.0])
    assert model.predict([[2.0], [3.0], [0.0]]).tolist() == [2.0, 3.0, 0.0]


@both
@pytest.mark.parametrize("max_features", [None, 1, "sqrt", 0.4])
@pytest.mark.parametrize("splitter", ["best", "random"])
def test_sparse_and_dense_draw_the_same_features(kind, max_features, splitter):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 8)) < 0.6, 0.0, rng.integers(-3, 4, size=(300, 8)))
    X[:, 7] = rng.integers(1, 5, size=300)  # a column without zeros
    y = (X[:, 0] + X[:, 7] + rng.normal(size=300) > 2).astype(int)
    model = kind(random_state=3, max_features=max_features, splitter=splitter)
    assert_same_bits("nodes_", clone(model).fit(X, y).nodes_, clone(model).fit(sparse.csc_array(X), y).nodes_)


def test_categories_need_dense_rows():
    with pytest.raises(InputError) as problem:
        DecisionTreeClassifier(categorical_features=[0]).fit(sparse.csr_array([[0.0], [1.0]]), [0, 1])
    assert sentence_of(problem).endswith("X must be dense to have categories; got a sparse matrix.")


# ---------------------------------------------------------------------------------- missing values


@both
def test_missing_where_none_was_in_fit_follows_the_heavier_child(kind):
    X = np.array([0.0, 1, 2, 3, 8, 9, 10, 11, 12])[:, None]
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1])
    assert kind(max_depth=1).fit(X, y).predict([[np.nan]])[0] == 1
    weights = np.where(y == 0, 10.0, 1.0)
    assert kind(max_depth=1).fit(X, y, sample_weight=weights).predict([[np.nan]])[0] == 0


@both
@pytest.mark.parametrize("side", [0, 1])
def test_missing_goes_where_it_helps(kind, side):
    X = np.array([0.0, 1, 2, 3, np.nan, np.nan, np.nan])[:, None]
    y = np.array([0, 0, 1, 1, side, side, side])
    model = kind(max_depth=1).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    assert model.tree_.missing_go_to_left[0] == (side == 0)


@both
def test_whether_a_number_is_missing_can_be_the_question(kind):
    X, y = np.array([[1.0], [1.0], [np.nan], [np.nan]]), [0, 0, 1, 1]
    model = kind().fit(X, y)
    assert model.predict([[1.0], [1e300], [-1e300], [np.nan]]).tolist() == [0, 0, 0, 1]
    assert model.certificate_.holds


@both
def test_rows_of_nothing_but_missing_values(kind):
    X, y = noisy_rows(100)
    X[::2] = np.nan
    model = kind(random_state=0).fit(X, y)
    assert model.certificate_.holds
    assert eigenwood.verify(model, X, y).holds
    assert len(set(model.apply(np.full((3, 4), np.nan)))) == 1


@pytest.mark.parametrize("criterion", CLASS_CRITERIA + REGRESSION_CRITERIA)
@pytest.mark.parametrize("splitter", ["best", "random"])
def test_missing_values_under_every_criterion(criterion, splitter):
    kind = DecisionTreeClassifier if criterion in CLASS_CRITERIA else DecisionTreeRegressor
    X, y = noisy_rows(200)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    model = kind(random_state=0, criterion=criterion, splitter=splitter).fit(X, y)
    assert model.certificate_.holds
    assert eigenwood.verify(model, X, y).holds
    np.testing.assert_array_equal(model.tree_.apply(X), model.apply(X))
    paths = model.decision_path(X)
    np.testing.assert_array_equal(np.asarray(paths.sum(axis=0)).ravel(), model.tree_.n_node_samples)


@pytest.mark.parametrize("columns", [{}, {"categorical_features": [0]}], ids=["numbers", "categories"])
@pytest.mark.parametrize("criterion", ["error", "absolute_error"])
def test_where_no_question_gains_rows_are_not_taken_off_one_by_one(criterion, columns):
    """Most cuts change neither the majority nor the median; the first of them would take one row off."""
    rng = np.random.default_rng(0)
    X = rng.permuted(np.tile(np.arange(1000.0), (3, 1)), axis=1).T
    y = (X[:, 1] + rng.normal(scale=1000, size=1000) > 500).astype(int)
    kind = DecisionTreeClassifier if criterion in CLASS_CRITERIA else DecisionTreeRegressor
    model = kind(criterion=criterion, random_state=0, **columns).fit(X, y)
    assert (model.predict(X) == y).all()
    assert model.get_depth() < 60
    assert model.get_n_leaves() < 400
    assert model.certificate_.holds


def test_the_absolute_error_of_weighted_rows():
    """Worked out by hand in scikit-learn's ``test_mae``."""
    model = DecisionTreeRegressor(criterion="absolute_error", max_leaf_nodes=2)
    model.fit([[3], [5], [3], [8], [5]], [6, 7, 3, 4, 3], sample_weight=[0.6, 0.3, 0.1, 1.0, 0.3])
    np.testing.assert_allclose(model.tree_.impurity, [2.5 / 2.3, 0.3 / 0.7, 1.2 / 1.6])
    assert model.tree_.value.ravel().tolist() == [4.0, 6.0, 4.0]
    model.fit([[1], [2], [3], [4], [5]], [1, 1, 3, 1, 2], sample_weight=[3, 3, 2, 1, 2])
    np.testing.assert_allclose(model.tree_.impurity, [6 / 11, 0.0, 3 / 5])
    assert model.tree_.value.ravel().tolist() == [1.0, 1.0, 2.0]


# ---------------------------------------------------------------------------------- categories


def all_subsets(values):
    for size in range(1, len(values) // 2 + 1):
        yield from combinations(values, size)


def impurity_of(y, criterion):
    if criterion in ("squared_error", "poisson"):
        mean = y.mean()
        deviations = (y - mean) ** 2 if criterion == "squared_error" else y * np.log(np.where(y > 0, y, 1) / mean)
        return deviations.mean()
    shares = np.bincount(y.astype(int)) / y.size
    shares = shares[shares > 0]
    return {
        "gini": 1 - (shares**2).sum(),
        "entropy": -(shares * np.log2(shares)).sum(),
        "error": 1 - shares.max(),
    }[criterion]


def split_cost(left, right, criterion):
    return left.size * impurity_of(left, criterion) + right.size * impurity_of(right, criterion)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error", "squared_error", "poisson"])
@pytest.mark.parametrize("seed", range(5))
def test_no_subset_of_categories_is_better(criterion, seed):
    """For two classes and for numbers the best of all subsets is found."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 7, size=80)
    numbers = rng.gamma(1.0 + codes % 4, size=80)
    y = numbers if criterion in REGRESSION_CRITERIA else (numbers > 1.5).astype(int)
    kind = DecisionTreeRegressor if criterion in REGRESSION_CRITERIA else DecisionTreeClassifier
    model = kind(criterion=criterion, max_depth=1, categorical_features=[0]).fit(codes[:, None], y)
    left = model.apply(codes[:, None]) == model.tree_.children_left[0]
    found = split_cost(y[left], y[~left], criterion)
    best = min(
        split_cost(y[np.isin(codes, chosen)], y[~np.isin(codes, chosen)], criterion)
        for chosen in all_subsets(np.unique(codes).tolist())
    )
    assert found == pytest.approx(best)


@pytest.mark.parametrize("seed", range(5))
def test_for_three_classes_hardly_any_subset_is_better(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 7, size=150)
    y = (codes % 3 + (rng.random(150) < 0.4) * rng.integers(0, 3, size=150)) % 3
    model = DecisionTreeClassifier(max_depth=1, categorical_features=[0]).fit(codes[:, None], y)
    left = model.apply(codes[:, None]) == model.tree_.children_left[0]
    costs = [
        split_cost(y[np.isin(codes, chosen)], y[~np.isin(codes, chosen)], "gini")
        for chosen in all_subsets(np.unique(codes).tolist())
    ]
    full = y.size * impurity_of(y, "gini")
    gain, best = full - split_cost(y[left], y[~left], "gini"), full - min(costs)
    assert gain >= 0.9 * best


@every_frame
def test_a_category_never_seen_follows_the_heavier_branch(frame):
    colours = ["red"] * 5 + ["blue"] * 3 + ["green"] * 4
    y = [1] * 5 + [0] * 3 + [1] * 4
    model = DecisionTreeClassifier(max_depth=1).fit(frame({"colour": colours}), y)
    assert model.predict(frame({"colour": ["blue", "red", "mauve", None]})).tolist() == [0, 1, 1, 1]
    weights = np.where(np.array(y) == 0, 10.0, 1.0)
    heavy = DecisionTreeClassifier(max_depth=1).fit(frame({"colour": colours}), y, sample_weight=weights)
    assert heavy.predict(frame({"colour": ["blue", "red", "mauve", None]})).tolist() == [0, 1, 0, 0]


@every_frame
def test_a_missing_category_is_a_category(frame):
    colours = ["red", None, "blue", None] * 5
    y = [0, 1, 0, 1] * 5
    model = DecisionTreeClassifier().fit(frame({"colour": colours}), y)
    assert model.categories_ == [["blue", "red", None]]
    assert model.predict(frame({"colour": [None, "red", "blue"]})).tolist() == [1, 0, 0]
    assert model.certificate_.holds


def test_one_branch_for_each_value():
    X = pd.DataFrame({"outlook": ["sunny", "overcast", "rain"] * 6, "n": np.arange(18) % 2})
    y = ["no", "yes", "maybe"] * 6
    model = DecisionTreeClassifier(categorical_split="multiway").fit(X, y)
    assert (model.get_depth(), model.get_n_leaves()) == (1, 3)
    assert model.tree_.node_count == 5
    assert model.nodes_.chained.tolist() == [True, False, False, False, False]
    assert model.predict(X).tolist() == y
    assert model.predict(pd.DataFrame({"outlook": ["fog"], "n": [0]}))[0] in y
    two = DecisionTreeClassifier().fit(X, y)
    assert (two.get_depth(), two.get_n_leaves()) == (2, 3)


def repeated_categories(n_categories, n_times, seed=0):
    """Return a column of categories, each with as many rows, and one of numbers; the labels follow from both."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(n_categories), n_times)).astype(float)
    X = np.column_stack([codes, rng.normal(size=codes.size)])
    return X, ((codes % 3 == 0) ^ (X[:, 1] > 0.5)).astype(int)


@both
def test_a_branch_for_each_of_very_many_values(kind):
    X, y = repeated_categories(30_000, 2)
    model = kind(categorical_split="multiway", categorical_features=[0], max_depth=3, random_state=0)
    start = time.perf_counter()
    model.fit(X, y)
    assert (model.predict(X) == y).all()
    assert model.predict([[1e6, 0.0]])[0] in y  # a category that was never seen
    assert time.perf_counter() - start < 30.0  # one question after the other would take an hour
    assert model.certificate_.holds
    assert model.get_depth() <= 3
    assert (model.nodes_.feature == 0).sum() >= 29_999


def test_a_time_limit_is_kept_with_very_many_values():
    X, y = repeated_categories(20_000, 20)
    y = np.random.default_rng(0).integers(2, size=y.size)
    model = DecisionTreeClassifier(categorical_split="multiway", categorical_features=[0], time_limit=1.0)
    model.fit(X[:100], y[:100])  # compiles
    seconds = []
    while len(seconds) < 3 and not (seconds and seconds[-1] <= 1.4):  # another worker may have had the machine
        start = time.perf_counter()
        model.fit(X, y)
        seconds.append(time.perf_counter() - start)
    assert seconds[-1] <= 1.4
    assert model.score(X, y) > 0.58  # the question of 20,000 branches is there; how many more depends on the machine
    assert model.certificate_.holds is not False
    assert all(claim.holds for claim in model.certificate_ if claim.name != "leaves")


@pytest.mark.parametrize("params", [{"prune": "validation"}, {"prune": "cost_complexity_cv"}, {"ccp_alpha": 0.02}])
def test_the_branches_of_one_question_fall_together(params):
    X, y = mixed_frame(400)
    y = np.where(np.random.default_rng(0).random(400) < 0.2, "rich", y)
    model = DecisionTreeClassifier(categorical_split="multiway", random_state=0, **params).fit(X, y)
    chained = np.flatnonzero(model.nodes_.chained)
    assert (model.nodes_.left[model.nodes_.right[chained]] != LEAF).all()
    assert (model.nodes_.feature[model.nodes_.right[chained]] == model.nodes_.feature[chained]).all()
    assert model.certificate_.holds


def test_numbers_as_categories():
    """The order of the numbers does not matter, nor does their size."""
    codes = np.array([3.0, -1e300, 0.5, 7.0] * 10)
    y = np.array([0, 1, 0, 1] * 10)
    plain = DecisionTreeClassifier(max_depth=1).fit(codes[:, None], y)
    model = DecisionTreeClassifier(max_depth=1, categorical_features=[0]).fit(codes[:, None], y)
    assert plain.score(codes[:, None], y) < 1.0
    assert model.score(codes[:, None], y) == 1.0
    assert model.categories_ == [[-1e300, 0.5, 3.0, 7.0]]
    assert model.is_categorical_.tolist() == [True]


MANY = 70_000


def many_categories(as_words):
    codes = np.random.default_rng(0).permutation(np.repeat(np.arange(MANY), 2))
    y = (codes % 7 < 3).astype(int)
    return [f"place {code}" for code in codes] if as_words else codes.astype(float), y


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=["classes", "numbers"])
@pytest.mark.parametrize("frame", [*FRAMES, "numbers"])
def test_a_category_with_70_000_values(kind, frame, tmp_path):
    values, y = many_categories(as_words=frame != "numbers")
    if frame == "numbers":
        X, params = np.column_stack([values, np.zeros(len(values))]), {"categorical_features": [0]}
    else:
        X, params = FRAMES[frame]({"place": values, "n": np.zeros(len(values))}), {}
    model = kind(max_depth=2, **params).fit(X, y)
    assert len(model.categories_[0]) == MANY
    np.testing.assert_array_equal(model.predict(X), y)
    assert model.certificate_.holds
    assert model.certificate_["quantile bins"].value == 0
    loaded = eigenwood.load(eigenwood.save(model, tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict(X), y)


# ---------------------------------------------------------------------------------- columns change


@every_frame
def test_columns_must_be_those_of_fit(frame):
    X = {"a": [0.0, 1.0, 2.0, 3.0], "b": ["x", "y", "x", "y"]}
    model = DecisionTreeClassifier().fit(frame(X), [0, 1, 0, 1])
    wrong = {
        "; got another order.": {"b": X["b"], "a": X["a"]},
        "; some are missing: b.": {"a": X["a"]},
        "; got new ones: c.": {**X, "c": X["a"]},
        "column 'b' must hold categories that are text, as in fit; got numbers.": {"a": X["a"], "b": X["a"]},
        "column 'a' must hold numbers; got String": {"a": X["b"], "b": X["b"]},
    }
    for words, columns in wrong.items():
        with pytest.raises(InputError) as problem:
            model.predict(frame(columns))
        assert words in sentence_of(problem)


@every_frame
def test_a_column_of_nothing_is_a_column_of_missing_values(frame):
    X = {"a": [0.0, 1.0, 2.0, 3.0], "b": ["x", "y", "x", None]}
    model = DecisionTreeClassifier().fit(frame(X), [0, 1, 0, 1])
    assert model.predict(frame({"a": [None], "b": [None]})).shape == (1,)
    assert model.predict(frame({"a": [1.0], "b": [None]}))[0] == 1


def test_numbers_for_a_model_that_learnt_words():
    model = DecisionTreeClassifier().fit(pd.DataFrame({"b": ["x", "y"]}), [0, 1])
    with pytest.warns(UserWarning, match="feature names"), pytest.raises(InputError) as problem:
        model.predict([[1.0]])
    assert sentence_of(problem).endswith("column 0 must hold categories that are text, as in fit; got numbers.")


def test_words_outside_a_frame():
    with pytest.raises(InputError) as problem:
        DecisionTreeClassifier().fit([["sunny", "hot"], ["rain", "cold"]], [0, 1])
    assert sentence_of(problem).endswith("X must hold numbers, or be a frame to have columns of text; got 'sunny'.")


# ---------------------------------------------------------------------------------- the same bits


BITS = [
    {},
    {"max_features": 3},
    {"splitter": "random"},
    {"max_leaf_nodes": 50},
    {"categorical_features": [5]},
    {"categorical_features": [5], "categorical_split": "multiway"},
    {"prune": "validation"},
    {"prune": "cost_complexity_cv", "max_depth": 6},
    {"min_samples_leaf": 3, "max_features": "sqrt", "splitter": "random"},
]


@pytest.fixture(scope="module")
def wide():
    X, y = noisy_rows(6000, 6)
    X[:, 5] = np.random.default_rng(1).integers(0, 30, size=6000)
    X[::7, 2] = np.nan
    return X, y


@both
@pytest.mark.parametrize("params", BITS, ids=str)
def test_the_same_bits_for_any_number_of_threads(kind, params, wide):
    X, y = wide
    one, two = (kind(random_state=1, n_jobs=n_jobs, **params).fit(X, y) for n_jobs in (1, 2))
    assert_same_bits("nodes_", one.nodes_, two.nodes_)
    assert_same_bits("pruning_curve_", one.pruning_curve_, two.pruning_curve_)
    assert one.certificate_ == two.certificate_
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


@both
@pytest.mark.parametrize("params", [{"max_features": 2}, {"splitter": "random"}, {"prune": "validation"}], ids=str)
def test_a_seed_decides_what_is_drawn(kind, params):
    X, y = noisy_rows(400)
    trees = [kind(random_state=seed, **params).fit(X, y) for seed in (5, 5, 6)]
    assert_same_bits("nodes_", trees[0].nodes_, trees[1].nodes_)
    assert not np.array_equal(trees[0].nodes_.threshold, trees[2].nodes_.threshold)
    state = np.random.RandomState(0)
    drawn = [kind(random_state=state, **params).fit(X, y).nodes_.threshold for _ in range(2)]
    assert not np.array_equal(*drawn)


@both
def test_a_second_fit_forgets_the_first(kind):
    X, y = noisy_rows(100)
    frame, words = mixed_frame(50)
    model = kind(random_state=0).fit(frame, (words == "rich").astype(int))
    model.fit(X, y)
    assert not hasattr(model, "feature_names_in_")
    assert model.categories_ == [None] * 4
    assert_same_bits("nodes_", model.nodes_, kind(random_state=0).fit(X, y).nodes_)


@both
def test_many_threads_may_ask_at_once(kind):
    X, y = noisy_rows(20_000)
    model = kind(random_state=0, n_jobs=2).fit(X, y)
    alone = model.apply(X)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: model.apply(X), range(16)):
            np.testing.assert_array_equal(found, alone)


@both
def test_the_tree_is_there_to_be_read(kind):
    X, y = noisy_rows(50)
    model = kind().fit(X, y)
    with pytest.raises(ValueError, match="read-only"):
        model.tree_.threshold[0] = 1.0
    with pytest.raises(AttributeError):
        model.feature_importances_ = np.ones(4)
    with pytest.raises(AttributeError):
        model.nodes_.threshold = np.ones(3)
    copied = pickle.loads(pickle.dumps(model))
    assert_same_bits("nodes_", copied.nodes_, model.nodes_)
    with pytest.raises(ValueError, match="read-only"):
        copied.tree_.threshold[0] = 1.0


# ---------------------------------------------------------------------------------- limits of growth


@both
@pytest.mark.parametrize(
    ("params", "holds"),
    [
        ({"max_depth": 3}, lambda model: model.get_depth() <= 3),
        ({"max_leaf_nodes": 7}, lambda model: model.get_n_leaves() <= 7),
        ({"min_samples_leaf": 9}, lambda model: model.tree_.n_node_samples.min() >= 9),
        ({"min_samples_leaf": 0.1}, lambda model: model.tree_.n_node_samples.min() >= 30),
        (
            {"min_samples_split": 40},
            lambda model: model.tree_.n_node_samples[model.tree_.children_left != LEAF].min() >= 40,
        ),
        ({"min_weight_fraction_leaf": 0.1}, lambda model: model.tree_.weighted_n_node_samples.min() >= 30),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
@pytest.mark.parametrize("more", [{}, {"splitter": "random"}, {"max_leaf_nodes": 1000}])
def test_limits_are_kept(kind, params, holds, more):
    X, y = noisy_rows()
    model = kind(random_state=0, **{**more, **params}).fit(X, y)
    assert holds(model)
    assert model.get_n_leaves() > 1


FAR_OUT = [
    {"max_depth": 10**30},
    {"max_features": 10**30},
    {"max_features": 1e-300},
    {"min_samples_leaf": 10**400},
    {"min_samples_leaf": 1e-300},
    {"min_samples_split": 10**400},
    {"max_leaf_nodes": 2**31},
    {"min_impurity_decrease": 1e300},
    {"ccp_alpha": 1e300},
    {"prune": "validation", "validation_fraction": 1e-9},
    {"prune": "validation", "validation_fraction": 0.999999},
    {"prune": "validation", "ccp_alpha": 0.01},
    {"prune": "cost_complexity_cv", "n_folds": 10**6},
    {"monotonic_cst": (1, 0, -1, 0)},
    {"monotonic_cst": np.array([1.0, 0.0, -1.0, 0.0])},
    {"n_jobs": -(10**6)},
    {"time_limit": 1e300},
]


@both
@pytest.mark.parametrize("params", FAR_OUT, ids=str)
def test_parameters_far_out(kind, params, tmp_path):
    X, y = noisy_rows(40)
    y = (y > 0).astype(int)
    model = kind(random_state=0, **params).fit(X, y)
    assert model.certificate_.holds
    loaded = eigenwood.load(eigenwood.save(model, tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"monotonic_cst": [1, 0]}, "monotonic_cst has shape 2 but the input data X has 4 features"),
        ({"monotonic_cst": [1, 0, 0, 0]}, "Monotonicity constraints are not supported with multiclass"),
        ({"monotonic_cst": "abcd"}, "monotonic_cst must be None or an array-like of -1, 0 or 1"),
        ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0; got 0"),
    ],
    ids=str,
)
def test_parameters_that_go_with_no_data(params, words):
    X, y = noisy_rows(40)
    n_classes = 3 if "multiclass" in words else 2
    with pytest.raises(InputError) as problem:
        DecisionTreeClassifier(**params).fit(X, np.minimum(y, n_classes - 1))
    assert words in sentence_of(problem)


def test_a_category_has_no_order_to_keep():
    X, y = mixed_frame(50)
    with pytest.raises(InputError) as problem:
        DecisionTreeClassifier(monotonic_cst=[1, 0]).fit(X, y)
    assert sentence_of(problem).endswith("monotonic_cst must be 0 for a category; got another sign.")
    assert DecisionTreeClassifier(monotonic_cst=[0, 1]).fit(X, y).certificate_.holds


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error", "squared_error", "absolute_error"])
def test_a_node_that_is_sure_enough_is_not_split(criterion):
    kind = DecisionTreeClassifier if criterion in CLASS_CRITERIA else DecisionTreeRegressor
    X, y = noisy_rows()
    model = kind(random_state=0, criterion=criterion, leaf_uncertainty=0.4).fit(X, y)
    inner = model.tree_.children_left != LEAF
    assert model.tree_.impurity[inner].min() > 0.4
    assert 1 < model.get_n_leaves() < kind(random_state=0, criterion=criterion).fit(X, y).get_n_leaves()
    assert kind(leaf_uncertainty=100.0).fit(X, y).get_n_leaves() == 1


@both
def test_a_column_with_more_values_than_codes_is_binned_and_it_is_said(kind):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random(70_000), rng.integers(0, 5, size=70_000)])
    y = (X[:, 0] > 0.25).astype(int)
    model = kind(max_depth=2).fit(X, y)
    assert model.certificate_["quantile bins"].value == 1
    assert "quantile bins" in model.certificate_["quantile bins"].statement
    assert model.score(X, y) > 0.9999
    assert model.certificate_.holds
    assert kind(max_depth=1).fit(X[:60_000], y[:60_000]).certificate_["quantile bins"].value == 0


# ---------------------------------------------------------------------------------- time and callbacks


@both
@pytest.mark.parametrize("prune", [None, "validation", "cost_complexity_cv"])
def test_the_smallest_time_limit_leaves_a_tree(kind, prune, wide, tmp_path):
    X, y = wide
    model = kind(random_state=0, prune=prune, time_limit=1e-9).fit(X, y)
    assert model.stop_reason_ == "time_limit"
    assert model.predict(X).shape == (6000,)
    for certificate in (model.certificate_, eigenwood.verify(model, X, y)):
        assert certificate.holds is None
        assert {claim.name for claim in certificate if not claim.holds} <= {"leaves", "grown again"}
    full = kind(random_state=0, prune=prune, time_limit=1e6).fit(X, y)
    assert full.stop_reason_ == "finished"
    loaded = eigenwood.load(eigenwood.save(model, tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_cross_validation_that_is_cut_off_leaves_the_tree_as_it_is(monkeypatch):
    """The tree itself was grown in time; the folds were not."""
    X, y = noisy_rows(200)
    asked = []
    monkeypatch.setattr("eigenwood.estimators.tree.pruning.CrossValidation._fold", lambda *rows: asked.append(rows))
    model = DecisionTreeClassifier(random_state=0, prune="cost_complexity_cv").fit(X, y)
    assert len(asked) == 5
    assert model.stop_reason_ == "time_limit"
    assert model.pruning_curve_.shape == (0, 3)
    assert_same_bits("nodes_", model.nodes_, DecisionTreeClassifier(random_state=0).fit(X, y).nodes_)


@both
@pytest.mark.parametrize("prune", [None, "validation", "cost_complexity_cv"])
def test_callbacks_see_a_tree_that_grows(kind, prune):
    X, y = noisy_rows(25_000)
    recorder = Recorder()
    model = kind(random_state=0, prune=prune).set_callbacks(recorder).fit(X, y)
    leaves = [seen.get_n_leaves() for seen in recorder.models]
    assert leaves[-1] == model.get_n_leaves()
    assert len(leaves) > 2
    assert_same_bits("nodes_", recorder.models[-1].nodes_, model.nodes_)


def test_callbacks_are_given_the_table_as_it_was_given():
    X, y = mixed_frame()
    recorder = Recorder()
    DecisionTreeClassifier(random_state=0).set_callbacks(recorder).fit(X, y)
    assert all(given_X is X and given_y is y for given_X, given_y in recorder.data)
    assert recorder.models[-1].score(X, y) == 1.0


# ---------------------------------------------------------------------------------- pruning


def noisy_labels(n_rows=600, seed=0):
    X, y = noisy_rows(n_rows, seed=seed)
    flipped = np.random.default_rng(seed + 1).random(n_rows) < 0.25
    return X, np.where(flipped, (y + 1) % 3, y)


@both
@pytest.mark.parametrize("prune", ["validation", "cost_complexity_cv"])
def test_pruning_cuts_and_does_not_hurt(kind, prune):
    X, y = noisy_labels()
    X_new, y_new = noisy_labels(2000, seed=7)
    full, pruned = (kind(random_state=0, prune=how).fit(X, y) for how in (None, prune))
    assert 1 < pruned.get_n_leaves() < 0.5 * full.get_n_leaves()
    assert pruned.score(X_new, y_new) > full.score(X_new, y_new)
    claim = pruned.certificate_["validation error"]
    assert claim.holds
    assert claim.value < claim.bound
    assert pruned.certificate_.holds


@both
def test_the_curve_of_reduced_errors_is_sane(kind):
    X, y = noisy_labels()
    model = kind(random_state=0, prune="validation").fit(X, y)
    alphas, leaves, errors = model.pruning_curve_.T
    assert (alphas == 0).all()
    assert (np.diff(leaves) < 0).all()
    assert (np.diff(errors) <= 1e-12).all()
    assert leaves[-1] == model.get_n_leaves()
    data = check_training(clone(model), X, y, None)
    learn, held_out = validation_split("", data, model.validation_fraction, model.split_seed_)
    full = kind(random_state=0).fit(X[learn], y[learn])
    assert full.nodes_.n_rows[0] == model.nodes_.n_rows[0] == 450
    wrong = model.predict(X[held_out]) - y[held_out]
    loss = (wrong != 0).mean() if kind is DecisionTreeClassifier else (wrong**2).mean()
    assert errors[-1] == pytest.approx(loss)
    assert model.certificate_["validation error"].value == pytest.approx(loss)


@both
def test_the_curve_of_cross_validation_is_sane(kind):
    X, y = noisy_labels()
    model = kind(random_state=0, prune="cost_complexity_cv", n_folds=4).fit(X, y)
    alphas, leaves, errors = model.pruning_curve_.T
    assert (np.diff(alphas) > 0).all()
    assert (np.diff(leaves) <= 0).all()
    assert leaves[-1] == 1
    chosen = np.flatnonzero(leaves == model.get_n_leaves())
    assert errors[chosen].min() == pytest.approx(errors.min())
    plain = kind(random_state=0, ccp_alpha=alphas[chosen[-1]]).fit(X, y)
    assert_same_questions(plain, model)


@both
def test_a_validation_set_of_ones_own(kind):
    X, y = noisy_labels()
    X_val, y_val = noisy_labels(200, seed=3)
    model = kind(random_state=0, prune="validation").fit(X, y, X_val=X_val, y_val=y_val)
    full = kind(random_state=0).fit(X, y)
    assert model.nodes_.n_rows[0] == 600
    assert model.get_n_leaves() < full.get_n_leaves()
    claim = model.certificate_["validation error"]
    assert claim.holds
    wrong = model.predict(X_val) - y_val
    loss = (wrong != 0).mean() if kind is DecisionTreeClassifier else (wrong**2).mean()
    assert claim.value == pytest.approx(loss)
    names = [claim.name for claim in eigenwood.verify(model, X, y)]
    assert "validation error" not in names  # the set is not here


def test_a_validation_set_may_be_weighted_and_lack_a_class():
    X, y = noisy_labels()
    X_val, y_val = noisy_labels(200, seed=3)
    some = y_val != 2
    weights = np.random.default_rng(0).integers(0, 3, size=some.sum())
    params = {"random_state": 0, "prune": "validation"}
    for class_weight in (None, "balanced", {0: 1.0, 1: 2.0, 2: 1.0}):
        weighted = DecisionTreeClassifier(**params, class_weight=class_weight).fit(
            X, y, X_val=X_val[some], y_val=y_val[some], sample_weight_val=weights
        )
        assert weighted.certificate_.holds
    rows = np.repeat(np.flatnonzero(some), weights)
    repeated = DecisionTreeClassifier(**params).fit(X, y, X_val=X_val[rows], y_val=y_val[rows])
    plain = DecisionTreeClassifier(**params).fit(X, y, X_val=X_val[some], y_val=y_val[some], sample_weight_val=weights)
    assert_same_bits("nodes_", repeated.nodes_, plain.nodes_)


@pytest.mark.parametrize(
    ("params", "given", "words"),
    [
        ({"prune": "validation"}, {"X_val": [[0.0]]}, "X_val and y_val must be given together"),
        ({"prune": "validation"}, {"y_val": [0]}, "X_val and y_val must be given together"),
        ({"prune": "validation"}, {"sample_weight_val": [1.0]}, "sample_weight_val must be given with X_val and y_val"),
        ({}, {"X_val": [[0.0]], "y_val": [0]}, "X_val must be given with prune='validation' only; got prune=None"),
        ({"prune": "validation"}, {"X_val": [[0.0]], "y_val": [9]}, "y must hold only the classes [0, 1]; got"),
        ({"prune": "validation"}, {"X_val": [[0.0, 1.0]], "y_val": [0]}, "features"),
        ({"prune": "validation"}, {"X_val": [[np.inf]], "y_val": [0]}, "X must be finite or NaN"),
        ({"prune": "validation"}, {"X_val": np.empty((0, 1)), "y_val": []}, "minimum of 1 is required"),
        ({"prune": "cost_complexity_cv", "ccp_alpha": 0.1}, {}, "ccp_alpha must be 0 when prune='cost_complexity_cv'"),
    ],
    ids=str,
)
def test_validation_sets_that_are_none(params, given, words):
    with pytest.raises(InputError) as problem:
        DecisionTreeClassifier(**params).fit([[0.0], [1.0]], [0, 1], **given)
    assert words in sentence_of(problem)


@pytest.mark.parametrize("prune", ["validation", "cost_complexity_cv"])
@both
def test_too_few_rows_to_prune_by(kind, prune):
    with pytest.raises(InputError) as problem:
        kind(prune=prune).fit([[0.0]], [1])
    assert f"prune={prune!r} needs at least 2 rows; got 1." in sentence_of(problem)
    for n_rows in (2, 3, 5):
        model = kind(prune=prune, random_state=0).fit(np.arange(float(n_rows))[:, None], np.arange(n_rows))
        assert model.certificate_.holds


def test_rare_classes_can_be_pruned_by():
    X, y = noisy_labels(60)
    y = np.where(np.arange(60) == 5, 9, y)  # one row of this class
    for prune in ("validation", "cost_complexity_cv"):
        model = DecisionTreeClassifier(random_state=0, prune=prune).fit(X, y)
        assert model.certificate_.holds
        assert eigenwood.verify(model, X, y).holds


def test_several_outputs_can_be_pruned_by():
    X, y = noisy_labels(200)
    Y = np.column_stack([y, y[::-1]])
    for kind in KINDS:
        for prune in ("validation", "cost_complexity_cv"):
            model = kind(random_state=0, prune=prune).fit(X, Y)
            assert model.certificate_.holds
            assert eigenwood.verify(model, X, Y).holds


@pytest.mark.parametrize("criterion", CLASS_CRITERIA + REGRESSION_CRITERIA)
@pytest.mark.parametrize("prune", ["validation", "cost_complexity_cv"])
def test_pruning_under_every_criterion(criterion, prune):
    kind = DecisionTreeClassifier if criterion in CLASS_CRITERIA else DecisionTreeRegressor
    X, y = noisy_labels(300)
    weights = np.random.default_rng(0).random(300) + 0.1
    model = kind(random_state=0, criterion=criterion, prune=prune).fit(X, y, sample_weight=weights)
    assert model.certificate_.holds
    assert eigenwood.verify(model, X, y, sample_weight=weights).holds
    assert np.isfinite(model.pruning_curve_[-1]).all()


@pytest.mark.parametrize("params", [{"prune": "cost_complexity_cv"}, {"ccp_alpha": 1e-4}], ids=str)
def test_pruning_looks_at_the_clock(params):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 20))
    y = X[:, 0] + rng.normal(size=20_000)
    DecisionTreeRegressor(random_state=0, **params).fit(X[:200], y[:200])
    model = DecisionTreeRegressor(random_state=0, time_limit=0.5, **params)
    seconds = []
    while len(seconds) < 3 and not (seconds and seconds[-1] <= 1.0):  # another worker may have had the machine
        start = time.perf_counter()
        model.fit(X, y)
        seconds.append(time.perf_counter() - start)
    assert seconds[-1] <= 1.0
    assert model.stop_reason_ == "time_limit" or "ccp_alpha" in params
    assert model.predict(X).shape == y.shape


# ---------------------------------------------------------------------------------- proofs


@both
@pytest.mark.parametrize("prune", [None, "validation", "cost_complexity_cv"])
def test_verify_agrees_with_the_certificate(kind, prune):
    X, y = mixed_frame(300)
    y = (y == "rich").astype(int)
    weights = np.random.default_rng(0).integers(1, 4, size=300)
    model = kind(random_state=0, prune=prune).fit(X, y, sample_weight=weights)
    verified = eigenwood.verify(model, X, y, sample_weight=weights)
    assert verified.holds
    for claim in model.certificate_:
        assert claim.value == pytest.approx(verified[claim.name].value, abs=1e-12)
    more = {claim.name for claim in verified} - {claim.name for claim in model.certificate_}
    only_here = {"leaves"} if prune is None else {"grown again"}
    assert more == {"stated numbers", "questions", "best questions", "certificate"} | only_here


def with_threshold(nodes):
    return nodes._replace(threshold=np.where(np.arange(nodes.left.size) == 0, nodes.threshold + 0.5, nodes.threshold))


def with_value(nodes):
    value = nodes.value.copy()
    value[-1] = value[-1, ::-1] + 0.01
    return nodes._replace(value=value)


def with_children_swapped(nodes):
    value = nodes.value.copy()
    value[[nodes.left[0], nodes.right[0]]] = value[[nodes.right[0], nodes.left[0]]]
    return nodes._replace(value=value)


def with_sides_swapped(nodes):
    return nodes._replace(default_left=~nodes.default_left & (nodes.left >= 0))


def with_impurity(nodes):
    return nodes._replace(impurity=nodes.impurity * 0.9)


def with_rows(nodes):
    return nodes._replace(n_rows=nodes.n_rows[::-1].copy())


def with_another_feature(nodes):
    return nodes._replace(feature=np.where(nodes.feature >= 0, (nodes.feature + 1) % 4, nodes.feature).astype(np.int32))


@both
@pytest.mark.parametrize(
    ("tampered", "claim"),
    [
        (with_threshold, "rows"),
        (with_value, "values"),
        (with_children_swapped, "values"),
        (with_sides_swapped, "rows"),
        (with_impurity, "impurity"),
        (with_rows, "rows"),
        (with_another_feature, "rows"),
    ],
)
def test_verify_sees_what_was_tampered_with(kind, tampered, claim, tmp_path):
    X, y = noisy_rows()
    X[::5, 0] = np.nan
    model = kind(random_state=0).fit(X, y)
    model.nodes_ = tampered(model.nodes_)
    loaded = eigenwood.load(eigenwood.save(model, tmp_path / "model"))
    for told in (model, loaded):
        verified = eigenwood.verify(told, X, y)
        assert not verified.holds
        assert not verified[claim].holds


def test_verify_on_other_rows_does_not_hold():
    X, y = noisy_rows()
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert not eigenwood.verify(model, X[:200], y[:200]).holds
    assert not eigenwood.verify(model, X, np.roll(y, 1)).holds
    assert not eigenwood.verify(model, X, y, sample_weight=np.arange(1, 301)).holds
