"""contributions(X) of trees and forests: sums, shapes, tables with words, threads, files, bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from eigenwood import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    load,
    save,
)
from eigenwood.errors import InputError
from tests.models.crafting import assert_one_sentence

X_IRIS, Y_IRIS = load_iris(return_X_y=True)
CLASSIFIERS = (DecisionTreeClassifier(random_state=0), RandomForestClassifier(5, random_state=0))
REGRESSORS = (DecisionTreeRegressor(random_state=0), RandomForestRegressor(5, random_state=0))


def names(models):
    return [type(model).__name__ for model in models]


def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "kind": pd.Categorical(rng.choice(["red", "green", "blue"], size=80)),
        "size": np.where(rng.random(80) < 0.2, np.nan, rng.normal(size=80)),
        "age": rng.integers(20, 60, size=80),
    })  # fmt: skip
    return frame, (frame["kind"] == "red") * 2.0 + frame["size"].fillna(1.0) * (frame["age"] > 40)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=names(CLASSIFIERS))
def test_those_of_classes_add_up_to_the_probabilities(model):
    found = model.fit(X_IRIS, Y_IRIS).contributions(X_IRIS)
    assert (found.values.shape, found.base.shape) == ((150, 4, 3), (3,))
    assert_allclose(found.values.sum(axis=1) + found.base, model.predict_proba(X_IRIS), atol=1e-14)
    assert_allclose(found.values.sum(axis=2), 0.0, atol=1e-14)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=names(CLASSIFIERS))
def test_several_outputs_of_classes_are_a_list(model):
    y = np.column_stack([Y_IRIS, Y_IRIS > 0])
    found = model.fit(X_IRIS, y).contributions(X_IRIS)
    for own, proba in zip(found, model.predict_proba(X_IRIS), strict=True):
        assert_allclose(own.values.sum(axis=1) + own.base, proba, atol=1e-14)


@pytest.mark.parametrize("model", REGRESSORS, ids=names(REGRESSORS))
def test_those_of_amounts_add_up_to_the_prediction(model):
    frame, y = table()
    found = model.fit(frame, y).contributions(frame)
    assert (found.values.shape, type(found.base)) == ((80, 3), float)
    assert_allclose(found.values.sum(axis=1) + found.base, model.predict(frame), atol=1e-13)
    both = model.fit(frame, np.column_stack([y, -y])).contributions(frame)
    assert (both.values.shape, both.base.shape) == ((80, 3, 2), (2,))
    assert_allclose(both.values[:, :, 0], -both.values[:, :, 1], atol=1e-13)


def test_a_tree_that_minimises_absolute_errors_has_the_mean_of_its_leaves_as_base():
    frame, y = table()
    model = DecisionTreeRegressor(criterion="absolute_error", max_depth=2, random_state=0).fit(frame, y)
    found = model.contributions(frame)
    assert found.base == pytest.approx(model.predict(frame).mean())
    assert_allclose(found.values.sum(axis=1) + found.base, model.predict(frame), atol=1e-13)


def test_forests_have_the_means_of_their_trees():
    model = RandomForestClassifier(4, random_state=0).fit(X_IRIS, Y_IRIS)
    each = [tree.contributions(X_IRIS).values for tree in model.estimators_]
    assert_allclose(model.contributions(X_IRIS).values, np.mean(each, axis=0), atol=1e-14)


@pytest.mark.parametrize("model", [CLASSIFIERS[1], DecisionTreeClassifier(random_state=0)])
def test_threads_pickles_files_and_sparse_rows_change_no_bit(model, tmp_path, monkeypatch):
    monkeypatch.setattr("eigenwood.core.tree.contributions.BLOCK_ROWS", 32)
    expected = model.set_params(n_jobs=1).fit(X_IRIS, Y_IRIS).contributions(X_IRIS).values
    save(model, tmp_path / "model.safetensors")
    for other in (model.set_params(n_jobs=3), pickle.loads(pickle.dumps(model)), load(tmp_path / "model.safetensors")):
        assert_array_equal(other.contributions(X_IRIS).values, expected)
    assert_array_equal(model.contributions(sparse.csr_array(X_IRIS)).values, expected)
    assert_array_equal(model.contributions(X_IRIS[40:41]).values, expected[40:41])


@pytest.mark.parametrize("y", [Y_IRIS, (Y_IRIS == 1).astype(int)])
def test_those_of_trees_in_rounds_add_up_to_their_scores(y):
    model = GradientBoostingClassifier(n_estimators=6, random_state=0).fit(X_IRIS, y)
    found = model.contributions(X_IRIS)
    scores = model.decision_function(X_IRIS)
    assert_allclose(found.values.sum(axis=1) + found.base, scores, atol=1e-13)
    one, two = (model.set_params(n_jobs=n).contributions(X_IRIS).values for n in (1, 2))
    assert_array_equal(one, two)


def test_those_of_amounts_add_up_to_the_predictions_of_boosting():
    frame, amounts = table()
    model = GradientBoostingRegressor(n_estimators=8, max_leaf_nodes=5, random_state=0).fit(frame, amounts)
    found = model.contributions(frame)
    assert_allclose(found.values.sum(axis=1) + found.base, model.predict(frame), atol=1e-12)
    quantiles = GradientBoostingRegressor(loss="quantile", alpha=[0.2, 0.8], n_estimators=4).fit(frame, amounts)
    sums = quantiles.contributions(frame).values.sum(axis=1) + quantiles.contributions(frame).base
    assert_allclose(np.sort(sums, axis=1), quantiles.predict(frame), atol=1e-12)


def test_bad_input_is_one_sentence():
    model = DecisionTreeClassifier().fit(X_IRIS, Y_IRIS)
    for rows in ([[1.0, 2.0]], [[np.inf, 1.0, 1.0, 1.0]], [["a", "b", "c", "d"]]):
        with pytest.raises(InputError) as problem:
            model.contributions(rows)
        assert_one_sentence(str(problem.value))
    started = GradientBoostingClassifier(init=DecisionTreeClassifier(max_depth=1), n_estimators=2).fit(
        X_IRIS, Y_IRIS > 0
    )
    with pytest.raises(InputError, match="contributions need init=None or 'zero'"):
        started.contributions(X_IRIS)
    for unfitted in (DecisionTreeClassifier(), RandomForestRegressor()):
        with pytest.raises(NotFittedError):
            unfitted.contributions(X_IRIS)
