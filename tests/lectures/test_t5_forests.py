"""T3, T4, T5: bagging, random forests, and a forest of ten trees on covertype (decks B, C and E)."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import eigenwood
from eigenwood import DecisionTreeClassifier, RandomForestClassifier, RandomForestRegressor
from eigenwood.data import datasets


def waves(seed, n_rows=200, n_features=5):
    """Points in a cube, and a curved function of two of their coordinates with noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n_rows, n_features))
    return X, np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.standard_normal(n_rows)


def corners(seed, n_rows=200, n_features=5):
    """The same points in two classes that no single cut parts."""
    X, value = waves(seed, n_rows, n_features)
    return X, np.where(value > np.median(value), "high", "low")


def chances_of_trees(forest, X):
    """Return what every tree says, shape (trees, rows, classes)."""
    return np.array([tree.predict_proba(X) for tree in forest.estimators_])


# ---- T3: T subsets with replacement, and how their answers are put together


def test_the_answer_for_a_number_is_the_mean():
    forest = RandomForestRegressor(n_estimators=7, random_state=0).fit(*waves(0))
    fresh, _ = waves(1)
    said = [tree.predict(fresh) for tree in forest.estimators_]
    np.testing.assert_allclose(forest.predict(fresh), np.mean(said, axis=0), rtol=1e-12)


def test_the_chance_of_a_class_is_the_mean_of_the_chances():
    """The boosting and SVM lecture: Pr(c | x) = 1/T Σ Pr_t(c | x)."""
    forest = RandomForestClassifier(n_estimators=7, min_samples_leaf=5, random_state=0).fit(*corners(0))
    fresh, _ = corners(1)
    chances = chances_of_trees(forest, fresh)
    assert ((chances > 0) & (chances < 1)).any()
    np.testing.assert_allclose(forest.predict_proba(fresh), chances.mean(axis=0), rtol=1e-12)


def test_with_pure_leaves_it_is_the_majority_vote():
    """The ensembles lecture and the kernel lecture. An odd number of trees: no vote is even."""
    forest = RandomForestClassifier(n_estimators=7, random_state=0).fit(*corners(0))
    fresh, _ = corners(1)
    votes = chances_of_trees(forest, fresh)
    assert np.isin(votes, (0.0, 1.0)).all()
    majority = (votes[:, :, 1].sum(axis=0) > 3.5).astype(int)
    assert (forest.predict(fresh) == forest.classes_[majority]).all()


@pytest.mark.parametrize("size", [200, 50])
def test_the_subsets_have_a_fixed_size_and_rows_come_back(size):
    """Of n rows, 1 − (1 − 1/n)^m are expected in m draws: 63 % where m = n."""
    X, y = corners(0)
    forest = RandomForestClassifier(n_estimators=200, max_depth=1, max_samples=size, random_state=0).fit(X, y)
    assert {len(rows) for rows in forest.estimators_samples_} == {size}
    share = np.mean([np.unique(rows).size / len(X) for rows in forest.estimators_samples_])
    assert share == pytest.approx(1.0 - (1.0 - 1.0 / len(X)) ** size, abs=0.01)


@pytest.mark.parametrize("learner", [eigenwood.Perceptron, DecisionTreeClassifier])
def test_any_learner_can_be_bagged(learner):
    X, y = corners(0)
    bag = eigenwood.BaggingClassifier(learner(), n_estimators=11, max_samples=100, random_state=0).fit(X, y)
    assert len(bag.estimators_) == 11
    assert all(isinstance(member, learner) for member in bag.estimators_)
    assert {len(rows) for rows in bag.estimators_samples_} == {100}
    assert bag.score(X, y) > 0.5


def test_a_bag_can_give_each_learner_a_part_of_the_features():
    """The boosting and SVM lecture: "trained on a subset of data using a subset of features"."""
    X, y = corners(0)
    bag = eigenwood.BaggingClassifier(DecisionTreeClassifier(), n_estimators=20, max_features=2, random_state=0)
    columns = bag.fit(X, y).estimators_features_
    assert {len(np.unique(some)) for some in columns} == {2}
    assert np.unique(columns).size == X.shape[1]


# ---- T4: k features at each node


def test_with_all_features_at_each_node_a_forest_is_a_bag_of_trees():
    """The ensembles lecture: k = d is bagging. The same samples, the same trees, the same vote."""
    X, y = corners(0)
    fresh, _ = corners(1)
    forest = RandomForestClassifier(n_estimators=5, max_features=None, random_state=0).fit(X, y)
    bag = eigenwood.BaggingClassifier(DecisionTreeClassifier(), n_estimators=5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(forest.estimators_samples_, bag.estimators_samples_)
    for one, other in zip(forest.estimators_, bag.estimators_, strict=True):
        for name in ("children_left", "children_right", "feature", "threshold", "n_node_samples", "value"):
            np.testing.assert_array_equal(getattr(one.tree_, name), getattr(other.tree_, name))
    np.testing.assert_array_equal(forest.predict_proba(fresh), bag.predict_proba(fresh))


@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_a_node_looks_at_k_features(k):
    """The one feature that says all is the root's whenever it is drawn: in k of d trees."""
    X = np.random.default_rng(0).standard_normal((100, 8))
    forest = RandomForestClassifier(n_estimators=400, max_features=k, max_depth=1, random_state=0)
    roots = [tree.tree_.feature[0] for tree in forest.fit(X, X[:, 3] > 0).estimators_]
    assert np.mean(np.equal(roots, 3)) == pytest.approx(k / 8, abs=0.08)  # 3.2 standard deviations at k = 4


@pytest.mark.slow
def test_k_is_found_by_cross_validation():
    """Two features of thirty matter: a node that sees one at a time mostly cuts at noise."""
    X, y = corners(0, n_rows=300, n_features=30)
    forest = RandomForestClassifier(n_estimators=20, random_state=0)
    search = GridSearchCV(forest, {"max_features": [1, 5, 15, 30]}, cv=5).fit(X, y)
    by_k = dict(zip([1, 5, 15, 30], search.cv_results_["mean_test_score"], strict=True))
    assert search.best_params_["max_features"] > 1
    assert by_k[search.best_params_["max_features"]] > by_k[1] + 0.02


# ---- T3, T4: why it helps


@pytest.fixture(scope="module")
def said_by_k():
    """What 20 trees say at 50 places after learning from each of 60 sets: k -> (sets, trees, places)."""
    places, _ = waves(1000, n_rows=50)
    said = {}
    for k in (1, 5):
        forests = [RandomForestRegressor(20, max_features=k, random_state=s).fit(*waves(s)) for s in range(60)]
        said[k] = np.array([[tree.predict(places) for tree in forest.estimators_] for forest in forests])
    return said


def variance_and_correlation(said):
    """Return σ² of a single tree over the training sets and ρ of two trees of one set, averaged over places."""
    n_trees = said.shape[1]
    variance = said.var(axis=0).mean()
    of_the_mean = said.mean(axis=1).var(axis=0).mean()
    return variance, (n_trees * of_the_mean / variance - 1.0) / (n_trees - 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 5])
def test_the_mean_of_trees_has_less_variance(said_by_k, k):
    """ρσ² + (1 − ρ)σ²/T, where ρ and σ² come from the first half of the trees and T counts all."""
    said = said_by_k[k]
    variance, correlation = variance_and_correlation(said[:, :10])
    of_the_mean = said.mean(axis=1).var(axis=0).mean()
    assert of_the_mean < variance / 2.0
    assert of_the_mean == pytest.approx(variance * (correlation + (1.0 - correlation) / 20), rel=0.1)


@pytest.mark.slow
def test_fewer_features_at_a_node_make_trees_less_alike(said_by_k):
    """The boosting and SVM lecture: trees that do not agree by construction are what makes the mean accurate."""
    (_, of_few), (_, of_all) = (variance_and_correlation(said_by_k[k]) for k in (1, 5))
    assert of_few < of_all - 0.05


# ---- T5: covertype


@pytest.mark.data
@pytest.mark.slow
def test_ten_trees_on_covertype():
    """The kernel lecture: depth 40, half of the features dropped at each node; 15 % to 17 % for a tree, 8.8 % for the
    forest."""
    cover = datasets.load("covertype2")
    (X, y), (X_test, y_test) = ((cover.X[rows], cover.y[rows]) for rows in cover.split)
    forest = RandomForestClassifier(n_estimators=10, max_features=0.5, max_depth=40, random_state=0, n_jobs=2).fit(X, y)
    truth = np.searchsorted(forest.classes_, y_test)
    errors = [np.mean(tree.predict_proba(X_test).argmax(axis=1) != truth) for tree in forest.estimators_]
    assert len(errors) == 10
    assert max(tree.get_depth() for tree in forest.estimators_) <= 40
    assert {round(100 * error) for error in errors} <= {15, 16, 17}
    assert abs(1.0 - forest.score(X_test, y_test) - 0.088) <= 0.005
