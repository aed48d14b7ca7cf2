"""A weight is a repeated row: for trees, forests and bagging, with missing numbers, equal rows and categories."""

from __future__ import annotations

import numpy as np
import pytest

from eigenwood import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

CLASSES, AMOUNTS = ("gini", "entropy", "error"), ("squared_error", "absolute_error", "poisson")


def chosen(rng, *options):
    return options[rng.integers(len(options))]


def table(rng):
    """Return a few rows with missing numbers, ties and categories; which columns are these; and integer weights."""
    n_rows, n_features = int(rng.integers(3, 14)), int(rng.integers(1, 5))
    X = rng.normal(size=(n_rows, n_features)).round(int(rng.integers(0, 3)))
    X[rng.random(X.shape) < chosen(rng, 0.0, 0.2, 0.5)] = np.nan
    categories = [j for j in range(n_features) if rng.random() < 0.3]
    X[:, categories] = rng.integers(0, 4, size=(n_rows, len(categories)))
    weights = rng.integers(0, 4, size=n_rows)
    weights[0] = max(weights[0], 1)
    return X, categories, weights


def targets(rng, n_rows, criterion):
    if criterion in CLASSES:
        return rng.integers(0, int(rng.integers(2, 4)), size=n_rows)
    numbers = chosen(rng, rng.integers(-4, 5, size=n_rows).astype(float), rng.normal(size=n_rows))
    return abs(numbers) + 0.5 if criterion == "poisson" else numbers


def models(rng, criterion, categories):
    """Yield a tree of all defaults, one with choices, a forest and a bag, each as it is before a fit."""
    own = {"criterion": criterion, "random_state": 0, "categorical_features": categories or None}
    tree, forest, bag = (
        (DecisionTreeClassifier, RandomForestClassifier, BaggingClassifier)
        if criterion in CLASSES
        else (DecisionTreeRegressor, RandomForestRegressor, BaggingRegressor)
    )
    max_features = chosen(rng, None, 1, 2)
    yield tree(**own)
    yield tree(
        **own,
        max_features=max_features,
        splitter=chosen(rng, "best", "random"),
        categorical_split=chosen(rng, "subset", "multiway"),
        max_leaf_nodes=chosen(rng, None, 4),
    )
    yield forest(5, **own, max_features=max_features or 1.0)
    yield bag(tree(**own), 5, random_state=0)


def predictions(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


@pytest.mark.parametrize("criterion", [*CLASSES, *AMOUNTS])
@pytest.mark.parametrize("first_seed", range(0, 30, 10))
def test_a_weight_is_a_repeated_row(criterion, first_seed):
    for seed in range(first_seed, first_seed + 10):
        rng = np.random.default_rng([seed, len(criterion)])
        X, categories, weights = table(rng)
        y, copies = targets(rng, len(X), criterion), rng.permutation(np.repeat(np.arange(len(X)), weights))
        queries = np.vstack([X, rng.normal(size=(20, X.shape[1]))])
        queries[-20:][rng.random((20, X.shape[1])) < 0.3] = np.nan
        queries[-20:, categories] = rng.integers(0, 4, size=(20, len(categories)))
        for model in models(rng, criterion, categories):
            weighted = predictions(model.fit(X, y, sample_weight=weights), queries)
            repeated = predictions(model.fit(X[copies], y[copies]), queries)
            np.testing.assert_allclose(weighted, repeated, rtol=1e-10, atol=1e-12, err_msg=f"{seed}: {model}")


@pytest.mark.parametrize("max_features", [None, 1])
def test_a_missing_number_makes_no_gap_between_two_rows(max_features):
    """Two rows that both columns tell apart; in the first one of them is missing, so the second is asked."""
    X, y = np.array([[np.nan, -0.5], [-0.4, np.nan], [1.8, 1.1], [-0.3, 0.8]]), np.array([2.0, -2.0, 1.0, -4.0])
    weights, copies = [1, 1, 2, 2], [0, 1, 2, 2, 3, 3]
    for seed in range(20):
        model = DecisionTreeRegressor(random_state=seed, max_features=max_features)
        weighted = model.fit(X, y, sample_weight=weights).predict([[-1.0, 0.8]])
        np.testing.assert_array_equal(model.fit(X[copies], y[copies]).predict([[-1.0, 0.8]]), weighted)
