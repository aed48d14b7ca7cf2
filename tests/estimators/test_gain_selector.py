"""GainSelector: scikit-learn's selector API, weights, tables, and what goes wrong in one sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from sklearn.pipeline import make_pipeline

from eigenwood import DecisionTreeClassifier, GainSelector, verify
from eigenwood.errors import InputError


def rows(n_rows=200, seed=0):
    """Return six columns, of which the second and the fifth tell about the classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6)).round(1)
    y = np.where(X[:, 1] > 0.3, "a", np.where(X[:, 4] + 0.3 * rng.normal(size=n_rows) > 0.0, "b", "c"))
    return X, y


def test_it_has_the_methods_of_a_selector_of_scikit_learn():
    X, y = rows()
    ours, theirs = GainSelector(2).fit(X, y), SelectKBest(mutual_info_classif, k=2).fit(X, y)
    np.testing.assert_array_equal(ours.get_support(), theirs.get_support())
    np.testing.assert_array_equal(ours.get_support(indices=True), [1, 4])
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    np.testing.assert_array_equal(
        ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X))
    )
    assert ours.get_feature_names_out().tolist() == ["x1", "x4"]
    assert set(ours.ranking_[[1, 4]]) == {1, 2}


@pytest.mark.parametrize(("wanted", "n_kept"), [(None, 3), (4, 4), (0.5, 3), (0.01, 1), (1.0, 6), (1, 1)])
def test_how_many_are_kept(wanted, n_kept):
    X, y = rows()
    assert GainSelector(wanted).fit(X, y).support_.sum() == n_kept


def test_the_score_is_what_a_tree_gains_at_its_root():
    X, y = rows()
    selector = GainSelector(criterion="gini").fit(X, y)
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y)
    best = int(np.argmax(selector.scores_))
    assert tree.tree_.feature[0] == best
    assert tree.tree_.threshold[0] == selector.thresholds_[best]
    assert tree.tree_.compute_feature_importances(normalize=False)[best] == pytest.approx(selector.scores_[best])


def test_sparse_rows_are_the_same_rows():
    X, y = rows()
    X[np.abs(X) < 0.8] = 0.0
    dense, thin = GainSelector(2).fit(X, y), GainSelector(2).fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(dense.scores_, thin.scores_)
    np.testing.assert_array_equal(thin.transform(sparse.csr_array(X)).toarray(), dense.transform(X))
    assert verify(thin, sparse.csr_array(X), y).holds


def test_a_table_keeps_its_texts():
    table = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "blue", "red", None]})
    y = [0, 1, 0, 1]
    selector = GainSelector(1).fit(table, y)
    assert selector.get_feature_names_out().tolist() == ["colour"]
    assert selector.transform(table)[:3].tolist() == [["red"], ["blue"], ["red"]]
    assert selector.transform(pa.table({"size": [1.0], "colour": ["never seen"]})).tolist() == [["never seen"]]
    numbers = GainSelector(1).fit(table, [0, 0, 1, 1]).transform(table)
    assert numbers.dtype == np.float64


def test_a_gain_ratio_is_no_prize_for_many_branches():
    """A row number tells every class apart, and so does a column of two values: the ratio prefers the second."""
    table = pd.DataFrame({"number": list("abcdefgh"), "side": list("llllrrrr")})
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    assert GainSelector(1).fit(table, y).scores_.tolist() == [1.0, 1.0]
    by_ratio = GainSelector(1, gain_ratio=True).fit(table, y)
    assert by_ratio.scores_ == pytest.approx([1.0 / 3.0, 1.0])
    assert by_ratio.get_feature_names_out().tolist() == ["side"]


def test_a_copy_of_a_chosen_column_is_left_out_if_redundancy_counts():
    X, y = rows()
    X[:, 0] = X[:, 1]
    assert GainSelector(2).fit(X, y).get_support(indices=True).tolist() == [0, 1]
    aware = GainSelector(2, redundancy_aware=True).fit(X, y)
    assert 4 in aware.get_support(indices=True)
    assert aware.support_[[0, 1]].sum() == 1
    assert verify(aware, X, y).holds


def test_words_into_a_machine_through_a_pipeline():
    X, y = rows()
    model = make_pipeline(GainSelector(2), DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, y)
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize(
    ("params", "X", "y", "sentence"),
    [
        (
            {"n_features_to_select": 7},
            np.eye(4),
            [0, 1, 0, 1],
            "n_features_to_select must be at most 4, the columns; got 7.",
        ),
        ({}, np.eye(4), [1, 1, 1, 1], "y must hold at least 2 classes; got 1 class: 1."),
        ({}, np.eye(4), None, "it requires y to be passed, but the target y is None."),
        (
            {"categorical_features": ["z"]},
            np.eye(4),
            [0, 1, 0, 1],
            "instead of 'z', categorical_features should be passed as an array of integers or as a boolean mask when "
            "the model is fitted on data without feature names.",
        ),
    ],
)
def test_what_cannot_be_used_is_said_in_one_sentence(params, X, y, sentence):
    with pytest.raises(InputError) as caught:
        GainSelector(**params).fit(X, y)
    assert str(caught.value) == f"GainSelector: {sentence}"
