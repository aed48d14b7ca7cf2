"""The gate for y: labels become codes and codes become labels again."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator

from eigenwood.errors import InputError
from eigenwood.validation.targets import (
    Classes,
    check_classes,
    check_given_classes,
    check_known,
    check_labels,
    check_training,
    class_weights,
    labels_from_scores,
    one_against_rest,
)


class Thing(BaseEstimator):
    """An estimator that only has a name."""


def sentence_of(call, kind=InputError):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "b"], dtype=object),
        pd.Series(["b", "a", "b"]),
        pd.Series(["b", "a", "b"], dtype="category"),
        pl.Series(["b", "a", "b"]),
        pa.array(["b", "a", "b"]),
        pa.chunked_array([["b", "a"], ["b"]]),
    ],
    ids=lambda y: f"{type(y).__module__.split('.')[0]} {getattr(y, 'dtype', '')}",
)
def test_labels_become_codes(y):
    classes = check_classes(Thing(), check_labels(Thing(), y, 3))
    assert classes.labels.tolist() == ["a", "b"]
    assert_array_equal(classes.codes, [1, 0, 1])
    assert_array_equal(classes.labels[classes.codes], ["b", "a", "b"])


@pytest.mark.parametrize("y", [[3, 1, 3], [True, False, True], [1.0, -1.0, 1.0]])
def test_numbers_and_truth_values_are_labels_too(y):
    classes = check_classes(Thing(), check_labels(Thing(), y, 3))
    assert classes.labels.tolist() == sorted(set(y))
    assert classes.labels[classes.codes].tolist() == y


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (None, "Thing: it requires y to be passed, but the target y is None."),
        ([1, 2], "Thing: y must have one label for each of the 3 rows; got 2."),
        ([1.0, np.nan, 2.0], "Thing: y must hold labels; got NaN."),
        ([1.5, 2.7, 3.1], "Thing: Unknown label type: continuous."),
        (np.zeros((3, 2)), "Thing: y should be a 1d array, got an array of shape (3, 2) instead."),
        (pd.Series(["a", None, "b"]), "Thing: y must hold labels; got NaN."),
    ],
    ids=["nothing", "too few", "nan", "continuous", "two columns", "pandas null"],
)
def test_bad_targets_are_refused_in_one_sentence(y, sentence):
    assert sentence_of(lambda: check_labels(Thing(), y, 3)) == sentence


@pytest.mark.parametrize(
    "y",
    [
        np.array(["a", None, "b"], dtype=object),
        pl.Series(["a", None, "b"]),
        pa.array(["a", None, "b"]),
    ],
    ids=["objects", "polars", "pyarrow"],
)
def test_a_missing_label_is_called_missing(y):
    sentence = sentence_of(lambda: check_labels(Thing(), y, 3))
    assert sentence in ("Thing: y must hold labels; got NaN.", "Thing: y must hold labels; got None.")


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (["a", 1, "b"], "Thing: y must hold labels of one type; got int and str."),
        (np.array(["a", 1, "b"], dtype=object), "Thing: y must hold labels of one type; got int and str."),
        (["a", float("nan"), "b"], "Thing: y must hold labels; got NaN."),
        (["a", None, "b"], "Thing: y must hold labels; got None."),
        (pd.Series([1, None, 2], dtype="Int64"), "Thing: y must hold labels; got None."),
    ],
    ids=["list", "objects", "list with nan", "list with None", "Int64"],
)
def test_labels_are_all_there_and_all_of_one_type(y, sentence):
    found = sentence_of(lambda: check_labels(Thing(), y, 3))
    assert found in (sentence, sentence.replace("got None", "got NaN"))


def test_a_sparse_target_is_refused():
    y = sparse.csr_array(np.eye(3))
    assert sentence_of(lambda: check_labels(Thing(), y, 3), TypeError).startswith("Thing: Sparse data was passed")


def test_a_column_is_taken_with_a_warning():
    with pytest.warns(UserWarning, match="column-vector"):
        assert check_labels(Thing(), np.array([[1], [2], [1]]), 3).shape == (3,)


def test_one_class_cannot_be_told_apart():
    sentence = sentence_of(lambda: check_classes(Thing(), np.array(["a", "a"])))
    assert sentence.startswith("Thing: y must hold at least 2 classes; got 1 class: ")
    assert "'a'" in sentence


def test_strangers_among_known_classes():
    known = np.array([0, 1, 5])
    assert_array_equal(check_known(Thing(), np.array([5, 0, 0]), known).codes, [2, 0, 0])
    assert_array_equal(check_known(Thing(), np.array([5, 0, 0]), known[::-1]).codes, [0, 2, 2])
    sentence = sentence_of(lambda: check_known(Thing(), np.array([0, 3]), known))
    assert sentence.startswith("Thing: y must hold only the classes [0, 1, 5]; got ")
    assert "3" in sentence


def test_classes_of_a_model_that_learns_in_parts():
    fitted = np.array(["a", "b"])
    assert check_given_classes(Thing(), ["b", "a", "b"], None).tolist() == ["a", "b"]
    assert check_given_classes(Thing(), None, fitted) is fitted
    assert check_given_classes(Thing(), ["b", "a"], fitted).tolist() == ["a", "b"]
    assert sentence_of(lambda: check_given_classes(Thing(), None, None)) == (
        "Thing: classes must be passed on the first call to partial_fit; got None."
    )
    assert sentence_of(lambda: check_given_classes(Thing(), ["a", "c"], fitted)) == (
        "Thing: classes must stay ['a', 'b']; got ['a', 'c']."
    )
    assert sentence_of(lambda: check_given_classes(Thing(), ["a"], None)) == (
        "Thing: classes must name at least 2 classes; got ['a']."
    )


# ---- everything together -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_of_weight_zero_are_gone(form):
    X = np.arange(8.0).reshape(4, 2)
    data = check_training(Thing(), form(X), ["a", "b", "c", "a"], [1, 2, 0, 3], accept_sparse=True)
    rows = data.X.toarray() if sparse.issparse(data.X) else data.X
    assert_array_equal(rows, X[[0, 1, 3]])
    assert data.classes.labels.tolist() == ["a", "b"]  # nobody is left of class c
    assert_array_equal(data.classes.codes, [0, 1, 0])
    assert_array_equal(data.weights, [1.0, 2.0, 3.0])


def test_one_class_with_weight_is_one_class():
    sentence = sentence_of(lambda: check_training(Thing(), [[1.0], [2.0]], [0, 1], [1, 0]))
    assert sentence.startswith("Thing: y must hold at least 2 classes; got 1 class: ")


def test_known_classes_need_not_all_be_there():
    data = check_training(Thing(), [[1.0]], ["b"], known=np.array(["a", "b", "c"]))
    assert data.classes.labels.tolist() == ["a", "b", "c"]
    assert data.classes.codes.tolist() == [1]


# ---- weights of classes, problems, winners -----------------------------------------------------------------------


def training(codes, weights):
    codes = np.array(codes)
    return check_training(Thing(), np.zeros((codes.size, 1)), codes, weights)


def test_class_weights_multiply_the_weights():
    data = training([0, 1, 1, 2], [1, 2, 3, 4])
    assert_array_equal(class_weights(Thing(), None, data), [1, 2, 3, 4])
    assert_array_equal(class_weights(Thing(), {0: 10.0, 2: 0.5}, data), [10, 2, 3, 2])


def test_balanced_class_weights_count_weights_as_repeated_rows():
    weighted = class_weights(Thing(), "balanced", training([0, 1, 1], [6, 1, 1]))
    assert_allclose(weighted, [4.0, 2.0, 2.0])  # each class weighs 8 / 2 in all
    repeated = class_weights(Thing(), "balanced", training([0, 0, 0, 0, 0, 0, 1, 1], None))
    assert_allclose(repeated, [2 / 3] * 6 + [2.0, 2.0])


def test_class_weights_of_unknown_classes_are_refused_in_one_sentence():
    sentence = sentence_of(lambda: class_weights(Thing(), {7: 1.0}, training([0, 1], None)))
    assert sentence == "Thing: The classes, [0, 1], are not in class_weight."


def test_two_classes_are_one_problem_and_more_are_one_each():
    two = one_against_rest(Classes(np.array(["a", "b"]), np.array([0, 1, 1])))
    assert_array_equal(two, [[-1, 1, 1]])
    three = one_against_rest(Classes(np.array(["a", "b", "c"]), np.array([0, 2, 1])))
    assert_array_equal(three, [[1, -1, -1], [-1, -1, 1], [-1, 1, -1]])


def test_the_highest_score_wins_and_zero_is_the_first_class():
    labels = np.array(["a", "b", "c"])
    assert labels_from_scores(labels[:2], np.array([-1.0, 0.0, 1e-300])).tolist() == ["a", "a", "b"]
    scores = np.array([[1.0, 2.0, 0.0], [-3.0, -2.0, -1.0], [1.0, 1.0, 1.0]])
    assert labels_from_scores(labels, scores).tolist() == ["b", "c", "a"]
