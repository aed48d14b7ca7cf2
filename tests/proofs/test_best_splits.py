"""Better questions are looked for: every right tree passes, and a tree that asks worse ones does not."""

import numpy as np
import pytest

from eigenwood import DecisionTreeClassifier, DecisionTreeRegressor, verify
from eigenwood.core.distinct import splitmix64
from eigenwood.core.tree.structure import with_leaves
from eigenwood.proofs.best_splits import drawing_order, hashed, seed_at
from eigenwood.proofs.questions import passed

KINDS = {
    "gini": DecisionTreeClassifier,
    "entropy": DecisionTreeClassifier,
    "error": DecisionTreeClassifier,
    "squared_error": DecisionTreeRegressor,
    "absolute_error": DecisionTreeRegressor,
    "poisson": DecisionTreeRegressor,
}


def table(seed, n_rows=150):
    """Return rows with ties, missing numbers and categories, and targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5)).round(rng.integers(0, 3))
    X[rng.random(n_rows) < 0.2, 0] = np.nan
    X[:, 4] = rng.integers(0, 6, size=n_rows)
    score = np.nan_to_num(X[:, 0]) * X[:, 1] + X[:, 4] % 3 + rng.normal(size=n_rows)
    return X, np.digitize(score, [0.0, 1.5])


def choices(seed):
    """Return parameters of all kinds."""
    rng = np.random.default_rng([seed, 1])
    options = {
        "max_depth": [None, None, 4],
        "min_samples_leaf": [1, 1, 4, 0.03],
        "min_samples_split": [2, 2, 9],
        "min_weight_fraction_leaf": [0.0, 0.0, 0.04],
        "min_impurity_decrease": [0.0, 0.0, 0.01],
        "max_features": [None, None, 1, 2],
        "max_leaf_nodes": [None, None, 7],
        "splitter": ["best", "best", "random"],
        "categorical_split": ["subset", "multiway"],
    }
    return {name: values[rng.integers(len(values))] for name, values in options.items()}


@pytest.mark.parametrize("criterion", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_no_better_question_is_found_in_a_right_tree(criterion, seed):
    X, y = table(seed)
    weights = [None, np.random.default_rng(seed).integers(1, 4, size=len(y)), np.linspace(0.1, 1.0, len(y))][seed % 3]
    model = KINDS[criterion](criterion=criterion, random_state=seed, categorical_features=[4], **choices(seed))
    found = verify(model.fit(X, y, sample_weight=weights), X, y, weights)
    assert found.holds, found


@pytest.mark.parametrize("criterion", KINDS)
def test_a_random_tree_is_not_a_best_one(criterion):
    X, y = table(0)
    model = KINDS[criterion](criterion=criterion, splitter="random", random_state=0).fit(X, y)
    assert verify(model, X, y).holds
    model.splitter = "best"
    found = verify(model, X, y)
    assert [claim.name for claim in found if not claim.holds] == ["best questions"]


@pytest.mark.parametrize("random_state", [0, None])
def test_a_tree_that_drew_columns_is_compared_with_those(random_state):
    """Without a seed nobody knows them, and at least the threshold must be the best of its own column."""
    X, y = table(1)
    model = DecisionTreeClassifier(max_features=1, random_state=0).fit(X, y)
    worse = DecisionTreeClassifier(max_features=1, splitter="random", random_state=0).fit(X, y)
    model.random_state = worse.random_state = random_state  # not before: the test is to be the same each time
    assert verify(model, X, y).holds
    worse.splitter = "best"
    assert not verify(worse, X, y)["best questions"].holds
    model.max_features, model.max_features_ = None, 5
    assert not verify(model, X, y)["best questions"].holds


def test_a_tree_that_stopped_early_is_seen():
    X, y = table(2)
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    nodes = model.nodes_
    cut = np.isin(np.arange(nodes.left.size), [nodes.left[0], nodes.right[0]])
    model.nodes_ = with_leaves(nodes, cut)
    assert [claim.name for claim in verify(model, X, y) if not claim.holds] == ["leaves", "certificate"]


@pytest.mark.parametrize(
    "params",
    [{"max_depth": 2}, {"min_samples_leaf": 40}, {"max_leaf_nodes": 4}, {"min_impurity_decrease": 0.05},
     {"leaf_uncertainty": 0.6}, {"min_weight_fraction_leaf": 0.3}],
)  # fmt: skip
def test_limits_explain_leaves_and_only_those(params):
    X, y = table(3)
    model = DecisionTreeClassifier(random_state=0, **params).fit(X, y)
    assert verify(model, X, y).holds
    model.set_params(**{name: DecisionTreeClassifier().get_params()[name] for name in params})
    assert not verify(model, X, y)["leaves"].holds


def test_of_counted_leaves_the_largest_gain_comes_first():
    X, y = table(4)
    model = DecisionTreeRegressor(max_leaf_nodes=6, random_state=0).fit(X, y)
    assert verify(model, X, y)["leaves"].holds
    depth_first = DecisionTreeRegressor(random_state=0).fit(X, y)
    nodes = depth_first.nodes_
    while (nodes.left == -1).sum() > 6:  # the questions on the far left stay, whatever they gain
        last = np.flatnonzero(nodes.left >= 0)[-1]
        nodes = with_leaves(nodes, np.arange(nodes.left.size) == last)
    depth_first.nodes_, depth_first.max_leaf_nodes = nodes, 6
    assert not verify(depth_first, X, y)["leaves"].holds


@pytest.mark.parametrize("params", [{"ccp_alpha": 0.01}, {"prune": "validation"}, {"prune": "cost_complexity_cv"}])
def test_a_tree_that_was_cut_back_is_grown_again(params):
    X, y = table(5)
    model = DecisionTreeClassifier(random_state=0, **params).fit(X, y)
    found = verify(model, X, y)
    assert found.holds
    assert "leaves" not in {claim.name for claim in found}
    root = np.arange(model.nodes_.left.size) == 0
    model.nodes_ = with_leaves(model.nodes_, root)
    assert not verify(model, X, y)["grown again"].holds
    unknown = DecisionTreeClassifier(random_state=None, **params).fit(X, y)
    assert verify(unknown, X, y)["grown again"].holds is None
    assert verify(unknown, X, y).holds is None


def test_seeds_and_orders_are_those_of_the_growers():
    assert hashed(12345) == int(splitmix64(np.uint64(12345)))
    model = DecisionTreeClassifier(max_features=1, random_state=7).fit(*table(6))
    nodes, seed = model.nodes_, 99
    assert seed_at(nodes, seed, 0) == seed
    assert seed_at(nodes, seed, int(nodes.left[0])) == hashed(seed + 1)
    assert seed_at(nodes, seed, int(nodes.right[0])) == hashed(seed + 2)
    assert seed_at(nodes, None, 3) is None
    assert sorted(drawing_order(6, 5)) == list(range(6))
    assert len({tuple(drawing_order(6, seed)) for seed in range(50)}) > 30


def test_rows_that_do_not_end_in_every_leaf_are_another_claim():
    X, y = table(7)
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    found = verify(model, X[:50], y[:50])
    assert not found["rows"].holds
    assert passed(model.nodes_, X[:50]).leaves.size == 50
