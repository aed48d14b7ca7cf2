"""T1, T2: the tree of PlayTennis, and a tree of depth 20 on covertype (the kernel lecture and the boosting and SVM
lecture)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from eigenwood import DecisionTreeClassifier
from eigenwood.data import datasets

GAINS = {"outlook": 0.247, "humidity": 0.152, "wind": 0.048, "temperature": 0.029}


@pytest.fixture(scope="module")
def days():
    tennis = datasets.load("play_tennis")
    names = [str(name).lower() for name in tennis.feature_names]
    return pa.table({name: list(column) for name, column in zip(names, tennis.X.T, strict=True)}), tennis.y


def branches(model, node=0):
    """Return a node of a multiway tree as nested dicts: {question: {answer: branch}}, a leaf as its class."""
    tree = model.tree_
    if tree.children_left[node] < 0:
        return str(model.classes_[tree.value[node, 0].argmax()])
    column = tree.feature[node]
    labels, answers = model.categories_[column], {}
    seen = set(range(len(labels)))
    while True:
        listed = set(tree.categories(node).tolist())
        own = listed if not tree.missing_go_to_left[node] else seen - listed
        answers[" or ".join(labels[code] for code in sorted(own))] = branches(model, tree.children_left[node])
        seen -= own
        if not tree.chained[node]:
            break
        node = tree.children_right[node]
    answers[" or ".join(labels[code] for code in sorted(seen))] = branches(model, tree.children_right[node])
    return {str(model.feature_names_in_[column]): answers}


@pytest.mark.parametrize(("column", "gain"), GAINS.items())
def test_the_gain_of_each_question(days, column, gain):
    X, y = days
    stump = DecisionTreeClassifier(criterion="entropy", categorical_split="multiway", max_depth=1)
    stump.fit(X.select([column]), y)
    assert stump.tree_.compute_feature_importances(normalize=False)[0] == pytest.approx(gain, abs=5e-4)


def test_the_tree_of_the_deck(days):
    X, y = days
    model = DecisionTreeClassifier(criterion="entropy", categorical_split="multiway", random_state=0).fit(X, y)
    assert branches(model) == {
        "outlook": {
            "Overcast": "Yes",
            "Rain": {"wind": {"Strong": "No", "Weak": "Yes"}},
            "Sunny": {"humidity": {"High": "No", "Normal": "Yes"}},
        }
    }
    assert model.get_depth() == 2
    assert model.get_n_leaves() == 5
    assert model.certificate_.holds


@pytest.mark.parametrize("criterion", ["gini", "error"])
def test_the_same_tree_by_other_measures_of_uncertainty(days, criterion):
    X, y = days
    model = DecisionTreeClassifier(criterion=criterion, categorical_split="multiway", random_state=0).fit(X, y)
    assert (model.predict(X) == y).all()
    if criterion == "gini":
        assert set(branches(model)) == {"outlook"}


@pytest.mark.parametrize(("uncertainty", "n_leaves"), [(0.95, 1), (0.94, 5)])
def test_stopping_at_an_uncertainty(days, uncertainty, n_leaves):
    """The 9 yes and 5 no of the root have an entropy of 0.940."""
    model = DecisionTreeClassifier(criterion="entropy", categorical_split="multiway", leaf_uncertainty=uncertainty)
    assert model.fit(*days).get_n_leaves() == n_leaves


@pytest.mark.data
def test_the_tree_of_depth_20_on_covertype():
    cover = datasets.load("covertype2")
    train, test = ((cover.X[rows], cover.y[rows]) for rows in cover.split)
    model = DecisionTreeClassifier(max_depth=20, random_state=0, n_jobs=2).fit(*train)
    train_error, test_error = (1.0 - model.score(*part) for part in (train, test))
    assert 0.01 <= train_error <= 0.02
    assert abs(test_error - 0.126) <= 0.004
    assert np.isclose(model.certificate_["training error"].value, train_error)
